#include <string.h>

#include "cli/command.h"
#include "haul/measure.h"
#include "haul/units.h"

static const char usage[] =
    "haul measure [transfers] [kernels] [host] [options]\n"
    "\n"
    "Measures a device, all of it or the parts that are named, and writes a machine file that\n"
    "all other commands take.\n"
    "\n"
    "  transfers   latency, rate and gap of copies from and to pinned and pageable memory and\n"
    "              within the device, the rate while the other direction is busy, and whether\n"
    "              copies of both directions overlap (CCGrid 2014, section V)\n"
    "  kernels     launch latency, memory bandwidth, peaks in single and double precision\n"
    "  host        one core's copies, from memory and from cache\n"
    "\n"
    "options:\n"
    "  --device NAME              host, opencl:0, opencl:0.1, sim:k40, ... (the fastest kind)\n"
    "  --peer NAME                measure copies to this device of the same node, too\n"
    "  --name NAME                of the machine (measured)\n"
    "  --largest SIZE             of the copies (64 MiB)\n"
    "  --journal FILE             keep what is measured in this file: run again with it, an\n"
    "                             interrupted measurement goes on\n"
    "  --verify                   measure copies of other sizes, and print how well the machine\n"
    "                             file predicts them\n"
    "  --format table|json|csv    how to print what was measured\n"
    "  -o, --output FILE          write the machine file\n"
    "  -h, --help                 print this\n"
    "\n"
    "exit code: 0 done, 2 wrong use, 3 a file that cannot be read or written, 4 no such\n"
    "device, or one that failed\n";

typedef struct measure_options {
    const char *device;
    const char *peer;
    const char *name;
    const char *largest;
    const char *journal;
    bool verify;
    unsigned parts;
    cli_results results;
    uint64_t largest_bytes;
} measure_options;

static haul_status write_machine(const measure_options *options, const haul_measurement *made,
                                 haul_error *error)
{
    FILE *out;
    if (!options->results.output)
        return HAUL_OK;
    haul_status status = cli_output_open(options->results.output, &out, error);
    if (status)
        return status;
    status = haul_machine_write(made->machine, out, error);
    return cli_output_finish(out, options->results.output, status, error);
}

static haul_status measure_on(const measure_options *options, haul_device *device,
                              haul_device *peer, haul_error *error)
{
    haul_measurement made;
    const haul_measure_options how = {
        .parts = options->parts,
        .name = options->name,
        .peer = peer,
        .largest_bytes = options->largest_bytes,
        .journal = options->journal,
        .verify = options->verify,
    };
    cli_progress_begin("measuring", haul_device_describe(device)->name);
    haul_status status = haul_measure(device, &how, &made, error);
    cli_progress_end();
    if (status)
        return status;
    status = write_machine(options, &made, error);
    if (!status)
        status = cli_report(&options->results, haul_report_measurement(&made), error);
    haul_measurement_release(&made);
    return status;
}

static haul_status measure(const measure_options *options, haul_error *error)
{
    haul_device *device = NULL, *peer = NULL;
    const haul_device_options only_times = {.without_data = true};
    haul_status status = haul_device_open(options->device, &only_times, &device, error);
    if (!status && options->peer) {
        const haul_device_options beside = {.beside = device};
        status = haul_device_open(options->peer, &beside, &peer, error);
    }
    if (!status)
        status = measure_on(options, device, peer, error);
    haul_device_close(peer);
    haul_device_close(device);
    return status;
}

/* 0 for none. */
static unsigned part_of(const char *name)
{
    static const struct {
        const char *name;
        unsigned part;
    } parts[] = {{"transfers", HAUL_MEASURE_TRANSFERS},
                 {"kernels", HAUL_MEASURE_KERNELS},
                 {"host", HAUL_MEASURE_HOST}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strcmp(name, parts[i].name))
            return parts[i].part;
    return 0;
}

static int parse(const cli_command *self, int argc, char **argv, measure_options *options)
{
    const cli_option known[] = {
        {"device", .value = &options->device},
        {"peer", .value = &options->peer},
        {"name", .value = &options->name},
        {"largest", .value = &options->largest},
        {"journal", .value = &options->journal, .is_input = true},
        {"verify", .flag = &options->verify},
        {0},
    };
    options->results.makes_file = true;
    cli_arguments rest = {.options = known, .results = &options->results};
    const int code = cli_arguments_read(self, argc, argv, &rest);
    if (code != CLI_GO_ON)
        return code;
    for (int i = 0; i < rest.count; i++) {
        const unsigned part = part_of(rest.operands[i]);
        if (!part)
            return cli_usage(self, "measure '%s'? The parts are transfers, kernels and host",
                             rest.operands[i]);
        options->parts |= part;
    }
    haul_error error;
    uint64_t bytes = 0;
    if (options->largest && haul_bytes_parse(options->largest, &bytes, &error))
        return cli_usage(self, "--largest: %s", error.text);
    if (options->largest && (bytes < 1 << 20 || bytes > UINT64_C(1) << 40))
        return cli_usage(self, "--largest is between 1 MiB and 1 TiB, not '%s'", options->largest);
    options->largest_bytes = bytes;
    return CLI_GO_ON;
}

static int run(const cli_command *self, int argc, char **argv)
{
    measure_options options = {.device = NULL};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    haul_error error;
    return measure(&options, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_measure = {.name = "measure",
                                 .summary = "a machine file from measurements on a device",
                                 .usage = usage,
                                 .run = run};
