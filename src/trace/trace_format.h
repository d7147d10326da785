/* A format of profiles: a value with functions, in the list of trace_formats.h. It is a database,
 * found by its tables, or a text, found by how it begins. */
#ifndef HAUL_TRACE_TRACE_FORMAT_H
#define HAUL_TRACE_TRACE_FORMAT_H

#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"
#include "trace/trace_file.h"
#include "trace/trace_formats.h"

/* Where the version of a profile is written, "" where the file gives none. */
typedef struct haul_trace_version {
    char text[32];
} haul_trace_version;

typedef struct haul_trace_format {
    const char *name;
    /* Databases: whether the tables are the format's; fills the builder. */
    bool (*sniff)(haul_source *source);
    haul_status (*read)(haul_source *source, haul_trace_builder *builder,
                        haul_trace_version *version, haul_error *error);
    /* Texts: whether the file may be one, by its beginning; fills the builder. */
    bool (*sniff_text)(const haul_trace_head *head);
    haul_status (*read_text)(const char *path, haul_trace_builder *builder,
                             haul_trace_version *version, haul_error *error);
} haul_trace_format;

#define HAUL_TRACE_FORMAT_DECLARE(name) extern const haul_trace_format haul_trace_##name;
HAUL_TRACE_FORMAT_LIST(HAUL_TRACE_FORMAT_DECLARE)
#undef HAUL_TRACE_FORMAT_DECLARE

/* haul_trace_load of a database that is open already and is closed here; `path` names it. */
haul_status haul_trace_load_database(sqlite3 *db, const char *path, haul_workload **workload,
                                     haul_error *error);

#endif
