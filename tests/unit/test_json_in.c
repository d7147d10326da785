/* The reader of JSON: what it accepts, where it says that something is wrong, and numbers. That it
 * accepts what jansson does is the fuzzer's to show (fuzz_json.c). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/json_in.h"
#include "check.h"

/* A text whose bytes arrive one by one. */
typedef struct drops {
    const char *at;
    size_t left;
} drops;

static haul_status read_drop(void *source, char *buffer, size_t size, size_t *got,
                             haul_error *error)
{
    (void)error;
    drops *self = source;
    *got = self->left && size ? 1 : 0;
    if (*got)
        *buffer = *self->at++;
    self->left -= *got;
    return HAUL_OK;
}

static haul_status skip_all(const char *text, size_t size, bool by_drops, haul_error *error)
{
    hl_base_json_in in;
    drops source = {text, size};
    *error = (haul_error){0};
    haul_status status = by_drops ? hl_base_json_in_open(&in, "j", read_drop, &source, error)
                                  : hl_base_json_in_open_memory(&in, "j", text, size, error);
    hl_base_json_in_skip(&in);
    if (!status)
        status = hl_base_json_in_end(&in, error);
    hl_base_json_in_close(&in);
    return status;
}

static void documents_are_accepted(void **state)
{
    (void)state;
    static const char *const right[] = {
        "[]",
        " {} ",
        "1",
        "-0.5e+7",
        "\"\"",
        "null",
        "[1,2 , 3]",
        "{\"a\":{\"b\":[true,false]}}",
        "\xEF\xBB\xBF[1]",
        "1e400",
        "123456789012345678901234567890",
        "\"\\u00e9\\ud83d\\ude00\\n\"",
        "\"\xC3\xA9 \xF0\x9F\x98\x80\"",
        "\n\n                    [\n        1\n  ]\n",
        "{\"a\":1,\"a\":2}",
        "\"a text of more than a word, with \\\"quotes\\\" in it\"",
    };
    haul_error error;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        for (int drop = 0; drop < 2; drop++)
            if (skip_all(right[i], strlen(right[i]), drop, &error))
                fail_msg("%s: %s", right[i], error.text);
}

