/* haul advise: changes to a recorded program, by the time they save. */
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
    "names it.\n";

typedef struct advise_request {
    cli_request given;
    haul_workload *profile;
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

static haul_status advise(void *request, haul_error *error)
{
    const advise_request *self = request;
    const haul_advise_options asked = {.on = self->machine,
                                       .from = self->from,
                                       .most_ops = self->most_ops,
                                       .host_speed = self->host_speed};
    haul_advice_list *list = NULL;
    if (self->host_speed > 0 && !self->machine)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "--host-speed is of another machine: --to names it");
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
    .operand = {.name = "profile", .takes = "PROFILE", .kind = CLI_PROFILE, .at = OF(profile)},
    .least = 1,
    .most = SIZE_MAX,
    .csv = "a row for each change",
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
