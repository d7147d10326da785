/* A report, described once and written in each form. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/document.h"

static char *written(haul_report *report, haul_report_options options)
{
    char *text = NULL;
    size_t size = 0;
    haul_error error;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(haul_report_write(report, &options, out, &error), HAUL_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void check_written(haul_report *report, haul_report_options options, const char *expected)
{
    char *text = written(report, options);
    assert_string_equal(text, expected);
    free(text);
}

static haul_report *copies_report(void)
{
    static const haul_column head[] = {
        {"machine", HAUL_UNIT_TEXT, .head = "machine"}, {"copies", .unit = HAUL_UNIT_COUNT}, {0}};
    static const haul_column columns[] = {
        {"direction", HAUL_UNIT_TEXT, .head = "Copies"},
        {"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
        {"time_s", HAUL_UNIT_TIME, .head = "time"},
        {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
        {"rate_Bps", HAUL_UNIT_RATE, .head = "rate", .optional = true, .csv = ""},
        {"note", HAUL_UNIT_TEXT, .optional = true},
        {0},
    };
    static const haul_column size[] = {{"least_bytes", .unit = HAUL_UNIT_BYTES}, {0}};
    haul_report *report = haul_report_new("copies");
    haul_report_say(report, "two copies");
    haul_report_object(report, NULL, head,
                       HAUL_CELLS(haul_cell_text("a \"node\""), haul_cell_count(2)));
    haul_table *table = haul_report_table(report, "rows", columns);
    haul_table_csv(table);
    haul_table_row(table, HAUL_CELLS(haul_cell_text("HtoD"), haul_cell_count((uint64_t)1 << 20),
                                     haul_cell_time(1500000), haul_cell_interval(1e-3, 2e-3),
                                     haul_cell_number((double)NAN), haul_cell_text(NULL)));
    haul_table_row(haul_report_table(table, "sizes", size), HAUL_CELLS(haul_cell_count(10)));
    haul_table_row(table, HAUL_CELLS(haul_cell_text("Dto,H"), haul_cell_count(HAUL_NO_COUNT),
                                     haul_cell_time(0), haul_cell_interval(1e-3, 1e-3),
                                     haul_cell_number((double)NAN), haul_cell_text("x")));
    haul_report_detail(report, true);
    haul_report_say(report, "method");
    return report;
}

static void one_description_makes_every_form(void **state)
{
    (void)state;
    haul_report *report = copies_report();
    check_written(report, (haul_report_options){.format = HAUL_FORMAT_TABLE},
                  "two copies\n"
                  "  machine  a \"node\"\n"
                  "\n"
                  "Copies  bytes    time   interval\n"
                  "HtoD    1 MiB  1.5 ms  1 to 2 ms\n"
                  "Dto,H             0 s       1 ms\n");
    check_written(report, (haul_report_options){.format = HAUL_FORMAT_CSV},
                  "direction,bytes,time_s,low_s,high_s,note\n"
                  "HtoD,1048576,0.001500000,0.001,0.002,\n"
                  "\"Dto,H\",,0.000000000,0.001,0.001,x\n");
    char *json = written(report, (haul_report_options){.format = HAUL_FORMAT_JSON});
    assert_non_null(strstr(json, "\"report\": \"copies\""));
    assert_non_null(strstr(json, "\"machine\": \"a \\\"node\\\"\",\n  \"copies\": 2"));
    assert_non_null(strstr(json, "\"time_s\": 0.0015,"));
    assert_non_null(strstr(json, "\"bytes\": null"));
    assert_null(strstr(json, "rate_Bps")); /* optional, and never known */
    assert_non_null(strstr(json, "\"sizes\": [\n        {\n          \"least_bytes\": 10"));
    free(json);
    haul_report_free(report);
}

static void details_are_for_those_who_ask(void **state)
{
    (void)state;
    haul_report *report = copies_report();
    char *brief = written(report, (haul_report_options){.format = HAUL_FORMAT_TABLE});
    char *whole =
        written(report, (haul_report_options){.format = HAUL_FORMAT_TABLE, .verbose = true});
    assert_null(strstr(brief, "method"));
    assert_non_null(strstr(whole, "\nmethod\n"));
    free(whole);
    free(brief);
    haul_report_free(report);
}

static void make_number(haul_table *table, const void *state, size_t row)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s %zu", (const char *)state, row);
    haul_table_row(table, HAUL_CELLS(haul_cell_text(name), haul_cell_count((uint64_t)row)));
}

/* A long table holds no row: those that are shown are made when they are written. */
static void rows_are_made_when_they_are_written(void **state)
{
    (void)state;
    static const haul_column columns[] = {
        {"name", HAUL_UNIT_TEXT, .head = "Name"}, {"number", HAUL_UNIT_ID, .head = "number"}, {0}};
    haul_report *report = haul_report_new("numbers");
    haul_table *table = haul_report_table(report, "rows", columns);
    haul_table_rows(table, 100000, make_number, "row");
    haul_table_limit(table, 2);
    haul_table_csv(table);
    check_written(report, (haul_report_options){.format = HAUL_FORMAT_TABLE},
                  "Name   number\n"
                  "row 0       0\n"
                  "row 1       1\n"
                  "99,998 more rows: --format csv has them all\n");
    char *csv = written(report, (haul_report_options){.format = HAUL_FORMAT_CSV});
    assert_non_null(strstr(csv, "\nrow 99999,99999\n"));
    free(csv);
    haul_report_free(report);
}

