#include "timeline/driver_call.h"

#include <string.h>

/* In B/s: the least host.copy_rate of the catalogue (titan-xk7, an Opteron 6274). */
static const double slowest_copy_rate = 2.4e9;

/* A name that begins with `call`, behind "cuda", "cu" or "hip": suffixes name versions, and dozens
 * of calls differ in them alone. Longer beginnings stand before shorter ones. */
static const struct {
    const char *call;
    haul_driver_work work;
} calls[] = {
    {"MallocHost", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"HostAlloc", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"HostMalloc", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"HostRegister", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"HostUnregister", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"HostFree", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"FreeHost", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"MemAllocHost", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"MemFreeHost", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"MemHost", HAUL_DRIVER_WORK_PAGE_LOCK},
    {"Malloc", HAUL_DRIVER_WORK_ALLOCATE},
    {"Free", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemAlloc", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemFree", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemCreate", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemMap", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemUnmap", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemRelease", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemSetAccess", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemAddressReserve", HAUL_DRIVER_WORK_ALLOCATE},
    {"MemPool", HAUL_DRIVER_WORK_ALLOCATE},
    {"Module", HAUL_DRIVER_WORK_LOAD},
    {"Library", HAUL_DRIVER_WORK_LOAD},
    {"Link", HAUL_DRIVER_WORK_LOAD},
    {"KernelGet", HAUL_DRIVER_WORK_LOAD},
    {"FuncGet", HAUL_DRIVER_WORK_LOAD},
    {"FuncSet", HAUL_DRIVER_WORK_LOAD},
    {"GraphInstantiate", HAUL_DRIVER_WORK_SETUP},
    {"GraphExecUpdate", HAUL_DRIVER_WORK_SETUP},
    {"Init", HAUL_DRIVER_WORK_SETUP},
    {"SetDevice", HAUL_DRIVER_WORK_SETUP},
    {"DeviceReset", HAUL_DRIVER_WORK_SETUP},
    {"DevicePrimaryCtx", HAUL_DRIVER_WORK_SETUP},
    {"CtxCreate", HAUL_DRIVER_WORK_SETUP},
    {"CtxDestroy", HAUL_DRIVER_WORK_SETUP},
    {"StreamCreate", HAUL_DRIVER_WORK_SETUP},
    {"StreamDestroy", HAUL_DRIVER_WORK_SETUP},
    {"EventCreate", HAUL_DRIVER_WORK_SETUP},
    {"EventDestroy", HAUL_DRIVER_WORK_SETUP},
    {"DeviceEnablePeerAccess", HAUL_DRIVER_WORK_SETUP},
    {"CtxEnablePeerAccess", HAUL_DRIVER_WORK_SETUP},
    {"GetDeviceProperties", HAUL_DRIVER_WORK_SETUP},
};

static const char *skip(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return !strncmp(text, word, length) ? text + length : NULL;
}

/* OpenCL compiles in one call, and its buffers are page-locked or not as the driver likes. */
static haul_driver_work opencl_work(const char *call)
{
    if (skip(call, "clBuildProgram") || skip(call, "clCompileProgram") ||
        skip(call, "clLinkProgram") || skip(call, "clCreateProgram"))
        return HAUL_DRIVER_WORK_LOAD;
    if (skip(call, "clCreateBuffer") || skip(call, "clReleaseMemObject"))
        return HAUL_DRIVER_WORK_ALLOCATE;
    return skip(call, "clCreateContext") ? HAUL_DRIVER_WORK_SETUP : HAUL_DRIVER_WORKS;
}

haul_driver_work hl_timeline_driver_work_of(const char *call)
{
    static const char *const prefixes[] = {"cuda", "cu", "hip"};
    const char *word = NULL;
    for (size_t i = 0; !word && i < sizeof prefixes / sizeof *prefixes; i++)
        word = skip(call, prefixes[i]);
    for (size_t i = 0; word && i < sizeof calls / sizeof *calls; i++)
        if (skip(word, calls[i].call))
            return calls[i].work;
    return word ? HAUL_DRIVER_WORKS : opencl_work(call);
}

bool hl_timeline_is_driver_call(const haul_op *op, int64_t call_ns)
{
    int64_t usual_ns = HL_TIMELINE_USUAL_CALL_NS;
    if (op->kind == HAUL_OP_COPY && op->detail != HAUL_MEMORY_PINNED)
        usual_ns += (int64_t)(1e9 * (double)op->bytes / slowest_copy_rate);
    return call_ns > usual_ns;
}
