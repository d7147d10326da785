/* Random programs of tile arrays over processes: every cell as the same program has it on one
 * process alone. usage: tiles DEVICE FIRST COUNT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "../unit/tile_kernels.h"
#include "haul/device_test.h"
#include "haul/mpi.h"

enum { ARRAYS = 4, RESULTS = 3, LOOPS = 24 };

HAUL_KERNEL_FILE(tiles_file)

HAUL_KERNEL_3D(set_3, tiles_file, HAUL_UPDATE(unsigned, u, 0))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(u, x, y, z) = (unsigned)(5 * x + 3 * y - 7 * z);
}

HAUL_KERNEL_2D(set_2, tiles_file, HAUL_UPDATE(unsigned, u, 0))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(u, x, y) = (unsigned)(5 * x + 3 * y);
}

HAUL_KERNEL_1D(set_1, tiles_file, HAUL_UPDATE(unsigned, u, 0))
{
    HAUL_FOR1 (x)
        HAUL_AT1(u, x) = (unsigned)(5 * x);
}

/* Boundaries' kernels that read cells of the array, also of other planes, which other processes may
 * have, and cells that earlier faces have set: of arrays of CROSS cells in the first dimensions. */
enum { CROSS = 4 };

HAUL_KERNEL_3D(fold_3, tiles_file, HAUL_UPDATE(unsigned, u, 2))
{
    HAUL_FOR3 (x, y, z) {
        const int back = z > 1 ? z - 2 : z;
        if (z < 0)
            HAUL_AT(u, x, y, z) = 3 * HAUL_AT(u, x, y, 0) + 1;
        else if (y < 0 || y >= 4)
            HAUL_AT(u, x, y, z) = 5 * HAUL_AT(u, x, y < 0 ? 0 : 3, back) + 2;
        else if (x < 0 || x >= 4)
            HAUL_AT(u, x, y, z) = 7 * HAUL_AT(u, x < 0 ? 0 : 3, y, back) + 3;
        else
            HAUL_AT(u, x, y, z) = (unsigned)(5 * x + 3 * y);
    }
}

HAUL_KERNEL_2D(fold_2, tiles_file, HAUL_UPDATE(unsigned, u, 2))
{
    HAUL_FOR2 (x, y)
        if (y < 0)
            HAUL_AT2(u, x, y) = 3 * HAUL_AT2(u, x, 0) + 1;
        else if (x < 0 || x >= 4)
            HAUL_AT2(u, x, y) = 5 * HAUL_AT2(u, x < 0 ? 0 : 3, y > 1 ? y - 2 : y) + 2;
        else
            HAUL_AT2(u, x, y) = (unsigned)(5 * x);
}

/* The same arrays twice: over the processes, and on this one alone. */
typedef struct side {
    haul_context *context;
    haul_array *arrays[ARRAYS];
    haul_array *results[RESULTS];
} side;

typedef struct program {
    uint64_t random;
    int dims;
    size_t count;
    haul_array_spec spec;
    side sides[2];
} program;

static haul_error error;
static int rank, ranks;

static void must(haul_status status)
{
    if (!status)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, error.text);
    MPI_Abort(MPI_COMM_WORLD, status == HAUL_STATUS_ABSENT ? 77 : 1);
}

static unsigned draw(program *self, unsigned below)
{
    self->random ^= self->random >> 12;
    self->random ^= self->random << 25;
    self->random ^= self->random >> 27;
    return (unsigned)((self->random * 0x2545f4914f6cdd1d >> 33) % below);
}

