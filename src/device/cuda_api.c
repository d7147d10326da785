#include "device/cuda_api.h"

#include <string.h>

#include "base/fail.h"
#include "base/library.h"

typedef struct name_row {
    const char *cuda, *hip;
    size_t offset; /* in hl_device_cu_api */
} name_row;

/* Loaded by name at run time: haul is built without CUDA or HIP, and one binary serves both. */
static const name_row names[] = {
#define NAME(member, cuda, hip, parameters) {#cuda, #hip, offsetof(hl_device_cu_api, member)},
    HL_DEVICE_CU_FUNCTIONS(NAME)
#undef NAME
#define NAME(member, name, result, parameters) {#name, NULL, offsetof(hl_device_cu_api, member)},
        HL_DEVICE_CUDA_ONLY(NAME)
#undef NAME
#define NAME(member, name, result, parameters) {NULL, #name, offsetof(hl_device_cu_api, member)},
            HL_DEVICE_HIP_ONLY(NAME)
#undef NAME
};

static const char *const cuda_libraries[] = {"libcuda.so.1", NULL};
/* HIP has a library for each major version. Where no version is found, that of the usual folder. */
static const char *const hip_libraries[] = {
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "libamdhip64.so",
    "/opt/rocm/lib/libamdhip64.so",
    NULL,
};

/* The two report names differently: CUDA through a pointer, HIP as its result. */
const char *hl_device_cu_word(const hl_device_cu_api *api, int result)
{
    const char *name = NULL;
    if (api->is_hip)
        name = api->hip_error_name(result);
    else
        api->cuda_error_name(result, &name);
    return name ? name : "unknown error";
}

/* A missing library and a missing GPU are both ABSENT: the message says which. */
haul_status hl_device_cu_load(hl_device_cu_api *api, bool is_hip, haul_error *error)
{
    int count = 0;
    void *library = hl_base_library_open(is_hip ? hip_libraries : cuda_libraries);
    if (!library)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              is_hip ? "no libamdhip64.so: AMD's ROCm brings it"
                                     : "no libcuda.so.1: NVIDIA's driver brings it");
    memset(api, 0, sizeof *api);
    api->is_hip = is_hip;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = is_hip ? names[i].hip : names[i].cuda;
        if (name && !hl_base_library_function(library, name, (char *)api + names[i].offset))
            return haul_error_set(error, HAUL_STATUS_ABSENT, "the driver has no %s: it is too old",
                                  name);
    }
#define NEW(member, name, result, parameters)                                                      \
    if (!is_hip)                                                                                   \
        (void)hl_base_library_function(library, #name, &api->member);
    HL_DEVICE_CUDA_NEW(NEW)
#undef NEW
    int result = api->init(0);
    if (!result)
        result = api->device_count(&count);
    if (result == HL_DEVICE_CU_NO_DEVICE || (!result && !count))
        return haul_error_set(error, HAUL_STATUS_ABSENT, "the driver finds no GPU of %s",
                              is_hip ? "AMD" : "NVIDIA");
    if (result)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "the driver does not start: %s (%d)",
                              hl_device_cu_word(api, result), result);
    return HAUL_OK;
}

/* 0 where the driver does not know the attribute: older drivers lack the newer ones. */
int hl_device_cu_read(const hl_device_cu_api *api, int device, hl_device_cu_attribute attribute)
{
    static const int numbers[][2] = {
#define NUMBERS(name, cuda, hip) {cuda, hip},
        HL_DEVICE_CU_ATTRIBUTES(NUMBERS)
#undef NUMBERS
    };
    int value = 0;
    return api->device_attribute(&value, numbers[attribute][api->is_hip], device) ? 0 : value;
}

haul_status hl_device_cu_fail(const hl_device_cu_api *api, int result, const char *what,
                              haul_error *error)
{
    return haul_error_set(error,
                          result == HL_DEVICE_CU_OUT_OF_MEMORY ? HAUL_STATUS_DEVICE_FULL
                                                               : HAUL_STATUS_DEVICE_FAILED,
                          "%s failed: %s (%d)", what, hl_device_cu_word(api, result), result);
}
