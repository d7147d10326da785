/* Advice on programs small enough that what each change saves is known. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_workload.h"
#include "haul/advise.h"
#include "haul/cost.h"
#include "workload/builder.h"

enum { PROCESS = 1, CONTEXT = 1, MOST_CALLS = 512 };

/* What every call takes that does not block, how long after its call an operation starts, how long
 * after an operation's end a call that blocks returns, and what the host does between calls. */
enum { CALL = 3000, ISSUE = 2000, TAIL = 500, GAP = 1000 };

static const char machine_text[] =
    "haul: 1\n"
    "name: by-hand\n"
    "summary: figures that are easy to compute with\n"
    "from: measured\n"
    "gpu: {name: By Hand, copy_engines: 2}\n"
    "copies:\n"
    "  - {direction: HtoD, memory: pinned, latency: 10 us, rate: 10 GB/s}\n"
    "  - {direction: DtoH, memory: pinned, latency: 10 us, rate: 10 GB/s}\n"
    "  - {direction: HtoD, memory: pageable, latency: 10 us, rate: 2.5 GB/s}\n"
    "  - {direction: DtoH, memory: pageable, latency: 10 us, rate: 2.5 GB/s}\n";

static haul_machine *machine;

static int64_t price(haul_direction direction, haul_memory memory, uint64_t bytes)
{
    const haul_copy copy = {bytes, direction, memory, HAUL_NEAR};
    haul_estimate estimate;
    for (size_t m = 0; m < haul_copy_model_count(); m++)
        if (!strcmp(haul_copy_model_at(m)->name, "auto")) {
            haul_error error;
            if (haul_copy_time(machine, haul_copy_model_at(m), &copy, &estimate, &error))
                fail_msg("%s", error.text);
        }
    return llround(1e9 * estimate.seconds);
}

/* A program as it is written: each call is made when the one before it has returned, each operation
 * starts when its call was made and what is before it on its stream has ended. */
typedef struct program {
    haul_builder builder;
    haul_call calls[MOST_CALLS];
    const char *names[MOST_CALLS];
    size_t count;
    int64_t host_ns;
    int64_t stream_ns; /* when the only stream is free */
    uint32_t stream;
} program;

static program self;

static void begin(void)
{
    memset(&self, 0, sizeof self);
    haul_builder_init(&self.builder);
    const haul_stream stream = {.device = haul_builder_device(&self.builder, 0, 0),
                                .process = PROCESS,
                                .context = CONTEXT,
                                .id = 7};
    self.stream = haul_builder_stream(&self.builder, &stream);
}

static uint64_t begin_call(const char *name)
{
    assert_true(self.count < MOST_CALLS);
    self.names[self.count] = name;
    self.calls[self.count] = (haul_call){.start_ns = self.host_ns, .key = self.count + 1};
    return self.count + 1;
}

