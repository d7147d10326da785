/* Loaded before the MPI with LD_PRELOAD: MPI_Alltoall and MPI_Alltoallv of a program that cannot be
 * recompiled go through libhaul-mpi, by MPI's profiling interface. The program must run as it does
 * without: its calls are MPI's own until they have taken long enough for a comparison to cost
 * little, and whatever haul cannot do MPI's own call does. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/preload_parts.h"

enum {
    CALLS_FIRST = 256, /* of MPI's own, at least */
    TIMED = 16, /* one of so many is timed, for reading the clock takes a tenth of a short one */
    COMMS_MOST = 64, /* live: MPICH has 2048 contexts, of which each takes two */
};

/* Two communicators are made within a few milliseconds: 2 % of this. */
static const double seconds_first = 0.25;

/* Collective. Without memory or contexts the program goes on as it is; a setting that is wrong is
 * told and ends it, for the user wants something else than what would run. */
static void open_comm(hl_mpi_hook *self, MPI_Comm mpi)
{
    const haul_comm_options options = {.may_fall_back = true};
    haul_comm *made = NULL;
    haul_error error = {.status = HAUL_OK};
    MPI_Errhandler handler;
    int rank;
    (void)PMPI_Comm_rank(mpi, &rank);
    (void)PMPI_Comm_get_errhandler(mpi, &handler);
    (void)PMPI_Comm_set_errhandler(mpi, MPI_ERRORS_RETURN);
    const haul_status status = haul_comm_new(mpi, &options, &made, &error);
    (void)PMPI_Comm_set_errhandler(mpi, handler);
    (void)PMPI_Errhandler_free(&handler);
    hl_mpi_hook_set(self, status ? NULL : made);
    self->is_left = status != HAUL_OK;
    if (status && !rank)
        (void)fprintf(stderr, "haul: %s%s\n", error.text,
                      status == HAUL_STATUS_USAGE || status == HAUL_STATUS_BAD_INPUT
                          ? ""
                          : ": MPI's own all-to-alls are used");
    if (status != HAUL_STATUS_USAGE && status != HAUL_STATUS_BAD_INPUT)
        return;
    (void)PMPI_Barrier(mpi); /* the first process tells why */
    (void)PMPI_Abort(mpi, haul_status_exit_code(status));
}

/* All agree whether haul is to look at this communicator's calls from now on: at its first call,
 * then each time that its number has doubled. */
static void look_at_calls(hl_mpi_hook *self, MPI_Comm mpi)
{
    const char *after = getenv("HAUL_MPI_AFTER"), *way = getenv("HAUL_MPI_WAY");
    /* Seconds of MPI's own calls before haul looks at them; 0 where the user wants a way. */
    const double usual_s = way && *way ? 0 : seconds_first;
    const double wanted_s = after && *after ? strtod(after, NULL) : usual_s;
    const bool wants_own = way && !strcmp(way, "plain");
    double most[] = {hl_mpi_may_have_device_memory() || wants_own,
                     hl_mpi_hooks_live() >= COMMS_MOST, self->spent_s, wanted_s <= 0};
    if (PMPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_DOUBLE, MPI_MAX, mpi))
        return;
    self->is_left = most[0] > 0;
    const bool is_worth_it = most[3] > 0 || (self->calls >= CALLS_FIRST && most[2] >= wanted_s);
    if (!self->is_left && !(most[1] > 0) && is_worth_it)
        open_comm(self, mpi);
}

/* Whether this call is haul's: alike on all processes, for it rests on what they have in common. */
static bool is_hauls(hl_mpi_hook *self, MPI_Comm mpi)
{
    if (!self || self->is_left)
        return false;
    const unsigned long calls = ++self->calls;
    const bool has_doubled = calls >= CALLS_FIRST && !(calls & (calls - 1));
    if (!self->comm && (calls == 1 || has_doubled))
        look_at_calls(self, mpi);
    return self->comm;
}

static haul_status run_collective(haul_comm *comm, const hl_mpi_side *out, const hl_mpi_side *in,
                                  bool in_place, bool is_alike, haul_error *error)
{
    const haul_address send = in_place ? haul_in_place() : haul_in_host(out->at);
    if (is_alike)
        return haul_comm_alltoall(comm, send, haul_in_host(in->at), in->counts[0], error);
    const haul_alltoallv_blocks blocks = {send,
                                          {out->counts, out->displacements},
                                          haul_in_host(in->at),
                                          {in->counts, in->displacements},
                                          1};
    return haul_comm_alltoallv(comm, &blocks, error);
}

