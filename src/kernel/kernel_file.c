/* Kernels as data: a YAML file whose counts are expressions in the size. */
#include "haul/kernel_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/expression.h"
#include "base/fail.h"
#include "base/numerals.h"
#include "kernel/kernel_own.h"

enum { ALIASES_MOST = 32 };

/* L2_HITS is the place of l2_hits in hl_kernel_count_rows; l1_hits is before it. */
enum { ROWS = HL_KERNEL_COUNT_ROWS, L2_HITS = 8 };

enum {
    VERSION,
    NAME,
    ALSO,
    SUMMARY,
    SOURCE,
    VARIABLE,
    CONSTANTS,
    MEASURED,
    OTHERS,
    KEYS = OTHERS + ROWS
};

static const char *const other_keys[OTHERS] = {"haul_kernel", "name",     "also",      "summary",
                                               "source",      "variable", "constants", "measured"};

/* All that the kernel points to is in its arena, its text included. */
void haul_kernel_file_free(haul_kernel_file *kernel)
{
    if (!kernel)
        return;
    hl_kernel_owned_kernel *owned = (hl_kernel_owned_kernel *)(void *)kernel;
    hl_base_arena_release(&owned->arena);
    free(owned);
}

/* --- reading */

/* A name that expressions can use. */
static bool is_symbol(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    static const char *const functions[] = {"min", "max", "ceil", "floor", "sqrt", "log2"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i], text))
            return false;
    return strspn(text, letters) && strspn(text, digits) == strlen(text) &&
           strlen(text) <= HL_EXPRESSION_NAME;
}

/* Sizes are doubles: above 2^53 they would skip whole numbers. */
static haul_status read_range(hl_kernel_reader *self, const hl_machine_node *node,
                              const hl_machine_node *from, const hl_machine_node *to)
{
    haul_kernel_file *kernel = &self->made->kernel;
    if (!from || !to)
        return hl_machine_node_fail(&self->yaml, node,
                                    "'%s' is missing for 'variable': the range of its sizes",
                                    from ? "to" : "from");
    haul_status status = hl_kernel_read_constant(self, from, "from", &kernel->from);
    if (!status)
        status = hl_kernel_read_constant(self, to, "to", &kernel->to);
    if (!status && !(kernel->from >= 1 && kernel->from == floor(kernel->from)))
        return hl_machine_node_fail_expected(&self->yaml, from, "a whole number of at least 1",
                                             "from");
    if (!status && !(kernel->to >= kernel->from && kernel->to <= 0x1p53))
        return hl_machine_node_fail_expected(&self->yaml, to, "at least 'from' and at most 2^53",
                                             "to");
    self->made->range = (hl_base_place){self->made->file, from->line, from->column};
    return status;
}

/* A line of text that may be left out. */
static haul_status read_line(const hl_kernel_reader *self, const hl_machine_node *node,
                             const char *key, const char **out)
{
    return node ? hl_machine_node_line(&self->yaml, node, key, out) : HAUL_OK;
}

/* Fills the first symbol, which expressions of counts know and constants do not. */
static haul_status read_variable(hl_kernel_reader *self, const hl_machine_node *node)
{
    enum { OWN_NAME, MEANING, FROM, TO, OWN_KEYS };
    static const char *const keys[OWN_KEYS] = {"name", "meaning", "from", "to"};
    const hl_machine_node *values[OWN_KEYS];
    haul_kernel_file *kernel = &self->made->kernel;
    kernel->variable = "N";
    haul_status status =
        hl_machine_node_keys(&self->yaml, node, "variable", keys, OWN_KEYS, values);
    if (!status)
        status = read_line(self, values[OWN_NAME], "name", &kernel->variable);
    if (!status)
        status = read_line(self, values[MEANING], "meaning", &kernel->meaning);
    if (!status && !is_symbol(kernel->variable))
        return hl_machine_node_fail_expected(&self->yaml, values[OWN_NAME],
                                             "letters, digits and '_'", "name");
    if (status)
        return status;
    self->symbols[0] = (hl_base_symbol){.name = kernel->variable, .variable = 0};
    self->symbol_count = 1;
    return read_range(self, node, values[FROM], values[TO]);
}

/* In the order of the file: an expression may use the constants above it. The variable takes one
 * symbol, so there is room for HL_KERNEL_CONSTANTS_MOST beside it. */
