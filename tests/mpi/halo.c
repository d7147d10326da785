/* Ghost cells of a periodic box over a grid of processes, from all 26 neighbours, in host memory
 * and in a simulated GPU's, or another device's, which MPI does not know, beside what each cell's
 * place says. usage: halo [DEVICE] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/mpi.h"
#include "moved.h"

enum { GHOSTS = 2, NEIGHBOURS = 26, DIMS = 3, ROUNDS = 2 };
static const int own[DIMS] = {6, 5, 4}; /* cells of a process */

typedef enum memory { IN_HOST, IN_DEVICE, IN_DEVICE_OF_MPI, MEMORIES } memory;

static int rank, size, grid[DIMS];
static MPI_Comm places;
static unsigned long failures;
static const char *device_name = "sim:lassen";

static void fail(memory in, const char *what, const haul_error *error)
{
    failures++;
    fprintf(stderr, "rank %d, memory %d: %s: %s\n", rank, in, what,
            error ? error->text : "differs");
}

static int full(int d)
{
    return own[d] + 2 * GHOSTS;
}

/* A cell by its place in all processes' box, which wraps. */
static int value_at(const int *start, int x, int y, int z, int round)
{
    const int local[DIMS] = {x, y, z};
    int value = round;
    for (int d = 0; d < DIMS; d++) {
        const int all = own[d] * grid[d];
        value = value * 1000 + (start[d] + local[d] - GHOSTS + all) % all;
    }
    return value;
}

static bool is_own(int x, int y, int z)
{
    const int local[DIMS] = {x, y, z};
    bool inside = true;
    for (int d = 0; d < DIMS; d++)
        inside = inside && local[d] >= GHOSTS && local[d] < GHOSTS + own[d];
    return inside;
}

static void fill(int *cells, const int *start, int round, bool all)
{
    for (int z = 0, i = 0; z < full(2); z++)
        for (int y = 0; y < full(1); y++)
            for (int x = 0; x < full(0); x++, i++)
                cells[i] = all || is_own(x, y, z) ? value_at(start, x, y, z, round) : -1;
}

/* The cells towards a neighbour: those sent to it, or the ghosts that come from it. */
static haul_box box_towards(const int *step, bool is_send)
{
    haul_box box;
    for (int d = 0; d < DIMS; d++) {
        const int inner = is_send ? 0 : GHOSTS;
        box.lo[d] = step[d] < 0 ? GHOSTS - inner : step[d] > 0 ? own[d] + inner : GHOSTS;
        box.hi[d] = step[d] ? box.lo[d] + GHOSTS : GHOSTS + own[d];
    }
    return box;
}

/* A message's number is its direction, as its sender sees it. */
static void plan_messages(haul_halo_message *messages)
{
    int coordinates[DIMS], count = 0;
    MPI_Cart_coords(places, rank, DIMS, coordinates);
    for (int n = 0; n < NEIGHBOURS + 1; n++) {
        const int step[DIMS] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        if (!step[0] && !step[1] && !step[2])
            continue;
        int there[DIMS], peer;
        for (int d = 0; d < DIMS; d++)
            there[d] = coordinates[d] + step[d];
        MPI_Cart_rank(places, there, &peer);
        messages[count++] = (haul_halo_message){peer, n, true, box_towards(step, true)};
        messages[count++] =
            (haul_halo_message){peer, NEIGHBOURS - n, false, box_towards(step, false)};
    }
}

static size_t cell_count(void)
{
    return (size_t)full(0) * (size_t)full(1) * (size_t)full(2);
}

static haul_status move_cells(haul_device *device, haul_buffer *buffer, size_t offset, int *cells,
                              bool to_device, haul_error *error)
{
    const size_t bytes = cell_count() * sizeof(int);
    char *all = calloc(bytes + offset, 1);
    memcpy(all + offset, cells, bytes);
    const haul_status status = move(device, buffer, all, bytes + offset, to_device, error);
    memcpy(cells, all + offset, bytes);
    free(all);
    return status;
}

