/* haul_analysis_make against brute force: small random workloads painted nanosecond by nanosecond.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "by_hand.h"
#include "haul/analysis.h"

enum { MAX_OPS = 60, AXIS = 200, DEVICES = 3, STREAMS = 4, THREADS = 3 };

typedef struct sample {
    haul_op ops[MAX_OPS];
    haul_workload_stream streams[STREAMS];
    haul_workload_thread threads[THREADS];
    haul_workload_device devices[DEVICES];
    haul_workload workload;
} sample;

static uint64_t random_state = 88172645463325252U;

static unsigned random_below(unsigned limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state % limit);
}

static int by_start(const void *a, const void *b)
{
    const haul_op *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static haul_op random_op(void)
{
    static const uint64_t sizes[] = {0, 4, 9, 10, 99, 100, 4096, 4096, 1000000};
    haul_op op = {.start_ns = random_below(AXIS / 2),
                  .dur_ns = random_below(4) ? random_below(AXIS / 4) : 0,
                  .kind = (uint8_t)random_below(HAUL_OP_CALL + 1),
                  .name = HAUL_NONE,
                  .stream = random_below(STREAMS + 1),
                  .thread = random_below(THREADS + 1),
                  .thread_prev = HAUL_NONE,
                  .stream_prev = HAUL_NONE};
    op.stream = op.stream == STREAMS ? HAUL_NONE : op.stream;
    op.thread = op.thread == THREADS ? HAUL_NONE : op.thread;
    if (op.kind == HAUL_OP_KERNEL) {
        op.name = random_below(3);
        op.shape = HAUL_NONE;
    } else {
        op.bytes = sizes[random_below(sizeof sizes / sizeof sizes[0])];
    }
    if (op.kind == HAUL_OP_COPY) {
        op.direction = (uint8_t)random_below(3);
        op.detail = (uint8_t)random_below(2);
    } else if (op.kind == HAUL_OP_SYNC) {
        op.detail = (uint8_t)random_below(HAUL_SYNC_KINDS);
    }
    op.flags = random_below(4) && op.thread != HAUL_NONE ? HAUL_OP_HAS_CALL : 0;
    op.call_ns = random_below(AXIS / 2);
    op.call_dur_ns = random_below(AXIS / 4);
    return op;
}

/* The operation of the thread that is called last before operation `at`. */
static uint32_t find_thread_prev(const sample *s, size_t count, size_t at)
{
    uint32_t best = HAUL_NONE;
    const haul_op *op = &s->ops[at];
    for (size_t i = 0; i < count; i++) {
        const haul_op *other = &s->ops[i];
        const bool before =
            other->call_ns < op->call_ns || (other->call_ns == op->call_ns && i < at);
        if (other->thread == op->thread && before &&
            (best == HAUL_NONE || other->call_ns >= s->ops[best].call_ns))
            best = (uint32_t)i;
    }
    return best;
}

static void make_sample(sample *s)
{
    const size_t count = random_below(MAX_OPS + 1);
    *s = (sample){0};
    for (size_t i = 0; i < count; i++)
        s->ops[i] = random_op();
    qsort(s->ops, count, sizeof s->ops[0], by_start);
    for (size_t i = 0; i < count; i++)
        if (s->ops[i].thread != HAUL_NONE)
            s->ops[i].thread_prev = find_thread_prev(s, count, i);
    for (uint32_t i = 0; i < STREAMS; i++)
        s->streams[i].device = i == 3 ? HAUL_NONE : i % 2;
    s->workload = (haul_workload){.ops = s->ops,
                                  .op_count = count,
                                  .streams = s->streams,
                                  .stream_count = STREAMS,
                                  .threads = s->threads,
                                  .thread_count = THREADS,
                                  .devices = s->devices,
                                  .device_count = DEVICES};
}

