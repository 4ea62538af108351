/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the manual page tiercel-deck(5), in mdoc, from the table that the deck reader uses, so that the page cannot
 * know other keys, ranges or defaults than the program. Run by make.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "deck_schema.h"
#include "doc/manual.h"

static void print_condition(const struct deck_schema *schema, const struct deck_key *key)
{
    if (key->when != NULL) {
        g_auto(GStrv) sides = g_strsplit(key->when, "=", 2);
        g_auto(GStrv) choices = g_strsplit(sides[1], "|", -1);
        g_autofree char *list = g_strjoinv(" or ", choices);
        printf("Only with\n.Li %s = %s .\n", sides[0], list);
    }
    if (key->kinds != (int)DECK_ALL_KINDS) {
        g_autofree char *kinds = deck_schema_kinds_text(schema, key->kinds);
        printf("Kind of system: %s.\n", kinds);
    }
}

static void print_key(const struct deck_schema *schema, const struct deck_key *key)
{
    g_autofree char *expectation = deck_key_expectation(key);

    printf(".It Li %s\n", key->name);
    manual_sentence(key->text);
    printf("Expected: ");
    manual_sentence(expectation);
    if (key->fallback != NULL)
        printf("Default:\n.Li \"%s\" .\n", key->fallback);
    else if ((key->flags & DECK_REQUIRED) != 0)
        puts("Required.");
    print_condition(schema, key);
}

static void print_group(const struct deck_schema *schema, const struct deck_group *group)
{
    printf(".Ss [%s]\n", group->name);
    manual_sentence(group->text);
    if (group->free)
        return;
    puts(".Bl -tag -width Ds");
    for (unsigned i = 0; i < schema->key_count; i++)
        if (strcmp(schema->keys[i].group, group->name) == 0)
            print_key(schema, &schema->keys[i]);
    puts(".El");
}

static const char *const head =
    ".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
    ".Dd November 30, 2026\n"
    ".Dt TIERCEL-DECK 5\n"
    ".Os tiercel " PACKAGE_VERSION "\n"
    ".Sh NAME\n"
    ".Nm tiercel-deck\n"
    ".Nd the input of a run of tiercel\n"
    ".Sh DESCRIPTION\n"
    "A deck is a text file of groups, each a line\n"
    ".Li [group]\n"
    "followed by lines\n"
    ".Li key = value .\n"
    "A line that begins with\n"
    ".Li #\n"
    "is a comment.\n"
    "The first key is\n"
    ".Li format\n"
    "in the group\n"
    ".Li [deck] .\n"
    "A deck is either understood completely or refused with all its problems at once: an unknown group or key, a key\n"
    "that stands twice, a value that is not what its key expects, or a key that does not apply\n"
    "to this kind of system.\n"
    ".Pp\n"
    "A value comes from the first of these that states it: the option\n"
    ".Fl \\-set\n"
    "of\n"
    ".Xr tiercel 1 ,\n"
    "the deck, the cost profile, the deck that it builds on\n"
    ".Pq Li base ,\n"
    "and the default.\n"
    ".Ql tiercel check\n"
    "shows which it was.\n"
    ".Ss Values\n"
    "Quantities carry their unit; MB is 1,000,000 bytes and MiB is 1,048,576.\n"
    "Only a count stands alone.\n"
    ".Bl -bullet -compact\n";

static const char *const tail =
    ".Sh EXAMPLES\n"
    ".Bd -literal\n"
    "[deck]\n"
    "format = 1\n"
    "\n"
    "[system]\n"
    "kind = brokered\n"
    "\n"
    "[cluster]\n"
    "nodes = 16\n"
    "cores-per-node = 64\n"
    "\n"
    "[workload]\n"
    "source = bulk\n"
    "jobs = 1024\n"
    "duration = 60s\n"
    ".Ed\n"
    ".Sh SEE ALSO\n"
    ".Xr tiercel 1\n";

int main(void)
{
    const struct deck_schema *schema = deck_schema_tiercel();

    fputs(head, stdout);
    for (int type = 0; type < QUANTITY_TYPES; type++) {
        puts(".It");
        printf("%s: ", quantity_name(type));
        manual_sentence(quantity_expectation(type));
    }
    puts(".El\n.Sh GROUPS AND KEYS");
    for (const struct deck_group *group = schema->groups; group->name != NULL; group++)
        print_group(schema, group);
    fputs(tail, stdout);
    return ferror(stdout) || fflush(stdout) != 0;
}
