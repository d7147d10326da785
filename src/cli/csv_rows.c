/* Rows of a CSV file, each with its answer behind it. */
#include "cli/csv_rows.h"

#include <math.h>
#include <stdlib.h>

#include "haul/csv.h"

enum { COLUMNS_MOST = 32 };

typedef struct answerer {
    const cli_csv_job *job;
    haul_csv *csv;
    FILE *out;                  /* NULL: nothing is written */
    size_t place[COLUMNS_MOST]; /* of the job's columns in the file */
    size_t count;
} answerer;

static const size_t absent = SIZE_MAX;

static void write_heads(const answerer *self)
{
    for (size_t i = 0; i < haul_csv_column_count(self->csv); i++) {
        haul_csv_put(haul_csv_column_name(self->csv, i), self->out);
        fputc(',', self->out);
    }
    for (size_t i = 0; self->job->added[i]; i++) {
        size_t taken;
        const bool is_taken =
            haul_csv_find(self->csv, self->job->added[i], &taken, NULL) == HAUL_OK;
        fprintf(self->out, "%s%s%s", i ? "," : "", is_taken ? "predicted_" : "",
                self->job->added[i]);
    }
    fputc('\n', self->out);
}

static void write_row(const answerer *self, const char *const *fields, const cli_csv_cell *cells)
{
    for (size_t i = 0; i < haul_csv_column_count(self->csv); i++) {
        haul_csv_put(fields[i], self->out);
        fputc(',', self->out);
    }
    for (size_t i = 0; self->job->added[i]; i++) {
        if (i)
            fputc(',', self->out);
        if (cells[i].text)
            haul_csv_put(cells[i].text, self->out);
        else
            fprintf(self->out, "%.9g", cells[i].number);
    }
    fputc('\n', self->out);
}

static haul_status answer_row(const answerer *self, const char *const *fields, haul_error *error)
{
    const char *asked[COLUMNS_MOST];
    for (size_t i = 0; i < self->count; i++)
        asked[i] = self->place[i] == absent ? "" : fields[self->place[i]];
    for (size_t turn = 0; turn < (self->job->turns ? self->job->turns : 1); turn++) {
        cli_csv_cell cells[CLI_CSV_ADDED_MOST] = {{0}};
        size_t wrong = 0;
        haul_status status = self->job->answer(self->job->self, asked, turn, cells, &wrong, error);
        if (status == HAUL_STATUS_USAGE)
            status = error->status =
                HAUL_STATUS_BAD_INPUT; /* an option is not wrong: the file is */
        if (status) {
            const size_t place = self->place[wrong];
            haul_csv_locate(self->csv, place == absent ? 0 : place, error);
            return status;
        }
        if (self->out)
            write_row(self, fields, cells);
    }
    return HAUL_OK;
}

static haul_status answer_rows(answerer *self, haul_error *error)
{
    const char *const *fields = NULL;
    const cli_csv_job *job = self->job;
    for (; job->columns[self->count] && self->count < COLUMNS_MOST; self->count++) {
        const bool is_needed = self->count < job->needed;
        size_t *place = &self->place[self->count];
        *place = absent;
        if (haul_csv_find(self->csv, job->columns[self->count], place, is_needed ? error : NULL) &&
            is_needed)
            return error->status;
    }
    if (self->out)
        write_heads(self);
    HAUL_TRY(haul_csv_next(self->csv, &fields, error));
    while (fields) {
        HAUL_TRY(answer_row(self, fields, error));
        HAUL_TRY(haul_csv_next(self->csv, &fields, error));
    }
    return HAUL_OK;
}

haul_status cli_csv_answer(const char *path, const cli_results *results, const cli_csv_job *job,
                           haul_error *error)
{
    answerer self = {.job = job};
    HAUL_TRY(haul_csv_open(path, &self.csv, error));
    haul_status status = results ? cli_output_open(results->output, &self.out, error) : HAUL_OK;
    if (!status)
        status = answer_rows(&self, error);
    if (results && self.out)
        status = cli_output_finish(self.out, results->output, status, error);
    haul_csv_close(self.csv);
    return status;
}

haul_status cli_csv_number(const char *field, double least, double *out, haul_error *error)
{
    char *end;
    const double value = strtod(field, &end);
    if (end == field || *end || !isfinite(value) || value < least)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected a number from %g, not '%.80s'", least, field);
    *out = value;
    return HAUL_OK;
}
