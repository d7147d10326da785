/* The profiles of the data's traces folder, in one order. */
#ifndef HAUL_BENCH_PROFILE_FILES_H
#define HAUL_BENCH_PROFILE_FILES_H

#include "base/arena.h"
#include "haul/workload.h"

/* Zero is none. */
typedef struct profile_files {
    haul_arena arena;
    const char **paths; /* sorted by folder and name */
    size_t count;
    size_t capacity;
} profile_files;

/* Lists the profiles of Nsight Systems and nvprof. */
haul_status profile_files_list(const char *data, profile_files *files, haul_error *error);

/* Lists the traces of PyTorch's profiler. */
haul_status kineto_files_list(const char *data, profile_files *files, haul_error *error);
void profile_files_release(profile_files *files);

/* A path without its folders. */
const char *profile_name(const char *path);

#endif
