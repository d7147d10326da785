/* A schedule from its file to its workload: the plan's arrays pass to it, and what operations are
 * after is resolved by name only here, when all names are known. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "base/strings.h"
#include "base/textfile.h"
#include "simulate/plan.h"

enum { FILE_BYTES = 1 << 30 };

/* Frees what a finished plan handed over; NULL is allowed. */
void haul_schedule_free(haul_schedule *schedule)
{
    if (!schedule)
        return;
    hl_simulate_owned_schedule *owned = (hl_simulate_owned_schedule *)schedule;
    haul_workload_free(owned->workload);
    hl_base_arena_release(&owned->arena);
    free(owned->spots);
    free(owned->kernels);
    free(owned);
}

/* --- from a plan */

/* "'name'", or "#12". */
static void put_title(const hl_simulate_plan *self, uint32_t op, char *text, size_t size)
{
    const uint32_t name = self->built.ops[op].name;
    if (name == HAUL_NONE)
        snprintf(text, size, "#%" PRIu32, op + 1);
    else
        snprintf(text, size, "'%.100s'", self->built.strings.texts[name]);
}

static haul_status resolve(hl_simulate_plan *self)
{
    const char *const *texts = self->built.strings.texts;
    char op[120];
    for (size_t i = 0; i < self->reference_count; i++) {
        const hl_simulate_reference *reference = &self->references[i];
        const char *wanted = texts[reference->name];
        const uint32_t before =
            reference->name < self->named_count ? self->named[reference->name] : HAUL_NONE;
        put_title(self, reference->op, op, sizeof op);
        if (before == HAUL_NONE)
            return hl_simulate_plan_fail(self, reference->spot.line, reference->spot.column,
                                         "operation %s is after '%.80s', and none has that name",
                                         op, wanted);
        if (before == reference->op)
            return hl_simulate_plan_fail(self, reference->spot.line, reference->spot.column,
                                         "operation '%.80s' is after itself", wanted);
        hl_workload_builder_edge(&self->built, before, reference->op);
    }
    return HAUL_OK;
}

static bool is_message(const hl_simulate_plan *self, uint32_t op, haul_message_part part)
{
    const haul_op *of = &self->built.ops[op];
    return of->kind == HAUL_OP_MESSAGE && of->direction == part;
}

/* Each send has one receive after it, of another rank, and each receive one send. */
static haul_status check_messages(hl_simulate_plan *self)
{
    const hl_workload_builder *built = &self->built;
    const haul_workload_stream *streams = built->streams.items;
    haul_status status = HAUL_OK;
    uint8_t *matched = calloc(built->op_count, 1); /* 2: more than once */
    if (!matched)
        return hl_base_fail_no_memory(self->error);
    for (size_t e = 0; e < built->edge_count; e++) {
        const uint32_t ends[] = {built->edges[e].before, built->edges[e].after};
        const haul_op *from = &built->ops[ends[0]], *to = &built->ops[ends[1]];
        if (!is_message(self, ends[0], HAUL_MESSAGE_SENT) ||
            !is_message(self, ends[1], HAUL_MESSAGE_ARRIVES) ||
            streams[from->stream].device == streams[to->stream].device)
            continue;
        for (int i = 0; i < 2; i++)
            matched[ends[i]] = matched[ends[i]] ? 2 : 1;
    }
    for (uint32_t i = 0; i < built->op_count && !status; i++) {
        const bool is_send = is_message(self, i, HAUL_MESSAGE_SENT);
        char op[120];
        if (built->ops[i].kind != HAUL_OP_MESSAGE || matched[i] == 1)
            continue;
        put_title(self, i, op, sizeof op);
        status =
            hl_simulate_plan_fail(self, self->spots[i].line, self->spots[i].column,
                                  is_send ? "operation %s: %s receive of another rank is after it"
                                          : "operation %s: it is after %s send of another rank",
                                  op, matched[i] ? "more than one" : "no");
    }
    free(matched);
    return status;
}

/* Resolves what operations are after, and looks for cycles. */
static haul_status finish_schedule(hl_simulate_plan *self, haul_schedule **schedule)
{
    HAUL_TRY(resolve(self));
    if (self->has_ranks)
        HAUL_TRY(check_messages(self));
    hl_simulate_owned_schedule *owned = calloc(1, sizeof *owned);
    if (!owned)
        return hl_base_fail_no_memory(self->error);
    owned->file = hl_base_arena_string(&owned->arena, self->file);
    if (self->name.text)
        owned->seen.name = hl_base_arena_string(&owned->arena, self->name.text);
    if (self->summary.text)
        owned->seen.summary = hl_base_arena_string(&owned->arena, self->summary.text);
    owned->spots = self->spots;
    owned->kernels = self->kernels;
    owned->kernel_count = self->kernel_count;
    self->spots = NULL;
    self->kernels = NULL;
    haul_status status =
        owned->file ? hl_workload_builder_finish(&self->built, owned->file, "haul workload",
                                                 &owned->workload, self->error)
                    : hl_base_fail_no_memory(self->error);
    owned->seen.workload = owned->workload;
    if (!status)
        status = hl_simulate_schedule_check_cycles(owned, self->error);
    if (status) {
        haul_schedule_free(&owned->seen);
        return status;
    }
    *schedule = &owned->seen;
    return HAUL_OK;
}

/* --- files */

/* The end of the name decides the format: the content of either could be taken for the other. */
haul_status haul_schedule_parse(const char *text, size_t size, const char *file,
                                haul_schedule **schedule, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    haul_error unseen; /* errors are put together from those of parts */
    error = error ? error : &unseen;
    hl_simulate_plan plan;
    hl_simulate_plan_init(&plan, file, error);
    const bool is_csv = hl_base_ends_with(file, ".csv") || hl_base_ends_with(file, ".csv.gz");
    haul_status status = is_csv ? hl_simulate_plan_read_csv(&plan, text, size)
                                : hl_simulate_plan_read_yaml(&plan, text, size);
    if (!status && !plan.built.op_count)
        status = hl_simulate_plan_fail(&plan, 1, 1, "a workload without operations");
    if (!status)
        status = finish_schedule(&plan, schedule);
    hl_simulate_plan_release(&plan);
    if (status)
        hl_base_error_in_file(error, file);
    return status;
}

haul_status haul_schedule_load(const char *path, haul_schedule **schedule, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    char *text = NULL;
    size_t size = 0;
    haul_status status = hl_base_textfile_read(path, FILE_BYTES, &text, &size, error);
    if (!status)
        status = haul_schedule_parse(text, size, path, schedule, error);
    free(text);
    return status;
}
