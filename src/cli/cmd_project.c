
#include "cli/command.h"
#include "haul/trace.h"

static const char usage[] =
    "haul project TRACE --to MACHINE [options]\n"
    "\n"
    "Predicts what a recorded program, its copies and kernels, would take on another machine.\n"
    "First comes the identity check: the trace's own copies, priced on the machine that recorded\n"
    "it, beside the spread of equal copies, which no model of the size alone can explain. Then "
    "the\n"
    "copies on the target by direction, kind of memory and size, beside two baselines, with the\n"
    "interval that the doubt about its figures leaves and the weakest figure behind them. Then\n"
    "kernels and memsets, by the ratios of the two GPUs. Last the whole run, scheduled on the\n"
    "target: its makespan beside the recorded one, what is hidden and what is exposed, the\n"
    "critical path, and how well the same scheduling gives back the recording.\n"
    "\n"
    "Latencies and staging rates that the target's description lacks are carried over from the\n"
    "recording machine. What still cannot be priced is an error that names the missing figure.\n"
    "\n"
    "TRACE is a profile of Nsight Systems (SQLite export) or nvprof: see 'haul help analyze'.\n"
    "MACHINE is a name of 'haul machine list', or a file.\n"
    "\n"
    "options:\n"
    "  --to MACHINE                  the target\n"
    "  --from MACHINE                the machine that recorded the trace; without it, its link is\n"
    "                                fitted to the trace's own copies\n"
    "  --model NAME|./mine.so        price with this model of 'haul machine time --model list', "
    "or\n"
    "                                with one of your own, and with 'auto' what it cannot price;\n"
    "                                without it all with 'auto', the best that the target's "
    "figures\n"
    "                                allow\n"
    "  --truth TRACE2                a profile of the same program on the target: says how far "
    "off\n"
    "                                the prediction is, for each model\n"
    "  --format table|json|csv       how to print: a page (table); all figures (json, described "
    "in\n"
    "                                docs/json.md); a row for each size of copy (csv)\n"
    "  -o, --output FILE             print to a file\n"
    "  --perfetto FILE               write both timelines, as recorded and on the target, as a "
    "trace\n"
    "                                for ui.perfetto.dev or chrome://tracing, thinned where it "
    "would\n"
    "                                reach 100 MB\n"
    "  -h, --help                    print this\n"
    "\n"
    "exit code: 0 done, 2 wrong use, 3 a profile or machine that cannot be read or priced\n";

typedef struct project_options {
    const char *trace;
    const char *to;
    const char *from;
    const char *model;
    const char *truth;
    const char *output;
    const char *perfetto;
    haul_format format;
    bool help;
} project_options;

/* What the command reads and makes. */
typedef struct work {
    haul_workload *workload;
    haul_workload *truth;
    haul_machine *to;
    haul_machine *from;
    haul_model_ref model;
    haul_projection *projection;
} work;

static void release(work *self)
{
    haul_projection_free(self->projection);
    haul_model_release(&self->model);
    haul_machine_free(self->from);
    haul_machine_free(self->to);
    haul_workload_free(self->truth);
    haul_workload_free(self->workload);
}

static haul_status read_trace(const char *path, haul_workload **workload, haul_error *error)
{
    cli_progress_begin("reading", path);
    const haul_status status = haul_trace_load(path, workload, error);
    cli_progress_end();
    return status;
}

/* What is quickly read comes first, so that what is wrong in it is said at once. */
static haul_status load(const project_options *options, work *self, haul_error *error)
{
    haul_status status = haul_machine_load(options->to, &self->to, error);
    if (!status && options->from)
        status = haul_machine_load(options->from, &self->from, error);
    if (!status && options->model)
        status = haul_model_find(options->model, &self->model, error);
    if (!status)
        status = read_trace(options->trace, &self->workload, error);
    if (!status && options->truth)
        status = read_trace(options->truth, &self->truth, error);
    return status;
}