static haul_analysis *analyze(const haul_workload *workload)
{
    haul_analysis *analysis = NULL;
    haul_error error;
    assert_int_equal(haul_analysis_make(workload, &analysis, &error), HAUL_OK);
    assert_non_null(analysis);
    return analysis;
}

static bool is_device_op(const haul_op *op)
{
    return op->kind == HAUL_OP_COPY || op->kind == HAUL_OP_KERNEL || op->kind == HAUL_OP_MEMSET;
}

static uint32_t device_of(const sample *s, const haul_op *op)
{
    return op->stream == HAUL_NONE ? HAUL_NONE : s->streams[op->stream].device;
}

enum { ANY_DEVICE = 1000 };

/* Bits of what runs in nanosecond `at`: 1 copy, 2 kernel, 4 memset. */
static unsigned paint(const sample *s, int64_t at, uint32_t device)
{
    unsigned bits = 0;
    for (size_t i = 0; i < s->workload.op_count; i++) {
        const haul_op *op = &s->ops[i];
        if (is_device_op(op) && at >= op->start_ns && at < op->start_ns + op->dur_ns &&
            (device == ANY_DEVICE || device == device_of(s, op)))
            bits |= op->kind == HAUL_OP_COPY ? 1U : op->kind == HAUL_OP_KERNEL ? 2U : 4U;
    }
    return bits;
}

static void check_busy(const sample *s, const haul_busy *busy, uint32_t device)
{
    haul_busy want = {0};
    for (int64_t at = 0; at < AXIS; at++) {
        const unsigned bits = paint(s, at, device);
        want.copy_ns += (bits & 1) != 0;
        want.kernel_ns += (bits & 2) != 0;
        want.memset_ns += (bits & 4) != 0;
        want.both_ns += (bits & 3) == 3;
        want.either_ns += (bits & 3) != 0;
        want.any_ns += bits != 0;
    }
    assert_int_equal(busy->copy_ns, want.copy_ns);
    assert_int_equal(busy->kernel_ns, want.kernel_ns);
    assert_int_equal(busy->memset_ns, want.memset_ns);
    assert_int_equal(busy->both_ns, want.both_ns);
    assert_int_equal(busy->either_ns, want.either_ns);
    assert_int_equal(busy->any_ns, want.any_ns);
}

static void check_span(const sample *s, const haul_analysis *analysis)
{
    int64_t first = AXIS, last = 0;
    for (size_t i = 0; i < s->workload.op_count; i++) {
        const haul_op *op = &s->ops[i];
        if (!is_device_op(op))
            continue;
        first = op->start_ns < first ? op->start_ns : first;
        last = op->start_ns + op->dur_ns > last ? op->start_ns + op->dur_ns : last;
    }
    assert_int_equal(analysis->span_ns, last > first ? last - first : 0);
    assert_int_equal(analysis->busy.any_ns + analysis->idle_ns, analysis->span_ns);
    int64_t explained_ns = 0;
    for (size_t i = 0; i < analysis->idle_count; i++) {
        assert_true(analysis->idle[i].time_ns > 0);
        assert_true(!i || analysis->idle[i].time_ns <= analysis->idle[i - 1].time_ns);
        explained_ns += analysis->idle[i].time_ns;
    }
    assert_int_equal(explained_ns, analysis->idle_ns);
}

static void busy_times_are_what_painting_gives(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        sample s;
        make_sample(&s);
        haul_analysis *analysis = analyze(&s.workload);
        check_busy(&s, &analysis->busy, ANY_DEVICE);
        check_span(&s, analysis);
        haul_totals copies = {0};
        for (size_t i = 0; i < analysis->device_count; i++) {
            check_busy(&s, &analysis->devices[i].busy, analysis->devices[i].device);
            copies.count += analysis->devices[i].copies.count;
            copies.bytes += analysis->devices[i].copies.bytes;
            copies.time_ns += analysis->devices[i].copies.time_ns;
        }
        assert_memory_equal(&copies, &analysis->copies, sizeof copies);
        haul_analysis_free(analysis);
    }
}

