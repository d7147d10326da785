/* Advice on programs small enough that what each change saves is known. */
#include "check.h"

#include "advised_program.h"
#include "haul/project.h"

/* 0.3625 ms for each million bytes: hl_advise_page_lock_s. */
enum { LOCK_25_MB = 9062500 };

static void pinned_copies_take_their_own_time(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 4; i++) {
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB);
        kernel(5 * MS);
        synchronize();
    }
    advise();
    check_saved("pin", 4 * (price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB) -
                            price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 25 * MB)) -
                           LOCK_25_MB);
    const haul_advice *advice = find("pin");
    assert_int_equal(advice->certainty, HAUL_CERTAINTY_SAFE);
    assert_int_equal(advice->call_count, 1);
    assert_string_equal(advice->calls[0].name, "cudaMemcpy");
    assert_int_equal(advice->calls[0].count, 4);
    assert_int_equal(advice->calls[0].bytes, 4 * 25 * MB);
    assert_int_equal(advice->calls[0].first_ns, 0); /* of the GPU's operations */
    assert_non_null(strstr(advice->what, "4 cudaMemcpy HtoD of 23.84 MiB, pageable"));
    assert_non_null(strstr(advice->needs, "23.84 MiB"));
    assert_non_null(strstr(advice->needs, "9.06 ms once"));
    assert_non_null(strstr(advice->needs, "pays after 2 uses"));
    forget();
}

/* Page-locking takes longer than one copy saves. */
static void a_buffer_that_is_used_once_is_not_pinned(void **state)
{
    (void)state;
    begin();
    copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB);
    kernel(5 * MS);
    synchronize();
    advise();
    assert_null(find("pin"));
    forget();
}

/* Maps that move nothing are no copies, and no rate is taken from them. */
static void copies_that_move_nothing_are_left_alone(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 8; i++) {
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB);
        const uint64_t key = begin_call("clEnqueueMapBuffer");
        (void)enqueue(copy_op(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 25 * MB), key, 100);
        end_call(CALL);
        kernel(5 * MS);
        synchronize();
    }
    const haul_advise_options options = {0};
    advise_with(&options);
    for (size_t i = 0; i < list->count; i++)
        for (size_t c = 0; c < list->items[i].call_count; c++)
            assert_int_equal(list->items[i].calls[c].memory, HAUL_MEMORY_PAGEABLE);
    bool named = false;
    for (size_t n = 0; n < list->note_count; n++)
        named |= strstr(list->notes[n], "bytes (8) moved none") != NULL;
    assert_true(named);
    assert_null(find("pin")); /* nothing says how fast pinned copies are */
    forget();
}

/* Copies that the host waits for could be hidden, copies that end before it comes could not. */
static void exposed_collectives_are_told(void **state)
{
    (void)state;
    for (int is_late = 0; is_late < 2; is_late++) {
        const char *expected = is_late ? "would save less than" : "would save at most 20.00 ms";
        begin();
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 25 * MB);
        for (int i = 0; i < 4; i++) {
            kernel(5 * MS);
            kernel_with(5 * MS, HAUL_OP_COLLECTIVE);
            if (is_late)
                written.host_ns += 30 * MS;
            synchronize();
        }
        kernel(5 * MS);
        synchronize();
        advise();
        bool is_told = false;
        for (size_t n = 0; n < list->note_count; n++)
            is_told |=
                strstr(list->notes[n], "collectives take 20.00 ms, 20.00 ms of it exposed") &&
                strstr(list->notes[n], expected);
        assert_true(is_told);
        forget();
    }
}

/* Small copies are all that was measured: one large copy is taken to be no faster. */
static void advice_is_no_faster_than_what_was_measured(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 200; i++)
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, i % 2 ? 1000 : 2000);
    kernel(MS);
    synchronize();
    const haul_advise_options options = {0};
    advise_with(&options);
    const haul_advice *batch = find("batch");
    if (batch) /* 300,000 bytes at the rate of the copies of 2000 */
        assert_true(batch->saved_ns <=
                    list->baseline_ns - 150 * price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 2000));
    forget();
}

/* A loop over chunks sends equal sizes, and a result leaves each time. */
static void loops_over_chunks_are_not_redundant(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 10; i++) {
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, MB);
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, MB);
        kernel(MS);
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, MB);
    }
    advise();
    assert_null(find("redundant transfer"));
    forget();
}

/* An asynchronous call of pageable memory that blocked does not when it is pinned: the kernel is
 * called for meanwhile, and starts when the copy ends. */
