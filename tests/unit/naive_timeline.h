/* The timeline's contract, carried out the slow way: at every instant all operations are looked at
 * again until nothing changes. */
#ifndef HAUL_TESTS_NAIVE_TIMELINE_H
#define HAUL_TESTS_NAIVE_TIMELINE_H

#include <math.h>

#include "drawn_workload.h"

enum { NAIVE_SERVERS = 3 * HAUL_RESOURCES, NAIVE_THREADS = DRAWN_THREADS + 1 };

typedef struct naive_op {
    int64_t release; /* -1: not called */
    int64_t queued;  /* for the staging buffer; -1: not */
    int64_t arrival; /* at its engine or room; -1: not yet */
    int64_t start;
    int64_t end; /* of what runs: due */
    int64_t since;
    double left, speed, steady;
    bool started, ended, staged; /* staged: holds the buffer */
    uint32_t server;
} naive_op;

typedef struct naive_thread {
    uint32_t op; /* HAUL_NONE: done */
    int64_t due;
    int64_t called;
    bool in_call;
} naive_thread;

typedef struct naive {
    const haul_workload *w;
    const haul_timeline_options *o;
    naive_op ops[DRAWN_OPS];
    naive_thread threads[NAIVE_THREADS];
    uint32_t last_of[NAIVE_SERVERS];
    int64_t now;
} naive;

static inline bool naive_on_host(const haul_op *op)
{
    return haul_op_on_host(op);
}

static inline uint32_t naive_device(const naive *n, const haul_op *op)
{
    const uint32_t device = op->stream == HAUL_NONE ? HAUL_NONE : n->w->streams[op->stream].device;
    return device == HAUL_NONE ? 2 : device;
}

static inline bool naive_is_of_host(const haul_op *op, haul_memory memory)
{
    return op->kind == HAUL_OP_COPY && op->direction <= HAUL_DIRECTION_DTOH && op->detail == memory;
}

static inline uint32_t naive_server(const naive *n, const haul_op *op)
{
    const unsigned engines = n->o->device.copy_engines;
    unsigned kind = HAUL_RESOURCE_NOWHERE;
    if (op->kind != HAUL_OP_COPY || op->direction == HAUL_DIRECTION_DTOD)
        kind = HAUL_RESOURCE_KERNEL_SLOTS;
    else if (n->o->device.migrations && naive_is_of_host(op, HAUL_MEMORY_MANAGED))
        kind = HAUL_RESOURCE_MIGRATION;
    else if (op->direction == HAUL_DIRECTION_HTOD)
        kind = HAUL_RESOURCE_ENGINE;
    else if (op->direction == HAUL_DIRECTION_DTOH)
        kind = engines > 1 ? HAUL_RESOURCE_ENGINE_OUT : HAUL_RESOURCE_ENGINE;
    else if (op->direction == HAUL_DIRECTION_PTOP)
        kind = engines > 2   ? HAUL_RESOURCE_ENGINE_PEER
               : engines > 1 ? HAUL_RESOURCE_ENGINE_OUT
                             : HAUL_RESOURCE_ENGINE;
    return naive_device(n, op) * HAUL_RESOURCES + kind;
}

static inline uint32_t naive_thread_of(const haul_op *op)
{
    return op->thread == HAUL_NONE ? DRAWN_THREADS : op->thread;
}

/* The operation that follows `at` on its thread; at == HAUL_NONE: the first. */
static inline uint32_t naive_next(const naive *n, uint32_t thread, uint32_t at)
{
    for (uint32_t i = at == HAUL_NONE ? 0 : at + 1; i < n->w->op_count; i++)
        if (naive_thread_of(&n->w->ops[i]) == thread &&
            (thread < DRAWN_THREADS || naive_on_host(&n->w->ops[i])))
            return i;
    return HAUL_NONE;
}

static inline int64_t naive_called(const haul_op *op)
{
    return naive_on_host(op) || op->thread == HAUL_NONE ? op->start_ns : op->call_ns;
}

static inline bool naive_edges_met(const naive *n, uint32_t i)
{
    for (size_t e = 0; e < n->w->edge_count; e++) {
        const naive_op *before = &n->ops[n->w->edges[e].before];
        if (n->w->edges[e].after == i && (!before->ended || before->end > n->now))
            return false;
    }
    return true;
}

