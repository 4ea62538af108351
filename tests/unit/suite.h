/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUnit program for one module:
 *
 *     static void test_prefix(void) { CU_ASSERT_EQUAL(...); }
 *     int main(void)
 *     {
 *         static const struct suite_test tests[] = { { "a prefix matches", test_prefix }, { NULL, NULL } };
 *         return suite_run("topics", tests);
 *     }
 *
 * Exit status 0 when every assertion held, else 1 (CUnit itself returns success after failures).
 */
#ifndef TIERCEL_TESTS_SUITE_H
#define TIERCEL_TESTS_SUITE_H

#include <CUnit/Basic.h>

struct suite_test {
    const char *name;
    void (*run)(void);
};

/* Runs the tests of one suite, up to the entry whose name is NULL. */
static inline int suite_run(const char *module, const struct suite_test *tests)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite suite = CU_add_suite(module, NULL, NULL);
    if (suite == NULL)
        return 1;
    for (; tests->name != NULL; tests++)
        if (CU_add_test(suite, tests->name, tests->run) == NULL)
            return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    unsigned ran = CU_get_number_of_tests_run();
    CU_cleanup_registry();
    return failures != 0 || ran == 0;
}

#endif
