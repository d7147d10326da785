/* Arrays in HDF5 files, by its own library: that of the program, or one that is loaded at the first
 * use. One thread at a time is in it. */
#ifndef HAUL_TILE_TILE_HDF5_H
#define HAUL_TILE_TILE_HDF5_H

#include "tile/tile_field.h"

/* "run.h5:/fields/u" is a file and an array in it, "run.h5" the array "cells". */
typedef struct hl_tile_hdf5_name {
    char *file; /* NULL: the path is of another kind of file; freed by the caller, and the next with
                   it */
    const char *array;
} hl_tile_hdf5_name;

haul_status hl_tile_hdf5_parse(const char *path, hl_tile_hdf5_name *name, haul_error *error);

/* Makes a file with one array of the field's elements, of so many cells in each dimension: its
 * cells are to be written from byte `at` of the file on. ABSENT without the library. */
haul_status hl_tile_hdf5_create(const char *path, const char *array, const hl_tile_field *field,
                                const int size[3], uint64_t *at, haul_error *error);

/* Reads all cells of an array of this shape and these elements. BAD_INPUT for another. */
haul_status hl_tile_hdf5_read(const hl_tile_hdf5_name *name, const hl_tile_field *field,
                              const int size[3], void *cells, haul_error *error);

#endif
