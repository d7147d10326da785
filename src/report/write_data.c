/* A report for programs: JSON (docs/json.md) and CSV (RFC 4180).
 *
 * JSON has all that has a key, nested as the tables are; CSV has one table, flat, in the same base
 * units. Both are written row by row, so that a table whose rows are made on demand stays small. */
#include <inttypes.h>
#include <string.h>

#include "base/json_out.h"
#include "haul/csv.h"
#include "report/document.h"

static void put_value(hl_base_json *json, const haul_column *column, const haul_cell *cell)
{
    /* Units of one C type are neighbours in the enumeration; read_cell (document.c) has the same
     * groups. */
    if (column->unit == HAUL_UNIT_INTERVAL) {
        hl_base_json_open_array(json);
        hl_base_json_number(json, cell->ends[0]);
        hl_base_json_number(json, cell->ends[1]);
        hl_base_json_close_array(json);
    } else if (hl_report_cell_is_unknown(column, cell)) {
        hl_base_json_null(json);
    } else if (column->unit <= HAUL_UNIT_NAME) {
        hl_base_json_string(json, cell->text);
    } else if (column->unit <= HAUL_UNIT_BYTES) {
        hl_base_json_unsigned(json, cell->count);
    } else if (column->unit == HAUL_UNIT_TIME) {
        hl_base_json_ns(json, cell->ns);
    } else if (column->unit == HAUL_UNIT_FLAG) {
        hl_base_json_bool(json, cell->count);
    } else {
        hl_base_json_number(json, cell->number);
    }
}

static void put_part(hl_base_json *json, const haul_table *part);

/* The members of a row, from column `first` on, and the tables inside it, which start at *inside
 * and are taken off there. */
static void put_members(hl_base_json *json, const haul_table *table, size_t row, size_t first,
                        const haul_table **inside)
{
    for (size_t c = first; c < table->column_count; c++) {
        const haul_column *column = &table->columns[c];
        const haul_cell *cell = hl_report_table_cell(table, row, c);
        /* An optional member that is not known is left out, any other is null. */
        if (!column->key || (column->optional && hl_report_cell_is_unknown(column, cell)))
            continue;
        hl_base_json_key(json, column->key);
        put_value(json, column, cell);
    }
    /* Children are in order of their rows, so that one pass hands them all out. */
    for (; *inside && (*inside)->parent_row == row; *inside = (*inside)->next)
        put_part(json, *inside);
}

static void put_row(hl_base_json *json, const haul_table *table, size_t row, size_t first,
                    const haul_table **inside)
{
    /* an empty key: the row is a value and no object */
    /* A list of texts or numbers, as "notes" is. */
    if (first < table->column_count && table->columns[first].key && !*table->columns[first].key) {
        put_value(json, &table->columns[first], hl_report_table_cell(table, row, first));
        return;
    }
    hl_base_json_open_object(json);
    put_members(json, table, row, first, inside);
    hl_base_json_close_object(json);
}

/* Paragraphs and lines are for people; an object without a key gives its members to the one around
 * it, a map has its rows' first column as keys. */
static void put_part(hl_base_json *json, const haul_table *part)
{
    const haul_table *inside = part->first;
    const bool is_map = part->part == HL_REPORT_PART_MAP,
               is_object = part->part == HL_REPORT_PART_OBJECT;
    /* Kinds behind the list are for people. */
    if (part->part > HL_REPORT_PART_LIST || (!part->key && !is_object))
        return;
    if (!part->key) {
        put_members(json, part, 0, 0, &inside);
        return;
    }
    hl_base_json_key(json, part->key);
    if (is_object) {
        put_row(json, part, 0, 0, &inside);
        return;
    }
    (is_map ? hl_base_json_open_object : hl_base_json_open_array)(json);
    for (size_t r = 0; r < part->row_count; r++) {
        if (is_map)
            /* The first column of a map is its key and never a member. */
            hl_base_json_key(json, hl_report_table_cell(part, r, 0)->text);
        put_row(json, part, r, is_map ? 1 : 0, &inside);
    }
    (is_map ? hl_base_json_close_object : hl_base_json_close_array)(json);
}

void hl_report_write_json(const haul_report *report, FILE *out)
{
    hl_base_json json = hl_base_json_begin(out);
    const haul_table *inside = report->first;
    put_row(&json, report, 0, 0, &inside);
    /* ferror of the stream is asked by haul_report_write. */
    (void)hl_base_json_end(&json);
}

/* A column of the report's own CSV may be of CSV alone, or of JSON alone; without a word on it, it
 * is of both by one name. Other tables are as in JSON, where a list's values have its key alone. */
static const char *csv_name(const haul_table *table, const haul_column *column)
{
    const bool is_list = column->key && !*column->key;
    if (table->is_csv && column->csv)
        return column->csv;
    return is_list && !table->is_csv ? table->key : column->key ? column->key : "";
}

