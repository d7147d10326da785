/* Arrays as NumPy's .npy files (numpy.lib.format, version 1.0): a line that tells type and shape,
 * then the cells, the first dimension's next to each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "tile/tile_calls.h"

/* The preamble's length field and the line together fill blocks of 64 bytes. */
enum { PREAMBLE = 10, BLOCK = 64, LINE_MOST = 246 };

static const char *letter_of(const hl_tile_field *field)
{
    static const char *const letters[] = {
        [HAUL_ELEMENT_ANY] = "V",
        [HAUL_ELEMENT_FLOATING] = "f",
        [HAUL_ELEMENT_INTEGER] = "i",
        [HAUL_ELEMENT_STRUCT] = "V",
    };
    const uint64_t bytes = field->element;
    const bool is_number = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    return is_number ? letters[field->element_kind] : "V";
}

static void write_header(const hl_tile_field *field, FILE *out)
{
    char line[LINE_MOST + 1], shape[64];
    int used = 0;
    for (int d = field->dims - 1; d >= 0; d--)
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%d,%s",
                         hl_tile_field_size(field, d), d ? " " : "");
    const char *letter = letter_of(field);
    snprintf(line, sizeof line, "{'descr': '%c%s%llu', 'fortran_order': False, 'shape': (%s), }",
             *letter == 'V' || field->element == 1       ? '|'
             : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<'
                                                         : '>',
             letter, (unsigned long long)field->element, shape);
    const size_t length = strlen(line) + 1;
    const size_t padded = (PREAMBLE + length + BLOCK - 1) / BLOCK * BLOCK - PREAMBLE;
    const unsigned char preamble[PREAMBLE] = {0x93,
                                              'N',
                                              'U',
                                              'M',
                                              'P',
                                              'Y',
                                              1,
                                              0,
                                              (unsigned char)(padded & 0xff),
                                              (unsigned char)(padded >> 8)};
    fwrite(preamble, 1, sizeof preamble, out);
    fprintf(out, "%-*s\n", (int)padded - 1, line);
}

/* A region's rows, without the cells beyond the edges. */
static void write_region(const hl_tile_field *field, const haul_region *region, FILE *out)
{
    const int rows = field->dims == 3 ? field->size[1] : 1;
    const int first = region->first < 0 ? 0 : region->first;
    const int last = region->end < field->whole ? region->end : field->whole;
    /* in one dimension all planes are one row */
    const size_t row = (size_t)(field->dims > 1 ? field->size[0] : last - first);
    const int end = field->dims > 1 || last <= first ? last : first + 1;
    for (int z = first; z < end; z++)
        for (int y = 0; y < rows; y++)
            fwrite((const char *)region->cells +
                       ((z - region->first) * region->plane + y * region->row) *
                           (int64_t)field->element,
                   field->element, row, out);
}

static haul_status write_all(haul_array *array, FILE *out, haul_error *error)
{
    haul_status status = HAUL_OK;
    haul_region region;
    const int regions = haul_array_regions(array);
    write_header(array->field, out);
    for (int i = 0; i < regions && !status; i++) {
        status = haul_array_access(array, i, HAUL_USE_READ, &region, error);
        if (!status)
            write_region(array->field, &region, out);
    }
    return status;
}

static haul_status fail_write(const char *path, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.300s'", path);
}

/* Under another name until all of it is on the disk: a program that ends half way leaves the old
 * file as it was. */
static haul_status save_as(haul_array *array, const char *path, const char *between,
                           haul_error *error)
{
    FILE *out = fopen(between, "wb");
    if (!out)
        return hl_base_fail_open(error, between);
    haul_status status = write_all(array, out, error);
    const bool is_written = !fflush(out) && !ferror(out) && !fsync(fileno(out));
    if ((fclose(out) || !is_written) && !status)
        status = fail_write(path, error);
    if (!status && rename(between, path))
        status = fail_write(path, error);
    if (status)
        (void)remove(between);
    return status;
}

haul_status haul_array_save(haul_array *array, const char *path, haul_error *error)
{
    const hl_tile_field *field = array->field;
    if ((hl_tile_is_divided(field) && !array->of) || field->memory->without_data)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              field->memory->without_data
                                  ? "a device without data has no cells to save"
                                  : "an array that processes share is saved by none of them alone");
    HAUL_TRY(hl_tile_queue_run(array->context, error));
    const size_t size = strlen(path) + 32;
    char *between = malloc(size);
    if (!between)
        return hl_base_fail_no_memory(error);
    snprintf(between, size, "%s.%ld-written", path, (long)getpid());
    const haul_status status = save_as(array, path, between, error);
    free(between);
    return status;
}
