/* Workloads as YAML, with constants and loops. The tree is compiled once, with its expressions, and
 * then worked out round by round: a loop of a million rounds parses no text twice. */
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
    hl_simulate_condition *when;
    /* an operation */
    hl_simulate_template *words[HL_SIMULATE_KEYS];
    hl_simulate_spot spots[HL_SIMULATE_KEYS];
    struct after_item *after;
    /* a loop: its variables, from `first_variable` on, the last the fastest */
    struct item *body;
    int first_variable;
    int variables;
    const hl_base_expression *counts[LOOPS_MOST];
    const hl_machine_node *count_nodes[LOOPS_MOST];
    bool is_loop;
} item;

typedef struct after_item {
    hl_simulate_template *name;
    int line;
    int column;
    struct after_item *next;
} after_item;

typedef struct yaml_reader {
    hl_simulate_plan *plan;
    hl_simulate_scope scope; /* its symbols are those of the place being read */
    hl_base_symbol symbols[CONSTANTS_MOST + LOOPS_MOST];
    int variables;
    double values[LOOPS_MOST];
    uint64_t rounds;
    hl_simulate_draft draft;
    char texts[TEXT_BYTES];
} yaml_reader;

static haul_status fail_at(const yaml_reader *self, const hl_machine_node *node, const char *text)
{
    return hl_machine_node_fail(&self->scope.yaml, node, "%s", text);
}

/* --- constants and variables */

