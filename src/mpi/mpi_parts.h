/* The parts of libhaul-mpi. Ranks are those of the duplicated communicator, owners are numbered
 * apart. */
#ifndef HAUL_MPI_MPI_PARTS_H
#define HAUL_MPI_MPI_PARTS_H

#include "haul/exchange.h"
#include "haul/mpi.h"
#include "haul/tile.h"

enum { HAUL_MPI_WINDOW_MOST = 256, HAUL_MPI_FINALISTS = 3, HAUL_MPI_SIZES = 64 };

/* Numbers that processes agree on before an exchange. */
enum { HAUL_MPI_AGREED = 4 };

/* Who runs where: the same on all processes. */
typedef struct haul_mpi_layout {
    int owners;
    int nodes;
    int most;        /* owners of one node */
    int *rank_of;    /* of an owner */
    int *node_of;    /* of an owner */
    int *place_of;   /* of an owner among those of its node */
    int *node_start; /* into `by_node`; nodes + 1 of them */
    int *by_node;    /* owners, node after node */
    int *team_start; /* into `team`; owners + 1 of them */
    int *team;       /* ranks: of each owner itself and its helpers */
} haul_mpi_layout;

/* A block of bytes to or from a rank. */
typedef struct haul_mpi_block {
    int rank;
    uint64_t bytes;
    char *at;
    bool is_at_most; /* of a receive: `bytes` is room, at most 1 GiB */
} haul_mpi_block;

/* An error as it travels. */
typedef struct haul_mpi_notice {
    int rank;
    int status;
    char text[sizeof((haul_error *)NULL)->text];
} haul_mpi_notice;

/* Host memory for staging; page-locked where there is a device. */
typedef struct haul_mpi_scratch {
    haul_buffer *buffer; /* NULL: of the heap */
    char *at;
    uint64_t bytes;
    bool is_used;
} haul_mpi_scratch;

/* The largest of any owner. */
typedef struct haul_mpi_shape {
    haul_exchange_kind kind;
    bool on_device;
    uint64_t bytes;    /* that it sends to others */
    uint64_t messages; /* to others */
    uint64_t largest;  /* of one message or displacement */
} haul_mpi_shape;

typedef struct haul_mpi_time {
    haul_way way;
    double seconds, low_s, high_s;
    double measured_s; /* NaN: not measured */
} haul_mpi_time;

/* What was chosen for exchanges of one kind, memory and size. */
typedef struct haul_mpi_choice {
    bool is_made;
    haul_way way;
    haul_mpi_shape shape; /* that it was made for */
    haul_mpi_time times[HAUL_WAYS];
    size_t count;
    size_t finalists; /* the first of them were measured */
} haul_mpi_choice;

/* Requests, the last of which is for errors, and those of them that are done. */
typedef struct haul_mpi_waiting {
    MPI_Request *requests;
    int count;
    int done;
    int indices[2 * HAUL_MPI_WINDOW_MOST + 1];
    MPI_Status statuses[2 * HAUL_MPI_WINDOW_MOST + 1];
} haul_mpi_waiting;

struct haul_comm {
    MPI_Comm all;     /* owners and helpers */
    MPI_Comm owners;  /* of MPI_COMM_NULL on helpers */
    MPI_Comm notices; /* for errors */
    MPI_Request notice_request;
    haul_mpi_notice notice; /* that comes */
    haul_mpi_notice sent;
    MPI_Request *sent_requests; /* NULL: no error here */
    haul_error failure;
    int rank, size; /* in `all` */
    int owner;      /* -1: a helper */
    int team_of;    /* the owner that it belongs to */
    int team_place;
    haul_mpi_layout layout;
    unsigned window;
    double time_limit_s;
    int forced_way; /* -1: none */
    haul_machine *machine;
    haul_device *device;
    haul_stream *streams[2]; /* to the host, to the device */
    bool is_device_aware;    /* on all owners */
    bool has_device;         /* any owner */
    bool can_share;          /* device memory, on all of a device */
    bool takes_simulated_time;
    haul_mpi_scratch *scratch;
    size_t scratch_count, scratch_capacity;
    haul_mpi_block *blocks[2]; /* kept between calls */
    size_t block_capacity[2];
    haul_comm_message *messages[2];
    size_t message_capacity[2];
    haul_mpi_choice choices[HAUL_EXCHANGE_ALL_V + 1][2][HAUL_MPI_SIZES];
    haul_processes processes; /* for arrays of tiles */
    haul_mpi_waiting *transfers;
    haul_way last_way;
    const haul_mpi_choice *last;
    /* `direct` was chosen, of each kind: it makes so many calls before sizes are agreed on again */
    const haul_mpi_choice *kept[HAUL_EXCHANGE_ALL_V + 1];
    unsigned kept_calls[HAUL_EXCHANGE_ALL_V + 1];
    char explained[2048];
};

/* Whether this way of this kind needs no process to know the others' sizes, beside others that do:
 * of the host's memory, all processes owners. An all-to-all has the same everywhere. */
static inline bool haul_mpi_spares_agreement(const haul_comm *self, haul_exchange_kind kind,
                                             haul_way way)
{
    return kind != HAUL_EXCHANGE_ALL && way == HAUL_WAY_DIRECT && !self->has_device &&
           self->layout.owners == self->size;
}

