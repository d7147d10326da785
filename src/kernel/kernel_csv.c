/* Tables of launches, as people, nvprof and Nsight Compute write them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/grow.h"
#include "haul/csv.h"
#include "kernel/kernel_keys.h"
#include "kernel/kernel_records.h"
#include "kernel/kernel_units.h"

typedef enum column_kind {
    IGNORED,
    GPU,
    KERNEL,
    ACTIVITY, /* "GPU activities", "API calls" */
    LAUNCH,   /* its number */
    COUNTER,
    METRIC, /* one a row: its name, unit and value */
    METRIC_UNIT,
    METRIC_VALUE,
    GRID_SIZE, /* "(64, 64, 1)" */
    BLOCK_SIZE,
    WORK_ITEMS
} column_kind;

typedef struct column {
    column_kind kind;
    const haul_counter_rule *counter;
    double scale;        /* of its values; 0: no unit is known yet */
    bool has_named_unit; /* in the column's name: other units are errors */
} column;

/* Launches whose metrics stand a row each, by their names; of one file. */
typedef struct launch_index {
    haul_kernel_keys keys;
    size_t *records; /* by key */
    size_t count;
    size_t capacity;
} launch_index;

typedef struct table_reader {
    haul_csv *csv;
    haul_kernel_csv file;
    const char *file_name; /* in the records' arena */
    haul_kernel_records *records;
    launch_index *launches;
    size_t column_count;
    column columns[HAUL_CSV_COLUMNS];
    size_t seconds; /* column; column_count: none */
    bool is_long;   /* a metric a row */
    bool is_timed;  /* Input.Size, Duration: nvprof's metrics made into a table, in seconds */
    const char *const *fields;
    haul_error *error;
} table_reader;

/* The rule of a column whose name is a time with its unit: haul_kernel_time_rank finds those. */
static const haul_counter_rule seconds_column = {"", HAUL_COUNTER_SECONDS, HAUL_DIM_SECONDS, 1,
                                                 HAUL_WHOLE};

/* --- columns */

/* Names as profilers and people give them, in any case. "Avg" is a metric's value; in a summary
 * it is the time, which find_summary sees to. */
