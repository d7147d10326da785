/* A communicator's making and end: what is agreed once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "base/fail.h"
#include "haul/device_backend.h"
#include "haul/units.h"
#include "mpi/mpi_parts.h"

/* Of a piece of 1 MiB the 10 us that a copy takes to begin are a tenth, at 12 GB/s. */
enum { WINDOW_USUAL = 16, PIECE_USUAL = 1 << 20 };

/* Settings that the first process decides and sends to all; a machine's text follows. */
typedef struct settings {
    int status; /* of an error, with its text */
    int way;
    unsigned window;
    unsigned ranks_per_node;
    int is_device_aware; /* -1: as each process says */
    int keeps_proofs;
    uint64_t machine_bytes, piece_bytes;
    double time_limit_s, trial_share;
    char text[sizeof((haul_error *)NULL)->text];
} settings;

/* A number of the environment; `usual` where it is not set. */
static haul_status read_number(const char *name, double usual, double most, double *value,
                               haul_error *error)
{
    const char *text = getenv(name);
    *value = usual;
    if (!text || !*text)
        return HAUL_OK;
    const haul_status status = haul_quantity_parse(text, HAUL_DIM_NUMBER, value, NULL);
    return status || !(*value >= 0 && *value <= most)
               ? haul_error_set(error, HAUL_STATUS_USAGE,
                                "%s: expected a number from 0 to %g, not '%.60s'", name, most, text)
               : HAUL_OK;
}

/* The machine as text, which all processes read alike. */
static haul_status write_machine(const haul_comm_options *options, char **text, size_t *size,
                                 haul_error *error)
{
    const char *name = getenv("HAUL_MPI_MACHINE");
    haul_machine *loaded = NULL;
    haul_status status = HAUL_OK;
    if (name && *name)
        status = haul_machine_load(name, &loaded, error);
    const haul_machine *machine = loaded ? loaded : options->machine;
    if (status || !machine)
        return status;
    FILE *out = open_memstream(text, size);
    if (!out)
        return hl_base_fail_no_memory(error);
    status = haul_machine_write(machine, out, error);
    if ((fclose(out) || !*text) && !status)
        status = hl_base_fail_no_memory(error);
    haul_machine_free(loaded);
    return status;
}

static haul_status decide(const haul_comm_options *options, settings *made, char **machine,
                          haul_error *error)
{
    double window, per_node, aware, piece;
    size_t size = 0;
    const char *text = getenv("HAUL_MPI_WAY");
    haul_way read = options->way;
    if (text && *text)
        HAUL_TRY(haul_way_parse(text, &read, error));
    if ((unsigned)read >= HAUL_WAYS)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no way of exchange has the number %u",
                              (unsigned)read);
    made->way = (int)read;
    HAUL_TRY(read_number("HAUL_MPI_WINDOW", options->window, HL_MPI_WINDOW_MOST, &window, error));
    HAUL_TRY(
        read_number("HAUL_MPI_RANKS_PER_NODE", options->ranks_per_node, 1 << 30, &per_node, error));
    HAUL_TRY(read_number("HAUL_MPI_DEVICE_AWARE", -1, 1, &aware, error));
    HAUL_TRY(
        read_number("HAUL_MPI_TIME_LIMIT", options->time_limit_s, 1e9, &made->time_limit_s, error));
    HAUL_TRY(write_machine(options, machine, &size, error));
    HAUL_TRY(
        read_number("HAUL_MPI_TRIAL_SHARE", options->trial_share, 1, &made->trial_share, error));
    HAUL_TRY(read_number("HAUL_MPI_PIECE", (double)options->piece_bytes, 1 << 30, &piece, error));
    made->piece_bytes = piece >= 1 ? (uint64_t)piece : PIECE_USUAL;
    made->window = window >= 1 && window <= HL_MPI_WINDOW_MOST ? (unsigned)window : WINDOW_USUAL;
    made->ranks_per_node = (unsigned)per_node;
    made->is_device_aware = (int)aware;
    made->keeps_proofs = hl_mpi_proofs_path(options) != NULL;
    made->machine_bytes = size;
    return HAUL_OK;
}

