/* Arrays over processes. Each holds a run of planes, and counts them from 0; its ghost planes are
 * its neighbours' cells. A loop that reads them begins with the planes that do not, while messages
 * are under way. */
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

/* A field has two neighbours, each with a message in and one out. CHUNK: cells that are computed on
 * the host between looks at the messages, well below a millisecond. LABELS: haul/tile.h. */
enum { MESSAGES = 4, CHUNK = 1 << 16, LABELS = 16384 };

typedef struct exchange {
    haul_context *context;
    const haul_processes *processes;
    haul_field *fields[HAUL_USES];
    unsigned count;
} exchange;

/* Messages from and to one neighbour. */
typedef struct side {
    int peer; /* -1: none */
    int sent; /* planes from this one on */
    int received;
} side;

static int share_first(const haul_processes *processes, int whole, int rank)
{
    return (int)((int64_t)whole * rank / processes->count);
}

haul_status haul_field_share(haul_field *field, bool on_all, haul_error *error)
{
    const haul_context *context = field->context;
    const haul_processes *processes = context->options.processes;
    const int outer = field->dims - 1, whole = field->length;
    bool is_cell = true;
    for (int d = 0; d < field->dims; d++)
        is_cell = is_cell && field->size[d] == 1;
    field->whole = whole;
    if (!processes || processes->count < 2 || on_all || is_cell)
        return HAUL_OK;
    if (context->without_data)
        return haul_fail(error, HAUL_USAGE, "a device without data has no cells to exchange");
    if (whole / processes->count < (field->edge ? field->edge : 1))
        return haul_fail(error, HAUL_USAGE,
                         "an array of %d planes, %d beyond each edge, is too small for %d "
                         "processes; `on_all` gives it to each",
                         whole, field->edge, processes->count);
    field->first = share_first(processes, whole, processes->rank);
    field->length = share_first(processes, whole, processes->rank + 1) - field->first;
    field->size[outer] = field->length;
    field->is_ring = field->boundary[outer] == HAUL_BOUNDARY_PERIODIC && !field->boundary_kernel;
    const bool has_edge = !field->first || field->first + field->length == whole;
    if (field->is_ring || !has_edge)
        field->boundary[outer] = HAUL_BOUNDARY_FIXED;
    return HAUL_OK;
}

/* The first and the last process have what is beyond the array's edges. */
void haul_step_localise(haul_step *step)
{
    int *lo = &step->box.lo[step->outer], *hi = &step->box.hi[step->outer];
    if (step->length == step->whole)
        return;
    *lo = *lo < step->first && step->first ? 0 : *lo - step->first;
    *hi -= step->first;
    if (*hi > step->length && step->first + step->length < step->whole)
        *hi = step->length;
    if (*lo > *hi)
        *lo = *hi;
}

haul_status haul_step_check_shares(const haul_step *step, haul_error *error)
{
    const bool is_divided = step->length != step->whole;
    for (unsigned i = 0; i < step->use_count; i++) {
        const haul_field_use *use = &step->uses[i];
        if (haul_is_along(step, use) || use->reduction)
            continue;
        if (haul_is_divided(use->field) || (is_divided && use->writes))
            return haul_fail(error, HAUL_USAGE,
                             "kernel '%s' uses an array of %d planes beside one of %d: one of them "
                             "is divided over the processes",
                             step->source->name, use->field->whole, step->whole);
    }
    return HAUL_OK;
}

static side side_of(const exchange *self, const haul_field *field, bool is_high)
{
    const int rank = self->processes->rank, count = self->processes->count;
    const int peer = is_high ? rank + 1 : rank - 1;
    const bool is_there = field->is_ring || (peer >= 0 && peer < count);
    return (side){
        .peer = is_there ? (peer + count) % count : -1,
        .sent = is_high ? field->length - field->edge : 0,
        .received = is_high ? field->length : -field->edge,
    };
}

/* Planes [first, first + edge), as far as the device alone has them, on their way to the host. */
static haul_status fetch(const haul_field *field, int first, haul_error *error)
{
    haul_context *context = field->context;
    haul_status status = HAUL_OK;
    for (int i = 0; i < field->part_count && !status; i++) {
        const haul_part *part = &field->parts[i];
        const int begin = haul_part_begin(field, i), end = haul_part_end(field, i);
        const int last = first + field->edge;
        const haul_planes planes = {begin > first ? begin : first, end < last ? end : last,
                                    part->shift};
        if (planes.first >= planes.end)
            continue;
        if (part->is_leaving)
            status = haul_tile_host_wait(context, context->down, error);
        else if (part->on_device && !part->on_host)
            status = haul_planes_copy((haul_field *)field, planes, context->home, error);
    }
    return status;
}

