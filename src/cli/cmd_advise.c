#include "cli/command.h"
#include "haul/units.h"

static const char usage[] =
    "haul advise PROFILE [--machine MACHINE] [options]\n"
    "\n"
    "Tries changes on a recorded program, schedules each anew, and ranks them by the time saved:\n"
    "pinned memory, streams of their own for copies, copies split over streams, small copies\n"
    "batched or passed as parameters, outputs mapped, unified memory prefetched. Speculative\n"
    "changes, which no profile can confirm for it records no contents, are listed apart. Then the\n"
    "changes are made together and scheduled once. Changes that save less than the replay's error\n"
    "are hidden.\n"
    "\n"
    "PROFILE is a profile as 'haul help analyze' lists them, MACHINE a name of 'haul machine\n"
    "list', or a file. A change that needs a parameter which is not known is not tried: a note\n"
    "names it.\n"
    "\n"
    "options:\n"
    "  --machine MACHINE             try them on this machine, onto which the program is\n"
    "                                projected first; without it on the one that recorded the\n"
    "                                profile\n"
    "  --from MACHINE                the machine that recorded the profile; without it, its\n"
    "                                link is fitted to the profile's own copies, and other\n"
    "                                kinds of copies are predicted as on the machine of the\n"
    "                                catalogue with that GPU\n"
    "  --limit N                     schedule at most so many operations in all (1e8): of more\n"
    "                                changes than that those that could save the most are tried\n";

typedef struct advise_options {
    const char *trace;
    const char *machine;
    const char *from;
    const char *limit;
    uint64_t most_ops;
    cli_results results;
} advise_options;

/* What the command reads and makes. */
typedef struct work {
    haul_workload *workload;
    haul_machine *machine;
    haul_machine *from;
    haul_advice_list *list;
} work;

static void release(work *self)
{
    haul_advice_free(self->list);
    haul_machine_free(self->from);
    haul_machine_free(self->machine);
    haul_workload_free(self->workload);
}

/* What is quickly read comes first, so that what is wrong in it is said at once. */
static haul_status load(const advise_options *options, work *self, haul_error *error)
{
    haul_status status = HAUL_OK;
    if (options->machine)
        status = haul_machine_load(options->machine, &self->machine, error);
    if (!status && options->from)
        status = haul_machine_load(options->from, &self->from, error);
    if (status)
        return status;
    return cli_profile_load(options->trace, &self->workload, error);
}

static haul_status write_page(const advise_options *options, const work *self, haul_page *page,
                              haul_error *error)
{
    haul_analysis *analysis;
    if (!options->results.html)
        return HAUL_OK;
    haul_status status = haul_analyze(self->workload, &analysis, error);
    if (status)
        return status;
    char title[300];
    (void)snprintf(title, sizeof title, "Advice for %.250s", cli_file_name(options->trace));
    haul_report *reports[4] = {haul_report_advice(self->workload, self->list),
                               haul_report_analysis(self->workload, analysis)};
    size_t count = 2;
    if (self->machine)
        reports[count++] = haul_report_machine(self->machine);
    if (self->from)
        reports[count++] = haul_report_machine(self->from);
    page->title = title;
    page->analysis = analysis;
    status = cli_page(&options->results, page, reports, count, error);
    haul_analysis_free(analysis);
    return status;
}

/* `timeline` may be NULL where `workload` is. */
static haul_drawn draw(const char *label, const haul_workload *workload,
                       const haul_timeline *timeline)
{
    if (!workload)
        return (haul_drawn){0};
    return (haul_drawn){.label = label,
                        .workload = workload,
                        .spans = timeline->ops,
                        .critical = timeline->critical,
                        .critical_count = timeline->critical_count};
}

/* The run before, and after the changes made together where there are any. */
static haul_status write_drawings(const advise_options *options, const work *self,
                                  haul_error *error)
{
    const haul_advice_list *list = self->list;
    haul_drawn drawn[] = {draw("before", self->workload, list->before),
                          draw("after", list->changed, list->after)};
    drawn[1].changed = true;
    const size_t count = list->changed ? 2 : 1;
    haul_page page = {.timelines = drawn, .timeline_count = count};
    const haul_status status = write_page(options, self, &page, error);
    return status ? status : cli_perfetto(&options->results, drawn, count, error);
}

static haul_status advise(const advise_options *options, haul_error *error)
{
    work self = {0};
    haul_status status = load(options, &self, error);
    const haul_advise_options asked = {
        .on = self.machine, .from = self.from, .most_ops = options->most_ops};
    if (!status) {
        cli_progress_begin("trying changes on", options->trace);
        status = haul_advise(self.workload, &asked, &self.list, error);
        cli_progress_end();
    }
    if (!status)
        status = cli_report(&options->results, haul_report_advice(self.workload, self.list), error);
    if (!status)
        status = write_drawings(options, &self, error);
    release(&self);
    return status;
}

/* Returns as cli_arguments_read. */
static int read_limit(const cli_command *self, advise_options *options)
{
    double limit;
    haul_error error;
    if (!options->limit)
        return CLI_GO_ON;
    if (haul_quantity_parse(options->limit, HAUL_DIM_NUMBER, &limit, &error))
        return cli_usage(self, "--limit: %s", error.text);
    if (!(limit >= 1 && limit <= 1e15))
        return cli_usage(self, "--limit is a number of operations from 1 to 1e15, not '%s'",
                         options->limit);
    options->most_ops = (uint64_t)limit;
    return CLI_GO_ON;
}

/* Likewise. */
static int parse(const cli_command *self, int argc, char **argv, advise_options *options)
{
    const cli_option known[] = {
        {"machine", .value = &options->machine, .is_input = true},
        {"from", .value = &options->from, .is_input = true},
        {"limit", .value = &options->limit},
        {0},
    };
    cli_arguments arguments = {
        .options = known, .results = &options->results, .operand = "profile"};
    const int code = cli_arguments_read(self, argc, argv, &arguments);
    if (code != CLI_GO_ON)
        return code;
    options->trace = arguments.operands[0];
    return read_limit(self, options);
}

static int run(const cli_command *self, int argc, char **argv)
{
    advise_options options = {0};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    haul_error error;
    return advise(&options, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_advise = {
    .name = "advise",
    .summary = "changes to a recorded program, by the time they save",
    .usage = usage,
    .csv = "a row for each change",
    .exits = "3 a profile or machine that cannot be read, or copies that cannot be\npredicted",
    .has_html = true,
    .has_perfetto = true,
    .run = run,
};
