/* Arrays from NumPy's .npy files, and from HDF5's. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "tile/tile_files.h"
#include "tile/tile_hdf5.h"
#include "tile/tile_npy.h"

/* Bytes mean the same in the file and in the array. */
static bool is_same_type(const hl_tile_npy *header, const hl_tile_field *field)
{
    const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const haul_element kind = field->element_kind;
    const bool is_floating = header->letter == 'f';
    const bool is_integer = header->letter == 'i' || header->letter == 'u' || header->letter == 'b';
    return header->bytes == field->element &&
           (header->bytes == 1 || header->order != (is_little ? '>' : '<')) &&
           (kind == HAUL_ELEMENT_ANY || (kind == HAUL_ELEMENT_FLOATING && is_floating) ||
            (kind == HAUL_ELEMENT_INTEGER && is_integer) ||
            (kind == HAUL_ELEMENT_STRUCT && header->letter == 'V'));
}

static haul_status check_shape(const hl_tile_field *field, const int size[3],
                               const hl_tile_npy *header, const char *path, haul_error *error)
{
    bool fits = header->dims == field->dims && (!header->is_fortran || header->dims == 1);
    for (int d = 0; d < field->dims; d++)
        fits = fits && header->size[field->dims - 1 - d] == (uint64_t)size[d];
    if (!fits)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "'%.200s' has another shape than the array of %d planes, or columns "
                              "first",
                              path, field->whole);
    if (!is_same_type(header, field))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "'%.200s' has elements '%c%c%llu', other than the array's of %llu "
                              "bytes",
                              path, header->order, header->letter,
                              (unsigned long long)header->bytes,
                              (unsigned long long)field->element);
    return HAUL_OK;
}

haul_status hl_tile_npy_check(const hl_tile_field *field, const int size[3],
                              const hl_tile_npy_place *place, FILE *in, haul_error *error)
{
    unsigned char preamble[HL_TILE_NPY_PREAMBLE];
    char line[HL_TILE_NPY_LINE];
    size_t begin, length;
    hl_tile_npy header;
    if (fseeko(in, (off_t)place->at, SEEK_SET) ||
        fread(preamble, 1, sizeof preamble, in) != sizeof preamble ||
        !hl_tile_npy_open(preamble, &begin, &length) ||
        fseeko(in, (off_t)(place->at + begin), SEEK_SET) || fread(line, 1, length, in) != length ||
        !hl_tile_npy_parse(line, length, &header))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "'%.200s' is no .npy file",
                              place->path);
    HAUL_TRY(check_shape(field, size, &header, place->path, error));
    unsigned long long bytes = field->element;
    for (int d = 0; d < field->dims; d++)
        bytes *= (unsigned long long)size[d];
    bytes += begin + length;
    if (place->bytes != bytes)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "'%.200s' has %llu bytes, not %llu",
                              place->path, (unsigned long long)place->bytes, bytes);
    return HAUL_OK;
}

/* The file's cells are the array's, without gaps. The caller frees *read, also after a failure. */
static haul_status read_cells(const hl_tile_field *field, const char *path, FILE *in,
                              const hl_tile_hdf5_name *hdf5, char **read, haul_error *error)
{
    uint64_t bytes = field->element;
    struct stat found;
    int size[3] = {0};
    for (int d = 0; d < field->dims; d++) {
        size[d] = hl_tile_field_size(field, d);
        bytes *= (uint64_t)size[d];
    }
    if (fstat(fileno(in), &found))
        return hl_base_fail_read(error, path);
    const hl_tile_npy_place all = {path, 0, (uint64_t)found.st_size};
    if (!hdf5->file) /* before the array changes */
        HAUL_TRY(hl_tile_npy_check(field, size, &all, in, error));
    char *cells = malloc(bytes ? bytes : 1);
    if (!cells)
        return hl_base_fail_no_memory(error);
    const haul_status status = hdf5->file ? hl_tile_hdf5_read(hdf5, field, size, cells, error)
                               : fread(cells, 1, bytes, in) == bytes
                                   ? HAUL_OK
                                   : hl_base_fail_read(error, path);
    *read = cells;
    return status;
}

haul_status haul_array_load(haul_array *array, const char *path, haul_error *error)
{
    hl_tile_hdf5_name hdf5;
    char *cells = NULL;
    if (array->field->memory->without_data)
        return haul_error_set(error, HAUL_STATUS_USAGE, "an array without data is not loaded");
    HAUL_TRY(hl_tile_hdf5_parse(path, &hdf5, error));
    const char *file = hdf5.file ? hdf5.file : path;
    FILE *in = fopen(file, "rb");
    haul_status status = in ? read_cells(array->field, path, in, &hdf5, &cells, error)
                            : hl_base_fail_open(error, file);
    status = hl_tile_agree(array->context, status, error);
    if (!status)
        status = haul_array_write(array, cells, error);
    if (in)
        fclose(in);
    free(cells);
    free(hdf5.file);
    return status;
}
