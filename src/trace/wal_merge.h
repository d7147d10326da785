/* A database with the write-ahead log beside it, as one image in memory: a writer that was killed,
 * or whose disk was full, leaves such a log. SQLite itself would make a file beside the database to
 * read it, and silently end at the log's first damage. Source: sqlite.org/fileformat2.html,
 * section 4. */
#ifndef HAUL_TRACE_WAL_MERGE_H
#define HAUL_TRACE_WAL_MERGE_H

#include <sqlite3.h>

#include "haul/status.h"

/* Opens the database at `path` with what its log `path`-wal holds; neither is changed. *note is
 * NULL, or says what of the log is not in the image. Returns IO where a file cannot be read,
 * NO_MEMORY. */
haul_status hl_trace_wal_open(const char *path, sqlite3 **db, const char **note, haul_error *error);

#endif
