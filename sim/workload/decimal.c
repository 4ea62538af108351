/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/decimal.h"

#include <glib.h>
#include <stdbool.h>

enum { DIGITS_MAX = 40, EXPONENT_MAX = 100000 };

/* A number's significant digits: 0.d0d1d2... x 10^scale. Digits after the 40th can only matter as "not all zero". */
struct decimal {
    bool negative;
    unsigned count;
    uint8_t digits[DIGITS_MAX];
    int scale;
};

static bool exponent_read(const char *at, const char *end, int *exponent)
{
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (!g_ascii_isdigit(*at))
            return false;
        *exponent = MIN(*exponent * 10 + (*at - '0'), EXPONENT_MAX);
    }
    if (negative)
        *exponent = -*exponent;
    return true;
}

static bool decimal_split(const char *text, size_t size, struct decimal *d)
{
    const char *at = text, *end = text + size;
    *d = (struct decimal){ 0 };
    d->negative = at < end && *at == '-';
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    bool point = false, any = false;
    for (; at < end && (*at == '.' || g_ascii_isdigit(*at)); at++) {
        if (*at == '.') {
            if (point)
                return false;
            point = true;
            continue;
        }
        any = true;
        bool significant = d->count > 0 || *at != '0';
        if (significant && d->count < DIGITS_MAX)
            d->digits[d->count++] = (uint8_t)(*at - '0');
        if (significant && !point && d->scale < EXPONENT_MAX)
            d->scale++;
        if (!significant && point && d->scale > -EXPONENT_MAX)
            d->scale--;
    }
    if (!any)
        return false;
    int exponent = 0;
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (!exponent_read(at + 1, end, &exponent))
            return false;
        at = end;
    }
    d->scale += exponent;
    return at == end;
}

enum decimal_result decimal_read_ns(const char *text, size_t size, int64_t unit_ns, int64_t *result_ns)
{
    struct decimal d;
    if (!decimal_split(text, size, &d))
        return DECIMAL_NOT_A_NUMBER;
    if (d.count == 0) {
        *result_ns = 0;
        return DECIMAL_OK;
    }
    if (d.scale > 20)
        return DECIMAL_TOO_LARGE;
    /* Digit by digit: whole units, and the rest as a fraction of 10^22 of which unit_ns takes its part. */
    unsigned __int128 whole = 0, fraction = 0;
    for (int i = 0; i < d.scale; i++)
        whole = whole * 10 + (i < (int)d.count ? d.digits[i] : 0);
    for (int i = 0; i < 22; i++) {
        int digit = d.scale + i;
        fraction = fraction * 10 + (digit >= 0 && digit < (int)d.count ? d.digits[digit] : 0);
    }
    const unsigned __int128 one = (unsigned __int128)100000000000ull * 100000000000ull;    /* 10^22 */
    unsigned __int128 ns = whole * (uint64_t)unit_ns + (fraction * (uint64_t)unit_ns + one / 2) / one;
    if (ns > DECIMAL_NS_MAX)
        return DECIMAL_TOO_LARGE;
    *result_ns = d.negative ? -(int64_t)ns : (int64_t)ns;
    return DECIMAL_OK;
}
