/* haul project: a recorded program on another machine. */
#include "cli/command.h"

static const char about[] =
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
    "list', or a file.\n";

typedef struct project_request {
    cli_request given;
    haul_workload *profile;
    haul_workload *reference;
    haul_machine *to;
    haul_machine *from;
    haul_model_ref model;
    const char *classes; /* files */
    const char *counters;
} project_request;

#define OF(field) offsetof(project_request, field)

static const cli_option options[] = {
    {"to", "MACHINE", CLI_MACHINE, OF(to), .help = "the target", .is_input = true,
     .missing = "to which machine? --to NAME; see 'haul machine list'"},
    {"from", "MACHINE", CLI_MACHINE, OF(from),
     .help = "the machine that recorded the profile; without it, its link is fitted to the "
             "profile's own copies",
     .is_input = true},
    {"model", "NAME|./mine.so", CLI_MODEL, OF(model),
     .help = "predict copies with this model of 'haul machine time --model list', or one of your "
             "own, and with 'auto' where it cannot; without it with 'auto', the best that the "
             "parameters allow",
     .is_input = true},
    {"reference", "PROFILE2", CLI_PROFILE, OF(reference),
     .help = "a profile of the same program on the target: prints how far off the prediction is, "
             "for each model",
     .is_input = true, .old = "truth"},
    {"classes", "FILE", CLI_TEXT, OF(classes),
     .help = "a table of kernels' names and classes of your own, asked before haul's "
             "(docs/kernels.md)",
     .is_input = true},
    {"counters", "FILE", CLI_TEXT, OF(counters),
     .help = "what ncu or nvprof counted of the kernels' flops and bytes (docs/kernels.md)",
     .is_input = true},
    {0},
};

/* Draws the run as recorded, and on the target where that is known. */
static haul_status write_answer(const project_request *self, const haul_projection_options *asked,
                                const haul_projection *projection, haul_error *error)
{
    char title[400], label[120];
    const haul_timeline *timeline = projection->timeline;
    haul_drawn drawn[2] = {{.label = "recorded", .workload = self->profile},
                           {.label = label, .workload = self->profile}};
    (void)snprintf(title, sizeof title, "%.250s on %.100s", cli_file_name(self->given.operands[0]),
                   self->to->name);
    (void)snprintf(label, sizeof label, "on %.100s", self->to->name);
    if (timeline) {
        drawn[1].spans = timeline->ops;
        drawn[1].critical = timeline->critical;
        drawn[1].critical_count = timeline->critical_count;
    }
    cli_answer answer = {.report = haul_report_projection(self->profile, asked, projection),
                         .page = {.title = title,
                                  .timelines = drawn,
                                  .timeline_count = timeline ? 2 : 1,
                                  .projection = projection},
                         .analyzed = self->profile,
                         .machines = {self->to, self->from},
                         .undrawn = timeline ? NULL : projection->run_missing};
    return cli_answer_write(&self->given.results, &answer, error);
}

static haul_status project(void *request, haul_error *error)
{
    const project_request *self = request;
    haul_kernel_classes *classes = NULL;
    haul_kernel_times *counters = NULL;
    haul_status status = HAUL_OK;
    if (self->classes)
        status = haul_kernel_classes_load(self->classes, &classes, error);
    if (!status && self->counters)
        status =
            haul_kernel_times_load(&(haul_kernel_csv){.path = self->counters}, 1, &counters, error);
    const haul_projection_options asked = {.to = self->to,
                                           .from = self->from,
                                           .model = self->model.model,
                                           .reference = self->reference,
                                           .classes = classes,
                                           .counters = counters};
    haul_projection *projection = NULL;
    cli_progress_begin("projecting", self->given.operands[0]);
    if (!status)
        status = haul_project(self->profile, &asked, &projection, error);
    cli_progress_end();
    if (!status)
        status = write_answer(self, &asked, projection, error);
    haul_projection_free(projection);
    haul_kernel_times_free(counters);
    haul_kernel_classes_free(classes);
    return status;
}

const cli_command cli_project = {
    .name = "project",
    .summary = "a recorded program's copies and kernels on another machine",
    .synopsis = "PROFILE... --to MACHINE [options]",
    .about = about,
    .options = options,
    .operand = {.name = "profile", .takes = "PROFILE", .kind = CLI_PROFILE, .at = OF(profile)},
    .least = 1,
    .most = SIZE_MAX,
    .csv = "a row for each size of copy",
    .examples = {"haul project app.sqlite --to gh200",
                 "haul project app.sqlite --to ./mine.yaml --from v100-pcie3 --perfetto app.json"},
    .exits = "3 a profile or machine that cannot be read, or copies that cannot be predicted",
    .has_report = true,
    .has_html = true,
    .has_perfetto = true,
    .size = sizeof(project_request),
    .act = project,
};
