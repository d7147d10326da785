/* A timeline that grows while it runs gives the times of one that knew all from the beginning. */
#include "check.h"

#include <stdlib.h>
#include <time.h>

#include "timeline/live.h"

enum { STREAMS = 6, DEVICES = 2, OPS = 120 };

static haul_error problem;

#define MUST(status)                                                                               \
    do {                                                                                           \
        if ((status) != HAUL_OK)                                                                   \
            fail_msg("%s", problem.text);                                                          \
    } while (0)

static int draw(int below)
{
    return rand() % below;
}

static haul_timeline_device draw_device(void)
{
    return (haul_timeline_device){
        .copy_engines = 1 + (unsigned)draw(3),
        .kernels = 1 + (unsigned)draw(4),
        .implicit_sync = draw(2),
        .busy_speed = {draw(2) ? 1 : 0.6, draw(2) ? 1 : 0.7},
        .chained_ns = {draw(20), draw(20)},
        .occupancy = {.multiprocessors = (unsigned)draw(3), .blocks = 4},
        .link_devices = 2 * (unsigned)draw(2),
        .staging = draw(2),
    };
}

static haul_op draw_op(void)
{
    static const haul_op_kind kinds[] = {HAUL_OP_COPY, HAUL_OP_COPY, HAUL_OP_KERNEL,
                                         HAUL_OP_MEMSET};
    haul_op op = {.dur_ns = 50 + draw(1000), .name = HAUL_NONE, .thread_prev = HAUL_NONE};
    op.kind = (uint8_t)kinds[draw(4)];
    op.direction = (uint8_t)draw(2);
    op.detail = draw(2) ? HAUL_MEMORY_PAGEABLE : HAUL_MEMORY_PINNED;
    op.bytes = 0;
    return op;
}

/* A live timeline, and what it was given, as a workload. */
typedef struct pair {
    hl_timeline_live live;
    uint32_t last[STREAMS];
    haul_op ops[OPS];
    haul_edge edges[2 * OPS];
    size_t edge_count;
    haul_shape shapes[OPS];
    int64_t now_ns;
} pair;

static void add(pair *self, uint32_t at)
{
    haul_op *op = &self->ops[at];
    *op = draw_op();
    op->stream = (uint32_t)draw(STREAMS);
    op->start_ns = op->call_ns = self->now_ns;
    op->stream_prev = self->last[op->stream];
    op->thread = HAUL_NONE;
    self->last[op->stream] = at;
    self->shapes[at] = (haul_shape){.grid = {1 + (uint32_t)draw(20), 1, 1}, .block = {1, 1, 1}};
    if (op->kind == HAUL_OP_KERNEL)
        op->shape = at;
    uint32_t waits[2];
    const size_t count = at ? (size_t)draw(3) : 0;
    for (size_t i = 0; i < count; i++) {
        waits[i] = (uint32_t)draw((int)at);
        self->edges[self->edge_count++] = (haul_edge){waits[i], at};
    }
    MUST(hl_timeline_live_add(&self->live, op,
                              op->kind == HAUL_OP_KERNEL ? &self->shapes[at] : NULL, waits, count,
                              &problem));
}

/* To the end of an operation, or some time on. What is queued at the very instant of an end comes
 * behind all that starts then; so the next calls are a nanosecond later. */
static void move_on(pair *self, uint32_t count)
{
    const uint32_t target = (uint32_t)draw((int)count);
    if (draw(3)) {
        MUST(hl_timeline_live_advance(&self->live, INT64_MAX, target, &problem));
        const int64_t end_ns = self->live.engine.progress[target].end_ns;
        self->now_ns = end_ns >= self->now_ns ? end_ns + 1 : self->now_ns;
    } else {
        self->now_ns += draw(500);
        MUST(hl_timeline_live_advance(&self->live, self->now_ns, HAUL_NONE, &problem));
    }
}

