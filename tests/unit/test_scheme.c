/* SPDX-License-Identifier: BSD-3-Clause */
/* Event schemes as text: presets survive writing and reading, and a scheme that cannot work is refused. */
#include "ranks/scheme.h"

#include "suite.h"

static void collect(void *context, const char *key, const char *text)
{
    g_string_append_printf(context, "%s: %s\n", key, text);
}

/* What scheme_check complains of. */
static char *complaints(const struct scheme *scheme)
{
    GString *text = g_string_new(NULL);
    unsigned count = scheme_check(scheme, collect, text);
    unsigned lines = 0;
    for (const char *c = text->str; *c != '\0'; c++)
        lines += *c == '\n';
    CU_ASSERT_EQUAL(count, lines);
    return g_string_free(text, FALSE);
}

/* The preset as a scheme of one's own, with one entry replaced: `key` NULL for none. */
static struct scheme *copy_with(const char *preset, const char *key, const char *value)
{
    const struct scheme *from = scheme_find(preset);
    struct scheme *to = scheme_new("custom");
    for (int i = 0; i < EVENT_KVS_CLASSES; i++) {
        const char *text = key != NULL && g_str_equal(key, scheme_topic_names[i]) ? value : from->topics[i];
        CU_ASSERT_TRUE(scheme_set_topic(to, (enum event_class)i, text, NULL));
    }
    for (int user = 0; user < SCHEME_USERS; user++) {
        for (int list = 0; list < SCHEME_LISTS; list++) {
            const char *name = scheme_list_names[user][list];
            if (name == NULL)
                continue;
            g_autofree char *old = scheme_list_text(from, (enum scheme_user)user, (enum scheme_list)list);
            const char *text = key != NULL && g_str_equal(key, name) ? value : old;
            CU_ASSERT_TRUE(scheme_set_list(to, (enum scheme_user)user, (enum scheme_list)list, text, NULL));
        }
    }
    return to;
}

static void test_presets(void)
{
    for (const char *const *name = scheme_names; *name != NULL; name++) {
        struct scheme *copy = copy_with(*name, NULL, NULL);
        g_autofree char *before = scheme_text(scheme_find(*name));
        g_autofree char *after = scheme_text(copy);
        g_autofree char *said = complaints(copy);
        CU_ASSERT_STRING_EQUAL(before, after);
        CU_ASSERT_STRING_EQUAL(said, "");
        scheme_free(copy);
    }
}

static void test_refused(void)
{
    static const struct { const char *preset, *key, *value, *said; } cases[] = {
        { "pr2792", "kvs-root-at-load", "hb",
          "kvs-root-at-load: lets the kvs-root miss the setroot events of namespace primary" },
        { "pr2792", "kvs-root-at-load", "kvs.namespace",
          "kvs-root-at-load: lets the kvs-root miss the heartbeats" },
        { "pr2792", "kvs-worker-at-first-use", "none",
          "kvs-worker-at-first-use: lets the kvs-worker miss the heartbeats" },
        { "pr2792", "kvs-worker-per-namespace", "none",
          "kvs-worker-per-namespace: lets the kvs-worker miss the setroot" },
        { "pr2792", "watcher-per-namespace", "kvs.namespace-{ns}-setroot",
          "watcher-per-namespace: lets the watcher miss the removed events of namespace job-27" },
        { "pr2792", "error", "kvs.failed-{ns}",
          "kvs-worker-per-namespace: lets the kvs-worker miss the error events" },
        { "pr2792", "created", "kvs.namespace-{ns}-setroot",
          "created: 'kvs.namespace-{ns}-setroot' is the topic of setroot events, too" },
        { "v0.16", "kvs-worker-at-removal", "-kvs.setroot",
          "kvs-worker-at-removal: unsubscribes kvs.setroot, which the kvs-worker has not subscribed" },
        { "pr2777", "kvs-root-at-removal", "-kvs.setroot",
          "kvs-root-at-removal: lets the kvs-root miss the setroot events of namespace job-27, once another one is "
          "removed" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct scheme *scheme = copy_with(cases[i].preset, cases[i].key, cases[i].value);
        g_autofree char *said = complaints(scheme);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, cases[i].said));
        if (strstr(said, cases[i].said) == NULL)
            printf("# %zu: %s", i, said);
        scheme_free(scheme);
    }
}

static void test_malformed(void)
{
    static const struct { enum scheme_list list; const char *text, *said; } cases[] = {
        { SCHEME_AT_LOAD, "kvs.setroot-{ns}", "before there is one" },
        { SCHEME_PER_NAMESPACE, "kvs.{ns}.{ns}", "at most once" },
        { SCHEME_PER_NAMESPACE, "kvs,hb", "letters, digits" },
        { SCHEME_PER_NAMESPACE, "kvs.{name}", "letters, digits" },
        { SCHEME_AT_REMOVAL, "kvs.setroot", "has no sign" },
        { SCHEME_AT_REMOVAL, "-", "is empty" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct scheme *scheme = scheme_new("custom");
        g_autoptr(GError) error = NULL;
        CU_ASSERT_FALSE(scheme_set_list(scheme, SCHEME_KVS_WORKER, cases[i].list, cases[i].text, &error));
        CU_ASSERT_PTR_NOT_NULL_FATAL(error);
        CU_ASSERT_PTR_NOT_NULL(strstr(error->message, cases[i].said));
        scheme_free(scheme);
    }
    struct scheme *scheme = scheme_new("custom");
    g_autofree char *longer = g_strnfill(201, 'x');
    g_autoptr(GError) error = NULL;
    CU_ASSERT_FALSE(scheme_set_topic(scheme, EVENT_SETROOT, longer, &error));
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "too long"));
    scheme_free(scheme);
}

/* Of flux-core: what a namespace cost each module. */
static void test_counts(void)
{
    static const struct { const char *preset; enum scheme_user user; struct scheme_counts counts; } known[] = {
        { "v0.16", SCHEME_KVS_ROOT, { 3, 2, 1 } }, { "v0.16", SCHEME_KVS_WORKER, { 3, 2, 1 } },
        { "v0.16", SCHEME_WATCHER, { 3, 3, 0 } }, { "pr2777", SCHEME_KVS_ROOT, { 0, 0, 0 } },
        { "pr2777", SCHEME_KVS_WORKER, { 3, 3, 2 } }, { "pr2792", SCHEME_KVS_WORKER, { 1, 1, 0 } },
        { "pr2792", SCHEME_WATCHER, { 1, 1, 0 } },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        struct scheme_counts counts = scheme_count(scheme_find(known[i].preset), known[i].user);
        CU_ASSERT_EQUAL(counts.begin, known[i].counts.begin);
        CU_ASSERT_EQUAL(counts.end, known[i].counts.end);
        CU_ASSERT_EQUAL(counts.leaked, known[i].counts.leaked);
    }
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "presets survive writing and reading, and can work", test_presets },
        { "a scheme that misses an event, or unsubscribes too much, is refused with the reason", test_refused },
        { "lists that are malformed are refused", test_malformed },
        { "calls and leaks are counted as known", test_counts },
        { NULL, NULL }
    };
    return suite_run("scheme", tests);
}
