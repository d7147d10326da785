/* Headers of .npy files: one that is taken can be written and taken again. Archives of them:
 * members lie one after another in the file, and one that was written is read again. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/npz.h"
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

static void read_archive(const uint8_t *data, size_t size)
{
    FILE *in = fmemopen((void *)data, size, "rb");
    hl_base_npz_reader reader = {.in = in, .bytes = size};
    hl_base_npz_member member;
    uint64_t end = 0;
    assert(in);
    while (hl_base_npz_next(&reader, &member) == HL_NPZ_MEMBER) {
        assert(member.at > end && member.at <= size && member.bytes <= size - member.at);
        end = member.at + member.bytes;
        (void)hl_base_npz_is_whole(in, &member);
    }
    fclose(in);
}

/* An archive of the input's two halves. */
static void write_archive(const uint8_t *data, size_t size)
{
    char *text;
    size_t bytes;
    hl_base_npz npz = {.out = open_memstream(&text, &bytes)};
    hl_base_npz_member member;
    hl_base_npz_put(&npz, "half", "u1", data, 1, size / 2);
    hl_base_npz_begin(&npz, "other", size - size / 2);
    hl_base_npz_add(&npz, data + size / 2, size - size / 2);
    hl_base_npz_end(&npz, 1);
    hl_base_npz_finish(&npz);
    fclose(npz.out);
    FILE *in = fmemopen(text, bytes, "rb");
    hl_base_npz_reader reader = {.in = in, .bytes = bytes};
    for (int i = 0; i < 2; i++) {
        assert(hl_base_npz_next(&reader, &member) == HL_NPZ_MEMBER);
        assert(hl_base_npz_is_whole(in, &member));
        assert(!strcmp(member.name, i ? "other.npy" : "half.npy"));
    }
    assert(member.bytes == size - size / 2 &&
           !memcmp(text + member.at, data + size / 2, size - size / 2));
    assert(hl_base_npz_next(&reader, &member) == HL_NPZ_END);
    fclose(in);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t begin, length;
    hl_tile_npy header;
    if (hl_tile_npy_parse((const char *)data, size, &header))
        check_again(&header);
    if (size)
        read_archive(data, size);
    write_archive(data, size);
    if (size >= HL_TILE_NPY_PREAMBLE && hl_tile_npy_open(data, &begin, &length))
        assert(begin <= HL_TILE_NPY_PREAMBLE && length <= HL_TILE_NPY_LINE);
    return 0;
}
