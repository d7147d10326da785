/* Migrations of unified memory on their streams and with their calls.
 *
 * CUPTI names no call of a migration. One that the program asked for (cudaMemPrefetchAsync) belongs
 * to the last such call of its process before it, as copies belong to theirs; it is no page fault,
 * which follows kernels and the host's waits (host_faults.c). Nor is a migration's stream always
 * its own: faults are served while the kernel that met them goes on. */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_builder.h"

/* The recorder names the stream of migrations so, which no program's stream is. */
enum { MIGRATIONS_STREAM = 0xfffffe };

/* By which the clocks of two records may differ. */
static const int64_t skew_ns = 1000;

static bool is_uncalled_migration(const haul_op *op)
{
    return op->kind == HAUL_OP_COPY && op->detail == HAUL_MEMORY_MANAGED &&
           !(op->flags & HAUL_OP_HAS_CALL);
}

/* --- streams */

typedef struct stream_use {
    int64_t end_ns;       /* of its work so far */
    int64_t moved_end_ns; /* of its migrations */
    uint32_t own;         /* the stream of its migrations; HAUL_NONE: this one */
    bool overlaps;
} stream_use;

static void separate(hl_workload_builder *built, const uint32_t *order)
{
    const size_t count = built->streams.count;
    stream_use *streams = calloc(count + 1, sizeof *streams);
    built->failed |= !streams;
    if (!streams)
        return;
    for (size_t s = 0; s < count; s++)
        streams[s] = (stream_use){INT64_MIN, INT64_MIN, HAUL_NONE, false};
    /* Marks the streams where a migration ran beside other work. */
    for (size_t i = 0; i < built->op_count; i++) {
        const haul_op *op = &built->ops[order[i]];
        if (op->stream >= count || !haul_op_on_device(op))
            continue;
        stream_use *const of = &streams[op->stream];
        const int64_t end_ns = op->start_ns + op->dur_ns;
        const bool is_migration = is_uncalled_migration(op);
        int64_t *const own_ns = is_migration ? &of->moved_end_ns : &of->end_ns;
        of->overlaps |= (is_migration ? of->end_ns : of->moved_end_ns) > op->start_ns + skew_ns;
        *own_ns = end_ns > *own_ns ? end_ns : *own_ns;
    }
    for (uint32_t s = 0; s < count && !built->failed; s++) {
        haul_workload_stream made = ((haul_workload_stream *)built->streams.items)[s];
        made.id = MIGRATIONS_STREAM;
        made.is_default = false;
        made.name = NULL;
        if (streams[s].overlaps)
            streams[s].own = hl_workload_builder_stream(built, &made);
    }
    for (size_t i = 0; i < built->op_count && !built->failed; i++) {
        haul_op *op = &built->ops[i];
        if (op->stream < count && is_uncalled_migration(op) && streams[op->stream].overlaps)
            op->stream = streams[op->stream].own;
    }
    free(streams);
}

/* --- calls */

/* The last prefetch called for so far, of each process; 0 is the process of files that name none,
 * whose migrations any prefetch may have asked for. */
typedef struct last_calls {
    hl_base_records processes;
    uint32_t *calls;
    uint32_t any;
} last_calls;

static uint32_t call_of(const hl_workload_builder *built, const last_calls *last, const haul_op *op)
{
    const haul_workload_stream *streams = built->streams.items;
    const uint64_t process = op->stream == HAUL_NONE ? 0 : streams[op->stream].process;
    const uint32_t number = hl_base_records_find(&last->processes, &process);
    if (!process)
        return last->any;
    return number == UINT32_MAX ? HAUL_NONE : last->calls[number];
}

/* A call that issued migrations is theirs, and no longer an operation of its own. */
static void drop_marked(hl_workload_builder *built)
{
    size_t kept = 0;
    for (size_t i = 0; i < built->op_count; i++) {
        if (built->ops[i].flags & HL_TRACE_PREFETCHED)
            continue;
        built->ops[kept] = built->ops[i];
        for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++)
            if (built->origins[k])
                built->origins[k][kept] = built->origins[k][i];
        kept++;
    }
    built->op_count = kept;
}

/* A prefetch without a call in the profile is treated as a fault. */
static void join_calls(hl_workload_builder *built, const uint32_t *order)
{
    last_calls last = {.processes.size = sizeof(uint64_t),
                       .calls = malloc((built->threads.count + 1) * sizeof *last.calls),
                       .any = HAUL_NONE};
    built->failed |= !last.calls;
    for (size_t i = 0; i < built->op_count && !built->failed; i++) {
        haul_op *op = &built->ops[order[i]];
        if (op->kind == HAUL_OP_CALL && op->thread != HAUL_NONE &&
            op->name < built->strings.count &&
            strstr(built->strings.texts[op->name], "MemPrefetch") != NULL) {
            const haul_workload_thread *threads = built->threads.items;
            const uint32_t number =
                hl_base_records_add(&last.processes, &threads[built->ops[order[i]].thread].process);
            built->failed |= number == UINT32_MAX;
            if (number != UINT32_MAX)
                last.calls[number] = order[i];
            last.any = order[i];
        }
        if (op->kind != HAUL_OP_COPY || !(op->flags & HL_TRACE_PREFETCHED))
            continue;
        op->flags &= (uint8_t)~HL_TRACE_PREFETCHED;
        const uint32_t at = call_of(built, &last, op);
        if (at == HAUL_NONE || op->flags & HAUL_OP_HAS_CALL)
            continue;
        haul_op *call = &built->ops[at];
        call->flags |= HL_TRACE_PREFETCHED;
        op->flags |= HAUL_OP_HAS_CALL;
        op->call_ns = call->call_ns;
        op->call_dur_ns = call->call_dur_ns;
        op->thread = call->thread;
        op->name = op->name == HAUL_NONE ? call->name : op->name;
        for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++)
            if (built->origins[k])
                built->origins[k][order[i]] = built->origins[k][at];
    }
    drop_marked(built);
    hl_base_records_release(&last.processes);
    free(last.calls);
}

void hl_trace_prefetches_join(hl_trace_builder *self)
{
    bool any = false, prefetched = false;
    for (size_t i = 0; self->has_migrations && i < self->built.op_count; i++) {
        prefetched |= self->built.ops[i].flags & HL_TRACE_PREFETCHED;
        any |= prefetched || is_uncalled_migration(&self->built.ops[i]);
    }
    const uint32_t *order = any ? hl_trace_by_start(self) : NULL;
    if (order)
        separate(&self->built, order);
    if (order && prefetched && !self->built.failed)
        join_calls(&self->built, order);
}
