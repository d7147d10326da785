/* Arrays as files: NumPy's .npy (numpy.lib.format, version 1.0), a line that tells type and shape,
 * then the cells, the first dimension's next to each other; and VTK's image data (VTK File Formats,
 * "XML file formats", ImageData, appended raw data), the same cells between two texts; and HDF5. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "tile/tile_files.h"
#include "tile/tile_hdf5.h"

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

size_t hl_tile_npy_make(const hl_tile_field *field, const int size[3], char head[HL_TILE_NPY_HEAD])
{
    char line[LINE_MOST + 1], shape[64];
    int used = 0;
    for (int d = field->dims - 1; d >= 0; d--)
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%d,%s", size[d], d ? " " : "");
    const char *letter = letter_of(field);
    snprintf(line, sizeof line, "{'descr': '%c%s%llu', 'fortran_order': False, 'shape': (%s), }",
             *letter == 'V' || field->element == 1       ? '|'
             : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<'
                                                         : '>',
             letter, (unsigned long long)field->element, shape);
    const size_t length = strlen(line) + 1;
    const size_t padded = (PREAMBLE + length + BLOCK - 1) / BLOCK * BLOCK - PREAMBLE;
    memcpy(head, "\x93NUMPY\1", 8);
    head[8] = (char)(padded & 0xff);
    head[9] = (char)(padded >> 8);
    memset(head + PREAMBLE, ' ', padded - 1);
    memcpy(head + PREAMBLE, line, length - 1);
    head[PREAMBLE + padded - 1] = '\n';
    return PREAMBLE + padded;
}

/* The rows, without the cells beyond the edges. */
static void write_region(const hl_tile_field *field, const haul_region *region, FILE *out)
{
    const int rows = field->dims == 3 ? field->size[1] : 1;
    const int planes = region->end - region->first;
    /* in one dimension all planes are one row */
    const size_t row = (size_t)(field->dims > 1 ? field->size[0] : planes);
    for (int z = 0; z < (field->dims > 1 ? planes : planes > 0); z++)
        for (int y = 0; y < rows; y++)
            fwrite((const char *)region->cells +
                       (z * region->plane + y * region->row) * (int64_t)field->element,
                   field->element, row, out);
}

/* Numbers have a type of VTK's, which has no halves; other elements are so many bytes. */
static void write_image_type(const hl_tile_field *field, FILE *out)
{
    const bool is_floating = field->element_kind == HAUL_ELEMENT_FLOATING;
    if (*letter_of(field) == 'V' || (is_floating && field->element < sizeof(float)))
        fprintf(out, "type=\"UInt8\" NumberOfComponents=\"%llu\"",
                (unsigned long long)field->element);
    else
        fprintf(out, "type=\"%s%llu\"", is_floating ? "Float" : "Int",
                8 * (unsigned long long)field->element);
}

/* Bytes of all cells, and how many there are in each dimension: 0 where it is not there. */
static uint64_t find_size(const hl_tile_field *field, int size[3])
{
    uint64_t bytes = field->element;
    for (int d = 0; d < field->dims; d++) {
        size[d] = hl_tile_field_size(field, d);
        bytes *= (uint64_t)size[d];
    }
    return bytes;
}

/* A dimension that is not there has no extent. */
static void write_image_begin(const hl_tile_field *field, FILE *out)
{
    int size[3] = {0};
    const uint64_t bytes = find_size(field, size);
    fprintf(out,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n"
            "<ImageData WholeExtent=\"0 %d 0 %d 0 %d\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n"
            "<Piece Extent=\"0 %d 0 %d 0 %d\">\n<CellData Scalars=\"cells\">\n"
            "<DataArray Name=\"cells\" ",
            __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian", size[0],
            size[1], size[2], size[0], size[1], size[2]);
    write_image_type(field, out);
    fputs(" format=\"appended\" offset=\"0\"/>\n</CellData>\n</Piece>\n</ImageData>\n"
          "<AppendedData encoding=\"raw\">\n_",
          out);
    fwrite(&bytes, sizeof bytes, 1, out);
}

static void write_npy_begin(const hl_tile_field *field, FILE *out)
{
    char head[HL_TILE_NPY_HEAD];
    int size[3] = {0};
    find_size(field, size);
    fwrite(head, 1, hl_tile_npy_make(field, size, head), out);
}

haul_status hl_tile_check_saved(const haul_array *array, haul_error *error)
{
    if (array->field->memory->without_data)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a device without data has no cells to save");
    return HAUL_OK;
}

static haul_status seek_to(const hl_tile_file *file, uint64_t at, haul_error *error)
{
    return fseeko(file->out, (off_t)at, SEEK_SET) ? hl_tile_fail_write(file->path, error) : HAUL_OK;
}

/* Those of this process, which follow each other in every kind of file. */
static haul_status write_cells(haul_array *array, const hl_tile_file *file, uint64_t at,
                               haul_error *error)
{
    const hl_tile_field *field = array->field;
    int size[3] = {0};
    haul_region region;
    find_size(field, size);
    const hl_tile_span own = hl_tile_span_written(array, size);
    const int regions = haul_array_regions(array);
    if (!regions && field->host_bytes) /* says why */
        return haul_array_access(array, 0, HAUL_USE_READ, &region, error);
    HAUL_TRY(seek_to(file, at + own.at, error));
    for (int i = 0; i < regions && own.bytes; i++) {
        HAUL_TRY(haul_array_access(array, i, HAUL_USE_READ, &region, error));
        region = hl_tile_region_within(field, &region, &own);
        write_region(field, &region, file->out);
    }
    return HAUL_OK;
}

/* An HDF5 file has its cells in one piece, and its own library makes all before them. */
static haul_status write_array(haul_array *array, const hl_tile_hdf5_name *hdf5,
                               const hl_tile_file *file, bool is_image, haul_error *error)
{
    haul_context *context = array->context;
    uint64_t at = 0; /* of the first cell */
    int size[3] = {0};
    haul_status status = HAUL_OK;
    find_size(array->field, size);
    if (file->is_first && hdf5->file) {
        status = hl_tile_hdf5_create(file->between, hdf5->array, array->field, size, &at, error);
    } else if (file->is_first) {
        (is_image ? write_image_begin : write_npy_begin)(array->field, file->out);
        at = (uint64_t)ftello(file->out);
    }
    HAUL_TRY(hl_tile_agree(context, status, error));
    HAUL_TRY(hl_tile_gather_first(context, &at, sizeof at, error));
    HAUL_TRY(write_cells(array, file, at, error));
    if (!is_image || !file->is_first)
        return HAUL_OK;
    HAUL_TRY(seek_to(file, at + find_size(array->field, size), error));
    fputs("\n</AppendedData>\n</VTKFile>\n", file->out);
    return HAUL_OK;
}

haul_status haul_array_save(haul_array *array, const char *path, haul_error *error)
{
    hl_tile_hdf5_name hdf5;
    hl_tile_file file;
    HAUL_TRY(hl_tile_check_saved(array, error));
    HAUL_TRY(hl_tile_queue_run(array->context, error));
    HAUL_TRY(hl_tile_hdf5_parse(path, &hdf5, error));
    const size_t length = strlen(path);
    const bool is_image = !hdf5.file && length >= 4 && !strcmp(path + length - 4, ".vti");
    haul_status status =
        hl_tile_file_begin(array->context, hdf5.file ? hdf5.file : path, &file, error);
    if (!status)
        status = hl_tile_file_end(&file, write_array(array, &hdf5, &file, is_image, error), error);
    free(hdf5.file);
    return status;
}
