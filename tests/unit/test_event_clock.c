/* Clocks of devices against the host's; the tables beside them. */
#include "record/event_clock.h"

#include <stdlib.h>

#include "check.h"
#include "record/handle_map.h"
#include "record/host_ranges.h"
#include "record/profile_writer.h"

static void an_offset_is_found_to_within_the_brackets(void **state)
{
    (void)state;
    hl_record_event_clock clock = {0};
    for (int64_t i = 0; i < 100; i++) {
        const int64_t host = 1000000000 + i * 50000, early = 100 + i * 37 % 1000;
        hl_record_event_clock_bracket(&clock, host - early, host - 700, host - 700, host + 900);
    }
    const int64_t found = hl_record_event_clock_host(&clock, 5000) - 5000;
    assert_true(llabs(found - 700) <= clock.worst_error_ns);
    assert_true(clock.worst_error_ns <= 600);
    assert_int_equal(clock.contradictions, 0);
}

/* A clock that is fast by 30 in a million, over ten minutes; the device's own time is exact within
 * what is said. */
static void a_clock_that_drifts_is_followed(void **state)
{
    (void)state;
    hl_record_event_clock clock = {0};
    for (int64_t i = 0; i < 60000; i++) {
        const int64_t host = i * 10000000, device = host + host / 1000000 * 30 + 123456789;
        hl_record_event_clock_bracket(&clock, host - 2000, device, device, host + 2000);
        const int64_t found = hl_record_event_clock_host(&clock, device);
        assert_true(llabs(found - host) <= clock.worst_error_ns);
    }
    assert_true(clock.worst_error_ns < 4000);
    assert_int_equal(clock.contradictions, 0);
}

static void a_wait_that_is_long_still_bounds(void **state)
{
    (void)state;
    hl_record_event_clock clock = {0};
    /* a call of 80 ms that waits for its copy of 79.9 ms */
    hl_record_event_clock_bracket(&clock, 1000000, 500, 500 + 79900000, 1000000 + 80000000);
    hl_record_event_clock_host(&clock, 0);
    assert_true(clock.worst_error_ns <= 50000);
}

static void a_contradiction_starts_anew(void **state)
{
    (void)state;
    hl_record_event_clock clock = {0};
    hl_record_event_clock_bracket(&clock, 1000, 0, 0, 1100);
    hl_record_event_clock_bracket(&clock, 2000, 0, 0, 2100);
    assert_int_equal(clock.contradictions, 1);
    assert_int_equal(hl_record_event_clock_host(&clock, 0), 2050);
    hl_record_event_clock_bracket(&clock, 10, 0, 100, 20); /* no bracket at all */
    assert_int_equal(hl_record_event_clock_host(&clock, 0), 2050);
}

/* The first bracket is wide, as on a busy machine, and the next moves the middle by 450 us: copies
 * with 10 us between them keep their order and their durations, and the error is told. */
static void a_stream_keeps_its_order_when_the_bounds_narrow(void **state)
{
    (void)state;
    hl_record_event_clock clock = {0};
    hl_record_event_end last = {0};
    int64_t start = 20000, end = 30000, before;
    hl_record_event_clock_bracket(&clock, 0, 0, 0, 1000000);
    hl_record_event_clock_place(&clock, &last, &start, &end);
    assert_int_equal(start, 520000);
    assert_int_equal(end, 530000);
    before = end;
    hl_record_event_clock_bracket(&clock, 40000, 40000, 40000, 140000);
    clock.worst_error_ns = 0;
    start = 40000, end = 45000;
    hl_record_event_clock_place(&clock, &last, &start, &end);
    assert_true(start > before);
    assert_int_equal(end - start, 5000);
    assert_int_equal(clock.worst_error_ns, start - 40000);
    /* a command that ran beside the one before stays where it was beside it */
    before = end;
    start = 42000, end = 44000;
    hl_record_event_clock_place(&clock, &last, &start, &end);
    assert_int_equal(start, before - 3000);
    /* far enough behind it the new bounds place it */
    start = 1040000, end = 1050000;
    hl_record_event_clock_place(&clock, &last, &start, &end);
    assert_int_equal(start, 1090000);
}

/* By a coarse clock a command may take no time, and the next start in the same step. The event
 * behind the first is recorded 1 ns after its start, and is not to be taken for the next one's. */
