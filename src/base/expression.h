/* Arithmetic in a few variables, as people write it: "2*N/16 + ceil(log2(N))". Compiled once to a
 * small program, evaluated millions of times a second.
 *
 *     + - * /       from the left, * and / before + and -
 *     ^             a power, from the right, before a sign: -N^2 is -(N^2)
 *     min max       of two or more
 *     ceil floor sqrt log2
 *
 * Numbers are decimal: 3, 0.5, 1e9. A name is letters, digits and '_', in the case it was given. */
#ifndef HAUL_BASE_EXPRESSION_H
#define HAUL_BASE_EXPRESSION_H

#include <stddef.h>

#include "base/arena.h"
#include "base/fail.h"
#include "haul/status.h"

/* One expression has at most so many bytes, operations and values waiting at once. */
enum {
    HL_EXPRESSION_BYTES = 1024,
    HL_EXPRESSION_STEPS = 256,
    HL_EXPRESSION_DEPTH = 32,
    HL_EXPRESSION_NAME = 63
};

typedef struct hl_base_expression hl_base_expression;

/* A name that expressions may use: a constant with its value, or the variable that values[variable]
 * holds when it is evaluated. */
typedef struct hl_base_symbol {
    const char *name;
    int variable; /* -1: a constant */
    double value;
} hl_base_symbol;

typedef struct hl_base_symbols {
    const hl_base_symbol *items;
    size_t count;
} hl_base_symbols;

/* Compiles an expression into `arena`, which must hold what `place.file` points to as long. `place`
 * is that of its first character; with column 0 errors tell the line alone. What
 * depends on no variable is worked out here. Returns BAD_INPUT with the place of what is wrong:
 * syntax, an unknown name (with the nearest one), a limit above, or a constant part that divides by
 * zero, overflows or is undefined. */
haul_status hl_base_expression_compile(const char *text, hl_base_place place,
                                       hl_base_symbols symbols, hl_base_arena *arena,
                                       const hl_base_expression **out, haul_error *error);

/* The value with the variables, all finite, at `values`: always finite. Returns BAD_INPUT, with the
 * place of the operation, where it divides by zero, overflows or is undefined. */
haul_status hl_base_expression_value(const hl_base_expression *self, const double *values,
                                     double *out, haul_error *error);

/* The text it was compiled from. */
const char *hl_base_expression_text(const hl_base_expression *self);

#endif
