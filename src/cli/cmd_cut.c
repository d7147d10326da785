/* haul cut: a window of a profile. */
#include "cli/profile_output.h"

static const char about[] =
    "Writes a window of a profile: the operations that start in it. Times count from the start of\n"
    "the first operation, which is often an API call long before the GPU's first work. Operations\n"
    "whose API call is outside of the window are kept without it, and counted.\n";

typedef struct cut_request {
    cli_request given;
    haul_workload *profile;
    double from_s;
    double to_s;
} cut_request;

enum { LATEST_S = 2000000000 };

#define OF(field) offsetof(cut_request, field)

static const cli_option options[] = {
    {"from", "TIME", CLI_SECONDS, OF(from_s), .help = "where the window begins: 1.5s, 200ms, 80us",
     .most = LATEST_S, .missing = "from when? give --from TIME"},
    {"to", "TIME", CLI_SECONDS, OF(to_s), .help = "where it ends", .most = LATEST_S,
     .missing = "to when? give --to TIME"},
    {"output", "FILE", CLI_TEXT, OF(given.results.output), PROFILE_OUTPUT_HELP, .letter = 'o',
     .missing = PROFILE_OUTPUT_MISSING},
    {0},
};

/* A window without work of a GPU is seldom meant: programs begin with API calls, such as those that
 * make a context. */
static void say_empty(const haul_workload *profile, const haul_workload *part)
{
    int64_t first_ns = INT64_MAX, last_ns = 0;
    for (size_t i = 0; i < part->op_count; i++)
        if (haul_op_on_device(&part->ops[i]))
            return;
    for (size_t i = 0; i < profile->op_count; i++) {
        const haul_op *const op = &profile->ops[i];
        const int64_t start_ns = op->start_ns - profile->ops[0].start_ns;
        if (haul_op_on_device(op)) {
            first_ns = start_ns < first_ns ? start_ns : first_ns;
            last_ns = start_ns;
        }
    }
    if (first_ns == INT64_MAX)
        return;
    fprintf(
        stderr,
        "haul cut: no GPU operation starts in this window; they start from %.1f ms to %.1f ms\n",
        1e-6 * (double)first_ns, 1e-6 * (double)last_ns);
}

static haul_status cut(void *request, haul_error *error)
{
    const cut_request *self = request;
    uint64_t orphaned;
    haul_workload *part;
    HAUL_TRY(haul_trace_cut(self->profile, (int64_t)(self->from_s * 1e9 + 0.5),
                            (int64_t)(self->to_s * 1e9 + 0.5), &orphaned, &part, error));
    haul_status status = cli_profile_write(part, self->given.results.output, error);
    if (!status) {
        fprintf(stderr, "haul cut: %zu operations; %llu of them lost their API call\n",
                part->op_count, (unsigned long long)orphaned);
        say_empty(self->profile, part);
    }
    haul_workload_free(part);
    return status;
}

const cli_command cli_cut = {
    .name = "cut",
    .summary = "a window of a profile, as a file",
    .synopsis = "PROFILE... --from TIME --to TIME -o OUT.sqlite|OUT.json",
    .about = about,
    .options = options,
    .operand = {.name = "profile", .takes = "PROFILE", .kind = CLI_PROFILE, .at = OF(profile)},
    .least = 1,
    .most = SIZE_MAX,
    .output = PROFILE_OUTPUT_HELP,
    .examples = {"haul cut app.sqlite --from 1.5s --to 1.7s -o step.sqlite",
                 "haul cut app.sqlite --from 0s --to 200ms -o start.json"},
    .exits = "3 a profile that cannot be read",
    .size = sizeof(cut_request),
    .check = cli_profile_output_check,
    .act = cut,
};