static bool is_in_group(const haul_op *op, const haul_copy_group *group)
{
    return op->kind == HAUL_OP_COPY && op->direction == group->direction &&
           op->detail == group->memory;
}

static haul_totals sum_group(const sample *s, const haul_copy_group *group, uint64_t from,
                             uint64_t to)
{
    haul_totals sum = {0};
    for (size_t i = 0; i < s->workload.op_count; i++) {
        const haul_op *op = &s->ops[i];
        if (!is_in_group(op, group) || op->bytes < from || op->bytes > to)
            continue;
        sum.count++;
        sum.bytes += op->bytes;
        sum.time_ns += op->dur_ns;
    }
    return sum;
}

static void check_rates(const sample *s, const haul_copy_group *group)
{
    double rates[MAX_OPS];
    size_t count = 0;
    for (size_t i = 0; i < s->workload.op_count; i++)
        if (is_in_group(&s->ops[i], group) && s->ops[i].bytes && s->ops[i].dur_ns)
            rates[count++] = (double)s->ops[i].bytes / (double)s->ops[i].dur_ns * 1e9;
    if (!count) {
        assert_true(isnan(group->median_Bps) && isnan(group->best_Bps));
        return;
    }
    CHECK_NEAR(group->median_Bps, hl_base_median(rates, count), 1e-12);
    CHECK_NEAR(group->best_Bps, rates[count - 1], 1e-12);
}

static void check_group_busy(const sample *s, const haul_copy_group *group)
{
    int64_t busy = 0;
    for (int64_t at = 0; at < AXIS; at++)
        for (size_t i = 0; i < s->workload.op_count; i++)
            if (is_in_group(&s->ops[i], group) && at >= s->ops[i].start_ns &&
                at < s->ops[i].start_ns + s->ops[i].dur_ns) {
                busy++;
                break;
            }
    assert_int_equal(group->busy_ns, busy);
}

static void groups_and_decades_sum_their_copies(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        sample s;
        make_sample(&s);
        haul_analysis *analysis = analyze(&s.workload);
        uint64_t count = 0;
        for (size_t i = 0; i < analysis->group_count; i++) {
            const haul_copy_group *group = &analysis->groups[i];
            const haul_totals all = sum_group(&s, group, 0, UINT64_MAX);
            assert_memory_equal(&group->totals, &all, sizeof all);
            uint64_t from = 0, to = 9;
            for (int k = 0; k < 8; k++, from = to + 1, to = to * 10 + 9) {
                const haul_totals decade = sum_group(&s, group, from, to);
                assert_memory_equal(&group->decades[k], &decade, sizeof decade);
            }
            check_rates(&s, group);
            check_group_busy(&s, group);
            count += all.count;
        }
        assert_int_equal(count, analysis->copies.count);
        haul_analysis_free(analysis);
    }
}

/* Nanoseconds that one thread's calls cover; `kind` -1 for calls of any kind. */
static int64_t paint_thread(const sample *s, uint32_t thread, int kind)
{
    int64_t covered = 0;
    for (int64_t at = 0; at < AXIS; at++)
        for (size_t i = 0; i < s->workload.op_count; i++) {
            const haul_op *op = &s->ops[i];
            if (op->thread == thread && op->flags & HAUL_OP_HAS_CALL &&
                (kind < 0 || op->kind == kind) && at >= op->call_ns &&
                at < op->call_ns + op->call_dur_ns) {
                covered++;
                break;
            }
        }
    return covered;
}

