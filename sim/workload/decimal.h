/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decimal numbers of workload files, read exactly: "552.21" seconds are 552,210,000,000 ns on every machine.
 * All functions are local.
 */
#ifndef TIERCEL_WORKLOAD_DECIMAL_H
#define TIERCEL_WORKLOAD_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum decimal_result {
    DECIMAL_OK,
    DECIMAL_NOT_A_NUMBER,       /* not sign, digits, optional fraction and exponent from first to last character */
    DECIMAL_TOO_LARGE           /* its magnitude is above the limit of the result */
};

/* The largest time that is read, in ns: about 146 years. Sums of two such times do not overflow. */
#define DECIMAL_NS_MAX (INT64_MAX / 2)

/*
 * Reads text[0 .. size) as a number of `unit_ns` (1 to 10^14: 1,000,000,000 for seconds), rounded to the nearest
 * nanosecond, halves away from zero. The sign may be + or -.
 */
enum decimal_result decimal_read_ns(const char *text, size_t size, int64_t unit_ns, int64_t *result_ns);

#endif
