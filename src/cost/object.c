#include "cost/object.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

bool haul_object_is_meant(const char *name)
{
    const size_t length = strlen(name);
    return strchr(name, '/') || (length > 3 && !strcmp(name + length - 3, ".so"));
}

/* dlopen searches the library path for names without a '/': a file is meant here. */
static haul_status load(const char *path, void **handle, haul_error *error)
{
    char place[4096];
    const char *prefix = strchr(path, '/') ? "" : "./";
    if ((size_t)snprintf(place, sizeof place, "%s%s", prefix, path) >= sizeof place)
        return haul_fail(error, HAUL_BAD_INPUT, "path of %zu bytes is too long", strlen(path));
    *handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (*handle)
        return HAUL_OK;
    const char *why = dlerror();
    if (!why)
        return haul_fail(error, HAUL_BAD_INPUT, "cannot load model");
    const size_t length = strlen(place);
    const bool says_place = !strncmp(why, place, length) && !strncmp(why + length, ": ", 2);
    return haul_fail(error, HAUL_BAD_INPUT, "cannot load model: %s",
                     says_place ? why + length + 2 : why);
}

haul_status haul_object_open(const char *path, const char *entry, void **handle, void **symbol,
                             haul_error *error)
{
    void *loaded = NULL;
    const haul_status status = load(path, &loaded, error);
    if (!loaded)
        return status;
    void *found = dlsym(loaded, entry);
    if (!found) {
        dlclose(loaded);
        return haul_fail(error, HAUL_BAD_INPUT, "no model: the object exports no %s", entry);
    }
    *handle = loaded;
    *symbol = found;
    return HAUL_OK;
}

void haul_object_close(void *handle)
{
    if (handle)
        dlclose(handle);
}
