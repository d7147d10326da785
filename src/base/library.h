/* Shared libraries that are looked for as the program runs: CUDA's, HIP's, HDF5's, hwloc. They are
 * never unloaded: some leave threads behind. */
#ifndef HAUL_BASE_LIBRARY_H
#define HAUL_BASE_LIBRARY_H

#include <stdbool.h>

/* The first of the names, which NULL ends, that loads; NULL where none does. */
void *hl_base_library_open(const char *const *names);

/* The file that it was loaded from, or NULL where the loader does not say. */
const char *hl_base_library_file(void *library);

/* Sets the pointer at `to` to a function or variable; of the program and what it is linked with
 * where `library` is NULL. False where there is none of that name. */
bool hl_base_library_function(void *library, const char *name, void *to);

#endif