/* The device operation before one on its stream, or HAUL_NONE. */
static inline uint32_t naive_before(const naive *n, uint32_t i)
{
    uint32_t before = HAUL_NONE;
    for (uint32_t k = 0; k < i; k++)
        if (!naive_on_host(&n->w->ops[k]) && n->w->ops[k].stream == n->w->ops[i].stream)
            before = k;
    return before;
}

static inline bool naive_is_memory(const haul_op *op)
{
    return op->kind == HAUL_OP_MEMSET ||
           (op->kind == HAUL_OP_COPY && op->direction == HAUL_DIRECTION_DTOD);
}

/* The gap between two operations of a stream. */
static inline int64_t naive_gap(const naive *n, const haul_op *last, const haul_op *op)
{
    const bool kernels = last->kind == HAUL_OP_KERNEL && op->kind == HAUL_OP_KERNEL;
    const bool inside = (last->kind == HAUL_OP_KERNEL || naive_is_memory(last)) &&
                        (op->kind == HAUL_OP_KERNEL || naive_is_memory(op));
    return kernels ? n->o->device.kernel_gap_ns : inside ? n->o->device.memory_gap_ns : 0;
}

/* The time between a wait and an operation without a call that is after it; the gap between two
 * operations. */
static inline int64_t naive_due(const naive *n, uint32_t i)
{
    const haul_op *op = &n->w->ops[i];
    const uint32_t last = naive_before(n, i);
    int64_t due = 0;
    if (last != HAUL_NONE && op->thread != HAUL_NONE)
        due = n->ops[last].end + naive_gap(n, &n->w->ops[last], op);
    for (size_t e = 0; e < n->w->edge_count; e++) {
        const haul_edge *edge = &n->w->edges[e];
        const haul_op *before = &n->w->ops[edge->before];
        const int64_t since = op->start_ns - before->start_ns - before->dur_ns;
        if (edge->after == i && naive_on_host(before) && op->thread == HAUL_NONE && since > 0 &&
            n->o->release == HAUL_RELEASE_HOST && n->ops[edge->before].end + since > due)
            due = n->ops[edge->before].end + since;
    }
    return due;
}

static inline void naive_return(naive *n, naive_thread *thread, uint32_t number, int64_t end)
{
    const haul_op *op = &n->w->ops[thread->op];
    const uint32_t next = naive_next(n, number, thread->op);
    thread->in_call = false;
    thread->op = next;
    if (next == HAUL_NONE)
        return;
    const int64_t next_called = naive_called(&n->w->ops[next]);
    const int64_t back = naive_called(op) + (naive_on_host(op) ? op->dur_ns : op->call_dur_ns);
    if (n->o->release == HAUL_RELEASE_RECORDED)
        thread->due = op->kind == HAUL_OP_SYNC && end > next_called ? end : next_called;
    else if (next_called >= back)
        thread->due = end + next_called - back;
    else
        thread->due = thread->called + next_called - naive_called(op);
    thread->due = thread->due > n->now ? thread->due : n->now;
}

/* How long a call takes, where it is asked for, or in the workload. */
static inline int64_t naive_call_dur(const naive *n, uint32_t i)
{
    const haul_op *op = &n->w->ops[i];
    if (n->o->call_durations_ns)
        return n->o->call_durations_ns[i];
    return naive_on_host(op) ? op->dur_ns : op->call_dur_ns;
}

static inline int64_t naive_wait_end(const naive *n, uint32_t i)
{
    const haul_op *op = &n->w->ops[i];
    int64_t met = op->start_ns;
    bool any = false;
    for (size_t e = 0; e < n->w->edge_count; e++)
        if (n->w->edges[e].after == i) {
            const haul_op *before = &n->w->ops[n->w->edges[e].before];
            const int64_t end = before->start_ns + before->dur_ns;
            met = end > met ? end : met;
            any = true;
        }
    if (op->kind == HAUL_OP_CALL || !any)
        return n->now + naive_call_dur(n, i);
    const int64_t tail = op->start_ns + op->dur_ns - met;
    return n->now + (tail > 0 ? tail : 0);
}

/* As many as the queue holds come before it and have not ended; the first of the stream was called.
 */
