/* Arrays in HDF5 files: found again at all places, and as others write them; files that do not fit
 * or are damaged are refused before the array changes. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAUL_TEST_HDF5
#include <hdf5.h>
#endif

#include "haul/tile.h"
#include "tile_must.h"

enum { X = 3, Y = 2, Z = 40, CELLS = X * Y * Z, BUFFER = 1 << 16 };

static char folder[] = "/tmp/haul-hdf5-XXXXXX";
static char path[sizeof folder + 32], inner[sizeof path + 32];

/* A test without the library has nothing to do; ABSENT names it. */
static int make_folder(void **state)
{
    haul_context *context;
    haul_array *u;
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/u.h5", folder);
    snprintf(inner, sizeof inner, "%s:/fields/heat/u", path);
    must(haul_context_open("host", NULL, &context, &error));
    must(haul_array_new(context, &(haul_array_spec){.size = {1}}, &u, &error));
    const haul_status status = haul_array_save(u, path, &error);
    haul_array_free(u);
    haul_context_close(context);
    if (status == HAUL_STATUS_ABSENT) {
        assert_non_null(strstr(error.text, "HDF5"));
        (void)rmdir(folder); /* nothing is left in it */
        printf("SKIP: %s\n", error.text);
        exit(77); // NOLINT(concurrency-mt-unsafe)
    }
    must(status);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)remove(path);
    return rmdir(folder);
}

/* --- a round trip */

static const struct {
    const char *device;
    haul_context_options options;
} places[] = {
    {.device = "host"},
    {.device = "sim:k40", .options = {.region = 3, .memory_bytes = 4000}},
    {.device = "opencl:0", .options = {.region = 5}},
    {.device = "sim:k40,host", .options = {.region = 2}},
};

static const haul_array_spec specs[] = {
    {.size = {X, Y, Z}, .ghost = {1, 2, 1}},
    {.size = {X, Y, Z}, .element_bytes = 4, .element = HAUL_ELEMENT_FLOATING},
    {.size = {X * Y, Z}, .ghost = {1, 1}, .element_bytes = 4, .element = HAUL_ELEMENT_INTEGER},
    {.size = {X * Y, Z}, .element_bytes = 1, .element = HAUL_ELEMENT_INTEGER},
    {.size = {CELLS}, .ghost = {2}, .element_bytes = 2, .element = HAUL_ELEMENT_INTEGER},
    {.size = {CELLS}, .element_bytes = 8, .element = HAUL_ELEMENT_INTEGER},
    {.size = {X, Y, Z}, .element_bytes = 6, .element = HAUL_ELEMENT_STRUCT},
    {.size = {X, Z}, .element_bytes = 2},
    {.size = {X, 0}},
};

enum { SPECS = sizeof specs / sizeof *specs };

static haul_context *open_place(size_t place)
{
    haul_context *context = NULL;
    const haul_status status =
        haul_context_open(places[place].device, &places[place].options, &context, &error);
    if (status)
        assert_non_null(strstr(places[place].device, "opencl"));
    return context;
}

static void test_round_trip(void **state)
{
    static unsigned char values[CELLS * 8], got[CELLS * 8];
    const char *const names[] = {path, inner};
    (void)state;
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (unsigned char)(i * 7 % 127); /* no float of these bytes is no number */
    for (size_t place = 0; place < sizeof places / sizeof *places; place++)
        for (size_t i = 0; i < (size_t)SPECS * 2; i++) {
            haul_context *context = open_place(place);
            haul_array *u, *v;
            if (!context)
                continue;
            must(haul_array_new(context, &specs[i / 2], &u, &error));
            must(haul_array_new(context, &specs[i / 2], &v, &error));
            must(haul_array_write(u, values, &error));
            must(haul_array_save(u, names[i % 2], &error));
            must(haul_array_load(v, names[i % 2], &error));
            memset(got, 0, sizeof got);
            must(haul_array_read(v, got, &error));
            uint64_t bytes = specs[i / 2].element_bytes ? specs[i / 2].element_bytes : 8;
            for (int d = 0; d < 3 && specs[i / 2].size[d]; d++)
                bytes *= (uint64_t)specs[i / 2].size[d];
            assert_memory_equal(got, values, bytes);
            haul_array_free(u);
            haul_array_free(v);
            haul_context_close(context);
        }
}

