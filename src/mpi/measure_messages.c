#include "mpi/measure_messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/stats.h"

enum { TAG = 1, BURST = 16, LEAST = 7, MOST = 1000, WARM_UP = 3, NAP_NS = 200000 };

/* MPI's own barrier spins, and takes a core from those that are measured. */
static void sleep_until_all(MPI_Comm world)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    MPI_Request request;
    int is_done = 0;
    (void)MPI_Ibarrier(world, &request);
    for (;;) {
        (void)MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done)
            return;
        (void)nanosleep(&nap, NULL);
    }
}

/* One process's part of a repetition. */
typedef struct part {
    const hl_mpi_pattern *pattern;
    MPI_Comm group;
    const int *peers; /* in `group` */
    int count;        /* of peers; 0: takes part in nothing */
    bool is_sender;
    char *out, *in; /* `bytes` each; of a sender `in` is a block for each peer */
    MPI_Request *requests;
    haul_device *device;
    haul_stream *stream;
    haul_transfer copy;
} part;

static void send_burst(const part *self)
{
    const int bytes = (int)self->pattern->bytes;
    char answer = 0;
    for (int i = 0; i < BURST; i++)
        if (self->is_sender)
            (void)MPI_Isend(self->out, bytes, MPI_BYTE, *self->peers, TAG, self->group,
                            &self->requests[i]);
        else
            (void)MPI_Irecv(self->in, bytes, MPI_BYTE, *self->peers, TAG, self->group,
                            &self->requests[i]);
    (void)MPI_Waitall(BURST, self->requests, MPI_STATUSES_IGNORE);
    if (self->is_sender)
        (void)MPI_Recv(&answer, 1, MPI_BYTE, *self->peers, TAG, self->group, MPI_STATUS_IGNORE);
    else
        (void)MPI_Send(&answer, 1, MPI_BYTE, *self->peers, TAG, self->group);
}

/* A copy's failure is seen by the caller, who waits for the stream once more. */
static double copy_once(const part *self)
{
    (void)MPI_Barrier(self->group);
    const int64_t device_ns = self->device ? haul_device_now(self->device) : 0;
    const double since = MPI_Wtime();
    if (!self->pattern) {
        if (!haul_stream_copy(self->stream, &self->copy, NULL, NULL))
            (void)haul_stream_wait(self->stream, NULL);
        return haul_device_describe(self->device)->is_simulated
                   ? (double)(haul_device_now(self->device) - device_ns) * 1e-9
                   : MPI_Wtime() - since;
    }
    if (self->pattern->is_one_way)
        send_burst(self);
    else {
        const int bytes = (int)self->pattern->bytes;
        int n = 0;
        for (int i = 0; i < self->count; i++)
            (void)MPI_Irecv(self->in + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, self->peers[i],
                            TAG, self->group, &self->requests[n++]);
        if (!self->is_sender)
            (void)MPI_Waitall(n, self->requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < self->count; i++)
            (void)MPI_Isend(self->out, bytes, MPI_BYTE, self->peers[i], TAG, self->group,
                            &self->requests[n++]);
        (void)MPI_Waitall(n, self->requests, MPI_STATUSES_IGNORE);
    }
    return (MPI_Wtime() - since) / (self->pattern->is_one_way ? BURST : 2);
}

/* Repeats; the first process says how often. The slowest process of each repetition counts. */
static haul_status repeat(const part *self, double seconds, hl_mpi_row *row, haul_error *error)
{
    double took = HUGE_VAL, *times = calloc(2 * (size_t)MOST, sizeof *times),
           *slowest = times + MOST;
    if (!times)
        return hl_base_fail_no_memory(error);
    for (int i = 0; i < WARM_UP; i++)
        took = fmin(took,
                    copy_once(self) * (self->pattern ? self->pattern->is_one_way ? BURST : 2 : 1));
    int count = took * MOST < seconds ? MOST : (int)(seconds / took);
    count = count < LEAST ? LEAST : count;
    (void)MPI_Bcast(&count, 1, MPI_INT, 0, self->group);
    for (int i = 0; i < count; i++) {
        const double time = copy_once(self);
        times[i] = !self->pattern || self->is_sender ? time : 0;
    }
    (void)MPI_Reduce(times, slowest, count, MPI_DOUBLE, MPI_MAX, 0, self->group);
    hl_base_sort_doubles(slowest, (size_t)count);
    *row = (hl_mpi_row){(size_t)count, slowest[0],
                        hl_base_quantile_sorted(slowest, (size_t)count, 0.5),
                        hl_base_quantile_sorted(slowest, (size_t)count, 0.9)};
    free(times);
    return HAUL_OK;
}

