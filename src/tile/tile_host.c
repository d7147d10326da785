/* Loops on the host's memory. A block of steps runs in tiles of rows, each of which goes through
 * the planes as a wavefront: step i is `skew` planes and rows behind the front, so that what it
 * reads is still in the cache. Tiles run on all cores, each behind the one before it. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "tile/tile_host.h"
#include "tile/tile_trace.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { SPINS = 200 };

/* A step's arguments. */
typedef struct call {
    const hl_tile_step *step;
    void *arguments[HL_TILE_ARGUMENTS];
    haul_checked_view views[HL_TILE_USES]; /* the plain view is the first member */
    haul_fault fault;
    haul_fault *sampled; /* the fault, where accesses of the cell `sample` are checked; else NULL */
    int sample[3];
    bool is_poisoned;    /* cells that the step leaves unset are looked for */
    hl_tile_unset unset; /* the first one */
    haul_rows places[HL_TILE_USES];
    void *rows[HL_TILE_USES]; /* of reductions */
} call;

/* A block, or a loop cut into runs of planes. */
typedef struct job {
    call *calls;
    size_t count;
    int outer;
    bool is_wave;
    bool is_apart; /* uses any cell of an array that other jobs change: none runs beside it */
    int width;     /* rows a tile, or planes a run */
    int first;     /* plane of the runs */
    int depth;     /* planes that a front goes on at once */
    int tiles;
    int fronts;
    int reach;
    hl_tile_round rounds[2]; /* of planes and of rows */
    atomic_int *done;        /* fronts that a tile has done */
    atomic_int finished;
    hl_tile_way way;
    atomic_llong busy_ns; /* processor time of all tiles, where the way is tried */
    haul_device *clock;   /* NULL: not timed */
    int64_t span[2];      /* of the job, by the clock */
} job;