static void draw_spec(program *self)
{
    const haul_kernel_source *const faces[] = {&set_1, &set_2, &set_3};
    const haul_kernel_source *const folds[] = {NULL, &fold_2, &fold_3};
    self->dims = 1 + (int)draw(self, 3);
    self->count = 1;
    self->spec = (haul_array_spec){.element_bytes = sizeof(unsigned)};
    for (int d = 0; d < self->dims; d++) {
        const bool is_last = d + 1 == self->dims;
        self->spec.size[d] = (is_last ? 2 * ranks : 2) + (int)draw(self, is_last ? 20 : 5);
        self->spec.ghost[d] = 2;
        self->spec.boundary[d] = (haul_boundary)draw(self, 3);
    }
    const unsigned edges = draw(self, 5);
    if (!edges)
        self->spec.boundary_kernel = faces[self->dims - 1];
    if (edges == 1 && self->dims > 1) {
        self->spec.boundary_kernel = folds[self->dims - 1];
        for (int d = 0; d + 1 < self->dims; d++)
            self->spec.size[d] = CROSS;
    }
    if (self->dims == 1 && !draw(self, 3)) /* several rows of a reduction */
        self->spec.size[0] += 3000;
    for (int d = 0; d < self->dims; d++)
        self->count *= (size_t)self->spec.size[d];
}

static void make(program *self, side *of)
{
    haul_array_spec spec = self->spec;
    for (int i = 0; i < ARRAYS; i++)
        must(haul_array_new(of->context, &spec, &of->arrays[i], &error));
    spec = (haul_array_spec){.size = {1}, .element_bytes = sizeof(unsigned)};
    for (int i = 0; i < RESULTS; i++)
        must(haul_array_new(of->context, &spec, &of->results[i], &error));
}

static unsigned *cell_of(const program *self, const haul_region *region, const int at[3])
{
    unsigned *cells = region->cells;
    if (self->dims == 1)
        return cells + (at[0] - region->first);
    if (self->dims == 2)
        return cells + (at[1] - region->first) * region->plane + at[0];
    return cells + (at[2] - region->first) * region->plane + at[1] * region->row + at[0];
}

/* The host sets some cells, those beyond the edges too, by their place alone. */
static void set_cells(const program *self, haul_array *array, unsigned salt)
{
    const int outer = self->dims - 1, regions = haul_array_regions(array);
    for (int i = 0; i < regions; i++) {
        haul_region region;
        must(haul_array_access(array, i, HAUL_USE_BOTH, &region, &error));
        int lo[3] = {0}, hi[3] = {1, 1, 1}, at[3];
        for (int d = 0; d < self->dims; d++) {
            lo[d] = d == outer ? region.first : -self->spec.ghost[d];
            hi[d] = d == outer ? region.end : self->spec.size[d] + self->spec.ghost[d];
        }
        for (at[2] = lo[2]; at[2] < hi[2]; at[2]++)
            for (at[1] = lo[1]; at[1] < hi[1]; at[1]++)
                for (at[0] = lo[0]; at[0] < hi[0]; at[0]++)
                    if ((unsigned)(at[0] + at[1] + at[2]) % 3 == salt % 3 || salt > 100)
                        *cell_of(self, &region, at) =
                            salt + (unsigned)(at[0] * 31 + at[1] * 1009 + at[2] * 77773);
    }
}

static haul_box draw_box(program *self)
{
    haul_box box = {{0}, {0}};
    for (int d = 0; d < self->dims; d++) {
        const unsigned size = (unsigned)self->spec.size[d];
        box.hi[d] = (int)size;
        if (!draw(self, 3)) {
            box.lo[d] = (int)draw(self, size);
            box.hi[d] = (int)draw(self, size + 1);
        }
    }
    return box;
}

/* The same loop for both. */
static void loop(program *self, const haul_kernel_source *kernel, const int which[3],
                 unsigned value)
{
    const bool has_box = draw(self, 3) == 0;
    const haul_box box = draw_box(self);
    const haul_loop_options options = {.box = has_box ? &box : NULL, .on_host = !draw(self, 6)};
    for (int s = 0; s < 2; s++) {
        side *of = &self->sides[s];
        haul_array *const *arrays = of->arrays;
        const void *near[] = {arrays[which[0]], arrays[which[1]], &value};
        const void *wide[] = {arrays[which[0]], arrays[which[2]], arrays[which[1]]};
        const void *total[] = {arrays[which[0]], of->results[0], of->results[1], &value,
                               of->results[2]};
        const bool is_total = kernel->reduces, is_wide = strstr(kernel->name, "wide");
        must(haul_loop_queue(of->context, kernel,
                             is_total  ? total
                             : is_wide ? wide
                                       : near,
                             is_total ? 5 : 3, &options, &error));
    }
}