static void wrong_documents_are_located(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } wrong[] = {
        {"", "cut short: expected a value at byte 0"},
        {"[1, 2", "cut short: expected ',' or ']' at byte 5"},
        {"[1, 2}", "not JSON: expected ',' or ']' at byte 5"},
        {"[1,]", "expected a value at byte 3"},
        {"{\"a\" 1}", "expected ':' at byte 5"},
        {"{\"a\": 1, }", "expected a member's name at byte 9"},
        {"{1: 2}", "expected a member's name at byte 1"},
        {"[01]", "expected ',' or ']' at byte 2"},
        {"[1.]", "expected a digit at byte 3"},
        {"[-]", "expected a digit at byte 2"},
        {"[1e]", "expected a digit at byte 3"},
        {"[nul]", "expected true, false or null at byte 1"},
        {"[NaN]", "expected a value at byte 1"},
        {"[1] 2", "something behind the document at byte 4"},
        {"\"abc", "cut short: expected the end of a string at byte 4"},
        {"\"a\tb\"", "control character in a string at byte 2"},
        {"\"\\q\"", "expected an escape of JSON at byte 1"},
        {"\"\\ud83d\"", "expected an escape of JSON at byte 1"},
        {"\"\\ude00\"", "expected an escape of JSON at byte 1"},
        {"\"\\u12\"", "expected an escape of JSON at byte 1"},
        {"\"a\xFF\"", "invalid UTF-8 at byte 2"},
        {"\"\xC3\"", "invalid UTF-8 at byte 1"},
        {"\"\xED\xA0\x80\"", "invalid UTF-8 at byte 1"},
        {"\"\xC0\x80\"", "invalid UTF-8 at byte 1"},
    };
    haul_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int drop = 0; drop < 2; drop++) {
            assert_int_equal(skip_all(wrong[i].text, strlen(wrong[i].text), drop, &error),
                             HAUL_STATUS_BAD_INPUT);
            assert_string_equal(error.file, "j");
            if (!strstr(error.text, wrong[i].says))
                fail_msg("%s: %s", wrong[i].text, error.text);
        }
    assert_int_equal(skip_all("[1\0]", 4, false, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(error.column, 3);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    char *text = malloc(2 * DEEP);
    assert_non_null(text);
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    haul_error error;
    assert_int_equal(skip_all(text, 2 * DEEP, false, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "nested deeper than 2048 at byte 2048"));
    assert_int_equal(skip_all(text + DEEP - 2048, 4096, false, &error), HAUL_OK);
    free(text);
}

static void values_are_pulled(void **state)
{
    (void)state;
    static const char text[] =
        "{\"na\\u006de\": \"a \\\"b\\\" \\u00e9\", \"skipped\": {\"x\": [1, {}]}, \"n\": -12.5,"
        " \"left\": [1, [2, 3], {\"a\": 4}, 5], \"word\": true}";
    for (int drop = 0; drop < 2; drop++) {
        hl_base_json_in in;
        haul_error error = {0};
        drops source = {text, sizeof text - 1};
        assert_int_equal(drop
                             ? hl_base_json_in_open(&in, "j", read_drop, &source, &error)
                             : hl_base_json_in_open_memory(&in, "j", text, sizeof text - 1, &error),
                         HAUL_OK);
        hl_base_json_text key, value;
        assert_true(hl_base_json_in_object(&in));
        assert_true(hl_base_json_in_key(&in, &key) && hl_base_json_is(key, "name"));
        assert_true(hl_base_json_in_scalar(&in, &value) == HL_JSON_STRING &&
                    hl_base_json_is(value, "a \"b\" \xC3\xA9"));
        assert_true(hl_base_json_in_key(&in, &key) && hl_base_json_is(key, "skipped"));
        hl_base_json_in_skip(&in);
        assert_true(hl_base_json_in_key(&in, &key) && hl_base_json_is(key, "n"));
        assert_true(hl_base_json_in_scalar(&in, &value) == HL_JSON_NUMBER &&
                    hl_base_json_is(value, "-12.5"));
        assert_true(hl_base_json_in_key(&in, &key) && hl_base_json_is(key, "left"));
        assert_true(hl_base_json_in_array(&in) && hl_base_json_in_item(&in));
        hl_base_json_in_skip(&in);
        assert_true(hl_base_json_in_item(&in) && hl_base_json_in_array(&in));
        hl_base_json_in_leave(&in);
        assert_true(hl_base_json_in_item(&in));
        hl_base_json_in_skip(&in);
        hl_base_json_in_leave(&in);
        assert_true(hl_base_json_in_key(&in, &key) && hl_base_json_is(key, "word"));
        assert_int_equal(hl_base_json_in_scalar(&in, &value), HL_JSON_TRUE);
        assert_false(hl_base_json_in_key(&in, &key));
        assert_int_equal(hl_base_json_in_end(&in, &error), HAUL_OK);
        hl_base_json_in_close(&in);
    }
}

static void the_first_failure_is_kept(void **state)
{
    (void)state;
    hl_base_json_in in;
    haul_error error = {0};
    hl_base_json_text text;
    assert_int_equal(hl_base_json_in_open_memory(&in, "j", "[\n 1, \"a\"]", 10, &error), HAUL_OK);
    assert_false(hl_base_json_in_object(&in));
    assert_false(hl_base_json_in_array(&in));
    assert_false(hl_base_json_in_item(&in));
    assert_int_equal(hl_base_json_in_scalar(&in, &text), HL_JSON_NONE);
    assert_false(hl_base_json_in_enter(&in, HL_JSON_ARRAY));
    assert_int_equal(hl_base_json_in_kind(&in), HL_JSON_NONE);
    hl_base_json_in_skip(&in);
    hl_base_json_in_leave(&in);
    assert_int_equal(hl_base_json_in_end(&in, &error), HAUL_STATUS_BAD_INPUT);
    assert_string_equal(error.text, "expected an object at byte 0");
    hl_base_json_in_close(&in);
}

static hl_base_json_text text_of(const char *text)
{
    return (hl_base_json_text){text, strlen(text)};
}

static void decimals_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int places;
        int64_t value;
    } right[] = {
        {"1712195495505582.988", 3, INT64_C(1712195495505582988)},
        {"4203669603187.439", 3, 4203669603187439},
        {"0", 3, 0},
        {"-0.0004", 3, 0},
        {"-0.0005", 3, -1},
        {"0.0005", 3, 1},
        {"0.00049999999999999999999999", 3, 0},
        {"2.5e-1", 3, 250},
        {"1.5E3", 3, 1500000},
        {"9223372036854775807", 0, INT64_MAX},
        {"9223372036854775.8070000000000000000000", 3, INT64_MAX},
        {"1e-400", 3, 0},
        {"0e999999999999", 3, 0},
        {"12345678901234567890123e-20", 0, 123},
    };
    int64_t value;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        if (!hl_base_json_scaled(text_of(right[i].text), right[i].places, &value) ||
            value != right[i].value)
            fail_msg("%s", right[i].text);
    }
    static const char *const wrong[] = {
        "1e400", "9223372036854775808", "1e19", "", "-", "01", "1.", ".5", "1e", "x", "0x10"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(hl_base_json_scaled(text_of(wrong[i]), 0, &value));
    double number;
    assert_true(hl_base_json_double(text_of("-1.25e2"), &number) && !(number < -125) &&
                !(number > -125));
    assert_false(hl_base_json_double(text_of("1e400"), &number));
    assert_false(hl_base_json_double(text_of("0x10"), &number));
    assert_false(hl_base_json_double(text_of("nan"), &number));
}

