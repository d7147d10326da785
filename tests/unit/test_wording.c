/* Figures and names as the tables of the reports say them. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/utf8.h"
#include "haul/compare.h"
#include "haul/exchange.h"
#include "haul/fit.h"
#include "haul/overlap.h"
#include "haul/report.h"
#include "haul/units.h"
#include "report/names_apart.h"
#include "report/wording.h"

static void figures_are_short(void **state)
{
    (void)state;
    assert_string_equal(hl_report_say_count(0).text, "0");
    assert_string_equal(hl_report_say_count(999).text, "999");
    assert_string_equal(hl_report_say_count(1234567).text, "1,234,567");
    assert_string_equal(hl_report_say_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(hl_report_say_time(0).text, "0 s");
    assert_string_equal(hl_report_say_time(12345).text, "12.3 us");
    assert_string_equal(hl_report_say_time(999999).text, "1 ms");
    assert_string_equal(hl_report_say_time(1500000000000).text, "1,500 s");
    assert_string_equal(hl_report_say_time(INT64_MAX).text, "9,223,372,037 s");
    assert_string_equal(hl_report_say_seconds((double)NAN).text, "-");
    assert_string_equal(hl_report_say_interval(1.2e-3, 3.4e-3).text, "1.2 to 3.4 ms");
    assert_string_equal(hl_report_say_interval(8e-4, 1.2e-3).text, "800 us to 1.2 ms");
    assert_string_equal(hl_report_say_interval(0.1078, 0.1084).text, "107.8 to 108.4 ms");
    assert_string_equal(hl_report_say_interval(0.050017, 0.050018).text, "50 ms");
    assert_string_equal(hl_report_say_estimate(2.1e-3, 1.8e-3, 2.34e-3).text,
                        "2.1 ms (1.8 to 2.34 ms)");
    assert_string_equal(hl_report_say_estimate(0.1081, 0.1078, 0.1084).text,
                        "108.1 ms (107.8 to 108.4 ms)");
    assert_string_equal(hl_report_say_estimate(0.05, 0.050017, 0.050018).text, "50 ms");
    assert_string_equal(hl_report_say_change(1000, 800, 786, 813).text,
                        "1.25x faster (1.23x to 1.27x)");
    assert_string_equal(hl_report_say_change(1000, 1200, 995, 20040).text,
                        "1.20x slower (0.995x to 20.0x)");
    assert_string_equal(hl_report_say_bytes(1023).text, "1023 B");
    assert_string_equal(hl_report_say_bytes(1048575).text, "1024 KiB");
    assert_string_equal(hl_report_say_rate(27.65e9).text, "27.6 GB/s");
    assert_string_equal(hl_report_say_rate(0).text, "-");
    assert_string_equal(hl_report_say_number_of(1, "copy", "copies").text, "1 copy");
    assert_string_equal(hl_report_say_number_of(2000, "copy", "copies").text, "2,000 copies");
    assert_string_equal(hl_report_say_number_of(0, "stream", NULL).text, "0 streams");
}

/* A caller's value may come from a file or a newer library. */
static void names_of_unknown_values_are_texts(void **state)
{
    (void)state;
    assert_string_equal(haul_way_text((haul_way)99, HAUL_MEMORY_HOST), "unknown");
    assert_string_equal(haul_strategy_word((haul_strategy)99), "unknown");
    assert_string_equal(haul_condition_text((haul_condition)99), "unknown");
    assert_string_equal(haul_overlap_bound_text((haul_overlap_bound)99), "unknown");
    assert_string_equal(haul_dimension_text((haul_dimension)99), "unknown");
    assert_string_equal(haul_dimension_unit((haul_dimension)99), "");
    assert_string_equal(haul_pattern_text((haul_pattern)99), "unknown");
    assert_string_equal(haul_direction_text((haul_direction)99), "unknown");
    assert_false(haul_strategy_has_streams((haul_strategy)99));
}

static void shares_show_what_is_there(void **state)
{
    (void)state;
    assert_string_equal(hl_report_say_share(1).text, "100.0 %");
    assert_string_equal(hl_report_say_share(0).text, "0.0 %");
    assert_string_equal(hl_report_say_share(0.0001).text, "<0.1 %");
    assert_string_equal(hl_report_say_share(hl_report_share_of(1, 0)).text, "-");
    assert_string_equal(hl_report_say_bar(1, 5).text, "#####");
    assert_string_equal(hl_report_say_bar(0.5, 4).text, "##");
    assert_string_equal(hl_report_say_bar(0.001, 5).text, ".");
    assert_string_equal(hl_report_say_bar(0, 5).text, "");
}

static void check_name(const char *name, const char *expected)
{
    char text[256];
    assert_string_equal(hl_report_shorten_name(name, 40, text, sizeof text), expected);
}

