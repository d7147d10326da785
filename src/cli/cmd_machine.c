#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/machine_parts.h"

static const char usage[] =
    "haul machine list|show|check|diff|time|fit [options] [arguments]\n"
    "\n"
    "Machine descriptions: a node, its GPUs, its links, and what is known of copies between host\n"
    "and device, each parameter with where it came from. MACHINE is a name of the catalogue or a\n"
    "file (with a '/' or \".yaml\" in it); docs/machines.md describes such files.\n"
    "\n"
    "  haul machine list             the machines of the catalogue\n"
    "  haul machine show MACHINE     every parameter with its provenance and source\n"
    "  haul machine check FILE...    whether files are fine; else what is wrong, by line and "
    "column\n"
    "  haul machine diff A B         the parameters that differ between two machines, and b/a\n"
    "  haul machine time MACHINE     the time of copies; 'haul machine time --help'\n"
    "  haul machine fit FILE...      parameters from measured copies; 'haul machine fit --help'\n"
    "\n"
    "options of list, show and diff:\n"
    "  --format table|json|csv       how to print (table); json and csv are in base units\n"
    "  -o, --output FILE             print to a file\n"
    "\n"
    "environment:\n"
    "  HAUL_MACHINES                 folders of more machines, separated by ':', looked in first\n"
    "\n"
    "exit code: 0 fine, 2 wrong use, 3 a machine that cannot be read\n";

/* A report to the output that the options name. */
typedef haul_status (*report)(const cli_results *results, char *const *names, haul_error *error);

/* Runs a command that takes `count` machines, as `takes` says it. */
static int run_report(const cli_command *self, int argc, char **argv, int count, const char *takes,
                      report print)
{
    cli_results results = {0};
    cli_arguments arguments = {.results = &results};
    const int code = cli_arguments_read(self, argc, argv, &arguments);
    haul_error error;
    if (code != CLI_GO_ON)
        return code;
    if (arguments.count != count)
        return cli_usage(self, "%s", takes);
    return print(&results, arguments.operands, &error) ? cli_fail(&error) : 0;
}

static haul_status list(const cli_results *results, char *const *names, haul_error *error)
{
    (void)names;
    haul_report *catalogue;
    const haul_status status = haul_report_catalogue(&catalogue, error);
    return status ? status : cli_report(results, catalogue, error);
}

static haul_status show(const cli_results *results, char *const *names, haul_error *error)
{
    haul_machine *machine;
    haul_status status = haul_machine_load(names[0], &machine, error);
    if (status)
        return status;
    status = cli_report(results, haul_report_machine(machine), error);
    haul_machine_free(machine);
    return status;
}

static haul_status diff(const cli_results *results, char *const *names, haul_error *error)
{
    haul_machine *a = NULL;
    haul_machine *b = NULL;
    haul_status status = haul_machine_load(names[0], &a, error);
    if (!status)
        status = haul_machine_load(names[1], &b, error);
    if (!status)
        status = cli_report(results, haul_report_difference(a, b), error);
    haul_machine_free(a);
    haul_machine_free(b);
    return status;
}

static int run_list(const cli_command *self, int argc, char **argv)
{
    return run_report(self, argc, argv, 0, "'list' takes no arguments", list);
}

static int run_show(const cli_command *self, int argc, char **argv)
{
    return run_report(self, argc, argv, 1, "'show' takes one machine", show);
}

static int run_diff(const cli_command *self, int argc, char **argv)
{
    return run_report(self, argc, argv, 2, "'diff' takes two machines", diff);
}

typedef struct parameter_counts {
    int all;
    int of[HAUL_SCALED + 1];
} parameter_counts;

static int count_parameter(void *state, const char *path, int dimension,
                           const haul_parameter *figure)
{
    (void)path;
    (void)dimension;
    parameter_counts *counts = state;
    counts->all += figure->provenance != HAUL_NOT_GIVEN;
    counts->of[figure->provenance]++;
    return 0;
}

static void print_fine(const char *file, const haul_machine *machine)
{
    parameter_counts counts = {0};
    (void)haul_machine_visit(machine, count_parameter, &counts);
    printf("%s: fine, %d parameters", file, counts.all);
    const char *before = ": ";
    for (int i = HAUL_NOT_GIVEN + 1; i <= HAUL_SCALED; i++) {
        if (!counts.of[i])
            continue;
        printf("%s%d %s", before, counts.of[i], haul_provenance_text((haul_provenance)i));
        before = ", ";
    }
    putchar('\n');
}

/* The first error of each file is told, and the worst exit code returned. */
static void print_finding(void *file, const char *text)
{
    printf("%s: %s\n", (const char *)file, text);
}

static int run_check(const cli_command *self, int argc, char **argv)
{
    int worst = 0;
    cli_arguments files = {0};
    const int read = cli_arguments_read(self, argc, argv, &files);
    if (read != CLI_GO_ON)
        return read;
    if (!files.count)
        return cli_usage(self, "'check' takes one file or more");
    for (int i = 0; i < files.count; i++) {
        haul_machine *machine = NULL;
        haul_error error;
        if (haul_machine_load(files.operands[i], &machine, &error)) {
            const int code = cli_fail(&error);
            worst = code > worst ? code : worst;
            continue;
        }
        print_fine(files.operands[i], machine);
        haul_machine_check(machine, print_finding, (void *)files.operands[i]);
        haul_machine_free(machine);
    }
    haul_error closing;
    return cli_output_finish(stdout, NULL, HAUL_OK, &closing) ? cli_fail(&closing) : worst;
}

static const cli_command list_command = {.name = "machine list", .usage = usage, .run = run_list};
static const cli_command show_command = {.name = "machine show", .usage = usage, .run = run_show};
static const cli_command check_command = {
    .name = "machine check", .usage = usage, .run = run_check};
static const cli_command diff_command = {.name = "machine diff", .usage = usage, .run = run_diff};

static const cli_command *const parts[] = {&list_command, &show_command,     &check_command,
                                           &diff_command, &cli_machine_time, &cli_machine_fit,
                                           NULL};

const cli_command cli_machine = {
    .name = "machine",
    .summary = "list, show, check, compare and fit machine descriptions; time a copy on one",
    .usage = usage,
    .parts = parts,
};
