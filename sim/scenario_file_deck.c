/* SPDX-License-Identifier: BSD-3-Clause */
/* From the groups [io.NAME], [lock] and [server] of a deck to the setup of a shared file. */
#include <string.h>

#include "scenario_file.h"

static struct cost read_cost(const struct deck *deck, const char *group, const char *key)
{
    struct cost stated = deck_cost(deck, group, key);
    return (struct cost){ .fixed_ns = stated.fixed_ns, .per_byte_ps = stated.per_byte_ps };
}

static void read_pattern(struct shared_file *f, struct deck *deck, const char *group)
{
    struct pattern *p = &f->pattern;

    p->transfer = (uint64_t)deck_integer(deck, group, "transfer");
    p->block = (uint64_t)deck_integer_or(deck, group, "block", (int64_t)p->transfer);
    p->segments = (uint64_t)deck_integer(deck, group, "segments");
    p->seed = (uint64_t)deck_integer(deck, "run", "seed");
    if (p->block % p->transfer != 0) {
        deck_complain(deck, group, "block", "'%s' is not a whole number of transfers (%s); expected a multiple",
                      deck_text(deck, group, "block"), deck_text(deck, group, "transfer"));
        p->block = p->transfer;
    }
}

static void read_file(struct shared_file *f, struct deck *deck, const char *group)
{
    static const enum shared_file_prepare prepares[] = { PREPARE_NOTHING, PREPARE_SET_SIZE, PREPARE_ALLOCATE,
                                                         PREPARE_FILLED };

    f->each = deck_choice(deck, group, "files", NULL) == 1;
    f->append = deck_boolean(deck, group, "append");
    f->think = deck_distribution(deck, group, "think");
    f->parallel = deck_choice(deck, group, "lock", NULL) == 1;
    f->rules = (enum inode_rules)deck_choice(deck, group, "rules", NULL);
    if (deck_choice(deck, group, "lock", NULL) == 2) {
        /* Nobody excludes anybody. */
        f->parallel = true;
        f->rules = INODE_EXTENDING_SHARED;
    }
    f->cached_users = (uint32_t)deck_integer(deck, group, "cached-users");
    f->queue = (enum lock_queue)deck_choice(deck, deck_has(deck, group, "queue") ? group : "lock", "queue", NULL);
    f->prepare = prepares[deck_choice(deck, group, "pre-extend", NULL)];
    f->hz = (uint32_t)deck_integer(deck, "lock", "hz");
    f->wake = deck_distribution(deck, "lock", "wake");
    f->back = deck_distribution(deck, "lock", "return");
    f->request = read_cost(deck, "server", "request");
    f->jitter_ppm = (uint32_t)deck_integer(deck, "server", "jitter");
    f->channels = (uint32_t)deck_integer_or(deck, "server", "channels", 0);
    f->bandwidth = (uint64_t)deck_integer_or(deck, "server", "bandwidth", 0);
    f->request_most = (uint64_t)deck_integer(deck, "server", "max-write");
}

/* Where a key stands that a file need not state. */
static const char *group_of(const struct deck *deck, const char *group, const char *key)
{
    return deck_has(deck, group, key) ? group : "collective";
}

static void read_collective(struct shared_file *f, struct deck *deck, const char *group)
{
    struct collective *c = &f->collective;

    c->kind = (enum collective_library)deck_choice(deck, group, "collective", NULL);
    c->pieces = (uint32_t)deck_integer(deck, group, "pieces");
    c->aggregators = (uint32_t)deck_integer_or(deck, group, "aggregators", 0);
    c->aggregators_per_node = (uint32_t)deck_integer(deck, group, "aggregators-per-node");
    c->buffer = (uint64_t)deck_integer_or(deck, group, "buffer", 0);
    f->exchange = read_cost(deck, group_of(deck, group, "exchange"), "exchange");
    f->operation_ns = deck_integer(deck, group_of(deck, group, "operation"), "operation");
    f->share = read_cost(deck, group_of(deck, group, "share"), "share");
    f->cores = (uint32_t)deck_integer_or(deck, "collective", "cores", 0);
}

