#include <stdbool.h>
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

static const char *name_at(size_t index)
{
    return index < MODEL_COUNT ? models[index]->name : NULL;
}

static bool is_own(const char *name)
{
    return find_own(name) != NULL;
}

static const void *ask(void *symbol, haul_object_label *label)
{
    haul_model_entry_fn entry;
    /* C has no cast from an object's address to a function's; POSIX says that they are alike */
    memcpy(&entry, &symbol, sizeof entry);
    const haul_copy_model *model = entry();
    if (model)
        *label = (haul_object_label){model->abi, model->name, model->summary, model->time != NULL};
    return model;
}

static haul_status load_object(const char *path, haul_model_ref *ref, haul_error *error)
{
    static const haul_object_kind kind = {HAUL_MODEL_ENTRY, "haul/backend.h", HAUL_MODEL_ABI, ask,
                                          is_own};
    void *handle;
    const void *model;
    const haul_status status = haul_object_load(&kind, path, &handle, &model, error);
    if (!status)
        *ref = (haul_model_ref){.model = model, .handle = handle};
    return status;
}

haul_status haul_model_find(const char *name, haul_model_ref *ref, haul_error *error)
{
    if (haul_object_is_meant(name))
        return load_object(name, ref, error);
    const haul_copy_model *model = find_own(name);
    if (!model)
        return haul_object_unknown("model", name, name_at, error);
    *ref = (haul_model_ref){.model = model};
    return HAUL_OK;
}

void haul_model_release(haul_model_ref *ref)
{
    haul_object_close(ref->handle);
    *ref = (haul_model_ref){0};
}

haul_status haul_copy_time(const haul_machine *machine, const haul_copy_model *model,
                           const haul_copy *copy, haul_estimate *out, haul_error *error)
{
    if (!model)
        model = models[0];
    haul_estimate estimate = {.model = model->name};
    if (error)
        error->text[0] = '\0';
    const haul_status status = model->time(machine, copy, &estimate, error);
    if (status != HAUL_OK) {
        if (error && !error->text[0]) /* a user's model may say no more than the status */
            haul_fail(error, status, "model '%s' gives no time for such a copy", model->name);
        return status;
    }
    if (!haul_estimate_is_sound(&estimate))
        return haul_fail(error, HAUL_BAD_INPUT,
                         "model '%s' gave %g s (%g to %g) for a copy of %llu bytes", model->name,
                         estimate.seconds, estimate.low_s, estimate.high_s,
                         (unsigned long long)copy->bytes);
    *out = estimate;
    return HAUL_OK;
}
