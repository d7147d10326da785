/* The parts of libhaul-mpi. Ranks are those of the duplicated communicator, owners are numbered
 * apart. */
#ifndef HAUL_MPI_MPI_PARTS_H
#define HAUL_MPI_MPI_PARTS_H

#include "haul/exchange.h"
#include "haul/mpi.h"
#include "haul/tile.h"

enum { HL_MPI_WINDOW_MOST = 256, HL_MPI_FINALISTS = 3, HL_MPI_TRIES = 7, HL_MPI_RECENT = 8 };
enum { HL_MPI_PACK_BUFFERS = 4 };

/* Numbers that processes agree on before an exchange. */
enum { HL_MPI_AGREED = 4 };

/* Nodes, owners and helpers: the same on all processes. */
typedef struct hl_mpi_layout {
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
} hl_mpi_layout;

/* A block of bytes to or from a rank. */
typedef struct hl_mpi_block {
    int rank;
    uint64_t bytes;
    char *at;
    bool is_at_most; /* of a receive: `bytes` is room, at most 1 GiB */
} hl_mpi_block;

/* An error as it travels. */
typedef struct hl_mpi_notice {
    int rank;
    int status;
    uint64_t call; /* that it ended, counted from 1 */
    char text[sizeof((haul_error *)NULL)->text];
} hl_mpi_notice;

/* Host memory for staging; page-locked where there is a device. */
typedef struct hl_mpi_scratch {
    haul_buffer *buffer; /* NULL: of the heap */
    char *at;
    uint64_t bytes;
    bool is_used;
} hl_mpi_scratch;

/* The largest of any owner. */
typedef struct hl_mpi_shape {
    haul_exchange_kind kind;
    bool on_device;
    uint64_t bytes;    /* that it sends to others */
    uint64_t messages; /* to others */
    uint64_t largest;  /* of one message or displacement */
} hl_mpi_shape;

typedef struct hl_mpi_time {
    haul_way way;
    double seconds, low_s, high_s;
    double measured_s; /* NaN: not measured */
} hl_mpi_time;

/* How calls that are alike to all processes go on: those of a kind, and of an all-to-all, whose
 * size all know, those of a size class. */
typedef struct hl_mpi_course {
    haul_way way; /* between trials */
    bool agrees;  /* on the sizes of each call, for the ways need them; each has its choice's way */
    uint64_t calls, next_look, looks; /* next_look: the number of the call; 0: not begun */
    uint64_t left_until; /* calls up to this number are MPI's own alone; 0: to be found out */
    uint64_t sampled;
    double sampled_s;                            /* that sampled calls took */
    double looks_s;                              /* that trials have cost */
    struct hl_mpi_choice *recent[HL_MPI_RECENT]; /* of trials, unless of an all-to-all */
} hl_mpi_course;

/* The way chosen for exchanges of one kind, memory, size class and number of messages: powers of
 * two of both, so that one message of 1 MB and a thousand of 1 KB are not alike. */
typedef struct hl_mpi_choice {
    bool is_made;
    haul_way way;
    hl_mpi_shape shape; /* that it was made for */
    hl_mpi_time times[HAUL_WAYS];
    size_t count;
    size_t finalists;                               /* the first of them were measured */
    double tried_s[HL_MPI_FINALISTS][HL_MPI_TRIES]; /* the last times of each */
    unsigned tries[HL_MPI_FINALISTS];
    hl_mpi_course course; /* of an all-to-all */
} hl_mpi_choice;

/* Requests, the last of which is for errors, and those of them that are done. */
typedef struct hl_mpi_waiting {
    MPI_Request *requests;
    int count;
    int done;
    int indices[2 * HL_MPI_WINDOW_MOST + 1];
    MPI_Status statuses[2 * HL_MPI_WINDOW_MOST + 1];
} hl_mpi_waiting;

/* Rows of device memory, `pitch` bytes from one to the next, and their place in the host's; where
 * there are planes of them, these follow each other there. */
typedef struct hl_mpi_rows {
    int64_t offset; /* from the packer's address */
    uint64_t row, count;
    int64_t pitch;
    char *host;
    int64_t host_pitch;
    uint64_t planes; /* 0: one */
    int64_t plane_pitch;
} hl_mpi_rows;

