/* A program that knows nothing of haul and hands MPI large pieces of a GPU's memory, which need not
 * take it: with the preloaded library calls go in pieces of HAUL_MPI_PIECE bytes, some processes'
 * memory is the host's, each call gives what it gives on the host, and programs of the host's
 * memory alone make their own calls and few others. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "all_failures.h"
#include "cuda_memory.h"

enum { LARGE = 20000, SMALL = 10, MOST = 4, INTS = 2 * MOST * LARGE, KINDS = 11, CALLS = 220 };
static const size_t bytes = INTS * sizeof(int);

static int failures, rank, size;
static unsigned long made; /* MPI's own calls, of the library too */

/* The program's stand before the MPI's. */
#define COUNTED(name, parameters, ...)                                                             \
    int PMPI_##name parameters                                                                     \
    {                                                                                              \
        static int(*own) parameters;                                                               \
        if (!own)                                                                                  \
            *(void **)&own = dlsym(RTLD_NEXT, "PMPI_" #name);                                      \
        made++;                                                                                    \
        return own(__VA_ARGS__);                                                                   \
    }

COUNTED(Allreduce,
        (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), from,
        to, count, type, op, comm)
COUNTED(Bcast, (void *at, int count, MPI_Datatype type, int root, MPI_Comm comm), at, count, type,
        root, comm)
COUNTED(Alltoallv,
        (const void *from, const int *counts, const int *places, MPI_Datatype type, void *to,
         const int *to_counts, const int *to_places, MPI_Datatype to_type, MPI_Comm comm),
        from, counts, places, type, to, to_counts, to_places, to_type, comm)

/* Numbers that all processes draw alike, and each its own. */
static unsigned long long common = 1, own_state;

static int draw(unsigned long long *from, int below)
{
    *from = *from * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*from >> 33) % (unsigned)below);
}

/* --- a call, by MPI's or PMPI's names */

typedef struct call {
    int kind, block, root, processes;
    MPI_Comm comm;
    int counts[MOST], places[MOST], byte_places[MOST];
    MPI_Aint far[MOST];
    MPI_Datatype ints[MOST];
} call;

static MPI_Comm ring;
static MPI_Datatype pair; /* two ints with one between */

#define MAKE(prefix)                                                                               \
    static int prefix##make(const call *c, const void *from, void *to)                             \
    {                                                                                              \
        const int n = c->block;                                                                    \
        switch (c->kind) {                                                                         \
        case 0:                                                                                    \
            return prefix##Alltoall(from, n, MPI_INT, to, n, MPI_INT, c->comm);                    \
        case 1:                                                                                    \
            return prefix##Alltoallv(from, c->counts, c->places, MPI_INT, to, c->counts,           \
                                     c->places, MPI_INT, c->comm);                                 \
        case 2:                                                                                    \
            return prefix##Alltoallw(from, c->counts, c->byte_places, c->ints, to, c->counts,      \
                                     c->byte_places, c->ints, c->comm);                            \
        case 3:                                                                                    \
            return prefix##Allgather(from, n, MPI_INT, to, n, MPI_INT, c->comm);                   \
        case 4:                                                                                    \
            return prefix##Allgatherv(from, c->counts[0], MPI_INT, to, c->counts, c->places,       \
                                      MPI_INT, c->comm);                                           \
        case 5:                                                                                    \
            return prefix##Allreduce(from, to, n, MPI_INT, MPI_SUM, c->comm);                      \
        case 6:                                                                                    \
            return prefix##Bcast(to, n / 2, pair, c->root, c->comm);                               \
        case 7:                                                                                    \
            return prefix##Neighbor_alltoall(from, n, MPI_INT, to, n, MPI_INT, ring);              \
        case 8:                                                                                    \
            return prefix##Neighbor_alltoallv(from, c->counts, c->places, MPI_INT, to, c->counts,  \
                                              c->places, MPI_INT, ring);                           \
        case 9:                                                                                    \
            return prefix##Neighbor_alltoallw(from, c->counts, c->far, c->ints, to, c->counts,     \
                                              c->far, c->ints, ring);                              \
        default:                                                                                   \
            return prefix##Allreduce(from, to, n, MPI_INT, MPI_MAX, c->comm);                      \
        }                                                                                          \
    }

MAKE(MPI_)
MAKE(PMPI_)

