#include "device/opencl_api.h"

#include <dlfcn.h>
#include <string.h>

#include "base/fail.h"

haul_status hl_device_cl_load(hl_device_cl_api *api, haul_error *error)
{
    /* never unloaded: drivers leave threads behind */
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "no OpenCL loader: install ocl-icd-libopencl1, and "
                              "pocl-opencl-icd where there is no GPU");
    static const char *const names[] = {
#define CL_NAME(name) #name,
        HL_DEVICE_CL_LIST(CL_NAME)
#undef CL_NAME
    };
    void *found[sizeof names / sizeof(char *)];
    for (size_t i = 0; i < sizeof names / sizeof(char *); i++) {
        found[i] = dlsym(library, names[i]);
        if (!found[i]) {
            dlclose(library);
            return haul_error_set(error, HAUL_STATUS_ABSENT,
                                  "the OpenCL loader has no %s: it is older than 1.2", names[i]);
        }
    }
    dlclose(library);
    _Static_assert(sizeof found == sizeof *api, "a function pointer each");
    memcpy(api, found, sizeof *api);
    return HAUL_OK;
}

haul_status hl_device_cl_fail(cl_int code, const char *call, haul_error *error)
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
#define CL_ROW(name) {name, #name}
        CL_ROW(CL_DEVICE_NOT_FOUND),        CL_ROW(CL_DEVICE_NOT_AVAILABLE),
        CL_ROW(CL_COMPILER_NOT_AVAILABLE),  CL_ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        CL_ROW(CL_OUT_OF_RESOURCES),        CL_ROW(CL_OUT_OF_HOST_MEMORY),
        CL_ROW(CL_BUILD_PROGRAM_FAILURE),   CL_ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
        CL_ROW(CL_INVALID_VALUE),           CL_ROW(CL_INVALID_BUFFER_SIZE),
        CL_ROW(CL_INVALID_KERNEL_ARGS),     CL_ROW(CL_INVALID_ARG_SIZE),
        CL_ROW(CL_INVALID_WORK_GROUP_SIZE), CL_ROW(CL_INVALID_KERNEL_NAME),
        CL_ROW(CL_INVALID_COMMAND_QUEUE),   CL_ROW(CL_INVALID_KERNEL),
        CL_ROW(CL_INVALID_BINARY),          CL_ROW(CL_INVALID_CONTEXT),
#undef CL_ROW
    };
    const char *name = "OpenCL error";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        name = names[i].code == code ? names[i].name : name;
    haul_status status = HAUL_STATUS_DEVICE_FAILED;
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_INVALID_BUFFER_SIZE)
        status = HAUL_STATUS_DEVICE_FULL;
    else if (code == CL_OUT_OF_HOST_MEMORY)
        status = HAUL_STATUS_NO_MEMORY;
    return haul_error_set(error, status, "%s failed: %s (%d)", call, name, (int)code);
}