static void end_call(int64_t dur_ns)
{
    self.calls[self.count++].dur_ns = dur_ns;
    self.host_ns += dur_ns + GAP;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns its end. */
static int64_t enqueue(haul_op op, uint64_t key, int64_t dur_ns)
{
    op.start_ns = later(self.host_ns + ISSUE, self.stream_ns);
    op.dur_ns = dur_ns;
    op.stream = self.stream;
    op.thread = op.name = HAUL_NONE;
    haul_builder_op(&self.builder, &op, key);
    return self.stream_ns = op.start_ns + dur_ns;
}

static void kernel(int64_t dur_ns)
{
    const uint64_t key = begin_call("cudaLaunchKernel_v7000");
    const haul_op op = {.kind = HAUL_OP_KERNEL, .shape = HAUL_NONE};
    (void)enqueue(op, key, dur_ns);
    end_call(CALL);
}

static haul_op copy_op(haul_direction direction, haul_memory memory, uint64_t bytes)
{
    return (haul_op){.kind = HAUL_OP_COPY,
                     .direction = (uint8_t)direction,
                     .detail = (uint8_t)memory,
                     .bytes = bytes};
}

/* A copy that blocks; returns how long its call took. */
static int64_t copy(const char *name, haul_direction direction, haul_memory memory, uint64_t bytes)
{
    const uint64_t key = begin_call(name);
    const int64_t end_ns =
        enqueue(copy_op(direction, memory, bytes), key, price(direction, memory, bytes));
    const int64_t dur_ns = end_ns + TAIL - self.host_ns;
    end_call(dur_ns);
    return dur_ns;
}

static void copy_async(haul_direction direction, uint64_t bytes)
{
    const uint64_t key = begin_call("cudaMemcpyAsync_v3020");
    (void)enqueue(copy_op(direction, HAUL_PINNED, bytes), key,
                  price(direction, HAUL_PINNED, bytes));
    end_call(CALL);
}

/* The host waits for the stream. */
static void synchronize(void)
{
    const uint64_t key = begin_call("cudaDeviceSynchronize_v3020");
    const int64_t dur_ns = later(self.stream_ns - self.host_ns, 0) + TAIL;
    const haul_op op = {.kind = HAUL_OP_SYNC,
                        .detail = HAUL_SYNC_CONTEXT,
                        .start_ns = self.host_ns,
                        .dur_ns = dur_ns,
                        .stream = HAUL_NONE,
                        .thread = HAUL_NONE,
                        .name = HAUL_NONE};
    const haul_wait wait = {.process = PROCESS, .context = CONTEXT};
    haul_builder_wait(&self.builder, &op, key, &wait);
    end_call(dur_ns);
}

static haul_workload *finish(void)
{
    const uint32_t thread = haul_builder_thread(&self.builder, PROCESS, 1);
    for (size_t c = 0; c < self.count; c++) {
        haul_call *call = &self.calls[c];
        call->thread = thread;
        uint64_t key = 0;
        for (const char *at = self.names[c]; *at; at++)
            key = key * 31 + (unsigned char)*at;
        call->name = haul_builder_name(&self.builder, key);
        haul_builder_name_text(&self.builder, key, self.names[c], strlen(self.names[c]));
        haul_builder_call(&self.builder, call);
    }
    haul_workload *workload = NULL;
    haul_error error = {0};
    if (haul_builder_finish(&self.builder, "by hand", "nsys by hand", &workload, &error))
        fail_msg("%s", error.text);
    return workload;
}

static haul_workload *workload;
static haul_advice_list *list;

static const haul_advice *find(const char *change)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].change, change))
            return &list->items[i];
    return NULL;
}

static void advise_with(const haul_advise_options *options)
{
    haul_error error = {0};
    workload = finish();
    if (haul_advise(workload, options, &list, &error))
        fail_msg("%s", error.text);
    assert_int_equal(list->replay.recorded_ns, list->replay.replayed_ns);
    for (size_t i = 1; i < list->count; i++)
        assert_true(list->items[i - 1].saved_ns >= list->items[i].saved_ns);
}

static void advise(void)
{
    const haul_advise_options options = {.from = machine};
    advise_with(&options);
}

static void forget(void)
{
    haul_advice_free(list);
    haul_workload_free(workload);
    list = NULL;
    workload = NULL;
}

static void check_saved(const char *change, int64_t saved_ns)
{
    const haul_advice *advice = find(change);
    if (!advice)
        fail_msg("no '%s'", change);
    else if (llabs(advice->saved_ns - saved_ns) > 2)
        fail_msg("'%s' saves %ld ns, not %ld", change, (long)advice->saved_ns, (long)saved_ns);
}

enum { MB = 1000 * 1000, MS = 1000 * 1000 };

static void pinned_copies_take_their_own_time(void **state)
{
    (void)state;
    begin();
    copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PAGEABLE, 25 * MB);
    kernel(5 * MS);
    synchronize();
    advise();
    check_saved("pin",
                price(HAUL_HTOD, HAUL_PAGEABLE, 25 * MB) - price(HAUL_HTOD, HAUL_PINNED, 25 * MB));
    const haul_advice *advice = find("pin");
    assert_int_equal(advice->certainty, HAUL_SURE);
    assert_int_equal(advice->call_count, 1);
    assert_string_equal(advice->calls[0].name, "cudaMemcpy");
    assert_int_equal(advice->calls[0].count, 1);
    assert_int_equal(advice->calls[0].bytes, 25 * MB);
    assert_int_equal(advice->calls[0].first_ns, ISSUE);
    assert_non_null(strstr(advice->what, "1 cudaMemcpy HtoD of 23.84 MiB, pageable"));
    assert_non_null(strstr(advice->needs, "23.84 MiB"));
    forget();
}

/* An asynchronous call of pageable memory that blocked does not when it is pinned: the kernel is
 * called for meanwhile, and starts when the copy ends. */
