/* haul advise: changes to a recorded program, by the time they save. */
#include <stdlib.h>

#include "cli/command.h"

static const char about[] =
    "Tries changes on a recorded program, schedules each anew, and ranks them by the time saved:\n"
    "pinned memory, streams of their own for copies, copies split over streams, small copies\n"
    "batched or passed as parameters, outputs mapped, unified memory prefetched. Speculative\n"
    "changes, which no profile can confirm for it records no contents, are listed apart. Then the\n"
    "changes are made together and scheduled once. Changes that save less than the replay's error\n"
    "are hidden.\n"
    "\n"
    "PROFILE is a profile as 'haul help analyze' lists them, MACHINE a name of 'haul machine\n"
    "list', or a file. A change that needs a parameter which is not known is not tried: a note\n"
    "names it. Files of one job, its ranks, are one run; others are a table, a row each.\n";

typedef struct advise_request {
    cli_request given;
    haul_trace_jobs jobs;
    haul_workload *profile; /* the first of them */
    haul_machine *machine;
    haul_machine *from;
    uint64_t most_ops;
    double host_speed;
} advise_request;

#define OF(field) offsetof(advise_request, field)

static const cli_option options[] = {
    {"to", "MACHINE", CLI_MACHINE, OF(machine),
     .help = "try them on this machine, onto which the program is projected first; without it on "
             "the one that recorded the profile",
     .is_input = true, .old = "machine"},
    {"from", "MACHINE", CLI_MACHINE, OF(from),
     .help = "the machine that recorded the profile; without it, its link is fitted to the "
             "profile's own copies, and other kinds of copies are predicted as on the machine of "
             "the catalogue with that GPU",
     .is_input = true},
    {"limit", "N", CLI_COUNT, OF(most_ops),
     .help = "schedule at most so many operations in all (1e8): of more changes than that those "
             "that could save the most are tried",
     .least = 1, .most = 1e15},
    {"host-speed", "N", CLI_NUMBER, OF(host_speed), .least = 0.01, .most = 100,
     .help = "the CPU of --to runs the program's own code so many times as fast as the recording "
             "one; without it the same CPU is assumed"},
    {0},
};

static haul_drawn draw(const char *label, const haul_workload *workload,
                       const haul_timeline *timeline, int64_t run_ns)
{
    return (haul_drawn){.label = label,
                        .workload = workload,
                        .spans = timeline->ops,
                        .run_ns = run_ns,
                        .critical = timeline->critical,
                        .critical_count = timeline->critical_count};
}

/* Draws the run before, and after the changes made together where there are any; the recorded one
 * where nothing was tried. */
static haul_status write_answer(const advise_request *self, const haul_advice_list *list,
                                haul_error *error)
{
    char title[300];
    haul_drawn drawn[2] = {{.label = "recorded", .workload = self->profile}};
    const haul_advised_plan *plan =
        list->is_speculative ? &list->with_speculative : &list->together;
    (void)snprintf(title, sizeof title, "Advice for %.250s",
                   cli_file_name(self->given.operands[0]));
    if (list->before)
        drawn[0] = draw("before", self->profile, list->before, list->baseline_ns);
    if (list->changed) {
        drawn[1] = draw(list->is_speculative ? "after, if the speculative changes hold" : "after",
                        list->changed, list->after, list->baseline_ns - plan->saved_ns);
        drawn[1].changed = true;
    }
    cli_answer answer = {
        .report = haul_report_advice(self->profile, list),
        .page = {.title = title, .timelines = drawn, .timeline_count = list->changed ? 2 : 1},
        .analyzed = self->profile,
        .machines = {self->machine, self->from},
        .undrawn = list->unsound};
    return cli_answer_write(&self->given.results, &answer, error);
}

/* A row of the table, with the texts that it needs: a list is larger than its profile, so it is
 * freed before the next. */
typedef struct advised_texts {
    char machine[120];
    char first[1000];
    char missing[400];
} advised_texts;

