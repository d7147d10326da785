/* Where the time of a profile went: one sweep over the operations, which come in order of start, so
 * that the time that several cover together (the union) is known without sorting; then the rates of
 * each group of copies, whose medians need a second look. */
#include "haul/analysis.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "base/stats.h"
#include "haul/collective.h"
#include "workload/host_use.h"
#include "workload/idle.h"
#include "workload/mpi_calls.h"
#include "workload/op_class.h"
#include "workload/tally.h"

/* A copy of so few bytes takes its latency and nothing that a profile could tell from it. Above,
 * the line that gives the latency needs copies LONGER times as long, and the latency to be one part
 * in SEEN of the shortest time: a spread of 1 % in both copies then moves it by less than 8 %. */
enum { NEGLIGIBLE_BYTES = 64, LONGER = 4, SEEN = 4 };

enum { GROUP_COUNT = (int)HAUL_DIRECTIONS * (int)HAUL_MEMORIES };

/* Kinds of work that cover a device's time, or the whole profile's. */
enum {
    COPIES,
    KERNELS,
    MEMSETS,
    COMMUNICATION,
    EITHER, /* of copies and kernels */
    WORK,   /* kernels and communication */
    ANY,
    COVERS
};

typedef struct cover {
    hl_base_union of[COVERS];
} cover;

/* The sweep over the operations: what is summed on the way. */
typedef struct survey {
    haul_copy_group groups[GROUP_COUNT]; /* by direction, then memory */
    hl_base_union group_covers[GROUP_COUNT];
    haul_workload_device_use
        *devices; /* the workload's, and one for operations of no known device */
    cover *device_covers;
    size_t device_count;
    cover cover;
    int64_t first_ns;
    int64_t last_ns;
    uint64_t unsized;
    hl_workload_tally tally;
} survey;

/* Covers begin before all times, negative ones too. */
static void cover_begin(cover *self)
{
    for (int i = 0; i < COVERS; i++)
        self->of[i] = hl_base_union_begin();
}

/* Memsets count for a device's busy time, but hide no copy and are hidden by none. */
static void cover_add(cover *self, const haul_op *op)
{
    static const int own[HAUL_OP_KINDS] = {[HAUL_OP_COPY] = COPIES,
                                           [HAUL_OP_KERNEL] = KERNELS,
                                           [HAUL_OP_MEMSET] = MEMSETS,
                                           [HAUL_OP_MESSAGE] = COMMUNICATION};
    const int of = haul_op_is_collective(op) ? COMMUNICATION : own[op->kind];
    const int64_t start = op->start_ns, end = hl_base_end_of(op->start_ns, op->dur_ns);
    hl_base_union_add(&self->of[of], start, end);
    hl_base_union_add(&self->of[ANY], start, end);
    if (of == COPIES || of == KERNELS)
        hl_base_union_add(&self->of[EITHER], start, end);
    if (of == COMMUNICATION || of == KERNELS)
        hl_base_union_add(&self->of[WORK], start, end);
}

/* Copies hide behind kernels for as long as both run: by inclusion and exclusion, since the union
 * of two unions is what the sweep can keep and their intersection is not. */
static haul_busy cover_lengths(const cover *self)
{
    const uint64_t copies = self->of[COPIES].covered, kernels = self->of[KERNELS].covered;
    const uint64_t communication = self->of[COMMUNICATION].covered;
    return (haul_busy){
        .communication_ns = hl_base_clamp_ns(communication),
        .hidden_communication_ns =
            hl_base_clamp_ns(communication - (self->of[WORK].covered - kernels)),
        .copy_ns = hl_base_clamp_ns(copies),
        .kernel_ns = hl_base_clamp_ns(kernels),
        .memset_ns = hl_base_clamp_ns(self->of[MEMSETS].covered),
        .both_ns = hl_base_clamp_ns(copies - (self->of[EITHER].covered - kernels)),
        .either_ns = hl_base_clamp_ns(self->of[EITHER].covered),
        .any_ns = hl_base_clamp_ns(self->of[ANY].covered),
    };
}

/* Sums stay at the largest integer instead of wrapping: a hostile profile may have any sizes. */
static void add_totals(haul_totals *sum, const haul_totals *totals)
{
    sum->count += totals->count;
    sum->bytes = hl_base_add_bytes(sum->bytes, totals->bytes);
    sum->time_ns = hl_base_add_ns(sum->time_ns, totals->time_ns);
}