static int thread_count(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* All of a step's arguments at once: its parts differ in their box alone. */
static haul_status prepare(call *self, const hl_tile_step *step, haul_error *error)
{
    const haul_kernel_source *source = step->source;
    haul_context *context = step->uses[0].field->context;
    size_t at = 0;
    unsigned use = 0;
    self->step = step;
    if (!context->is_checked && hl_tile_sample_choose(context, step, self->sample))
        self->sampled = &self->fault;
    self->is_poisoned = context->is_poisoning;
    for (unsigned i = 0; source && i < source->parameter_count - source->reduces; i++) {
        const haul_kernel_parameter *parameter = &source->parameters[i];
        if (parameter->halo < 0) {
            self->arguments[i] = (void *)(step->values + at);
            at += hl_tile_value_bytes(parameter);
            continue;
        }
        const hl_tile_field *field = step->uses[use].field;
        if (step->uses[use].reduction) {
            uint64_t count;
            self->places[use] = hl_tile_rows_of(step, &step->uses[use], &count);
            self->rows[use] =
                step->cut ? step->cut->rows[use] : hl_tile_rows_new(step, &step->uses[use], &count);
            if (!self->rows[use])
                return hl_base_fail_no_memory(error);
            self->arguments[i] = self->rows[use];
            self->arguments[++i] = &self->places[use++];
            continue;
        }
        haul_checked_view *view = &self->views[use];
        view->view = hl_tile_field_view(field, -field->edge, false);
        view->view.base += hl_tile_is_along(step, &step->uses[use]) ? step->first : 0;
        if (field->context->is_checking) {
            view->view.ring = -1;
            view->bounds = hl_tile_bounds_of(step, use, &self->fault);
        }
        self->arguments[i] = field->host + (uint64_t)field->lead * field->element;
        self->arguments[++i] = &self->views[use++];
    }
    return HAUL_OK;
}

/* Folds the rows of a job of reductions, and frees their memory, where they are its own. */
static void close_call(call *self, bool has_run)
{
    for (unsigned u = 0; self->step && !self->step->cut && u < self->step->use_count; u++) {
        if (self->rows[u] && has_run)
            hl_tile_rows_fold(self->step, &self->step->uses[u], self->rows[u]);
        free(self->rows[u]);
    }
}

/* Where a part of the step's box has the cell that is checked, it is computed first. */
static void run_sample(const call *self, const haul_box *box)
{
    bool has_it = true;
    for (int d = 0; d <= self->step->outer; d++)
        has_it = has_it && self->sample[d] >= box->lo[d] && self->sample[d] < box->hi[d];
    if (has_it)
        hl_tile_sample_run(self->step, self->sample, self->arguments, self->sampled);
}

static void run_box(const call *self, haul_box box)
{
    const haul_kernel_source *source = self->step->source;
    box = hl_tile_box_moved(box, self->step->outer, self->step->first);
    if (!source->reduces) {
        source->host(&box, &box, self->arguments);
        return;
    }
    /* Groups of rows, whose box is the kernel's last argument. */
    const haul_box groups = hl_tile_row_groups(&box, (int)source->dimensions);
    void *arguments[HL_TILE_ARGUMENTS];
    memcpy(arguments, self->arguments, sizeof arguments);
    arguments[source->parameter_count - 1] = &box;
    source->host(&groups, &groups, arguments);
}

/* Run again, a loop of these arrays gives the same. */
static bool can_run_again(const hl_tile_step *step)
{
    bool can = true;
    for (unsigned u = 0; u < step->use_count; u++)
        can = can && !(step->uses[u].reads && step->uses[u].writes);
    return can;
}

/* The part once more, with other rows for reductions, whose results count once. False for lack of
 * memory. */
static bool run_again(const call *self, const haul_box *box, int byte)
{
    const hl_tile_step *step = self->step;
    call again = *self;
    bool is_ready = true;
    for (unsigned u = 0; u < step->use_count; u++) {
        uint64_t bytes;
        if (!self->rows[u])
            continue;
        again.rows[u] = hl_tile_rows_new(step, &step->uses[u], &bytes);
        is_ready = is_ready && again.rows[u];
        for (unsigned i = 0; i < step->source->parameter_count; i++)
            if (self->arguments[i] == self->rows[u])
                again.arguments[i] = again.rows[u];
    }
    if (is_ready) {
        hl_tile_poison_set(step, box, byte);
        run_box(&again, *box);
    }
    for (unsigned u = 0; u < step->use_count; u++)
        if (self->rows[u])
            free(again.rows[u]);
    return is_ready;
}

/* A value may look like the poison: a cell that keeps two of them is not set. */
static void settle_unset(call *self, const haul_box *box, unsigned use)
{
    const hl_tile_step *step = self->step;
    int at[3];
    if (!can_run_again(step)) {
        if (step->uses[use].field->element_kind == HAUL_ELEMENT_FLOATING &&
            hl_tile_poison_find(step, use, box, (hl_tile_poison){HL_TILE_POISON, NULL}, at))
            hl_tile_unset_note(&self->unset, use, at);
        return;
    }
    bool is_known = run_again(self, box, HL_TILE_POISON);
    char *before = is_known ? hl_tile_poison_keep(step, use, box) : NULL;
    is_known = before && run_again(self, box, HL_TILE_OTHER_POISON);
    if (!is_known)
        __atomic_store_n(&self->unset.lacks_memory, true, __ATOMIC_RELAXED);
    else if (hl_tile_poison_find(step, use, box, (hl_tile_poison){HL_TILE_OTHER_POISON, before},
                                 at))
        hl_tile_unset_note(&self->unset, use, at);
    free(before);
}

static void run_poisoned(call *self, const haul_box *box)
{
    const hl_tile_step *step = self->step;
    unsigned suspect = 0;
    int at[3];
    hl_tile_poison_set(step, box, HL_TILE_POISON);
    run_box(self, *box);
    for (unsigned u = 0; u < step->use_count; u++)
        if (hl_tile_poison_find(step, u, box, (hl_tile_poison){HL_TILE_POISON, NULL}, at))
            suspect |= 1U << u;
    for (unsigned u = 0; u < step->use_count; u++)
        if (suspect >> u & 1)
            settle_unset(self, box, u);
}

/* In pieces that stay in the cache from the poison to the search. A reduction's rows stay in their
 * groups. */
static void run_in_pieces(call *self, const haul_box *box)
{
    const int cut = self->step->outer ? 1 : 0; /* the last dimension but of three */
    const int row = cut ? most(1, box->hi[0] - box->lo[0]) : 1,
              rows = most(1, HL_TILE_FRONT_CELLS / row);
    haul_box piece = *box;
    if (self->step->source->reduces) {
        run_poisoned(self, box);
        return;
    }
    for (piece.lo[2] = box->lo[2]; piece.lo[2] < box->hi[2]; piece.lo[2]++) {
        piece.hi[2] = piece.lo[2] + 1;
        for (int at = box->lo[cut]; at < box->hi[cut]; at = piece.hi[cut]) {
            piece.lo[cut] = at;
            piece.hi[cut] = least(at + rows, box->hi[cut]);
            run_poisoned(self, &piece);
        }
    }
}

/* The part of a step's box within planes [plane, plane_end) and rows [row, row_end). */
static void run_part(call *self, const int planes[2], const int rows[2])
{
    const hl_tile_step *step = self->step;
    const int outer = step->outer;
    haul_box box = step->box;
    for (int d = 0; d < 3; d++)
        if (d > outer && box.lo[d] == box.hi[d])
            box.hi[d] = box.lo[d] + 1; /* dimensions that are not there */
    box.lo[outer] = most(box.lo[outer], planes[0]);
    box.hi[outer] = least(box.hi[outer], planes[1]);
    if (outer) {
        box.lo[outer - 1] = most(box.lo[outer - 1], rows[0]);
        box.hi[outer - 1] = least(box.hi[outer - 1], rows[1]);
        if (box.lo[outer - 1] >= box.hi[outer - 1])
            return;
    }
    if (box.lo[outer] >= box.hi[outer])
        return;
    if (self->sampled)
        run_sample(self, &box);
    if (step->source && self->is_poisoned)
        run_in_pieces(self, &box);
    else if (step->source)
        run_box(self, box);
    if (step->source)
        return;
    const int lo[2] = {box.lo[outer], outer ? box.lo[outer - 1] : 0};
    const int hi[2] = {box.hi[outer], outer ? box.hi[outer - 1] : 1};
    hl_tile_ghosts_on_host(step->uses[0].field, lo, hi);
}

/* Spins for a while, as waits are mostly short, then gives the core away: there may be more threads
 * than cores. */
static void wait_for(atomic_int *value, int least_value)
{
    for (int spins = 0; atomic_load_explicit(value, memory_order_acquire) < least_value; spins++)
        if (spins > SPINS)
            sched_yield();
}

/* Of a range that goes round, the part up to the end and the one from the start on. */
static void cut_range(const hl_tile_round *round, int skew, const int range[2], int parts[2][2])
{
    const int begin = skew + round->beyond, length = round->length;
    const int lo = length ? most(range[0], begin) : range[0];
    const int hi = length ? least(range[1], begin + length) : range[1];
    parts[0][0] = lo;
    parts[0][1] = length ? least(hi, length) : hi;
    parts[1][0] = most(lo, length) - length;
    parts[1][1] = length ? hi - length : INT32_MIN;
}

/* Step i is `skew` planes and rows behind the front. The first front and tile reach back to the
 * array's edge, the last tile to its end. */
static void run_front(const job *self, int tile, int front)
{
    for (size_t i = 0; i < self->count; i++) {
        const int skew = self->calls[i].step->skew;
        const int planes[2] = {front ? front * self->depth - skew : INT32_MIN,
                               (front + 1) * self->depth - skew};
        const int rows[2] = {tile ? tile * self->width - skew : INT32_MIN,
                             tile + 1 < self->tiles ? (tile + 1) * self->width - skew : INT32_MAX};
        int parts[2][2][2];
        cut_range(&self->rounds[0], skew, planes, parts[0]);
        cut_range(&self->rounds[1], skew, rows, parts[1]);
        for (int p = 0; p < 4; p++)
            run_part(&self->calls[i], parts[0][p / 2], parts[1][p % 2]);
    }
}

/* Until the job before has written all that the tile reads, and reads nothing that it writes. */
static void wait_for_job(const job *self, job *before, int tile)
{
    if (!self->is_wave || !before->is_wave || self->is_apart || before->is_apart ||
        self->rounds[1].length || before->rounds[1].length || self->outer != before->outer) {
        wait_for(&before->finished, before->tiles);
        return;
    }
    const int rows = (tile + 1) * self->width + self->reach;
    const int last = least((rows + before->reach) / before->width + 1, before->tiles - 1);
    wait_for(&before->done[last], before->fronts);
}

static long long thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Processor time, as other programs may run beside; without the waits, which spin. */
static void run_timed_front(job *self, int tile, int front)
{
    const long long began = thread_ns();
    run_front(self, tile, front);
    atomic_fetch_add_explicit(&self->busy_ns, thread_ns() - began, memory_order_relaxed);
}

/* The release store makes a front's cells visible to the tile that waits for it. */
static void run_tile(job *jobs, size_t index, int tile)
{
    job *self = &jobs[index];
    if (index)
        wait_for_job(self, self - 1, tile);
    if (self->clock && !tile)
        self->span[0] = haul_device_now(self->clock);
    if (self->is_wave) {
        for (int front = 0; front < self->fronts; front++) {
            if (tile)
                wait_for(&self->done[tile - 1], front + 1);
            if (self->way.trial)
                run_timed_front(self, tile, front);
            else
                run_front(self, tile, front);
            atomic_store_explicit(&self->done[tile], front + 1, memory_order_release);
        }
    } else {
        const int begin = self->first + tile * self->width;
        const int planes[2] = {tile ? begin : INT32_MIN,
                               tile + 1 < self->tiles ? begin + self->width : INT32_MAX};
        const int rows[2] = {INT32_MIN, INT32_MAX};
        run_part(self->calls, planes, rows);
    }
    if (atomic_fetch_add_explicit(&self->finished, 1, memory_order_acq_rel) + 1 == self->tiles &&
        self->clock)
        self->span[1] = haul_device_now(self->clock);
}

/* Tiles are taken in order: those that a tile waits for have been taken before it. */
static void run_jobs(job *jobs, size_t count)
{
    atomic_size_t next = 0;
    size_t tiles = 0;
    for (size_t i = 0; i < count; i++)
        tiles += (size_t)jobs[i].tiles;
#ifdef _OPENMP
#pragma omp parallel
#endif
    {
        size_t at, index = 0, first = 0;
        while ((at = atomic_fetch_add(&next, 1)) < tiles) {
            while (at >= first + (size_t)jobs[index].tiles)
                first += (size_t)jobs[index++].tiles;
            run_tile(jobs, index, (int)(at - first));
        }
    }
}

/* Setting cells beyond the edges, and a loop whose cells are in order, goes from one end to the
 * other: in one run. */
static void make_runs(const hl_tile_block *block, job *self)
{
    const hl_tile_step *step = block->steps;
    const int planes = step->box.hi[self->outer] - step->box.lo[self->outer];
    /* several runs a thread, so that a thread that is held up has fewer of them */
    const int runs = step->source && !step->is_ordered ? least(planes, 4 * thread_count()) : 1;
    self->first = step->box.lo[self->outer];
    self->width = most(1, (planes + runs - 1) / most(1, runs));
    if (!self->outer) { /* rows of a reduction stay whole: they begin at multiples of their length
                         */
        const int begin = self->first + step->first;
        self->first -= begin - haul_row_at(begin) * HAUL_ROW_CELLS;
        self->width = (self->width + HAUL_ROW_CELLS - 1) / HAUL_ROW_CELLS * HAUL_ROW_CELLS;
    }
    self->tiles =
        most(1, (step->box.hi[self->outer] - self->first + self->width - 1) / self->width);
}

/* Where the front is when the last step ends. */
static int front_end(const hl_tile_round *round, int end, int skew)
{
    return round->length ? round->length + round->beyond + 2 * skew : end + skew;
}

/* A block of several steps becomes a wavefront, a single step plain runs of planes. */
static haul_status make_job(haul_context *context, const hl_tile_block *block, hl_tile_way way,
                            job *self, haul_error *error)
{
    call *calls = self->calls;
    const bool is_timed = context->trace && context->memory.is_host;
    *self = (job){.calls = calls,
                  .count = block->count,
                  .outer = block->steps[0].outer,
                  .depth = 1,
                  .way = way,
                  .clock = is_timed ? context->memory.device : NULL};
    for (size_t i = 0; i < block->count; i++) {
        HAUL_TRY(prepare(&calls[i], &block->steps[i], error));
    }
    if (block->count > 1) {
        int rows = 0, planes = 0, cells = 1, skew = 0;
        for (size_t i = 0; i < block->count; i++) {
            const hl_tile_step *step = &block->steps[i];
            rows = most(rows, step->box.hi[self->outer - 1]);
            planes = most(planes, step->box.hi[self->outer]);
            cells = self->outer == 2 ? most(cells, step->box.hi[0] - step->box.lo[0]) : cells;
            skew = most(skew, step->skew);
        }
        self->is_wave = true;
        self->reach = block->reach;
        memcpy(self->rounds, block->rounds, sizeof self->rounds);
        const int all_rows = front_end(&self->rounds[1], rows, skew);
        const hl_tile_shape shape = hl_tile_shape_choose(
            context, block, way.is_far, &(hl_tile_extent){all_rows, cells, thread_count()});
        self->width = shape.rows;
        self->depth = shape.planes;
        self->tiles = most(1, (all_rows + self->width - 1) / self->width);
        /* the first has all planes before the array's first, which may be the only ones */
        self->fronts =
            most(1, (front_end(&self->rounds[0], planes, skew) + self->depth - 1) / self->depth);
    } else
        make_runs(block, self);
    self->done = calloc((size_t)self->tiles, sizeof *self->done);
    context->last.steps = (unsigned)block->count;
    context->last.rows = self->is_wave ? self->width : 0;
    context->last.planes = self->depth;
    context->last.is_far = way.is_far;
    return self->done ? HAUL_OK : hl_base_fail_no_memory(error);
}

/* Device copies are brought home before, and are stale after. */
static haul_status bring_home(haul_context *context, const hl_tile_step *steps, size_t count,
                              haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t s = 0; s < count && !context->memory.is_host; s++)
        for (unsigned u = 0; u < steps[s].use_count; u++) {
            const hl_tile_field_use *use = &steps[s].uses[u];
            hl_tile_field *field = use->field;
            const bool is_later = hl_tile_is_set_later(&steps[s], use);
            if (field->planes_stale && !status)
                status = hl_tile_planes_wrap(field, error);
            for (int i = 0; i < field->part_count && !status && !is_later; i++) {
                if (!hl_tile_step_touches(&steps[s], use, use->halo, i))
                    continue;
                status = hl_tile_part_fetch(field, i, true, error);
                if (!status && use->writes)
                    field->parts[i].on_device = false;
            }
            field->frame_stale =
                field->frame_stale || (use->writes && (!steps[s].source || field->ghosts_written));
        }
    return status;
}

