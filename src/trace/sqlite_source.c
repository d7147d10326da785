/* See "Defense Against The Dark Arts", sqlite.org/security.html: a profile is a program's output
 * that someone sent, and a database may hold views, triggers and functions of its sender's. */
#include "trace/sqlite_source.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "trace/wal_merge.h"

enum {
    LONGEST_VALUE = 16 << 20, /* bytes of one row */
    SMALLEST_ROW = 2,         /* bytes: a pointer to a cell */
    USUAL_ROW = 24,           /* at least, of a profile's tables */
    BUSY_MS = 2000,
    LONGEST_PATH = 4096,
    LONGEST_TABLE = 256,
};

/* SQLite's codes into haul's: what is wrong with the file, what with the machine. */
static haul_status fail_sqlite(const hl_trace_source *self, int code, haul_error *error)
{
    const char *what = self->db ? sqlite3_errmsg(self->db) : sqlite3_errstr(code);
    haul_status status;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        status = hl_base_fail_no_memory(error);
        break;
    case SQLITE_NOTADB:
        status =
            haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no SQLite database, or an encrypted one");
        break;
    case SQLITE_CORRUPT:
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT, "corrupt SQLite database (%s)", what);
        break;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        status = haul_error_set(error, HAUL_STATUS_IO, "cannot read (%s)", what);
        break;
    default:
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT, "not readable as SQLite (%s)", what);
    }
    hl_base_error_in_file(error, self->path);
    return status;
}

/* The one integer that a pragma gives. */
static int read_integer(sqlite3 *db, const char *sql, int64_t *value)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        *value = sqlite3_column_int64(stmt, 0);
        code = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Names of tables are compared here, never put into a statement as they are: a suffix may hold
 * anything. */
static int list_tables(hl_trace_source *self)
{
    sqlite3_stmt *stmt = NULL;
    /* As the parsed schema has it: a row of sqlite_schema may lie about its type. */
    int code = sqlite3_prepare_v2(self->db, "PRAGMA main.table_list", -1, &stmt, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        code = SQLITE_OK;
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        const char *type = (const char *)sqlite3_column_text(stmt, 2);
        if (name && type && !strcmp(type, "table") &&
            hl_base_strings_add(&self->tables, name, strlen(name)) == UINT32_MAX)
            code = SQLITE_NOMEM;
    }
    sqlite3_finalize(stmt);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* The function numbers(...) of our own statements: takes a row's values as SQLite has them, for a
 * third of what asking for each column costs. */
static void take_numbers(sqlite3_context *context, int count, sqlite3_value **values)
{
    const hl_trace_source *const source = sqlite3_user_data(context);
    hl_trace_rows *const rows = source->at;
    uint32_t ints = 0;
    for (int i = 0; i < count; i++) {
        const int column = rows->present[i];
        const bool is_int = sqlite3_value_type(values[i]) == SQLITE_INTEGER;
        rows->row.values[column] = is_int ? sqlite3_value_int64(values[i]) : 0;
        ints |= (uint32_t)is_int << column;
    }
    rows->row.ints = ints;
}

/* From here on the database is the source's to close. */
haul_status hl_trace_source_wrap(hl_trace_source *self, sqlite3 *db, const char *path,
                                 haul_error *error)
{
    *self = (hl_trace_source){.db = db, .path = path};
    int64_t pages = 0, page_bytes = 0;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_busy_timeout(db, BUSY_MS);
    int code = sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = read_integer(db, "PRAGMA page_count", &pages);
    if (code == SQLITE_OK)
        code = read_integer(db, "PRAGMA page_size", &page_bytes);
    if (code == SQLITE_OK)
        code = list_tables(self);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, "numbers", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, self,
                                          take_numbers, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        const haul_status status = fail_sqlite(self, code, error);
        hl_trace_source_close(self);
        return status;
    }
    self->row_limit = pages * page_bytes / SMALLEST_ROW;
    return HAUL_OK;
}

/* A journal or a log of another writer changes what the file means. */
bool hl_trace_source_has_beside(const char *path, const char *ending)
{
    struct stat facts;
    char name[LONGEST_PATH];
    const int length = snprintf(name, sizeof name, "%s%s", path, ending);
    return length > 0 && (size_t)length < sizeof name && !stat(name, &facts) && facts.st_size > 0;
}

/* The file as a URI, which is never read as another than the path: so "file:x" and ":memory:" are
 * names of files. A database without a journal to roll back is opened as immutable: else SQLite
 * would make files beside one that was last written with a write-ahead log. */
static char *uri_of(const char *path)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, path[0] == '/' ? "file:" : "file:./");
    for (const char *at = path; *at; at++) {
        if (isalnum((unsigned char)*at))
            sqlite3_str_appendchar(uri, 1, *at);
        else
            sqlite3_str_appendf(uri, "%%%02x", (unsigned char)*at);
    }
    if (!hl_trace_source_has_beside(path, "-journal"))
        sqlite3_str_appendall(uri, "?immutable=1");
    return sqlite3_str_finish(uri);
}

