/* Exchanges of the cells at an array's edges, planned once and made often: boxes are packed,
 * started as messages, and unpacked when they are waited for. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* A box of the array and its packed copy, which one that lies in a row in host memory does not
 * need. */
typedef struct part {
    uint64_t offset;  /* of its first byte, in the array */
    uint64_t size[3]; /* bytes of a row, rows, planes */
    uint64_t packed;  /* its place in the staging memory */
    bool is_packed;
    bool is_send;
} part;

struct haul_halo {
    haul_comm *comm;
    haul_address array;
    uint64_t pitch[2]; /* bytes from row to row, from plane to plane */
    size_t count;
    part *parts;
    haul_process_message *messages;
    haul_buffer *buffer; /* of packed boxes of a device; those sent come before those received */
    hl_mpi_packer packers[2]; /* from and to the device */
    char *host;               /* of packed boxes of the host's memory */
    bool is_under_way;
};

static bool is_on_device(const haul_halo *self)
{
    return self->array.buffer && !haul_buffer_host(self->array.buffer);
}

static char *host_of(const haul_halo *self)
{
    return self->array.buffer ? (char *)haul_buffer_host(self->array.buffer) + self->array.offset
                              : self->array.host;
}

static uint64_t bytes_of(const part *of)
{
    return of->size[0] * of->size[1] * of->size[2];
}

/* --- the plan */

static haul_status fail_box(const haul_halo_message *message, haul_error *error)
{
    const haul_box *box = &message->box;
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "the box (%d, %d, %d) to (%d, %d, %d) of message %d %s owner %d is not "
                          "within the array",
                          box->lo[0], box->lo[1], box->lo[2], box->hi[0], box->hi[1], box->hi[2],
                          message->number, message->is_send ? "to" : "from", message->peer);
}

static haul_status make_part(haul_halo *self, const haul_halo_plan *plan,
                             const haul_halo_message *message, part *made, haul_error *error)
{
    const haul_comm *comm = self->comm;
    const int most_number = 16383; /* haul_process_message's */
    if (message->peer < 0 || message->peer >= comm->layout.owners)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no owner %d among %d", message->peer,
                              comm->layout.owners);
    if (message->number < 0 || message->number > most_number)
        return haul_error_set(error, HAUL_STATUS_USAGE, "expected a number of 0 to %d, not %d",
                              most_number, message->number);
    uint64_t cells[3];
    for (int d = 0; d < 3; d++) {
        const int size = d && !plan->size[d] ? 1 : plan->size[d], lo = message->box.lo[d];
        const int hi = d && !lo && !message->box.hi[d] ? 1 : message->box.hi[d];
        if (lo < 0 || hi <= lo || hi > size)
            return fail_box(message, error);
        cells[d] = (uint64_t)(hi - lo);
    }
    const uint64_t row = cells[0] * plan->cell_bytes;
    *made = (part){.offset = (uint64_t)message->box.lo[0] * plan->cell_bytes +
                             (uint64_t)message->box.lo[1] * self->pitch[0] +
                             (uint64_t)message->box.lo[2] * self->pitch[1],
                   .size = {row, cells[1], cells[2]},
                   .is_send = message->is_send};
    const bool is_row = (cells[1] == 1 || row == self->pitch[0]) &&
                        (cells[2] == 1 || row * cells[1] == self->pitch[1]);
    made->is_packed = is_on_device(self) || !is_row;
    return HAUL_OK;
}

static haul_status check_array(const haul_halo *self, const haul_halo_plan *plan, haul_error *error)
{
    enum { MOST = 256 }; /* haul_processes.start takes no more */
    if (self->comm->owner < 0)
        return haul_error_set(error, HAUL_STATUS_USAGE, "a helper has no array to exchange");
    if (!plan->cell_bytes || plan->size[0] <= 0 || plan->size[1] < 0 || plan->size[2] < 0)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the array of a halo has no cells");
    if (plan->count > MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "%zu messages at once are too many, not %d",
                              plan->count, MOST);
    const haul_buffer *buffer = plan->array.buffer;
    if (!buffer && !plan->array.host)
        return haul_error_set(error, HAUL_STATUS_USAGE, "a halo without an array");
    const uint64_t bytes = buffer ? haul_buffer_bytes(buffer) : UINT64_MAX;
    uint64_t room =
        plan->array.offset < bytes ? (bytes - plan->array.offset) / plan->cell_bytes : 0;
    for (int d = 0; d < 3; d++)
        room /= plan->size[d] ? (uint64_t)plan->size[d] : 1;
    if (!room)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the array of a halo leaves its buffer");
    if (is_on_device(self) && !self->comm->device)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "the haul_comm knows no device: haul_comm_options.device");
    return HAUL_OK;
}

