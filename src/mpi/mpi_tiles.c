/* The processes that share a program's arrays of tiles: messages that are started, looked at and
 * finished, whose label must be what the receiver expects. */
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* Labels begin behind the tag of the other messages. MPI counts bytes in int. */
enum { LABEL_FIRST = 2, PIECE_BYTES = 1 << 30, MOST = HL_MPI_WINDOW_MOST };

/* The message that a request receives. */
typedef struct expected {
    int label;
    int bytes;
    bool is_send;
} expected;

/* The requests; the last is for errors, as hl_mpi_waiting has it. */
typedef struct transfers {
    hl_mpi_waiting waiting;
    MPI_Request requests[2 * HL_MPI_WINDOW_MOST + 1];
    expected of[2 * HL_MPI_WINDOW_MOST];
    int open;
} transfers;

static transfers *transfers_of(const haul_comm *self)
{
    return (transfers *)self->transfers; /* its first member */
}

static int post(haul_comm *self, transfers *all, const haul_process_message *message)
{
    const int rank = self->layout.rank_of[message->peer];
    int code = 0;
    uint64_t done = 0;
    while (done < message->bytes && !code) {
        const uint64_t left = message->bytes - done;
        const int bytes = (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
        char *at = (char *)message->cells + done;
        MPI_Request *request = &all->requests[all->waiting.count - 1];
        all->of[all->waiting.count - 1] =
            (expected){LABEL_FIRST + message->label, bytes, message->is_send};
        code = message->is_send
                   ? MPI_Isend(at, bytes, MPI_BYTE, rank, LABEL_FIRST + message->label, self->all,
                               request)
                   : MPI_Irecv(at, bytes, MPI_BYTE, rank, MPI_ANY_TAG, self->all, request);
        done += (uint64_t)bytes;
        all->waiting.count++;
    }
    return code;
}

/* The error tells the other processes that their messages are given up. */
static haul_status fail_transfers(haul_comm *self, haul_status status)
{
    transfers *all = transfers_of(self);
    hl_mpi_give_up(all->requests, all->waiting.count - 1);
    all->open = 0;
    return status;
}

static haul_status start_transfers(void *of, const haul_process_message *messages, int count,
                                   haul_error *error)
{
    haul_comm *self = of;
    transfers *all = transfers_of(self);
    uint64_t pieces = 0;
    int code = 0;
    if (self->failure.status) {
        if (error)
            *error = self->failure;
        return self->failure.status;
    }
    if (all->open)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "another exchange of this haul_comm is under way");
    for (int i = 0; i < count; i++)
        pieces += (messages[i].bytes + PIECE_BYTES - 1) / PIECE_BYTES;
    if (count > MOST || pieces > 2 * (uint64_t)MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "%d messages at once are too many", count);
    all->waiting.count = 1;
    for (int i = 0; i < count && !code; i++) /* receives first: nothing then arrives unexpected */
        if (!messages[i].is_send)
            code = post(self, all, &messages[i]);
    for (int i = 0; i < count && !code; i++)
        if (messages[i].is_send)
            code = post(self, all, &messages[i]);
    all->open = all->waiting.count - 1;
    all->requests[all->open] = self->notice_request;
    return code ? fail_transfers(self,
                                 hl_mpi_failed(self, code, "starting messages of arrays", error))
                : HAUL_OK;
}

/* Messages that have come are those that were expected. */
static haul_status check_transfers(haul_comm *self, haul_error *error)
{
    transfers *all = transfers_of(self);
    const hl_mpi_waiting *came = &all->waiting;
    all->open -= came->done;
    for (int i = 0; i < came->done; i++) {
        const expected *is = &all->of[came->indices[i]];
        int bytes = 0;
        if (is->is_send)
            continue;
        (void)MPI_Get_count(&came->statuses[i], MPI_BYTE, &bytes);
        if (came->statuses[i].MPI_TAG != is->label || bytes != is->bytes)
            return haul_error_set(
                error, HAUL_STATUS_BAD_INPUT,
                "rank %d expects cells of array %d, and rank %d sends cells of array "
                "%d: they changed different arrays, or queued different loops",
                self->rank, is->label - LABEL_FIRST, came->statuses[i].MPI_SOURCE,
                came->statuses[i].MPI_TAG - LABEL_FIRST);
    }
    return HAUL_OK;
}

static haul_status advance(void *of, haul_error *error)
{
    haul_comm *self = of;
    transfers *all = transfers_of(self);
    if (!all->open)
        return HAUL_OK;
    haul_status status = hl_mpi_look(self, &all->waiting, error);
    if (!status)
        status = check_transfers(self, error);
    return status ? fail_transfers(self, status) : HAUL_OK;
}

static haul_status finish_exchange(void *of, haul_error *error)
{
    haul_comm *self = of;
    transfers *all = transfers_of(self);
    while (all->open) {
        haul_status status = hl_mpi_wait_some(self, &all->waiting, true, error);
        if (!status)
            status = check_transfers(self, error);
        if (status)
            return fail_transfers(self, status);
    }
    return HAUL_OK;
}

static haul_status gather_all(void *of, const void *own, size_t bytes, void *all, haul_error *error)
{
    haul_comm *self = of;
    MPI_Request request;
    if (self->failure.status) {
        if (error)
            *error = self->failure;
        return self->failure.status;
    }
    const int code = MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                    self->owners, &request);
    if (code)
        return hl_mpi_failed(self, code, "gathering results", error);
    return hl_mpi_wait(self, &request, error);
}

static void tell_others(void *of, const haul_error *error)
{
    (void)hl_mpi_tell(of, error);
}

const haul_processes *haul_comm_processes(haul_comm *comm)
{
    if (comm->owner < 0)
        return NULL;
    if (!comm->transfers) {
        transfers *all = calloc(1, sizeof *all);
        if (!all)
            return NULL;
        all->waiting.requests = all->requests;
        comm->transfers = &all->waiting;
    }
    comm->processes = (haul_processes){
        .of = comm,
        .rank = comm->owner,
        .count = comm->layout.owners,
        .start = start_transfers,
        .advance = advance,
        .finish = finish_exchange,
        .gather = gather_all,
        .tell = tell_others,
    };
    return &comm->processes;
}
