/* The communicators and requests of a recorded process, and the record of each call.
 */
#include "mpi/mpi_record.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "record/handle_map.h"
#include "record/process_mark.h"
#include "record/record_session.h"

enum {
    CLOCK_TRIES = 16, /* of which the shortest way there and back counts */
    CLOCK_TAG = 1,
};

/* A communicator as all its processes name it. */
typedef struct known_comm {
    uint32_t number;
    int size;
    int *world_ranks; /* of its processes */
} known_comm;

/* A request, by its handle. One that can be started again stays. */
typedef struct known_request {
    hl_record post; /* of a receive: put when it is known who sent */
    MPI_Comm comm;
    uint32_t next_free; /* number of another, from 1 */
    bool is_lasting, is_active, is_receive;
} known_request;

/* One process, one recording. */
static struct {
    hl_record_profile_writer *writer;
    atomic_bool alive;
    hl_record_process_mark mark;
    uint32_t names[HL_MPI_NAME_COUNT];
    int rank;
    int key; /* of the attribute that has a known_comm */
    MPI_Group world;
    MPI_Comm for_clocks;
    int64_t shift_ns[2], error_ns[2]; /* to the first process's clock, at the start and the end */
    int compared;
    pthread_mutex_t lock;          /* of what follows */
    hl_record_handle_map requests; /* numbers of slots, from 1; 0: none any more */
    known_request *slots;
    size_t slot_capacity;
    uint32_t slot_count, free_slot, request_number;
    struct {
        uint32_t hash, made;
    } * groups; /* of processes: how many communicators each has had */
    size_t group_count, group_capacity;
} self = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID};

static _Thread_local struct {
    uint32_t id;
    unsigned depth; /* calls of MPI that an MPI makes itself are its own */
    MPI_Comm comm;  /* its last one, for an MPI looks for attributes under a lock */
    const known_comm *known;
    unsigned long freed; /* as of `freed` when that was found */
} thread;

/* A communicator that is freed may come again as another, so that all threads forget theirs. */
static atomic_ulong freed;

/* --- calls */

hl_mpi_call hl_mpi_record_begin(hl_mpi_name name)
{
    const bool is_on = atomic_load_explicit(&self.alive, memory_order_acquire) && !thread.depth &&
                       hl_record_process_mark_is_own(&self.mark);
    if (!is_on)
        return (hl_mpi_call){0, name};
    if (!thread.id)
        thread.id = hl_record_profile_thread();
    thread.depth++;
    return (hl_mpi_call){hl_record_profile_now(), name};
}

static hl_record record_of(const hl_mpi_call *call, hl_record_kind kind)
{
    return (hl_record){
        .kind = kind,
        .start_ns = call->start_ns,
        .end_ns = hl_record_profile_now(),
        .mpi = {
            .name = self.names[call->name], .thread = thread.id, .rank = self.rank, .peer = -1}};
}

static void put(const hl_record *record)
{
    (void)hl_record_profile_put(self.writer, record, 1);
}

static bool ends(const hl_mpi_call *call)
{
    thread.depth -= call->start_ns != 0;
    return call->start_ns != 0;
}

void hl_mpi_record_end(const hl_mpi_call *call)
{
    if (!ends(call))
        return;
    const hl_record record = record_of(call, HL_RECORD_MPI_OTHER);
    put(&record);
}

/* --- communicators */

static int forget_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    known_comm *const of = value;
    freed++;
    free(of->world_ranks);
    free(of);
    return MPI_SUCCESS;
}

/* How many communicators of these processes there were: they are made in one order on all. */
static uint32_t count_made(uint32_t hash)
{
    size_t i = 0;
    while (i < self.group_count && self.groups[i].hash != hash)
        i++;
    if (i == self.group_count) {
        if (!hl_base_grow(&self.groups, &self.group_capacity, i + 1, sizeof *self.groups))
            return 0;
        self.groups[self.group_count].hash = hash;
        self.groups[self.group_count++].made = 0;
    }
    return self.groups[i].made++;
}

/* FNV-1a: the same number of the same processes everywhere. */
static uint32_t mixed(uint32_t hash, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        hash = (hash ^ (value >> 8 * i & 0xff)) * UINT32_C(16777619);
    return hash;
}

