/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the four events of the key-value store carry, as canonical bytes.
 *
 *     struct bytes b = BYTES_INIT;
 *     event_setroot_pack(&b, ns->name, ns->owner, ns->sequence, head);
 *     ... publish under the topic that the scheme names ...
 *
 *     struct event_setroot e;
 *     struct cursor c = cursor_init(body, size);
 *     if (event_setroot_read(&c, &e)) ... e.namespace_name, event_name(&e.names, 0), ...
 *
 * Reading copies nothing: texts are terminated in place and live as long as the bytes. The functions give false for
 * bytes that are no such body. What belongs to which event (flux-core 0.15 to 0.17):
 *
 *     setroot   namespace, sequence, root reference, names of the finished transactions, the whole root directory,
 *               changed keys (unique, normalised, sorted), owner
 *     error     namespace, names, errnum
 *     removed   namespace
 *     created   namespace, sequence, root reference, owner
 *
 * All functions are local.
 */
#ifndef TIERCEL_KVS_EVENT_H
#define TIERCEL_KVS_EVENT_H

#include "kvs/commit.h"

struct event_names {            /* transactions */
    uint32_t count;
    const uint8_t *bytes;
};

struct event_keys {             /* sorted texts */
    uint32_t count;
    const uint8_t *bytes;
    const uint8_t *end;
};

struct event_setroot {
    const char *namespace_name;
    uint32_t owner;
    uint64_t sequence;
    struct blobref root;
    struct event_names names;
    struct event_keys keys;
    const uint8_t *directory;   /* the root directory's bytes: to be put into the cache under `root` */
    size_t directory_size;
};

struct event_error {
    const char *namespace_name;
    int errnum;
    struct event_names names;
};

struct event_created {
    const char *namespace_name;
    uint32_t owner;
    uint64_t sequence;
    struct blobref root;
};

/* `commit` is done; the sequence and owner are the namespace's after the step. */
void event_setroot_pack(struct bytes *b, const char *namespace_name, uint32_t owner, uint64_t sequence,
                        const struct commit *commit);
bool event_setroot_read(struct cursor *c, struct event_setroot *e);

/* `commit` has failed. */
void event_error_pack(struct bytes *b, const char *namespace_name, const struct commit *commit);
bool event_error_read(struct cursor *c, struct event_error *e);

void event_created_pack(struct bytes *b, const char *namespace_name, uint32_t owner, uint64_t sequence,
                        const struct blobref *root);
bool event_created_read(struct cursor *c, struct event_created *e);

void event_removed_pack(struct bytes *b, const char *namespace_name);
/* The namespace's name, or NULL. */
const char *event_removed_read(struct cursor *c);

struct transaction_name event_name(const struct event_names *names, uint32_t index);

/* Walks the keys: start with *at = NULL; NULL at the end. */
const char *event_next_key(const struct event_keys *keys, const uint8_t **at);

#endif
