/* haul measure: a machine file from measurements on a device. */
#include <string.h>

#include "cli/command.h"
#include "haul/measure.h"

static const char about[] =
    "Measures a device, all of it or the parts that are named, and writes a machine file that\n"
    "all other commands take.\n"
    "\n"
    "  transfers   latency, rate and gap of copies from and to pinned and pageable memory and\n"
    "              within the device, the rate while the other direction is busy, and whether\n"
    "              copies of both directions overlap (CCGrid 2014, section V)\n"
    "  kernels     launch latency, memory bandwidth, peaks in single and double precision\n"
    "  host        one core's copies, from memory and from cache\n";

typedef struct measure_request {
    cli_request given;
    const char *device;
    haul_measure_options how;
    cli_texts peers;
} measure_request;

#define OF(field) offsetof(measure_request, field)

static const cli_option options[] = {
    {"device", "NAME", CLI_TEXT, OF(device),
     .help = "host, opencl:0, opencl:0.1, sim:k40, ... (the fastest kind)"},
    {"peer", "NAME", CLI_TEXTS, OF(peers),
     .help = "measure copies to this device of the same node, too; it may be given again"},
    {"name", "NAME", CLI_TEXT, OF(how.name), .help = "of the machine (measured)"},
    {"largest", "SIZE", CLI_BYTES, OF(how.largest_bytes), .help = "of the copies (64 MiB)",
     .least = 1 << 20, .most = 1LL << 40},
    {"journal", "FILE", CLI_TEXT, OF(how.journal),
     .help = "keep what is measured in this file: run again with it, an interrupted measurement "
             "goes on",
     .is_input = true},
    {"time-limit", "T", CLI_SECONDS, OF(how.time_limit_s),
     .help = "on a machine that others use: wait for a quiet moment and measure in more rounds, "
             "within this time",
     .least = 1, .most = 86400},
    {"verify", NULL, CLI_FLAG, OF(how.verify),
     .help = "measure copies of other sizes, and print how well the machine file predicts them"},
    {0},
};

static haul_status measure_on(const measure_request *self, haul_device *device, haul_error *error)
{
    haul_measurement made;
    cli_progress_begin("measuring", haul_device_describe(device)->name);
    haul_status status = haul_measurement_make(device, &self->how, &made, error);
    cli_progress_end();
    if (status)
        return status;
    if (self->given.results.output)
        status = cli_machine_write(made.machine, self->given.results.output, error);
    if (!status) {
        /* -o is the machine file's: the report goes to the terminal. */
        cli_answer answer = {
            .report = haul_report_measurement(&made),
            .page = {.title = made.machine->summary, .measurement = &made},
        };
        status = cli_answer_write(&self->given.results, &answer, error);
    }
    haul_measurement_release(&made);
    return status;
}

static haul_status measure(void *request, haul_error *error)
{
    measure_request *self = request;
    haul_device *device = NULL, *peers[HAUL_MEASURE_PEERS_MOST] = {NULL};
    const haul_device_options only_times = {.without_data = true};
    if (self->peers.count > HAUL_MEASURE_PEERS_MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "at most %d peers are measured",
                              HAUL_MEASURE_PEERS_MOST);
    haul_status status = cli_output_try(self->given.results.output, error);
    if (!status)
        status = cli_output_try(self->given.results.html, error);
    if (!status)
        status = haul_device_open(self->device, &only_times, &device, error);
    const haul_device_options beside = {.beside = device};
    for (size_t i = 0; i < self->peers.count && !status; i++)
        status = haul_device_open(self->peers.items[i], &beside, &peers[i], error);
    self->how.peers = peers;
    self->how.peer_count = self->peers.count;
    if (!status)
        status = measure_on(self, device, error);
    for (size_t i = 0; i < self->peers.count; i++)
        haul_device_close(peers[i]);
    haul_device_close(device);
    return status;
}

static haul_status check_request(void *request, haul_error *error)
{
    static const struct {
        const char *name;
        unsigned part;
    } parts[] = {{"transfers", HAUL_MEASURE_TRANSFERS},
                 {"kernels", HAUL_MEASURE_KERNELS},
                 {"host", HAUL_MEASURE_HOST}};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    measure_request *self = request;
    for (size_t i = 0; i < self->given.operand_count; i++) {
        size_t j = 0;
        while (j < PARTS && strcmp(self->given.operands[i], parts[j].name) != 0)
            j++;
        if (j == PARTS)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "measure '%.40s'? The parts are transfers, kernels and host",
                                  self->given.operands[i]);
        self->how.parts |= parts[j].part;
    }
    return HAUL_OK;
}

const cli_command cli_measure = {
    .name = "measure",
    .summary = "a machine file from measurements on a device",
    .synopsis = "[transfers] [kernels] [host] [options]",
    .about = about,
    .options = options,
    .operand = {.name = "part", .takes = "PART"},
    .most = SIZE_MAX,
    .output = "write the machine file",
    .csv = "a row for each curve",
    .examples = {"haul measure -o mine.yaml",
                 "haul measure transfers --device opencl:0 --verify --journal mine.journal"},
    .exits = "3 a file that cannot be read or written, 4 no such device, or one that failed",
    .has_report = true,
    .has_html = true,
    .size = sizeof(measure_request),
    .check = check_request,
    .act = measure,
};
