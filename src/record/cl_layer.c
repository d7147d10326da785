/* A layer of the OpenCL loader: what cl_layer.h asks one to export, and nothing else. The layer
 * lies between the loader and the platforms, so one recording sees all platforms of a program. */
#include "record/cl_layer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "haul/api.h"
#include "record/cl_recorder.h"
#include "record/record_session.h"

enum { ENTRIES = sizeof(cl_icd_dispatch) / sizeof(void *) };

static cl_icd_dispatch layer;

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the headers' are shorter
HAUL_API CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size,
                                                        void *value, size_t *size_given)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "haul record";
    const bool is_name = what == CL_LAYER_NAME;
    const size_t needed = is_name ? sizeof name : sizeof version;
    if ((!is_name && what != CL_LAYER_API_VERSION) || (value && size < needed))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, is_name ? (const void *)name : (const void *)&version, needed);
    if (size_given)
        *size_given = needed;
    return CL_SUCCESS;
}

HAUL_API CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entry_count,
                                                     const cl_icd_dispatch *target,
                                                     cl_uint *entry_count_given,
                                                     const cl_icd_dispatch **layer_given)
{
    if (!target || !entry_count_given || !layer_given)
        return CL_INVALID_VALUE;
    if (entry_count < offsetof(cl_icd_dispatch, clSVMAlloc) / sizeof(void *))
        return CL_INVALID_VALUE; /* a loader older than what is wrapped */
    const size_t known = entry_count < ENTRIES ? entry_count : (size_t)ENTRIES;
    memcpy(&hl_record_cl_runtime, target, known * sizeof(void *));
    layer = hl_record_cl_runtime;
    hl_record_cl_objects_install(&layer);
    hl_record_cl_buffers_install(&layer);
    hl_record_cl_images_install(&layer);
    hl_record_cl_shared_install(&layer);
    hl_record_cl_mark_process();
    /* A program may unload the loader while our thread still asks events for their times. */
    Dl_info found;
    void *function;
    memcpy(&function, &hl_record_cl_runtime.clGetPlatformIDs, sizeof function);
    if (dladdr(function, &found) && found.dli_fname)
        dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    /* The loader has cut its list of layers into names, in the environment itself, where the
     * programs that this one runs would find the first name alone. */
    // NOLINTBEGIN(concurrency-mt-unsafe): in the loader's first call, which read the list just now
    char *list = getenv("OPENCL_LAYERS");
    const char *whole = getenv(HAUL_RECORD_LAYERS);
    // NOLINTEND(concurrency-mt-unsafe)
    const size_t length = whole ? strlen(whole) : 0;
    for (size_t at = list ? strlen(list) : length;
         at < length && whole[at] == ':' && !strncmp(list, whole, at); at = strlen(list))
        list[at] = ':';
    hl_record_session_loaded();
    *entry_count_given = (cl_uint)known;
    *layer_given = &layer;
    return CL_SUCCESS;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
