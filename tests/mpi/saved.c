/* Arrays that processes share, in files: the bytes that one process alone writes, read again by as
 * many processes and by one; failures that all of them return, after which they go on.
 * usage: saved DEVICE FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mpi.h>

#include "all_failures.h"
#include "haul/mpi.h"

enum { ARRAYS = 4, PATH = 300 };

static haul_error error;
static int rank, ranks, failures;
static const char *folder;

static void must(haul_status status)
{
    if (!status)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, error.text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(bool is_right, const char *what)
{
    if (!is_right)
        fprintf(stderr, "rank %d of %d: %s (%s)\n", rank, ranks, what, error.text);
    failures += !is_right;
}

/* The same arrays, over the processes or on this one alone. */
typedef struct side {
    haul_context *context;
    haul_array *arrays[ARRAYS];
    haul_named_array named[ARRAYS];
} side;

static const char *const names[ARRAYS] = {"u", "v", "w", "sum"};

static const haul_array_spec specs[ARRAYS] = {
    {.size = {5, 3, 23},
     .ghost = {1, 2, 1},
     .boundary = {HAUL_BOUNDARY_PERIODIC},
     .element = HAUL_ELEMENT_FLOATING},
    {.size = {37}, .ghost = {2}, .element_bytes = 4, .element = HAUL_ELEMENT_INTEGER, .region = 3},
    {.size = {4, 9}, .element_bytes = 3, .on_all = true, .element = HAUL_ELEMENT_STRUCT},
    {.size = {1}, .element = HAUL_ELEMENT_FLOATING},
};

static size_t count_cells(int array)
{
    size_t count = specs[array].element_bytes ? specs[array].element_bytes : sizeof(double);
    for (int d = 0; d < 3 && specs[array].size[d]; d++)
        count *= (size_t)specs[array].size[d];
    return count;
}

static void open_side(side *self, const char *device, const haul_processes *processes)
{
    const haul_context_options options = {.processes = processes};
    must(haul_context_open(device, &options, &self->context, &error));
    for (int i = 0; i < ARRAYS; i++) {
        must(haul_array_new(self->context, &specs[i], &self->arrays[i], &error));
        self->named[i] = (haul_named_array){names[i], self->arrays[i]};
    }
}

static void close_side(side *self)
{
    for (int i = 0; i < ARRAYS; i++)
        haul_array_free(self->arrays[i]);
    haul_context_close(self->context);
}

/* Cells of a number of their own each; 0: zeros. Fixed ones beyond the edges stay zeros. */
static unsigned char *make_cells(int array, int salt)
{
    const size_t bytes = count_cells(array);
    unsigned char *cells = calloc(bytes, 1);
    for (size_t i = 0; i < bytes && salt; i++)
        cells[i] = (unsigned char)((size_t)(salt + array) * (i + 7) % 120);
    return cells;
}

static void fill(const side *self, int salt)
{
    for (int i = 0; i < ARRAYS; i++) {
        unsigned char *cells = make_cells(i, salt);
        must(haul_array_write(self->arrays[i], cells, &error));
        free(cells);
    }
}

static bool has(haul_array *array, int number, int salt)
{
    unsigned char *cells = make_cells(number, salt), *found = malloc(count_cells(number));
    must(haul_array_read(array, found, &error));
    const bool is_same = !memcmp(cells, found, count_cells(number));
    free(cells);
    free(found);
    return is_same;
}

static void check_side(const side *self, int salt, const char *what)
{
    for (int i = 0; i < ARRAYS; i++)
        check(has(self->arrays[i], i, salt), what);
}

static const char *place(char path[PATH], const char *name, const char *end)
{
    snprintf(path, PATH, "%s/%s%s", folder, name, end);
    return path;
}

/* *bytes is 0 for a file that is not there. The caller frees what it returns. */
static char *load_bytes(const char *path, size_t *bytes)
{
    struct stat found;
    FILE *in = fopen(path, "rb");
    *bytes = in && !fstat(fileno(in), &found) ? (size_t)found.st_size : 0;
    char *all = malloc(*bytes + 1);
    if (in && fread(all, 1, *bytes, in) != *bytes)
        *bytes = 0;
    if (in)
        fclose(in);
    return all;
}

/* The shared file and the one of this process alone. HDF5's library writes the time into its. */
static void compare_files(const char *shared, const char *alone, bool is_hdf5)
{
    size_t sizes[2];
    char *files[] = {load_bytes(shared, &sizes[0]), load_bytes(alone, &sizes[1])};
    check(sizes[0] > 0 && sizes[0] == sizes[1] &&
              (is_hdf5 || !memcmp(files[0], files[1], sizes[0])),
          shared);
    for (int i = 0; i < 2; i++)
        free(files[i]);
}

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All arrays in one file. */
static void check_archive(const side *shared, const side *alone)
{
    char path[PATH], own[PATH], own_end[32];
    snprintf(own_end, sizeof own_end, "-%d.npz", rank);
    place(path, "all", ".npz");
    place(own, "alone", own_end);
    for (int start = 0; start < 2; start++) {
        fill(shared, 3 + start);
        fill(alone, 3 + start);
        if (start) {
            must(haul_arrays_save_start(shared->named, ARRAYS, path, &error));
            fill(shared, 0);
            must(haul_arrays_save_finish(shared->context, &error));
        } else {
            must(haul_arrays_save(shared->named, ARRAYS, path, &error));
        }
        must(haul_arrays_save(alone->named, ARRAYS, own, &error));
        compare_files(path, own, false);
        fill(shared, 9);
        fill(alone, 9);
        must(haul_arrays_load(shared->named, ARRAYS, path, &error));
        check_side(shared, 3 + start, "loaded by all");
        must(haul_arrays_load(alone->named, ARRAYS, path, &error));
        check_side(alone, 3 + start, "loaded by one");
        meet();
    }
    (void)remove(own);
}

