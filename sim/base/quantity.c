/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/quantity.h"

#include <string.h>

/* Wide enough for a 64-bit integer with twelve decimals times any unit below; what is wider still is an overflow. */
typedef unsigned __int128 wide;

enum { DECIMALS_MAX = 12, QUOTE_MAX = 60 };

struct unit {
    const char *name;
    uint64_t factor;    /* base units in one of this unit ... */
    uint64_t divisor;   /* ... times this, where a unit is a part of the base unit */
};

static const struct unit duration_units[] = {
    { "ns", 1, 1 },
    { "us", 1000, 1 },
    { "ms", 1000000, 1 },
    { "s", 1000000000, 1 },
    { "min", 60 * UINT64_C(1000000000), 1 },
    { "h", 3600 * UINT64_C(1000000000), 1 },
    { "d", 86400 * UINT64_C(1000000000), 1 },
    { NULL, 0, 0 }
};

/* Durations in picoseconds, for the part of a cost that is paid per byte. */
static const struct unit fine_units[] = {
    { "ps", 1, 1 },
    { "ns", 1000, 1 },
    { "us", 1000000, 1 },
    { "ms", 1000000000, 1 },
    { "s", UINT64_C(1000000000000), 1 },
    { NULL, 0, 0 }
};

static const struct unit size_units[] = {
    { "B", 1, 1 },
    { "KB", 1000, 1 },
    { "MB", 1000000, 1 },
    { "GB", 1000000000, 1 },
    { "TB", UINT64_C(1000000000000), 1 },
    { "KiB", UINT64_C(1) << 10, 1 },
    { "MiB", UINT64_C(1) << 20, 1 },
    { "GiB", UINT64_C(1) << 30, 1 },
    { "TiB", UINT64_C(1) << 40, 1 },
    { NULL, 0, 0 }
};

static const struct unit bandwidth_units[] = {
    { "B/s", 1, 1 },
    { "KB/s", 1000, 1 },
    { "MB/s", 1000000, 1 },
    { "GB/s", 1000000000, 1 },
    { "TB/s", UINT64_C(1000000000000), 1 },
    { "KiB/s", UINT64_C(1) << 10, 1 },
    { "MiB/s", UINT64_C(1) << 20, 1 },
    { "GiB/s", UINT64_C(1) << 30, 1 },
    { "TiB/s", UINT64_C(1) << 40, 1 },
    { "bit/s", 1, 8 },
    { "Kbit/s", 1000, 8 },
    { "Mbit/s", 1000000, 8 },
    { "Gbit/s", 1000000000, 8 },
    { "Tbit/s", UINT64_C(1000000000000), 8 },
    { NULL, 0, 0 }
};

static const struct unit rate_units[] = {
    { "/s", 1000000, 1 },
    { NULL, 0, 0 }
};

static const struct unit percentage_units[] = {
    { "%", 10000, 1 },
    { NULL, 0, 0 }
};

static const struct {
    const char *name;
    const char *expectation;
    const struct unit *units;   /* NULL where the type is not number and unit */
    const char *base;           /* the base unit in words, for what cannot be held exactly */
} types[QUANTITY_TYPES] = {
    [QUANTITY_COUNT] = { "a count", "a whole number such as 16", NULL, NULL },
    [QUANTITY_DURATION] = { "a duration", "a number with its unit (ns, us, ms, s, min, h, d) such as 150us",
                            duration_units, "nanoseconds" },
    [QUANTITY_SIZE] = { "a size", "a number with its unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB) such as 8MiB",
                        size_units, "bytes" },
    [QUANTITY_BANDWIDTH] = { "a bandwidth", "a number with its unit (B/s to TB/s, KiB/s to TiB/s, bit/s to Tbit/s) "
                             "such as 1Gbit/s", bandwidth_units, "bytes per second" },
    [QUANTITY_RATE] = { "a rate", "a number per second such as 4250/s", rate_units, "millionths per second" },
    [QUANTITY_PERCENTAGE] = { "a percentage", "a number with a percent sign such as 2.5%", percentage_units,
                              "millionths" },
    [QUANTITY_BOOLEAN] = { "a truth value", "true or false", NULL, NULL },
    [QUANTITY_CLOCK_TIME] = { "a clock time", "hours, minutes and seconds such as 01:30:00", NULL, NULL },
    [QUANTITY_DISTRIBUTION] = { "a distribution", "constant(0s), exponential(2s), uniform(0s,100ms), normal(10s,2s), "
                                "or a duration such as 150us", NULL, NULL },
    [QUANTITY_COST] = { "a cost", "a sum of a duration, one per byte and one per queued element, such as "
                        "20us + 3ns/B + 150ns/queued", NULL, NULL }
};

