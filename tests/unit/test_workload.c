#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/records.h"
#include "trace/trace_builder.h"
#include "workload_check.h"

static uint32_t below(uint32_t limit)
{
    return (uint32_t)rand() % limit;
}

typedef struct thing {
    uint32_t number;
    uint64_t key;
} thing;

static int compare_things(const void *a, const void *b)
{
    const thing *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Keys that rise by `step` and are off by up to `noise`: in order, nearly, or not at all. */
static void check_order(uint32_t count, uint32_t step, uint32_t noise)
{
    thing *things = malloc((count + 1) * sizeof *things);
    thing *expected = malloc((count + 1) * sizeof *expected);
    uint32_t *order = malloc((count + 1) * sizeof *order);
    for (uint32_t i = 0; i < count; i++) {
        things[i] = (thing){i, (uint64_t)i * step + (noise ? below(noise) : 0)};
        order[i] = i;
    }
    memcpy(expected, things, count * sizeof *things);
    qsort(expected, count, sizeof *expected, compare_things);
    const hl_base_keys keys = {&things->key, sizeof *things, 0};
    assert_true(hl_base_order_sort(order, count, &keys));
    assert_true(hl_base_order_sorted(order, count, &keys));
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(order[i], expected[i].number);
    for (uint32_t i = 0; i < 100 && count; i++) {
        const uint64_t key = below(count * (step + 1) + noise + 1);
        const size_t place = hl_base_order_find(order, count, &keys, key, below(count + 1));
        assert_true(place == 0 || expected[place - 1].key < key);
        assert_true(place == count || expected[place].key >= key);
    }
    hl_base_order_in_place(things, count, sizeof *things, compare_things);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(things[i].number, expected[i].number);
    free(things);
    free(expected);
    free(order);
}

static void orders_are_stable_and_searched(void **state)
{
    (void)state;
    srand(1);
    for (uint32_t count = 0; count < 200; count++)
        check_order(count, below(3), 1 + below(100));
    check_order(100000, 10, 0);
    check_order(100000, 10, 25);
    check_order(100000, 1, 100000);
    check_order(100000, 0, 7);
    const int64_t numbers[] = {5, -1, INT64_MIN, 0};
    uint32_t order[] = {0, 1, 2, 3};
    const hl_base_keys keys = {numbers, sizeof *numbers, HL_KEYS_SIGNED};
    assert_true(hl_base_order_sort(order, 4, &keys));
    assert_int_equal(order[0], 2);
    assert_int_equal(order[1], 1);
    assert_int_equal(order[3], 0);
}

static void records_are_kept_once(void **state)
{
    (void)state;
    hl_base_records records = {.size = sizeof(uint64_t[3])};
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 5000; i++) {
            const uint64_t item[3] = {i, 0, i % 7};
            assert_int_equal(hl_base_records_add(&records, item), i);
            assert_int_equal(hl_base_records_find(&records, item), i);
        }
    const uint64_t other[3] = {1, 1, 1};
    assert_int_equal(hl_base_records_find(&records, other), UINT32_MAX);
    uint64_t(*items)[3] = hl_base_records_take(&records);
    assert_int_equal(items[4321][0], 4321);
    free(items);
    hl_base_records_release(&records);
}

enum { OPS = 3000, CALLS = 2500, STREAMS = 7, THREADS = 3, EVENTS = 40, WAITS = 300 };

typedef struct drawn {
    haul_op ops[OPS];
    uint64_t keys[OPS];
    hl_trace_host_call calls[CALLS];
    int64_t event_call_ns[EVENTS];
    uint32_t event_stream[EVENTS];
} drawn;

static haul_workload *finish(hl_trace_builder *builder)
{
    haul_workload *workload = NULL;
    haul_error error;
    assert_int_equal(hl_trace_finish(builder, "test", "none", &workload, &error), HAUL_OK);
    workload_check(workload);
    return workload;
}

static void add_streams(hl_trace_builder *builder)
{
    const uint32_t device = hl_trace_device(builder, 0, 0);
    for (uint64_t s = 0; s < STREAMS; s++) {
        const haul_workload_stream stream = {
            .device = device, .process = 1, .context = s % 2, .id = s};
        assert_int_equal(hl_workload_builder_stream(&builder->built, &stream), s);
    }
    for (uint64_t t = 0; t < THREADS; t++)
        assert_int_equal(hl_workload_builder_thread(&builder->built,
                                                    &(haul_workload_thread){.process = 1, .id = t}),
                         t);
}

