#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/command.h"
#include "haul/simulate.h"

static const char usage[] =
    "haul simulate WORKLOAD --machine M [options]\n"
    "\n"
    "Tries a schedule that is written down, on a machine that you need not have: what each\n"
    "operation waits for, when it starts and ends, what overlaps, and what decides the end.\n"
    "\n"
    "WORKLOAD is a list of operations as YAML, with loops, or, where its name ends in .csv, as\n"
    "CSV: docs/simulate.md. An operation is a copy (HtoD, DtoH, DtoD, PtoP, HtoH), a kernel,\n"
    "memset, host or wait, on a stream, of so many bytes or of a duration, after others by name.\n"
    "Copies of bytes take what the machine's figures say, kernels of a fitted kernel file what it\n"
    "predicts.\n"
    "\n"
    "options:\n"
    "  --machine M                   a name of 'haul machine list', or a file\n"
    "  --model NAME|./mine.so        price copies with this model of 'haul machine time --model\n"
    "                                list', or with one of your own (auto)\n"
    "  --format table|json|csv       how to print: a page with the timeline (table), all figures\n"
    "                                (json, described in docs/json.md), a row for each operation\n"
    "                                (csv)\n"
    "  -o, --output FILE             print to a file\n"
    "  --html FILE                   write a page to look at, too: the timeline, the machine's\n"
    "                                figures\n"
    "  --perfetto FILE               write the timeline as a trace for ui.perfetto.dev or\n"
    "                                chrome://tracing, thinned where it would reach 100 MB\n"
    "  -h, --help                    print this\n"
    "\n"
    "exit code: 0 done, 2 wrong use, 3 a workload or machine that cannot be read, or lacks a\n"
    "figure, 4 a machine without what an operation needs\n";

typedef struct simulate_options {
    const char *workload;
    const char *machine;
    const char *model;
    const char *command; /* that was given */
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
static unsigned width_of(FILE *out)
{
    enum { PAGE = 100, WIDEST = 400 };
    struct winsize size;
    if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col)
        return PAGE;
    return size.ws_col < WIDEST ? size.ws_col : WIDEST;
}

static haul_status write_report(const simulate_options *options, const work *self,
                                haul_error *error)
{
    FILE *out;
    haul_status status = cli_output_open(options->results.output, &out, error);
    if (status)
        return status;
    status = haul_report_simulation(self->simulation, width_of(out), options->results.format, out,
                                    error);
    return cli_output_finish(out, options->results.output, status, error);
}

static haul_status write_drawings(const simulate_options *options, const work *self,
                                  haul_error *error)
{
    const haul_drawn drawn = {.workload = self->schedule->workload,
                              .spans = self->simulation->timeline->ops,
                              .named = true};
    haul_drawn on_page = drawn;
    char label[120];
    snprintf(label, sizeof label, "on %.100s", self->machine->name);
    on_page.label = label;
    on_page.critical = self->simulation->timeline->critical;
    on_page.critical_count = self->simulation->timeline->critical_count;
    const haul_machine *const machines[] = {self->machine};
    const char *name = self->schedule->name;
    const haul_page page = {.title = name ? name : cli_file_name(options->workload),
                            .command = options->command,
                            .timelines = &on_page,
                            .timeline_count = 1,
                            .simulation = self->simulation,
                            .machines = machines,
                            .machine_count = 1};
    const haul_status status = cli_page_write(options->results.html, &page, error);
    return status ? status : cli_perfetto_write(options->results.perfetto, &drawn, 1, error);
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
        status = write_report(options, &self, error);
    if (!status)
        status = write_drawings(options, &self, error);
    release(&self);
    return status;
}

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, simulate_options *options)
{
    const cli_option known[] = {
        {"machine", &options->machine, 0, NULL},
        {"model", &options->model, 0, NULL},
        {"format", &options->results.form, 0, NULL},
        {"output", &options->results.output, 'o', NULL},
        {"html", &options->results.html, 0, NULL},
        {"perfetto", &options->results.perfetto, 0, NULL},
        {0},
    };
    cli_arguments rest;
    const int code = cli_arguments_read(self, argc, argv, known, &rest);
    if (code != CLI_GO_ON)
        return code;
    const int which = cli_operand_read(self, &rest, "workload", &options->workload);
    if (which != CLI_GO_ON)
        return which;
    if (!options->machine)
        return cli_usage(self, "on which machine? --machine M; see 'haul machine list'");
    const char *const inputs[] = {options->workload, options->machine, options->model};
    return cli_results_check(self, &options->results, inputs, sizeof inputs / sizeof *inputs);
}

static int run(const cli_command *self, int argc, char **argv)
{
    cli_command_line command;
    cli_command_text(argc, argv, &command);
    simulate_options options = {.command = command.text};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    haul_error error;
    return simulate(&options, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_simulate = {.name = "simulate",
                                  .summary = "a schedule of copies and kernels, tried on a machine",
                                  .usage = usage,
                                  .run = run};
