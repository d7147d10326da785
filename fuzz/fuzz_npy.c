/* Headers of .npy files: one that is taken can be written and taken again. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tile/tile_npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const hl_tile_npy *header)
{
    char line[512];
    hl_tile_npy again;
    int used = snprintf(
        line, sizeof line, "{'descr': '%c%c%" PRIu64 "', 'fortran_order': %s, 'shape': (",
        header->order, header->letter, header->bytes, header->is_fortran ? "True" : "False");
    for (int d = 0; d < header->dims; d++)
        used += snprintf(line + used, sizeof line - (size_t)used, "%" PRIu64 ",", header->size[d]);
    used += snprintf(line + used, sizeof line - (size_t)used, "), }\n");
    assert(hl_tile_npy_parse(line, (size_t)used, &again));
    assert(again.order == header->order && again.letter == header->letter &&
           again.bytes == header->bytes && again.is_fortran == header->is_fortran &&
           again.dims == header->dims && !memcmp(again.size, header->size, sizeof again.size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t begin, length;
    hl_tile_npy header;
    if (hl_tile_npy_parse((const char *)data, size, &header))
        check_again(&header);
    if (size >= HL_TILE_NPY_PREAMBLE && hl_tile_npy_open(data, &begin, &length))
        assert(begin <= HL_TILE_NPY_PREAMBLE && length <= HL_TILE_NPY_LINE);
    return 0;
}
