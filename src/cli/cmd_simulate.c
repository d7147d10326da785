/* haul simulate: a schedule that is written down, tried on a machine. */
#include <stdlib.h>

#include "cli/command.h"
#include "haul/goal.h"
#include "haul/simulate.h"

static const char about[] =
    "Schedules a workload that is written down on a machine that you need not have: when each\n"
    "operation starts and ends, what it waits for, what overlaps, and the critical path.\n"
    "\n"
    "WORKLOAD is a list of operations as YAML, with loops, or, where its name ends in .csv, as\n"
    "CSV: docs/simulate.md. An operation is a copy (HtoD, DtoH, DtoD, PtoP, HtoH), a kernel,\n"
    "memset, send, receive, host or wait, on a stream, of so many bytes or of a duration, after\n"
    "others by name. The machine's parameters predict copies and messages of bytes, a fitted\n"
    "kernel file predicts its kernels.\n";

typedef struct simulate_request {
    cli_request given;
    haul_machine *machine;
    haul_model_ref model;
    const char *goal;
} simulate_request;

static const cli_option options[] = {
    {"machine", "M", CLI_MACHINE, offsetof(simulate_request, machine),
     .help = "a name of 'haul machine list', or a file", .is_input = true,
     .missing = "on which machine? --machine M; see 'haul machine list'"},
    {"model", "NAME|./mine.so", CLI_MODEL, offsetof(simulate_request, model),
     .help = "predict copies with this model of 'haul machine time --model list', or with one of "
             "your own (auto)",
     .is_input = true},
    {"goal", "FILE", CLI_TEXT, offsetof(simulate_request, goal),
     .help = "write it as a GOAL schedule for simulators of networks, too: docs/comm.md"},
    {0},
};

/* As wide as the report, else as a page. */
static unsigned width_of(const cli_results *results)
{
    enum { PAGE = 100, WIDEST = 400 };
    if (results->options.format != HAUL_FORMAT_TABLE)
        return 0;
    const uint64_t width = results->output ? results->options.width : cli_width(results, stdout);
    if (!width)
        return PAGE;
    return width < WIDEST ? (unsigned)width : WIDEST;
}

/* As if it had been recorded with the predicted times. */
static haul_status write_goal(const haul_simulation *simulation, const char *path,
                              haul_error *error)
{
    haul_workload timed = *simulation->schedule->workload;
    FILE *out;
    uint64_t kept;
    haul_op *ops = malloc((timed.op_count + 1) * sizeof *ops);
    if (!ops)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < timed.op_count; i++) {
        const haul_span *span = &simulation->timeline->ops[i];
        ops[i] = timed.ops[i];
        ops[i].start_ns = span->start_ns;
        ops[i].dur_ns = span->end_ns - span->start_ns;
    }
    timed.ops = ops;
    haul_status status = cli_output_open(path, &out, error);
    if (!status)
        status = cli_output_finish(out, path, haul_goal_write_workload(&timed, out, &kept, error),
                                   error);
    free(ops);
    return status;
}

static haul_status simulate(void *request, haul_error *error)
{
    const simulate_request *self = request;
    const char *path = self->given.operands[0];
    haul_schedule *schedule = NULL;
    haul_simulation *simulation = NULL;
    haul_status status = haul_schedule_load(path, &schedule, error);
    cli_progress_begin("simulating", path);
    if (!status)
        status =
            haul_simulation_make(schedule, self->machine, self->model.model, &simulation, error);
    cli_progress_end();
    if (!status) {
        const cli_results *results = &self->given.results;
        const haul_timeline *timeline = simulation->timeline;
        char label[120];
        (void)snprintf(label, sizeof label, "on %.100s", self->machine->name);
        const haul_drawn drawn = {.label = label,
                                  .workload = schedule->workload,
                                  .spans = timeline->ops,
                                  .named = true,
                                  .critical = timeline->critical,
                                  .critical_count = timeline->critical_count};
        cli_answer answer = {.report = haul_report_simulation(simulation, width_of(results)),
                             .page = {.title = schedule->name
                                                   ? schedule->name
                                                   : cli_file_name(self->given.operands[0]),
                                      .timelines = &drawn,
                                      .timeline_count = 1},
                             .machines = {self->machine}};
        status = cli_answer_write(results, &answer, error);
    }
    if (!status && self->goal)
        status = write_goal(simulation, self->goal, error);
    haul_simulation_free(simulation);
    haul_schedule_free(schedule);
    return status;
}

const cli_command cli_simulate = {
    .name = "simulate",
    .summary = "a schedule of copies and kernels, tried on a machine",
    .synopsis = "WORKLOAD --machine M [options]",
    .about = about,
    .options = options,
    .operand = {.name = "workload", .takes = "WORKLOAD"},
    .least = 1,
    .most = 1,
    .csv = "a row for each operation",
    .examples = {"haul simulate pipeline.yaml --machine gh200",
                 "haul simulate pipeline.csv --machine v100-pcie3 --perfetto pipeline.json"},
    .exits = "3 a workload or machine that cannot be read, or lacks a parameter, 4 a machine "
             "without a resource that an operation needs",
    .has_report = true,
    .has_html = true,
    .has_perfetto = true,
    .size = sizeof(simulate_request),
    .act = simulate,
};
