/* A large table's rows in blocks, stepped by all threads that are free: the one that reads and
 * helpers with connections of their own, for SQLite takes two thirds of the time that a profile is
 * read in. Rows come in the table's order, whoever stepped them. */
#ifndef HAUL_TRACE_SQLITE_BLOCKS_H
#define HAUL_TRACE_SQLITE_BLOCKS_H

#include "trace/sqlite_source.h"

typedef struct hl_trace_blocks hl_trace_blocks;

/* Begins to step `select`, a statement of numbers(...) without a condition, for the columns
 * `present` of the table. NULL where one thread is to step it: a small table, row numbers that are
 * no count of rows, a database that cannot be opened twice, no core that is free, no memory. Ended
 * before the source is closed. */
hl_trace_blocks *hl_trace_blocks_begin(hl_trace_source *source, const char *table,
                                       const char *select, const uint8_t *present);

/* The next row, valid until the next call; NULL behind the last, and where *code is no SQLITE_DONE,
 * an error of the source's database. */
const hl_trace_row *hl_trace_blocks_next(hl_trace_blocks *self, int *code);

void hl_trace_blocks_end(hl_trace_blocks *self);

#endif