/* One array in a file, of each kind. */
static void check_files(const side *shared, const side *alone)
{
    static const char *const ends[] = {".npy", ".vti", ".h5"};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        for (int i = 0; i < ARRAYS; i++) {
            char path[PATH], own[PATH], own_name[32];
            snprintf(own_name, sizeof own_name, "%s-%d", names[i], rank);
            place(path, names[i], ends[e]);
            place(own, own_name, ends[e]);
            fill(shared, 5);
            fill(alone, 5);
            const haul_status status = haul_array_save(shared->arrays[i], path, &error);
            if (status == HAUL_STATUS_ABSENT && e == 2)
                continue; /* no HDF5 */
            must(status);
            must(haul_array_save(alone->arrays[i], own, &error));
            compare_files(path, own, e == 2);
            fill(shared, 9);
            if (e != 1) {
                must(haul_array_load(shared->arrays[i], path, &error));
                check(has(shared->arrays[i], i, 5), "loaded one");
            }
            meet();
            (void)remove(path);
            (void)remove(own);
        }
}

/* Cells beyond the edges are data, too, where they are fixed. */
static void check_edges(const side *shared)
{
    char path[PATH];
    haul_array *v = shared->arrays[1];
    haul_region region;
    place(path, "edges", ".npz");
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < haul_array_regions(v); i++) {
            must(haul_array_access(v, i, HAUL_USE_BOTH, &region, &error));
            for (int x = region.first; x < region.end; x++)
                HAUL_CELL1(region, int, x) = turn ? 0 : 100 + x;
        }
        if (!turn)
            must(haul_arrays_save(shared->named, ARRAYS, path, &error));
    }
    must(haul_arrays_load(shared->named, ARRAYS, path, &error));
    for (int i = 0; i < haul_array_regions(v); i++) {
        must(haul_array_access(v, i, HAUL_USE_READ, &region, &error));
        for (int x = region.first; x < region.end; x++)
            if (x < 0 || x >= specs[1].size[0])
                check(HAUL_CELL1(region, int, x) == 100 + x, "a cell beyond an edge");
    }
    int cells[37];
    must(haul_array_read(v, cells, &error));
    for (int x = 0; x < specs[1].size[0]; x++)
        check(cells[x] == 100 + x, "a cell");
    meet();
    if (!rank)
        (void)remove(path);
}

static void damage(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    if (!file)
        return;
    (void)fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    (void)fseek(file, at, SEEK_SET);
    (void)fputc(byte ^ 1, file);
    fclose(file);
}

/* All return the same, the old file stays, and they go on. */
static void check_failures(const side *shared)
{
    char path[PATH], nowhere[PATH];
    size_t bytes;
    place(path, "all", ".npz");
    place(nowhere, "no/such/folder", ".npz");
    fill(shared, 6);
    check(haul_arrays_save(shared->named, ARRAYS, nowhere, &error) == HAUL_STATUS_IO &&
              strstr(error.text, "no/such/folder"),
          "a folder that is not there");
    check(haul_arrays_load(shared->named, ARRAYS, nowhere, &error) == HAUL_STATUS_IO,
          "a file that is not there");
    check(haul_array_save(shared->arrays[0], nowhere, &error) == HAUL_STATUS_IO, "one array there");
    check(haul_array_load(shared->arrays[0], nowhere, &error) == HAUL_STATUS_IO, "no such array");
    free(load_bytes(path, &bytes));
    for (long at = 200; at < (long)bytes; at += (long)bytes / 7) { /* members of each process */
        meet();
        if (!rank)
            damage(path, at);
        meet();
        check(haul_arrays_load(shared->named, ARRAYS, path, &error) == HAUL_STATUS_BAD_INPUT,
              "a damaged file");
        check_side(shared, 6, "after a damaged file");
        meet();
        if (!rank)
            damage(path, at);
    }
    meet();
    must(haul_arrays_load(shared->named, ARRAYS, path, &error));
    meet();
    if (!rank)
        (void)remove(path);
}

int main(int argc, char **argv)
{
    haul_comm *comm;
    side shared, alone;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3)
        return 2;
    folder = argv[2];
    if (!rank)
        (void)mkdir(folder, 0777);
    meet();
    must(haul_comm_new(MPI_COMM_WORLD, &(haul_comm_options){.time_limit_s = 60}, &comm, &error));
    open_side(&shared, argv[1], haul_comm_processes(comm));
    open_side(&alone, "host", NULL);
    check_archive(&shared, &alone);
    check_files(&shared, &alone);
    check_edges(&shared);
    check_failures(&shared);
    close_side(&shared);
    close_side(&alone);
    haul_comm_free(comm);
    return all_failures(failures);
}