static void a_command_behind_one_without_a_duration_starts_later(void **state)
{
    (void)state;
    hl_record_event_clock clock = {0};
    hl_record_event_end last = {0};
    int64_t start = 1000, end = 1000;
    hl_record_event_clock_bracket(&clock, 500, 0, 0, 500);
    hl_record_event_clock_place(&clock, &last, &start, &end);
    assert_int_equal(start, 1500);
    assert_int_equal(end, 1500);
    start = 1000, end = 3000;
    hl_record_event_clock_place(&clock, &last, &start, &end);
    assert_int_equal(start, 1501);
    assert_int_equal(end, 3501);
}

/* Times of a clock from before it began anew order nothing. */
static void a_clock_that_begins_anew_keeps_no_order(void **state)
{
    (void)state;
    hl_record_event_clock clock = {0};
    hl_record_event_end last = {0};
    int64_t start = 0, end = 10;
    hl_record_event_clock_bracket(&clock, 1000000, 0, 0, 1000100);
    hl_record_event_clock_place(&clock, &last, &start, &end);
    assert_int_equal(start, 1000050);
    hl_record_event_clock_bracket(&clock, 2000, 1000, 1000, 2100);
    start = 1000, end = 1010;
    hl_record_event_clock_place(&clock, &last, &start, &end);
    assert_int_equal(start, 2050);
}

static void handles_are_found_and_replaced(void **state)
{
    (void)state;
    static const char things[10000];
    hl_record_handle_map map = {0};
    uint64_t value = 7;
    assert_false(hl_record_handle_map_get(&map, things, &value));
    for (size_t i = 0; i < sizeof things; i++)
        hl_record_handle_map_set(&map, things + i, i);
    for (size_t i = 0; i < sizeof things; i++)
        hl_record_handle_map_set(&map, things + i, 2 * i);
    for (size_t i = 0; i < sizeof things; i++) {
        assert_true(hl_record_handle_map_get(&map, things + i, &value));
        assert_int_equal(value, 2 * i);
    }
    assert_int_equal(map.handles.count, sizeof things);
    hl_record_handle_map_release(&map);
}

static void pointers_are_told_by_the_newest_range(void **state)
{
    (void)state;
    static const char memory[100], owner;
    hl_record_host_ranges ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};
    assert_int_equal(hl_record_host_ranges_kind(&ranges, memory), HL_RECORD_PAGEABLE);
    hl_record_host_range range = {.begin = (uintptr_t)memory,
                                  .end = (uintptr_t)memory + 50,
                                  .owner = &owner,
                                  .kind = HL_RECORD_PINNED};
    hl_record_host_ranges_add(&ranges, &range);
    assert_int_equal(hl_record_host_ranges_kind(&ranges, memory + 49), HL_RECORD_PINNED);
    assert_int_equal(hl_record_host_ranges_kind(&ranges, memory + 50), HL_RECORD_PAGEABLE);
    range.mapped = range.written = true;
    range.kind = HL_RECORD_MANAGED;
    hl_record_host_ranges_add(&ranges, &range);
    assert_int_equal(hl_record_host_ranges_kind(&ranges, memory), HL_RECORD_MANAGED);
    hl_record_host_range taken;
    assert_false(hl_record_host_ranges_unmap(&ranges, &owner, memory + 1, &taken));
    assert_true(hl_record_host_ranges_unmap(&ranges, &owner, memory, &taken));
    assert_true(taken.written);
    assert_false(hl_record_host_ranges_unmap(&ranges, &owner, memory, &taken));
    assert_int_equal(hl_record_host_ranges_kind(&ranges, memory), HL_RECORD_PINNED);
    hl_record_host_ranges_drop(&ranges, &owner);
    assert_int_equal(hl_record_host_ranges_kind(&ranges, memory), HL_RECORD_PAGEABLE);
    free(ranges.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offset_is_found_to_within_the_brackets),
        cmocka_unit_test(a_clock_that_drifts_is_followed),
        cmocka_unit_test(a_wait_that_is_long_still_bounds),
        cmocka_unit_test(a_contradiction_starts_anew),
        cmocka_unit_test(a_stream_keeps_its_order_when_the_bounds_narrow),
        cmocka_unit_test(a_command_behind_one_without_a_duration_starts_later),
        cmocka_unit_test(a_clock_that_begins_anew_keeps_no_order),
        cmocka_unit_test(handles_are_found_and_replaced),
        cmocka_unit_test(pointers_are_told_by_the_newest_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
