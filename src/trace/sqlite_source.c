/* See "Defense Against The Dark Arts", sqlite.org/security.html: a profile is a program's output
 * that someone sent, and a database may hold views, triggers and functions of its sender's. */
#include "trace/sqlite_source.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "trace/wal_merge.h"

enum {
    LONGEST_VALUE = 16 << 20, /* bytes of one row */
    SMALLEST_ROW = 2,         /* bytes: a pointer to a cell */
    USUAL_ROW = 24,           /* at least, of a profile's tables */
    BUSY_MS = 2000,
    LONGEST_PATH = 4096,
};

static atomic_int sources_open;

int hl_trace_sources_open(void)
{
    return atomic_load(&sources_open);
}

/* SQLite's codes into haul's: what is wrong with the file, what with the machine. */
haul_status hl_trace_source_fail(const hl_trace_source *self, int code, haul_error *error)
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

int hl_trace_source_integer(sqlite3 *db, const char *sql, int64_t *value)
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
    hl_trace_row *const row = source->row;
    uint32_t ints = 0;
    for (int i = 0; i < count; i++) {
        const int column = source->present[i];
        const bool is_int = sqlite3_value_type(values[i]) == SQLITE_INTEGER;
        row->values[column] = is_int ? sqlite3_value_int64(values[i]) : 0;
        ints |= (uint32_t)is_int << column;
    }
    row->ints = ints;
}

/* From here on the database is the source's to close. */
haul_status hl_trace_source_wrap(hl_trace_source *self, sqlite3 *db, const char *path,
                                 haul_error *error)
{
    *self = (hl_trace_source){.db = db, .path = path};
    atomic_fetch_add(&sources_open, 1);
    int64_t pages = 0, page_bytes = 0;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_busy_timeout(db, BUSY_MS);
    int code = sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = hl_trace_source_integer(db, "PRAGMA page_count", &pages);
    if (code == SQLITE_OK)
        code = hl_trace_source_integer(db, "PRAGMA page_size", &page_bytes);
    if (code == SQLITE_OK)
        code = list_tables(self);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, "numbers", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, self,
                                          take_numbers, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        const haul_status status = hl_trace_source_fail(self, code, error);
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
    if (code == SQLITE_OK) {
        HAUL_TRY(hl_trace_source_wrap(self, db, path, error));
        self->is_file = file == path && !hl_trace_source_has_beside(file, "-journal");
        return HAUL_OK;
    }
    *self = (hl_trace_source){.db = db, .path = path};
    const haul_status status = hl_trace_source_fail(self, code, error);
    sqlite3_close(db);
    *self = (hl_trace_source){0};
    return status;
}

void hl_trace_source_close(hl_trace_source *self)
{
    if (self->helpers)
        self->stop_helpers(self->helpers);
    atomic_fetch_sub(&sources_open, 1);
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
    if (!sql || hl_trace_source_integer(self->db, sql, &largest) != SQLITE_OK || largest < 0)
        largest = 0;
    sqlite3_free(sql);
    const int64_t most = self->row_limit * SMALLEST_ROW / USUAL_ROW;
    return (uint64_t)(largest < most ? largest : most);
}

/* table_info lists no generated column. */
bool hl_trace_source_has_named(hl_trace_source *self, const char *table, const char *name,
                               size_t length)
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
    return hl_trace_source_has(self, table) &&
           hl_trace_source_has_named(self, table, column, strlen(column));
}
