/* Texts with expressions in braces, "in {i}" or "{8*T*T}", and conditions, "j == 0": compiled once,
 * worked out in every round of a loop. */
#ifndef HAUL_SIMULATE_TEMPLATE_H
#define HAUL_SIMULATE_TEMPLATE_H

#include <stdbool.h>

#include "base/expression.h"
#include "machine/yaml_read.h"

/* What compiling needs. */
typedef struct haul_scope {
    haul_yaml yaml;
    haul_symbols symbols;
} haul_scope;

typedef struct haul_template haul_template;
typedef struct haul_condition haul_condition;

haul_status haul_template_compile(const haul_scope *scope, const haul_node *node,
                                  haul_template **out);

/* Where an expanded text goes. */
typedef struct haul_text_room {
    char *at;
    size_t left;
} haul_text_room;

/* Writes the text with `values` for the variables, and its NUL, into `room`, which goes on behind
 * it. *is_negative: an expression in it is below 0. Returns BAD_INPUT. */
haul_status haul_template_expand(const haul_template *self, const haul_scope *scope,
                                 const double *values, haul_text_room *room, bool *is_negative);

/* "A == B", with ==, !=, <, <=, > or >=. */
haul_status haul_condition_compile(const haul_scope *scope, const haul_node *node,
                                   haul_condition **out);
haul_status haul_condition_holds(const haul_condition *self, const haul_scope *scope,
                                 const double *values, bool *holds);

/* A scalar as an expression. */
haul_status haul_node_expression(const haul_scope *scope, const haul_node *node,
                                 const haul_expression **out);

#endif
