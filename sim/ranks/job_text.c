/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/job_text.h"

#include <string.h>

void job_text_event(GString *text, int64_t wall_ns, const char *name, const char *context)
{
    g_string_append_printf(text, "{\"timestamp\":%" G_GINT64_FORMAT ".%06u,\"name\":\"%s\"", wall_ns / 1000000000,
                           (unsigned)(wall_ns % 1000000000 / 1000), name);
    if (context != NULL)
        g_string_append_printf(text, ",\"context\":%s", context);
    g_string_append(text, "}\n");
}

#define R_HEAD "{\"version\":1,\"execution\":{\"R_lite\":["
#define R_RANK "{\"rank\":\""
#define R_CORES "\",\"children\":{\"core\":\""
#define R_RANK_END "\"}}"
#define R_TAIL "]}}"

void job_text_resources(GString *text, const struct allocation *allocation)
{
    g_string_append(text, R_HEAD);
    for (uint32_t i = 0; i < allocation->count; i++) {
        const struct core_span *span = &allocation->spans[i];
        bool same_node = i > 0 && span[-1].node == span->node;
        if (same_node)
            g_string_append_c(text, ',');
        else
            g_string_append_printf(text, "%s" R_RANK "%u" R_CORES, i > 0 ? R_RANK_END "," : "", span->node);
        g_string_append_printf(text, "%u", span->first_core);
        if (span->cores > 1)
            g_string_append_printf(text, "-%u", span->first_core + span->cores - 1);
    }
    g_string_append(text, R_RANK_END R_TAIL);
}

struct reader {
    const char *at;
    const char *end;
};

static bool reader_skip(struct reader *r, const char *expected)
{
    size_t size = strlen(expected);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, expected, size) != 0)
        return false;
    r->at += size;
    return true;
}

static bool reader_number(struct reader *r, uint32_t *number)
{
    const char *start = r->at;
    uint64_t value = 0;
    for (; r->at < r->end && g_ascii_isdigit(*r->at) && value <= UINT32_MAX; r->at++)
        value = value * 10 + (uint64_t)(*r->at - '0');
    *number = (uint32_t)value;
    return r->at > start && value < UINT32_MAX;
}

/* The cores of one node: "0-3,5". */
static bool reader_cores(struct reader *r, uint32_t node, GArray *spans)
{
    do {
        struct core_span span = { .node = node };
        uint32_t last;
        if (!reader_number(r, &span.first_core))
            return false;
        last = span.first_core;
        if (reader_skip(r, "-") && (!reader_number(r, &last) || last <= span.first_core))
            return false;
        span.cores = last - span.first_core + 1;
        g_array_append_val(spans, span);
    } while (reader_skip(r, ","));
    return true;
}

static bool reader_resources(struct reader *r, GArray *spans)
{
    if (!reader_skip(r, R_HEAD))
        return false;
    do {
        uint32_t node;
        if (!reader_skip(r, R_RANK) || !reader_number(r, &node) || !reader_skip(r, R_CORES) ||
            !reader_cores(r, node, spans) || !reader_skip(r, R_RANK_END))
            return false;
    } while (reader_skip(r, ","));
    return reader_skip(r, R_TAIL) && r->at == r->end;
}

struct allocation *job_text_resources_parse(const char *text, size_t size)
{
    struct reader r = { text, text + size };
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(struct core_span));
    struct allocation *allocation = NULL;
    if (reader_resources(&r, spans))
        allocation = allocation_new((const struct core_span *)spans->data, spans->len);
    g_array_unref(spans);
    return allocation;
}

void job_text_signed(GString *text, uint32_t user, const char *jobspec, size_t size)
{
    GString *header = g_string_new(NULL);
    static const char fields[] = "version\0i1\0mechanism\0snone\0userid";     /* names and values end in NUL */
    g_string_append_len(header, fields, sizeof fields);
    g_string_append_printf(header, "i%u", user);
    g_string_append_c(header, '\0');
    char *encoded = g_base64_encode((const guchar *)header->str, header->len);
    g_string_append_printf(text, "%s.", encoded);
    g_free(encoded);
    g_string_free(header, TRUE);
    encoded = g_base64_encode((const guchar *)jobspec, size);
    g_string_append_printf(text, "%s.none", encoded);
    g_free(encoded);
}
