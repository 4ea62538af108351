/* SPDX-License-Identifier: BSD-3-Clause */
#include <glib.h>

#include "base/bytes.h"
#include "suite.h"

static void test_form(void)
{
    static const uint8_t expected[] = {
        0x7f,                                               /* u8 */
        0x34, 0x12,                                         /* u16 */
        0x78, 0x56, 0x34, 0x12,                             /* u32 */
        0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,     /* u64 */
        0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,     /* i64, -2 */
        0x03, 0x00, 0x00, 0x00, 'a', 'b', 'c',              /* text */
        0x00, 0x00, 0x00, 0x00,                             /* empty span */
    };
    struct bytes b = BYTES_INIT;
    bytes_put_u8(&b, 0x7f);
    bytes_put_u16(&b, 0x1234);
    bytes_put_u32(&b, 0x12345678);
    bytes_put_u64(&b, 0x0123456789abcdefull);
    bytes_put_i64(&b, -2);
    bytes_put_text(&b, "abc");
    bytes_put_span(&b, NULL, 0);
    CU_ASSERT_EQUAL(b.size, sizeof expected);
    CU_ASSERT(memcmp(b.data, expected, sizeof expected) == 0);
    bytes_release(&b);
    CU_ASSERT_PTR_NULL(b.data);
    CU_ASSERT_EQUAL(b.size, 0);
    CU_ASSERT_EQUAL(b.capacity, 0);
}

static void test_round_trip(void)
{
    struct bytes b = BYTES_INIT;
    for (unsigned i = 0; i < 1000; i++) {
        bytes_put_u32(&b, i * 0x9e3779b9u);
        bytes_put_span(&b, "0123456789", i % 11);
        bytes_put_i64(&b, INT64_MIN + i);
        bytes_put_u8(&b, (uint8_t)i);
        bytes_put_u16(&b, (uint16_t)(i * 77));
    }
    struct cursor c = cursor_init(b.data, b.size);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 1000; i++) {
        size_t length;
        wrong += cursor_u32(&c) != i * 0x9e3779b9u;
        const char *text = cursor_span(&c, &length);
        wrong += length != i % 11 || memcmp(text, "0123456789", length) != 0;
        wrong += cursor_i64(&c) != (int64_t)(INT64_MIN + i);
        wrong += cursor_u8(&c) != (uint8_t)i;
        wrong += cursor_done(&c);
        wrong += cursor_u16(&c) != (uint16_t)(i * 77);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(cursor_ok(&c));
    CU_ASSERT(cursor_done(&c));
    bytes_release(&b);
}

/* Every prefix of a message: no read past the end, and it is told. */
static void test_truncated(void)
{
    struct bytes b = BYTES_INIT;
    bytes_put_u64(&b, 5);
    bytes_put_text(&b, "namespace");
    bytes_put_u16(&b, 9);
    for (size_t size = 0; size <= b.size; size++) {
        uint8_t *copy = g_malloc(size);             /* of just this size: the sanitizer sees a byte too much */
        if (size != 0)
            memcpy(copy, b.data, size);
        struct cursor c = cursor_init(copy, size);
        size_t length;
        cursor_u64(&c);
        const char *text = cursor_span(&c, &length);
        CU_ASSERT((text != NULL) == (size >= 8 + 4 + 9));
        CU_ASSERT_EQUAL(length, text != NULL ? 9 : 0);
        uint16_t last = cursor_u16(&c);
        CU_ASSERT_EQUAL(cursor_ok(&c), size == b.size);
        CU_ASSERT_EQUAL(cursor_done(&c), size == b.size);
        CU_ASSERT_EQUAL(last, size == b.size ? 9 : 0);
        g_free(copy);
    }
    bytes_release(&b);
}

static void test_failed(void)
{
    const uint8_t four[4] = { 1, 2, 3, 4 };
    struct cursor c = cursor_init(four, 4);
    size_t length = 99;
    CU_ASSERT_EQUAL(cursor_u64(&c), 0);
    CU_ASSERT_FALSE(cursor_ok(&c));
    CU_ASSERT_EQUAL(cursor_u8(&c), 0);
    CU_ASSERT_PTR_NULL(cursor_take(&c, 0));
    CU_ASSERT_PTR_NULL(cursor_span(&c, &length));
    CU_ASSERT_EQUAL(length, 0);
    CU_ASSERT_FALSE(cursor_done(&c));

    /* A length that says more than there is. */
    const uint8_t liar[5] = { 0xff, 0xff, 0xff, 0xff, 'x' };
    c = cursor_init(liar, sizeof liar);
    CU_ASSERT_PTR_NULL(cursor_span(&c, &length));
    CU_ASSERT_EQUAL(length, 0);
    CU_ASSERT_FALSE(cursor_ok(&c));

    c = cursor_init(NULL, 0);
    CU_ASSERT(cursor_done(&c));
    CU_ASSERT_EQUAL(cursor_u8(&c), 0);
    CU_ASSERT_FALSE(cursor_ok(&c));
}

static void test_growth(void)
{
    struct bytes b = BYTES_INIT;
    CU_ASSERT_PTR_NOT_NULL(bytes_extend(&b, 1));
    size_t first = b.capacity;
    for (unsigned i = 1; i < 100000; i++)
        bytes_put_u8(&b, (uint8_t)i);
    CU_ASSERT_EQUAL(b.size, 100000);
    CU_ASSERT(b.capacity > first && b.capacity < 400000);
    unsigned wrong = 0;
    for (unsigned i = 1; i < 100000; i++)
        wrong += b.data[i] != (uint8_t)i;
    CU_ASSERT_EQUAL(wrong, 0);
    const uint8_t *data = b.data;
    size_t capacity = b.capacity;
    bytes_clear(&b);
    CU_ASSERT_EQUAL(b.size, 0);
    memset(bytes_extend(&b, 5000), 1, 5000);
    CU_ASSERT_PTR_EQUAL(b.data, data);
    CU_ASSERT_EQUAL(b.capacity, capacity);
    bytes_put(&b, NULL, 0);
    CU_ASSERT_EQUAL(b.size, 5000);
    bytes_release(&b);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "integers are little-endian and unpadded, texts have a length", test_form },
        { "what was written is read back", test_round_trip },
        { "every truncated message is told", test_truncated },
        { "after a read past the end every read fails", test_failed },
        { "a buffer grows and keeps its memory when cleared", test_growth },
        { NULL, NULL },
    };
    return suite_run("bytes", tests);
}
