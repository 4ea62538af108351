/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/swf.h"

#include <string.h>

#include "base/error.h"
#include "workload/lines.h"
#include "workload/source.h"
#include "workload/swf_index.h"
#include "workload/swf_record.h"

enum { PROBLEMS_MAX = 20 };

static const struct workload_count count_kinds[SWF_COUNTS] = {
    [SWF_LINES] = { "lines", "job lines in the log", 0 },
    [SWF_DROPPED_SUBMIT] = { "dropped_submit", "dropped: no submit time", 0 },
    [SWF_DROPPED_PIECES] = { "dropped_pieces",
        "dropped: pieces of a checkpointed job, or the whole of which pieces count", 0 },
    [SWF_DROPPED_CANCELLED] = { "dropped_cancelled", "dropped: cancelled before they ran", 0 },
    [SWF_DROPPED_PROCESSORS] = { "dropped_processors", "dropped: no number of processors", 0 },
    [SWF_DROPPED_RUN] = { "dropped_run", "dropped: no run time", 0 },
    [SWF_DROPPED_LIMIT] = { "dropped_limit", "dropped: requested time 0 or unknown", 0 },
    [SWF_DROPPED_OVERRUN] = { "dropped_overrun", "dropped: ran longer than requested", 0 },
    [SWF_OTHER_PROCESSORS] = { "other_processors",
        "requested for allocated processors, or the reverse: one is unknown", 0 },
    [SWF_PROCESSORS_DIFFER] = { "processors_differ", "requested and allocated processors differ", 0 },
    [SWF_OVERRUNS] = { "overruns", "ran longer than requested: treated by the rule", 0 },
    [SWF_LIMIT_MISSING] = { "limit_missing", "requested time unknown: set by the rule", 0 },
    [SWF_ZERO_RUN] = { "zero_run", "run time 0", 0 },
    [SWF_TOO_WIDE] = { "too_wide", "wider than the machine: left to the job system to reject", 0 },
    [SWF_OUT_OF_ORDER] = { "out_of_order", "submitted before the line above", 0 },
    [SWF_DEPENDENT] = { "dependent", "wait for another job", 0 },
    [SWF_LOST_DEPENDENCIES] = { "lost_dependencies",
        "wait for a job that is not there: submitted at their own time", 0 },
};

struct released {
    uint32_t position;
    int64_t ended_ns;
};

struct swf {
    struct workload base;
    struct swf_rules rules;
    struct swf_header header;
    struct workload_count counts[SWF_COUNTS];
    struct lines lines;
    int64_t origin_ns;          /* what shift_start takes off submit times */
    /* Streaming: the record after the one yielded, because a piece may follow. */
    bool ahead_valid;
    struct swf_record ahead;
    struct swf_entry *index;    /* NULL: streaming */
    uint64_t position;          /* of the next entry */
    GArray *released;           /* struct released, taken from the front */
    guint released_taken;
};

/* --- reading records --- */

static void problem_set(const struct lines *lines, const char *problem, GError **error)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s:%" G_GUINT64_FORMAT ": %s", lines->path, lines->number,
                problem);
}

/* The next job line. FALSE with *error set for a bad line, after which reading may go on; FALSE with *fatal at the end,
 * or (*error set) when nothing more can be read. */
static bool record_next(struct swf *swf, struct swf_record *record, bool *fatal, GError **error)
{
    const char *text;
    size_t size;
    GError *cause = NULL;
    while (lines_next(&swf->lines, &text, &size, &cause)) {
        g_autofree char *problem = NULL;
        switch (swf_record_read(text, size, record, &problem)) {
        case SWF_LINE_JOB:
            return true;
        case SWF_LINE_COMMENT:
            if (swf->counts[SWF_LINES].count == 0)
                swf_header_read(text, size, &swf->header);
            break;
        case SWF_LINE_EMPTY:
            break;
        case SWF_LINE_BAD:
            problem_set(&swf->lines, problem, error);
            *fatal = false;
            return false;
        }
    }
    *fatal = true;
    if (cause != NULL)
        g_propagate_error(error, cause);
    return false;
}

/* --- cleaning --- */

/* What the rules make of a record: SWF_COUNTS when it is kept, else why it is dropped. Counts what it changes in
 * `counts`, if that is not NULL. */
