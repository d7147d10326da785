/* Workloads as files, and their timelines on a machine whose figures are round. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/overlap.h"
#include "haul/simulate.h"

static const char machine_text[] =
    "haul: 1\nname: node\nsummary: a node that is not\nfrom: measured\nsource: this test\n"
    "gpu: {name: Test GPU, count: 2, copy_engines: 2, implicit_sync: 0}\n"
    "link: {kind: pcie, generation: 3, lanes: 16}\n"
    "copies:\n"
    "  - {direction: HtoD, memory: pinned, latency: 10 us, rate: 10 GB/s, busy_rate: 10 GB/s}\n"
    "  - {direction: DtoH, memory: pinned, latency: 10 us, rate: 10 GB/s, busy_rate: 10 GB/s}\n";

static haul_machine *make_machine(const char *text)
{
    haul_machine *machine = NULL;
    haul_error error = {0};
    if (haul_machine_parse(text, strlen(text), "node.yaml", &machine, &error))
        fail_msg("%s", error.text);
    return machine;
}

static haul_schedule *make_schedule(const char *text, const char *file)
{
    haul_schedule *schedule = NULL;
    haul_error error = {0};
    char said[1200];
    if (haul_schedule_parse(text, strlen(text), file, &schedule, &error))
        fail_msg("%s", haul_error_format(&error, said, sizeof said));
    return schedule;
}

/* YAML without what every file begins with. */
static haul_schedule *make_yaml(const char *operations)
{
    char text[4000];
    snprintf(text, sizeof text, "haul_workload: 1\n%s%s",
             operations[0] == ' ' ? "operations:\n" : "", operations);
    return make_schedule(text, "w.yaml");
}

typedef struct run {
    haul_machine *machine;
    haul_schedule *schedule;
    haul_simulation *simulation;
} run;

static run run_on(haul_schedule *schedule, const char *machine)
{
    run made = {.machine = make_machine(machine), .schedule = schedule};
    haul_error error = {0};
    char said[1200];
    if (haul_simulation_make(schedule, made.machine, NULL, &made.simulation, &error))
        fail_msg("%s", haul_error_format(&error, said, sizeof said));
    const haul_timeline *timeline = made.simulation->timeline;
    for (size_t i = 0; i < timeline->resource_count; i++)
        assert_int_equal(timeline->resources[i].busy_ns + timeline->resources[i].idle_ns,
                         timeline->makespan_ns);
    return made;
}

static run run_schedule(haul_schedule *schedule)
{
    return run_on(schedule, machine_text);
}

static run run_yaml(const char *operations)
{
    return run_schedule(make_yaml(operations));
}

static void release(run *self)
{
    haul_simulation_free(self->simulation);
    haul_schedule_free(self->schedule);
    haul_machine_free(self->machine);
}

static int64_t makespan_of(const char *operations)
{
    run made = run_yaml(operations);
    const int64_t makespan_ns = made.simulation->timeline->makespan_ns;
    release(&made);
    return makespan_ns;
}

/* The number of the operation of a name. */
static uint32_t find(const run *self, const char *name)
{
    const haul_workload *workload = self->schedule->workload;
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (!strcmp(haul_workload_string(workload, workload->ops[i].name), name))
            return i;
    fail_msg("no operation '%s'", name);
    return 0;
}

static void check_span(const run *self, const char *name, int64_t start_us, int64_t end_us)
{
    const haul_span span = self->simulation->timeline->ops[find(self, name)];
    if (span.start_ns != start_us * 1000 || span.end_ns != end_us * 1000)
        fail_msg("%s: %lld to %lld ns", name, (long long)span.start_ns, (long long)span.end_ns);
}

static void copies_take_what_the_machine_says(void **state)
{
    (void)state;
    run made = run_yaml("  - {name: in, op: HtoD, bytes: 10 MB}\n"
                        "  - {name: k, op: kernel, duration: 3 ms}\n"
                        "  - {name: out, op: DtoH, bytes: 10 MB, duration: 500 us}\n");
    check_span(&made, "in", 0, 1010);
    check_span(&made, "k", 1010, 4010);
    check_span(&made, "out", 4010, 4510); /* its duration, not its bytes */
    assert_int_equal(made.simulation->predicted_copies, 1);
    assert_int_equal(made.simulation->weakest, HAUL_PROVENANCE_MEASURED);
    assert_true(made.simulation->low_ns <= 4510000 && made.simulation->high_ns >= 4510000);
    release(&made);
}