static inline bool naive_queue_is_full(const naive *n, uint32_t i)
{
    const unsigned depth = n->o->device.queue_depth;
    uint32_t ahead = 0, first = HAUL_NONE;
    if (!depth || n->o->release == HAUL_RELEASE_RECORDED || naive_on_host(&n->w->ops[i]))
        return false;
    for (uint32_t k = 0; k < n->w->op_count; k++) {
        const haul_op *op = &n->w->ops[k];
        if (naive_on_host(op) || op->stream != n->w->ops[i].stream || n->ops[k].ended)
            continue;
        first = first == HAUL_NONE ? k : first;
        ahead += k < i;
    }
    return ahead >= depth && n->ops[first].release >= 0;
}

static inline bool naive_step_thread(naive *n, uint32_t number)
{
    naive_thread *thread = &n->threads[number];
    if (thread->op == HAUL_NONE || thread->due > n->now)
        return false;
    const uint32_t i = thread->op;
    const haul_op *op = &n->w->ops[i];
    naive_op *state = &n->ops[i];
    bool changed = false;
    if (!thread->in_call && naive_queue_is_full(n, i))
        return false;
    if (!thread->in_call) {
        thread->in_call = changed = true;
        thread->called = n->now;
        if (naive_on_host(op))
            state->start = n->now;
        else
            state->release =
                n->now + n->o->device.issue_ns[op->kind] +
                (n->o->device.issue_on_return[op->kind] && !(op->flags & HAUL_OP_BLOCKS)
                     ? naive_call_dur(n, i)
                     : 0);
    }
    if (naive_on_host(op)) {
        if (!naive_edges_met(n, i))
            return changed;
        state->end = naive_wait_end(n, i);
        state->ended = true;
        naive_return(n, thread, number, state->end);
        return true;
    }
    const bool blocks = n->o->release == HAUL_RELEASE_HOST && op->flags & HAUL_OP_BLOCKS;
    if (!blocks) {
        naive_return(n, thread, number, n->now + naive_call_dur(n, i));
        return true;
    }
    if (!state->ended)
        return changed;
    const int64_t tail = op->call_ns + op->call_dur_ns - op->start_ns - op->dur_ns;
    naive_return(n, thread, number, n->now + (tail > 0 ? tail : 0));
    return true;
}

/* A kernel behind the check of one that has not ended. */
static inline bool naive_is_held(const naive *n, uint32_t i)
{
    if (!n->o->device.implicit_sync || n->w->ops[i].kind != HAUL_OP_KERNEL)
        return false;
    for (uint32_t k = 0; k < i; k++) {
        const haul_op *op = &n->w->ops[k];
        const uint32_t checked = naive_on_host(op) ? HAUL_NONE : naive_before(n, k);
        if (checked != HAUL_NONE && naive_device(n, op) == naive_device(n, &n->w->ops[i]) &&
            n->w->ops[checked].kind == HAUL_OP_KERNEL && !n->ops[checked].ended)
            return true;
    }
    return false;
}

/* Blocks of a kernel that the device holds. */
static inline double naive_slots(const naive *n, const haul_shape *shape)
{
    const haul_occupancy *room = &n->o->device.occupancy;
    const double threads = (double)shape->block[0] * shape->block[1] * shape->block[2];
    const double limits[][2] = {{room->blocks, 1},
                                {room->threads, threads},
                                {room->registers, threads * shape->registers_per_thread},
                                {room->shared_bytes, shape->shared_bytes}};
    double most = 1 << 20;
    for (int i = 0; i < 4; i++)
        if (limits[i][0] > 0 && limits[i][1] > 0)
            most = fmin(most, floor(limits[i][0] / limits[i][1]));
    return fmax(most, 1) * room->multiprocessors;
}

/* When the last blocks of a kernel that has started begin: with the last wave, where the grid and
 * the device's room are known, else at its end. */
static inline int64_t naive_last_blocks(const naive *n, uint32_t i)
{
    const uint32_t shape = n->w->ops[i].shape;
    const int64_t start = n->ops[i].start, dur = n->ops[i].end - start;
    if (!n->o->device.occupancy.multiprocessors || shape >= n->w->shape_count)
        return start + dur;
    const uint32_t *grid = n->w->shapes[shape].grid;
    const double waves =
        ceil((double)grid[0] * grid[1] * grid[2] / naive_slots(n, &n->w->shapes[shape]));
    return start + (waves > 0 ? llround((waves - 1) / waves * (double)dur) : 0);
}

