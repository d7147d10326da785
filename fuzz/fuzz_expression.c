/* Expressions: what is compiled has a finite value or an error with a place, the same each time and
 * by both ways to ask; what is refused has a place within the text and a reason. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const haul_error *error, size_t length)
{
    assert(error->status == HAUL_STATUS_BAD_INPUT && error->text[0] &&
           !strcmp(error->file, "input"));
    assert(error->line == 1 && error->column >= 1 && (size_t)error->column <= length + 1);
}

static void check_value(const hl_base_expression *expression, double n, size_t length)
{
    haul_error error = {0};
    double value = 0;
    if (hl_base_expression_value(expression, &n, &value, &error))
        check_error(&error, length);
    else
        assert(isfinite(value));
}

/* A constant in brackets keeps its value, and so does the text that is kept. */
static void check_again(const hl_base_expression *expression, hl_base_symbols symbols,
                        hl_base_arena *arena)
{
    const hl_base_place place = {"input", 1, 1};
    const hl_base_expression *again = NULL;
    const double n = 3;
    assert(!hl_base_expression_compile(hl_base_expression_text(expression), place, symbols, arena,
                                       &again, NULL));
    double value = 0, same = 0;
    assert(hl_base_expression_value(expression, &n, &value, NULL) ==
           hl_base_expression_value(again, &n, &same, NULL));
    assert(value == same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const hl_base_symbol symbols[] = {{"N", 0, 0}, {"tile", -1, 16}, {"zero", -1, 0}};
    const hl_base_symbols known = {symbols, 3};
    static const double sizes[] = {0, 1, 16, 1000, 1e300, -3.5};
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    hl_base_arena arena = {0};
    const hl_base_expression *expression = NULL;
    haul_error error = {0};
    const hl_base_place place = {"input", 1, 1};
    if (hl_base_expression_compile(text, place, known, &arena, &expression, &error)) {
        assert(!expression);
        check_error(&error, strlen(text));
    } else {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check_value(expression, sizes[i], strlen(text));
        check_again(expression, known, &arena);
    }
    hl_base_arena_release(&arena);
    free(text);
    return 0;
}