static void names_keep_what_tells_them_apart(void **state)
{
    (void)state;
    check_name("convolve", "convolve");
    check_name("void convolve<17>(float *)", "void convolve<17>(float *)");
    check_name("void long_enough_to_be_cut_somewhere<17>(float *, int)",
               "long_enough_to_be_cut_somewhere<17>");
    check_name("void at::native::elementwise_kernel<(int)128, (bool)0>(int, T3)",
               "elementwise_kernel<128, 0>");
    check_name("void (anonymous namespace)::inner::reduce<float, (unsigned long)4>(float *)",
               "reduce<float, 4>");
    check_name("void clover::run<PdV(bool, int)::[lambda(int) (instance 2)]>(clover::Range)",
               "run<PdV::lambda#2>");
    check_name("void clover::run<PdV(bool, int)::{lambda(int)#1}>(clover::Range, int[3])",
               "run<PdV::lambda#1>");
    check_name("a_name_of_one_word_that_has_more_than_forty_characters",
               "a_name_of_one_word_that_has_more_than_..");
    check_name("unclosed(((((((((((((((((((((((((((((((((((((((((((", "unclosed");
    check_name("closed)))))))))))))))))))))))))))))))))))))))))))))", "closed");
    check_name("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
               "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
               "01234567890123456789",
               "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
               "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
               "01234567..");
}

/* Names of any bytes and lengths stay within their buffer and their width. */
static void any_name_fits(void **state)
{
    (void)state;
    static const char signs[] = "()<>:: vo_aB9,[]\x80\xff\xc3\xa9";
    uint64_t random = 88172645463325252U;
    for (int round = 0; round < 20000; round++) {
        char name[600], text[4 * 30 + 8];
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const size_t length = random % (sizeof name - 1);
        for (size_t i = 0; i < length; i++)
            name[i] = signs[(random >> i % 50) % (sizeof signs - 1)];
        name[length] = '\0';
        hl_report_shorten_name(name, 30, text, sizeof text);
        assert_true(strlen(text) < sizeof text);
        assert_true(hl_base_utf8_count(text) <= 30);
    }
}

/* The text that `print` writes, the caller's. */
static char *printed(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(out);
    fclose(out);
    return text;
}

static void print_paragraph(FILE *out)
{
    hl_report_print_wrapped(
        HL_REPORT_PAGE_WIDTH, "  - ",
        "one two three four five six seven eight nine ten eleven twelve thirteen "
        "fourteen fifteen sixteen seventeen\x1b[31m eighteen",
        out);
    hl_report_print_wrapped(HL_REPORT_PAGE_WIDTH, "  - ", "", out);
}

static void paragraphs_are_wrapped(void **state)
{
    (void)state;
    char *text = printed(print_paragraph);
    assert_string_equal(text, "  - one two three four five six seven eight nine ten eleven twelve "
                              "thirteen fourteen fifteen sixteen\n"
                              "    seventeen?[31m eighteen\n"
                              "  - \n");
    free(text);
}

static void print_columns(FILE *out)
{
    hl_report_print_column(16, 6, "in CppNode<LookupFunction> (86 %)", out);
    hl_report_print_column(16, 6, "exactly 10", out);
    hl_report_print_column(16, 6, "0123456789 a", out);
    hl_report_print_column(
        16, 6, "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", out);
    hl_report_print_column(4, 6, "ab", out);
}

/* No line of a cell passes the page, whatever its words are. */
static void cells_keep_to_their_column(void **state)
{
    (void)state;
    char *text = printed(print_columns);
    assert_string_equal(text, "in\n"
                              "      CppNode<Lo\n"
                              "      okupFuncti\n"
                              "      on> (86 %)\n"
                              "exactly 10\n"
                              "0123456789\n"
                              "      a\n"
                              "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\n"
                              "      \u00e9\n"
                              "a\n"
                              "      b\n");
    free(text);
}

static void print_seconds(FILE *out)
{
    hl_base_json json = hl_base_json_begin(out);
    hl_base_json_open_object(&json);
    hl_base_json_key(&json, "a");
    hl_base_json_ns(&json, 0);
    hl_base_json_key(&json, "b");
    hl_base_json_ns(&json, 1);
    hl_base_json_key(&json, "c");
    hl_base_json_ns(&json, 1841627438);
    hl_base_json_key(&json, "d");
    hl_base_json_ns(&json, 1500000000);
    hl_base_json_key(&json, "e");
    hl_base_json_ns(&json, INT64_MAX);
    hl_base_json_close_object(&json);
    hl_base_json_end(&json);
}

