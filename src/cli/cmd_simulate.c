#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/command.h"
#include "haul/simulate.h"

static const char usage[] =
    "haul simulate WORKLOAD --machine M [options]\n"
    "\n"
    "Schedules a workload that is written down on a machine that you need not have: when each\n"
    "operation starts and ends, what it waits for, what overlaps, and the critical path.\n"
    "\n"
    "WORKLOAD is a list of operations as YAML, with loops, or, where its name ends in .csv, as\n"
    "CSV: docs/simulate.md. An operation is a copy (HtoD, DtoH, DtoD, PtoP, HtoH), a kernel,\n"
    "memset, host or wait, on a stream, of so many bytes or of a duration, after others by\n"
    "name. The machine's parameters predict copies of bytes, a fitted kernel file predicts its\n"
    "kernels.\n"
    "\n"
    "options:\n"
    "  --machine M                   a name of 'haul machine list', or a file\n"
    "  --model NAME|./mine.so        predict copies with this model of 'haul machine time\n"
    "                                --model list', or with one of your own (auto)\n";

typedef struct simulate_options {
    const char *workload;
    const char *machine;
    const char *model;
    cli_results results;
} simulate_options;

/* What the command reads and makes. */
typedef struct work {
    haul_schedule *schedule;
    haul_machine *machine;
    haul_model_ref model;
    haul_simulation *simulation;
} work;

static void release(work *self)
{
    haul_simulation_free(self->simulation);
    haul_model_release(&self->model);
    haul_machine_free(self->machine);
    haul_schedule_free(self->schedule);
}

static haul_status load(const simulate_options *options, work *self, haul_error *error)
{
    haul_status status = haul_machine_load(options->machine, &self->machine, error);
    if (!status && options->model)
        status = haul_model_find(options->model, &self->model, error);
    if (!status)
        status = haul_schedule_load(options->workload, &self->schedule, error);
    return status;
}

/* As wide as the terminal that shows it, else as a page. */
static unsigned width_of(const cli_results *results)
{
    enum { PAGE = 100, WIDEST = 400 };
    struct winsize size;
    if (results->options.format != HAUL_TABLE)
        return 0;
    if (results->output || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
        !size.ws_col)
        return PAGE;
    return size.ws_col < WIDEST ? size.ws_col : WIDEST;
}

static haul_status write_drawings(const simulate_options *options, const work *self,
                                  haul_error *error)
{
    const haul_timeline *timeline = self->simulation->timeline;
    char label[120];
    (void)snprintf(label, sizeof label, "on %.100s", self->machine->name);
    haul_drawn drawn = {
        .workload = self->schedule->workload, .spans = timeline->ops, .named = true};
    haul_status status = cli_perfetto(&options->results, &drawn, 1, error);
    if (status || !options->results.html)
        return status;
    drawn.label = label;
    drawn.critical = timeline->critical;
    drawn.critical_count = timeline->critical_count;
    haul_report *reports[] = {haul_report_simulation(self->simulation, 0),
                              haul_report_machine(self->machine)};
    const char *name = self->schedule->name;
    haul_page page = {.title = name ? name : cli_file_name(options->workload),
                      .timelines = &drawn,
                      .timeline_count = 1};
    return cli_page(&options->results, &page, reports, 2, error);
}

static haul_status simulate(const simulate_options *options, haul_error *error)
{
    work self = {0};
    haul_status status = load(options, &self, error);
    if (!status) {
        cli_progress_begin("simulating", options->workload);
        status =
            haul_simulate(self.schedule, self.machine, self.model.model, &self.simulation, error);
        cli_progress_end();
    }
    if (!status)
        status =
            cli_report(&options->results,
                       haul_report_simulation(self.simulation, width_of(&options->results)), error);
    if (!status)
        status = write_drawings(options, &self, error);
    release(&self);
    return status;
}

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, simulate_options *options)
{
    const cli_option known[] = {
        {"machine", .value = &options->machine, .is_input = true,
         .missing = "on which machine? --machine M; see 'haul machine list'"},
        {"model", .value = &options->model, .is_input = true},
        {0},
    };
    cli_arguments arguments = {
        .options = known, .results = &options->results, .operand = "workload"};
    const int code = cli_arguments_read(self, argc, argv, &arguments);
    if (code == CLI_GO_ON)
        options->workload = arguments.operands[0];
    return code;
}

static int run(const cli_command *self, int argc, char **argv)
{
    simulate_options options = {0};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    haul_error error;
    return simulate(&options, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_simulate = {
    .name = "simulate",
    .summary = "a schedule of copies and kernels, tried on a machine",
    .usage = usage,
    .csv = "a row for each operation",
    .exits = "3 a workload or machine that cannot be read, or lacks a parameter, 4 a\nmachine "
             "without a resource that an operation needs",
    .has_html = true,
    .has_perfetto = true,
    .run = run,
};
