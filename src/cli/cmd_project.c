/* haul project: a recorded program on another machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/prices.h"

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
    "list', or a file. Files of one job, its ranks, are one run; others are a table, each on each\n"
    "target. What if the slot were of the next generation? --set link.generation=6\n"
    "changes the target, and with the link's peak the rates over it.\n";

typedef struct project_request {
    cli_request given;
    haul_trace_jobs jobs;
    haul_workload *profile; /* the first of them */
    haul_workload *reference;
    haul_workload *link_of;
    cli_machines to;
    cli_texts set;
    haul_machine *from;
    haul_model_ref model;
    const char *classes; /* files */
    const char *counters;
    const char *prices_file;
    cli_prices prices;
    bool tf32;
    double host_speed;
} project_request;

#define OF(field) offsetof(project_request, field)

static const cli_option options[] = {
    {"to", "MACHINE[,MACHINE]", CLI_MACHINES, OF(to),
     .help = "the target; several are compared in a table", .is_input = true,
     .missing = "to which machine? --to NAME; see 'haul machine list'"},
    {"set", "PARAM=VALUE[,VALUE]", CLI_TEXTS, OF(set),
     .help = "change a parameter of the target, as 'haul machine show' names it: "
             "link.generation=6; several values are compared in a table"},
    {"from", "MACHINE", CLI_MACHINE, OF(from),
     .help = "the machine that recorded the profile; without it, its link is fitted to the "
             "profile's own copies",
     .is_input = true},
    {"link-of", "PROFILE2", CLI_PROFILE, OF(link_of),
     .help = "without --from: fit the link to the copies of this profile, of the same machine",
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
    {"prices", "FILE", CLI_TEXT, OF(prices_file),
     .help = "a CSV of machine,price_per_hour and, where known, watts: cost and energy of a run on "
             "each "
             "target",
     .is_input = true},
    {"tf32", NULL, CLI_FLAG, OF(tf32),
     .help = "the program allows TF32: products in fp32 use it where the target has it and the "
             "source has not"},
    {"host-speed", "N", CLI_NUMBER, OF(host_speed), .least = 0.01, .most = 100,
     .help = "the target's CPU runs the program's own code so many times as fast as the recording "
             "one; without it the same CPU is assumed"},
    {0},
};

/* A machine, changed as asked. */
typedef struct target {
    haul_machine machine;   /* `owned` or one of the request's, under the label as its name */
    haul_machine *owned;    /* NULL where nothing was set */
    const cli_price *price; /* or NULL */
    char label[200];
} target;

typedef struct targets {
    target *items;
    size_t count;
} targets;

/* The values of "PARAM=VALUE,VALUE", at least one. */
static size_t count_values(const char *set)
{
    size_t count = 1;
    for (const char *comma = set; (comma = strchr(comma, ',')); comma++)
        count++;
    return count;
}

/* Sets a parameter of a target to value number `number` of the list. */
static haul_status change(target *self, const char *set, size_t number, haul_error *error)
{
    char assignment[160];
    const char *value = strchr(set, '=');
    if (!value)
        return haul_error_set(error, HAUL_STATUS_USAGE, "--set: expected PARAM=VALUE, not '%.80s'",
                              set);
    const int path = (int)(value - set);
    for (value++; number; number--)
        value = strchr(value, ',') + 1;
    (void)snprintf(assignment, sizeof assignment, "%.*s=%.*s", path, set, (int)strcspn(value, ","),
                   value);
    haul_machine *made = NULL;
    HAUL_TRY(haul_machine_set(&self->machine, assignment, &made, error));
    const size_t used = strlen(self->label);
    (void)snprintf(self->label + used, sizeof self->label - used, " %s", assignment);
    haul_machine_free(self->owned);
    self->owned = made;
    self->machine = *made;
    return HAUL_OK;
}

/* Each machine with each combination of values. */
static haul_status make_targets(const project_request *self, targets *out, haul_error *error)
{
    enum { MOST = 1000 };
    size_t count = self->to.count;
    for (size_t s = 0; s < self->set.count && count <= MOST; s++)
        count *= count_values(self->set.items[s]);
    if (count > MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "more than %d machines to compare", MOST);
    out->items = calloc(count, sizeof *out->items);
    if (!out->items)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        target *made = &out->items[out->count++];
        size_t rest = i / self->to.count;
        made->machine = *self->to.items[i % self->to.count];
        made->price = cli_prices_find(&self->prices, made->machine.name);
        (void)snprintf(made->label, sizeof made->label, "%.100s", made->machine.name);
        for (size_t s = 0; s < self->set.count; s++) {
            const size_t values = count_values(self->set.items[s]);
            HAUL_TRY(change(made, self->set.items[s], rest % values, error));
            rest /= values;
        }
        made->machine.name = made->label;
    }
    return HAUL_OK;
}