static void print_value(const haul_column *column, const haul_cell *cell, FILE *out)
{
    if (hl_report_cell_is_unknown(column, cell))
        return;
    if (column->unit <= HAUL_UNIT_NAME)
        haul_csv_put(cell->text, out);
    else if (column->unit <= HAUL_UNIT_BYTES || column->unit == HAUL_UNIT_FLAG)
        fprintf(out, "%" PRIu64, cell->count);
    else if (column->unit == HAUL_UNIT_TIME)
        /* All nine digits, from the integer: nothing is rounded. */
        fprintf(out, "%" PRId64 ".%09" PRId64, cell->ns / 1000000000, cell->ns % 1000000000);
    else
        fprintf(out, "%.9g", cell->number);
    if (column->unit == HAUL_UNIT_INTERVAL)
        fprintf(out, ",%.9g", cell->ends[1]);
}

/* The map inside a row, whose members are columns after the row's own; NULL where there is none.
 * *inside is at tables of this row or of one before it. */
static const haul_table *map_inside(const haul_table **inside, size_t row)
{
    while (*inside && (*inside)->parent_row < row)
        *inside = (*inside)->next;
    for (const haul_table *part = *inside; part && part->parent_row == row; part = part->next)
        if (part->part == HL_REPORT_PART_MAP)
            return part;
    return NULL;
}

/* An interval is two columns, and the members of a map inside the rows one each: those of the first
 * row, for all rows have the same. */
static void print_heads(const haul_table *table, FILE *out)
{
    const haul_table *inside = table->first;
    const haul_table *map = map_inside(&inside, 0);
    const char *comma = "";
    for (size_t c = 0; c < table->column_count; c++) {
        const haul_column *column = &table->columns[c];
        const char *name = csv_name(table, column);
        if (!*name)
            continue;
        fprintf(out, "%s%s", comma, column->unit == HAUL_UNIT_INTERVAL ? "low_s,high_s" : name);
        comma = ",";
    }
    for (size_t r = 0; map && r < map->row_count; r++) {
        /* The unit in the map's key ("time_s") is that of each of its members. */
        const char *unit = strrchr(map->key, '_');
        fprintf(out, ",%s%s", hl_report_table_cell(map, r, 0)->text, unit ? unit : "");
    }
    fputc('\n', out);
}

static void print_rows(const haul_table *table, FILE *out)
{
    const haul_table *inside = table->first;
    for (size_t r = 0; r < table->row_count; r++) {
        const haul_table *map = map_inside(&inside, r);
        const char *comma = "";
        for (size_t c = 0; c < table->column_count; c++) {
            if (!*csv_name(table, &table->columns[c]))
                continue;
            fputs(comma, out);
            print_value(&table->columns[c], hl_report_table_cell(table, r, c), out);
            comma = ",";
        }
        for (size_t m = 0; map && m < map->row_count; m++) {
            fputc(',', out);
            print_value(&map->columns[1], hl_report_table_cell(map, m, 1), out);
        }
        fputc('\n', out);
    }
}

/* Whether a part can be asked for by name: whatever has a key in JSON and is no single value. */
static bool has_name(const haul_table *part)
{
    const bool is_value = part->part == HL_REPORT_PART_OBJECT && part->column_count == 1 &&
                          part->columns->key && !*part->columns->key;
    return part->part <= HL_REPORT_PART_LIST && part->key && part->column_count && !is_value;
}

/* The names that a user may ask for, each once. */
static haul_status fail_unknown(const haul_report *report, const char *name, haul_error *error)
{
    char names[360] = "";
    size_t used = 0;
    for (const haul_table *part = report; part; part = part->reading) {
        bool is_new = has_name(part);
        for (const haul_table *at = report; is_new && at != part; at = at->reading)
            is_new = !has_name(at) || strcmp(at->key, part->key) != 0;
        if (is_new && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     part->key);
    }
    return haul_error_set(error, HAUL_STATUS_USAGE, "no table '%.60s' in this answer, which has %s",
                          name, *names ? names : "none by name");
}

/* Tables of one name inside one parent are of its rows, as the kernels of each GPU, and follow each
 * other; elsewhere the name means something else, as the strategies on another machine. */
haul_status hl_report_write_csv(const haul_report *report, const char *name, FILE *out,
                                haul_error *error)
{
    const haul_table *part = report;
    while (part && !(name ? has_name(part) && !strcmp(part->key, name) : part->is_csv))
        part = part->reading;
    if (!part)
        return name ? fail_unknown(report, name, error) : HAUL_OK;
    const haul_column *columns = part->columns;
    print_heads(part, out);
    print_rows(part, out);
    for (part = name ? part->next : NULL; part; part = part->next)
        if (has_name(part) && !strcmp(part->key, name) && part->columns == columns)
            print_rows(part, out);
    return HAUL_OK;
}