/* Operations in a random order, each with a call or not; bytes tell them apart. */
static void joins_equal_brute_force(void **state)
{
    (void)state;
    srand(2);
    static drawn d;
    hl_trace_builder builder;
    hl_trace_init(&builder);
    add_streams(&builder);
    for (uint32_t i = 0; i < OPS; i++) {
        d.ops[i] = (haul_op){.kind = HAUL_OP_COPY,
                             .start_ns = 5000 + below(100000),
                             .dur_ns = below(50),
                             .bytes = i,
                             .name = HAUL_NONE,
                             .stream = below(STREAMS),
                             .thread = HAUL_NONE};
        d.keys[i] = below(4) ? 1 + below(CALLS) : 0;
        hl_trace_op(&builder, &d.ops[i], d.keys[i]);
    }
    for (uint32_t i = 0; i < CALLS; i++) {
        /* in no order of keys, each key once */
        d.calls[i] = (hl_trace_host_call){.start_ns = below(100000),
                                          .dur_ns = 10,
                                          .key = 1 + (uint64_t)i * 7 % CALLS,
                                          .name = HAUL_NONE,
                                          .thread = below(THREADS)};
        hl_trace_call(&builder, &d.calls[i]);
    }
    haul_workload *workload = finish(&builder);
    assert_int_equal(workload->counts.calls, CALLS);
    size_t found = 0, lonely = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        lonely += op->kind == HAUL_OP_CALL;
        if (op->kind != HAUL_OP_COPY)
            continue;
        found++;
        const uint64_t key = d.keys[op->bytes];
        assert_int_equal(op->start_ns, d.ops[op->bytes].start_ns);
        assert_int_equal(op->stream, d.ops[op->bytes].stream);
        assert_int_equal(op->flags & HAUL_OP_HAS_CALL, key ? HAUL_OP_HAS_CALL : 0);
        for (int c = 0; c < CALLS; c++)
            if (key && d.calls[c].key == key) {
                assert_int_equal(op->call_ns, d.calls[c].start_ns);
                assert_int_equal(op->thread, d.calls[c].thread);
            }
    }
    assert_int_equal(found, OPS);
    size_t unmatched = 0;
    for (uint64_t key = 1; key <= CALLS; key++) {
        bool met = false;
        for (int i = 0; i < OPS; i++)
            met |= d.keys[i] == key;
        unmatched += !met;
    }
    assert_int_equal(lonely, unmatched);
    haul_workload_free(workload);
}

/* One stream after another, first in, first out: calls every 10 ns, operations behind them. */
static void add_regular_ops(hl_trace_builder *builder)
{
    for (uint32_t i = 0; i < OPS; i++) {
        const haul_op op = {.kind = HAUL_OP_KERNEL,
                            .start_ns = 1000 + (int64_t)i * 10,
                            .dur_ns = 5,
                            .shape = 0,
                            .name = HAUL_NONE,
                            .stream = i % STREAMS,
                            .thread = HAUL_NONE};
        hl_trace_op(builder, &op, 1 + i);
    }
}

/* The last operation of the stream called for before `time_ns`: i is called for at 10 i. */
static uint32_t last_before(uint32_t stream, int64_t time_ns)
{
    uint32_t found = HAUL_NONE;
    for (uint32_t i = stream; i < OPS && (int64_t)i * 10 < time_ns; i += STREAMS)
        found = i;
    return found;
}

/* Where the operation numbered so in the order of calls stands among all. */
static uint32_t place_of(const haul_workload *workload, uint32_t number)
{
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_KERNEL && kernels++ == number)
            return i;
    return HAUL_NONE;
}

static bool has_edge(const haul_workload *workload, uint32_t before, uint32_t after)
{
    for (size_t i = 0; i < workload->edge_count; i++)
        if (workload->edges[i].before == before && workload->edges[i].after == after)
            return true;
    return false;
}

static void add_wait(hl_trace_builder *builder, haul_sync_kind kind, int64_t start_ns,
                     uint32_t stream, const hl_trace_host_wait *wait)
{
    const haul_op op = {.kind = HAUL_OP_SYNC,
                        .start_ns = start_ns,
                        .dur_ns = 5000, /* longer than what it waits for takes */
                        .detail = (uint8_t)kind,
                        .name = HAUL_NONE,
                        .stream = stream,
                        .thread = HAUL_NONE};
    hl_trace_wait(builder, &op, 0, wait);
}