/* Draws the run as recorded, and on the target where that is known. */
static haul_status write_answer(const project_request *self, const haul_projection_options *asked,
                                const haul_projection *projection, haul_error *error)
{
    char title[400], label[120];
    const haul_timeline *timeline = projection->unsound ? NULL : projection->timeline;
    haul_drawn drawn[2] = {{.label = "recorded", .workload = self->profile},
                           {.label = label, .workload = self->profile}};
    (void)snprintf(title, sizeof title, "%.250s on %.100s", cli_file_name(self->given.operands[0]),
                   asked->to->name);
    (void)snprintf(label, sizeof label, "on %.100s", asked->to->name);
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
                         .machines = {asked->to, self->from},
                         .undrawn =
                             projection->unsound ? projection->unsound : projection->run_missing};
    return cli_answer_write(&self->given.results, &answer, error);
}

/* Rows of a table, with the texts that they need: a projection is as large as its profile, so it is
 * freed before the next. */
enum { WHY_BYTES = 300, GPU_BYTES = 120 };
typedef struct row_texts {
    char why[WHY_BYTES];
    char gpu[GPU_BYTES];
} row_texts;

static haul_status fill_row(const haul_workload *profile, const haul_projection_options *asked,
                            haul_target_row *row, row_texts *texts, haul_error *error)
{
    haul_projection *of = NULL;
    HAUL_TRY(haul_projection_make(profile, asked, &of, error));
    /* Why the whole run is not predicted, or NULL. */
    const char *missing = of->run_missing              ? of->run_missing
                          : of->unsound                ? of->unsound
                          : of->recorded_kernels_s > 0 ? of->kernels_missing
                                                       : NULL;
    (void)snprintf(texts->why, sizeof texts->why, "%s", missing ? missing : "");
    (void)snprintf(texts->gpu, sizeof texts->gpu, "%s", of->gpu ? of->gpu : "");
    *row = (haul_target_row){.name = asked->to->name,
                             .source = profile->source,
                             .gpu = *texts->gpu ? texts->gpu : NULL,
                             .replaced_link = asked->to->replaced_link,
                             .missing = missing ? texts->why : NULL,
                             .other_maker = of->other_maker,
                             .recorded_ns = of->recorded_run.makespan_ns,
                             .predicted_ns = of->target_run.makespan_ns,
                             .low_ns = of->low_ns,
                             .high_ns = of->high_ns,
                             .copies_s = of->copies.seconds,
                             .kernels_s = of->kernels_missing && of->recorded_kernels_s > 0
                                              ? (double)NAN
                                              : of->kernels.seconds,
                             .critical = of->critical,
                             .host = of->host,
                             .replay = of->replay};
    haul_projection_free(of);
    return HAUL_OK;
}

/* A cell of the matrix that cannot be predicted says why; the others stand. */
static haul_status fill_cell(const haul_workload *profile, const haul_projection_options *asked,
                             haul_target_row *row, row_texts *texts, haul_error *error)
{
    haul_error wrong = {0};
    const haul_status status = fill_row(profile, asked, row, texts, &wrong);
    if (status == HAUL_STATUS_MISSING || status == HAUL_STATUS_BAD_INPUT) {
        (void)snprintf(texts->why, sizeof texts->why, "%.290s", wrong.text);
        *row = (haul_target_row){.name = asked->to->name,
                                 .source = profile->source,
                                 .missing = texts->why,
                                 .copies_s = (double)NAN,
                                 .kernels_s = (double)NAN};
        return HAUL_OK;
    }
    if (status && error)
        *error = wrong;
    return status;
}

static haul_status write_table(const project_request *self, const haul_target_row *rows,
                               size_t count, haul_error *error)
{
    const size_t jobs = self->jobs.count;
    char title[300];
    (void)snprintf(title, sizeof title, "%.250s on other machines",
                   jobs > 1 ? "Several profiles" : cli_file_name(self->given.operands[0]));
    haul_report *report =
        jobs > 1 ? haul_report_matrix(rows, jobs, count)
                 : haul_report_targets(self->profile, rows[count - 1].gpu, rows, count);
    cli_answer answer = {
        .report = report,
        .page = {.title = title, .targets = rows, .job_count = jobs, .target_count = count}};
    return cli_answer_write(&self->given.results, &answer, error);
}

