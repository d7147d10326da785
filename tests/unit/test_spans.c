/* Spans of threads, packed and not, beside a plain list of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "workload/spans.h"

enum { SPANS = 400, THREADS = 4, ROUNDS = 60, CALLS = 300 };

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245U + 12345U;
    return *state >> 8;
}

static int compare_plain(const void *a, const void *b)
{
    const haul_named_range *const x = a, *const y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->dur_ns < y->dur_ns) - (x->dur_ns > y->dur_ns);
}

/* The last span that was entered and has not ended, of one thread's spans in order. */
static uint32_t find_innermost(const haul_named_range *spans, size_t count, int64_t time_ns)
{
    size_t open[SPANS], depth = 0;
    for (size_t i = 0; i <= count; i++) {
        const int64_t now_ns =
            i < count && spans[i].start_ns <= time_ns ? spans[i].start_ns : time_ns;
        while (depth && spans[open[depth - 1]].start_ns + spans[open[depth - 1]].dur_ns <= now_ns)
            depth--;
        if (i == count || spans[i].start_ns > time_ns)
            break;
        open[depth++] = i;
    }
    return depth ? spans[open[depth - 1]].name : HAUL_NONE;
}

/* Lengths, distances and names that pack, and, of some threads in some rounds, that do not. No two
 * spans of a thread are equal but for their names: which one holds the other would be any. */
static haul_named_range draw_span(unsigned *state, int round, size_t number)
{
    haul_named_range span = {
        .start_ns = INT64_C(1700000000000000000) + next_random(state) % 2000,
        .dur_ns = (int64_t)(number + (next_random(state) % 3 ? 0 : SPANS)),
        .name = 70000 + next_random(state) % 50,
        .thread = next_random(state) % THREADS,
    };
    if (round % 2 && span.thread == 1 && !(next_random(state) % 50))
        span.dur_ns += INT64_C(1) << 32;
    if (round % 3 == 1 && span.thread == 2 && !(next_random(state) % 50))
        span.start_ns -= INT64_C(1) << 50;
    if (round % 5 == 1 && span.thread == 3 && !(next_random(state) % 50))
        span.name = 7;
    return span;
}

static void innermost_spans_are_found(void **state)
{
    (void)state;
    unsigned random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        hl_workload_spans spans = {.count = 0};
        hl_workload_span_walk walk;
        haul_named_range plain[THREADS][SPANS];
        size_t counts[THREADS] = {0};
        for (size_t i = 0; i < SPANS; i++) {
            const haul_named_range span = draw_span(&random, round, i);
            plain[span.thread][counts[span.thread]++] = span;
            assert_true(hl_workload_spans_add(&spans, &span));
        }
        assert_true(hl_workload_spans_add(&spans, &(haul_named_range){.thread = HAUL_NONE}));
        assert_int_equal(spans.count, SPANS);
        for (uint32_t t = 0; t < THREADS; t++)
            for (size_t i = 0; i < counts[t]; i++) {
                const haul_named_range kept = hl_workload_spans_at(&spans, t, i);
                assert_memory_equal(&kept, &plain[t][i], sizeof kept);
            }
        assert_true(hl_workload_span_walk_begin(&walk, &spans));
        for (uint32_t t = 0; t < THREADS; t++) {
            qsort(plain[t], counts[t], sizeof **plain, compare_plain);
            int64_t time_ns = INT64_C(1700000000000000000) - 100;
            for (int i = 0; i < CALLS; i++, time_ns += next_random(&random) % 20)
                assert_int_equal(hl_workload_span_walk_name(&walk, t, time_ns),
                                 find_innermost(plain[t], counts[t], time_ns));
        }
        assert_int_equal(hl_workload_span_walk_name(&walk, THREADS, 0), HAUL_NONE);
        hl_workload_span_walk_end(&walk);
        hl_workload_spans_release(&spans);
    }
}

static void spans_are_packed(void **state)
{
    (void)state;
    hl_workload_spans spans = {.count = 0};
    haul_named_range span = {.start_ns = INT64_C(1700000000000000000), .dur_ns = UINT32_MAX};
    assert_true(hl_workload_spans_add(&spans, &span));
    span.start_ns += INT64_C(1) << 46; /* 19 hours */
    span.name = 30000;
    assert_true(hl_workload_spans_add(&spans, &span));
    assert_false(spans.threads[0].is_wide);
    span.name = 33000;
    assert_true(hl_workload_spans_add(&spans, &span));
    assert_true(spans.threads[0].is_wide);
    assert_int_equal(hl_workload_spans_at(&spans, 0, 1).name, 30000);
    assert_int_equal(hl_workload_spans_at(&spans, 0, 2).name, 33000);
    hl_workload_spans_release(&spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(innermost_spans_are_found),
        cmocka_unit_test(spans_are_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
