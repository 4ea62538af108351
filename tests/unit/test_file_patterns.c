/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access patterns and collective plans; and the lock under 1,000 random patterns: writers on one file in a small
 * simulation of its own (no engine), every invariant looked at after every step.
 */
#include <glib.h>
#include <string.h>

#include "io/collective.h"
#include "io/inode.h"
#include "io/pattern.h"
#include "suite.h"

/* --- patterns --- */

static void test_layout(void)
{
    struct pattern p = { PATTERN_INTERLEAVED, 4, 2, 6, 5, 0 };
    CU_ASSERT_EQUAL(pattern_writes(&p), 15);
    CU_ASSERT_EQUAL(pattern_bytes(&p), 120);
    CU_ASSERT_EQUAL(pattern_offset(&p, 0, 0), 0);
    CU_ASSERT_EQUAL(pattern_offset(&p, 1, 0), 6);
    CU_ASSERT_EQUAL(pattern_offset(&p, 1, 2), 10);
    CU_ASSERT_EQUAL(pattern_offset(&p, 1, 3), 30);
    p.order = PATTERN_CONTIGUOUS;
    CU_ASSERT_EQUAL(pattern_offset(&p, 2, 3), 66);
    p.order = PATTERN_DESCENDING;
    CU_ASSERT_EQUAL(pattern_offset(&p, 3, 0), 118);
    CU_ASSERT_EQUAL(pattern_offset(&p, 0, 14), 0);
    p.order = PATTERN_LAST_FIRST;
    CU_ASSERT_EQUAL(pattern_offset(&p, 0, 0), 96);
    CU_ASSERT_EQUAL(pattern_offset(&p, 0, 3), 0);
    CU_ASSERT_EQUAL(pattern_offset(&p, 0, 14), 76);
}

static bool covers_once(const struct pattern *p)
{
    uint64_t transfers = pattern_bytes(p) / p->transfer;
    g_autofree bool *written = g_new0(bool, transfers);
    for (uint32_t w = 0; w < p->writers; w++)
        for (uint64_t k = 0; k < pattern_writes(p); k++) {
            uint64_t at = pattern_offset(p, w, k);
            if (at % p->transfer != 0 || at / p->transfer >= transfers || written[at / p->transfer])
                return false;
            written[at / p->transfer] = true;
        }
    return true;
}

static void test_cover(void)
{
    for (unsigned order = PATTERN_INTERLEAVED; order <= PATTERN_RANDOM; order++)
        for (uint32_t writers = 1; writers < 6; writers++)
            for (uint64_t segments = 1; segments < 40; segments += 7) {
                struct pattern p = { (enum pattern_order)order, writers, 512, 1536, segments, order };
                CU_ASSERT_TRUE(covers_once(&p));
            }
}

static void test_random_order(void)
{
    struct pattern p = { PATTERN_RANDOM, 2, 1, 1, 1000, 1 };
    unsigned ascending = 0, alike = 0;
    for (uint64_t k = 1; k < 1000; k++) {
        ascending += pattern_offset(&p, 0, k) > pattern_offset(&p, 0, k - 1);
        alike += pattern_offset(&p, 0, k) + 1 == pattern_offset(&p, 1, k);
    }
    CU_ASSERT_TRUE(ascending > 430 && ascending < 570);
    CU_ASSERT_TRUE(alike < 10);
}

/* --- collectives --- */

static uint64_t share_all(const struct collective *c, const struct collective_plan *plan, uint64_t call)
{
    uint64_t at = call * plan->call_bytes, total = 0;
    uint32_t found = 0;
    for (uint32_t w = 0; w < c->writers; w++) {
        int64_t a = collective_aggregator(c, plan, w);
        if (a < 0)
            continue;
        found++;
        for (uint64_t cycle = 0; cycle < plan->cycles; cycle++) {
            uint64_t offset, length;
            if (!collective_share(plan, call, cycle, (uint32_t)a, &offset, &length))
                continue;
            CU_ASSERT_EQUAL(offset, at + total);
            CU_ASSERT_TRUE(length <= plan->cycle_bytes);
            total += length;
        }
    }
    CU_ASSERT_EQUAL(found, plan->aggregators);
    return total;
}

static void test_ompio(void)
{
    struct collective c = { COLLECTIVE_OMPIO, 2, 16, 65536, 1, 0, 1, 0 };
    struct collective_plan plan;
    collective_plan_make(&c, &plan);
    CU_ASSERT_FALSE(plan.meets);
    CU_ASSERT_EQUAL(plan.aggregators, 0);
    static const uint32_t writers[] = { 3, 8, 15, 16, 64 }, aggregators[] = { 1, 1, 1, 2, 8 };
    for (unsigned i = 0; i < 5; i++) {
        c.writers = writers[i];
        collective_plan_make(&c, &plan);
        CU_ASSERT_TRUE(plan.meets);
        CU_ASSERT_EQUAL(plan.aggregators, aggregators[i]);
        CU_ASSERT_EQUAL(plan.operations, 4 + aggregators[i]);
        CU_ASSERT_EQUAL(plan.cycle_operations, 0);
        CU_ASSERT_EQUAL(share_all(&c, &plan, 3), writers[i] * 65536);
    }
    c = (struct collective){ COLLECTIVE_OMPIO, 8, 8, 1 << 20, 8, 3, 1, 5 << 20 };
    collective_plan_make(&c, &plan);
    CU_ASSERT_EQUAL(plan.aggregators, 3);
    CU_ASSERT_EQUAL(plan.cycle_bytes, 5 << 19);
    CU_ASSERT_EQUAL(plan.cycles, 9);
    CU_ASSERT_EQUAL(share_all(&c, &plan, 1), 64 << 20);
}

