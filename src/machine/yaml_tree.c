/* Over libyaml's events: its own document has no columns, which errors need. Anchors, aliases and
 * tags are refused: they make trees larger than their text. */
#include "machine/yaml_tree.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#include "base/fail.h"

typedef struct tree_reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the one at hand */
    const char *yaml;
    const char *file;
    hl_base_arena *arena;
    haul_error *error;
} tree_reader;

static int from_one(size_t at)
{
    /* libyaml counts from 0, editors and compilers from 1. */
    return at < INT_MAX ? (int)at + 1 : INT_MAX;
}

static hl_base_place place_of(const tree_reader *self, const yaml_mark_t *mark)
{
    return (hl_base_place){self->file, from_one(mark->line), from_one(mark->column)};
}

static haul_status fail_event(const tree_reader *self, const char *text)
{
    return hl_base_fail_at(self->error, place_of(self, &self->event.start_mark), "%s", text);
}

static haul_status fail_parser(const tree_reader *self)
{
    const yaml_parser_t *parser = &self->parser;
    const char *problem = parser->problem ? parser->problem : "not understood";
    if (parser->error == YAML_MEMORY_ERROR)
        return hl_base_fail_no_memory(self->error);
    /* For bytes that are no UTF-8 libyaml gives an offset and no mark: line and column are
     * counted. */
    if (parser->error == YAML_READER_ERROR) {
        hl_base_place place = {self->file, 1, 1};
        /* an offset in bytes: all but those that continue a character are a column */
        for (size_t i = 0; i < parser->problem_offset; i++) {
            const bool newline = self->yaml[i] == '\n';
            place.line += newline;
            place.column =
                newline ? 1 : place.column + (((unsigned char)self->yaml[i] & 0xc0) != 0x80);
        }
        return hl_base_fail_at(self->error, place, "expected text in UTF-8: %s", problem);
    }
    return hl_base_fail_at(self->error, place_of(self, &parser->problem_mark),
                           "expected YAML: %s%s%s", problem, parser->context ? " " : "",
                           parser->context ? parser->context : "");
}

/* Puts the next event at hand in place of the one before. */
static haul_status advance(tree_reader *self)
{
    /* Each event is deleted before the next is read; the last one is deleted by
     * hl_machine_yaml_read. */
    yaml_event_delete(&self->event);
    return yaml_parser_parse(&self->parser, &self->event) ? HAUL_OK : fail_parser(self);
}

static bool is_marked(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor || event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor || event->data.mapping_start.tag;
    default:
        return event->type == YAML_ALIAS_EVENT;
    }
}

static haul_status read_node(tree_reader *self, int depth, hl_machine_node **out);

/* Where the text of a scalar begins, behind its quote; 0 where it is not in the file as it is read:
 * over several lines, or with escapes. Marks count characters, not bytes. */
static int text_column(const yaml_event_t *event)
{
    /* Errors inside an expression point at the character that is wrong, so they need to know that
     * the text stands in the file as it was read. */
    const yaml_mark_t *start = &event->start_mark;
    const size_t quote = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? 0 : 1;
    size_t characters = 0;
    for (size_t i = 0; i < event->data.scalar.length; i++)
        characters += (event->data.scalar.value[i] & 0xc0) != 0x80;
    if (event->end_mark.line != start->line ||
        event->end_mark.column - start->column != characters + 2 * quote)
        return 0;
    return from_one(start->column + quote);
}

static haul_status read_children(tree_reader *self, hl_machine_node *parent, int depth)
{
    const yaml_event_type_t end =
        parent->kind == HL_MACHINE_NODE_LIST ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT;
    hl_machine_node **last = &parent->first;
    HAUL_TRY(advance(self));
    while (self->event.type != end) { /* nodes belong to the arena: nothing has to be undone */
        hl_machine_node *key = NULL;
        if (parent->kind == HL_MACHINE_NODE_MAPPING) {
            /* Keys that are lists or mappings are valid YAML, but no format of haul has them. */
            if (self->event.type != YAML_SCALAR_EVENT)
                return fail_event(self, "expected a word as the key");
            HAUL_TRY(read_node(self, depth, &key));
            HAUL_TRY(advance(self));
        }
        HAUL_TRY(read_node(self, depth, last));
        (*last)->key = key;
        last = &(*last)->next;
        HAUL_TRY(advance(self));
    }
    return HAUL_OK;
}