/* A machine that tells nothing of copies both ways has other machines' contention. */
static void company_is_assumed(void **state)
{
    (void)state;
    static const char silent[] =
        "haul: 1\nname: node\nsummary: a node that is not\nfrom: measured\nsource: this test\n"
        "gpu: {name: Test GPU, copy_engines: 2, implicit_sync: 0}\n"
        "link: {kind: pcie, generation: 3, lanes: 16}\n"
        "copies:\n"
        "  - {direction: HtoD, memory: pinned, latency: 10 us, rate: 10 GB/s, busy_rate: 8 GB/s}\n"
        "  - {direction: DtoH, memory: pinned, latency: 10 us, rate: 10 GB/s}\n";
    static const char both[] = "  - {name: in, op: HtoD, stream: a, duration: 10 ms}\n"
                               "  - {name: out, op: DtoH, stream: b, duration: 8 ms}\n";
    run made = run_on(make_yaml(both), silent);
    const int64_t out_ns = made.simulation->timeline->ops[find(&made, "out")].end_ns;
    assert_true(llabs(out_ns - 9302326) < 2); /* 8 ms / 0.86 */
    /* 9.302 ms at 0.8 of the speed, the rest at all of it */
    assert_true(llabs(made.simulation->timeline->makespan_ns - 11860465) < 2);
    assert_false(made.simulation->assumed_busy[HAUL_DIRECTION_HTOD]);
    assert_true(made.simulation->assumed_busy[HAUL_DIRECTION_DTOH]);
    assert_int_equal(made.simulation->weakest, HAUL_PROVENANCE_ASSUMED);
    assert_true(llabs(made.simulation->high_ns - 12253521) < 2); /* 8 ms / 0.71 */
    assert_true(made.simulation->low_ns < made.simulation->timeline->makespan_ns);
    release(&made);
    made = run_on(make_yaml("  - {op: DtoH, duration: 1 ms}\n  - {op: DtoH, duration: 1 ms}\n"),
                  silent);
    assert_false(made.simulation->assumed_busy[HAUL_DIRECTION_DTOH]);
    assert_int_equal(made.simulation->weakest, HAUL_PROVENANCE_NOT_GIVEN);
    release(&made);
}

/* c chunks whose copies take h and d, kernels k: the longest stage once a chunk, the others once.
 */
static void chunks_form_a_pipeline(void **state)
{
    (void)state;
    for (int chunks = 1; chunks < 9; chunks++)
        for (int longest = 0; longest < 3; longest++) {
            const int64_t us[] = {longest == 0 ? 900 : 100, longest == 1 ? 900 : 100,
                                  longest == 2 ? 900 : 100};
            char text[600];
            snprintf(text, sizeof text,
                     "  - repeat: %d\n    operations:\n"
                     "      - {op: HtoD, stream: 's{i}', duration: %d us}\n"
                     "      - {op: kernel, stream: 's{i}', duration: %d us}\n"
                     "      - {op: DtoH, stream: 's{i}', duration: %d us}\n",
                     chunks, (int)us[0], (int)us[1], (int)us[2]);
            assert_int_equal(makespan_of(text), 1000 * (200 + 900 * (int64_t)chunks));
        }
}

static double play_streams(const haul_machine *machine, uint32_t streams)
{
    const haul_overlap_work work = {.in_bytes = 64000000, .out_bytes = 32000000, .kernel_s = 8e-3};
    haul_overlap_case of;
    haul_error error;
    double seconds = 0;
    assert_int_equal(haul_overlap_describe(machine, &work, &of, &error), HAUL_OK);
    assert_int_equal(haul_overlap_play(&of, HAUL_STRATEGY_STREAMS, streams, &seconds, &error),
                     HAUL_OK);
    return seconds;
}

