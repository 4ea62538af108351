/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_queue MESSAGES HOLDS: the hold model (take the first, put it back an exponential time later) on the engine's
 * queue and, right after it in the same process, on its ceiling: a loser tree of single words, time << bits | source,
 * in which a level is a load, a minimum and a maximum. The tree can hold one message a source and nothing else.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/queue.h"
#include "measure.h"

enum { DRAWS = 65536, MEAN_NS = 1000000, LONGEST = 20 };

static int64_t increments[DRAWS];

static void draw_increments(void)
{
    uint64_t state = UINT64_C(88172645463325252);
    for (int i = 0; i < DRAWS; i++) {
        double u = ((double)(measure_random(&state) >> 11) + 0.5) * 0x1p-53;
        double d = -log(u);
        increments[i] = (int64_t)((d > LONGEST ? LONGEST : d) * MEAN_NS) + 1;
    }
}

/* CPU seconds of the holds, after as many as there are messages to settle sizes. */
static double hold_queue(uint32_t messages, uint64_t holds, uint64_t *sum)
{
    struct queue q;
    uint32_t sequence = 0;
    double cpu_s = 0;

    queue_init(&q);
    for (uint32_t i = 0; i < messages; i++) {
        struct message m = { .time_ns = increments[i % DRAWS], .to = i, .from = i, .sequence = sequence++ };
        queue_push(&q, &m);
    }
    for (uint64_t k = 0; k < 2 * (uint64_t)messages + holds; k++) {
        if (k == 2 * (uint64_t)messages)
            cpu_s = -measure_cpu_s();
        *sum += (uint64_t)queue_next_ns(&q);
        struct message m = queue_pop(&q);
        m.time_ns += increments[(sequence * 40503u) % DRAWS];
        m.sequence = sequence++;
        queue_push(&q, &m);
    }
    cpu_s += measure_cpu_s();
    queue_release(&q);
    return cpu_s;
}

static double hold_tree(uint32_t messages, uint64_t holds, uint64_t *sum)
{
    size_t leaves = 1;
    int bits = 0;

    while (leaves < messages) {
        leaves *= 2;
        bits++;
    }
    uint64_t *losers = malloc((leaves + 8) * sizeof *losers);
    uint64_t *winners = malloc(2 * leaves * sizeof *winners);
    uint32_t sequence = messages;
    double cpu_s = 0;
    for (size_t i = 0; i < leaves; i++)
        winners[leaves + i] = i < messages ? (uint64_t)increments[i % DRAWS] << bits | i : UINT64_MAX;
    for (size_t i = leaves - 1; i > 0; i--) {
        uint64_t a = winners[2 * i];
        uint64_t b = winners[2 * i + 1];
        winners[i] = a < b ? a : b;
        losers[i] = a < b ? b : a;
    }
    uint64_t first = winners[1];
    free(winners);
    for (uint64_t k = 0; k < 2 * (uint64_t)messages + holds; k++) {
        if (k == 2 * (uint64_t)messages)
            cpu_s = -measure_cpu_s();
        size_t source = first & (leaves - 1);
        *sum += first >> bits;
        first += (uint64_t)increments[(sequence++ * 40503u) % DRAWS] << bits;
        for (size_t i = (leaves + source) >> 1; i > 0; i >>= 1) {
            uint64_t other = losers[i];
            losers[i] = other < first ? first : other;
            first = other < first ? other : first;
        }
    }
    cpu_s += measure_cpu_s();
    free(losers);
    return cpu_s;
}

int main(int argc, char **argv)
{
    uint64_t sums[2] = { 0, 0 };

    if (argc != 3) {
        fprintf(stderr, "usage: bench_queue MESSAGES HOLDS\n");
        return 2;
    }
    uint32_t messages = (uint32_t)atol(argv[1]);
    uint64_t holds = strtoull(argv[2], NULL, 10);
    draw_increments();
    double queue_s = hold_queue(messages, holds, &sums[0]);
    double tree_s = hold_tree(messages, holds, &sums[1]);
    printf("queue messages %u queue_ns %.3f tree_ns %.3f ratio %.3f sum %016llx tree_sum %016llx\n", messages,
           queue_s * 1e9 / (double)holds, tree_s * 1e9 / (double)holds, queue_s / tree_s, (unsigned long long)sums[0],
           (unsigned long long)sums[1]);
    return sums[0] != sums[1];
}