static bool reduces(const hl_tile_block *block)
{
    bool is_one = false;
    for (size_t i = 0; i < block->count; i++)
        is_one = is_one || (block->steps[i].source && block->steps[i].source->reduces);
    return is_one;
}

typedef struct job_run {
    job *jobs;
    size_t count;
} job_run;

static void run_called(void *state)
{
    const job_run *self = state;
    run_jobs(self->jobs, self->count);
}

static bool has_limit(const haul_context *context)
{
    return context->device_options.time_limit_s > 0;
}

/* Jobs that run out of time go on: the context is then stuck, and what they use is left to them. */
static haul_status run_within_limit(haul_context *context, job *jobs, size_t count,
                                    haul_error *error)
{
    if (!has_limit(context)) {
        run_jobs(jobs, count);
        return HAUL_OK;
    }
    /* A thread of the host's own, whose waits know time limits. */
    if (!context->limited.stream) {
        if (!context->memory.is_host)
            HAUL_TRY(haul_device_open("host", &context->device_options, &context->limited.device,
                                      error));
        haul_device *device =
            context->memory.is_host ? context->memory.device : context->limited.device;
        HAUL_TRY(haul_stream_new(device, &context->limited.stream, error));
    }
    job_run *run = malloc(sizeof *run);
    if (!run)
        return hl_base_fail_no_memory(error);
    *run = (job_run){jobs, count};
    haul_status status = haul_stream_call(context->limited.stream, run_called, run, NULL, error);
    if (!status) {
        status = haul_stream_wait(context->limited.stream, error);
        context->limited.is_stuck = status != HAUL_OK;
    }
    if (!context->limited.is_stuck)
        free(run);
    return status;
}

