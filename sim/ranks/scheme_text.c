/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/scheme.h"

#include <string.h>

#include "base/error.h"
#include "kvs/topics.h"

enum { TOPIC_MOST = 200 };      /* characters of a template */

static const char mark[] = "{ns}";

const char *const scheme_topic_names[EVENT_KVS_CLASSES] = {
    [EVENT_SETROOT] = "setroot", [EVENT_ERROR] = "error", [EVENT_REMOVED] = "removed", [EVENT_CREATED] = "created"
};

const char *const scheme_list_names[SCHEME_USERS][SCHEME_LISTS] = {
    [SCHEME_KVS_ROOT] = { "kvs-root-at-load", NULL, "kvs-root-per-namespace", "kvs-root-at-removal" },
    [SCHEME_KVS_WORKER] = { "kvs-worker-at-load", "kvs-worker-at-first-use", "kvs-worker-per-namespace",
                            "kvs-worker-at-removal" },
    [SCHEME_WATCHER] = { "watcher-at-load", NULL, "watcher-per-namespace", "watcher-at-removal" }
};

const unsigned scheme_needs[SCHEME_USERS] = {
    [SCHEME_KVS_ROOT] = 1 << EVENT_SETROOT | 1 << EVENT_ERROR | 1 << EVENT_REMOVED,
    [SCHEME_KVS_WORKER] = 1 << EVENT_SETROOT | 1 << EVENT_ERROR | 1 << EVENT_REMOVED,
    [SCHEME_WATCHER] = 1 << EVENT_SETROOT | 1 << EVENT_REMOVED | 1 << EVENT_CREATED
};

/* --- making one --- */

struct scheme *scheme_new(const char *name)
{
    struct scheme *scheme = g_new0(struct scheme, 1);
    scheme->name = g_strdup(name);
    for (int user = 0; user < SCHEME_USERS; user++) {
        struct scheme_subscriptions *s = &scheme->users[user];
        s->at_load = (const char *const *)g_new0(char *, 1);
        s->at_first_use = (const char *const *)g_new0(char *, 1);
        s->per_namespace = (const char *const *)g_new0(char *, 1);
        s->at_removal = g_new0(struct scheme_call, 1);
    }
    return scheme;
}

static void calls_free(const struct scheme_call *calls)
{
    for (const struct scheme_call *call = calls; call->topic != NULL; call++)
        g_free((char *)call->topic);
    g_free((struct scheme_call *)calls);
}

void scheme_free(struct scheme *scheme)
{
    if (scheme == NULL)
        return;
    for (int i = 0; i < EVENT_KVS_CLASSES; i++)
        g_free((char *)scheme->topics[i]);
    for (int user = 0; user < SCHEME_USERS; user++) {
        struct scheme_subscriptions *s = &scheme->users[user];
        g_strfreev((char **)s->at_load);
        g_strfreev((char **)s->at_first_use);
        g_strfreev((char **)s->per_namespace);
        calls_free(s->at_removal);
    }
    g_free((char *)scheme->name);
    g_free(scheme);
}

static gboolean template_check(const char *text, bool of_namespace, GError **error)
{
    const char *at = strstr(text, mark);
    if (at != NULL && !of_namespace) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "'%s' names a namespace, but is subscribed before there "
                    "is one; expected a prefix without %s", text, mark);
        return FALSE;
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (c == at)
            c += strlen(mark);
        if (*c == '\0')
            break;
        if (!g_ascii_isalnum(*c) && strchr("._-", *c) == NULL) {
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "'%s' is not a topic; expected letters, digits, "
                        "'.', '_' and '-', and %s at most once", text, mark);
            return FALSE;
        }
    }
    if (*text == '\0' || strlen(text) > TOPIC_MOST) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "'%s' is %s; expected 1 to %d characters", text,
                    *text == '\0' ? "empty" : "too long", TOPIC_MOST);
        return FALSE;
    }
    return TRUE;
}

gboolean scheme_set_topic(struct scheme *scheme, enum event_class event_class, const char *text, GError **error)
{
    if (!template_check(text, true, error))
        return FALSE;
    g_assert(scheme->topics[event_class] == NULL);
    scheme->topics[event_class] = g_strdup(text);
    return TRUE;
}

