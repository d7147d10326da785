/* haul comm predict: an exchange between GPUs, each way of making it, and the best. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "haul/goal.h"

static const char about[] =
    "Times of messages between GPUs of several nodes: by GPUDirect, through the host in three\n"
    "steps, with the data spread over all cores by messages or by copies of their own, in chunks\n"
    "whose copies and messages overlap, and for all-to-alls in one message between each two\n"
    "nodes or in Bruck's rounds; which is best, and from which size and number of messages on.\n"
    "The machine needs 'messages' ('haul comm fit'). Of a collective of GPUs: NCCL's algorithm "
    "and\n"
    "protocol, and what each takes.\n";

typedef struct predict_request {
    cli_request given;
    cli_machines machines;
    uint64_t bytes;
    uint64_t messages;
    uint64_t unique_bytes;
    uint64_t nodes;
    uint64_t gpus;
    uint64_t cores;
    double kernel_s;
    const char *counts;
    const char *pattern;
    const char *goal;
    const char *path;
    bool all;
    bool all_v;
    bool curve;
    bool all_reduce;
    int collective; /* 0: not given */
} predict_request;

#define OF(field) offsetof(predict_request, field)

static const cli_option options[] = {
    {"bytes", "N", CLI_BYTES, OF(bytes), .help = "of one message; from each GPU to each"},
    {"messages", "M", CLI_COUNT, OF(messages), .help = "of each GPU, to others (1)", .least = 1,
     .most = 1e6, .preset = "1"},
    {"unique-bytes", "N", CLI_BYTES, OF(unique_bytes),
     .help = "of data that goes to several: what is copied to the host once (all)"},
    {"all-to-all", .kind = CLI_FLAG, .at = OF(all), .help = "MPI_Alltoall of all GPUs"},
    {"all-to-allv", .kind = CLI_FLAG, .at = OF(all_v),
     .help = "MPI_Alltoallv of all GPUs, by messages from each to each"},
    {"all-reduce", .kind = CLI_FLAG, .at = OF(all_reduce),
     .help = "of GPUs, as NCCL makes it: ring, tree, direct; --bytes of the whole buffer"},
    {"collective", "none|reduce-scatter|all-gather|all-to-all|broadcast|reduce|send-receive",
     CLI_WORD, OF(collective), .help = "likewise; sizes as nccl-tests has them"},
    {"counts", "FILE", CLI_TEXT, OF(counts),
     .help = "of --all-to-allv: bytes from GPU to GPU, a line of counts for each",
     .is_input = true},
    {"pattern", "NAME", CLI_TEXT, OF(pattern),
     .help = "of --all-to-allv, with --bytes on average: uniform, neighbours, skewed, random"},
    {"nodes", "N", CLI_COUNT, OF(nodes), .help = "of an all-to-all (2), of a collective (1)",
     .least = 1, .most = 65536},
    {"gpus", "N", CLI_COUNT, OF(gpus),
     .help = "of a node, that send at once (1; all in an all-to-all)", .least = 1, .most = 1024},
    {"cores", "N", CLI_COUNT, OF(cores), .help = "of a node (the machine's)", .least = 1,
     .most = 65536},
    {"kernel", "T", CLI_SECONDS, OF(kernel_s),
     .help = "of a kernel on each GPU that makes the data (0)", .least = 0, .most = 1e6},
    {"goal", "FILE", CLI_TEXT, OF(goal),
     .help = "write the exchange as a GOAL schedule, for LogGOPSim and htsim"},
    {"path", "WAY", CLI_TEXT, OF(path), .help = "that --goal writes (the best)"},
    {"curve", .kind = CLI_FLAG, .at = OF(curve), .help = "all ways over sizes from 1 B to 4 MiB"},
    {0},
};

static haul_status check_exchange(void *request, haul_error *error)
{
    const predict_request *self = request;
    const bool is_collective = self->all_reduce || self->collective;
    if (is_collective &&
        (self->all || self->all_v || self->goal || cli_has(&self->given, "cores") ||
         self->kernel_s > 0 || self->unique_bytes || self->messages > 1 ||
         self->given.results.html || (self->all_reduce && self->collective)))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a collective takes --bytes, --gpus, --nodes and --curve alone");
    if (self->counts && !self->all_v)
        return haul_error_set(error, HAUL_STATUS_USAGE, "--counts are of an --all-to-allv");
    if (self->all && self->all_v)
        return haul_error_set(error, HAUL_STATUS_USAGE, "--all-to-all or --all-to-allv, not both");
    if (self->pattern && (!self->all_v || self->counts))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "--pattern needs --all-to-allv, and no --counts");
    if (self->path && !self->goal)
        return haul_error_set(error, HAUL_STATUS_USAGE, "--path says what --goal writes");
    if (!self->bytes && !self->counts)
        return haul_error_set(error, HAUL_STATUS_USAGE, "--bytes N is missing, or 0");
    return HAUL_OK;
}

/* Counts of the file or by the pattern; NULL where none are asked for. */
static haul_status make_counts(const predict_request *self, size_t ranks, uint64_t **counts,
                               haul_error *error)
{
    int pattern = 0;
    if (self->counts)
        return haul_counts_load(self->counts, ranks, counts, error);
    if (!self->pattern)
        return HAUL_OK;
    while (pattern < HAUL_PATTERNS &&
           strcmp(haul_pattern_text((haul_pattern)pattern), self->pattern) != 0)
        pattern++;
    if (pattern == HAUL_PATTERNS)
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "--pattern: expected uniform, neighbours, skewed or random, not '%.60s'",
            self->pattern);
    return haul_counts_make((haul_pattern)pattern, ranks, self->bytes, counts, error);
}

