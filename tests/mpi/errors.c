/* An error on one process ends the exchange on all, with the reason: no process hangs.
 * usage: errors [dies] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/mpi.h"

enum { PROCESSES_MOST = 8, BYTES = 100000 };

static int rank, size;
static unsigned long failures;
static unsigned char sent[PROCESSES_MOST * BYTES], got[PROCESSES_MOST * BYTES];

static void expect(const char *what, haul_status status, const haul_error *error,
                   haul_status wanted, const char *text)
{
    if (status == wanted && strstr(error->text, text))
        return;
    failures++;
    fprintf(stderr, "%s: rank %d: status %d, '%s', not %d with '%s'\n", what, rank, (int)status,
            status ? error->text : "", (int)wanted, text);
}

static haul_comm *open_comm(haul_way way, double time_limit_s)
{
    const haul_comm_options options = {
        .way = way, .time_limit_s = time_limit_s, .ranks_per_node = 2};
    haul_comm *comm = NULL;
    haul_error error;
    if (haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error)) {
        fprintf(stderr, "%s\n", error.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return comm;
}

/* One process expects other sizes than are sent. */
static void counts_differ(haul_way way)
{
    size_t sends[PROCESSES_MOST], receives[PROCESSES_MOST];
    haul_error error;
    haul_comm *comm = open_comm(way, 0);
    for (int i = 0; i < size; i++) {
        sends[i] = 50;
        receives[i] = rank == 1 && i == 0 ? 40 : 50;
    }
    const haul_alltoallv_blocks blocks = {
        haul_in_host(sent), {sends, NULL}, haul_in_host(got), {receives, NULL}, 100};
    haul_status status = haul_comm_alltoallv(comm, &blocks, &error);
    if (status)
        expect(haul_way_text(way, HAUL_MEMORY_HOST), status, &error, status, "rank ");
    if (!status) { /* a process that was through before learns it from its next call */
        sleep(1);
        status = haul_comm_alltoallv(comm, &blocks, &error);
    }
    if (!status) {
        failures++;
        fprintf(stderr, "%s: rank %d: different counts went unseen\n",
                haul_way_text(way, HAUL_MEMORY_HOST), rank);
    }
    haul_comm_free(comm);
}

static void wrong_peer(void)
{
    haul_error error;
    haul_comm *comm = open_comm(HAUL_WAY_DIRECT, 0);
    const haul_comm_message message = {rank ? 0 : size, 8, 0};
    const haul_comm_messages messages = {haul_in_host(sent), &message, 1,
                                         haul_in_host(got),  NULL,     0};
    const haul_status status = haul_comm_exchange(comm, &messages, &error);
    if (status || !rank) /* others may be through before they hear of it */
        expect("wrong peer", status, &error, HAUL_STATUS_USAGE, "no owner");
    expect("the next call",
           haul_comm_alltoall(comm, haul_in_host(sent), haul_in_host(got), 1, &error), &error,
           HAUL_STATUS_USAGE, "no owner");
    haul_comm_free(comm);
}

static void wrong_way(void)
{
    const haul_comm_options options = {.way = HAUL_WAYS};
    haul_comm *comm = NULL;
    haul_error error;
    haul_way way;
    expect("wrong way", haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error), &error,
           HAUL_STATUS_USAGE, "no way of exchange has the number");
    expect("wrong name", haul_way_parse("backwards", &way, &error), &error, HAUL_STATUS_USAGE,
           "backwards");
    setenv("HAUL_MPI_WAY", "backwards", 1);
    expect("wrong environment", haul_comm_new(MPI_COMM_WORLD, NULL, &comm, &error), &error,
           HAUL_STATUS_USAGE, "backwards");
    unsetenv("HAUL_MPI_WAY");
}

static void no_owner(void)
{
    const haul_comm_options options = {.is_helper = true};
    haul_comm *comm = NULL;
    haul_error error;
    expect("no owner", haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error), &error,
           HAUL_STATUS_ABSENT, "all are helpers");
}

static void overflow(void)
{
    haul_error error;
    haul_comm *comm = open_comm(HAUL_WAY_DIRECT, 0);
    expect("overflow",
           haul_comm_alltoall(comm, haul_in_host(sent), haul_in_host(got), UINT64_MAX / 2, &error),
           &error, HAUL_STATUS_USAGE, "overflow");
    haul_comm_free(comm);
}

/* One process does not come in time. */
static void late(void)
{
    haul_error error;
    haul_comm *comm = open_comm(HAUL_WAY_DIRECT, 0.5);
    if (rank == 1)
        sleep(1);
    const haul_status status =
        haul_comm_alltoall(comm, haul_in_host(sent), haul_in_host(got), 70000, &error);
    if (rank != 1)
        expect("late", status, &error, HAUL_STATUS_TIMED_OUT, "has waited");
    haul_comm_free(comm);
}

int main(int argc, char **argv)
{
    unsigned long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && !strcmp(argv[1], "dies")) {
        haul_error error;
        haul_comm *comm = open_comm(HAUL_WAY_DIRECT, 5);
        if (rank == 1)
            _exit(3);
        const haul_status status =
            haul_comm_alltoall(comm, haul_in_host(sent), haul_in_host(got), 70000, &error);
        fprintf(stderr, "rank %d: %s\n", rank, error.text);
        _exit(status ? 1 : 0);
    }
    wrong_way();
    no_owner();
    overflow();
    counts_differ(HAUL_WAY_DIRECT);
    counts_differ(HAUL_WAY_AGGREGATED);
    wrong_peer();
    late();
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes: %lu failures\n", size, all);
    MPI_Finalize();
    return all > 0;
}