/* After the loops that are queued; loops that are queued later do not hold it up. */
static haul_status fetch_all(const exchange *self, haul_error *error)
{
    haul_context *context = self->context;
    haul_status status = HAUL_OK;
    if (context->is_host)
        return HAUL_OK;
    status = haul_tile_record(context, context->run, context->computed, error);
    if (!status)
        status = haul_tile_wait(context, context->home, context->computed, error);
    if (!status) /* ghost planes may be brought */
        status = haul_tile_wait(context, context->up, context->computed, error);
    for (unsigned i = 0; i < self->count; i++)
        for (int high = 0; high < 2 && !status; high++) {
            const side from = side_of(self, self->fields[i], high);
            if (from.peer >= 0)
                status = fetch(self->fields[i], from.sent, error);
        }
    return status;
}

/* Between two processes that are neighbours twice, messages are told apart by their order. */
static haul_status start(const exchange *self, haul_error *error)
{
    haul_process_message messages[MESSAGES * HAUL_USES];
    int count = 0;
    haul_status status = HAUL_OK;
    if (!self->context->is_host) {
        status = haul_tile_host_wait(self->context, self->context->home, error);
        if (!status) /* of loops that brought what is about to change */
            status = haul_tile_host_wait(self->context, self->context->up, error);
    }
    for (unsigned i = 0; i < self->count; i++) {
        const haul_field *field = self->fields[i];
        const uint64_t bytes = (uint64_t)field->edge * field->plane_bytes;
        for (int high = 0; high < 2; high++) {
            const side to = side_of(self, field, high), from = side_of(self, field, !high);
            if (to.peer >= 0)
                messages[count++] =
                    (haul_process_message){to.peer, field->number % LABELS, true,
                                           field->host + haul_field_offset(field, to.sent), bytes};
            if (from.peer >= 0)
                messages[count++] = (haul_process_message){
                    from.peer, field->number % LABELS, false,
                    field->host + haul_field_offset(field, from.received), bytes};
            self->context->counts.bytes_sent += to.peer >= 0 ? bytes : 0;
        }
        self->context->counts.exchanges++;
    }
    return status ? status : haul_tile_start(self->context, messages, count, error);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The host has the ghost planes; where the device has their region, it gets them too. */
static haul_status finish(exchange *self, haul_error *error)
{
    const double since = now_s();
    haul_status status = haul_tile_finish(self->context, error);
    self->context->counts.exposed_s += now_s() - since;
    for (unsigned i = 0; i < self->count; i++)
        for (int high = 0; high < 2 && !status; high++) {
            haul_field *field = self->fields[i];
            const int first = side_of(self, field, high).received;
            const haul_part *part = &field->parts[high ? field->part_count - 1 : 0];
            if (side_of(self, field, high).peer >= 0 && part->on_device)
                status =
                    haul_planes_copy(field, (haul_planes){first, first + field->edge, part->shift},
                                     self->context->up, error);
        }
    self->count = 0;
    return status;
}

/* Planes that the step reads beyond its own, of the fields whose ghost planes are under way; -1:
 * it must wait. */
static int reach_of(const exchange *self, const haul_step *step)
{
    int reach = 0;
    bool is_free = step->source && !step->source->reduces && !self->context->options.exchange_first;
    for (unsigned u = 0; u < step->use_count; u++) {
        const haul_field_use *use = &step->uses[u];
        bool is_pending = false;
        for (unsigned i = 0; i < self->count; i++)
            is_pending = is_pending || self->fields[i] == use->field;
        reach = is_pending && use->halo > reach ? use->halo : reach;
        is_free = is_free && !(is_pending && use->writes);
        if (!self->context->is_host)
            is_free = is_free && !step->on_host && haul_field_is_all_there(use->field);
    }
    return is_free ? reach : -1;
}

/* Planes [first, end) of the step's. */
static haul_status run_planes(haul_context *context, const haul_step *step, int first, int end,
                              haul_error *error)
{
    haul_step part = *step;
    int *lo = &part.box.lo[step->outer], *hi = &part.box.hi[step->outer];
    *lo = *lo > first ? *lo : first;
    *hi = *hi < end ? *hi : end;
    return *lo < *hi ? haul_steps_run(context, &part, 1, error) : HAUL_OK;
}

/* On the host in runs of few planes, between which the messages go on. */
static haul_status run_inner(const exchange *self, const haul_step *step, int first, int end,
                             haul_error *error)
{
    int64_t cells = 1;
    for (int d = 0; d < step->outer; d++)
        cells *= step->box.hi[d] - step->box.lo[d];
    const int planes = cells < CHUNK ? (int)(CHUNK / (cells ? cells : 1)) : 1;
    haul_status status = HAUL_OK;
    if (!self->context->is_host)
        return run_planes(self->context, step, first, end, error);
    for (int at = first; at < end && !status; at += planes) {
        status = run_planes(self->context, step, at, end - at < planes ? end : at + planes, error);
        if (!status)
            status = self->processes->advance(self->processes->of, error);
    }
    return status;
}

/* A step after exchanges: first what needs none of them. On a device it is queued before the host
 * waits for the planes that it sends. */
static haul_status run_beside(exchange *self, const haul_step *step, haul_error *error)
{
    haul_context *context = self->context;
    const int reach = reach_of(self, step);
    const int lo = step->box.lo[step->outer], hi = step->box.hi[step->outer];
    int first = lo < reach ? reach : lo,
        end = hi > step->length - reach ? step->length - reach : hi;
    if (reach < 0 || first >= end)
        first = end = hi;
    haul_status status = fetch_all(self, error);
    if (!status && context->is_host)
        status = start(self, error);
    if (!status)
        status = run_inner(self, step, first, end, error);
    if (!status && !context->is_host)
        status = start(self, error);
    if (!status)
        status = finish(self, error);
    if (!status)
        status = run_planes(context, step, lo, first, error);
    return status ? status : run_planes(context, step, end, hi, error);
}

/* Ends exchanges that no step may run beside. */
static haul_status settle(exchange *self, haul_error *error)
{
    const haul_step nothing = {.source = NULL};
    return self->count ? run_beside(self, &nothing, error) : HAUL_OK;
}

/* Whether each process has a part of the step's result. */
static bool has_parts(const haul_step *step)
{
    return step->source && step->source->reduces && step->length != step->whole;
}

/* Steps up to the next exchange or the end of a reduction. */
static haul_status run_alone(haul_context *context, haul_step *steps, size_t count, size_t *taken,
                             haul_error *error)
{
    size_t end = 0;
    while (end < count && !steps[end].is_exchange && !(end && has_parts(&steps[end - 1])))
        end++;
    const haul_step *last = &steps[end - 1];
    const bool is_empty = last->box.lo[last->outer] >= last->box.hi[last->outer];
    haul_status status = HAUL_OK;
    if (end > is_empty)
        status = haul_steps_run(context, steps, end - is_empty, error);
    if (!status && has_parts(last))
        status = haul_rows_combine(last, error);
    *taken = end;
    return status;
}

static haul_status run_all(exchange *self, haul_step *steps, size_t count, haul_error *error)
{
    haul_context *context = self->context;
    haul_status status = HAUL_OK;
    if (!context->is_host)
        for (size_t i = 0; i < count; i++)
            if (!steps[i].is_exchange && steps[i].source) {
                status = haul_rings_ensure(context, &steps[i], 1, error);
                break;
            }
    for (size_t i = 0, taken = 1; i < count && !status; i += taken) {
        taken = 1;
        if (steps[i].is_exchange) {
            if (self->count == HAUL_USES)
                status = settle(self, error);
            self->fields[self->count++] = steps[i].uses[0].field;
        } else if (self->count && !has_parts(&steps[i])) {
            status = run_beside(self, &steps[i], error);
        } else {
            status = settle(self, error);
            if (!status)
                status = run_alone(context, steps + i, count - i, &taken, error);
        }
    }
    return status ? status : settle(self, error);
}

haul_status haul_processes_run(haul_context *context, haul_step *steps, size_t count,
                               haul_error *error)
{
    haul_error own = {.status = HAUL_OK};
    exchange self = {.context = context, .processes = context->options.processes};
    error = error ? error : &own;
    const haul_status status = run_all(&self, steps, count, error);
    if (status)
        self.processes->tell(self.processes->of, error);
    return status;
}

/* At the same time to and from processes at the same distance. */
haul_status haul_planes_gather(haul_field *field, char *cells, haul_error *error)
{
    const haul_processes *processes = field->context->options.processes;
    uint64_t plane = field->element;
    haul_status status = HAUL_OK;
    for (int d = 0; d + 1 < field->dims; d++)
        plane *= (uint64_t)field->size[d];
    for (int apart = 1; apart < processes->count && !status; apart++) {
        const int to = (processes->rank + apart) % processes->count;
        const int from = (processes->rank - apart + processes->count) % processes->count;
        const int first = share_first(processes, field->whole, from);
        const int planes = share_first(processes, field->whole, from + 1) - first;
        const haul_process_message messages[] = {
            {to, field->number % LABELS, true, cells + (uint64_t)field->first * plane,
             (uint64_t)field->length * plane},
            {from, field->number % LABELS, false, cells + (uint64_t)first * plane,
             (uint64_t)planes * plane},
        };
        status = haul_tile_start(field->context, messages, 2, error);
        if (!status)
            status = haul_tile_finish(field->context, error);
    }
    if (status)
        processes->tell(processes->of, error);
    return status;
}
