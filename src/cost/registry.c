#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cost/models.h"
#include "cost/object.h"
#include "haul/backend.h"

static const haul_copy_model *const models[] = {
    &haul_model_auto,   &haul_model_curve, &haul_model_loggp, &haul_model_packet,
    &haul_model_staged, &haul_model_ahead, &haul_model_peak,  &haul_model_envelope,
};

enum { MODEL_COUNT = sizeof models / sizeof models[0] };

size_t haul_copy_model_count(void)
{
    return MODEL_COUNT;
}

const haul_copy_model *haul_copy_model_at(size_t index)
{
    return index < MODEL_COUNT ? models[index] : NULL;
}

static const haul_copy_model *find_own(const char *name)
{
    for (size_t i = 0; i < MODEL_COUNT; i++)
        if (!strcmp(models[i]->name, name))
            return models[i];
    return NULL;
}

static haul_status no_such_model(const char *name, haul_error *error)
{
    char names[128];
    size_t used = 0;
    for (size_t i = 0; i < MODEL_COUNT && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 models[i]->name);
    return haul_fail(error, HAUL_USAGE, "no model '%.200s': %s, or a shared object", name, names);
}

static haul_status check_model(const haul_copy_model *model, haul_error *error)
{
    if (!model)
        return haul_fail(error, HAUL_BAD_INPUT, "%s gave no model", HAUL_MODEL_ENTRY);
    if (model->abi != HAUL_MODEL_ABI)
        return haul_fail(error, HAUL_BAD_INPUT,
                         "model has abi %u, this haul has %d: build it against this haul/backend.h",
                         model->abi, HAUL_MODEL_ABI);
    if (!model->name || !*model->name || !model->summary || !model->time)
        return haul_fail(error, HAUL_BAD_INPUT, "model has no name, summary or time function");
    if (find_own(model->name))
        return haul_fail(error, HAUL_BAD_INPUT, "model is named '%s', as one of haul's own",
                         model->name);
    return HAUL_OK;
}

static haul_status load_object(const char *path, haul_model_ref *ref, haul_error *error)
{
    haul_model_ref loaded = {0};
    void *symbol = NULL;
    haul_status status = haul_object_open(path, HAUL_MODEL_ENTRY, &loaded.handle, &symbol, error);
    if (status == HAUL_OK) {
        haul_model_entry_fn entry;
        /* C has no cast from an object's address to a function's; POSIX says that they are alike */
        memcpy(&entry, &symbol, sizeof entry);
        loaded.model = entry();
        status = check_model(loaded.model, error);
    }
    if (status == HAUL_OK) {
        *ref = loaded;
        return HAUL_OK;
    }
    haul_model_release(&loaded);
    haul_error_in_file(error, path);
    return status;
}

haul_status haul_model_find(const char *name, haul_model_ref *ref, haul_error *error)
{
    if (haul_object_is_meant(name))
        return load_object(name, ref, error);
    const haul_copy_model *model = find_own(name);
    if (!model)
        return no_such_model(name, error);
    *ref = (haul_model_ref){.model = model};
    return HAUL_OK;
}

void haul_model_release(haul_model_ref *ref)
{
    haul_object_close(ref->handle);
    *ref = (haul_model_ref){0};
}

static bool is_sound(const haul_estimate *estimate)
{
    return estimate->low_s >= 0 && estimate->low_s <= estimate->seconds &&
           estimate->seconds <= estimate->high_s && isfinite(estimate->high_s);
}

haul_status haul_copy_time(const haul_machine *machine, const haul_copy_model *model,
                           const haul_copy *copy, haul_estimate *out, haul_error *error)
{
    haul_estimate estimate = {.model = model->name};
    if (error)
        error->text[0] = '\0';
    const haul_status status = model->time(machine, copy, &estimate, error);
    if (status != HAUL_OK) {
        if (error && !error->text[0]) /* a user's model may say no more than the status */
            haul_fail(error, status, "model '%s' gives no time for such a copy", model->name);
        return status;
    }
    if (!is_sound(&estimate))
        return haul_fail(error, HAUL_BAD_INPUT,
                         "model '%s' gave %g s (%g to %g) for a copy of %llu bytes", model->name,
                         estimate.seconds, estimate.low_s, estimate.high_s,
                         (unsigned long long)copy->bytes);
    *out = estimate;
    return HAUL_OK;
}
