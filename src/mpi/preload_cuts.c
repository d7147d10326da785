/* Calls of device memory in pieces, whose copies overlap the messages. A process may have such
 * memory where others have the host's, and all must make the same calls of MPI: now and then they
 * look whether any has, by one reduction, and where one did each of the next calls that may be cut
 * begins with an agreement. Programs of the host's memory alone look at calls that grow rare. */
#include <stdlib.h>

#include "mpi/neighbours.h"
#include "mpi/preload_parts.h"

enum {
    LOOKS_AT_BYTES = 1 << 16, /* fewer are never cut: a look takes as long as the call */
    LOOKS_AT_BLOCK = 1 << 10,
    LOOKS_APART = 64, /* calls at most, where a look takes little of them */
    AGREES_FOR = 64,  /* calls after one that was cut */
    QUIET_FIRST = 256 /* calls between the first two looks of programs without a GPU's driver */
};

/* Whether all processes know how many bytes each has. */
static bool is_known(const haul_call *call)
{
    return call->kind == HAUL_CALL_ALLTOALL || call->kind == HAUL_CALL_ALLREDUCE ||
           call->kind == HAUL_CALL_BCAST || call->kind == HAUL_CALL_ALLGATHER ||
           call->kind == HAUL_CALL_ALLGATHER_V;
}

/* The most usual types come first: to ask takes a hundredth of a short call. */
static uint64_t bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    if (type == MPI_BYTE || type == MPI_CHAR)
        size = 1;
    else if (type == MPI_INT)
        size = sizeof(int);
    else if (type == MPI_DOUBLE)
        size = sizeof(double);
    else if (type == MPI_FLOAT)
        size = sizeof(float);
    else if (type != MPI_DATATYPE_NULL)
        (void)PMPI_Type_size(type, &size);
    return size > 0 && count > 0 ? (uint64_t)size * (uint64_t)count : 0;
}

/* Of blocks with counts. */
static uint64_t sum_bytes(const haul_call_side *side, int blocks)
{
    uint64_t bytes = 0;
    for (int i = 0; side->counts && (side->types || side->type) && i < blocks; i++)
        bytes += bytes_of(side->counts[i], side->types ? side->types[i] : side->type);
    return bytes;
}

/* Those of a process, alike on all. */
static uint64_t known_bytes(const haul_call *call)
{
    const haul_call_side *side = &call->receive;
    int size = 1;
    if (call->kind != HAUL_CALL_ALLREDUCE && call->kind != HAUL_CALL_BCAST)
        (void)PMPI_Comm_size(call->over, &size);
    return call->kind == HAUL_CALL_ALLGATHER_V ? sum_bytes(side, size)
                                               : bytes_of(side->count, side->type) * (uint64_t)size;
}

/* This process's. */
static uint64_t own_bytes(const haul_call *call, bool in_place)
{
    int in = 0, out = 0;
    if (call->kind >= HAUL_CALL_NEIGHBOR_ALLTOALL) {
        (void)hl_mpi_neighbours(call->over, &in, &out);
    } else {
        (void)PMPI_Comm_size(call->over, &in);
        out = in;
    }
    if (call->kind == HAUL_CALL_NEIGHBOR_ALLTOALL)
        return bytes_of(call->receive.count, call->receive.type) * (uint64_t)in;
    const uint64_t sent = in_place ? 0 : sum_bytes(&call->send, out);
    const uint64_t received = sum_bytes(&call->receive, in);
    return sent > received ? sent : received;
}

static uint64_t piece_usual(void)
{
    const char *text = getenv("HAUL_MPI_PIECE");
    const double bytes = text ? strtod(text, NULL) : 0;
    return bytes >= 1 && bytes <= 1 << 30 ? (uint64_t)bytes : 1 << 20;
}

/* The next call that is looked at comes when their number has doubled, or sooner. */
static unsigned long next_look(unsigned long calls, bool may_stage)
{
    if (may_stage)
        return calls < LOOKS_APART ? 2 * calls : calls + LOOKS_APART;
    return calls < QUIET_FIRST ? QUIET_FIRST : 2 * calls;
}

enum { STAGES, MAY_STAGE, BYTES, PIECE, NUMBERS };

/* Whether any process has memory to stage, and pieces. Returns MPI's code. */
static int look(hl_mpi_cuts *self, const haul_call *call, const void *send, const void *receive)
{
    const bool knows = is_known(call);
    uint64_t most[NUMBERS] = {[STAGES] = hl_mpi_needs_staging(send, receive),
                              [MAY_STAGE] = knows || hl_mpi_may_stage(),
                              [BYTES] =
                                  knows ? known_bytes(call) : own_bytes(call, send == MPI_IN_PLACE),
                              [PIECE] = piece_usual()};
    const int code = PMPI_Allreduce(MPI_IN_PLACE, most, NUMBERS, MPI_UINT64_T, MPI_MAX, call->over);
    if (code)
        return code;
    self->piece_bytes = most[PIECE];
    self->next_look = next_look(self->calls, most[MAY_STAGE]);
    if (most[STAGES] && most[BYTES] / 2 >= self->piece_bytes)
        self->until = self->calls + AGREES_FOR;
    return MPI_SUCCESS;
}

