/* haul's own models of each kind, and those that users bring in shared objects. */
#include "cost/model_registry.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"

/* Kinds of models differ in the last member alone, so that one registry serves all. */
static hl_cost_model_head head_of(const void *model)
{
    hl_cost_model_head head;
    memcpy(&head, model, sizeof head); /* the type of its function is the kind's own */
    return head;
}

/* Aliases first: a model's old name leads to its new one. Case does not count. */
static const void *find_own(const hl_cost_model_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->alias_count; i++)
        if (!strcasecmp(kind->aliases[i].alias, name))
            name = kind->aliases[i].name;
    for (size_t i = 0; i < kind->count; i++)
        if (!strcasecmp(head_of(kind->items[i]).name, name))
            return kind->items[i];
    return NULL;
}

/* dlopen searches the library path for names without a '/': a file is meant here. */
static haul_status open_object(const char *path, void **handle, haul_error *error)
{
    char place[4096];
    const char *prefix = strchr(path, '/') ? "" : "./";
    if ((size_t)snprintf(place, sizeof place, "%s%s", prefix, path) >= sizeof place)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "path of %zu bytes is too long",
                              strlen(path));
    *handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (*handle)
        return HAUL_OK;
    const char *why = dlerror();
    const size_t length = strlen(place);
    if (why && !strncmp(why, place, length) && !strncmp(why + length, ": ", 2))
        why += length + 2;
    return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "cannot load model%s%s", why ? ": " : "",
                          why ? why : "");
}

/* Checks all that haul will rely on while the object is loaded: a wrong abi would read other
 * members, and a model with a name of haul's own would make reports ambiguous. */
static haul_status take_model(const hl_cost_model_kind *kind, void *handle, const void **model,
                              haul_error *error)
{
    void *symbol = dlsym(handle, kind->entry);
    if (!symbol)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no model: the object exports no %s",
                              kind->entry);
    const void *(*entry)(void);
    /* C has no cast from an object's address to a function's; POSIX says that they are alike */
    memcpy(&entry, &symbol, sizeof entry);
    *model = entry();
    if (!*model)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "%s gave no model", kind->entry);
    const hl_cost_model_head head = head_of(*model);
    if (head.abi != kind->abi)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "model has abi %u, this haul has %u: build it against this %s",
                              head.abi, kind->abi, kind->header);
    if (!head.name || !*head.name || !head.summary || !head.time)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "model has no name, summary or time function");
    if (find_own(kind, head.name))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "model is named '%s', as one of haul's own", head.name);
    return HAUL_OK;
}

haul_status hl_cost_model_find_in(const hl_cost_model_kind *kind, const char *name,
                                  const void **model, void **handle, haul_error *error)
{
    const void *found = NULL;
    /* stays NULL for haul's own models, which hl_cost_model_close accepts */
    void *opened = NULL;
    const size_t length = strlen(name);
    const bool is_path = strchr(name, '/') || (length > 3 && !strcmp(name + length - 3, ".so"));
    if (!is_path) {
        found = find_own(kind, name);
        if (!found) {
            enum { NAMES = 32 };
            const char *names[NAMES];
            char list[256] = "", meant[80];
            size_t used = 0, count = kind->count < NAMES ? kind->count : NAMES;
            for (size_t i = 0; i < count; i++) {
                names[i] = head_of(kind->items[i]).name;
                if (used < sizeof list)
                    used += (size_t)snprintf(list + used, sizeof list - used, "%s, ", names[i]);
            }
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "no %s '%.100s': %sor a shared object%s", kind->what, name, list,
                                  haul_name_suggest(name, names, count, meant, sizeof meant));
        }
    } else {
        haul_status status = open_object(name, &opened, error);
        if (!status)
            status = take_model(kind, opened, &found, error);
        if (status) {
            hl_cost_model_close(opened);
            hl_base_error_in_file(error, name);
            return status;
        }
    }
    *model = found;
    *handle = opened;
    return HAUL_OK;
}

void hl_cost_model_close(void *handle)
{
    if (handle)
        dlclose(handle);
}

haul_status hl_cost_estimate_fail(haul_status status, const haul_estimate *estimate,
                                  hl_cost_model_asked asked, haul_error *error)
{
    if (status && error && !error->text[0]) /* a user's model may say no more than the status */
        return haul_error_set(error, status, "model '%s' gives no time for %s%.17g%s",
                              estimate->model, asked.before, asked.amount, asked.after);
    if (status)
        return status;
    return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                          "model '%s' gave %g s (%g to %g) for %s%.17g%s", estimate->model,
                          estimate->seconds, estimate->low_s, estimate->high_s, asked.before,
                          asked.amount, asked.after);
}
