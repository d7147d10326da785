/* Arrays in files: what saving one and saving many share. */
#ifndef HAUL_TILE_TILE_FILES_H
#define HAUL_TILE_TILE_FILES_H

#include <stdio.h>

#include "tile/tile_calls.h"

enum { HL_TILE_NPY_HEAD = 256 };

/* The header of a .npy file of the array's elements and of so many cells in each dimension. Returns
 * its bytes. */
size_t hl_tile_npy_make(const hl_tile_field *field, const int size[3], char head[HL_TILE_NPY_HEAD]);

/* Until the cells of a .npy file begin, which is at `at` of a file and has so many bytes: BAD_INPUT
 * where its shape, its type or its length is another. */
typedef struct hl_tile_npy_place {
    const char *path;
    uint64_t at;
    uint64_t bytes;
} hl_tile_npy_place;

haul_status hl_tile_npy_check(const hl_tile_field *field, const int size[3],
                              const hl_tile_npy_place *place, FILE *in, haul_error *error);

haul_status hl_tile_fail_write(const char *path, haul_error *error);

/* A file that is written under another name until all of it is on the disk: a program that ends
 * half way leaves the old file as it was. */
typedef struct hl_tile_file {
    const char *path; /* a copy, in the memory of the next */
    char *between;
    FILE *out;
} hl_tile_file;

haul_status hl_tile_file_begin(const char *path, hl_tile_file *file, haul_error *error);
/* With the status of what was written until now: after a failure the file goes. */
haul_status hl_tile_file_end(hl_tile_file *file, haul_status status, haul_error *error);

/* Both at once. */
typedef haul_status (*hl_tile_write)(void *state, FILE *out, haul_error *error);
haul_status hl_tile_file_write(const char *path, hl_tile_write write, void *state,
                               haul_error *error);

/* USAGE for an array whose cells this process has not. */
haul_status hl_tile_check_saved(const haul_array *array, haul_error *error);

#endif
