/* haul cut: a window of a profile. */
#include "cli/profile_output.h"

static const char about[] =
    "Writes a window of a profile: the operations that start in it. Times count from the start of\n"
    "the GPU's first operation, as in reports and pages; a window from 0 has the API calls before\n"
    "that, too. Operations whose API call is outside of the window are kept without it, and "
    "counted.\n";

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

/* A window without work of a GPU is not meant. A profile without any such work may be cut anywhere.
 */
static haul_status check_window(const haul_workload *part, int64_t gpu_ns, haul_error *error)
{
    for (size_t i = 0; i < part->op_count; i++)
        if (haul_op_on_device(&part->ops[i]))
            return HAUL_OK;
    if (!gpu_ns && part->op_count)
        return HAUL_OK;
    return haul_error_set(error, HAUL_STATUS_MISSING,
                          "no GPU operation starts in this window; the last starts %.1f ms after "
                          "the first",
                          1e-6 * (double)gpu_ns);
}

static haul_status cut(void *request, haul_error *error)
{
    const cut_request *self = request;
    uint64_t orphaned;
    haul_workload *part;
    int64_t first_ns, last_ns;
    /* From the first of all operations, as haul_trace_cut counts, to the GPU's first and last; both
     * 0 where there are none. */
    bool is_first = true;
    first_ns = last_ns = 0;
    for (size_t i = 0; i < self->profile->op_count; i++) {
        if (!haul_op_on_device(&self->profile->ops[i]))
            continue;
        last_ns = self->profile->ops[i].start_ns - self->profile->ops[0].start_ns;
        first_ns = is_first ? last_ns : first_ns;
        is_first = false;
    }
    const int64_t from_ns = (int64_t)(self->from_s * 1e9 + 0.5);
    HAUL_TRY(haul_trace_cut(self->profile, from_ns ? first_ns + from_ns : 0,
                            first_ns + (int64_t)(self->to_s * 1e9 + 0.5), &orphaned, &part, error));
    haul_status status = check_window(part, last_ns - first_ns, error);
    if (!status)
        status = cli_profile_write(part, self->given.results.output, error);
    if (!status)
        fprintf(stderr, "haul cut: %zu operations; %llu of them lost their API call\n",
                part->op_count, (unsigned long long)orphaned);
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
