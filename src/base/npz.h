/* Arrays in a file that NumPy opens: numpy.load reads a .npz, an archive of .npy members
 * (numpy.lib.format, version 1.0; PKWARE's APPNOTE 6.3, members stored and with 64-bit sizes). */
#ifndef HAUL_BASE_NPZ_H
#define HAUL_BASE_NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { HL_NPZ_ARRAYS_MOST = 24 };

typedef struct hl_base_npz {
    FILE *out;
    uint64_t written;
    unsigned count;
    struct {
        const char *name;
        uint64_t at;
        uint64_t bytes;
        uint32_t crc;
    } members[HL_NPZ_ARRAYS_MOST];
} hl_base_npz;

/* One array of `count` elements of `size` bytes at `data`, in this machine's order of bytes. `type`
 * is NumPy's letter and size of each element, "u8", or its fields, one behind another without gaps:
 * "start:i8 grid:3u4 flags:u1" (three of four bytes in `grid`). `name` must live until the end. At
 * most HL_NPZ_ARRAYS_MOST. Errors of writing are those of the stream. */
void hl_base_npz_put(hl_base_npz *self, const char *name, const char *type, const void *data,
                     size_t size, size_t count);

/* The archive's end, once all arrays are put. */
void hl_base_npz_finish(hl_base_npz *self);

#endif