/* A profile that cannot be advised says why; the others stand. */
static haul_status advise_one(const haul_workload *profile, const haul_advise_options *asked,
                              haul_advised_profile *row, advised_texts *texts, haul_error *error)
{
    haul_advice_list *list = NULL;
    haul_error wrong = {0};
    const haul_status status = haul_advice_make(profile, asked, &list, &wrong);
    *row = (haul_advised_profile){.source = profile->source};
    if (status == HAUL_STATUS_MISSING || status == HAUL_STATUS_BAD_INPUT) {
        (void)snprintf(texts->missing, sizeof texts->missing, "%.390s", wrong.text);
        row->missing = texts->missing;
        return HAUL_OK;
    }
    if (status) {
        if (error)
            *error = wrong;
        return status;
    }
    const haul_advice *first = haul_advice_first(list);
    (void)snprintf(texts->machine, sizeof texts->machine, "%.110s", list->machine);
    (void)snprintf(texts->first, sizeof texts->first, "%.990s", first ? first->what : "");
    (void)snprintf(texts->missing, sizeof texts->missing, "%.390s",
                   list->unsound ? list->unsound : "");
    row->machine = texts->machine;
    row->first = first ? texts->first : NULL;
    row->missing = list->unsound ? texts->missing : NULL;
    row->recorded_ns = list->replay.recorded_ns;
    row->run_ns = list->baseline_ns;
    row->safe = list->safe;
    row->together = list->together;
    haul_advice_free(list);
    return HAUL_OK;
}

/* Profiles of different jobs: a row each. */
static haul_status advise_each(const advise_request *self, const haul_advise_options *asked,
                               haul_error *error)
{
    const size_t count = self->jobs.count;
    haul_advised_profile *rows = calloc(count, sizeof *rows);
    advised_texts *texts = calloc(count, sizeof *texts);
    haul_status status =
        rows && texts ? HAUL_OK : haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    for (size_t i = 0; rows && texts && !status && i < count; i++) {
        cli_progress_begin("trying changes on", self->jobs.items[i]->source);
        status = advise_one(self->jobs.items[i], asked, &rows[i], &texts[i], error);
        cli_progress_end();
    }
    if (!status) {
        cli_answer answer = {.report = haul_report_advices(rows, count),
                             .page = {.title = "Advice for several profiles"}};
        status = cli_answer_write(&self->given.results, &answer, error);
    }
    free(texts);
    free(rows);
    return status;
}

static haul_status advise(void *request, haul_error *error)
{
    advise_request *self = request;
    const haul_advise_options asked = {.on = self->machine,
                                       .from = self->from,
                                       .most_ops = self->most_ops,
                                       .host_speed = self->host_speed};
    haul_advice_list *list = NULL;
    self->profile = self->jobs.items[0];
    if (self->host_speed > 0 && !self->machine)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "--host-speed is of another machine: --to names it");
    if (self->jobs.count > 1 && self->given.results.perfetto)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "--perfetto is of one profile: give the files of one job");
    if (self->jobs.count > 1)
        return advise_each(self, &asked, error);
    cli_progress_begin("trying changes on", self->given.operands[0]);
    haul_status status = haul_advice_make(self->profile, &asked, &list, error);
    cli_progress_end();
    if (!status)
        status = write_answer(self, list, error);
    haul_advice_free(list);
    return status;
}

const cli_command cli_advise = {
    .name = "advise",
    .summary = "changes to a recorded program, by the time they save",
    .synopsis = "PROFILE... [--to MACHINE] [options]",
    .about = about,
    .options = options,
    .operand = {.name = "profile", .takes = "PROFILE", .kind = CLI_PROFILES, .at = OF(jobs)},
    .least = 1,
    .most = SIZE_MAX,
    .csv = "a row for each change; of several jobs a row for each",
    .examples = {"haul advise app.sqlite",
                 "haul advise app.sqlite --to h100-pcie5 --html advice.html"},
    .exits = "3 a profile or machine that cannot be read, or copies that cannot be predicted",
    .has_report = true,
    .has_selection = true,
    .has_html = true,
    .has_perfetto = true,
    .size = sizeof(advise_request),
    .act = advise,
};
