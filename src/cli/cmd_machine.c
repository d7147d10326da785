/* haul machine: machine descriptions, listed, shown, checked and compared. */
#include <stdio.h>

#include "cli/command.h"

extern const cli_command cli_machine_time, cli_machine_fit, cli_machine_share;

/* Of `show` one, of `diff` two. */
typedef struct machine_request {
    cli_request given;
    cli_machines machines;
} machine_request;

static haul_status list(void *request, haul_error *error)
{
    const cli_request *given = request;
    haul_report *catalogue;
    HAUL_TRY(haul_report_catalogue(&catalogue, error));
    return cli_report(&given->results, catalogue, error);
}

static haul_status show(void *request, haul_error *error)
{
    const machine_request *self = request;
    return cli_report(&self->given.results, haul_report_machine(self->machines.items[0]), error);
}

static haul_status diff(void *request, haul_error *error)
{
    const machine_request *self = request;
    return cli_report(&self->given.results,
                      haul_report_difference(self->machines.items[0], self->machines.items[1]),
                      error);
}

typedef struct parameter_counts {
    int all;
    int of[HAUL_PROVENANCE_ASSUMED + 1];
} parameter_counts;

static int count_parameter(void *state, const char *path, int dimension,
                           const haul_parameter *parameter)
{
    (void)path;
    (void)dimension;
    parameter_counts *counts = state;
    counts->all += parameter->provenance != HAUL_PROVENANCE_NOT_GIVEN;
    counts->of[parameter->provenance]++;
    return 0;
}

typedef struct check_request {
    cli_request given; /* the operands are files */
    bool as_new;
} check_request;

/* Of one file. */
typedef struct findings {
    const char *file;
    size_t count;
} findings;

static void print_finding(void *state, const char *text)
{
    findings *self = state;
    printf("%s: %s\n", self->file, text);
    self->count++;
}

/* The first error of each file is told, and the worst exit code returned. */
static haul_status check_machines(void *request, haul_error *error)
{
    check_request *self = request;
    cli_request *given = &self->given;
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < given->operand_count; i++) {
        const char *file = given->operands[i];
        haul_machine *machine = NULL;
        haul_error wrong;
        if (haul_machine_load(file, &machine, &wrong)) {
            const int code = cli_fail(&wrong);
            given->exit_code = code > given->exit_code ? code : given->exit_code;
            continue;
        }
        parameter_counts counts = {0};
        (void)haul_machine_visit(machine, count_parameter, &counts);
        printf("%s: fine, %d parameters", file, counts.all);
        const char *before = ": ";
        for (int k = HAUL_PROVENANCE_NOT_GIVEN + 1; k <= HAUL_PROVENANCE_ASSUMED; k++) {
            if (!counts.of[k])
                continue;
            printf("%s%d %s", before, counts.of[k], haul_provenance_text((haul_provenance)k));
            before = ", ";
        }
        putchar('\n');
        findings found = {.file = file};
        haul_machine_check(machine, print_finding, &found);
        size_t alike = 0;
        if (self->as_new)
            status = haul_machine_check_new(machine, print_finding, &found, &alike, error);
        haul_machine_free(machine);
        if (status || !self->as_new)
            continue;
        /* one that is to join the catalogue fails where there is any finding */
        printf("%s: compared with %zu machines of the same GPU\n", file, alike);
        if (found.count && !given->exit_code)
            given->exit_code = 1;
    }
    return cli_output_finish(stdout, NULL, status, error);
}

#define CANNOT_BE_READ "3 a machine that cannot be read"

static const cli_command list_command = {
    .name = "machine list",
    .summary = "the machines of the catalogue",
    .synopsis = "[options]",
    .about = "Lists the machines of the catalogue.\n",
    .csv = "a row for each machine",
    .examples = {"haul machine list", "haul machine list --format csv"},
    .exits = CANNOT_BE_READ,
    .has_report = true,
    .size = sizeof(cli_request),
    .act = list,
};

static const cli_command show_command = {
    .name = "machine show",
    .summary = "every parameter of one, with its provenance and source",
    .synopsis = "MACHINE [options]",
    .about = "Prints every parameter of a machine, with its provenance and source.\n",
    .operand = {.name = "machine",
                .takes = "MACHINE",
                .kind = CLI_MACHINES,
                .at = offsetof(machine_request, machines)},
    .least = 1,
    .most = 1,
    .csv = "a row for each parameter",
    .examples = {"haul machine show gh200", "haul machine show ./mine.yaml --format json"},
    .exits = CANNOT_BE_READ,
    .has_report = true,
    .size = sizeof(machine_request),
    .act = show,
};

static const cli_command diff_command = {
    .name = "machine diff",
    .summary = "the parameters that differ between two, and b/a",
    .synopsis = "A B [options]",
    .about = "Prints the parameters that differ between two machines, each with B's by A's.\n",
    .operand = {.name = "machine",
                .takes = "MACHINE",
                .kind = CLI_MACHINES,
                .at = offsetof(machine_request, machines)},
    .least = 2,
    .most = 2,
    .csv = "a row for each parameter",
    .examples = {"haul machine diff a100-pcie4 h100-pcie5",
                 "haul machine diff a100-sxm4 ./mine.yaml --format csv"},
    .exits = CANNOT_BE_READ,
    .has_report = true,
    .size = sizeof(machine_request),
    .act = diff,
};

static const cli_option check_options[] = {
    {"as-new", NULL, CLI_FLAG, offsetof(check_request, as_new),
     .help = "also what a machine needs to join the catalogue, and whether its figures are within "
             "half and twice of those of the same GPU there"},
    {0},
};

static const cli_command check_command = {
    .name = "machine check",
    .summary = "whether files are fine; else what is wrong, by line and column",
    .synopsis = "FILE... [options]",
    .about =
        "Prints whether machine files are fine, and else what is wrong with them, by line and\n"
        "column; and what in them contradicts arithmetic.\n",
    .options = check_options,
    .operand = {.name = "file", .takes = "FILE"},
    .least = 1,
    .most = SIZE_MAX,
    .examples = {"haul machine check mine.yaml", "haul machine check --as-new mine.yaml"},
    .exits = "1 findings with --as-new, " CANNOT_BE_READ,
    .size = sizeof(check_request),
    .act = check_machines,
};

static const cli_command *const parts[] = {
    &list_command,     &show_command,    &check_command,     &diff_command,
    &cli_machine_time, &cli_machine_fit, &cli_machine_share, NULL};

const cli_command cli_machine = {
    .name = "machine",
    .summary = "list, show, check, compare, fit and share machine descriptions; time a copy on one",
    .synopsis = "list|show|check|diff|time|fit|share [options] [arguments]",
    .about = "Machine descriptions: a node, its GPUs, its links, and what is known of copies "
             "between host\n"
             "and device, each parameter with where it came from. MACHINE is a name of the "
             "catalogue or a\n"
             "file (with a '/' or \".yaml\" in it); docs/machines.md describes such files. "
             "HAUL_MACHINES\n"
             "names folders of more machines, separated by ':', looked in first.\n",
    .examples = {"haul machine show gh200", "haul machine diff a100-pcie4 h100-pcie5"},
    .parts = parts,
};