static void host_times_are_unions_on_each_thread(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        sample s;
        make_sample(&s);
        haul_analysis *analysis = analyze(&s.workload);
        int64_t calls = 0, copies = 0, launches = 0, waits = 0;
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            calls += paint_thread(&s, thread, -1);
            copies += paint_thread(&s, thread, HAUL_OP_COPY);
            launches += paint_thread(&s, thread, HAUL_OP_KERNEL);
        }
        for (size_t i = 0; i < s.workload.op_count; i++)
            if (s.ops[i].kind == HAUL_OP_SYNC && s.ops[i].detail != HAUL_SYNC_STREAM_WAIT)
                waits += s.ops[i].dur_ns;
        assert_int_equal(analysis->host.call_ns, calls);
        assert_int_equal(analysis->host.copy_call_ns, copies);
        assert_int_equal(analysis->host.launch_call_ns, launches);
        assert_int_equal(analysis->host.wait_ns, waits);
        haul_analysis_free(analysis);
    }
}

static bool shares_cost(const haul_op *op, const haul_cost_row *row)
{
    if (op->kind != row->kind)
        return false;
    if (op->kind == HAUL_OP_KERNEL)
        return op->name == row->name;
    return op->bytes == row->bytes &&
           (op->kind == HAUL_OP_MEMSET ||
            (op->direction == row->direction && op->detail == row->memory));
}

static int64_t cost_of(const sample *s, const haul_cost_row *row, uint64_t *count)
{
    int64_t sum = 0;
    *count = 0;
    for (size_t i = 0; i < s->workload.op_count; i++)
        if (shares_cost(&s->ops[i], row)) {
            sum += s->ops[i].dur_ns;
            ++*count;
        }
    return sum;
}

static bool is_listed(const haul_analysis *analysis, const haul_op *op)
{
    for (size_t i = 0; i < analysis->largest_count; i++)
        if (shares_cost(op, &analysis->largest[i]))
            return true;
    return false;
}

static void largest_costs_are_the_largest(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        sample s;
        make_sample(&s);
        haul_analysis *analysis = analyze(&s.workload);
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < analysis->largest_count; i++) {
            const haul_cost_row *row = &analysis->largest[i];
            uint64_t count;
            assert_int_equal(row->time_ns, cost_of(&s, row, &count));
            assert_int_equal(row->count, count);
            assert_true(row->time_ns <= least);
            least = row->time_ns;
        }
        for (size_t i = 0; i < s.workload.op_count; i++) {
            const haul_op *op = &s.ops[i];
            if (!is_device_op(op) || is_listed(analysis, op))
                continue;
            assert_int_equal(analysis->largest_count, HAUL_ANALYSIS_LARGEST);
            const bool is_kernel = op->kind == HAUL_OP_KERNEL;
            const haul_cost_row own = {.kind = op->kind,
                                       .direction = op->direction,
                                       .memory = op->detail,
                                       .name = op->name,
                                       .bytes = is_kernel ? 0 : op->bytes};
            uint64_t count;
            assert_true(cost_of(&s, &own, &count) <= least);
        }
        haul_analysis_free(analysis);
    }
}

static void an_empty_workload_is_all_zero(void **state)
{
    (void)state;
    const haul_workload nothing = {0};
    haul_analysis *analysis = analyze(&nothing);
    assert_int_equal(analysis->group_count, 0);
    assert_int_equal(analysis->device_count, 0);
    assert_int_equal(analysis->largest_count, 0);
    assert_int_equal(analysis->span_ns, 0);
    assert_int_equal(analysis->idle_ns, 0);
    assert_true(isnan(analysis->copy_share) && isnan(analysis->latency_share));
    haul_analysis_free(analysis);
    haul_analysis_free(NULL);
}

static haul_analysis *analyze_copies(haul_op *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ops[i].kind = HAUL_OP_COPY;
        ops[i].name = ops[i].stream = ops[i].thread = HAUL_NONE;
        ops[i].stream_prev = ops[i].thread_prev = HAUL_NONE;
    }
    return analyze(&(haul_workload){.ops = ops, .op_count = count});
}