static haul_status read_constants(hl_kernel_reader *self, const hl_machine_node *node)
{
    if (!node)
        return HAUL_OK;
    if (node->kind != HL_MACHINE_NODE_MAPPING)
        return hl_machine_node_fail_expected(&self->yaml, node, "a mapping of names and values",
                                             "constants");
    for (const hl_machine_node *child = node->first; child; child = child->next) {
        const hl_machine_node *key = child->key;
        if (self->symbol_count > HL_KERNEL_CONSTANTS_MOST)
            return hl_machine_node_fail(&self->yaml, key, "expected at most %d constants",
                                        HL_KERNEL_CONSTANTS_MOST);
        if (!is_symbol(key->text))
            return hl_machine_node_fail(
                &self->yaml, key,
                "expected letters, digits and '_' as the name of a constant, not "
                "'%.80s'",
                key->text);
        for (size_t i = 0; i < self->symbol_count; i++)
            if (!strcmp(self->symbols[i].name, key->text))
                return hl_machine_node_fail(&self->yaml, key,
                                            "'%s' is there twice; expected it once", key->text);
        double value = 0;
        HAUL_TRY(hl_kernel_read_constant(self, child, key->text, &value));
        self->symbols[self->symbol_count++] =
            (hl_base_symbol){.name = key->text, .variable = -1, .value = value};
    }
    return HAUL_OK;
}

/* Other names, by which tables of measured times may call the kernel. */
static haul_status read_aliases(hl_kernel_reader *self, const hl_machine_node *node)
{
    if (!node)
        return HAUL_OK;
    if (node->kind != HL_MACHINE_NODE_LIST)
        return hl_machine_node_fail_expected(&self->yaml, node, "a list of names", "also");
    const char **aliases = hl_base_arena_alloc(&self->made->arena, ALIASES_MOST * sizeof *aliases);
    if (!aliases)
        return hl_base_fail_no_memory(self->yaml.error);
    size_t count = 0;
    for (const hl_machine_node *child = node->first; child; child = child->next) {
        if (child->kind != HL_MACHINE_NODE_SCALAR || !*child->text || count == ALIASES_MOST)
            return hl_machine_node_fail_expected(&self->yaml, child, "at most 32 names", "also");
        aliases[count++] = child->text;
    }
    self->made->kernel.aliases = aliases;
    self->made->kernel.alias_count = count;
    return HAUL_OK;
}

/* Compiles the expressions. Where the measured sizes have counts of their own, none is required
 * here, and those given go before the measured ones. */
static haul_status read_counts(hl_kernel_reader *self, const hl_machine_node *const *values)
{
    hl_kernel_owned_kernel *made = self->made;
    for (int i = 0; i < ROWS; i++) {
        const hl_machine_node *node = values[i];
        if (!node && hl_kernel_count_rows[i].is_needed && !made->is_counted)
            return hl_machine_node_fail(&self->yaml, self->root, "'%s' is missing",
                                        hl_kernel_count_rows[i].key);
        if (!node)
            continue;
        if (node->kind != HL_MACHINE_NODE_SCALAR)
            return hl_machine_node_fail_expected(&self->yaml, node, "a number or an expression",
                                                 hl_kernel_count_rows[i].key);
        const hl_base_symbols known = {self->symbols, self->symbol_count};
        made->places[i] = (hl_base_place){made->file, node->line, node->column};
        HAUL_TRY(hl_base_expression_compile(node->text, hl_kernel_place(self, node), known,
                                            &made->arena, &made->counts[i], self->yaml.error));
    }
    return HAUL_OK;
}

/* The keys that are single lines, and whether all required ones are there. */
static haul_status read_head(hl_kernel_reader *self, const hl_machine_node *const *values)
{
    haul_kernel_file *kernel = &self->made->kernel;
    if (values[VERSION]) /* another version may have other keys */
        HAUL_TRY(hl_machine_node_version(&self->yaml, values[VERSION], other_keys[VERSION]));
    for (int i = 0; i < OTHERS; i++)
        if (!values[i] && (i == VERSION || i == NAME || i == SUMMARY || i == VARIABLE))
            return hl_machine_node_fail(&self->yaml, self->root, "'%s' is missing", other_keys[i]);
    HAUL_TRY(read_line(self, values[NAME], "name", &kernel->name));
    HAUL_TRY(read_line(self, values[SUMMARY], "summary", &kernel->summary));
    return read_line(self, values[SOURCE], "source", &kernel->source);
}