/* The strategy of haul/overlap.h, written by hand: on each kind of device the same time. */
static void streams_are_the_strategy(void **state)
{
    (void)state;
    static const char *const devices[] = {"copy_engines: 1, implicit_sync: 0",
                                          "copy_engines: 2, implicit_sync: 0",
                                          "copy_engines: 1, implicit_sync: 1"};
    for (int d = 0; d < 3; d++)
        for (uint32_t streams = 1; streams <= 32; streams *= 2) {
            char text[1000], operations[1000];
            snprintf(text, sizeof text,
                     "haul: 1\nname: node\nsummary: s\nfrom: measured\nsource: t\n"
                     "gpu: {name: Test GPU, %s}\nlink: {kind: pcie, generation: 3, lanes: 16}\n"
                     "copies:\n"
                     "  - {direction: HtoD, memory: pinned, latency: 10 us, rate: 10 GB/s,"
                     " gap: 4 us, busy_rate: 8 GB/s}\n"
                     "  - {direction: DtoH, memory: pinned, latency: 12 us, rate: 8 GB/s,"
                     " gap: 5 us, busy_rate: 5 GB/s}\n",
                     devices[d]);
            snprintf(operations, sizeof operations,
                     "constants: {n: %u}\noperations:\n"
                     "  - {repeat: n, operations:"
                     " [{op: HtoD, stream: 's{i}', bytes: '{64e6/n}'}]}\n"
                     "  - {repeat: n, operations:"
                     " [{op: kernel, stream: 's{i}', duration: '{8/n} ms'}]}\n"
                     "  - {repeat: n, operations:"
                     " [{op: DtoH, stream: 's{i}', bytes: '{32e6/n}'}]}\n",
                     streams);
            run made = {.machine = make_machine(text), .schedule = make_yaml(operations)};
            haul_error error;
            assert_int_equal(
                haul_simulation_make(made.schedule, made.machine, NULL, &made.simulation, &error),
                HAUL_OK);
            CHECK_NEAR(1e-9 * (double)made.simulation->timeline->makespan_ns,
                       play_streams(made.machine, streams), 1e-5);
            release(&made);
        }
}

static void loops_count_and_choose(void **state)
{
    (void)state;
    run made =
        run_yaml("constants: {n: 3, base: 2 * n}\n"
                 "operations:\n"
                 "  - repeat: {i: n, j: i + 1}\n"
                 "    operations:\n"
                 "      - {name: 'a {i} {j}', op: HtoD, bytes: '{base + i} KiB', when: j > 0}\n"
                 "      - {name: 'b {i} {j}', op: kernel, duration: '{0.5 * (i + 1)} us',"
                 " after: ['b {i-1} {j-1}', 'b {i} {j-1}']}\n");
    const haul_workload *workload = made.schedule->workload;
    assert_int_equal(workload->op_count, 3 + 6); /* a: (1,1) (2,1) (2,2); b: all six */
    assert_int_equal(workload->ops[find(&made, "a 2 2")].bytes, 8 * 1024);
    assert_int_equal(workload->ops[find(&made, "b 2 0")].dur_ns, 1500);
    /* names with a number below 0 are of no operation: of 12 edges 6 are left */
    assert_int_equal(workload->edge_count, 6);
    release(&made);
}

