/* Errors are values: the place nearest to the cause is kept, those told later are passed over. */
#include "base/fail.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A row for success, and one for each status of HAUL_STATUS_LIST: text and exit code cannot fall
 * out of step. */
static const struct {
    const char *text;
    int exit_code;
} statuses[] = {{"success", 0},
#define STATUS_ROW(name, text, code) {text, code},
                HAUL_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

enum { STATUS_COUNT = sizeof statuses / sizeof *statuses };

const char *haul_status_text(haul_status status)
{
    return (unsigned)status < STATUS_COUNT ? statuses[status].text : "unknown status";
}

int haul_status_exit_code(haul_status status)
{
    /* A status that this version does not know is our own bug. */
    return (unsigned)status < STATUS_COUNT ? statuses[status].exit_code
                                           : statuses[HAUL_STATUS_INTERNAL].exit_code;
}

haul_status haul_error_set(haul_error *error, haul_status status, const char *format, ...)
{
    if (!error)
        return status;
    /* Starts afresh: a place that an earlier, handled failure left must not be shown with this
     * one. */
    *error = (haul_error){.status = status};
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}

haul_status hl_base_vfail_at(haul_error *error, hl_base_place place, const char *format,
                             va_list args)
{
    (void)haul_error_set(error, HAUL_STATUS_BAD_INPUT, "%s", "");
    if (error)
        vsnprintf(error->text, sizeof error->text, format, args);
    hl_base_error_at(error, place);
    return HAUL_STATUS_BAD_INPUT;
}

haul_status hl_base_fail_at(haul_error *error, hl_base_place place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)hl_base_vfail_at(error, place, format, args);
    va_end(args);
    return HAUL_STATUS_BAD_INPUT;
}

haul_status hl_base_error_before(haul_error *error, const char *format, ...)
{
    char words[200];
    const haul_error told = *error;
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    (void)snprintf(error->text, sizeof error->text, "%.150s: %.350s", words, told.text);
    return error->status;
}

haul_status hl_base_fail_no_memory(haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
}

static haul_status fail_to(haul_error *error, const char *verb, const char *path)
{
    char reason[128];
    /* The XSI form (extensions are off), which returns an error number where it has no text. */
    if (strerror_r(errno, reason, sizeof reason))
        snprintf(reason, sizeof reason, "error %d", errno);
    return haul_error_set(error, HAUL_STATUS_IO, "cannot %s '%.300s': %s", verb, path, reason);
}

haul_status hl_base_fail_open(haul_error *error, const char *path)
{
    return fail_to(error, "open", path);
}

haul_status hl_base_fail_read(haul_error *error, const char *path)
{
    return fail_to(error, "read", path);
}

haul_status hl_base_fail_extend(haul_error *error, const char *path)
{
    return fail_to(error, "extend", path);
}

/* The three below add a place only where there is none: the function nearest to the cause runs
 * first and knows it best; its callers know less. */
void hl_base_error_in_file(haul_error *error, const char *file)
{
    if (error && file && !error->file[0])
        snprintf(error->file, sizeof error->file, "%s", file);
}

void hl_base_error_at(haul_error *error, hl_base_place place)
{
    hl_base_error_in_file(error, place.file);
    if (error && !error->line) {
        error->line = place.line;
        error->column = place.column;
    }
}

void hl_base_error_in_table(haul_error *error, const char *file, const char *table, int64_t row)
{
    hl_base_error_in_file(error, file);
    if (error && table && !error->table[0]) {
        snprintf(error->table, sizeof error->table, "%s", table);
        error->row = row;
    }
}

static int format_place(const haul_error *error, char *buffer, unsigned size)
{
    if (error->table[0] && error->row)
        return snprintf(buffer, size, "%s: table %s, row %" PRId64 ": ", error->file, error->table,
                        error->row);
    if (error->table[0])
        return snprintf(buffer, size, "%s: table %s: ", error->file, error->table);
    if (error->line && error->column)
        return snprintf(buffer, size, "%s:%d:%d: ", error->file, error->line, error->column);
    if (error->line)
        return snprintf(buffer, size, "%s:%d: ", error->file, error->line);
    if (error->file[0])
        return snprintf(buffer, size, "%s: ", error->file);
    buffer[0] = '\0';
    return 0;
}

char *haul_error_format(const haul_error *error, char *buffer, unsigned size)
{
    if (!size)
        return buffer;
    int used = format_place(error, buffer, size);
    /* snprintf returns the length it wished for: a path that filled the buffer leaves no room. */
    if (used >= 0 && (unsigned)used < size) {
        const char *text = error->text[0] ? error->text : haul_status_text(error->status);
        snprintf(buffer + used, size - (unsigned)used, "%s", text);
    }
    /* files name themselves, and what is wrong in them, in any bytes: none may move a cursor */
    for (char *text = buffer; *text; text++)
        if ((unsigned char)*text < ' ' || *text == '\x7f')
            *text = '?';
    return buffer;
}

haul_status hl_base_check_replaced(const char *path, haul_error *error)
{
    struct stat there;
    return stat(path, &there) || S_ISREG(there.st_mode)
               ? HAUL_OK
               : haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.300s': it is no file",
                                path);
}
