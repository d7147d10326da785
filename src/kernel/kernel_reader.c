/* Tables of launches, as people, nvprof and Nsight Compute write them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/index.h"
#include "haul/csv.h"
#include "kernel/kernel_table.h"

typedef struct column {
    const hl_kernel_column_rule *rule; /* NULL: it is ignored */
    double scale;                      /* of its values; 0: no unit is known yet */
    bool has_named_unit;               /* in the column's name: other units are errors */
} column;

typedef struct table_reader {
    haul_csv *csv;
    haul_kernel_csv file;
    const char *file_name; /* the table's */
    hl_kernel_table *table;
    hl_base_index *launches; /* rows of this file whose metrics stand a row each */
    size_t column_count;
    column columns[HAUL_CSV_COLUMNS];
    size_t seconds; /* column; column_count: none */
    bool is_long;   /* a metric a row */
    bool is_timed;  /* Input.Size, Duration: nvprof's metrics made into a table, in seconds */
    const char *const *fields;
    haul_error *error;
} table_reader;

/* --- columns */

static bool is_kind(const column *at, hl_kernel_column_kind kind)
{
    return at->rule && at->rule->kind == kind;
}

static bool is_counter(const column *at)
{
    return is_kind(at, HL_KERNEL_COLUMN_COUNTER);
}

/* Whether it is a column of names, by which rows are told apart. */
static bool is_name(const column *at)
{
    return is_kind(at, HL_KERNEL_COLUMN_GPU) || is_kind(at, HL_KERNEL_COLUMN_KERNEL) ||
           is_kind(at, HL_KERNEL_COLUMN_LAUNCH);
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
    self->columns[mean] = (column){.rule = &hl_kernel_time_column};
}

/* A launch that another column tells as a whole is not multiplied by its sides again. */
static void drop_sides(table_reader *self)
{
    bool has_grid = false, has_block = false;
    for (size_t i = 0; i < self->column_count; i++) {
        const column *at = &self->columns[i];
        has_grid |= is_kind(at, HL_KERNEL_COLUMN_GRID_SIZE) ||
                    (is_counter(at) && at->rule->part == HL_KERNEL_WHOLE &&
                     at->rule->counter == HL_KERNEL_COUNTER_GRID);
        has_block |= is_kind(at, HL_KERNEL_COLUMN_BLOCK_SIZE);
    }
    for (size_t i = 0; i < self->column_count; i++) {
        column *at = &self->columns[i];
        if (is_counter(at) && at->rule->part == HL_KERNEL_FACTOR &&
            (at->rule->counter == HL_KERNEL_COUNTER_GRID ? has_grid : has_block))
            at->rule = NULL;
    }
}

/* Of several columns of times one is read, the best by hl_kernel_time_rank; the others would
 * count the same launch twice. A counter with a unit has scale 0 until the file tells the unit. */
