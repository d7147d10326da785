/* The parts of the library that stands before the MPI. */
#ifndef HAUL_MPI_PRELOAD_PARTS_H
#define HAUL_MPI_PRELOAD_PARTS_H

#include <stdatomic.h>

#include "haul/mpi.h"

/* One side of the program's call; `counts` NULL: `count` for each. */
typedef struct hl_mpi_given {
    void *at;
    const int *counts, *displacements;
    int count;
    MPI_Datatype type;
} hl_mpi_given;

/* One side of a call as bytes. */
typedef struct hl_mpi_side {
    void *at;     /* packed here, or where the program has it */
    char *packed; /* NULL: the program's memory is as MPI would send it */
    size_t *counts, *displacements;
    size_t bytes; /* in all */
} hl_mpi_side;

/* Whether haul can tell what the side is; else the MPI is to say what is wrong with it. */
bool hl_mpi_side_check(const hl_mpi_given *given, int peers);

/* False without memory. */
bool hl_mpi_side_make(hl_mpi_side *self, const hl_mpi_given *given, int peers);
void hl_mpi_side_free(hl_mpi_side *self);

/* Packs what is sent, or unpacks what has come, where the side is packed. Returns MPI's code. */
int hl_mpi_side_pack(const hl_mpi_side *self, const hl_mpi_given *given, int peers, MPI_Comm comm);
int hl_mpi_side_unpack(const hl_mpi_side *self, const hl_mpi_given *given, int peers,
                       MPI_Comm comm);

/* Whether MPI returns an error on this process alone, as far as that costs little to find out: such
 * a call is none of the others', and its memory is not read. */
bool hl_mpi_is_refused(const haul_call *call, bool in_place);

/* --- preload_hooks.c */

/* When the calls of a communicator are cut into pieces: alike on all processes, for it rests on
 * what they have in common. */
typedef struct hl_mpi_cuts {
    unsigned long calls;     /* that may be */
    unsigned long next_look; /* the number of the call */
    unsigned long until;     /* calls up to this number begin with an agreement */
    uint64_t piece_bytes;
} hl_mpi_cuts;

/* Calls whose bytes all processes know, and others. */
enum { HL_MPI_CUTS = 2 };

/* A communicator of the program. */
typedef struct hl_mpi_hook {
    haul_comm *comm; /* NULL: MPI's own calls */
    bool is_left;    /* for good */
    bool is_apart;   /* of one process, or of two groups */
    int size;
    unsigned long calls;
    unsigned long quiet_until; /* calls up to this number need nothing but MPI's own */
    double spent_s;
    hl_mpi_cuts cuts[HL_MPI_CUTS];
} hl_mpi_hook;

/* Each thread's last communicator: MPI looks for attributes under a lock. A communicator that is
 * freed may come again as another, so that all threads forget theirs. */
typedef struct hl_mpi_last_hook {
    MPI_Comm comm;
    hl_mpi_hook *of; /* NULL: none yet */
    unsigned long freed;
} hl_mpi_last_hook;
extern atomic_ulong hl_mpi_hooks_freed;
extern _Thread_local hl_mpi_last_hook hl_mpi_last;

/* NULL: no memory, or no communicator. */
hl_mpi_hook *hl_mpi_hook_look_up(MPI_Comm mpi);
static inline hl_mpi_hook *hl_mpi_hook_of(MPI_Comm mpi)
{
    const hl_mpi_last_hook *last = &hl_mpi_last;
    return last->of && last->comm == mpi && last->freed == hl_mpi_hooks_freed
               ? last->of
               : hl_mpi_hook_look_up(mpi);
}

/* NULL: there is none yet. */
hl_mpi_hook *hl_mpi_hook_find(MPI_Comm mpi);
void hl_mpi_hook_drop(MPI_Comm mpi);

/* How many have a haul_comm. */
int hl_mpi_hooks_live(void);
void hl_mpi_hook_set(hl_mpi_hook *self, haul_comm *comm);

/* --- preload_device.c */

typedef struct hl_mpi_gpu hl_mpi_gpu;

/* A call whose sides may have copies in the host's memory. */
typedef struct hl_mpi_staged {
    MPI_Comm over;
    hl_mpi_gpu *gpu; /* NULL: none is used */
    haul_buffer *buffers[2];
    haul_request *request; /* NULL: no copies */
    const void *send;      /* for MPI */
    void *receive;
} hl_mpi_staged;

