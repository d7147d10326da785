/* Texts with expressions in braces, "in {i}" or "{8*T*T}", and conditions, "j == 0": compiled once,
 * worked out in every round of a loop. */
#ifndef HAUL_SIMULATE_TEMPLATE_H
#define HAUL_SIMULATE_TEMPLATE_H

#include <stdbool.h>

#include "base/expression.h"
#include "machine/yaml_read.h"

/* The scope in which a template is compiled. */
typedef struct hl_simulate_scope {
    hl_machine_yaml yaml;
    hl_base_symbols symbols;
} hl_simulate_scope;

typedef struct hl_simulate_template hl_simulate_template;
typedef struct hl_simulate_condition hl_simulate_condition;

haul_status hl_simulate_template_compile(const hl_simulate_scope *scope,
                                         const hl_machine_node *node, hl_simulate_template **out);

/* Where an expanded text goes. */
typedef struct hl_simulate_text_room {
    char *at;
    size_t left;
} hl_simulate_text_room;

/* Writes the text with `values` for the variables, and its NUL, into `room`, which goes on behind
 * it. *is_negative: an expression in it is below 0. Returns BAD_INPUT. */
haul_status hl_simulate_template_expand(const hl_simulate_template *self,
                                        const hl_simulate_scope *scope, const double *values,
                                        hl_simulate_text_room *room, bool *is_negative);

/* "A == B", with ==, !=, <, <=, > or >=. */
haul_status hl_simulate_condition_compile(const hl_simulate_scope *scope,
                                          const hl_machine_node *node, hl_simulate_condition **out);
haul_status hl_simulate_condition_holds(const hl_simulate_condition *self,
                                        const hl_simulate_scope *scope, const double *values,
                                        bool *holds);

/* A scalar as an expression. */
haul_status hl_simulate_node_expression(const hl_simulate_scope *scope, const hl_machine_node *node,
                                        const hl_base_expression **out);

#endif