/* Reads the node that starts with the event at hand, to its last event. */
static haul_status read_node(tree_reader *self, int depth, hl_machine_node **out)
{
    if (is_marked(&self->event))
        return fail_event(self, "expected plain values: anchors, aliases and tags have no meaning "
                                "here");
    /* Reading recurses on this program's stack, and a file may come from anywhere. */
    if (depth > HL_MACHINE_YAML_DEPTH)
        return fail_event(self, "nested deeper than such a file can be");
    hl_machine_node *node = hl_base_arena_alloc(self->arena, sizeof *node);
    if (!node)
        return hl_base_fail_no_memory(self->error);
    node->line = from_one(self->event.start_mark.line);
    node->column = from_one(self->event.start_mark.column);
    *out = node;
    if (self->event.type == YAML_SCALAR_EVENT) {
        const char *text = (const char *)self->event.data.scalar.value;
        const size_t length = self->event.data.scalar.length;
        /* libyaml turns "\0" in double quotes into a NUL, which would cut the text short. */
        if (memchr(text, '\0', length))
            return fail_event(self, "expected text without a NUL character");
        node->text = hl_base_arena_text(self->arena, text, length);
        node->text_column = text_column(&self->event);
        return node->text ? HAUL_OK : hl_base_fail_no_memory(self->error);
    }
    /* Whatever is not a scalar starts a list or a mapping: aliases were refused above. */
    node->kind = self->event.type == YAML_SEQUENCE_START_EVENT ? HL_MACHINE_NODE_LIST
                                                               : HL_MACHINE_NODE_MAPPING;
    return read_children(self, node, depth + 1);
}

static haul_status read_stream(tree_reader *self, hl_machine_node **root)
{
    /* Events come in the order stream start, document start, the tree, document end, stream end. */
    haul_status status = advance(self); /* the stream's start */
    if (!status)
        status = advance(self);
    if (!status && self->event.type == YAML_STREAM_END_EVENT)
        return fail_event(self, "expected keys and values; there is nothing here");
    if (!status)
        status = advance(self);
    if (!status)
        status = read_node(self, 1, root);
    if (!status)
        status = advance(self); /* the document's end */
    if (!status)
        status = advance(self);
    if (!status && self->event.type != YAML_STREAM_END_EVENT)
        return fail_event(self, "expected one document in the file, and here a second one starts");
    return status;
}

haul_status hl_machine_yaml_read(const char *yaml, size_t size, const char *file,
                                 hl_base_arena *arena, const hl_machine_node **root,
                                 haul_error *error)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    /* The limit bounds the tree too: no node is made of less than a byte of text. */
    if (size > HL_MACHINE_YAML_BYTES) {
        haul_error_set(error, HAUL_STATUS_BAD_INPUT, "larger than such a file can be (%d KiB)",
                       HL_MACHINE_YAML_BYTES / 1024);
        hl_base_error_in_file(error, file);
        return HAUL_STATUS_BAD_INPUT;
    }
    /* libyaml would count the mark as a column, and so move all errors of the first line. */
    if (size >= 3 && !memcmp(yaml, byte_order_mark, 3)) {
        yaml += 3;
        size -= 3;
    }
    tree_reader self = {.yaml = yaml, .file = file, .arena = arena, .error = error};
    if (!yaml_parser_initialize(&self.parser))
        return hl_base_fail_no_memory(error);
    /* Given, since libyaml would otherwise take a mark of UTF-16 as its choice of encoding. */
    yaml_parser_set_encoding(&self.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&self.parser, (const unsigned char *)yaml, size);
    hl_machine_node *node = NULL;
    const haul_status status = read_stream(&self, &node);
    yaml_event_delete(&self.event);
    yaml_parser_delete(&self.parser);
    if (!status)
        *root = node;
    return status;
}
