/* haul-mpi: what takes an MPI program. `measure` writes the messages of this machine's MPI as files
 * that `haul comm fit` reads; `analyze` reads the profiles of a job's ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/units.h"
#include "mpi/analyze_ranks.h"
#include "mpi/measure_messages.h"

static const char usage[] =
    "usage: mpirun ... haul-mpi measure [options]\n"
    "       mpirun ... haul-mpi analyze FOLDER|PROFILE... [options]\n"
    "\n"
    "measure: messages between the processes of mpirun: ping-pongs by locality, what a node sends\n"
    "while some of its processes send, many messages of one process, a message split over\n"
    "processes, and with a device copies by one and several processes. Run it on two nodes or "
    "more,\n"
    "with as many processes as a node has cores; processes that only wait sleep.\n"
    "\n"
    "  -o PREFIX          writes PREFIX-pingpong.csv, -rate.csv, -many.csv, -split.csv, "
    "-copies.csv\n"
    "                     and -copies-shared.csv (messages)\n"
    "  --least BYTES      the smallest message (1)\n"
    "  --most BYTES       the largest message (4 MiB)\n"
    "  --fine             ping-pongs of sizes half-way between the powers of two, too\n"
    "  --seconds S        to spend on each row, about (0.02)\n"
    "  --device NAME      measures copies to and from this device\n"
    "  --device-aware     the MPI takes its memory: measures messages from it too\n"
    "  --ranks-per-node N consecutive processes count as nodes (as the MPI says)\n"
    "\n"
    "Then: haul comm fit PREFIX-*.csv -o mine.yaml\n"
    "\n"
    "analyze: where the time of each rank of a job went, of profiles that 'haul analyze' reads, in "
    "a\n"
    "folder or named. Each process reads its share, one file after the other.\n"
    "\n"
    "  -o FILE            writes the report there\n"
    "  --format FORMAT    table, json or csv (table)\n"
    "  --verbose          all ranks, in a table\n";

typedef struct request {
    const char *prefix;
    const char *device;
    uint64_t least, most;
    double seconds;
    bool is_device_aware;
    bool is_fine;
    unsigned ranks_per_node;
} request;

typedef struct session {
    request given;
    haul_comm *comm; /* for its layout */
    haul_device *device;
    int rank;
    FILE *out; /* of rank 0 */
    haul_error *error;
} session;

/* --- files */

/* Collective: where the first process cannot write, nothing is measured. */
static haul_status open_file(session *self, const char *kind, const char *columns)
{
    char path[512];
    int status = HAUL_OK;
    (void)snprintf(path, sizeof path, "%s-%s.csv", self->given.prefix, kind);
    if (!self->rank) {
        self->out = fopen(path, "w");
        if (self->out)
            (void)fprintf(self->out, "%s,n,min_s,median_s,p90_s\n", columns);
        else
            status = (int)hl_base_fail_open(self->error, path);
    }
    (void)MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return (haul_status)status;
}

static haul_status close_file(session *self, haul_status status)
{
    const bool is_bad = self->out && (ferror(self->out) | fclose(self->out));
    self->out = NULL;
    return is_bad && !status
               ? haul_error_set(self->error, HAUL_STATUS_IO, "cannot write the measurements")
               : status;
}

/* `where`: how far, or on how many processes. Processes other than the first have no file. */
static void write_row(session *self, const char *what, const char *where, uint64_t bytes,
                      const hl_mpi_row *row)
{
    if (self->out)
        (void)fprintf(self->out, "%s,%s,%llu,%zu,%.9g,%.9g,%.9g\n", what, where,
                      (unsigned long long)bytes, row->count, row->min_s, row->median_s, row->p90_s);
}

static haul_status measure(session *self, const hl_mpi_pattern *pattern, const char *where,
                           uint64_t bytes)
{
    hl_mpi_row row;
    const haul_status status =
        hl_mpi_measure(MPI_COMM_WORLD, self->device, pattern, &row, self->error);
    if (!status)
        write_row(self, pattern->memory == HAUL_MEMORY_DEVICE ? "gpu" : "cpu", where, bytes, &row);
    return status;
}

/* --- what is measured */

/* Nodes are those of the layout: `by_node` has the processes of each. */
static const int *node_ranks(const session *self, int node, int *count)
{
    const hl_mpi_layout *layout = &self->comm->layout;
    *count = layout->node_start[node + 1] - layout->node_start[node];
    return layout->by_node + layout->node_start[node];
}

