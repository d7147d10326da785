/* haul_comm_alltoallv and haul_comm_alltoall beside MPI's own, and what was chosen beside the best
 * way; last what choosing costs once it is cached. Under mpirun: bench_mpi [--check | --pairs |
 * --preload] [BYTES ...] With --pairs a new communicator's calls and MPI's own take turns from the
 * first on, 8 B to 4 MiB; with --preload, under the library before the MPI, the program's calls and
 * those that go past it. HAUL_MPI_MACHINE names the machine. Calls of all ways take turns, and
 * times are compared within a turn. With --check it fails where the choice is more than 5 % slower
 * than the best way, on average over the sizes; it says nothing (77) where MPI's own call differs
 * as much from itself, for then the machine is too busy to tell. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/mpi.h"

enum { ROUNDS = 21, TURNS_MOST = 3, PROVING = 90, SIZES_MOST = 32, CALLS = 200000, BUFFERS = 3 };
enum { BUSY = 77 };

static const double most_regret = 1.05;

static const haul_way ways[] = {HAUL_WAY_CHOSEN, HAUL_WAY_PLAIN, HAUL_WAY_DIRECT,
                                HAUL_WAY_AGGREGATED, HAUL_WAY_BRUCK};
enum { WAYS = sizeof ways / sizeof *ways };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct buffers {
    size_t *counts[2], *places[2];
    int *ints; /* the same four for MPI */
    int size;
    char *send, *receive;
} buffers;

