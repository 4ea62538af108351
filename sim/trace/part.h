/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Level `events` while the run goes on: each process's own file of message rows, a part. Internal to sim/trace/.
 *
 *     struct part *p = part_new("runs/x/trace.h5", process, processes, seed, &error);
 *     part_add(p, &event);                        a few ns: into arrays, one a column
 *     part_flush(p, horizon_ns, &error);          the file is right up to here, whatever happens later
 *     part_free(p);
 *
 * A part is an HDF5 file like the trace, with the one table /events. Its rows stand in batches, each sorted in the
 * canonical order (time, actor, class, sender, sequence). Batches that follow one another in that order make one
 * stretch; /stretch_row and /stretch_time say where stretches begin. What is right, of the rows and of these, say the
 * attributes `rows`, `stretches` and `horizon_ns` of /events, written together. merge.h joins parts. All functions are
 * local.
 */
#ifndef TIERCEL_TRACE_PART_H
#define TIERCEL_TRACE_PART_H

#include "trace/table.h"
#include "trace/trace.h"

extern const struct table events_table;
extern const char events_order[];           /* the attribute `order` of the joined table */

/* The columns of events_table, by number. */
enum event_column {
    EVENT_TIME,
    EVENT_ACTOR,
    EVENT_CLASS,
    EVENT_FROM,
    EVENT_SEQUENCE,
    EVENT_KIND,
    EVENT_START,
    EVENT_END,
    EVENT_CONTENT,
    EVENT_COLUMNS
};

/* Rows of a batch, and of a chunk in the file. */
enum { PART_BATCH_ROWS = 16384, PART_CHUNK_ROWS = PART_BATCH_ROWS };

/* Rows as arrays, one a column. */
struct event_arrays {
    int64_t *time_ns;
    uint32_t *actor;
    uint8_t *order_class;
    uint32_t *from;
    uint32_t *sequence;
    uint16_t *kind;
    int64_t *start_ns;
    int64_t *end_ns;
    uint64_t *content;
};

void event_arrays_init(struct event_arrays *a, unsigned rows);
void event_arrays_release(struct event_arrays *a);
/* The arrays in the order of the columns, from row `first`. */
void event_arrays_list(const struct event_arrays *a, unsigned first, void *list[EVENT_COLUMNS]);
/* Copies n rows. */
void event_arrays_copy(struct event_arrays *to, unsigned at, const struct event_arrays *from, unsigned first,
                       unsigned n);
/* Row i of a before, with, after row j of b in the canonical order: below, at, above 0. */
int event_arrays_compare(const struct event_arrays *a, unsigned i, const struct event_arrays *b, unsigned j);

struct part {
    char *path;
    struct event_arrays batch;
    unsigned filled;
    bool sorted;                /* the batch so far */
    struct event_arrays last;   /* the last row written */
    GArray *stretch_row;        /* uint64_t: where stretches begin */
    GArray *stretch_time;       /* int64_t: the time of that row */
    void *file;                 /* what HDF5 needs */
    GError *error;              /* the first failure; rows after it are dropped */
};

/* trace.h5 -> trace.part-0003.h5; the caller frees it. */
char *part_path(const char *trace_path, unsigned process);

struct part *part_new(const char *trace_path, unsigned process, unsigned processes, uint64_t seed, GError **error);

/* Writes the batch out; a failure is kept in p->error. */
void part_write(struct part *p);

static inline void part_add(struct part *p, const struct trace_event *e)
{
    unsigned i = p->filled;
    if (G_UNLIKELY(i == PART_BATCH_ROWS)) {
        part_write(p);
        i = 0;
    }
    struct event_arrays *b = &p->batch;
    b->time_ns[i] = e->time_ns;
    b->actor[i] = e->actor;
    b->order_class[i] = e->order_class;
    b->from[i] = e->from;
    b->sequence[i] = e->sequence;
    b->kind[i] = e->kind;
    b->start_ns[i] = e->start_ns;
    b->end_ns[i] = e->end_ns;
    b->content[i] = e->content;
    if (i != 0 && e->time_ns <= b->time_ns[i - 1] && p->sorted)
        p->sorted = event_arrays_compare(b, i - 1, b, i) < 0;
    p->filled = i + 1;
}

/* Brings all rows to the file and declares them right; all handlings that began before horizon_ns are among them. */
gboolean part_flush(struct part *p, int64_t horizon_ns, GError **error);

/* All rows written so far stand in the canonical order. */
bool part_is_sorted(const struct part *p);

/* What a part has besides a table of events: links of its file, attributes of the table; ended by NULL. */
extern const char *const part_links[];
extern const char *const part_attributes[];

/* Closes the file as of the last flush. NULL is allowed. */
void part_free(struct part *p);

#endif
