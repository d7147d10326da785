/* Several arrays in one file: a program that goes on from it computes what it would have without,
 * and a file that was changed is refused before an array is. An array as an image's file. */
#include "check.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "haul/tile.h"
#include "tile_kernels.h"
#include "tile_must.h"

enum { PLANES = 60, STEPS = 3, BUFFER = 1 << 16 };

/* --- a program */

/* Where a program runs. */
typedef struct place {
    const char *device;
    haul_context_options options;
} place;

static const place places[] = {
    {.device = "host"},
    {.device = "sim:k40", .options = {.region = 3}},
    {.device = "sim:k40", .options = {.region = 2, .memory_bytes = 60000}}, /* arrays stream */
    {.device = "sim:k40", .options = {.check = true}},
    {.device = "opencl:0", .options = {.region = 5}},
    {.device = "host,sim:k40"},
    {.device = "sim:k40,host,sim:p100-pcie3", .options = {.region = 2}},
};

enum { PLACES = sizeof places / sizeof *places };

/* Pairs of arrays that loops go back and forth between, and a table that all processes have. */
typedef struct program {
    haul_context *context;
    haul_array *fixed[2];
    haul_array *round[2];
    haul_array *flat[2];
    haul_array *line[2];
} program;

enum { SAVED = 5, CELLS_MOST = 5 * 4 * PLANES };

static const struct {
    haul_array_spec spec;
    size_t at; /* of the pair in a program */
} pairs[] = {
    {{.size = {5, 4, PLANES}, .ghost = {1, 1, 1}}, offsetof(program, fixed)},
    {{.size = {5, 4, PLANES},
      .ghost = {2, 2, 2},
      .boundary = {HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_PERIODIC}},
     offsetof(program, round)},
    {{.size = {6, PLANES}, .ghost = {1, 1}, .boundary = {HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_COPY}},
     offsetof(program, flat)},
    {{.size = {31}, .ghost = {1}}, offsetof(program, line)},
};

enum { PAIRS = sizeof pairs / sizeof *pairs };

static haul_array **pair_of(program *self, int pair)
{
    return (haul_array **)((char *)self + pairs[pair].at);
}

/* OpenCL is not everywhere. */
static bool is_there(const place *at)
{
    haul_context *context = NULL;
    const bool is = !haul_context_open(at->device, NULL, &context, &error);
    assert_true(is || strstr(at->device, "opencl"));
    haul_context_close(context);
    return is;
}

static void close_program(program *self)
{
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 2; i++)
            haul_array_free(pair_of(self, p)[i]);
    haul_context_close(self->context);
}

/* All cells of the region, those beyond the edges too. */
static void set_region(const haul_region *region, const haul_array_spec *spec)
{
    const bool has_rows = spec->size[1], has_planes = spec->size[2];
    const int beyond_y = has_planes ? spec->ghost[1] : 0, rows = has_planes ? spec->size[1] : 1;
    const int beyond_x = has_rows ? spec->ghost[0] : 0, cells = has_rows ? spec->size[0] : 1;
    for (int z = region->first; z < region->end; z++)
        for (int y = -beyond_y; y < rows + beyond_y; y++)
            for (int x = -beyond_x; x < cells + beyond_x; x++) {
                const unsigned value =
                    7U * (unsigned)x + 31U * (unsigned)y + 1001U * (unsigned)z + 5U;
                if (has_planes)
                    HAUL_CELL(*region, unsigned, x, y, z) = value;
                else if (has_rows)
                    HAUL_CELL2(*region, unsigned, x, z) = value;
                else
                    HAUL_CELL1(*region, unsigned, z) = value;
            }
}

static void fill(program *self)
{
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 2; i++) {
            haul_region region;
            const int regions = haul_array_regions(pair_of(self, p)[i]);
            assert_true(regions > 0);
            for (int r = 0; r < regions; r++) {
                must(haul_array_access(pair_of(self, p)[i], r, HAUL_USE_WRITE, &region, &error));
                set_region(&region, &pairs[p].spec);
            }
        }
}

/* All arrays have values. */
static void open_program(program *self, const place *at)
{
    must(haul_context_open(at->device, &at->options, &self->context, &error));
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 2; i++) {
            haul_array_spec spec = pairs[p].spec;
            spec.element_bytes = sizeof(unsigned);
            must(haul_array_new(self->context, &spec, &pair_of(self, p)[i], &error));
        }
    fill(self);
}

