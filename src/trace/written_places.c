/* Processes of streams and threads are joined where an operation has both, and where a thread waits
 * for a stream: a call and what it issued or waited for are found by one number of a process. */
#include "trace/written_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/fail.h"

/* A stream or a thread by the number of its process. */
typedef struct place {
    uint64_t process;
    uint32_t number; /* streams first, then threads */
} place;

static int compare_places(const void *a, const void *b)
{
    const place *const x = a, *const y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return hl_base_compare_unsigned(x->number, y->number);
}

/* The first place that is known to be of the same process. */
static uint32_t first_of(uint32_t *before, uint32_t number)
{
    while (before[number] != number)
        number = before[number] = before[before[number]];
    return number;
}

static void unite(uint32_t *before, uint32_t a, uint32_t b)
{
    a = first_of(before, a);
    b = first_of(before, b);
    before[a > b ? a : b] = a > b ? b : a;
}

/* Joins the processes of the thread that calls `thread_of` and of the stream of `stream_of`. */
static void join_processes(const haul_workload *of, const haul_op *thread_of,
                           const haul_op *stream_of, uint32_t *before)
{
    if (thread_of->thread != HAUL_NONE && stream_of->stream != HAUL_NONE)
        unite(before, stream_of->stream, (uint32_t)of->stream_count + thread_of->thread);
}

/* Places of equal numbers first, then those that an operation or a wait joins. */
static void find_processes(const haul_workload *of, place *places, uint32_t *before)
{
    const size_t count = of->stream_count + of->thread_count;
    for (uint32_t i = 0; i < count; i++) {
        before[i] = i;
        places[i] = (place){i < of->stream_count ? of->streams[i].process
                                                 : of->threads[i - of->stream_count].process,
                            i};
    }
    if (count)
        qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 1; i < count; i++)
        if (places[i].process == places[i - 1].process)
            unite(before, places[i].number, places[i - 1].number);
    for (size_t i = 0; i < of->op_count; i++)
        join_processes(of, &of->ops[i], &of->ops[i], before);
    for (size_t i = 0; i < of->edge_count; i++)
        if (of->ops[of->edges[i].after].kind == HAUL_OP_SYNC)
            join_processes(of, &of->ops[of->edges[i].after], &of->ops[of->edges[i].before], before);
}

/* Files have 32 bits for them. */
static bool ids_differ(const haul_workload *of, uint64_t *ids)
{
    bool differ = true;
    for (size_t i = 0; i < of->device_count; i++) {
        ids[i] = of->devices[i].id;
        differ &= ids[i] <= INT32_MAX;
    }
    if (of->device_count)
        qsort(ids, of->device_count, sizeof *ids, hl_base_compare_unsigned_items);
    for (size_t i = 1; i < of->device_count; i++)
        differ &= ids[i] != ids[i - 1];
    return differ;
}

haul_status hl_trace_written_places_make(hl_trace_written_places *self,
                                         const haul_workload *workload, haul_error *error)
{
    const size_t count = workload->stream_count + workload->thread_count;
    place *const places = malloc((count + 1) * sizeof *places);
    uint64_t *const ids = malloc((workload->device_count + 1) * sizeof *ids);
    *self = (hl_trace_written_places){.workload = workload,
                                      .processes = malloc((count + 1) * sizeof *self->processes)};
    if (!places || !ids || !self->processes) {
        free(places);
        free(ids);
        hl_trace_written_places_release(self);
        return hl_base_fail_no_memory(error);
    }
    self->own_devices = ids_differ(workload, ids);
    find_processes(workload, places, self->processes);
    /* in place: a process's first place has its number before the others ask for it */
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        self->processes[i] = first_of(self->processes, i);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = self->processes[i];
        self->processes[i] = first == i ? ++found : self->processes[first];
    }
    free(places);
    free(ids);
    return HAUL_OK;
}

void hl_trace_written_places_release(hl_trace_written_places *self)
{
    free(self->processes);
    self->processes = NULL;
}

bool hl_trace_written_default(const hl_trace_written_places *self, size_t stream,
                              char text[HL_TRACE_STREAM_TEXT])
{
    const haul_workload_stream *const of = &self->workload->streams[stream];
    const int64_t device =
        of->device == HAUL_NONE ? -1 : (int64_t)hl_trace_written_device(self, of->device);
    (void)snprintf(text, HL_TRACE_STREAM_TEXT, "%" PRId64 " %" PRId64 " %" PRId64, device,
                   (int64_t)of->context, (int64_t)of->id);
    return of->is_default;
}
