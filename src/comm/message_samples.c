/* Measured messages from CSV. The columns tell what a row is of: tables of BenchPress and of other
 * benchmarks differ in names, not in what they hold. */
#include "comm/message_samples.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "haul/csv.h"
#include "haul/units.h"

enum { FILE_BYTES = 1 << 28 };

/* The columns, each by the first of its names that the file has. */
typedef enum column {
    SYSTEM,
    MEMORY,
    LOCALITY,
    KIND,
    PROCESSES,
    MESSAGES,
    BYTES,
    TOTAL,
    SECONDS,
    COLUMNS
} column;

static const char *const names[COLUMNS][4] = {
    [SYSTEM] = {"system"},
    [MEMORY] = {"mem", "memory"},
    [LOCALITY] = {"locality", "reach"},
    [KIND] = {"kind", "direction"},
    [PROCESSES] = {"ppn", "processes", "n_procs"},
    [MESSAGES] = {"n_msgs", "messages"},
    [BYTES] = {"bytes", "bytes_per_msg", "bytes_each"},
    [TOTAL] = {"bytes_total"},
    [SECONDS] = {"seconds", "min_s"},
};

typedef struct table {
    haul_csv *csv;
    const haul_message_source *source;
    size_t at[COLUMNS]; /* SIZE_MAX: the file has no such column */
    char system[128];   /* of the first row */
} table;

static haul_status read_word(const char *text, const char *const *words, const char *expected,
                             int *word, haul_error *error)
{
    /* The word's place in a list that ends with NULL; -1 where it is not there. */
    *word = -1;
    for (int i = 0; words[i]; i++)
        if (!strcasecmp(text, words[i])) {
            *word = i;
            break;
        }
    return *word >= 0 ? HAUL_OK
                      : haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected %s, not '%.60s'",
                                       expected, text);
}

/* A number without a unit: a percentage, which haul_quantity_parse takes too, is of nothing here.
 */
static haul_status read_bare(const char *text, double *value, haul_error *error)
{
    return strchr(text, '%')
               ? haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected %s, not '%.60s'",
                                "a number without a unit", text)
               : haul_quantity_parse(text, HAUL_DIM_NUMBER, value, error);
}

static haul_status read_number(const char *text, double most, double *value, haul_error *error)
{
    const haul_status status = read_bare(text, value, error);
    return status || (*value >= 1 && *value <= most && *value == (double)(uint64_t)*value)
               ? status
               : haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                "expected a whole number from 1 to %g, not '%.60s'", most, text);
}

static haul_status read_field(column which, const char *text, haul_message_sample *sample,
                              haul_error *error)
{
    static const char *const memories[] = {"cpu", "host", "gpu", "device", NULL};
    static const char *const reaches[] = {"socket", "node", "network", NULL};
    static const char *const sides[] = {"on", "near", "off", "far", NULL};
    static const char *const kinds[] = {"h2d", "HtoD", "d2h", "DtoH", NULL};
    int word = 0;
    double number = 0;
    haul_status status = HAUL_OK;
    switch (which) {
    case MEMORY:
        status = read_word(text, memories, "cpu or gpu", &word, error);
        sample->memory = word < 2 ? HAUL_MEMORY_HOST : HAUL_MEMORY_DEVICE;
        return status;
    case LOCALITY:
        if (sample->op == HAUL_MESSAGE_COPY) {
            status = read_word(text, sides, "on or off", &word, error);
            sample->locality = word < 2 ? HAUL_LOCALITY_NEAR : HAUL_LOCALITY_FAR;
        } else {
            status = read_word(text, reaches, "socket, node or network", &word, error);
            sample->reach = (haul_reach)word;
        }
        return status;
    case KIND:
        status = read_word(text, kinds, "h2d or d2h", &word, error);
        sample->direction = word < 2 ? HAUL_DIRECTION_HTOD : HAUL_DIRECTION_DTOH;
        return status;
    case PROCESSES:
    case MESSAGES:
        status = read_number(text, HL_COMM_PROCESSES_MOST, &number, error);
        if (!status)
            *(which == PROCESSES ? &sample->processes : &sample->messages) = (uint32_t)number;
        return status;
    case BYTES:
    case TOTAL:
        return haul_bytes_parse(text, &sample->bytes, error);
    default:
        status = read_bare(text, &sample->seconds, NULL);
        return status ? haul_quantity_parse(text, HAUL_DIM_SECONDS, &sample->seconds, error)
                      : status;
    }
}

