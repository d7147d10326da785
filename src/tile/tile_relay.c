/* Loops of several devices in turns, over arrays that stream through all of them. The arrays are
 * whole, in memory of the host that the devices share; each device runs some of the loops over all
 * planes, in a pass that takes a region when the pass before, another device's, has brought it
 * home. So no plane is computed twice, nothing is exchanged at borders, and a device that is twice
 * as fast has twice the loops. A region takes the link of each device once in and once out for the
 * loops of its pass: that and the kernels are the bounds, and the first and the last pass, which
 * the other devices wait for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_exchange.h"
#include "tile/tile_relay.h"

/* Regions whose copy home may be under way while the device works on later ones. DEBTS: regions
 * that a device has not yet handed on, at most. TOO_SLOW: times the time with planes divided, which
 * the model takes for shorter than it is. */
enum { UNDER_WAY = 2, DEBTS = 256, TOO_SLOW = 2 };

/* A pass: steps of one device. */
typedef struct turn {
    size_t first;
    size_t count;
    int rank;
    int lag; /* regions that its last step is behind the first */
} turn;

typedef struct debt {
    int part;
    int taker;
} debt;

typedef struct relay {
    haul_context *context;
    const haul_processes *processes;
    hl_tile_step *steps;
    size_t count;
    const hl_tile_field *along;
    hl_tile_relay_speed *speeds; /* of all devices */
    turn *turns;
    size_t turn_count;
    int giver; /* of the pass before, and after; -1: none, or this device */
    int taker;
    debt debts[DEBTS];
    unsigned owed, paid;
} relay;

/* --- regions from one device to the next */

static haul_process_message token_of(int peer, int part, bool is_send)
{
    return (haul_process_message){.peer = peer, .label = part, .is_send = is_send, .bytes = 1};
}

static haul_status take(void *state, int part, haul_error *error)
{
    const relay *self = state;
    const haul_process_message message = token_of(self->giver, part, false);
    hl_tile_parcel parcel;
    if (self->giver < 0)
        return HAUL_OK;
    HAUL_TRY(hl_tile_wire_see(self->processes, &message, &parcel, error));
    hl_tile_note_received(self->context);
    hl_tile_wire_give_back(self->processes);
    return HAUL_OK;
}

static haul_status pay_debts(relay *self, unsigned left, haul_error *error)
{
    haul_context *context = self->context;
    while (self->owed - self->paid > left) {
        const debt one = self->debts[self->paid++ % DEBTS];
        const haul_process_message message = token_of(one.taker, one.part, true);
        HAUL_TRY(hl_tile_host_wait_event(context, context->streams.handed.of[one.part], error));
        if (one.taker >= 0)
            HAUL_TRY(hl_tile_start(context, &message, 1, error));
    }
    return HAUL_OK;
}

/* Leaves so many regions more than usual under way. A part below 0 is none. */
static haul_status hand_on(void *state, int part, int more, haul_error *error)
{
    relay *self = state;
    haul_context *context = self->context;
    hl_tile_events *handed = &context->streams.handed;
    if (part >= 0) {
        HAUL_TRY(hl_tile_events_ensure(context, handed, (size_t)part + 1, error));
        HAUL_TRY(hl_tile_record(context, context->streams.down, handed->of[part], error));
        self->debts[self->owed++ % DEBTS] = (debt){part, self->taker};
    }
    return pay_debts(self, UNDER_WAY + (unsigned)(more < DEBTS / 2 ? more : DEBTS / 2), error);
}

/* --- whose loops they are */

