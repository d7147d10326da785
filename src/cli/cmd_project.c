#include "cli/command.h"

static const char usage[] =
    "haul project PROFILE --to MACHINE [options]\n"
    "\n"
    "Predicts the copies, the kernels and the whole run of a recorded program on another\n"
    "machine, each with its interval and the weakest parameter behind it. A self-check comes\n"
    "with the answer: the profile's own copies, predicted on the machine that recorded it, and\n"
    "its own durations, replayed.\n"
    "\n"
    "Parameters that the target's file lacks are scaled from the recording machine's; one that\n"
    "cannot be scaled is an error that names it. docs/projection.md tells how the run is\n"
    "scheduled.\n"
    "\n"
    "PROFILE is a profile as 'haul help analyze' lists them, MACHINE a name of 'haul machine\n"
    "list', or a file.\n"
    "\n"
    "options:\n"
    "  --to MACHINE                  the target\n"
    "  --from MACHINE                the machine that recorded the profile; without it, its\n"
    "                                link is fitted to the profile's own copies\n"
    "  --model NAME|./mine.so        predict copies with this model of 'haul machine time\n"
    "                                --model list', or one of your own, and with 'auto' where\n"
    "                                it cannot; without it with 'auto', the best that the\n"
    "                                parameters allow\n"
    "  --reference PROFILE2          a profile of the same program on the target: prints how\n"
    "                                far off the prediction is, for each model\n";

typedef struct project_options {
    const char *trace;
    const char *to;
    const char *from;
    const char *model;
    const char *reference;
    cli_results results;
} project_options;

/* What the command reads and makes. */
typedef struct work {
    haul_workload *workload;
    haul_workload *reference;
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
    haul_workload_free(self->reference);
    haul_workload_free(self->workload);
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
        status = cli_profile_load(options->trace, &self->workload, error);
    if (!status && options->reference)
        status = cli_profile_load(options->reference, &self->reference, error);
    return status;
}

/* As recorded, and on the target where that is known; returns how many there are. */
static size_t draw(const work *self, const char *label, haul_drawn drawn[2])
{
    const haul_timeline *timeline = self->projection->timeline;
    drawn[0] = (haul_drawn){.label = "recorded", .workload = self->workload};
    if (!timeline)
        return 1;
    drawn[1] = (haul_drawn){.label = label,
                            .workload = self->workload,
                            .spans = timeline->ops,
                            .critical = timeline->critical,
                            .critical_count = timeline->critical_count};
    return 2;
}

static haul_status write_perfetto(const project_options *options, const work *self,
                                  const haul_drawn *drawn, size_t count, haul_error *error)
{
    if (!options->results.perfetto)
        return HAUL_OK;
    if (count < 2) {
        return haul_fail(error, HAUL_MISSING, "no timeline on the target to draw: %.400s",
                         self->projection->run_missing);
    }
    return cli_perfetto(&options->results, drawn, count, error);
}

static haul_status write_page(const project_options *options, const work *self,
                              const haul_projection_options *asked, haul_page *page,
                              haul_error *error)
{
    haul_analysis *analysis;
    if (!options->results.html)
        return HAUL_OK;
    haul_status status = haul_analyze(self->workload, &analysis, error);
    if (status)
        return status;
    char title[400];
    (void)snprintf(title, sizeof title, "%.250s on %.100s", cli_file_name(options->trace),
                   self->to->name);
    haul_report *reports[] = {haul_report_projection(self->workload, asked, self->projection),
                              haul_report_analysis(self->workload, analysis),
                              haul_report_machine(self->to),
                              self->from ? haul_report_machine(self->from) : NULL};
    page->title = title;
    page->analysis = analysis;
    page->projection = self->projection;
    status = cli_page(&options->results, page, reports, self->from ? 4 : 3, error);
    haul_analysis_free(analysis);
    return status;
}

static haul_status write_drawings(const project_options *options, const work *self,
                                  const haul_projection_options *asked, haul_error *error)
{
    char label[120];
    snprintf(label, sizeof label, "on %.100s", self->to->name);
    haul_drawn drawn[2];
    const size_t count = draw(self, label, drawn);
    haul_page page = {.timelines = drawn, .timeline_count = count};
    const haul_status status = write_page(options, self, asked, &page, error);
    return status ? status : write_perfetto(options, self, drawn, count, error);
}

static haul_status project(const project_options *options, haul_error *error)
{
    work self = {0};
    haul_status status = load(options, &self, error);
    const haul_projection_options asked = {
        .to = self.to, .from = self.from, .model = self.model.model, .reference = self.reference};
    if (!status) {
        cli_progress_begin("projecting", options->trace);
        status = haul_project(self.workload, &asked, &self.projection, error);
        cli_progress_end();
    }
    if (!status)
        status = cli_report(&options->results,
                            haul_report_projection(self.workload, &asked, self.projection), error);
    if (!status)
        status = write_drawings(options, &self, &asked, error);
    release(&self);
    return status;
}

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, project_options *options)
{
    const cli_option known[] = {
        {"to", .value = &options->to, .is_input = true,
         .missing = "to which machine? --to NAME; see 'haul machine list'"},
        {"from", .value = &options->from, .is_input = true},
        {"model", .value = &options->model, .is_input = true},
        {"reference", .value = &options->reference, .is_input = true, .old = "truth"},
        {0},
    };
    cli_arguments arguments = {
        .options = known, .results = &options->results, .operand = "profile"};
    const int code = cli_arguments_read(self, argc, argv, &arguments);
    if (code == CLI_GO_ON)
        options->trace = arguments.operands[0];
    return code;
}

static int run(const cli_command *self, int argc, char **argv)
{
    project_options options = {0};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    haul_error error;
    return project(&options, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_project = {
    .name = "project",
    .summary = "a recorded program's copies and kernels on another machine",
    .usage = usage,
    .csv = "a row for each size of copy",
    .exits = "3 a profile or machine that cannot be read, or copies that cannot be\npredicted",
    .has_html = true,
    .has_perfetto = true,
    .run = run,
};