/* One exchange of an owner. */
typedef struct haul_mpi_call {
    haul_mpi_shape shape;
    haul_comm_messages of; /* with blocks of nothing, and to itself */
    uint64_t bytes;        /* of a block of haul_alltoall */
} haul_mpi_call;

/* --- mpi_layout.c */

/* Collective; from each process's node, a number below that of processes, and whether it helps. */
haul_status haul_mpi_layout_make(haul_comm *self, int node, bool is_helper, haul_error *error);
void haul_mpi_layout_free(haul_mpi_layout *layout);

static inline int haul_mpi_team_size(const haul_mpi_layout *layout, int owner)
{
    return layout->team_start[owner + 1] - layout->team_start[owner];
}

/* --- mpi_wire.c */

haul_status haul_mpi_listen(haul_comm *self, haul_error *error);

/* Tells all others of an error, once. Returns its status. */
haul_status haul_mpi_tell(haul_comm *self, const haul_error *error);

/* "rank 3: WHAT: the MPI's text". */
haul_status haul_mpi_failed(haul_comm *self, int code, const char *what, haul_error *error);

/* Waits for a request, or for another process's error. */
haul_status haul_mpi_wait(haul_comm *self, MPI_Request *request, haul_error *error);

/* Some of the requests, waited for, or looked for once: none need then be done. A wait that naps
 * leaves its core to others. */
haul_status haul_mpi_wait_some(haul_comm *comm, haul_mpi_waiting *self, bool naps,
                               haul_error *error);
haul_status haul_mpi_look(haul_comm *comm, haul_mpi_waiting *self, haul_error *error);

/* Requests that are given up: their memory is the caller's again as far as MPI lets it be. */
void haul_mpi_give_up(MPI_Request *requests, int count);

/* Sends and receives blocks, a window of each at a time, in the order of their ranks' distance:
 * sorts both lists, equal ranks as they were. Blocks of nothing are no messages. */
haul_status haul_mpi_deliver(haul_comm *self, haul_mpi_block *sends, size_t send_count,
                             haul_mpi_block *receives, size_t receive_count, haul_error *error);

/* The largest of each number over all processes. */
haul_status haul_mpi_most(haul_comm *self, uint64_t *numbers, int count, haul_error *error);

/* --- mpi_scratch.c */

haul_status haul_mpi_scratch_take(haul_comm *self, uint64_t bytes, haul_mpi_scratch *scratch,
                                  haul_error *error);
void haul_mpi_scratch_give(haul_comm *self, const haul_mpi_scratch *scratch);
void haul_mpi_scratch_free(haul_comm *self);

/* --- ways, between host memory: mpi_ways.c, mpi_aggregate.c, mpi_team.c */

typedef struct haul_mpi_side {
    char *at;
    const haul_comm_message *items;
    size_t count;
} haul_mpi_side;

typedef struct haul_mpi_sides {
    haul_mpi_side send, receive;
} haul_mpi_sides;

haul_status haul_mpi_direct(haul_comm *self, const haul_mpi_sides *sides, haul_error *error);
haul_status haul_mpi_plain(haul_comm *self, const haul_mpi_call *call, const haul_mpi_sides *sides,
                           haul_error *error);
haul_status haul_mpi_bruck(haul_comm *self, const haul_mpi_sides *sides, uint64_t bytes,
                           haul_error *error);
haul_status haul_mpi_aggregated(haul_comm *self, const haul_mpi_sides *sides,
                                const haul_mpi_shape *shape, haul_error *error);

/* Helpers call these with NULL. */
haul_status haul_mpi_extra_message(haul_comm *self, const haul_mpi_sides *sides, haul_error *error);
haul_status haul_mpi_duplicate_pointer(haul_comm *self, const haul_comm_messages *of,
                                       haul_error *error);

haul_status haul_mpi_copy_own(const haul_comm *self, const haul_mpi_sides *sides,
                              haul_error *error);

/* --- mpi_device.c */

/* Copies items of device memory to packed host memory, or back, and waits; `buffer` in place of the
 * address's own where it is not NULL. */
typedef struct haul_mpi_copying {
    haul_buffer *buffer;
    const haul_comm_message *items;
    size_t count;
    char *packed;
    bool to_device;
} haul_mpi_copying;

haul_status haul_mpi_copy(haul_comm *self, const haul_mpi_copying *what, haul_error *error);

/* Runs a way between any memory; helpers call it with NULL. */
haul_status haul_mpi_run(haul_comm *self, haul_way way, const haul_mpi_shape *shape,
                         const haul_mpi_call *call, haul_error *error);

/* --- mpi_cost.c */

/* The ways that can make such an exchange, the fastest first by the machine's model; without a
 * machine `plain` before `direct`, of any time. */
size_t haul_mpi_predict(const haul_comm *self, const haul_mpi_shape *shape,
                        haul_mpi_time times[HAUL_WAYS]);

/* --- mpi_choice.c */

/* Runs the exchange in the way that was chosen for it; chooses, where it is the first of its kind
 * and size. */
haul_status haul_mpi_choose_and_run(haul_comm *self, const haul_mpi_shape *shape,
                                    const haul_mpi_call *call, haul_error *error);
/* A call that `direct` makes without an agreement. */
haul_status haul_mpi_run_kept(haul_comm *self, const haul_mpi_call *call, haul_error *error);

#endif