static bool find_ranks(known_comm *of, MPI_Comm comm)
{
    MPI_Group group;
    int *const own = malloc((size_t)of->size * sizeof *own);
    of->world_ranks = malloc((size_t)of->size * sizeof *of->world_ranks);
    bool is_found = own && of->world_ranks && !PMPI_Comm_group(comm, &group);
    for (int i = 0; is_found && i < of->size; i++)
        own[i] = i;
    if (is_found) {
        is_found = !PMPI_Group_translate_ranks(group, of->size, own, self.world, of->world_ranks);
        (void)PMPI_Group_free(&group);
    }
    free(own);
    return is_found;
}

/* Calls through an intercommunicator are recorded, and matched with none: its peers are others. */
static known_comm *make_comm(MPI_Comm comm)
{
    int is_inter = 0;
    known_comm *const made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    (void)PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter || PMPI_Comm_size(comm, &made->size) || !find_ranks(made, comm))
        made->size = 0;
    uint32_t hash = UINT32_C(2166136261);
    for (int i = 0; i < made->size; i++)
        hash = mixed(hash, (uint32_t)made->world_ranks[i]);
    pthread_mutex_lock(&self.lock);
    made->number = mixed(hash, count_made(hash)) & INT32_MAX;
    pthread_mutex_unlock(&self.lock);
    (void)PMPI_Comm_set_attr(comm, self.key, made);
    return made;
}

static const known_comm *comm_of(MPI_Comm comm)
{
    if (thread.known && thread.comm == comm && thread.freed == freed)
        return thread.known;
    known_comm *of = NULL;
    int is_there = 0;
    const bool is_told = !PMPI_Comm_get_attr(comm, self.key, (void *)&of, &is_there);
    thread.known = is_told && !is_there ? make_comm(comm) : of;
    thread.comm = comm;
    thread.freed = freed;
    return thread.known;
}

void hl_mpi_record_comm(MPI_Comm comm)
{
    if (atomic_load(&self.alive) && comm != MPI_COMM_NULL)
        (void)comm_of(comm);
}

/* --- bytes */

uint64_t hl_mpi_record_bytes(int64_t count, MPI_Datatype type)
{
    int size = 0;
    if (type == MPI_DATATYPE_NULL || count <= 0 || PMPI_Type_size(type, &size) || size < 0)
        return 0;
    return (uint64_t)size * (uint64_t)count;
}

uint64_t hl_mpi_record_sum(const int *counts, MPI_Datatype type, MPI_Comm comm)
{
    const known_comm *const of = counts ? comm_of(comm) : NULL;
    int64_t sum = 0;
    for (int i = 0; of && i < of->size; i++)
        sum += counts[i];
    return hl_mpi_record_bytes(sum, type);
}

/* --- calls about somebody */

static bool is_message(hl_record_mpi_way way)
{
    return way == HL_RECORD_MPI_SENDS || way == HL_RECORD_MPI_RECEIVES;
}

static void set_target(hl_record *record, const hl_mpi_target *target)
{
    const known_comm *const comm = comm_of(target->comm);
    record->kind = is_message(target->way) ? HL_RECORD_MPI_MESSAGE : HL_RECORD_MPI_COLLECTIVE;
    record->mpi.comm = comm ? comm->number : 0;
    record->mpi.comm_size = comm ? (uint32_t)comm->size : 0;
    const bool is_known = comm && target->peer >= 0 && target->peer < comm->size;
    record->mpi.peer = is_known ? comm->world_ranks[target->peer] : -1;
    record->mpi.tag = target->tag;
    record->mpi.bytes = target->bytes;
    record->mpi.way = target->way;
    /* MPI_PROC_NULL, and processes that were spawned */
    if (is_message(target->way) && record->mpi.peer < 0)
        record->kind = HL_RECORD_MPI_OTHER;
}

void hl_mpi_record_blocking(const hl_mpi_call *call, const hl_mpi_target *target)
{
    if (!ends(call))
        return;
    hl_record record = record_of(call, HL_RECORD_MPI_MESSAGE);
    set_target(&record, target);
    put(&record);
}

void hl_mpi_record_sends(const hl_mpi_call *call, const hl_mpi_target *target)
{
    hl_record record = record_of(call, HL_RECORD_MPI_MESSAGE);
    record.end_ns = call->start_ns;
    if (!call->start_ns)
        return;
    set_target(&record, target);
    if (record.kind == HL_RECORD_MPI_MESSAGE)
        put(&record);
}

