/* Measured copies from CSV or JSON: what a file is shows in its first character. */
#include "cost/samples.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numerals.h"
#include "base/textfile.h"
#include "cost/sample_list.h"
#include "haul/csv.h"
#include "haul/units.h"

enum { FILE_BYTES = 1 << 28 }; /* the largest file that is read */

/* The columns of a CSV; those from `locality` on may be absent. */
enum { DIRECTION, MEMORY, BYTES, SECONDS, LOCALITY, CONDITION, COLUMNS };

/* Seconds without a unit, as the column's name says, or a time with one. */
static haul_status parse_seconds(const char *text, double *seconds, haul_error *error)
{
    char *end;
    double value = strtod(text, &end);
    const bool bare = *text && !*end && !text[strspn(text, "+-.0123456789eE")];
    if (!bare && haul_quantity_parse(text, HAUL_DIM_SECONDS, &value, NULL))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected seconds such as 1.25e-05, not '%.60s'", text);
    if (!(value > 0 && value <= 1e9))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected a duration above 0 and at most 1e9 seconds, not '%.60s'",
                              text);
    *seconds = value;
    return HAUL_OK;
}

const char *haul_condition_text(haul_condition condition)
{
    static const char *const words[] = {HAUL_CONDITION_LIST(HAUL_ROW_TEXT)};
    return (unsigned)condition < sizeof words / sizeof *words ? words[condition] : "unknown";
}

/* A fit needs every column but the locality, `near` where a table does not tell, and the condition,
 * `alone`. */
static haul_status parse_field(int column, const char *text, haul_sample *sample, haul_error *error)
{
    switch (column) {
    case DIRECTION:
        return haul_direction_parse(text, &sample->copy.direction, error);
    case MEMORY:
        return haul_memory_parse(text, &sample->copy.memory, error);
    case BYTES:
        return haul_bytes_parse(text, &sample->copy.bytes, error);
    case SECONDS:
        return parse_seconds(text, &sample->seconds, error);
    case CONDITION:
        for (int c = 0; c < HAUL_CONDITIONS; c++)
            if (!strcasecmp(text, haul_condition_text((haul_condition)c))) {
                sample->condition = (haul_condition)c;
                return HAUL_OK;
            }
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected alone, busy, mapped or gap, not '%.60s'", text);
    default:
        if (strcasecmp(text, "near") != 0 && strcasecmp(text, "far") != 0)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected near or far, not '%.60s'",
                                  text);
        sample->copy.locality = strcasecmp(text, "far") ? HAUL_LOCALITY_NEAR : HAUL_LOCALITY_FAR;
        return HAUL_OK;
    }
}

/* The error of a field is moved to the field's place in the file. */
static haul_status read_row(const haul_csv *csv, const char *const *fields, const size_t *columns,
                            hl_cost_sample_list *list, haul_error *error)
{
    haul_sample sample = {0};
    for (int i = 0; i < COLUMNS; i++) {
        if (columns[i] == SIZE_MAX)
            continue;
        const haul_status status = parse_field(i, fields[columns[i]], &sample, error);
        if (status) {
            haul_csv_locate(csv, columns[i], error);
            return status;
        }
    }
    const haul_status status = hl_cost_sample_add(list, &sample.copy, sample.seconds, error);
    if (!status)
        list->items[list->count - 1].condition = sample.condition;
    return status;
}

static haul_status read_csv(const char *text, size_t size, const char *file,
                            hl_cost_sample_list *list, haul_error *error)
{
    haul_csv *csv;
    HAUL_TRY(haul_csv_open_memory(text, size, file, &csv, error));
    haul_status status = HAUL_OK;
    size_t columns[COLUMNS];
    const char *const *fields = NULL;
    static const char *const names[] = {"direction", "host_memory", "bytes",
                                        "seconds",   "locality",    "condition"};
    for (int i = 0; !status && i < LOCALITY; i++)
        status = haul_csv_find(csv, names[i], &columns[i], error);
    for (int i = LOCALITY; !status && i < COLUMNS; i++)
        if (haul_csv_find(csv, names[i], &columns[i], NULL))
            columns[i] = SIZE_MAX;
    while (!status && !(status = haul_csv_next(csv, &fields, error)) && fields)
        status = read_row(csv, fields, columns, list, error);
    haul_csv_close(csv);
    return status;
}

haul_status hl_cost_samples_parse(char *text, size_t size, const char *file, haul_samples *samples,
                                  haul_error *error)
{
    /* behind blanks and a byte order mark; a CSV never starts with a brace or a bracket */
    const char *start = text + strspn(text, " \t\r\n\xEF\xBB\xBF");
    const bool json = *start == '{' || *start == '[';
    hl_cost_sample_list list = {0};
    haul_status status = (json ? hl_cost_samples_read_json(text, size, file, &list, error)
                               : read_csv(text, size, file, &list, error));
    if (!status && !list.count)
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no measured copies in it");
    if (status) {
        hl_base_error_in_file(error, file);
        free(list.items);
        return status;
    }
    /* fits keep the list for long: the room that growing left over is given back */
    hl_base_shrink(&list.items, &list.capacity, list.count, sizeof *list.items);
    *samples = (haul_samples){.items = list.items, .count = list.count};
    return HAUL_OK;
}

haul_status haul_samples_load(const char *path, haul_samples *samples, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    char *text;
    size_t size;
    HAUL_TRY(hl_base_textfile_read(path, FILE_BYTES, &text, &size, error));
    haul_status status = hl_cost_samples_parse(text, size, path, samples, error);
    free(text);
    return status;
}

void haul_samples_free(haul_samples *samples)
{
    if (!samples)
        return;
    free(samples->items);
    *samples = (haul_samples){0};
}
