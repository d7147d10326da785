/* The parts of the library that stands before the MPI. */
#ifndef HAUL_MPI_PRELOAD_PARTS_H
#define HAUL_MPI_PRELOAD_PARTS_H

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

/* --- preload_device.c */

/* A call whose sides may have copies in the host's memory. */
typedef struct hl_mpi_staged {
    MPI_Comm over;
    haul_comm *comm;
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
int hl_mpi_staged_end(hl_mpi_staged *self, int code);

/* The parts of the second, for calls that are started: copies what is sent down again, copies what
 * was received up, and ends the call. */
int hl_mpi_staged_down(hl_mpi_staged *self);
int hl_mpi_staged_up(hl_mpi_staged *self);
void hl_mpi_staged_close(hl_mpi_staged *self);

/* An MPI that takes a GPU's memory may be handed it, by a program that uses the GPU: such a program
 * is left alone. */
bool hl_mpi_may_have_device_memory(void);

/* Before MPI_Finalize. */
void hl_mpi_preload_close_devices(void);

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
