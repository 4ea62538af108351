/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event scheme of a brokered run: read from [topics] and checked, or a preset; and told by `check` as a fragment of
 * a deck, so that a scheme of one's own can begin with a preset.
 */
#include "scenario_brokered.h"

#include <string.h>

#include "ranks/scheme.h"

static void complain(void *context, const char *key, const char *text)
{
    deck_complain(context, "topics", key, "%s", text);
}

static void read_topics(struct scheme *scheme, struct deck *deck)
{
    for (int i = 0; i < EVENT_KVS_CLASSES; i++) {
        const char *key = scheme_topic_names[i];
        g_autoptr(GError) error = NULL;
        if (!deck_has(deck, "topics", key))
            deck_complain(deck, "topics", key, "is not stated; expected the topic of these events, such as "
                          "kvs.namespace-{ns}-%s", key);
        else if (!scheme_set_topic(scheme, (enum event_class)i, deck_text(deck, "topics", key), &error))
            deck_complain(deck, "topics", key, "%s", error->message);
    }
}

static void read_lists(struct scheme *scheme, struct deck *deck)
{
    for (int user = 0; user < SCHEME_USERS; user++) {
        for (int list = 0; list < SCHEME_LISTS; list++) {
            const char *key = scheme_list_names[user][list];
            g_autoptr(GError) error = NULL;
            if (key != NULL && deck_has(deck, "topics", key) &&
                !scheme_set_list(scheme, (enum scheme_user)user, (enum scheme_list)list,
                                 deck_text(deck, "topics", key), &error))
                deck_complain(deck, "topics", key, "%s", error->message);
        }
    }
}

void brokered_read_scheme(struct brokered *b, struct deck *deck)
{
    const char *name = deck_text(deck, "events", "scheme");
    unsigned problems = deck_problem_count(deck);

    if (strcmp(name, "custom") != 0) {
        b->inst.scheme = scheme_find(name);
        return;
    }
    b->scheme = scheme_new(name);
    read_topics(b->scheme, deck);
    read_lists(b->scheme, deck);
    if (deck_problem_count(deck) == problems && scheme_check(b->scheme, complain, deck) == 0)
        b->inst.scheme = b->scheme;
}

static void print_counts(const struct scheme *scheme, FILE *out)
{
    static const char *const users[SCHEME_USERS] = {
        [SCHEME_KVS_ROOT] = "node 0's kvs", [SCHEME_KVS_WORKER] = "each other kvs that uses it",
        [SCHEME_WATCHER] = "each watcher of it"
    };

    for (int user = 0; user < SCHEME_USERS; user++) {
        struct scheme_counts counts = scheme_count(scheme, (enum scheme_user)user);
        fprintf(out, "#     %-28s %u + %u calls, %u entries leaked\n", users[user], counts.begin, counts.end,
                counts.leaked);
    }
}

void brokered_describe(const void *data, FILE *out)
{
    const struct scheme *scheme = ((const struct brokered *)data)->inst.scheme;
    g_autofree char *text = scheme_text(scheme);
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);

    fputs("\n# What a namespace costs in subscription calls, at its beginning and its end:\n", out);
    print_counts(scheme, out);
    if (strcmp(scheme->name, "custom") == 0)
        return;
    fprintf(out, "\n# The scheme %s as a deck states it:\n", scheme->name);
    for (char **line = lines; *line != NULL; line++)
        if (**line != '\0')
            fprintf(out, "# %s\n", *line);
}
