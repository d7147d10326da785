/* A workload from what its reader gave. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "workload/builder.h"

static void resolve_names(haul_builder *self)
{
    uint64_t nameless = 0;
    for (size_t i = 0; i < self->names.count; i++)
        nameless += self->name_texts[i] == HAUL_NONE;
    if (nameless)
        haul_builder_missing(self, nameless, "names that no string table gives");
    for (size_t i = 0; i < self->op_count; i++)
        if (self->ops[i].name != HAUL_NONE)
            self->ops[i].name = self->name_texts[self->ops[i].name];
}

static void count_ops(haul_builder *self, haul_workload *workload)
{
    workload->counts.calls = self->calls;
    for (size_t i = 0; i < self->op_count; i++) {
        const haul_op *op = &self->ops[i];
        if (!haul_op_on_device(op))
            continue;
        workload->counts.device_ops++;
        workload->counts.orphans += !(op->flags & HAUL_OP_HAS_CALL);
    }
}

/* Moves what the workload keeps out of the builder. */
static void hand_over(haul_builder *self, haul_owned_workload *owned)
{
    haul_workload *seen = &owned->seen;
    haul_shrink(&self->ops, &self->op_capacity, self->op_count, sizeof *self->ops);
    haul_shrink(&self->edges, &self->edge_capacity, self->edge_count, sizeof *self->edges);
    seen->op_count = self->op_count;
    seen->ops = self->ops;
    seen->edge_count = self->edge_count;
    seen->edges = self->edges;
    seen->stream_count = self->streams.count;
    seen->streams = haul_records_take(&self->streams);
    seen->thread_count = self->threads.count;
    seen->threads = haul_records_take(&self->threads);
    seen->shape_count = self->shapes.count;
    seen->shapes = haul_records_take(&self->shapes);
    seen->device_count = self->device_keys.count;
    seen->devices = self->devices;
    seen->missing_count = self->missing.count;
    seen->missing = self->missing.items;
    seen->repair_count = self->repairs.count;
    seen->repairs = self->repairs.items;
    owned->arena = self->arena;
    owned->strings = self->strings;
    self->ops = NULL;
    self->edges = NULL;
    self->devices = NULL;
    self->missing = self->repairs = (haul_workload_notes){0};
    self->arena = (haul_arena){0};
    self->strings = (haul_strings){0};
}

haul_status haul_builder_finish(haul_builder *self, const char *source, const char *format,
                                haul_workload **workload, haul_error *error)
{
    if (!self->failed)
        resolve_names(self);
    haul_records_release(&self->names);
    if (!self->failed)
        haul_wait_streams_join(self);
    if (!self->failed)
        haul_links_make(self);
    if (!self->failed)
        haul_edges_make(self);
    free(self->scratch);
    self->scratch = NULL;
    const char *kept_source = haul_arena_string(&self->arena, source);
    const char *kept_format = haul_arena_string(&self->arena, format);
    haul_owned_workload *owned = calloc(1, sizeof *owned);
    if (self->failed || !kept_source || !kept_format || !owned) {
        free(owned);
        haul_builder_release(self);
        return haul_fail_no_memory(error);
    }
    owned->seen.source = kept_source;
    owned->seen.format = kept_format;
    count_ops(self, &owned->seen);
    hand_over(self, owned);
    haul_builder_release(self);
    *workload = &owned->seen;
    return HAUL_OK;
}
