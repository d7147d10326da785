/* Collective calls that are started and finished. A device's memory that the MPI does not take has
 * a copy in the host's, with the same gaps: MPI's call is the program's own with other addresses,
 * and so goes with processes whose memory is the host's, and MPI moves it on in any of its calls.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* A side's memory, and its copy. */
typedef struct mirror {
    hl_mpi_region region; /* of device memory; else none */
    hl_mpi_scratch copy;
    char *at; /* for MPI */
} mirror;

struct haul_request {
    haul_comm *comm;
    haul_call call;
    MPI_Comm over;
    bool tells; /* the haul_comm's other processes of errors */
    mirror send, receive;
    bool is_in_place, is_root;
    int own; /* the process's own block where that is all that is sent in place; -1: all are */
    MPI_Request request;
    bool is_under_way;
};

static haul_status open_mirror(haul_request *self, bool is_send, mirror *made, haul_error *error)
{
    const haul_address at = is_send ? self->call.send.at : self->call.receive.at;
    if (!hl_mpi_is_on_device(at) || self->comm->is_device_aware) {
        made->at = hl_mpi_pointer_of(at);
        return HAUL_OK;
    }
    if (!self->comm->device)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "device memory needs the device in haul_comm_options");
    hl_mpi_region *region = &made->region;
    HAUL_TRY(hl_mpi_side_region(&self->call, self->over, is_send, at, region, error));
    const uint64_t bytes = (uint64_t)(region->high - region->low);
    HAUL_TRY(hl_mpi_scratch_take(self->comm, bytes + 1, &made->copy, error));
    made->at = made->copy.at - region->low;
    return HAUL_OK;
}

static void close_mirror(haul_comm *comm, mirror *of)
{
    hl_mpi_region_release(&of->region);
    if (of->copy.at)
        hl_mpi_scratch_give(comm, &of->copy);
}

static haul_status fail_request(haul_request *self, haul_status status, haul_error *error)
{
    return status && self->tells ? hl_mpi_tell(self->comm, error) : status;
}

haul_status haul_request_new(haul_comm *comm, const haul_call *call, haul_request **request,
                             haul_error *error)
{
    haul_error why = {.status = HAUL_OK};
    error = error ? error : &why;
    if (comm->owner < 0)
        return haul_error_set(error, HAUL_STATUS_USAGE, "a helper makes no calls of owners");
    haul_request *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    const bool is_own = !call->over || call->over == MPI_COMM_NULL;
    *self = (haul_request){.comm = comm,
                           .call = *call,
                           .over = is_own ? comm->owners : call->over,
                           .tells = is_own,
                           .own = -1,
                           .request = MPI_REQUEST_NULL};
    int rank = 0;
    (void)PMPI_Comm_rank(self->over, &rank);
    const bool is_bcast = call->kind == HAUL_CALL_BCAST;
    self->is_root = is_bcast && call->root == rank;
    self->is_in_place = !is_bcast && hl_mpi_is_in_place(call->send.at);
    if (call->kind == HAUL_CALL_ALLGATHER || call->kind == HAUL_CALL_ALLGATHER_V)
        self->own = rank;
    haul_status status = HAUL_OK;
    if (!is_bcast && !self->is_in_place)
        status = open_mirror(self, true, &self->send, error);
    if (!status)
        status = open_mirror(self, false, &self->receive, error);
    if (status)
        haul_request_free(self);
    else
        *request = self;
    return status;
}

void haul_request_free(haul_request *request)
{
    if (!request)
        return;
    haul_error error;
    if (request->is_under_way)
        (void)haul_request_finish(request, &error);
    close_mirror(request->comm, &request->send);
    close_mirror(request->comm, &request->receive);
    free(request);
}

haul_status haul_request_copy_down(haul_request *request, const void **send, void **receive,
                                   haul_error *error)
{
    const mirror *from = &request->send, *to = &request->receive;
    haul_comm *comm = request->comm;
    if (from->copy.at)
        HAUL_TRY(hl_mpi_mirror(comm, &from->region, -1, from->copy.at, false, error));
    if (to->copy.at && (request->is_in_place || request->is_root))
        HAUL_TRY(hl_mpi_mirror(comm, &to->region, request->own, to->copy.at, false, error));
    *send = request->is_in_place ? MPI_IN_PLACE : from->at;
    *receive = to->at;
    return HAUL_OK;
}

haul_status haul_request_copy_up(haul_request *request, haul_error *error)
{
    const mirror *to = &request->receive;
    return !to->copy.at || request->is_root
               ? HAUL_OK
               : hl_mpi_mirror(request->comm, &to->region, -1, to->copy.at, true, error);
}

haul_status haul_request_start(haul_request *request, haul_error *error)
{
    haul_comm *comm = request->comm;
    haul_error why = {.status = HAUL_OK};
    error = error ? error : &why;
    if (request->is_under_way)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the call is under way");
    if (comm->failure.status) {
        *error = comm->failure;
        return error->status;
    }
    const void *send;
    void *receive;
    comm->calls++;
    haul_status status = haul_request_copy_down(request, &send, &receive, error);
    if (!status) {
        const int code =
            hl_mpi_own_start(&request->call, request->over, send, receive, &request->request);
        status = code ? hl_mpi_failed(comm, code, "starting MPI's own call", error) : HAUL_OK;
    }
    request->is_under_way = !status;
    return fail_request(request, status, error);
}

haul_status haul_request_test(haul_request *request, bool *done, haul_error *error)
{
    haul_error why = {.status = HAUL_OK};
    error = error ? error : &why;
    *done = !request->is_under_way;
    if (*done)
        return HAUL_OK;
    MPI_Request both[] = {request->request, request->comm->notice_request};
    hl_mpi_waiting one = {.requests = both, .count = 2};
    haul_status status = hl_mpi_look(request->comm, &one, error);
    request->request = both[0];
    *done = request->request == MPI_REQUEST_NULL;
    if (!status && !*done)
        return HAUL_OK;
    request->is_under_way = false;
    if (!status)
        status = haul_request_copy_up(request, error);
    return fail_request(request, status, error);
}

haul_status haul_request_finish(haul_request *request, haul_error *error)
{
    haul_error why = {.status = HAUL_OK};
    error = error ? error : &why;
    if (!request->is_under_way)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no call is under way");
    request->is_under_way = false;
    haul_status status = hl_mpi_wait(request->comm, &request->request, error);
    request->request = MPI_REQUEST_NULL;
    if (!status)
        status = haul_request_copy_up(request, error);
    return fail_request(request, status, error);
}
