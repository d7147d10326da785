#include "base/json_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/fail.h"

/* Deeper than any file that is read here; libyaml's time grows with the square of it. */
enum { MAX_DEPTH = 64 };

struct haul_tree {
    const char *file;
    yaml_document_t document;
};

/* Where the scan of a text is. */
typedef struct text_scan {
    char *text;
    size_t size;
    size_t at;
    int line;
    int column;
    int depth;
    bool in_string;
} text_scan;

/* \uD800 to \uDFFF: `escape` is six characters. */
static bool is_surrogate(const char *escape)
{
    const char d = escape[2], next = escape[3];
    return escape[1] == 'u' && (d == 'd' || d == 'D') &&
           (next == '8' || next == '9' || (next >= 'a' && next <= 'f') ||
            (next >= 'A' && next <= 'F'));
}

/* libyaml refuses the halves of surrogate pairs, which JSON has for characters beyond U+FFFF; no
 * such character is looked for, so that U+FFFD in place of each half serves. */
static void replace_surrogate(text_scan *scan)
{
    char *escape = scan->text + scan->at;
    if (scan->size - scan->at < 6 || !is_surrogate(escape))
        return;
    for (int i = 0; i < 4; i++)
        escape[2 + i] = "FFFD"[i]; /* as long: columns hold */
}

static void step(text_scan *scan)
{
    const char byte = scan->text[scan->at];
    const bool escape = scan->in_string && byte == '\\';
    if (escape)
        replace_surrogate(scan);
    else if (byte == '"')
        scan->in_string = !scan->in_string;
    else if (!scan->in_string)
        scan->depth += (byte == '[' || byte == '{') - (byte == ']' || byte == '}');
    const size_t taken = escape && scan->at + 1 < scan->size ? 2 : 1;
    scan->at += taken;
    scan->column += (int)taken;
    if (byte == '\n') {
        scan->line++;
        scan->column = 1;
    }
}

static haul_status prepare(text_scan scan, const char *file, haul_error *error)
{
    while (scan.at < scan.size) {
        step(&scan);
        if (scan.depth > MAX_DEPTH) {
            haul_fail(error, HAUL_BAD_INPUT, "nested more than %d deep", MAX_DEPTH);
            haul_error_at(error, file, scan.line, scan.column - 1);
            return HAUL_BAD_INPUT;
        }
    }
    return HAUL_OK;
}

static haul_status fail_parser(const yaml_parser_t *parser, const char *file, haul_error *error)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return haul_fail_no_memory(error);
    haul_fail(error, HAUL_BAD_INPUT, "not JSON: %s",
              parser->problem ? parser->problem : "cannot be read");
    const bool marked = parser->error != YAML_READER_ERROR;
    haul_error_at(error, file, marked ? (int)parser->problem_mark.line + 1 : 0,
                  marked ? (int)parser->problem_mark.column + 1 : 0);
    return HAUL_BAD_INPUT;
}

haul_status haul_tree_parse(char *text, size_t size, const char *file, haul_tree **tree,
                            haul_error *error)
{
    const text_scan scan = {.text = text, .size = size, .line = 1, .column = 1};
    const haul_status status = prepare(scan, file, error);
    if (status)
        return status;
    haul_tree *self = calloc(1, sizeof *self);
    yaml_parser_t parser;
    if (!self || !yaml_parser_initialize(&parser)) {
        free(self);
        return haul_fail_no_memory(error);
    }
    self->file = file;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    const bool read = yaml_parser_load(&parser, &self->document) != 0;
    const haul_status failed = read ? HAUL_OK : fail_parser(&parser, file, error);
    yaml_parser_delete(&parser);
    if (!read) {
        free(self);
        return failed;
    }
    *tree = self;
    return HAUL_OK;
}

void haul_tree_free(haul_tree *tree)
{
    if (!tree)
        return;
    yaml_document_delete(&tree->document);
    free(tree);
}

/* libyaml's getters take no const. */
static yaml_node_t *node_of(const haul_tree *tree, haul_tree_node node)
{
    const yaml_document_t *document = &tree->document;
    const ptrdiff_t count = document->nodes.top - document->nodes.start;
    return node >= 1 && node <= count ? document->nodes.start + node - 1 : NULL;
}

haul_tree_node haul_tree_root(const haul_tree *tree)
{
    return node_of(tree, 1) ? 1 : 0;
}

const char *haul_tree_text(const haul_tree *tree, haul_tree_node node)
{
    const yaml_node_t *found = node_of(tree, node);
    return found && found->type == YAML_SCALAR_NODE ? (const char *)found->data.scalar.value : NULL;
}

haul_tree_node haul_tree_get(const haul_tree *tree, haul_tree_node object, const char *key)
{
    const yaml_node_t *found = node_of(tree, object);
    if (!found || found->type != YAML_MAPPING_NODE)
        return 0;
    const yaml_node_pair_t *pair = found->data.mapping.pairs.start;
    for (; pair < found->data.mapping.pairs.top; pair++) {
        const char *name = haul_tree_text(tree, pair->key);
        if (name && !strcmp(name, key))
            return pair->value;
    }
    return 0;
}

size_t haul_tree_count(const haul_tree *tree, haul_tree_node array)
{
    const yaml_node_t *found = node_of(tree, array);
    if (!found || found->type != YAML_SEQUENCE_NODE)
        return 0;
    return (size_t)(found->data.sequence.items.top - found->data.sequence.items.start);
}

haul_tree_node haul_tree_item(const haul_tree *tree, haul_tree_node array, size_t index)
{
    const size_t count = haul_tree_count(tree, array);
    return index < count ? node_of(tree, array)->data.sequence.items.start[index] : 0;
}

bool haul_tree_number(const haul_tree *tree, haul_tree_node node, double *value)
{
    const char *text = haul_tree_text(tree, node);
    if (!text || !*text || text[strspn(text, "+-.0123456789eE")])
        return false;
    char *end;
    const double number = strtod(text, &end);
    if (*end || end == text || !isfinite(number))
        return false;
    *value = number;
    return true;
}

void haul_tree_locate(const haul_tree *tree, haul_tree_node node, haul_error *error)
{
    const yaml_node_t *found = node_of(tree, node);
    if (found)
        haul_error_at(error, tree->file, (int)found->start_mark.line + 1,
                      (int)found->start_mark.column + 1);
    else
        haul_error_in_file(error, tree->file);
}
