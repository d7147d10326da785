/* Waits that a profile's operations do not name: for a place in a launch queue. */
#include "timeline/recorded_waits.h"

#include "by_hand.h"
#include "check.h"
#include "timeline/replay.h"

/* A host that launches kernels of `kernel_ns` on one stream, as `row` says. */
typedef struct row {
    uint32_t kernels;
    int64_t kernel_ns;
    int64_t call_ns;    /* of a call that finds a place */
    int64_t between_ns; /* from a return to the next call */
    uint32_t depth;     /* 0: no limit */
    int64_t return_ns;  /* from the end that makes room to the return */
    uint32_t wait_each; /* after so many launches the host waits for all; 0: never */
    uint32_t long_at;   /* the last but so many of these takes long_ns */
    int64_t long_ns;
} row;

enum { START_NS = 3000, SYNC_NS = 2000 };

static haul_workload_thread thread;

/* When the call of kernel `i`, made at `now_ns`, returns. */
static int64_t returned(const by_hand *self, const row *of, uint32_t i, int64_t now_ns)
{
    int64_t returned_ns = now_ns + of->call_ns;
    if (of->wait_each && i % of->wait_each == of->wait_each - 1 - of->long_at)
        returned_ns = now_ns + of->long_ns;
    if (of->depth && i >= of->depth) {
        const haul_op *room = &self->ops[i - of->depth];
        const int64_t end_ns = room->start_ns + room->dur_ns;
        returned_ns = end_ns > now_ns ? end_ns + of->return_ns : returned_ns;
    }
    return returned_ns;
}

static const haul_workload *make(by_hand *self, const row *of)
{
    int64_t now_ns = 0, free_ns = 0;
    for (uint32_t i = 0; i < of->kernels; i++) {
        const int64_t start_ns = free_ns > now_ns + START_NS ? free_ns : now_ns + START_NS;
        const int64_t returned_ns = returned(self, of, i, now_ns);
        haul_op *op = by_hand_add(self, HAUL_OP_KERNEL, start_ns, of->kernel_ns);
        op->shape = HAUL_NONE;
        op->thread = 0;
        op->thread_prev = i ? i - 1 : HAUL_NONE;
        op->call_ns = now_ns;
        op->call_dur_ns = returned_ns - now_ns;
        op->flags = HAUL_OP_HAS_CALL;
        free_ns = start_ns + of->kernel_ns;
        now_ns = returned_ns + of->between_ns;
        if (of->wait_each && i % of->wait_each == of->wait_each - 1)
            now_ns = free_ns + SYNC_NS;
    }
    by_hand_finish(self);
    self->workload.threads = &thread;
    self->workload.thread_count = 1;
    for (int d = 0; d < 2; d++) {
        self->devices[d].compute_major = 8;
        self->devices[d].multiprocessors = 108;
    }
    return &self->workload;
}

static uint32_t depth_of(const row *of)
{
    by_hand self = {0};
    hl_timeline_recorded_waits found;
    assert_int_equal(hl_timeline_recorded_waits_find(make(&self, of), &found, NULL), HAUL_OK);
    const uint32_t depth = found.depth;
    assert_true((depth != 0) == (found.call_durations_ns != NULL));
    hl_timeline_recorded_waits_release(&found);
    by_hand_release(&self);
    return depth;
}

/* Whatever the depth, and where a wait is hardly longer than a call. */
static void the_depth_is_found(void **state)
{
    (void)state;
    static const uint32_t depths[] = {100, 512, 1000, 1022, 1130};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (int64_t kernel_ns = 9000; kernel_ns <= 900000; kernel_ns *= 10) {
            const row of = {.kernels = 4000,
                            .kernel_ns = kernel_ns,
                            .call_ns = 3000,
                            .between_ns = 300,
                            .depth = depths[d],
                            .return_ns = 5000};
            assert_int_equal(depth_of(&of), depths[d]);
        }
}

/* Calls that see operations end, at any count or always at the same one, and wait for none. */
static void no_depth_is_made_up(void **state)
{
    (void)state;
    static const row rows[] = {
        /* every other call sees an end, with 0 to 2700 in flight */
        {.kernels = 4000, .kernel_ns = 10000, .call_ns = 3000, .between_ns = 300},
        /* up to 200 in flight, twenty times */
        {.kernels = 6000, .kernel_ns = 10000, .call_ns = 3000, .between_ns = 300, .wait_each = 300},
        /* the same, where the last launch of each turn takes 1 ms, in which 100 kernels end */
        {.kernels = 6000,
         .kernel_ns = 10000,
         .call_ns = 3000,
         .between_ns = 300,
         .wait_each = 300,
         .long_ns = 1000000},
        /* the tenth from the last one does: later ones find as many and return at once */
        {.kernels = 6000,
         .kernel_ns = 100000,
         .call_ns = 3000,
         .between_ns = 300,
         .wait_each = 300,
         .long_at = 10,
         .long_ns = 120000},
        /* a slow host: nothing is ever queued */
        {.kernels = 4000, .kernel_ns = 2000, .call_ns = 9000, .between_ns = 300},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        assert_int_equal(depth_of(&rows[r]), 0);
}

/* The replay waits as the program did; where kernels take a third, so does the run. */
static void waits_follow_the_device(void **state)
{
    (void)state;
    const row of = {.kernels = 5000,
                    .kernel_ns = 20000,
                    .call_ns = 3600,
                    .between_ns = 400,
                    .depth = 1000,
                    .return_ns = 5000};
    by_hand self = {0};
    hl_timeline_recorded_waits found;
    haul_replay replay;
    haul_timeline *timeline = NULL;
    const haul_workload *workload = make(&self, &of);
    assert_int_equal(hl_timeline_recorded_waits_find(workload, &found, NULL), HAUL_OK);
    assert_int_equal(hl_timeline_replay_with(workload, HAUL_RELEASE_HOST, &found, &replay, NULL),
                     HAUL_OK);
    assert_int_equal(replay.device.queue_depth, 1000);
    assert_true(fabs(replay.error) < 0.1);
    int64_t *third_ns = calloc(workload->op_count, sizeof *third_ns);
    assert_non_null(third_ns);
    for (size_t i = 0; i < workload->op_count; i++)
        third_ns[i] = workload->ops[i].dur_ns / 3;
    const haul_timeline_options options = {.device = replay.device,
                                           .durations_ns = third_ns,
                                           .call_durations_ns = found.call_durations_ns};
    assert_int_equal(haul_timeline_run(workload, &options, &timeline, NULL), HAUL_OK);
    CHECK_NEAR((double)timeline->makespan_ns, (double)replay.recorded_ns / 3, 1e-2);
    /* the kernels, not the host, are the critical path */
    assert_true((double)timeline->critical_ns > 0.99 * (double)timeline->makespan_ns);
    haul_timeline_free(timeline);
    free(third_ns);
    hl_timeline_recorded_waits_release(&found);
    by_hand_release(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_depth_is_found),
        cmocka_unit_test(no_depth_is_made_up),
        cmocka_unit_test(waits_follow_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
