/* A parser by precedence that writes a program for a stack. */
#include "base/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

typedef enum operation {
    PUSH_CONSTANT,
    PUSH_VARIABLE,
    NEGATE,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    POWER,
    MINIMUM,
    MAXIMUM,
    CEILING,
    FLOOR,
    ROOT,
    LOGARITHM
} operation;

typedef struct step {
    operation op;
    int variable;
    int at; /* in the text: where an error of this step is */
    double value;
} step;

struct hl_base_expression {
    hl_base_place place;
    const char *text;
    size_t count;
    step steps[];
};

static const struct {
    const char *name;
    operation op;
    bool is_pair; /* takes two or more */
} functions[] = {
    {"min", MINIMUM, true},  {"max", MAXIMUM, true}, {"ceil", CEILING, false},
    {"floor", FLOOR, false}, {"sqrt", ROOT, false},  {"log2", LOGARITHM, false},
};

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

typedef struct parser {
    const char *text;
    int at;
    int nested;  /* parentheses, signs and powers that are open */
    int waiting; /* values on the stack at this step */
    hl_base_place place;
    hl_base_symbols symbols;
    step steps[HL_EXPRESSION_STEPS];
    size_t count;
    haul_error *error;
} parser;

/* Expressions of options have no column: then the error names the file or option alone. */
static haul_status fail_at(haul_error *error, hl_base_place place, int at, const char *text)
{
    place.column += place.column ? at : 0;
    return hl_base_fail_at(error, place, "%s", text);
}

static haul_status fail_here(const parser *self, const char *text)
{
    return fail_at(self->error, self->place, self->at, text);
}

/* Holds by the order of the enumeration, as does `first + 1` in parse_chain. */
static bool takes_two(operation op)
{
    return op >= ADD && op <= MAXIMUM;
}

static double apply_operation(operation op, double a, double b)
{
    switch (op) {
    case NEGATE:
        return -a;
    case ADD:
        return a + b;
    case SUBTRACT:
        return a - b;
    case MULTIPLY:
        return a * b;
    case DIVIDE:
        return a / b;
    case POWER:
        /* Squares and cubes are most powers in kernels' formulas, and pow takes far longer than
         * these. */
        return b == 2 ? a * a : b == 3 ? a * a * a : pow(a, b);
    case MINIMUM:
        return a < b ? a : b;
    case MAXIMUM:
        return a > b ? a : b;
    case CEILING:
        return ceil(a);
    case FLOOR:
        return floor(a);
    case ROOT:
        return sqrt(a);
    case LOGARITHM:
        return log2(a);
    case PUSH_CONSTANT:
    case PUSH_VARIABLE:
        break;
    }
    return a;
}

/* Why `op` of finite values is not finite. */
static const char *reason(operation op, double a, double b)
{
    if (op == DIVIDE && b == 0)
        return "division by zero";
    if (op == POWER && a == 0 && b < 0)
        return "division by zero: a power of 0 below 0";
    if (op == POWER && a < 0 && b != floor(b))
        return "undefined: a fractional power of a negative number";
    if (op == ROOT)
        return "undefined: the square root of a negative number";
    if (op == LOGARITHM)
        return "undefined: the logarithm of a number that is not above 0";
    return "the value is too large";
}

/* --- writing steps */

/* The bound keeps `steps` a plain array in the parser: no allocation before the syntax is right. */
static haul_status add_step(parser *self, step added)
{
    if (self->count == HL_EXPRESSION_STEPS)
        return fail_here(self, "too long: more than 256 operations and values");
    self->steps[self->count++] = added;
    return HAUL_OK;
}

static haul_status add_value(parser *self, step value)
{
    if (self->waiting == HL_EXPRESSION_DEPTH)
        return fail_here(self, "too deep: more than 32 values wait for their operation");
    self->waiting++;
    return add_step(self, value);
}