/* In the shape of tiles: the processes have different numbers of them. */
static void tiles(program *self, const haul_kernel_source *kernel, const int which[3],
                  unsigned value)
{
    const int size[3] = {0, 1 + (int)draw(self, 3), 1 + (int)draw(self, 4)};
    for (int s = 0; s < 2; s++) {
        side *of = &self->sides[s];
        const void *near[] = {of->arrays[which[0]], of->arrays[which[1]], &value};
        haul_tiles all = haul_tiles_make(of->arrays[which[1]], size);
        for (haul_tiles_reset(&all, true); haul_tiles_valid(&all); haul_tiles_next(&all))
            must(haul_tiles_compute(&all, kernel, near, 3, NULL, &error));
    }
}

static void compare(const program *self, unsigned seed)
{
    unsigned *cells[2] = {malloc(self->count * sizeof(unsigned)),
                          malloc(self->count * sizeof(unsigned))};
    for (int i = 0; i < ARRAYS + RESULTS; i++) {
        const size_t count = i < ARRAYS ? self->count : 1;
        for (int s = 0; s < 2; s++)
            must(haul_array_read(i < ARRAYS ? self->sides[s].arrays[i]
                                            : self->sides[s].results[i - ARRAYS],
                                 cells[s], &error));
        for (size_t c = 0; c < count; c++)
            if (cells[0][c] != cells[1][c]) {
                fprintf(stderr,
                        "rank %d of %d, program %u, array %d, cell %zu of %d x %d x %d: %u, not "
                        "%u\n",
                        rank, ranks, seed, i, c, self->spec.size[0], self->spec.size[1],
                        self->spec.size[2], cells[0][c], cells[1][c]);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    }
    free(cells[0]);
    free(cells[1]);
}

static void run(program *self, unsigned seed)
{
    const haul_kernel_source *const kernels[3][4] = {{&near_1, &wide_1, &add_1, &total_1},
                                                     {&near_2, &wide_2, &add_2, &total_2},
                                                     {&near_3, &wide_3, &add_3, &total_3}};
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < ARRAYS; i++)
            set_cells(self, self->sides[s].arrays[i], 1000U * (unsigned)(i + 1));
    for (int step = 0; step < LOOPS; step++) {
        const unsigned what = draw(self, 12), value = draw(self, 1000);
        int which[3] = {(int)draw(self, ARRAYS), 0, 0};
        which[1] = (which[0] + 1 + (int)draw(self, ARRAYS - 2)) % ARRAYS;
        for (which[2] = 0; which[2] == which[0] || which[2] == which[1];)
            which[2]++;
        const haul_kernel_source *const *kernel = kernels[self->dims - 1];
        if (what < 8)
            loop(self, kernel[what < 4 ? 0 : what - 4], which, value);
        else if (what == 8)
            tiles(self, kernel[0], which, value);
        for (int s = 0; s < 2; s++) {
            side *of = &self->sides[s];
            if (what == 9)
                must(haul_array_swap(of->arrays[which[0]], of->arrays[which[1]], &error));
            if (what == 10)
                set_cells(self, of->arrays[which[0]], value % 100);
            if (what == 11)
                must(haul_context_start(of->context, &error));
        }
    }
    compare(self, seed);
}

/* Within the array, a loop may read more planes around its own than there are beyond the edges;
 * those of another process it does not have. */