/* A wait for stream 7 of context 2, recorded as if it were on the first device. */
static void waits_are_on_the_stream_that_works(void **state)
{
    (void)state;
    hl_trace_builder builder;
    hl_trace_init(&builder);
    const uint32_t first = hl_trace_device(&builder, 0, 0);
    const uint32_t second = hl_trace_device(&builder, 1, 1);
    const haul_workload_stream streams[] = {
        {.device = first, .process = 1, .context = 2, .id = 7},
        {.device = first, .process = 1, .context = 2, .id = 8},
        {.device = second, .process = 1, .context = 2, .id = 7}};
    uint32_t numbers[3];
    for (int i = 0; i < 3; i++)
        numbers[i] = hl_workload_builder_stream(&builder.built, &streams[i]);
    const haul_op copy = {.kind = HAUL_OP_COPY,
                          .start_ns = 10,
                          .dur_ns = 10,
                          .name = HAUL_NONE,
                          .stream = numbers[2],
                          .thread = HAUL_NONE};
    hl_trace_op(&builder, &copy, 1);
    add_wait(&builder, HAUL_SYNC_STREAM, 15, numbers[0],
             &(hl_trace_host_wait){.process = 1, .context = 2});
    add_wait(&builder, HAUL_SYNC_STREAM, 16, numbers[1],
             &(hl_trace_host_wait){.process = 1, .context = 2});
    const uint32_t thread =
        hl_workload_builder_thread(&builder.built, &(haul_workload_thread){.process = 1, .id = 1});
    hl_trace_call(&builder,
                  &(hl_trace_host_call){
                      .start_ns = 1, .dur_ns = 1, .key = 1, .name = HAUL_NONE, .thread = thread});
    haul_workload *workload = finish(&builder);
    assert_int_equal(workload->stream_count, 2);
    assert_int_equal(workload->streams[0].id, 8);
    assert_int_equal(workload->streams[1].device, second);
    assert_int_equal(workload->edge_count, 1);
    const haul_edge *edge = &workload->edges[0];
    assert_int_equal(workload->ops[edge->before].stream, 1);
    assert_int_equal(workload->ops[edge->after].stream, 1);
    assert_int_equal(workload->ops[edge->after].start_ns, 15);
    haul_workload_free(workload);
}

static void stream_waits_equal_brute_force(void **state)
{
    (void)state;
    srand(3);
    hl_trace_builder builder;
    hl_trace_init(&builder);
    add_streams(&builder);
    hl_workload_builder_shape(&builder.built, &(haul_shape){.grid = {1, 1, 1}});
    add_regular_ops(&builder);
    int64_t times[WAITS];
    uint32_t streams[WAITS];
    for (int i = 0; i < WAITS; i++) {
        times[i] = below(OPS * 10) + 1;
        streams[i] = below(STREAMS);
        add_wait(&builder, HAUL_SYNC_STREAM, times[i], streams[i],
                 &(hl_trace_host_wait){.process = 1});
    }
    for (uint32_t i = 0; i < OPS; i++)
        hl_trace_call(&builder, &(hl_trace_host_call){.start_ns = (int64_t)i * 10,
                                                      .dur_ns = 1,
                                                      .key = 1 + i,
                                                      .name = HAUL_NONE,
                                                      .thread = 0});
    haul_workload *workload = finish(&builder);
    size_t waits = 0, edges = 0;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_SYNC)
            continue;
        waits++;
        const uint32_t before = last_before(op->stream, op->start_ns);
        if (before == HAUL_NONE)
            continue;
        edges++;
        assert_true(has_edge(workload, place_of(workload, before), i));
    }
    assert_int_equal(waits, WAITS);
    assert_int_equal(workload->edge_count, edges);
    haul_workload_free(workload);
}

static uint32_t first_from(uint32_t stream, int64_t time_ns)
{
    for (uint32_t i = stream; i < OPS; i += STREAMS)
        if ((int64_t)i * 10 >= time_ns)
            return i;
    return HAUL_NONE;
}

static int64_t recorded_at(uint32_t event)
{
    return (int64_t)event * 700 + 2;
}

/* Events are recorded again and again. With ids of synchronisation the id decides, without them
 * the latest record before the wait. */
static uint32_t record_for(bool with_ids, uint32_t wait, int64_t time_ns)
{
    if (with_ids)
        return wait % EVENTS / 4 * 4 + wait % 4;
    uint32_t found = HAUL_NONE;
    for (uint32_t e = wait % 4; e < EVENTS && recorded_at(e) < time_ns; e += 4)
        found = e;
    return found;
}

/* Marks the edge that a wait must give, if any, where the recorded times agree with it. */
static void expect_edge(bool *expected, uint32_t record, uint32_t wait, int64_t time_ns)
{
    const uint32_t before = last_before(record % STREAMS, recorded_at(record));
    const uint32_t after = first_from(wait % STREAMS, time_ns);
    if (before != HAUL_NONE && after != HAUL_NONE && before != after &&
        (int64_t)before * 10 + 5 <= (int64_t)after * 10 + 20000)
        expected[(size_t)before * OPS + after] = true;
}