static haul_status write_goal(const predict_request *self, const haul_exchange *of,
                              const haul_way_time times[HAUL_WAYS_PREDICTED], haul_error *error)
{
    int best = 0;
    haul_way way = HAUL_WAY_CHOSEN; /* any that can be written */
    FILE *out;
    if (!self->goal)
        return HAUL_OK;
    if (self->path && (haul_way_parse(self->path, &way, NULL) || !haul_way_has_workload(way)))
        way = HAUL_WAYS;
    while (best < HAUL_WAYS_PREDICTED &&
           (!haul_way_has_workload(times[best].way) || (way && times[best].way != way)))
        best++;
    if (best == HAUL_WAYS_PREDICTED)
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "--path: expected gpudirect, 3-step, extra-message, duplicate-pointer or "
            "chunked-3-step, not '%.60s'",
            self->path);
    HAUL_TRY(cli_output_open(self->goal, &out, error));
    return cli_output_finish(
        out, self->goal,
        haul_goal_write_exchange(self->machines.items[0], of, &times[best], out, error), error);
}

static haul_status predict_collective(const predict_request *self, haul_error *error)
{
    static const haul_collective_kind kinds[] = {
        HAUL_COLLECTIVE_ALL_REDUCE,  HAUL_COLLECTIVE_REDUCE_SCATTER, HAUL_COLLECTIVE_ALL_GATHER,
        HAUL_COLLECTIVE_ALL_TO_ALL,  HAUL_COLLECTIVE_BROADCAST,      HAUL_COLLECTIVE_REDUCE,
        HAUL_COLLECTIVE_SEND_RECEIVE};
    const haul_machine *machine = self->machines.items[0];
    const uint32_t nodes = self->nodes ? (uint32_t)self->nodes : 1;
    const double own = machine->gpu.count.value >= 1 ? machine->gpu.count.value : 1;
    const uint32_t gpus = self->gpus ? (uint32_t)self->gpus : (uint32_t)own;
    const haul_collective_report report = {
        machine,
        {.kind = kinds[self->collective], .ranks = gpus * nodes, .bytes = self->bytes},
        nodes,
        self->curve};
    haul_collective_way_time times[HAUL_COLLECTIVE_WAYS];
    if (gpus * nodes < 2)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a collective needs at least two GPUs: --gpus, --nodes");
    HAUL_TRY(haul_collective_predict(machine, &report.of, nodes, times, error));
    return cli_report(&self->given.results, haul_report_collective(&report, times), error);
}

static haul_status predict(void *request, haul_error *error)
{
    const predict_request *self = request;
    if (self->all_reduce || self->collective)
        return predict_collective(self, error);
    const haul_machine *machine = self->machines.items[0];
    haul_exchange of = {.kind = self->all     ? HAUL_EXCHANGE_ALL
                                : self->all_v ? HAUL_EXCHANGE_ALL_V
                                              : HAUL_EXCHANGE_MESSAGES,
                        .nodes = self->nodes ? (uint32_t)self->nodes : 2,
                        .gpus = (uint32_t)self->gpus,
                        .cores = (uint32_t)self->cores,
                        .messages = (uint32_t)self->messages,
                        .bytes = self->bytes,
                        .unique_bytes = self->unique_bytes,
                        .kernel_s = self->kernel_s};
    const double gpus = self->gpus ? (double)self->gpus : machine->gpu.count.value;
    uint64_t *counts = NULL;
    haul_way_time times[HAUL_WAYS_PREDICTED];
    haul_status status =
        make_counts(self, (size_t)(gpus > 1 ? gpus : 1) * of.nodes, &counts, error);
    of.counts = counts;
    if (!status)
        status = haul_exchange_predict(machine, &of, times, error);
    if (!status)
        status = write_goal(self, &of, times, error);
    if (!status) {
        haul_exchange_schedule(machine, &of, times);
        const haul_exchange_report report = {machine, &of, self->curve};
        cli_answer answer = {.report = haul_report_exchange(&report, times),
                             .page = {.title = "haul: an exchange", .exchange = &report}};
        status = cli_answer_write(&self->given.results, &answer, error);
    }
    free(counts);
    return status;
}

const cli_command cli_comm_predict = {
    .name = "comm predict",
    .summary = "the best way of an exchange between GPUs",
    .synopsis = "MACHINE --bytes N [options]",
    .about = about,
    .options = options,
    .operand = {.name = "machine", .takes = "MACHINE", .kind = CLI_MACHINES, .at = OF(machines)},
    .least = 1,
    .most = 1,
    .csv = "a row for each way, with --curve for each size",
    .exits = "3 bad input, or a parameter that the machine lacks, named",
    .examples = {"haul comm predict a100-sxm4 --all-reduce --bytes 64MiB",
                 "haul comm predict summit --all-to-allv --nodes 32 --cores 40 --bytes 8KiB"},
    .has_report = true,
    .has_html = true,
    .size = sizeof(predict_request),
    .check = check_exchange,
    .act = predict,
};