/* The operation, or its value where all that it takes is constant. */
static haul_status add_operation(parser *self, operation op, int at)
{
    const size_t taken = takes_two(op) ? 2 : 1;
    step *first = &self->steps[self->count - taken];
    const step *last = &self->steps[self->count - 1];
    self->waiting -= (int)taken - 1;
    /* The program is in postfix order. Where its last step is a constant, that is the whole
     * right operand, so the step before it ends the left one; if that is a constant too, both
     * are known. */
    if (last->op != PUSH_CONSTANT || first->op != PUSH_CONSTANT)
        return add_step(self, (step){.op = op, .at = at});
    const double value = apply_operation(op, first->value, last->value);
    if (!isfinite(value))
        return fail_at(self->error, self->place, at, reason(op, first->value, last->value));
    first->value = value;
    self->count -= taken - 1;
    return HAUL_OK;
}

/* --- reading */

static haul_status parse_sum(parser *self);
static haul_status parse_signed(parser *self);

static char skip_blanks(parser *self)
{
    while (self->text[self->at] == ' ' || self->text[self->at] == '\t')
        self->at++;
    return self->text[self->at];
}

static haul_status fail_unexpected(const parser *self, const char *expected)
{
    char text[128];
    const unsigned char found = (unsigned char)self->text[self->at];
    if (!found)
        snprintf(text, sizeof text, "expected %s, and here the expression ends", expected);
    /* Bytes that do not print are shown as numbers: the text may hold any bytes. */
    else if (isprint(found))
        snprintf(text, sizeof text, "expected %s, not '%c'", expected, found);
    else
        snprintf(text, sizeof text, "expected %s, not the byte 0x%02x", expected, found);
    return fail_here(self, text);
}

static haul_status open_nested(parser *self)
{
    /* The bound is one on the parser's own recursion: text from a file must not exhaust the
     * stack. */
    if (self->nested == HL_EXPRESSION_DEPTH)
        return fail_here(self, "too deep: more than 32 parentheses, signs and powers are open");
    self->nested++;
    self->at++;
    return HAUL_OK;
}

/* Digits, a point, an exponent: what strtod takes beyond that (hexadecimal, "inf") is no number
 * here. */
static size_t number_length(const char *text)
{
    size_t length = strspn(text, "0123456789");
    size_t digits = length;
    if (text[length] == '.') {
        const size_t after = strspn(text + length + 1, "0123456789");
        length += 1 + after;
        digits += after;
    }
    if (digits && (text[length] == 'e' || text[length] == 'E')) {
        const size_t sign = strspn(text + length + 1, "+-") == 1;
        const size_t exponent = strspn(text + length + 1 + sign, "0123456789");
        length += exponent ? 1 + sign + exponent : 0;
    }
    return digits ? length : 0;
}

static haul_status parse_number(parser *self)
{
    const char *start = self->text + self->at;
    const size_t length = number_length(start);
    if (!length)
        return fail_unexpected(self, "a number, a name or '('");
    /* strtod would read on past the token, into "inf" or "0x" of a name: it gets the digits
     * alone. */
    char digits[HL_EXPRESSION_BYTES + 1];
    memcpy(digits, start, length);
    digits[length] = '\0';
    const double value = strtod(digits, NULL);
    if (!isfinite(value))
        return fail_here(self, "the number is too large");
    const haul_status status =
        add_value(self, (step){.op = PUSH_CONSTANT, .value = value, .at = self->at});
    self->at += (int)length;
    return status;
}

