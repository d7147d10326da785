/* Call stacks of API calls, which Nsight Systems records with --cudabacktrace. */
#ifndef HAUL_TRACE_NSYS_STACKS_H
#define HAUL_TRACE_NSYS_STACKS_H

#include "trace/id_map.h"
#include "trace/source_lines.h"
#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"

/* A frame of the stack that is being read: numbers of names, HAUL_NONE for none. */
typedef struct hl_trace_nsys_frame {
    uint32_t function;
    uint32_t module;
} hl_trace_nsys_frame;

enum { HL_TRACE_NSYS_DEPTH = 128 };

/* Begin with the builder and the lines. */
typedef struct hl_trace_nsys_stacks {
    hl_trace_builder *builder;
    hl_trace_source_lines lines; /* of calls: their names are stacks' numbers until the join */
    hl_trace_id_map callers;     /* of stacks by their numbers */
    int64_t stack;               /* whose frames these are; 0: none */
    hl_trace_nsys_frame frames[HL_TRACE_NSYS_DEPTH];
} hl_trace_nsys_stacks;

/* Notes the names of frames, before the file's strings are read. */
haul_status hl_trace_nsys_stacks_name(hl_trace_nsys_stacks *self, hl_trace_source *source,
                                      haul_error *error);

/* Where the lines of calls go: NULL where the file has no stacks. */
hl_trace_source_lines *hl_trace_nsys_stacks_lines(hl_trace_nsys_stacks *self,
                                                  const hl_trace_source *source);

/* Gives operations their lines, once strings and calls are read. */
haul_status hl_trace_nsys_stacks_join(hl_trace_nsys_stacks *self, hl_trace_source *source,
                                      haul_error *error);

void hl_trace_nsys_stacks_release(hl_trace_nsys_stacks *self);

#endif