static haul_status write_report(const project_options *options, const work *self,
                                const haul_projection_options *asked, haul_error *error)
{
    FILE *out;
    haul_status status = cli_output_open(options->output, &out, error);
    if (status)
        return status;
    status = haul_report_projection(self->workload, asked, self->projection, options->format, out,
                                    error);
    return cli_output_finish(out, options->output, status, error);
}

static haul_status write_perfetto(const project_options *options, const work *self,
                                  haul_error *error)
{
    const haul_projection *projection = self->projection;
    if (!options->perfetto)
        return HAUL_OK;
    if (!projection->timeline) {
        *error = (haul_error){.status = HAUL_MISSING};
        snprintf(error->text, sizeof error->text, "no timeline on the target to draw: %.400s",
                 projection->run_missing);
        return error->status;
    }
    char label[120];
    snprintf(label, sizeof label, "on %.100s", self->to->name);
    const haul_drawn drawn[] = {
        {.label = "recorded", .workload = self->workload},
        {.label = label, .workload = self->workload, .spans = projection->timeline->ops},
    };
    return cli_perfetto_write(options->perfetto, drawn, 2, error);
}

static haul_status project(const project_options *options, haul_error *error)
{
    work self = {0};
    haul_status status = load(options, &self, error);
    const haul_projection_options asked = {
        .to = self.to, .from = self.from, .model = self.model.model, .truth = self.truth};
    if (!status) {
        cli_progress_begin("projecting", options->trace);
        status = haul_project(self.workload, &asked, &self.projection, error);
        cli_progress_end();
    }
    if (!status)
        status = write_report(options, &self, &asked, error);
    if (!status)
        status = write_perfetto(options, &self, error);
    release(&self);
    return status;
}

/* Returns 0, or the exit code for wrong use, said. */
static int check_output(const cli_command *self, const project_options *options)
{
    const char *const inputs[] = {options->trace, options->truth, options->to, options->from,
                                  options->model};
    const size_t count = sizeof inputs / sizeof *inputs;
    const char *lost = cli_overwritten(options->output, inputs, count);
    if (!lost)
        lost = cli_overwritten(options->perfetto, inputs, count);
    return lost ? cli_usage(self, "'%s' would be overwritten by the report", lost) : 0;
}

/* Likewise. */
static int parse(const cli_command *self, int argc, char **argv, project_options *options)
{
    const char *format = "table";
    const cli_option known[] = {
        {"to", &options->to, 0, NULL},
        {"from", &options->from, 0, NULL},
        {"model", &options->model, 0, NULL},
        {"truth", &options->truth, 0, NULL},
        {"format", &format, 0, NULL},
        {"output", &options->output, 'o', NULL},
        {"perfetto", &options->perfetto, 0, NULL},
        {0},
    };
    cli_arguments rest;
    const int wrong = cli_arguments_read(self, argc, argv, known, &rest);
    options->help = rest.help;
    if (wrong || rest.help)
        return wrong;
    haul_error error;
    if (cli_format_parse(format, &options->format, &error))
        return cli_usage(self, "%s", error.text);
    if (!rest.count)
        return cli_usage(self, "which profile?");
    if (rest.count > 1)
        return cli_usage(self, "one profile at a time, not also '%s'", rest.operands[1]);
    if (!options->to)
        return cli_usage(self, "to which machine? --to NAME; see 'haul machine list'");
    options->trace = rest.operands[0];
    return check_output(self, options);
}

static int run(const cli_command *self, int argc, char **argv)
{
    project_options options = {0};
    const int wrong = parse(self, argc, argv, &options);
    if (wrong)
        return wrong;
    if (options.help) {
        printf("usage: %s", usage);
        return 0;
    }
    haul_error error;
    return project(&options, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_project = {.name = "project",
                                 .summary = "a recorded program's copies and kernels on another "
                                            "machine",
                                 .usage = usage,
                                 .run = run};
