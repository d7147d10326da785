/* Messages between the threads of a team. The receiver's host or device copies from the sender's
 * memory; the sender waits until it has. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/sim_device.h"
#include "tile/tile_team.h"

/* LETTERS: messages at once, as haul/tile.h has it. LABEL: of gathered results, no array's. */
enum { LETTERS = 256, LABEL = 16384 };

typedef struct letter {
    hl_tile_parcel parcel;
    uint64_t bytes;
    int64_t sent_ns; /* by the simulated clock */
    int label;
} letter;

/* Messages from one to another, in order. */
typedef struct letters {
    letter of[LETTERS];
    unsigned sent;
    unsigned seen;    /* by the receiver, which may be copying them */
    unsigned taken;   /* of these: their memory is the sender's again */
    int64_t taken_ns; /* the last one */
} letters;

typedef struct wire_end {
    hl_tile_wire *wire;
    haul_processes processes;
    haul_device *device; /* NULL: no simulated one */
    bool is_empty;       /* without data */
    haul_process_message expected[LETTERS];
    int expected_count;
    haul_buffer *lent[LETTERS]; /* memory of the next messages that is page-locked */
    int lent_count;
} wire_end;

struct hl_tile_wire {
    pthread_mutex_t lock;
    pthread_cond_t progress;
    haul_error failure;
    int count;
    wire_end *ends;
    letters *boxes; /* from one to another, by from * count + to */
};

static letters *box_of(hl_tile_wire *wire, int from, int to)
{
    return &wire->boxes[from * wire->count + to];
}

static haul_status failure_of(const hl_tile_wire *wire, haul_error *error)
{
    if (wire->failure.status && error)
        *error = wire->failure;
    return wire->failure.status;
}

static void tell_all(void *of, const haul_error *error)
{
    hl_tile_wire *wire = ((wire_end *)of)->wire;
    pthread_mutex_lock(&wire->lock);
    if (!wire->failure.status)
        wire->failure = *error;
    pthread_cond_broadcast(&wire->progress);
    pthread_mutex_unlock(&wire->lock);
}

void hl_tile_wire_lend(const haul_processes *processes, haul_buffer *pinned)
{
    wire_end *self = processes->of;
    if (pinned && self->lent_count < LETTERS)
        self->lent[self->lent_count++] = pinned;
}

static hl_tile_parcel parcel_of(const wire_end *self, const void *cells)
{
    hl_tile_parcel parcel = {.cells = cells};
    for (int i = 0; i < self->lent_count; i++) {
        const uint64_t at = (uintptr_t)cells - (uintptr_t)haul_buffer_host(self->lent[i]);
        if (at < haul_buffer_bytes(self->lent[i])) { /* below it the difference wraps */
            parcel.pinned = self->lent[i];
            parcel.offset = at;
        }
    }
    return parcel;
}

static haul_status start(void *of, const haul_process_message *messages, int count,
                         haul_error *error)
{
    wire_end *self = of;
    hl_tile_wire *wire = self->wire;
    const int64_t now_ns = self->device ? haul_device_now(self->device) : 0;
    if (count > LETTERS)
        return haul_error_set(error, HAUL_STATUS_USAGE, "%d messages at once are too many", count);
    pthread_mutex_lock(&wire->lock);
    const haul_status status = failure_of(wire, error);
    self->expected_count = 0;
    for (int i = 0; i < count && !status; i++) {
        const haul_process_message *message = &messages[i];
        letters *box = box_of(wire, self->processes.rank, message->peer);
        if (message->is_send)
            box->of[box->sent++ % LETTERS] = (letter){.parcel = parcel_of(self, message->cells),
                                                      .bytes = message->bytes,
                                                      .sent_ns = now_ns,
                                                      .label = message->label};
        else
            self->expected[self->expected_count++] = *message;
    }
    self->lent_count = 0;
    pthread_cond_broadcast(&wire->progress);
    pthread_mutex_unlock(&wire->lock);
    return status;
}

