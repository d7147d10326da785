/* A format of profiles: a value with functions, in the list of trace_formats.h. It is a database,
 * found by its tables, or a text, found by how it begins. */
#ifndef HAUL_TRACE_TRACE_FORMAT_H
#define HAUL_TRACE_TRACE_FORMAT_H

#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"
#include "trace/trace_file.h"
#include "trace/trace_formats.h"

/* Where the version of a profile is written, "" where the file gives none. */
typedef struct hl_trace_version {
    char text[32];
} hl_trace_version;

typedef struct hl_trace_format {
    const char *name;
    /* Databases: whether the tables are the format's; fills the builder. */
    bool (*sniff)(hl_trace_source *source);
    haul_status (*read)(hl_trace_source *source, hl_trace_builder *builder,
                        hl_trace_version *version, haul_error *error);
    /* Texts: whether the file may be one, by its beginning; fills the builder. */
    bool (*sniff_text)(const hl_trace_head *head);
    haul_status (*read_text)(const char *path, hl_trace_builder *builder, hl_trace_version *version,
                             haul_error *error);
} hl_trace_format;

#define HL_TRACE_FORMAT_DECLARE(name) extern const hl_trace_format hl_trace_##name;
HL_TRACE_FORMAT_LIST(HL_TRACE_FORMAT_DECLARE)
#undef HL_TRACE_FORMAT_DECLARE

/* haul_trace_load of a database that is open already and is closed here; `path` names it. */
haul_status hl_trace_load_database(sqlite3 *db, const char *path, haul_workload **workload,
                                   haul_error *error);

#endif
