/* Messages in flight, and errors: whoever waits also listens for another process's error, so that
 * none waits for one that has given up. */
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

enum { TAG = 1, PIECE_BYTES = 1 << 30, TEXT_MOST = 256 };

/* --- errors */

haul_status hl_mpi_listen(haul_comm *self, haul_error *error)
{
    const int code = MPI_Irecv(&self->notice, (int)sizeof self->notice, MPI_BYTE, MPI_ANY_SOURCE,
                               TAG, self->notices, &self->notice_request);
    return code ? hl_mpi_failed(self, code, "listening for errors", error) : HAUL_OK;
}

/* Nobody waits for the sends: a process that is gone takes none. */
haul_status hl_mpi_tell(haul_comm *self, const haul_error *error)
{
    if (self->failure.status)
        return error->status;
    self->failure = *error;
    self->failed_call = self->calls;
    self->sent =
        (hl_mpi_notice){.rank = self->rank, .status = (int)error->status, .call = self->calls};
    (void)snprintf(self->sent.text, sizeof self->sent.text, "%s", error->text);
    self->sent_requests = calloc((size_t)self->size, sizeof(MPI_Request));
    for (int rank = 0; self->sent_requests && rank < self->size; rank++) {
        self->sent_requests[rank] = MPI_REQUEST_NULL;
        if (rank != self->rank)
            (void)MPI_Isend(&self->sent, (int)sizeof self->sent, MPI_BYTE, rank, TAG, self->notices,
                            &self->sent_requests[rank]);
    }
    return error->status;
}

haul_status hl_mpi_failed(haul_comm *self, int code, const char *what, haul_error *error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    self->mpi_error = code;
    (void)MPI_Error_string(code, text, &length);
    return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "rank %d: %s: %.*s", self->rank, what,
                          TEXT_MOST, text);
}

int haul_comm_mpi_error(const haul_comm *comm)
{
    return comm->mpi_error;
}

bool haul_comm_failed_before(const haul_comm *comm)
{
    return comm->failure.status && comm->failed_call < comm->calls;
}

/* --- waiting */

/* Seconds. */
static const double nap_from = 1e-3, nap_most = 1e-3;

/* Polls until some requests are done; MPI's code. A long wait naps, so that processes that share a
 * core may compute: for a sixteenth of the time waited so far, which makes it no longer than that.
 */
static int poll_some(hl_mpi_waiting *self, double time_limit_s)
{
    const double since = MPI_Wtime();
    int code = 0;
    self->done = 0;
    while (!self->done && !code) {
        const double waited = MPI_Wtime() - since;
        const double nap_s = waited / 16 < nap_most ? waited / 16 : nap_most;
        code =
            MPI_Testsome(self->count, self->requests, &self->done, self->indices, self->statuses);
        if (code || self->done || waited >= time_limit_s)
            break;
        if (waited < nap_from)
            (void)sched_yield();
        else
            (void)nanosleep(&(struct timespec){.tv_nsec = (long)(nap_s * 1e9)}, NULL);
    }
    return code;
}

/* Takes the requests that MPI has completed, or its error. */
static haul_status take_done(haul_comm *comm, const hl_mpi_waiting *self, int code,
                             haul_error *error)
{
    if (code && code != MPI_ERR_IN_STATUS)
        return hl_mpi_failed(comm, code, "waiting for messages", error);
    for (int i = 0; code && i < self->done; i++)
        if (self->statuses[i].MPI_ERROR)
            return hl_mpi_failed(comm, self->statuses[i].MPI_ERROR, "a message", error);
    for (int i = 0; i < self->done; i++)
        if (self->indices[i] == self->count - 1) {
            comm->notice_request = MPI_REQUEST_NULL;
            const hl_mpi_notice *notice = &comm->notice;
            comm->notice.text[sizeof notice->text - 1] = '\0';
            const bool says_who = !strncmp(notice->text, "rank ", 5);
            haul_status status = (haul_status)notice->status;
            if (says_who)
                status = haul_error_set(error, status, "%s", notice->text);
            else
                status =
                    haul_error_set(error, status, "rank %d: %.480s", notice->rank, notice->text);
            comm->failure = *error;
            comm->failed_call = notice->call;
            return status;
        }
    return HAUL_OK;
}

haul_status hl_mpi_wait_some(haul_comm *comm, hl_mpi_waiting *self, bool naps, haul_error *error)
{
    const double limit_s = comm->time_limit_s > 0 ? comm->time_limit_s : (double)INFINITY;
    const int code =
        naps || comm->time_limit_s > 0
            ? poll_some(self, limit_s)
            : MPI_Waitsome(self->count, self->requests, &self->done, self->indices, self->statuses);
    if (!code && !self->done)
        return haul_error_set(error, HAUL_STATUS_TIMED_OUT,
                              "rank %d has waited %g s for messages of others", comm->rank,
                              comm->time_limit_s);
    return take_done(comm, self, code, error);
}

haul_status hl_mpi_look(haul_comm *comm, hl_mpi_waiting *self, haul_error *error)
{
    const int code =
        MPI_Testsome(self->count, self->requests, &self->done, self->indices, self->statuses);
    self->done = self->done == MPI_UNDEFINED ? 0 : self->done;
    return take_done(comm, self, code, error);
}

void hl_mpi_give_up(MPI_Request *requests, int count)
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            (void)MPI_Cancel(&requests[i]);
            (void)MPI_Request_free(&requests[i]);
        }
}

haul_status hl_mpi_wait(haul_comm *self, MPI_Request *request, haul_error *error)
{
    MPI_Request both[] = {*request, self->notice_request};
    hl_mpi_waiting one = {.requests = both, .count = 2};
    return hl_mpi_wait_some(self, &one, false,
                            error); /* collective requests cannot be given up: MPI keeps them */
}