/* Messages need no help to arrive. */
static haul_status advance(void *of, haul_error *error)
{
    hl_tile_wire *wire = ((wire_end *)of)->wire;
    pthread_mutex_lock(&wire->lock);
    const haul_status status = failure_of(wire, error);
    pthread_mutex_unlock(&wire->lock);
    return status;
}

/* Needs: the lock. */
static haul_status see_letter(wire_end *self, const haul_process_message *message,
                              hl_tile_parcel *parcel, haul_error *error)
{
    hl_tile_wire *wire = self->wire;
    letters *box = box_of(wire, message->peer, self->processes.rank);
    while (!wire->failure.status && box->sent == box->seen)
        pthread_cond_wait(&wire->progress, &wire->lock);
    HAUL_TRY(failure_of(wire, error));
    const letter *from = &box->of[box->seen % LETTERS];
    *parcel = from->parcel;
    if (from->label != message->label || from->bytes != message->bytes)
        return haul_error_set(error, HAUL_STATUS_INTERNAL,
                              "device %d expects cells of array %d, device %d sends those of %d",
                              self->processes.rank, message->label, message->peer, from->label);
    box->seen++;
    if (self->device) /* what follows is behind what was sent */
        hl_device_sim_host_until(self->device, from->sent_ns);
    return HAUL_OK;
}

bool hl_tile_wire_has(const haul_processes *processes, int peer)
{
    const wire_end *self = processes->of;
    const letters *box = box_of(self->wire, peer, self->processes.rank);
    pthread_mutex_lock(&self->wire->lock);
    const bool is_there = box->sent != box->seen;
    pthread_mutex_unlock(&self->wire->lock);
    return is_there;
}

haul_status hl_tile_wire_see(const haul_processes *processes, const haul_process_message *message,
                             hl_tile_parcel *parcel, haul_error *error)
{
    wire_end *self = processes->of;
    pthread_mutex_lock(&self->wire->lock);
    const haul_status status = see_letter(self, message, parcel, error);
    pthread_mutex_unlock(&self->wire->lock);
    return status;
}

/* Cells that are the same memory at both ends are there already. Devices without data have
 * addresses alone. */
void hl_tile_wire_copy(const haul_processes *processes, const haul_process_message *message,
                       const hl_tile_parcel *parcel)
{
    const wire_end *self = processes->of;
    if (message->cells == parcel->cells)
        return;
    if (!self->is_empty)
        memcpy(message->cells, parcel->cells, message->bytes);
    if (self->device)
        hl_device_sim_host_copies(self->device, message->bytes);
}

void hl_tile_wire_give_back(const haul_processes *processes)
{
    const wire_end *self = processes->of;
    hl_tile_wire *wire = self->wire;
    pthread_mutex_lock(&wire->lock);
    for (int from = 0; from < wire->count; from++) {
        letters *box = box_of(wire, from, self->processes.rank);
        if (box->taken == box->seen)
            continue;
        box->taken = box->seen;
        box->taken_ns = self->device ? haul_device_now(self->device) : 0;
    }
    pthread_cond_broadcast(&wire->progress);
    pthread_mutex_unlock(&wire->lock);
}

haul_status hl_tile_wire_settle(const haul_processes *processes, haul_error *error)
{
    const wire_end *self = processes->of;
    hl_tile_wire *wire = self->wire;
    hl_tile_wire_give_back(processes);
    pthread_mutex_lock(&wire->lock);
    /* until the others have this one's messages, or, after a failure, do not look at them any more
     */
    for (int to = 0; to < wire->count; to++) {
        const letters *box = box_of(wire, self->processes.rank, to);
        while (box->seen != box->taken || (box->sent != box->taken && !wire->failure.status))
            pthread_cond_wait(&wire->progress, &wire->lock);
        if (self->device && box->sent)
            hl_device_sim_host_until(self->device, box->taken_ns);
    }
    const haul_status status = failure_of(wire, error);
    pthread_mutex_unlock(&wire->lock);
    return status;
}