/* Tiles that follow each other know what they share of arrays that all go along with alone. */
static bool is_apart(const hl_tile_block *block, const hl_tile_step *steps, size_t count)
{
    for (unsigned i = 0; i < block->field_count; i++)
        for (size_t s = 0; s < count && !block->fields[i].is_aligned; s++)
            for (unsigned u = 0; u < steps[s].use_count; u++)
                if (steps[s].uses[u].writes && steps[s].uses[u].field == block->fields[i].field)
                    return true;
    return false;
}

/* Runs the jobs, and notes them: beside a device they are one span of the calling thread, by the
 * device's clock of the host. */
static haul_status run_noted(haul_context *context, job *jobs, size_t count, haul_error *error)
{
    const int64_t began_ns = context->trace ? haul_device_now(context->memory.device) : 0;
    HAUL_TRY(run_within_limit(context, jobs, count, error));
    if (!context->trace)
        return HAUL_OK;
    const int64_t span[2] = {began_ns, haul_device_now(context->memory.device)};
    size_t loops = 0;
    for (size_t i = 0; i < count; i++) {
        loops += jobs[i].count;
        if (context->memory.is_host)
            hl_tile_note_host_loops(context, jobs[i].calls->step, jobs[i].count - 1, jobs[i].span,
                                    began_ns);
    }
    if (!context->memory.is_host && count)
        hl_tile_note_host_loops(context, jobs->calls->step, loops - 1, span, began_ns);
    return HAUL_OK;
}

