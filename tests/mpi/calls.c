/* Collective calls of device memory and host memory, of random datatypes, beside MPI's own of host
 * copies, byte for byte, gaps too. The device is `sim`, which MPI does not know, or does, and which
 * runs its copies in the usual order, as late as it may, or in any order; or another, which MPI
 * does not know. usage: calls [SEED [DEVICE]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/device_test.h"
#include "haul/mpi.h"
#include "moved.h"

enum { TYPES = 11, BLOCKS_MOST = 64, CALLS = 60, BASE = 2048 };

static int rank, size;
static unsigned long failures, calls_made, calls_cut;
static unsigned long state, own_state;

/* The same numbers on all processes. */
static unsigned pick(unsigned most)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(state >> 33) % most;
}

static unsigned pick_own(unsigned most)
{
    own_state = own_state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(own_state >> 33) % most;
}

/* --- datatypes of ints */

typedef struct int_type {
    MPI_Datatype type;
    int ints;
    bool is_interleaved; /* items lie between each other's ints */
} int_type;

static int_type types[TYPES];

static void make_types(void)
{
    int lengths[] = {2, 1}, places[] = {4, 0};
    int sizes[] = {4, 5, 6}, box[] = {2, 3, 2}, first[] = {1, 1, 3};
    MPI_Aint far[] = {8, 40}, apart[] = {24, 0, 8};
    MPI_Datatype column;
    types[0] = (int_type){MPI_INT, 1, false};
    MPI_Type_contiguous(3, MPI_INT, &types[1].type);
    types[1].ints = 3;
    MPI_Type_vector(3, 2, 5, MPI_INT, &types[2].type);
    types[2].ints = 6;
    MPI_Type_vector(4, 1, 3, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, 4, &types[3].type);
    MPI_Type_free(&column);
    types[3].ints = 4;
    types[3].is_interleaved = true;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &types[4].type);
    types[4].ints = 3;
    MPI_Datatype parts[] = {MPI_INT, types[2].type};
    MPI_Type_create_struct(2, lengths, far, parts, &types[5].type);
    types[5].ints = 8;
    MPI_Type_create_subarray(3, sizes, box, first, MPI_ORDER_C, MPI_INT, &types[6].type);
    types[6].ints = 12;
    MPI_Type_create_hvector(3, 1, -8, MPI_INT, &types[7].type);
    types[7].ints = 3;
    MPI_Type_create_subarray(3, sizes, box, first, MPI_ORDER_FORTRAN, types[1].type,
                             &types[8].type);
    types[8].ints = 36;
    MPI_Type_create_hindexed_block(3, 1, apart, MPI_INT, &types[9].type);
    types[9].ints = 3;
    MPI_Type_dup(types[5].type, &types[10].type);
    types[10].ints = 8;
    for (int i = 1; i < TYPES; i++)
        MPI_Type_commit(&types[i].type);
}

static void free_types(void)
{
    for (int i = 1; i < TYPES; i++)
        MPI_Type_free(&types[i].type);
}

/* --- a call */

typedef struct setup {
    haul_comm *comm;
    haul_device *device;
    MPI_Comm mpi;         /* of the haul_comm, or over which it calls */
    bool is_over;         /* some processes make MPI's own call */
    uint64_t piece_bytes; /* of calls over it; 0: none is cut */
    bool is_cart, is_graph;
    int in, out; /* neighbours */
    int sources[BLOCKS_MOST], targets[BLOCKS_MOST];
    const char *name;
} setup;

typedef struct side {
    int counts[BLOCKS_MOST], places[BLOCKS_MOST];
    MPI_Aint far_places[BLOCKS_MOST];
    MPI_Datatype types[BLOCKS_MOST];
    int count, blocks;
    const int_type *type;
    size_t bytes;
    char *host, *expected; /* BASE bytes before the address */
    haul_buffer *buffer;   /* NULL: in host memory */
} side;

static void fail(const setup *of, const haul_call *call, const char *what, const haul_error *error)
{
    failures++;
    fprintf(stderr, "rank %d of %d, %s: call %d, %s: %s\n", rank, size, of->name,
            call ? (int)call->kind : -1, what, error ? error->text : "differs");
}