void file_read(struct shared_file *f, struct deck *deck, const char *deck_group, bool jobs_write)
{
    *f = (struct shared_file){ .name = strchr(deck_group, '.') + 1, .collective = { .pieces = 1 } };
    read_pattern(f, deck, deck_group);
    read_file(f, deck, deck_group);
    if (jobs_write)
        return;
    f->pattern.order = (enum pattern_order)deck_choice(deck, deck_group, "pattern", NULL);
    f->writers = (uint32_t)deck_integer(deck, deck_group, "writers");
    f->writers_per_node = (uint32_t)MIN(deck_integer_or(deck, deck_group, "writers-per-node", f->writers), f->writers);
    read_collective(f, deck, deck_group);
}

/* --- what only a scenario can find wrong --- */

static void check_collective(const struct shared_file *f, struct deck *deck, const char *group)
{
    if (f->collective.kind == COLLECTIVE_NONE)
        return;
    if (f->pattern.order != PATTERN_INTERLEAVED || f->pattern.block != f->pattern.transfer)
        deck_complain(deck, group, "collective", "'%s' goes with pattern = interleaved and a block of one transfer "
                      "only; expected that, or none, because a call of other patterns leaves holes that are not "
                      "modelled", deck_text(deck, group, "collective"));
    if (f->each || f->append)
        deck_complain(deck, group, "collective", "'%s' does not go with files = each or append = true; expected one "
                      "file with explicit offsets", deck_text(deck, group, "collective"));
    if (f->pattern.segments % f->collective.pieces != 0)
        deck_complain(deck, group, "pieces", "'%u' does not divide the segments (%" G_GUINT64_FORMAT "); expected a "
                      "divisor", f->collective.pieces, f->pattern.segments);
}

static void check_nodes(const struct shared_file *f, struct deck *deck, const char *group)
{
    bool local = f->rules == INODE_EXT4 || f->rules == INODE_XFS;

    if (f->mounts < 2)
        return;
    if (local)
        deck_complain(deck, group, "rules", "'%s' is a file system of one node, and there are %u; expected one of "
                      "FUSE's, or one node", deck_text(deck, group, "rules"), f->mounts);
    if (f->append && !f->each)
        deck_complain(deck, group, "append", "is not defined for %u nodes that do not know of one another's writes; "
                      "expected false, one node, or files = each", f->mounts);
}

static void check_sizes(struct shared_file *f, struct deck *deck, const char *group, uint64_t runs)
{
    unsigned __int128 once = (unsigned __int128)f->pattern.segments * f->pattern.block * f->pattern.writers;

    if (once >= INT64_MAX) {
        deck_complain(deck, group, "segments", "makes a file of more than 2^63 bytes; expected less");
        return;
    }
    /* Jobs need an end that they do not reach, no more. */
    bool fits = once == 0 || runs <= (INT64_MAX - 1) / (uint64_t)once;
    f->file_bytes = fits ? (uint64_t)once * runs : INT64_MAX - 1;
}

void file_finish(struct shared_file *f, struct deck *deck, const char *deck_group, uint64_t runs)
{
    if (f->append && f->rules == INODE_XFS)
        deck_complain(deck, deck_group, "append", "is not modelled with rules = xfs; expected false");
    if (f->append && (f->prepare != PREPARE_NOTHING || f->pattern.order != PATTERN_INTERLEAVED))
        deck_complain(deck, deck_group, "append", "writes behind what is there, wherever the pattern says; expected "
                      "pattern = interleaved and pre-extend = none");
    f->pattern.writers = f->each ? 1 : f->writers;
    check_sizes(f, deck, deck_group, runs);
    check_nodes(f, deck, deck_group);
    check_collective(f, deck, deck_group);
    f->collective.writers = f->writers;
    f->collective.writers_per_node = f->writers_per_node;
    f->collective.block = f->pattern.transfer;
    collective_plan_make(&f->collective, &f->plan);
}