/* Each profile on each target, one at a time. */
static haul_status compare_targets(const project_request *self, haul_projection_options *asked,
                                   const targets *all, haul_error *error)
{
    const size_t jobs = self->jobs.count, count = jobs * all->count;
    haul_target_row *rows = calloc(count + 1, sizeof *rows);
    row_texts *texts = calloc(count + 1, sizeof *texts);
    haul_status status = HAUL_OK;
    if (!rows || !texts)
        status = haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    for (size_t i = 0; rows && texts && !status && i < count; i++) {
        const haul_workload *profile = self->jobs.items[i / all->count];
        asked->to = &all->items[i % all->count].machine;
        status = (jobs > 1 ? fill_cell : fill_row)(profile, asked, &rows[i], &texts[i], error);
        const cli_price *price = all->items[i % all->count].price;
        rows[i].price_per_hour = price ? price->per_hour : 0;
        rows[i].watts = price ? price->watts : 0;
    }
    if (!status)
        status = write_table(self, rows, all->count, error);
    free(rows);
    free(texts);
    return status;
}

/* A drawing is of one run on one machine. */
static haul_status check_table(const project_request *self, const targets *all, haul_error *error)
{
    const bool is_table = all->count > 1 || self->jobs.count > 1 || self->prices_file;
    size_t priced = 0;
    for (size_t i = 0; i < all->count; i++)
        priced += all->items[i].price != NULL;
    if (self->prices_file && !priced)
        return haul_error_set(error, HAUL_STATUS_USAGE, "--prices: %.200s has none of the targets",
                              self->prices_file);
    if (is_table && (self->reference || self->given.results.perfetto))
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "--reference and --perfetto are of one profile on one machine: give %s",
            self->jobs.count > 1 ? "the files of one job"
                                 : "--to one, --set one value and no --prices");
    return HAUL_OK;
}

static haul_status project(void *request, haul_error *error)
{
    project_request *self = request;
    self->profile = self->jobs.items[0];
    haul_kernel_classes *classes = NULL;
    haul_kernel_times *counters = NULL;
    haul_projection *projection = NULL;
    targets all = {.count = 0};
    haul_status status =
        self->prices_file ? cli_prices_read(self->prices_file, &self->prices, error) : HAUL_OK;
    if (!status)
        status = make_targets(self, &all, error);
    if (!status)
        status = check_table(self, &all, error);
    if (!status && self->classes)
        status = haul_kernel_classes_load(self->classes, &classes, error);
    if (!status && self->counters)
        status =
            haul_kernel_times_load(&(haul_kernel_csv){.path = self->counters}, 1, &counters, error);
    haul_projection_options asked = {.from = self->from,
                                     .model = self->model.model,
                                     .reference = self->reference,
                                     .link_of = self->link_of,
                                     .classes = classes,
                                     .counters = counters,
                                     .tf32 = self->tf32,
                                     .host_speed = self->host_speed};
    cli_progress_begin("projecting", self->given.operands[0]);
    if (!status && (all.count > 1 || self->jobs.count > 1 || self->prices_file)) {
        status = compare_targets(self, &asked, &all, error);
    } else if (!status && all.items) {
        asked.to = &all.items[0].machine;
        status = haul_projection_make(self->profile, &asked, &projection, error);
    }
    cli_progress_end();
    if (projection)
        status = write_answer(self, &asked, projection, error);
    haul_projection_free(projection);
    haul_kernel_times_free(counters);
    haul_kernel_classes_free(classes);
    for (size_t i = 0; all.items && i < all.count; i++)
        haul_machine_free(all.items[i].owned);
    free(all.items);
    cli_prices_release(&self->prices);
    return status;
}

const cli_command cli_project = {
    .name = "project",
    .summary = "a recorded program on another machine: its copies and kernels",
    .synopsis = "PROFILE... --to MACHINE [options]",
    .about = about,
    .options = options,
    .operand = {.name = "profile", .takes = "PROFILE", .kind = CLI_PROFILES, .at = OF(jobs)},
    .least = 1,
    .most = SIZE_MAX,
    .csv = "a row for each size of copy; of several machines or profiles a row for each of both",
    .examples = {"haul project app.sqlite --to gh200,h100-pcie5",
                 "haul project app.sqlite --to h100-pcie5 --set link.generation=4,5,6"},
    .exits = "3 a profile or machine that cannot be read, or copies that cannot be predicted",
    .has_report = true,
    .has_selection = true,
    .has_html = true,
    .has_perfetto = true,
    .size = sizeof(project_request),
    .act = project,
};
