/* The registry of copy models, and the one way to ask any of them, with its answer checked. */
#include "cost/copy_models.h"

#include <string.h>

#include "cost/model_registry.h"
#include "haul/backend.h"

static const void *const models[] = {
#define MODEL_ROW(name) &hl_cost_copy_model_##name,
    HL_COST_COPY_MODEL_LIST(MODEL_ROW)
#undef MODEL_ROW
};

enum { MODEL_COUNT = sizeof models / sizeof models[0] };

/* The names of before. */
static const hl_cost_model_alias aliases[] = {
    {"peak", "latency-bandwidth-bound"},
    {"envelope", "bandwidth-bound"},
};

static const hl_cost_model_kind kind = {
    .what = "model",
    .items = models,
    .count = MODEL_COUNT,
    .aliases = aliases,
    .alias_count = sizeof aliases / sizeof *aliases,
    .entry = HAUL_MODEL_ENTRY,
    .abi = HAUL_MODEL_ABI,
    .header = "haul/backend.h",
};

size_t haul_copy_model_count(void)
{
    return MODEL_COUNT;
}

const haul_copy_model *haul_copy_model_at(size_t index)
{
    return index < MODEL_COUNT ? models[index] : NULL;
}

haul_status haul_model_find(const char *name, haul_model_ref *ref, haul_error *error)
{
    const void *model;
    void *handle;
    const haul_status status = hl_cost_model_find_in(&kind, name, &model, &handle, error);
    if (!status)
        *ref = (haul_model_ref){.model = model, .handle = handle};
    return status;
}

void haul_model_release(haul_model_ref *ref)
{
    hl_cost_model_close(ref->handle);
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
    estimate.model = estimate.model ? estimate.model : model->name;
    if (status || !hl_cost_estimate_is_sound(&estimate)) {
        const hl_cost_model_asked asked = {"a copy of ", (double)copy->bytes, " bytes"};
        return hl_cost_estimate_fail(status, &estimate, asked, error);
    }
    if (copy->memory == HAUL_MEMORY_HOST) {
        /* A copy whose host memory is of unknown kind may be as fast as a pinned one and as slow as
         * a pageable one, where the machine can tell that one's time. */
        haul_copy other = *copy;
        haul_estimate pageable = {0};
        other.memory = HAUL_MEMORY_PAGEABLE;
        if (haul_direction_crosses_link(copy->direction) &&
            !haul_machine_curve(machine, copy->direction, HAUL_MEMORY_HOST, copy->locality) &&
            !haul_copy_time(machine, NULL, &other, &pageable, NULL)) {
            estimate.low_s = pageable.low_s < estimate.low_s ? pageable.low_s : estimate.low_s;
            estimate.high_s = pageable.high_s > estimate.high_s ? pageable.high_s : estimate.high_s;
        }
    }
    *out = estimate;
    return HAUL_OK;
}