/* The socket that all cores lie on which the process may run on; -1: several. */
static int own_socket(void)
{
    char path[128], line[256];
    int socket = -1, first, last;
    FILE *status = fopen("/proc/self/status", "r");
    bool found = false;
    while (!found && status && fgets(line, sizeof line, status))
        found = !strncmp(line, "Cpus_allowed_list:", 18);
    if (status)
        (void)fclose(status);
    for (char *at = found ? line + 18 : NULL; at && *at && *at != '\n';) {
        first = last = (int)strtol(at, &at, 10);
        if (*at == '-')
            last = (int)strtol(at + 1, &at, 10);
        for (int cpu = first; cpu <= last; cpu++) {
            int package = -1;
            (void)snprintf(path, sizeof path,
                           "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
            FILE *file = fopen(path, "r");
            if (file && fgets(path, sizeof path, file))
                package = (int)strtol(path, NULL, 10);
            if (file)
                (void)fclose(file);
            if (package < 0 || (socket >= 0 && package != socket))
                return -1;
            socket = package;
        }
        at += *at == ',';
    }
    return socket;
}

/* Half-way between `least` times two powers of two, then the next of them. */
static uint64_t next_size(const request *given, uint64_t bytes)
{
    uint64_t power = given->least;
    while (2 * power <= bytes)
        power *= 2;
    return given->is_fine && bytes == power && power % 2 == 0 ? power + power / 2 : 2 * power;
}

static haul_status ping_pongs(session *self, haul_memory memory)
{
    static const char *const words[] = {"socket", "node", "network"};
    int peers[] = {-1, -1, -1}, *sockets = calloc((size_t)self->comm->size, sizeof *sockets);
    const int own = own_socket();
    haul_status status = HAUL_OK;
    if (!sockets)
        return hl_base_fail_no_memory(self->error);
    (void)MPI_Allgather(&own, 1, MPI_INT, sockets, 1, MPI_INT, MPI_COMM_WORLD);
    for (int rank = self->comm->size - 1; rank > 0; rank--)
        if (self->comm->layout.node_of[rank])
            peers[HAUL_REACH_BETWEEN_NODES] = rank;
        else
            peers[sockets[rank] >= 0 && sockets[rank] == *sockets ? HAUL_REACH_ON_SOCKET
                                                                  : HAUL_REACH_ON_NODE] = rank;
    free(sockets);
    for (int reach = 0; reach <= HAUL_REACH_BETWEEN_NODES; reach++)
        for (uint64_t bytes = self->given.least;
             !status && peers[reach] > 0 && bytes <= self->given.most;
             bytes = next_size(&self->given, bytes)) {
            const int sender = 0;
            const hl_mpi_pattern pattern = {&sender, 1,     &peers[reach], 1,
                                            bytes,   false, memory,        self->given.seconds};
            status = measure(self, &pattern, words[reach], bytes);
        }
    return status;
}

/* Processes of the first node, whose device is the same one. */
static haul_status copies(session *self, bool is_shared)
{
    static const char *const directions[] = {
        [HAUL_DIRECTION_HTOD] = "h2d", [HAUL_DIRECTION_DTOH] = "d2h"};
    int here;
    char text[16];
    (void)node_ranks(self, 0, &here);
    haul_status status = HAUL_OK;
    for (int count = 1; count <= (is_shared ? here : 1); count *= 2)
        for (int direction = HAUL_DIRECTION_HTOD; direction <= HAUL_DIRECTION_DTOH; direction++)
            for (uint64_t bytes = self->given.least; !status && bytes <= self->given.most;
                 bytes *= 2) {
                hl_mpi_row row;
                const hl_mpi_copies what = {(haul_direction)direction, count, bytes,
                                            self->given.seconds};
                status =
                    hl_mpi_measure_copies(MPI_COMM_WORLD, self->device, &what, &row, self->error);
                (void)snprintf(text, sizeof text, "%d", count);
                if (!status)
                    write_row(self, directions[direction], is_shared ? text : "on", bytes, &row);
            }
    return status;
}

/* One file: of host memory, and where the MPI takes it of the device's. */
/* A row for each number of processes of two nodes, each with a partner: of `bytes` each, one way,
 * or, split, of `bytes` in all, there and back; or for each number of messages of one process to
 * others of other nodes. */
static haul_status measure_numbers(session *self, haul_memory memory, int kind)
{
    enum { RATE = 1, SPLIT, MANY };
    int here, there;
    char text[16];
    const int *senders = node_ranks(self, 0, &here), *receivers = node_ranks(self, 1, &there);
    const int others = self->comm->size - here, pairs = here < there ? here : there;
    const int most = kind == MANY ? others : pairs;
    haul_status status = HAUL_OK;
    for (int count = 1; count <= most; count = count < most && 2 * count > most ? most : 2 * count)
        for (uint64_t bytes = self->given.least; !status && bytes <= self->given.most; bytes *= 2) {
            const hl_mpi_pattern pattern = {
                .senders = senders,
                .sender_count = kind == MANY ? 1 : count,
                .receivers = receivers,
                .each = kind == MANY ? count : 1,
                .bytes = kind == SPLIT ? bytes / (uint64_t)count : bytes,
                .is_one_way = kind == RATE,
                .memory = memory,
                .seconds = self->given.seconds,
            };
            (void)snprintf(text, sizeof text, "%d", count);
            if (pattern.bytes)
                status = measure(self, &pattern, text, bytes);
        }
    return status;
}

static haul_status measure_kind(session *self, int kind)
{
    static const char *const names[] = {"pingpong", "rate",   "split",
                                        "many",     "copies", "copies-shared"};
    static const char *const columns[] = {"mem,locality,bytes",  "mem,ppn,bytes_per_msg",
                                          "mem,ppn,bytes_total", "mem,n_msgs,bytes_per_msg",
                                          "kind,locality,bytes", "kind,n_procs,bytes_each"};
    const int memories = self->given.is_device_aware ? 2 : 1;
    if ((kind >= 4 && !self->device) || (kind >= 1 && kind < 4 && self->comm->layout.nodes < 2))
        return HAUL_OK;
    haul_status status = open_file(self, names[kind], columns[kind]);
    if (kind >= 4)
        return close_file(self, status ? status : copies(self, kind == 5));
    for (int i = 0; !status && i < memories; i++) {
        const haul_memory memory = i ? HAUL_MEMORY_DEVICE : HAUL_MEMORY_HOST;
        status = kind == 0 ? ping_pongs(self, memory) : measure_numbers(self, memory, kind);
    }
    return close_file(self, status);
}

static haul_status measure_all(session *self)
{
    haul_status status = HAUL_OK;
    const haul_comm_options options = {.ranks_per_node = self->given.ranks_per_node};
    int processes;
    (void)MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes < 2)
        status =
            haul_error_set(self->error, HAUL_STATUS_USAGE,
                           "one process has none to send to: start it as in 'mpirun -n 2 haul-mpi "
                           "measure'");
    else if (self->given.device)
        status = haul_device_open(self->given.device, NULL, &self->device, self->error);
    int worst = (int)status;
    (void)MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (worst)
        return status ? status : (haul_status)worst;
    status = haul_comm_new(MPI_COMM_WORLD, &options, &self->comm, self->error);
    for (int kind = 0; !status && kind < 6; kind++)
        status = measure_kind(self, kind);
    if (!status && !self->rank) {
        char nodes[32];
        printf(
            "%d processes on %s; next: haul comm fit %s-*.csv -o mine.yaml\n", self->comm->size,
            haul_number_of((uint64_t)self->comm->layout.nodes, "node", NULL, nodes, sizeof nodes),
            self->given.prefix);
    }
    haul_comm_free(self->comm);
    haul_device_close(self->device);
    return status;
}