static bool is_v(haul_call_kind kind)
{
    return kind == HAUL_CALL_ALLTOALL_V || kind == HAUL_CALL_NEIGHBOR_ALLTOALL_V ||
           kind == HAUL_CALL_ALLGATHER_V;
}

static bool is_w(haul_call_kind kind)
{
    return kind == HAUL_CALL_ALLTOALL_W || kind == HAUL_CALL_NEIGHBOR_ALLTOALL_W;
}

/* Blocks one behind the other with gaps between; those of one count lie as MPI has them. */
static void place_blocks(side *self, haul_call_kind kind)
{
    MPI_Aint low, extent, true_low, true_extent, at = 0;
    const MPI_Datatype type = self->type->type;
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_get_true_extent(type, &true_low, &true_extent);
    for (int i = 0; i < self->blocks; i++) {
        const int count = self->counts[i];
        const MPI_Aint last = count ? (count - 1) * extent : 0;
        MPI_Aint place = i * self->count * extent;
        if (is_w(kind) && size > 1) /* Open MPI counts in extents where there is one process */
            place = at - true_low + 4 * (MPI_Aint)pick_own(3);
        if (is_v(kind))
            place = (at - true_low + extent - 1) / extent * extent + extent * (MPI_Aint)pick_own(2);
        self->types[i] = type;
        self->places[i] = (int)(is_v(kind) ? place / extent : place);
        self->far_places[i] = place;
        if (count)
            at = place + last + true_low + true_extent;
    }
    self->bytes = BASE + (size_t)at + 64;
}

/* Counts that both ends agree on, of `unit` ints: each end has its own datatype. */
static void fill_counts(side *self, const int *units, bool is_alike, int unit)
{
    const int each = unit / self->type->ints;
    for (int i = 0; i < self->blocks; i++)
        self->counts[i] = units[is_alike ? 0 : i] * each;
    self->count = units[0] * each;
}

static void fill_bytes(char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (char)pick_own(256);
}

/* Memory with the same bytes for haul and for MPI. */
static haul_status open_side(const setup *of, side *self, bool on_device, haul_error *error)
{
    self->host = malloc(self->bytes);
    self->expected = malloc(self->bytes);
    fill_bytes(self->host, self->bytes);
    memcpy(self->expected, self->host, self->bytes);
    if (!on_device)
        return HAUL_OK;
    const haul_status status =
        haul_buffer_new(of->device, HAUL_BUFFER_DEVICE, self->bytes, &self->buffer, error);
    return status ? status : move(of->device, self->buffer, self->host, self->bytes, true, error);
}

static haul_address address_of(const side *self)
{
    return self->buffer ? haul_in_buffer(self->buffer, BASE) : haul_in_host(self->host + BASE);
}

static void close_side(side *self)
{
    free(self->host);
    free(self->expected);
    haul_buffer_free(self->buffer);
}

static void set_side(haul_call_side *to, const side *from)
{
    *to = (haul_call_side){.at = address_of(from),
                           .count = from->count,
                           .type = from->type->type,
                           .counts = from->counts,
                           .places = from->places,
                           .far_places = from->far_places,
                           .types = from->types};
}

static int call_mpi(const haul_call *call, MPI_Comm mpi, const void *send, void *receive)
{
    const haul_call_side *s = &call->send, *r = &call->receive;
    switch (call->kind) {
    case HAUL_CALL_ALLTOALL:
        return MPI_Alltoall(send, s->count, s->type, receive, r->count, r->type, mpi);
    case HAUL_CALL_ALLTOALL_V:
        return MPI_Alltoallv(send, s->counts, s->places, s->type, receive, r->counts, r->places,
                             r->type, mpi);
    case HAUL_CALL_ALLTOALL_W:
        return MPI_Alltoallw(send, s->counts, s->places, s->types, receive, r->counts, r->places,
                             r->types, mpi);
    case HAUL_CALL_ALLGATHER:
        return MPI_Allgather(send, s->count, s->type, receive, r->count, r->type, mpi);
    case HAUL_CALL_ALLGATHER_V:
        return MPI_Allgatherv(send, s->count, s->type, receive, r->counts, r->places, r->type, mpi);
    case HAUL_CALL_ALLREDUCE:
        return MPI_Allreduce(send, receive, r->count, r->type, call->op, mpi);
    case HAUL_CALL_BCAST:
        return MPI_Bcast(receive, r->count, r->type, call->root, mpi);
    case HAUL_CALL_NEIGHBOR_ALLTOALL:
        return MPI_Neighbor_alltoall(send, s->count, s->type, receive, r->count, r->type, mpi);
    case HAUL_CALL_NEIGHBOR_ALLTOALL_V:
        return MPI_Neighbor_alltoallv(send, s->counts, s->places, s->type, receive, r->counts,
                                      r->places, r->type, mpi);
    default:
        return MPI_Neighbor_alltoallw(send, s->counts, s->far_places, s->types, receive, r->counts,
                                      r->far_places, r->types, mpi);
    }
}