/* Where MPI finds packed boxes: memory of the device if it takes that, of the host if not. */
static haul_status take_staging(haul_halo *self, uint64_t bytes, char **at, haul_error *error)
{
    haul_comm *comm = self->comm;
    if (!is_on_device(self)) {
        self->host = malloc(bytes + 1);
        *at = self->host;
        return self->host ? HAUL_OK : hl_base_fail_no_memory(error);
    }
    const haul_buffer_kind kind = comm->is_device_aware ? HAUL_BUFFER_DEVICE : HAUL_BUFFER_PINNED;
    HAUL_TRY(haul_buffer_new(comm->device, kind, bytes + 1, &self->buffer, error));
    *at =
        comm->is_device_aware ? haul_buffer_pointer(self->buffer) : haul_buffer_host(self->buffer);
    return *at ? HAUL_OK
               : haul_error_set(error, HAUL_STATUS_ABSENT, "the device tells no pointer for MPI");
}

/* Messages between the same two arrive in the order in which they are started: that of their
 * numbers, on both sides. */
static int compare_messages(const void *a, const void *b)
{
    const haul_halo_message *one = a, *two = b;
    if (one->peer != two->peer)
        return one->peer < two->peer ? -1 : 1;
    if (one->is_send != two->is_send)
        return one->is_send ? -1 : 1;
    return hl_base_compare_signed(one->number, two->number);
}

/* Parts of one direction lie behind each other from `bytes` on. Returns their end, where all units
 * of packing may begin. */
static uint64_t place_parts(haul_halo *self, bool is_send, uint64_t bytes)
{
    const uint64_t whole = 256;
    for (size_t i = 0; i < self->count; i++) {
        part *of = &self->parts[i];
        if (!of->is_packed || of->is_send != is_send)
            continue;
        of->packed = bytes;
        bytes += bytes_of(of);
    }
    return (bytes + whole - 1) / whole * whole;
}

/* A device's boxes, which are the same in each exchange. What is received begins at `first`. */
static haul_status list_boxes(haul_halo *self, uint64_t first, haul_error *error)
{
    const bool is_aware = self->comm->is_device_aware;
    char *staging = is_aware ? haul_buffer_pointer(self->buffer) : haul_buffer_host(self->buffer);
    for (int i = 0; i < 2; i++) {
        hl_mpi_pack_begin(&self->packers[i], self->array, false);
        self->packers[i].packed = is_aware ? self->buffer : NULL;
        self->packers[i].packed_at = is_aware && i ? first : 0;
    }
    for (size_t i = 0; i < self->count; i++) {
        const part *of = &self->parts[i];
        const hl_mpi_rows rows = {.offset = (int64_t)of->offset,
                                  .row = of->size[0],
                                  .count = of->size[1],
                                  .pitch = (int64_t)self->pitch[0],
                                  .host = staging + of->packed,
                                  .host_pitch = (int64_t)of->size[0],
                                  .planes = of->size[2],
                                  .plane_pitch = (int64_t)self->pitch[1]};
        HAUL_TRY(hl_mpi_pack_add(&self->packers[!of->is_send], &rows, error));
    }
    return HAUL_OK;
}

static haul_status make_messages(haul_halo *self, const haul_halo_plan *plan,
                                 const haul_halo_message *sorted, haul_error *error)
{
    char *staging = NULL;
    for (size_t i = 0; i < plan->count; i++) {
        part *made = &self->parts[i];
        if (i && !compare_messages(&sorted[i - 1], &sorted[i]))
            return haul_error_set(
                error, HAUL_STATUS_USAGE, "two messages %s owner %d have the number %d",
                sorted[i].is_send ? "to" : "from", sorted[i].peer, sorted[i].number);
        HAUL_TRY(make_part(self, plan, &sorted[i], made, error));
    }
    const uint64_t first = place_parts(self, true, 0), bytes = place_parts(self, false, first);
    if (bytes)
        HAUL_TRY(take_staging(self, bytes, &staging, error));
    if (self->buffer)
        HAUL_TRY(list_boxes(self, first, error));
    for (size_t i = 0; i < plan->count; i++) {
        const part *of = &self->parts[i];
        self->messages[i] = (haul_process_message){
            .peer = sorted[i].peer,
            .label = sorted[i].number,
            .is_send = of->is_send,
            .cells = of->is_packed ? staging + of->packed : host_of(self) + of->offset,
            .bytes = bytes_of(of)};
    }
    return HAUL_OK;
}

