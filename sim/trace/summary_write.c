/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a summary, as JSON; reading it back is summary_read.c. */
#include "trace/summary_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_text.h"

static void put_string(GString *out, const char *text)
{
    g_autofree char *quoted = json_text_string(text);
    g_string_append(out, quoted);
}

/* With a point or an exponent; null when it has no value. */
static void put_number(GString *out, double number)
{
    g_autofree char *text = json_text_number(number, "null");
    g_string_append(out, text);
    if (isfinite(number) && strpbrk(text, ".e") == NULL)
        g_string_append(out, ".0");
}

static void put_value(GString *out, const struct summary_value *v, enum summary_type type)
{
    switch (type) {
    case SUMMARY_TEXT:
        put_string(out, v->text == NULL ? "" : v->text);
        break;
    case SUMMARY_FLAG:
        g_string_append(out, v->flag ? "true" : "false");
        break;
    case SUMMARY_COUNT:
        g_string_append_printf(out, "%" G_GUINT64_FORMAT, v->count);
        break;
    case SUMMARY_NUMBER:
        put_number(out, v->number);
        break;
    }
}

static gboolean put_group(GString *out, const struct summary *s, unsigned group, GError **error)
{
    g_string_append_printf(out, ",\n  \"%s\": {", summary_group_names[group]);
    bool first = true;
    for (unsigned k = 0; k < summary_key_count; k++) {
        if (summary_keys[k].group != group)
            continue;
        if (!s->value[k].set) {
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME,
                        "the summary cannot be written: the run never set %s.%s", summary_group_names[group],
                        summary_keys[k].name);
            return FALSE;
        }
        g_string_append_printf(out, "%s\n    \"%s\": ", first ? "" : ",", summary_keys[k].name);
        put_value(out, &s->value[k], summary_keys[k].type);
        first = false;
    }
    g_string_append(out, "\n  }");
    return TRUE;
}

/* An object by name; the limits, which are ranked, an array whose entries begin with the name. */
static void put_list(GString *out, const struct summary *s, enum summary_list list)
{
    bool ranked = list == SUMMARY_LIMITS;
    if (s->list[list]->len == 0)
        return;
    g_string_append_printf(out, ",\n  \"%s\": %c", summary_list_names[list], ranked ? '[' : '{');
    for (guint i = 0; i < s->list[list]->len; i++) {
        const struct summary_entry *e = g_ptr_array_index(s->list[list], i);
        g_string_append_printf(out, "%s\n    %s", i == 0 ? "" : ",", ranked ? "{ \"name\": " : "");
        put_string(out, e->name);
        g_string_append(out, ranked ? ", " : ": { ");
        for (unsigned k = 0; summary_entry_keys[list][k].name != NULL; k++) {
            g_string_append_printf(out, "%s\"%s\": ", k == 0 ? "" : ", ", summary_entry_keys[list][k].name);
            put_value(out, &e->value[k], summary_entry_keys[list][k].type);
        }
        g_string_append(out, " }");
    }
    g_string_append_printf(out, "\n  %c", ranked ? ']' : '}');
}

char *summary_to_text(const struct summary *s, GError **error)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "{\n  \"format\": %d", SUMMARY_FORMAT);
    for (unsigned g = 0; g < SUMMARY_GROUPS; g++) {
        if (s->group[g] && !put_group(out, s, g, error)) {
            g_string_free(out, TRUE);
            return NULL;
        }
    }
    for (unsigned l = 0; l < SUMMARY_LISTS; l++)
        put_list(out, s, l);
    g_string_append(out, "\n}\n");
    return g_string_free(out, FALSE);
}

/* A device or a pipe, such as /dev/stdout: a rename would replace it. */
static gboolean write_into(const char *path, const char *text, GError **error)
{
    FILE *file = fopen(path, "w");
    bool good = file != NULL && fputs(text, file) >= 0 && fflush(file) == 0;
    int number = errno;

    if (file != NULL)
        fclose(file);
    if (!good)
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(number), "%s", g_strerror(number));
    return good;
}

gboolean summary_write(const struct summary *s, const char *path, GError **error)
{
    char *text = summary_to_text(s, error);
    if (text == NULL)
        return FALSE;
    GError *reason = NULL;
    struct stat status;
    bool special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    /* g_file_set_contents writes to a temporary name in the same folder and renames. */
    gboolean good = special ? write_into(path, text, &reason) : g_file_set_contents(path, text, -1, &reason);
    if (!good) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: cannot be written: %s", path, reason->message);
        g_clear_error(&reason);
    }
    g_free(text);
    return good;
}