/* Groups are in an array by direction and memory; a value out of range counts as unknown. */
static size_t group_of(const haul_op *copy)
{
    const size_t direction =
        copy->direction < HAUL_DIRECTIONS ? copy->direction : HAUL_DIRECTION_UNKNOWN;
    const size_t memory = copy->detail < HAUL_MEMORIES ? copy->detail : HAUL_MEMORY_UNKNOWN;
    return direction * HAUL_MEMORIES + memory;
}

/* Copies are summed by group, and by decade of size within (AHEAD, Figure 1). */
static void survey_copy(survey *self, const haul_op *op)
{
    const haul_totals one = {1, op->bytes, op->dur_ns};
    const size_t at = group_of(op);
    haul_copy_group *group = &self->groups[at];
    if (op->dur_ns > 0 && (!group->shortest_ns || op->dur_ns < group->shortest_ns))
        group->shortest_ns = op->dur_ns;
    if (op->dur_ns > group->longest_ns)
        group->longest_ns = op->dur_ns;
    add_totals(&group->totals, &one);
    add_totals(&group->decades[hl_workload_decade_of(op->bytes)], &one);
    hl_base_union_add(&self->group_covers[at], op->start_ns,
                      hl_base_end_of(op->start_ns, op->dur_ns));
}

/* A copy, memset or kernel. Returns false without memory. */
static bool survey_op(survey *self, const haul_workload *workload, const haul_op *op)
{
    const haul_op_kind kind = op->kind;
    const int64_t end = hl_base_end_of(op->start_ns, op->dur_ns);
    const size_t device = hl_workload_device_of(workload, op);
    haul_workload_device_use *use = &self->devices[device];
    haul_totals one = {1, haul_op_has_bytes(op) ? op->bytes : 0, op->dur_ns};
    haul_totals *sum = kind == HAUL_OP_COPY      ? &use->copies
                       : kind == HAUL_OP_KERNEL  ? &use->kernels
                       : kind == HAUL_OP_MESSAGE ? &use->communication
                                                 : &use->memsets;
    if (kind == HAUL_OP_COPY)
        survey_copy(self, op);
    if (haul_op_is_collective(op)) {
        const haul_communication of = haul_communication_of(workload, op);
        one.bytes = (uint64_t)haul_communication_moved(&of);
        self->unsized += !of.bytes;
        sum = &use->communication;
    }
    add_totals(sum, &one);
    cover_add(&self->cover, op);
    cover_add(&self->device_covers[device], op);
    if (op->start_ns < self->first_ns)
        self->first_ns = op->start_ns;
    if (end > self->last_ns)
        self->last_ns = end;
    return hl_workload_tally_add(&self->tally, op);
}

/* A wait or a call. A stream's wait for an event costs the host no more than its call. */
static void survey_host_op(haul_analysis *analysis, const haul_op *op)
{
    const haul_totals one = {1, 0, op->dur_ns};
    const unsigned sync = op->detail < HAUL_SYNC_KINDS ? op->detail : HAUL_SYNC_UNKNOWN;
    add_totals(op->kind == HAUL_OP_CALL ? &analysis->calls : &analysis->syncs[sync], &one);
    if (op->kind == HAUL_OP_SYNC && sync != HAUL_SYNC_STREAM_WAIT)
        analysis->host.wait_ns = hl_base_add_ns(analysis->host.wait_ns, op->dur_ns);
}

/* One place more than devices: for operations whose device is not known. */
static bool survey_begin(survey *self, const haul_workload *workload)
{
    *self = (survey){
        .device_count = workload->device_count + 1, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    cover_begin(&self->cover);
    self->devices = calloc(self->device_count, sizeof *self->devices);
    self->device_covers = calloc(self->device_count, sizeof *self->device_covers);
    if (!self->devices || !self->device_covers)
        return false;
    for (size_t i = 0; i < self->device_count; i++) {
        self->devices[i].device = i < workload->device_count ? (uint32_t)i : HAUL_NONE;
        cover_begin(&self->device_covers[i]);
    }
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        self->groups[i].direction = (haul_direction)(i / HAUL_MEMORIES);
        self->groups[i].memory = (haul_memory)(i % HAUL_MEMORIES);
        self->group_covers[i] = hl_base_union_begin();
    }
    return true;
}