static haul_status add_symbol(parser *self, const char *name)
{
    for (size_t i = 0; i < self->symbols.count; i++) {
        const hl_base_symbol *symbol = &self->symbols.items[i];
        if (strcmp(name, symbol->name) != 0)
            continue;
        /* Constants are put in here, so that evaluating never looks at a name. */
        step value = {.op = PUSH_CONSTANT, .value = symbol->value, .at = self->at};
        if (symbol->variable >= 0)
            value = (step){.op = PUSH_VARIABLE, .variable = symbol->variable, .at = self->at};
        return add_value(self, value);
    }
    char text[256];
    /* A name nearby is offered; where none is near, any variable shows what names look like. */
    size_t best = self->symbols.count;
    for (size_t i = 0; i < self->symbols.count; i++)
        if (hl_base_is_near(name, self->symbols.items[i].name) &&
            (best == self->symbols.count ||
             hl_base_edit_distance(name, self->symbols.items[i].name) <
                 hl_base_edit_distance(name, self->symbols.items[best].name)))
            best = i;
    if (best < self->symbols.count)
        snprintf(text, sizeof text, "unknown variable '%.63s'; did you mean '%.63s'?", name,
                 self->symbols.items[best].name);
    else if (self->symbols.count)
        snprintf(text, sizeof text, "unknown variable '%.63s'; the variable here is '%.63s'", name,
                 self->symbols.items[0].name);
    else
        snprintf(text, sizeof text, "unknown variable '%.63s'; there are none here", name);
    return fail_here(self, text);
}

static haul_status parse_close(parser *self, const char *expected)
{
    if (skip_blanks(self) != ')')
        return fail_unexpected(self, expected);
    self->at++;
    self->nested--;
    return HAUL_OK;
}

/* The arguments of a function, from behind its '(' on. */
static haul_status parse_arguments(parser *self, int function, int at)
{
    const bool is_pair = functions[function].is_pair;
    HAUL_TRY(parse_sum(self));
    if (!is_pair)
        HAUL_TRY(add_operation(self, functions[function].op, at));
    else if (skip_blanks(self) != ',')
        return fail_unexpected(self, "',' and a second value");
    while (is_pair && skip_blanks(self) == ',') {
        self->at++;
        HAUL_TRY(parse_sum(self));
        HAUL_TRY(add_operation(self, functions[function].op, at));
    }
    return parse_close(self, is_pair ? "',' or ')'" : "')'");
}

/* A name, or a function with its arguments. */
static haul_status parse_name(parser *self)
{
    char name[HL_EXPRESSION_NAME + 1];
    const int at = self->at;
    size_t length = 0;
    for (char c; isalnum((unsigned char)(c = self->text[at + (int)length])) || c == '_';)
        length++;
    if (length > HL_EXPRESSION_NAME)
        return fail_here(self, "a name longer than 63 characters");
    memcpy(name, self->text + at, length);
    name[length] = '\0';
    int function = 0;
    while (function < FUNCTION_COUNT && strcmp(functions[function].name, name) != 0)
        function++;
    if (function == FUNCTION_COUNT) {
        const haul_status status = add_symbol(self, name);
        self->at += status ? 0 : (int)length;
        return status;
    }
    self->at += (int)length;
    if (skip_blanks(self) != '(')
        return fail_unexpected(self, "'(' behind the name of a function");
    /* The parenthesis counts until parse_close, so that "((((" is refused before it is deep. */
    HAUL_TRY(open_nested(self));
    return parse_arguments(self, function, at);
}

static haul_status parse_value(parser *self)
{
    const char first = skip_blanks(self);
    if (isalpha((unsigned char)first) || first == '_')
        return parse_name(self);
    if (first != '(')
        return parse_number(self);
    HAUL_TRY(open_nested(self));
    HAUL_TRY(parse_sum(self));
    return parse_close(self, "')' or an operator");
}

/* a^b, b signed or a power itself. */
static haul_status parse_power(parser *self)
{
    haul_status status = parse_value(self);
    if (status || skip_blanks(self) != '^')
        return status;
    const int at = self->at;
    status = open_nested(self);
    if (!status)
        status = parse_signed(self);
    /* Nothing closes the power: it ends with its operand. After an error the count does not
     * matter. */
    self->nested--;
    return status ? status : add_operation(self, POWER, at);
}