/* One number of a document, by memory or by drops of it, is what the text alone is by 10^places. */
static void check_decimal(const char *number, int k)
{
    const int places = k / 2;
    char text[64];
    snprintf(text, sizeof text, "[%s%s]", k % 2 ? "" : " ", number);
    drops source = {text, strlen(text)};
    hl_base_json_in in;
    haul_error error = {0};
    int64_t value = -1, expected = -1;
    const hl_base_json_text bare = text_of(number);
    const size_t quote = bare.bytes[0] == '"';
    const bool right = hl_base_json_scaled(
        (hl_base_json_text){bare.bytes + quote, bare.length - 2 * quote}, places, &expected);
    assert_int_equal(k % 4 > 1 ? hl_base_json_in_open(&in, "j", read_drop, &source, &error)
                               : hl_base_json_in_open_memory(&in, "j", text, strlen(text), &error),
                     HAUL_OK);
    assert_true(hl_base_json_in_array(&in) && hl_base_json_in_item(&in));
    if (hl_base_json_in_scaled(&in, places, &value) != right || value != expected)
        fail_msg("%s by 10^%d: %lld, %lld", number, places, (long long)value, (long long)expected);
    assert_false(hl_base_json_in_item(&in));
    assert_int_equal(hl_base_json_in_end(&in, &error), HAUL_OK);
    hl_base_json_in_close(&in);
}

/* Read in documents, fast, they are the same, and where they end beyond the window too. */
static void decimals_are_taken(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "7",
        "12345678",
        "123456789",
        "123456789012345",
        "1234567890123456",
        "12345678901234567",
        "0.5",
        "1712195495505582.988",
        "9223372036854775.807",
        "9223372036854775.808",
        "9999999999999999.999",
        "9999999999999999",
        "123456789012345.1",
        "99999999.999",
        "1.25",
        "1.2345",
        "-3.5",
        "2.5e-1",
        "15E2",
        "9223372036854775807",
        "9223372036854775808",
        "1e400",
        "\"12.5\"",
        "\"x\"",
        "true",
        "[1]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int k = 0; k < 8; k++)
            check_decimal(texts[i], k);
    hl_base_json_in in;
    haul_error error = {0};
    int64_t value;
    assert_int_equal(hl_base_json_in_open_memory(&in, "j", "01", 2, &error), HAUL_OK);
    (void)hl_base_json_in_scaled(&in, 0, &value);
    assert_int_equal(hl_base_json_in_end(&in, &error), HAUL_STATUS_BAD_INPUT);
    hl_base_json_in_close(&in);
}