/* Sets *code where the call is over; false: MPI's own call is to be made, as it was given. */
static bool exchange_by_haul(hl_mpi_hook *self, const hl_mpi_given *from, const hl_mpi_given *to,
                             MPI_Comm mpi, int *code)
{
    const int peers = haul_comm_size(self->comm);
    const bool in_place = from->at == MPI_IN_PLACE;
    hl_mpi_side out = {.at = NULL}, in = {.at = NULL};
    haul_error error = {.status = HAUL_STATUS_NO_MEMORY, .text = "out of memory"};
    haul_status status = HAUL_OK;
    if (!hl_mpi_side_check(to, peers) || (!in_place && !hl_mpi_side_check(from, peers)))
        return false;
    if (!hl_mpi_side_make(&in, to, peers) || (!in_place && !hl_mpi_side_make(&out, from, peers)))
        status = HAUL_STATUS_NO_MEMORY;
    *code = MPI_SUCCESS;
    if (!status)
        *code = in_place ? hl_mpi_side_pack(&in, to, peers, mpi)
                         : hl_mpi_side_pack(&out, from, peers, mpi);
    if (!status && !*code)
        status = run_collective(self->comm, &out, &in, in_place, !to->counts, &error);
    if (!status && !*code)
        *code = hl_mpi_side_unpack(&in, to, peers, mpi);
    hl_mpi_side_free(&in);
    hl_mpi_side_free(&out);
    if (!status)
        return true;
    /* what was wrong with one call ends no other: the next are MPI's own, and so is this one where
     * the process with the error made its earlier one without haul */
    self->is_left = true;
    if (haul_comm_failed_before(self->comm))
        return false;
    (void)fprintf(stderr, "haul: %s\n", error.text);
    *code = haul_comm_mpi_error(self->comm)   ? haul_comm_mpi_error(self->comm)
            : status == HAUL_STATUS_NO_MEMORY ? MPI_ERR_NO_MEM
                                              : MPI_ERR_TRUNCATE;
    (void)PMPI_Comm_call_errhandler(mpi, *code);
    return true;
}

/* Of a block of MPI_Alltoall. */
static uint64_t bytes_of(const hl_mpi_given *given)
{
    int size = 0;
    if (given->type != MPI_DATATYPE_NULL)
        (void)PMPI_Type_size(given->type, &size);
    return size > 0 && given->count > 0 ? (uint64_t)size * (uint64_t)given->count : 0;
}

/* Only until haul looks at the calls is their time of interest. */
static bool is_timed(const hl_mpi_hook *self)
{
    return self && !self->is_left && !self->comm && self->calls % TIMED == 0;
}

static double clock_of(const hl_mpi_hook *self)
{
    return is_timed(self) ? MPI_Wtime() : 0;
}

/* Looks are at powers of two, so that timed calls are among those before them. */
static void note_spent(hl_mpi_hook *self, double since)
{
    if (is_timed(self))
        self->spent_s += TIMED * (MPI_Wtime() - since);
    if (self && !self->comm)
        self->quiet_until = self->is_left ? ULONG_MAX : (self->calls / TIMED + 1) * TIMED - 1;
}

/* Most calls: nothing is to be done, and nothing is set up. */
static bool is_quiet(hl_mpi_hook *self)
{
    if (!self || self->calls >= self->quiet_until)
        return false;
    self->calls += !self->is_left;
    return true;
}

// NOLINTBEGIN(readability-function-size): MPI's parameters

static int exchange_of_host(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                            int receive_count, MPI_Datatype receive_type, MPI_Comm mpi)
{
    hl_mpi_hook *self = hl_mpi_hook_of(mpi);
    int code;
    if (is_quiet(self))
        return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type,
                             mpi);
    const hl_mpi_given from = {(void *)send, NULL, NULL, send_count, send_type};
    const hl_mpi_given to = {receive, NULL, NULL, receive_count, receive_type};
    if (is_hauls(self, mpi) &&
        !haul_comm_leaves_next(self->comm, HAUL_EXCHANGE_ALL, bytes_of(&to)) &&
        exchange_by_haul(self, &from, &to, mpi, &code))
        return code;
    const double since = clock_of(self);
    code = PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, mpi);
    note_spent(self, since);
    return code;
}