/* Blocks of none, once and twice `bytes`. */
static buffers make_buffers(size_t bytes, int rank, int size)
{
    const size_t n = (size_t)size;
    buffers made = {.ints = malloc(4 * n * sizeof(int)), .size = size};
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

static void call_mpi(const buffers *of, size_t bytes, bool is_v)
{
    const int *ints = of->ints, size = of->size;
    if (is_v)
        MPI_Alltoallv(of->send, ints, ints + size, MPI_BYTE, of->receive, ints + 2 * (size_t)size,
                      ints + 3 * (size_t)size, MPI_BYTE, MPI_COMM_WORLD);
    else
        MPI_Alltoall(of->send, (int)bytes, MPI_BYTE, of->receive, (int)bytes, MPI_BYTE,
                     MPI_COMM_WORLD);
}

/* The slowest process's time, without a communicator that of MPI's own call. With a library before
 * the MPI `is_hooked` are its calls. */
static double once(haul_comm *comm, const buffers *of, size_t bytes, bool is_v, bool is_hooked)
{
    const int *ints = of->ints, size = of->size;
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
        (void)haul_comm_alltoallv(comm, &blocks, &error);
    } else if (comm) {
        (void)haul_comm_alltoall(comm, haul_in_host(of->send), haul_in_host(of->receive), bytes,
                                 &error);
    } else if (is_hooked) {
        call_mpi(of, bytes, is_v);
    } else if (is_v) {
        PMPI_Alltoallv(of->send, ints, ints + size, MPI_BYTE, of->receive, ints + 2 * (size_t)size,
                       ints + 3 * (size_t)size, MPI_BYTE, MPI_COMM_WORLD);
    } else {
        PMPI_Alltoall(of->send, (int)bytes, MPI_BYTE, of->receive, (int)bytes, MPI_BYTE,
                      MPI_COMM_WORLD);
    }
    took = error.status ? 1e9 : MPI_Wtime() - since; /* a way that cannot run is no rival */
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

typedef struct rows {
    size_t count;
    double times[WAYS + 1][ROUNDS * TURNS_MOST];
} rows;

static double median_of(const double *times, size_t count)
{
    double sorted[ROUNDS * TURNS_MOST];
    memcpy(sorted, times, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    return sorted[count / 2];
}

/* The median of the quotients within each round: what slows a whole round does not count. */
static double ratio_of(const rows *of, int way, int by)
{
    double ratios[ROUNDS * TURNS_MOST];
    for (size_t i = 0; i < of->count; i++)
        ratios[i] = of->times[way][i] / of->times[by][i];
    return median_of(ratios, of->count);
}

static int best_of(const rows *of)
{
    int best = 1;
    for (int w = 2; w < WAYS; w++)
        if (median_of(of->times[w], of->count) < median_of(of->times[best], of->count))
            best = w;
    return best;
}

static void measure_round(rows *to, haul_comm **comms, const buffers *of, size_t bytes, bool is_v)
{
    for (int w = 0; w <= WAYS; w++)
        to->times[w][to->count] = once(comms[w], of, bytes, is_v, false);
    to->count++;
}

/* The choice's time by the best way's, and how far MPI's own call is from itself. */
typedef struct figures {
    double regret, noise;
} figures;

/* A row; where the choice looks bad it is measured longer. */
static figures compare(size_t bytes, int rank, int size, bool is_v)
{
    haul_comm *comms[WAYS + 1] = {NULL};
    buffers of = make_buffers(bytes, rank, size);
    rows *made = calloc(1, sizeof *made);
    haul_error error;
    for (int w = 0; w < WAYS; w++) {
        const haul_comm_options options = {.way = ways[w], .trial_share = 1};
        if (!made || haul_comm_new(MPI_COMM_WORLD, &options, &comms[w], &error))
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < PROVING; i++)
        once(comms[0], &of, bytes, is_v, false);
    measure_round(made, comms, &of, bytes, is_v); /* to warm up */
    made->count = 0;
    for (int turn = 0; turn < TURNS_MOST; turn++) {
        if (turn && ratio_of(made, 0, best_of(made)) <= most_regret)
            break;
        for (int round = 0; round < ROUNDS; round++)
            measure_round(made, comms, &of, bytes, is_v);
    }
    const double regret = ratio_of(made, 0, best_of(made)), own = ratio_of(made, WAYS, 1);
    if (!rank)
        printf(
            "%-14s %8zu B  MPI %10.1f us  haul %10.1f us  MPI/haul %5.2f  %-10s  haul/best %5.2f "
            " MPI/plain %5.2f\n",
            is_v ? "all-to-all-v" : "all-to-all", bytes,
            median_of(made->times[WAYS], made->count) * 1e6,
            median_of(made->times[0], made->count) * 1e6, ratio_of(made, WAYS, 0),
            haul_way_text(haul_comm_way(comms[0]), HAUL_MEMORY_HOST), regret, own);
    for (int w = 0; w < WAYS; w++)
        haul_comm_free(comms[w]);
    free_buffers(&of);
    free(made);
    return (figures){regret, own > 1 ? own : 1 / own};
}

/* A program's calls by MPI's own, each pair in turn the one or the other first: the median of the
 * quotients with its 95 % interval (of order statistics), and of all the time. */
static void compare_pairs(size_t bytes, int rank, int size, bool is_v, bool is_hooked)
{
    enum { PAIRS_MOST = 2000, BYTES_MOST = 1 << 26 };
    const size_t fit = BYTES_MOST / bytes;
    const size_t count = fit > PAIRS_MOST ? PAIRS_MOST : fit < 2 * ROUNDS ? 2 * ROUNDS : fit;
    double *ratios = malloc(count * sizeof *ratios), sum[2] = {0, 0};
    haul_comm *comm = NULL;
    haul_error error;
    buffers of = make_buffers(bytes, rank, size);
    if (!ratios || (!is_hooked && haul_comm_new(MPI_COMM_WORLD, NULL, &comm, &error)))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < ROUNDS; i++)
        once(NULL, &of, bytes, is_v, false); /* MPI's own first calls are slow for both */
    for (size_t i = 0; i < count; i++) {
        double took[2];
        for (size_t j = 0; j < 2; j++) {
            const size_t which = (i + j) % 2;
            took[which] = once(which ? comm : NULL, &of, bytes, is_v, which && is_hooked);
            sum[which] += took[which];
        }
        ratios[i] = took[1] / took[0];
    }
    qsort(ratios, count, sizeof *ratios, by_value);
    const double half = 0.98 * sqrt((double)count), middle = (double)count / 2;
    if (!rank)
        printf("%-14s %8zu B  %5zu pairs  haul/MPI %6.3f (%.3f to %.3f)  all %6.3f\n",
               is_v ? "all-to-all-v" : "all-to-all", bytes, count, ratios[count / 2],
               ratios[(size_t)(middle - half)], ratios[(size_t)(middle + half)], sum[1] / sum[0]);
    haul_comm_free(comm);
    free_buffers(&of);
    free(ratios);
}

static void compare_all_pairs(int rank, int size, bool is_hooked)
{
    for (size_t bytes = 8; bytes <= 4 << 20; bytes *= bytes < 2 << 20 ? 8 : 2)
        for (int is_v = 0; is_v < 2; is_v++)
            compare_pairs(bytes, rank, size, is_v, is_hooked);
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
        (void)haul_comm_alltoall(comm, haul_in_host(bytes), haul_in_host(bytes + 1), 1, &error);
    printf("a call of one process, choice and all: %.0f ns (goal: choosing < 1000 ns)\n",
           (MPI_Wtime() - since) / CALLS * 1e9);
    haul_comm_free(comm);
}

int main(int argc, char **argv)
{
    size_t sizes[SIZES_MOST] = {64, 1024, 16384, 131072};
    int rank, size, count = 0;
    figures sum = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool checks = argc > 1 && !strcmp(argv[1], "--check");
    for (int i = checks ? 2 : 1; i < argc && count < SIZES_MOST; i++)
        sizes[count++] = strtoul(argv[i], NULL, 10);
    const bool is_hooked = argc > 1 && !strcmp(argv[1], "--preload");
    if (is_hooked || (argc > 1 && !strcmp(argv[1], "--pairs"))) {
        compare_all_pairs(rank, size, is_hooked);
        MPI_Finalize();
        return 0;
    }
    count = count ? count : 4;
    for (int i = 0; i < count; i++)
        for (int is_v = 0; is_v < 2; is_v++) {
            const figures row = compare(sizes[i], rank, size, is_v);
            sum.regret += row.regret;
            sum.noise += row.noise;
        }
    const double mean = sum.regret / (2 * count), noise = sum.noise / (2 * count);
    if (!rank)
        printf("the choice takes %.3f times the best way on average, MPI's own call %.3f times "
               "itself\n",
               mean, noise);
    if (!rank)
        time_choosing();
    MPI_Finalize();
    if (!checks || mean <= most_regret)
        return 0;
    return noise > 1 + (most_regret - 1) / 2 ? BUSY : 1;
}