static void run_steps(program *self)
{
    for (unsigned k = 0; k < STEPS; k++) {
        must(HAUL_LOOP(self->context, &error, &near_3, self->fixed[0], self->fixed[1], &k));
        must(HAUL_LOOP(self->context, &error, &wide_3, self->round[0], self->fixed[1],
                       self->round[1]));
        must(HAUL_LOOP(self->context, &error, &near_2, self->flat[0], self->flat[1], &k));
        must(HAUL_LOOP(self->context, &error, &add_1, self->line[0], self->line[1], &k));
        must(haul_array_swap(self->fixed[0], self->fixed[1], &error));
        must(haul_array_swap(self->round[0], self->round[1], &error));
        must(haul_array_swap(self->flat[0], self->flat[1], &error));
    }
}

/* Those with values that later steps read. The fixed cells of the other of a pair are some. */
static void name_arrays(program *self, haul_named_array named[SAVED])
{
    const haul_named_array all[SAVED] = {{"fixed", self->fixed[0]},
                                         {"fixed other", self->fixed[1]},
                                         {"round", self->round[0]},
                                         {"flat", self->flat[0]},
                                         {"line", self->line[1]}};
    memcpy(named, all, sizeof all);
}

typedef unsigned answers[PAIRS][CELLS_MOST];

static void read_answers(program *self, answers cells)
{
    memset(cells, 0, sizeof(answers));
    for (int p = 0; p < PAIRS; p++)
        must(haul_array_read(pair_of(self, p)[pairs[p].at == offsetof(program, line)], cells[p],
                             &error));
}

/* --- files */

static char folder[] = "/tmp/haul-checkpoint-XXXXXX";
static char path[sizeof folder + 16];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/arrays.npz", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)remove(path);
    return rmdir(folder);
}

static size_t read_file(unsigned char bytes[BUFFER])
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    const size_t size = fread(bytes, 1, BUFFER, in);
    fclose(in);
    assert_in_range(size, 1, BUFFER - 1);
    return size;
}

