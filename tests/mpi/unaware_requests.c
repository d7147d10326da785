/* A program that knows nothing of haul and hands a GPU's memory to nonblocking and persistent calls
 * of an MPI that need not take it. Random calls are under way at once, with messages between, and
 * end by a random function: each gives what the call alone gives on the host. Not its blocking
 * form, which on a ring of two sees the neighbours the other way round. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "all_failures.h"
#include "cuda_memory.h"

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define INIT(name) MPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(name) MPIX_##name##_init
#endif

enum { BLOCK = 40, MOST = 8, INTS = 4 * MOST * BLOCK, CALLS = 4, REQUESTS = CALLS + 2 };
static const size_t BYTES = INTS * sizeof(int);

/* A call under way, its arguments and memory. */
typedef struct call {
    int kind;
    int on_host;
    int counts[MOST], places[MOST], bytes[MOST];
    MPI_Aint far[MOST];
    MPI_Datatype ints[MOST];
    int *host[2], *device[2], *expected;
} call;

static int rank, size, failures;
static MPI_Comm ring;
static MPI_Datatype column; /* every other int of BLOCK */
static call calls[CALLS];

/* Numbers that all processes draw alike, and each its own. */
static unsigned long long common = 1, own;

static int draw(unsigned long long *from, int below)
{
    *from = *from * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*from >> 33) % (unsigned)below);
}

