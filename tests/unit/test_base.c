#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/load.h"
#include "base/order.h"
#include "base/stats.h"
#include "base/strings.h"
#include "haul/version.h"

static void error_names_its_place(void **state)
{
    (void)state;
    char text[256];
    haul_error error;
    assert_int_equal(haul_error_set(&error, HAUL_STATUS_BAD_INPUT, "expected %s", "a rate"),
                     HAUL_STATUS_BAD_INPUT);
    assert_string_equal(haul_error_format(&error, text, sizeof text), "expected a rate");
    hl_base_error_at(&error, (hl_base_place){"m.yaml", 3, 7});
    assert_string_equal(haul_error_format(&error, text, sizeof text),
                        "m.yaml:3:7: expected a rate");
    hl_base_error_at(&error, (hl_base_place){"other.yaml", 9, 9});
    assert_string_equal(haul_error_format(&error, text, sizeof text),
                        "m.yaml:3:7: expected a rate");
    haul_error_set(&error, HAUL_STATUS_BAD_INPUT, "negative duration");
    hl_base_error_in_table(&error, "t.sqlite", "MEMCPY", 12);
    assert_string_equal(haul_error_format(&error, text, sizeof text),
                        "t.sqlite: table MEMCPY, row 12: negative duration");
    assert_string_equal(haul_error_format(&error, text, 5), "t.sq");
    haul_error_set(&error, HAUL_STATUS_BAD_INPUT, "near '\x1b[31m\n'");
    assert_string_equal(haul_error_format(&error, text, sizeof text), "near '?[31m?'");
    assert_int_equal(haul_error_set(NULL, HAUL_STATUS_IO, "nobody listens"), HAUL_STATUS_IO);
}

static void arena_keeps_what_it_gave(void **state)
{
    (void)state;
    hl_base_arena arena = {0};
    char *first = hl_base_arena_string(&arena, "first");
    for (int i = 0; i < 10000; i++) {
        char *more = hl_base_arena_format(&arena, "%d", i);
        assert_non_null(more);
        assert_int_equal((uintptr_t)more % _Alignof(max_align_t), 0);
    }
    char *large = hl_base_arena_alloc(&arena, 1 << 20);
    memset(large, 1, 1 << 20);
    assert_string_equal(first, "first");
    assert_null(hl_base_arena_alloc(&arena, SIZE_MAX));
    hl_base_arena_release(&arena);
    assert_null(arena.head);
}

static void strings_are_kept_once(void **state)
{
    (void)state;
    hl_base_strings strings = {0};
    char text[32];
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 5000; i++) {
            const int length = snprintf(text, sizeof text, "name %u", i);
            assert_int_equal(hl_base_strings_add(&strings, text, (size_t)length), i);
        }
    assert_int_equal(strings.count, 5000);
    assert_string_equal(strings.texts[4321], "name 4321");
    assert_int_equal(hl_base_strings_add(&strings, "name 7 and more", 6), 7);
    assert_int_equal(hl_base_strings_add(&strings, "", 0), 5000);
    hl_base_strings_release(&strings);
}

static void arrays_grow_and_shrink(void **state)
{
    (void)state;
    int *items = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(hl_base_grow(&items, &capacity, i + 1, sizeof *items));
        items[i] = (int)i;
    }
    hl_base_shrink(&items, &capacity, 500, sizeof *items);
    assert_int_equal(capacity, 500);
    assert_int_equal(items[499], 499);
    assert_false(hl_base_grow(&items, &capacity, SIZE_MAX / 2, sizeof *items));
    assert_int_equal(items[499], 499);
    free(items);
}

static void quantiles_are_type_7(void **state)
{
    (void)state;
    double values[] = {4, 1, 3, 2};
    assert_true(hl_base_median(values, 4) == 2.5);
    assert_true(hl_base_quantile_sorted(values, 4, 0) == 1);
    assert_true(hl_base_quantile_sorted(values, 4, 1) == 4);
    CHECK_NEAR(hl_base_quantile_sorted(values, 4, 0.9), 3.7, 1e-12);
    assert_true(hl_base_median((double[]){5}, 1) == 5);
}

static void the_version_is_that_of_the_headers(void **state)
{
    (void)state;
    char version[32];
    (void)snprintf(version, sizeof version, "%d.%d.%d", HAUL_VERSION_MAJOR, HAUL_VERSION_MINOR,
                   HAUL_VERSION_PATCH);
    assert_string_equal(haul_version(), version);
}

static int compare_tens(const void *a, const void *b)
{
    const int x = *(const int *)a / 10, y = *(const int *)b / 10;
    return (x > y) - (x < y);
}

/* Things in order stay where they are, equal ones too. */
static void items_are_sorted_where_they_are_not_in_order(void **state)
{
    (void)state;
    int in_order[] = {12, 11, 25, 21}, mixed[] = {30, 10, 20};
    hl_base_order_items(in_order, 4, sizeof *in_order, compare_tens);
    assert_true(in_order[0] == 12 && in_order[1] == 11 && in_order[2] == 25 && in_order[3] == 21);
    hl_base_order_items(mixed, 3, sizeof *mixed, compare_tens);
    assert_true(mixed[0] == 10 && mixed[1] == 20 && mixed[2] == 30);
    hl_base_order_items(NULL, 0, sizeof *mixed, compare_tens);
}

/* Others that take less than half a core are no load; the share is never more than all. */
static void a_load_is_a_share_of_the_cores(void **state)
{
    (void)state;
    assert_true(hl_base_load_share(-1) == 0);
    assert_true(hl_base_load_share(0.4) == 0);
    assert_true(hl_base_load_share(0.6) > 0 && hl_base_load_share(0.6) <= 0.6);
    assert_true(hl_base_load_share(1e6) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_is_a_share_of_the_cores),
        cmocka_unit_test(the_version_is_that_of_the_headers),
        cmocka_unit_test(error_names_its_place),
        cmocka_unit_test(arena_keeps_what_it_gave),
        cmocka_unit_test(strings_are_kept_once),
        cmocka_unit_test(arrays_grow_and_shrink),
        cmocka_unit_test(quantiles_are_type_7),
        cmocka_unit_test(items_are_sorted_where_they_are_not_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