static haul_status read_row(table *self, const char *const *fields, haul_message_samples *samples,
                            haul_error *error)
{
    const bool is_copy = self->at[KIND] != SIZE_MAX;
    haul_message_sample sample = {.op = HAUL_MESSAGE_PAIR,
                                  .memory = HAUL_MEMORY_HOST,
                                  .reach = HAUL_REACH_BETWEEN_NODES,
                                  .processes = 1,
                                  .messages = 1};
    if (is_copy)
        sample.op = HAUL_MESSAGE_COPY;
    else if (self->at[MESSAGES] != SIZE_MAX)
        sample.op = HAUL_MESSAGE_MANY;
    else if (self->at[PROCESSES] != SIZE_MAX)
        sample.op = HAUL_MESSAGE_RATE;
    /* copies between GPUs are on no path through the host */
    if (is_copy && !strcasecmp(fields[self->at[KIND]], "d2d"))
        return HAUL_OK;
    for (int i = MEMORY; i < COLUMNS; i++) {
        if (self->at[i] == SIZE_MAX || (i == TOTAL && self->at[BYTES] != SIZE_MAX))
            continue;
        const haul_status status = read_field((column)i, fields[self->at[i]], &sample, error);
        if (status) {
            haul_csv_locate(self->csv, self->at[i], error);
            return status;
        }
    }
    if (self->at[BYTES] == SIZE_MAX) /* a total, split evenly */
        sample.bytes /= (uint64_t)sample.processes * sample.messages;
    const haul_status status = hl_comm_message_sample_add(samples, &sample, error);
    if (status)
        haul_csv_locate(self->csv, self->at[SECONDS], error);
    return status;
}

/* Whether the row is of the system that is asked for. Figures of two systems must not be mixed:
 * with none asked for, all rows have to be of one. */
static haul_status choose_row(table *self, const char *const *fields, bool *is_chosen,
                              haul_error *error)
{
    const size_t at = self->at[SYSTEM];
    *is_chosen = true;
    if (at == SIZE_MAX)
        return HAUL_OK;
    if (self->source->system) {
        *is_chosen = !strcasecmp(fields[at], self->source->system);
        return HAUL_OK;
    }
    if (!*self->system)
        (void)snprintf(self->system, sizeof self->system, "%s", fields[at]);
    if (!strncmp(self->system, fields[at], sizeof self->system - 1))
        return HAUL_OK;
    (void)haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                         "the file is of several systems, '%.60s' and '%.60s': choose one",
                         self->system, fields[at]);
    haul_csv_locate(self->csv, at, error);
    return HAUL_STATUS_BAD_INPUT;
}

static haul_status read_csv(const char *text, size_t size, const char *file,
                            const haul_message_source *source, haul_message_samples *samples,
                            haul_error *error)
{
    table self = {.source = source};
    const char *const *fields = NULL;
    HAUL_TRY(haul_csv_open_memory(text, size, file, &self.csv, error));
    for (int i = 0; i < COLUMNS; i++) {
        self.at[i] = SIZE_MAX;
        for (int n = 0; n < 4 && names[i][n] && self.at[i] == SIZE_MAX; n++)
            if (haul_csv_find(self.csv, names[i][n], &self.at[i], NULL))
                self.at[i] = SIZE_MAX;
    }
    size_t ignored;
    haul_status status = HAUL_OK;
    if (self.at[KIND] == SIZE_MAX && self.at[MEMORY] == SIZE_MAX)
        status = haul_csv_find(self.csv, "mem", &ignored, error);
    if (!status && self.at[BYTES] == SIZE_MAX && self.at[TOTAL] == SIZE_MAX)
        status = haul_csv_find(self.csv, "bytes", &ignored, error);
    if (!status && self.at[SECONDS] == SIZE_MAX)
        status = haul_csv_find(self.csv, "seconds", &ignored, error);
    while (!status && !(status = haul_csv_next(self.csv, &fields, error)) && fields) {
        bool is_chosen;
        status = choose_row(&self, fields, &is_chosen, error);
        if (!status && is_chosen)
            status = read_row(&self, fields, samples, error);
    }
    haul_csv_close(self.csv);
    return status;
}

haul_status hl_comm_message_samples_parse(const char *text, size_t size, const char *file,
                                          const haul_message_source *source,
                                          haul_message_samples *samples, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    const size_t before = samples->count;
    /* both texts begin with lines of comment, which no CSV does */
    const char *start = text + strspn(text, " \t\r\n\xEF\xBB\xBF");
    haul_status status = *start == '#'
                             ? hl_comm_message_text_read(text, file, source, samples, error)
                             : read_csv(text, size, file, source, samples, error);
    if (!status && samples->count == before)
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no measured messages in it");
    if (status)
        hl_base_error_in_file(error, file);
    return status;
}

haul_status haul_message_samples_load(const char *path, const haul_message_source *source,
                                      haul_message_samples *samples, haul_error *error)
{
    char *text;
    size_t size;
    HAUL_TRY(hl_base_textfile_read(path, FILE_BYTES, &text, &size, error));
    haul_status status = hl_comm_message_samples_parse(text, size, path, source, samples, error);
    free(text);
    return status;
}
