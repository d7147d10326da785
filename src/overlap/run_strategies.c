/* The strategies of CCGrid 2014, section III, as programs on the device interface. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/load.h"
#include "base/stats.h"
#include "haul/cost.h"
#include "haul/device_backend.h"
#include "overlap/cores.h"
#include "overlap/run_problem.h"

enum { STREAMS_MOST = 64, TIMES = 15, TIMES_MOST = 99 };

typedef struct runner {
    haul_device *device;
    const haul_machine *machine;
    run_problem problem;
    haul_kernel *kernel;
    haul_stream *streams[STREAMS_MOST];
    haul_event *copied[STREAMS_MOST];
    haul_event *timed; /* a kernel by itself */
    bool has_data;
    bool maps;
    unsigned times;
    haul_run made;
    double (*seconds)[TIMES_MOST]; /* of each row */
    double kernel_s[TIMES_MOST];
} runner;

/* Part `i` of `count`. */
static int begin_of(const run_problem *self, int i, int count)
{
    return (int)((int64_t)self->parts * i / count);
}

/* Where in an array part `part` begins; of an input that is `ahead` later, but of the first. */
static uint64_t offset_of(const run_problem *self, const run_group *of, int part, int count)
{
    const uint64_t each = of->bytes / (uint64_t)self->parts;
    const bool is_inner = part && part < count && !of->is_out;
    return each * (uint64_t)begin_of(self, part, count) + (is_inner ? self->ahead : 0);
}

static haul_status copy(runner *self, const run_group *of, int part, int count, haul_error *error)
{
    const uint64_t first = of->is_whole ? 0 : offset_of(&self->problem, of, part, count);
    const uint64_t last = of->is_whole ? of->bytes : offset_of(&self->problem, of, part + 1, count);
    const haul_address host =
        haul_in_buffer(of->host, hl_overlap_run_group_at(&self->problem, of) + first);
    const haul_address there = haul_in_buffer(of->device, first);
    const haul_transfer transfer = {.to = of->is_out ? host : there,
                                    .from = of->is_out ? there : host,
                                    .size = {last - first, of->count},
                                    .to_pitch = {of->bytes},
                                    .from_pitch = {of->bytes}};
    return haul_stream_copy(self->streams[part], &transfer, NULL, error);
}

/* Whether part `part` reads what part `other` copies in. */
static bool needs(const run_problem *self, int part, int other, int count)
{
    const int first = begin_of(self, part, count) - self->before;
    const int last = begin_of(self, part + 1, count);
    if (!other && self->reads_first)
        return true;
    return begin_of(self, other, count) < last && begin_of(self, other + 1, count) > first;
}

static haul_status launch(runner *self, haul_strategy strategy, int part, int count,
                          haul_event *event, haul_error *error)
{
    const run_problem *problem = &self->problem;
    const double share =
        (double)(begin_of(problem, part + 1, count) - begin_of(problem, part, count)) /
        problem->parts;
    haul_argument arguments[RUN_ARRAYS + RUN_VALUES] = {{.buffer = NULL}};
    haul_launch made = {.box = problem->box,
                        .arguments = arguments,
                        .argument_count = problem->array_count + problem->value_count,
                        .flops = share * problem->flops,
                        .is_double = problem->source->parameters[0].bytes == sizeof(double)};
    size_t at = 0;
    for (size_t g = 0; g < problem->group_count; g++) {
        const run_group *group = &problem->groups[g];
        const bool is_mapped =
            strategy == HAUL_STRATEGY_MAPPED || (strategy == HAUL_STRATEGY_HYBRID && group->is_out);
        const double bytes = share * (double)(group->count * group->bytes);
        const uint64_t at_host = is_mapped ? hl_overlap_run_group_at(problem, group) : 0;
        for (size_t i = 0; i < group->count; i++)
            arguments[at++] = (haul_argument){.buffer = is_mapped ? group->host : group->device,
                                              .offset = at_host + i * group->bytes};
        if (is_mapped)
            made.mapped_bytes[group->is_out] += group->is_out ? bytes : problem->reads * bytes;
        else
            made.bytes += bytes;
    }
    for (size_t i = 0; i < problem->value_count; i++)
        arguments[problem->array_count + i].value = problem->values[i];
    const int d = (int)problem->source->dimensions - 1;
    const int each = problem->box.hi[d] / problem->parts;
    made.box.lo[d] = each * begin_of(problem, part, count);
    made.box.hi[d] = each * begin_of(problem, part + 1, count);
    return haul_stream_launch(self->streams[part], self->kernel, &made, event, error);
}