#ifdef INIT
#define MAKE(name, lower, ...)                                                                     \
    (is_persistent ? INIT(name)(__VA_ARGS__, world, MPI_INFO_NULL, request)                        \
                   : MPI_I##lower(__VA_ARGS__, world, request))
#else
#define MAKE(name, lower, ...) MPI_I##lower(__VA_ARGS__, world, request)
#endif

enum { KINDS = 12 };

static void make(call *c, int is_persistent, const int *from, int *to, MPI_Request *request)
{
    (void)is_persistent;
    MPI_Comm world = c->kind >= 9 ? ring : MPI_COMM_WORLD;
    switch (c->kind) {
    case 0:
        MAKE(Alltoall, alltoall, from, BLOCK, MPI_INT, to, 1, column);
        break;
    case 1:
        MAKE(Alltoallv, alltoallv, from, c->counts, c->places, MPI_INT, to, c->counts, c->places,
             MPI_INT);
        break;
    case 2:
        MAKE(Alltoallw, alltoallw, from, c->counts, c->bytes, c->ints, to, c->counts, c->bytes,
             c->ints);
        break;
    case 3:
        MAKE(Allgather, allgather, from, BLOCK, MPI_INT, to, 1, column);
        break;
    case 4:
        MAKE(Allgatherv, allgatherv, from, rank + 1, MPI_INT, to, c->counts, c->places, MPI_INT);
        break;
    case 5:
        MAKE(Allreduce, allreduce, from, to, BLOCK, MPI_INT, MPI_SUM);
        break;
    case 6:
        MAKE(Allreduce, allreduce, MPI_IN_PLACE, to, BLOCK, MPI_INT, MPI_MAX);
        break;
    case 7:
        MAKE(Bcast, bcast, to, 1, column, size - 1);
        break;
    case 8:
        MAKE(Allgather, allgather, MPI_IN_PLACE, 0, MPI_INT, to, BLOCK, MPI_INT);
        break;
    case 9:
        MAKE(Neighbor_alltoall, neighbor_alltoall, from, BLOCK, MPI_INT, to, 1, column);
        break;
    case 10:
        MAKE(Neighbor_alltoallv, neighbor_alltoallv, from, c->counts, c->places, MPI_INT, to,
             c->counts, c->places, MPI_INT);
        break;
    default:
        MAKE(Neighbor_alltoallw, neighbor_alltoallw, from, c->counts, c->far, c->ints, to,
             c->counts, c->far, c->ints);
        break;
    }
}

/* No process is without something to send: Open MPI 4.1.4 then confuses its next calls. */
static void draw_call(call *c)
{
    c->kind = draw(&common, KINDS);
    c->on_host = !draw(&own, 4);
    for (int i = 0; i < MOST; i++) {
        c->counts[i] = c->kind == 4 ? i + 1 : c->kind < 3 ? (i + rank) % 3 * 10 + 1 : 7;
        c->places[i] = size > 1 ? i * BLOCK : 0;
        c->bytes[i] = c->places[i] * (int)sizeof(int);
        c->far[i] = c->bytes[i];
        c->ints[i] = MPI_INT;
    }
}

static void fill(call *c)
{
    MPI_Request request;
    for (int i = 0; i < INTS; i++) {
        c->host[0][i] = draw(&own, 1 << 30);
        c->host[1][i] = draw(&own, 1 << 30);
    }
    memcpy(c->expected, c->host[1], BYTES);
    make(c, 0, c->host[0], c->expected, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    cuda_memory_write(c->device[0], c->host[0], BYTES);
    cuda_memory_write(c->device[1], c->host[1], BYTES);
}

static void check(call *c, int is_persistent)
{
    if (!c->on_host)
        cuda_memory_read(c->host[1], c->device[1], BYTES);
    if (!memcmp(c->host[1], c->expected, BYTES))
        return;
    failures++;
    fprintf(stderr, "rank %d: call %d differs%s%s\n", rank, c->kind,
            is_persistent ? ", persistent" : "", c->on_host ? ", on the host" : "");
}

/* One request, by wait, test or a look before. */
static void finish_one(MPI_Request *request)
{
    int done = 0;
    if (draw(&own, 2))
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    done = 0;
    if (draw(&own, 2))
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else
        while (!done)
            MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void finish(MPI_Request requests[REQUESTS])
{
    int done = 0, indices[REQUESTS];
    switch (draw(&own, 7)) {
    case 0:
        for (int i = REQUESTS - 1; i >= 0; i--)
            finish_one(&requests[i]);
        break;
    case 1:
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
        break;
    case 2:
        while (!done)
            MPI_Testall(REQUESTS, requests, &done, MPI_STATUSES_IGNORE);
        break;
    case 3:
        while (done != MPI_UNDEFINED)
            MPI_Waitany(REQUESTS, requests, &done, MPI_STATUS_IGNORE);
        break;
    case 4:
        for (int flag; done != MPI_UNDEFINED; done = flag ? done : 0)
            MPI_Testany(REQUESTS, requests, &done, &flag, MPI_STATUS_IGNORE);
        break;
    case 5:
        while (done != MPI_UNDEFINED)
            MPI_Waitsome(REQUESTS, requests, &done, indices, MPI_STATUSES_IGNORE);
        break;
    default:
        while (done != MPI_UNDEFINED)
            MPI_Testsome(REQUESTS, requests, &done, indices, MPI_STATUSES_IGNORE);
        break;
    }
}

/* A message to the next process. */
static void post_messages(MPI_Request requests[2], const int *sent, int *received)
{
    MPI_Irecv(received, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[1]);
}

static void run_round(int is_persistent)
{
    MPI_Request requests[REQUESTS];
    const int rounds = is_persistent ? 3 : 1;
    for (int i = 0; i < CALLS; i++)
        draw_call(&calls[i]);
    for (int round = 0; round < rounds; round++) {
        int received = -1;
        for (int i = 0; i < CALLS; i++)
            fill(&calls[i]);
        post_messages(requests, &rank, &received);
        for (int i = 0; i < CALLS && !round; i++) {
            call *c = &calls[i];
            int **memory = c->on_host ? c->host : c->device;
            make(c, is_persistent, memory[0], memory[1], &requests[2 + i]);
        }
        if (is_persistent && draw(&common, 2))
            MPI_Startall(CALLS, requests + 2);
        else if (is_persistent)
            for (int i = 0; i < CALLS; i++)
                MPI_Start(&requests[2 + i]);
        finish(requests);
        for (int i = 0; i < CALLS; i++)
            check(&calls[i], is_persistent);
        failures += received != (rank + size - 1) % size;
    }
    for (int i = 0; is_persistent && i < CALLS; i++)
        MPI_Request_free(&requests[2 + i]);
}

int main(int argc, char **argv)
{
    int is_ring = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own = (unsigned long long)rank + 77;
    if (!cuda_memory_open())
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_vector(BLOCK, 1, 2, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, 2 * BLOCK * (MPI_Aint)sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_ring, 0, &ring);
    for (int i = 0; i < CALLS; i++) {
        calls[i].expected = malloc(BYTES);
        for (int side = 0; side < 2; side++) {
            calls[i].host[side] = malloc(BYTES);
            calls[i].device[side] = cuda_memory_new(BYTES);
        }
    }
    for (int i = 0; i < 40; i++) {
        run_round(0);
#ifdef INIT
        run_round(1);
#endif
    }
    for (int i = 0; i < CALLS; i++) {
        free(calls[i].expected);
        for (int side = 0; side < 2; side++) {
            free(calls[i].host[side]);
            cuda_memory_free(calls[i].device[side]);
        }
    }
    MPI_Comm_free(&ring);
    MPI_Type_free(&column);
    return all_failures(failures);
}
