/* The part of cmocka that tests/unit/test_device.c uses, for machines that have a GPU and a
 * compiler and nothing else: check_devices. A check that fails ends its test. */
#ifndef HAUL_TESTS_BARE_CMOCKA_H
#define HAUL_TESTS_BARE_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
    void *state;
};

#define cmocka_unit_test_prestate(run, state)                                                      \
    {                                                                                              \
#run, run, state                                                                           \
    }
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    bare_run(tests, sizeof(tests) / sizeof *(tests))

static jmp_buf bare_end;

#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf("  %s:%d: ", __FILE__, __LINE__);                                                   \
        printf(__VA_ARGS__);                                                                       \
        putchar('\n');                                                                             \
        longjmp(bare_end, 1);                                                                      \
    } while (0)
#define skip() longjmp(bare_end, 2)
#define assert_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("not %s", #condition);                                                        \
    } while (0)
#define assert_false(condition) assert_true(!(condition))
#define assert_null(pointer) assert_true(!(pointer))
#define assert_non_null(pointer) assert_true(pointer)
#define assert_ptr_equal(a, b) assert_true((a) == (b))
#define assert_int_equal(a, b) assert_true((intmax_t)(a) == (intmax_t)(b))
#define assert_string_equal(a, b) assert_true(!strcmp(a, b))
#define assert_memory_equal(a, b, size) assert_true(!memcmp(a, b, size))

static int bare_run(const struct CMUnitTest *tests, size_t count)
{
    int failed = 0;
    for (volatile size_t i = 0; i < count; i++) {
        void *state = tests[i].state;
        const int end = setjmp(bare_end);
        if (!end)
            tests[i].run(&state);
        printf("%-32s %s\n", tests[i].name, !end ? "ok" : end == 2 ? "skipped" : "FAILED");
        failed += end == 1;
    }
    return failed;
}

#endif
