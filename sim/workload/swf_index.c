/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/swf_index.h"

#include "base/error.h"

static int listed_compare(gconstpointer a, gconstpointer b)
{
    const struct swf_listed *x = a, *y = b;
    if (x->submit_ns != y->submit_ns)
        return x->submit_ns < y->submit_ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

struct numbered {
    int64_t number;
    uint32_t position;
};

static int numbered_compare(gconstpointer a, gconstpointer b)
{
    const struct numbered *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* The place of a number among the sorted ones; -1 when it is not there, -2 when it is there twice. */
static int64_t number_find(const GArray *numbers, int64_t number)
{
    guint low = 0, high = numbers->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(numbers, struct numbered, middle).number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == numbers->len || g_array_index(numbers, struct numbered, low).number != number)
        return -1;
    if (low + 1 < numbers->len && g_array_index(numbers, struct numbered, low + 1).number == number)
        return -2;
    return g_array_index(numbers, struct numbered, low).position;
}

/* Follows each job to what it waits for: every job must get to one that waits for none. parents: position + 1, or 0. */
static int64_t cycle_find(const uint32_t *parents, guint count)
{
    g_autofree uint32_t *seen = g_new0(uint32_t, count);
    for (guint i = 0; i < count; i++) {
        guint at = i;
        while (parents[at] != 0 && seen[at] == 0) {
            seen[at] = i + 1;
            at = parents[at] - 1;
        }
        if (parents[at] != 0 && seen[at] == i + 1)
            return at;
    }
    return -1;
}

/* The line number of a place in the file. */
static uint64_t line_at(struct lines *lines, uint64_t place)
{
    const char *text;
    size_t size;
    lines_seek(lines, 0);
    lines->number = 0;
    while (lines_next(lines, &text, &size, NULL))
        if (lines->offset == place)
            break;
    return lines->number;
}

static void refuse_at(struct lines *lines, const struct swf_listed *job, const char *why, GError **error)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s:%" G_GUINT64_FORMAT ": field 17 (preceding job) = %"
                G_GINT64_FORMAT ": %s", lines->path, line_at(lines, job->place), job->preceding, why);
}

/* For each job the position + 1 of the one that it waits for, or 0; NULL with *error. */
static uint32_t *parents_find(const GArray *list, struct lines *lines, uint64_t *lost, GError **error)
{
    g_autoptr(GArray) numbers = g_array_sized_new(FALSE, FALSE, sizeof(struct numbered), list->len);
    for (guint i = 0; i < list->len; i++) {
        struct numbered n = { g_array_index(list, struct swf_listed, i).number, i };
        g_array_append_val(numbers, n);
    }
    g_array_sort(numbers, numbered_compare);
    g_autofree uint32_t *parents = g_new0(uint32_t, list->len);
    for (guint i = 0; i < list->len; i++) {
        const struct swf_listed *job = &g_array_index(list, struct swf_listed, i);
        if (job->preceding <= 0)
            continue;
        int64_t position = number_find(numbers, job->preceding);
        if (position == -2) {
            refuse_at(lines, job, "this number is given to several jobs: expected one", error);
            return NULL;
        }
        if (position == -1)
            (*lost)++;
        else
            parents[i] = (uint32_t)position + 1;
    }
    int64_t cycle = cycle_find(parents, list->len);
    if (cycle >= 0) {
        refuse_at(lines, &g_array_index(list, struct swf_listed, cycle),
                  "in the end this job waits for itself: expected no cycle", error);
        return NULL;
    }
    return g_steal_pointer(&parents);
}

static bool any_waits(const GArray *list)
{
    for (guint i = 0; i < list->len; i++)
        if (g_array_index(list, struct swf_listed, i).preceding > 0)
            return true;
    return false;
}

struct swf_entry *swf_index_new(GArray *list, struct lines *lines, uint64_t *lost, uint64_t *held, GError **error)
{
    g_assert(list->len > 0);
    g_array_sort(list, listed_compare);
    g_autofree uint32_t *parents = NULL;
    if (any_waits(list) && (parents = parents_find(list, lines, lost, error)) == NULL)
        return NULL;
    struct swf_entry *index = g_new0(struct swf_entry, list->len);
    for (guint i = 0; i < list->len; i++)
        index[i].place = g_array_index(list, struct swf_listed, i).place;
    /* Backwards, so that children stand in ascending order. */
    for (guint i = list->len; parents != NULL && i-- > 0; ) {
        if (parents[i] == 0)
            continue;
        index[i].place |= SWF_ENTRY_WAITS;
        index[i].next_sibling = index[parents[i] - 1].first_child;
        index[parents[i] - 1].first_child = i + 1;
        (*held)++;
    }
    return index;
}
