/* Calls of libhaul-mpi are MPI's own until another way has been faster in trials; trials cost
 * little. The program stands before the MPI: it counts what haul calls, and makes ways slow. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "haul/mpi.h"

enum { BYTES = 64, PROCESSES_MOST = 8, QUIET_CALLS = 255, CALLS_MOST = 400, SLOW_MS = 10 };

static int rank, size;
static unsigned long failures, own_calls, agreements, messages;
static bool own_is_slow, message_is_slow;

static void fail(const char *what, unsigned long number)
{
    failures++;
    fprintf(stderr, "rank %d: %s: %lu\n", rank, what, number);
}

static void slow_down(bool is_slow)
{
    if (is_slow)
        nanosleep(&(struct timespec){.tv_nsec = SLOW_MS * 1000000L}, NULL);
}

int MPI_Isend(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    messages++;
    slow_down(message_is_slow);
    return PMPI_Isend(at, count, type, to, tag, comm, request);
}

int MPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    agreements++;
    return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
}

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
int PMPI_Alltoallv(const void *send, const int *sends, const int *from, MPI_Datatype send_type,
                   void *receive, const int *receives, const int *to, MPI_Datatype receive_type,
                   MPI_Comm comm)
{
    static int (*own)(const void *, const int *, const int *, MPI_Datatype, void *, const int *,
                      const int *, MPI_Datatype, MPI_Comm);
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "PMPI_Alltoallv");
    own_calls++;
    slow_down(own_is_slow);
    return own(send, sends, from, send_type, receive, receives, to, receive_type, comm);
}

static haul_comm *open_comm(double trial_share)
{
    const haul_comm_options options = {.trial_share = trial_share};
    haul_comm *comm = NULL;
    haul_error error;
    if (haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error)) {
        fprintf(stderr, "%s\n", error.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    own_calls = agreements = messages = 0;
    return comm;
}

static void exchange(haul_comm *comm, bool is_v)
{
    static char sent[PROCESSES_MOST * BYTES], got[PROCESSES_MOST * BYTES];
    size_t counts[PROCESSES_MOST];
    haul_error error;
    for (int i = 0; i < PROCESSES_MOST; i++)
        counts[i] = BYTES;
    const haul_alltoallv_blocks blocks = {
        haul_in_host(sent), {counts, NULL}, haul_in_host(got), {counts, NULL}, 1};
    const haul_status status =
        is_v ? haul_comm_alltoallv(comm, &blocks, &error)
             : haul_comm_alltoall(comm, haul_in_host(sent), haul_in_host(got), BYTES, &error);
    if (status)
        fail(error.text, status);
}

/* A short program is MPI's own calls, and no others. */
static void short_programs_pay_nothing(void)
{
    haul_comm *comm = open_comm(0);
    for (int i = 0; i < QUIET_CALLS; i++)
        for (int is_v = 0; is_v < 2; is_v++)
            exchange(comm, is_v);
    if (own_calls != QUIET_CALLS)
        fail("MPI's own all-to-all-vs of a short program", own_calls);
    if (agreements || messages)
        fail("further messages of a short program", agreements + messages);
    haul_comm_free(comm);
}

/* A way that is slow is tried once, and then not before the program has earned it. */
static void slow_ways_are_rare(void)
{
    enum { CALLS = 2000 };
    haul_comm *comm = open_comm(0);
    message_is_slow = true;
    for (int i = 0; i < CALLS; i++)
        exchange(comm, true);
    message_is_slow = false;
    if (!messages || messages > 3UL * (unsigned long)(size - 1))
        fail("messages of a slow way", messages);
    haul_comm_free(comm);
}

/* Calls until `wanted` is the way of five in a row, trials of others among them. */
static void call_until(haul_comm *comm, haul_way wanted)
{
    enum { RUN = 5 };
    int run = 0, calls = 0;
    while (run < RUN && calls++ < CALLS_MOST) {
        exchange(comm, true);
        run = haul_comm_way(comm) == wanted ? run + 1 : 0;
    }
    if (run < RUN)
        fail(haul_way_text(wanted, HAUL_MEMORY_HOST), (unsigned long)calls);
}

/* Once a way is proven it runs, and when times change it goes again. */
static void faster_ways_run(void)
{
    haul_comm *comm = open_comm(1);
    own_is_slow = true;
    call_until(comm, HAUL_WAY_DIRECT);
    own_is_slow = false;
    message_is_slow = true;
    call_until(comm, HAUL_WAY_PLAIN);
    message_is_slow = false;
    haul_comm_free(comm);
}

/* Calls that go to MPI at once are told of like others. */
static void left_calls_are_explained(void)
{
    haul_comm *comm = open_comm(0);
    char expected[80];
    (void)snprintf(expected, sizeof expected, " %d bytes in %d messages of this one: plain",
                   (size - 1) * BYTES, size - 1);
    for (int i = 0; i < 3; i++) {
        exchange(comm, false);
        exchange(comm, true);
        if (!strstr(haul_comm_explain(comm), expected))
            fail(haul_comm_explain(comm), (unsigned long)i);
    }
    exchange(comm, false);
    if (!strstr(haul_comm_explain(comm), "of one: plain"))
        fail(haul_comm_explain(comm), 3);
    haul_comm_free(comm);
}

/* A library before the MPI asks whether the next call is left to it. */
static void own_calls_are_left(void)
{
    enum { CALLS = 250 };
    haul_comm *comm = open_comm(0);
    unsigned long left = 0;
    for (int i = 0; i < CALLS; i++) {
        const bool leaves = haul_comm_leaves_next(comm, HAUL_EXCHANGE_ALL_V, 0);
        left += leaves;
        if (!leaves)
            exchange(comm, true);
    }
    if (left + own_calls != CALLS || left < CALLS * 3 / 4)
        fail("calls that were left", left);
    haul_comm_free(comm);
}

int main(int argc, char **argv)
{
    unsigned long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    short_programs_pay_nothing();
    slow_ways_are_rare();
    faster_ways_run();
    left_calls_are_explained();
    own_calls_are_left();
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes: %lu failures\n", size, all);
    MPI_Finalize();
    return all > 0;
}
