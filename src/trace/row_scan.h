/* The loop over the rows of a table that may be absent:
 *
 *     haul_rows rows;
 *     haul_status status = haul_rows_begin_if(&rows, source, table, columns, count, error);
 *     while (haul_rows_step(&rows, &status, error))
 *         ...
 *     haul_rows_end(&rows); */
#ifndef HAUL_TRACE_ROW_SCAN_H
#define HAUL_TRACE_ROW_SCAN_H

#include "trace/sqlite_source.h"

/* haul_rows_begin, or no rows where the table is absent. */
static inline haul_status haul_rows_begin_if(haul_rows *self, haul_source *source,
                                             const char *table, const char *const *columns,
                                             size_t count, haul_error *error)
{
    *self = (haul_rows){0};
    return haul_source_has(source, table)
               ? haul_rows_begin(self, source, table, columns, count, error)
               : HAUL_OK;
}

/* haul_rows_begin_texts, likewise. */
static inline haul_status haul_rows_begin_texts_if(haul_rows *self, haul_source *source,
                                                   const char *table, const char *const *columns,
                                                   size_t count, haul_error *error)
{
    *self = (haul_rows){0};
    return haul_source_has(source, table)
               ? haul_rows_begin_texts(self, source, table, columns, count, error)
               : HAUL_OK;
}

/* Whether there is another row, to which `self` has moved; false behind the last and where *status
 * is or becomes an error. */
static inline bool haul_rows_step(haul_rows *self, haul_status *status, haul_error *error)
{
    bool more = false;
    if (!*status && self->stmt)
        *status = haul_rows_next(self, &more, error);
    return !*status && more;
}

#endif
