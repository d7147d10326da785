#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expression.h"

static const hl_base_symbol names[] = {{"N", 0, 0}, {"blocks", 1, 0}, {"tile", -1, 16}};
static const hl_base_symbols symbols = {names, 3};
static const hl_base_place place = {"k.yaml", 7, 10};

/* N = 1000, blocks = 32 */
static double value_of(const char *text)
{
    static const double values[] = {1000, 32};
    hl_base_arena arena = {0};
    const hl_base_expression *expression = NULL;
    haul_error error = {0};
    double value = 0;
    if (hl_base_expression_compile(text, place, symbols, &arena, &expression, &error) ||
        hl_base_expression_value(expression, values, &value, &error))
        fail_msg("%s: %s", text, error.text);
    assert_string_equal(hl_base_expression_text(expression), text);
    hl_base_arena_release(&arena);
    return value;
}

static void values_are_those_of_arithmetic(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"42", 42},
        {" .5 ", 0.5},
        {"1e3", 1000},
        {"2.5E-1", 0.25},
        {"N", 1000},
        {"2*N/tile", 125},
        {"2*N/tile + 1", 126},
        {"1 - 2 - 3", -4},
        {"64/4/2", 8},
        {"2^3^2", 512},
        {"-2^2", -4},
        {"2^-1", 0.5},
        {"2*-3", -6},
        {"--3", 3},
        {"+N", 1000},
        {"(1 + 2) * 3", 9},
        {"N^2", 1e6},
        {"N^3 / (blocks*tile)", 1e9 / 512},
        {"min(N, 3, blocks)", 3},
        {"max(N, 3)", 1000},
        {"max(1, 2) ^ 2", 4},
        {"ceil(N / tile)", 63},
        {"floor(N / tile)", 62},
        {"sqrt(N * 10)", 100},
        {"log2(tile)", 4},
        {"ceil(log2(N)) * min(2, max(1, N))", 20},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_NEAR(value_of(rows[i].text), rows[i].value, 1e-15);
}

static void check_refused(const char *text, int column, const char *why)
{
    hl_base_arena arena = {0};
    const hl_base_expression *expression = NULL;
    haul_error error = {0};
    assert_int_equal(hl_base_expression_compile(text, place, symbols, &arena, &expression, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_null(expression);
    assert_string_equal(error.text, why);
    assert_string_equal(error.file, "k.yaml");
    assert_int_equal(error.line, 7);
    assert_int_equal(error.column, 10 + column);
    hl_base_arena_release(&arena);
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    check_refused("", 0, "expected a number, a name or '(', and here the expression ends");
    check_refused("2*", 2, "expected a number, a name or '(', and here the expression ends");
    check_refused("2**N", 2, "expected a number, a name or '(', not '*'");
    check_refused("2 N", 2, "expected an operator or the end, not 'N'");
    check_refused("(N+1", 4, "expected ')' or an operator, and here the expression ends");
    check_refused("N)", 1, "expected an operator or the end, not ')'");
    check_refused("0x10", 1, "expected an operator or the end, not 'x'");
    check_refused("min(N)", 5, "expected ',' and a second value, not ')'");
    check_refused("sqrt(N, 2)", 6, "expected ')', not ','");
    check_refused("sqrt N", 5, "expected '(' behind the name of a function, not 'N'");
    check_refused("N\xc2\xb2", 1, "expected an operator or the end, not the byte 0xc2");
    check_refused("1e999", 0, "the number is too large");
    check_refused("2*blokcs", 2, "unknown variable 'blokcs'; did you mean 'blocks'?");
    check_refused("n", 0, "unknown variable 'n'; did you mean 'N'?");
    check_refused("quantity", 0, "unknown variable 'quantity'; the variable here is 'N'");
    check_refused("N + 1/(tile - 16)", 5, "division by zero");
    check_refused("0^-1", 1, "division by zero: a power of 0 below 0");
    check_refused("(1e200)*1e200", 7, "the value is too large");
    check_refused("sqrt(-1)", 0, "undefined: the square root of a negative number");
    check_refused("log2(0)", 0, "undefined: the logarithm of a number that is not above 0");
    check_refused("(-8)^0.5", 4, "undefined: a fractional power of a negative number");
}

/* `part` so many times, between two ends. */
static char *repeated(const char *before, const char *part, int times, const char *after)
{
    char *text = calloc(1, strlen(before) + strlen(part) * (size_t)times + strlen(after) + 1);
    assert_non_null(text);
    strcat(text, before);
    for (int i = 0; i < times; i++)
        strcat(text, part);
    return strcat(text, after);
}

static void limits_hold(void **state)
{
    (void)state;
    char *text = repeated("", "(", 33, "1");
    check_refused(text, 32, "too deep: more than 32 parentheses, signs and powers are open");
    free(text);
    text = repeated("", "-", 33, "1");
    check_refused(text, 32, "too deep: more than 32 parentheses, signs and powers are open");
    free(text);
    text = repeated("1", "^1", 33, "");
    check_refused(text, 64, "too deep: more than 32 values wait for their operation");
    free(text);
    text = repeated("N", "+N", 200, "");
    check_refused(text, 257, "too long: more than 256 operations and values");
    free(text);
    text = repeated("1", " ", 1024, "");
    check_refused(text, 0, "too long: an expression has at most 1024 characters");
    free(text);
    text = repeated("1", "+1", 500, ""); /* worked out at once */
    CHECK_NEAR(value_of(text), 501, 1e-15);
    free(text);
    text = repeated("a", "b", 63, "");
    check_refused(text, 0, "a name longer than 63 characters");
    free(text);
}

static void check_undefined(const char *text, double n, int column, const char *why)
{
    hl_base_arena arena = {0};
    const hl_base_expression *expression = NULL;
    haul_error error = {0};
    double value = 7;
    const double values[] = {n, 1};
    assert_int_equal(hl_base_expression_compile(text, place, symbols, &arena, &expression, &error),
                     HAUL_OK);
    assert_int_equal(hl_base_expression_value(expression, values, &value, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_true(value == 7);
    assert_string_equal(error.text, why);
    assert_int_equal(error.column, 10 + column);
    hl_base_arena_release(&arena);
}

static void values_that_are_not_defined_are_told(void **state)
{
    (void)state;
    check_undefined("1 + tile/(N - 4)", 4, 8, "division by zero");
    check_undefined("N^3", 1e200, 1, "the value is too large");
    check_undefined("sqrt(N - 5)", 4, 0, "undefined: the square root of a negative number");
    check_undefined("2*log2(N)", 0, 2, "undefined: the logarithm of a number that is not above 0");
    check_undefined("0*(0/N)", 0, 4, "division by zero");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_arithmetic),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(values_that_are_not_defined_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
