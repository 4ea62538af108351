/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/inode.h"

void inode_init(struct inode *inode, enum inode_rules rules, bool parallel)
{
    *inode = (struct inode){ .rules = rules, .parallel = parallel };
    extents_init(&inode->allocated);
}

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

enum lock_mode inode_mode(const struct inode *inode, const struct inode_write *write)
{
    bool exclusive = true;

    switch (inode->rules) {
    case INODE_FUSE_62:
    case INODE_DEMOTING:
    case INODE_EXT4:
        exclusive = write->append || inode_extends(inode, write);
        break;
    case INODE_FUSE_69:
        exclusive = write->append || inode->cached_users != 0 || inode_extends(inode, write);
        break;
    case INODE_EXTENDING_SHARED:
        exclusive = write->append || inode->cached_users != 0;
        break;
    case INODE_XFS:
        exclusive = false;
        break;
    }
    return exclusive || !inode->parallel ? LOCK_EXCLUSIVE : LOCK_SHARED;
}

enum inode_verdict inode_verdict(const struct inode *inode, const struct inode_write *write, enum lock_mode mode)
{
    bool shared = mode == LOCK_SHARED;

    switch (inode->rules) {
    case INODE_FUSE_62:
        return shared && inode_extends(inode, write) ? INODE_EXCLUSIVELY : INODE_GO;
    case INODE_FUSE_69:
        return shared && (inode->cached_users != 0 || inode_extends(inode, write)) ? INODE_EXCLUSIVELY : INODE_GO;
    case INODE_EXTENDING_SHARED:
        return shared && inode->cached_users != 0 ? INODE_EXCLUSIVELY : INODE_GO;
    case INODE_EXT4:
        return shared && (inode_extends(inode, write) || inode_has_hole(inode, write)) ? INODE_EXCLUSIVELY : INODE_GO;
    case INODE_XFS:
        if (shared)
            return inode_leaves_gap(inode, write) ? INODE_EXCLUSIVELY : INODE_GO;
        return inode->parallel ? INODE_DEMOTE : INODE_GO;
    case INODE_DEMOTING:
        if (shared)
            return inode_extends(inode, write) ? INODE_EXCLUSIVELY : INODE_GO;
        return inode->parallel ? INODE_DEMOTE : INODE_GO;
    }
    return INODE_GO;
}

void inode_written(struct inode *inode, const struct inode_write *write)
{
    if (inode_extends(inode, write))
        inode->size_bytes = write->offset + write->length;
    if (inode->rules == INODE_EXT4)
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