static hl_mpi_target sender_of(MPI_Comm comm, const MPI_Status *status)
{
    int bytes = 0;
    if (PMPI_Get_count(status, MPI_BYTE, &bytes) || bytes < 0)
        bytes = 0;
    return (hl_mpi_target){.comm = comm,
                           .peer = status->MPI_SOURCE,
                           .tag = status->MPI_TAG,
                           .way = HL_RECORD_MPI_RECEIVES,
                           .bytes = (uint64_t)bytes};
}

void hl_mpi_record_received(const hl_mpi_call *call, MPI_Comm comm, const MPI_Status *status)
{
    const hl_mpi_target target = sender_of(comm, status);
    hl_mpi_record_blocking(call, &target);
}

/* --- requests */

static const void *handle_of(MPI_Request request)
{
    // NOLINTNEXTLINE(performance-no-int-to-ptr): MPICH's are numbers
    return (const void *)(uintptr_t)request;
}

/* With the lock held. NULL where there is none. */
static known_request *find_slot(MPI_Request request, uint64_t *number)
{
    if (request == MPI_REQUEST_NULL ||
        !hl_record_handle_map_get(&self.requests, handle_of(request), number) || !*number)
        return NULL;
    return &self.slots[*number - 1];
}

/* With the lock held. */
static void free_slot(MPI_Request request, uint64_t number)
{
    hl_record_handle_map_set(&self.requests, handle_of(request), 0);
    self.slots[number - 1].next_free = self.free_slot;
    self.free_slot = (uint32_t)number;
}

/* With the lock held; NULL without memory: the request is not known then. */
static known_request *new_slot(MPI_Request request)
{
    uint32_t number = self.free_slot;
    if (number)
        self.free_slot = self.slots[number - 1].next_free;
    else if (hl_base_grow(&self.slots, &self.slot_capacity, self.slot_count + 1,
                          sizeof *self.slots))
        number = ++self.slot_count;
    if (!number)
        return NULL;
    hl_record_handle_map_set(&self.requests, handle_of(request), number);
    known_request *const made = &self.slots[number - 1];
    memset(made, 0, sizeof *made);
    return made;
}

/* With the lock held. */
static void activate(known_request *slot, hl_record *record)
{
    self.request_number += self.request_number + 1 ? 1 : 2;
    record->mpi.request = self.request_number;
    slot->post = *record;
    slot->is_active = true;
}

void hl_mpi_record_posted(const hl_mpi_call *call, const hl_mpi_target *target, MPI_Request request)
{
    if (!ends(call))
        return;
    hl_record record = record_of(call, HL_RECORD_MPI_MESSAGE);
    set_target(&record, target);
    const bool is_receive = target->way == HL_RECORD_MPI_RECEIVES;
    pthread_mutex_lock(&self.lock);
    known_request *const slot = request == MPI_REQUEST_NULL ? NULL : new_slot(request);
    if (slot) {
        slot->comm = target->comm;
        slot->is_receive = is_receive;
        activate(slot, &record);
    }
    pthread_mutex_unlock(&self.lock);
    if (!is_receive || !slot)
        put(&record);
}

void hl_mpi_record_made(const hl_mpi_target *target, MPI_Request request)
{
    if (!atomic_load(&self.alive) || request == MPI_REQUEST_NULL)
        return;
    hl_record record = {.mpi = {.rank = self.rank}};
    set_target(&record, target);
    pthread_mutex_lock(&self.lock);
    known_request *const slot = new_slot(request);
    if (slot) {
        slot->post = record;
        slot->comm = target->comm;
        slot->is_lasting = true;
        slot->is_receive = target->way == HL_RECORD_MPI_RECEIVES;
    }
    pthread_mutex_unlock(&self.lock);
}

void hl_mpi_record_started(const hl_mpi_call *call, int count, const MPI_Request *requests)
{
    if (!ends(call))
        return;
    const hl_record like = record_of(call, HL_RECORD_MPI_OTHER);
    bool is_told = false;
    for (int i = 0; i < count; i++) {
        uint64_t number;
        pthread_mutex_lock(&self.lock);
        known_request *const slot = find_slot(requests[i], &number);
        hl_record record = slot ? slot->post : like;
        record.start_ns = is_told || !slot || slot->is_receive ? like.end_ns : like.start_ns;
        record.end_ns = like.end_ns;
        record.mpi.name = like.mpi.name;
        record.mpi.thread = like.mpi.thread;
        if (slot)
            activate(slot, &record);
        const bool is_send = slot && !slot->is_receive;
        pthread_mutex_unlock(&self.lock);
        if (is_send)
            put(&record);
        is_told |= is_send;
    }
    if (!is_told)
        put(&like);
}

