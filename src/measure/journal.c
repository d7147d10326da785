#include "measure/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/numerals.h"
#include "base/textfile.h"

/* A journal of a whole machine has a few hundred lines: a larger file is something else. */
enum { BYTES_MOST = 16 << 20, LINE_BYTES = 400 };

/* The 3 is the version of the format, and of how points are measured. The key follows. */
static const char title[] = "haul measure 3 of ", any_title[] = "haul measure ";

/* Copies the name: the caller's may be a line that is read over. */
static haul_status keep_point(hl_measure_journal *self, const hl_measure_point_measured *point,
                              haul_error *error)
{
    const char *name = hl_base_arena_string(&self->arena, point->name);
    if (!name ||
        !hl_base_grow(&self->points, &self->capacity, self->count + 1, sizeof *self->points))
        return hl_base_fail_no_memory(error);
    self->points[self->count] = *point;
    self->points[self->count++].name = name;
    return HAUL_OK;
}

/* "1.3e-06 0.4 0.1 31 HtoD pinned 1" */
static haul_status read_line(hl_measure_journal *self, const char *line, int number,
                             haul_error *error)
{
    hl_measure_point_measured point;
    char *at;
    point.seconds = strtod(line, &at);
    point.spread = strtod(at, &at);
    point.drift = strtod(at, &at);
    point.count = (unsigned)strtoul(at, &at, 10);
    point.name = at + (*at == ' ');
    if (!*point.name || !point.count || !(point.seconds > -1e9 && point.seconds < 1e9) ||
        !(point.spread >= 0) || !(point.drift >= 0))
        return hl_base_fail_at(error, (hl_base_place){self->path, number, 1},
                               "expected seconds, spread, drift, count and name of a point");
    return keep_point(self, &point, error);
}

/* A last line without its end was cut short when the measurement was interrupted: it is not
 * read. */
static haul_status read_lines(hl_measure_journal *self, char *text, const char *key,
                              haul_error *error)
{
    char *end = strchr(text, '\n');
    const size_t length = sizeof title - 1;
    if (!end || strncmp(text, any_title, sizeof any_title - 1) != 0)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "'%.200s' is no journal of haul measure", self->path);
    if (strncmp(text, title, length) != 0)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "'%.200s' is a journal of another version of haul measure: it is "
                              "begun anew where the file is deleted",
                              self->path);
    *end = '\0';
    if (strcmp(text + length, key) != 0) {
        /* The first part of two keys that differs. */
        const char *has = text + length;
        size_t at = 0, begin = 0;
        for (; has[at] && has[at] == key[at]; at++)
            if (has[at] == ';')
                begin = at + 2;
        const char *one = has + begin, *other = key + begin;
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "'%.200s' is the journal of '%.*s', not of '%.*s'", self->path,
                              (int)strcspn(one, ";"), one, (int)strcspn(other, ";"), other);
    }
    haul_status status = HAUL_OK;
    char *line = end + 1;
    for (int number = 2; !status && (end = strchr(line, '\n')); number++) {
        *end = '\0';
        status = read_line(self, line, number, error);
        line = end + 1;
    }
    return status;
}

/* An empty file is as good as none: it is what an interrupt before the first line leaves. */
static haul_status read_file(hl_measure_journal *self, const char *key, bool *is_new,
                             haul_error *error)
{
    char *text = NULL;
    size_t size;
    FILE *there = fopen(self->path, "r");
    /* a file that is there but cannot be read must not be taken for a new one and overwritten */
    *is_new = !there && errno == ENOENT;
    if (there)
        fclose(there);
    if (*is_new)
        return HAUL_OK;
    HAUL_TRY(hl_base_textfile_read(self->path, BYTES_MOST, &text, &size, error));
    *is_new = !size;
    const haul_status status = size ? read_lines(self, text, key, error) : HAUL_OK;
    free(text);
    return status;
}

static haul_status fail_write(const hl_measure_journal *self, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.300s': %s", self->path,
                          errno == ENOSPC ? "the disk is full" : "it was refused");
}

/* 17 digits give the seconds back exactly, so that an interrupted run ends with the same machine.
 */
static void write_line(const hl_measure_journal *self, const hl_measure_point_measured *point)
{
    fprintf(self->file, "%.17g %.4g %.4g %u %s\n", point->seconds, point->spread, point->drift,
            point->count, point->name);
}

haul_status hl_measure_journal_open(hl_measure_journal *journal, const char *path, const char *key,
                                    haul_error *error)
{
    HL_PLAIN_NUMERALS;
    bool is_new;
    journal->path = path;
    HAUL_TRY(read_file(journal, key, &is_new, error));
    journal->from_file = journal->count;
    /* All points anew: what was cut short is gone. */
    journal->file = fopen(path, "w");
    if (!journal->file)
        return hl_base_fail_open(error, path);
    fprintf(journal->file, "%s%s\n", title, key);
    for (size_t i = 0; i < journal->count; i++)
        write_line(journal, &journal->points[i]);
    return fflush(journal->file) ? fail_write(journal, error) : HAUL_OK;
}

/* A linear search: a point takes far longer to measure than a few hundred names to compare. */
const hl_measure_point_measured *hl_measure_journal_find(const hl_measure_journal *journal,
                                                         const char *name)
{
    for (size_t i = 0; i < journal->count; i++)
        if (!strcmp(journal->points[i].name, name))
            return &journal->points[i];
    return NULL;
}

haul_status hl_measure_journal_add(hl_measure_journal *journal,
                                   const hl_measure_point_measured *point, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    const haul_status status = keep_point(journal, point, error);
    if (status || !journal->file)
        return status;
    write_line(journal, point);
    return fflush(journal->file) ? fail_write(journal, error) : HAUL_OK;
}

/* The file stays: a finished journal gives the same machine again. */
void hl_measure_journal_close(hl_measure_journal *journal)
{
    if (journal->file)
        fclose(journal->file);
    free(journal->points);
    hl_base_arena_release(&journal->arena);
    *journal = (hl_measure_journal){.points = NULL};
}