/* Rows that are moved together, and the memory for packing them: kept between calls. */
typedef struct hl_mpi_packer {
    haul_address at;
    bool is_apart;       /* rows in the host's memory, which else follow each other there */
    haul_buffer *packed; /* of the device, where they are packed in place of the host's memory */
    uint64_t packed_at;
    bool has_table; /* on the device */
    hl_mpi_rows *items;
    size_t count, capacity;
    uint64_t bytes, copies;                    /* in all; copies where there is no kernel */
    haul_buffer *buffers[HL_MPI_PACK_BUFFERS]; /* a table of the rows, there and on the device;
                                packed rows there, and on the host where they are apart */
} hl_mpi_packer;

struct haul_comm {
    MPI_Comm all;     /* owners and helpers */
    MPI_Comm owners;  /* MPI_COMM_NULL on helpers; `all` where there are none */
    MPI_Comm notices; /* for errors */
    MPI_Request notice_request;
    hl_mpi_notice notice; /* that comes */
    hl_mpi_notice sent;
    MPI_Request *sent_requests; /* NULL: no error here */
    haul_error failure;
    uint64_t calls, failed_call; /* counted from 1 */
    int mpi_error;               /* MPI's code of the failure */
    int rank, size;              /* in `all` */
    int owner;                   /* -1: a helper */
    int team_of;                 /* the owner that it belongs to */
    int team_place;
    hl_mpi_layout layout;
    unsigned window;
    double time_limit_s;
    haul_way forced_way;
    bool may_fall_back;
    haul_machine *machine;
    haul_device *device;
    haul_stream *streams[2];     /* to the host, to the device */
    hl_mpi_packer packers[2][2]; /* to the host, to the device; of even and odd pieces */
    haul_kernel *pack_kernels[2][3];
    bool packs_not;       /* the device compiles none */
    bool is_device_aware; /* on all owners */
    bool has_device;      /* any owner */
    bool can_share;       /* device memory, on all of a device */
    bool takes_simulated_time;
    hl_mpi_scratch *scratch;
    size_t scratch_count, scratch_capacity;
    hl_mpi_block *blocks[2]; /* kept between calls */
    size_t block_capacity[2];
    haul_comm_message *messages[2];
    size_t message_capacity[2];
    hl_mpi_choice **choices; /* of every kind, as exchanges have come */
    size_t choice_count, choice_capacity;
    haul_processes processes; /* for arrays of tiles */
    hl_mpi_waiting *transfers;
    haul_way last_way;
    hl_mpi_choice *last;     /* NULL: nothing is known of such an exchange */
    hl_mpi_shape last_shape; /* of the last call; where sizes were not agreed on, this process's */
    bool last_is_own;
    bool last_is_listed; /* the last call's bytes stand in plain_numbers, not summed up yet */
    double trial_share;  /* of the time of calls; 0: usual */
    hl_mpi_course courses[HAUL_EXCHANGE_ALL_V + 1];
    hl_mpi_choice *tried; /* in the last trial, whose time not all know yet */
    size_t tried_finalist;
    double tried_took_s, agreement_s;
    hl_mpi_course *left_course; /* of all-to-alls with blocks of left_bytes; NULL: none yet */
    uint64_t left_bytes;
    uint64_t piece_bytes; /* of staged calls */
    int *plain_numbers;   /* counts and places of MPI's own all-to-all-v */
    char explained[2048];
    char *proofs_path, *proofs_key; /* of the first process; NULL: proofs are not kept */
    char proofs_said[160];          /* why proofs in the file are not used */
};

/* Calls of the host's memory between owners alone, in no way that the user wants: MPI's own until
 * another way is proven faster. Of others sizes are agreed on, and ways chosen before. */
static inline bool hl_mpi_is_proven(const haul_comm *self)
{
    return !self->forced_way && !self->has_device && self->layout.owners == self->size;
}

/* Whether a way needs no process to know the others' sizes. */
static inline bool hl_mpi_spares_agreement(const haul_comm *self, haul_exchange_kind kind,
                                           haul_way way)
{
    const bool is_own = way == HAUL_WAY_DIRECT || way == HAUL_WAY_PLAIN;
    return (is_own || kind == HAUL_EXCHANGE_ALL) && !self->has_device &&
           self->layout.owners == self->size;
}