static void pinned_asynchronous_copies_do_not_block(void **state)
{
    (void)state;
    begin();
    copy("cudaMemcpyAsync_v3020", HAUL_HTOD, HAUL_PAGEABLE, 25 * MB);
    kernel(5 * MS);
    synchronize();
    advise();
    check_saved("pin", price(HAUL_HTOD, HAUL_PAGEABLE, 25 * MB) + TAIL + GAP + ISSUE -
                           price(HAUL_HTOD, HAUL_PINNED, 25 * MB));
    forget();
}

static void parameters_cost_no_call(void **state)
{
    (void)state;
    int64_t calls_ns = 0;
    begin();
    for (int i = 0; i < 3; i++) {
        calls_ns += copy("cudaMemcpyToSymbol_v3020", HAUL_HTOD, HAUL_PINNED, 64);
        kernel(MS);
        synchronize();
    }
    advise();
    check_saved("symbol", calls_ns);
    assert_int_equal(find("symbol")->calls[0].count, 3);
    forget();
}

/* The first copies are of so many buffers; after a kernel they may be sent again. */
static void repeated_copies_are_suspected(void **state)
{
    (void)state;
    int64_t again_ns = 0;
    begin();
    for (int i = 0; i < 4; i++) {
        const int64_t a_ns = copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PINNED, MB);
        const int64_t b_ns = copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PINNED, MB);
        again_ns += i ? a_ns + b_ns : 0;
        kernel(MS);
        synchronize();
    }
    advise();
    check_saved("drop", again_ns);
    const haul_advice *advice = find("drop");
    assert_int_equal(advice->certainty, HAUL_SUSPECTED);
    assert_int_equal(advice->calls[0].count, 6);
    assert_non_null(advice->assumes);
    forget();
}

static void round_trips_are_suspected(void **state)
{
    (void)state;
    begin();
    kernel(MS);
    synchronize();
    int64_t calls_ns = copy("cudaMemcpy_v3020", HAUL_DTOH, HAUL_PINNED, MB);
    calls_ns += copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PINNED, MB);
    kernel(MS);
    synchronize();
    advise();
    check_saved("keep", calls_ns);
    assert_int_equal(find("keep")->certainty, HAUL_SUSPECTED);
    forget();
}

/* The copy that stays is called for when the last of them was, but the calls before take no time.
 */
static void small_copies_in_a_row_become_one(void **state)
{
    (void)state;
    enum { COPIES = 5, SIZE = 1024 };
    begin();
    for (int i = 0; i < COPIES; i++)
        copy_async(HAUL_HTOD, SIZE);
    kernel(MS);
    synchronize();
    advise();
    check_saved("batch", COPIES * price(HAUL_HTOD, HAUL_PINNED, SIZE) -
                             price(HAUL_HTOD, HAUL_PINNED, COPIES * SIZE) - (COPIES - 1) * GAP);
    forget();
}

/* Equation (6): the kernel and a latency, in place of the copy. */
static void mapped_outputs_cost_a_latency(void **state)
{
    (void)state;
    begin();
    kernel(5 * MS);
    copy("cudaMemcpy_v3020", HAUL_DTOH, HAUL_PINNED, MB);
    kernel(MS);
    advise();
    check_saved("map", price(HAUL_DTOH, HAUL_PINNED, MB) - price(HAUL_DTOH, HAUL_PINNED, 1));
    forget();
}

/* The stages of a pipeline of equal times: rounds + 2 of them in place of 3 a round. */
static void copies_on_streams_of_their_own_run_beside_kernels(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    const int64_t stage_ns = price(HAUL_HTOD, HAUL_PINNED, 10 * MB);
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PINNED, 10 * MB);
        kernel(stage_ns);
        copy("cudaMemcpy_v3020", HAUL_DTOH, HAUL_PINNED, 10 * MB);
    }
    advise();
    const haul_advice *advice = find("stream");
    assert_non_null(advice);
    assert_int_equal(advice->parts, 2);
    assert_int_equal(advice->certainty, HAUL_IF);
    assert_non_null(strstr(advice->what, "default stream"));
    CHECK_NEAR(list->baseline_ns, 3 * ROUNDS * stage_ns, 0.01);
    CHECK_NEAR(list->baseline_ns - advice->saved_ns, (ROUNDS + 2) * stage_ns, 0.01);
    forget();
}

