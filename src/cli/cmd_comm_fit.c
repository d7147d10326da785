/* haul comm fit: measured messages in, a machine's protocols out. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "haul/message.h"
#include "haul/units.h"

enum { SWITCHES_MOST = 3, SOURCE = 160 };

static const char about[] =
    "Fits the protocols of an MPI to measured messages: CSV of ping-pongs, rates of a node, many\n"
    "messages and copies (columns mem, locality, bytes, seconds; ppn; n_msgs; kind, n_procs), and\n"
    "the output of OSU's micro-benchmarks, IMB and nccl-tests. Finds the sizes at which the\n"
    "protocol changes. Prints how well the fit gives each kind back; with -o it writes a machine\n"
    "file.\n";

typedef struct fit_request {
    cli_request given;
    haul_machine *base;
    const char *name;
    const char *system;
    const char *switches;
    const char *benchmark;
    uint64_t breaks;
    uint64_t processes; /* 0: not given */
    int memory;         /* 0 not given, 1 host, 2 device */
    int reach;          /* 0 auto, 1 network, 2 node, 3 socket */
    int residuals;      /* 1: absolute */
} fit_request;

#define OF(field) offsetof(fit_request, field)

static const cli_option options[] = {
    {"system", "NAME", CLI_TEXT, OF(system),
     .help = "of a CSV of several systems, take this one's rows"},
    {"machine", "BASE", CLI_MACHINE, OF(base), .help = "keep this machine's other parameters"},
    {"name", "NAME", CLI_TEXT, OF(name), .help = "the machine's name (that of OUT)"},
    {"breaks", "N", CLI_COUNT, OF(breaks), .help = "changes of protocol at most (3)", .least = 0,
     .most = SWITCHES_MOST, .preset = "3"},
    {"switches", "BYTES,...|none", CLI_TEXT, OF(switches),
     .help = "the protocol changes at these sizes, which are then not searched for"},
    {"residuals", "relative|absolute", CLI_WORD, OF(residuals),
     .help = "absolute: least squares in seconds, as published tables have them (relative)"},
    {"memory", "auto|host|device", CLI_WORD, OF(memory),
     .help = "whose buffers a text of OSU, IMB or nccl-tests is about (as its title says)"},
    {"reach", "auto|network|node|socket", CLI_WORD, OF(reach),
     .help = "between which processes such a text was measured (auto: ranks of nccl-tests on one "
             "host are of a node, all else network)"},
    {"processes", "N", CLI_COUNT, OF(processes),
     .help = "GPUs of OSU's collectives of device memory, whose text does not say it; of IMB's the "
             "table to take (that of most)",
     .least = 2, .most = 1 << 20},
    {"benchmark", "NAME", CLI_TEXT, OF(benchmark),
     .help =
         "of IMB's output the benchmark to take, as its title names it: Allreduce, Alltoall ... "
         "of device memory (PingPong and Uniband)"},
    {0},
};

/* "256,16384": ascending sizes; "none": no change. */
static haul_status read_switches(const char *text, double *switches, size_t *count,
                                 haul_error *error)
{
    *count = 0;
    if (!strcmp(text, "none"))
        return HAUL_OK;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char part[32];
        uint64_t bytes;
        (void)snprintf(part, sizeof part, "%.*s", (int)strcspn(at, ","), at);
        const haul_status status = haul_bytes_parse(part, &bytes, error);
        if (status || *count == SWITCHES_MOST || (*count && (double)bytes <= switches[*count - 1]))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "--switches: expected at most %d ascending sizes, not '%.60s'",
                                  SWITCHES_MOST, text);
        switches[(*count)++] = (double)bytes;
    }
    return HAUL_OK;
}

/* Written whole or not at all: what is written can be read back. */
static haul_status write_machine(const fit_request *self, const haul_message_fit *fit,
                                 haul_error *error)
{
    const char *output = self->given.results.output, *file = cli_file_name(output);
    haul_machine machine = {.summary = "fitted to measured messages"};
    haul_machine *made = NULL;
    char source[SOURCE], name[80];
    const size_t more = self->given.operand_count - 1;
    if (self->base)
        machine = *self->base;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
    machine.name = self->name ? self->name : strcmp(name, "-") ? name : "fitted";
    (void)snprintf(source, sizeof source, "haul comm fit of %.60s",
                   cli_file_name(self->given.operands[0]));
    if (more)
        (void)snprintf(source + strlen(source), sizeof source - strlen(source), " and %zu more",
                       more);
    if (self->system)
        (void)snprintf(source + strlen(source), sizeof source - strlen(source), ", %.40s",
                       self->system);
    haul_status status = haul_message_fit_machine(fit, &machine, source, &made, error);
    if (!status)
        status = cli_machine_write(made, output, error);
    haul_machine_free(made);
    return status;
}

static haul_status fit_messages(void *request, haul_error *error)
{
    static const haul_reach reaches[] = {HAUL_REACH_BETWEEN_NODES, HAUL_REACH_BETWEEN_NODES,
                                         HAUL_REACH_ON_NODE, HAUL_REACH_ON_SOCKET};
    static const haul_memory memories[] = {HAUL_MEMORY_UNKNOWN, HAUL_MEMORY_HOST,
                                           HAUL_MEMORY_DEVICE};
    const fit_request *self = request;
    const haul_message_source source = {
        self->system,    memories[self->memory],    reaches[self->reach],
        self->reach > 0, (uint32_t)self->processes, self->benchmark};
    double switches[SWITCHES_MOST];
    haul_message_fit_options how = {.breaks = self->breaks, .is_absolute = self->residuals == 1};
    haul_message_samples samples = {0};
    haul_message_fit fit = {0};
    haul_status status = HAUL_OK;
    if (self->switches) {
        how.switches = switches;
        status = read_switches(self->switches, switches, &how.switch_count, error);
    }
    for (size_t i = 0; !status && i < self->given.operand_count; i++)
        status = haul_message_samples_load(self->given.operands[i], &source, &samples, error);
    if (!status)
        status = haul_message_fit_make(&samples, &how, &fit, error);
    if (!status && self->given.results.output)
        status = write_machine(self, &fit, error);
    if (!status)
        status = cli_report(&self->given.results, haul_report_message_fit(&fit), error);
    haul_message_fit_free(&fit);
    haul_message_samples_free(&samples);
    return status;
}

const cli_command cli_comm_fit = {
    .name = "comm fit",
    .summary = "protocols of an MPI from measured messages",
    .synopsis = "FILE... [-o OUT] [options]",
    .about = about,
    .options = options,
    .operand = {.name = "file of measured messages", .takes = "FILE"},
    .least = 1,
    .most = SIZE_MAX,
    .output = "the machine's file; '-' is standard output",
    .csv = "a row for each piece of a curve",
    .exits = "3 bad input",
    .examples = {"haul comm fit --system summit pingpong.csv rates.csv copies.csv -o mine.yaml",
                 "haul comm fit pingpong.csv --switches 256,16384 --residuals absolute"},
    .has_report = true,
    .size = sizeof(fit_request),
    .act = fit_messages,
};