static void the_host_waits_and_works(void **state)
{
    (void)state;
    run made = run_yaml("call: 10 us\noperations:\n"
                        "  - {name: k0, op: kernel, stream: a, duration: 100 us}\n"
                        "  - {name: k1, op: kernel, stream: b, duration: 100 us}\n"
                        "  - {name: w0, op: wait, stream: a}\n"
                        "  - {name: h, op: host, duration: 50 us}\n"
                        "  - {name: k2, op: kernel, stream: b, duration: 100 us, blocking: true}\n"
                        "  - {name: k3, op: kernel, stream: a, duration: 100 us, call: 0 s}\n"
                        "  - {name: k4, op: kernel, stream: a, duration: 100 us}\n"
                        "  - {name: w1, op: wait}\n"
                        "  - {name: w2, op: wait, after: k0}\n"
                        "  - {name: other, op: host, thread: t, duration: 5 us}\n");
    check_span(&made, "k0", 10, 110); /* when its call has returned */
    check_span(&made, "k1", 110, 210);
    check_span(&made, "w0", 20, 110); /* behind two calls */
    check_span(&made, "h", 110, 160);
    check_span(&made, "k2", 210, 310);
    check_span(&made, "k3", 310, 410); /* called when k2 has ended */
    check_span(&made, "k4", 410, 510);
    check_span(&made, "w1", 320, 510);
    check_span(&made, "w2", 510, 510);
    check_span(&made, "other", 0, 5);
    uint32_t cause = 0;
    assert_int_equal(haul_simulation_waited(made.simulation, find(&made, "k0"), &cause),
                     HAUL_SIMULATION_WAITED_NOTHING);
    assert_int_equal(haul_simulation_waited(made.simulation, find(&made, "k3"), &cause),
                     HAUL_SIMULATION_WAITED_CALL);
    assert_int_equal(cause, find(&made, "k2"));
    assert_int_equal(haul_simulation_waited(made.simulation, find(&made, "k4"), &cause),
                     HAUL_SIMULATION_WAITED_STREAM);
    assert_int_equal(haul_simulation_waited(made.simulation, find(&made, "k1"), &cause),
                     HAUL_SIMULATION_WAITED_RESOURCE);
    assert_int_equal(cause, find(&made, "k0"));
    release(&made);
}

/* Launches of kernels that are shorter than their calls go at the pace of the calls, blocking or
 * not. */
static void calls_cost(void **state)
{
    (void)state;
    run made = run_yaml("call: 10 us\noperations:\n"
                        "  - {name: a, op: kernel, duration: 2 us}\n"
                        "  - {name: b, op: kernel, duration: 2 us}\n"
                        "  - {name: c, op: kernel, duration: 2 us, blocking: true}\n"
                        "  - {name: d, op: kernel, duration: 2 us, blocking: true, call: 1 us}\n"
                        "  - {name: e, op: kernel, duration: 2 us}\n");
    check_span(&made, "a", 10, 12);
    check_span(&made, "b", 20, 22);
    check_span(&made, "c", 30, 32);
    check_span(&made, "d", 33, 35);
    check_span(&made, "e", 45, 47);
    release(&made);
}

static void pageable_copies_block(void **state)
{
    (void)state;
    run made = run_yaml("  - {name: a, op: HtoD, memory: pageable, duration: 1 ms}\n"
                        "  - {name: h, op: host, duration: 1 us}\n"
                        "  - {name: b, op: HtoD, memory: pageable, duration: 1 ms, blocking: no}\n"
                        "  - {name: g, op: host, duration: 1 us}\n");
    check_span(&made, "h", 1000, 1001);
    check_span(&made, "b", 1001, 2001);
    check_span(&made, "g", 1001, 1002);
    release(&made);
}

static void streams_are_of_devices(void **state)
{
    (void)state;
    run made = run_yaml("  - {name: a, op: kernel, device: 1, stream: s, duration: 1 ms}\n"
                        "  - {name: b, op: kernel, device: 0, stream: s, duration: 1 ms}\n"
                        "  - {name: c, op: kernel, stream: s, duration: 1 ms, after: a}\n");
    assert_int_equal(made.schedule->workload->stream_count, 2);
    check_span(&made, "a", 0, 1000);
    check_span(&made, "b", 0, 1000);
    check_span(&made, "c", 1000, 2000);
    release(&made);
}

static void after_may_name_what_stands_below(void **state)
{
    (void)state;
    run made = run_yaml("  - {name: a, op: kernel, stream: s, duration: 1 ms, after: b}\n"
                        "  - {name: b, op: HtoD, stream: t, duration: 2 ms}\n");
    check_span(&made, "a", 2000, 3000);
    uint32_t cause = 0;
    assert_int_equal(haul_simulation_waited(made.simulation, 0, &cause),
                     HAUL_SIMULATION_WAITED_AFTER);
    assert_int_equal(cause, 1);
    release(&made);
}

