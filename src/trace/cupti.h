/* The common form of nsys's and nvprof's files: tables of CUPTI's activity records. A format is
 * described by which of its columns hold what; the rows are read here. */
#ifndef HAUL_TRACE_CUPTI_H
#define HAUL_TRACE_CUPTI_H

#include "trace/cupti_devices.h"
#include "trace/source_lines.h"
#include "trace/sqlite_rows.h"
#include "trace/trace_builder.h"
#include "trace/trace_format.h"

typedef enum hl_trace_cupti_kind {
    HL_TRACE_CUPTI_COPY,
    HL_TRACE_CUPTI_MIGRATION, /* a counter of unified memory that is one migration */
    HL_TRACE_CUPTI_MEMSET,
    HL_TRACE_CUPTI_KERNEL,
    HL_TRACE_CUPTI_SYNC,
} hl_trace_cupti_kind;

/* The columns of a table in the order in which they are selected. The first seven are of all. */
enum hl_trace_cupti_column {
    HL_TRACE_COL_START,
    HL_TRACE_COL_END,
    HL_TRACE_COL_DEVICE,
    HL_TRACE_COL_CONTEXT,
    HL_TRACE_COL_STREAM,
    HL_TRACE_COL_CORRELATION,
    HL_TRACE_COL_PROCESS,
    HL_TRACE_COL_OWN,

    HL_TRACE_COL_BYTES = HL_TRACE_COL_OWN, /* COPY, MEMSET, MIGRATION */
    HL_TRACE_COL_COPY_KIND,                /* of a MIGRATION the kind of counter */
    HL_TRACE_COL_SOURCE_KIND,
    HL_TRACE_COL_TARGET_KIND,
    HL_TRACE_COL_SOURCE_DEVICE,
    HL_TRACE_COL_TARGET_DEVICE,

    HL_TRACE_COL_NAME = HL_TRACE_COL_OWN, /* KERNEL */
    HL_TRACE_COL_GRID,
    HL_TRACE_COL_BLOCK = HL_TRACE_COL_GRID + 3,
    HL_TRACE_COL_REGISTERS = HL_TRACE_COL_BLOCK + 3,
    HL_TRACE_COL_STATIC_SHARED,
    HL_TRACE_COL_DYNAMIC_SHARED,

    HL_TRACE_COL_SYNC_TYPE = HL_TRACE_COL_OWN, /* SYNC */
    HL_TRACE_COL_EVENT,
    HL_TRACE_COL_SYNC_ID,

    HL_TRACE_COLUMNS = HL_TRACE_COL_DYNAMIC_SHARED + 1
};
static_assert((int)HL_TRACE_COLUMNS <= HL_TRACE_ROW_COLUMNS, "a row has them all");

typedef struct hl_trace_cupti_table {
    const char *name;
    hl_trace_cupti_kind kind;
    const char *columns[HL_TRACE_ROW_COLUMNS]; /* as of hl_trace_rows_begin */
} hl_trace_cupti_table;

/* The columns of a table of host calls. */
enum hl_trace_cupti_call_column {
    HL_TRACE_CALL_START,
    HL_TRACE_CALL_END,
    HL_TRACE_CALL_CORRELATION,
    HL_TRACE_CALL_NAME,
    HL_TRACE_CALL_THREAD,
    HL_TRACE_CALL_PROCESS,
    HL_TRACE_CALL_STACK, /* its call stack's number */
    HL_TRACE_CALL_COLUMNS
};

/* A call that the file has only as a number. */
typedef struct hl_trace_cupti_call_name {
    uint32_t number;
    const char *text;
} hl_trace_cupti_call_name;

typedef struct hl_trace_cupti_calls {
    const char *name;
    const char *columns[HL_TRACE_CALL_COLUMNS];
    const char *numbered; /* what to call a call that has only a number; NULL: the number is of a
                           * string */
    const hl_trace_cupti_call_name *known; /* names of numbers, the last without a text */
} hl_trace_cupti_calls;

enum { HL_TRACE_CUPTI_TABLES = 7, HL_TRACE_CUPTI_CALL_TABLES = 2 };

typedef struct hl_trace_cupti_format {
    hl_trace_cupti_table tables[HL_TRACE_CUPTI_TABLES]; /* up to one without a name */
    hl_trace_cupti_table
        events; /* records of events: START is when, END is not used, SYNC's columns */
    hl_trace_cupti_calls calls[HL_TRACE_CUPTI_CALL_TABLES];
    bool thread_has_process; /* a thread's id but for its low 24 bits is its process's */
    int pageable;            /* the number of the first kind of memory, pageable */
    const char *string_table;
    const char *string_columns[2];
} hl_trace_cupti_format;

/* The state of a reader, for functions that take a row of a file. */
typedef struct hl_trace_cupti_reader {
    hl_trace_builder *builder;
    hl_trace_version *version;
    hl_trace_cupti_devices devices;
} hl_trace_cupti_reader;

/* Whether any of the format's tables of operations is in the file with this column. */
bool hl_trace_cupti_has_column(const hl_trace_cupti_format *format, hl_trace_source *source,
                               const char *column);

/* Reads operations, waits, events and calls, then the names that they met. `lines`, which may be
 * NULL, gets a span for each call that has a stack: its `name` is the stack's number. */
haul_status hl_trace_cupti_read(const hl_trace_cupti_format *format, hl_trace_source *source,
                                hl_trace_cupti_devices *devices, hl_trace_source_lines *lines,
                                hl_trace_builder *builder, haul_error *error);

#endif
