/* A text is compiled into pieces, so that a round of a loop only writes them one after another. */
#include "simulate/template.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

/* A piece of a text: an expression, or what stands between two. */
struct haul_template {
    const char *text;
    size_t length;
    const haul_expression *value;
    haul_template *next;
};

struct haul_condition {
    const haul_expression *left;
    const haul_expression *right;
    int sign; /* of comparisons[] */
};

/* The column of an error is that in the file, where the text is written plainly. */
static haul_status compile_part(const haul_scope *scope, const haul_node *node, const char *from,
                                size_t length, const haul_expression **out)
{
    char *text = haul_arena_text(scope->yaml.arena, from, length);
    if (!text)
        return haul_fail_no_memory(scope->yaml.error);
    const int column = node->text_column ? node->text_column + (int)(from - node->text) : 0;
    const haul_place place = {scope->yaml.file, node->line, column};
    return haul_expression_compile(text, place, scope->symbols, scope->yaml.arena, out,
                                   scope->yaml.error);
}

haul_status haul_node_expression(const haul_scope *scope, const haul_node *node,
                                 const haul_expression **out)
{
    if (node->kind != HAUL_NODE_SCALAR)
        return haul_node_fail(&scope->yaml, node, "expected a number or an expression");
    return compile_part(scope, node, node->text, strlen(node->text), out);
}

/* Either the text up to the next brace or the expression within the braces; *at goes on behind it.
 */
static haul_status compile_piece(const haul_scope *scope, const haul_node *node, const char **at,
                                 haul_template *piece)
{
    const char *text = *at;
    if (*text != '{') {
        piece->text = text;
        piece->length = strcspn(text, "{");
        *at = text + piece->length;
        return HAUL_OK;
    }
    const char *end = strchr(text, '}');
    if (!end)
        return haul_node_fail(&scope->yaml, node, "a '{' without its '}' in '%.80s'", node->text);
    *at = end + 1;
    return compile_part(scope, node, text + 1, (size_t)(end - text - 1), &piece->value);
}

haul_status haul_template_compile(const haul_scope *scope, const haul_node *node,
                                  haul_template **out)
{
    if (node->kind != HAUL_NODE_SCALAR)
        return haul_node_fail(&scope->yaml, node, "expected a text or a number");
    haul_template *first = NULL, **last = &first;
    const char *at = node->text;
    while (*at || !first) {
        *last = haul_arena_alloc(scope->yaml.arena, sizeof **last);
        if (!*last)
            return haul_fail_no_memory(scope->yaml.error);
        HAUL_TRY(compile_piece(scope, node, &at, *last));
        last = &(*last)->next;
    }
    *out = first;
    return HAUL_OK;
}

/* The room is the operation's, for all of its texts. */
haul_status haul_template_expand(const haul_template *self, const haul_scope *scope,
                                 const double *values, haul_text_room *room, bool *is_negative)
{
    *is_negative = false;
    for (; self; self = self->next) {
        double value = 0;
        int length = 0;
        if (!self->value) {
            length = snprintf(room->at, room->left, "%.*s", (int)self->length, self->text);
        } else {
            HAUL_TRY(haul_expression_value(self->value, values, &value, scope->yaml.error));
            /* whole numbers without a point, for names; others with a quantity's digits */
            const bool is_whole = fabs(value) < 1e15 && value == trunc(value);
            length = is_whole ? snprintf(room->at, room->left, "%lld", (long long)value)
                              : snprintf(room->at, room->left, "%.17g", value);
        }
        *is_negative |= value < 0;
        if (length < 0 || (size_t)length + 1 >= room->left)
            return haul_fail(scope->yaml.error, HAUL_BAD_INPUT,
                             "the texts of an operation are too long");
        room->at += length;
        room->left -= (size_t)length;
    }
    room->at++; /* behind the NUL */
    room->left--;
    return HAUL_OK;
}

/* --- conditions */

/* Those that begin another stand behind it. */
static const char *const comparisons[] = {"==", "!=", "<=", ">=", "<", ">"};

enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

haul_status haul_condition_compile(const haul_scope *scope, const haul_node *node,
                                   haul_condition **out)
{
    const char *at = NULL;
    int sign = -1;
    while (node->kind == HAUL_NODE_SCALAR && !at && ++sign < COMPARISONS)
        at = strstr(node->text, comparisons[sign]);
    if (!at)
        return haul_node_fail(&scope->yaml, node,
                              "expected a condition such as 'j == 0' for 'when'");
    haul_condition *made = haul_arena_alloc(scope->yaml.arena, sizeof *made);
    if (!made)
        return haul_fail_no_memory(scope->yaml.error);
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

haul_status haul_condition_holds(const haul_condition *self, const haul_scope *scope,
                                 const double *values, bool *holds)
{
    double left = 0, right = 0;
    haul_status status = haul_expression_value(self->left, values, &left, scope->yaml.error);
    if (!status)
        status = haul_expression_value(self->right, values, &right, scope->yaml.error);
    const bool of[] = {left == right, left != right, left <= right, left >= right,
                       left<right, left> right};
    *holds = of[self->sign];
    return status;
}