/* All take the first process's settings, or its error. */
static haul_status share_settings(haul_comm *self, const haul_comm_options *options, settings *made,
                                  haul_error *error)
{
    char *machine = NULL;
    haul_status status = HAUL_OK;
    if (!self->rank) {
        haul_error found = {.status = HAUL_OK};
        made->status = (int)decide(options, made, &machine, &found);
        (void)snprintf(made->text, sizeof made->text, "%s", found.text);
    }
    int code = MPI_Bcast(made, (int)sizeof *made, MPI_BYTE, 0, self->all);
    if (!code && made->status)
        status = haul_error_set(error, (haul_status)made->status, "%s", made->text);
    if (!code && !status && made->machine_bytes) {
        if (self->rank)
            machine = malloc(made->machine_bytes);
        if (!machine)
            status = hl_base_fail_no_memory(error);
        else
            code = MPI_Bcast(machine, (int)made->machine_bytes, MPI_BYTE, 0, self->all);
        if (!code && !status)
            status =
                haul_machine_parse(machine, made->machine_bytes, "machine", &self->machine, error);
    }
    free(machine);
    return code ? hl_mpi_failed(self, code, "sharing the settings", error) : status;
}

/* A number that the processes of a node have in common: the lowest rank there. */
static haul_status find_node(haul_comm *self, const settings *made, int *node, haul_error *error)
{
    MPI_Comm near;
    *node = made->ranks_per_node ? self->rank / (int)made->ranks_per_node : self->rank;
    if (made->ranks_per_node)
        return HAUL_OK;
    int code =
        MPI_Comm_split_type(self->all, MPI_COMM_TYPE_SHARED, self->rank, MPI_INFO_NULL, &near);
    if (!code) {
        code = MPI_Bcast(node, 1, MPI_INT, 0, near);
        (void)MPI_Comm_free(&near);
    }
    return code ? hl_mpi_failed(self, code, "finding the nodes", error) : HAUL_OK;
}

/* The MPI's own word, for CUDA alone. */
static bool mpi_knows_device(const haul_device *device)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    if (!strcmp(device->backend->kind, "cuda"))
        return MPIX_Query_cuda_support() == 1;
#endif
    (void)device;
    return false;
}

static haul_status open_device(haul_comm *self, const haul_comm_options *options,
                               const settings *made, haul_error *error)
{
    int common[] = {1, 1, !(options->device && self->owner >= 0)};
    haul_status status = HAUL_OK;
    self->device = options->device;
    self->takes_simulated_time = options->takes_simulated_time;
    for (int i = 0; self->device && !status && i < 2; i++)
        status = haul_stream_new(self->device, &self->streams[i], error);
    if (self->owner >= 0) {
        common[0] = options->is_device_aware || (self->device && mpi_knows_device(self->device));
        if (made->is_device_aware >= 0)
            common[0] = made->is_device_aware;
    }
    if (self->team_of >= 0)
        common[1] =
            self->device && haul_device_describe(self->device)->can & HAUL_DEVICE_CAN_SHARE ? 1 : 0;
    const int code = MPI_Allreduce(MPI_IN_PLACE, common, 3, MPI_INT, MPI_MIN, self->all);
    self->is_device_aware = common[0];
    self->can_share = common[1];
    self->has_device = !common[2];
    return code && !status ? hl_mpi_failed(self, code, "agreeing on devices", error) : status;
}

static haul_status open_communicators(haul_comm *self, MPI_Comm mpi, haul_error *error)
{
    int code = MPI_Comm_dup(mpi, &self->all);
    if (!code)
        code = MPI_Comm_set_errhandler(self->all, MPI_ERRORS_RETURN);
    if (!code)
        code = MPI_Comm_dup(self->all, &self->notices);
    if (!code)
        code = MPI_Comm_rank(self->all, &self->rank);
    if (!code)
        code = MPI_Comm_size(self->all, &self->size);
    return code ? hl_mpi_failed(self, code, "duplicating a communicator", error) : HAUL_OK;
}

/* An error on one process of what they all do is an error of all. */
static haul_status agree_status(haul_comm *self, haul_status status, haul_error *error)
{
    struct {
        int value, rank;
    } worst = {(int)status, self->rank};
    hl_mpi_notice notice = {.status = (int)status, .rank = self->rank};
    if (MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_2INT, MPI_MAXLOC, self->all) || !worst.value)
        return status;
    if (status)
        (void)snprintf(notice.text, sizeof notice.text, "%s", error->text);
    if (MPI_Bcast(&notice, (int)sizeof notice, MPI_BYTE, worst.rank, self->all) || status)
        return status;
    return haul_error_set(error, (haul_status)notice.status, "rank %d: %.480s", notice.rank,
                          notice.text);
}