static hl_tile_relay_speed measure(const relay *self)
{
    const hl_tile_choice *choice = &self->context->choice;
    const hl_tile_rates rates = hl_tile_rates_of(choice);
    hl_tile_relay_speed speed = {.reach = INT32_MAX};
    hl_tile_block block;
    for (size_t i = 0; i < self->count; i++) {
        const hl_tile_block_limits limits =
            hl_tile_limits_of(choice, &self->steps[i], 1, self->along->region);
        hl_tile_block_take(&block, &self->steps[i], 1, &limits);
        speed.reach = limits.reach < speed.reach ? limits.reach : speed.reach;
        if (block.reach > limits.reach)
            speed.reach = -1;
        speed.loop_s += (hl_tile_step_seconds(&rates, &self->steps[i]) +
                         self->along->part_count * rates.launch_s) /
                        (double)self->count;
        if (speed.reach < 0)
            return speed;
    }
    hl_tile_block_take(&block, self->steps, self->count,
                       &(hl_tile_block_limits){.steps = SIZE_MAX, .reach = speed.reach});
    double bytes[2] = {0};
    for (unsigned i = 0; i < block.field_count; i++) {
        const hl_tile_block_field *of = &block.fields[i];
        speed.last_s += of->is_written ? (double)of->field->host_bytes / rates.copy_Bps[1] : 0;
        bytes[0] += of->is_fresh || !of->is_aligned ? 0 : (double)of->field->host_bytes;
        bytes[1] += of->is_written && !of->is_dead ? (double)of->field->host_bytes : 0;
    }
    for (int d = 0; d < 2; d++)
        speed.copy_s = fmax(speed.copy_s, bytes[d] / rates.copy_Bps[d] / rates.busy[d]);
    speed.loop_reach = (double)block.reach / (double)block.count;
    return speed;
}

/* Of a device's loops among all. */
static double share_of(const hl_tile_relay_speed *speeds, int count, int rank)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += speeds[i].reach < 0 ? 0 : 1 / speeds[i].loop_s;
    return speeds[rank].reach < 0 ? 0 : 1 / speeds[rank].loop_s / sum;
}

/* A device's loops in each round, at most. */
static double loops_of(const hl_tile_relay_speed *speeds, const hl_tile_relay_task *task, int rank,
                       size_t rounds)
{
    const double share = share_of(speeds, task->devices, rank);
    return ceil(share * (double)task->loops / (double)rounds - 1e-6);
}

/* The time of a pass of the slowest device, and how far the next device is behind. */
static double predict_pass(const hl_tile_relay_speed *speeds, const hl_tile_relay_task *task,
                           size_t rounds, double *lag_s)
{
    const double region = (double)task->region / task->planes;
    double slowest_s = 0;
    *lag_s = 0;
    for (int i = 0; i < task->devices; i++) {
        const double loops = loops_of(speeds, task, i, rounds);
        const double behind = loops * speeds[i].loop_reach;
        if (!(loops > 0))
            continue;
        if (behind > speeds[i].reach)
            return INFINITY;
        /* at a pass's begin the link waits for room, and kernels for the link */
        const double run_s = loops * speeds[i].loop_s + region * speeds[i].copy_s;
        const double pass_s = fmax(run_s, (1 + 2 * region) * speeds[i].copy_s);
        slowest_s = fmax(slowest_s, pass_s);
        *lag_s = fmax(*lag_s, pass_s * (behind / task->planes + (1 + UNDER_WAY) * region));
    }
    if (!(slowest_s > 0))
        return INFINITY;
    return slowest_s;
}

/* Behind the last loop all that was written goes home: meanwhile its device runs more loops than
 * others. */
static size_t more_at_last(const hl_tile_relay_speed *speeds, const hl_tile_relay_task *task,
                           size_t rounds, double *last_s)
{
    const hl_tile_relay_speed *last = &speeds[task->devices - 1];
    double lag_s;
    const double pass_s = predict_pass(speeds, task, rounds, &lag_s);
    *last_s = 0;
    if (last->reach < 0 || isinf(pass_s))
        return 0;
    *last_s = fmax(0, last->last_s - pass_s);
    const double room =
        last->reach / last->loop_reach - loops_of(speeds, task, task->devices - 1, rounds);
    const double more = floor(fmin(*last_s / last->loop_s, room));
    return more > 0 && more < (double)task->loops ? (size_t)more : 0;
}