/* --- arguments */

static haul_status set_option(request *given, const char *name, const char *value,
                              haul_error *error)
{
    double number = 0;
    if (!strcmp(name, "-o"))
        given->prefix = value;
    else if (!strcmp(name, "--device"))
        given->device = value;
    else if (!strcmp(name, "--least"))
        return haul_bytes_parse(value, &given->least, error);
    else if (!strcmp(name, "--most"))
        return haul_bytes_parse(value, &given->most, error);
    else if (!strcmp(name, "--seconds"))
        return haul_quantity_parse(value, HAUL_DIM_NUMBER, &given->seconds, error);
    else if (!strcmp(name, "--ranks-per-node"))
        HAUL_TRY(haul_quantity_parse(value, HAUL_DIM_NUMBER, &number, error));
    else
        return haul_error_set(error, HAUL_STATUS_USAGE, "'%.60s' is no option", name);
    if (number >= 1 && number < (1 << 20))
        given->ranks_per_node = (unsigned)number;
    return HAUL_OK;
}

/* `paths` has room for all arguments. */
static haul_status parse_analyze(int argc, char **argv, const char **paths,
                                 hl_mpi_analyze_request *given, haul_error *error)
{
    static const char *const formats[] = {
        [HAUL_FORMAT_TABLE] = "table", [HAUL_FORMAT_JSON] = "json", [HAUL_FORMAT_CSV] = "csv"};
    given->paths = paths;
    for (int i = 2; i < argc; i++) {
        const bool is_format = !strcmp(argv[i], "--format");
        int format = 0;
        if (!strcmp(argv[i], "--verbose")) {
            given->verbose = true;
            continue;
        }
        if (argv[i][0] != '-') {
            paths[given->count++] = argv[i];
            continue;
        }
        if (i + 1 == argc || (!is_format && strcmp(argv[i], "-o") != 0))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "'%.60s' is no option, or lacks its value", argv[i]);
        i++;
        while (is_format && format < 3 && strcmp(argv[i], formats[format]) != 0)
            format++;
        if (format == 3)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "'%.60s' is no format: table, json or csv", argv[i]);
        if (is_format)
            given->format = (haul_format)format;
        else
            given->output = argv[i];
    }
    return given->count
               ? HAUL_OK
               : haul_error_set(error, HAUL_STATUS_USAGE, "expected a folder, or profiles");
}