static haul_status finish(void *of, haul_error *error)
{
    wire_end *self = of;
    haul_status status = HAUL_OK;
    for (int i = 0; i < self->expected_count && !status; i++) {
        hl_tile_parcel parcel;
        status = hl_tile_wire_see(&self->processes, &self->expected[i], &parcel, error);
        if (status)
            break;
        hl_tile_wire_copy(&self->processes, &self->expected[i], &parcel);
        hl_tile_wire_give_back(&self->processes);
    }
    self->expected_count = 0;
    if (status && error)
        tell_all(of, error);
    const haul_status last = hl_tile_wire_settle(&self->processes, status ? NULL : error);
    return status ? status : last;
}

static haul_status gather(void *of, const void *own, size_t bytes, void *all, haul_error *error)
{
    const haul_processes *self = &((const wire_end *)of)->processes;
    haul_process_message messages[LETTERS];
    int count = 0;
    for (int rank = 0; rank < self->count; rank++) {
        char *at = (char *)all + (size_t)rank * bytes;
        if (rank == self->rank) {
            if (!((const wire_end *)of)->is_empty)
                memcpy(at, own, bytes);
            continue;
        }
        messages[count++] = (haul_process_message){rank, LABEL, true, (void *)own, bytes};
        messages[count++] = (haul_process_message){rank, LABEL, false, at, bytes};
    }
    HAUL_TRY(start(of, messages, count, error));
    return finish(of, error);
}

haul_status hl_tile_wire_new(int count, hl_tile_wire **wire, haul_error *error)
{
    hl_tile_wire *self = calloc(1, sizeof *self);
    if (self) {
        self->count = count;
        self->ends = calloc((size_t)count, sizeof *self->ends);
        self->boxes = calloc((size_t)count * (size_t)count, sizeof *self->boxes);
    }
    if (!self || !self->ends || !self->boxes) {
        free(self ? self->ends : NULL);
        free(self ? self->boxes : NULL);
        free(self);
        return hl_base_fail_no_memory(error);
    }
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->progress, NULL);
    for (int i = 0; i < count; i++)
        self->ends[i] = (wire_end){.wire = self,
                                   .processes = {.of = &self->ends[i],
                                                 .rank = i,
                                                 .count = count,
                                                 .start = start,
                                                 .advance = advance,
                                                 .finish = finish,
                                                 .gather = gather,
                                                 .tell = tell_all}};
    *wire = self;
    return HAUL_OK;
}

void hl_tile_wire_free(hl_tile_wire *wire)
{
    if (!wire)
        return;
    pthread_mutex_destroy(&wire->lock);
    pthread_cond_destroy(&wire->progress);
    free(wire->ends);
    free(wire->boxes);
    free(wire);
}

const haul_processes *hl_tile_wire_end(hl_tile_wire *wire, int rank)
{
    return &wire->ends[rank].processes;
}

void hl_tile_wire_set_device(hl_tile_wire *wire, int rank, haul_device *device, bool has_data)
{
    wire->ends[rank].device = haul_device_describe(device)->is_simulated ? device : NULL;
    wire->ends[rank].is_empty = !has_data;
}

haul_status hl_tile_wire_clear(hl_tile_wire *wire, haul_error *error)
{
    const haul_status status = failure_of(wire, error);
    for (int i = 0; i < wire->count * wire->count && status; i++)
        wire->boxes[i].sent = wire->boxes[i].seen = wire->boxes[i].taken = 0;
    wire->failure.status = HAUL_OK;
    return status;
}

void hl_tile_wire_join_clocks(hl_tile_wire *wire)
{
    int64_t last_ns = INT64_MIN;
    for (int i = 0; i < wire->count; i++)
        if (wire->ends[i].device && haul_device_now(wire->ends[i].device) > last_ns)
            last_ns = haul_device_now(wire->ends[i].device);
    for (int i = 0; i < wire->count; i++)
        if (wire->ends[i].device)
            hl_device_sim_host_until(wire->ends[i].device, last_ns);
}
