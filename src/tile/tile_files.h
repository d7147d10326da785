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

/* How many processes share the context's arrays; 1 also of a NULL context. */
int hl_tile_processes(const haul_context *context);
/* Whether this process does what is done once, the first its number 0, and so on in turns. */
bool hl_tile_is_turn_of(const haul_context *context, uint64_t number);
/* Of all processes the first failure, on each of them: what follows they do all or none. Alone the
 * same status. */
haul_status hl_tile_agree(haul_context *context, haul_status status, haul_error *error);
/* The first process's value, on all. */
haul_status hl_tile_gather_first(haul_context *context, void *value, size_t bytes,
                                 haul_error *error);

/* The planes of an array that this process has, and their place in a file of them. */
typedef struct hl_tile_span {
    int first;
    int end;
    uint64_t at; /* bytes, here and below: in the file, from the array's first cell there */
    uint64_t bytes;
} hl_tile_span;

/* `size`: cells of each dimension in the file, with those beyond the edges or without. */
hl_tile_span hl_tile_span_of(const haul_array *array, const int size[3]);
/* The planes that it writes: none of an array that all processes have, but the first. */
hl_tile_span hl_tile_span_written(const haul_array *array, const int size[3]);
/* The region without other planes, which may be those of a neighbour. */
haul_region hl_tile_region_within(const hl_tile_field *field, const haul_region *region,
                                  const hl_tile_span *span);

/* A file that is written under another name until all of it is on the disk: a program that ends
 * half way leaves the old file as it was. The context's processes write it together, each its own
 * bytes, and return one status. */
typedef struct hl_tile_file {
    haul_context *context; /* NULL: this process alone */
    bool is_first;
    const char *path; /* a copy, in the memory of the next */
    char *between;
    FILE *out;
} hl_tile_file;

haul_status hl_tile_file_begin(haul_context *context, const char *path, hl_tile_file *file,
                               haul_error *error);
/* With the status of what was written until now: after a failure the file goes. */
haul_status hl_tile_file_end(hl_tile_file *file, haul_status status, haul_error *error);

/* Both at once, of this process alone. */
typedef haul_status (*hl_tile_write)(void *state, FILE *out, haul_error *error);
haul_status hl_tile_file_write(const char *path, hl_tile_write write, void *state,
                               haul_error *error);

/* USAGE for an array on a device without data. */
haul_status hl_tile_check_saved(const haul_array *array, haul_error *error);

#endif
