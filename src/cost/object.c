#include "cost/object.h"

#include <dlfcn.h>
#include <math.h>
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

static haul_status find_entry(void *handle, const char *entry, void **symbol, haul_error *error)
{
    *symbol = dlsym(handle, entry);
    return *symbol ? HAUL_OK
                   : haul_fail(error, HAUL_BAD_INPUT, "no model: the object exports no %s", entry);
}

static haul_status check(const haul_object_kind *kind, const haul_object_label *label,
                         haul_error *error)
{
    if (label->abi != kind->abi)
        return haul_fail(error, HAUL_BAD_INPUT,
                         "model has abi %u, this haul has %u: build it against this %s", label->abi,
                         kind->abi, kind->header);
    if (!label->name || !*label->name || !label->summary || !label->has_time)
        return haul_fail(error, HAUL_BAD_INPUT, "model has no name, summary or time function");
    if (kind->is_own(label->name))
        return haul_fail(error, HAUL_BAD_INPUT, "model is named '%s', as one of haul's own",
                         label->name);
    return HAUL_OK;
}

haul_status haul_object_load(const haul_object_kind *kind, const char *path, void **handle,
                             const void **model, haul_error *error)
{
    void *loaded = NULL;
    void *symbol = NULL;
    const void *found = NULL;
    haul_object_label label = {0};
    haul_status status = load(path, &loaded, error);
    if (!status)
        status = find_entry(loaded, kind->entry, &symbol, error);
    if (!status) {
        found = kind->ask(symbol, &label);
        status = found ? check(kind, &label, error)
                       : haul_fail(error, HAUL_BAD_INPUT, "%s gave no model", kind->entry);
    }
    if (status) {
        haul_object_close(loaded);
        haul_error_in_file(error, path);
        return status;
    }
    *handle = loaded;
    *model = found;
    return HAUL_OK;
}

haul_status haul_object_unknown(const char *what, const char *name,
                                const char *(*name_at)(size_t index), haul_error *error)
{
    char names[256] = "";
    size_t used = 0;
    const char *one;
    for (size_t i = 0; used < sizeof names && (one = name_at(i)); i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s, ", one);
    return haul_fail(error, HAUL_USAGE, "no %s '%.150s': %sor a shared object", what, name, names);
}

void haul_object_close(void *handle)
{
    if (handle)
        dlclose(handle);
}

bool haul_estimate_is_sound(const haul_estimate *estimate)
{
    return estimate->low_s >= 0 && estimate->low_s <= estimate->seconds &&
           estimate->seconds <= estimate->high_s && isfinite(estimate->high_s);
}
