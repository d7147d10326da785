/* Figures and names as the tables of the reports say them. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/utf8.h"
#include "report/wording.h"

static void figures_are_short(void **state)
{
    (void)state;
    assert_string_equal(haul_say_count(0).text, "0");
    assert_string_equal(haul_say_count(999).text, "999");
    assert_string_equal(haul_say_count(1234567).text, "1,234,567");
    assert_string_equal(haul_say_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(haul_say_time(0).text, "0 s");
    assert_string_equal(haul_say_time(12345).text, "12.3 us");
    assert_string_equal(haul_say_time(999999).text, "1 ms");
    assert_string_equal(haul_say_time(1500000000000).text, "1,500 s");
    assert_string_equal(haul_say_time(INT64_MAX).text, "9,223,372,037 s");
    assert_string_equal(haul_say_seconds((double)NAN).text, "-");
    assert_string_equal(haul_say_interval(1.2e-3, 3.4e-3).text, "1.2 to 3.4 ms");
    assert_string_equal(haul_say_interval(8e-4, 1.2e-3).text, "800 us to 1.2 ms");
    assert_string_equal(haul_say_interval(0.1078, 0.1084).text, "107.8 to 108.4 ms");
    assert_string_equal(haul_say_interval(0.050017, 0.050018).text, "50 ms");
    assert_string_equal(haul_say_bytes(1023).text, "1023 B");
    assert_string_equal(haul_say_bytes(1048575).text, "1024 KiB");
    assert_string_equal(haul_say_rate(27.65e9).text, "27.6 GB/s");
    assert_string_equal(haul_say_rate(0).text, "-");
    assert_string_equal(haul_say_number_of(1, "copy", "copies").text, "1 copy");
    assert_string_equal(haul_say_number_of(2000, "copy", "copies").text, "2,000 copies");
    assert_string_equal(haul_say_number_of(0, "stream", NULL).text, "0 streams");
}

static void shares_show_what_is_there(void **state)
{
    (void)state;
    assert_string_equal(haul_say_share(1).text, "100.0 %");
    assert_string_equal(haul_say_share(0).text, "0.0 %");
    assert_string_equal(haul_say_share(0.0001).text, "<0.1 %");
    assert_string_equal(haul_say_share(haul_share_of(1, 0)).text, "-");
    assert_string_equal(haul_say_bar(1, 5).text, "#####");
    assert_string_equal(haul_say_bar(0.5, 4).text, "##");
    assert_string_equal(haul_say_bar(0.001, 5).text, ".");
    assert_string_equal(haul_say_bar(0, 5).text, "");
}

static void check_name(const char *name, const char *expected)
{
    char text[256];
    assert_string_equal(haul_shorten_name(name, 40, text, sizeof text), expected);
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
        haul_shorten_name(name, 30, text, sizeof text);
        assert_true(strlen(text) < sizeof text);
        assert_true(haul_utf8_count(text) <= 30);
    }
}

/* What `print` writes, the caller's. */
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
    haul_print_wrapped("  - ",
                       "one two three four five six seven eight nine ten eleven twelve thirteen "
                       "fourteen fifteen sixteen seventeen\x1b[31m eighteen",
                       out);
    haul_print_wrapped("  - ", "", out);
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

static void print_seconds(FILE *out)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_key(&json, "a");
    haul_json_ns(&json, 0);
    haul_json_key(&json, "b");
    haul_json_ns(&json, 1);
    haul_json_key(&json, "c");
    haul_json_ns(&json, 1841627438);
    haul_json_key(&json, "d");
    haul_json_ns(&json, 1500000000);
    haul_json_key(&json, "e");
    haul_json_ns(&json, INT64_MAX);
    haul_json_close_object(&json);
    haul_json_end(&json);
}

static void seconds_have_all_their_digits(void **state)
{
    (void)state;
    char *text = printed(print_seconds);
    assert_string_equal(text, "{\n  \"a\": 0,\n  \"b\": 0.000000001,\n  \"c\": 1.841627438,\n"
                              "  \"d\": 1.5,\n  \"e\": 9223372036.854775807\n}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_short),
        cmocka_unit_test(shares_show_what_is_there),
        cmocka_unit_test(names_keep_what_tells_them_apart),
        cmocka_unit_test(any_name_fits),
        cmocka_unit_test(paragraphs_are_wrapped),
        cmocka_unit_test(seconds_have_all_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