haul_status hl_trace_source_open(hl_trace_source *self, const char *file, const char *path,
                                 haul_error *error)
{
    sqlite3 *db = NULL;
    const char *log_note = NULL;
    if (hl_trace_source_has_beside(file, "-wal")) {
        haul_status status = hl_trace_wal_open(file, &db, &log_note, error);
        hl_base_error_in_file(status ? error : NULL, path);
        if (!status)
            status = hl_trace_source_wrap(self, db, path, error);
        if (!status)
            self->log_note = log_note;
        return status;
    }
    char *uri = uri_of(file);
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    const int code = uri ? sqlite3_open_v2(uri, &db, flags, NULL) : SQLITE_NOMEM;
    sqlite3_free(uri);
    if (code == SQLITE_OK)
        return hl_trace_source_wrap(self, db, path, error);
    *self = (hl_trace_source){.db = db, .path = path};
    const haul_status status = fail_sqlite(self, code, error);
    hl_trace_source_close(self);
    return status;
}

void hl_trace_source_close(hl_trace_source *self)
{
    sqlite3_close(self->db);
    hl_base_strings_release(&self->tables);
    *self = (hl_trace_source){0};
}

bool hl_trace_source_has(const hl_trace_source *self, const char *table)
{
    for (size_t i = 0; i < self->tables.count; i++)
        if (!strcmp(self->tables.texts[i], table))
            return true;
    return false;
}

/* max(rowid) is one step down a tree; a hostile row number is cut to what the file can hold. */
uint64_t hl_trace_source_row_estimate(hl_trace_source *self, const char *table)
{
    int64_t largest = 0;
    char *sql = sqlite3_mprintf("SELECT max(rowid) FROM main.\"%w\"", table);
    if (!sql || read_integer(self->db, sql, &largest) != SQLITE_OK || largest < 0)
        largest = 0;
    sqlite3_free(sql);
    const int64_t most = self->row_limit * SMALLEST_ROW / USUAL_ROW;
    return (uint64_t)(largest < most ? largest : most);
}

/* Whether the table has an ordinary column of the name: table_info lists no generated one. */
static bool has_column(hl_trace_source *self, const char *table, const char *name, size_t length)
{
    sqlite3_stmt *stmt = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(self->db, "SELECT name FROM pragma_table_info(?1, 'main')", -1, &stmt,
                           NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC) == SQLITE_OK)
        while (!found && sqlite3_step(stmt) == SQLITE_ROW) {
            const char *column = (const char *)sqlite3_column_text(stmt, 0);
            found = column && strlen(column) == length && !memcmp(column, name, length);
        }
    self->no_memory |= sqlite3_errcode(self->db) == SQLITE_NOMEM;
    sqlite3_finalize(stmt);
    return found;
}

bool hl_trace_source_has_column(hl_trace_source *self, const char *table, const char *column)
{
    return hl_trace_source_has(self, table) && has_column(self, table, column, strlen(column));
}

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
            if (has_column(source, self->table, names, length))
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
    const int code = sqlite3_prepare_v2(source->db, sql, -1, &self->stmt, NULL);
    sqlite3_free(sql);
    if (code == SQLITE_OK)
        return HAUL_OK;
    const haul_status status = fail_sqlite(source, code, error);
    hl_base_error_in_table(error, source->path, table, 0);
    return status;
}

static haul_status check_times(const hl_trace_rows *self, haul_error *error)
{
    for (int i = self->start; i < self->start + 2; i++) {
        const int64_t time_ns = self->row.values[i];
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

/* A corrupt tree may lead round in circles: a table has at most as many rows as the file has room
 * for cells. */
haul_status hl_trace_rows_next(hl_trace_rows *self, bool *more, haul_error *error)
{
    self->source->at = self;
    const int code = self->stmt ? sqlite3_step(self->stmt) : SQLITE_DONE;
    const bool endless = ++self->number > self->source->row_limit;
    *more = code == SQLITE_ROW;
    if (code != SQLITE_DONE && (!*more || endless)) {
        const haul_status status =
            *more ? haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                   "corrupt SQLite database (more rows than fit it)")
                  : fail_sqlite(self->source, code, error);
        hl_base_error_in_table(error, self->source->path, self->table, self->number);
        return status;
    }
    self->row.ints = self->has_texts ? 0 : self->row.ints;
    for (int i = 0; *more && self->has_texts && i < self->columns; i++) {
        const bool is_int = sqlite3_column_type(self->stmt, i) == SQLITE_INTEGER;
        self->row.values[i] = is_int ? sqlite3_column_int64(self->stmt, i) : 0;
        self->row.ints |= (uint32_t)is_int << i;
    }
    return *more && self->start + 1 < self->columns ? check_times(self, error) : HAUL_OK;
}

void hl_trace_rows_end(hl_trace_rows *self)
{
    sqlite3_finalize(self->stmt);
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