/* Its own peers, as ranks of the group, which has senders and receivers in this order. */
static int find_peers(const hl_mpi_pattern *pattern, int rank, int *peers, bool *is_sender,
                      int *place)
{
    const int senders = pattern->sender_count, each = pattern->each;
    for (int i = 0; i < senders; i++)
        if (pattern->senders[i] == rank) {
            for (int j = 0; j < each; j++)
                peers[j] = senders + i * each + j;
            *is_sender = true;
            *place = i;
            return each;
        }
    for (int i = 0; i < senders * each; i++)
        if (pattern->receivers[i] == rank) {
            *peers = i / each;
            *is_sender = false;
            *place = senders + i;
            return 1;
        }
    return 0;
}

/* Room for what is sent and received, in the pattern's memory. */
static haul_status make_room(part *self, haul_device *device, haul_buffer **buffer,
                             haul_error *error)
{
    const size_t count = (size_t)self->count + 1, bytes = self->pattern->bytes;
    self->requests = calloc(2 * count + BURST, sizeof(MPI_Request));
    if (self->pattern->memory == HAUL_MEMORY_DEVICE) {
        const haul_status status =
            haul_buffer_new(device, HAUL_BUFFER_DEVICE, count * bytes + 1, buffer, error);
        self->out = status ? NULL : haul_buffer_pointer(*buffer);
        if (status)
            return status;
        if (!self->out)
            return haul_error_set(error, HAUL_STATUS_ABSENT,
                                  "the device's memory has no address for an MPI");
    } else {
        self->out = calloc(count, bytes + 1);
    }
    if (!self->out || !self->requests)
        return hl_base_fail_no_memory(error);
    self->in = self->out + bytes;
    return HAUL_OK;
}

haul_status hl_mpi_measure(MPI_Comm world, haul_device *device, const hl_mpi_pattern *pattern,
                           hl_mpi_row *row, haul_error *error)
{
    part self = {.pattern = pattern};
    haul_buffer *buffer = NULL;
    haul_status status = HAUL_OK;
    int rank, place = 0;
    int *peers = calloc((size_t)pattern->each + 1, sizeof *peers);
    if (!peers)
        return hl_base_fail_no_memory(error);
    (void)MPI_Comm_rank(world, &rank);
    self.peers = peers;
    self.count = find_peers(pattern, rank, peers, &self.is_sender, &place);
    (void)MPI_Comm_split(world, self.count ? 0 : MPI_UNDEFINED, place, &self.group);
    if (self.count) {
        status = make_room(&self, device, &buffer, error);
        int worst = (int)status;
        (void)MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, self.group);
        if (!worst)
            status = repeat(&self, pattern->seconds, row, error);
        else if (!status)
            status = haul_error_set(error, (haul_status)worst, "another process could not measure");
        (void)MPI_Comm_free(&self.group);
    }
    sleep_until_all(world);
    if (!buffer)
        free(self.out);
    haul_buffer_free(buffer);
    free(self.requests);
    free(peers);
    return status;
}

static haul_status copy_part(part *self, const hl_mpi_copies *copies, hl_mpi_row *row,
                             haul_error *error)
{
    const uint64_t bytes = copies->bytes;
    haul_buffer *near = NULL, *far = NULL;
    haul_status status = haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, bytes, &far, error);
    if (!status)
        status = haul_buffer_new(self->device, HAUL_BUFFER_PINNED, bytes, &near, error);
    if (!status)
        status = haul_stream_new(self->device, &self->stream, error);
    if (!status) {
        const bool is_out = copies->direction == HAUL_DIRECTION_DTOH;
        self->copy = (haul_transfer){.to = haul_in_buffer(is_out ? near : far, 0),
                                     .from = haul_in_buffer(is_out ? far : near, 0),
                                     .size = {bytes}};
        status = repeat(self, copies->seconds, row, error);
        if (!status)
            status = haul_stream_wait(self->stream, error);
    }
    haul_stream_free(self->stream);
    haul_buffer_free(near);
    haul_buffer_free(far);
    return status;
}

haul_status hl_mpi_measure_copies(MPI_Comm world, haul_device *device, const hl_mpi_copies *copies,
                                  hl_mpi_row *row, haul_error *error)
{
    part self = {.device = device};
    haul_status status = HAUL_OK;
    int rank;
    (void)MPI_Comm_rank(world, &rank);
    (void)MPI_Comm_split(world, rank < copies->processes ? 0 : MPI_UNDEFINED, rank, &self.group);
    if (self.group != MPI_COMM_NULL) {
        status = copy_part(&self, copies, row, error);
        (void)MPI_Comm_free(&self.group);
    }
    sleep_until_all(world);
    return status;
}
