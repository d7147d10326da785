/* A plan as a workload that `haul simulate` reads; of several processes in one file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/strings.h"
#include "tile/tile_calls.h"
#include "tile/tile_plan.h"

enum { YAML_MOST = 2500 };

static const char *const stream_names[STREAMS] = {"in",    "kernels",    "out",       "home",
                                                  "sends", "from above", "from below"};

typedef struct plan_writer {
    const hl_tile_plan *plan;
    int rank; /* -1: of one process alone */
    FILE *out;
} plan_writer;

/* Operations are named by their numbers, sends so that their receiver knows it. */
static void put_name(const plan_writer *self, uint32_t number)
{
    const planned *op = &self->plan->ops[number - 1];
    if (op->stream == SENDS)
        fprintf(self->out, "%d>%d:%" PRIu32, self->rank, op->peer, op->number);
    else if (self->rank >= 0)
        fprintf(self->out, "%d:%" PRIu32, self->rank, number);
    else
        fprintf(self->out, "%" PRIu32, number);
}

static void put_after(const plan_writer *self, const planned *op, const char *open,
                      const char *quote, const char *between, const char *close)
{
    bool is_first = true;
    for (int s = 0; s < STREAMS; s++)
        if (op->after.at[s]) {
            fprintf(self->out, "%s%s", is_first ? open : between, quote);
            put_name(self, op->after.at[s]);
            fputs(quote, self->out);
            is_first = false;
        }
    if (op->stream >= RECEIVES)
        fprintf(self->out, "%s%d>%d:%" PRIu32, is_first ? "" : between, op->peer, self->rank,
                op->number);
    fputs(is_first ? "" : close, self->out);
}

static void write_rows(const plan_writer *self)
{
    for (size_t i = 0; i < self->plan->count; i++) {
        const planned *op = &self->plan->ops[i];
        put_name(self, (uint32_t)i + 1);
        fprintf(self->out, ",%s,", op->op);
        if (self->rank >= 0)
            fprintf(self->out, "%d,", self->rank);
        fprintf(self->out, "%s,", stream_names[op->stream]);
        if (op->kernel)
            fprintf(self->out, ",%" PRId64 " ns,", op->dur_ns);
        else if (op->stream >= RECEIVES)
            fputs(",,", self->out);
        else
            fprintf(self->out, "%" PRIu64 ",,", op->bytes);
        put_after(self, op, "", "", ";", "");
        fputs("\n", self->out);
    }
}

/* CSV has no limit on operations, where YAML is read as a document. */
static haul_status write_alone(const haul_context *context, bool is_csv, FILE *out,
                               haul_error *error)
{
    const plan_writer self = {context->plan, -1, out};
    if (!is_csv && context->plan->count > YAML_MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "%zu operations are more than a workload of YAML holds: write a .csv",
                              context->plan->count);
    if (is_csv) {
        fputs("name,op,stream,bytes,duration,after\n", out);
        write_rows(&self);
    } else {
        const hl_tile_plan *plan = self.plan;
        fprintf(
            self.out,
            "# What a program of tiles queued on %s; kernels' times are those of that device.\n",
            haul_device_describe(context->memory.device)->name);
        fprintf(self.out,
                "haul_workload: 1\nname: tiles\nsummary: %zu operations of a program of tiles\n",
                plan->count);
        fputs("operations:\n", self.out);
        for (size_t i = 0; i < plan->count; i++) {
            const planned *op = &plan->ops[i];
            fprintf(self.out, "  - {name: \"%zu\", op: %s, stream: %s, ", i + 1, op->op,
                    stream_names[op->stream]);
            if (op->kernel)
                fprintf(self.out, "duration: %" PRId64 " ns", op->dur_ns);
            else
                fprintf(self.out, "bytes: %" PRIu64, op->bytes);
            put_after(&self, op, ", after: [", "\"", ", ", "]");
            fputs("}\n", self.out);
        }
    }
    return HAUL_OK;
}

/* The rows of a process, to the first one, which writes them. */
static haul_status pass_rows(const haul_processes *processes, int from, char *rows, uint64_t bytes,
                             FILE *out, haul_error *error)
{
    const bool is_send = processes->rank == from;
    const haul_process_message message = {is_send ? 0 : from, 0, is_send, rows, bytes};
    haul_status status = processes->start(processes->of, &message, 1, error);
    if (!status)
        status = processes->finish(processes->of, error);
    if (!status && !is_send)
        (void)fwrite(rows, 1, bytes, out);
    return status;
}

/* `out` is the first process's alone; `rows` are this one's. */
static haul_status write_together(const haul_processes *processes, char *rows, uint64_t bytes,
                                  FILE *out, haul_error *error)
{
    uint64_t *sizes = calloc((size_t)processes->count, sizeof *sizes);
    if (!sizes)
        return hl_base_fail_no_memory(error);
    haul_status status = processes->gather(processes->of, &bytes, sizeof bytes, sizes, error);
    if (!status && processes->rank)
        status = pass_rows(processes, processes->rank, rows, bytes, NULL, error);
    if (!status && out) {
        fputs("name,op,rank,stream,bytes,duration,after\n", out);
        (void)fwrite(rows, 1, bytes, out);
    }
    for (int from = 1; from < processes->count && out && !status; from++) {
        char *theirs = malloc(sizes[from] + 1);
        status = theirs ? pass_rows(processes, from, theirs, sizes[from], out, error)
                        : hl_base_fail_no_memory(error);
        free(theirs);
    }
    free(sizes);
    return status;
}

static haul_status write_shared(const haul_context *context, FILE *out, haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    char *rows = NULL;
    size_t bytes = 0;
    const plan_writer self = {context->plan, processes->rank, open_memstream(&rows, &bytes)};
    if (!self.out)
        return hl_base_fail_no_memory(error);
    write_rows(&self);
    const haul_status status = fclose(self.out) || !rows
                                   ? hl_base_fail_no_memory(error)
                                   : write_together(processes, rows, bytes, out, error);
    free(rows);
    return status;
}

/* All processes learn where the first cannot write. */
static haul_status write_file(haul_context *context, const char *path, bool is_shared,
                              haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    haul_status status = HAUL_OK;
    FILE *out = NULL;
    if ((!is_shared || !processes->rank) && !(out = fopen(path, "w")))
        status = hl_base_fail_open(error, path);
    else if (is_shared)
        status = write_shared(context, out, error);
    else
        status = write_alone(context, hl_base_ends_with(path, ".csv"), out, error);
    const bool failed = out && ferror(out);
    if (((out && fclose(out)) || failed) && !status)
        status = haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.200s'", path);
    if (status && is_shared)
        processes->tell(processes->of, error);
    return status;
}

static haul_status write_one(haul_context *context, int rank, void *state, haul_error *error)
{
    (void)rank;
    return haul_context_plan_write(context, state, error);
}

/* Runs what is queued first. */
haul_status haul_context_plan_write(haul_context *context, const char *path, haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    const bool is_shared = processes && processes->count > 1;
    haul_error own = {.status = HAUL_OK};
    error = error ? error : &own;
    if (context->team)
        return hl_tile_on_all(context, write_one, (void *)path, error);
    HAUL_TRY(hl_tile_queue_run(context, error));
    if (!context->plan)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "the context was opened without keep_plan, or is the host's");
    if (is_shared && !hl_base_ends_with(path, ".csv"))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "the plan of several processes is written as .csv");
    return write_file(context, path, is_shared, error);
}