/* Whether either is a GPU's memory that the MPI does not take. */
bool hl_mpi_needs_staging(const void *send, const void *receive);

/* Between the two MPI's call is made, with the addresses that the first gives, and its code given
 * to the second. Return MPI's code; where the first fails the call is over. Where nothing needs
 * staging the addresses are the program's. Any threads may make calls at once. */
int hl_mpi_staged_begin(hl_mpi_staged *self, haul_call *call, const void *send, void *receive);
static inline void hl_mpi_staged_none(hl_mpi_staged *self, const void *send, void *receive)
{
    self->request = NULL;
    self->send = send;
    self->receive = receive;
}
int hl_mpi_staged_end(hl_mpi_staged *self, int code);

/* The parts of the second, for calls that are started: copies what is sent down again, copies what
 * was received up, and ends the call. */
int hl_mpi_staged_down(hl_mpi_staged *self);
int hl_mpi_staged_up(hl_mpi_staged *self);
void hl_mpi_staged_close(hl_mpi_staged *self);

/* An MPI that takes a GPU's memory may be handed it, by a program that uses the GPU: such a program
 * is left alone. */
bool hl_mpi_may_have_device_memory(void);

/* Whether this process has a driver of GPUs whose memory the MPI does not take. */
bool hl_mpi_may_stage(void);

/* Prints the error and calls MPI's error handler; returns MPI's code. */
int hl_mpi_tell_failure(MPI_Comm over, const haul_error *error);

/* Of a call in pieces: sets its addresses, and gives a haul_comm that no other call uses until it
 * is closed. NULL: there is none. Closed after errors too. */
haul_comm *hl_mpi_cut_open(hl_mpi_staged *self, haul_call *call, const void *send,
                           const void *receive);
void hl_mpi_cut_close(hl_mpi_staged *self);

/* Before MPI_Finalize. */
void hl_mpi_preload_close_devices(void);

/* --- preload_cuts.c */

typedef enum hl_mpi_due {
    HL_MPI_NOT_DUE,
    HL_MPI_DUE,    /* all processes look, or agree */
    HL_MPI_REFUSED /* by MPI on this process: the call is none of the others', and is not counted */
} hl_mpi_due;

/* Count a call, of so many items or of so many for each process, by counts, and by other counts.
 * They come first in each, and cost little. `is_wrong`, or a
 * root that is no process: MPI refuses the call. NULL: there are no
 * counts, or they do not count. */
hl_mpi_due hl_mpi_count(MPI_Comm mpi, int count, MPI_Datatype type, int root);
hl_mpi_due hl_mpi_count_each(MPI_Comm mpi, int count, MPI_Datatype type, bool is_wrong);
hl_mpi_due hl_mpi_count_gathered(MPI_Comm mpi, const int *counts, MPI_Datatype type, bool is_wrong);
hl_mpi_due hl_mpi_count_v(MPI_Comm mpi, const int *sends, const int *receives, bool is_wrong);

/* Makes a call that is due in pieces where that is right, with *code of MPI's; false: it is still
 * to be made. */
bool hl_mpi_made_in_pieces(haul_call *call, const void *send, void *receive, int *code);

/* --- preload_requests.c */

/* A started or persistent call with copies. The program has MPI's own request, so that whatever it
 * does with that the MPI does: haul looks at those that functions of completion are handed. */
typedef struct hl_mpi_pending hl_mpi_pending;

/* In place of hl_mpi_staged_end, after the MPI has made `request`. */
int hl_mpi_staged_started(hl_mpi_staged *self, int code, MPI_Request *request, bool is_persistent);

/* Around MPI's function: the first takes those of the requests that have copies, the second copies
 * up what is over by then. NULL: none of them. */
hl_mpi_pending *hl_mpi_pending_take(int count, const MPI_Request *requests);
int hl_mpi_pending_give(hl_mpi_pending *taken, const MPI_Request *requests, int code);

/* Of persistent requests, between the first and MPI's function. */
int hl_mpi_pending_start(hl_mpi_pending *taken);

/* Whether there are any. */
bool hl_mpi_has_pending(void);

/* Memory of the heap that MPI reads until the request is freed, which MPI has just made. */
void hl_mpi_pending_keep(MPI_Request request, void *memory);

/* Before the devices are closed: persistent ones that the program did not free. */
void hl_mpi_pending_forget(void);

/* --- preload_fortran.c */

/* A Fortran program's address as C's. False where haul cannot tell: the call is the MPI's then. */
bool hl_mpi_fortran_address(void **at);

#endif
