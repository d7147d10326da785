/* Workloads as YAML, with constants and loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "simulate/plan.h"
#include "simulate/template.h"

enum {
    CONSTANTS_MOST = 64,
    LOOPS_MOST = 8, /* variables at once */
    TEXT_BYTES = 16384,
    ROUNDS_MOST = 100 * 1000 * 1000, /* of all loops, whether they add operations or not */
};

/* An operation, or a list of them that is repeated. */
typedef struct item {
    struct item *next;
    int line;
    int column;
    haul_condition *when;
    /* an operation */
    haul_template *words[HAUL_KEYS];
    haul_spot spots[HAUL_KEYS];
    struct after_item *after;
    /* a loop: its variables, from `first_variable` on, the last the fastest */
    struct item *body;
    int first_variable;
    int variables;
    const haul_expression *counts[LOOPS_MOST];
    const haul_node *count_nodes[LOOPS_MOST];
    bool is_loop;
} item;

typedef struct after_item {
    haul_template *name;
    int line;
    int column;
    struct after_item *next;
} after_item;

typedef struct yaml_reader {
    haul_plan *plan;
    haul_scope scope; /* its symbols are those of the place being read */
    haul_symbol symbols[CONSTANTS_MOST + LOOPS_MOST];
    int variables;
    double values[LOOPS_MOST];
    uint64_t rounds;
    haul_draft draft;
    char texts[TEXT_BYTES];
} yaml_reader;

static haul_status fail_at(const yaml_reader *self, const haul_node *node, const char *text)
{
    return haul_node_fail(&self->scope.yaml, node, "%s", text);
}

/* --- constants and variables */

static haul_status add_symbol(yaml_reader *self, const haul_node *key, haul_symbol symbol,
                              size_t most)
{
    size_t *count = &self->scope.symbols.count;
    for (size_t i = 0; i < *count; i++)
        if (!strcmp(self->symbols[i].name, symbol.name))
            return fail_at(self, key, "this name is taken");
    if (*count >= most)
        return fail_at(self, key, "more names than there is room for");
    self->symbols[(*count)++] = symbol;
    return HAUL_OK;
}

static haul_status read_constants(yaml_reader *self, const haul_node *node)
{
    if (!node)
        return HAUL_OK;
    if (node->kind != HAUL_NODE_MAPPING)
        return haul_node_fail_expected(&self->scope.yaml, node, "names and values", "constants");
    for (const haul_node *child = node->first; child; child = child->next) {
        const haul_expression *value = NULL;
        haul_symbol symbol = {.name = child->key->text, .variable = -1};
        haul_status status = haul_node_expression(&self->scope, child, &value);
        if (!status)
            status = haul_expression_value(value, self->values, &symbol.value, self->plan->error);
        if (!status)
            status = add_symbol(self, child->key, symbol, CONSTANTS_MOST);
        if (status)
            return status;
    }
    return HAUL_OK;
}

static haul_status add_variable(yaml_reader *self, item *loop, const haul_node *key,
                                const char *name, const haul_node *count)
{
    if (self->variables == LOOPS_MOST)
        return fail_at(self, key, "loops within more than 8 variables");
    const int at = loop->variables++;
    loop->count_nodes[at] = count;
    haul_status status = haul_node_expression(&self->scope, count, &loop->counts[at]);
    const haul_symbol symbol = {.name = name, .variable = self->variables};
    if (!status)
        status = add_symbol(self, key, symbol, CONSTANTS_MOST + LOOPS_MOST);
    self->variables += !status;
    return status;
}

/* `repeat: 8` counts with i; `repeat: {row: 4, column: 4}` with names of its own. */
static haul_status read_repeat(yaml_reader *self, item *loop, const haul_node *node)
{
    loop->first_variable = self->variables;
    if (node->kind == HAUL_NODE_SCALAR)
        return add_variable(self, loop, node, "i", node);
    if (node->kind == HAUL_NODE_LIST || !node->first)
        return haul_node_fail_expected(&self->scope.yaml, node, "a number, or names and numbers",
                                       "repeat");
    haul_status status = HAUL_OK;
    for (const haul_node *child = node->first; !status && child; child = child->next)
        status = add_variable(self, loop, child->key, child->key->text, child);
    return status;
}

/* --- the tree, compiled */

static haul_status compile_list(yaml_reader *self, const haul_node *node, item **out);

enum { ITEM_KEYS = HAUL_KEYS + 3, WHEN = HAUL_KEYS, REPEAT, OPERATIONS };

static haul_status compile_after(yaml_reader *self, const haul_node *node, after_item **last)
{
    const bool is_list = node->kind == HAUL_NODE_LIST;
    for (const haul_node *child = is_list ? node->first : node; child; child = child->next) {
        after_item *made = haul_arena_alloc(self->scope.yaml.arena, sizeof *made);
        if (!made)
            return haul_fail_no_memory(self->plan->error);
        *made = (after_item){.line = child->line, .column = child->column};
        const haul_status status = haul_template_compile(&self->scope, child, &made->name);
        if (status)
            return status;
        while (*last)
            last = &(*last)->next;
        *last = made;
        if (!is_list)
            break;
    }
    return HAUL_OK;
}

