/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/transaction.h"

#include "kvs/key.h"

struct transaction *transaction_new(uint32_t node, uint64_t counter, uint32_t flags)
{
    struct transaction *t = g_new0(struct transaction, 1);
    t->name = (struct transaction_name){ node, counter };
    t->flags = flags;
    return t;
}

void transaction_free(struct transaction *t)
{
    if (t == NULL)
        return;
    bytes_release(&t->operations);
    g_free(t);
}

/* Operations are type (8 bits), key, object. The object follows through the returned buffer. */
static struct bytes *operation_put(struct transaction *t, enum operation_type type, const char *key)
{
    struct bytes *b = &t->operations;
    bytes_put_u8(b, (uint8_t)type);
    /* Normalised in place: the length is known only afterwards. */
    size_t at = b->size;
    size_t room = strlen(key) + 2;
    bytes_extend(b, sizeof(uint32_t) + room);
    uint32_t size = (uint32_t)key_normalize(key, (char *)b->data + at + sizeof size) + 1;
    memcpy(b->data + at, &size, sizeof size);
    b->size -= room - size;
    t->count++;
    return b;
}

void transaction_put(struct transaction *t, const char *key, const void *data, size_t size)
{
    treeobj_put_value(operation_put(t, OPERATION_PUT, key), data, size);
}

void transaction_append(struct transaction *t, const char *key, const void *data, size_t size)
{
    treeobj_put_value(operation_put(t, OPERATION_APPEND, key), data, size);
}

void transaction_unlink(struct transaction *t, const char *key)
{
    operation_put(t, OPERATION_UNLINK, key);
}

void transaction_symlink(struct transaction *t, const char *key, const char *namespace_name, const char *target)
{
    char *normalised = g_malloc(strlen(target) + 2);
    key_normalize(target, normalised);
    treeobj_put_symlink(operation_put(t, OPERATION_PUT, key), namespace_name, normalised);
    g_free(normalised);
}

void transaction_mkdir(struct transaction *t, const char *key)
{
    treeobj_put_empty_directory(operation_put(t, OPERATION_PUT, key));
}

void transaction_put_object(struct transaction *t, const char *key, const struct treeobj *object)
{
    treeobj_put(operation_put(t, OPERATION_PUT, key), object);
}

struct cursor transaction_walk(const struct transaction *t)
{
    return cursor_init(t->operations.data, t->operations.size);
}

/* Checks all that may come from outside. */
static bool operation_read(struct cursor *c, struct operation *operation)
{
    operation->type = cursor_u8(c);
    operation->key = key_get_text(c);
    switch (operation->type) {
    case OPERATION_PUT:
        return treeobj_read(c, &operation->object);
    case OPERATION_APPEND:
        return treeobj_read(c, &operation->object) && operation->object.type == TREEOBJ_VALUE;
    case OPERATION_UNLINK:
        return cursor_ok(c);
    default:
        return false;
    }
}

bool transaction_next(struct cursor *walk, struct operation *operation)
{
    return walk->at != walk->end && operation_read(walk, operation);
}

void transaction_pack(const struct transaction *t, struct bytes *b)
{
    transaction_name_put(b, &t->name);
    bytes_put_u32(b, t->flags);
    bytes_put_u32(b, t->count);
    bytes_put_span(b, t->operations.data, t->operations.size);
}

static bool key_is_normal(const char *key)
{
    if (strcmp(key, ".") == 0)
        return true;
    for (const char *at = key; *at != '\0'; at++)
        if (*at == '.' && (at == key || at[1] == '.' || at[1] == '\0'))
            return false;
    return *key != '\0';
}

struct transaction *transaction_unpack(struct cursor *c)
{
    struct transaction_name name = transaction_name_get(c);
    uint32_t flags = cursor_u32(c);
    uint32_t count = cursor_u32(c);
    size_t size;
    const char *operations = cursor_span(c, &size);
    if (!cursor_ok(c))
        return NULL;
    struct cursor walk = cursor_init(operations, size);
    struct operation operation;
    uint32_t found = 0;
    bool valid = true;
    for (; valid && walk.at != walk.end; found++)
        valid = operation_read(&walk, &operation) && key_is_normal(operation.key);
    if (!valid || found != count) {
        c->failed = true;
        return NULL;
    }
    struct transaction *t = transaction_new(name.node, name.counter, flags);
    t->count = count;
    bytes_put(&t->operations, operations, size);
    return t;
}