/* Devices without work are left out of the report. */
static bool take_devices(survey *self, haul_analysis *analysis)
{
    analysis->devices = calloc(self->device_count, sizeof *analysis->devices);
    if (!analysis->devices)
        return false;
    for (size_t i = 0; i < self->device_count; i++) {
        haul_workload_device_use *use = &self->devices[i];
        if (!use->copies.count && !use->kernels.count && !use->communication.count &&
            !use->memsets.count)
            continue;
        use->busy = cover_lengths(&self->device_covers[i]);
        analysis->devices[analysis->device_count++] = *use;
        add_totals(&analysis->copies, &use->copies);
        add_totals(&analysis->kernels, &use->kernels);
        add_totals(&analysis->communication, &use->communication);
        add_totals(&analysis->memsets, &use->memsets);
    }
    return true;
}

/* Shares are NaN, never 0, where there is nothing to share: a report then says nothing of them. */
static void take_times(const survey *self, haul_analysis *analysis)
{
    double copy_busy = 0, both_busy = 0, communication_busy = 0, hidden_busy = 0;
    analysis->busy = cover_lengths(&self->cover);
    if (self->last_ns >= self->first_ns)
        analysis->span_ns = hl_base_clamp_ns((uint64_t)self->last_ns - (uint64_t)self->first_ns);
    analysis->idle_ns = analysis->span_ns - analysis->busy.any_ns;
    /* Device by device: a kernel of another device hides nothing. */
    for (size_t i = 0; i < analysis->device_count; i++) {
        copy_busy += (double)analysis->devices[i].busy.copy_ns;
        both_busy += (double)analysis->devices[i].busy.both_ns;
        communication_busy += (double)analysis->devices[i].busy.communication_ns;
        hidden_busy += (double)analysis->devices[i].busy.hidden_communication_ns;
    }
    analysis->unsized = self->unsized;
    analysis->hidden_share =
        communication_busy > 0 ? hidden_busy / communication_busy : (double)NAN;
    analysis->overlap_share = copy_busy > 0 ? both_busy / copy_busy : (double)NAN;
    const double copy = (double)analysis->copies.time_ns,
                 kernel = (double)analysis->kernels.time_ns;
    analysis->copy_share = copy + kernel > 0 ? copy / (copy + kernel) : (double)NAN;
}

/* By the devices' share: a kernel of another device hides nothing. */
int64_t haul_analysis_exposed_ns(const haul_analysis *self)
{
    const double all_ns = (double)self->busy.communication_ns;
    return all_ns > 0 ? (int64_t)llround(all_ns * (1 - self->hidden_share)) : 0;
}

/* Rows of the tally are finer than groups: by size too. */
static bool is_of_group(const haul_cost_row *row, const haul_copy_group *group)
{
    const haul_op like = {.direction = row->direction, .detail = row->memory};
    return row->kind == HAUL_OP_COPY &&
           group_of(&like) == (size_t)group->direction * HAUL_MEMORIES + group->memory;
}

/* See latency_s in the header: the line through the fastest copy that no much longer copy goes
 * below. */
static double latency_under(const hl_workload_tally *tally, const haul_copy_group *group)
{
    const haul_cost_row *fastest = NULL;
    for (size_t i = 0; i < tally->count; i++) {
        const haul_cost_row *row = &tally->rows[i];
        if (is_of_group(row, group) && row->time_ns &&
            (!fastest || row->shortest_ns < fastest->shortest_ns ||
             (row->shortest_ns == fastest->shortest_ns && row->bytes < fastest->bytes)))
            fastest = row;
    }
    if (!fastest)
        return (double)NAN;
    if (fastest->bytes <= NEGLIGIBLE_BYTES)
        return (double)fastest->shortest_ns * 1e-9;
    double slope = (double)INFINITY; /* nanoseconds a byte */
    for (size_t i = 0; i < tally->count; i++) {
        const haul_cost_row *row = &tally->rows[i];
        if (!is_of_group(row, group) || !row->time_ns || row->bytes / LONGER < fastest->bytes)
            continue;
        const double steps = (double)(row->bytes - fastest->bytes);
        slope = fmin(slope, (double)(row->shortest_ns - fastest->shortest_ns) / steps);
    }
    const double shortest_ns = (double)fastest->shortest_ns;
    const double latency_ns = shortest_ns - slope * (double)fastest->bytes;
    return latency_ns * SEEN < shortest_ns ? (double)NAN : latency_ns * 1e-9;
}