static enum swf_count clean(const struct swf *swf, const struct swf_record *r, bool piece_follows,
                            struct workload_job *job, struct workload_count *counts)
{
    struct workload_count unused[SWF_COUNTS] = { 0 };
    const struct swf_rules *rules = &swf->rules;
    if (counts == NULL)
        counts = unused;
    if (r->submit_ns < 0)
        return SWF_DROPPED_SUBMIT;
    bool piece = r->status >= SWF_PIECE && r->status <= SWF_LAST_PIECE_FAILED;
    if (rules->pieces == SWF_WHOLE ? piece : piece_follows && !piece)
        return SWF_DROPPED_PIECES;
    if (r->status == SWF_CANCELLED && r->run_ns <= 0)
        return SWF_DROPPED_CANCELLED;

    int64_t wanted = rules->allocated_first ? r->allocated : r->requested;
    int64_t other = rules->allocated_first ? r->requested : r->allocated;
    if (wanted <= 0 && other <= 0)
        return SWF_DROPPED_PROCESSORS;
    int64_t processors = wanted > 0 ? wanted : other;
    if (processors > UINT32_MAX)
        return SWF_DROPPED_PROCESSORS;
    if (r->run_ns < 0 || (r->run_ns == 0 && rules->drop_zero_run))
        return SWF_DROPPED_RUN;

    int64_t run_ns = r->run_ns, limit_ns = r->limit_ns;
    bool missing = limit_ns < 0;
    if (missing)
        limit_ns = rules->missing_limit == SWF_LIMIT_FROM_RUN ? run_ns : WORKLOAD_NO_LIMIT;
    if (limit_ns == 0 && !missing)
        return SWF_DROPPED_LIMIT;
    if (missing && rules->missing_limit == SWF_LIMIT_DROP)
        return SWF_DROPPED_LIMIT;
    bool overrun = run_ns > limit_ns;
    if (overrun && rules->overrun == SWF_OVERRUN_DROP)
        return SWF_DROPPED_OVERRUN;
    if (overrun && rules->overrun == SWF_OVERRUN_CLIP)
        run_ns = limit_ns;
    if (overrun && rules->overrun == SWF_OVERRUN_EXTEND)
        limit_ns = run_ns;

    counts[SWF_OTHER_PROCESSORS].count += wanted <= 0;
    counts[SWF_PROCESSORS_DIFFER].count += wanted > 0 && other > 0 && wanted != other;
    counts[SWF_LIMIT_MISSING].count += missing;
    counts[SWF_OVERRUNS].count += overrun;
    counts[SWF_ZERO_RUN].count += run_ns == 0;
    job->number = (uint64_t)MAX(r->number, 0);
    job->submit_ns = r->submit_ns - swf->origin_ns;
    job->duration_ns = run_ns;
    job->limit_ns = limit_ns;
    job->slots = (uint32_t)processors;
    job->cores_per_slot = 1;
    return SWF_COUNTS;
}

/* --- the first reading: checks, counts, header --- */

static bool depends(const struct swf *swf, const struct swf_record *r)
{
    return !swf->rules.ignore_dependencies && r->preceding > 0;
}

/* One record of the first reading; `next` is the one after, or NULL. */
static void survey_record(struct swf *swf, const struct swf_record *r, const struct swf_record *next, uint64_t place,
                          int64_t *latest_ns, GArray *list)
{
    struct workload_job job;
    bool piece_follows = next != NULL && next->number == r->number && next->status >= SWF_PIECE &&
                         next->status <= SWF_LAST_PIECE_FAILED;
    swf->counts[SWF_LINES].count++;
    enum swf_count dropped = clean(swf, r, piece_follows, &job, swf->counts);
    if (dropped != SWF_COUNTS) {
        swf->counts[dropped].count++;
        return;
    }
    uint32_t machine = swf->header.processors;
    swf->header.widest = MAX(swf->header.widest, job.slots);
    swf->counts[SWF_TOO_WIDE].count += machine > 0 && job.slots > machine;
    swf->counts[SWF_OUT_OF_ORDER].count += r->submit_ns < *latest_ns;
    swf->counts[SWF_DEPENDENT].count += depends(swf, r);
    *latest_ns = r->submit_ns;
    if (swf->base.jobs == 0 || r->submit_ns < swf->origin_ns)
        swf->origin_ns = r->submit_ns;
    swf->base.jobs++;
    swf->base.extent.last_submit_ns = MAX(swf->base.extent.last_submit_ns, (double)r->submit_ns);
    swf->base.extent.core_ns += (double)job.duration_ns * job.slots;
    if (list != NULL) {
        struct swf_listed entry = { r->submit_ns, place, r->number, depends(swf, r) ? r->preceding : 0 };
        g_array_append_val(list, entry);
    }
}

