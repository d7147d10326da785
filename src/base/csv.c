/* The reader of RFC 4180 holds one row: its bytes in one buffer, its cells as offsets into it, for
 * the buffer moves as it grows. Input is zlib's, which passes plain files on as they are. */
#include "haul/csv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/grow.h"

enum { BUFFER_BYTES = 64 * 1024, END = -1 };

typedef struct cell {
    size_t at; /* in the row's text */
    int line;
    int column;
} cell;

struct haul_csv {
    hl_base_arena arena;
    const char *file;
    gzFile stream; /* NULL: all of the text is in memory */
    char *buffer;
    const char *text; /* what is at hand: size bytes, `at` of them read */
    size_t size;
    size_t at;
    /* Kept, for the failure is told at the end of the row and not in the middle of a field. */
    bool broken; /* the stream failed */
    int line;    /* of the next character, from 1 */
    int column;
    const char **names;
    size_t name_count;
    char *row;
    size_t row_count;
    size_t row_capacity;
    cell cells[HAUL_CSV_COLUMNS];
    size_t cell_count;
    const char *fields[HAUL_CSV_COLUMNS];
};

static bool refill(haul_csv *self)
{
    /* After a failure the end is reported again and again, so that all loops stop at the next
     * byte. */
    if (!self->stream || self->broken)
        return false;
    const int got = gzread(self->stream, self->buffer, BUFFER_BYTES);
    int state = Z_OK;
    /* a truncated gzip file reads as a short one, and only its state tells */
    (void)gzerror(self->stream, &state);
    self->broken = got < 0 || (got == 0 && state != Z_OK && state != Z_STREAM_END);
    self->text = self->buffer;
    self->size = got > 0 ? (size_t)got : 0;
    self->at = 0;
    return self->size > 0;
}

static int peek(haul_csv *self)
{
    if (self->at == self->size && !refill(self))
        return END;
    return (unsigned char)self->text[self->at];
}

static int take_byte(haul_csv *self)
{
    const int byte = peek(self);
    if (byte == END)
        return END;
    self->at++;
    /* Columns count bytes, not characters (haul/csv.h). */
    self->column++;
    if (byte == '\n') {
        self->line++;
        self->column = 1;
    }
    return byte;
}

static haul_status fail_here(const haul_csv *self, haul_error *error, const char *text)
{
    return hl_base_fail_at(error, (hl_base_place){self->file, self->line, self->column}, "%s",
                           text);
}

static haul_status put_byte(haul_csv *self, int byte, haul_error *error)
{
    /* Cells end with a NUL in the row's text: one within would silently cut its cell. */
    if (byte == '\0')
        return fail_here(self, error, "a NUL byte in a text file");
    if (self->row_count >= HAUL_CSV_ROW_BYTES)
        return fail_here(self, error, "a row of more than 1 MiB");
    if (!hl_base_grow(&self->row, &self->row_capacity, self->row_count + 1, 1))
        return hl_base_fail_no_memory(error);
    self->row[self->row_count++] = (char)byte;
    return HAUL_OK;
}

static bool is_blank(int byte)
{
    return byte == ' ' || byte == '\t';
}

static bool ends_field(int byte)
{
    return byte == ',' || byte == '\n' || byte == '\r' || byte == END;
}

static void skip_blanks(haul_csv *self)
{
    while (is_blank(peek(self)))
        take_byte(self);
}

static haul_status read_quoted(haul_csv *self, haul_error *error)
{
    const hl_base_place opened = {self->file, self->line, self->column};
    take_byte(self);
    for (;;) {
        int byte = peek(self);
        if (byte == END)
            return hl_base_fail_at(error, opened, "a quote is opened and never closed");
        take_byte(self);
        /* A doubled quote is one quote of the text (RFC 4180, section 2, rule 7). */
        if (byte == '"' && peek(self) != '"')
            break;
        if (byte == '"')
            take_byte(self);
        HAUL_TRY(put_byte(self, byte, error));
    }
    skip_blanks(self);
    if (!ends_field(peek(self)))
        return fail_here(self, error, "expected a comma or the end of the line after a quote");
    return HAUL_OK;
}