double hl_tile_relay_predict(const hl_tile_relay_speed *speeds, const hl_tile_relay_task *task,
                             size_t rounds)
{
    double lag_s, last_s;
    hl_tile_relay_task others = *task;
    others.loops -= more_at_last(speeds, task, rounds, &last_s);
    const double pass_s = predict_pass(speeds, &others, rounds, &lag_s);
    return (double)rounds * fmax(pass_s, task->devices * lag_s) + (task->devices - 1) * lag_s +
           last_s;
}

size_t hl_tile_relay_rounds(const hl_tile_relay_speed *speeds, const hl_tile_relay_task *task)
{
    size_t best = 0;
    double best_s = INFINITY;
    for (size_t rounds = 1; rounds <= task->loops; rounds++) {
        const double seconds = hl_tile_relay_predict(speeds, task, rounds);
        if (seconds < best_s) {
            best_s = seconds;
            best = rounds;
        }
    }
    return best;
}

/* A device's loops of a round; several turns where the loops cannot go together. */
static void add_turns(relay *self, int rank, size_t end)
{
    const turn *last = self->turn_count ? &self->turns[self->turn_count - 1] : NULL;
    const int region = self->along->region;
    for (size_t first = last ? last->first + last->count : 0; first < end;) {
        hl_tile_block block;
        hl_tile_block_take(
            &block, self->steps + first, end - first,
            &(hl_tile_block_limits){.steps = SIZE_MAX, .reach = self->speeds[rank].reach});
        self->turns[self->turn_count++] =
            (turn){first, block.count, rank, (block.reach + region - 1) / region};
        first += block.count;
    }
}

/* Of few loops each takes a pass over all planes by one device, where many would by a part. To be
 * made anew, arrays are copied as a whole, in the host's memory and to the devices. */
static void note_length(relay *self, hl_tile_relay_task task, double run_s)
{
    hl_tile_relay *state = &self->context->relay;
    const double copy_s = self->speeds[self->processes->rank].copy_s;
    const double divided_s =
        (double)self->count * state->divided_s + copy_s / self->processes->count;
    state->short_runs =
        state->divided_s > 0 && run_s > TOO_SLOW * divided_s ? state->short_runs + 1 : 0;
    state->pays_from = 0;
    for (task.loops = HL_TILE_STEPS_QUEUED; state->divided_s > 0 && task.loops; task.loops /= 2) {
        const size_t rounds = hl_tile_relay_rounds(self->speeds, &task);
        run_s = hl_tile_relay_predict(self->speeds, &task, rounds ? rounds : 1);
        if (run_s + 2 * copy_s > (double)task.loops * state->divided_s)
            return;
        state->pays_from = task.loops;
    }
}

static haul_status list_turns(relay *self, haul_error *error)
{
    hl_tile_relay_task task = {.devices = self->processes->count,
                               .planes = self->along->length,
                               .region = self->along->region,
                               .loops = self->count};
    const size_t rounds = hl_tile_relay_rounds(self->speeds, &task);
    const double run_s = hl_tile_relay_predict(self->speeds, &task, rounds ? rounds : 1);
    double last_s;
    note_length(self, task, run_s);
    task.loops -= rounds ? more_at_last(self->speeds, &task, rounds, &last_s) : 0;
    self->turns = calloc(self->count, sizeof *self->turns);
    if (!self->turns)
        return hl_base_fail_no_memory(error);
    for (size_t round = 0; round < rounds; round++) {
        double done = (double)round;
        for (int rank = 0; rank < task.devices; rank++) {
            done += share_of(self->speeds, task.devices, rank);
            const bool is_last = round + 1 == rounds && rank + 1 == task.devices;
            const double end = (double)task.loops * done / (double)rounds + 0.5;
            add_turns(self, rank, is_last ? self->count : (size_t)end);
        }
    }
    return HAUL_OK;
}

/* Whether a device may begin its next pass before it has handed on all of the one before. Else
 * devices would wait for each other: those between need regions of this pass before that one has
 * them. */
