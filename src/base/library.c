#include "base/library.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

void *hl_base_library_open(const char *const *names)
{
    void *library = NULL;
    while (!library && *names)
        library = dlopen(*names++, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library;
}

const char *hl_base_library_file(void *library)
{
    struct link_map *map = NULL;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) || !map ? NULL : map->l_name;
}

bool hl_base_library_function(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    return found;
}
