/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/topics.h"

/* Up to this many slots a walk is cheaper than an index, in time and in memory; most modules never hold more. */
enum { SHORT_TABLE = 16, FIRST_CAPACITY = 4 };

static const uint32_t NO_SLOT = UINT32_MAX;

/* A distinct text and its entries: the newest slot, from there on by `older`. */
struct topics_text {
    const char *text;       /* storage, but for a key that is only looked up with */
    uint32_t size;
    uint32_t hash;
    uint32_t newest;
    uint32_t count;
    char storage[];
};

struct topics_slot {
    struct topics_text *text;   /* NULL: a hole */
    uint32_t older;             /* slot of the next older entry with the same text */
};

/* FNV-1a: the hash of each prefix of a topic comes out on the way. */
static const uint32_t HASH_START = 2166136261u;

static inline uint32_t hash_step(uint32_t hash, char c)
{
    return (hash ^ (uint8_t)c) * 16777619u;
}

static guint text_hash(gconstpointer key)
{
    return ((const struct topics_text *)key)->hash;
}

static gboolean text_same(gconstpointer a, gconstpointer b)
{
    const struct topics_text *x = a;
    const struct topics_text *y = b;
    return x->hash == y->hash && x->size == y->size && memcmp(x->text, y->text, x->size) == 0;
}

static void key_init(struct topics_text *key, const char *prefix)
{
    *key = (struct topics_text){ .text = prefix, .hash = HASH_START };
    for (; prefix[key->size] != '\0'; key->size++)
        key->hash = hash_step(key->hash, prefix[key->size]);
}

/* --- Fenwick tree: counts[i - 1] is the sum of the slots (i - lowbit(i), i] --- */

static void counts_change(struct topics *t, uint32_t slot, int by)
{
    for (uint32_t i = slot + 1; i <= t->capacity; i += i & -i)
        t->counts[i - 1] += (uint32_t)by;
}

/* Entries in the slots below `slot`. */
static uint32_t counts_below(const struct topics *t, uint32_t slot)
{
    uint32_t sum = 0;
    for (uint32_t i = slot; i > 0; i -= i & -i)
        sum += t->counts[i - 1];
    return sum;
}

static void counts_build(struct topics *t)
{
    t->counts = g_renew(uint32_t, t->counts, t->capacity);
    for (uint32_t i = 0; i < t->capacity; i++)
        t->counts[i] = i < t->used && t->slots[i].text != NULL;
    for (uint32_t i = 1; i <= t->capacity; i++) {
        uint32_t parent = i + (i & -i);
        if (parent <= t->capacity)
            t->counts[parent - 1] += t->counts[i - 1];
    }
}

/* --- the index --- */

static void lengths_change(struct topics *t, uint32_t size, int by)
{
    if (size >= t->lengths_size) {
        uint32_t need = size + 1;
        t->lengths = g_renew(uint32_t, t->lengths, need);
        memset(t->lengths + t->lengths_size, 0, (need - t->lengths_size) * sizeof *t->lengths);
        t->lengths_size = need;
    }
    t->lengths[size] += (uint32_t)by;
}

static void index_build(struct topics *t)
{
    t->index = g_hash_table_new(text_hash, text_same);
    for (uint32_t i = 0; i < t->used; i++) {
        struct topics_text *text = t->slots[i].text;
        if (text != NULL && g_hash_table_add(t->index, text))
            lengths_change(t, text->size, 1);
    }
}

static struct topics_text *text_find(const struct topics *t, const struct topics_text *key)
{
    if (t->index != NULL)
        return g_hash_table_lookup(t->index, key);
    for (uint32_t i = t->used; i-- > 0;)
        if (t->slots[i].text != NULL && text_same(t->slots[i].text, key))
            return t->slots[i].text;
    return NULL;
}

static struct topics_text *text_new(struct topics *t, const struct topics_text *key)
{
    struct topics_text *text = g_malloc(sizeof *text + key->size + 1);
    *text = *key;
    memcpy(text->storage, key->text, key->size + 1);
    text->text = text->storage;
    text->newest = NO_SLOT;
    text->count = 0;
    if (t->index != NULL) {
        g_hash_table_add(t->index, text);
        lengths_change(t, text->size, 1);
    }
    return text;
}

static void text_free(struct topics *t, struct topics_text *text)
{
    if (t->index != NULL) {
        g_hash_table_remove(t->index, text);
        lengths_change(t, text->size, -1);
    }
    g_free(text);
}

/* --- slots --- */

/* Closes the holes, keeping the order, and makes room for one more at least. */
static void slots_renew(struct topics *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->used; i++) {
        struct topics_text *text = t->slots[i].text;
        if (text == NULL)
            continue;
        /* The oldest entry of a text is met first: it ends the chain, each later one leads to the one before. */
        uint32_t older = t->slots[i].older == NO_SLOT ? NO_SLOT : text->newest;
        text->newest = kept;
        t->slots[kept++] = (struct topics_slot){ text, older };
    }
    t->used = kept;
    if (kept * 2 > t->capacity || t->capacity == 0) {
        t->capacity = t->capacity == 0 ? FIRST_CAPACITY : t->capacity * 2;
        t->slots = g_renew(struct topics_slot, t->slots, t->capacity);
    }
    if (t->index == NULL && t->capacity > SHORT_TABLE)
        index_build(t);
    if (t->index != NULL)
        counts_build(t);
}