static void csv_is_the_same(void **state)
{
    (void)state;
    run yaml = run_yaml("  - {name: a, op: htod, stream: in, bytes: 1 MiB}\n"
                        "  - {name: b, op: HtoD, stream: in, bytes: 2 MiB}\n"
                        "  - {name: c, op: Kernel, stream: go, duration: 1 ms, after: [a, b],"
                        " grid: 64x2, block: 256}\n");
    run csv = run_schedule(make_schedule("op,name,bytes,duration,stream,after,grid,block\r\n"
                                         "HtoD,a,1 MiB,,in,,,\n\n"
                                         "HtoD,b,2 MiB,,in,,,\n"
                                         "kernel,c,,1 ms,go,\"a ; b;\",64x2,256\n",
                                         "w.csv"));
    assert_int_equal(csv.schedule->workload->op_count, 3);
    assert_int_equal(csv.schedule->workload->edge_count, 2);
    assert_memory_equal(csv.simulation->timeline->ops, yaml.simulation->timeline->ops,
                        3 * sizeof(haul_span));
    assert_int_equal(csv.schedule->workload->shapes[0].grid[1], 2);
    assert_int_equal(csv.schedule->workload->shapes[0].block[0], 256);
    release(&csv);
    release(&yaml);
}

static const struct {
    const char *operations;
    int line;
    int column;
    const char *text;
} bad_files[] = {
    {"  - {name: a}\n", 3, 5, "operation 'a': expected 'op'"},
    {"  - {op: HtoD}\n", 3, 5, "operation #1: a copy needs 'bytes' or a 'duration'"},
    {"  - {op: copy, bytes: 5}\n", 3, 10, "expected one of HtoD, DtoH"},
    {"  - {op: HtoD, bytes: 0}\n", 3, 23, "operation #1: moves no bytes"},
    {"  - {op: HtoD, bytes: -1}\n", 3, 23, "whole number of bytes below 2^63"},
    {"  - {op: HtoD, bytes: 8e18}\n  - {op: HtoD, bytes: 8e18}\n", 3, 5, "beyond 2^62"},
    {"  - {op: kernel}\n", 3, 5, "a kernel needs a 'duration'"},
    {"  - {op: kernel, kernel: a.yaml}\n", 3, 26, "'kernel' and 'size' are given together"},
    {"  - {op: kernel, size: 5}\n", 3, 24, "'kernel' and 'size' are given together"},
    {"  - {op: kernel, kernel: a, size: 5, duration: 1 s}\n", 3, 48, "has both a 'duration'"},
    {"  - {op: kernel, kernel: a, size: 0}\n", 3, 35, "'size' is not above 0"},
    {"  - {op: memset, bytes: 5}\n", 3, 5, "a memset needs a 'duration'"},
    {"  - {op: host}\n", 3, 5, "host's work needs a 'duration'"},
    {"  - {op: kernel, duration: 0 s}\n", 3, 28, "takes no time: '0 s'"},
    {"  - {op: kernel, duration: 0.1 ns}\n", 3, 28, "takes no time"},
    {"  - {op: kernel, duration: -1 s}\n", 3, 28, "'duration' is negative"},
    {"  - {op: kernel, duration: 1e10 s}\n", 3, 28, "beyond 2^60 ns"},
    {"  - {op: kernel, duration: 7e8 s}\n  - {op: kernel, duration: 7e8 s}\n", 4, 5,
     "operation #2: the sum of all durations is beyond 2^60 ns"},
    {"  - {op: kernel, duration: 5 B}\n", 3, 28, "expected a time"},
    {"  - {op: kernel, duration: 1 s, bytes: 5}\n", 3, 40, "'bytes' means nothing for 'kernel'"},
    {"  - {op: wait, duration: 1 s}\n", 3, 26, "'duration' means nothing for 'wait'"},
    {"  - {op: wait, stream: s}\n", 3, 24, "nothing above is on stream 's'"},
    {"  - {op: wait, device: 1}\n", 3, 24, "'device' goes with a 'stream'"},
    {"  - {op: kernel, duration: 1 s, device: x}\n", 3, 41, "expected a number from 0"},
    {"  - {op: kernel, duration: 1 s, grid: 4}\n", 3, 39, "are given together"},
    {"  - {op: kernel, duration: 1 s, grid: 4, block: 1x1x1x1}\n", 3, 49, "for 'block'"},
    {"  - {op: HtoD, bytes: 1, memory: soft}\n", 3, 34, "expected one of pageable"},
    {"  - {op: HtoD, bytes: 1, blocking: 1}\n", 3, 36, "expected true or false"},
    {"  - {op: HtoD, bytes: 1, after: x}\n", 3, 33, "#1 is after 'x', and none has that name"},
    {"  - {name: x, op: HtoD, bytes: 1, after: [x]}\n", 3, 43, "'x' is after itself"},
    {"  - {name: x, op: HtoD, bytes: 1}\n  - {name: x, op: HtoD, bytes: 1}\n", 4, 12,
     "another operation has that name, in line 3"},
    {"  - {name: x, op: HtoD, stream: a, bytes: 1, after: y}\n"
     "  - {name: y, op: DtoH, stream: b, bytes: 1, after: x}\n",
     3, 5, "operation 'x' waits for 'y', that for 'x': a cycle"},
    {"  - {name: x, op: HtoD, bytes: 1, after: y}\n"
     "  - {name: y, op: DtoH, bytes: 1}\n",
     3, 5, "a cycle"},
    {"  - {op: wait, after: y}\n  - {name: y, op: DtoH, bytes: 1}\n", 3, 5,
     "operation #1 waits for 'y', that for #1: a cycle"},
    {"  - {op: HtoD, byte: 1}\n", 3, 16,
     "unknown key 'byte' in 'operations'; did you mean 'bytes'?"},
    {"  - {repeat: 2, op: HtoD, operations: []}\n", 3, 17, "stands under 'operations'"},
    {"  - {repeat: 2}\n", 3, 5, "expected both 'repeat' and 'operations'"},
    {"  - {repeat: 0.5, operations: [{op: HtoD, bytes: 1}]}\n", 3, 14, "not 0.5"},
    {"  - {repeat: {i: 2, i: 2}, operations: []}\n", 3, 21, "this name is taken"},
    {"  - {repeat: 2, operations: [{op: HtoD, bytes: '{k}'}]}\n", 3, 50, "unknown variable 'k'"},
    {"  - {repeat: 2, operations: [{op: HtoD, bytes: '{1/i}'}]}\n", 3, 51, "division by zero"},
    {"  - {repeat: 2, operations: [{op: HtoD, bytes: 1, when: i}]}\n", 3, 57, "a condition"},
    {"  - {repeat: 1e7, operations: [{repeat: 2, operations: []}]}\n", 3, 41, "this name is taken"},
    {"constants: {a: 1, b: x}\noperations: []\n", 2, 22, "unknown"},
    {"operations: 5\n", 2, 13, "expected a list for 'operations'"},
    {"operations: []\n", 1, 1, "a workload without operations"},
};