const char *quantity_name(enum quantity_type type)
{
    g_assert(type < QUANTITY_TYPES);
    return types[type].name;
}

const char *quantity_expectation(enum quantity_type type)
{
    g_assert(type < QUANTITY_TYPES);
    return types[type].expectation;
}

char *quantity_quote(const char *text)
{
    GString *quoted = g_string_new("'");
    const char *at = text;

    for (unsigned n = 0; *at != '\0' && n < QUOTE_MAX; n++) {
        gunichar c = g_utf8_get_char_validated(at, -1);

        if (c == (gunichar)-1 || c == (gunichar)-2 || !g_unichar_isprint(c)) {
            g_string_append_printf(quoted, "\\x%02x", (unsigned char)*at);
            at++;
        } else {
            const char *next = g_utf8_next_char(at);
            g_string_append_len(quoted, at, next - at);
            at = next;
        }
    }
    g_string_append(quoted, *at != '\0' ? "...'" : "'");
    return g_string_free(quoted, FALSE);
}

/* A failed parse returns its reason, to be freed; a good one NULL. */
static char *reason(const char *format, ...) G_GNUC_PRINTF(1, 2);

static char *reason(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return text;
}

/* As reason(), about a piece of the text, which is quoted in front of the format's %s. */
static char *reason_about(const char *piece, const char *format)
{
    char *quoted = quantity_quote(piece);
    char *text = g_strdup_printf("%s %s", quoted, format);
    g_free(quoted);
    return text;
}

struct number {
    wide mantissa;      /* the digits without the point */
    unsigned decimals;  /* how many of them stand behind it */
    const char *rest;   /* what follows the number */
};

static char *read_number(const char *text, struct number *number)
{
    const char *at = text;

    *number = (struct number){ 0, 0, text };
    if (*at == '\0')
        return reason("it is empty");
    if (*at == '-')
        return reason("it is negative");
    if (*at == '+')
        return reason("it has a sign");
    if (!g_ascii_isdigit(*at))
        return reason("it does not begin with a digit");
    if (*at == '0' && g_ascii_isdigit(at[1]))
        return reason("it has a leading zero");
    for (; g_ascii_isdigit(*at); at++) {
        number->mantissa = number->mantissa * 10 + (unsigned)(*at - '0');
        if (number->mantissa > UINT64_MAX)
            return reason("it is too large");
    }
    if (*at == '.') {
        at++;
        if (!g_ascii_isdigit(*at))
            return reason("no digit follows the point");
        for (; g_ascii_isdigit(*at); at++) {
            if (++number->decimals > DECIMALS_MAX)
                return reason("it has more than %d decimals", DECIMALS_MAX);
            number->mantissa = number->mantissa * 10 + (unsigned)(*at - '0');
        }
    }
    number->rest = at;
    return NULL;
}

static char *scale(const struct number *number, const struct unit *unit, const char *base, int64_t *value)
{
    wide product;
    wide divisor = unit->divisor;

    for (unsigned i = 0; i < number->decimals; i++)
        divisor *= 10;
    if (__builtin_mul_overflow(number->mantissa, (wide)unit->factor, &product) || product / divisor > INT64_MAX)
        return reason("it is too large");
    if (product % divisor != 0)
        return reason("it is not a whole number of %s", base);
    *value = (int64_t)(product / divisor);
    return NULL;
}