static column_kind kind_of(const char *name)
{
    static const struct {
        column_kind kind;
        const char *names[8];
    } known[] = {
        {GPU, {"gpu", "device", "board", "gpu_name", "device_name", "machine"}},
        {KERNEL,
         {"kernel", "program", "name", "kernel name", "kernel_name", "kernelname", "application"}},
        {ACTIVITY, {"type"}},
        {LAUNCH, {"id", "dispatch_id"}},
        {METRIC, {"metric name", "event name", "counter_name"}},
        {METRIC_UNIT, {"metric unit"}},
        {METRIC_VALUE, {"metric value", "avg", "counter_value"}},
        {GRID_SIZE, {"grid size"}},
        {BLOCK_SIZE, {"block size", "workgroup_size", "wgr"}},
        {WORK_ITEMS, {"grid_size", "grd"}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (const char *const *one = known[i].names; *one; one++)
            if (!strcasecmp(name, *one))
                return known[i].kind;
    return IGNORED;
}

/* nvprof's summary has a kernel a row, with the mean time of its calls. */
static void find_summary(table_reader *self)
{
    size_t mean = self->column_count;
    bool is_summary = false;
    for (size_t i = 0; i < self->column_count; i++) {
        const char *name = haul_csv_column_name(self->csv, i);
        is_summary |= !strcasecmp(name, "Calls");
        mean = strcasecmp(name, "Avg") ? mean : i;
    }
    if (!is_summary || mean == self->column_count || self->seconds < self->column_count)
        return;
    self->seconds = mean;
    self->columns[mean] = (column){.kind = COUNTER, .counter = &seconds_column};
}

/* A launch that another column tells as a whole is not multiplied by its sides again. */
static void drop_sides(table_reader *self)
{
    bool has_grid = false, has_block = false;
    for (size_t i = 0; i < self->column_count; i++) {
        const column *at = &self->columns[i];
        has_grid |=
            at->kind == GRID_SIZE || (at->kind == COUNTER && at->counter->part == HAUL_WHOLE &&
                                      at->counter->counter == HAUL_COUNTER_GRID);
        has_block |= at->kind == BLOCK_SIZE;
    }
    for (size_t i = 0; i < self->column_count; i++) {
        column *at = &self->columns[i];
        if (at->kind == COUNTER && at->counter->part == HAUL_FACTOR &&
            (at->counter->counter == HAUL_COUNTER_GRID ? has_grid : has_block))
            at->kind = IGNORED;
    }
}

/* Of several columns of times one is read, the best by haul_kernel_time_rank; the others would
 * count the same launch twice. A counter with a unit has scale 0 until the file tells the unit. */
static void find_columns(table_reader *self)
{
    int best = -1;
    self->column_count = haul_csv_column_count(self->csv);
    self->seconds = self->column_count;
    for (size_t i = 0; i < self->column_count; i++) {
        const char *name = haul_csv_column_name(self->csv, i);
        column *at = &self->columns[i];
        double scale = 0;
        const int rank = haul_kernel_time_rank(name, &scale);
        *at = (column){.kind = kind_of(name), .counter = haul_counter_find(name), .scale = 1};
        self->is_long |= at->kind == METRIC;
        self->is_timed |= !strcasecmp(name, "Input.Size");
        if (rank >= 0 && (best < 0 || rank < best)) {
            best = rank;
            self->seconds = i;
            *at = (column){COUNTER, &seconds_column, scale, true};
        } else if (at->kind == IGNORED && at->counter) {
            at->kind = COUNTER;
            at->scale = at->counter->dimension == HAUL_DIM_NUMBER ? 1 : 0;
        }
    }
    for (size_t i = 0; i < self->column_count; i++) {
        column *at = &self->columns[i];
        if (at->kind != COUNTER || at->counter->counter != HAUL_COUNTER_SECONDS)
            continue;
        if (best < 0) { /* "Duration", with its unit in a row below */
            self->seconds = i;
            at->scale = self->is_timed ? 1 : 0;
        } else if (i != self->seconds) {
            at->kind = IGNORED;
        }
    }
    find_summary(self);
    drop_sides(self);
}

/* --- fields */

/* The error's text is set before; this adds the place. */
static haul_status fail_field(table_reader *self, size_t at)
{
    haul_csv_locate(self->csv, at, self->error);
    return HAUL_BAD_INPUT;
}

static const char digits[] = "0123456789";

/* Whether each comma among the first `span` bytes parts thousands: "1,048,576", not "0,5", which is
 * another country's half. */
static bool parts_thousands(const char *text, size_t span)
{
    const char *at = text + strspn(text, "+-");
    if (!memchr(text, ',', span))
        return true;
    const size_t first = strspn(at, digits);
    if (!first || first > 3 || *at == '0')
        return false;
    for (at += first; *at == ','; at += 4)
        if (strspn(at + 1, digits) != 3)
            return false;
    return !memchr(at, ',', (size_t)(text + span - at));
}

/* A number, perhaps with thousands apart, and what stands behind it. */
static bool read_number(const char *text, double *value, const char **rest)
{
    char plain[64];
    size_t length = 0;
    const size_t span = strspn(text, "+-.,0123456789eE");
    if (!parts_thousands(text, span))
        return false;
    for (size_t i = 0; i < span && length < sizeof plain - 1; i++)
        if (text[i] != ',')
            plain[length++] = text[i];
    plain[length] = '\0';
    char *end;
    *value = strtod(plain, &end);
    *rest = text + span;
    return length && end == plain + length;
}

/* What profilers and people write for a value that they do not have; nvprof writes <OVERFLOW> where
 * a hardware counter did not suffice. */
static bool is_absent(const char *text)
{
    static const char *const words[] = {"", "-", "na", "n/a", "nan", "<OVERFLOW>"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(text, words[i]))
            return true;
    return false;
}

/* A value in base units by its column's unit, or by its own where it has one. */
static haul_status read_value(table_reader *self, size_t at, const haul_counter_rule *counter,
                              double scale, double *out)
{
    const char *text = self->fields[at], *rest = "";
    const bool is_time = counter->dimension == HAUL_DIM_SECONDS;
    double value = 0;
    if (!read_number(text, &value, &rest)) {
        haul_fail(self->error, HAUL_BAD_INPUT, "expected %s, not '%.60s'",
                  is_time ? "a time" : "a number", text);
        return fail_field(self, at);
    }
    rest += strspn(rest, " ");
    if (strspn(rest, digits)) { /* "512 7" has no unit, but a second number */
        haul_fail(self->error, HAUL_BAD_INPUT, "expected one number, not '%.60s'", text);
        return fail_field(self, at);
    }
    const bool is_size = counter->counter == HAUL_COUNTER_SIZE;
    const double own = !*rest    ? scale
                       : is_size ? 0 /* of "4K" nobody knows whether it is 4000 or 4096 */
                                 : haul_kernel_unit_scale(rest, counter->dimension);
    if (own <= 0) {
        if (*rest)
            haul_fail(self->error, HAUL_BAD_INPUT, "unknown unit '%.20s' in '%.60s'", rest, text);
        else
            haul_fail(self->error, HAUL_BAD_INPUT,
                      "the unit of '%.40s' is not known: name the column with it, as in time_ms",
                      text);
        return fail_field(self, at);
    }
    if (*rest && own != scale && self->columns[at].has_named_unit) {
        haul_fail(self->error, HAUL_BAD_INPUT, "'%.40s' is in another unit than its column '%.40s'",
                  text, haul_csv_column_name(self->csv, at));
        return fail_field(self, at);
    }
    /* A size, a time or a side of a grid is never 0; a counter may be. */
    const bool is_above = is_time || is_size || counter->part == HAUL_FACTOR;
    if (!(value * own <= 1e30 && (is_above ? value > 0 : value >= 0))) {
        haul_fail(self->error, HAUL_BAD_INPUT, "expected %s, not '%.60s'",
                  is_above ? "a value above 0" : "a value that is not negative", text);
        return fail_field(self, at);
    }
    *out = value * own;
    return HAUL_OK;
}

static const char *short_name(table_reader *self, const char *text)
{
    const haul_kernel_plain_name plain = haul_kernel_plain_name_of(text);
    return haul_arena_text(&self->records->arena, plain.start, plain.length);
}

/* The sides of "(64, 64, 1)"; false for anything else. */
static bool read_sides(const char *text, double sides[3])
{
    int count = 0;
    double product = 1;
    while (*text && count < 3) {
        char *end;
        const double value = strtod(text, &end);
        if (end == text) {
            text++;
            continue;
        }
        sides[count++] = value;
        product *= value;
        text = end;
    }
    return count && product >= 1 && product <= 1e30;
}

/* --- rows */

/* Neither a name nor a number, and text where numbers belong. */
static bool has_units_alone(const table_reader *self)
{
    bool has_names = false, has_units = false;
    for (size_t i = 0; i < self->column_count; i++) {
        const column_kind kind = self->columns[i].kind;
        const char *text = self->fields[i], *rest;
        const bool is_name = kind == GPU || kind == KERNEL || kind == LAUNCH;
        double value;
        has_names |= is_name;
        if (!*text || (!is_name && kind != COUNTER))
            continue;
        if (is_name || is_absent(text) || read_number(text, &value, &rest))
            return false;
        has_units = true;
    }
    return has_names && has_units;
}

/* A row that gives the columns' units ("us,us,,,KB"), as nvprof and Nsight Compute's page of raw
 * metrics have below their heads. */
static bool is_units_row(const table_reader *self)
{
    if (self->seconds == self->column_count)
        return has_units_alone(self);
    if (self->columns[self->seconds].has_named_unit)
        return false;
    const char *text = self->fields[self->seconds];
    return isalpha((unsigned char)*text) && haul_kernel_unit_scale(text, HAUL_DIM_SECONDS) > 0;
}

/* The reader tells places only through an error: this one is made for its place. */
static haul_error place_of(const table_reader *self, size_t at)
{
    haul_error place = {.status = HAUL_BAD_INPUT};
    haul_csv_locate(self->csv, at, &place);
    return place;
}

/* A record with its place; NULL without memory. */
static haul_kernel_record *start_record(table_reader *self)
{
    haul_kernel_record *record = haul_kernel_records_new(self->records);
    if (!record)
        return NULL;
    record->file = self->file_name;
    record->line = place_of(self, 0).line;
    record->column = 1;
    if (self->file.size > 0)
        record->counters.values[HAUL_COUNTER_SIZE] = self->file.size;
    return record;
}

/* Names come in any order of columns. An empty one leaves the record without: that fits any
 * name. */
static haul_status read_names(table_reader *self, haul_kernel_record *record)
{
    for (size_t i = 0; i < self->column_count; i++) {
        const column_kind kind = self->columns[i].kind;
        const char *text = self->fields[i];
        double sides[3] = {1, 1, 1};
        if (kind == GRID_SIZE && read_sides(text, sides))
            record->counters.values[HAUL_COUNTER_GRID] = sides[0] * sides[1] * sides[2];
        if (kind == WORK_ITEMS && read_sides(text, sides))
            record->counters.values[HAUL_COUNTER_WORK_ITEMS] = sides[0] * sides[1] * sides[2];
        if (kind == BLOCK_SIZE && read_sides(text, sides))
            memcpy(&record->counters.values[HAUL_COUNTER_BLOCK_X], sides, sizeof sides);
        if ((kind != GPU && kind != KERNEL && kind != LAUNCH) || !*text)
            continue;
        if (kind == GPU && text[strspn(text, "0123456789")] == '\0')
            continue; /* Nsight Compute numbers them */
        const char *name = short_name(self, text);
        if (!name)
            return haul_fail_no_memory(self->error);
        if (kind == GPU)
            record->gpu = name;
        else if (kind == KERNEL)
            record->kernel = name;
        else
            record->launch = name;
    }
    return HAUL_OK;
}

/* Adds a row's launch. Traces and summaries have copies, as in "[CUDA memcpy HtoD]", and API calls
 * too. */
static haul_status read_launch(table_reader *self)
{
    for (size_t i = 0; i < self->column_count; i++) {
        const column_kind kind = self->columns[i].kind;
        const char *text = self->fields[i];
        if ((kind == KERNEL && *text == '[') || (kind == ACTIVITY && !strcmp(text, "API calls")))
            return HAUL_OK;
    }
    haul_kernel_record *record = start_record(self);
    if (!record)
        return haul_fail_no_memory(self->error);
    haul_status status = read_names(self, record);
    for (size_t i = 0; !status && i < self->column_count; i++) {
        const column *at = &self->columns[i];
        double value = 0;
        const bool is_size = at->kind == COUNTER && at->counter->counter == HAUL_COUNTER_SIZE;
        if (is_size)
            record->column = place_of(self, i).column;
        if (at->kind != COUNTER || (is_absent(self->fields[i]) && i != self->seconds))
            continue;
        status = read_value(self, i, at->counter, at->scale, &value);
        if (!status && is_size)
            record->counters.values[HAUL_COUNTER_SIZE] = value;
        else if (!status)
            haul_counters_add(&record->counters, at->counter, value);
    }
    return status;
}

/* The launch that a metric's row is of: the record made for it, else this new one; NULL without
 * memory. */
static haul_kernel_record *settle_record(table_reader *self, haul_kernel_record *made)
{
    const char *const names[] = {made->gpu, made->kernel, made->launch};
    launch_index *launches = self->launches;
    const uint32_t key = haul_kernel_keys_of(&launches->keys, names, 3);
    if (key == UINT32_MAX)
        return NULL;
    if (key < launches->count) {
        self->records->count--;
        return &self->records->items[launches->records[key]];
    }
    if (!haul_grow(&launches->records, &launches->capacity, (size_t)key + 1,
                   sizeof *launches->records))
        return NULL;
    launches->count = (size_t)key + 1;
    launches->records[key] = self->records->count - 1;
    return made;
}

/* Adds a row of one metric. A record is made before it is known whether its launch has one:
 * settle_record takes it back then. */
static haul_status read_metric(table_reader *self)
{
    size_t name = self->column_count, unit = self->column_count, value = self->column_count;
    for (size_t i = 0; i < self->column_count; i++) {
        name = self->columns[i].kind == METRIC ? i : name;
        unit = self->columns[i].kind == METRIC_UNIT ? i : unit;
        value = self->columns[i].kind == METRIC_VALUE ? i : value;
    }
    const haul_counter_rule *counter = haul_counter_find(self->fields[name]);
    if (value == self->column_count) {
        haul_fail(self->error, HAUL_BAD_INPUT,
                  "expected a column of values, 'Avg' or 'Metric Value', beside the metrics");
        return fail_field(self, name);
    }
    if (!counter || counter->counter == HAUL_COUNTER_SIZE || is_absent(self->fields[value]))
        return HAUL_OK;
    haul_kernel_record *record = start_record(self);
    if (!record)
        return haul_fail_no_memory(self->error);
    HAUL_TRY(read_names(self, record));
    record = settle_record(self, record);
    if (!record)
        return haul_fail_no_memory(self->error);
    const double scale = unit < self->column_count
                             ? haul_kernel_unit_scale(self->fields[unit], counter->dimension)
                             : (double)(counter->dimension == HAUL_DIM_NUMBER);
    double read = 0;
    HAUL_TRY(read_value(self, value, counter, scale, &read));
    haul_counters_add(&record->counters, counter, read);
    return HAUL_OK;
}

/* A row of units sets the scales for all rows below it. */
static haul_status read_rows(table_reader *self)
{
    haul_status status = haul_csv_next(self->csv, &self->fields, self->error);
    while (!status && self->fields) {
        if (self->is_long)
            status = read_metric(self);
        else if (!is_units_row(self))
            status = read_launch(self);
        else
            for (size_t i = 0; i < self->column_count; i++)
                if (self->columns[i].kind == COUNTER && *self->fields[i])
                    self->columns[i].scale = haul_kernel_unit_scale(
                        self->fields[i], self->columns[i].counter->dimension);
        if (!status)
            status = haul_csv_next(self->csv, &self->fields, self->error);
    }
    return status;
}

/* --- tables */

/* A table of names alone is an error, not empty: the user most likely gave the wrong file. */
static haul_status read_table(const char *text, size_t size, table_reader *self)
{
    haul_status status = haul_csv_open_memory(text, size, self->file.path, &self->csv, self->error);
    if (status)
        return status;
    find_columns(self);
    size_t useful = 0;
    for (size_t i = 0; i < self->column_count; i++)
        useful += self->columns[i].kind == COUNTER &&
                  self->columns[i].counter->counter != HAUL_COUNTER_SIZE;
    if (!useful && !self->is_long)
        status =
            haul_fail_at(self->error, (haul_place){self->file.path, place_of(self, 0).line, 1},
                         "no column of times (seconds, time_ms, kernel_us ...) or of counters");
    if (!status)
        status = read_rows(self);
    haul_csv_close(self->csv);
    return status;
}

/* A line on which a profiler starts a table. */
static bool is_head(const char *line)
{
    static const char *const firsts[] = {"\"Device\",", "Device,",   "\"Start\",",  "Start,",
                                         "\"ID\",",     "\"Type\",", "\"Time(%)\","};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if (!strncmp(line, firsts[i], strlen(firsts[i])))
            return true;
    return false;
}

/* Profilers write about themselves in lines of "==", and what the program prints may stand before
 * their table: these become blank. */
static void blank_remarks(char *text)
{
    static const char mark[] = "\xef\xbb\xbf=="; /* behind a byte order mark */
    bool has_remarks = false;
    char *head = NULL;
    if (!strncmp(text, mark, strlen(mark)))
        memset(text, '=', 3);
    for (char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        if (!head && is_head(line))
            head = line;
        if (!strncmp(line, "==", 2)) {
            memset(line, ' ', length);
            has_remarks = true;
        }
        line += length + (line[length] == '\n');
    }
    for (char *at = text; has_remarks && head && at < head; at++)
        *at = *at == '\n' ? '\n' : ' ';
}

/* Where the next table starts; its end where there is none. */
static char *next_table(char *text, int *lines)
{
    char *line = text;
    for (bool is_begun = false; *line;) {
        if (is_begun && is_head(line))
            break;
        const size_t length = strcspn(line, "\n");
        is_begun |= strspn(line, " \t\r") < length;
        line += length + (line[length] == '\n');
        ++*lines;
    }
    return line;
}

/* A file may hold several tables, one behind another, with remarks between. Each is read by itself,
 * so lines, which its reader counts from 1, are moved to where they are in the file. Launches of
 * metrics are kept across tables: nvprof writes events and metrics apart. */
haul_status haul_kernel_csv_read(char *text, size_t size, haul_kernel_csv file,
                                 haul_kernel_records *records, haul_error *error)
{
    table_reader *self = malloc(sizeof *self);
    char *name = haul_arena_string(&records->arena, file.path);
    haul_status status = HAUL_OK;
    launch_index launches = {0};
    char *at = text;
    int line = 1;
    if (!self || !name) {
        free(self);
        return haul_fail_no_memory(error);
    }
    if (memchr(text, '\0', size)) {
        status = haul_fail(error, HAUL_BAD_INPUT, "expected text, without a NUL character");
        haul_error_in_file(error, file.path);
    }
    if (!status)
        blank_remarks(text);
    while (!status && (at == text || *at)) {
        int lines = 0;
        const size_t begun = records->count;
        char *end = next_table(at, &lines);
        *self = (table_reader){.file = file,
                               .file_name = name,
                               .records = records,
                               .launches = &launches,
                               .error = error};
        status = read_table(at, (size_t)(end - at), self);
        if (status && error && error->line)
            error->line += line - 1;
        for (size_t i = begun; i < records->count; i++)
            records->items[i].line += line - 1;
        line += lines;
        at = end;
    }
    haul_kernel_keys_release(&launches.keys);
    free(launches.records);
    free(self);
    return status;
}