static void refuse_halo(haul_context *context)
{
    const haul_array_spec spec = {.size = {4 * ranks}, .element_bytes = sizeof(unsigned)};
    const haul_box box = {{1}, {4 * ranks - 1}};
    const haul_loop_options options = {.box = &box};
    const unsigned value = 1;
    haul_array *arrays[2];
    for (int i = 0; i < 2; i++)
        must(haul_array_new(context, &spec, &arrays[i], &error));
    const void *arguments[] = {arrays[0], arrays[1], &value};
    if (haul_loop_queue(context, &near_1, arguments, 3, &options, &error) != HAUL_STATUS_USAGE) {
        fprintf(stderr, "a loop that reads another process's planes was not refused\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < 2; i++)
        haul_array_free(arrays[i]);
}

/* Calls that must be refused, and how. */
static void refuse(haul_context *context)
{
    haul_array *array;
    const haul_array_spec thin = {.size = {4, ranks - 1}};
    const haul_array_spec wide = {.size = {4, 2 * ranks}, .ghost = {0, 3}};
    const haul_array_spec far = {.size = {CROSS, 4 * ranks},
                                 .ghost = {1, 1},
                                 .element_bytes = sizeof(unsigned),
                                 .boundary_kernel = &fold_2};
    refuse_halo(context);
    if (haul_array_new(context, &thin, &array, &error) != HAUL_STATUS_USAGE ||
        haul_array_new(context, &wide, &array, &error) != HAUL_STATUS_USAGE ||
        haul_array_new(context, &far, &array, &error) != HAUL_STATUS_USAGE) {
        fprintf(stderr, "an array that cannot be divided was not refused\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The first process changes another array than the others: all are told so, none waits for ever. */
static void differ(haul_comm *comm, const char *device)
{
    const haul_context_options options = {.processes = haul_comm_processes(comm)};
    const haul_array_spec spec = {
        .size = {4, 4 * ranks}, .ghost = {1, 1}, .element_bytes = sizeof(unsigned)};
    const unsigned value = 1;
    haul_context *context;
    haul_array *arrays[3];
    haul_region region;
    haul_status status = HAUL_OK;
    must(haul_context_open(device, &options, &context, &error));
    for (int i = 0; i < 3; i++)
        must(haul_array_new(context, &spec, &arrays[i], &error));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2 && !status; i++)
            status = HAUL_LOOP(context, &error, &near_2, arrays[i], arrays[2], &value);
        if (!status)
            status = haul_context_wait(context, &error);
        if (!round)
            must(haul_array_access(arrays[rank > 0], 0, HAUL_USE_BOTH, &region, &error));
    }
    /* one that is no neighbour of the first learns it with what comes next */
    unsigned *cells = malloc(4 * 4 * (size_t)ranks * sizeof *cells);
    if (!status)
        status = haul_array_read(arrays[2], cells, &error);
    free(cells);
    if (status != HAUL_STATUS_BAD_INPUT || !strstr(error.text, "changed different arrays")) {
        fprintf(stderr, "rank %d: status %d, '%s'\n", rank, (int)status, error.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    haul_context_close(context);
}

int main(int argc, char **argv)
{
    haul_comm *comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4)
        return 2;
    must(haul_comm_new(MPI_COMM_WORLD, &(haul_comm_options){.time_limit_s = 60}, &comm, &error));
    const unsigned first = (unsigned)atoi(argv[2]), end = first + (unsigned)atoi(argv[3]);
    for (unsigned seed = first; seed < end; seed++) {
        program self = {.random = 0x9e3779b97f4a7c15 * (seed + 1)};
        draw_spec(&self);
        const uint64_t memory = draw(&self, 2) ? 0 : 131072 + draw(&self, 100000);
        const haul_device_test test = {.order = (haul_order)(seed % 3), .seed = seed + 1};
        const haul_device_options device = {.test = &test};
        const haul_context_options options = {.processes = haul_comm_processes(comm),
                                              .device_options = &device,
                                              .memory_bytes = memory,
                                              .exchange_first = !draw(&self, 4),
                                              .exchange_steps =
                                                  draw(&self, 3) ? 1 + draw(&self, 5) : 0,
                                              .region = (int)draw(&self, 5)};
        must(haul_context_open(argv[1], &options, &self.sides[0].context, &error));
        must(haul_context_open("host", NULL, &self.sides[1].context, &error));
        make(&self, &self.sides[0]);
        make(&self, &self.sides[1]);
        run(&self, seed);
        if (ranks > 1)
            refuse(self.sides[0].context);
        for (int s = 0; s < 2; s++) {
            side *of = &self.sides[s];
            for (int i = 0; i < ARRAYS + RESULTS; i++)
                haul_array_free(i < ARRAYS ? of->arrays[i] : of->results[i - ARRAYS]);
            haul_context_close(of->context);
        }
    }
    if (ranks > 1)
        differ(comm, argv[1]);
    haul_comm_free(comm);
    MPI_Finalize();
    return 0;
}