static int exchange_v_of_host(const void *send, const int *send_counts, const int *send_places,
                              MPI_Datatype send_type, void *receive, const int *receive_counts,
                              const int *receive_places, MPI_Datatype receive_type, MPI_Comm mpi)
{
    hl_mpi_hook *self = hl_mpi_hook_of(mpi);
    int code;
    const bool is_given = receive_counts && (send == MPI_IN_PLACE || send_counts);
    if (is_given && is_quiet(self))
        return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts,
                              receive_places, receive_type, mpi);
    const hl_mpi_given from = {(void *)send, send_counts, send_places, 0, send_type};
    const hl_mpi_given to = {receive, receive_counts, receive_places, 0, receive_type};
    if (is_given && is_hauls(self, mpi) &&
        !haul_comm_leaves_next(self->comm, HAUL_EXCHANGE_ALL_V, 0) &&
        exchange_by_haul(self, &from, &to, mpi, &code))
        return code;
    const double since = clock_of(self);
    code = PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts,
                          receive_places, receive_type, mpi);
    note_spent(self, since);
    return code;
}

/* Of a GPU's memory, or of a call before which all processes agree. */
static int exchange_staged(haul_call *call, bool is_due, const void *send, void *receive)
{
    const haul_call_side *from = &call->send, *into = &call->receive;
    hl_mpi_staged to;
    int code;
    if (is_due && hl_mpi_made_in_pieces(call, send, receive, &code))
        return code;
    code = hl_mpi_staged_begin(&to, call, send, receive);
    if (code)
        return code;
    code = call->kind == HAUL_CALL_ALLTOALL
               ? exchange_of_host(to.send, from->count, from->type, to.receive, into->count,
                                  into->type, call->over)
               : exchange_v_of_host(to.send, from->counts, from->places, from->type, to.receive,
                                    into->counts, into->places, into->type, call->over);
    return hl_mpi_staged_end(&to, code);
}

static bool is_wrong(const void *at, int count, MPI_Datatype type)
{
    return at != MPI_IN_PLACE && (count < 0 || type == MPI_DATATYPE_NULL);
}

HAUL_API int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                          int receive_count, MPI_Datatype receive_type, MPI_Comm mpi)
{
    if (is_wrong(send, send_count, send_type) || is_wrong(NULL, receive_count, receive_type))
        return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type,
                             mpi);
    const bool is_due = hl_mpi_count_each(mpi, receive_count, receive_type, false) == HL_MPI_DUE;
    if (!is_due && !hl_mpi_needs_staging(send, receive))
        return exchange_of_host(send, send_count, send_type, receive, receive_count, receive_type,
                                mpi);
    haul_call call = {.kind = HAUL_CALL_ALLTOALL,
                      .send = {.count = send_count, .type = send_type},
                      .receive = {.count = receive_count, .type = receive_type},
                      .over = mpi};
    return exchange_staged(&call, is_due, send, receive);
}

HAUL_API int MPI_Alltoallv(const void *send, const int *send_counts, const int *send_places,
                           MPI_Datatype send_type, void *receive, const int *receive_counts,
                           const int *receive_places, MPI_Datatype receive_type, MPI_Comm mpi)
{
    const bool in_place = send == MPI_IN_PLACE;
    const bool is_refused =
        receive_type == MPI_DATATYPE_NULL || (!in_place && send_type == MPI_DATATYPE_NULL);
    const hl_mpi_due due =
        hl_mpi_count_v(mpi, in_place ? NULL : send_counts, receive_counts, is_refused);
    if (due == HL_MPI_REFUSED)
        return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts,
                              receive_places, receive_type, mpi);
    if (due == HL_MPI_NOT_DUE && !hl_mpi_needs_staging(send, receive))
        return exchange_v_of_host(send, send_counts, send_places, send_type, receive,
                                  receive_counts, receive_places, receive_type, mpi);
    haul_call call = {
        .kind = HAUL_CALL_ALLTOALL_V,
        .send = {.counts = send_counts, .places = send_places, .type = send_type},
        .receive = {.counts = receive_counts, .places = receive_places, .type = receive_type},
        .over = mpi};
    return exchange_staged(&call, due == HL_MPI_DUE, send, receive);
}

// NOLINTEND(readability-function-size)

/* While MPI still runs: attributes of the world are else deleted when it no longer does. */
HAUL_API int MPI_Finalize(void)
{
    const hl_mpi_hook *self = hl_mpi_hook_find(MPI_COMM_WORLD);
    int rank = 0;
    const char *explains = getenv("HAUL_MPI_EXPLAIN");
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *said = self && self->comm ? haul_comm_explain(self->comm) : "";
    if (!rank && explains && *explains == '1' && *said)
        (void)fputs(said, stderr);
    else if (!rank && explains && *explains == '1')
        (void)fprintf(stderr, "haul: all %lu all-to-alls of all processes were MPI's own\n",
                      self ? self->calls : 0UL);
    hl_mpi_hook_drop(MPI_COMM_WORLD);
    hl_mpi_pending_forget();
    hl_mpi_preload_close_devices();
    return PMPI_Finalize();
}