void topics_release(struct topics *t)
{
    for (uint32_t i = 0; i < t->used; i++) {
        struct topics_text *text = t->slots[i].text;
        if (text != NULL && --text->count == 0)
            g_free(text);
    }
    if (t->index != NULL)
        g_hash_table_destroy(t->index);
    g_free(t->slots);
    g_free(t->counts);
    g_free(t->lengths);
    *t = (struct topics)TOPICS_INIT;
}

void topics_subscribe(struct topics *t, const char *prefix)
{
    if (t->used == t->capacity)
        slots_renew(t);
    struct topics_text key;
    key_init(&key, prefix);
    struct topics_text *text = text_find(t, &key);
    if (text == NULL)
        text = text_new(t, &key);
    t->slots[t->used] = (struct topics_slot){ text, text->newest };
    text->newest = t->used;
    text->count++;
    if (t->counts != NULL)
        counts_change(t, t->used, 1);
    t->used++;
    t->length++;
}

bool topics_unsubscribe(struct topics *t, const char *prefix)
{
    struct topics_text key;
    key_init(&key, prefix);
    struct topics_text *text = text_find(t, &key);
    if (text == NULL)
        return false;
    uint32_t slot = text->newest;
    text->newest = t->slots[slot].older;
    t->slots[slot].text = NULL;
    t->length--;
    if (t->counts != NULL)
        counts_change(t, slot, -1);
    if (--text->count == 0)
        text_free(t, text);
    while (t->used > 0 && t->slots[t->used - 1].text == NULL)
        t->used--;
    return true;
}

static struct topics_match match_walking(const struct topics *t, const char *topic)
{
    struct topics_match m = { false, 0 };
    for (uint32_t i = t->used; i-- > 0;) {
        const struct topics_text *text = t->slots[i].text;
        if (text == NULL)
            continue;
        m.scanned++;
        if (strncmp(topic, text->text, text->size) == 0) {
            m.matched = true;
            break;
        }
    }
    return m;
}

struct topics_match topics_match(const struct topics *t, const char *topic)
{
    if (t->index == NULL)
        return match_walking(t, topic);
    struct topics_text key = { .text = topic, .hash = HASH_START };
    uint32_t first = NO_SLOT;
    for (; key.size < t->lengths_size; key.size++) {
        if (t->lengths[key.size] != 0) {
            const struct topics_text *text = g_hash_table_lookup(t->index, &key);
            if (text != NULL && (first == NO_SLOT || text->newest > first))
                first = text->newest;
        }
        if (topic[key.size] == '\0')
            break;
        key.hash = hash_step(key.hash, topic[key.size]);
    }
    if (first == NO_SLOT)
        return (struct topics_match){ false, t->length };
    return (struct topics_match){ true, t->length - counts_below(t, first) };
}

/* The first bytes of a text, the first one lowest, zero behind its end; and 255 for each of them. */
static uint64_t head_of(const char *text, uint64_t *mask)
{
    uint64_t head = 0;
    *mask = 0;
    for (unsigned i = 0; i < 8 && text[i] != '\0'; i++) {
        head |= (uint64_t)(uint8_t)text[i] << 8 * i;
        *mask |= UINT64_C(255) << 8 * i;
    }
    return head;
}

void topics_heads_add(struct topics_heads *h, const struct topics *t)
{
    h->entries += t->length;
    if (t->index != NULL)
        h->count = TOPICS_HEADS_OFF;
    for (uint32_t i = 0; i < t->used && h->count != TOPICS_HEADS_OFF; i++) {
        if (t->slots[i].text == NULL)
            continue;
        uint64_t mask, head = head_of(t->slots[i].text->text, &mask);
        uint32_t place = 0;
        while (place < h->count && (h->heads[place] != head || h->masks[place] != mask))
            place++;
        if (place == TOPICS_HEADS) {
            h->count = TOPICS_HEADS_OFF;
        } else if (place == h->count) {
            h->heads[place] = head;
            h->masks[place] = mask;
            h->count++;
        }
    }
}

bool topics_heads_may_match(const struct topics_heads *h, const char *topic)
{
    if (h->count == TOPICS_HEADS_OFF)
        return true;
    uint64_t mask, head = head_of(topic, &mask);
    for (uint32_t i = 0; i < h->count; i++)
        if (((head ^ h->heads[i]) & h->masks[i]) == 0)
            return true;
    return false;
}

const char *topics_walk(const struct topics *t, uint32_t *place)
{
    while (*place < t->used) {
        const struct topics_text *text = t->slots[t->used - ++*place].text;
        if (text != NULL)
            return text->text;
    }
    return NULL;
}

uint32_t topics_count(const struct topics *t, const char *prefix)
{
    struct topics_text key;
    key_init(&key, prefix);
    const struct topics_text *text = text_find(t, &key);
    return text == NULL ? 0 : text->count;
}

void topics_save(const struct topics *t, struct bytes *sink)
{
    bytes_put_u32(sink, t->length);
    for (uint32_t i = t->used; i-- > 0;)
        if (t->slots[i].text != NULL)
            bytes_put_span(sink, t->slots[i].text->text, t->slots[i].text->size);
}