void hl_mpi_record_freed(MPI_Request request)
{
    uint64_t number;
    if (!atomic_load(&self.alive))
        return;
    pthread_mutex_lock(&self.lock);
    if (find_slot(request, &number))
        free_slot(request, number);
    pthread_mutex_unlock(&self.lock);
}

/* --- completions */

/* MPICH's two names for it are of one value. */
static bool is_ignored(const MPI_Status *statuses)
{
    // NOLINTNEXTLINE(misc-redundant-expression): of another MPI they differ
    return statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE;
}

void hl_mpi_record_complete_begin(hl_mpi_completion *of, hl_mpi_name name, int count,
                                  const MPI_Request *requests, MPI_Status *statuses)
{
    enum { FEW = sizeof of->few_statuses / sizeof *of->few_statuses };
    const size_t some = count > 0 ? (size_t)count : 0;
    const bool are_few = some <= FEW;
    of->call = hl_mpi_record_begin(name);
    of->count = count;
    of->statuses = statuses;
    of->requests = NULL;
    of->has_own_statuses = false;
    if (!of->call.start_ns || !some)
        return;
    of->requests = are_few ? of->few_requests : malloc(some * sizeof(MPI_Request));
    for (size_t i = 0; of->requests && i < some; i++)
        of->requests[i] = requests[i];
    if (!is_ignored(statuses))
        return;
    MPI_Status *const own = are_few ? of->few_statuses : malloc(some * sizeof *own);
    of->has_own_statuses = own && !are_few;
    of->statuses = own ? own : statuses;
}

/* Takes the request's record, and where it was a receive tells who sent. */
static uint32_t complete_one(MPI_Request request, const MPI_Status *status)
{
    uint64_t number;
    pthread_mutex_lock(&self.lock);
    known_request *const slot = find_slot(request, &number);
    known_request was = {.is_active = false};
    if (slot) {
        was = *slot;
        slot->is_active = false;
        if (!slot->is_lasting)
            free_slot(request, number);
    }
    pthread_mutex_unlock(&self.lock);
    if (!was.is_active)
        return 0;
    if (was.is_receive && status && status->MPI_SOURCE >= 0) {
        const hl_mpi_target sender = sender_of(was.comm, status);
        set_target(&was.post, &sender);
        put(&was.post);
    }
    return was.post.mpi.request;
}

void hl_mpi_record_complete_end(hl_mpi_completion *of, int done, const int *which)
{
    if (ends(&of->call)) {
        hl_record record = record_of(&of->call, HL_RECORD_MPI_WAIT);
        bool is_told = false;
        /* of a call that failed `done` may be anything */
        for (int i = 0; of->requests && i < done && i < of->count; i++) {
            const int at = which ? which[i] : i;
            const bool has_status = !is_ignored(of->statuses);
            const bool is_there = at >= 0 && at < of->count;
            record.mpi.request =
                is_there ? complete_one(of->requests[at], has_status ? &of->statuses[i] : NULL) : 0;
            if (record.mpi.request)
                put(&record);
            is_told |= record.mpi.request != 0;
        }
        record.kind = HL_RECORD_MPI_OTHER;
        if (!is_told && done)
            put(&record);
    }
    if (of->requests != of->few_requests)
        free(of->requests);
    if (of->has_own_statuses)
        free(of->statuses);
}

/* --- the begin and the end */

/* The first process answers each other in turn; the shortest of some ways there and back bounds the
 * difference of the two clocks. Within that the clocks of one node are one. */