static void compare_edges(const haul_workload *workload, const bool *expected)
{
    size_t count = 0;
    for (size_t pair = 0; pair < (size_t)OPS * OPS; pair++) {
        if (!expected[pair])
            continue;
        count++;
        assert_true(has_edge(workload, place_of(workload, (uint32_t)(pair / OPS)),
                             place_of(workload, (uint32_t)(pair % OPS))));
    }
    assert_true(count > 50);
    assert_int_equal(workload->edge_count, count);
}

static void check_event_waits(bool with_ids)
{
    bool *expected = calloc((size_t)OPS * OPS, sizeof *expected);
    srand(4);
    hl_trace_builder builder;
    hl_trace_init(&builder);
    add_streams(&builder);
    hl_workload_builder_shape(&builder.built, &(haul_shape){.grid = {1, 1, 1}});
    add_regular_ops(&builder);
    for (uint32_t e = 0; e < EVENTS; e++)
        hl_trace_event(&builder, &(hl_trace_event_mark){.process = 1,
                                                        .event = e % 4,
                                                        .sync_id = with_ids ? e : HL_TRACE_NO_ID,
                                                        .key = 10000 + e,
                                                        .stream = e % STREAMS});
    for (uint32_t i = 0; i < WAITS; i++) {
        const int64_t time_ns = 3 + (int64_t)below(OPS * 10);
        const uint32_t record = record_for(with_ids, i, time_ns);
        add_wait(&builder, HAUL_SYNC_STREAM_WAIT, time_ns, i % STREAMS,
                 &(hl_trace_host_wait){
                     .process = 1, .event = i % 4, .sync_id = with_ids ? record : HL_TRACE_NO_ID});
        if (record != HAUL_NONE)
            expect_edge(expected, record, i, time_ns);
    }
    for (uint32_t i = 0; i < OPS; i++)
        hl_trace_call(&builder, &(hl_trace_host_call){(int64_t)i * 10, 1, 1 + i, HAUL_NONE, 0});
    for (uint32_t e = 0; e < EVENTS; e++)
        hl_trace_call(&builder, &(hl_trace_host_call){recorded_at(e), 1, 10000 + e, HAUL_NONE, 0});
    haul_workload *workload = finish(&builder);
    compare_edges(workload, expected);
    haul_workload_free(workload);
    free(expected);
}

static void event_waits_find_their_records(void **state)
{
    (void)state;
    check_event_waits(true);
    check_event_waits(false);
}

static void sums_cannot_overflow(void **state)
{
    (void)state;
    hl_trace_builder builder;
    hl_trace_init(&builder);
    const int64_t times[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    const uint64_t sizes[] = {0, UINT64_MAX, UINT64_C(1) << 62, INT64_MAX};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++)
            for (int b = 0; b < 4; b++) {
                const haul_op op = {.kind = HAUL_OP_COPY,
                                    .start_ns = times[i],
                                    .dur_ns = times[k],
                                    .bytes = sizes[b],
                                    .name = HAUL_NONE,
                                    .stream = HAUL_NONE,
                                    .thread = HAUL_NONE};
                hl_trace_op(&builder, &op, 0);
            }
    hl_workload_builder_thread(&builder.built, &(haul_workload_thread){.process = 1, .id = 1});
    for (int i = 0; i < 25; i++)
        hl_trace_call(&builder, &(hl_trace_host_call){times[i % 5], times[i / 5], 0, HAUL_NONE, 0});
    haul_workload *workload = finish(&builder);
    assert_int_equal(workload->op_count, 125);
    assert_int_equal(workload->repair_count, 4);
    haul_workload_free(workload);
}

static void words_read_back(void **state)
{
    (void)state;
    haul_direction direction = HAUL_DIRECTION_HTOD;
    haul_memory memory = HAUL_MEMORY_PAGEABLE;
    haul_error error;
    assert_int_equal(haul_direction_parse("dtoh", &direction, &error), HAUL_OK);
    assert_int_equal(direction, HAUL_DIRECTION_DTOH);
    assert_int_equal(haul_memory_parse("PINNED", &memory, &error), HAUL_OK);
    assert_int_equal(memory, HAUL_MEMORY_PINNED);
    assert_int_equal(haul_memory_parse("warm", &memory, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "pageable"));
    assert_int_equal(memory, HAUL_MEMORY_PINNED);
    haul_workload_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_stable_and_searched),
        cmocka_unit_test(records_are_kept_once),
        cmocka_unit_test(joins_equal_brute_force),
        cmocka_unit_test(stream_waits_equal_brute_force),
        cmocka_unit_test(waits_are_on_the_stream_that_works),
        cmocka_unit_test(event_waits_find_their_records),
        cmocka_unit_test(sums_cannot_overflow),
        cmocka_unit_test(words_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