static void pinned_asynchronous_copies_do_not_block(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 4; i++) {
        copy("cudaMemcpyAsync_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB);
        kernel(5 * MS);
        synchronize();
    }
    advise();
    check_saved("pin", 4 * (price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB) + TAIL + GAP +
                            ISSUE - price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 25 * MB)) -
                           LOCK_25_MB);
    forget();
}

static void parameters_cost_no_call(void **state)
{
    (void)state;
    int64_t calls_ns = 0;
    begin();
    for (int i = 0; i < 3; i++) {
        calls_ns += copy("cudaMemcpyToSymbol_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 64);
        kernel(MS);
        synchronize();
    }
    advise();
    check_saved("symbol", calls_ns);
    assert_int_equal(find("symbol")->calls[0].count, 3);
    forget();
}

/* The host's work before the last copy is no part of what leaving that out saves. */
static void the_run_ends_where_its_last_copy_was_called(void **state)
{
    (void)state;
    begin();
    kernel(MS);
    written.host_ns += 5 * MS;
    const int64_t call_ns =
        copy("cudaMemcpyToSymbol_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 64);
    advise();
    check_saved("symbol", call_ns - TAIL);
    forget();
}

/* The first copies are of so many buffers; after a kernel they may be sent again. */
static void repeated_copies_are_suspected(void **state)
{
    (void)state;
    int64_t again_ns = 0;
    begin();
    for (int i = 0; i < 4; i++) {
        const int64_t a_ns = copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, MB);
        const int64_t b_ns = copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, MB);
        again_ns += i ? a_ns + b_ns : 0;
        kernel(MS);
        synchronize();
    }
    advise();
    check_saved("redundant transfer", again_ns);
    const haul_advice *advice = find("redundant transfer");
    assert_int_equal(advice->certainty, HAUL_CERTAINTY_SPECULATIVE);
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
    int64_t calls_ns = copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, MB);
    calls_ns += copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, MB);
    kernel(MS);
    synchronize();
    advise();
    check_saved("round trip", calls_ns);
    assert_int_equal(find("round trip")->certainty, HAUL_CERTAINTY_SPECULATIVE);
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
        copy_async(HAUL_DIRECTION_HTOD, SIZE);
    kernel(MS);
    synchronize();
    advise();
    check_saved("batch", COPIES * price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, SIZE) -
                             price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, COPIES * SIZE) -
                             (COPIES - 1) * GAP);
    forget();
}

/* The host waits for the results of each round: they are not ready together. */
static void copies_out_that_are_waited_for_are_not_batched(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        begin();
        kernel(MS);
        for (int i = 0; i < 5; i++) {
            copy_async(HAUL_DIRECTION_DTOH, 1024);
            if (waits)
                synchronize();
        }
        synchronize();
        advise();
        assert_int_equal(find("batch") == NULL, waits);
        forget();
    }
}

/* Copies that start when their calls have returned, and a driver that allocates memory in the first
 * call: no change of the copy saves that. */
static void a_call_keeps_what_its_copy_does_not_explain(void **state)
{
    (void)state;
    begin();
    kernel(MS);
    synchronize();
    for (int i = 0; i < 5; i++) {
        const int64_t call_ns = i ? i * CALL : 80 * MS;
        const uint64_t key = begin_call("clEnqueueWriteBuffer");
        written.stream_ns = written.host_ns + call_ns + ISSUE;
        (void)enqueue(copy_op(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 196), key, 1000);
        end_call(call_ns);
        kernel(MS);
        synchronize();
    }
    advise();
    for (size_t i = 0; i < list->count; i++)
        assert_true(list->items[i].saved_ns < MS);
    forget();
}

/* A pageable copy as CUPTI records it: the call stages bytes for 130 us, before the device copies
 * for 25 us where it copies to the device, after that where it copies to the host. */
enum { STAGED_DMA = 25000, STAGED_BESIDE = 130000 };

static void staged_copy(const char *name, haul_direction direction, int64_t allocating_ns)
{
    const bool is_early = direction == HAUL_DIRECTION_HTOD && strstr(name, "Async");
    const uint64_t key = begin_call(name);
    const int64_t called_ns = written.host_ns;
    if (direction == HAUL_DIRECTION_HTOD)
        written.stream_ns = called_ns + STAGED_BESIDE + allocating_ns;
    const int64_t end_ns = enqueue(copy_op(direction, HAUL_MEMORY_PAGEABLE, MB), key, STAGED_DMA);
    const int64_t tail_ns = direction == HAUL_DIRECTION_DTOH ? STAGED_BESIDE
                            : is_early                       ? -TAIL
                                                             : TAIL;
    end_call(end_ns - called_ns + tail_ns);
}

