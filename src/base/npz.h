/* Arrays in a file that NumPy opens: numpy.load reads a .npz, an archive of .npy members
 * (numpy.lib.format, version 1.0; PKWARE's APPNOTE 6.3, members stored and with 64-bit sizes). Each
 * has a checksum. */
#ifndef HAUL_BASE_NPZ_H
#define HAUL_BASE_NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { HL_NPZ_ARRAYS_MOST = 256, HL_NPZ_NAME_MOST = 100 };

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

/* The same piece by piece, where the stream can be sought in: a member of so many bytes, its .npy
 * header among them, of which some may be skipped that others write. `end` writes what is before
 * them, with the checksum: of what was added, or as `join` has put it together with that of the
 * bytes behind it. Members begin one after another; each ends once. */
void hl_base_npz_begin(hl_base_npz *self, const char *name, uint64_t bytes);
void hl_base_npz_add(hl_base_npz *self, const void *bytes, size_t count);
void hl_base_npz_skip(hl_base_npz *self, uint64_t bytes);
void hl_base_npz_join(hl_base_npz *self, unsigned member, uint32_t crc, uint64_t bytes);
void hl_base_npz_end(hl_base_npz *self, unsigned member);

/* The archive's end, once all arrays are put. */
void hl_base_npz_finish(hl_base_npz *self);

/* An archive that is read: `in`, a file of so many bytes, and zeros. */
typedef struct hl_base_npz_reader {
    FILE *in;
    uint64_t bytes;
    uint64_t at; /* of the next header */
    uint64_t count;
    uint32_t digest; /* of the headers so far */
} hl_base_npz_reader;

typedef struct hl_base_npz_member {
    char name[HL_NPZ_NAME_MOST + 5]; /* with its .npy */
    uint64_t at;                     /* of its bytes in the file */
    uint64_t bytes;
    uint32_t crc;
} hl_base_npz_member;

typedef enum hl_base_npz_step { HL_NPZ_BAD, HL_NPZ_MEMBER, HL_NPZ_END } hl_base_npz_step;

/* The next member. END where the archive's directory lists the members that were, and no others;
 * BAD for a member that is not stored as above, for another directory, and for a file that ends
 * early. */
hl_base_npz_step hl_base_npz_next(hl_base_npz_reader *self, hl_base_npz_member *member);
/* Whether the member's bytes are those that were written: reads them all. */
bool hl_base_npz_is_whole(FILE *in, const hl_base_npz_member *member);

#endif