/* Each row but the first is wrong in its own way: a kind, one cell too few, one too many. */
static void a_row_that_is_not_its_columns_is_an_error(void **state)
{
    (void)state;
    static const haul_column columns[] = {
        {"name", HAUL_UNIT_TEXT, .head = "Name"}, {"bytes", HAUL_UNIT_BYTES, .head = "bytes"}, {0}};
    const haul_cell cells[] = {haul_cell_text("a"), haul_cell_count(1), haul_cell_flag(true)};
    const haul_cell number[] = {haul_cell_text("a"), haul_cell_number(1)};
    const struct {
        const haul_cell *cells;
        size_t count;
        const char *error;
    } rows[] = {
        {cells, 2, NULL},
        {number, 2, "a row of the report has no value for 'bytes'"},
        {cells, 1, "a row of the report has no value for 'bytes'"},
        {cells, 3, "a row of the report has a value beyond its columns"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_error error;
        haul_report *report = haul_report_new("rows");
        haul_table_row(haul_report_table(report, "rows", columns), rows[i].cells, rows[i].count);
        FILE *out = tmpfile();
        assert_non_null(out);
        const haul_report_options options = {.format = HAUL_FORMAT_CSV};
        assert_int_equal(haul_report_write(report, &options, out, &error),
                         rows[i].error ? HAUL_STATUS_INTERNAL : HAUL_OK);
        if (rows[i].error)
            assert_string_equal(error.text, rows[i].error);
        fclose(out);
        haul_report_free(report);
    }
}

static void maps_and_lists_are_values_by_name_and_in_order(void **state)
{
    (void)state;
    static const haul_column model[] = {
        {"model", .unit = HAUL_UNIT_TEXT}, {"", .unit = HAUL_UNIT_SECONDS}, {0}};
    static const haul_column text[] = {{"", HAUL_UNIT_TEXT, .head = "Notes"}, {0}};
    haul_report *report = haul_report_new("maps");
    haul_table *times = haul_report_map(report, "models_s", model);
    haul_table_row(times, HAUL_CELLS(haul_cell_text("loggp"), haul_cell_number(0.5)));
    haul_table_row(times, HAUL_CELLS(haul_cell_text("packet"), haul_cell_number((double)INFINITY)));
    haul_table_row(haul_report_list(report, "notes", text), HAUL_CELLS(haul_cell_text("a note")));
    haul_report_value(report, "next", NULL);
    char *json = written(report, (haul_report_options){.format = HAUL_FORMAT_JSON});
    assert_non_null(
        strstr(json, "\"models_s\": {\n    \"loggp\": 0.5,\n    \"packet\": null\n  }"));
    assert_non_null(strstr(json, "\"notes\": [\n    \"a note\"\n  ]"));
    assert_non_null(strstr(json, "\"next\": null"));
    free(json);
    haul_report_free(report);
}

/* Sections are a page's: the terminal shows their parts below each other. */
static void a_table_is_given_its_head_and_a_drawing_stays_as_it_is(void **state)
{
    (void)state;
    static const haul_column columns[] = {{"a_s", HAUL_UNIT_SECONDS, .head = "first"},
                                          {"b_s", HAUL_UNIT_SECONDS, .head = "second"},
                                          {0}};
    haul_report *report = haul_report_new("difference");
    haul_report_section(report, "times", "Times");
    haul_table *table = haul_report_table(report, "rows", columns);
    haul_table_row(table, HAUL_CELLS(haul_cell_number(0.5), haul_cell_number(2)));
    haul_table_head(table, 1, "on v100");
    haul_report_drawing(report, "|--##--|\n");
    char *text = written(report, (haul_report_options){.format = HAUL_FORMAT_TABLE});
    assert_non_null(strstr(text, "first  on v100\n"));
    assert_null(strstr(text, "second"));
    assert_non_null(strstr(text, "\n|--##--|\n"));
    free(text);
    char *json = written(report, (haul_report_options){.format = HAUL_FORMAT_JSON});
    assert_non_null(strstr(json, "\"b_s\": 2"));
    assert_null(strstr(json, "##"));
    free(json);
    haul_report_free(report);
}

/* No memory for a report is no report, which every function passes over. */
static void no_report_is_told_when_it_is_written(void **state)
{
    (void)state;
    static const haul_column columns[] = {{"a", .unit = HAUL_UNIT_TEXT}, {0}};
    haul_error error;
    haul_table *table = haul_report_table(NULL, "rows", columns);
    haul_table_row(table, HAUL_CELLS(haul_cell_text("x")));
    haul_report_say(NULL, "nothing");
    haul_report_free(NULL);
    assert_int_equal(haul_report_write(NULL, &(haul_report_options){0}, stdout, &error),
                     HAUL_STATUS_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_description_makes_every_form),
        cmocka_unit_test(details_are_for_those_who_ask),
        cmocka_unit_test(rows_are_made_when_they_are_written),
        cmocka_unit_test(a_row_that_is_not_its_columns_is_an_error),
        cmocka_unit_test(maps_and_lists_are_values_by_name_and_in_order),
        cmocka_unit_test(a_table_is_given_its_head_and_a_drawing_stays_as_it_is),
        cmocka_unit_test(no_report_is_told_when_it_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