static void machine_size_set(struct swf *swf)
{
    struct swf_header *h = &swf->header;
    h->processors = swf->rules.processors > 0 ? swf->rules.processors : h->max_procs > 0 ? h->max_procs : h->max_nodes;
}

/* Reads the whole file; with a list, notes where the jobs are. All bad lines (the first 20) are one error. */
static bool survey(struct swf *swf, GArray *list, GError **error)
{
    g_autoptr(GString) problems = g_string_new(NULL);
    unsigned problem_count = 0;
    struct swf_record r = { 0 }, next = { 0 };
    int64_t latest_ns = INT64_MIN;
    bool have = false, fatal = false;
    uint64_t place = 0;
    GError *problem = NULL;
    swf->origin_ns = 0;
    swf->base.jobs = 0;
    swf->base.extent = (struct workload_extent){ 0, 0 };
    memcpy(swf->counts, count_kinds, sizeof count_kinds);
    while (!fatal) {
        bool got = record_next(swf, &next, &fatal, &problem);
        if (fatal && problem != NULL && problem->code != TIERCEL_ERROR_INPUT) {
            g_propagate_error(error, problem);
            return false;
        }
        if (problem != NULL) {
            if (++problem_count <= PROBLEMS_MAX)
                g_string_append_printf(problems, "%s%s", problems->len == 0 ? "" : "\n", problem->message);
            g_clear_error(&problem);
        }
        if (have)
            survey_record(swf, &r, got ? &next : NULL, place, &latest_ns, list);
        have = got;
        if (got) {
            if (swf->counts[SWF_LINES].count == 0)
                machine_size_set(swf);
            r = next;
            place = swf->lines.offset;
        }
    }
    if (!swf->rules.shift_start)
        swf->origin_ns = 0;
    swf->base.extent.last_submit_ns = MAX(swf->base.extent.last_submit_ns - (double)swf->origin_ns, 0);
    if (swf->header.processors == 0)
        swf->header.processors = swf->header.widest;
    if (problem_count == 0)
        return true;
    if (problem_count > PROBLEMS_MAX)
        g_string_append_printf(problems, "\nand %u more lines", problem_count - PROBLEMS_MAX);
    g_set_error_literal(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, problems->str);
    return false;
}

/* --- the index --- */

/* The file was checked: what cannot be read now was changed meanwhile. */
static bool refuse_change(const struct swf *swf, GError **error)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: was changed while it is in use", swf->lines.path);
    return false;
}

static bool index_build(struct swf *swf, GError **error)
{
    g_autoptr(GArray) list = g_array_sized_new(FALSE, FALSE, sizeof(struct swf_listed), (guint)swf->base.jobs);
    lines_seek(&swf->lines, 0);
    if (!survey(swf, list, error))
        return false;
    if (list->len == 0)
        return refuse_change(swf, error);
    swf->index = swf_index_new(list, &swf->lines, &swf->counts[SWF_LOST_DEPENDENCIES].count, &swf->base.held, error);
    return swf->index != NULL;
}

/* --- yielding --- */

/* The job of an index entry. */
static bool entry_load(struct swf *swf, uint32_t position, struct workload_job *job, int64_t *think_ns, GError **error)
{
    struct swf_record r;
    bool fatal;
    lines_seek(&swf->lines, swf->index[position].place & ~SWF_ENTRY_WAITS);
    GError *cause = NULL;
    if (!record_next(swf, &r, &fatal, &cause) || clean(swf, &r, false, job, NULL) != SWF_COUNTS) {
        g_clear_error(&cause);
        return refuse_change(swf, error);
    }
    job->index = position;
    *think_ns = MAX(r.think_ns, 0);
    return true;
}

static bool swf_next_indexed(struct swf *swf, struct workload_job *job, GError **error)
{
    int64_t think_ns;
    while (swf->position < swf->base.jobs && (swf->index[swf->position].place & SWF_ENTRY_WAITS) != 0)
        swf->position++;
    return swf->position < swf->base.jobs && entry_load(swf, (uint32_t)swf->position++, job, &think_ns, error);
}

