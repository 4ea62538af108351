/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/random.h"
#include "suite.h"

/* --- the generator --- */

/* Threefry-2x64 as in the paper (SC 2011, section 4): written here a second time. */
static void threefry_reference(unsigned rounds, const uint64_t counter[2], const uint64_t key[2], uint64_t out[2])
{
    static const unsigned rotation[8] = { 16, 42, 12, 31, 16, 32, 24, 21 };
    const uint64_t schedule[3] = { key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bdaa9fc1a22ull };
    uint64_t x = counter[0] + schedule[0], y = counter[1] + schedule[1];
    for (unsigned round = 0; round < rounds; round++) {
        unsigned r = rotation[round % 8];
        x += y;
        y = (y << r | y >> (64 - r)) ^ x;
        if (round % 4 == 3) {
            unsigned s = round / 4 + 1;
            x += schedule[s % 3];
            y += schedule[(s + 1) % 3] + s;
        }
    }
    out[0] = x;
    out[1] = y;
}

/* The vectors of 13 rounds that Random123 publishes with its sources (tests/kat_vectors). */
static void test_known_answers(void)
{
    static const struct {
        uint64_t counter[2], key[2], answer[2];
    } known[] = {
        { { 0, 0 }, { 0, 0 }, { 0xf167b032c3b480bdull, 0xe91f9fee4b7a6fb5ull } },
        { { UINT64_MAX, UINT64_MAX }, { UINT64_MAX, UINT64_MAX }, { 0xccdec5c917a874b1ull, 0x4df53abca26ceb01ull } },
        { { 0x243f6a8885a308d3ull, 0x13198a2e03707344ull }, { 0xa4093822299f31d0ull, 0x082efa98ec4e6c89ull },
          { 0xc3aac71561042993ull, 0x3fe7ae8801aff316ull } },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        threefry2x64_ctr_t counter = { { known[i].counter[0], known[i].counter[1] } };
        threefry2x64_key_t key = { { known[i].key[0], known[i].key[1] } };
        threefry2x64_ctr_t got = threefry2x64_R(13, counter, key);
        uint64_t reference[2];
        threefry_reference(13, known[i].counter, known[i].key, reference);
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL(got.v[k], known[i].answer[k]);
            CU_ASSERT_EQUAL(reference[k], known[i].answer[k]);
        }
    }
    CU_ASSERT_EQUAL(random_bits(0, 0, 0, 0), 0xf167b032c3b480bdull);
}

/* Seed and (actor, stream) are the key, the draw is the counter. */
static void test_key(void)
{
    static const struct {
        uint64_t seed;
        uint32_t actor;
        unsigned stream;
        uint64_t draw;
    } cases[] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 }, { 42, 100000, 3, UINT64_MAX },
                  { UINT64_MAX, UINT32_MAX, 255, 1u << 31 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t counter[2] = { cases[i].draw, 0 };
        const uint64_t key[2] = { cases[i].seed, (uint64_t)cases[i].actor * 256 + cases[i].stream };
        uint64_t expected[2];
        threefry_reference(13, counter, key, expected);
        CU_ASSERT_EQUAL(random_bits(cases[i].seed, cases[i].actor, cases[i].stream, cases[i].draw), expected[0]);
    }
}

/* --- the logarithm --- */

static double log_error(double x)
{
    double expected = log(x), error = fabs(random_log(x) - expected);
    return fabs(expected) > 1 ? error / fabs(expected) : error;
}

static void test_log(void)
{
    double worst = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        double u = random_unit(random_bits(3, 0, 0, i));
        worst = fmax(worst, log_error(u));
        worst = fmax(worst, log_error(1 - u * 0x1p-20));
        worst = fmax(worst, log_error(1 + u));
        worst = fmax(worst, log_error(ldexp(u, (int)(random_bits(3, 1, 0, i) % 1900) - 950)));
    }
    CU_ASSERT(worst < 1e-15);
    CU_ASSERT_EQUAL(random_log(1.0), 0.0);
    const double edges[] = { 0x1p-1022, 0x1.fffffffffffffp+1023, 0x1p-53, 1 - 0x1p-53, 0x1.6a09e667f3bcdp+0,
                             0x1.6a09e667f3bccp+0, 0x1.6a09e667f3bcep+0, 2, 0.5 };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        CU_ASSERT(log_error(edges[i]) < 1e-15);
}

/* --- distributions --- */

static void test_unit(void)
{
    CU_ASSERT_EQUAL(random_unit(0), 0x1p-53);
    CU_ASSERT_EQUAL(random_unit(UINT64_MAX), 1 - 0x1p-53);
    CU_ASSERT_EQUAL(random_unit(UINT64_C(1) << 63), 0.5 + 0x1p-53);
}