static bool may_owe(const relay *self)
{
    int lag = 0;
    size_t period = 1;
    while (period < self->turn_count && self->turns[period].rank > self->turns[period - 1].rank)
        period++;
    bool may = true;
    for (size_t i = 0; i < self->turn_count; i++) {
        may = may && (i < period || self->turns[i].rank == self->turns[i - period].rank);
        lag = self->turns[i].lag > lag ? self->turns[i].lag : lag;
    }
    return may && (int)period * (2 * lag + 4 + UNDER_WAY) <= self->along->part_count;
}

/* --- a run */

/* The host has all, and the device nothing that counts. */
static void mark_parts(const relay *self, bool is_lost)
{
    for (size_t i = 0; i < self->count; i++)
        for (unsigned u = 0; u < self->steps[i].use_count; u++) {
            const hl_tile_field *field = self->steps[i].uses[u].field;
            const bool is_so = field->is_relayed && (!is_lost || self->steps[i].uses[u].writes);
            for (int p = 0; p < field->part_count && is_so; p++) {
                field->parts[p].on_host = !is_lost;
                field->parts[p].on_device = field->parts[p].is_bare = false;
                field->parts[p].shift = 0;
            }
        }
}

/* Until all devices are here. */
static haul_status meet(const relay *self, haul_error *error)
{
    char own = 0, all[HL_TILE_TEAM_MOST];
    return hl_tile_gather(self->context, &own, 1, all, error);
}

static haul_status run_turn(relay *self, size_t index, bool owes, haul_error *error)
{
    haul_context *context = self->context;
    const turn *one = &self->turns[index];
    const int before = index ? one[-1].rank : -1;
    const int after = index + 1 < self->turn_count ? one[1].rank : -1;
    hl_tile_block block;
    const int edge = self->along->edge;
    bool is_alike = true;
    hl_tile_block_take(&block, self->steps + one->first, self->count - one->first,
                       &(hl_tile_block_limits){.steps = one->count, .reach = INT32_MAX});
    self->giver = before == one->rank ? -1 : before;
    self->taker = after == one->rank ? -1 : after;
    mark_parts(self, false);
    HAUL_TRY(hl_tile_block_run(context, &block, error));
    for (size_t i = 0; i < self->count; i++)
        for (unsigned u = 0; u < self->steps[i].use_count; u++) {
            const hl_tile_field *field = self->steps[i].uses[u].field;
            is_alike = is_alike && (!field->is_relayed || field->edge == edge);
        }
    /* the next pass goes on in the rings where this one ends, which is one place in all of them */
    if (is_alike) {
        context->relay.shift += self->along->length + 2 * edge;
        context->relay.regions = self->along->part_count;
    }
    return owes ? HAUL_OK : pay_debts(self, 0, error);
}

/* Loops on the host, or for whose planes no device's memory has room: the first device has them
 * all, in columns. */
static haul_status run_on_first(const relay *self, haul_error *error)
{
    if (self->processes->rank)
        return HAUL_OK;
    HAUL_TRY(hl_tile_steps_run(self->context, self->steps, self->count, error));
    for (size_t i = 0; i < self->count; i++)
        for (unsigned u = 0; u < self->steps[i].use_count; u++) {
            hl_tile_field *field = self->steps[i].uses[u].field;
            for (int p = 0; p < field->part_count && field->is_relayed; p++)
                if (field->parts[p].on_device && !field->parts[p].on_host)
                    HAUL_TRY(hl_tile_part_fetch(field, p, true, error));
        }
    return HAUL_OK;
}