static gboolean calls_read(char **words, const struct scheme_call **calls, GError **error)
{
    GArray *list = g_array_new(TRUE, TRUE, sizeof(struct scheme_call));
    for (; *words != NULL; words++) {
        const char *topic = *words + 1;
        bool ok = **words == '-' || **words == '+';
        if (!ok)
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "'%s' has no sign; expected -%s to unsubscribe it, "
                        "or +%s to subscribe it once more", *words, *words, *words);
        if (!ok || !template_check(topic, true, error)) {
            calls_free((struct scheme_call *)g_array_free(list, FALSE));
            return FALSE;
        }
        struct scheme_call call = { g_strdup(topic), **words == '+' };
        g_array_append_val(list, call);
    }
    calls_free(*calls);
    *calls = (struct scheme_call *)g_array_free(list, FALSE);
    return TRUE;
}

static gboolean prefixes_read(char **words, bool of_namespace, const char *const **prefixes, GError **error)
{
    for (char **word = words; *word != NULL; word++)
        if (!template_check(*word, of_namespace, error))
            return FALSE;
    g_strfreev((char **)*prefixes);
    *prefixes = (const char *const *)g_strdupv(words);
    return TRUE;
}

gboolean scheme_set_list(struct scheme *scheme, enum scheme_user user, enum scheme_list list, const char *text,
                         GError **error)
{
    struct scheme_subscriptions *s = &scheme->users[user];
    g_auto(GStrv) all = g_strsplit(text, " ", 0);
    g_autoptr(GPtrArray) words = g_ptr_array_new();     /* of `all`, without the empty ones of several blanks */
    for (char **word = all; *word != NULL; word++)
        if (**word != '\0')
            g_ptr_array_add(words, *word);
    if (words->len == 1 && g_str_equal(words->pdata[0], "none"))
        g_ptr_array_set_size(words, 0);
    g_ptr_array_add(words, NULL);
    char **list_words = (char **)words->pdata;
    switch (list) {
    case SCHEME_AT_LOAD: return prefixes_read(list_words, false, &s->at_load, error);
    case SCHEME_AT_FIRST_USE: return prefixes_read(list_words, false, &s->at_first_use, error);
    case SCHEME_PER_NAMESPACE: return prefixes_read(list_words, true, &s->per_namespace, error);
    default: return calls_read(list_words, &s->at_removal, error);
    }
}

/* --- writing one --- */

static const char *const *prefixes_of(const struct scheme *scheme, enum scheme_user user, enum scheme_list list)
{
    const struct scheme_subscriptions *s = &scheme->users[user];
    return list == SCHEME_AT_LOAD ? s->at_load : list == SCHEME_AT_FIRST_USE ? s->at_first_use : s->per_namespace;
}

char *scheme_list_text(const struct scheme *scheme, enum scheme_user user, enum scheme_list list)
{
    GString *text = g_string_new(NULL);
    if (list == SCHEME_AT_REMOVAL) {
        for (const struct scheme_call *call = scheme->users[user].at_removal; call->topic != NULL; call++)
            g_string_append_printf(text, "%s%c%s", text->len == 0 ? "" : " ", call->subscribe ? '+' : '-', call->topic);
    } else {
        for (const char *const *prefix = prefixes_of(scheme, user, list); *prefix != NULL; prefix++)
            g_string_append_printf(text, "%s%s", text->len == 0 ? "" : " ", *prefix);
    }
    return g_string_free(text->len == 0 ? g_string_assign(text, "none") : text, FALSE);
}

char *scheme_text(const struct scheme *scheme)
{
    GString *text = g_string_new("[events]\nscheme = custom\n\n[topics]\n");
    for (int i = 0; i < EVENT_KVS_CLASSES; i++)
        g_string_append_printf(text, "%s = %s\n", scheme_topic_names[i], scheme->topics[i]);
    for (int user = 0; user < SCHEME_USERS; user++) {
        for (int list = 0; list < SCHEME_LISTS; list++) {
            if (scheme_list_names[user][list] == NULL)
                continue;
            g_autofree char *value = scheme_list_text(scheme, user, list);
            g_string_append_printf(text, "%s = %s\n", scheme_list_names[user][list], value);
        }
    }
    return g_string_free(text, FALSE);
}

/* --- does it work? --- */

/* What a module of the role has subscribed, as the calls come. */
static void subscribe_list(struct topics *t, const char *const *prefixes, const char *ns)
{
    for (; *prefixes != NULL; prefixes++) {
        g_autofree char *prefix = scheme_topic(*prefixes, ns);
        topics_subscribe(t, prefix);
    }
}

struct check {
    const struct scheme *scheme;
    scheme_complain_fn complain;
    void *context;
    unsigned complaints;
};

