/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event schemes that Flux had around March 2020, as data (flux-core: src/modules/kvs/kvs.c and
 * src/modules/kvs-watch/kvs-watch.c of v0.16.0 and of the merges of pull requests 2777 and 2792).
 */
#include "ranks/instance.h"

#include <glib.h>

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NOTHING ((const char *const[]){ NULL })
#define CALLS(...) ((const struct scheme_call[]){ __VA_ARGS__, { NULL, false } })
#define NO_CALLS ((const struct scheme_call[]){ { NULL, false } })

/* What a kvs subscribes to whatever the namespaces are: node 0 when it is loaded, others at their first namespace. */
#define KVS_ALWAYS "hb", "kvs.stats.clear", "kvs.dropcache"

#define OLD_SETROOT "kvs.setroot-{ns}"
#define OLD_ERROR "kvs.error-{ns}"
#define OLD_REMOVED "kvs.namespace-removed-{ns}"
#define OLD_CREATED "kvs.namespace-created-{ns}"
#define OLD_TOPICS { \
    [EVENT_SETROOT] = OLD_SETROOT, \
    [EVENT_ERROR] = OLD_ERROR, \
    [EVENT_REMOVED] = OLD_REMOVED, \
    [EVENT_CREATED] = OLD_CREATED, \
}

/* The watcher of v0.16, which pr2777 left alone. */
#define OLD_WATCHER { \
    .at_load = NOTHING, \
    .at_first_use = NOTHING, \
    .per_namespace = LIST(OLD_SETROOT, OLD_CREATED, OLD_REMOVED), \
    .at_removal = CALLS({ OLD_SETROOT, false }, { OLD_CREATED, false }, { OLD_REMOVED, false }), \
}

static const struct scheme presets[] = {
    {
        .name = "v0.16",
        .topics = OLD_TOPICS,
        .users = {
            [SCHEME_KVS_ROOT] = {
                .at_load = LIST(KVS_ALWAYS, "kvs.setroot-primary", "kvs.error-primary",
                                "kvs.namespace-removed-primary"),
                .at_first_use = NOTHING,
                .per_namespace = LIST(OLD_SETROOT, OLD_ERROR, OLD_REMOVED),
                .at_removal = CALLS({ OLD_SETROOT, false }, { OLD_ERROR, false }),      /* "removed" leaks */
            },
            [SCHEME_KVS_WORKER] = {
                .at_load = NOTHING,
                .at_first_use = LIST(KVS_ALWAYS),
                .per_namespace = LIST(OLD_SETROOT, OLD_ERROR, OLD_REMOVED),
                .at_removal = CALLS({ OLD_SETROOT, false }, { OLD_ERROR, false }),      /* "removed" leaks */
            },
            [SCHEME_WATCHER] = OLD_WATCHER,
        },
    },
    {
        .name = "pr2777",
        .topics = OLD_TOPICS,
        .users = {
            [SCHEME_KVS_ROOT] = {
                .at_load = LIST(KVS_ALWAYS, "kvs.setroot", "kvs.error", "kvs.namespace-remove"),
                .at_first_use = NOTHING,
                .per_namespace = NOTHING,
                .at_removal = NO_CALLS,
            },
            [SCHEME_KVS_WORKER] = {
                .at_load = NOTHING,
                .at_first_use = LIST(KVS_ALWAYS),
                .per_namespace = LIST(OLD_SETROOT, OLD_ERROR, OLD_REMOVED),
                /* meant to unsubscribe the third, subscribes it once more: two entries leak */
                .at_removal = CALLS({ OLD_SETROOT, false }, { OLD_ERROR, false }, { OLD_REMOVED, true }),
            },
            [SCHEME_WATCHER] = OLD_WATCHER,
        },
    },
    {
        .name = "pr2792",
        .topics = {
            [EVENT_SETROOT] = "kvs.namespace-{ns}-setroot",
            [EVENT_ERROR] = "kvs.namespace-{ns}-error",
            [EVENT_REMOVED] = "kvs.namespace-{ns}-removed",
            [EVENT_CREATED] = "kvs.namespace-{ns}-created",
        },
        .users = {
            [SCHEME_KVS_ROOT] = {
                .at_load = LIST(KVS_ALWAYS, "kvs.namespace"),
                .at_first_use = NOTHING,
                .per_namespace = NOTHING,
                .at_removal = NO_CALLS,
            },
            [SCHEME_KVS_WORKER] = {
                .at_load = NOTHING,
                .at_first_use = LIST(KVS_ALWAYS),
                .per_namespace = LIST("kvs.namespace-{ns}"),
                .at_removal = CALLS({ "kvs.namespace-{ns}", false }),
            },
            [SCHEME_WATCHER] = {
                .at_load = NOTHING,
                .at_first_use = NOTHING,
                .per_namespace = LIST("kvs.namespace-{ns}"),
                .at_removal = CALLS({ "kvs.namespace-{ns}", false }),
            },
        },
    },
};

const char *const scheme_names[] = { "v0.16", "pr2777", "pr2792", NULL };

const struct scheme *scheme_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(presets); i++)
        if (g_str_equal(presets[i].name, name))
            return &presets[i];
    return NULL;
}

char *scheme_topic(const char *pattern, const char *ns)
{
    const char *mark = strstr(pattern, "{ns}");
    if (mark == NULL)
        return g_strdup(pattern);
    return g_strdup_printf("%.*s%s%s", (int)(mark - pattern), pattern, ns, mark + strlen("{ns}"));
}