/* As many numbers are told as by another reader, which remembers none. */
static void tell_again(hl_base_json_in *in, hl_base_json_in *plain)
{
    hl_base_json_memo memo = {.length = 0};
    haul_error error = {0};
    assert_true(hl_base_json_in_array(in) && hl_base_json_in_array(plain));
    while (hl_base_json_in_item(plain)) {
        int64_t value = -1, expected = -1;
        assert_true(hl_base_json_in_item(in));
        const bool is_number = hl_base_json_in_scaled(plain, 1, &expected);
        assert_int_equal(hl_base_json_in_repeated(in, 1, &memo, &value), is_number);
        assert_true(value == expected);
        assert_true(in->value_at == plain->value_at);
    }
    assert_false(hl_base_json_in_item(in));
    assert_int_equal(hl_base_json_in_end(in, &error), HAUL_OK);
    assert_int_equal(hl_base_json_in_end(plain, &error), HAUL_OK);
    hl_base_json_in_close(in);
    hl_base_json_in_close(plain);
}

/* Numbers that begin like the last one, end like it or are it, whole and cut by the window's end.
 */
static void numbers_are_told_again(void **state)
{
    (void)state;
    enum { COUNT = 60000 };
    static const char *const numbers[] = {"7",       "7",     "71",       "712",       "7123456",
                                          "7123456", "\"7\"", "71234567", "712345678", "7.5",
                                          "-7",      "7e1",   "true",     "[7]"};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    char *const text = malloc(COUNT * 16);
    assert_non_null(text);
    size_t length = 0;
    for (unsigned i = 0, drawn = 1; i < COUNT; i++) {
        drawn = drawn * 1103515245 + 12345;
        const char *const number = numbers[drawn >> 16 & 1 ? 4 : (drawn >> 17) % NUMBERS];
        const char *const before = i ? "," : "[", *const blank = drawn >> 29 ? "" : " ";
        length += (size_t)sprintf(text + length, "%s%s%s", before, blank, number);
    }
    text[length++] = ']';
    for (int by_drops = 0; by_drops < 2; by_drops++) {
        drops source = {text, length};
        hl_base_json_in in, plain;
        haul_error error = {0};
        assert_int_equal(by_drops ? hl_base_json_in_open(&in, "j", read_drop, &source, &error)
                                  : hl_base_json_in_open_memory(&in, "j", text, length, &error),
                         HAUL_OK);
        assert_int_equal(hl_base_json_in_open_memory(&plain, "j", text, length, &error), HAUL_OK);
        tell_again(&in, &plain);
    }
    free(text);
}

/* Names come again in the same writing, in others, and cut by the window's end; the caller's tags
 * stay with them. */
/* A member is one of six names, mostly that of its place, or of the place half as far. */
enum { ROUNDS = 40000, NAMES = 6 };

static size_t write_members(char *text)
{
    static const char *const members[NAMES] = {
        "\"a long name of a member\": 1",
        "\"a long name of a number\": 2",
        "\"b\":3",
        "\"\\u0063\" : 4",
        "\"d of more bytes than are kept, which a gap may not have any more\": 5",
        "\"a long name\":6"};
    size_t length = 1;
    text[0] = '[';
    for (unsigned i = 0, drawn = 1; i < ROUNDS; i++) {
        for (int k = 0; k < NAMES; k++) {
            drawn = drawn * 1103515245 + 12345;
            length += (size_t)sprintf(text + length, "%s%s",
                                      k   ? ", "
                                      : i ? ",\n{"
                                          : "{",
                                      members[drawn >> 16 & 1 ? k : k / 2]);
        }
        text[length++] = '}';
    }
    text[length++] = ']';
    return length;
}

