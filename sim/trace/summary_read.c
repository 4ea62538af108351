/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a summary back; summary_write.c wrote it by the same tables. */
#include "trace/summary.h"

#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "trace/summary_keys.h"

static gboolean failure(GError **error, const char *path, const char *reason)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: %s", path, reason);
    return FALSE;
}

static double node_number(JsonNode *node)
{
    return JSON_NODE_HOLDS_NULL(node) ? NAN : json_node_get_double(node);
}

/* Whether a node may be the value of a key of this type. */
static bool node_fits(JsonNode *node, enum summary_type type)
{
    if (node == NULL)
        return false;
    if (JSON_NODE_HOLDS_NULL(node))
        return type == SUMMARY_NUMBER;
    if (!JSON_NODE_HOLDS_VALUE(node))
        return false;
    GType holds = json_node_get_value_type(node);
    switch (type) {
    case SUMMARY_TEXT:
        return holds == G_TYPE_STRING;
    case SUMMARY_FLAG:
        return holds == G_TYPE_BOOLEAN;
    case SUMMARY_COUNT:
        return holds == G_TYPE_INT64;
    case SUMMARY_NUMBER:
        return holds == G_TYPE_DOUBLE || holds == G_TYPE_INT64;
    }
    g_assert_not_reached();
}

static gboolean key_read(struct summary *s, const char *path, const struct summary_key *key, JsonNode *node,
                         GError **error)
{
    const char *group = summary_group_names[key->group];
    if (!node_fits(node, key->type)) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME,
                    "%s: %s.%s is missing or of the wrong type; is it a summary that tiercel wrote", path, group,
                    key->name);
        return FALSE;
    }
    switch (key->type) {
    case SUMMARY_TEXT:
        summary_text(s, group, key->name, json_node_get_string(node));
        break;
    case SUMMARY_FLAG:
        summary_flag(s, group, key->name, json_node_get_boolean(node));
        break;
    case SUMMARY_COUNT:
        summary_count(s, group, key->name, (uint64_t)json_node_get_int(node));
        break;
    case SUMMARY_NUMBER:
        summary_number(s, group, key->name, node_number(node));
        break;
    }
    return TRUE;
}

static gboolean groups_read(struct summary *s, const char *path, JsonObject *root, GError **error)
{
    for (unsigned k = 0; k < summary_key_count; k++) {
        JsonNode *group = json_object_get_member(root, summary_group_names[summary_keys[k].group]);
        if (group == NULL && summary_keys[k].group != SUMMARY_RUN)
            continue;
        if (group == NULL || !JSON_NODE_HOLDS_OBJECT(group))
            return failure(error, path, "is not a summary of tiercel: a group is missing or not an object");
        JsonNode *node = json_object_get_member(json_node_get_object(group), summary_keys[k].name);
        if (!key_read(s, path, &summary_keys[k], node, error))
            return FALSE;
    }
    return TRUE;
}

static void file_read(struct summary *s, const char *name, JsonNode *const *node)
{
    struct summary_file x = { 0 };
    uint64_t *const counts[] = { &x.bytes, &x.writes, &x.extending_writes, &x.exclusive_locks, &x.shared_locks,
                                 &x.lone_writes, &x.inflight_max, &x.steals, &x.handoffs };
    double *const numbers[] = { &x.lock_wait_s, &x.prepared_s, &x.ended_s, &x.bandwidth_bytes_per_s, &x.mib_per_s,
                                &x.writes_per_s, &x.extending_share, &x.exclusive_share, &x.gain };
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++)
        *counts[i] = (uint64_t)json_node_get_int(node[i]);
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        *numbers[i] = node_number(node[G_N_ELEMENTS(counts) + i]);
    summary_file(s, name, &x);
}

static void live_file_read(struct summary *s, const char *name, JsonNode *const *node)
{
    struct summary_live_file x = { 0 };
    uint64_t *const counts[] = { &x.verified_bytes, &x.contested, &x.retakes };
    double *const numbers[] = { &x.retake_share, &x.open_s, &x.write_s, &x.close_s, &x.mean_write_s, &x.held_up_s };
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++)
        *counts[i] = (uint64_t)json_node_get_int(node[i]);
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        *numbers[i] = node_number(node[G_N_ELEMENTS(counts) + i]);
    summary_live_file(s, name, &x);
}

