/* The library's version and those of what it was built with. */
#include "haul/version.h"

#include <sqlite3.h>
#include <yaml.h>
#include <zlib.h>

const char *haul_version(void)
{
    return HAUL_VERSION;
}

bool haul_part_get(size_t index, haul_part *part)
{
    /* Asked at run time, since a shared library may be newer than the headers of the build. */
    const haul_part parts[] = {
        {"SQLite", sqlite3_libversion(), "profiles of Nsight Systems and nvprof"},
        {"zlib", zlibVersion(), "compressed input"},
        {"libyaml", yaml_get_version_string(), "machine files"},
        {"OpenCL", HAUL_OPENCL_HEADERS, "recording OpenCL programs (ocl-icd-opencl-dev)"},
        {"hwloc", HAUL_HWLOC_HEADERS, "measuring NUMA nodes (libhwloc-dev)"},
        {"CUPTI", "-", "recording CUDA programs; looked for as they run (CUDA toolkit)"},
        {"HDF5", "-", "arrays of tiles in .h5 files; looked for as they run (libhdf5-dev)"},
    };
    if (index >= sizeof parts / sizeof parts[0])
        return false;
    *part = parts[index];
    return true;
}
