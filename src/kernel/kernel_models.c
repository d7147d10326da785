/* The registry of kernel models, and the one way to ask any of them, with its answer checked. */
#include "kernel/kernel_models.h"

#include "base/fail.h"
#include "cost/model_registry.h"
#include "kernel/kernel_parts.h"

static const void *const models[] = {
#define MODEL_ROW(name) &haul_kernel_model_##name,
    HAUL_KERNEL_MODEL_LIST(MODEL_ROW)
#undef MODEL_ROW
};

enum { MODEL_COUNT = sizeof models / sizeof models[0] };

/* The name before `scale`, which scripts may still use. */
static const haul_model_alias aliases[] = {{"carry", "scale"}};

static const haul_model_kind kind = {
    .what = "kernel model",
    .items = models,
    .count = MODEL_COUNT,
    .aliases = aliases,
    .alias_count = sizeof aliases / sizeof *aliases,
    .entry = HAUL_KERNEL_MODEL_ENTRY,
    .abi = HAUL_KERNEL_MODEL_ABI,
    .header = "haul/kernel.h",
};

size_t haul_kernel_model_count(void)
{
    return MODEL_COUNT;
}

const haul_kernel_model *haul_kernel_model_at(size_t index)
{
    return index < MODEL_COUNT ? models[index] : NULL;
}

/* The caller releases *ref, which closes a user's shared object. */
haul_status haul_kernel_model_find(const char *name, haul_kernel_model_ref *ref, haul_error *error)
{
    const void *model;
    void *handle;
    const haul_status status = haul_model_find_in(&kind, name, &model, &handle, error);
    if (!status)
        *ref = (haul_kernel_model_ref){.model = model, .handle = handle};
    return status;
}

void haul_kernel_model_release(haul_kernel_model_ref *ref)
{
    haul_model_close(ref->handle);
    *ref = (haul_kernel_model_ref){0};
}

/* Clears the error's text first: haul_estimate_fail then sees whether a user's model wrote one. */
haul_status haul_kernel_time(const haul_kernel_model *model, const haul_kernel_case *what,
                             haul_estimate *out, haul_error *error)
{
    if (!model)
        model = models[0];
    if (!(what->size > 0 && what->size <= 1e30))
        return haul_fail(error, HAUL_BAD_INPUT, "expected a size above 0, not %g", what->size);
    HAUL_TRY(haul_kernel_counts_check(&what->counts, error));
    haul_estimate estimate = {.model = model->name};
    if (error)
        error->text[0] = '\0';
    haul_status status = model->time(what, &estimate, error);
    estimate.model = estimate.model ? estimate.model : model->name;
    const haul_model_asked asked = {"size ", what->size, ""};
    if (status || !haul_estimate_is_sound(&estimate))
        return haul_estimate_fail(status, &estimate, asked, error);
    *out = estimate;
    return HAUL_OK;
}
