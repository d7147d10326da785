/* Libraries of CUDA and HIP, which are never unloaded: they leave threads behind. */
#ifndef HAUL_DEVICE_CUDA_LIBRARY_H
#define HAUL_DEVICE_CUDA_LIBRARY_H

#include <stdbool.h>

/* The first of the names, which NULL ends, that loads; NULL where none does. */
void *hl_device_cu_library(const char *const *names);

/* The file that it was loaded from, or NULL where the loader does not say. */
const char *hl_device_cu_library_file(void *library);

/* Sets the function pointer at `to`; false where the library has no such function. */
bool hl_device_cu_function(void *library, const char *name, void *to);

#endif