/* A variable may not hide a constant or another variable: such files are read wrongly by people. */
static haul_status add_symbol(yaml_reader *self, const hl_machine_node *key, hl_base_symbol symbol,
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

/* The count is compiled before the name is known, so a loop cannot count itself. */
static haul_status add_variable(yaml_reader *self, item *loop, const hl_machine_node *key,
                                const char *name, const hl_machine_node *count)
{
    if (self->variables == LOOPS_MOST)
        return fail_at(self, key, "loops within more than 8 variables");
    const int at = loop->variables++;
    loop->count_nodes[at] = count;
    haul_status status = hl_simulate_node_expression(&self->scope, count, &loop->counts[at]);
    const hl_base_symbol symbol = {.name = name, .variable = self->variables};
    if (!status)
        status = add_symbol(self, key, symbol, CONSTANTS_MOST + LOOPS_MOST);
    self->variables += !status;
    return status;
}

/* `repeat: 8` counts with i; `repeat: {row: 4, column: 4}` with names of its own. */
static haul_status read_repeat(yaml_reader *self, item *loop, const hl_machine_node *node)
{
    loop->first_variable = self->variables;
    if (node->kind == HL_MACHINE_NODE_SCALAR)
        return add_variable(self, loop, node, "i", node);
    if (node->kind == HL_MACHINE_NODE_LIST || !node->first)
        return hl_machine_node_fail_expected(&self->scope.yaml, node,
                                             "a number, or names and numbers", "repeat");
    for (const hl_machine_node *child = node->first; child; child = child->next)
        HAUL_TRY(add_variable(self, loop, child->key, child->key->text, child));
    return HAUL_OK;
}

/* --- the tree, compiled */

static haul_status compile_list(yaml_reader *self, const hl_machine_node *node, item **out);

enum { ITEM_KEYS = HL_SIMULATE_KEYS + 3, WHEN = HL_SIMULATE_KEYS, REPEAT, OPERATIONS };

static haul_status compile_after(yaml_reader *self, const hl_machine_node *node, after_item **last)
{
    const bool is_list = node->kind == HL_MACHINE_NODE_LIST;
    for (const hl_machine_node *child = is_list ? node->first : node; child;
         child = is_list ? child->next : NULL) {
        after_item *made = hl_base_arena_alloc(self->scope.yaml.arena, sizeof *made);
        if (!made)
            return hl_base_fail_no_memory(self->plan->error);
        *made = (after_item){.line = child->line, .column = child->column};
        HAUL_TRY(hl_simulate_template_compile(&self->scope, child, &made->name));
        *last = made;
        last = &made->next;
    }
    return HAUL_OK;
}

/* `after` alone may be a list. */
static haul_status compile_words(yaml_reader *self, const hl_machine_node *const *children,
                                 item *made)
{
    for (int key = 0; key < HL_SIMULATE_KEYS; key++) {
        if (!children[key])
            continue;
        made->spots[key] = (hl_simulate_spot){children[key]->line, children[key]->column};
        HAUL_TRY(
            key == HL_SIMULATE_KEY_AFTER
                ? compile_after(self, children[key], &made->after)
                : hl_simulate_template_compile(&self->scope, children[key], &made->words[key]));
    }
    return HAUL_OK;
}

/* The variables of a loop are known within it alone. */
static haul_status compile_item(yaml_reader *self, const hl_machine_node *node, item **out)
{
    const char *known[ITEM_KEYS] = {
        [WHEN] = "when", [REPEAT] = "repeat", [OPERATIONS] = "operations"};
    const hl_machine_node *children[ITEM_KEYS];
    memcpy(known, hl_simulate_key_names, sizeof hl_simulate_key_names);
    HAUL_TRY(
        hl_machine_node_keys(&self->scope.yaml, node, "operations", known, ITEM_KEYS, children));
    item *made = hl_base_arena_alloc(self->scope.yaml.arena, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(self->plan->error);
    *out = made;
    made->line = node->line;
    made->column = node->column;
    made->is_loop = children[REPEAT] || children[OPERATIONS];
    if (children[WHEN])
        HAUL_TRY(hl_simulate_condition_compile(&self->scope, children[WHEN], &made->when));
    if (!made->is_loop)
        return compile_words(self, children, made);
    for (int key = 0; key < HL_SIMULATE_KEYS; key++)
        if (children[key])
            return fail_at(self, children[key]->key,
                           "what is repeated stands under 'operations', not beside 'repeat'");
    if (!children[REPEAT] || !children[OPERATIONS])
        return fail_at(self, node, "expected both 'repeat' and 'operations'");
    const size_t symbols = self->scope.symbols.count;
    const int variables = self->variables;
    haul_status status = read_repeat(self, made, children[REPEAT]);
    if (!status)
        status = compile_list(self, children[OPERATIONS], &made->body);
    self->scope.symbols.count = symbols;
    self->variables = variables;
    return status;
}

static haul_status compile_list(yaml_reader *self, const hl_machine_node *node, item **out)
{
    if (node->kind != HL_MACHINE_NODE_LIST)
        return hl_machine_node_fail_expected(&self->scope.yaml, node, "a list", "operations");
    for (const hl_machine_node *child = node->first; child; child = child->next) {
        item *made = NULL;
        HAUL_TRY(compile_item(self, child, &made));
        *out = made;
        if (made)
            out = &made->next;
    }
    return HAUL_OK;
}

/* --- the tree, worked out */

static haul_status run_list(yaml_reader *self, const item *items);

/* An error of an expression is of the operation, whose place it gets. */
static haul_status run_op(yaml_reader *self, const item *op)
{
    hl_simulate_text_room room = {self->texts, sizeof self->texts};
    hl_simulate_draft *draft = &self->draft;
    bool is_negative = false;
    draft->line = op->line;
    draft->column = op->column;
    draft->after_count = 0;
    for (int key = 0; key < HL_SIMULATE_KEYS; key++) {
        hl_simulate_word *word = &draft->words[key];
        *word = (hl_simulate_word){NULL, op->spots[key].line, op->spots[key].column};
        const char *text = room.at;
        if (op->words[key] && hl_simulate_template_expand(op->words[key], &self->scope,
                                                          self->values, &room, &is_negative))
            return hl_simulate_plan_blame(self->plan, draft);
        word->text = op->words[key] ? text : NULL;
    }
    for (const after_item *after = op->after; after; after = after->next) {
        const hl_simulate_word word = {room.at, after->line, after->column};
        if (hl_simulate_template_expand(after->name, &self->scope, self->values, &room,
                                        &is_negative))
            return hl_simulate_plan_blame(self->plan, draft);
        if (draft->after_count == HL_SIMULATE_AFTER_MOST) {
            haul_error_set(self->plan->error, HAUL_STATUS_BAD_INPUT,
                           "after more than %d operations", HL_SIMULATE_AFTER_MOST);
            return hl_simulate_plan_blame(self->plan, draft);
        }
        /* a name with a number below 0 is of a round before the first: it is after nothing */
        if (!is_negative)
            draft->after[draft->after_count++] = word;
    }
    return hl_simulate_plan_add(self->plan, draft);
}

/* The rounds of a loop's variable, and within each those of the next. */
static haul_status run_variable(yaml_reader *self, const item *loop, int variable)
{
    double count = 0;
    if (variable == loop->variables)
        return run_list(self, loop->body);
    haul_status status =
        hl_base_expression_value(loop->counts[variable], self->values, &count, self->plan->error);
    if (!status && (count < 0 || count > HAUL_SCHEDULE_OPS || count != trunc(count)))
        return hl_machine_node_fail(&self->scope.yaml, loop->count_nodes[variable],
                                    "expected a whole number from 0 to %d of rounds, not %g",
                                    HAUL_SCHEDULE_OPS, count);
    for (uint32_t round = 0; !status && round < (uint32_t)count; round++) {
        if (++self->rounds > ROUNDS_MOST)
            return haul_error_set(self->plan->error, HAUL_STATUS_BAD_INPUT,
                                  "loops of more than %d rounds", ROUNDS_MOST);
        self->values[loop->first_variable + variable] = round;
        status = run_variable(self, loop, variable + 1);
    }
    return status;
}

static haul_status run_list(yaml_reader *self, const item *items)
{
    haul_status status = HAUL_OK;
    for (const item *at = items; !status && at; at = at->next) {
        bool holds = true;
        if (at->when)
            status = hl_simulate_condition_holds(at->when, &self->scope, self->values, &holds);
        if (!status && holds)
            status = at->is_loop ? run_variable(self, at, 0) : run_op(self, at);
        if (status)
            hl_base_error_at(self->plan->error,
                             (hl_base_place){self->plan->file, at->line, at->column});
    }
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

static hl_simulate_word word_of(const hl_machine_node *node)
{
    return node ? (hl_simulate_word){node->text, node->line, node->column} : (hl_simulate_word){0};
}

/* The first error ends the reading; it has its place already. */
static haul_status read_document(yaml_reader *self, const hl_machine_node *root)
{
    hl_simulate_plan *plan = self->plan;
    const hl_machine_yaml *yaml = &self->scope.yaml;
    const hl_machine_node *keys[ROOT_KEYS];
    item *items = NULL;
    HAUL_TRY(hl_machine_node_keys(yaml, root, "workload", root_names, ROOT_KEYS, keys));
    const hl_machine_node *version = keys[VERSION], *constants = keys[CONSTANTS];
    if (!version || version->kind != HL_MACHINE_NODE_SCALAR || strcmp(version->text, "1") != 0)
        return fail_at(self, version ? version : root, "expected 'haul_workload: 1'");
    for (int key = NAME; key <= CALL; key++)
        if (keys[key] && keys[key]->kind != HL_MACHINE_NODE_SCALAR)
            return hl_machine_node_fail_expected(yaml, keys[key], "a text", root_names[key]);
    plan->name = word_of(keys[NAME]);
    plan->summary = word_of(keys[SUMMARY]);
    const hl_simulate_word call = word_of(keys[CALL]);
    if (call.text && hl_simulate_plan_duration(plan, &call, "call", &plan->call_ns)) {
        hl_base_error_at(plan->error, (hl_base_place){plan->file, call.line, call.column});
        return HAUL_STATUS_BAD_INPUT;
    }
    if (constants && constants->kind != HL_MACHINE_NODE_MAPPING)
        return hl_machine_node_fail_expected(yaml, constants, "names and values", "constants");
    for (const hl_machine_node *child = constants ? constants->first : NULL; child;
         child = child->next) {
        const hl_base_expression *value = NULL;
        hl_base_symbol symbol = {.name = child->key->text, .variable = -1};
        HAUL_TRY(hl_simulate_node_expression(&self->scope, child, &value));
        HAUL_TRY(hl_base_expression_value(value, self->values, &symbol.value, plan->error));
        HAUL_TRY(add_symbol(self, child->key, symbol, CONSTANTS_MOST));
    }
    if (!keys[ROOT_OPERATIONS])
        return fail_at(self, root, "expected 'operations'");
    HAUL_TRY(compile_list(self, keys[ROOT_OPERATIONS], &items));
    return run_list(self, items);
}

/* The reader is too large for a stack, mostly the room for expanded texts. */
haul_status hl_simulate_plan_read_yaml(hl_simulate_plan *self, const char *text, size_t size)
{
    yaml_reader *reader = calloc(1, sizeof *reader);
    const hl_machine_node *root = NULL;
    if (!reader)
        return hl_base_fail_no_memory(self->error);
    reader->plan = self;
    reader->scope = (hl_simulate_scope){
        .yaml = {self->file, &self->arena, self->error},
        .symbols = {reader->symbols, 0},
    };
    haul_status status =
        hl_machine_yaml_read(text, size, self->file, &self->arena, &root, self->error);
    if (!status)
        status = read_document(reader, root);
    free(reader);
    return status;
}