/* In this order: constants may not use the variable, counts may use all symbols. */
static haul_status read_kernel(hl_kernel_reader *self)
{
    const char *known[KEYS];
    const hl_machine_node *values[KEYS];
    for (int i = 0; i < KEYS; i++)
        known[i] = i < OTHERS ? other_keys[i] : hl_kernel_count_rows[i - OTHERS].key;
    HAUL_TRY(hl_machine_node_keys(&self->yaml, self->root, "kernel", known, KEYS, values));
    HAUL_TRY(read_head(self, values));
    HAUL_TRY(read_aliases(self, values[ALSO]));
    HAUL_TRY(read_variable(self, values[VARIABLE]));
    HAUL_TRY(read_constants(self, values[CONSTANTS]));
    HAUL_TRY(hl_kernel_read_measured(self, values[MEASURED]));
    HAUL_TRY(read_counts(self, values + OTHERS));
    /* The counts at each measured size now: an expression that fails at one is an error of the
     * file. */
    const haul_kernel_file *kernel = &self->made->kernel;
    for (size_t i = 0; i < kernel->sample_count; i++)
        HAUL_TRY(haul_kernel_file_at(kernel, self->made->samples[i].size,
                                     &self->made->samples[i].counts, self->yaml.error));
    return HAUL_OK;
}

/* Keeps a copy of the text: haul_kernel_file_write writes it again, comments and all. */
haul_status haul_kernel_file_parse(const char *yaml, size_t size, const char *file,
                                   haul_kernel_file **kernel, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    hl_kernel_owned_kernel *made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    haul_status status = HAUL_OK;
    made->file = hl_base_arena_string(&made->arena, file);
    hl_kernel_reader self = {.made = made, .yaml = {made->file, &made->arena, error}};
    made->yaml = hl_base_arena_text(&made->arena, yaml, size);
    made->yaml_length = size;
    if (!made->file || !made->yaml)
        status = hl_base_fail_no_memory(error);
    if (!status)
        status = hl_machine_yaml_read(yaml, size, file, &made->arena, &self.root, error);
    if (!status)
        status = read_kernel(&self);
    if (status) {
        haul_kernel_file_free(&made->kernel);
        return status;
    }
    *kernel = &made->kernel;
    return HAUL_OK;
}

/* --- asking */

/* Names are compared without regard to case: people write matMul and matmul. */
bool haul_kernel_file_is(const haul_kernel_file *kernel, const char *name)
{
    for (size_t i = 0; i < kernel->alias_count; i++)
        if (!strcasecmp(kernel->aliases[i], name))
            return true;
    return !strcasecmp(kernel->name, name);
}

static hl_base_place in_file(const hl_kernel_owned_kernel *self, hl_base_place place)
{
    place.file = self->file; /* also of what no file tells the place of */
    return place;
}

/* Errors point to the file: the range for a size that is outside, the expression for a value that
 * is. */
haul_status haul_kernel_file_at(const haul_kernel_file *kernel, double n, haul_kernel_counts *out,
                                haul_error *error)
{
    HL_PLAIN_NUMERALS;
    const hl_kernel_owned_kernel *self = hl_kernel_owned(kernel);
    haul_kernel_counts counts = {0};
    if (!(n >= kernel->from && n <= kernel->to))
        return hl_base_fail_at(error, in_file(self, self->range),
                               "%s = %.17g is outside the range of '%.80s', %.17g to %.17g",
                               kernel->variable, n, kernel->name, kernel->from, kernel->to);
    haul_status status = HAUL_OK;
    if (self->is_counted)
        status = hl_kernel_measured_at(self, n, &counts, error);
    for (int i = 0; !status && i < ROWS; i++) {
        const hl_kernel_count_row *row = &hl_kernel_count_rows[i];
        double value = 0;
        if (!self->counts[i])
            continue;
        status = hl_base_expression_value(self->counts[i], &n, &value, error);
        if (!status && !(value >= row->least && value <= row->most)) {
            const bool low = value < row->least;
            return hl_base_fail_at(error, in_file(self, self->places[i]),
                                   "'%s' is %.6g at %s = %.17g; expected at %s %g", row->key, value,
                                   kernel->variable, n, low ? "least" : "most",
                                   low ? row->least : row->most);
        }
        *hl_kernel_count_of(&counts, i) = value;
    }
    if (status)
        return status;
    /* caches serve loads: they cannot serve more than there are */
    const double hits = counts.l1_hits + counts.l2_hits;
    if (hits > counts.loads_global * (1 + 1e-9))
        return hl_base_fail_at(
            error, in_file(self, self->places[self->counts[L2_HITS] ? L2_HITS : L2_HITS - 1]),
            "the hits are %.6g at %s = %.17g, and the loads that they serve only %.6g", hits,
            kernel->variable, n, counts.loads_global);
    *out = counts;
    return HAUL_OK;
}

const char *haul_kernel_file_expression(const haul_kernel_file *kernel, const char *key)
{
    const hl_kernel_owned_kernel *self = hl_kernel_owned(kernel);
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(hl_kernel_count_rows[i].key, key))
            return self->counts[i] ? hl_base_expression_text(self->counts[i]) : NULL;
    return NULL;
}
