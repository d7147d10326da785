/* Timelines as traces: every operation is drawn or said to be merged, and the size is kept. */
#include "by_hand.h"
#include "check.h"
#include "haul/report.h"

typedef struct written {
    char *text;
    size_t size;
    haul_thinned thinned;
} written;

static written write_trace(const haul_drawn *drawn, size_t count, uint64_t limit_bytes)
{
    written trace = {0};
    haul_error error;
    FILE *out = open_memstream(&trace.text, &trace.size);
    assert_non_null(out);
    assert_int_equal(haul_report_perfetto(drawn, count, limit_bytes, out, &trace.thinned, &error),
                     HAUL_OK);
    assert_int_equal(fclose(out), 0);
    return trace;
}

/* Without strstr, which AddressSanitizer has measure the rest of the text each time. */
static size_t count_of(const char *text, const char *part)
{
    const size_t length = strlen(part);
    size_t count = 0;
    while ((text = strchr(text, *part))) {
        const bool found = !strncmp(text, part, length);
        text += found ? length : 1;
        count += found;
    }
    return count;
}

/* `each_ns` long operations on eight streams, a pause of the same length between them. */
static void fill(by_hand *self, uint32_t count, int64_t each_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        const int64_t start_ns = 2 * each_ns * (i / BY_HAND_STREAMS) + 5000;
        haul_op *op = i % 3 ? by_hand_add(self, HAUL_OP_KERNEL, start_ns, each_ns)
                            : by_hand_copy(self, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1000,
                                           start_ns, each_ns);
        op->stream = i % BY_HAND_STREAMS;
        if (i % 3)
            op->shape = HAUL_NONE;
    }
}

/* Nested ranges take a lane each; predicted times have no ranges. */
static void draws_ranges(void **state)
{
    (void)state;
    by_hand hand = {0};
    fill(&hand, 8, 1000);
    const haul_named_range ranges[] = {
        {.start_ns = 4000, .dur_ns = 500, .name = HAUL_NONE, .thread = HAUL_NONE},
        {.start_ns = 4500, .dur_ns = 2500, .name = HAUL_NONE, .thread = 0},
        {.start_ns = 5250, .dur_ns = 250, .name = HAUL_NONE, .thread = 0},
    };
    by_hand_finish(&hand);
    const haul_workload_thread thread = {.id = 9};
    hand.workload.threads = &thread;
    hand.workload.thread_count = 1;
    hand.workload.ranges = ranges;
    hand.workload.range_count = 3;
    haul_span spans[8];
    for (int i = 0; i < 8; i++)
        spans[i] = (haul_span){1000 * i, 1000 * i + 500};
    const haul_drawn drawn[] = {{.workload = &hand.workload, .label = "as recorded"},
                                {.workload = &hand.workload, .spans = spans, .label = "t"}};
    written trace = write_trace(drawn, 2, 0);
    /* the first ends before the first operation, from which on the second is drawn */
    assert_int_equal(count_of(trace.text, "\"cat\":\"range\""), 2);
    assert_int_equal(count_of(trace.text, "\"ts\":0.000,\"dur\":2.000,\"args\":{\"range\":2}"), 1);
    assert_int_equal(count_of(trace.text, "\"ts\":0.250,\"dur\":0.250,\"args\":{\"range\":3}"), 1);
    assert_int_equal(count_of(trace.text, "\"ranges of thread 9\""), 1);
    assert_int_equal(count_of(trace.text, "\"ranges of thread 9, at once 2\""), 1);
    free(trace.text);
    by_hand_release(&hand);
}

