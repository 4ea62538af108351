/* SPDX-License-Identifier: BSD-3-Clause */
/* A workload format: a line a job, "SUBMIT DURATION CORES" in seconds, seconds and a count. */
#include <string.h>

#include "base/error.h"
#include "examples.h"
#include "workload/decimal.h"
#include "workload/lines.h"

enum { FIELDS = 3, SECOND_NS = 1000000000 };

struct list {
    struct workload base;               /* first */
    struct lines lines;
    int64_t submit_ns;                  /* of the job before */
};

static bool refuse(const struct list *list, const char *line, const char *expected, GError **error)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s:%" G_GUINT64_FORMAT ": '%s' is not a job: expected %s",
                list->lines.path, list->lines.number, line, expected);
    return false;
}

static bool list_next(struct workload *w, struct workload_job *job, GError **error)
{
    struct list *list = (struct list *)w;
    const char *text;
    size_t size;
    guint64 cores;

    if (!lines_next(&list->lines, &text, &size, error))
        return false;                   /* the end, or *error says what is wrong */
    g_autofree char *line = g_strndup(text, size);
    g_auto(GStrv) field = g_strsplit(line, " ", 0);
    if (g_strv_length(field) != FIELDS ||
        decimal_read_ns(field[0], strlen(field[0]), SECOND_NS, &job->submit_ns) != DECIMAL_OK ||
        decimal_read_ns(field[1], strlen(field[1]), SECOND_NS, &job->duration_ns) != DECIMAL_OK ||
        !g_ascii_string_to_unsigned(field[2], 10, 1, G_MAXUINT32, &cores, NULL))
        return refuse(list, line, "its time of submission, its duration (seconds) and its cores, one blank between",
                      error);
    if (job->submit_ns < list->submit_ns || job->duration_ns < 0)
        return refuse(list, line, "jobs in the order of their submission, from 0 s on, and durations from 0 s on",
                      error);
    list->submit_ns = job->submit_ns;
    job->slots = (uint32_t)cores;
    job->cores_per_slot = 1;
    return true;
}

static void list_free(struct workload *w)
{
    struct list *list = (struct list *)w;
    lines_release(&list->lines);
    g_free(list);
}

static const struct workload_type list_type = { .next = list_next, .free = list_free };

struct workload *workload_list_new(const char *path, GError **error)
{
    struct list *list = g_new0(struct list, 1);
    list->base.type = &list_type;
    list->base.jobs = WORKLOAD_UNKNOWN;
    if (lines_open(&list->lines, path, error))
        return &list->base;
    g_free(list);
    return NULL;
}
