/* A matrix of counts from text: a line for each GPU, whole numbers of bytes between blanks or
 * commas. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/textfile.h"
#include "comm/counts.h"
#include "haul/units.h"

enum { FILE_BYTES = 1 << 28 };

haul_status hl_comm_counts_parse(const char *text, const char *file, size_t ranks, uint64_t *counts,
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
                status = haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                        "expected %zu lines of %zu counts", ranks, ranks);
            else
                status = haul_bytes_parse(word, &counts[row * ranks + column], error);
            if (!status && counts[row * ranks + column] > UINT64_C(1) << 47)
                status =
                    haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected at most 2^47 bytes");
            if (status)
                hl_base_error_at(error, (hl_base_place){file, line, (int)(at - start) + 1});
            column++;
            at += length;
        }
        if (!status && column && column != ranks) {
            status = haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected %zu counts, not %zu",
                                    ranks, column);
            hl_base_error_at(error, (hl_base_place){file, line, 1});
        }
        row += column > 0;
        column = 0;
        at += *at == '\n';
    }
    if (!status && row != ranks) {
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                "expected %zu lines of counts, not %zu", ranks, row);
        hl_base_error_at(error, (hl_base_place){file, line, 1});
    }
    return status;
}

static uint64_t *allocate_counts(size_t ranks, haul_status *status, haul_error *error)
{
    uint64_t *counts = NULL;
    if (!ranks || ranks > HAUL_COUNTS_MOST) {
        *status = haul_error_set(error, HAUL_STATUS_USAGE,
                                 "expected a matrix of counts of 1 to %d GPUs", HAUL_COUNTS_MOST);
    } else {
        counts = calloc(ranks * ranks, sizeof *counts);
        *status = counts ? HAUL_OK : hl_base_fail_no_memory(error);
    }
    return counts;
}

haul_status haul_counts_load(const char *path, size_t ranks, uint64_t **counts, haul_error *error)
{
    char *text = NULL;
    size_t size;
    haul_status status;
    uint64_t *made = allocate_counts(ranks, &status, error);
    if (!made)
        return status;
    status = hl_base_textfile_read(path, FILE_BYTES, &text, &size, error);
    if (!status)
        status = hl_comm_counts_parse(text, path, ranks, made, error);
    free(text);
    if (status)
        free(made);
    else
        *counts = made;
    return status;
}

const char *haul_pattern_text(haul_pattern pattern)
{
    static const char *const texts[] = {HAUL_PATTERN_LIST(HAUL_ROW_TEXT)};
    return (unsigned)pattern < HAUL_PATTERNS ? texts[pattern] : "unknown";
}

haul_status haul_counts_make(haul_pattern pattern, size_t ranks, uint64_t bytes, uint64_t **counts,
                             haul_error *error)
{
    uint32_t state = 2463534242U;
    const double mean = (double)bytes;
    if (bytes > UINT64_C(1) << 46)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected at most 2^46 bytes");
    haul_status status;
    uint64_t *made = allocate_counts(ranks, &status, error);
    if (!made)
        return status;
    for (size_t i = 0; i < ranks * ranks; i++) {
        const size_t from = i / ranks, to = i % ranks, apart = (to + ranks - from) % ranks;
        const bool is_near = apart <= 2 || ranks - apart <= 2;
        if (from == to || (pattern == HAUL_PATTERN_NEIGHBOURS && !is_near))
            continue;
        made[i] = bytes;
        if (pattern == HAUL_PATTERN_SKEWED)
            made[i] = (uint64_t)(mean * (0.5 + (double)to / (double)(ranks - 1)));
        else if (pattern == HAUL_PATTERN_RANDOM) {
            /* Xorshift (Marsaglia, 2003): without a seed of the day, so that a prediction can be
             * repeated. */
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            made[i] = (uint64_t)(2 * mean * state / (double)UINT32_MAX);
        }
    }
    *counts = made;
    return HAUL_OK;
}
