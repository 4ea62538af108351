/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much writing shared files will have to do. Messages of one write: it and its answer, the lock (half of the writes
 * wait for it), and for each request to the server the request, its service and the answer.
 */
#include "scenario_file.h"

#include <math.h>

#define WRITE_MESSAGES 3.5
#define REQUEST_MESSAGES 3.0

static double write_messages(const struct shared_file *f, double bytes)
{
    return WRITE_MESSAGES + REQUEST_MESSAGES * MAX(ceil(bytes / (double)MAX(f->request_most, 1)), 1);
}

double file_run_messages(const struct shared_file *f)
{
    return (double)pattern_writes(&f->pattern) * write_messages(f, (double)f->pattern.transfer);
}

static double group_messages(const struct shared_file *f)
{
    const struct collective_plan *plan = &f->plan;
    double writes = (double)pattern_writes(&f->pattern);
    double calls = writes / MAX(f->collective.pieces, 1);
    double messages = 2.0 * f->writers;

    if (f->collective.kind == COLLECTIVE_NONE || plan->aggregators == 0)
        messages += f->writers * file_run_messages(f);
    else
        messages += calls * (double)plan->cycles * plan->aggregators *
                    write_messages(f, (double)MIN(plan->cycle_bytes, plan->domain_bytes));
    /* Each writer comes to the meeting and is let go. */
    if (f->collective.kind != COLLECTIVE_NONE && plan->meets)
        messages += 2.0 * f->writers * calls * (double)plan->cycles;
    if (f->prepare == PREPARE_ALLOCATE)
        messages += ceil((double)f->file_bytes / PREALLOCATE_PIECE_BYTES) *
                    write_messages(f, MIN((double)f->file_bytes, PREALLOCATE_PIECE_BYTES));
    return messages;
}

void file_estimate(const void *data, struct scenario_estimate *estimate)
{
    const struct file_scenario *s = data;

    estimate->events = 0;
    estimate->pending = 0;
    estimate->actor_bytes = 0;
    for (unsigned i = 0; i < s->group_count; i++) {
        estimate->events += group_messages(&s->groups[i].file);
        estimate->pending += s->groups[i].file.writers;
    }
    estimate->latency_ns = s->link.latency_ns;
}

/* --- rows of the trace --- */

static uint64_t data_rows(const struct shared_file *f)
{
    const struct collective_plan *plan = &f->plan;
    uint64_t writes = pattern_writes(&f->pattern), shares = 0;

    if (plan->aggregators == 0)
        return writes * f->writers;
    for (uint32_t a = 0; a < plan->aggregators; a++) {
        uint64_t first = MIN(a * plan->domain_bytes, plan->call_bytes);
        uint64_t bytes = MIN(plan->domain_bytes, plan->call_bytes - first);
        shares += bytes / plan->cycle_bytes + (bytes % plan->cycle_bytes != 0);
    }
    return writes / f->collective.pieces * shares;
}

static uint64_t preparation_rows(const struct shared_file *f)
{
    uint64_t sizes = f->each ? f->writers : f->mounts;
    uint64_t pieces = (f->file_bytes + PREALLOCATE_PIECE_BYTES - 1) / PREALLOCATE_PIECE_BYTES;

    switch (f->prepare) {
    case PREPARE_SET_SIZE:
        return sizes;
    case PREPARE_ALLOCATE:
        return sizes + pieces * (f->each ? f->writers : 1);
    case PREPARE_NOTHING:
    case PREPARE_SIZED:
    case PREPARE_FILLED:
        break;
    }
    return 0;
}

uint64_t file_live_rows(const struct file_group *group)
{
    const struct shared_file *f = &group->file;

    if (f->collective.kind != COLLECTIVE_NONE && !group->live.locked)
        return pattern_writes(&f->pattern) / f->collective.pieces * f->writers;
    return data_rows(f);
}

uint64_t file_rows(const void *data)
{
    const struct file_scenario *s = data;
    uint64_t rows = 0;

    for (unsigned i = 0; i < s->group_count; i++)
        rows += s->live ? file_live_rows(&s->groups[i])
                        : data_rows(&s->groups[i].file) + preparation_rows(&s->groups[i].file);
    return rows;
}