static void compare(pair *self, unsigned seed, const haul_timeline_device *device)
{
    haul_workload_stream streams[STREAMS];
    const haul_workload_device devices[DEVICES] = {{.id = 0}, {.id = 1}};
    for (uint32_t s = 0; s < STREAMS; s++)
        streams[s] = (haul_workload_stream){.device = s % DEVICES, .id = s};
    const haul_workload workload = {
        .ops = self->ops,
        .op_count = OPS,
        .edges = self->edges,
        .edge_count = self->edge_count,
        .streams = streams,
        .stream_count = STREAMS,
        .devices = devices,
        .device_count = DEVICES,
        .shapes = self->shapes,
        .shape_count = OPS,
    };
    const haul_timeline_options options = {.device = *device, .release = HAUL_RELEASE_RECORDED};
    haul_timeline *timeline;
    MUST(haul_timeline_run(&workload, &options, &timeline, &problem));
    for (uint32_t i = 0; i < OPS; i++) {
        const haul_span live = self->live.engine.progress[i].span, at_once = timeline->ops[i];
        if (live.start_ns != at_once.start_ns || live.end_ns != at_once.end_ns)
            fail_msg("seed %u, operation %u: %ld-%ld, at once %ld-%ld", seed, i,
                     (long)live.start_ns, (long)live.end_ns, (long)at_once.start_ns,
                     (long)at_once.end_ns);
    }
    haul_timeline_free(timeline);
}

static void equals_a_timeline_at_once(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SWEEP(2000); seed++) {
        srand(seed);
        pair self = {.edge_count = 0};
        const haul_timeline_device device = draw_device();
        MUST(hl_timeline_live_init(&self.live, &device, DEVICES, &problem));
        for (uint32_t s = 0; s < STREAMS; s++) {
            MUST(hl_timeline_live_stream(&self.live, s, s % DEVICES, &problem));
            self.last[s] = HAUL_NONE;
        }
        for (uint32_t i = 0; i < OPS; i++) {
            add(&self, i);
            if (!draw(4))
                move_on(&self, i + 1);
        }
        MUST(hl_timeline_live_advance(&self.live, INT64_MAX, HAUL_NONE, &problem));
        assert_int_equal(self.live.engine.finished, OPS);
        compare(&self, seed, &device);
        hl_timeline_live_release(&self.live);
    }
}

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Waits for each of `count` operations, with 2000 in flight. */
static double seconds_of(uint32_t count)
{
    hl_timeline_live live;
    const haul_timeline_device device = {.copy_engines = 2, .kernels = 1, .busy_speed = {1, 1}};
    uint32_t last[STREAMS] = {HAUL_NONE, HAUL_NONE, HAUL_NONE, HAUL_NONE, HAUL_NONE, HAUL_NONE};
    const double begin_s = clock_s();
    MUST(hl_timeline_live_init(&live, &device, 1, &problem));
    for (uint32_t s = 0; s < STREAMS; s++)
        MUST(hl_timeline_live_stream(&live, s, 0, &problem));
    for (uint32_t i = 0; i < count; i++) {
        haul_op op = draw_op();
        op.stream = i % STREAMS;
        op.stream_prev = last[op.stream];
        op.start_ns = live.engine.now_ns;
        last[op.stream] = i;
        MUST(hl_timeline_live_add(&live, &op, NULL, &i, 0, &problem));
        if (i >= 2000)
            MUST(hl_timeline_live_advance(&live, INT64_MAX, i - 2000, &problem));
    }
    hl_timeline_live_release(&live);
    return clock_s() - begin_s;
}

static void waits_cost_no_more_the_more_there_were(void **state)
{
    (void)state;
    const double few_s = seconds_of(10000), many_s = seconds_of(80000);
    assert_true(many_s < 8 * 4 * few_s); /* 64 times where each wait schedules all anew */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_a_timeline_at_once),
        cmocka_unit_test(waits_cost_no_more_the_more_there_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
