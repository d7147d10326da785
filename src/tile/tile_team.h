/* Several devices that work as one: a context and a thread each, and messages between them in
 * memory, as processes have messages over MPI. It knows no array and no loop: the layers above give
 * the threads their jobs. */
#ifndef HAUL_TILE_TILE_TEAM_H
#define HAUL_TILE_TILE_TEAM_H

#include "haul/tile.h"

enum { HL_TILE_TEAM_MOST = 64 }; /* devices of a node, and those of a list */

typedef struct hl_tile_wire hl_tile_wire;
typedef struct hl_tile_team hl_tile_team;

/* One device's end of the messages. The clocks of simulated devices go along with them: a message
 * is there when it was sent and copied. */
haul_status hl_tile_wire_new(int count, hl_tile_wire **wire, haul_error *error);
void hl_tile_wire_free(hl_tile_wire *wire);
const haul_processes *hl_tile_wire_end(hl_tile_wire *wire, int rank);
void hl_tile_wire_set_device(hl_tile_wire *wire, int rank, haul_device *device, bool has_data);

/* Where the cells of a message lie with the sender. */
typedef struct hl_tile_parcel {
    const void *cells;
    haul_buffer *pinned; /* the sender's device's memory with the cells; NULL: not page-locked */
    uint64_t offset;     /* in it */
} hl_tile_parcel;

/* Says that the memory of messages that are started next may be this, page-locked one. NULL is
 * none. */
void hl_tile_wire_lend(const haul_processes *processes, haul_buffer *pinned);
/* In place of `finish`, for the messages of `start` in their order: waits for one, whose cells the
 * caller copies, or lets be copied here; `has` says that it need not wait. Others may start theirs
 * one by one, each when they have the memory of the one before again: a caller that has to wait
 * gives back what it has seen first. */
bool hl_tile_wire_has(const haul_processes *processes, int peer);
haul_status hl_tile_wire_see(const haul_processes *processes, const haul_process_message *message,
                             hl_tile_parcel *parcel, haul_error *error);
void hl_tile_wire_copy(const haul_processes *processes, const haul_process_message *message,
                       const hl_tile_parcel *parcel);
/* Gives back the memory of all messages that were seen. Needs: their cells are copied. */
void hl_tile_wire_give_back(const haul_processes *processes);
/* The same, and waits until the others have given back this one's. Called after a failure too. */
haul_status hl_tile_wire_settle(const haul_processes *processes, haul_error *error);

/* Takes the error that ended the waits, if any, and all messages that were not received. Needs:
 * no one uses the wire. */
haul_status hl_tile_wire_clear(hl_tile_wire *wire, haul_error *error);
/* The host of all simulated devices is one: it goes on when the last of them has. Needs: as above.
 */
void hl_tile_wire_join_clocks(hl_tile_wire *wire);

/* Called for each context on its own thread, for the first one on the caller's. */
typedef haul_status (*hl_tile_job)(haul_context *context, int rank, void *state, haul_error *error);

/* A team without contexts; they are freed by the caller, after the team. */
haul_status hl_tile_team_new(int count, hl_tile_team **team, haul_error *error);
void hl_tile_team_free(hl_tile_team *team);
int hl_tile_team_count(const hl_tile_team *team);
const haul_processes *hl_tile_team_processes(hl_tile_team *team, int rank);
void hl_tile_team_set(hl_tile_team *team, int rank, haul_context *context, haul_device *device,
                      bool has_data);
haul_context *hl_tile_team_context(const hl_tile_team *team, int rank);

/* Does the job on all, and returns when all have ended, with the error of the first that failed:
 * the others' waits for messages end with it. */
haul_status hl_tile_team_call(hl_tile_team *team, hl_tile_job job, void *state, haul_error *error);
/* After one context was used without a call. */
void hl_tile_team_join_clocks(hl_tile_team *team);

#endif