/* Copies the arrays that all parts share, then each part's own. */
static haul_status queue_inputs(runner *self, int count, haul_error *error)
{
    const run_problem *problem = &self->problem;
    const bool shares = hl_overlap_run_problem_shared(problem) > 0;
    /* Arrays that every part needs are copied first, and no part's copy before them: engines serve
     * first come, first served. */
    for (size_t i = 0; i < problem->group_count; i++)
        if (problem->groups[i].is_whole)
            HAUL_TRY(copy(self, &problem->groups[i], 0, 1, error));
    if (shares)
        HAUL_TRY(haul_stream_record(self->streams[0], self->copied[0], error));
    for (int part = 1; part < count && shares; part++)
        HAUL_TRY(haul_stream_wait_event(self->streams[part], self->copied[0], error));
    for (int part = 0; part < count; part++) {
        haul_status status = HAUL_OK;
        for (size_t i = 0; i < problem->group_count && !status; i++)
            if (!problem->groups[i].is_out && !problem->groups[i].is_whole)
                status = copy(self, &problem->groups[i], part, count, error);
        HAUL_TRY(status ? status
                        : haul_stream_record(self->streams[part], self->copied[part], error));
    }
    return HAUL_OK;
}

static haul_status queue_outputs(runner *self, int count, haul_error *error)
{
    const run_problem *problem = &self->problem;
    haul_status status = HAUL_OK;
    for (int part = 0; part < count; part++)
        for (size_t i = 0; i < problem->group_count && !status; i++)
            if (problem->groups[i].is_out)
                status = copy(self, &problem->groups[i], part, count, error);
    return status;
}

static haul_status run_once(runner *self, const haul_run_row *row, double *seconds,
                            haul_error *error)
{
    const int count = (int)row->streams;
    self->problem.place = (self->problem.place + 1) % self->problem.places;
    const int64_t begin_ns = haul_device_now(self->device);
    /* In the order of the paper's figures: all copies in, all kernels, all copies back. */
    const run_problem *problem = &self->problem;
    haul_status status =
        row->strategy == HAUL_STRATEGY_MAPPED ? HAUL_OK : queue_inputs(self, count, error);
    for (int part = 0; part < count && !status; part++) {
        for (int other = 0; other < count && row->strategy != HAUL_STRATEGY_MAPPED && !status;
             other++)
            if (other != part && needs(problem, part, other, count))
                status = haul_stream_wait_event(self->streams[part], self->copied[other], error);
        if (!status)
            status = launch(self, row->strategy, part, count,
                            row->strategy == HAUL_STRATEGY_EXPLICIT ? self->timed : NULL, error);
    }
    const bool copies_back =
        row->strategy == HAUL_STRATEGY_EXPLICIT || row->strategy == HAUL_STRATEGY_STREAMS;
    status = copies_back && !status ? queue_outputs(self, count, error) : status;
    for (int part = 0; part < count && !status; part++)
        status = haul_stream_wait(self->streams[part], error);
    *seconds = 1e-9 * (double)(haul_device_now(self->device) - begin_ns);
    return status;
}

/* --- what is predicted */

/* Time of one of `count` equal shares of a step: the copies in, the kernel, the copies back. */
static haul_status step_time(const runner *self, int step, uint32_t count, double *seconds,
                             haul_error *error)
{
    const haul_overlap_work *work = &self->made.work;
    const double launch_s = fmin(self->machine->gpu.launch_latency_s.value, work->kernel_s);
    haul_estimate estimate = {.seconds = launch_s + (work->kernel_s - launch_s) / count};
    const uint64_t in_bytes = work->in_bytes - hl_overlap_run_problem_shared(&self->problem);
    const haul_copy copied = {(step ? work->out_bytes : in_bytes) / count,
                              step ? HAUL_DIRECTION_DTOH : HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED,
                              HAUL_LOCALITY_NEAR};
    const haul_status status =
        step == 1 ? HAUL_OK : haul_copy_time(self->machine, NULL, &copied, &estimate, error);
    *seconds = estimate.seconds;
    return status;
}

