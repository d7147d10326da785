/* A format of profiles: a value with functions, in the one table of trace.c. */
#ifndef HAUL_TRACE_TRACE_FORMAT_H
#define HAUL_TRACE_TRACE_FORMAT_H

#include "trace/sqlite_source.h"
#include "workload/builder.h"

typedef struct haul_trace_format {
    const char *name;
    bool (*sniff)(haul_source *source);
    /* Fills the builder; writes the version into `version`, "" where the file gives none. */
    haul_status (*read)(haul_source *source, haul_builder *builder, char *version, size_t size,
                        haul_error *error);
} haul_trace_format;

extern const haul_trace_format haul_trace_nsys;
extern const haul_trace_format haul_trace_nvprof;

/* haul_trace_load of a database that is open already and is closed here; `path` names it. */
haul_status haul_trace_load_database(sqlite3 *db, const char *path, haul_workload **workload,
                                     haul_error *error);

#endif
