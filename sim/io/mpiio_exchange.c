/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective writes with an exchange of our own: before each cycle every process gives each aggregator what it has of
 * that one's share, by MPI_Alltoallv; then each aggregator writes its share, under the lock. Where the plan has no
 * aggregators all meet, and each writes its own pieces.
 */
#include <string.h>

#include "io/mpiio_internal.h"

/* What one process has for another one, or gets from it. */
struct parcels {
    uint8_t *bytes;
    int *counts;
    int *displacements;
};

struct exchange {
    int64_t *processes;             /* of the aggregators */
    struct parcels out, in;
    uint8_t *share;
};

/* The part of a writer's piece `k` of a call that lies in first..end; FALSE: none. */
static bool piece_part(const struct mpiio_work *w, uint32_t writer, uint64_t call, uint32_t k, uint64_t first,
                       uint64_t end, uint64_t *from, uint64_t *length)
{
    const struct collective *c = &w->job->collective;
    uint64_t piece = pattern_offset(&w->job->pattern, writer, call * c->pieces + k);

    *from = MAX(piece, first);
    uint64_t to = MIN(piece + c->block, end);
    *length = to > *from ? to - *from : 0;
    return *length != 0;
}

static uint64_t parts_bytes(const struct mpiio_work *w, uint32_t writer, uint64_t call, uint64_t first, uint64_t end)
{
    uint64_t sum = 0, from, length;
    for (uint32_t k = 0; k < w->job->collective.pieces; k++)
        if (piece_part(w, writer, call, k, first, end, &from, &length))
            sum += length;
    return sum;
}

/* Packs what this process has for each aggregator. */
static void pack(struct mpiio_work *w, struct exchange *x, uint64_t call, uint64_t cycle)
{
    const struct collective_plan *plan = &w->job->plan;
    uint64_t at = 0, first, size, from, length;

    memset(x->out.counts, 0, w->job->writers * sizeof(int));
    for (uint32_t a = 0; a < plan->aggregators; a++) {
        if (!collective_share(plan, call, cycle, a, &first, &size))
            continue;
        int process = (int)x->processes[a];
        x->out.displacements[process] = (int)at;
        for (uint32_t k = 0; k < w->job->collective.pieces; k++) {
            if (!piece_part(w, w->writer, call, k, first, first + size, &from, &length))
                continue;
            contents_set(&w->contents, from, length);
            memcpy(x->out.bytes + at, w->contents.bytes, length);
            at += length;
        }
        x->out.counts[process] = (int)at - x->out.displacements[process];
    }
}

static void expect(struct mpiio_work *w, struct exchange *x, uint64_t call, uint64_t first, uint64_t size)
{
    int at = 0;
    for (uint32_t p = 0; p < w->job->writers; p++) {
        x->in.displacements[p] = at;
        x->in.counts[p] = size == 0 ? 0 : (int)parts_bytes(w, p, call, first, first + size);
        at += x->in.counts[p];
    }
}

/* Puts what the processes sent where it belongs. */
static void unpack(struct mpiio_work *w, struct exchange *x, uint64_t call, uint64_t first, uint64_t size)
{
    uint64_t from, length;
    for (uint32_t p = 0; p < w->job->writers; p++) {
        const uint8_t *at = x->in.bytes + x->in.displacements[p];
        for (uint32_t k = 0; k < w->job->collective.pieces; k++) {
            if (!piece_part(w, p, call, k, first, first + size, &from, &length))
                continue;
            memcpy(x->share + (from - first), at, length);
            at += length;
        }
    }
}

static void do_cycle(struct mpiio_work *w, struct exchange *x, uint64_t call, uint64_t cycle)
{
    const struct collective_plan *plan = &w->job->plan;
    int64_t aggregator = collective_aggregator(&w->job->collective, plan, w->writer);
    uint64_t first = 0, size = 0;

    if (aggregator < 0 || !collective_share(plan, call, cycle, (uint32_t)aggregator, &first, &size))
        size = 0;
    pack(w, x, call, cycle);
    expect(w, x, call, first, size);
    MPI_Alltoallv(x->out.bytes, x->out.counts, x->out.displacements, MPI_BYTE, x->in.bytes, x->in.counts,
                  x->in.displacements, MPI_BYTE, w->comm);
    if (size == 0)
        return;
    unpack(w, x, call, first, size);
    mpiio_write_block(w, first, x->share, size);
}

static void write_own(struct mpiio_work *w, uint64_t call)
{
    const struct collective *c = &w->job->collective;
    for (uint32_t k = 0; k < c->pieces && w->error == NULL; k++) {
        uint64_t offset = pattern_offset(&w->job->pattern, w->writer, call * c->pieces + k);
        contents_set(&w->contents, offset, c->block);
        mpiio_write_block(w, offset, w->contents.bytes, c->block);
    }
}

static void parcels_init(struct parcels *p, uint64_t capacity, uint32_t processes)
{
    *p = (struct parcels){ g_malloc(capacity), g_new0(int, processes), g_new0(int, processes) };
}

static void parcels_release(struct parcels *p)
{
    g_free(p->bytes);
    g_free(p->counts);
    g_free(p->displacements);
}

static void exchange_init(struct exchange *x, const struct mpiio_work *w)
{
    const struct collective *c = &w->job->collective;
    const struct collective_plan *plan = &w->job->plan;

    x->processes = g_new0(int64_t, MAX(plan->aggregators, 1));
    for (uint32_t p = 0; p < w->job->writers; p++) {
        int64_t a = collective_aggregator(c, plan, p);
        if (a >= 0)
            x->processes[a] = p;
    }
    parcels_init(&x->out, c->block * c->pieces, w->job->writers);
    uint64_t share = MIN(plan->cycle_bytes, plan->domain_bytes);
    parcels_init(&x->in, share, w->job->writers);
    x->share = g_malloc(share);
}

static void exchange_release(struct exchange *x)
{
    g_free(x->processes);
    parcels_release(&x->out);
    parcels_release(&x->in);
    g_free(x->share);
}

void mpiio_exchange_all(struct mpiio_work *w)
{
    const struct collective_plan *plan = &w->job->plan;
    uint64_t calls = pattern_writes(&w->job->pattern) / w->job->collective.pieces;
    struct exchange x;

    exchange_init(&x, w);
    for (uint64_t call = 0; call < calls; call++) {
        if (call != 0 && w->job->think_ns != 0)
            mpiio_think(w);
        for (uint64_t cycle = 0; cycle < plan->cycles; cycle++) {
            /* The meeting; one that has failed must not leave the others alone in the exchange. */
            if (plan->meets && !mpiio_agree(w))
                goto end;
            if (plan->aggregators != 0)
                do_cycle(w, &x, call, cycle);
            else
                write_own(w, call);
        }
        if (!plan->meets && (w->error != NULL || mpiio_wants_stop(w)))
            break;
    }
    mpiio_agree(w);
end:
    exchange_release(&x);
}