void hl_mpi_record_compare_clocks(void)
{
    int size = 1;
    if (!atomic_load(&self.alive) || self.for_clocks == MPI_COMM_NULL || self.compared > 1)
        return;
    (void)PMPI_Comm_size(self.for_clocks, &size);
    int64_t shortest = INT64_MAX, shift = 0, there = 0;
    for (int peer = 1; peer < size; peer++)
        for (int i = 0; i < CLOCK_TRIES && (!self.rank || self.rank == peer); i++) {
            const int64_t begin = hl_record_profile_now();
            if (self.rank) {
                (void)PMPI_Sendrecv(&begin, 1, MPI_INT64_T, 0, CLOCK_TAG, &there, 1, MPI_INT64_T, 0,
                                    CLOCK_TAG, self.for_clocks, MPI_STATUS_IGNORE);
                const int64_t took = hl_record_profile_now() - begin;
                shift = took < shortest ? there - (begin + took / 2) : shift;
                shortest = took < shortest ? took : shortest;
            } else {
                (void)PMPI_Recv(&there, 1, MPI_INT64_T, peer, CLOCK_TAG, self.for_clocks,
                                MPI_STATUS_IGNORE);
                there = hl_record_profile_now();
                (void)PMPI_Send(&there, 1, MPI_INT64_T, peer, CLOCK_TAG, self.for_clocks);
            }
        }
    const bool is_one_clock = !self.rank || llabs(shift) <= shortest / 2;
    self.shift_ns[self.compared] = is_one_clock ? 0 : shift;
    self.error_ns[self.compared++] = is_one_clock ? 0 : shortest / 2;
}

/* The difference is taken as it was half-way; what it moved by is its error. */
static void tell_clocks(void)
{
    struct timespec real;
    (void)clock_gettime(CLOCK_REALTIME, &real);
    int64_t real_ns =
        (int64_t)real.tv_sec * INT64_C(1000000000) + real.tv_nsec - hl_record_profile_now();
    if (self.for_clocks == MPI_COMM_NULL || self.compared < 2)
        return;
    (void)PMPI_Bcast(&real_ns, 1, MPI_INT64_T, 0, self.for_clocks);
    const int64_t moved_ns = llabs(self.shift_ns[1] - self.shift_ns[0]);
    const int64_t shift_ns = self.shift_ns[0] + (self.shift_ns[1] - self.shift_ns[0]) / 2;
    hl_record_profile_note(self.writer, "HAUL:MPI_EPOCH_NS", "%" PRId64, shift_ns + real_ns);
    if (self.error_ns[0] + self.error_ns[1] + moved_ns)
        hl_record_profile_note(self.writer, "HAUL:CLOCK_ERROR_NS:mpi", "%" PRId64,
                               (self.error_ns[0] + self.error_ns[1] + moved_ns) / 2);
    (void)PMPI_Comm_free(&self.for_clocks);
}

void hl_mpi_record_open(void)
{
    static const char *const names[] = {
#define HL_MPI_NAME(name) "MPI_" #name,
        HL_MPI_NAMES(HL_MPI_NAME)
#undef HL_MPI_NAME
    };
    if (self.writer)
        return;
    hl_record_session_loaded();
    self.writer = hl_record_session_open(true);
    if (!self.writer)
        return;
    for (int i = 0; i < HL_MPI_NAME_COUNT; i++)
        self.names[i] = hl_record_profile_name(self.writer, names[i]);
    hl_record_process_mark_make(&self.mark);
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    (void)PMPI_Comm_group(MPI_COMM_WORLD, &self.world);
    (void)PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &self.key, NULL);
    self.for_clocks = MPI_COMM_NULL;
    (void)PMPI_Comm_dup(MPI_COMM_WORLD, &self.for_clocks);
    const int64_t now_ns = hl_record_profile_now();
    put(&(hl_record){.kind = HL_RECORD_MPI_RANK,
                     .start_ns = now_ns,
                     .end_ns = now_ns,
                     .mpi = {.rank = self.rank}});
    atomic_store_explicit(&self.alive, true, memory_order_release);
    hl_mpi_record_comm(MPI_COMM_WORLD);
    hl_mpi_record_compare_clocks();
}

void hl_mpi_record_close(void)
{
    if (!atomic_exchange(&self.alive, false))
        return;
    tell_clocks();
    (void)PMPI_Group_free(&self.world);
}

/* Also of a program that ends without MPI_Finalize. */
__attribute__((destructor)) static void close_at_end(void)
{
    atomic_store(&self.alive, false);
    if (self.writer && hl_record_process_mark_is_own(&self.mark))
        hl_record_profile_close(self.writer, NULL);
    self.writer = NULL;
}
