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

/* The 1 is the version of the format. The device's name follows, so that points of two devices are
 * never mixed. */
static const char title[] = "haul measure 1 of ";

/* Copies the name: the caller's may be a line that is read over. */
static haul_status keep(haul_journal *self, const haul_point_measured *point, haul_error *error)
{
    const char *name = haul_arena_string(&self->arena, point->name);
    if (!name || !haul_grow(&self->points, &self->capacity, self->count + 1, sizeof *self->points))
        return haul_fail_no_memory(error);
    self->points[self->count] = *point;
    self->points[self->count++].name = name;
    return HAUL_OK;
}

/* "1.3e-06 0.4 31 HtoD pinned 1" */
static haul_status read_line(haul_journal *self, const char *line, int number, haul_error *error)
{
    haul_point_measured point;
    char *at;
    point.seconds = strtod(line, &at);
    point.spread = strtod(at, &at);
    point.count = (unsigned)strtoul(at, &at, 10);
    point.name = at + (*at == ' ');
    if (!*point.name || !point.count || !(point.seconds > -1e9 && point.seconds < 1e9) ||
        !(point.spread >= 0))
        return haul_fail_at(error, (haul_place){self->path, number, 1},
                            "expected seconds, spread, count and name of a point");
    return keep(self, &point, error);
}

/* A last line without its end was cut short when the measurement was interrupted: it is not
 * read. */
static haul_status read_lines(haul_journal *self, char *text, const char *device, haul_error *error)
{
    char *end = strchr(text, '\n');
    const size_t length = sizeof title - 1;
    if (!end || strncmp(text, title, length) != 0)
        return haul_fail(error, HAUL_BAD_INPUT, "'%.200s' is no journal of haul measure",
                         self->path);
    *end = '\0';
    if (strcmp(text + length, device) != 0)
        return haul_fail(error, HAUL_BAD_INPUT,
                         "'%.200s' is the journal of '%.80s', not of '%.80s'", self->path,
                         text + length, device);
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
static haul_status read_file(haul_journal *self, const char *device, bool *is_new,
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
    haul_status status = haul_textfile_read(self->path, BYTES_MOST, &text, &size, error);
    if (status)
        return status;
    *is_new = !size;
    if (size)
        status = read_lines(self, text, device, error);
    free(text);
    return status;
}

static haul_status fail_write(const haul_journal *self, haul_error *error)
{
    return haul_fail(error, HAUL_IO, "cannot write '%.300s': %s", self->path,
                     errno == ENOSPC ? "the disk is full" : "it was refused");
}

/* All points anew: what was cut short is gone. */
static haul_status write_all(haul_journal *self, const char *device, haul_error *error)
{
    self->file = fopen(self->path, "w");
    if (!self->file)
        return haul_fail_open(error, self->path);
    fprintf(self->file, "%s%s\n", title, device);
    for (size_t i = 0; i < self->count; i++)
        fprintf(self->file, "%.17g %.4g %u %s\n", self->points[i].seconds, self->points[i].spread,
                self->points[i].count, self->points[i].name);
    return fflush(self->file) ? fail_write(self, error) : HAUL_OK;
}

haul_status haul_journal_open(haul_journal *journal, const char *path, const char *device,
                              haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    bool is_new;
    journal->path = path;
    const haul_status status = read_file(journal, device, &is_new, error);
    journal->from_file = journal->count;
    return status ? status : write_all(journal, device, error);
}

/* A linear search: a point takes far longer to measure than a few hundred names to compare. */
const haul_point_measured *haul_journal_find(const haul_journal *journal, const char *name)
{
    for (size_t i = 0; i < journal->count; i++)
        if (!strcmp(journal->points[i].name, name))
            return &journal->points[i];
    return NULL;
}

haul_status haul_journal_add(haul_journal *journal, const haul_point_measured *point,
                             haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    const haul_status status = keep(journal, point, error);
    if (status || !journal->file)
        return status;
    /* 17 digits give the seconds back exactly, so that an interrupted run ends with the same
     * machine */
    fprintf(journal->file, "%.17g %.4g %u %s\n", point->seconds, point->spread, point->count,
            point->name);
    return fflush(journal->file) ? fail_write(journal, error) : HAUL_OK;
}

/* The file stays: a finished journal gives the same machine again. */
void haul_journal_close(haul_journal *journal)
{
    if (journal->file)
        fclose(journal->file);
    free(journal->points);
    haul_arena_release(&journal->arena);
    *journal = (haul_journal){.points = NULL};
}
