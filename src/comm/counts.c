/* A matrix of counts from text: a line for each GPU, whole numbers of bytes between blanks or
 * commas. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/textfile.h"
#include "comm/counts.h"
#include "haul/units.h"

enum { FILE_BYTES = 1 << 28 };

haul_status haul_counts_parse(const char *text, const char *file, size_t ranks, uint64_t *counts,
                              haul_error *error)
{
    static const char blanks[] = " \t\r,";
    size_t row = 0, column = 0;
    int line = 1;
    const char *start = text;
    haul_status status = HAUL_OK;
    for (const char *at = text; *at && !status; line++, start = at) {
        for (at += strspn(at, blanks); *at && *at != '\n' && !status; at += strspn(at, blanks)) {
            const size_t length = strcspn(at, " \t\r,\n");
            char word[32];
            (void)snprintf(word, sizeof word, "%.*s", length < 32 ? (int)length : 31, at);
            if (row == ranks || column == ranks)
                status = haul_fail(error, HAUL_BAD_INPUT, "expected %zu lines of %zu counts", ranks,
                                   ranks);
            else
                status = haul_bytes_parse(word, &counts[row * ranks + column], error);
            if (!status && counts[row * ranks + column] > UINT64_C(1) << 47)
                status = haul_fail(error, HAUL_BAD_INPUT, "expected at most 2^47 bytes");
            if (status)
                haul_error_at(error, file, line, (int)(at - start) + 1);
            column++;
            at += length;
        }
        if (!status && column && column != ranks) {
            status =
                haul_fail(error, HAUL_BAD_INPUT, "expected %zu counts, not %zu", ranks, column);
            haul_error_at(error, file, line, 1);
        }
        row += column > 0;
        column = 0;
        at += *at == '\n';
    }
    if (!status && row != ranks) {
        status =
            haul_fail(error, HAUL_BAD_INPUT, "expected %zu lines of counts, not %zu", ranks, row);
        haul_error_at(error, file, line, 1);
    }
    return status;
}

haul_status haul_counts_load(const char *path, size_t ranks, uint64_t **counts, haul_error *error)
{
    char *text = NULL;
    size_t size;
    if (!ranks || ranks > HAUL_COUNTS_MOST)
        return haul_fail(error, HAUL_USAGE, "expected a matrix of counts of 1 to %d GPUs",
                         HAUL_COUNTS_MOST);
    uint64_t *made = calloc(ranks * ranks, sizeof *made);
    if (!made)
        return haul_fail_no_memory(error);
    haul_status status = haul_textfile_read(path, FILE_BYTES, &text, &size, error);
    if (!status)
        status = haul_counts_parse(text, path, ranks, made, error);
    free(text);
    if (status)
        free(made);
    else
        *counts = made;
    return status;
}