static inline bool naive_blocks_started(const naive *n, uint32_t i)
{
    return n->ops[i].started && (!n->o->device.implicit_sync || n->now >= naive_last_blocks(n, i));
}

static inline bool naive_may_arrive(const naive *n, uint32_t i)
{
    const haul_op *op = &n->w->ops[i];
    const naive_op *state = &n->ops[i];
    if (naive_on_host(op) || state->arrival >= 0 || state->queued >= 0 || state->release < 0 ||
        state->release > n->now)
        return false;
    const uint32_t before = naive_before(n, i);
    if (before != HAUL_NONE && !n->ops[before].ended)
        return false;
    if (!naive_edges_met(n, i) || naive_due(n, i) > n->now)
        return false;
    if (naive_is_held(n, i))
        return false;
    const bool is_synchronised = n->o->device.implicit_sync && before != HAUL_NONE &&
                                 n->w->ops[before].kind == HAUL_OP_KERNEL;
    const bool answers_faults = n->o->device.migrations && op->kind == HAUL_OP_COPY &&
                                op->detail == HAUL_MEMORY_MANAGED && op->thread == HAUL_NONE;
    if (!is_synchronised && !answers_faults)
        return true;
    for (uint32_t k = 0; k < i; k++)
        if (n->w->ops[k].kind == HAUL_OP_KERNEL &&
            naive_device(n, &n->w->ops[k]) == naive_device(n, op) && !naive_blocks_started(n, k))
            return false;
    return true;
}

static inline uint32_t naive_running(const naive *n, uint32_t server, uint32_t *count)
{
    uint32_t found = HAUL_NONE;
    *count = 0;
    for (uint32_t i = 0; i < n->w->op_count; i++)
        if (n->ops[i].started && !n->ops[i].ended && n->ops[i].server == server) {
            found = i;
            ++*count;
        }
    return found;
}

static inline void naive_speed(naive *n, uint32_t i, double speed)
{
    naive_op *op = &n->ops[i];
    if (op->speed == speed)
        return;
    op->left = fmax(op->left - (double)(n->now - op->since) * op->speed, 0);
    op->since = n->now;
    op->speed = speed;
    op->end = n->now + (int64_t)round(op->left / speed);
}

/* 0: to the device, 1: from it, 2: not over its link. */
static inline unsigned naive_way(const naive *n, uint32_t i)
{
    const haul_op *op = &n->w->ops[i];
    const uint32_t kind = n->ops[i].server % HAUL_RESOURCES;
    if (kind == HAUL_RESOURCE_KERNEL_SLOTS || kind == HAUL_RESOURCE_NOWHERE ||
        (op->kind == HAUL_OP_COPY && op->direction > HAUL_DIRECTION_DTOH &&
         kind != HAUL_RESOURCE_ENGINE_OUT))
        return 2;
    return op->direction == HAUL_DIRECTION_HTOD ? 0 : 1;
}

static inline uint32_t naive_link(const naive *n, uint32_t i)
{
    const uint32_t device = n->ops[i].server / HAUL_RESOURCES;
    const unsigned devices = n->o->device.link_devices;
    return device == 2 ? 100 : devices ? device / devices : device;
}

static inline bool naive_runs(const naive *n, uint32_t i)
{
    return n->ops[i].started && !n->ops[i].ended;
}

/* The share of its speed that a copy has among all that run. */
static inline double naive_speed_of(const naive *n, uint32_t i)
{
    const haul_timeline_device *device = &n->o->device;
    const unsigned way = naive_way(n, i);
    double speed = 1, sharing = 0;
    for (uint32_t k = 0; k < n->w->op_count; k++) {
        if (!naive_runs(n, k) || naive_way(n, k) == 2)
            continue;
        if (naive_way(n, k) == way)
            sharing += naive_link(n, k) == naive_link(n, i);
        else if (n->ops[k].server / HAUL_RESOURCES == n->ops[i].server / HAUL_RESOURCES)
            speed = device->busy_speed[way];
    }
    if (device->link_devices || device->migrations)
        speed = fmin(speed, (device->link_copies > 0 ? device->link_copies : 1) / sharing);
    const double steady = n->ops[i].steady;
    return speed < 1 ? 1 / (steady + (1 - steady) / speed) : 1;
}