static haul_status run_analyze(int argc, char **argv, haul_error *error)
{
    hl_mpi_analyze_request given = {.format = HAUL_FORMAT_TABLE};
    const char **const paths = calloc((size_t)argc + 1, sizeof *paths);
    if (!paths)
        return hl_base_fail_no_memory(error);
    haul_status status = parse_analyze(argc, argv, paths, &given, error);
    if (!status)
        status = hl_mpi_analyze_ranks(MPI_COMM_WORLD, &given, error);
    free((void *)paths);
    return status;
}

static haul_status run_measure(int argc, char **argv, int rank, haul_error *error)
{
    session self = {.given = {.prefix = "messages", .least = 1, .most = 1 << 22, .seconds = 0.02},
                    .rank = rank,
                    .error = error};
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--device-aware")) {
            self.given.is_device_aware = true;
        } else if (!strcmp(argv[i], "--fine")) {
            self.given.is_fine = true;
        } else {
            if (i + 1 == argc)
                return haul_error_set(error, HAUL_STATUS_USAGE,
                                      "'%.60s' is no option, or lacks its value", argv[i]);
            HAUL_TRY(set_option(&self.given, argv[i], argv[i + 1], error));
            i++;
        }
    }
    if (!self.given.least || self.given.most < self.given.least || self.given.most > 1 << 30)
        return haul_error_set(error, HAUL_STATUS_USAGE, "expected sizes from 1 byte to 1 GiB");
    return measure_all(&self);
}

int main(int argc, char **argv)
{
    haul_error error = {.status = HAUL_OK};
    char text[700];
    int rank;
    const char *command = argc > 1 ? argv[1] : "";
    /* Help needs no MPI, which ends the program where its launcher is not installed. */
    if (!strcmp(command, "--help") || !strcmp(command, "-h"))
        return fputs(usage, stdout) < 0 || fflush(stdout) ? haul_status_exit_code(HAUL_STATUS_IO)
                                                          : 0;
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    haul_status status = HAUL_OK;
    if (!strcmp(command, "measure")) {
        status = run_measure(argc, argv, rank, &error);
    } else if (!strcmp(command, "analyze")) {
        status = run_analyze(argc, argv, &error);
    } else {
        status = haul_error_set(&error, HAUL_STATUS_USAGE, "expected 'measure' or 'analyze'");
    }
    if (status && *error.text && (!rank || status != HAUL_STATUS_USAGE))
        (void)fprintf(stderr, "haul-mpi: %s\n", haul_error_format(&error, text, sizeof text));
    if (status == HAUL_STATUS_USAGE && !rank)
        fputs("          'haul-mpi --help' lists what there is\n", stderr);
    (void)MPI_Finalize();
    return haul_status_exit_code(status);
}