/* Counts of all-to-alls differ by distance, alike at both ends; others' are alike on all. */
static void draw_call(call *c, MPI_Comm comm)
{
    const int is_large = draw(&common, 4) > 0;
    const int base = is_large ? LARGE - 2 * draw(&common, 1000) : SMALL;
    int own_rank;
    *c = (call){.kind = draw(&common, KINDS), .block = base, .comm = comm};
    MPI_Comm_rank(comm, &own_rank);
    MPI_Comm_size(comm, &c->processes);
    c->root = draw(&common, c->processes);
    for (int i = 0; i < MOST; i++) {
        const int apart = c->kind == 1 || c->kind == 2 ? abs(i - own_rank) : 0;
        c->counts[i] = base / (1 + apart);
        c->places[i] = i * LARGE;
        c->byte_places[i] = c->processes > 1 ? i * LARGE * (int)sizeof(int) : 0;
        c->far[i] = c->byte_places[i];
        c->ints[i] = MPI_INT;
    }
}

static int *host[2], *expected, *device[2];

static void fill(int *at, int seed)
{
    for (int i = 0; i < INTS; i++)
        at[i] = i * 7 + seed;
}

/* In place where MPI has it, now and then. */
static void try_call(const call *c, int on_host, const char *what)
{
    const int in_place = (c->kind < 6 && !c->root && c->block % 3 == 0);
    fill(host[0], rank * 1000);
    fill(host[1], -rank);
    memcpy(expected, host[1], bytes);
    PMPI_make(c, in_place ? MPI_IN_PLACE : host[0], expected);
    if (on_host) {
        MPI_make(c, in_place ? MPI_IN_PLACE : host[0], host[1]);
    } else {
        cuda_memory_write(device[0], host[0], bytes);
        cuda_memory_write(device[1], host[1], bytes);
        MPI_make(c, in_place ? MPI_IN_PLACE : device[0], device[1]);
        cuda_memory_read(host[1], device[1], bytes);
    }
    if (!memcmp(host[1], expected, bytes))
        return;
    failures++;
    fprintf(stderr, "rank %d of %d: %s: call %d of %d%s differs%s\n", rank, size, what, c->kind,
            c->block, in_place ? ", in place," : "", on_host ? ", on the host" : "");
}

/* Bytes of 1,000 calls: a look at the first and then ever more seldom. */
static void host_calls_stay(void)
{
    enum { REPEATS = 1000 };
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int large = 0; large < 2; large++) {
        const unsigned long before = made;
        for (int i = 0; i < REPEATS; i++)
            MPI_Allreduce(host[0], host[1], large ? LARGE : SMALL, MPI_INT, MPI_SUM, comm);
        const unsigned long extra = made - before - REPEATS;
        if (extra > (large ? 24 : 0)) {
            failures++;
            fprintf(stderr, "%lu calls beside %d of the program\n", extra, REPEATS);
        }
    }
    MPI_Comm_free(&comm);
}

/* The number of MPI's own calls of one of the program's. */
static void expect_calls(const call *c, unsigned long least, unsigned long most)
{
    memset(host[0], 0, bytes);
    const unsigned long before = made;
    MPI_make(c, device[0], device[1]);
    const unsigned long calls = made - before;
    if (calls >= least && calls <= most)
        return;
    failures++;
    fprintf(stderr, "rank %d: call %d in %lu of MPI's, not %lu to %lu\n", rank, c->kind, calls,
            least, most);
}

/* As many as pieces, and at most two to agree; the whole call where it is too small for pieces. */
static void pieces_are_counted(void)
{
    const char *text = getenv("HAUL_MPI_PIECE");
    const unsigned long piece = text ? strtoul(text, NULL, 10) : 1 << 20;
    const unsigned long all = LARGE * sizeof(int), is_cut = all / 2 >= piece;
    const unsigned long pieces = is_cut ? (all + piece - 1) / piece : 1;
    call c = {.kind = 5, .block = LARGE};
    if (size == 1)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &c.comm);
    for (c.kind = 5; c.kind < 7; c.kind++)
        for (int i = 0; i < 3; i++)
            expect_calls(&c, pieces > 1 ? pieces : 1, pieces > 1 ? pieces + 2 : 2);
    c.block = SMALL;
    for (c.kind = 5; c.kind < 7; c.kind++)
        expect_calls(&c, 1, 1);
    MPI_Comm_free(&c.comm);
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code)
        MPI_Error_class(code, &class);
    return class;
}