/* One exchange of an owner. */
typedef struct hl_mpi_call {
    hl_mpi_shape shape;
    haul_comm_messages of; /* with blocks of nothing, and to itself */
    uint64_t bytes;        /* of a block of haul_comm_alltoall */
} hl_mpi_call;

/* --- mpi_layout.c */

/* Collective; from each process's node, a number below that of processes, and whether it helps. */
haul_status hl_mpi_layout_make(haul_comm *self, int node, bool is_helper, haul_error *error);
void hl_mpi_layout_free(hl_mpi_layout *layout);

static inline int hl_mpi_team_size(const hl_mpi_layout *layout, int owner)
{
    return layout->team_start[owner + 1] - layout->team_start[owner];
}

/* --- mpi_wire.c */

haul_status hl_mpi_listen(haul_comm *self, haul_error *error);

/* Tells all others of an error, once. Returns its status. */
haul_status hl_mpi_tell(haul_comm *self, const haul_error *error);

/* "rank 3: WHAT: the MPI's text". */
haul_status hl_mpi_failed(haul_comm *self, int code, const char *what, haul_error *error);

/* Waits for a request, or for another process's error. */
haul_status hl_mpi_wait(haul_comm *self, MPI_Request *request, haul_error *error);

/* Some of the requests, waited for, or looked for once: none need then be done. A wait that naps
 * leaves its core to others. */
haul_status hl_mpi_wait_some(haul_comm *comm, hl_mpi_waiting *self, bool naps, haul_error *error);
haul_status hl_mpi_look(haul_comm *comm, hl_mpi_waiting *self, haul_error *error);

/* Requests that are given up: their memory is the caller's again as far as MPI lets it be. */
void hl_mpi_give_up(MPI_Request *requests, int count);

/* Sends and receives blocks, a window of each at a time, in the order of their ranks' distance:
 * sorts both lists, equal ranks as they were. Blocks of nothing are no messages. */
haul_status hl_mpi_deliver(haul_comm *self, hl_mpi_block *sends, size_t send_count,
                           hl_mpi_block *receives, size_t receive_count, haul_error *error);

/* The largest of each number over all processes. */
haul_status hl_mpi_most(haul_comm *self, uint64_t *numbers, int count, haul_error *error);

/* --- mpi_scratch.c */

haul_status hl_mpi_scratch_take(haul_comm *self, uint64_t bytes, hl_mpi_scratch *scratch,
                                haul_error *error);
void hl_mpi_scratch_give(haul_comm *self, const hl_mpi_scratch *scratch);
void hl_mpi_scratch_free(haul_comm *self);

/* --- ways, between host memory: mpi_ways.c, mpi_aggregate.c, mpi_team.c */

typedef struct hl_mpi_side {
    char *at;
    const haul_comm_message *items;
    size_t count;
} hl_mpi_side;

typedef struct hl_mpi_sides {
    hl_mpi_side send, receive;
} hl_mpi_sides;

haul_status hl_mpi_direct(haul_comm *self, const hl_mpi_sides *sides, haul_error *error);
haul_status hl_mpi_plain(haul_comm *self, const hl_mpi_call *call, const hl_mpi_sides *sides,
                         haul_error *error);
haul_status hl_mpi_bruck(haul_comm *self, const hl_mpi_sides *sides, uint64_t bytes,
                         haul_error *error);
haul_status hl_mpi_aggregated(haul_comm *self, const hl_mpi_sides *sides, const hl_mpi_shape *shape,
                              haul_error *error);

/* Helpers call these with NULL. */
haul_status hl_mpi_extra_message(haul_comm *self, const hl_mpi_sides *sides, haul_error *error);
haul_status hl_mpi_duplicate_pointer(haul_comm *self, const haul_comm_messages *of,
                                     haul_error *error);

haul_status hl_mpi_copy_own(const haul_comm *self, const hl_mpi_sides *sides, haul_error *error);

/* --- mpi_copies.c */

/* Copies items of device memory to packed host memory, or back, and waits; `buffer` in place of the
 * address's own where it is not NULL. */
typedef struct hl_mpi_copying {
    haul_buffer *buffer;
    const haul_comm_message *items;
    size_t count;
    char *packed;
    bool to_device;
} hl_mpi_copying;