/* --- random calls */

/* The numbers of units that go from each process to each, the same everywhere. After a nonblocking
 * call in which one process has nothing at all to send and receive Open MPI 4.1 hangs: `has_all`
 * makes none so. */
static void make_units(const setup *of, const haul_call *call, bool is_symmetric, bool has_all,
                       side *send, side *receive, int unit)
{
    static int matrix[BLOCKS_MOST][BLOCKS_MOST];
    int sends[BLOCKS_MOST] = {0}, receives[BLOCKS_MOST] = {0};
    const bool is_alike = !is_v(call->kind) && !is_w(call->kind);
    const bool is_near = call->kind >= HAUL_CALL_NEIGHBOR_ALLTOALL;
    const unsigned most = pick(4) ? 9 : 60;
    const int common = (int)pick(most);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            matrix[i][j] = is_alike ? common : pick(4) ? (int)pick(most) : 0;
            matrix[i][j] += has_all;
            if (is_symmetric && j < i)
                matrix[i][j] = matrix[j][i];
            if (call->kind == HAUL_CALL_ALLGATHER_V)
                matrix[i][j] = matrix[i][0];
        }
    for (int i = 0; i < send->blocks; i++)
        sends[i] = matrix[rank][is_near ? of->targets[i] : i];
    for (int i = 0; i < receive->blocks; i++)
        receives[i] = matrix[is_near ? of->sources[i] : i][rank];
    if (is_alike)
        sends[0] = receives[0] = matrix[0][0]; /* without a block, too */
    fill_counts(send, sends, is_alike, unit);
    fill_counts(receive, receives, is_alike, unit);
}