static haul_status compile_loop(yaml_reader *self, const haul_node *node,
                                const haul_node *const *children, item *made)
{
    const size_t symbols = self->scope.symbols.count;
    const int variables = self->variables;
    for (int key = 0; key < HAUL_KEYS; key++)
        if (children[key])
            return fail_at(self, children[key]->key,
                           "what is repeated stands under 'operations', not beside 'repeat'");
    if (!children[REPEAT] || !children[OPERATIONS])
        return fail_at(self, node, "expected both 'repeat' and 'operations'");
    made->is_loop = true;
    haul_status status = read_repeat(self, made, children[REPEAT]);
    if (!status)
        status = compile_list(self, children[OPERATIONS], &made->body);
    self->scope.symbols.count = symbols;
    self->variables = variables;
    return status;
}

static haul_status compile_op(yaml_reader *self, const haul_node *const *children, item *made)
{
    haul_status status = HAUL_OK;
    for (int key = 0; !status && key < HAUL_KEYS; key++) {
        if (!children[key] || key == HAUL_KEY_AFTER)
            continue;
        made->spots[key] = (haul_spot){children[key]->line, children[key]->column};
        status = haul_template_compile(&self->scope, children[key], &made->words[key]);
    }
    if (!status && children[HAUL_KEY_AFTER])
        status = compile_after(self, children[HAUL_KEY_AFTER], &made->after);
    return status;
}

static haul_status compile_item(yaml_reader *self, const haul_node *node, item **out)
{
    const char *known[ITEM_KEYS] = {
        [WHEN] = "when", [REPEAT] = "repeat", [OPERATIONS] = "operations"};
    const haul_node *children[ITEM_KEYS];
    memcpy(known, haul_key_names, sizeof haul_key_names);
    haul_status status =
        haul_node_keys(&self->scope.yaml, node, "operations", known, ITEM_KEYS, children);
    if (status)
        return status;
    item *made = haul_arena_alloc(self->scope.yaml.arena, sizeof *made);
    if (!made)
        return haul_fail_no_memory(self->plan->error);
    made->line = node->line;
    made->column = node->column;
    if (children[WHEN])
        status = haul_condition_compile(&self->scope, children[WHEN], &made->when);
    if (!status)
        status = children[REPEAT] || children[OPERATIONS] ? compile_loop(self, node, children, made)
                                                          : compile_op(self, children, made);
    *out = made;
    return status;
}

static haul_status compile_list(yaml_reader *self, const haul_node *node, item **out)
{
    if (node->kind != HAUL_NODE_LIST)
        return haul_node_fail_expected(&self->scope.yaml, node, "a list", "operations");
    haul_status status = HAUL_OK;
    for (const haul_node *child = node->first; !status && child; child = child->next) {
        item *made = NULL;
        status = compile_item(self, child, &made);
        *out = made;
        if (made)
            out = &made->next;
    }
    return status;
}

/* --- the tree, worked out */

static haul_status run_list(yaml_reader *self, const item *items);

/* Errors of expressions in this round are of this operation. */
static haul_status locate(const yaml_reader *self, const item *at, haul_status status)
{
    if (status)
        haul_error_at(self->plan->error, self->plan->file, at->line, at->column);
    return status;
}

static haul_status expand_words(yaml_reader *self, const item *op, haul_text_room *room)
{
    haul_draft *draft = &self->draft;
    bool is_negative = false;
    for (int key = 0; key < HAUL_KEYS; key++) {
        draft->words[key] = (haul_word){NULL, op->spots[key].line, op->spots[key].column};
        if (!op->words[key])
            continue;
        draft->words[key].text = room->at;
        const haul_status status =
            haul_template_expand(op->words[key], &self->scope, self->values, room, &is_negative);
        if (status) {
            draft->words[key].text = NULL;
            return haul_plan_blame(self->plan, draft);
        }
    }
    return HAUL_OK;
}

/* A name with a number below 0 is of a round before the first: there is nothing to be after. */
static haul_status expand_after(yaml_reader *self, const item *op, haul_text_room *room)
{
    haul_draft *draft = &self->draft;
    draft->after_count = 0;
    for (const after_item *after = op->after; after; after = after->next) {
        bool is_negative = false;
        const haul_word word = {room->at, after->line, after->column};
        const haul_status status =
            haul_template_expand(after->name, &self->scope, self->values, room, &is_negative);
        if (status)
            return haul_plan_blame(self->plan, draft);
        if (draft->after_count == HAUL_AFTER_MOST) {
            haul_fail(self->plan->error, HAUL_BAD_INPUT, "after more than %d operations",
                      HAUL_AFTER_MOST);
            return haul_plan_blame(self->plan, draft);
        }
        if (!is_negative)
            draft->after[draft->after_count++] = word;
    }
    return HAUL_OK;
}