static void write_file(const unsigned char *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

/* --- tests */

/* Cells by their indices are those of the array as a whole. */
static void test_cells(void **state)
{
    static unsigned cells[CELLS_MOST];
    haul_region region;
    (void)state;
    for (int at = 0; at < PLACES; at++) {
        if (!is_there(&places[at]))
            continue;
        program self;
        open_program(&self, &places[at]);
        must(haul_array_read(self.fixed[0], cells, &error));
        for (unsigned i = 0; i < 5 * 4 * PLANES; i++)
            assert_int_equal(cells[i], 7 * (i % 5) + 31 * (i / 5 % 4) + 1001 * (i / 20) + 5);
        must(haul_array_read(self.flat[0], cells, &error));
        for (unsigned i = 0; i < 6 * PLANES; i++)
            assert_int_equal(cells[i], 7 * (i % 6) + 1001 * (i / 6) + 5);
        must(haul_array_read(self.line[0], cells, &error));
        for (unsigned i = 0; i < 31; i++)
            assert_int_equal(cells[i], 1001 * i + 5);
        must(haul_array_access(self.fixed[0], 0, HAUL_USE_READ, &region, &error));
        assert_int_equal(HAUL_CELL(region, unsigned, 4, 3, 1), 7 * 4 + 31 * 3 + 1001 + 5);
        close_program(&self);
    }
}

/* Written at each place, and gone on from at each other. The arrays are new ones there, as in
 * another process: their lines that are not saved are set as the first program set them. */
static void test_goes_on(void **state)
{
    static answers expected, cells;
    haul_named_array named[SAVED];
    program self;
    (void)state;
    open_program(&self, &places[0]);
    run_steps(&self);
    run_steps(&self);
    read_answers(&self, expected);
    close_program(&self);
    for (int from = 0; from < PLACES; from++) {
        if (!is_there(&places[from]))
            continue;
        open_program(&self, &places[from]);
        run_steps(&self);
        name_arrays(&self, named);
        must(haul_arrays_save(named, SAVED, path, &error));
        run_steps(&self); /* it goes on itself, too */
        read_answers(&self, cells);
        assert_memory_equal(cells, expected, sizeof cells);
        close_program(&self);
        for (int to = 0; to < PLACES; to++) {
            if (!is_there(&places[to]))
                continue;
            open_program(&self, &places[to]);
            name_arrays(&self, named);
            must(haul_arrays_load(named, SAVED, path, &error));
            run_steps(&self);
            read_answers(&self, cells);
            if (memcmp(cells, expected, sizeof cells))
                fail_msg("from %s (%d) to %s (%d)", places[from].device, from, places[to].device,
                         to);
            close_program(&self);
        }
    }
}

/* Back to the file in the same program, whose loops since then are queued still. */
static void test_goes_back(void **state)
{
    static answers expected, cells;
    haul_named_array named[SAVED];
    program self;
    (void)state;
    for (int at = 0; at < PLACES; at++) {
        if (!is_there(&places[at]))
            continue;
        open_program(&self, &places[at]);
        run_steps(&self);
        name_arrays(&self, named);
        must(haul_arrays_save(named, SAVED, path, &error));
        read_answers(&self, expected);
        run_steps(&self);
        name_arrays(&self, named); /* swapped */
        must(haul_arrays_load(named, SAVED, path, &error));
        read_answers(&self, cells);
        assert_memory_equal(cells, expected, sizeof cells);
        close_program(&self);
    }
}

/* A small array of 3-byte elements and one of a row, with their values before the load. */
typedef struct small {
    haul_context *context;
    haul_array *a;
    haul_array *b;
} small;

enum { A_BYTES = 3 * 2 * 3, B_BYTES = 5 };

static const char a_values[A_BYTES] = "abcdefghijklmnopq", b_values[B_BYTES] = "vwxy";

static small open_small(void)
{
    small self;
    const haul_array_spec a = {.size = {2, 3}, .element_bytes = 3, .ghost = {0, 1}};
    const haul_array_spec b = {.size = {B_BYTES}, .element_bytes = 1};
    must(haul_context_open("host", NULL, &self.context, &error));
    must(haul_array_new(self.context, &a, &self.a, &error));
    must(haul_array_new(self.context, &b, &self.b, &error));
    must(haul_array_write(self.a, a_values, &error));
    must(haul_array_write(self.b, b_values, &error));
    return self;
}

static void close_small(small *self)
{
    haul_array_free(self->a);
    haul_array_free(self->b);
    haul_context_close(self->context);
}

static void check_values(small *self, const char *a, const char *b)
{
    char cells[A_BYTES];
    must(haul_array_read(self->a, cells, &error));
    assert_memory_equal(cells, a, A_BYTES);
    must(haul_array_read(self->b, cells, &error));
    assert_memory_equal(cells, b, B_BYTES);
}

/* Written while later loops run, which change all arrays: the file has the values of the call. The
 * next call waits for it, and so does closing. */
static void test_behind(void **state)
{
    static answers expected, later, cells;
    haul_named_array named[SAVED];
    program self;
    (void)state;
    for (int at = 0; at < PLACES; at++) {
        if (!is_there(&places[at]))
            continue;
        open_program(&self, &places[at]);
        run_steps(&self);
        name_arrays(&self, named);
        read_answers(&self, expected);
        must(haul_arrays_save_start(named, SAVED, path, &error));
        for (int i = 0; i < 4; i++)
            run_steps(&self);
        read_answers(&self, later);
        assert_memory_not_equal(later, expected, sizeof later);
        name_arrays(&self, named);
        must(haul_arrays_load(named, SAVED, path, &error));
        read_answers(&self, cells);
        assert_memory_equal(cells, expected, sizeof cells);
        for (int i = 0; i < 4; i++) {
            run_steps(&self);
            name_arrays(&self, named);
            must(haul_arrays_save_start(named, SAVED, path, &error));
        }
        close_program(&self);
        open_program(&self, &places[at]);
        name_arrays(&self, named);
        must(haul_arrays_save_finish(self.context, &error));
        must(haul_arrays_load(named, SAVED, path, &error));
        read_answers(&self, cells);
        assert_memory_equal(cells, later, sizeof cells);
        close_program(&self);
    }
}

/* A bit of each byte and each length: the arrays are as they were, or, where the bit is in a part
 * of the headers that only other programs read, as they were saved. */
static void test_damage(void **state)
{
    enum {
        HEADER = 30 + 5 + 20,
        NPY = 128,
        A_SAVED = A_BYTES + 2 * 2 * 3
    }; /* and beyond the edges */
    enum { B_AT = HEADER + NPY + A_SAVED, B_END = B_AT + HEADER + NPY + B_BYTES };
    static unsigned char bytes[BUFFER];
    static const char zeros[A_BYTES];
    (void)state;
    small self = open_small();
    const haul_named_array named[] = {{"u", self.a}, {"w", self.b}};
    must(haul_arrays_save(named, 2, path, &error));
    const size_t size = read_file(bytes);
    assert_memory_equal(bytes + B_AT, "PK\3\4", 4);
    assert_memory_equal(bytes + B_END, "PK\1\2", 4);
    for (size_t i = 0; i < size; i++) {
        must(haul_array_write(self.a, zeros, &error));
        must(haul_array_write(self.b, zeros, &error));
        bytes[i] ^= (unsigned char)(1U << i % 8);
        write_file(bytes, size);
        bytes[i] ^= (unsigned char)(1U << i % 8);
        const haul_status status = haul_arrays_load(named, 2, path, &error);
        const bool is_data = (i >= HEADER && i < B_AT) || (i >= B_AT + HEADER && i < B_END);
        assert_int_equal(status, status || is_data ? HAUL_STATUS_BAD_INPUT : HAUL_OK);
        check_values(&self, status ? zeros : a_values, status ? zeros : b_values);
    }
    for (size_t length = 0; length < size; length++) {
        write_file(bytes, length);
        assert_int_equal(haul_arrays_load(named, 1, path, &error), HAUL_STATUS_BAD_INPUT);
    }
    bytes[size] = 0;
    write_file(bytes, size + 1);
    assert_int_equal(haul_arrays_load(named, 1, path, &error), HAUL_STATUS_BAD_INPUT);
    close_small(&self);
}

/* Some of a file's arrays in another order; none where one of them does not fit. */
static void test_some(void **state)
{
    static const char other[A_BYTES] = "zzzzzzzzzzzzzzzzz";
    (void)state;
    small self = open_small();
    const haul_named_array named[] = {{"a", self.a}, {"b", self.b}, {"c", self.b}};
    const haul_named_array turned[] = {{"b", self.b}, {"a", self.a}};
    const haul_named_array swapped[] = {{"b", self.b}, {"a", self.b}};
    const haul_named_array absent[] = {{"b", self.b}, {"d", self.a}};
    must(haul_arrays_save(named, 3, path, &error));
    must(haul_array_write(self.a, other, &error));
    must(haul_array_write(self.b, other, &error));
    assert_int_equal(haul_arrays_load(absent, 2, path, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "has no array 'd'"));
    assert_int_equal(haul_arrays_load(swapped, 2, path, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "array 'a'"));
    check_values(&self, other, other);
    must(haul_arrays_load(turned, 1, path, &error));
    check_values(&self, other, b_values);
    must(haul_arrays_load(turned, 2, path, &error));
    check_values(&self, a_values, b_values);
    close_small(&self);
}

static void test_refused(void **state)
{
    (void)state;
    small self = open_small();
    haul_named_array many[300], alike[] = {{"a", self.a}, {"a", self.b}};
    static char long_name[200];
    memset(long_name, 'n', sizeof long_name - 1);
    const char *const names[] = {NULL, "", "a/b", "a\\b", long_name};
    for (int i = 0; i < 300; i++)
        many[i] = (haul_named_array){"a", self.a};
    assert_int_equal(haul_arrays_save(many, 0, path, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_arrays_save(many, 300, path, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_arrays_save(alike, 2, path, &error), HAUL_STATUS_USAGE);
    assert_non_null(strstr(error.text, "two arrays are called 'a'"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const haul_named_array named = {names[i], self.a};
        assert_int_equal(haul_arrays_save(&named, 1, path, &error), HAUL_STATUS_USAGE);
        assert_int_equal(haul_arrays_save_start(&named, 1, path, &error), HAUL_STATUS_USAGE);
        assert_int_equal(haul_arrays_load(&named, 1, path, &error), HAUL_STATUS_USAGE);
    }
    assert_int_equal(haul_arrays_save(many, 1, "/nowhere/a.h5", &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_arrays_save(many, 1, "/nowhere/a.npz", &error), HAUL_STATUS_IO);
    assert_int_equal(haul_arrays_save_start(many, 1, "/nowhere/a.npz", &error), HAUL_STATUS_IO);
    assert_int_equal(haul_arrays_load(many, 1, "/nowhere/a.npz", &error), HAUL_STATUS_IO);
    must(haul_arrays_save_finish(self.context, &error));
    close_small(&self);
}

static int count_files(void)
{
    int count = 0;
    DIR *files = opendir(folder);
    assert_non_null(files);
    while (readdir(files))
        count++;
    closedir(files);
    return count - 2; /* it and the one above */
}

typedef haul_status (*save_call)(const haul_named_array *arrays, size_t count, const char *path,
                                 haul_error *error);

/* A file that cannot be written to its end leaves the one before as it was, and nothing beside. */
static void fill_disk(save_call save, save_call next)
{
    struct rlimit limit;
    small self = open_small();
    haul_array *large;
    must(haul_array_new(self.context, &(haul_array_spec){.size = {1 << 16}}, &large, &error));
    const haul_named_array before = {"a", self.a}, after[] = {{"a", self.a}, {"large", large}};
    must(haul_arrays_save(&before, 1, path, &error));
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit low = {.rlim_cur = 1 << 12, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    haul_status status = save(after, 2, path, &error);
    if (!status)
        status =
            next ? next(&before, 1, path, &error) : haul_arrays_save_finish(self.context, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, HAUL_STATUS_IO);
    assert_non_null(strstr(error.text, path));
    must(haul_arrays_save_finish(self.context, &error)); /* it is told once */
    assert_int_equal(count_files(), 1);
    must(haul_arrays_load(&before, 1, path, &error));
    check_values(&self, a_values, b_values);
    haul_array_free(large);
    close_small(&self);
}

static void test_full_disk(void **state)
{
    static const save_call calls[] = {haul_arrays_save, haul_arrays_save_start, haul_arrays_load};
    (void)state;
    fill_disk(haul_arrays_save, NULL);
    fill_disk(haul_arrays_save_start, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        fill_disk(haul_arrays_save_start, calls[i]);
}

/* An array as VTK's image data: a text, the number of bytes, the cells, a text. */
static void test_image(void **state)
{
    static const struct {
        haul_array_spec spec;
        const char *extent, *type;
    } arrays[] = {
        {{.size = {3, 2, 4}, .ghost = {1, 1, 1}, .element = HAUL_ELEMENT_FLOATING},
         "\"0 3 0 2 0 4\"",
         "type=\"Float64\" format"},
        {{.size = {5, 8}, .ghost = {2, 1}, .element_bytes = 4, .element = HAUL_ELEMENT_INTEGER},
         "\"0 5 0 8 0 0\"",
         "type=\"Int32\" format"},
        {{.size = {7}, .element_bytes = 6},
         "\"0 7 0 0 0 0\"",
         "type=\"UInt8\" NumberOfComponents=\"6\" format"},
    };
    static const char end[] = "\n</AppendedData>\n</VTKFile>\n";
    static unsigned char bytes[BUFFER];
    char image[sizeof path + 8], values[3 * 2 * 4 * 8];
    (void)state;
    snprintf(image, sizeof image, "%s/u.vti", folder);
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (char)(7 * i);
    for (size_t i = 0; i < 3 * sizeof arrays / sizeof *arrays; i++) {
        const size_t of = i / 3;
        const haul_array_spec *spec = &arrays[of].spec;
        haul_context *context;
        haul_array *u;
        uint64_t size = spec->element_bytes ? spec->element_bytes : 8, told;
        for (int d = 0; d < 3 && spec->size[d]; d++)
            size *= (uint64_t)spec->size[d];
        must(haul_context_open(places[i % 3 == 2 ? 5 : i % 3].device, NULL, &context, &error));
        must(haul_array_new(context, spec, &u, &error));
        must(haul_array_write(u, values, &error));
        must(haul_array_save(u, image, &error));
        assert_int_equal(haul_array_load(u, image, &error), HAUL_STATUS_BAD_INPUT);
        FILE *in = fopen(image, "rb");
        assert_non_null(in);
        const size_t all = fread(bytes, 1, sizeof bytes, in);
        fclose(in);
        const size_t begin = all - strlen(end) - size;
        assert_memory_equal(bytes + begin + size, end, strlen(end));
        assert_memory_equal(bytes + begin, values, size);
        memcpy(&told, bytes + begin - sizeof told, sizeof told);
        assert_int_equal(told, size);
        bytes[begin - sizeof told] = '\0';
        assert_non_null(strstr((const char *)bytes, arrays[of].extent));
        assert_non_null(strstr((const char *)bytes, arrays[of].type));
        haul_array_free(u);
        haul_context_close(context);
    }
    (void)remove(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),     cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_goes_back), cmocka_unit_test(test_behind),
        cmocka_unit_test(test_damage),    cmocka_unit_test(test_some),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_image),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
