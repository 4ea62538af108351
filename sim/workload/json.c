/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/json.h"

#include <string.h>

#include "base/error.h"

/* Values and texts, given out from large blocks and freed together. */
struct arena {
    GPtrArray *blocks;
    char *at;
    size_t left;
};

struct reader {
    const char *name;
    const char *at;
    const char *end;
    const char *line_start;
    uint32_t line;
    struct arena *arena;
    GError **error;
};

static void *arena_take(struct arena *arena, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (size > arena->left) {
        arena->left = MAX(size, 64 * 1024);
        arena->at = g_malloc(arena->left);
        g_ptr_array_add(arena->blocks, arena->at);
    }
    void *taken = arena->at;
    arena->at += size;
    arena->left -= size;
    return taken;
}

static struct arena *arena_new(void)
{
    struct arena *arena = g_new0(struct arena, 1);
    arena->blocks = g_ptr_array_new_with_free_func(g_free);
    return arena;
}

static void arena_free(struct arena *arena)
{
    g_ptr_array_free(arena->blocks, TRUE);
    g_free(arena);
}

/* --- scanning --- */

static uint32_t column_of(const struct reader *r, const char *at)
{
    return (uint32_t)(at - r->line_start) + 1;
}

/* An error at the present place, with what stands there. */
static bool fail(struct reader *r, const char *expected)
{
    g_autofree char *found = NULL;
    if (r->at >= r->end)
        found = g_strdup("the end of the file");
    else if (*r->at >= 0x20 && *r->at < 0x7f)
        found = g_strdup_printf("\"%c\"", *r->at);
    else
        found = g_strdup_printf("byte 0x%02x", (unsigned char)*r->at);
    g_set_error(r->error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s:%u:%u: malformed JSON: found %s, expected %s",
                r->name, r->line, column_of(r, r->at), found, expected);
    return false;
}

static void blanks_skip(struct reader *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        } else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
            return;
        }
    }
}

static bool digits_skip(struct reader *r)
{
    const char *start = r->at;
    while (r->at < r->end && g_ascii_isdigit(*r->at))
        r->at++;
    return r->at > start || fail(r, "a digit");
}

static bool number_read(struct reader *r, struct json *value)
{
    const char *start = r->at;
    if (*r->at == '-')
        r->at++;
    if (r->at < r->end && *r->at == '0')
        r->at++;
    else if (!digits_skip(r))
        return false;
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!digits_skip(r))
            return false;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        if (!digits_skip(r))
            return false;
    }
    size_t size = (size_t)(r->at - start);
    char *text = arena_take(r->arena, size + 1);
    memcpy(text, start, size);
    text[size] = '\0';
    value->type = JSON_NUMBER;
    value->text = text;
    return true;
}

static bool hex_read(struct reader *r, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        if (r->at >= r->end || !g_ascii_isxdigit(*r->at))
            return fail(r, "four hexadecimal digits after \\u");
        *code = *code * 16 + (uint32_t)g_ascii_xdigit_value(*r->at);
    }
    return true;
}

/* What follows a backslash; appends the character to *out. */
static bool escape_read(struct reader *r, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = r->at < r->end && *r->at != '\0' ? strchr(from, *r->at) : NULL;
    if (found != NULL) {
        *(*out)++ = to[found - from];
        r->at++;
        return true;
    }
    if (r->at >= r->end || *r->at != 'u')
        return fail(r, "one of \" \\ / b f n r t u after a backslash");
    r->at++;
    uint32_t code, low;
    if (!hex_read(r, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u')
            return fail(r, "the second half of a surrogate pair");
        r->at += 2;
        if (!hex_read(r, &low))
            return false;
        if (low < 0xdc00 || low >= 0xe000)
            return fail(r, "the second half of a surrogate pair before this");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code == 0 || (code >= 0xdc00 && code < 0xe000))
        return fail(r, "a character other than \\u0000 or half a surrogate pair before this");
    *out += g_unichar_to_utf8(code, *out);
    return true;
}

static bool text_read(struct reader *r, const char **result)
{
    if (r->at >= r->end || *r->at != '"')
        return fail(r, "a text in double quotes");
    r->at++;
    const char *close = r->at;
    while (close < r->end && *close != '"')
        close += *close == '\\' && r->end - close > 1 ? 2 : 1;
    /* An escape is never shorter than the character that it stands for. */
    char *text = arena_take(r->arena, (size_t)(close - r->at) + 1);
    char *out = text;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return fail(r, "no control character inside a text (write \\n, \\t or \\u00..)");
        if (*r->at == '\\') {
            r->at++;
            if (!escape_read(r, &out))
                return false;
        } else {
            *out++ = *r->at++;
        }
    }
    if (r->at >= r->end)
        return fail(r, "the closing \" of a text");
    *out = '\0';
    if (!g_utf8_validate(text, out - text, NULL))
        return fail(r, "a text in valid UTF-8 before this");
    r->at++;
    *result = text;
    return true;
}

static bool word_read(struct reader *r, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
        return fail(r, "a value: { [ \" a number, true, false or null");
    r->at += size;
    return true;
}

static bool value_read(struct reader *r, struct json *value, unsigned depth);

