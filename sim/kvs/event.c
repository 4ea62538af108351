/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/event.h"

#include "kvs/key.h"

enum { NAME_SIZE = 12 };    /* bytes of a transaction's name */

/* --- parts --- */

static void put_names(struct bytes *b, const struct commit *commit)
{
    bytes_put_u32(b, commit->transactions->len);
    for (guint i = 0; i < commit->transactions->len; i++)
        transaction_name_put(b, &((const struct transaction *)commit->transactions->pdata[i])->name);
}

static struct event_names get_names(struct cursor *c)
{
    struct event_names names;
    names.count = cursor_u32(c);
    names.bytes = cursor_take(c, (size_t)names.count * NAME_SIZE);
    return names;
}

static struct event_keys get_keys(struct cursor *c)
{
    struct event_keys keys;
    keys.count = cursor_u32(c);
    keys.bytes = c->at;
    const char *before = NULL;
    for (uint32_t i = 0; i < keys.count && cursor_ok(c); i++) {
        const char *key = key_get_text(c);
        if (key != NULL && before != NULL && strcmp(before, key) >= 0)
            c->failed = true;
        before = key;
    }
    keys.end = c->at;
    return keys;
}

struct transaction_name event_name(const struct event_names *names, uint32_t index)
{
    g_assert(index < names->count);
    struct cursor c = cursor_init(names->bytes + (size_t)index * NAME_SIZE, NAME_SIZE);
    return transaction_name_get(&c);
}

const char *event_next_key(const struct event_keys *keys, const uint8_t **at)
{
    struct cursor c = cursor_init(*at == NULL ? keys->bytes : *at, 0);
    c.end = keys->end;
    if (c.at == c.end)
        return NULL;
    const char *key = key_get_text(&c);
    *at = c.at;
    return key;
}

/* --- setroot --- */

void event_setroot_pack(struct bytes *b, const char *namespace_name, uint32_t owner, uint64_t sequence,
                        const struct commit *commit)
{
    key_put_text(b, namespace_name);
    bytes_put_u32(b, owner);
    bytes_put_u64(b, sequence);
    blobref_put(b, &commit->root);
    put_names(b, commit);
    bytes_put_u32(b, commit->keys->len);
    for (guint i = 0; i < commit->keys->len; i++)
        key_put_text(b, commit->keys->pdata[i]);
    bytes_put_span(b, commit->root_directory->bytes, commit->root_directory->size);
}

bool event_setroot_read(struct cursor *c, struct event_setroot *e)
{
    e->namespace_name = key_get_text(c);
    e->owner = cursor_u32(c);
    e->sequence = cursor_u64(c);
    e->root = blobref_get(c);
    e->names = get_names(c);
    e->keys = get_keys(c);
    e->directory = (const uint8_t *)cursor_span(c, &e->directory_size);
    return cursor_done(c);
}

/* --- the others --- */

void event_error_pack(struct bytes *b, const char *namespace_name, const struct commit *commit)
{
    key_put_text(b, namespace_name);
    bytes_put_u32(b, (uint32_t)commit->errnum);
    put_names(b, commit);
}

bool event_error_read(struct cursor *c, struct event_error *e)
{
    e->namespace_name = key_get_text(c);
    e->errnum = (int)cursor_u32(c);
    e->names = get_names(c);
    return cursor_done(c);
}

void event_created_pack(struct bytes *b, const char *namespace_name, uint32_t owner, uint64_t sequence,
                        const struct blobref *root)
{
    key_put_text(b, namespace_name);
    bytes_put_u32(b, owner);
    bytes_put_u64(b, sequence);
    blobref_put(b, root);
}

bool event_created_read(struct cursor *c, struct event_created *e)
{
    e->namespace_name = key_get_text(c);
    e->owner = cursor_u32(c);
    e->sequence = cursor_u64(c);
    e->root = blobref_get(c);
    return cursor_done(c);
}

void event_removed_pack(struct bytes *b, const char *namespace_name)
{
    key_put_text(b, namespace_name);
}

const char *event_removed_read(struct cursor *c)
{
    const char *name = key_get_text(c);
    return cursor_done(c) ? name : NULL;
}