haul_status hl_mpi_copy(haul_comm *self, const hl_mpi_copying *what, haul_error *error);

/* Queues the copies; neighbours at both ends are one. */
haul_status hl_mpi_copies_queue(haul_stream *stream, const hl_mpi_copying *what, haul_error *error);

/* A simulated device moves its own clock alone: its copies are made to take as long here. */
void hl_mpi_pace_keep(const haul_comm *self, int64_t since_ns);

/* --- mpi_strips.c */

/* `rows` rows of `row` bytes, `pitch` bytes from one to the next. */
typedef struct hl_mpi_strip {
    int64_t offset; /* from the side's address */
    uint64_t row, rows;
    int64_t pitch;
} hl_mpi_strip;

typedef struct hl_mpi_strips {
    hl_mpi_strip *items;
    size_t count, capacity;
} hl_mpi_strips;

/* Items of a datatype from `place` bytes on. */
typedef struct hl_mpi_block_of {
    int64_t place, count;
    MPI_Datatype type;
} hl_mpi_block_of;

/* How far a block has been moved: bytes of a strip of it. */
typedef struct hl_mpi_cursor {
    size_t strip;
    uint64_t done;
} hl_mpi_cursor;

/* One side of a call: blocks of strips. */
typedef struct hl_mpi_region {
    haul_address at;
    int blocks;
    uint64_t *bytes; /* of each block */
    uint64_t most;   /* of them */
    size_t *first;   /* strip of each block; blocks + 1 of them */
    hl_mpi_strips strips;
    int64_t low, high; /* from the address; equal: no bytes */
    hl_mpi_cursor *cursors;
} hl_mpi_region;

/* Released after errors too. Returns USAGE where it leaves its buffer, ABSENT for a datatype that
 * haul cannot take apart. */
haul_status hl_mpi_region_make(hl_mpi_region *self, haul_address at, const hl_mpi_block_of *blocks,
                               int count, haul_error *error);
void hl_mpi_region_release(hl_mpi_region *self);

/* Leaves one block of it. */
void hl_mpi_region_keep(hl_mpi_region *self, int block);

/* --- mpi_pack.c */

/* Begins a list of rows; the last one's copies are over. */
void hl_mpi_pack_begin(hl_mpi_packer *self, haul_address at, bool is_apart);
haul_status hl_mpi_pack_add(hl_mpi_packer *self, const hl_mpi_rows *rows, haul_error *error);

/* Queues their move, on the stream of its direction; waits where it takes rows apart on the host.
 */
haul_status hl_mpi_pack_queue(haul_comm *comm, hl_mpi_packer *self, bool to_device,
                              haul_error *error);
void hl_mpi_packer_free(hl_mpi_packer *self);
void hl_mpi_packers_free(haul_comm *comm);

/* --- mpi_stage.c */

/* The host's memory for a piece. */
typedef struct hl_mpi_slot {
    char *out, *in;
} hl_mpi_slot;

/* Moves messages from `out` to `in` in pieces, the copies of one while another's messages are on
 * their way. Piece k of a block is its bytes from k * piece_bytes on, whatever its datatype, so
 * that the pieces of both ends are the same. */
typedef struct hl_mpi_staging {
    hl_mpi_region *out, *in; /* of host memory too; NULL: none */
    uint64_t piece_bytes, pieces;
    bool goes_on; /* sends all pieces, after an error too: others wait for them, and are not told */
    /* Sends a piece that is packed at `out`, its blocks one behind the other, to `in`. */
    haul_status (*send)(haul_comm *comm, const struct hl_mpi_staging *self, uint64_t piece,
                        const hl_mpi_slot *slot, haul_error *error);
    const void *of;
} hl_mpi_staging;

haul_status hl_mpi_stage(haul_comm *self, const hl_mpi_staging *of, haul_error *error);

/* Two pieces' memory: the copies of one run while the other's messages do. */
typedef struct hl_mpi_slots {
    hl_mpi_scratch scratch;
    hl_mpi_slot of[2];
    haul_event *down[2], *up[2]; /* the end of a piece's copies */
} hl_mpi_slots;

/* The same with memory that is made before, and enough for pieces of fewer bytes too. Closed after
 * errors too. */
haul_status hl_mpi_slots_open(haul_comm *self, const hl_mpi_staging *of, hl_mpi_slots *made,
                              haul_error *error);