/* The operations of a strategy on a CPU, as the host queues them. */
typedef struct cpu_queue {
    const runner *self;
    cores_op ops[3 * STREAMS_MOST + 1];
    uint32_t count;
    uint32_t last[STREAMS_MOST]; /* of each stream; at first the copy that all others wait for */
} cpu_queue;

static void queue_cpu(cpu_queue *on, uint32_t stream, bool is_kernel, double seconds)
{
    on->ops[on->count] =
        (cores_op){.after = on->last[stream], .is_kernel = is_kernel, .seconds = seconds};
    on->last[stream] = on->count++;
}

/* Arrays that all parts need are a copy by themselves, before the others. */
static haul_status queue_cpu_shared(cpu_queue *on, haul_error *error)
{
    const haul_copy copied = {hl_overlap_run_problem_shared(&on->self->problem),
                              HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR};
    haul_estimate estimate = {.seconds = 0};
    if (!copied.bytes)
        return HAUL_OK;
    HAUL_TRY(haul_copy_time(on->self->machine, NULL, &copied, &estimate, error));
    queue_cpu(on, 0, false, estimate.seconds);
    for (int s = 0; s < STREAMS_MOST; s++)
        on->last[s] = 0;
    return HAUL_OK;
}

/* On a CPU nothing crosses a link: mapped memory is where the kernel finds it, and copies take a
 * core of those that kernels run on. Calls and what hands an operation to the cores keep these from
 * copies and kernels, too, one after another: queue_gap for each operation. */
static haul_status predict_cpu(const runner *self, haul_run_row *row, haul_error *error)
{
    const unsigned cores = haul_device_describe(self->device)->multiprocessors;
    cpu_queue on = {.self = self};
    for (int s = 0; s < STREAMS_MOST; s++)
        on.last[s] = HAUL_NONE;
    /* All copies in, all kernels, all copies back, as far as the strategy has them. */
    const bool is_mapped = row->strategy == HAUL_STRATEGY_MAPPED;
    const uint32_t count = is_mapped ? 1 : row->streams;
    const bool steps[3] = {!is_mapped, true,
                           row->strategy == HAUL_STRATEGY_EXPLICIT ||
                               row->strategy == HAUL_STRATEGY_STREAMS};
    haul_status status = is_mapped ? HAUL_OK : queue_cpu_shared(&on, error);
    for (int step = 0; step < 3; step++)
        for (uint32_t s = 0; s < count && steps[step] && !status; s++) {
            double seconds = 0;
            status = step_time(on.self, step, count, &seconds, error);
            queue_cpu(&on, s, step == 1, seconds);
        }
    HAUL_TRY(status);
    /* The host queues the schedule's operations, and a mark behind each part's copies in, which
     * kernels of other parts wait for. */
    const double queued = (double)(on.count + (is_mapped ? 0 : row->streams));
    row->predicted_s = hl_overlap_cores_time(on.ops, on.count, cores ? cores : 1) +
                       self->machine->gpu.queue_gap_s.value * queued;
    return HAUL_OK;
}

static haul_status predict(runner *self, haul_error *error)
{
    haul_overlap_case of = {.kernel_s = 0};
    const bool is_host = haul_device_describe(self->device)->is_host;
    haul_status status =
        is_host ? HAUL_OK : haul_overlap_describe(self->machine, &self->made.work, &of, error);
    of.launch_s = self->machine->gpu.launch_latency_s.value;
    of.shared_bytes = (double)hl_overlap_run_problem_shared(&self->problem);
    of.marks = true;
    for (size_t i = 0; i < self->made.row_count && !status; i++) {
        haul_run_row *row = &self->made.rows[i];
        status =
            is_host ? predict_cpu(self, row, error)
                    : haul_overlap_play(&of, row->strategy, row->streams, &row->predicted_s, error);
    }
    return status;
}