static haul_status run_op(yaml_reader *self, const item *op)
{
    haul_text_room room = {self->texts, sizeof self->texts};
    self->draft.line = op->line;
    self->draft.column = op->column;
    haul_status status = expand_words(self, op, &room);
    if (!status)
        status = expand_after(self, op, &room);
    return status ? status : haul_plan_add(self->plan, &self->draft);
}

static haul_status count_rounds(yaml_reader *self, const item *loop, int variable, uint32_t *count)
{
    double value = 0;
    const haul_status status =
        haul_expression_value(loop->counts[variable], self->values, &value, self->plan->error);
    if (status)
        return status;
    if (value < 0 || value > HAUL_SCHEDULE_OPS || value != trunc(value))
        return haul_node_fail(&self->scope.yaml, loop->count_nodes[variable],
                              "expected a whole number from 0 to %d of rounds, not %g",
                              HAUL_SCHEDULE_OPS, value);
    *count = (uint32_t)value;
    return HAUL_OK;
}

static haul_status run_variable(yaml_reader *self, const item *loop, int variable)
{
    if (variable == loop->variables)
        return run_list(self, loop->body);
    uint32_t count = 0;
    haul_status status = count_rounds(self, loop, variable, &count);
    for (uint32_t round = 0; !status && round < count; round++) {
        if (++self->rounds > ROUNDS_MOST)
            return haul_fail(self->plan->error, HAUL_BAD_INPUT, "loops of more than %d rounds",
                             ROUNDS_MOST);
        self->values[loop->first_variable + variable] = round;
        status = run_variable(self, loop, variable + 1);
    }
    return status;
}

static haul_status run_item(yaml_reader *self, const item *at)
{
    bool holds = true;
    if (at->when) {
        const haul_status status =
            haul_condition_holds(at->when, &self->scope, self->values, &holds);
        if (status)
            return status;
    }
    if (!holds)
        return HAUL_OK;
    return at->is_loop ? run_variable(self, at, 0) : run_op(self, at);
}

static haul_status run_list(yaml_reader *self, const item *items)
{
    haul_status status = HAUL_OK;
    for (; !status && items; items = items->next)
        status = locate(self, items, run_item(self, items));
    return status;
}

/* --- the document */

typedef enum root_key {
    VERSION,
    NAME,
    SUMMARY,
    CALL,
    CONSTANTS,
    ROOT_OPERATIONS,
    ROOT_KEYS
} root_key;

static const char *const root_names[ROOT_KEYS] = {"haul_workload", "name",      "summary",
                                                  "call",          "constants", "operations"};

static haul_status read_head(yaml_reader *self, const haul_node *root, const haul_node **keys)
{
    haul_plan *plan = self->plan;
    const haul_node *version = keys[VERSION];
    if (!version || version->kind != HAUL_NODE_SCALAR || strcmp(version->text, "1") != 0)
        return fail_at(self, version ? version : root, "expected 'haul_workload: 1'");
    for (int key = NAME; key <= CALL; key++)
        if (keys[key] && keys[key]->kind != HAUL_NODE_SCALAR)
            return haul_node_fail_expected(&self->scope.yaml, keys[key], "a text", root_names[key]);
    if (keys[NAME])
        plan->name = (haul_word){keys[NAME]->text, keys[NAME]->line, keys[NAME]->column};
    if (keys[SUMMARY])
        plan->summary =
            (haul_word){keys[SUMMARY]->text, keys[SUMMARY]->line, keys[SUMMARY]->column};
    if (keys[CALL]) {
        const haul_word call = {keys[CALL]->text, keys[CALL]->line, keys[CALL]->column};
        if (haul_plan_duration(plan, &call, "call", &plan->call_ns)) {
            haul_error_at(plan->error, plan->file, call.line, call.column);
            return HAUL_BAD_INPUT;
        }
    }
    return read_constants(self, keys[CONSTANTS]);
}

static haul_status read_document(yaml_reader *self, const haul_node *root)
{
    const haul_node *keys[ROOT_KEYS];
    item *items = NULL;
    haul_status status =
        haul_node_keys(&self->scope.yaml, root, "workload", root_names, ROOT_KEYS, keys);
    if (!status)
        status = read_head(self, root, keys);
    if (status)
        return status;
    if (!keys[ROOT_OPERATIONS])
        return fail_at(self, root, "expected 'operations'");
    status = compile_list(self, keys[ROOT_OPERATIONS], &items);
    return status ? status : run_list(self, items);
}

haul_status haul_plan_read_yaml(haul_plan *self, const char *text, size_t size)
{
    yaml_reader *reader = calloc(1, sizeof *reader);
    const haul_node *root = NULL;
    if (!reader)
        return haul_fail_no_memory(self->error);
    reader->plan = self;
    reader->scope = (haul_scope){
        .yaml = {self->file, &self->arena, self->error},
        .symbols = {reader->symbols, 0},
    };
    haul_status status = haul_yaml_read(text, size, self->file, &self->arena, &root, self->error);
    if (!status)
        status = read_document(reader, root);
    free(reader);
    return status;
}
