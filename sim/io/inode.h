/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a mount knows of a file, and which lock a direct write takes.
 *
 * Three questions, kept apart because file systems ask different ones: does the write end beyond the end of the file
 * (extend it), is there a hole under it, does it begin beyond the end (leave a gap)? The mode is chosen before the lock
 * is asked for; with the lock in hand the choice may be looked at again.
 *
 *     enum lock_mode mode = inode_mode(&inode, &write);
 *     ... the lock ...
 *     switch (inode_verdict(&inode, &write, mode)) ...
 *     ... the transfer ...
 *     inode_written(&inode, &write);
 *
 * Sources: Linux 6.2 and 6.12, fs/fuse/file.c, fs/fuse/iomode.c, fs/ext4/file.c, fs/xfs/xfs_file.c. In FUSE and ext4 an
 * exclusive choice is never looked at again, even if others have moved the end of the file meanwhile: with writers that
 * decide together all are exclusive, though few extend.
 */
#ifndef TIERCEL_IO_INODE_H
#define TIERCEL_IO_INODE_H

#include "io/extents.h"
#include "io/inode_lock.h"

/* By the choices of a deck's `rules`. */
enum inode_rules {
    INODE_FUSE_62,              /* 6.2: exclusive when appending or ending beyond the end */
    INODE_FUSE_69,              /* 6.9: also while somebody uses the page cache */
    INODE_EXT4,                 /* also over a hole; looked at again with the lock in hand */
    INODE_XFS,                  /* shared, unless there is a gap; then zeroed exclusively and demoted */
    INODE_EXTENDING_SHARED,     /* FUSE without the test for the end, as a public tree has it */
    INODE_DEMOTING              /* what if: as FUSE 6.2, demoted as soon as the lock is there */
};

struct inode_rule;

struct inode {
    enum inode_rules rules;
    const struct inode_rule *rule;  /* one that is not among them; else NULL */
    bool parallel;              /* FUSE: the server allows parallel direct writes on this file */
    uint32_t cached_users;      /* opens that use the page cache, shared mappings */
    uint64_t size_bytes;
    struct extents allocated;   /* kept where the rules ask for holes */
};

struct inode_write {
    uint64_t offset;
    uint64_t length;            /* 1 or above */
    bool append;                /* O_APPEND; the offset is then the end of the file once the lock is there */
};

enum inode_verdict {
    INODE_GO,
    INODE_EXCLUSIVELY,          /* let go of the shared lock and ask for the exclusive one */
    INODE_DEMOTE                /* demote, then go */
};

/* What the rules of a file system are made of; those of enum inode_rules stand in a table in inode.c. */
struct inode_rule {
    bool holes;                 /* asks for them: the inode keeps which blocks are there */
    bool gone_on;               /* an exclusive holder goes on shared as soon as it has the lock */
    /* Before any lock: whether the write may share it. Not asked where the server does not allow that. */
    bool (*shares)(const struct inode *inode, const struct inode_write *write);
    /* With the shared lock in hand: whether it may still. */
    bool (*still)(const struct inode *inode, const struct inode_write *write);
};

void inode_init(struct inode *inode, enum inode_rules which, bool parallel);
/* The same for rules of one's own, which outlive the inode. */
void inode_init_with_rule(struct inode *inode, const struct inode_rule *rule, bool parallel);
void inode_release(struct inode *inode);

bool inode_extends(const struct inode *inode, const struct inode_write *write);
bool inode_has_hole(const struct inode *inode, const struct inode_write *write);
bool inode_leaves_gap(const struct inode *inode, const struct inode_write *write);

/* Before any lock. */
enum lock_mode inode_mode(const struct inode *inode, const struct inode_write *write);

/* With the lock held in that mode. */
enum inode_verdict inode_verdict(const struct inode *inode, const struct inode_write *write, enum lock_mode mode);

/* The bytes are there; the lock is still held. */
void inode_written(struct inode *inode, const struct inode_write *write);

/* ftruncate: shrinks or grows, without blocks. */
void inode_set_size(struct inode *inode, uint64_t size_bytes);

void inode_save(const struct inode *inode, struct bytes *sink);

#endif