static bool swf_next_streamed(struct swf *swf, struct workload_job *job, GError **error)
{
    bool fatal;
    while (swf->ahead_valid) {
        struct swf_record r = swf->ahead;
        GError *cause = NULL;
        swf->ahead_valid = record_next(swf, &swf->ahead, &fatal, &cause);
        if (cause != NULL) {
            g_propagate_error(error, cause);
            return false;
        }
        bool piece_follows = swf->ahead_valid && swf->ahead.number == r.number && swf->ahead.status >= SWF_PIECE &&
                             swf->ahead.status <= SWF_LAST_PIECE_FAILED;
        if (clean(swf, &r, piece_follows, job, NULL) == SWF_COUNTS)
            return true;
    }
    return false;
}

static bool swf_next(struct workload *w, struct workload_job *job, GError **error)
{
    struct swf *swf = (struct swf *)w;
    return swf->index != NULL ? swf_next_indexed(swf, job, error) : swf_next_streamed(swf, job, error);
}

static void swf_ended(struct workload *w, uint64_t index, int64_t now_ns)
{
    struct swf *swf = (struct swf *)w;
    if (swf->index == NULL)
        return;
    g_assert(index < w->jobs);
    for (uint32_t child = swf->index[index].first_child; child != 0; child = swf->index[child - 1].next_sibling) {
        struct released released = { child - 1, now_ns };
        g_array_append_val(swf->released, released);
    }
    swf->index[index].first_child = 0;
}

static bool swf_released(struct workload *w, struct workload_job *job, GError **error)
{
    struct swf *swf = (struct swf *)w;
    if (swf->released_taken == swf->released->len) {
        g_array_set_size(swf->released, 0);
        swf->released_taken = 0;
        return false;
    }
    struct released released = g_array_index(swf->released, struct released, swf->released_taken++);
    int64_t think_ns;
    if (!entry_load(swf, released.position, job, &think_ns, error))
        return false;
    job->submit_ns = released.ended_ns + think_ns;
    w->held--;
    return true;
}

static void swf_free(struct workload *w)
{
    struct swf *swf = (struct swf *)w;
    lines_release(&swf->lines);
    g_array_free(swf->released, TRUE);
    g_free(swf->index);
    g_free(swf);
}

static const struct workload_type swf_type = {
    .next = swf_next,
    .ended = swf_ended,
    .released = swf_released,
    .free = swf_free,
};

/* Goes back to the start, for the second reading. */
static bool stream_begin(struct swf *swf, GError **error)
{
    bool fatal;
    GError *cause = NULL;
    lines_seek(&swf->lines, 0);
    swf->lines.number = 0;
    swf->ahead_valid = record_next(swf, &swf->ahead, &fatal, &cause);
    if (cause != NULL)
        g_propagate_error(error, cause);
    return cause == NULL;
}

struct workload *workload_swf_new(const char *path, const struct swf_rules *rules, GError **error)
{
    struct swf *swf = g_new0(struct swf, 1);
    swf->base.type = &swf_type;
    swf->base.counts = swf->counts;
    swf->base.counts_number = SWF_COUNTS;
    swf->rules = *rules;
    swf->released = g_array_new(FALSE, FALSE, sizeof(struct released));
    bool ok = lines_open(&swf->lines, path, error) && survey(swf, NULL, error);
    if (ok && swf->counts[SWF_LINES].count == 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s: holds no job: expected lines of 18 fields", path);
        ok = false;
    }
    bool sorted = swf->counts[SWF_OUT_OF_ORDER].count + swf->counts[SWF_DEPENDENT].count == 0;
    if (ok && !sorted && swf->base.jobs >= UINT32_MAX - 1) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s: has too many jobs to be sorted in memory: sort it "
                    "by field 2, and ignore dependencies", path);
        ok = false;
    }
    if (ok && (sorted ? stream_begin(swf, error) : index_build(swf, error)))
        return &swf->base;
    swf_free(&swf->base);
    return NULL;
}

const struct swf_header *workload_swf_header(const struct workload *w)
{
    g_assert(w->type == &swf_type);
    return &((const struct swf *)w)->header;
}
