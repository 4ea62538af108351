/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cost.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

void cost_names_init(void *costs, const struct cost_name *names)
{
    for (const struct cost_name *name = names; name->key != NULL; name++)
        *cost_named(costs, name) = name->fallback;
}

static int64_t part_scaled(int64_t value, int64_t factor_ppm)
{
    __int128 product = (__int128)value * factor_ppm + 500000;
    return value == 0 ? 0 : MAX((int64_t)MIN(product / 1000000, G_MAXINT64), 1);
}

struct cost cost_scaled(const struct cost *cost, int64_t factor_ppm)
{
    return (struct cost){
        .fixed_ns = part_scaled(cost->fixed_ns, factor_ppm),
        .per_byte_ps = part_scaled(cost->per_byte_ps, factor_ppm),
        .per_entry_ns = part_scaled(cost->per_entry_ns, factor_ppm)
    };
}

/* `value` of a unit that is 1/1000 of the next, exactly, in the largest unit that it fills. */
static void append_part(GString *text, int64_t value, const char *const *units, const char *ending)
{
    int64_t whole = 1;
    int decimals = 0;

    if (value == 0)
        return;
    while (units[1] != NULL && value >= whole * 1000) {
        whole *= 1000;
        decimals += 3;
        units++;
    }
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT ".%0*" G_GINT64_FORMAT, value / whole,
                                              MAX(decimals, 1), value % whole);
    while (g_str_has_suffix(number, "0") || g_str_has_suffix(number, ".")) {
        bool point = g_str_has_suffix(number, ".");
        number[strlen(number) - 1] = '\0';
        if (point)
            break;
    }
    g_string_append_printf(text, "%s%s%s%s", text->len == 0 ? "" : " + ", number, units[0], ending);
}

char *cost_text(const struct cost *cost)
{
    static const char *const nanoseconds[] = { "ns", "us", "ms", "s", NULL };
    static const char *const picoseconds[] = { "ps", "ns", "us", NULL };
    GString *text = g_string_new(NULL);

    append_part(text, cost->fixed_ns, nanoseconds, "");
    append_part(text, cost->per_byte_ps, picoseconds, "/B");
    append_part(text, cost->per_entry_ns, nanoseconds, "/queued");
    if (text->len == 0)
        g_string_append(text, "0ns");
    return g_string_free(text, FALSE);
}