/* Results of reductions, which only the device that ran the last one has. */
static haul_status share_results(const relay *self, haul_error *error)
{
    const int rank = self->processes->rank;
    size_t at = self->turn_count;
    for (size_t i = self->count; i-- > 0;) {
        const hl_tile_step *step = &self->steps[i];
        while (at && self->turns[at - 1].first + self->turns[at - 1].count > i)
            at--;
        const int from = self->turn_count ? self->turns[at].rank : 0;
        for (unsigned u = 0; u < step->use_count; u++) {
            char all[HL_TILE_TEAM_MOST * sizeof(double)];
            hl_tile_field *field = step->uses[u].field;
            bool is_last = step->uses[u].reduction;
            for (size_t later = i + 1; later < self->count && is_last; later++)
                is_last = !hl_tile_step_uses(&self->steps[later], field);
            if (!is_last)
                continue;
            HAUL_TRY(hl_tile_part_fetch(field, 0, rank == from, error));
            HAUL_TRY(hl_tile_gather(self->context, field->host, field->element, all, error));
            if (!field->memory->without_data)
                memcpy(field->host, all + (uint64_t)from * field->element, field->element);
            field->parts[0] = (hl_tile_part){.on_host = true, .left = field->parts[0].left};
        }
    }
    return HAUL_OK;
}

static haul_status run_all(relay *self, haul_error *error)
{
    haul_context *context = self->context;
    const int rank = self->processes->rank;
    context->choice.predicted.passes = 0; /* which were of a device by itself */
    mark_parts(self, false);
    for (size_t i = 0; i < self->count; i++)
        for (unsigned u = 0; u < self->steps[i].use_count; u++)
            if (self->steps[i].uses[u].field->is_relayed && !self->steps->on_host)
                HAUL_TRY(hl_tile_ghosts_prepare(self->steps[i].uses[u].field, error));
    context->relay.has_run = true;
    self->speeds = context->relay.speeds; /* no one writes there before all have met at the end */
    self->speeds[rank] = measure(self);
    HAUL_TRY(meet(self, error));
    if (!self->steps->on_host)
        HAUL_TRY(list_turns(self, error));
    context->relay.take = take;
    context->relay.hand_on = hand_on;
    context->relay.state = self;
    const bool owes = may_owe(self);
    for (size_t i = 0; i < self->turn_count; i++)
        if (self->turns[i].rank == rank)
            HAUL_TRY(run_turn(self, i, owes, error));
    HAUL_TRY(pay_debts(self, 0, error));
    HAUL_TRY(hl_tile_host_wait(context, context->streams.down, error));
    context->relay.take = NULL;
    if (!self->turn_count)
        HAUL_TRY(run_on_first(self, error));
    HAUL_TRY(share_results(self, error));
    return meet(self, error);
}

/* Whether the step reads what one of those before it reduces to. */
static bool reads_result(const hl_tile_step *steps, size_t before, const hl_tile_step *step)
{
    for (size_t i = 0; i < before; i++)
        for (unsigned u = 0; u < steps[i].use_count; u++)
            for (unsigned v = 0; v < step->use_count && steps[i].uses[u].reduction; v++)
                if (step->uses[v].reads && step->uses[v].field == steps[i].uses[u].field)
                    return true;
    return false;
}

size_t hl_tile_relay_count(const hl_tile_step *steps, size_t count)
{
    size_t end = 1;
    while (end < count && hl_tile_step_is_relayed(&steps[end]) &&
           steps[end].length == steps->length && steps[end].others == steps->others &&
           steps[end].on_host == steps->on_host && !reads_result(steps, end, &steps[end]))
        end++;
    return end;
}

haul_status hl_tile_relay_run(haul_context *context, hl_tile_step *steps, size_t count,
                              haul_error *error)
{
    relay self = {.context = context,
                  .processes = context->options.processes,
                  .steps = steps,
                  .count = count,
                  .along = steps->uses[0].field};
    for (unsigned u = 0; u < steps->use_count; u++)
        if (steps->uses[u].field->is_relayed)
            self.along = steps->uses[u].field;
    const haul_status status = run_all(&self, error);
    context->relay.take = NULL;
    context->relay.shift = context->relay.regions = 0;
    if (!status || self.turn_count || self.processes->rank) /* else the first device's are right */
        mark_parts(&self, status);
    free(self.turns);
    return status;
}
