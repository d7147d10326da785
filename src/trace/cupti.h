/* What nsys's and nvprof's files have in common: tables of CUPTI's activity records. A format is
 * described by which of its columns hold what; the rows are read here. */
#ifndef HAUL_TRACE_CUPTI_H
#define HAUL_TRACE_CUPTI_H

#include "trace/cupti_devices.h"
#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"
#include "trace/trace_format.h"

typedef enum haul_cupti_kind {
    HAUL_CUPTI_COPY,
    HAUL_CUPTI_MIGRATION, /* a counter of unified memory that is one migration */
    HAUL_CUPTI_MEMSET,
    HAUL_CUPTI_KERNEL,
    HAUL_CUPTI_SYNC,
} haul_cupti_kind;

/* The columns of a table in the order in which they are selected. The first seven are of all. */
enum haul_cupti_column {
    HAUL_COL_START,
    HAUL_COL_END,
    HAUL_COL_DEVICE,
    HAUL_COL_CONTEXT,
    HAUL_COL_STREAM,
    HAUL_COL_CORRELATION,
    HAUL_COL_PROCESS,
    HAUL_COL_OWN,

    HAUL_COL_BYTES = HAUL_COL_OWN, /* COPY, MEMSET, MIGRATION */
    HAUL_COL_COPY_KIND,            /* of a MIGRATION the kind of counter */
    HAUL_COL_SOURCE_KIND,
    HAUL_COL_TARGET_KIND,
    HAUL_COL_SOURCE_DEVICE,
    HAUL_COL_TARGET_DEVICE,

    HAUL_COL_NAME = HAUL_COL_OWN, /* KERNEL */
    HAUL_COL_GRID,
    HAUL_COL_BLOCK = HAUL_COL_GRID + 3,
    HAUL_COL_REGISTERS = HAUL_COL_BLOCK + 3,
    HAUL_COL_STATIC_SHARED,
    HAUL_COL_DYNAMIC_SHARED,

    HAUL_COL_SYNC_TYPE = HAUL_COL_OWN, /* SYNC */
    HAUL_COL_EVENT,
    HAUL_COL_SYNC_ID,

    HAUL_COLUMNS = HAUL_COL_DYNAMIC_SHARED + 1
};
static_assert((int)HAUL_COLUMNS <= HAUL_ROW_COLUMNS, "a row has them all");

typedef struct haul_cupti_table {
    const char *name;
    haul_cupti_kind kind;
    const char *columns[HAUL_ROW_COLUMNS]; /* as of haul_rows_begin */
} haul_cupti_table;

/* The columns of a table of host calls. */
enum haul_cupti_call_column {
    HAUL_CALL_START,
    HAUL_CALL_END,
    HAUL_CALL_CORRELATION,
    HAUL_CALL_NAME,
    HAUL_CALL_THREAD,
    HAUL_CALL_PROCESS,
    HAUL_CALL_COLUMNS
};

/* A call that the file has only as a number. */
typedef struct haul_cupti_call_name {
    uint32_t number;
    const char *text;
} haul_cupti_call_name;

typedef struct haul_cupti_calls {
    const char *name;
    const char *columns[HAUL_CALL_COLUMNS];
    const char *numbered; /* what to call a call that has only a number; NULL: the number is of a
                           * string */
    const haul_cupti_call_name *known; /* names of numbers, the last without a text */
} haul_cupti_calls;

enum { HAUL_CUPTI_TABLES = 7, HAUL_CUPTI_CALL_TABLES = 2 };

typedef struct haul_cupti_format {
    haul_cupti_table tables[HAUL_CUPTI_TABLES]; /* up to one without a name */
    haul_cupti_table events; /* records of events: START is when, END is not used, SYNC's columns */
    haul_cupti_calls calls[HAUL_CUPTI_CALL_TABLES];
    bool thread_has_process; /* a thread's id but for its low 24 bits is its process's */
    int pageable;            /* the number of the first kind of memory, pageable */
    const char *string_table;
    const char *string_columns[2];
} haul_cupti_format;

/* What functions that take a row of a file get. */
typedef struct haul_cupti_reader {
    haul_trace_builder *builder;
    haul_trace_version *version;
    haul_cupti_devices devices;
} haul_cupti_reader;

/* Whether any of the format's tables of operations is in the file with this column. */
bool haul_cupti_has_column(const haul_cupti_format *format, haul_source *source,
                           const char *column);

/* Reads operations, waits, events and calls, then the names that they met. */
haul_status haul_cupti_read(const haul_cupti_format *format, haul_source *source,
                            haul_cupti_devices *devices, haul_trace_builder *builder,
                            haul_error *error);

#endif