static void test_romio(void)
{
    struct collective c = { COLLECTIVE_ROMIO, 16, 8, 65536, 1, 0, 1, 0 };
    struct collective_plan plan;
    collective_plan_make(&c, &plan);
    CU_ASSERT_TRUE(plan.meets);
    CU_ASSERT_EQUAL(plan.aggregators, 0);
    CU_ASSERT_EQUAL(plan.operations, 2);
    c.pieces = 16;
    collective_plan_make(&c, &plan);
    CU_ASSERT_EQUAL(plan.operations, 6);
    CU_ASSERT_EQUAL(plan.cycle_operations, 1);
    CU_ASSERT_EQUAL(plan.aggregators, 2);
    CU_ASSERT_EQUAL(collective_aggregator(&c, &plan, 8), 1);
    CU_ASSERT_EQUAL(collective_aggregator(&c, &plan, 1), -1);
    CU_ASSERT_EQUAL(share_all(&c, &plan, 2), 16 * 16 * 65536);
    c.aggregators_per_node = 3;
    c.aggregators = 5;
    collective_plan_make(&c, &plan);
    CU_ASSERT_EQUAL(plan.aggregators, 5);
    CU_ASSERT_EQUAL(share_all(&c, &plan, 0), 16 * 16 * 65536);
    c.aggregators = 0;
    collective_plan_make(&c, &plan);
    CU_ASSERT_EQUAL(plan.aggregators, 6);
    /* A node with one writer has one aggregator. */
    c.writers = 17;
    collective_plan_make(&c, &plan);
    CU_ASSERT_EQUAL(plan.aggregators, 7);
    CU_ASSERT_EQUAL(share_all(&c, &plan, 0), 17 * 16 * 65536);
}

/* --- the lock under random patterns --- */

enum { WRITERS_MOST = 9 };

enum step { STEP_ASK, STEP_TRY, STEP_GO, STEP_DONE, STEP_NONE };

struct player {
    int64_t time_ns;
    enum step step;
    enum lock_mode mode;
    uint64_t done;
    struct inode_write write;
    bool at_server;
    bool alone;
};

struct play {
    struct pattern pattern;
    struct inode inode;
    struct inode_lock lock;
    struct player players[WRITERS_MOST];
    GRand *random;
    int64_t now_ns;
    uint32_t at_server, exclusive_at_server, most_at_server;
    uint64_t extending, exclusive, writes;
    bool append;
    bool shrinks_never;
};

static int64_t around(struct play *g, int64_t mean_ns)
{
    return g_rand_int_range(g->random, (int32_t)(mean_ns / 2), (int32_t)(mean_ns * 3 / 2) + 1);
}

static void set(struct play *g, uint32_t who, enum step step, int64_t delay_ns)
{
    g->players[who].step = step;
    g->players[who].time_ns = g->now_ns + delay_ns;
}

static void hear(struct play *g)
{
    uint32_t who;
    enum lock_mode mode;
    while (inode_lock_take_granted(&g->lock, &who, &mode)) {
        CU_ASSERT_EQUAL(g->players[who].mode, mode);
        set(g, who, STEP_GO, around(g, 20000));
    }
    if (inode_lock_take_woken(&g->lock, &who))
        set(g, who, STEP_TRY, around(g, 20000));
}

static void ask(struct play *g, uint32_t who)
{
    struct player *p = &g->players[who];
    p->step = STEP_NONE;
    if (inode_lock_ask(&g->lock, who, p->mode, g->now_ns))
        set(g, who, STEP_GO, 0);
    hear(g);
}

static void go(struct play *g, uint32_t who)
{
    struct player *p = &g->players[who];
    CU_ASSERT_TRUE(p->mode == LOCK_EXCLUSIVE ? g->lock.exclusive : g->lock.shared > 0);
    if (p->write.append)
        p->write.offset = g->inode.size_bytes;
    enum inode_verdict verdict = inode_verdict(&g->inode, &p->write, p->mode);
    if (verdict == INODE_EXCLUSIVELY) {
        inode_lock_leave(&g->lock, p->mode);
        hear(g);
        p->mode = LOCK_EXCLUSIVE;
        ask(g, who);
        return;
    }
    if (verdict == INODE_DEMOTE) {
        inode_lock_demote(&g->lock);
        p->mode = LOCK_SHARED;
        hear(g);
    }
    g->extending += inode_extends(&g->inode, &p->write);
    g->exclusive += p->mode == LOCK_EXCLUSIVE;
    g->at_server++;
    g->exclusive_at_server += p->mode == LOCK_EXCLUSIVE;
    g->most_at_server = MAX(g->most_at_server, g->at_server);
    CU_ASSERT_TRUE(g->exclusive_at_server == 0 || g->at_server == 1);
    set(g, who, STEP_DONE, around(g, 300000));
}

