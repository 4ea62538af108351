/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rule of a file system that reserves a file's space in whole chunks: only the first write into a chunk moves the end
 * of what is reserved, and needs the lock for itself; all others share it.
 */
#include "examples.h"

enum { CHUNK_BYTES = 64 << 20 };

static uint64_t reserved(const struct inode *inode)
{
    return (inode->size_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
}

/* With the lock in hand it is looked at again: somebody may have cut the file meanwhile. */
static bool chunks_still(const struct inode *inode, const struct inode_write *write)
{
    return write->offset + write->length <= reserved(inode);
}

/* Where an appending write will begin is not known yet. */
static bool chunks_share(const struct inode *inode, const struct inode_write *write)
{
    return !write->append && chunks_still(inode, write);
}

const struct inode_rule inode_rule_chunks = { .shares = chunks_share, .still = chunks_still };