static haul_status exchange_once(haul_halo *halo, haul_error *error)
{
    haul_status status = haul_halo_start(halo, error);
    if (!status && haul_halo_start(halo, NULL) != HAUL_STATUS_USAGE)
        return haul_error_set(error, HAUL_STATUS_USAGE, "it was started twice");
    if (!status)
        status = haul_halo_advance(halo, error);
    return status ? status : haul_halo_finish(halo, error);
}

static void refuse_wrong(haul_comm *comm, const haul_halo_plan *plan, memory in)
{
    haul_halo_message wrong[2] = {plan->messages[0], plan->messages[0]};
    haul_halo_plan of = *plan;
    haul_halo *halo = NULL;
    haul_error error;
    of.messages = wrong;
    of.count = 2; /* one number twice */
    if (haul_halo_new(comm, &of, &halo, &error) != HAUL_STATUS_USAGE)
        fail(in, "a number twice", NULL);
    of.count = 1;
    wrong[0].box.hi[0] = full(0) + 1;
    if (haul_halo_new(comm, &of, &halo, &error) != HAUL_STATUS_USAGE)
        fail(in, "a box outside", NULL);
    wrong[0].box.hi[0] = full(0);
    wrong[0].peer = size;
    if (haul_halo_new(comm, &of, &halo, &error) != HAUL_STATUS_USAGE)
        fail(in, "an owner that is not there", NULL);
}

/* The last of a haul_comm, which has failed then on all processes, some before they begin. */
static void refuse_second(haul_comm *comm, const haul_halo_plan *plan, haul_halo *first, memory in)
{
    haul_halo *second = NULL;
    haul_error error;
    MPI_Barrier(MPI_COMM_WORLD);
    if (haul_halo_new(comm, plan, &second, &error))
        fail(in, "a second plan", &error);
    else if (!haul_halo_start(first, &error) && !haul_halo_start(second, &error))
        fail(in, "a second one under way", NULL);
    haul_halo_free(second);
}

/* The array begins `offset` bytes within its buffer: cells lie as their size divides it. */
static void try_array(haul_comm *comm, haul_device *device, memory in, size_t offset)
{
    const size_t bytes = cell_count() * sizeof(int);
    int *cells = malloc(bytes), *expected = malloc(bytes), start[DIMS];
    haul_halo_message messages[2 * NEIGHBOURS];
    haul_buffer *buffer = NULL;
    haul_halo *halo = NULL;
    haul_error error;
    haul_status status = HAUL_OK;
    if (in != IN_HOST)
        status = haul_buffer_new(device, HAUL_BUFFER_DEVICE, bytes + offset, &buffer, &error);
    plan_messages(messages);
    const haul_halo_plan plan = {.array =
                                     buffer ? haul_in_buffer(buffer, offset) : haul_in_host(cells),
                                 .cell_bytes = sizeof(int),
                                 .size = {full(0), full(1), full(2)},
                                 .messages = messages,
                                 .count = 2 * NEIGHBOURS};
    MPI_Cart_coords(places, rank, DIMS, start);
    for (int d = 0; d < DIMS; d++)
        start[d] *= own[d];
    if (!status)
        refuse_wrong(comm, &plan, in);
    if (!status)
        status = haul_halo_new(comm, &plan, &halo, &error);
    for (int round = 1; !status && round <= ROUNDS; round++) {
        fill(cells, start, round, false);
        fill(expected, start, round, true);
        if (buffer)
            status = move_cells(device, buffer, offset, cells, true, &error);
        if (!status)
            status = exchange_once(halo, &error);
        if (!status && buffer)
            status = move_cells(device, buffer, offset, cells, false, &error);
        if (!status && memcmp(cells, expected, bytes) != 0)
            fail(in, "ghost cells", NULL);
    }
    if (status)
        fail(in, "exchange", &error);
    else
        refuse_second(comm, &plan, halo, in);
    haul_halo_free(halo);
    haul_buffer_free(buffer);
    free(cells);
    free(expected);
}

