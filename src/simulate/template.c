/* A text is compiled into pieces, so that a round of a loop only writes them one after another. */
#include "simulate/template.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

/* A piece of a text: an expression, or what stands between two. */
struct hl_simulate_template {
    const char *text;
    size_t length;
    const hl_base_expression *value;
    hl_simulate_template *next;
};

struct hl_simulate_condition {
    const hl_base_expression *left;
    const hl_base_expression *right;
    int sign; /* of comparisons[] */
};

/* The column of an error is that in the file, where the text is written plainly. */
static haul_status compile_part(const hl_simulate_scope *scope, const hl_machine_node *node,
                                const char *from, size_t length, const hl_base_expression **out)
{
    char *text = hl_base_arena_text(scope->yaml.arena, from, length);
    if (!text)
        return hl_base_fail_no_memory(scope->yaml.error);
    const int column = node->text_column ? node->text_column + (int)(from - node->text) : 0;
    const hl_base_place place = {scope->yaml.file, node->line, column};
    return hl_base_expression_compile(text, place, scope->symbols, scope->yaml.arena, out,
                                      scope->yaml.error);
}

haul_status hl_simulate_node_expression(const hl_simulate_scope *scope, const hl_machine_node *node,
                                        const hl_base_expression **out)
{
    if (node->kind != HL_MACHINE_NODE_SCALAR)
        return hl_machine_node_fail(&scope->yaml, node, "expected a number or an expression");
    return compile_part(scope, node, node->text, strlen(node->text), out);
}

haul_status hl_simulate_template_compile(const hl_simulate_scope *scope,
                                         const hl_machine_node *node, hl_simulate_template **out)
{
    if (node->kind != HL_MACHINE_NODE_SCALAR)
        return hl_machine_node_fail(&scope->yaml, node, "expected a text or a number");
    hl_simulate_template *first = NULL, **last = &first;
    const char *at = node->text;
    while (*at || !first) {
        hl_simulate_template *piece = *last = hl_base_arena_alloc(scope->yaml.arena, sizeof *piece);
        if (!piece)
            return hl_base_fail_no_memory(scope->yaml.error);
        /* either the text up to the next brace or the expression within the braces */
        const char *end = strchr(at, '}');
        if (*at != '{') {
            piece->text = at;
            piece->length = strcspn(at, "{");
            at += piece->length;
        } else if (end) {
            HAUL_TRY(compile_part(scope, node, at + 1, (size_t)(end - at - 1), &piece->value));
            at = end + 1;
        } else {
            return hl_machine_node_fail(&scope->yaml, node, "a '{' without its '}' in '%.80s'",
                                        node->text);
        }
        last = &piece->next;
    }
    *out = first;
    return HAUL_OK;
}

/* The room is the operation's, for all of its texts. */
haul_status hl_simulate_template_expand(const hl_simulate_template *self,
                                        const hl_simulate_scope *scope, const double *values,
                                        hl_simulate_text_room *room, bool *is_negative)
{
    *is_negative = false;
    for (; self; self = self->next) {
        double value = 0;
        int length = 0;
        if (!self->value) {
            length = snprintf(room->at, room->left, "%.*s", (int)self->length, self->text);
        } else {
            HAUL_TRY(hl_base_expression_value(self->value, values, &value, scope->yaml.error));
            /* whole numbers without a point, for names; others with a quantity's digits */
            const bool is_whole = fabs(value) < 1e15 && value == trunc(value);
            length = is_whole ? snprintf(room->at, room->left, "%lld", (long long)value)
                              : snprintf(room->at, room->left, "%.17g", value);
        }
        *is_negative |= value < 0;
        if (length < 0 || (size_t)length + 1 >= room->left)
            return haul_error_set(scope->yaml.error, HAUL_STATUS_BAD_INPUT,
                                  "the texts of an operation are too long");
        room->at += length;
        room->left -= (size_t)length;
    }
    room->at++; /* behind the NUL */
    room->left--;
    return HAUL_OK;
}

/* --- conditions */

/* An operator that another begins with stands behind that one. */
static const char *const comparisons[] = {"==", "!=", "<=", ">=", "<", ">"};

enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

haul_status hl_simulate_condition_compile(const hl_simulate_scope *scope,
                                          const hl_machine_node *node, hl_simulate_condition **out)
{
    const char *at = NULL;
    int sign = -1;
    while (node->kind == HL_MACHINE_NODE_SCALAR && !at && ++sign < COMPARISONS)
        at = strstr(node->text, comparisons[sign]);
    if (!at)
        return hl_machine_node_fail(&scope->yaml, node,
                                    "expected a condition such as 'j == 0' for 'when'");
    hl_simulate_condition *made = hl_base_arena_alloc(scope->yaml.arena, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(scope->yaml.error);
    made->sign = sign;
    const char *right = at + strlen(comparisons[sign]);
    haul_status status =
        compile_part(scope, node, node->text, (size_t)(at - node->text), &made->left);
    if (!status)
        status = compile_part(scope, node, right, strlen(right), &made->right);
    if (!status)
        *out = made;
    return status;
}

haul_status hl_simulate_condition_holds(const hl_simulate_condition *self,
                                        const hl_simulate_scope *scope, const double *values,
                                        bool *holds)
{
    double left = 0, right = 0;
    haul_status status = hl_base_expression_value(self->left, values, &left, scope->yaml.error);
    if (!status)
        status = hl_base_expression_value(self->right, values, &right, scope->yaml.error);
    const bool of[] = {left == right, left != right, left <= right, left >= right,
                       left<right, left> right};
    *holds = of[self->sign];
    return status;
}