static haul_status read_plain(haul_csv *self, haul_error *error)
{
    const size_t start = self->row_count;
    while (!ends_field(peek(self))) {
        if (peek(self) == '"')
            return fail_here(self, error, "a quote inside a field that is not quoted");
        HAUL_TRY(put_byte(self, peek(self), error));
        take_byte(self);
    }
    /* RFC 4180 makes blanks part of a field; tables that are aligned by hand mean otherwise. */
    while (self->row_count > start && is_blank(self->row[self->row_count - 1]))
        self->row_count--;
    return HAUL_OK;
}

static haul_status read_field(haul_csv *self, haul_error *error)
{
    skip_blanks(self);
    if (self->cell_count == HAUL_CSV_COLUMNS)
        return fail_here(self, error, "more than 1024 columns");
    self->cells[self->cell_count++] =
        (cell){.at = self->row_count, .line = self->line, .column = self->column};
    HAUL_TRY(peek(self) == '"' ? read_quoted(self, error) : read_plain(self, error));
    /* Unlike `put`, without its limit: the terminator is no byte of the input. */
    if (!hl_base_grow(&self->row, &self->row_capacity, self->row_count + 1, 1))
        return hl_base_fail_no_memory(error);
    self->row[self->row_count++] = '\0';
    return HAUL_OK;
}

static haul_status end_line(haul_csv *self, haul_error *error)
{
    if (peek(self) == '\r') {
        take_byte(self);
        /* A lone carriage return ended lines on old Macs; read as part of a field it would join all
         * rows. */
        if (peek(self) != '\n' && peek(self) != END)
            return fail_here(self, error, "a carriage return without a line feed");
    }
    take_byte(self);
    return HAUL_OK;
}

/* Reads the next row that is not empty into cells; none at the end. Cells are offsets until the row
 * is whole; only then are their addresses final. */
static haul_status read_row(haul_csv *self, haul_error *error)
{
    self->row_count = self->cell_count = 0;
    for (skip_blanks(self); peek(self) == '\n' || peek(self) == '\r'; skip_blanks(self))
        HAUL_TRY(end_line(self, error));
    bool more = peek(self) != END;
    while (more) {
        HAUL_TRY(read_field(self, error));
        if ((more = peek(self) == ','))
            take_byte(self);
    }
    /* A row that was cut by a failing read must not be taken for a shorter one. */
    if (!self->broken)
        return end_line(self, error);
    int state = Z_OK; /* right after the read that failed, errno may have the reason */
    (void)gzerror(self->stream, &state);
    if (state == Z_ERRNO)
        return hl_base_fail_read(error, self->file);
    haul_error_set(error, HAUL_STATUS_IO, "cannot read all of it: damaged or cut short");
    hl_base_error_in_file(error, self->file);
    return HAUL_STATUS_IO;
}

static haul_status read_header(haul_csv *self, haul_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF";
    /* At least one byte must be at hand before the mark, which spreadsheets write, can be seen. */
    (void)peek(self);
    if (self->size - self->at >= 3 && !memcmp(self->text + self->at, mark, 3))
        self->at += 3;
    HAUL_TRY(read_row(self, error));
    if (!self->cell_count)
        return fail_here(self, error, "empty: expected a header line with the columns' names");
    /* Names outlive the row's buffer, which the next row overwrites. */
    self->names = hl_base_arena_alloc(&self->arena, self->cell_count * sizeof *self->names);
    if (!self->names)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < self->cell_count; i++) {
        const cell *of = &self->cells[i];
        const char *name = self->row + of->at;
        /* `names` holds the columns before this one, so any match is a second column of that
         * name. */
        if (!haul_csv_find(self, name, &(size_t){0}, NULL))
            return hl_base_fail_at(error, (hl_base_place){self->file, of->line, of->column},
                                   "two columns of one name");
        if (!(self->names[i] = hl_base_arena_string(&self->arena, name)))
            return hl_base_fail_no_memory(error);
        self->name_count = i + 1;
    }
    return HAUL_OK;
}

