/* Threads that call in turns are one chain of calls; threads that call side by side are not. */
#include "check.h"

#include <stdlib.h>

#include "haul/timeline.h"
#include "project/host_turns.h"
#include "trace/trace_builder.h"
#include "workload/host_use.h"
#include "workload_check.h"

enum { ROUNDS = 5, CALLS = 20, TURN_NS = 10000000, CALL_NS = 4000 };

/* Two threads, each calling for CALLS kernels in each round, the second so much later. */
static haul_workload *made_of(int rounds, int64_t later_ns, uint64_t second_process)
{
    static const char name[] = "cudaLaunchKernel";
    hl_trace_builder builder;
    uint32_t threads[2];
    uint64_t key = 0;
    hl_trace_init(&builder);
    hl_workload_builder *built = &builder.built;
    const uint32_t stream = hl_workload_builder_stream(
        built, &(haul_workload_stream){.device = hl_trace_device(&builder, 0, 0), .id = 7});
    const uint32_t shape = hl_workload_builder_shape(built, &(haul_shape){.grid = {1, 1, 1}});
    for (uint64_t t = 0; t < 2; t++)
        threads[t] = hl_workload_builder_thread(
            built, &(haul_workload_thread){.process = t ? second_process : 1, .id = t});
    for (int calls = 0; calls < 2; calls++)
        for (int i = 0; i < rounds * 2 * CALLS; i++) {
            const bool second = i / CALLS % 2;
            const int64_t call_ns = (int64_t)(i / CALLS / 2) * 2 * TURN_NS +
                                    i % CALLS * (TURN_NS / CALLS) + (second ? later_ns : 0);
            const haul_op op = {.kind = HAUL_OP_KERNEL,
                                .start_ns = call_ns + 5000,
                                .dur_ns = 1000,
                                .name = HAUL_NONE,
                                .stream = stream,
                                .shape = shape,
                                .thread = HAUL_NONE};
            const hl_trace_host_call call = {.start_ns = call_ns,
                                             .dur_ns = CALL_NS,
                                             .key = key % ((uint64_t)rounds * 2 * CALLS) + 1,
                                             .name = hl_trace_text(&builder, name, sizeof name - 1),
                                             .thread = threads[second]};
            key++;
            if (calls)
                hl_trace_call(&builder, &call);
            else
                hl_trace_op(&builder, &op, key);
        }
    haul_workload *workload = NULL;
    assert_int_equal(hl_trace_finish(&builder, "made", "made", &workload, NULL), HAUL_OK);
    workload_check(workload);
    return workload;
}

static size_t handovers_of(const haul_workload *workload)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        count +=
            op->thread_prev != HAUL_NONE && workload->ops[op->thread_prev].thread != op->thread;
    }
    return count;
}

/* How often the chain goes from one thread to the other; the note tells it, both threads count. */
static size_t turns_of(int rounds, int64_t later_ns, uint64_t second_process)
{
    haul_workload *workload = made_of(rounds, later_ns, second_process);
    hl_base_arena arena = {0};
    hl_project_notes notes = {.arena = &arena};
    haul_error error;
    haul_host_use use;
    bool has_turns = false;
    const size_t count = handovers_of(workload);
    assert_int_equal(hl_project_host_turns_note(workload, &notes, &has_turns, &error), HAUL_OK);
    assert_int_equal(notes.count, count != 0);
    assert_int_equal(has_turns, count != 0);
    assert_int_equal(hl_workload_host_use_sum(workload, &use, &error), HAUL_OK);
    assert_int_equal(use.threads, 2);
    assert_int_equal(use.call_ns, (int64_t)rounds * 2 * CALLS * CALL_NS);
    free(notes.items);
    hl_base_arena_release(&arena);
    haul_workload_free(workload);
    return count;
}

static void threads_in_turns_are_one_chain(void **state)
{
    (void)state;
    assert_int_equal(turns_of(ROUNDS, TURN_NS + 2000, 1), 2 * ROUNDS - 1);
    assert_int_equal(turns_of(ROUNDS, 1000, 1), 0);           /* side by side */
    assert_int_equal(turns_of(ROUNDS, TURN_NS / 2, 1), 0);    /* half of the time */
    assert_int_equal(turns_of(ROUNDS, TURN_NS + 2000, 2), 0); /* two programs */
    assert_int_equal(turns_of(1, TURN_NS + 2000, 1), 0);      /* one after the other, once */
}

/* A host of twice the speed ends in half the time: neither thread's sleep is kept as recorded. */
static void a_sleep_ends_with_the_others_turn(void **state)
{
    (void)state;
    haul_workload *workload = made_of(ROUNDS, TURN_NS + 2000, 1);
    haul_timeline_options options = {
        .device = {.copy_engines = 1, .kernels = 128, .busy_speed = {1, 1}},
        .release = HAUL_RELEASE_HOST};
    int64_t makespans_ns[2];
    for (int fast = 0; fast < 2; fast++) {
        haul_timeline *timeline = NULL;
        haul_error error;
        options.host_time = fast ? 0.5 : 1;
        assert_int_equal(haul_timeline_run(workload, &options, &timeline, &error), HAUL_OK);
        makespans_ns[fast] = timeline->makespan_ns;
        haul_timeline_free(timeline);
    }
    assert_true(llabs(2 * makespans_ns[1] - makespans_ns[0]) < makespans_ns[0] / 100);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_in_turns_are_one_chain),
        cmocka_unit_test(a_sleep_ends_with_the_others_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
