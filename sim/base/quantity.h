/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quantities as people write them in decks and on the command line: strict, exact, and with their units.
 *
 *     struct quantity q;
 *     if (!quantity_parse(QUANTITY_DURATION, "1.5ms", NULL, &q, &error))
 *         ...                                   error->message says what is wrong and what was expected
 *     use(q.duration_ns);                       1500000
 *
 * The grammar. A text is one quantity from its first to its last character; nothing may precede or follow it.
 *
 *     number        digits, then optionally "." and digits; no sign, no exponent, no blank or "_" inside, no leading
 *                   zero except "0" itself and "0.x"
 *     count         a number without a point: 16
 *     duration      number unit, unit = ns | us | ms | s | min | h | d: 150us
 *     size          number unit, unit = B | KB MB GB TB (powers of 1000) | KiB MiB GiB TiB (powers of 1024): 8MiB
 *     bandwidth     size "/s", or number unit "/s", unit = bit | Kbit | Mbit | Gbit | Tbit (powers of 1000): 1Gbit/s
 *     rate          number "/s": 4250/s
 *     percentage    number "%": 2.5%
 *     boolean       true | false
 *     clock time    hours ":" minutes ":" seconds, the last two with two digits below 60: 01:30:00
 *     distribution  constant(duration), or a duration alone | exponential(duration), the mean |
 *                   uniform(duration, duration), both ends included | normal(duration, duration), mean and standard
 *                   deviation: uniform(0s, 100ms)
 *     cost          parts joined by "+", each kind at most once: a duration, a duration per byte "/B", a duration per
 *                   queued element "/queued"; per byte knows ps as well: 20us + 500ps/B + 150ns/queued
 *
 * A bare number is a count and nothing else: a duration of nothing is 0s. There is no blank between a number and its
 * unit; blanks may stand around "+", behind "," and inside the brackets of a distribution.
 *
 * Everything is computed in integers. A text that its integer cannot hold exactly (0.5ns, 0.3B, 1bit/s) or at all is
 * refused, never rounded. All functions are local and touch nothing but their arguments.
 */
#ifndef TIERCEL_BASE_QUANTITY_H
#define TIERCEL_BASE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/cost.h"

enum quantity_type {
    QUANTITY_COUNT,
    QUANTITY_DURATION,
    QUANTITY_SIZE,
    QUANTITY_BANDWIDTH,
    QUANTITY_RATE,
    QUANTITY_PERCENTAGE,
    QUANTITY_BOOLEAN,
    QUANTITY_CLOCK_TIME,
    QUANTITY_DISTRIBUTION,
    QUANTITY_COST,
    QUANTITY_TYPES
};

enum distribution_type {
    DISTRIBUTION_CONSTANT,      /* a */
    DISTRIBUTION_EXPONENTIAL,   /* mean a, above 0 */
    DISTRIBUTION_UNIFORM,       /* a to b, both included, a <= b */
    DISTRIBUTION_NORMAL         /* mean a, standard deviation b; whoever draws cuts it off at 0 */
};

/* A duration that is drawn anew each time. */
struct distribution {
    enum distribution_type type;
    int64_t a_ns;               /* 0 or above */
    int64_t b_ns;               /* 0 or above; 0 where the type has one parameter */
};

/* For estimates: nothing that a model computes may depend on it. */
static inline double distribution_mean_ns(const struct distribution *d)
{
    return d->type == DISTRIBUTION_UNIFORM ? ((double)d->a_ns + (double)d->b_ns) / 2 : (double)d->a_ns;
}

struct quantity {
    enum quantity_type type;    /* says which member below holds the value; all integers are 0 or above */
    union {
        int64_t integer;            /* the same integer under a neutral name, for the types up to CLOCK_TIME */
        int64_t count;
        int64_t duration_ns;
        int64_t size_bytes;
        int64_t bandwidth_bytes_per_s;
        int64_t rate_micro_per_s;   /* millionths per second: 4250/s is 4250000000 */
        int64_t percentage_ppm;     /* millionths of the whole: 2.5% is 25000 */
        int64_t clock_time_s;
        int64_t boolean;            /* 0 or 1 */
        struct distribution distribution;
        struct cost cost;
    };
};

/*
 * Reads `text` as a quantity of `type` into *value. On failure returns FALSE, leaves *value alone and sets *error to
 *     'TEXT' is not a TYPE: REASON; expected EXPECTED
 * where EXPECTED is `expected`, or the type's own quantity_expectation when that is NULL.
 */
gboolean quantity_parse(enum quantity_type type, const char *text, const char *expected, struct quantity *value,
                        GError **error);

/* The type in words, with its article: "a count", "a duration". Constant. */
const char *quantity_name(enum quantity_type type);

/* What is expected of a text of this type, with an example: "a whole number such as 16". Constant. */
const char *quantity_expectation(enum quantity_type type);

/* `text` in single quotes for a message: unprintable bytes as \xNN, cut after some 60 characters. Free with g_free. */
char *quantity_quote(const char *text);

#endif
