/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transaction: the operations that one client commits at once, with a name unique to (node, counter).
 *
 *     struct transaction *t = transaction_new(node, counter, 0);
 *     transaction_put(t, "job.0000.0927.c000.0000.R", data, size);
 *     transaction_append(t, "job.0000.0927.c000.0000.eventlog", line, length);
 *     transaction_pack(t, &payload_bytes);
 *     ...
 *     struct transaction *t = transaction_unpack(&cursor);        NULL: not a transaction
 *     transaction_free(t);
 *
 * The operations are kept as the canonical bytes that travel, so that relaying costs a copy. Keys are normalised on the
 * way in: no empty components ("a..b." is "a.b"); "." stays, and fails when it is applied. Values carry their real
 * bytes: whether they stay in place or become blobs is decided when the transaction is applied. All functions are
 * local.
 */
#ifndef TIERCEL_KVS_TRANSACTION_H
#define TIERCEL_KVS_TRANSACTION_H

#include "kvs/treeobj.h"

/* Which transaction; answers find their request by it. node UINT32_MAX is left to fences that are
 * complete: counter is then the number under which the root keeps them. */
struct transaction_name {
    uint32_t node;
    uint64_t counter;
};

enum transaction_flag {
    TRANSACTION_NO_MERGE = 1 << 0,
    TRANSACTION_SYNC = 1 << 1       /* carried for the reader of setroot events; kvs treats it like none */
};

enum operation_type {
    OPERATION_PUT = 1,      /* any tree object: value, symlink, directory (mkdir), references */
    OPERATION_APPEND = 2,   /* a value */
    OPERATION_UNLINK = 3    /* no object */
};

struct operation {
    enum operation_type type;
    const char *key;        /* normalised, terminated, in place */
    struct treeobj object;  /* a view; meaningless after OPERATION_UNLINK */
};

struct transaction {
    struct transaction_name name;
    uint32_t flags;             /* enum transaction_flag */
    uint32_t count;             /* operations */
    struct bytes operations;
};

struct transaction *transaction_new(uint32_t node, uint64_t counter, uint32_t flags);
void transaction_free(struct transaction *t);

void transaction_put(struct transaction *t, const char *key, const void *data, size_t size);
void transaction_append(struct transaction *t, const char *key, const void *data, size_t size);
void transaction_unlink(struct transaction *t, const char *key);
/* `namespace_name` NULL: within the same namespace. */
void transaction_symlink(struct transaction *t, const char *key, const char *namespace_name, const char *target);
void transaction_mkdir(struct transaction *t, const char *key);
/* Any object, copied: what a lookup of LOOKUP_OBJECT gave, say. */
void transaction_put_object(struct transaction *t, const char *key, const struct treeobj *object);

/* Walks the operations in order: start with a cursor from transaction_walk; false at the end. */
struct cursor transaction_walk(const struct transaction *t);
bool transaction_next(struct cursor *walk, struct operation *operation);

void transaction_pack(const struct transaction *t, struct bytes *b);
/* NULL, and a failed cursor, when the bytes are not a valid transaction. */
struct transaction *transaction_unpack(struct cursor *c);

static inline void transaction_name_put(struct bytes *b, const struct transaction_name *name)
{
    bytes_put_u32(b, name->node);
    bytes_put_u64(b, name->counter);
}

static inline struct transaction_name transaction_name_get(struct cursor *c)
{
    struct transaction_name name;
    name.node = cursor_u32(c);
    name.counter = cursor_u64(c);
    return name;
}

#endif
