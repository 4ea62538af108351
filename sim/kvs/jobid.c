/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/jobid.h"

#include <glib.h>

static const int64_t MS_NS = 1000000;

void jobid_source_init(struct jobid_source *s, uint32_t node, int64_t age_ms)
{
    g_assert(node < 1u << JOBID_NODE_BITS && age_ms >= 0);
    *s = (struct jobid_source){ .node = node, .age_ms = age_ms, .last_ms = -1 };
}

int64_t jobid_next(struct jobid_source *s, int64_t now_ns, uint64_t *id)
{
    int64_t now_ms = s->age_ms + now_ns / MS_NS;
    if (now_ms > s->last_ms) {
        s->last_ms = now_ms;
        s->sequence = 0;
    } else if (++s->sequence == 1u << JOBID_SEQUENCE_BITS) {
        s->last_ms++;
        s->sequence = 0;
    }
    *id = (uint64_t)s->last_ms << (JOBID_NODE_BITS + JOBID_SEQUENCE_BITS) |
          (uint64_t)s->node << JOBID_SEQUENCE_BITS | s->sequence;
    return s->last_ms > now_ms ? (s->last_ms - s->age_ms) * MS_NS : now_ns;
}

void jobid_to_key(uint64_t id, char key[JOBID_KEY_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char *at = key;
    *at++ = 'j';
    *at++ = 'o';
    *at++ = 'b';
    for (int shift = 60; shift >= 0; shift -= 4) {
        if (shift % 16 == 12)
            *at++ = '.';
        *at++ = digits[id >> shift & 15];
    }
    *at = '\0';
}

int jobid_to_entry(uint64_t id, const char *name, char *key, unsigned size)
{
    char directory[JOBID_KEY_SIZE];
    jobid_to_key(id, directory);
    return g_snprintf(key, size, "%s.%s", directory, name);
}

void jobid_to_namespace(uint64_t id, char name[JOBID_NAMESPACE_SIZE])
{
    g_snprintf(name, JOBID_NAMESPACE_SIZE, "job-%" G_GUINT64_FORMAT, id);
}

bool jobid_from_namespace(const char *name, uint64_t *id)
{
    guint64 value;
    if (!g_str_has_prefix(name, "job-") || (name[4] == '0' && name[5] != '\0'))
        return false;
    if (!g_ascii_string_to_unsigned(name + 4, 10, 0, G_MAXUINT64, &value, NULL))
        return false;
    *id = value;
    return true;
}