static int common_multiple(int a, int b)
{
    int x = a, y = b;
    while (y) {
        const int rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

static void choose_blocks(const setup *of, haul_call *call, side *send, side *receive)
{
    const bool is_gather = call->kind == HAUL_CALL_ALLGATHER || call->kind == HAUL_CALL_ALLGATHER_V;
    send->blocks = is_gather ? 1 : size;
    receive->blocks = size;
    if (call->kind == HAUL_CALL_ALLREDUCE || call->kind == HAUL_CALL_BCAST)
        send->blocks = receive->blocks = 1;
    if (call->kind >= HAUL_CALL_NEIGHBOR_ALLTOALL) {
        send->blocks = of->out;
        receive->blocks = of->in;
    }
}

/* Sums are of MPI's own types, one with a gap between its parts. */
static void choose_sum(haul_call *call, side *send, side *receive)
{
    static int_type sums[] = {{MPI_INT, 1, false}, {MPI_2INT, 2, false}, {MPI_SHORT_INT, 2, false}};
    const unsigned which = pick(3);
    if (call->kind != HAUL_CALL_ALLREDUCE)
        return;
    send->type = receive->type = &sums[which];
    call->op = which ? MPI_MINLOC : MPI_SUM;
}

/* Either way of making the call; some processes make MPI's own where they may. */
static haul_status make_call(const setup *of, haul_call *call, unsigned how, haul_error *error)
{
    haul_request *request = NULL;
    bool done = false;
    if (how == 0)
        return haul_call_run(of->comm, call, error);
    haul_status status = haul_request_new(of->comm, call, &request, error);
    /* what has come the first time is not sent the second: those in place are made once */
    for (unsigned i = 0; i < how && !status; i++) {
        status = haul_request_start(request, error);
        while (!status && i && !done)
            status = haul_request_test(request, &done, error);
        if (!status && !i)
            status = haul_request_finish(request, error);
    }
    haul_request_free(request);
    return status;
}

/* Over processes that share no haul_comm; one of them may lack its own. */
static bool is_cut(const setup *of, const haul_call *call, haul_status *status, haul_error *error)
{
    haul_pieces pieces = {.piece_bytes = of->piece_bytes};
    haul_comm *comm = pick(8) || rank ? of->comm : NULL;
    *status = haul_call_run_in_pieces(comm, call, &pieces, error);
    calls_cut += pieces.is_made;
    if (pieces.is_made && !pieces.gains)
        fail(of, call, "is cut without a gain", NULL);
    return pieces.is_made;
}

static bool has_gaps(const haul_call *call)
{
    return call->kind == HAUL_CALL_ALLREDUCE && call->receive.type == MPI_SHORT_INT;
}

/* MPI may write between a pair's parts. */
static void clear_gaps(char *bytes, int count)
{
    for (int i = 0; i < count; i++)
        memset(bytes + BASE + 8 * i + 2, 0, 2);
}

static void try_call(const setup *of, haul_call_kind kind)
{
    side send = {.count = 0}, receive = {.count = 0};
    haul_call call = {.kind = kind, .op = MPI_SUM, .root = (int)pick((unsigned)size)};
    haul_error error = {.status = HAUL_OK};
    const bool is_near = kind >= HAUL_CALL_NEIGHBOR_ALLTOALL;
    const bool in_place = !is_near && kind != HAUL_CALL_BCAST && !pick(3);
    const bool is_mixed = !pick(3);
    unsigned how = of->piece_bytes && pick(4) ? 0 : pick(3);
    choose_blocks(of, &call, &send, &receive);
    send.type = &types[pick(TYPES)];
    receive.type = &types[pick(TYPES)];
    if (receive.type->is_interleaved || in_place || kind == HAUL_CALL_BCAST)
        receive.type = &types[pick(3)];
    if (in_place)
        send.type = receive.type;
    choose_sum(&call, &send, &receive);
    make_units(of, &call, in_place, how > 0, &send, &receive,
               common_multiple(send.type->ints, receive.type->ints));
    place_blocks(&send, kind == HAUL_CALL_ALLGATHER_V ? HAUL_CALL_ALLGATHER : kind);
    place_blocks(&receive, kind);
    const bool on_host = is_mixed && pick_own(2);
    if (open_side(of, &send, !on_host, &error) || open_side(of, &receive, !on_host, &error)) {
        fail(of, &call, "opening", &error);
        return;
    }
    set_side(&call.send, &send);
    set_side(&call.receive, &receive);
    call_mpi(&call, of->mpi, in_place ? MPI_IN_PLACE : send.expected + BASE,
             receive.expected + BASE);
    if (is_near && !of->is_graph)
        how =
            0; /* a neighbour that is both: Open MPI's nonblocking calls take them the other way */
    if (in_place) {
        call.send.at = haul_in_place();
        how = how ? 1 : 0;
    }
    haul_status status = HAUL_OK;
    calls_made++;
    call.over = of->is_over ? of->mpi : (MPI_Comm)0;
    const bool is_made = of->piece_bytes && !how && is_cut(of, &call, &status, &error);
    if (!is_made && of->is_over && on_host && !how)
        call_mpi(&call, of->mpi, in_place ? MPI_IN_PLACE : send.host + BASE, receive.host + BASE);
    else if (!is_made)
        status = make_call(of, &call, how, &error);
    if (!status && receive.buffer)
        status = move(of->device, receive.buffer, receive.host, receive.bytes, false, &error);
    if (has_gaps(&call)) {
        clear_gaps(receive.host, receive.count);
        clear_gaps(receive.expected, receive.count);
    }
    if (status)
        fail(of, &call, "failed", &error);
    else if (memcmp(receive.host, receive.expected, receive.bytes) != 0)
        fail(of, &call, "receives", NULL);
    close_side(&send);
    close_side(&receive);
}

/* --- communicators */

static void make_cart(setup *of)
{
    int dimensions[2] = {0, 0}, periods[2] = {1, (int)pick(2)};
    MPI_Dims_create(size, 2, dimensions);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, 0, &of->mpi);
    of->in = of->out = 4;
    for (int d = 0; d < 2; d++) {
        MPI_Cart_shift(of->mpi, d, 1, &of->sources[2 * d], &of->sources[2 * d + 1]);
        for (int i = 0; i < 2; i++) /* a neighbour that there is not sends and gets as much */
            if (of->sources[2 * d + i] == MPI_PROC_NULL)
                of->sources[2 * d + i] = rank;
    }
    memcpy(of->targets, of->sources, sizeof of->sources);
}

static void make_graph(setup *of)
{
    int is_edge[BLOCKS_MOST][BLOCKS_MOST], weights[BLOCKS_MOST] = {0};
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            is_edge[i][j] = i == j || pick(2);
    for (int i = 0; i < size; i++) {
        if (is_edge[i][rank])
            of->sources[of->in++] = i;
        if (is_edge[rank][i])
            of->targets[of->out++] = i;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, of->in, of->sources, weights, of->out,
                                   of->targets, weights, MPI_INFO_NULL, 0, &of->mpi);
}

typedef struct variant {
    const char *name;
    bool is_aware, is_over, is_graph;
    haul_order order;
    uint64_t piece_bytes;
} variant;

static const char *device_name = "sim:lassen";

static void try_variant(const variant *is)
{
    setup of = {.is_over = is->is_over,
                .piece_bytes = is->is_over ? is->piece_bytes : 0,
                .is_graph = is->is_graph,
                .name = is->name};
    const haul_device_test test = {.order = is->order, .seed = 7 + (uint64_t)rank};
    const bool is_sim = !strncmp(device_name, "sim:", 4);
    const haul_device_options how = {.is_host_visible = is->is_aware,
                                     .test = is_sim ? &test : NULL};
    haul_error error;
    if (is->is_graph)
        make_graph(&of);
    else
        make_cart(&of);
    if (haul_device_open(device_name, &how, &of.device, &error)) {
        fail(&of, NULL, "opening", &error);
        return;
    }
    const haul_comm_options options = {
        .device = of.device, .is_device_aware = is->is_aware, .piece_bytes = is->piece_bytes};
    if (haul_comm_new(is->is_over ? MPI_COMM_SELF : of.mpi, &options, &of.comm, &error)) {
        fail(&of, NULL, "haul_comm_new", &error);
        return;
    }
    for (int i = 0; i < CALLS; i++) {
        haul_call_kind kind = (haul_call_kind)pick(HAUL_CALL_KINDS);
        /* a grid of one or two processes has a neighbour twice: MPIs differ about which is which */
        if (kind >= HAUL_CALL_NEIGHBOR_ALLTOALL && !is->is_graph && size > 1)
            kind = HAUL_CALL_NEIGHBOR_ALLTOALL;
        try_call(&of, kind);
    }
    haul_comm_free(of.comm);
    haul_device_close(of.device);
    MPI_Comm_free(&of.mpi);
}

int main(int argc, char **argv)
{
    static const variant variants[] = {
        {"in pieces", false, false, true, HAUL_ORDER_USUAL, 256},
        {"in pieces of the usual size", false, false, true, HAUL_ORDER_USUAL, 0},
        {"in pieces, late", false, false, true, HAUL_ORDER_LATE, 400},
        {"in pieces, in any order", false, false, false, HAUL_ORDER_RANDOM, 100},
        {"in pieces, a grid", false, false, false, HAUL_ORDER_LATE, 512},
        {"aware", true, false, true, HAUL_ORDER_USUAL, 256},
        {"over another communicator", false, true, true, HAUL_ORDER_RANDOM, 0},
        {"over another one in pieces", false, true, true, HAUL_ORDER_LATE, 200},
        {"over another one in any order", false, true, false, HAUL_ORDER_RANDOM, 100},
    };
    unsigned long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    own_state = state * 1000 + (unsigned long)rank;
    if (argc > 2)
        device_name = argv[2];
    haul_device *probe = NULL;
    haul_error absent;
    if (haul_device_open(device_name, NULL, &probe, &absent)) {
        printf("%s\n", absent.text);
        MPI_Finalize();
        return 77;
    }
    haul_device_close(probe);
    make_types();
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (argc < 3 || !variants[i].is_aware)
            try_variant(&variants[i]);
    free_types();
    failures += !calls_cut;
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes, %lu calls, %lu of them cut over another communicator: %lu failures\n",
               size, calls_made, calls_cut, all);
    MPI_Finalize();
    return all > 0;
}