static void seconds_have_all_their_digits(void **state)
{
    (void)state;
    char *text = printed(print_seconds);
    assert_string_equal(text, "{\n  \"a\": 0,\n  \"b\": 0.000000001,\n  \"c\": 1.841627438,\n"
                              "  \"d\": 1.5,\n  \"e\": 9223372036.854775807\n}\n");
    free(text);
}

/* CUTLASS's kernels differ behind what a table has room for. */
static void different_names_look_different(void **state)
{
    (void)state;
    enum { NAMES = 6, WIDTH = 30 };
    static const char start[] = "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_";
    char names[NAMES][200];
    const char *list[NAMES];
    hl_report_name_text texts[NAMES];
    static const char *const ends[NAMES] = {"256x128_tn>",
                                            "128x128_tn>",
                                            "256x128_tn>",
                                            "128x128_nn_and_more_that_is_cut>",
                                            "128x128_nn_and_more_that_is_cut_too>",
                                            ""};
    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s%s", i == NAMES - 1 ? "copy" : start, ends[i]);
        list[i] = names[i];
    }
    assert_true(hl_report_names_apart(list, NAMES, WIDTH, texts));
    for (int i = 0; i < NAMES; i++) {
        assert_true(strlen(texts[i].text) <= WIDTH);
        for (int j = 0; j < NAMES; j++)
            assert_int_equal(strcmp(texts[i].text, texts[j].text) != 0,
                             strcmp(names[i], names[j]) != 0);
    }
    assert_string_equal(texts[0].text, "Kernel2<cutla..f16_256x128_tn>");
    assert_string_equal(texts[NAMES - 1].text, "copy");
}

/* In any script, and however many. */
static void names_in_any_script_stay_whole(void **state)
{
    (void)state;
    enum { NAMES = 40, WIDTH = 16 };
    char names[NAMES][200];
    const char *list[NAMES];
    hl_report_name_text texts[NAMES];
    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(names[i], sizeof names[i],
                       "\u00e4\u6838\u5fc3\u00e4\u6838\u5fc3\u00e4\u6838"
                       "\u5fc3\u00e4\u6838\u5fc3\u00e4\u6838\u5fc3%d\u00e4",
                       i);
        list[i] = names[i];
    }
    assert_true(hl_report_names_apart(list, NAMES, WIDTH, texts));
    for (int i = 0; i < NAMES; i++) {
        assert_true(hl_base_utf8_count(texts[i].text) <= WIDTH);
        for (const char *at = texts[i].text; *at; at += hl_base_utf8_length(at))
            assert_true(hl_base_utf8_length(at) > 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(texts[i].text, texts[j].text);
    }
}

/* Two kernels whose first words are the same are told apart in the causes of a difference, too. */
static void causes_of_a_difference_are_apart(void **state)
{
    (void)state;
    static const char *const names[] = {
        "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn>",
        "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn>"};
    haul_compared rows[2];
    for (int i = 0; i < 2; i++)
        rows[i] = (haul_compared){.kind = HAUL_OP_KERNEL,
                                  .name = names[i],
                                  .matched = 1,
                                  .a_ns = 1000000,
                                  .b_ns = 3000000 - i,
                                  .all_a_ns = 1000000,
                                  .all_b_ns = 3000000 - i};
    const haul_comparison of = {.rows = rows, .count = 2, .matched = 2};
    const haul_workload empty = {.source = "made", .format = "made"};
    const haul_analysis analyses[2] = {{.span_ns = 2000000}, {.span_ns = 6000000}};
    const haul_compared_run runs[2] = {{&empty, &analyses[0], NULL}, {&empty, &analyses[1], NULL}};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    haul_report *report = haul_report_comparison(runs, &of);
    haul_error error;
    const haul_report_options options = {.format = HAUL_FORMAT_TABLE};
    assert_int_equal(haul_report_write(report, &options, out, &error), HAUL_OK);
    haul_report_free(report);
    assert_int_equal(fclose(out), 0);
    const char *line = strstr(text, "  more ");
    assert_non_null(line);
    const char *first = strstr(line, "256x128"), *second = strstr(line, "128x128");
    assert_true(first && second && second < strstr(line, "\n\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_short),
        cmocka_unit_test(causes_of_a_difference_are_apart),
        cmocka_unit_test(names_of_unknown_values_are_texts),
        cmocka_unit_test(shares_show_what_is_there),
        cmocka_unit_test(names_keep_what_tells_them_apart),
        cmocka_unit_test(any_name_fits),
        cmocka_unit_test(paragraphs_are_wrapped),
        cmocka_unit_test(cells_keep_to_their_column),
        cmocka_unit_test(seconds_have_all_their_digits),
        cmocka_unit_test(different_names_look_different),
        cmocka_unit_test(names_in_any_script_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
