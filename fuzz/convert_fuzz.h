/* The demands on each workload that a fuzzer's bytes gave: a window of it holds, and what convert
 * writes of it is read back with the same operations. */
#ifndef HAUL_FUZZ_CONVERT_FUZZ_H
#define HAUL_FUZZ_CONVERT_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "../tests/unit/workload_check.h"
#include "haul/trace.h"

/* A file of this process in memory; `use` keeps two of one process apart. */
static inline const char *fuzz_path(char *path, size_t size, const char *use)
{
    snprintf(path, size, "/dev/shm/haul-fuzz-%ld%s", (long)getpid(), use);
    return path;
}

static inline uint64_t fuzz_bytes_of(const haul_workload *workload)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        bytes += haul_op_has_bytes(&workload->ops[i]) ? workload->ops[i].bytes : 0;
    return bytes;
}

/* The second conversion is of what the first one could hold: then nothing may change. */
static inline void fuzz_same(const haul_workload *a, const haul_workload *b)
{
    HOLDS(a->op_count == b->op_count);
    HOLDS(a->range_count == b->range_count);
    HOLDS(a->counts.calls == b->counts.calls);
    HOLDS(a->counts.orphans == b->counts.orphans);
    HOLDS(fuzz_bytes_of(a) == fuzz_bytes_of(b));
    for (size_t i = 0; i < a->op_count; i++)
        HOLDS(a->ops[i].start_ns == b->ops[i].start_ns);
}

/* NULL where it cannot be written: with a reason. */
static inline haul_workload *fuzz_convert(const haul_workload *workload, int json)
{
    char path[64];
    haul_workload *read = NULL;
    haul_error error = {0};
    haul_status status;
    (void)fuzz_path(path, sizeof path, "-converted");
    if (json) {
        FILE *out = fopen(path, "w");
        HOLDS(out != NULL);
        status = haul_trace_write_json(workload, out, &error);
        fclose(out);
    } else {
        status = haul_trace_write_sqlite(workload, path, &error);
    }
    if (!status && haul_trace_load(path, &read, &error)) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    unlink(path);
    HOLDS(read || error.text[0]);
    return read;
}

static inline void fuzz_converted(const haul_workload *workload, int json)
{
    haul_workload *const once = fuzz_convert(workload, json);
    if (!once)
        return;
    workload_check(once);
    /* in JSON operations that are equal in all that it writes count as one written twice */
    HOLDS(json ? once->op_count <= workload->op_count : once->op_count == workload->op_count);
    haul_workload *const twice = fuzz_convert(once, json);
    HOLDS(twice != NULL);
    fuzz_same(once, twice);
    haul_workload_free(once);
    haul_workload_free(twice);
}

static inline void fuzz_cut(const haul_workload *workload)
{
    haul_workload *part = NULL;
    haul_error error = {0};
    uint64_t orphaned = 0;
    const int64_t first = workload->op_count ? workload->ops[0].start_ns : 0;
    const int64_t middle =
        workload->op_count ? workload->ops[workload->op_count / 2].start_ns - first : 0;
    if (haul_trace_cut(workload, middle / 2, middle + 1, &orphaned, &part, &error)) {
        HOLDS(error.status && error.text[0] && !part);
        return;
    }
    workload_check(part);
    HOLDS(part->op_count <= workload->op_count && orphaned <= workload->op_count);
    haul_workload_free(part);
}

#endif