haul_status hl_mpi_most(haul_comm *self, uint64_t *numbers, int count, haul_error *error)
{
    MPI_Request request;
    const int code =
        MPI_Iallreduce(MPI_IN_PLACE, numbers, count, MPI_UINT64_T, MPI_MAX, self->all, &request);
    if (code)
        return hl_mpi_failed(self, code, "agreeing on an exchange", error);
    return hl_mpi_wait(self, &request, error);
}

/* --- windows of messages */

/* As many bytes as come. */
static const uint64_t any = UINT64_MAX;

/* One direction. A block above PIECE_BYTES goes in pieces: MPI counts in int. */
typedef struct flow {
    hl_mpi_block *blocks;
    size_t count, next;
    uint64_t offset; /* of the next piece of the next block */
    bool is_send;
} flow;

typedef struct window {
    haul_comm *comm;
    MPI_Request requests[2 * HL_MPI_WINDOW_MOST + 1];
    uint64_t expected[2 * HL_MPI_WINDOW_MOST]; /* bytes of a receive */
    int slots;                                 /* of each direction */
    int busy;
} window;

static int distance(const haul_comm *self, const hl_mpi_block *block, bool is_send)
{
    const int apart = is_send ? block->rank - self->rank : self->rank - block->rank;
    return apart < 0 ? apart + self->size : apart;
}

/* Both ends of each pair come to it after the same number of steps: the first message that is not
 * through has both its ends posted, so that windows of any size cannot lock each other. */
static haul_status order(const haul_comm *self, hl_mpi_block *blocks, size_t count, bool is_send,
                         haul_error *error)
{
    if (count < 2)
        return HAUL_OK;
    size_t *starts = calloc((size_t)self->size + 1, sizeof *starts);
    hl_mpi_block *sorted = malloc((count + 1) * sizeof *sorted);
    if (!starts || !sorted) {
        free(starts);
        free(sorted);
        return hl_base_fail_no_memory(error);
    }
    for (size_t i = 0; i < count; i++)
        starts[distance(self, &blocks[i], is_send) + 1]++;
    for (int d = 0; d < self->size; d++)
        starts[d + 1] += starts[d];
    for (size_t i = 0; i < count; i++)
        sorted[starts[distance(self, &blocks[i], is_send)]++] = blocks[i];
    if (count)
        memcpy(blocks, sorted, count * sizeof *sorted);
    free(starts);
    free(sorted);
    return HAUL_OK;
}

static haul_status fill_window(window *self, flow *of, haul_error *error)
{
    const int first = of->is_send ? self->slots : 0;
    for (int slot = first; slot < first + self->slots; slot++) {
        while (of->next < of->count && !of->blocks[of->next].bytes)
            of->next++;
        if (of->next == of->count)
            return HAUL_OK;
        if (self->requests[slot] != MPI_REQUEST_NULL)
            continue;
        hl_mpi_block *block = &of->blocks[of->next];
        const uint64_t left = block->bytes - of->offset;
        const int bytes = (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
        char *at = block->at + of->offset;
        self->expected[slot] = block->is_at_most ? any : (uint64_t)bytes;
        of->offset += (uint64_t)bytes;
        if (of->offset == block->bytes) {
            of->offset = 0;
            of->next++;
        }
        self->busy++;
        const int code = of->is_send ? MPI_Isend(at, bytes, MPI_BYTE, block->rank, TAG,
                                                 self->comm->all, &self->requests[slot])
                                     : MPI_Irecv(at, bytes, MPI_BYTE, block->rank, TAG,
                                                 self->comm->all, &self->requests[slot]);
        if (code)
            return hl_mpi_failed(self->comm, code, of->is_send ? "sending" : "receiving", error);
    }
    return HAUL_OK;
}

/* A receive that is not as long as its owner was told is an error: the counts differ. */
static haul_status check_arrival(const window *self, const hl_mpi_waiting *came, haul_error *error)
{
    for (int i = 0; i < came->done; i++) {
        int got = 0;
        if (came->indices[i] >= self->slots)
            continue;
        const uint64_t expected = self->expected[came->indices[i]];
        (void)MPI_Get_count(&came->statuses[i], MPI_BYTE, &got);
        if (expected != any && (uint64_t)got != expected)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "rank %d: %d bytes came from rank %d where %llu were expected",
                                  self->comm->rank, got, came->statuses[i].MPI_SOURCE,
                                  (unsigned long long)expected);
    }
    return HAUL_OK;
}

haul_status hl_mpi_deliver(haul_comm *self, hl_mpi_block *sends, size_t send_count,
                           hl_mpi_block *receives, size_t receive_count, haul_error *error)
{
    window now = {.comm = self, .slots = (int)self->window};
    flow out = {.blocks = sends, .count = send_count, .is_send = true};
    flow in = {.blocks = receives, .count = receive_count};
    const int all = 2 * now.slots;
    hl_mpi_waiting some = {.requests = now.requests, .count = all + 1};
    haul_status status = order(self, sends, send_count, true, error);
    if (!status)
        status = order(self, receives, receive_count, false, error);
    for (int i = 0; i < all; i++)
        now.requests[i] = MPI_REQUEST_NULL;
    now.requests[all] = self->notice_request;
    while (!status) {
        status = fill_window(&now, &in, error);
        if (!status)
            status = fill_window(&now, &out, error);
        if (status || !now.busy)
            break;
        status = hl_mpi_wait_some(self, &some, false, error);
        if (!status)
            status = check_arrival(&now, &some, error);
        now.busy -= some.done;
    }
    if (status)
        hl_mpi_give_up(now.requests, all);
    return status;
}