static void test_below(void)
{
    CU_ASSERT_EQUAL(random_below(0, 1), 0);
    CU_ASSERT_EQUAL(random_below(UINT64_MAX, 1), 0);
    CU_ASSERT_EQUAL(random_below(UINT64_MAX, 10), 9);
    CU_ASSERT_EQUAL(random_below(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    CU_ASSERT_EQUAL(random_below(UINT64_C(1) << 63, 10), 5);
    unsigned count[10] = { 0 };
    for (uint64_t i = 0; i < 100000; i++)
        count[random_below(random_bits(4, 0, 0, i), 10)]++;
    /* 10,000 each; the deviation is 95. */
    for (int i = 0; i < 10; i++)
        CU_ASSERT(count[i] > 9500 && count[i] < 10500);
}

struct moments {
    double mean, deviation, skewness;
    int64_t least, most;
};

enum { SAMPLES = 200000 };

static struct moments moments_of(int64_t (*draw)(uint64_t bits, int64_t a, int64_t b), int64_t a, int64_t b)
{
    struct moments m = { .least = INT64_MAX, .most = INT64_MIN };
    double sum = 0, square = 0, cube = 0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        int64_t v = draw(random_bits(5, 0, 0, i), a, b);
        m.least = v < m.least ? v : m.least;
        m.most = v > m.most ? v : m.most;
        sum += (double)v;
    }
    m.mean = sum / SAMPLES;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        double d = (double)draw(random_bits(5, 0, 0, i), a, b) - m.mean;
        square += d * d;
        cube += d * d * d;
    }
    m.deviation = sqrt(square / SAMPLES);
    m.skewness = cube / SAMPLES / (m.deviation * m.deviation * m.deviation);
    return m;
}

static int64_t exponential(uint64_t bits, int64_t mean_ns, int64_t unused)
{
    return random_exponential(bits, mean_ns);
}

/* Mean and deviation 1,000,000, skewness 2; their standard errors over 200,000 draws are 0.22 %, 0.32 % and about 0.03;
 * the bounds are five of them. */
static void test_exponential(void)
{
    struct moments m = moments_of(exponential, 1000000, 0);
    CU_ASSERT(fabs(m.mean - 1e6) < 0.011e6);
    CU_ASSERT(fabs(m.deviation - 1e6) < 0.016e6);
    CU_ASSERT(fabs(m.skewness - 2) < 0.15);
    CU_ASSERT(m.least >= 0);
    CU_ASSERT(m.most > 10000000 && m.most < 37000000);
    CU_ASSERT_EQUAL(random_exponential(UINT64_MAX, 1000), 0);
    CU_ASSERT_EQUAL(random_exponential(0, 1000), 36736);             /* 53 ln 2 = 36.7368 */
    CU_ASSERT_EQUAL(random_exponential(UINT64_C(1) << 63, 1000000), 693147);
    CU_ASSERT_EQUAL(random_exponential(12345, 0), 0);
    CU_ASSERT_EQUAL(random_exponential(0, INT64_MAX), ENGINE_LAST_NS);
}

/* Mean 150, deviation 100 / sqrt(12) (and 101 values), no skewness. */
static void test_uniform(void)
{
    struct moments m = moments_of(random_uniform, 100, 200);
    CU_ASSERT(fabs(m.mean - 150) < 0.33);
    CU_ASSERT(fabs(m.deviation - sqrt((101.0 * 101 - 1) / 12)) < 0.2);
    CU_ASSERT(fabs(m.skewness) < 0.03);
    CU_ASSERT_EQUAL(m.least, 100);
    CU_ASSERT_EQUAL(m.most, 200);
    CU_ASSERT_EQUAL(random_uniform(UINT64_MAX, 7, 7), 7);
    CU_ASSERT_EQUAL(random_uniform(UINT64_MAX, 0, INT64_MAX), INT64_MAX);
    CU_ASSERT_EQUAL(random_uniform(0, 0, INT64_MAX), 0);
}

/* Mean 1,000,000, deviation 100,000; half of the values of a normal around 0 become 0. */
static void test_normal(void)
{
    struct moments m = moments_of(random_normal, 1000000, 100000);
    CU_ASSERT(fabs(m.mean - 1e6) < 0.0012e6);
    CU_ASSERT(fabs(m.deviation - 1e5) < 0.008e5);
    CU_ASSERT(fabs(m.skewness) < 0.03);
    CU_ASSERT(m.most > 1380000 && m.least < 620000);
    /* Quantiles: of 1/2, and of 0.5 +- 0.4750 (1.96 deviations), where a table says so. */
    CU_ASSERT(labs(random_normal(UINT64_C(1) << 63, 1000000, 100000) - 1000000) <= 1);
    CU_ASSERT(labs(random_normal((uint64_t)(0.975 * 0x1p64), 1000000000, 100000000) - 1195996398) <= 2);
    CU_ASSERT(labs(random_normal((uint64_t)(0.025 * 0x1p64), 1000000000, 100000000) - 804003602) <= 2);
    CU_ASSERT(labs(random_normal((uint64_t)(0.001 * 0x1p64), 1000000000, 100000000) - 690976769) <= 2);
    CU_ASSERT_EQUAL(random_normal(12345, 500, 0), 500);
    unsigned zero = 0;
    for (uint64_t i = 0; i < 10000; i++)
        zero += random_normal(random_bits(6, 0, 0, i), 0, 1000) == 0;
    CU_ASSERT(zero > 4750 && zero < 5250);
    CU_ASSERT_EQUAL(random_normal(UINT64_MAX, INT64_MAX, INT64_MAX), ENGINE_LAST_NS);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "Threefry gives the published answers", test_known_answers },
        { "seed, actor, stream and draw each have their place", test_key },
        { "the logarithm is right to 1e-15", test_log },
        { "a unit number is never 0 and never 1", test_unit },
        { "a number below n", test_below },
        { "exponential", test_exponential },
        { "uniform", test_uniform },
        { "normal", test_normal },
        { NULL, NULL },
    };
    return suite_run("random", tests);
}