/* Sixteen parts: the copies in go one after another, the last part of the rest follows. */
static void parts_over_streams_overlap(void **state)
{
    (void)state;
    enum { PARTS = 16, SIZE = 160 * MB };
    const int64_t whole_ns = price(HAUL_HTOD, HAUL_PINNED, SIZE);
    const int64_t part_ns = price(HAUL_HTOD, HAUL_PINNED, SIZE / PARTS);
    begin();
    copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PINNED, SIZE);
    kernel(PARTS * MS);
    synchronize();
    copy("cudaMemcpy_v3020", HAUL_DTOH, HAUL_PINNED, SIZE);
    advise();
    const haul_advice *advice = find("split");
    assert_non_null(advice);
    assert_int_equal(advice->parts, PARTS);
    const int64_t after_ns = PARTS * part_ns + MS + part_ns;
    /* the host's way from copy to kernel and from wait to copy is hidden, too */
    CHECK_NEAR(list->baseline_ns - advice->saved_ns, after_ns, 1e-4);
    CHECK_NEAR(list->baseline_ns, 2 * whole_ns + PARTS * MS, 1e-3);
    forget();
}

/* The kernel no longer stands still while its bytes come; they come in one copy before it. */
static void prefetched_memory_comes_at_once(void **state)
{
    (void)state;
    enum { FAULTS = 8, SIZE = 65536, FAULT_NS = 50000 };
    begin();
    const int64_t start_ns = self.host_ns + ISSUE;
    kernel(MS);
    for (int i = 0; i < FAULTS; i++) {
        haul_op op = copy_op(HAUL_HTOD, HAUL_MANAGED, SIZE);
        const haul_stream uvm = {.device = 0, .process = PROCESS, .context = CONTEXT, .id = 20};
        op.start_ns = start_ns + 1000 + (int64_t)i * 100000;
        op.dur_ns = FAULT_NS;
        op.stream = haul_builder_stream(&self.builder, &uvm);
        op.thread = op.name = HAUL_NONE;
        haul_builder_op(&self.builder, &op, 0);
    }
    synchronize();
    const double each = (double)price(HAUL_HTOD, HAUL_PINNED, SIZE);
    const double all = (double)price(HAUL_HTOD, HAUL_PINNED, FAULTS * SIZE);
    const int64_t once_ns = llround(FAULTS * FAULT_NS * all / (FAULTS * each));
    const haul_advise_options options = {.from = machine};
    haul_error error = {0};
    workload = finish();
    assert_int_equal(haul_advise(workload, &options, &list, &error), HAUL_OK);
    const haul_advice *advice = find("prefetch");
    assert_non_null(advice);
    assert_int_equal(advice->calls[0].count, FAULTS);
    CHECK_NEAR(advice->saved_ns, ISSUE + FAULTS * FAULT_NS - once_ns, 0.001);
    forget();
}

static void together_is_scheduled_not_added(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 10; i++) {
        copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PAGEABLE, 10 * MB);
        kernel(MS);
        copy("cudaMemcpy_v3020", HAUL_DTOH, HAUL_PAGEABLE, 10 * MB);
    }
    advise();
    int64_t sum_ns = 0;
    size_t taken = 0;
    for (size_t i = 0; i < list->count; i++) {
        sum_ns += list->items[i].saved_ns;
        taken += !list->items[i].apart;
    }
    assert_true(list->together.changes >= 1);
    assert_int_equal(list->with_suspected.changes, taken);
    assert_true(list->together.saved_ns <= sum_ns);
    assert_true(list->together.saved_ns < list->baseline_ns);
    assert_true(list->together.saved_ns >= list->items[0].saved_ns ||
                list->items[0].certainty == HAUL_SUSPECTED);
    /* the run that is drawn is the one that is told */
    assert_non_null(list->changed);
    const int64_t before_ns = list->before->start_ns + list->before->makespan_ns;
    const int64_t after_ns = list->after->start_ns + list->after->makespan_ns;
    assert_true(llabs(before_ns - after_ns - list->together.saved_ns) <= 2);
    forget();
}