static inline void naive_set_speeds(naive *n)
{
    for (uint32_t i = 0; i < n->w->op_count; i++)
        if (naive_runs(n, i) && naive_way(n, i) < 2)
            naive_speed(n, i, naive_speed_of(n, i));
}

static inline bool naive_end_ops(naive *n)
{
    bool changed = false;
    for (uint32_t i = 0; i < n->w->op_count; i++) {
        naive_op *op = &n->ops[i];
        if (!op->started || op->ended || op->end > n->now)
            continue;
        op->ended = changed = true;
        op->staged = false;
        n->last_of[op->server] = i;
        naive_set_speeds(n);
    }
    return changed;
}

/* The share of a copy that is its latency, or, right behind another, the gap. */
static inline double naive_steady(const naive *n, uint32_t i, int64_t saved, int64_t dur)
{
    const haul_op *copy = &n->w->ops[i];
    const haul_timeline_device *device = &n->o->device;
    if (copy->kind != HAUL_OP_COPY || copy->direction > HAUL_DIRECTION_DTOH || dur <= 0)
        return 0;
    if (n->ops[i].server % HAUL_RESOURCES == HAUL_RESOURCE_MIGRATION)
        saved = device->chained_ns[copy->direction];
    const double steady = (double)(device->latency_ns[copy->direction] - saved);
    return fmin(fmax(steady / (double)dur, 0), 1);
}

static inline void naive_start_op(naive *n, uint32_t i)
{
    naive_op *op = &n->ops[i];
    const haul_op *copy = &n->w->ops[i];
    int64_t dur = copy->dur_ns;
    const uint32_t last = n->last_of[op->server];
    if (copy->kind == HAUL_OP_COPY && copy->direction <= HAUL_DIRECTION_DTOH && last != HAUL_NONE &&
        op->server % HAUL_RESOURCES != HAUL_RESOURCE_MIGRATION && n->ops[last].end == n->now &&
        n->w->ops[last].direction == copy->direction) {
        dur -= n->o->device.chained_ns[copy->direction];
        dur = dur > 0 ? dur : 0;
    }
    op->steady = naive_steady(n, i, copy->dur_ns - dur, dur);
    op->started = true;
    op->start = op->since = n->now;
    op->end = n->now + dur;
    op->left = (double)dur;
    op->speed = 1;
    naive_set_speeds(n);
}

static inline unsigned naive_capacity(const naive *n, uint32_t server)
{
    const haul_timeline_device *device = &n->o->device;
    switch (server % HAUL_RESOURCES) {
    case HAUL_RESOURCE_KERNEL_SLOTS:
        return device->kernels;
    case HAUL_RESOURCE_ENGINE_PEER:
        return device->copy_engines - 2;
    case HAUL_RESOURCE_MIGRATION:
        return device->migrations;
    case HAUL_RESOURCE_NOWHERE:
        return UINT32_MAX;
    default:
        return 1;
    }
}

/* The part of the device that a kernel, or one block of it, takes. */
static inline double naive_need(const naive *n, uint32_t i, bool one_block)
{
    const haul_op *op = &n->w->ops[i];
    if (!n->o->device.occupancy.multiprocessors || op->kind != HAUL_OP_KERNEL)
        return 0;
    if (op->shape >= n->w->shape_count)
        return 1;
    const haul_shape *shape = &n->w->shapes[op->shape];
    const double blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
    return fmin(1, (one_block ? 1 : blocks) / naive_slots(n, shape));
}

static inline bool naive_has_room(const naive *n, uint32_t server, uint32_t i)
{
    double used = naive_need(n, i, true);
    for (uint32_t k = 0; k < n->w->op_count; k++)
        if (naive_runs(n, k) && n->ops[k].server == server)
            used += naive_need(n, k, false);
    return used <= 1 + 1e-9;
}

static inline bool naive_start_one(naive *n, uint32_t server)
{
    uint32_t best = HAUL_NONE, running;
    naive_running(n, server, &running);
    if (running >= naive_capacity(n, server))
        return false;
    for (uint32_t i = 0; i < n->w->op_count; i++)
        if (n->ops[i].arrival >= 0 && !n->ops[i].started && n->ops[i].server == server &&
            (best == HAUL_NONE || n->ops[i].arrival < n->ops[best].arrival))
            best = i;
    if (best == HAUL_NONE || !naive_has_room(n, server, best))
        return false;
    naive_start_op(n, best);
    return true;
}