static haul_status plan_halo(haul_halo *self, const haul_halo_plan *plan, haul_error *error)
{
    haul_halo_message *sorted = malloc((plan->count + 1) * sizeof *sorted);
    self->parts = calloc(plan->count + 1, sizeof *self->parts);
    self->messages = calloc(plan->count + 1, sizeof *self->messages);
    haul_status status = hl_base_fail_no_memory(error);
    if (sorted && self->parts && self->messages) {
        memcpy(sorted, plan->messages, plan->count * sizeof *sorted);
        qsort(sorted, plan->count, sizeof *sorted, compare_messages);
        status = make_messages(self, plan, sorted, error);
    }
    free(sorted);
    return status;
}

haul_status haul_halo_new(haul_comm *comm, const haul_halo_plan *plan, haul_halo **halo,
                          haul_error *error)
{
    haul_halo *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    const uint64_t row = (uint64_t)(plan->size[0] > 0 ? plan->size[0] : 0) * plan->cell_bytes;
    const uint64_t rows = plan->size[1] > 0 ? (uint64_t)plan->size[1] : 1;
    *self = (haul_halo){
        .comm = comm, .array = plan->array, .pitch = {row, row * rows}, .count = plan->count};
    haul_status status = check_array(self, plan, error);
    if (!status)
        status = plan_halo(self, plan, error);
    if (status)
        haul_halo_free(self);
    else
        *halo = self;
    return status;
}

void haul_halo_free(haul_halo *halo)
{
    if (!halo)
        return;
    haul_error error;
    if (halo->is_under_way) /* MPI still has the memory */
        (void)halo->comm->processes.finish(halo->comm->processes.of, &error);
    haul_buffer_free(halo->buffer);
    for (int i = 0; i < 2; i++)
        hl_mpi_packer_free(&halo->packers[i]);
    free(halo->host);
    free(halo->messages);
    free(halo->parts);
    free(halo);
}

/* --- an exchange */

static void move_on_host(const haul_halo *self, const part *of)
{
    char *at = self->host + of->packed;
    for (uint64_t i = 0; i < of->size[1] * of->size[2]; i++, at += of->size[0]) {
        char *row = host_of(self) + of->offset + i / of->size[1] * self->pitch[1] +
                    i % of->size[1] * self->pitch[0];
        memcpy(of->is_send ? at : row, of->is_send ? row : at, of->size[0]);
    }
}

/* Packs what is sent, or unpacks what has come. */
static haul_status move_parts(haul_halo *self, bool is_send, haul_error *error)
{
    haul_comm *comm = self->comm;
    for (size_t i = 0; i < self->count && !self->buffer; i++)
        if (self->parts[i].is_packed && self->parts[i].is_send == is_send)
            move_on_host(self, &self->parts[i]);
    if (!self->buffer)
        return HAUL_OK;
    const int64_t since = haul_device_now(comm->device);
    HAUL_TRY(hl_mpi_pack_queue(comm, &self->packers[!is_send], !is_send, error));
    HAUL_TRY(haul_stream_wait(comm->streams[!is_send], error));
    hl_mpi_pace_keep(comm, since);
    return HAUL_OK;
}

/* An exchange that failed is over, and the other processes are told. */
static haul_status end_exchange(haul_halo *halo, haul_status status, const haul_error *why,
                                haul_error *error)
{
    const haul_processes *processes = &halo->comm->processes;
    if (!status)
        return HAUL_OK;
    halo->is_under_way = false;
    processes->tell(processes->of, why);
    if (error)
        *error = *why;
    return status;
}

haul_status haul_halo_start(haul_halo *halo, haul_error *error)
{
    const haul_processes *processes = haul_comm_processes(halo->comm);
    if (!processes)
        return hl_base_fail_no_memory(error);
    if (halo->is_under_way)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the exchange is under way");
    haul_error why = {0};
    haul_status status = move_parts(halo, true, &why);
    if (!status)
        status = processes->start(processes->of, halo->messages, (int)halo->count, &why);
    halo->is_under_way = !status;
    return end_exchange(halo, status, &why, error);
}

haul_status haul_halo_advance(haul_halo *halo, haul_error *error)
{
    const haul_processes *processes = &halo->comm->processes;
    haul_error why = {0};
    const haul_status status =
        halo->is_under_way ? processes->advance(processes->of, &why) : HAUL_OK;
    return end_exchange(halo, status, &why, error);
}

haul_status haul_halo_finish(haul_halo *halo, haul_error *error)
{
    const haul_processes *processes = &halo->comm->processes;
    if (!halo->is_under_way)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no exchange is under way");
    halo->is_under_way = false;
    haul_error why = {0};
    haul_status status = processes->finish(processes->of, &why);
    if (!status)
        status = move_parts(halo, false, &why);
    return end_exchange(halo, status, &why, error);
}