static void missing_figures_are_named(void **state)
{
    (void)state;
    static const char poor[] =
        "haul: 1\n"
        "name: poor\n"
        "summary: knows pageable copies alone\n"
        "from: measured\n"
        "gpu: {name: Poor}\n"
        "copies:\n"
        "  - {direction: HtoD, memory: pageable, latency: 10 us, rate: 2.5 GB/s}\n";
    haul_error error = {0};
    haul_machine *of_poor = NULL;
    if (haul_machine_parse(poor, sizeof poor - 1, "poor", &of_poor, &error))
        fail_msg("%s", error.text);
    begin();
    copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PAGEABLE, 25 * MB);
    kernel(5 * MS);
    const haul_advise_options options = {.from = of_poor};
    advise_with(&options);
    assert_null(find("pin"));
    bool named = false;
    for (size_t n = 0; n < list->note_count; n++)
        named |= strstr(list->notes[n], "'pin' was not tried") &&
                 strstr(list->notes[n], "HtoD pinned") && strstr(list->notes[n], "--from");
    assert_true(named);
    forget();
    haul_machine_free(of_poor);
}

/* A pause that nothing explains makes the identity check fail by as much; what saves less is not
 * said. */
static void less_than_the_identity_error_is_not_said(void **state)
{
    (void)state;
    begin();
    copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PAGEABLE, MB);
    kernel(5 * MS);
    self.stream_ns += 2 * MS;
    kernel(5 * MS);
    const haul_advise_options options = {.from = machine};
    haul_error error = {0};
    workload = finish();
    assert_int_equal(haul_advise(workload, &options, &list, &error), HAUL_OK);
    assert_true(list->threshold_ns > 1900 * 1000);
    assert_int_equal(list->count, 0);
    assert_true(list->below > 0);
    assert_null(list->changed);
    forget();
}

static void what_is_not_tried_is_counted(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 10; i++) {
        copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PAGEABLE, MB);
        kernel(MS);
        copy("cudaMemcpy_v3020", HAUL_DTOH, HAUL_PAGEABLE, MB);
    }
    const haul_advise_options options = {.from = machine, .most_ops = 100};
    advise_with(&options);
    assert_true(list->untried > 0);
    assert_true(list->note_count > 0);
    forget();
}

static void nothing_is_advised_of_nothing(void **state)
{
    (void)state;
    begin();
    advise();
    assert_int_equal(list->count, 0);
    assert_int_equal(list->baseline_ns, 0);
    forget();
    begin();
    kernel(MS);
    synchronize();
    advise();
    assert_int_equal(list->count, 0);
    forget();
}

static void the_same_workload_gets_the_same_advice(void **state)
{
    (void)state;
    int64_t saved_ns[2] = {0};
    for (int k = 0; k < 2; k++) {
        begin();
        for (int i = 0; i < 5; i++) {
            copy("cudaMemcpy_v3020", HAUL_HTOD, HAUL_PAGEABLE, MB);
            kernel(MS);
        }
        advise();
        for (size_t i = 0; i < list->count; i++)
            saved_ns[k] = saved_ns[k] * 7 + list->items[i].saved_ns;
        forget();
    }
    assert_int_equal(saved_ns[0], saved_ns[1]);
}

/* Random programs: whatever is advised, the draft is one that the engine takes, and each saving is
 * positive and no more than the run. */
static void any_program_gets_advice(void **state)
{
    (void)state;
    static const char *const names[] = {"cudaMemcpy_v3020", "cudaMemcpyAsync_v3020",
                                        "cudaMemcpyToSymbol_v3020"};
    for (unsigned seed = 0; seed < SWEEP(300); seed++) {
        srand(seed);
        begin();
        for (int i = 0, count = 1 + rand() % 40; i < count; i++)
            switch (rand() % 6) {
            case 0:
                kernel(1000 * (rand() % 3000));
                break;
            case 1:
                copy_async((haul_direction)(rand() % 2), 1 + (uint64_t)(rand() % 3) * 100000);
                break;
            case 2:
                synchronize();
                break;
            default:
                copy(names[rand() % 3], (haul_direction)(rand() % 2),
                     rand() % 2 ? HAUL_PINNED : HAUL_PAGEABLE,
                     (uint64_t[]){0, 8, 4096, MB, 20 * MB}[rand() % 5]);
            }
        haul_error error = {0};
        const haul_advise_options options = {.from = machine};
        workload = finish();
        if (haul_advise(workload, &options, &list, &error))
            fail_msg("seed %u: %s", seed, error.text);
        const int64_t end_ns = list->before->start_ns + list->before->makespan_ns;
        for (size_t i = 0; i < list->count; i++)
            if (list->items[i].saved_ns <= 0 || list->items[i].saved_ns > end_ns)
                fail_msg("seed %u: '%s' saves %ld ns of %ld", seed, list->items[i].change,
                         (long)list->items[i].saved_ns, (long)end_ns);
        forget();
    }
}