static void draws_all_where_there_is_room(void **state)
{
    (void)state;
    by_hand hand = {0};
    fill(&hand, 240, 1000);
    by_hand_add(&hand, HAUL_OP_SYNC, 0, 300)->stream = HAUL_NONE;
    const haul_edge edges[] = {{1, 9}, {2, 10}};
    by_hand_finish(&hand);
    hand.workload.edges = edges;
    hand.workload.edge_count = 2;
    const haul_drawn drawn = {.workload = &hand.workload};
    written trace = write_trace(&drawn, 1, 0);
    assert_int_equal(count_of(trace.text, "\"ph\":\"X\""), 241);
    assert_int_equal(count_of(trace.text, "HtoD pinned"), 80);
    assert_int_equal(count_of(trace.text, "\"process_name\""), 3); /* the host and two devices */
    assert_int_equal(count_of(trace.text, "\"thread_name\""), BY_HAND_STREAMS + 1);
    assert_int_equal(count_of(trace.text, "\"ph\":\"s\""), 2);
    assert_int_equal(count_of(trace.text, "\"ph\":\"f\""), 2);
    assert_non_null(strstr(trace.text, "\"ts\":5.000,\"dur\":1.000")); /* from the wait, at 0 */
    assert_int_equal(trace.thinned.operations, 241);
    assert_int_equal(trace.thinned.slices, 241);
    assert_int_equal(trace.thinned.merged, 0);
    char text[256];
    assert_string_equal(haul_thinned_text(&trace.thinned, text, sizeof text), "");
    free(trace.text);
    by_hand_release(&hand);
}

static void draws_spans_and_labels(void **state)
{
    (void)state;
    by_hand hand = {0};
    haul_op *op = by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 64, 100, 50);
    op->stream = 0;
    const haul_workload *workload = by_hand_finish(&hand);
    const haul_span span = {7, 1234567};
    const haul_drawn drawn[] = {{.label = "before \"it\"", .workload = workload},
                                {.label = "after", .workload = workload, .spans = &span}};
    written trace = write_trace(drawn, 2, 0);
    assert_non_null(strstr(trace.text, "\"before \\\"it\\\": device 0\""));
    assert_non_null(strstr(trace.text, "\"after: device 0\""));
    assert_non_null(strstr(trace.text, "\"ts\":0.000,\"dur\":0.050"));
    assert_non_null(strstr(trace.text, "\"ts\":0.007,\"dur\":1234.560"));
    free(trace.text);
    by_hand_release(&hand);
}

static void draws_what_overlaps_beside_it(void **state)
{
    (void)state;
    by_hand hand = {0};
    for (int i = 0; i < 20; i++)
        by_hand_add(&hand, HAUL_OP_MEMSET, i, 100)->stream = HAUL_NONE;
    const haul_drawn drawn = {.workload = by_hand_finish(&hand)};
    written trace = write_trace(&drawn, 1, 0);
    assert_int_equal(count_of(trace.text, "\"ph\":\"X\""), 16);
    assert_int_equal(trace.thinned.hidden, 4);
    assert_non_null(strstr(trace.text, "no stream, at once 16"));
    assert_non_null(strstr(trace.text, "4 operations that overlap 16 others of their stream"));
    free(trace.text);
    by_hand_release(&hand);
}

/* The operations of all slices, merged ones by the number in their name: line by line, for a search
 * through the rest of a long text is slow under AddressSanitizer. */
static uint64_t sum_of_slices(const written *trace)
{
    static const char slice[] = "{\"ph\":\"X\"";
    static const char merged[] = "{\"ph\":\"X\",\"cat\":\"merged\",\"name\":\"";
    uint64_t sum = 0;
    const char *next = NULL, *const end = trace->text + trace->size;
    for (const char *line = trace->text; line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline ? newline + 1 : end;
        if (!strncmp(line, merged, strlen(merged)))
            sum += strtoull(line + strlen(merged), NULL, 10);
        else
            sum += !strncmp(line, slice, strlen(slice));
    }
    return sum;
}

static void keeps_its_size(void **state)
{
    (void)state;
    by_hand hand = {0};
    fill(&hand, 20000, 1000);
    by_hand_add(&hand, HAUL_OP_KERNEL, 0, 500000)->shape = HAUL_NONE;
    const haul_drawn drawn = {.workload = by_hand_finish(&hand)};
    for (uint64_t limit = 60000; limit < 6000000; limit *= 3) {
        written trace = write_trace(&drawn, 1, limit);
        assert_true(trace.size < limit);
        assert_true(trace.size > limit / 4 || !trace.thinned.merged);
        assert_int_equal(sum_of_slices(&trace), 20001);
        assert_int_equal(trace.thinned.operations, 20001);
        assert_int_equal(count_of(trace.text, "\"ph\":\"X\""), trace.thinned.slices);
        assert_non_null(strstr(trace.text, "\"dur\":500.000")); /* the longest is there */
        if (trace.thinned.merged)
            assert_int_equal(count_of(trace.text, "are drawn together with others"), 2);
        free(trace.text);
    }
    by_hand_release(&hand);
}