static void find_columns(table_reader *self)
{
    int best = -1;
    self->column_count = haul_csv_column_count(self->csv);
    self->seconds = self->column_count;
    self->is_long = self->is_timed = false;
    for (size_t i = 0; i < self->column_count; i++) {
        const char *name = haul_csv_column_name(self->csv, i);
        column *at = &self->columns[i];
        double scale = 0;
        const int rank = hl_kernel_time_rank(name, &scale);
        *at = (column){.rule = hl_kernel_column_find(name), .scale = 1};
        self->is_long |= is_kind(at, HL_KERNEL_COLUMN_METRIC);
        self->is_timed |= !strcasecmp(name, "Input.Size");
        if (rank >= 0 && (best < 0 || rank < best)) {
            best = rank;
            self->seconds = i;
            *at = (column){&hl_kernel_time_column, scale, true};
        } else if (is_counter(at)) {
            at->scale = at->rule->dimension == HAUL_DIM_NUMBER;
        }
    }
    for (size_t i = 0; i < self->column_count; i++) {
        column *at = &self->columns[i];
        if (!is_counter(at) || at->rule->counter != HL_KERNEL_COUNTER_SECONDS)
            continue;
        if (best < 0) { /* "Duration", with its unit in a row below */
            self->seconds = i;
            at->scale = self->is_timed ? 1 : 0;
        } else if (i != self->seconds) {
            at->rule = NULL;
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
    return HAUL_STATUS_BAD_INPUT;
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

/* Words of profilers and people for a value that they do not have; nvprof writes <OVERFLOW> where
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
static haul_status read_value(table_reader *self, size_t at, const hl_kernel_column_rule *rule,
                              double scale, double *out)
{
    const char *text = self->fields[at], *rest = "";
    const bool is_time = rule->dimension == HAUL_DIM_SECONDS;
    double value = 0;
    if (!read_number(text, &value, &rest)) {
        haul_error_set(self->error, HAUL_STATUS_BAD_INPUT, "expected %s, not '%.60s'",
                       is_time ? "a time" : "a number", text);
        return fail_field(self, at);
    }
    rest += strspn(rest, " ");
    if (strspn(rest, digits)) { /* "512 7" has no unit, but a second number */
        haul_error_set(self->error, HAUL_STATUS_BAD_INPUT, "expected one number, not '%.60s'",
                       text);
        return fail_field(self, at);
    }
    const bool is_size = rule->counter == HL_KERNEL_COUNTER_SIZE;
    const double own = !*rest    ? scale
                       : is_size ? 0 /* of "4K" nobody knows whether it is 4000 or 4096 */
                                 : hl_kernel_unit_scale(rest, rule->dimension);
    if (own <= 0) {
        if (*rest)
            haul_error_set(self->error, HAUL_STATUS_BAD_INPUT, "unknown unit '%.20s' in '%.60s'",
                           rest, text);
        else
            haul_error_set(
                self->error, HAUL_STATUS_BAD_INPUT,
                "the unit of '%.40s' is not known: name the column with it, as in time_ms", text);
        return fail_field(self, at);
    }
    if (*rest && own != scale && self->columns[at].has_named_unit) {
        haul_error_set(self->error, HAUL_STATUS_BAD_INPUT,
                       "'%.40s' is in another unit than its column '%.40s'", text,
                       haul_csv_column_name(self->csv, at));
        return fail_field(self, at);
    }
    /* A size, a time or a side of a grid is never 0; a counter may be. */
    const bool is_above = is_time || is_size || rule->part == HL_KERNEL_FACTOR;
    if (!(value * own <= 1e30 && (is_above ? value > 0 : value >= 0))) {
        haul_error_set(self->error, HAUL_STATUS_BAD_INPUT, "expected %s, not '%.60s'",
                       is_above ? "a value above 0" : "a value that is not negative", text);
        return fail_field(self, at);
    }
    *out = value * own;
    return HAUL_OK;
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

/* A row that gives the columns' units ("us,us,,,KB"), as nvprof and Nsight Compute's page of raw
 * metrics have below their heads. */
static bool is_units_row(const table_reader *self)
{
    if (self->seconds == self->column_count) {
        /* Neither a name nor a number, and text where numbers belong. */
        bool has_names = false, has_units = false;
        for (size_t i = 0; i < self->column_count; i++) {
            const column *at = &self->columns[i];
            const char *text = self->fields[i], *rest;
            double value;
            has_names |= is_name(at);
            if (!*text || (!is_name(at) && !is_counter(at)))
                continue;
            if (is_name(at) || is_absent(text) || read_number(text, &value, &rest))
                return false;
            has_units = true;
        }
        return has_names && has_units;
    }
    if (self->columns[self->seconds].has_named_unit)
        return false;
    const char *text = self->fields[self->seconds];
    return isalpha((unsigned char)*text) && hl_kernel_unit_scale(text, HAUL_DIM_SECONDS) > 0;
}

/* The reader tells places only through an error: this one is made for its place. */
static haul_error place_of(const table_reader *self, size_t at)
{
    haul_error place = {.status = HAUL_STATUS_BAD_INPUT};
    haul_csv_locate(self->csv, at, &place);
    return place;
}

/* A row of the table with its place; NULL without memory. */
static hl_kernel_row *start_row(table_reader *self)
{
    hl_kernel_row *row = hl_kernel_table_add(self->table);
    if (!row)
        return NULL;
    row->file = self->file_name;
    row->line = place_of(self, 0).line;
    row->column = 1;
    if (self->file.size > 0)
        row->counters[HL_KERNEL_COUNTER_SIZE] = self->file.size;
    return row;
}

/* Names come in any order of columns. An empty one leaves the row without: that fits any name. */
static haul_status read_names(table_reader *self, hl_kernel_row *row)
{
    for (size_t i = 0; i < self->column_count; i++) {
        const column *at = &self->columns[i];
        const char *text = self->fields[i];
        double sides[3] = {1, 1, 1};
        if (is_kind(at, HL_KERNEL_COLUMN_GRID_SIZE) && read_sides(text, sides))
            row->counters[HL_KERNEL_COUNTER_GRID] = sides[0] * sides[1] * sides[2];
        if (is_kind(at, HL_KERNEL_COLUMN_WORK_ITEMS) && read_sides(text, sides))
            row->counters[HL_KERNEL_COUNTER_WORK_ITEMS] = sides[0] * sides[1] * sides[2];
        if (is_kind(at, HL_KERNEL_COLUMN_BLOCK_SIZE) && read_sides(text, sides))
            memcpy(&row->counters[HL_KERNEL_COUNTER_BLOCK_X], sides, sizeof sides);
        const bool is_gpu = is_kind(at, HL_KERNEL_COLUMN_GPU);
        /* Nsight Compute numbers GPUs */
        if (!is_name(at) || !*text || (is_gpu && !text[strspn(text, digits)]))
            continue;
        const char *name = hl_kernel_table_name(self->table, text);
        if (!name)
            return hl_base_fail_no_memory(self->error);
        *(is_gpu                                 ? &row->gpu
          : is_kind(at, HL_KERNEL_COLUMN_KERNEL) ? &row->kernel
                                                 : &row->launch) = name;
    }
    return HAUL_OK;
}

/* Adds a row's launch. Traces and summaries have copies, as in "[CUDA memcpy HtoD]", and API calls
 * too. */
static haul_status read_launch(table_reader *self)
{
    for (size_t i = 0; i < self->column_count; i++) {
        const char *text = self->fields[i];
        if ((is_kind(&self->columns[i], HL_KERNEL_COLUMN_KERNEL) && *text == '[') ||
            (is_kind(&self->columns[i], HL_KERNEL_COLUMN_ACTIVITY) && !strcmp(text, "API calls")))
            return HAUL_OK;
    }
    hl_kernel_row *row = start_row(self);
    if (!row)
        return hl_base_fail_no_memory(self->error);
    HAUL_TRY(read_names(self, row));
    for (size_t i = 0; i < self->column_count; i++) {
        const column *at = &self->columns[i];
        double value = 0;
        if (!is_counter(at))
            continue;
        const bool is_size = at->rule->counter == HL_KERNEL_COUNTER_SIZE;
        if (is_size)
            row->column = place_of(self, i).column;
        if (is_absent(self->fields[i]) && i != self->seconds)
            continue;
        HAUL_TRY(read_value(self, i, at->rule, at->scale, &value));
        if (is_size)
            row->counters[HL_KERNEL_COUNTER_SIZE] = value; /* goes before the file's */
        else
            hl_kernel_row_add(row, at->rule, value);
    }
    return HAUL_OK;
}

static bool is_same_launch(const void *of, uint32_t number, const void *key)
{
    const hl_kernel_row *kept = (const hl_kernel_row *)of + number, *row = key;
    return kept->gpu == row->gpu && kept->kernel == row->kernel && kept->launch == row->launch;
}

/* The launch that a metric's row is of: the row made for it, else this new one; NULL without
 * memory. */
static hl_kernel_row *find_launch(table_reader *self, hl_kernel_row *made)
{
    const char *const names[] = {made->gpu, made->kernel, made->launch};
    if (!hl_base_index_reserve(self->launches) || self->table->count >= UINT32_MAX)
        return NULL;
    const uint32_t hash = hl_base_hash(names, sizeof names);
    hl_base_index_slot *slot =
        hl_base_index_find(self->launches, hash, is_same_launch, self->table->rows, made);
    if (slot->number) {
        self->table->count--;
        return &self->table->rows[slot->number - 1];
    }
    *slot = (hl_base_index_slot){(uint32_t)self->table->count, hash};
    self->launches->count++;
    return made;
}

/* Adds a row of one metric. A row is made before it is known whether its launch has one:
 * find_launch takes it back then. */
static haul_status read_metric(table_reader *self)
{
    size_t name = self->column_count, unit = self->column_count, value = self->column_count;
    for (size_t i = 0; i < self->column_count; i++) {
        name = is_kind(&self->columns[i], HL_KERNEL_COLUMN_METRIC) ? i : name;
        unit = is_kind(&self->columns[i], HL_KERNEL_COLUMN_METRIC_UNIT) ? i : unit;
        value = is_kind(&self->columns[i], HL_KERNEL_COLUMN_METRIC_VALUE) ? i : value;
    }
    if (value == self->column_count) {
        haul_error_set(self->error, HAUL_STATUS_BAD_INPUT,
                       "expected a column of values, 'Avg' or 'Metric Value', beside the metrics");
        return fail_field(self, name);
    }
    const hl_kernel_column_rule *rule = hl_kernel_column_find(self->fields[name]);
    if (!rule || rule->kind != HL_KERNEL_COLUMN_COUNTER ||
        rule->counter == HL_KERNEL_COUNTER_SIZE || is_absent(self->fields[value]))
        return HAUL_OK;
    hl_kernel_row *row = start_row(self);
    if (!row)
        return hl_base_fail_no_memory(self->error);
    HAUL_TRY(read_names(self, row));
    row = find_launch(self, row);
    if (!row)
        return hl_base_fail_no_memory(self->error);
    const double scale = unit < self->column_count
                             ? hl_kernel_unit_scale(self->fields[unit], rule->dimension)
                             : (double)(rule->dimension == HAUL_DIM_NUMBER);
    double read = 0;
    HAUL_TRY(read_value(self, value, rule, scale, &read));
    hl_kernel_row_add(row, rule, read);
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
                if (is_counter(&self->columns[i]) && *self->fields[i])
                    self->columns[i].scale =
                        hl_kernel_unit_scale(self->fields[i], self->columns[i].rule->dimension);
        if (!status)
            status = haul_csv_next(self->csv, &self->fields, self->error);
    }
    return status;
}

/* --- tables */

/* A table of names alone is an error, not empty: the user most likely gave the wrong file. */
static haul_status read_table(const char *text, size_t size, table_reader *self)
{
    HAUL_TRY(haul_csv_open_memory(text, size, self->file.path, &self->csv, self->error));
    haul_status status = HAUL_OK;
    find_columns(self);
    size_t useful = 0;
    for (size_t i = 0; i < self->column_count; i++)
        useful += is_counter(&self->columns[i]) &&
                  self->columns[i].rule->counter != HL_KERNEL_COUNTER_SIZE;
    if (!useful && !self->is_long)
        status = hl_base_fail_at(
            self->error, (hl_base_place){self->file.path, place_of(self, 0).line, 1},
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
 * so lines, which its reader counts from 1, are moved to where they are in the file. */
static haul_status read_tables(char *text, table_reader *self)
{
    haul_status status = HAUL_OK;
    char *at = text;
    for (int line = 1; !status && (at == text || *at);) {
        int lines = 0;
        const size_t begun = self->table->count;
        char *end = next_table(at, &lines);
        status = read_table(at, (size_t)(end - at), self);
        if (status && self->error && self->error->line)
            self->error->line += line - 1;
        for (size_t i = begun; i < self->table->count; i++)
            self->table->rows[i].line += line - 1;
        line += lines;
        at = end;
    }
    return status;
}

/* Launches of metrics are kept across a file's tables: nvprof writes events and metrics apart. */
haul_status hl_kernel_table_read(hl_kernel_table *table, char *text, size_t size,
                                 haul_kernel_csv file, haul_error *error)
{
    if (memchr(text, '\0', size)) {
        haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected text, without a NUL character");
        hl_base_error_in_file(error, file.path);
        return HAUL_STATUS_BAD_INPUT;
    }
    blank_remarks(text);
    hl_base_index launches = {0};
    table_reader *self = malloc(sizeof *self);
    const char *name = hl_base_arena_string(&table->names.arena, file.path);
    haul_status status = HAUL_STATUS_NO_MEMORY;
    if (self && name) {
        *self = (table_reader){
            .file = file, .file_name = name, .table = table, .launches = &launches, .error = error};
        status = read_tables(text, self);
    } else {
        hl_base_fail_no_memory(error);
    }
    hl_base_index_release(&launches);
    free(self);
    return status;
}