/* Sets *code where the call is over. */
static bool run_in_pieces(hl_mpi_cuts *self, haul_call *call, const void *send, void *receive,
                          int *code)
{
    hl_mpi_staged to;
    haul_error error;
    haul_pieces pieces = {.piece_bytes = self->piece_bytes};
    haul_comm *comm = hl_mpi_cut_open(&to, call, send, receive);
    const haul_status status = haul_call_run_in_pieces(comm, call, &pieces, &error);
    hl_mpi_cut_close(&to);
    if (pieces.gains)
        self->until = self->calls + AGREES_FOR;
    *code = pieces.mpi_error;
    if (status && !*code)
        *code = hl_mpi_tell_failure(call->over, &error);
    return pieces.is_made;
}

bool hl_mpi_made_in_pieces(haul_call *call, const void *send, void *receive, int *code)
{
    const bool knows = is_known(call);
    hl_mpi_hook *hook = hl_mpi_hook_of(call->over);
    if (!hook)
        return false;
    hl_mpi_cuts *self = &hook->cuts[knows];
    if (self->calls > self->until) {
        *code = look(self, call, send, receive);
        if (*code)
            return true;
    }
    const bool has_pieces = !knows || known_bytes(call) / 2 >= self->piece_bytes;
    return self->calls <= self->until && has_pieces &&
           run_in_pieces(self, call, send, receive, code);
}

/* --- counting */

static hl_mpi_due count_known(hl_mpi_hook *hook, uint64_t bytes, bool is_wrong)
{
    hl_mpi_cuts *self = &hook->cuts[true];
    if (is_wrong)
        return HL_MPI_REFUSED;
    if (bytes < LOOKS_AT_BYTES)
        return HL_MPI_NOT_DUE;
    const unsigned long calls = ++self->calls;
    const bool is_due =
        calls > self->until ? calls >= self->next_look : bytes / 2 >= self->piece_bytes;
    return is_due ? HL_MPI_DUE : HL_MPI_NOT_DUE;
}

/* NULL: its calls are never cut. */
static hl_mpi_hook *hook_of(MPI_Comm mpi)
{
    hl_mpi_hook *hook = mpi == MPI_COMM_NULL ? NULL : hl_mpi_hook_of(mpi);
    return hook && !hook->is_apart ? hook : NULL;
}

hl_mpi_due hl_mpi_count(MPI_Comm mpi, int count, MPI_Datatype type, int root)
{
    const uint64_t bytes = bytes_of(count, type);
    hl_mpi_hook *hook = bytes < LOOKS_AT_BYTES ? NULL : hook_of(mpi);
    return hook ? count_known(hook, bytes, root < 0 || root >= hook->size) : HL_MPI_NOT_DUE;
}

hl_mpi_due hl_mpi_count_each(MPI_Comm mpi, int count, MPI_Datatype type, bool is_wrong)
{
    const uint64_t bytes = bytes_of(count, type);
    hl_mpi_hook *hook = bytes < LOOKS_AT_BLOCK ? NULL : hook_of(mpi);
    return hook ? count_known(hook, bytes * (uint64_t)hook->size, is_wrong) : HL_MPI_NOT_DUE;
}

hl_mpi_due hl_mpi_count_gathered(MPI_Comm mpi, const int *counts, MPI_Datatype type, bool is_wrong)
{
    hl_mpi_hook *hook = hook_of(mpi);
    if (!hook || !counts)
        return HL_MPI_NOT_DUE;
    uint64_t items = 0;
    for (int i = 0; i < hook->size; i++)
        items += counts[i] > 0 ? (uint64_t)counts[i] : 0;
    return items ? count_known(hook, items * bytes_of(1, type), is_wrong) : HL_MPI_NOT_DUE;
}

hl_mpi_due hl_mpi_count_v(MPI_Comm mpi, const int *sends, const int *receives, bool is_wrong)
{
    hl_mpi_hook *hook = hook_of(mpi);
    if (!hook)
        return HL_MPI_NOT_DUE;
    int all = 0;
    for (int i = 0; sends && i < hook->size; i++)
        all |= sends[i];
    for (int i = 0; receives && i < hook->size; i++)
        all |= receives[i];
    if (all < 0 || is_wrong)
        return HL_MPI_REFUSED;
    hl_mpi_cuts *self = &hook->cuts[false];
    const unsigned long calls = ++self->calls;
    return calls <= self->until || calls >= self->next_look ? HL_MPI_DUE : HL_MPI_NOT_DUE;
}