haul_status hl_mpi_stage_in(haul_comm *self, const hl_mpi_staging *of, hl_mpi_slots *at,
                            haul_error *error);
void hl_mpi_slots_close(haul_comm *self, hl_mpi_slots *at);

/* Of a block in a piece. */
uint64_t hl_mpi_piece_of(const hl_mpi_staging *of, const hl_mpi_region *region, int block,
                         uint64_t piece);

/* Copies a block of a region, or all where it is -1, to memory of the host with the same gaps,
 * whose first byte is the region's lowest, or back, and waits. */
haul_status hl_mpi_mirror(haul_comm *self, const hl_mpi_region *region, int block, char *host,
                          bool to_device, haul_error *error);

static inline bool hl_mpi_is_on_device(haul_address address)
{
    return address.buffer && !haul_buffer_host(address.buffer);
}

/* Where MPI or the host finds an address; NULL where neither can. */
char *hl_mpi_pointer_of(haul_address address);

/* --- mpi_sides.c */

/* The blocks of one side; those of a bcast are of its `receive`. Released after errors too. */
haul_status hl_mpi_side_region(const haul_call *call, MPI_Comm over, bool is_send, haul_address at,
                               hl_mpi_region *region, haul_error *error);

static inline bool hl_mpi_is_in_place(haul_address address)
{
    return !address.buffer && !address.host && address.offset == UINT64_MAX;
}

/* MPI's own call, with these addresses; returns MPI's code. */
int hl_mpi_own_call(const haul_call *call, MPI_Comm over, const void *send, void *receive);
int hl_mpi_own_start(const haul_call *call, MPI_Comm over, const void *send, void *receive,
                     MPI_Request *request);

/* --- mpi_device.c */

/* Runs a way between any memory; helpers call it with NULL. */
haul_status hl_mpi_run(haul_comm *self, haul_way way, const hl_mpi_shape *shape,
                       const hl_mpi_call *call, haul_error *error);

/* --- mpi_cost.c */

/* The ways that can make such an exchange, the fastest first by the machine's model; without a
 * machine `plain` before `direct`, of any time. */
size_t hl_mpi_predict(const haul_comm *self, const hl_mpi_shape *shape,
                      hl_mpi_time times[HAUL_WAYS]);

/* Of an exchange of which nothing is known. */
haul_way hl_mpi_usual_way(const hl_mpi_shape *shape);

/* --- mpi_choice.c */

/* Runs the exchange in the way that was chosen for it; chooses, where it is the first of its kind
 * and size. */
haul_status hl_mpi_choose_and_run(haul_comm *self, const hl_mpi_shape *shape,
                                  const hl_mpi_call *call, haul_error *error);

/* Every choice is forgotten. */
void hl_mpi_choices_free(haul_comm *self);

/* The choice for exchanges like this one, begun where there is none. Returns NO_MEMORY. */
haul_status hl_mpi_choice_find(haul_comm *self, const hl_mpi_shape *shape, hl_mpi_choice **choice,
                               haul_error *error);

/* --- mpi_trials.c */

/* Runs the exchange in the way that is proven for it, or as a trial. */
haul_status hl_mpi_run_proven(haul_comm *self, hl_mpi_call *call, haul_error *error);

/* The tries of an earlier run, oldest first. */
typedef struct hl_mpi_proof {
    hl_mpi_shape shape;
    double agreement_s;
    haul_way way[HL_MPI_FINALISTS];
    double tried_s[HL_MPI_FINALISTS][HL_MPI_TRIES];
    unsigned tries[HL_MPI_FINALISTS];
    size_t ways;
} hl_mpi_proof;

/* Goes on as if they were made in this run; ways that are not tried here are left out. Alike on all
 * processes, before the first call. Returns NO_MEMORY. */
haul_status hl_mpi_trials_adopt(haul_comm *self, const hl_mpi_proof *proof, haul_error *error);

/* --- mpi_proofs.c */

/* NULL: none is asked for. */
const char *hl_mpi_proofs_path(const haul_comm_options *options);

/* Collective; the first process's options count. */
haul_status hl_mpi_proofs_open(haul_comm *self, const haul_comm_options *options,
                               haul_error *error);
void hl_mpi_proofs_close(haul_comm *self);

#endif