/* The share of latency is taken over the groups whose latency is known, time and latency alike. */
static bool take_groups(survey *self, haul_analysis *analysis)
{
    analysis->groups = calloc(GROUP_COUNT, sizeof *analysis->groups);
    if (!analysis->groups)
        return false;
    double latency_s = 0, known_s = 0;
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        haul_copy_group *group = &self->groups[i];
        if (!group->totals.count)
            continue;
        group->busy_ns = hl_base_clamp_ns(self->group_covers[i].covered);
        group->latency_s = latency_under(&self->tally, group);
        if (!isnan(group->latency_s)) {
            latency_s += group->latency_s * (double)group->totals.count;
            known_s += (double)group->totals.time_ns * 1e-9;
        }
        analysis->groups[analysis->group_count++] = *group;
    }
    analysis->latency_share = known_s > 0 ? latency_s / known_s : (double)NAN;
    return true;
}

/* One group at a time, so that there is room for the rates of one group only. */
/* The median and the best rate of each group's copies, those without bytes or duration left out. */
static bool take_rates(const haul_workload *workload, haul_analysis *analysis)
{
    uint64_t most = 1;
    for (size_t i = 0; i < analysis->group_count; i++)
        if (analysis->groups[i].totals.count > most)
            most = analysis->groups[i].totals.count;
    double *rates = malloc(most * sizeof *rates);
    for (size_t g = 0; rates && g < analysis->group_count; g++) {
        haul_copy_group *group = &analysis->groups[g];
        size_t count = 0;
        for (size_t i = 0; i < workload->op_count; i++) {
            const haul_op *op = &workload->ops[i];
            if (op->kind != HAUL_OP_COPY || !op->bytes || op->dur_ns <= 0 ||
                group_of(op) != (size_t)group->direction * HAUL_MEMORIES + group->memory)
                continue;
            rates[count] = (double)op->bytes / ((double)op->dur_ns * 1e-9);
            group->best_Bps = fmax(group->best_Bps, rates[count++]);
        }
        group->median_Bps = count ? hl_base_median_of_many(rates, count) : (double)NAN;
        if (!count)
            group->best_Bps = (double)NAN;
    }
    const bool enough = rates;
    free(rates);
    return enough;
}

/* hl_workload_host_use_sum fills the record whole: what the sweep summed into it is put back. */
/* Streams that only waits name have none. */
static bool count_streams(const haul_workload *workload, size_t *count)
{
    bool *const used = calloc(workload->stream_count + 1, sizeof *used);
    *count = 0;
    for (size_t i = 0; used && i < workload->op_count; i++) {
        const haul_op *const op = &workload->ops[i];
        if (!haul_op_on_device(op) || op->stream == HAUL_NONE || used[op->stream])
            continue;
        used[op->stream] = true;
        ++*count;
    }
    free(used);
    return used != NULL;
}

static haul_status fill_analysis(const haul_workload *workload, survey *self,
                                 haul_analysis *analysis, haul_error *error)
{
    bool enough = true;
    for (size_t i = 0; enough && i < workload->op_count; i++)
        if (hl_workload_is_of_hosts(workload, &workload->ops[i]))
            continue;
        else if (haul_op_on_device(&workload->ops[i]))
            enough = survey_op(self, workload, &workload->ops[i]);
        else
            survey_host_op(analysis, &workload->ops[i]);
    if (!enough || !take_devices(self, analysis) || !take_groups(self, analysis) ||
        !take_rates(workload, analysis) || !count_streams(workload, &analysis->stream_count))
        return hl_base_fail_no_memory(error);
    take_times(self, analysis);
    HAUL_TRY(hl_workload_idle_causes(workload, &analysis->idle, &analysis->idle_count, error));
    analysis->largest_count = hl_workload_tally_largest(&self->tally, analysis->largest);
    const int64_t wait_ns = analysis->host.wait_ns;
    const haul_status status = hl_workload_host_use_sum(workload, &analysis->host, error);
    analysis->host.wait_ns = wait_ns;
    return status;
}

haul_status haul_analysis_make(const haul_workload *workload, haul_analysis **analysis,
                               haul_error *error)
{
    survey *self = calloc(1, sizeof *self);
    haul_analysis *result = calloc(1, sizeof *result);
    haul_status status = HAUL_STATUS_NO_MEMORY;
    if (self && result && survey_begin(self, workload))
        status = fill_analysis(workload, self, result, error);
    else
        hl_base_fail_no_memory(error);
    if (self) {
        free(self->devices);
        free(self->device_covers);
        hl_workload_tally_release(&self->tally);
    }
    free(self);
    if (status)
        haul_analysis_free(result);
    else
        *analysis = result;
    return status;
}

/* NULL is allowed, as for every free of the library. */
void haul_analysis_free(haul_analysis *analysis)
{
    if (!analysis)
        return;
    free(analysis->groups);
    free(analysis->devices);
    free(analysis->idle);
    free(analysis);
}
