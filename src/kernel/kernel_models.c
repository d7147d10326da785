/* The kernel models in a row, and users' own. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "cost/object.h"
#include "kernel/gpu_rates.h"
#include "kernel/kernels.h"

/* Half widths, in the logarithm, of what holds 90 of 100: the same board, another of its
 * architecture, another architecture. One lambda for all three is what the paper has, within 0.8 to
 * 1.2 on its own kernels (HiPC 2015, section VI); these are fitted on ten programs and five boards
 * (gpuperfpredict; docs/accuracy.md). */
static const double doubt_same = 0.12;
static const double doubt_alike = 0.52;
static const double doubt_across = 1.55;

static double doubt_of(const haul_kernel_case *what)
{
    const haul_gpu *home = &what->home->gpu;
    const haul_gpu *target = &what->target->gpu;
    if (what->home == what->target || haul_gpu_same(home, target))
        return doubt_same;
    return haul_gpu_alike(home, target) ? doubt_alike : doubt_across;
}

static haul_status time_by_bsp(const haul_kernel_case *what, haul_estimate *out, haul_error *error)
{
    const haul_status status = haul_kernel_gpu_check(what->target, error);
    if (status)
        return status;
    const double bsp = haul_kernel_cycles(&what->counts) / haul_kernel_issue(&what->target->gpu);
    const double seconds = bsp / what->fit->lambda;
    *out = (haul_estimate){
        .seconds = seconds,
        .low_s = seconds * exp(-doubt_of(what)),
        .high_s = seconds * exp(doubt_of(what)),
        .weakest = what->home == what->target ? HAUL_FITTED : HAUL_CARRIED,
        .model = "bsp",
    };
    return HAUL_OK;
}

const haul_kernel_model haul_kernel_by_bsp = {
    .abi = HAUL_KERNEL_MODEL_ABI,
    .name = "bsp",
    .summary = "cycles of computation and accesses over R P and one lambda (HiPC 2015, eq. 3)",
    .time = time_by_bsp,
};

/* Nothing is known of what bounds the kernel: the home time between the ratios that may. */
static haul_status time_carried(const haul_kernel_case *what, haul_estimate *out, haul_error *error)
{
    haul_kernel_case at_home = *what;
    at_home.target = what->home;
    haul_estimate home;
    haul_status status = haul_kernel_roofline.time(&at_home, &home, error);
    if (status)
        return status;
    haul_estimate carried;
    status = haul_kernel_carry(what->home, what->target, home.seconds, &carried, error);
    if (status)
        return status;
    carried.low_s *= home.low_s / home.seconds;
    carried.high_s *= home.high_s / home.seconds;
    *out = carried;
    return HAUL_OK;
}

const haul_kernel_model haul_kernel_carried = {
    .abi = HAUL_KERNEL_MODEL_ABI,
    .name = "carry",
    .summary = "the home time, between the ratios of memory, arithmetic and clock",
    .time = time_carried,
};

static const haul_kernel_model *const models[] = {
    &haul_kernel_roofline,
    &haul_kernel_by_bsp,
    &haul_kernel_carried,
};

enum { MODEL_COUNT = sizeof models / sizeof models[0] };

size_t haul_kernel_model_count(void)
{
    return MODEL_COUNT;
}

const haul_kernel_model *haul_kernel_model_at(size_t index)
{
    return index < MODEL_COUNT ? models[index] : NULL;
}

static const haul_kernel_model *find_own(const char *name)
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
    haul_kernel_model_entry_fn entry;
    memcpy(&entry, &symbol, sizeof entry); /* see registry.c */
    const haul_kernel_model *model = entry();
    if (model)
        *label = (haul_object_label){model->abi, model->name, model->summary, model->time != NULL};
    return model;
}

static haul_status load_object(const char *path, haul_kernel_model_ref *ref, haul_error *error)
{
    static const haul_object_kind kind = {HAUL_KERNEL_MODEL_ENTRY, "haul/kernel.h",
                                          HAUL_KERNEL_MODEL_ABI, ask, is_own};
    void *handle;
    const void *model;
    const haul_status status = haul_object_load(&kind, path, &handle, &model, error);
    if (!status)
        *ref = (haul_kernel_model_ref){.model = model, .handle = handle};
    return status;
}

haul_status haul_kernel_model_find(const char *name, haul_kernel_model_ref *ref, haul_error *error)
{
    if (haul_object_is_meant(name))
        return load_object(name, ref, error);
    const haul_kernel_model *model = find_own(name);
    if (!model)
        return haul_object_unknown("kernel model", name, name_at, error);
    *ref = (haul_kernel_model_ref){.model = model};
    return HAUL_OK;
}

void haul_kernel_model_release(haul_kernel_model_ref *ref)
{
    haul_object_close(ref->handle);
    *ref = (haul_kernel_model_ref){0};
}

haul_status haul_kernel_time(const haul_kernel_model *model, const haul_kernel_case *what,
                             haul_estimate *out, haul_error *error)
{
    return haul_kernel_time_by(model ? model : models[0], what, out, error);
}
