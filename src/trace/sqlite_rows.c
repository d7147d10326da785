/* See sqlite_source.c: no view, index or generated column of the file is ever evaluated. */
#include "trace/sqlite_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "trace/sqlite_blocks.h"

enum { LONGEST_TABLE = 256 };

/* SELECT numbers("start", "end", ...) FROM main."table", of the columns that the table has; where
 * texts are asked for the columns themselves, NULL for others. NOT INDEXED: a hostile index could
 * give rows that the table does not have. */
static char *compose(hl_trace_rows *self, const char *const *columns)
{
    hl_trace_source *source = self->source;
    sqlite3_str *sql = sqlite3_str_new(source->db);
    sqlite3_str_appendall(sql, self->has_texts ? "SELECT " : "SELECT numbers(");
    for (int i = 0, met = 0; i < self->columns; i++) {
        const char *names = columns[i];
        size_t length = 0;
        for (; names && *names; names += length + (names[length] == '|')) {
            length = strcspn(names, "|");
            if (hl_trace_source_has_named(source, self->table, names, length))
                break;
        }
        const bool is_there = names && *names;
        if (!is_there && !self->has_texts)
            continue;
        sqlite3_str_appendall(sql, met ? ", " : "");
        if (is_there)
            sqlite3_str_appendf(sql, "\"%.*w\"", (int)length, names);
        else
            sqlite3_str_appendall(sql, "NULL");
        self->present[met++] = (uint8_t)i;
    }
    sqlite3_str_appendf(sql, "%s FROM main.\"%w\" NOT INDEXED", self->has_texts ? "" : ")",
                        self->table);
    return sqlite3_str_finish(sql);
}

static bool is_named(const char *column, const char *name)
{
    return column && !strcmp(column, name);
}

haul_status hl_trace_rows_begin(hl_trace_rows *self, hl_trace_source *source, const char *table,
                                const char *const *columns, bool has_texts, haul_error *error)
{
    *self = (hl_trace_rows){.source = source, .table = table, .has_texts = has_texts};
    if (!hl_trace_source_has(source, table))
        return HAUL_OK;
    for (int i = 0; i < HL_TRACE_ROW_COLUMNS; i++)
        self->columns = columns[i] ? i + 1 : self->columns;
    char *sql = compose(self, columns);
    while (self->start + 1 < self->columns &&
           !(is_named(columns[self->start], "start") && is_named(columns[self->start + 1], "end")))
        self->start++;
    if (!sql)
        return hl_base_fail_no_memory(error);
    self->row = &self->own;
    self->blocks = has_texts ? NULL : hl_trace_blocks_begin(source, table, sql, self->present);
    const int code =
        self->blocks ? SQLITE_OK : sqlite3_prepare_v2(source->db, sql, -1, &self->stmt, NULL);
    sqlite3_free(sql);
    if (code == SQLITE_OK)
        return HAUL_OK;
    const haul_status status = hl_trace_source_fail(source, code, error);
    hl_base_error_in_table(error, source->path, table, 0);
    return status;
}

static haul_status check_times(const hl_trace_rows *self, haul_error *error)
{
    for (int i = self->start; i < self->start + 2; i++) {
        const int64_t time_ns = self->row->values[i];
        if (hl_base_is_recorded_time(time_ns))
            continue;
        haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                       "%s is %" PRId64 " ns, which is no time of a recording",
                       i == self->start ? "start" : "end", time_ns);
        hl_base_error_in_table(error, self->source->path, self->table, self->number);
        return HAUL_STATUS_BAD_INPUT;
    }
    return HAUL_OK;
}

/* SQLite's code. */
static int step(hl_trace_rows *self)
{
    if (self->blocks) {
        int code;
        const hl_trace_row *const row = hl_trace_blocks_next(self->blocks, &code);
        self->row = row ? row : &self->own;
        return row ? SQLITE_ROW : code;
    }
    self->source->present = self->present;
    self->source->row = &self->own;
    return self->stmt ? sqlite3_step(self->stmt) : SQLITE_DONE;
}

/* A corrupt tree may lead round in circles: a table has at most as many rows as the file has room
 * for cells. */
haul_status hl_trace_rows_next(hl_trace_rows *self, bool *more, haul_error *error)
{
    const int code = step(self);
    const bool endless = ++self->number > self->source->row_limit;
    *more = code == SQLITE_ROW;
    if (code != SQLITE_DONE && (!*more || endless)) {
        const haul_status status =
            *more ? haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                   "corrupt SQLite database (more rows than fit it)")
                  : hl_trace_source_fail(self->source, code, error);
        hl_base_error_in_table(error, self->source->path, self->table, self->number);
        return status;
    }
    self->own.ints = self->has_texts ? 0 : self->own.ints;
    for (int i = 0; *more && self->has_texts && i < self->columns; i++) {
        const bool is_int = sqlite3_column_type(self->stmt, i) == SQLITE_INTEGER;
        self->own.values[i] = is_int ? sqlite3_column_int64(self->stmt, i) : 0;
        self->own.ints |= (uint32_t)is_int << i;
    }
    return *more && self->start + 1 < self->columns ? check_times(self, error) : HAUL_OK;
}

void hl_trace_rows_end(hl_trace_rows *self)
{
    if (self->blocks)
        hl_trace_blocks_end(self->blocks);
    sqlite3_finalize(self->stmt);
    self->blocks = NULL;
    self->stmt = NULL;
}

/* SQLite gives NULL both for a NULL and for no memory. */
const char *hl_trace_rows_text(const hl_trace_rows *self, int column, size_t *length)
{
    const char *text = (const char *)sqlite3_column_text(self->stmt, column);
    if (!text && sqlite3_errcode(self->source->db) == SQLITE_NOMEM)
        self->source->no_memory = true;
    *length = text ? (size_t)sqlite3_column_bytes(self->stmt, column) : 0;
    return text;
}

/* A table's name that does not fit is none that the file has. */
haul_status hl_trace_source_scan(hl_trace_source *self, const char *suffix,
                                 const hl_trace_scan *scans, size_t count, void *reader,
                                 haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < count; i++) {
        char table[LONGEST_TABLE];
        hl_trace_rows rows;
        bool more = true;
        (void)snprintf(table, sizeof table, "%s%s", scans[i].table, suffix);
        status =
            hl_trace_rows_begin(&rows, self, table, scans[i].columns, scans[i].has_texts, error);
        while (!status && !(status = hl_trace_rows_next(&rows, &more, error)) && more)
            scans[i].take(reader, &rows);
        hl_trace_rows_end(&rows);
    }
    return status;
}