static inline bool naive_stage_one(naive *n, uint32_t device)
{
    uint32_t best = HAUL_NONE;
    for (uint32_t i = 0; i < n->w->op_count; i++) {
        const naive_op *op = &n->ops[i];
        if (op->queued < 0 || naive_device(n, &n->w->ops[i]) != device)
            continue;
        if (op->staged)
            return false;
        if (op->arrival < 0 && (best == HAUL_NONE || op->queued < n->ops[best].queued))
            best = i;
    }
    if (best == HAUL_NONE)
        return false;
    n->ops[best].staged = true;
    n->ops[best].arrival = n->now;
    return true;
}

static inline void naive_arrive(naive *n, uint32_t i)
{
    naive_op *op = &n->ops[i];
    op->server = naive_server(n, &n->w->ops[i]);
    if (n->o->device.staging && naive_is_of_host(&n->w->ops[i], HAUL_MEMORY_PAGEABLE))
        op->queued = n->now;
    else
        op->arrival = n->now;
}

/* One round: what happens, then what starts. */
static inline bool naive_round(naive *n)
{
    bool any = false;
    for (bool changed = true; changed; any |= changed) {
        changed = naive_end_ops(n);
        for (uint32_t t = 0; t < NAIVE_THREADS;) /* the first that can go on goes first */
            if (naive_step_thread(n, t)) {
                changed = true;
                t = 0;
            } else {
                t++;
            }
        for (uint32_t i = 0; i < n->w->op_count; i++)
            if (naive_may_arrive(n, i)) {
                naive_arrive(n, i);
                changed = true;
            }
    }
    for (uint32_t d = 0; d < 3; d++)
        any |= naive_stage_one(n, d);
    for (uint32_t s = 0; s < NAIVE_SERVERS; s++)
        while (naive_start_one(n, s))
            any = true;
    return any;
}

static inline void naive_consider(int64_t *next, int64_t now, int64_t time)
{
    if (time > now && time < *next)
        *next = time;
}

static inline int64_t naive_next_time(const naive *n)
{
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < n->w->op_count; i++) {
        const naive_op *op = &n->ops[i];
        if (op->started || op->ended)
            naive_consider(&next, n->now, op->end);
        if (op->started && !op->ended && n->w->ops[i].kind == HAUL_OP_KERNEL)
            naive_consider(&next, n->now, naive_last_blocks(n, i));
        if (op->release >= 0 && op->arrival < 0 && op->queued < 0)
            naive_consider(&next, n->now, op->release);
        if (!op->started && !op->ended && naive_edges_met(n, i))
            naive_consider(&next, n->now, naive_due(n, i));
    }
    for (uint32_t t = 0; t < NAIVE_THREADS; t++)
        if (n->threads[t].op != HAUL_NONE && !n->threads[t].in_call)
            naive_consider(&next, n->now, n->threads[t].due);
    return next;
}

/* Needs: the workload's earliest time is 0. */
static inline void naive_run(naive *n, const haul_workload *w, const haul_timeline_options *o)
{
    memset(n, 0, sizeof *n);
    n->w = w;
    n->o = o;
    memset(n->last_of, 0xff, sizeof n->last_of);
    for (uint32_t i = 0; i < w->op_count; i++) {
        n->ops[i] = (naive_op){.release = -1, .queued = -1, .arrival = -1, .speed = 1};
        if (w->ops[i].thread == HAUL_NONE)
            n->ops[i].release = o->release == HAUL_RELEASE_HOST ? 0 : w->ops[i].start_ns;
    }
    for (uint32_t t = 0; t < NAIVE_THREADS; t++) {
        const uint32_t first = naive_next(n, t, HAUL_NONE);
        n->threads[t].op = first;
        n->threads[t].due = first == HAUL_NONE ? 0 : naive_called(&w->ops[first]);
    }
    for (n->now = 0; n->now != INT64_MAX; n->now = naive_next_time(n))
        while (naive_round(n))
            continue;
}

#endif
