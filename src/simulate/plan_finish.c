/* A schedule from its file to its workload. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "simulate/plan.h"

enum { FILE_BYTES = 1 << 30 };

void haul_schedule_free(haul_schedule *schedule)
{
    if (!schedule)
        return;
    haul_owned_schedule *owned = (haul_owned_schedule *)schedule;
    haul_workload_free(owned->workload);
    haul_arena_release(&owned->arena);
    free(owned->spots);
    free(owned->kernels);
    free(owned);
}

/* --- from a plan */

static haul_status fail_unknown(const haul_plan *self, const haul_reference *reference)
{
    char op[120];
    const uint32_t name = self->ops[reference->op].name;
    if (name == HAUL_NONE)
        snprintf(op, sizeof op, "#%" PRIu32, reference->op + 1);
    else
        snprintf(op, sizeof op, "'%.100s'", self->strings.texts[name]);
    return haul_plan_fail(self, reference->spot.line, reference->spot.column,
                          "operation %s is after '%.80s', and none has that name", op,
                          self->strings.texts[reference->name]);
}

static haul_status resolve(haul_plan *self)
{
    size_t next = 0;
    for (size_t e = 0; e < self->edge_count; e++) {
        if (self->edges[e].before != HAUL_NONE)
            continue;
        const haul_reference *reference = &self->references[next++];
        const uint32_t before =
            reference->name < self->named_count ? self->named[reference->name] : HAUL_NONE;
        if (before == HAUL_NONE)
            return fail_unknown(self, reference);
        if (before == reference->op)
            return haul_plan_fail(self, reference->spot.line, reference->spot.column,
                                  "operation '%.80s' is after itself",
                                  self->strings.texts[reference->name]);
        self->edges[e].before = before;
    }
    return HAUL_OK;
}

typedef struct named_key {
    uint64_t device;
    uint64_t name;
} named_key;

static haul_workload_stream *make_streams(haul_plan *self)
{
    const size_t count = self->streams.count;
    const named_key *keys = self->streams.items;
    haul_workload_stream *streams = calloc(count + 1, sizeof *streams);
    for (size_t s = 0; streams && s < count; s++)
        streams[s] = (haul_workload_stream){
            .device = (uint32_t)keys[s].device,
            .id = s,
            .name = self->strings.texts[keys[s].name],
        };
    return streams;
}

static haul_workload_thread *make_threads(haul_plan *self)
{
    const uint64_t *names = self->threads.items;
    haul_workload_thread *threads = calloc(self->threads.count + 1, sizeof *threads);
    for (size_t t = 0; threads && t < self->threads.count; t++)
        threads[t] = (haul_workload_thread){.id = t, .name = self->strings.texts[names[t]]};
    return threads;
}

static haul_workload_device *make_devices(haul_plan *self)
{
    haul_workload_device *devices = calloc((size_t)self->device_count + 1, sizeof *devices);
    for (size_t d = 0; devices && d < self->device_count; d++)
        devices[d] = (haul_workload_device){.id = d};
    return devices;
}

static haul_workload *make_workload(haul_plan *self, const char *file)
{
    haul_owned_workload *owned = calloc(1, sizeof *owned);
    if (!owned)
        return NULL;
    haul_workload *seen = &owned->seen;
    seen->streams = make_streams(self);
    seen->threads = make_threads(self);
    seen->devices = make_devices(self);
    seen->stream_count = self->streams.count;
    seen->thread_count = self->threads.count;
    seen->device_count = self->device_count;
    seen->shape_count = self->shapes.count;
    seen->shapes = haul_records_take(&self->shapes);
    seen->ops = self->ops;
    seen->op_count = self->op_count;
    seen->edges = self->edges;
    seen->edge_count = self->edge_count;
    owned->strings = self->strings;
    seen->source = file;
    seen->format = "haul workload";
    self->ops = NULL;
    self->edges = NULL;
    self->strings = (haul_strings){0};
    if (seen->streams && seen->threads && seen->devices)
        return seen;
    haul_workload_free(seen);
    return NULL;
}

static void count_ops(haul_workload *workload)
{
    for (size_t i = 0; i < workload->op_count; i++)
        workload->counts.device_ops += haul_op_on_device(&workload->ops[i]);
    workload->counts.calls = workload->op_count;
}

static const char *keep_text(haul_owned_schedule *self, const char *text)
{
    return text ? haul_arena_string(&self->arena, text) : NULL;
}

/* Resolves what operations are after, and looks for cycles. */
static haul_status finish(haul_plan *self, haul_schedule **schedule)
{
    haul_status status = resolve(self);
    if (status)
        return status;
    haul_owned_schedule *owned = calloc(1, sizeof *owned);
    if (!owned)
        return haul_fail_no_memory(self->error);
    owned->file = haul_arena_string(&owned->arena, self->file);
    owned->seen.name = keep_text(owned, self->name.text);
    owned->seen.summary = keep_text(owned, self->summary.text);
    owned->spots = self->spots;
    owned->kernels = self->kernels;
    owned->kernel_count = self->kernel_count;
    self->spots = NULL;
    self->kernels = NULL;
    owned->workload = owned->file ? make_workload(self, owned->file) : NULL;
    owned->seen.workload = owned->workload;
    if (!owned->workload) {
        status = haul_fail_no_memory(self->error);
    } else {
        count_ops(owned->workload);
        status = haul_schedule_check_cycles(owned, self->error);
    }
    if (status) {
        haul_schedule_free(&owned->seen);
        return status;
    }
    *schedule = &owned->seen;
    return HAUL_OK;
}

/* --- files */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

haul_status haul_schedule_parse(const char *text, size_t size, const char *file,
                                haul_schedule **schedule, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    haul_error unseen; /* errors are put together from those of parts */
    error = error ? error : &unseen;
    haul_plan plan = {.file = file, .error = error};
    const bool is_csv = ends_with(file, ".csv") || ends_with(file, ".csv.gz");
    haul_status status =
        is_csv ? haul_plan_read_csv(&plan, text, size) : haul_plan_read_yaml(&plan, text, size);
    if (!status && !plan.op_count)
        status = haul_plan_fail(&plan, 1, 1, "a workload without operations");
    if (!status)
        status = finish(&plan, schedule);
    haul_plan_release(&plan);
    if (status)
        haul_error_in_file(error, file);
    return status;
}

haul_status haul_schedule_load(const char *path, haul_schedule **schedule, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    char *text = NULL;
    size_t size = 0;
    haul_status status = haul_textfile_read(path, FILE_BYTES, &text, &size, error);
    if (!status)
        status = haul_schedule_parse(text, size, path, schedule, error);
    free(text);
    return status;
}