/* The same as a workload that a reader made: its strings, of which it has none, are its own. */
static haul_owned_workload own_drawn(drawn_workload *drawn)
{
    uint32_t last[DRAWN_STREAMS];
    memset(last, 0xff, sizeof last);
    for (uint32_t i = 0; i < drawn->workload.op_count; i++) {
        haul_op *op = &drawn->ops[i];
        op->dur_ns *= 1000;
        op->call_dur_ns *= 1000;
        op->start_ns *= 1000;
        op->call_ns *= 1000;
        op->detail = (uint8_t)draw(HAUL_MEMORIES);
        if (op->kind == HAUL_OP_COPY)
            op->bytes = draw(4) * 100000;
        if (op->kind == HAUL_OP_KERNEL)
            op->shape = HAUL_NONE;
        if (op->kind > HAUL_OP_KERNEL || op->stream == HAUL_NONE)
            continue;
        op->stream_prev = last[op->stream];
        last[op->stream] = i;
    }
    return (haul_owned_workload){.seen = drawn->workload};
}

/* Any order, streams, threads and edges, right or wrong: advice or an error, and changes that would
 * wait for themselves are left out. */
static void any_workload_is_survived(void **state)
{
    (void)state;
    static drawn_workload drawn;
    size_t advised = 0;
    for (unsigned seed = 0; seed < SWEEP(1500); seed++) {
        srand(seed);
        draw_workload(&drawn, 1 + draw(60), draw(3));
        const haul_owned_workload owned = own_drawn(&drawn);
        const haul_advise_options options = {.from = machine, .most_ops = 100000};
        haul_error error = {0};
        const haul_status status = haul_advise(&owned.seen, &options, &list, &error);
        if (status && !*error.text)
            fail_msg("seed %u: no word for status %d", seed, status);
        if (status)
            continue;
        advised += list->count;
        for (size_t i = 0; i < list->count; i++)
            assert_true(list->items[i].saved_ns >= list->threshold_ns);
        haul_advice_free(list);
        list = NULL;
    }
    assert_true(advised > 0);
}

static void every_change_says_what_it_is(void **state)
{
    (void)state;
    assert_int_equal(haul_change_count(), 9);
    for (size_t i = 0; i < haul_change_count(); i++) {
        assert_true(strlen(haul_change_word(i)) > 0);
        assert_true(strlen(haul_change_summary(i)) > 0);
    }
    assert_string_equal(haul_change_word(haul_change_count()), "");
    assert_string_equal(haul_certainty_text(HAUL_SUSPECTED), "suspect");
}

int main(void)
{
    haul_error error = {0};
    if (haul_machine_parse(machine_text, sizeof machine_text - 1, "by-hand", &machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_copies_take_their_own_time),
        cmocka_unit_test(pinned_asynchronous_copies_do_not_block),
        cmocka_unit_test(parameters_cost_no_call),
        cmocka_unit_test(repeated_copies_are_suspected),
        cmocka_unit_test(round_trips_are_suspected),
        cmocka_unit_test(small_copies_in_a_row_become_one),
        cmocka_unit_test(mapped_outputs_cost_a_latency),
        cmocka_unit_test(copies_on_streams_of_their_own_run_beside_kernels),
        cmocka_unit_test(parts_over_streams_overlap),
        cmocka_unit_test(prefetched_memory_comes_at_once),
        cmocka_unit_test(together_is_scheduled_not_added),
        cmocka_unit_test(missing_figures_are_named),
        cmocka_unit_test(less_than_the_identity_error_is_not_said),
        cmocka_unit_test(what_is_not_tried_is_counted),
        cmocka_unit_test(nothing_is_advised_of_nothing),
        cmocka_unit_test(the_same_workload_gets_the_same_advice),
        cmocka_unit_test(any_program_gets_advice),
        cmocka_unit_test(any_workload_is_survived),
        cmocka_unit_test(every_change_says_what_it_is),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    haul_machine_free(machine);
    return failed;
}