static void take_settings(haul_comm *self, const haul_comm_options *options, const settings *made)
{
    self->window = made->window;
    self->time_limit_s = made->time_limit_s;
    self->trial_share = made->trial_share;
    self->piece_bytes = made->piece_bytes;
    self->forced_way = (haul_way)made->way;
    self->may_fall_back = options->may_fall_back;
}

haul_status haul_comm_new(MPI_Comm mpi, const haul_comm_options *options, haul_comm **comm,
                          haul_error *error)
{
    static const haul_comm_options none = {.machine = NULL};
    haul_error own = {.status = HAUL_OK};
    error = error ? error : &own;
    options = options ? options : &none;
    haul_comm *self = calloc(1, sizeof *self);
    settings made = {.status = 0};
    int node = 0;
    if (!self)
        return hl_base_fail_no_memory(error);
    self->all = self->owners = self->notices = MPI_COMM_NULL;
    self->notice_request = MPI_REQUEST_NULL;
    haul_status status = open_communicators(self, mpi, error);
    if (status) {
        if (self->all != MPI_COMM_NULL)
            (void)MPI_Comm_free(&self->all);
        free(self);
        return status;
    }
    status = agree_status(self, share_settings(self, options, &made, error), error);
    if (!status)
        status = agree_status(self, find_node(self, &made, &node, error), error);
    if (!status)
        status =
            agree_status(self, hl_mpi_layout_make(self, node, options->is_helper, error), error);
    if (!status)
        status = agree_status(self, open_device(self, options, &made, error), error);
    /* MPIs have few contexts: a program may have hundreds of communicators */
    if (!status && self->layout.owners == self->size)
        self->owners = self->all;
    else if (!status && MPI_Comm_split(self->all, self->owner >= 0 ? 0 : MPI_UNDEFINED, self->rank,
                                       &self->owners))
        status = haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "cannot split the communicator");
    if (!status && self->owners != MPI_COMM_NULL)
        (void)MPI_Comm_set_errhandler(self->owners, MPI_ERRORS_RETURN);
    if (!status)
        status = agree_status(self, hl_mpi_listen(self, error), error);
    take_settings(self, options, &made);
    if (!status && made.keeps_proofs && hl_mpi_is_proven(self))
        status = agree_status(self, hl_mpi_proofs_open(self, options, error), error);
    if (status) {
        haul_comm_free(self);
        return status;
    }
    *comm = self;
    return HAUL_OK;
}

void haul_comm_free(haul_comm *comm)
{
    if (!comm)
        return;
    if (!comm->failure.status) {
        /* After an error the messages that are under way are MPI's to end: the communicators, which
         * are freed by all processes together, and the notices stay. */
        if (comm->notice_request != MPI_REQUEST_NULL) {
            (void)MPI_Cancel(&comm->notice_request);
            (void)MPI_Wait(&comm->notice_request, MPI_STATUS_IGNORE);
        }
        if (comm->owners != MPI_COMM_NULL && comm->owners != comm->all)
            (void)MPI_Comm_free(&comm->owners);
        (void)MPI_Comm_free(&comm->notices);
        (void)MPI_Comm_free(&comm->all);
    }
    hl_mpi_packers_free(comm);
    hl_mpi_scratch_free(comm);
    haul_stream_free(comm->streams[0]);
    haul_stream_free(comm->streams[1]);
    haul_machine_free(comm->machine);
    hl_mpi_layout_free(&comm->layout);
    hl_mpi_proofs_close(comm);
    hl_mpi_choices_free(comm);
    for (int i = 0; i < 2; i++) {
        free(comm->blocks[i]);
        free(comm->messages[i]);
    }
    if (comm->failure.status)
        return;
    free(comm->plain_numbers);
    free(comm->transfers);
    free(comm);
}

int haul_comm_size(const haul_comm *comm)
{
    return comm->layout.owners;
}

int haul_comm_rank(const haul_comm *comm)
{
    return comm->owner;
}
