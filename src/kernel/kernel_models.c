/* The registry of kernel models. */
#include "kernel/kernel_models.h"

#include "cost/model_registry.h"
#include "kernel/kernel_parts.h"

static const void *const models[] = {
#define MODEL_ROW(name) &hl_kernel_model_##name,
    HL_KERNEL_MODEL_LIST(MODEL_ROW)
#undef MODEL_ROW
};

enum { MODEL_COUNT = sizeof models / sizeof models[0] };

/* The name before `scale`, which scripts may still use. */
static const hl_cost_model_alias aliases[] = {{"carry", "scale"}};

static const hl_cost_model_kind kind = {
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
    const haul_status status = hl_cost_model_find_in(&kind, name, &model, &handle, error);
    if (!status)
        *ref = (haul_kernel_model_ref){.model = model, .handle = handle};
    return status;
}

void haul_kernel_model_release(haul_kernel_model_ref *ref)
{
    hl_cost_model_close(ref->handle);
    *ref = (haul_kernel_model_ref){0};
}

haul_status haul_kernel_time(const haul_kernel_model *model, const haul_kernel_case *what,
                             haul_estimate *out, haul_error *error)
{
    return hl_kernel_estimate(model ? model : models[0], what, out, error);
}