static void check_fail(struct check *check, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void check_fail(struct check *check, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    check->complain(check->context, key, text);
    check->complaints++;
}

static const char *user_name(enum scheme_user user)
{
    return user == SCHEME_KVS_ROOT ? "kvs-root" : user == SCHEME_KVS_WORKER ? "kvs-worker" : "watcher";
}

/* All events of `ns` that the role needs; at most one complaint a kind of event. `when` says at which moment. */
static void check_events(struct check *check, enum scheme_user user, const struct topics *t, const char *ns,
                         enum scheme_list list, const char *when)
{
    for (int i = 0; i < EVENT_KVS_CLASSES; i++) {
        if ((scheme_needs[user] & 1u << i) == 0)
            continue;
        g_autofree char *topic = scheme_topic(check->scheme->topics[i], ns);
        if (!topics_match(t, topic).matched)
            check_fail(check, scheme_list_names[user][list], "lets the %s miss the %s events of namespace %s%s: "
                       "none of its prefixes begins '%s'; expected one that does",
                       user_name(user), scheme_topic_names[i], ns, when, topic);
    }
}

/* Two namespaces of jobs come, one goes: the other one and primary must be served on. */
static void check_user(struct check *check, enum scheme_user user)
{
    static const char *const names[] = { "primary", "job-1", "job-27" };
    const struct scheme_subscriptions *s = &check->scheme->users[user];
    struct topics t = TOPICS_INIT;
    unsigned before = check->complaints;

    subscribe_list(&t, s->at_load, "");
    if (user != SCHEME_WATCHER) {
        subscribe_list(&t, s->at_first_use, "");
        if (!topics_match(&t, "hb").matched)
            check_fail(check, scheme_list_names[user][user == SCHEME_KVS_ROOT ? SCHEME_AT_LOAD : SCHEME_AT_FIRST_USE],
                       "lets the %s miss the heartbeats (hb), at which namespaces go; expected hb in it",
                       user_name(user));
    }
    /* node 0's kvs has the primary namespace from the start, without a call */
    if (user == SCHEME_KVS_ROOT)
        check_events(check, user, &t, names[0], SCHEME_AT_LOAD, "");
    else
        subscribe_list(&t, s->per_namespace, names[0]);
    subscribe_list(&t, s->per_namespace, names[1]);
    subscribe_list(&t, s->per_namespace, names[2]);
    check_events(check, user, &t, names[2], SCHEME_PER_NAMESPACE, "");
    if (user != SCHEME_KVS_ROOT)
        check_events(check, user, &t, names[0], SCHEME_PER_NAMESPACE, "");
    for (const struct scheme_call *call = s->at_removal; call->topic != NULL; call++) {
        g_autofree char *topic = scheme_topic(call->topic, names[1]);
        if (call->subscribe)
            topics_subscribe(&t, topic);
        else if (!topics_unsubscribe(&t, topic))
            check_fail(check, scheme_list_names[user][SCHEME_AT_REMOVAL], "unsubscribes %s, which the %s has not "
                       "subscribed; expected only what stands in the other lists", call->topic, user_name(user));
    }
    if (check->complaints == before) {
        check_events(check, user, &t, names[2], SCHEME_AT_REMOVAL, ", once another one is removed");
        check_events(check, user, &t, names[0], SCHEME_AT_REMOVAL, ", once another one is removed");
    }
    topics_release(&t);
}

unsigned scheme_check(const struct scheme *scheme, scheme_complain_fn complain, void *context)
{
    struct check check = { scheme, complain, context, 0 };
    for (int i = 0; i < EVENT_KVS_CLASSES; i++)
        for (int j = 0; j < i; j++)
            if (g_str_equal(scheme->topics[i], scheme->topics[j]))
                check_fail(&check, scheme_topic_names[i], "'%s' is the topic of %s events, too; expected topics that "
                           "tell the events apart", scheme->topics[i], scheme_topic_names[j]);
    for (int user = 0; user < SCHEME_USERS; user++)
        check_user(&check, user);
    return check.complaints;
}

struct scheme_counts scheme_count(const struct scheme *scheme, enum scheme_user user)
{
    const struct scheme_subscriptions *s = &scheme->users[user];
    struct scheme_counts counts = { 0 };
    int left = 0;
    for (const char *const *prefix = s->per_namespace; *prefix != NULL; prefix++, left++)
        counts.begin++;
    for (const struct scheme_call *call = s->at_removal; call->topic != NULL; call++) {
        counts.end++;
        left += call->subscribe ? 1 : -1;
    }
    counts.leaked = (unsigned)MAX(left, 0);
    return counts;
}