/* --- all of them */

static void list_rows(runner *self)
{
    static const haul_strategy order[] = {HAUL_STRATEGY_EXPLICIT, HAUL_STRATEGY_MAPPED,
                                          HAUL_STRATEGY_STREAMS, HAUL_STRATEGY_HYBRID};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const uint32_t most = (uint32_t)self->problem.parts;
        if (!self->maps && (order[i] == HAUL_STRATEGY_MAPPED || order[i] == HAUL_STRATEGY_HYBRID))
            continue;
        for (uint32_t s = 1; s <= STREAMS_MOST; s *= 2) {
            self->made.rows[self->made.row_count++] =
                (haul_run_row){.strategy = order[i], .streams = s < most ? s : most};
            if (!haul_strategy_has_streams(order[i]) || s >= most)
                break;
        }
    }
}

/* In turns, so that a machine that is slower for a while is so for all; the first turn warms up,
 * and is checked. */
static haul_status run_all(runner *self, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (unsigned turn = 0; turn <= self->times && !status; turn++)
        for (size_t i = 0; i < self->made.row_count && !status; i++) {
            const haul_run_row *row = &self->made.rows[i];
            const unsigned at = turn ? turn - 1 : 0;
            status = run_once(self, row, &self->seconds[i][at], error);
            if (!status && !turn) {
                const double difference =
                    self->has_data ? hl_overlap_run_problem_check(&self->problem) : 0;
                self->made.difference = fmax(self->made.difference, difference);
                /* single precision, in another order */
                status = difference <= 1e-4
                             ? HAUL_OK
                             : haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                              "'%s' by %s in %u streams is off by %g",
                                              self->made.kernel, haul_strategy_word(row->strategy),
                                              row->streams, difference);
            }
            if (!status && row->strategy == HAUL_STRATEGY_EXPLICIT)
                status = haul_event_seconds(self->timed, self->timed, &self->kernel_s[at], error);
        }
    return status;
}

/* A virtual machine is a quarter slower for seconds at a time: a turn's times are scaled to the
 * pace of the others, the median of its rows. */
static void even_out(runner *self)
{
    double paces[TIMES_MOST], sorted[TIMES_MOST], rows[HAUL_OVERLAP_RUN_ROWS];
    const size_t count = self->made.row_count;
    for (unsigned turn = 0; turn < self->times; turn++) {
        for (size_t i = 0; i < count; i++)
            rows[i] = self->seconds[i][turn];
        sorted[turn] = paces[turn] = hl_base_median(rows, count);
    }
    const double usual_s = hl_base_median(sorted, self->times);
    for (unsigned turn = 0; turn < self->times; turn++) {
        for (size_t i = 0; i < count; i++)
            self->seconds[i][turn] *= usual_s / paces[turn];
        self->kernel_s[turn] *= usual_s / paces[turn];
    }
}

/* By how much a strategy differs from itself, measured in the first half of the turns and in the
 * second, or in every other turn: the median of all. */
static double noise_of(const runner *self, bool by_halves)
{
    double parts[2][TIMES_MOST], apart[HAUL_OVERLAP_RUN_ROWS];
    for (size_t i = 0; i < self->made.row_count && self->times > 1; i++) {
        size_t counts[2] = {0, 0};
        for (unsigned turn = 0; turn < self->times; turn++) {
            const unsigned part = by_halves ? 2 * turn >= self->times : turn % 2;
            parts[part][counts[part]++] = self->seconds[i][turn];
        }
        apart[i] =
            fabs(hl_base_median(parts[0], counts[0]) / hl_base_median(parts[1], counts[1]) - 1);
    }
    return self->times > 1 ? hl_base_median(apart, self->made.row_count) : 0;
}

