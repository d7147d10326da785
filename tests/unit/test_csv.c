#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/textfile.h"
#include "haul/csv.h"

static haul_csv *opened(const char *text)
{
    haul_csv *csv = NULL;
    haul_error error = {0};
    assert_int_equal(haul_csv_open_memory(text, strlen(text), "t.csv", &csv, &error), HAUL_OK);
    return csv;
}

static const char *const *next(haul_csv *csv)
{
    const char *const *fields = NULL;
    haul_error error = {0};
    assert_int_equal(haul_csv_next(csv, &fields, &error), HAUL_OK);
    return fields;
}

static void fields_are_read(void **state)
{
    (void)state;
    haul_csv *csv = opened("\xEF\xBB\xBF"
                           "a, B ,\"c,\"\r\n"
                           "\r\n"
                           "1,\" x\"\"y\n\", z \r\n"
                           "  \n"
                           ",,\n"
                           "p,\"\",r");
    assert_int_equal(haul_csv_column_count(csv), 3);
    assert_string_equal(haul_csv_column_name(csv, 1), "B");
    assert_string_equal(haul_csv_column_name(csv, 2), "c,");
    size_t column = 7;
    assert_int_equal(haul_csv_find(csv, "b", &column, NULL), HAUL_OK);
    assert_int_equal(column, 1);
    assert_int_equal(haul_csv_find(csv, "d", &column, NULL), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(column, 1);

    const char *const *fields = next(csv);
    assert_string_equal(fields[0], "1");
    assert_string_equal(fields[1], " x\"y\n");
    assert_string_equal(fields[2], "z");
    haul_error error = {.status = HAUL_STATUS_BAD_INPUT};
    haul_csv_locate(csv, 2, &error);
    assert_int_equal(error.line, 4);
    assert_int_equal(error.column, 4);
    assert_string_equal(error.file, "t.csv");

    assert_string_equal(next(csv)[2], "");
    fields = next(csv);
    assert_string_equal(fields[1], "");
    assert_string_equal(fields[2], "r");
    assert_null(next(csv));
    assert_null(next(csv));
    haul_csv_close(csv);
}

static void wrong_text_is_located(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size; /* 0: up to the NUL */
        int line, column;
        const char *says;
    } wrong[] = {
        {"", 0, 1, 1, "empty"},
        {"\n \r\n", 0, 3, 1, "empty"},
        {"a,b,A\n", 0, 1, 5, "two columns"},
        {"a,b\n1\n", 0, 2, 1, "1 fields where the header has 2"},
        {"a,b\n1,2,3\n", 0, 2, 5, "3 fields where the header has 2"},
        {"a,b\n1,\"x", 0, 2, 3, "never closed"},
        {"a,b\n1,x\"\n", 0, 2, 4, "inside a field"},
        {"a,b\n\"1\" 2,3\n", 0, 2, 5, "after a quote"},
        {"a,b\n1\r,2\n", 0, 2, 3, "carriage return"},
        {"a,b\n1,\0\n", 9, 2, 3, "NUL"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const size_t size = wrong[i].size ? wrong[i].size : strlen(wrong[i].text);
        haul_csv *csv = NULL;
        haul_error error = {0};
        const char *const *fields = NULL;
        haul_status status = haul_csv_open_memory(wrong[i].text, size, "t.csv", &csv, &error);
        if (!status)
            status = haul_csv_next(csv, &fields, &error);
        assert_int_equal(status, HAUL_STATUS_BAD_INPUT);
        assert_int_equal(error.line, wrong[i].line);
        assert_int_equal(error.column, wrong[i].column);
        assert_string_equal(error.file, "t.csv");
        assert_non_null(strstr(error.text, wrong[i].says));
        haul_csv_close(csv);
    }
}

static void limits_hold(void **state)
{
    (void)state;
    const size_t size = HAUL_CSV_ROW_BYTES + 100;
    char *text = malloc(size);
    memset(text, ',', size);
    haul_csv *csv = NULL;
    haul_error error = {0};
    assert_int_equal(haul_csv_open_memory(text, size, "t.csv", &csv, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "1024"));
    memset(text, 'x', size);
    assert_int_equal(haul_csv_open_memory(text, size, "t.csv", &csv, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "1 MiB"));
    free(text);
}

static void write_gzipped(const char *path, const char *text, int rows)
{
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < rows; i++)
        gzputs(file, text);
    gzclose(file);
}

static void files_are_gzipped_or_not(void **state)
{
    (void)state;
    char path[] = "/tmp/haul-csv-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    write_gzipped(path, "alpha,beta\n", 30000);
    haul_csv *csv = NULL;
    haul_error error = {0};
    assert_int_equal(haul_csv_open(path, &csv, &error), HAUL_OK);
    int rows = 0;
    while (next(csv))
        rows++;
    assert_int_equal(rows, 29999);
    haul_csv_close(csv);

    char *text = NULL;
    size_t size = 0;
    assert_int_equal(hl_base_textfile_read(path, 1 << 20, &text, &size, &error), HAUL_OK);
    assert_int_equal(size, 330000);
    assert_int_equal(strlen(text), size);
    free(text);
    text = NULL;
    assert_int_equal(hl_base_textfile_read(path, 1000, &text, &size, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_null(text);

    assert_int_equal(ftruncate(descriptor, 200), 0);
    assert_int_equal(hl_base_textfile_read(path, 1 << 20, &text, &size, &error), HAUL_STATUS_IO);
    haul_status status = haul_csv_open(path, &csv, &error);
    const char *const *fields = NULL;
    while (!status && !(status = haul_csv_next(csv, &fields, &error)) && fields)
        ;
    assert_int_equal(status, HAUL_STATUS_IO);
    haul_csv_close(csv);
    close(descriptor);
    unlink(path);
    assert_int_equal(haul_csv_open(path, &csv, &error), HAUL_STATUS_IO);
    assert_non_null(strstr(error.text, "cannot open"));
    assert_int_equal(haul_csv_open("/", &csv, &error), HAUL_STATUS_IO);
    assert_non_null(strstr(error.text, "cannot read '/'"));
    assert_int_equal(hl_base_textfile_read(path, 1, &text, &size, &error), HAUL_STATUS_IO);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain",  "a,b",      "say \"so\"", "two\nlines", " before",
                                        "after ", "\ttabbed", "in side",    "\r",         "\""};
    enum { TEXTS = sizeof texts / sizeof *texts };
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    assert_non_null(out);
    fputs("number,text\n", out);
    for (int i = 0; i < TEXTS; i++) {
        fprintf(out, "%d,", i);
        haul_csv_put(texts[i], out);
        fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
    haul_csv *csv = opened(written);
    for (int i = 0; i < TEXTS; i++)
        assert_string_equal(next(csv)[1], texts[i]);
    assert_null(next(csv));
    haul_csv_close(csv);
    free(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read),
        cmocka_unit_test(wrong_text_is_located),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(files_are_gzipped_or_not),
        cmocka_unit_test(what_is_written_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
