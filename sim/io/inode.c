/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/inode.h"

void inode_release(struct inode *inode)
{
    extents_release(&inode->allocated);
}

bool inode_extends(const struct inode *inode, const struct inode_write *write)
{
    return write->offset + write->length > inode->size_bytes;
}

bool inode_has_hole(const struct inode *inode, const struct inode_write *write)
{
    return !extents_cover(&inode->allocated, write->offset, write->length);
}

bool inode_leaves_gap(const struct inode *inode, const struct inode_write *write)
{
    return write->offset > inode->size_bytes;
}

/* --- the rules --- */

static bool within(const struct inode *inode, const struct inode_write *write)
{
    return !write->append && !inode_extends(inode, write);
}

static bool within_still(const struct inode *inode, const struct inode_write *write)
{
    return !inode_extends(inode, write);
}

static bool within_uncached(const struct inode *inode, const struct inode_write *write)
{
    return within(inode, write) && inode->cached_users == 0;
}

static bool within_uncached_still(const struct inode *inode, const struct inode_write *write)
{
    return !inode_extends(inode, write) && inode->cached_users == 0;
}

static bool over_blocks_still(const struct inode *inode, const struct inode_write *write)
{
    return !inode_extends(inode, write) && !inode_has_hole(inode, write);
}

static bool always(const struct inode *inode, const struct inode_write *write)
{
    return true;
}

static bool without_gap_still(const struct inode *inode, const struct inode_write *write)
{
    return !inode_leaves_gap(inode, write);
}

static bool uncached(const struct inode *inode, const struct inode_write *write)
{
    return !write->append && inode->cached_users == 0;
}

static bool uncached_still(const struct inode *inode, const struct inode_write *write)
{
    return inode->cached_users == 0;
}

static const struct inode_rule rules[] = {
    [INODE_FUSE_62] = { .shares = within, .still = within_still },
    [INODE_FUSE_69] = { .shares = within_uncached, .still = within_uncached_still },
    [INODE_EXT4] = { .holes = true, .shares = within, .still = over_blocks_still },
    [INODE_XFS] = { .gone_on = true, .shares = always, .still = without_gap_still },
    [INODE_EXTENDING_SHARED] = { .shares = uncached, .still = uncached_still },
    [INODE_DEMOTING] = { .gone_on = true, .shares = within, .still = within_still },
};

static const struct inode_rule *rule_of(const struct inode *inode)
{
    return inode->rule != NULL ? inode->rule : &rules[inode->rules];
}

void inode_init(struct inode *inode, enum inode_rules which, bool parallel)
{
    *inode = (struct inode){ .rules = which, .parallel = parallel };
    extents_init(&inode->allocated);
}

void inode_init_with_rule(struct inode *inode, const struct inode_rule *rule, bool parallel)
{
    *inode = (struct inode){ .rule = rule, .parallel = parallel };
    extents_init(&inode->allocated);
}

enum lock_mode inode_mode(const struct inode *inode, const struct inode_write *write)
{
    return inode->parallel && rule_of(inode)->shares(inode, write) ? LOCK_SHARED : LOCK_EXCLUSIVE;
}

enum inode_verdict inode_verdict(const struct inode *inode, const struct inode_write *write, enum lock_mode mode)
{
    const struct inode_rule *rule = rule_of(inode);

    if (mode == LOCK_SHARED)
        return rule->still(inode, write) ? INODE_GO : INODE_EXCLUSIVELY;
    return rule->gone_on && inode->parallel ? INODE_DEMOTE : INODE_GO;
}

void inode_written(struct inode *inode, const struct inode_write *write)
{
    if (inode_extends(inode, write))
        inode->size_bytes = write->offset + write->length;
    if (rule_of(inode)->holes)
        extents_add(&inode->allocated, write->offset, write->length);
}

void inode_set_size(struct inode *inode, uint64_t size_bytes)
{
    inode->size_bytes = size_bytes;
    extents_cut(&inode->allocated, size_bytes);
}

void inode_save(const struct inode *inode, struct bytes *sink)
{
    bytes_put_u64(sink, inode->size_bytes);
    bytes_put_u32(sink, inode->cached_users);
    extents_save(&inode->allocated, sink);
}