static haul_status open_comm(const char *name, memory in, haul_device **device, haul_comm **comm,
                             haul_error *error)
{
    const bool is_sim = !strncmp(name, "sim:", 4), is_aware = in == IN_DEVICE_OF_MPI;
    const haul_device_options how = {.is_host_visible = is_aware};
    haul_comm_options options = {.is_device_aware = is_aware};
    haul_status status =
        in == IN_HOST ? HAUL_OK : haul_device_open(name, is_sim ? &how : NULL, device, error);
    options.device = *device;
    return status ? status : haul_comm_new(MPI_COMM_WORLD, &options, comm, error);
}

/* The simulated host's seconds of an exchange with all messages of the plan or with one each way,
 * in which messages take no time. */
static double seconds_of(size_t count)
{
    haul_device *device = NULL;
    haul_comm *comm = NULL;
    haul_halo_message messages[2 * NEIGHBOURS];
    haul_buffer *buffer = NULL;
    haul_halo *halo = NULL;
    haul_error error;
    int64_t since = 0;
    plan_messages(messages);
    if (count == 2) /* what is sent one way comes from the other */
        messages[1] = messages[2 * NEIGHBOURS - 1];
    haul_status status = open_comm(device_name, IN_DEVICE, &device, &comm, &error);
    if (!status)
        status = haul_buffer_new(device, HAUL_BUFFER_DEVICE, cell_count() * sizeof(int), &buffer,
                                 &error);
    const haul_halo_plan plan = {.array = haul_in_buffer(buffer, 0),
                                 .cell_bytes = sizeof(int),
                                 .size = {full(0), full(1), full(2)},
                                 .messages = messages,
                                 .count = count};
    if (!status)
        status = haul_halo_new(comm, &plan, &halo, &error);
    for (int i = 0; i < 2 && !status; i++) { /* the first makes what is kept */
        since = haul_device_now(device);
        status = exchange_once(halo, &error);
    }
    if (status)
        fail(IN_DEVICE, "a timed exchange", &error);
    const double seconds = status ? 0 : (double)(haul_device_now(device) - since) * 1e-9;
    haul_halo_free(halo);
    haul_buffer_free(buffer);
    haul_comm_free(comm);
    haul_device_close(device);
    return seconds;
}

/* Many boxes are packed by one kernel and moved by one copy; one is a copy. */
static void boxes_are_packed(void)
{
    const double one_s = seconds_of(2), all_s = seconds_of((size_t)2 * NEIGHBOURS);
    if (!rank)
        printf("a box each way %.1f us, %d boxes %.1f us\n", one_s * 1e6, NEIGHBOURS, all_s * 1e6);
    if (all_s > 3 * one_s)
        fail(IN_DEVICE, "boxes are copied one by one", NULL);
}

int main(int argc, char **argv)
{
    const int periodic[DIMS] = {1, 1, 1};
    unsigned long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, DIMS, grid);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, grid, periodic, 0, &places);
    if (argc > 1)
        device_name = argv[1];
    const memory end = argc > 1 ? IN_DEVICE_OF_MPI : MEMORIES;
    for (int i = 0; i < 2 * (int)end; i++) {
        const memory in = (memory)(i / 2);
        haul_device *device = NULL;
        haul_comm *comm = NULL;
        haul_error error;
        if (open_comm(device_name, in, &device, &comm, &error)) {
            fail(in, "opening", &error);
        } else {
            try_array(comm, device, in, (size_t)(i % 2));
            if (in == IN_DEVICE && argc < 2 && !(i % 2))
                boxes_are_packed();
        }
        haul_comm_free(comm);
        haul_device_close(device);
    }
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes: %lu failures\n", size, all);
    MPI_Comm_free(&places);
    MPI_Finalize();
    return all > 0;
}
