#include "device/cuda_library.h"

#include <dlfcn.h>
#include <string.h>

void *haul_cu_library(const char *const *names)
{
    void *library = NULL;
    while (!library && *names)
        library = dlopen(*names++, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library;
}

bool haul_cu_function(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    return found;
}