/* All of the staging goes but what a call takes that returns at once; memory that the first call
 * allocates stays. */
static void pinned_copies_are_not_staged(void **state)
{
    (void)state;
    enum { ROUNDS = 8, LOCK_1_MB = 362500 };
    static const struct {
        const char *name;
        haul_direction direction;
        int64_t allocating_ns;
        int64_t hidden_ns; /* of the host, from the call to the wait, by the pinned copy */
    } cases[] = {
        {"cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, 0, 0},
        {"cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, 0, 0},
        {"cudaMemcpyAsync_v3020", HAUL_DIRECTION_HTOD, 0, GAP - TAIL},
        {"cudaMemcpyAsync_v3020", HAUL_DIRECTION_DTOH, 0, GAP + CALL},
        {"cudaMemcpyAsync_v3020", HAUL_DIRECTION_HTOD, 80 * MS, GAP - TAIL},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const haul_direction direction = cases[c].direction;
        begin();
        kernel(MS);
        synchronize();
        for (int i = 0; i < ROUNDS; i++) {
            staged_copy(cases[c].name, direction, i ? 0 : cases[c].allocating_ns);
            synchronize();
            kernel(MS);
            synchronize();
        }
        advise();
        const double pinned_ns = STAGED_DMA * (double)price(direction, HAUL_MEMORY_PINNED, MB) /
                                 (double)price(direction, HAUL_MEMORY_PAGEABLE, MB);
        const int64_t each_ns =
            STAGED_BESIDE - CALL + STAGED_DMA - llround(pinned_ns) + cases[c].hidden_ns;
        check_saved("pin", ROUNDS * each_ns - LOCK_1_MB);
        forget();
    }
}

/* Equation (6): the kernel and a latency, in place of the copy. */
static void mapped_outputs_cost_a_latency(void **state)
{
    (void)state;
    begin();
    kernel(5 * MS);
    copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, MB);
    kernel(MS);
    advise();
    check_saved("map", price(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, MB) -
                           price(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1));
    forget();
}

/* The kernel writes to the buffer, so the host page-locks it before the launch. */
static void mapped_buffers_are_page_locked_first(void **state)
{
    (void)state;
    begin();
    kernel(5 * MS);
    copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 100 * MB);
    kernel(MS);
    advise();
    /* 36.25 ms of page-locking; the copy takes 40 ms, mapped writes 10 ms beside the kernel's 5 */
    assert_null(find("map"));
    forget();
    enum { ROUNDS = 10 };
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        kernel(5 * MS);
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 25 * MB);
    }
    advise();
    const int64_t pinned_ns = price(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 25 * MB);
    const int64_t one_ns = price(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1);
    /* mapped, the kernel takes its own time and latencies, as equation (6) has it */
    const int64_t each_ns = price(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 25 * MB) - one_ns;
    assert_true(pinned_ns < 5 * MS);
    check_saved("map", ROUNDS * each_ns - LOCK_25_MB);
    assert_non_null(strstr(find("map")->needs, "9.06 ms once"));
    forget();
}

/* Safe changes are told apart from those that hold only under a condition. */
static void safe_changes_are_summed_up_alone(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 10; i++) {
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB);
        kernel(5 * MS);
        synchronize();
    }
    advise();
    const haul_advice *pin = find("pin");
    assert_non_null(pin);
    assert_int_equal(list->safe.changes, 1);
    assert_int_equal(list->safe.saved_ns, pin->saved_ns);
    assert_true(list->together.saved_ns > list->safe.saved_ns);
    /* nothing is lent by the catalogue: a given machine is known */
    assert_int_equal(pin->low_ns, pin->saved_ns);
    assert_int_equal(list->together.high_ns, list->together.saved_ns);
    forget();
}

/* Memory of a kind that the profile does not tell may not be pinned: a change that needs it to be
 * pays for it. */
static void unknown_memory_is_page_locked(void **state)
{
    (void)state;
    int64_t saved_ns[2];
    for (int kind = 0; kind < 2; kind++) {
        const haul_memory memory = kind ? HAUL_MEMORY_HOST : HAUL_MEMORY_PINNED;
        begin();
        for (int i = 0; i < 10; i++) {
            copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, memory, 25 * MB);
            kernel(5 * MS);
        }
        advise();
        const haul_advice *stream = find("stream");
        assert_non_null(stream);
        saved_ns[kind] = stream->saved_ns;
        assert_int_equal(strstr(stream->needs, "9.06 ms once") != NULL, kind);
        forget();
    }
    assert_true(saved_ns[1] <= saved_ns[0] - LOCK_25_MB + 5 * MS);
}