static void take_times(runner *self)
{
    haul_run *made = &self->made;
    /* asked twice, one behind the other, before the turns are brought to one pace */
    const double again = noise_of(self, true);
    even_out(self);
    made->noise = fmax(again, noise_of(self, false));
    hl_base_sort_doubles(self->kernel_s, self->times);
    made->work = (haul_overlap_work){
        .in_bytes = hl_overlap_run_problem_bytes(&self->problem, false),
        .out_bytes = hl_overlap_run_problem_bytes(&self->problem, true),
        .kernel_s = hl_base_quantile_sorted(self->kernel_s, self->times, 0.5),
        .reads = self->problem.reads,
        .writes = 1,
    };
    for (size_t i = 0; i < made->row_count; i++) {
        double *seconds = self->seconds[i];
        hl_base_sort_doubles(seconds, self->times);
        made->rows[i].measured_s = hl_base_quantile_sorted(seconds, self->times, 0.5);
        made->rows[i].spread = 100 *
                               (hl_base_quantile_sorted(seconds, self->times, 0.75) -
                                hl_base_quantile_sorted(seconds, self->times, 0.25)) /
                               made->rows[i].measured_s;
    }
}

static haul_status open_all(runner *self, const haul_run_options *options, haul_error *error)
{
    const haul_device_properties *is = haul_device_describe(self->device);
    HAUL_TRY(hl_overlap_run_problem_init(&self->problem, options->kernel, options->side, error));
    self->has_data = !self->device->options.without_data;
    self->maps = is->can & HAUL_DEVICE_CAN_MAP;
    self->times = is->is_simulated ? 1 : options->times ? options->times : TIMES;
    self->times = self->times < TIMES_MOST ? self->times : TIMES_MOST;
    self->made.kernel = self->problem.source->name;
    self->made.is_checked = self->has_data;
    list_rows(self);
    self->seconds = calloc(self->made.row_count, sizeof *self->seconds);
    if (!self->seconds)
        return hl_base_fail_no_memory(error);
    for (int i = 0; i < STREAMS_MOST; i++) {
        HAUL_TRY(haul_stream_new(self->device, &self->streams[i], error));
        HAUL_TRY(haul_event_new(self->device, &self->copied[i], error));
    }
    HAUL_TRY(haul_event_new(self->device, &self->timed, error));
    HAUL_TRY(haul_kernel_new(self->device, self->problem.source, &self->kernel, error));
    return hl_overlap_run_problem_allocate(&self->problem, self->device, self->has_data, error);
}

static void close_all(runner *self)
{
    hl_overlap_run_problem_release(&self->problem);
    haul_kernel_free(self->kernel);
    haul_event_free(self->timed);
    for (int i = 0; i < STREAMS_MOST; i++) {
        haul_event_free(self->copied[i]);
        haul_stream_free(self->streams[i]);
    }
    free(self->seconds);
}

haul_status haul_overlap_run(haul_device *device, const haul_machine *machine,
                             const haul_run_options *options, haul_run *run, haul_error *error)
{
    runner *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->device = device;
    self->machine = machine;
    haul_status status = open_all(self, options, error);
    const hl_base_load before = hl_base_load_now();
    if (!status)
        status = run_all(self, error);
    if (!status) {
        take_times(self);
        self->made.others_cores =
            haul_device_describe(device)->is_simulated ? -1 : hl_base_load_others(&before);
        /* A load that stays throughout shows in no turn: without it a CPU's run takes less. */
        if (haul_device_describe(device)->is_host)
            self->made.noise = fmax(self->made.noise, hl_base_load_share(self->made.others_cores));
        status = predict(self, error);
    }
    if (!status) {
        for (size_t i = 0; i < self->made.row_count; i++) {
            if (self->made.rows[i].measured_s < self->made.rows[self->made.best].measured_s)
                self->made.best = i;
            if (self->made.rows[i].predicted_s <
                self->made.rows[self->made.predicted_best].predicted_s)
                self->made.predicted_best = i;
        }
        self->made.loss = self->made.rows[self->made.predicted_best].measured_s /
                              self->made.rows[self->made.best].measured_s -
                          1;
        *run = self->made;
    }
    close_all(self);
    free(self);
    return status;
}