static haul_status start_reader(haul_csv *self, const char *file, haul_csv **csv, haul_error *error)
{
    self->line = self->column = 1;
    self->file = hl_base_arena_string(&self->arena, file);
    const haul_status status =
        self->file ? read_header(self, error) : hl_base_fail_no_memory(error);
    if (status)
        haul_csv_close(self);
    else
        *csv = self;
    return status;
}

haul_status haul_csv_open_memory(const char *text, size_t size, const char *file, haul_csv **csv,
                                 haul_error *error)
{
    /* Freed by haul_csv_close in whatever state it is. */
    haul_csv *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->text = text;
    self->size = size;
    return start_reader(self, file, csv, error);
}

haul_status haul_csv_open(const char *path, haul_csv **csv, haul_error *error)
{
    const bool standard = !strcmp(path, "-");
    haul_csv *self = calloc(1, sizeof *self);
    if (!self || !(self->buffer = malloc(BUFFER_BYTES))) {
        haul_csv_close(self);
        return hl_base_fail_no_memory(error);
    }
    /* gzopen may fail without setting errno; a stale one would name the wrong cause. */
    errno = 0;
    /* A duplicate, for gzclose closes its descriptor and standard input is not ours to close. */
    const int input = standard ? dup(STDIN_FILENO) : -1;
    self->stream = standard ? (input < 0 ? NULL : gzdopen(input, "rb")) : gzopen(path, "rb");
    if (!self->stream) {
        hl_base_fail_open(error, path);
        if (input >= 0)
            close(input);
        haul_csv_close(self);
        return HAUL_STATUS_IO;
    }
    return start_reader(self, standard ? "standard input" : path, csv, error);
}

size_t haul_csv_column_count(const haul_csv *csv)
{
    return csv->name_count;
}

const char *haul_csv_column_name(const haul_csv *csv, size_t column)
{
    return csv->names[column];
}

haul_status haul_csv_find(const haul_csv *csv, const char *name, size_t *column, haul_error *error)
{
    for (size_t i = 0; i < csv->name_count; i++)
        if (!strcasecmp(csv->names[i], name)) {
            *column = i;
            return HAUL_OK;
        }
    return hl_base_fail_at(error, (hl_base_place){csv->file, 1, 1},
                           "no column '%.60s' in the header", name);
}

haul_status haul_csv_next(haul_csv *csv, const char *const **fields, haul_error *error)
{
    HAUL_TRY(read_row(csv, error));
    if (!csv->cell_count) {
        *fields = NULL;
        return HAUL_OK;
    }
    const size_t got = csv->cell_count, want = csv->name_count;
    if (got != want) {
        haul_error_set(error, HAUL_STATUS_BAD_INPUT, "%zu fields where the header has %zu", got,
                       want);
        /* At the first field too many, or at the last one where some are missing. */
        haul_csv_locate(csv, got > want ? want : got - 1, error);
        return HAUL_STATUS_BAD_INPUT;
    }
    for (size_t i = 0; i < csv->cell_count; i++)
        csv->fields[i] = csv->row + csv->cells[i].at;
    *fields = csv->fields;
    return HAUL_OK;
}

void haul_csv_locate(const haul_csv *csv, size_t column, haul_error *error)
{
    if (column < csv->cell_count)
        hl_base_error_at(
            error, (hl_base_place){csv->file, csv->cells[column].line, csv->cells[column].column});
}

void haul_csv_close(haul_csv *csv)
{
    if (!csv)
        return;
    if (csv->stream)
        /* A reader has nothing to flush, so that closing cannot lose anything. */
        (void)gzclose(csv->stream);
    free(csv->buffer);
    free(csv->row);
    hl_base_arena_release(&csv->arena);
    free(csv);
}

void haul_csv_put(const char *text, FILE *out)
{
    const size_t length = strlen(text);
    const bool plain =
        /* The reader drops blanks around a field: quotes keep those that belong to the text. */
        !strpbrk(text, ",\"\r\n") && !(length && (is_blank(text[0]) || is_blank(text[length - 1])));
    if (plain) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
