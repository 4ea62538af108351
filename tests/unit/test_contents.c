/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/contents.h"

#include <glib.h>
#include <string.h>

#include "suite.h"

enum { LONGEST = 5000 };

static void test_alike(void)
{
    struct contents whole, parts;
    contents_init(&whole, 4 * LONGEST, 7);
    contents_init(&parts, LONGEST, 7);
    contents_set(&whole, 0, 4 * LONGEST);
    uint64_t offset = 0;
    /* Lengths and places of every sort, one after the other in one buffer. */
    for (uint64_t length = 1; length <= LONGEST; length += 37, offset = (offset + 1013) % LONGEST) {
        contents_set(&parts, offset, length);
        CU_ASSERT_EQUAL(memcmp(parts.bytes, whole.bytes + offset, length), 0);
        CU_ASSERT_EQUAL(contents_compare(&parts, whole.bytes + offset, offset, length), length);
    }
    contents_release(&parts);
    contents_release(&whole);
}

static void test_differs(void)
{
    struct contents c, other;
    uint8_t bytes[2048];
    contents_init(&c, sizeof bytes, 1);
    contents_init(&other, sizeof bytes, 2);
    contents_set(&c, 4096, sizeof bytes);
    memcpy(bytes, c.bytes, sizeof bytes);
    CU_ASSERT_TRUE(contents_compare(&c, bytes, 4096 + 512, sizeof bytes) < 8);
    CU_ASSERT_TRUE(contents_compare(&c, bytes, 0, sizeof bytes) < 8);
    CU_ASSERT_TRUE(contents_compare(&other, bytes, 4096, sizeof bytes) < 8);
    bytes[1500] ^= 1;
    CU_ASSERT_EQUAL(contents_compare(&c, bytes, 4096, sizeof bytes), 1500);
    memset(bytes, 0, sizeof bytes);
    CU_ASSERT_TRUE(contents_compare(&c, bytes, 4096, sizeof bytes) < 8);
    contents_release(&other);
    contents_release(&c);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "bytes depend on seed and offset alone, however they were asked for", test_alike },
        { "a block in another place, of another seed, torn or missing is found", test_differs },
        { NULL, NULL }
    };
    return suite_run("contents", tests);
}