/* Members of an array or object, behind the opening bracket. */
static bool members_read(struct reader *r, struct json *value, unsigned depth)
{
    bool object = value->type == JSON_OBJECT;
    char close = object ? '}' : ']';
    if (depth >= JSON_DEPTH)
        return fail(r, "nesting of at most " G_STRINGIFY(JSON_DEPTH) " levels");
    g_autoptr(GHashTable) keys = object ? g_hash_table_new(g_str_hash, g_str_equal) : NULL;
    const struct json **link = &value->first;
    blanks_skip(r);
    if (r->at < r->end && *r->at == close) {
        r->at++;
        return true;
    }
    for (;;) {
        struct json *member = arena_take(r->arena, sizeof *member);
        memset(member, 0, sizeof *member);
        member->parent = value;
        member->index = value->count++;
        blanks_skip(r);
        if (object) {
            const char *key_at = r->at;
            if (!text_read(r, &member->key))
                return false;
            if (!g_hash_table_add(keys, (gpointer)member->key)) {
                r->at = key_at;
                return fail(r, "each key once: this one was given before in the same object");
            }
            blanks_skip(r);
            if (r->at >= r->end || *r->at != ':')
                return fail(r, "\":\" after a key");
            r->at++;
        }
        if (!value_read(r, member, depth + 1))
            return false;
        *link = member;
        link = &member->next;
        blanks_skip(r);
        if (r->at < r->end && *r->at == close) {
            r->at++;
            return true;
        }
        if (r->at >= r->end || *r->at != ',')
            return fail(r, object ? "\",\" or \"}\"" : "\",\" or \"]\"");
        r->at++;
    }
}

static bool value_read(struct reader *r, struct json *value, unsigned depth)
{
    blanks_skip(r);
    value->line = r->line;
    value->column = column_of(r, r->at);
    char c = r->at < r->end ? *r->at : '\0';
    switch (c) {
    case '{':
    case '[':
        r->at++;
        value->type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        return members_read(r, value, depth);
    case '"':
        value->type = JSON_TEXT;
        return text_read(r, &value->text);
    case 't':
    case 'f':
        value->type = JSON_BOOLEAN;
        value->boolean = c == 't';
        return word_read(r, c == 't' ? "true" : "false");
    case 'n':
        value->type = JSON_NULL;
        return word_read(r, "null");
    default:
        if (c == '-' || g_ascii_isdigit(c))
            return number_read(r, value);
        return fail(r, "a value: { [ \" a number, true, false or null");
    }
}

struct json_document *json_parse(const char *name, const char *text, size_t size, GError **error)
{
    struct arena *arena = arena_new();
    struct reader r = { .name = name, .at = text, .end = text + size, .line_start = text, .line = 1,
                        .arena = arena, .error = error };
    struct json *root = arena_take(arena, sizeof *root);
    memset(root, 0, sizeof *root);
    bool ok = value_read(&r, root, 0);
    if (ok) {
        blanks_skip(&r);
        ok = r.at == r.end || fail(&r, "nothing after the value");
    }
    if (!ok) {
        arena_free(arena);
        return NULL;
    }
    struct json_document *document = g_new(struct json_document, 1);
    *document = (struct json_document){ name, root, arena };
    return document;
}

void json_document_free(struct json_document *document)
{
    if (document == NULL)
        return;
    arena_free(document->arena);
    g_free(document);
}

/* --- using values --- */

const struct json *json_member(const struct json *object, const char *key)
{
    if (object == NULL || object->type != JSON_OBJECT)
        return NULL;
    for (const struct json *member = object->first; member != NULL; member = member->next)
        if (strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

bool json_integer(const struct json *value, int64_t lowest, int64_t highest, int64_t *result)
{
    if (value == NULL || value->type != JSON_NUMBER || strpbrk(value->text, ".eE") != NULL)
        return false;
    gint64 number;
    if (!g_ascii_string_to_signed(value->text, 10, lowest, highest, &number, NULL))
        return false;
    *result = number;
    return true;
}

static void path_append(const struct json *value, GString *path)
{
    if (value->parent == NULL)
        return;
    path_append(value->parent, path);
    if (value->key == NULL)
        g_string_append_printf(path, "[%u]", value->index);
    else
        g_string_append_printf(path, "%s%.80s", path->len == 0 ? "" : ".", value->key);
}

static GString *place_of(const struct json_document *document, const struct json *value)
{
    GString *place = g_string_new(NULL);
    path_append(value, place);
    g_autofree char *where = g_strdup_printf("%s:%u:%u: ", document->name, value->line, value->column);
    g_string_prepend(place, where);
    return place;
}

static char *excerpt_of(const struct json *value)
{
    switch (value->type) {
    case JSON_NULL:
        return g_strdup("null");
    case JSON_BOOLEAN:
        return g_strdup(value->boolean ? "true" : "false");
    case JSON_NUMBER:
        return g_strdup_printf("%.40s%s", value->text, strlen(value->text) > 40 ? "..." : "");
    case JSON_TEXT: {
        g_autofree char *start = g_utf8_substring(value->text, 0, MIN(40, g_utf8_strlen(value->text, -1)));
        g_autofree char *escaped = g_strescape(start, NULL);
        return g_strdup_printf("\"%s%s\"", escaped, strlen(start) < strlen(value->text) ? "..." : "");
    }
    case JSON_ARRAY:
        return g_strdup_printf("an array of %u", value->count);
    case JSON_OBJECT:
        break;
    }
    return g_strdup_printf("an object of %u", value->count);
}

bool json_refuse(const struct json_document *document, const struct json *value, const char *expected, GError **error)
{
    g_autofree char *place = g_string_free(place_of(document, value), FALSE);
    g_autofree char *excerpt = excerpt_of(value);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s%s%s: expected %s", place,
                value->parent == NULL ? "found " : " = ", excerpt, expected);
    return false;
}

bool json_refuse_missing(const struct json_document *document, const struct json *object, const char *key,
                         const char *expected, GError **error)
{
    g_autofree char *place = g_string_free(place_of(document, object), FALSE);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s%s%s is missing: expected %s", place,
                object->parent == NULL ? "" : ".", key, expected);
    return false;
}