static char *read_with_unit(const char *text, const struct unit *units, const char *base, int64_t *value)
{
    struct number number;
    char *why = read_number(text, &number);

    if (why != NULL)
        return why;
    if (*number.rest == '\0')
        return reason("it has no unit");
    if (g_ascii_isspace(*number.rest))
        return reason("a blank follows the number");
    for (const struct unit *unit = units; unit->name != NULL; unit++)
        if (strcmp(number.rest, unit->name) == 0)
            return scale(&number, unit, base, value);
    return reason_about(number.rest, "is not one of its units");
}

static char *read_count(const char *text, int64_t *value)
{
    struct number number;
    char *why = read_number(text, &number);

    if (why != NULL)
        return why;
    if (number.decimals != 0)
        return reason("it has decimals");
    if (*number.rest != '\0')
        return reason_about(number.rest, "follows the number");
    return scale(&number, &(struct unit){ "", 1, 1 }, "", value);
}

static char *read_boolean(const char *text, int64_t *value)
{
    if (strcmp(text, "true") == 0)
        *value = 1;
    else if (strcmp(text, "false") == 0)
        *value = 0;
    else
        return reason("there are only two");
    return NULL;
}

static bool read_two_digits(const char *at, int64_t *value)
{
    if (!g_ascii_isdigit(at[0]) || !g_ascii_isdigit(at[1]) || at[0] > '5')
        return false;
    *value = (at[0] - '0') * 10 + (at[1] - '0');
    return true;
}

static char *read_clock_time(const char *text, int64_t *value)
{
    const char *at = text;
    int64_t hours = 0;
    int64_t minutes;
    int64_t seconds;

    if (!g_ascii_isdigit(*at))
        return reason("it does not begin with a digit");
    for (; g_ascii_isdigit(*at); at++) {
        hours = hours * 10 + (*at - '0');
        if (hours > INT64_MAX / 3600 / 10)
            return reason("it is too large");
    }
    if (*at != ':' || !read_two_digits(at + 1, &minutes) || at[3] != ':' || !read_two_digits(at + 4, &seconds))
        return reason("minutes and seconds are two digits below 60 behind a colon");
    if (at[6] != '\0')
        return reason_about(at + 6, "follows the seconds");
    *value = hours * 3600 + minutes * 60 + seconds;
    return NULL;
}

static char *read_duration(const char *text, int64_t *value)
{
    return read_with_unit(text, duration_units, types[QUANTITY_DURATION].base, value);
}

/* One argument of a distribution; the reason names it. */
static char *read_argument(char *text, int64_t *value)
{
    g_strstrip(text);
    char *why = read_duration(text, value);
    if (why == NULL)
        return NULL;
    char *quoted = quantity_quote(text);
    char *full = g_strdup_printf("of its argument %s: %s", quoted, why);
    g_free(quoted);
    g_free(why);
    return full;
}

static char *read_arguments(char **arguments, struct distribution *value)
{
    char *why = read_argument(arguments[0], &value->a_ns);

    if (why == NULL && arguments[1] != NULL)
        why = read_argument(arguments[1], &value->b_ns);
    if (why != NULL)
        return why;
    if (value->type == DISTRIBUTION_EXPONENTIAL && value->a_ns == 0)
        return reason("its mean is 0s");
    if (value->type == DISTRIBUTION_UNIFORM && value->a_ns > value->b_ns)
        return reason("its first end is above the second");
    return NULL;
}