/* Times at the ends of the clock: sums stay at the largest integer and nothing overflows. */
static void hostile_times_stay_in_range(void **state)
{
    (void)state;
    haul_op ops[] = {
        {.start_ns = INT64_MIN, .dur_ns = INT64_MAX, .bytes = UINT64_MAX},
        {.start_ns = INT64_MIN, .dur_ns = INT64_MAX, .bytes = UINT64_MAX},
        {.start_ns = 0, .dur_ns = INT64_MAX, .bytes = 1, .direction = 200, .detail = 99},
        {.start_ns = INT64_MAX, .dur_ns = INT64_MAX},
    };
    haul_analysis *analysis = analyze_copies(ops, 4);
    assert_int_equal(analysis->copies.time_ns, INT64_MAX);
    assert_true(analysis->copies.bytes == UINT64_MAX);
    assert_int_equal(analysis->span_ns, INT64_MAX);
    assert_int_equal(analysis->busy.copy_ns, INT64_MAX);
    assert_int_equal(analysis->busy.both_ns, 0);
    assert_int_equal(analysis->idle_ns, 0);
    assert_int_equal(analysis->group_count, 2);
    assert_int_equal(analysis->groups[1].direction, HAUL_DIRECTION_UNKNOWN);
    assert_int_equal(analysis->groups[1].memory, HAUL_MEMORY_UNKNOWN);
    assert_int_equal(analysis->groups[0].decades[HAUL_ANALYSIS_DECADES - 1].count, 2);
    haul_analysis_free(analysis);
}

static void latency_is_the_line_under_the_fastest(void **state)
{
    (void)state;
    /* 2 us and 10 GB/s, some copies slower */
    haul_op line[] = {{.bytes = 100000, .dur_ns = 12000},
                      {.bytes = 20000, .dur_ns = 4000},
                      {.bytes = 20000, .dur_ns = 9000},
                      {.bytes = 1000000, .dur_ns = 150000}};
    haul_analysis *analysis = analyze_copies(line, 4);
    CHECK_NEAR(analysis->groups[0].latency_s, 2e-6, 1e-9);
    CHECK_NEAR(analysis->latency_share, 4 * 2000.0 / 175000, 1e-9);
    haul_analysis_free(analysis);

    /* a copy that took no time was repaired: it says nothing of latency */
    haul_op repaired[] = {{.bytes = 8, .dur_ns = 0}, {.bytes = 8, .dur_ns = 2000}, {.bytes = 0}};
    analysis = analyze_copies(repaired, 3);
    CHECK_NEAR(analysis->groups[0].latency_s, 2e-6, 1e-9);
    assert_int_equal(analysis->groups[0].shortest_ns, 2000);
    assert_int_equal(analysis->largest[1].shortest_ns, 0);
    haul_analysis_free(analysis);

    haul_op one_size[] = {{.bytes = 4096, .dur_ns = 2000}, {.bytes = 4096, .dur_ns = 3000}};
    analysis = analyze_copies(one_size, 2);
    assert_true(isnan(analysis->groups[0].latency_s) && isnan(analysis->latency_share));
    haul_analysis_free(analysis);

    /* 16.25 and 16.5 MiB: a difference of rates, not a latency */
    haul_op close[] = {{.bytes = 17039360, .dur_ns = 650000},
                       {.bytes = 17301504, .dur_ns = 657500}};
    analysis = analyze_copies(close, 2);
    assert_true(isnan(analysis->groups[0].latency_s));
    haul_analysis_free(analysis);

    /* 2 us in 100: less than the spread of copies that long */
    haul_op large[] = {{.bytes = 1000000, .dur_ns = 102000}, {.bytes = 8000000, .dur_ns = 802000}};
    analysis = analyze_copies(large, 2);
    assert_true(isnan(analysis->groups[0].latency_s));
    haul_analysis_free(analysis);

    haul_op tiny[] = {{.bytes = 8, .dur_ns = 2000}, {.bytes = 8, .dur_ns = 3000}};
    analysis = analyze_copies(tiny, 2);
    CHECK_NEAR(analysis->groups[0].latency_s, 2e-6, 1e-9);
    CHECK_NEAR(analysis->latency_share, 0.8, 1e-9);
    haul_analysis_free(analysis);
}