/* Those of calls too, which are merged on their thread. */
static void counts_calls(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    by_hand hand = {0};
    haul_workload_thread thread = {.id = 1};
    fill(&hand, COUNT, 1000);
    by_hand_finish(&hand);
    for (uint32_t i = 0; i < COUNT; i++) {
        haul_op *op = &hand.ops[i];
        op->flags = HAUL_OP_HAS_CALL;
        op->thread = 0;
        op->thread_prev = i ? i - 1 : HAUL_NONE;
        op->call_ns = 200 * (int64_t)i;
        op->call_dur_ns = 150;
    }
    hand.workload.threads = &thread;
    hand.workload.thread_count = 1;
    const haul_drawn drawn = {.workload = &hand.workload};
    for (uint64_t limit = 100000; limit < 10000000; limit *= 4) {
        written trace = write_trace(&drawn, 1, limit);
        const bool is_full = !trace.thinned.without_arrows;
        assert_true(trace.size < limit);
        assert_int_equal(trace.thinned.operations, 2 * COUNT);
        assert_int_equal(sum_of_slices(&trace), 2 * COUNT);
        assert_int_equal(count_of(trace.text, "\"name\":\"launch\""), is_full ? 2 * COUNT : 0);
        free(trace.text);
    }
    by_hand_release(&hand);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    by_hand hand = {0};
    fill(&hand, 100, 10);
    const haul_drawn drawn = {.workload = by_hand_finish(&hand)};
    haul_error error;
    FILE *out = fopen("/dev/null", "w");
    assert_int_equal(haul_report_perfetto(&drawn, 0, 0, out, NULL, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_report_perfetto(&drawn, 1, 17000, out, NULL, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "17000 bytes"));
    fclose(out);
    by_hand_release(&hand);
}

static void draws_nothing(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_drawn drawn = {.workload = by_hand_finish(&hand)};
    written trace = write_trace(&drawn, 1, 0);
    assert_int_equal(count_of(trace.text, "\"ph\":\"X\""), 0);
    free(trace.text);
    by_hand_release(&hand);
}

static void of_millions(void **state)
{
    (void)state;
    enum { MILLIONS = 3000000, FEW = 48 };
    by_hand hand = {0};
    fill(&hand, FEW, 1500); /* by_hand makes its array larger one by one */
    hand.ops = realloc(hand.ops, MILLIONS * sizeof *hand.ops);
    hand.workload.op_count = MILLIONS;
    for (size_t i = FEW; i < MILLIONS; i++) {
        hand.ops[i] = hand.ops[i - FEW];
        hand.ops[i].start_ns += (int64_t)2 * 1500 * FEW / BY_HAND_STREAMS;
    }
    const haul_drawn drawn = {.workload = by_hand_finish(&hand)};
    written trace = write_trace(&drawn, 1, 0);
    assert_true(trace.size < 100000000);
    assert_true(trace.size > 25000000);
    assert_int_equal(sum_of_slices(&trace), MILLIONS);
    printf("3 million operations: %zu bytes, %llu slices\n", trace.size,
           (unsigned long long)trace.thinned.slices);
    free(trace.text);
    by_hand_release(&hand);
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_all_where_there_is_room),
        cmocka_unit_test(draws_ranges),
        cmocka_unit_test(draws_spans_and_labels),
        cmocka_unit_test(draws_what_overlaps_beside_it),
        cmocka_unit_test(keeps_its_size),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(counts_calls),
        cmocka_unit_test(draws_nothing),
    };
    const struct CMUnitTest slow[] = {cmocka_unit_test(of_millions)};
    return argc > 1 ? cmocka_run_group_tests(slow, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