static void expect_class(int code, int expected_class, const char *what)
{
    const int class = class_of(code);
    if (class == expected_class)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s: error class %d, not %d\n", rank, what, class, expected_class);
}

/* Calls that MPI refuses, with its error class, whatever their memory. */
static void wrong_calls(const call *as, int *const memory[2])
{
    int negative[MOST] = {LARGE, -1, LARGE, LARGE};
    call wrong = *as;
    for (wrong.kind = 0; wrong.kind < 7; wrong.kind++)
        for (int way = 0; way < 3; way++) {
            wrong.block = way == 0 ? -2 : LARGE;
            wrong.root = way == 1 ? size : 0;
            memcpy(wrong.counts, way == 2 ? negative : as->counts, sizeof negative);
            const int is_wrong = wrong.kind == 6                      ? way < 2
                                 : wrong.kind == 1 || wrong.kind == 2 ? way == 2 && size > 1
                                 : wrong.kind == 4                    ? 0
                                                                      : way == 0;
            if (is_wrong)
                expect_class(MPI_make(&wrong, memory[0], memory[1]),
                             class_of(PMPI_make(&wrong, host[0], host[1])), "a wrong call");
        }
    expect_class(MPI_Allreduce(memory[0], memory[1], LARGE, MPI_INT, MPI_OP_NULL, as->comm),
                 MPI_ERR_OP, "no operation");
    expect_class(
        MPI_Allreduce(memory[0], memory[1], LARGE, MPI_DATATYPE_NULL, MPI_SUM, as->comm),
        class_of(PMPI_Allreduce(host[0], host[1], LARGE, MPI_DATATYPE_NULL, MPI_SUM, as->comm)),
        "no datatype");
}

/* One process alone makes wrong calls, and then right ones with all others. */
static void errors_are_mpis(void)
{
    call c = {.kind = 5, .block = LARGE};
    MPI_Comm_dup(MPI_COMM_WORLD, &c.comm);
    MPI_Comm_set_errhandler(c.comm, MPI_ERRORS_RETURN);
    for (int k = 0; k < MOST; k++) {
        c.counts[k] = LARGE;
        c.places[k] = k * LARGE;
        c.byte_places[k] = size > 1 ? k * LARGE * (int)sizeof(int) : 0;
        c.ints[k] = MPI_INT;
    }
    for (int i = 0; i < 12; i++) {
        if (!rank)
            wrong_calls(&c, i % 2 ? device : host);
        c.kind = 4 + i % 3;
        try_call(&c, rank % 2, "after an error");
    }
    const int count = rank == size - 1 && size > 1 ? LARGE - 1 : LARGE;
    expect_class(MPI_Bcast(device[1], count, MPI_INT, 0, c.comm),
                 count < LARGE ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "a message that is too long");
    try_call(&c, 0, "after too long a message");
    MPI_Comm_free(&c.comm);
}

int main(int argc, char **argv)
{
    int sources[2], targets[2], weights[2] = {1, 1};
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own_state = (unsigned long long)rank + 77;
    if (!cuda_memory_open())
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 2; i++) {
        host[i] = malloc(bytes);
        device[i] = cuda_memory_new(bytes);
        sources[i] = (rank + size - 1) % size;
        targets[i] = (rank + 1) % size;
    }
    expected = malloc(bytes);
    host_calls_stay();
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 3 * (MPI_Aint)sizeof(int), &pair);
    MPI_Type_commit(&pair);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 2, targets, weights,
                                   MPI_INFO_NULL, 0, &ring);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comms[2]);
    for (int i = 0; i < CALLS; i++) {
        call c;
        /* some calls are of the host's memory on all */
        const int all_on_host = !draw(&common, 4);
        draw_call(&c, comms[draw(&common, 3)]);
        try_call(&c, all_on_host || !draw(&own_state, 3), "a random call");
    }
    pieces_are_counted();
    errors_are_mpis();
    for (int i = 0; i < 2; i++) {
        MPI_Comm_free(&comms[1 + i]);
        cuda_memory_free(device[i]);
        free(host[i]);
    }
    free(expected);
    MPI_Comm_free(&ring);
    MPI_Type_free(&pair);
    return all_failures(failures);
}