static void entry_read(struct summary *s, enum summary_list list, const char *name, JsonObject *entry)
{
    JsonNode *node[SUMMARY_ENTRY_KEYS_MAX];
    for (unsigned k = 0; summary_entry_keys[list][k].name != NULL; k++)
        node[k] = json_object_get_member(entry, summary_entry_keys[list][k].name);
    switch (list) {
    case SUMMARY_ROLES:
        summary_role(s, name, &(struct summary_role){ (uint64_t)json_node_get_int(node[0]), node_number(node[1]),
                                                      node_number(node[2]), node_number(node[3]),
                                                      node_number(node[4]) });
        break;
    case SUMMARY_STAGES:
        summary_stage(s, name, node_number(node[0]), node_number(node[1]), node_number(node[2]));
        break;
    case SUMMARY_STATIONS:
        summary_station(s, name, &(struct summary_station){ (uint64_t)json_node_get_int(node[0]),
                                                            (uint64_t)json_node_get_int(node[1]), node_number(node[2]),
                                                            node_number(node[3]), node_number(node[4]) });
        break;
    case SUMMARY_CLASSES:
        summary_class(s, name, &(struct summary_class){ (uint64_t)json_node_get_int(node[0]), node_number(node[1]),
                                                        node_number(node[2]), node_number(node[3]) });
        break;
    case SUMMARY_SERVICES:
        summary_service(s, name, &(struct summary_service){ (uint64_t)json_node_get_int(node[0]), node_number(node[1]),
                                                            node_number(node[2]), node_number(node[3]) });
        break;
    case SUMMARY_FILES:
        file_read(s, name, node);
        break;
    case SUMMARY_LIVE_FILES:
        live_file_read(s, name, node);
        break;
    case SUMMARY_LIMITS:
        summary_limit(s, name, node_number(node[0]), node_number(node[1]));
        break;
    case SUMMARY_BALANCES:
        summary_balance(s, name, (uint64_t)json_node_get_int(node[0]), (uint64_t)json_node_get_int(node[1]),
                        json_node_get_boolean(node[2]));
        break;
    case SUMMARY_EXPECTATIONS:
        summary_expect(s, name, &(struct summary_expectation){ node_number(node[0]), node_number(node[1]),
                                                               node_number(node[2]), json_node_get_boolean(node[3]),
                                                               json_node_get_boolean(node[4]) });
        break;
    case SUMMARY_LISTS:
        g_assert_not_reached();
    }
}

/* One entry; its name is the member's, or for the ranked list a member of its own. */
static gboolean entry_take(struct summary *s, const char *path, enum summary_list list, const char *name,
                           JsonNode *node, GError **error)
{
    JsonObject *entry = node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
    bool good = entry != NULL;
    for (unsigned k = 0; good && summary_entry_keys[list][k].name != NULL; k++)
        good = node_fits(json_object_get_member(entry, summary_entry_keys[list][k].name),
                         summary_entry_keys[list][k].type);
    if (good && name == NULL) {
        JsonNode *of = json_object_get_member(entry, "name");
        good = node_fits(of, SUMMARY_TEXT);
        name = good ? json_node_get_string(of) : NULL;
    }
    if (!good) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: an entry of %s lacks a key or has a wrong type",
                    path, summary_list_names[list]);
        return FALSE;
    }
    entry_read(s, list, name, entry);
    return TRUE;
}

static gboolean list_read(struct summary *s, const char *path, enum summary_list list, JsonNode *node, GError **error)
{
    if (node == NULL)
        return TRUE;
    if (list == SUMMARY_LIMITS) {
        JsonArray *array = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
        for (guint i = 0; array != NULL && i < json_array_get_length(array); i++)
            if (!entry_take(s, path, list, NULL, json_array_get_element(array, i), error))
                return FALSE;
        return array != NULL || failure(error, path, "limits is not an array");
    }
    if (!JSON_NODE_HOLDS_OBJECT(node))
        return failure(error, path, "a list by name is not an object");
    JsonObject *object = json_node_get_object(node);
    GList *names = json_object_get_members(object);
    gboolean good = TRUE;
    for (GList *at = names; good && at != NULL; at = at->next)
        good = entry_take(s, path, list, at->data, json_object_get_member(object, at->data), error);
    g_list_free(names);
    return good;
}

static gboolean document_read(struct summary *s, const char *path, JsonNode *root, GError **error)
{
    if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root))
        return failure(error, path, "is not a summary of tiercel: it is not a JSON object");
    JsonObject *object = json_node_get_object(root);
    JsonNode *format = json_object_get_member(object, "format");
    if (!node_fits(format, SUMMARY_COUNT))
        return failure(error, path, "is not a summary of tiercel: it has no format");
    if (json_node_get_int(format) != SUMMARY_FORMAT) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: is of format %" G_GINT64_FORMAT
                    ", expected %d", path, json_node_get_int(format), SUMMARY_FORMAT);
        return FALSE;
    }
    if (!groups_read(s, path, object, error))
        return FALSE;
    for (unsigned l = 0; l < SUMMARY_LISTS; l++)
        if (!list_read(s, path, l, json_object_get_member(object, summary_list_names[l]), error))
            return FALSE;
    return TRUE;
}

/* `path` names the file; its text is given, or read from there. */
static struct summary *load(const char *path, const char *text, GError **error)
{
    JsonParser *parser = json_parser_new();
    GError *reason = NULL;
    struct summary *s = NULL;
    if (text != NULL ? !json_parser_load_from_data(parser, text, -1, &reason)
                     : !json_parser_load_from_file(parser, path, &reason)) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: cannot be read: %s", path, reason->message);
        g_clear_error(&reason);
    } else {
        s = summary_new();
        if (!document_read(s, path, json_parser_get_root(parser), error)) {
            summary_free(s);
            s = NULL;
        }
    }
    g_object_unref(parser);
    return s;
}

struct summary *summary_read(const char *path, GError **error)
{
    return load(path, NULL, error);
}

struct summary *summary_parse(const char *text, const char *path, GError **error)
{
    return load(path, text, error);
}