static void note_time(job *self)
{
    double cells = 1;
    for (size_t i = 0; i < self->count; i++) {
        const haul_box *box = &self->calls[i].step->box;
        double own = 1;
        for (int d = 0; d <= self->outer; d++)
            own *= box->hi[d] - box->lo[d];
        cells += self->calls[i].step->source ? own : 0;
    }
    hl_tile_way_note(&self->way, self->count, (double)atomic_load(&self->busy_ns) / cells);
}

/* Makes the jobs of all steps, up to the next reduction or trial, before any runs: tiles of a job
 * may then begin while the job before still runs. */
static haul_status run_steps(haul_context *context, hl_tile_step *steps, size_t count,
                             haul_error *error)
{
    job *jobs = calloc(count, sizeof *jobs);
    call *calls = calloc(count, sizeof *calls);
    size_t made = 0, taken = 0, loops = 0;
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < count; i++)
        loops += hl_tile_loops_of(&steps[i]);
    if (!jobs || !calls) {
        free(jobs);
        free(calls);
        return hl_base_fail_no_memory(error);
    }
    for (size_t first = 0, ran = 0; !status && taken < count; first = made, ran = taken) {
        for (bool is_last = false; !status && !is_last && taken < count;) {
            const hl_tile_way way =
                hl_tile_way_choose(context, steps + taken, count - taken, loops, thread_count());
            const hl_tile_block_limits limits = {way.steps, INT32_MAX, .in_host_rows = true,
                                                 .can_round = true};
            hl_tile_block block;
            hl_tile_block_take(&block, steps + taken, count - taken, &limits);
            jobs[made].calls = calls + taken;
            status = make_job(context, &block, way, &jobs[made], error);
            jobs[made].is_apart = is_apart(&block, steps, count);
            taken += block.count;
            loops -= block.loops;
            made++;
            is_last = reduces(&block) || way.trial;
        }
        if (!status)
            status = run_noted(context, jobs + first, made - first, error);
        if (context->limited.is_stuck) {
            context->limited.jobs = jobs;
            context->limited.calls = calls;
            return status;
        }
        for (size_t i = first; i < made; i++)
            note_time(&jobs[i]);
        for (size_t i = ran; i < taken; i++) {
            close_call(&calls[i], !status);
            if (calls[i].fault.is_taken && !status)
                status = hl_tile_fault_tell(calls[i].step, &calls[i].fault, error);
            if (!status)
                status = hl_tile_unset_tell(calls[i].step, &calls[i].unset, error);
        }
    }
    context->counts.passes += made;
    context->counts.kernels += count;
    for (size_t i = 0; i < made; i++)
        free(jobs[i].done);
    free(jobs);
    free(calls);
    return status;
}

/* With a time limit the steps are copied, as jobs may outlive the queue's. */
haul_status hl_tile_host_run(haul_context *context, hl_tile_step *steps, size_t count,
                             haul_error *error)
{
    HAUL_TRY(bring_home(context, steps, count, error));
    if (context->memory.without_data)
        return HAUL_OK;
    if (context->limited.is_stuck)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                              "the host is lost: an earlier loop ran out of time");
    if (!has_limit(context))
        return run_steps(context, steps, count, error);
    hl_tile_step *own = malloc(count * sizeof *own);
    if (!own)
        return hl_base_fail_no_memory(error);
    memcpy(own, steps, count * sizeof *own);
    const haul_status status = run_steps(context, own, count, error);
    if (context->limited.is_stuck) {
        for (size_t i = 0; i < count; i++)
            for (unsigned u = 0; u < own[i].use_count; u++)
                own[i].uses[u].field->is_stuck = true;
    } else
        free(own);
    return status;
}