static void bad_files_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        char text[1000], said[1200];
        snprintf(text, sizeof text, "haul_workload: 1\n%s%s",
                 bad_files[i].operations[0] == ' ' ? "operations:\n" : "", bad_files[i].operations);
        haul_schedule *schedule = NULL;
        haul_error error = {0};
        if (!haul_schedule_parse(text, strlen(text), "w.yaml", &schedule, &error))
            fail_msg("taken: %s", text);
        haul_error_format(&error, said, sizeof said);
        assert_int_equal(error.status, HAUL_STATUS_BAD_INPUT);
        if (!strstr(said, bad_files[i].text) || error.line != bad_files[i].line ||
            error.column != bad_files[i].column)
            fail_msg("%s%s, not %d:%d %s", text, said, bad_files[i].line, bad_files[i].column,
                     bad_files[i].text);
    }
}

static void bad_rows_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *said;
    } rows[] = {
        {"name,bytes\nx,1\n", "w.csv:1:1: expected a column 'op'"},
        {"op,byte\nHtoD,1\n", "w.csv:1:1: no column 'byte': is 'bytes' meant?"},
        {"op,bytes\nHtoD,1\nHtoD,0\n", "w.csv:3:6: operation #2: moves no bytes"},
        {"op,bytes,after\nHtoD,1,x\n", "w.csv:2:8: operation #1 is after 'x'"},
        {"op,bytes\n", "w.csv:1:1: a workload without operations"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_schedule *schedule = NULL;
        haul_error error = {0};
        char said[1200];
        assert_int_equal(
            haul_schedule_parse(rows[i].text, strlen(rows[i].text), "w.csv", &schedule, &error),
            HAUL_STATUS_BAD_INPUT);
        haul_error_format(&error, said, sizeof said);
        if (strncmp(said, rows[i].said, strlen(rows[i].said)) != 0)
            fail_msg("%s, not %s", said, rows[i].said);
    }
}

