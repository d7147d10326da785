#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const char usage[] =
    "haul machine list|show|check|diff|time|fit [options] [arguments]\n"
    "\n"
    "Machine descriptions: a node, its GPUs, its links, and what is known of copies between host\n"
    "and device, each figure with where it came from. MACHINE is a name of the catalogue or a "
    "file\n"
    "(with a '/' or \".yaml\" in it); docs/machines.md describes such files.\n"
    "\n"
    "  haul machine list             the machines of the catalogue\n"
    "  haul machine show MACHINE     every figure with its provenance and source\n"
    "  haul machine check FILE...    whether files are fine; else what is wrong, by line and "
    "column\n"
    "  haul machine diff A B         the figures that differ between two machines, and b/a\n"
    "  haul machine time MACHINE     the time of copies; 'haul machine time --help'\n"
    "  haul machine fit FILE...      figures from measured copies; 'haul machine fit --help'\n"
    "\n"
    "options of list, show and diff:\n"
    "  --format table|json|csv       how to print (table); json and csv are in base units\n"
    "  -o, --output FILE             print to a file\n"
    "\n"
    "environment:\n"
    "  HAUL_MACHINES                 folders of more machines, separated by ':', looked in first\n"
    "\n"
    "exit code: 0 fine, 2 wrong use, 3 a machine that cannot be read\n";

typedef struct options {
    haul_format format;
    const char *output;
    cli_arguments names; /* machines or files */
} options;

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, options *out)
{
    *out = (options){0};
    const char *format = "table";
    const cli_option known[] = {
        {"format", &format, 0, NULL},
        {"output", &out->output, 'o', NULL},
        {0},
    };
    const int code = cli_arguments_read(self, argc, argv, known, &out->names);
    haul_error error;
    if (code != CLI_GO_ON)
        return code;
    if (cli_format_parse(format, &out->format, &error))
        return cli_usage(self, "%s", error.text);
    const char *lost = cli_overwritten(out->output, (const char *const *)out->names.operands,
                                       (size_t)out->names.count);
    return lost ? cli_usage(self, "'%s' would be overwritten by the report", lost) : CLI_GO_ON;
}

/* A report to the output that the options name. */
typedef haul_status (*report)(const options *self, FILE *out, haul_error *error);

static int print_report(const options *self, report print)
{
    haul_error error;
    FILE *out = NULL;
    haul_status status = cli_output_open(self->output, &out, &error);
    if (status)
        return cli_fail(&error);
    status = print(self, out, &error);
    return cli_output_finish(out, self->output, status, &error) ? cli_fail(&error) : 0;
}

static haul_status print_list(const options *self, FILE *out, haul_error *error)
{
    return haul_report_catalogue(self->format, out, error);
}

static int run_list(const cli_command *self, const options *given)
{
    if (given->names.count)
        return cli_usage(self, "'list' takes no arguments, not '%s'", given->names.operands[0]);
    return print_report(given, print_list);
}

static haul_status print_machine(const options *self, FILE *out, haul_error *error)
{
    haul_machine *machine = NULL;
    haul_status status = haul_machine_load(self->names.operands[0], &machine, error);
    if (!status)
        status = haul_report_machine(machine, self->format, out, error);
    haul_machine_free(machine);
    return status;
}

static int run_show(const cli_command *self, const options *given)
{
    if (given->names.count != 1)
        return cli_usage(self, "'show' takes one machine");
    return print_report(given, print_machine);
}

static haul_status print_difference(const options *self, FILE *out, haul_error *error)
{
    haul_machine *a = NULL;
    haul_machine *b = NULL;
    haul_status status = haul_machine_load(self->names.operands[0], &a, error);
    if (!status)
        status = haul_machine_load(self->names.operands[1], &b, error);
    if (!status)
        status = haul_report_difference(a, b, self->format, out, error);
    haul_machine_free(a);
    haul_machine_free(b);
    return status;
}

static int run_diff(const cli_command *self, const options *given)
{
    if (given->names.count != 2)
        return cli_usage(self, "'diff' takes two machines");
    return print_report(given, print_difference);
}

typedef struct figure_counts {
    int all;
    int of[HAUL_CARRIED + 1];
} figure_counts;

static int count_figure(void *state, const char *path, int dimension, const haul_parameter *figure)
{
    (void)path;
    (void)dimension;
    figure_counts *counts = state;
    counts->all += figure->provenance != HAUL_NOT_GIVEN;
    counts->of[figure->provenance]++;
    return 0;
}

static void print_fine(const char *file, const haul_machine *machine, FILE *out)
{
    figure_counts counts = {0};
    (void)haul_machine_visit(machine, count_figure, &counts);
    fprintf(out, "%s: fine, %d figures", file, counts.all);
    const char *before = ": ";
    for (int i = HAUL_NOT_GIVEN + 1; i <= HAUL_CARRIED; i++) {
        if (!counts.of[i])
            continue;
        fprintf(out, "%s%d %s", before, counts.of[i], haul_provenance_text((haul_provenance)i));
        before = ", ";
    }
    fputc('\n', out);
}

/* The first error of each file is told, and the worst exit code returned. */
static int run_check(const cli_command *self, const options *given)
{
    int worst = 0;
    if (!given->names.count)
        return cli_usage(self, "'check' takes one file or more");
    if (given->format || given->output)
        return cli_usage(self, "'check' has no --format and no -o");
    for (int i = 0; i < given->names.count; i++) {
        haul_machine *machine = NULL;
        haul_error error;
        if (haul_machine_load(given->names.operands[i], &machine, &error)) {
            const int code = cli_fail(&error);
            worst = code > worst ? code : worst;
            continue;
        }
        print_fine(given->names.operands[i], machine, stdout);
        haul_machine_free(machine);
    }
    haul_error closing;
    return cli_output_close(stdout, NULL, &closing) ? cli_fail(&closing) : worst;
}

static const struct {
    const char *name;
    int (*run)(const cli_command *self, const options *given);
} subcommands[] = {
    {"list", run_list},
    {"show", run_show},
    {"check", run_check},
    {"diff", run_diff},
};

enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof *subcommands };

static int run_subcommand(const cli_command *self, int index, int argc, char **argv)
{
    options given;
    const int code = parse(self, argc, argv, &given);
    return code != CLI_GO_ON ? code : subcommands[index].run(self, &given);
}

static int run(const cli_command *self, int argc, char **argv)
{
    if (argc < 2)
        return cli_usage(self, "what to do is missing: list, show, check, diff, time or fit");
    if (!strcmp(argv[1], "time"))
        return cli_machine_time(self, argc - 1, argv + 1);
    if (!strcmp(argv[1], "fit"))
        return cli_machine_fit(self, argc - 1, argv + 1);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return cli_help(self);
    for (int i = 0; i < SUBCOMMAND_COUNT; i++)
        if (!strcmp(argv[1], subcommands[i].name))
            return run_subcommand(self, i, argc - 1, argv + 1);
    return cli_usage(self, "no command '%s'", argv[1]);
}

const cli_command cli_machine = {
    .name = "machine",
    .summary = "list, show, check, compare and fit machine descriptions; time a copy on one",
    .usage = usage,
    .run = run,
    .has_parts = true,
};