static haul_status parse_signed(parser *self)
{
    const char sign = skip_blanks(self);
    if (sign != '-' && sign != '+')
        return parse_power(self);
    const int at = self->at;
    haul_status status = open_nested(self);
    if (!status)
        status = parse_signed(self);
    self->nested--;
    return status || sign == '+' ? status : add_operation(self, NEGATE, at);
}

/* Operands from the left, with the signs of two operations between them: `first` and the next. */
static haul_status parse_chain(parser *self, haul_status (*operand)(parser *), const char signs[2],
                               operation first)
{
    haul_status status = operand(self);
    while (!status) {
        const char sign = skip_blanks(self);
        if (sign != signs[0] && sign != signs[1])
            break;
        const int at = self->at++;
        status = operand(self);
        if (!status)
            status = add_operation(self, sign == signs[0] ? first : first + 1, at);
    }
    return status;
}

static haul_status parse_product(parser *self)
{
    return parse_chain(self, parse_signed, "*/", MULTIPLY);
}

static haul_status parse_sum(parser *self)
{
    return parse_chain(self, parse_product, "+-", ADD);
}

haul_status hl_base_expression_compile(const char *text, hl_base_place place,
                                       hl_base_symbols symbols, hl_base_arena *arena,
                                       const hl_base_expression **out, haul_error *error)
{
    /* About 6 KB on the stack, and no allocation for an expression that is refused. */
    parser self = {.text = text, .place = place, .symbols = symbols, .error = error};
    if (strnlen(text, HL_EXPRESSION_BYTES + 1) > HL_EXPRESSION_BYTES)
        return fail_here(&self, "too long: an expression has at most 1024 characters");
    HAUL_TRY(parse_sum(&self));
    if (skip_blanks(&self))
        return fail_unexpected(&self, "an operator or the end");
    hl_base_expression *made =
        hl_base_arena_alloc(arena, sizeof *made + self.count * sizeof *self.steps);
    /* hl_base_expression_text gives it back as long as the arena lives; the caller's text may go.
     */
    char *kept = hl_base_arena_string(arena, text);
    if (!made || !kept)
        return hl_base_fail_no_memory(error);
    made->place = place;
    made->text = kept;
    made->count = self.count;
    memcpy(made->steps, self.steps, self.count * sizeof *self.steps);
    *out = made;
    return HAUL_OK;
}

/* --- evaluating */

/* An operation whose value is not finite, and what it was asked of. */
typedef struct failure {
    const step *at; /* NULL: none */
    double a;
    double b;
} failure;

/* Runs the program: the last value is kept aside, the others wait on a stack. */
static inline double evaluate(const hl_base_expression *self, const double *values, failure *failed)
{
    /* `last` of the first value is a 0 that nobody takes: hence one place more than the depth. */
    double waiting[HL_EXPRESSION_DEPTH + 1];
    size_t count = 0;
    double last = 0;
    for (const step *at = self->steps; at < self->steps + self->count; at++) {
        if (at->op == PUSH_CONSTANT || at->op == PUSH_VARIABLE) {
            waiting[count++] = last;
            last = at->op == PUSH_CONSTANT ? at->value : values[at->variable];
            continue;
        }
        /* the compiler wrote as many values before it as it takes */
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
        const double a = takes_two(at->op) ? waiting[--count] : last;
        const double value = apply_operation(at->op, a, last);
        if (!isfinite(value)) {
            *failed = (failure){at, a, last};
            return (double)NAN;
        }
        last = value;
    }
    return last;
}

haul_status hl_base_expression_value(const hl_base_expression *self, const double *values,
                                     double *out, haul_error *error)
{
    failure failed = {0};
    const double value = evaluate(self, values, &failed);
    if (failed.at)
        return fail_at(error, self->place, failed.at->at,
                       reason(failed.at->op, failed.a, failed.b));
    if (!isfinite(value)) /* the variable itself */
        return fail_at(error, self->place, 0, "the value is not a finite number");
    *out = value;
    return HAUL_OK;
}

const char *hl_base_expression_text(const hl_base_expression *self)
{
    return self->text;
}
