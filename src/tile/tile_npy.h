/* The header of NumPy's .npy files (numpy.lib.format, versions 1 to 3). */
#ifndef HAUL_TILE_TILE_NPY_H
#define HAUL_TILE_TILE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HL_TILE_NPY_PREAMBLE = 12, HL_TILE_NPY_DIMS = 8, HL_TILE_NPY_LINE = 4096 };

typedef struct hl_tile_npy {
    char order;     /* '<', '>', '|' or '=' */
    char letter;    /* of the type: 'f', 'i', 'u', 'V' ... */
    uint64_t bytes; /* of an element */
    bool is_fortran;
    int dims;
    uint64_t size[HL_TILE_NPY_DIMS]; /* the slowest first */
} hl_tile_npy;

/* Where the line begins and how long it is, of a file's first HL_TILE_NPY_PREAMBLE bytes. False
 * where they are no .npy file's. */
bool hl_tile_npy_open(const unsigned char *preamble, size_t *begin, size_t *length);
/* False for a line of another form, of records, or of more dimensions. */
bool hl_tile_npy_parse(const char *line, size_t length, hl_tile_npy *header);

#endif
