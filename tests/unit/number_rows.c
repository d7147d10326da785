#include "number_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "haul/csv.h"

static double number(const char *text)
{
    return *text == 'H' || *text == 'D' ? *text == 'D' : strtod(text, NULL);
}

static haul_status read_rows(haul_csv *csv, const char *const *names, number_rows *out,
                             haul_error *error)
{
    size_t columns[NUMBER_COLUMNS] = {0};
    haul_status status = HAUL_OK;
    for (int c = 0; !status && c < NUMBER_COLUMNS && names[c]; c++)
        status = haul_csv_find(csv, names[c], &columns[c], error);
    const char *const *fields = NULL;
    while (!status && !(status = haul_csv_next(csv, &fields, error)) && fields) {
        if (out->count == NUMBER_ROWS_MOST)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "more than %d rows",
                                  NUMBER_ROWS_MOST);
        for (int c = 0; c < NUMBER_COLUMNS && names[c]; c++)
            out->rows[out->count][c] = number(fields[columns[c]]);
        out->count++;
    }
    return status;
}

haul_status number_rows_read(const char *data, const char *name, const char *const *names,
                             number_rows **out, haul_error *error)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", data, name);
    haul_csv *csv = NULL;
    haul_status status = haul_csv_open(path, &csv, error);
    if (status)
        return status;
    number_rows *read = calloc(1, sizeof *read);
    status = read ? read_rows(csv, names, read, error) : hl_base_fail_no_memory(error);
    haul_csv_close(csv);
    if (status)
        free(read);
    else
        *out = read;
    return status;
}