/* The stages of a pipeline of equal times: rounds + 2 of them in place of 3 a round. */
static void copies_on_streams_of_their_own_run_beside_kernels(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    const int64_t stage_ns = price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 10 * MB);
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 10 * MB);
        kernel(stage_ns);
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 10 * MB);
    }
    advise();
    const haul_advice *advice = find("stream");
    assert_non_null(advice);
    assert_int_equal(advice->parts, 2);
    assert_int_equal(advice->certainty, HAUL_CERTAINTY_CONDITIONAL);
    assert_non_null(strstr(advice->what, "default stream"));
    /* by their sizes each copy in but the first may bring back the result before it */
    assert_non_null(strstr(advice->assumes, "19 copies to the device do not bring back"));
    CHECK_NEAR(list->baseline_ns, 3 * ROUNDS * stage_ns, 0.01);
    CHECK_NEAR(list->baseline_ns - advice->saved_ns, (ROUNDS + 2) * stage_ns, 0.01);
    forget();
}

/* Sixteen parts: the copies in go one after another, the last part of the rest follows. */
static void parts_over_streams_overlap(void **state)
{
    (void)state;
    enum { PARTS = 16, SIZE = 160 * MB };
    const int64_t whole_ns = price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, SIZE);
    const int64_t part_ns = price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, SIZE / PARTS);
    begin();
    copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, SIZE);
    kernel(PARTS * MS);
    synchronize();
    copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, SIZE);
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
    const int64_t start_ns = written.host_ns + ISSUE;
    kernel(MS);
    for (int i = 0; i < FAULTS; i++) {
        haul_op op = copy_op(HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED, SIZE);
        const haul_workload_stream uvm = {
            .device = 0, .process = PROCESS, .context = CONTEXT, .id = 20};
        op.start_ns = start_ns + 1000 + (int64_t)i * 100000;
        op.dur_ns = FAULT_NS;
        op.stream = hl_workload_builder_stream(&written.builder.built, &uvm);
        op.thread = op.name = HAUL_NONE;
        hl_trace_op(&written.builder, &op, 0);
    }
    synchronize();
    const double each = (double)price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, SIZE);
    const double all = (double)price(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, FAULTS * SIZE);
    const int64_t once_ns = llround(FAULTS * FAULT_NS * all / (FAULTS * each));
    const haul_advise_options options = {.from = machine};
    haul_error error = {0};
    workload = finish();
    assert_int_equal(haul_advice_make(workload, &options, &list, &error), HAUL_OK);
    const haul_advice *advice = find("prefetch");
    assert_non_null(advice);
    assert_int_equal(advice->calls[0].count, FAULTS);
    CHECK_NEAR(advice->saved_ns, FAULTS * FAULT_NS - once_ns, 0.001);
    forget();
}

int main(void)
{
    if (!read_machine())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_copies_take_their_own_time),
        cmocka_unit_test(pinned_asynchronous_copies_do_not_block),
        cmocka_unit_test(parameters_cost_no_call),
        cmocka_unit_test(the_run_ends_where_its_last_copy_was_called),
        cmocka_unit_test(repeated_copies_are_suspected),
        cmocka_unit_test(round_trips_are_suspected),
        cmocka_unit_test(small_copies_in_a_row_become_one),
        cmocka_unit_test(copies_out_that_are_waited_for_are_not_batched),
        cmocka_unit_test(a_call_keeps_what_its_copy_does_not_explain),
        cmocka_unit_test(pinned_copies_are_not_staged),
        cmocka_unit_test(mapped_outputs_cost_a_latency),
        cmocka_unit_test(mapped_buffers_are_page_locked_first),
        cmocka_unit_test(safe_changes_are_summed_up_alone),
        cmocka_unit_test(unknown_memory_is_page_locked),
        cmocka_unit_test(copies_on_streams_of_their_own_run_beside_kernels),
        cmocka_unit_test(parts_over_streams_overlap),
        cmocka_unit_test(prefetched_memory_comes_at_once),
        cmocka_unit_test(a_buffer_that_is_used_once_is_not_pinned),
        cmocka_unit_test(copies_that_move_nothing_are_left_alone),
        cmocka_unit_test(exposed_collectives_are_told),
        cmocka_unit_test(advice_is_no_faster_than_what_was_measured),
        cmocka_unit_test(loops_over_chunks_are_not_redundant),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    haul_machine_free(machine);
    return failed;
}