static char *read_distribution(const char *text, struct distribution *value)
{
    static const struct {
        const char *name;
        enum distribution_type type;
        unsigned arguments;
    } forms[] = {
        { "constant", DISTRIBUTION_CONSTANT, 1 },
        { "exponential", DISTRIBUTION_EXPONENTIAL, 1 },
        { "uniform", DISTRIBUTION_UNIFORM, 2 },
        { "normal", DISTRIBUTION_NORMAL, 2 }
    };
    const char *open = strchr(text, '(');
    size_t length = strlen(text);

    *value = (struct distribution){ DISTRIBUTION_CONSTANT, 0, 0 };
    if (open == NULL)
        return read_duration(text, &value->a_ns);
    for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (strlen(forms[i].name) != (size_t)(open - text) || strncmp(text, forms[i].name, (size_t)(open - text)) != 0)
            continue;
        if (text[length - 1] != ')')
            return reason("it does not end with a bracket");
        value->type = forms[i].type;
        char *inside = g_strndup(open + 1, length - (size_t)(open - text) - 2);
        char **arguments = g_strsplit(inside, ",", 0);
        unsigned count = g_strv_length(arguments);
        char *why = count == forms[i].arguments
                        ? read_arguments(arguments, value)
                        : reason("it has %u arguments and takes %u", count, forms[i].arguments);
        g_strfreev(arguments);
        g_free(inside);
        return why;
    }
    char *name = g_strndup(text, (size_t)(open - text));
    char *why = reason_about(name, "is not one of them");
    g_free(name);
    return why;
}

static char *read_cost_part(char *part, struct cost *value, unsigned *seen)
{
    static const struct {
        const char *suffix;
        size_t offset;
        const struct unit *units;
        const char *base;
    } kinds[] = {
        { "/B", offsetof(struct cost, per_byte_ps), fine_units, "picoseconds" },
        { "/queued", offsetof(struct cost, per_entry_ns), duration_units, "nanoseconds" },
        { "", offsetof(struct cost, fixed_ns), duration_units, "nanoseconds" }
    };
    unsigned kind = 0;

    g_strstrip(part);
    while (!g_str_has_suffix(part, kinds[kind].suffix))
        kind++;
    char *quoted = quantity_quote(part);
    part[strlen(part) - strlen(kinds[kind].suffix)] = '\0';
    char *inner = read_with_unit(part, kinds[kind].units, kinds[kind].base,
                                 (int64_t *)((char *)value + kinds[kind].offset));
    char *why = NULL;
    if (inner != NULL)
        why = reason("of its part %s: %s", quoted, inner);
    else if ((*seen & 1U << kind) != 0)
        why = reason("%s is a second part of the same kind", quoted);
    *seen |= 1U << kind;
    g_free(inner);
    g_free(quoted);
    return why;
}

static char *read_cost(const char *text, struct cost *value)
{
    char **parts = g_strsplit(text, "+", 0);
    unsigned seen = 0;
    char *why = NULL;

    *value = (struct cost){ 0, 0, 0 };
    if (parts[0] == NULL)
        why = reason("it is empty");
    for (unsigned i = 0; parts[i] != NULL && why == NULL; i++)
        why = read_cost_part(parts[i], value, &seen);
    g_strfreev(parts);
    return why;
}

static char *read_quantity(enum quantity_type type, const char *text, struct quantity *q)
{
    switch (type) {
    case QUANTITY_COUNT:
        return read_count(text, &q->count);
    case QUANTITY_BOOLEAN:
        return read_boolean(text, &q->boolean);
    case QUANTITY_CLOCK_TIME:
        return read_clock_time(text, &q->clock_time_s);
    case QUANTITY_DISTRIBUTION:
        return read_distribution(text, &q->distribution);
    case QUANTITY_COST:
        return read_cost(text, &q->cost);
    default:
        return read_with_unit(text, types[type].units, types[type].base, &q->integer);
    }
}

gboolean quantity_parse(enum quantity_type type, const char *text, const char *expected, struct quantity *value,
                        GError **error)
{
    struct quantity q = { .type = type };

    g_assert(type < QUANTITY_TYPES);
    char *why = read_quantity(type, text, &q);
    if (why == NULL) {
        *value = q;
        return TRUE;
    }
    char *quoted = quantity_quote(text);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s is not %s: %s; expected %s", quoted, types[type].name,
                why, expected != NULL ? expected : types[type].expectation);
    g_free(quoted);
    g_free(why);
    return FALSE;
}
