#include "cli/profile_output.h"
#include "haul/units.h"

static const char usage[] =
    "haul cut TRACE... --from TIME --to TIME -o OUT.sqlite|OUT.json\n"
    "\n"
    "Writes a window of a profile: the operations that start in it. Times count from the start of\n"
    "the first operation. Operations whose API call is outside of the window are kept without it,\n"
    "and counted.\n"
    "\n"
    "options:\n"
    "  --from TIME, --to TIME        the window: 1.5s, 200ms, 80us\n"
    "  -o, --output FILE             what to write; its name ends in .sqlite or .json\n"
    "  -h, --help                    print this\n"
    "\n"
    "exit code: 0 done, 2 wrong use, 3 a profile that cannot be read\n";

/* A time in nanoseconds; false for what is none. */
static bool parse_time(const char *text, int64_t *ns)
{
    double seconds;
    if (haul_quantity_parse(text, HAUL_DIM_SECONDS, &seconds, NULL) ||
        !(seconds >= 0 && seconds < 2e9))
        return false;
    *ns = (int64_t)(seconds * 1e9 + 0.5);
    return true;
}

typedef struct window {
    const char *from;
    const char *to;
    int64_t from_ns;
    int64_t to_ns;
} window;

static haul_status write_window(const window *of, const haul_workload *workload, const char *path,
                                haul_error *error)
{
    uint64_t orphaned;
    haul_workload *part;
    haul_status status = haul_trace_cut(workload, of->from_ns, of->to_ns, &orphaned, &part, error);
    if (status)
        return status;
    status = cli_profile_write(part, path, error);
    if (!status)
        fprintf(stderr, "haul cut: %zu operations; %llu of them lost their API call\n",
                part->op_count, (unsigned long long)orphaned);
    haul_workload_free(part);
    return status;
}

static haul_status cut(const cli_arguments *arguments, const window *of, const char *output,
                       haul_error *error)
{
    haul_workload *workload;
    haul_status status = cli_profiles_load((const char *const *)arguments->operands,
                                           (size_t)arguments->count, &workload, error);
    if (status)
        return status;
    status = write_window(of, workload, output, error);
    haul_workload_free(workload);
    return status;
}

static int run(const cli_command *self, int argc, char **argv)
{
    const char *output = NULL;
    window of = {0};
    const cli_option options[] = {
        {.name = "output", .value = &output, .letter = 'o'},
        {.name = "from", .value = &of.from, .missing = "from when? give --from TIME"},
        {.name = "to", .value = &of.to, .missing = "to when? give --to TIME"},
        {0}};
    cli_arguments arguments = {.options = options};
    int code = cli_arguments_read(self, argc, argv, &arguments);
    if (code == CLI_GO_ON)
        code = cli_profile_output_check(self, &arguments, output);
    if (code != CLI_GO_ON)
        return code;
    if (!parse_time(of.from, &of.from_ns) || !parse_time(of.to, &of.to_ns))
        return cli_usage(self, "expected times such as 1.5s and 200ms");
    haul_error error;
    return cut(&arguments, &of, output, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_cut = {
    .name = "cut", .summary = "a window of a profile, as a file", .usage = usage, .run = run};