/* --- refusals */

static haul_array *new_array(haul_context *context, haul_array_spec spec)
{
    haul_array *u;
    must(haul_array_new(context, &spec, &u, &error));
    return u;
}

static void check_refused(haul_context *context, haul_array_spec spec, const char *name,
                          haul_status expected, const char *text)
{
    haul_array *u = new_array(context, spec);
    assert_int_equal(haul_array_load(u, name, &error), expected);
    if (!strstr(error.text, text))
        fail_msg("'%s' is not in '%s'", text, error.text);
    haul_array_free(u);
}

static void test_refused(void **state)
{
    haul_context *context;
    char other[sizeof path + 8], absent[sizeof folder + 16];
    (void)state;
    must(haul_context_open("host", NULL, &context, &error));
    haul_array *u = new_array(context, (haul_array_spec){.size = {4, 5}});
    must(haul_array_save(u, path, &error));
    snprintf(other, sizeof other, "%s:/v", path);
    snprintf(absent, sizeof absent, "%s/w.hdf5", folder);
    const haul_array_spec fits = {.size = {4, 5}};
    const struct {
        haul_array_spec spec;
        const char *name;
        haul_status status;
        const char *text;
    } cases[] = {
        {fits, other, HAUL_STATUS_BAD_INPUT, "no array '/v'"},
        {fits, absent, HAUL_STATUS_IO, "w.hdf5"},
        {{.size = {5, 4}}, path, HAUL_STATUS_BAD_INPUT, "another shape"},
        {{.size = {20}}, path, HAUL_STATUS_BAD_INPUT, "another shape"},
        {{.size = {4, 5, 1}}, path, HAUL_STATUS_BAD_INPUT, "another shape"},
        {{.size = {4, 5}, .element_bytes = 4}, path, HAUL_STATUS_BAD_INPUT, "other elements"},
        {{.size = {4, 5}, .element_bytes = 8, .element = HAUL_ELEMENT_INTEGER},
         path,
         HAUL_STATUS_BAD_INPUT,
         "other elements"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(context, cases[i].spec, cases[i].name, cases[i].status, cases[i].text);
    assert_int_equal(haul_array_save(u, "/nowhere/u.h5", &error), HAUL_STATUS_IO);
    snprintf(other, sizeof other, "%s:/", path); /* a name that the library refuses */
    assert_int_equal(haul_array_save(u, other, &error), HAUL_STATUS_IO);
    must(haul_array_load(u, path, &error)); /* the file is as it was */
    haul_array_free(u);
    haul_context_close(context);
}

static void write_bytes(const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Lengths, and a bit of each byte: refused, or the values come as they were written, but for cells,
 * which have no checksum. */
static void test_damage(void **state)
{
    static unsigned char bytes[BUFFER];
    static const double values[4] = {1, 2, 3, 4}, zeros[4];
    double got[4];
    haul_context *context;
    (void)state;
    must(haul_context_open("host", NULL, &context, &error));
    haul_array *u = new_array(context, (haul_array_spec){.size = {4}});
    must(haul_array_write(u, values, &error));
    must(haul_array_save(u, path, &error));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(size, sizeof values, BUFFER - 1);
    must(haul_array_write(u, zeros, &error));
    for (size_t length = 0; length < size; length += length % 64 ? 29 : 6) {
        write_bytes(bytes, length);
        assert_int_equal(haul_array_load(u, path, &error), HAUL_STATUS_BAD_INPUT);
    }
    must(haul_array_read(u, got, &error));
    assert_memory_equal(got, zeros, sizeof got);
    const size_t cells = size - sizeof values;
    assert_memory_equal(bytes + cells, values, sizeof values);
    for (size_t i = 0; i < cells; i += i < 512 ? 1 : 11) {
        must(haul_array_write(u, zeros, &error));
        bytes[i] ^= (unsigned char)(1U << i % 8);
        write_bytes(bytes, size);
        bytes[i] ^= (unsigned char)(1U << i % 8);
        const haul_status status = haul_array_load(u, path, &error);
        assert_true(!status || status == HAUL_STATUS_BAD_INPUT);
        must(haul_array_read(u, got, &error));
        assert_memory_equal(got, status ? zeros : values, sizeof got);
    }
    haul_array_free(u);
    haul_context_close(context);
}

/* --- files of others */

#ifdef HAUL_TEST_HDF5

/* A file with one array, in chunks, compressed, or of an order of bytes that is not the machine's.
 */
static void write_foreign(hid_t type, hid_t memory_type, const void *cells, bool is_packed)
{
    const hsize_t size[2] = {5, 4}, chunk[2] = {2, 3};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(2, size, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    if (is_packed) {
        assert_true(H5Pset_chunk(list, 2, chunk) >= 0);
        assert_true(H5Pset_fletcher32(list) >= 0);
    }
    const hid_t set = H5Dcreate2(file, "u", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells) >= 0);
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
}

static void test_foreign(void **state)
{
    double values[20], got[20];
    int whole[20], whole_got[20];
    char name[sizeof path + 8];
    haul_context *context;
    (void)state;
    for (int i = 0; i < 20; i++) {
        whole[i] = 1 - i;
        values[i] = 0.25 * i;
    }
    snprintf(name, sizeof name, "%s:u", path);
    must(haul_context_open("host", NULL, &context, &error));
    haul_array *u = new_array(
        context,
        (haul_array_spec){.size = {4, 5}, .ghost = {1, 1}, .element = HAUL_ELEMENT_FLOATING});
    haul_array *n = new_array(
        context,
        (haul_array_spec){.size = {4, 5}, .element_bytes = 4, .element = HAUL_ELEMENT_INTEGER});
    for (int i = 0; i < 4; i++) {
        write_foreign(i < 2 ? H5T_IEEE_F64LE : H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, values, i % 2);
        must(haul_array_load(u, name, &error));
        must(haul_array_read(u, got, &error));
        assert_memory_equal(got, values, sizeof got);
        assert_int_equal(haul_array_load(n, name, &error), HAUL_STATUS_BAD_INPUT);
        write_foreign(i < 2 ? H5T_STD_I32LE : H5T_STD_U32BE, H5T_NATIVE_INT, whole, i % 2);
        if (i < 2) {
            must(haul_array_load(n, name, &error));
            must(haul_array_read(n, whole_got, &error));
            assert_memory_equal(whole_got, whole, sizeof whole);
        }
        assert_int_equal(haul_array_load(u, name, &error), HAUL_STATUS_BAD_INPUT);
    }
    /* texts of any length are pointers in memory: none is taken for an integer */
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    const char *texts[20];
    for (int i = 0; i < 20; i++)
        texts[i] = "text";
    write_foreign(text, text, texts, false);
    H5Tclose(text);
    haul_array *any = new_array(context, (haul_array_spec){.size = {4, 5}, .element_bytes = 8});
    assert_int_equal(haul_array_load(any, name, &error), HAUL_STATUS_BAD_INPUT);
    haul_array_free(any);
    haul_array_free(u);
    haul_array_free(n);
    haul_context_close(context);
}

/* The library opens what was saved, as numbers. */
static void test_for_others(void **state)
{
    double values[20], got[20];
    hsize_t size[2];
    haul_context *context;
    H5E_auto2_t show = NULL;
    void *show_of = NULL;
    (void)state;
    for (int i = 0; i < 20; i++)
        values[i] = 0.5 * i;
    must(haul_context_open("host", NULL, &context, &error));
    haul_array *u = new_array(context, (haul_array_spec){.size = {4, 5}, .ghost = {1, 1}});
    must(haul_array_write(u, values, &error));
    must(haul_array_save(u, inner, &error));
    H5Eget_auto2(H5E_DEFAULT, &show, &show_of);
    assert_true(show != NULL); /* the program's own errors are shown as before */
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/fields/heat/u", H5P_DEFAULT);
    assert_true(set >= 0);
    const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), 2);
    assert_int_equal(size[0], 5);
    assert_int_equal(size[1], 4);
    assert_true(H5Tequal(type, H5T_NATIVE_DOUBLE) > 0);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, got) >= 0);
    assert_memory_equal(got, values, sizeof got);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    haul_array_free(u);
    haul_context_close(context);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damage),
#ifdef HAUL_TEST_HDF5
        cmocka_unit_test(test_foreign),    cmocka_unit_test(test_for_others),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