static void machines_must_have_what_is_needed(void **state)
{
    (void)state;
    static const struct {
        const char *operations;
        const char *less; /* of the machine's text, replaced */
        const char *with;
        haul_status status;
        const char *said;
    } rows[] = {
        {"  - {name: a, op: HtoD, bytes: 1, device: 2}\n", "", "", HAUL_STATUS_ABSENT,
         "w.yaml:3:5: operation 'a': no device 2: machine 'node' has 2, from 0 on"},
        {"  - {op: kernel, duration: 1 s}\n  - {name: a, op: DtoH, bytes: 1}\n", "copy_engines: 2",
         "copy_engines: 0", HAUL_STATUS_ABSENT, "operation 'a': machine 'node' has no copy engine"},
        {"  - {name: a, op: DtoH, bytes: 1}\n", "copy_engines: 2, ", "", HAUL_STATUS_MISSING,
         "lacks gpu.copy_engines"},
        {"  - {name: a, op: PtoP, bytes: 1}\n", "", "", HAUL_STATUS_MISSING,
         "w.yaml:3:5: operation 'a': machine 'node' lacks peer"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1000], said[1200];
        const char *at = strstr(machine_text, rows[i].less);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - machine_text), machine_text,
                 rows[i].with, at + strlen(rows[i].less));
        haul_machine *machine = NULL;
        haul_error error = {0};
        if (haul_machine_parse(text, strlen(text), "node.yaml", &machine, &error)) {
            assert_non_null(strstr(error.text, "copy_engines")); /* refused at once */
            continue;
        }
        haul_schedule *schedule = make_yaml(rows[i].operations);
        haul_simulation *simulation = NULL;
        assert_int_equal(haul_simulation_make(schedule, machine, NULL, &simulation, &error),
                         rows[i].status);
        haul_error_format(&error, said, sizeof said);
        if (!strstr(said, rows[i].said))
            fail_msg("%s, not %s", said, rows[i].said);
        assert_null(simulation);
        haul_schedule_free(schedule);
        haul_machine_free(machine);
    }
}

static void the_examples_are_good(void **state)
{
    (void)state;
    static const char *const files[] = {"explicit.yaml", "streams.yaml",      "tiled-product.yaml",
                                        "two-gpus.yaml", "double-buffer.csv", "ring.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[200];
        haul_schedule *schedule = NULL;
        haul_error error = {0};
        snprintf(path, sizeof path, "examples/workloads/%s", files[i]);
        if (haul_schedule_load(path, &schedule, &error))
            fail_msg("%s", error.text);
        haul_schedule_free(schedule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_take_what_the_machine_says),
        cmocka_unit_test(company_is_assumed),
        cmocka_unit_test(chunks_form_a_pipeline),
        cmocka_unit_test(streams_are_the_strategy),
        cmocka_unit_test(loops_count_and_choose),
        cmocka_unit_test(the_host_waits_and_works),
        cmocka_unit_test(calls_cost),
        cmocka_unit_test(pageable_copies_block),
        cmocka_unit_test(streams_are_of_devices),
        cmocka_unit_test(after_may_name_what_stands_below),
        cmocka_unit_test(csv_is_the_same),
        cmocka_unit_test(bad_files_are_refused_by_name),
        cmocka_unit_test(bad_rows_are_refused),
        cmocka_unit_test(machines_must_have_what_is_needed),
        cmocka_unit_test(the_examples_are_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