static void many_sizes_are_counted_apart(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    haul_op *ops = calloc(COUNT, sizeof *ops);
    assert_non_null(ops);
    for (size_t i = 0; i < COUNT; i++) {
        ops[i].start_ns = (int64_t)i;
        ops[i].dur_ns = (int64_t)(i % (COUNT / 2)) + 1;
        ops[i].bytes = (uint64_t)(i % (COUNT / 2)) * 4096;
    }
    haul_analysis *analysis = analyze_copies(ops, COUNT);
    assert_int_equal(analysis->largest_count, HAUL_ANALYSIS_LARGEST);
    for (size_t i = 0; i < HAUL_ANALYSIS_LARGEST; i++) {
        assert_int_equal(analysis->largest[i].bytes, (COUNT / 2 - 1 - i) * 4096);
        assert_int_equal(analysis->largest[i].count, 2);
        assert_int_equal(analysis->largest[i].time_ns, 2 * (COUNT / 2 - i));
    }
    haul_analysis_free(analysis);
    free(ops);
}

static void medians_of_many_are_medians(void **state)
{
    (void)state;
    double values[64], sorted[64];
    for (int round = 0; round < 2000; round++) {
        const size_t count = 1 + random_below(64);
        const unsigned range = 1 + random_below(100);
        for (size_t i = 0; i < count; i++)
            values[i] = sorted[i] = random_below(range);
        CHECK_NEAR(hl_base_median_of_many(values, count), hl_base_median(sorted, count), 1e-15);
    }
}

/* A collective of one device beside a kernel of the other: nothing of its own device hides it. */
static void another_devices_kernels_hide_no_collective(void **state)
{
    (void)state;
    by_hand made = {.ops = NULL};
    haul_op *one = by_hand_add(&made, HAUL_OP_KERNEL, 0, 100);
    one->flags = HAUL_OP_COLLECTIVE;
    by_hand_add(&made, HAUL_OP_KERNEL, 20, 200)->stream = 4;
    haul_op *two = by_hand_add(&made, HAUL_OP_KERNEL, 300, 100);
    two->flags = HAUL_OP_COLLECTIVE;
    two->stream = 4;
    by_hand_add(&made, HAUL_OP_KERNEL, 350, 50)->stream = 5;
    haul_analysis *analysis = NULL;
    haul_error error;
    assert_int_equal(haul_analysis_make(by_hand_finish(&made), &analysis, &error), HAUL_OK);
    CHECK_NEAR(analysis->hidden_share, 0.25, 1e-12);
    assert_int_equal(analysis->busy.communication_ns, 200);
    assert_int_equal(haul_analysis_exposed_ns(analysis), 150);
    haul_analysis_free(analysis);
    by_hand_release(&made);
}

/* Whether a range of the name is open on the operation's thread when it is called. */
static bool is_called_in(const haul_workload *workload, const haul_op *op, uint32_t name)
{
    for (size_t r = 0; r < workload->range_count; r++) {
        const haul_named_range *const range = &workload->ranges[r];
        if (range->name == name && range->thread == op->thread && range->start_ns <= op->call_ns &&
            op->call_ns < range->start_ns + range->dur_ns)
            return true;
    }
    return false;
}

static void check_use(const haul_workload *workload, const haul_range_use *use)
{
    haul_range_use naive = {0};
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *const op = &workload->ops[i];
        if (!haul_op_on_device(op) || !(op->flags & HAUL_OP_HAS_CALL) ||
            !is_called_in(workload, op, use->name))
            continue;
        naive.ops++;
        naive.kernels_ns += op->kind == HAUL_OP_KERNEL ? op->dur_ns : 0;
        naive.copies_ns += op->kind == HAUL_OP_COPY ? op->dur_ns : 0;
    }
    assert_int_equal(use->ops, naive.ops);
    assert_int_equal(use->kernels_ns, naive.kernels_ns);
    assert_int_equal(use->copies_ns, naive.copies_ns);
}