static void names_are_told_again(void **state)
{
    (void)state;
    static const char *const names[NAMES] = {
        "a long name of a member",
        "a long name of a number",
        "b",
        "c",
        "d of more bytes than are kept, which a gap may not have any more",
        "a long name"};
    char *const text = malloc(ROUNDS * 400);
    assert_non_null(text);
    const size_t length = write_members(text);
    char path[] = "/tmp/haul-json-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, length), length);
    close(descriptor);
    hl_base_byte_source *source;
    hl_base_json_in in;
    haul_error error = {0};
    assert_int_equal(hl_base_byte_source_open(path, &source, &error), HAUL_OK);
    assert_int_equal(hl_base_json_in_open(&in, path, hl_base_byte_source_read, source, &error),
                     HAUL_OK);
    assert_true(hl_base_json_in_array(&in));
    size_t members_met = 0;
    while (hl_base_json_in_item(&in)) {
        assert_true(hl_base_json_in_object(&in));
        for (;; members_met++) {
            hl_base_json_text key;
            int64_t value = 0;
            const int given = members_met % 5 ? hl_base_json_in_tagged(&in, &key) : 0;
            if (given < 0 || (members_met % 5 == 0 && !hl_base_json_in_key(&in, &key)))
                break;
            if (given) { /* the name is known: its text is not set */
                assert_true(hl_base_json_in_scaled(&in, 0, &value));
                assert_int_equal(given, value);
                continue;
            }
            uint8_t *const tag = hl_base_json_in_tag(&in);
            const int before = *tag;
            *tag = 0;
            const size_t at = key.length;
            const char first = key.bytes[0], last = key.bytes[at - 1];
            assert_true(hl_base_json_in_scaled(&in, 0, &value) && value >= 1 && value <= NAMES);
            assert_int_equal(at, strlen(names[value - 1]));
            assert_int_equal(first, names[value - 1][0]);
            assert_int_equal(last, names[value - 1][at - 1]);
            assert_true(!before || before == value);
            *tag = (uint8_t)value;
        }
    }
    assert_int_equal(hl_base_json_in_end(&in, &error), HAUL_OK);
    assert_int_equal(members_met, ROUNDS * NAMES);
    hl_base_json_in_close(&in);
    hl_base_byte_source_close(source);
    remove(path);
    free(text);
}

static void long_texts_are_bounded(void **state)
{
    (void)state;
    enum { LONG = 17 << 20 };
    char path[] = "/tmp/haul-json-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    fputs("[\"", file);
    for (int i = 0; i < LONG; i++)
        fputc('a', file);
    fputs("\"]", file);
    fclose(file);
    haul_error error = {0};
    for (int skip = 0; skip < 2; skip++) {
        hl_base_byte_source *source;
        hl_base_json_in in;
        hl_base_json_text text;
        assert_int_equal(hl_base_byte_source_open(path, &source, &error), HAUL_OK);
        assert_int_equal(hl_base_json_in_open(&in, path, hl_base_byte_source_read, source, &error),
                         HAUL_OK);
        assert_true(hl_base_json_in_array(&in) && hl_base_json_in_item(&in));
        if (skip)
            hl_base_json_in_skip(&in);
        else
            assert_int_equal(hl_base_json_in_scalar(&in, &text), HL_JSON_NONE);
        hl_base_json_in_leave(&in);
        assert_int_equal(hl_base_json_in_end(&in, &error), skip ? HAUL_OK : HAUL_STATUS_BAD_INPUT);
        assert_non_null(strstr(error.text, "a text of more than 16 MiB at byte 2"));
        hl_base_json_in_close(&in);
        hl_base_byte_source_close(source);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_accepted),    cmocka_unit_test(wrong_documents_are_located),
        cmocka_unit_test(depth_is_bounded),          cmocka_unit_test(values_are_pulled),
        cmocka_unit_test(the_first_failure_is_kept), cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(long_texts_are_bounded),    cmocka_unit_test(decimals_are_taken),
        cmocka_unit_test(names_are_told_again),      cmocka_unit_test(numbers_are_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