static void done(struct play *g, uint32_t who)
{
    struct player *p = &g->players[who];
    uint64_t before = g->inode.size_bytes;
    inode_written(&g->inode, &p->write);
    g->shrinks_never = g->shrinks_never && g->inode.size_bytes >= before;
    g->at_server--;
    g->exclusive_at_server -= p->mode == LOCK_EXCLUSIVE;
    inode_lock_leave(&g->lock, p->mode);
    p->step = STEP_NONE;
    hear(g);
    g->writes++;
    if (++p->done < pattern_writes(&g->pattern))
        set(g, who, STEP_ASK, around(g, 15000));
}

static bool step(struct play *g)
{
    uint32_t next = WRITERS_MOST;
    for (uint32_t w = 0; w < g->pattern.writers; w++)
        if (g->players[w].step != STEP_NONE &&
            (next == WRITERS_MOST || g->players[w].time_ns < g->players[next].time_ns))
            next = w;
    if (next == WRITERS_MOST)
        return false;
    struct player *p = &g->players[next];
    g->now_ns = p->time_ns;
    switch (p->step) {
    case STEP_ASK:
        p->write = (struct inode_write){ pattern_offset(&g->pattern, next, p->done), g->pattern.transfer, g->append };
        p->mode = inode_mode(&g->inode, &p->write);
        ask(g, next);
        break;
    case STEP_TRY:
        p->step = STEP_NONE;
        if (inode_lock_try(&g->lock, next, g->now_ns))
            set(g, next, STEP_GO, 0);
        break;
    case STEP_GO:
        go(g, next);
        break;
    default:
        done(g, next);
    }
    CU_ASSERT_FALSE(g->lock.exclusive && g->lock.shared != 0);
    return true;
}

static void play(uint32_t seed)
{
    struct play g = { .random = g_rand_new_with_seed(seed), .shrinks_never = true };
    g.pattern = (struct pattern){ (enum pattern_order)g_rand_int_range(g.random, 0, PATTERN_RANDOM + 1),
                                  (uint32_t)g_rand_int_range(g.random, 1, WRITERS_MOST + 1), 512, 512,
                                  (uint64_t)g_rand_int_range(g.random, 1, 12), seed };
    g.pattern.block *= (uint64_t)g_rand_int_range(g.random, 1, 4);
    enum inode_rules rules = (enum inode_rules)g_rand_int_range(g.random, 0, INODE_DEMOTING + 1);
    bool parallel = g_rand_int_range(g.random, 0, 4) != 0;
    g.append = rules != INODE_XFS && g_rand_int_range(g.random, 0, 5) == 0;
    bool extended = g_rand_int_range(g.random, 0, 3) == 0;
    inode_init(&g.inode, rules, parallel);
    inode_lock_init(&g.lock, g_rand_int_range(g.random, 0, 4) == 0 ? LOCK_FIFO : LOCK_KERNEL,
                    g_rand_boolean(g.random) ? 250 : 1000);
    if (extended && !g.append)
        inode_set_size(&g.inode, pattern_bytes(&g.pattern));
    for (uint32_t w = 0; w < g.pattern.writers; w++)
        set(&g, w, STEP_ASK, around(&g, 15000));
    while (step(&g))
        ;
    uint64_t total = pattern_writes(&g.pattern) * g.pattern.writers;
    CU_ASSERT_EQUAL(g.writes, total);
    CU_ASSERT_EQUAL(g.inode.size_bytes, pattern_bytes(&g.pattern));
    CU_ASSERT_TRUE(g.shrinks_never);
    CU_ASSERT_EQUAL(inode_lock_waiters(&g.lock), 0);
    CU_ASSERT_FALSE(g.lock.exclusive || g.lock.shared != 0 || g.lock.handoff || g.lock.waking);
    if (!parallel || (g.append && rules != INODE_DEMOTING))
        CU_ASSERT_TRUE(g.most_at_server == 1 && g.exclusive == total);
    CU_ASSERT_TRUE(extended && !g.append ? g.extending == 0 : g.extending >= 1);
    inode_release(&g.inode);
    inode_lock_release(&g.lock);
    g_rand_free(g.random);
}

static void test_random_patterns(void)
{
    for (uint32_t seed = 1; seed <= 1000; seed++)
        play(seed);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "segments, blocks and transfers lie where IOR puts them", test_layout },
        { "every pattern writes every byte once", test_cover },
        { "a random order is none, and each writer's own", test_random_order },
        { "OMPIO aggregates for three writers and more", test_ompio },
        { "ROMIO aggregates what interleaves within a call, on one process a host", test_romio },
        { "the lock keeps its invariants under 1,000 random patterns", test_random_patterns },
        { NULL, NULL }
    };
    return suite_run("file patterns", tests);
}
