/* haul_alltoallv and haul_alltoall beside MPI's own, and what was chosen beside the best way; last
 * what choosing costs once it is cached. Under mpirun: bench_mpi [--check] [BYTES ...]
 * HAUL_MPI_MACHINE names the machine. With --check it fails where the choice is more than 5 %
 * slower than the best way, on average over the sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/mpi.h"

enum { ROUNDS = 21, SIZES_MOST = 32, CALLS = 200000, BUFFERS = 3 };

static const char *const ways[] = {NULL, "plain", "direct", "aggregated", "bruck"};
enum { WAYS = sizeof ways / sizeof *ways };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct buffers {
    size_t *counts[2], *places[2];
    int *ints; /* the same four for MPI */
    char *send, *receive;
} buffers;

/* Blocks of none, once and twice `bytes`. */
static buffers make_buffers(size_t bytes, int rank, int size)
{
    const size_t n = (size_t)size;
    buffers made = {.ints = malloc(4 * n * sizeof(int))};
    for (int side = 0; side < 2; side++) {
        made.counts[side] = malloc(2 * n * sizeof(size_t));
        made.places[side] = made.counts[side] + n;
        for (size_t i = 0; i < n; i++) {
            made.counts[side][i] = bytes * ((i + (size_t)rank) % BUFFERS);
            made.places[side][i] = i ? made.places[side][i - 1] + made.counts[side][i - 1] : 0;
            made.ints[2 * (size_t)side * n + i] = (int)made.counts[side][i];
            made.ints[(2 * (size_t)side + 1) * n + i] = (int)made.places[side][i];
        }
    }
    made.send = calloc(2 * n, bytes + 1);
    made.receive = calloc(2 * n, bytes + 1);
    return made;
}

static void free_buffers(buffers *of)
{
    free(of->counts[0]);
    free(of->counts[1]);
    free(of->ints);
    free(of->send);
    free(of->receive);
}

/* The slowest process's time; way WAYS is MPI's own call. */
static double once(haul_comm *comm, const buffers *of, size_t bytes, int size, bool is_v)
{
    const int *ints = of->ints;
    haul_error error = {.status = HAUL_OK};
    double took, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    const double since = MPI_Wtime();
    if (comm && is_v) {
        const haul_alltoallv_blocks blocks = {haul_in_host(of->send),
                                              {of->counts[0], of->places[0]},
                                              haul_in_host(of->receive),
                                              {of->counts[1], of->places[1]},
                                              1};
        (void)haul_alltoallv(comm, &blocks, &error);
    } else if (comm) {
        (void)haul_alltoall(comm, haul_in_host(of->send), haul_in_host(of->receive), bytes, &error);
    } else if (is_v) {
        MPI_Alltoallv(of->send, ints, ints + size, MPI_BYTE, of->receive, ints + 2 * size,
                      ints + 3 * size, MPI_BYTE, MPI_COMM_WORLD);
    } else {
        MPI_Alltoall(of->send, (int)bytes, MPI_BYTE, of->receive, (int)bytes, MPI_BYTE,
                     MPI_COMM_WORLD);
    }
    took = error.status ? 1e9 : MPI_Wtime() - since; /* a way that cannot run is no rival */
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* A row; returns the choice's time by the best way's. */
static double compare(size_t bytes, int rank, int size, bool is_v)
{
    haul_comm *comms[WAYS + 1] = {NULL};
    double times[WAYS + 1][ROUNDS], median[WAYS + 1], best;
    buffers of = make_buffers(bytes, rank, size);
    haul_error error;
    for (int w = 0; w < WAYS; w++) {
        const haul_comm_options options = {.way = ways[w]};
        if (haul_comm_new(MPI_COMM_WORLD, &options, &comms[w], &error))
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int round = -2; round < ROUNDS; round++) /* two to warm up, the first of which chooses */
        for (int w = 0; w <= WAYS; w++)
            times[w][round < 0 ? 0 : round] = once(comms[w], &of, bytes, size, is_v);
    for (int w = 0; w <= WAYS; w++) {
        qsort(times[w], ROUNDS, sizeof **times, by_value);
        median[w] = times[w][ROUNDS / 2];
    }
    best = median[1];
    for (int w = 2; w < WAYS; w++)
        best = median[w] < best ? median[w] : best;
    if (!rank)
        printf(
            "%-14s %8zu B  MPI %10.1f us  haul %10.1f us  MPI/haul %5.2f  %-10s  haul/best %5.2f\n",
            is_v ? "all-to-all-v" : "all-to-all", bytes, median[WAYS] * 1e6, median[0] * 1e6,
            median[WAYS] / median[0], haul_way_text(haul_comm_way(comms[0])), median[0] / best);
    for (int w = 0; w < WAYS; w++)
        haul_comm_free(comms[w]);
    free_buffers(&of);
    return median[0] / best;
}

/* A whole call of one process: the choice, and nothing to send. */
static void time_choosing(void)
{
    haul_comm *comm = NULL;
    haul_error error;
    char bytes[2] = {0};
    if (haul_comm_new(MPI_COMM_SELF, NULL, &comm, &error))
        return;
    const double since = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        (void)haul_alltoall(comm, haul_in_host(bytes), haul_in_host(bytes + 1), 1, &error);
    printf("a call of one process, choice and all: %.0f ns (goal: choosing < 1000 ns)\n",
           (MPI_Wtime() - since) / CALLS * 1e9);
    haul_comm_free(comm);
}

int main(int argc, char **argv)
{
    size_t sizes[SIZES_MOST] = {64, 1024, 16384, 131072};
    int rank, size, count = 0;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool checks = argc > 1 && !strcmp(argv[1], "--check");
    for (int i = checks ? 2 : 1; i < argc && count < SIZES_MOST; i++)
        sizes[count++] = strtoul(argv[i], NULL, 10);
    count = count ? count : 4;
    for (int i = 0; i < count; i++)
        for (int is_v = 0; is_v < 2; is_v++)
            sum += compare(sizes[i], rank, size, is_v);
    const double mean = sum / (2 * count);
    if (!rank)
        printf("the choice takes %.3f times the best way on average\n", mean);
    if (!rank)
        time_choosing();
    MPI_Finalize();
    return checks && mean > 1.05;
}
