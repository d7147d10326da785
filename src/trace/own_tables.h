/* Tables that 'haul convert' adds to those of Nsight Systems, for what these cannot hold: names of
 * threads beyond 24 bits, arguments of collectives, sizes of operators, the operator of
 * each call, losses and other notes, the rank, and in a file of several processes that of each GPU,
 * with its machine's name. */
#ifndef HAUL_TRACE_OWN_TABLES_H
#define HAUL_TRACE_OWN_TABLES_H

#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"

/* Names of tables and their columns, those of launches in the order of hl_trace_launch_column. */
#define HL_TRACE_OWN_THREADS "HAUL_THREADS"
#define HL_TRACE_OWN_LAUNCHES "HAUL_LAUNCHES"
#define HL_TRACE_OWN_ORIGIN "HAUL_ORIGIN"
#define HL_TRACE_OWN_RANKS "HAUL_RANKS"
#define HL_TRACE_OWN_OPERATORS "HAUL_OPERATORS"
#define HL_TRACE_OWN_LOSSES "HAUL_LOSSES"
#define HL_TRACE_OWN_NOTES "HAUL_NOTES"

typedef enum hl_trace_launch_column {
    HL_TRACE_LAUNCH_KERNEL, /* the number of the row of the table of kernels, from 1 */
    HL_TRACE_LAUNCH_COLLECTIVE,
    HL_TRACE_LAUNCH_DATA_TYPE,
    HL_TRACE_LAUNCH_GROUP,
    HL_TRACE_LAUNCH_RANKS,
    HL_TRACE_LAUNCH_ELEMENTS_IN,
    HL_TRACE_LAUNCH_ELEMENTS_OUT,
    HL_TRACE_LAUNCH_BATCH,
    HL_TRACE_LAUNCH_ROWS,
    HL_TRACE_LAUNCH_COLUMNS,
    HL_TRACE_LAUNCH_INNER,
    HL_TRACE_LAUNCH_BYTES,
    HL_TRACE_LAUNCH_ALIGNMENT,
    HL_TRACE_LAUNCH_COUNT
} hl_trace_launch_column;

/* Reads them, once operations and calls are there. Nothing is done where the file has none. */
haul_status hl_trace_own_tables_read(hl_trace_source *source, hl_trace_builder *builder,
                                     haul_error *error);

#endif