/* As workloads have ranges. */
static int compare_ranges(const void *a, const void *b)
{
    const haul_named_range *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->dur_ns < y->dur_ns) - (x->dur_ns > y->dur_ns);
}

/* Ranges that nest, overlap, repeat and last no time. */
static void ranges_hold_what_was_called_in_them(void **state)
{
    (void)state;
    enum { RANGES = 20, NAMES = 5, RUNS = 300 };
    for (int run = 0; run < RUNS; run++) {
        haul_op ops[MAX_OPS];
        haul_named_range ranges[RANGES];
        for (int i = 0; i < MAX_OPS; i++) {
            ops[i] = random_op();
            ops[i].flags = random_below(5) ? HAUL_OP_HAS_CALL : 0;
            ops[i].call_ns = random_below(AXIS / 4);
        }
        for (int r = 0; r < RANGES; r++)
            ranges[r] = (haul_named_range){.start_ns = random_below(AXIS / 4),
                                           .dur_ns = random_below(3) ? random_below(AXIS / 4) : 0,
                                           .name = random_below(NAMES),
                                           .thread = random_below(THREADS)};
        qsort(ranges, RANGES, sizeof *ranges, compare_ranges);
        const haul_workload workload = {.ops = ops,
                                        .op_count = MAX_OPS,
                                        .thread_count = THREADS,
                                        .ranges = ranges,
                                        .range_count = RANGES};
        haul_range_use *uses = NULL;
        size_t count = 0, total = 0;
        assert_int_equal(haul_range_uses(&workload, NULL, &uses, &count, NULL), HAUL_OK);
        for (size_t i = 0; i < count; i++) {
            check_use(&workload, &uses[i]);
            total += uses[i].count;
        }
        assert_int_equal(total, RANGES);
        free(uses);
    }
}

/* 200,000 ranges within each other, each with a call: hours, where each call looks at all that are
 * open. */
static void deep_ranges_cost_no_more(void **state)
{
    (void)state;
    enum { DEEP = 200000 };
    haul_op *const ops = calloc(DEEP, sizeof *ops);
    haul_named_range *const ranges = calloc(DEEP, sizeof *ranges);
    assert_true(ops && ranges);
    for (uint32_t i = 0; i < DEEP; i++) {
        ranges[i] = (haul_named_range){.start_ns = i, .dur_ns = 2 * (DEEP - i), .name = i};
        ops[i] = (haul_op){.kind = HAUL_OP_KERNEL,
                           .flags = HAUL_OP_HAS_CALL,
                           .dur_ns = 1,
                           .call_ns = DEEP + i / 2};
    }
    const haul_workload workload = {
        .ops = ops, .op_count = DEEP, .ranges = ranges, .range_count = DEEP};
    haul_range_use *uses = NULL;
    size_t count = 0;
    assert_int_equal(haul_range_uses(&workload, NULL, &uses, &count, NULL), HAUL_OK);
    assert_int_equal(count, DEEP);
    assert_int_equal(uses[0].ops, DEEP); /* the outermost one's */
    free(uses);
    free(ranges);
    free(ops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_workload_is_all_zero),
        cmocka_unit_test(busy_times_are_what_painting_gives),
        cmocka_unit_test(groups_and_decades_sum_their_copies),
        cmocka_unit_test(host_times_are_unions_on_each_thread),
        cmocka_unit_test(largest_costs_are_the_largest),
        cmocka_unit_test(hostile_times_stay_in_range),
        cmocka_unit_test(latency_is_the_line_under_the_fastest),
        cmocka_unit_test(many_sizes_are_counted_apart),
        cmocka_unit_test(medians_of_many_are_medians),
        cmocka_unit_test(another_devices_kernels_hide_no_collective),
        cmocka_unit_test(ranges_hold_what_was_called_in_them),
        cmocka_unit_test(deep_ranges_cost_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
