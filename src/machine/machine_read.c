/* From a YAML tree to a machine, by the rows of machine_fields.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "machine/machine_fields.h"
#include "machine/machine_own.h"
#include "machine/yaml_read.h"

/* `from` and `source` as they hold at some place of the tree. */
typedef struct origin {
    haul_provenance from;
    const char *source;
} origin;

/* Index 0 has no word, so that a parameter that is not given can never be read from a file. */
static const char *const provenances[] = {NULL, HAUL_PROVENANCE_LIST(HAUL_ROW_TEXT)};

enum { PROVENANCE_COUNT = sizeof provenances / sizeof *provenances };

/* "carried over" is what files of before say for "scaled". */
static bool is_old_word(const hl_machine_node *node)
{
    return node->kind == HL_MACHINE_NODE_SCALAR && !strcasecmp(node->text, "carried over");
}

/* The line of the first `from: carried over`; 0: none. */
static int old_word_line(const hl_machine_node *node)
{
    int line = 0;
    for (const hl_machine_node *child = node->first; !line && child; child = child->next)
        line = child->key && !strcmp(child->key->text, "from") && is_old_word(child)
                   ? child->line
                   : old_word_line(child);
    return line;
}

static haul_status read_quantity(const hl_machine_yaml *self, const hl_machine_node *node,
                                 const hl_machine_field *field, double *out)
{
    double value = 0;
    /* The reason of the parser is dropped: what was expected, at this place, says more. */
    if (node->kind != HL_MACHINE_NODE_SCALAR ||
        haul_quantity_parse(node->text, field->dimension, &value, NULL))
        return hl_machine_node_fail_expected(self, node, haul_dimension_text(field->dimension),
                                             field->key);
    const hl_machine_parameter_limits limits = hl_machine_field_limits(field);
    if (value < limits.least || value > limits.most || (limits.whole && value != floor(value))) {
        char limit[32], expected[96];
        const bool high = value > limits.most;
        haul_quantity_format(high ? limits.most : limits.least, field->dimension, 6, limit,
                             sizeof limit);
        snprintf(expected, sizeof expected, "%s of at %s %s",
                 limits.whole ? "a whole number" : "a value", high ? "most" : "least", limit);
        return hl_machine_node_fail_expected(self, node, expected, field->key);
    }
    *out = value == 0 ? 0 : value; /* no negative zero */
    return HAUL_OK;
}

/* A mapping's own `from` and `source` hold for the parameters in it. A `from` without a `source`
 * does not keep the source of the mapping around it, which was another's. */
static haul_status read_origin(const hl_machine_yaml *self, const hl_machine_node *mapping,
                               origin *out)
{
    const hl_machine_node *from = hl_machine_node_child(mapping, "from");
    const hl_machine_node *source = hl_machine_node_child(mapping, "source");
    haul_status status = HAUL_OK;
    if (from) {
        int word = is_old_word(from) ? HAUL_PROVENANCE_SCALED : 0;
        if (!word)
            status = hl_machine_node_word(self, from, "from", provenances, PROVENANCE_COUNT, &word);
        *out = (origin){.from = (haul_provenance)word};
    }
    if (!status && source)
        status = hl_machine_node_line(self, source, "source", &out->source);
    return status;
}

/* A parameter with its own `from` and `source`: *value is then its value. */
static haul_status open_figure(const hl_machine_yaml *self, const hl_machine_node *node,
                               const char *key, origin *own, const hl_machine_node **value)
{
    static const char *const keys[] = {"value", "from", "source"};
    *value = node;
    if (node->kind == HL_MACHINE_NODE_MAPPING) {
        HAUL_TRY(hl_machine_node_keys(self, node, key, keys, 3, NULL));
        HAUL_TRY(read_origin(self, node, own));
        *value = hl_machine_node_child(node, "value");
        if (!*value)
            return hl_machine_node_fail(self, node, "'value' is missing for '%s'", key);
    }
    /* Every number needs its origin: reports say how far their inputs can be trusted. */
    if (!own->from)
        return hl_machine_node_fail(
            self, node, "'from' is missing for '%s': where the figure was measured or read", key);
    return HAUL_OK;
}

static haul_status read_points(const hl_machine_yaml *self, const hl_machine_node *node, origin own,
                               const hl_machine_field *field, hl_machine_points *points)
{
    const hl_machine_node *list = NULL;
    HAUL_TRY(open_figure(self, node, "points", &own, &list));
    if (list->kind != HL_MACHINE_NODE_LIST || !list->first)
        return hl_machine_node_fail_expected(self, list, "a list of [bytes, time]", "points");
    size_t count = 0;
    for (const hl_machine_node *at = list->first; at; at = at->next, count++) {
        if (count == HAUL_MACHINE_CURVE_POINTS)
            return hl_machine_node_fail(self, at, "expected at most %d points",
                                        HAUL_MACHINE_CURVE_POINTS);
        haul_point *point = &points->at[count];
        static const hl_machine_field bytes = {
            .key = "points", .dimension = HAUL_DIM_BYTES, .range = HL_MACHINE_RANGE_FROM_ZERO};
        static const hl_machine_field seconds = {.key = "points", .dimension = HAUL_DIM_SECONDS};
        const hl_machine_node *first = at->kind == HL_MACHINE_NODE_LIST ? at->first : NULL;
        if (!first || !first->next || first->next->next)
            return hl_machine_node_fail_expected(self, at, "[bytes, time]", "points");
        HAUL_TRY(read_quantity(self, first, &bytes, &point->bytes));
        HAUL_TRY(read_quantity(self, first->next, &seconds, &point->seconds));
        /* Strictly ascending sizes, and times that do not fall: interpolation divides by the
         * distance, and a copy of more bytes that takes less time is an error of the
         * measurement. Messages of another protocol may be faster. */
        if (count && point->bytes <= point[-1].bytes)
            return hl_machine_node_fail_expected(self, at->first, "points ascending in bytes",
                                                 "points");
        if (count && !field->may_fall && point->seconds < point[-1].seconds)
            return hl_machine_node_fail_expected(self, at->first->next,
                                                 "no less time than the point before", "points");
    }
    /* How many points there are is kept as the value of their origin. */
    points->from = (haul_parameter){(double)count, own.from, own.source};
    return HAUL_OK;
}

static haul_status read_mapping(const hl_machine_yaml *self, const hl_machine_node *node,
                                const hl_machine_yaml_mapping *mapping, origin own, void *base);

static haul_status read_list(const hl_machine_yaml *self, const hl_machine_node *node,
                             const hl_machine_field *field, origin own, void *base)
{
    if (node->kind != HL_MACHINE_NODE_LIST)
        return hl_machine_node_fail_expected(self, node, "a list", field->key);
    const size_t count = hl_machine_node_count(node);
    if (count > HL_MACHINE_CURVES_MOST)
        return hl_machine_node_fail(self, node, "expected at most %d entries of '%s', not %zu",
                                    HL_MACHINE_CURVES_MOST, field->key, count);
    /* Zeroed, so that fields that the file leaves out are "not given". */
    char *items = hl_base_arena_alloc(self->arena, count * field->item_size);
    if (!items)
        return hl_base_fail_no_memory(self->error);
    char *item = items;
    for (const hl_machine_node *child = node->first; child; child = child->next) {
        char name[HL_MACHINE_ITEM_NAME_BYTES], other[HL_MACHINE_ITEM_NAME_BYTES];
        HAUL_TRY(read_mapping(self, child, field->mapping, own, item));
        hl_machine_item_name(field, item, name);
        /* Quadratic, over at most 64 items. */
        for (const char *before = items; before < item; before += field->item_size)
            if (!strcmp(hl_machine_item_name(field, before, other), name))
                return hl_machine_node_fail(self, child, "%s is there twice; expected it once",
                                            name);
        item += field->item_size;
    }
    /* Only now, when all items are right: on failure the machine has an empty list. */
    memcpy((char *)base + field->offset, &items, sizeof items);
    memcpy((char *)base + field->count_offset, &count, sizeof count);
    return HAUL_OK;
}

static haul_status read_field(const hl_machine_yaml *self, const hl_machine_node *node,
                              const hl_machine_field *field, origin own, void *base)
{
    void *at = (char *)base + field->offset;
    haul_parameter *figure = at;
    const hl_machine_node *value = NULL;
    haul_status status;
    switch (field->kind) {
    case HL_MACHINE_FIELD_VERSION:
        return hl_machine_node_version(self, node, field->key);
    case HL_MACHINE_FIELD_NAME:
        if (node->kind != HL_MACHINE_NODE_SCALAR || !hl_machine_name_ok(node->text))
            return hl_machine_node_fail_expected(
                self, node, "lower-case letters, digits and '-', at most 64,", field->key);
        return hl_machine_node_line(self, node, field->key, at);
    case HL_MACHINE_FIELD_TEXT:
        return hl_machine_node_line(self, node, field->key, at);
    case HL_MACHINE_FIELD_WORD:
        return hl_machine_node_word(self, node, field->key, field->words, field->word_count, at);
    case HL_MACHINE_FIELD_PARAMETER:
        /* `own` is passed by value: what the parameter's own mapping says holds for it alone. */
        status = open_figure(self, node, field->key, &own, &value);
        if (!status)
            status = read_quantity(self, value, field, &figure->value);
        if (!status)
            *figure = (haul_parameter){figure->value, own.from, own.source};
        return status;
    case HL_MACHINE_FIELD_POINTS:
        return read_points(self, node, own, field, at);
    case HL_MACHINE_FIELD_MAPPING:
        return read_mapping(self, node, field->mapping, own, at);
    case HL_MACHINE_FIELD_LIST:
        return read_list(self, node, field, own, base);
    }
    return haul_error_set(self->error, HAUL_STATUS_INTERNAL, "no reader for '%s'", field->key);
}

/* Refuses a mapping without a key that it needs, or with one that its kind of link does not have.
 */
static haul_status check_fields(const hl_machine_yaml *self, const hl_machine_node *node,
                                const hl_machine_yaml_mapping *mapping, const void *base)
{
    for (size_t i = 0; i < mapping->count; i++) {
        const hl_machine_field *field = &mapping->fields[i];
        const hl_machine_node *child = hl_machine_node_child(node, field->key);
        const bool is_pcie = mapping->is_link && ((const haul_link *)base)->kind == HAUL_LINK_PCIE;
        /* HL_MACHINE_LINKS_OTHER is all but PCIe, so that equality of the two answers is enough. */
        const bool meant = !mapping->is_link || field->links == HL_MACHINE_LINKS_ANY ||
                           is_pcie == (field->links == HL_MACHINE_LINKS_PCIE);
        if (child && !meant)
            return hl_machine_node_fail(
                self, child->key, "'%s' has no meaning for this kind of link, which has '%s'",
                field->key, is_pcie ? "generation' and 'lanes" : "links' and 'link_rate");
        if (!child && field->required && meant)
            return hl_machine_node_fail(self, node, "'%s' is missing in '%s'", field->key,
                                        mapping->what);
    }
    return HAUL_OK;
}

static haul_status read_mapping(const hl_machine_yaml *self, const hl_machine_node *node,
                                const hl_machine_yaml_mapping *mapping, origin own, void *base)
{
    const char *known[HL_MACHINE_FIELDS_MOST + 2];
    for (size_t i = 0; i < mapping->count; i++)
        known[i] = mapping->fields[i].key;
    /* Both may stand in any mapping and hold for all parameters inside it. */
    known[mapping->count] = "from";
    known[mapping->count + 1] = "source";
    HAUL_TRY(hl_machine_node_keys(self, node, mapping->what, known, mapping->count + 2, NULL));
    HAUL_TRY(read_origin(self, node, &own));
    for (const hl_machine_node *child = node->first; child; child = child->next) {
        size_t i = 0; /* `from` and `source` are of no one field */
        while (i < mapping->count && strcmp(mapping->fields[i].key, child->key->text) != 0)
            i++;
        if (i < mapping->count)
            HAUL_TRY(read_field(self, child, &mapping->fields[i], own, base));
    }
    return check_fields(self, node, mapping, base);
}

haul_status haul_machine_parse(const char *yaml, size_t size, const char *file,
                               haul_machine **machine, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    hl_machine_owned_machine *owned = hl_machine_owned_machine_new();
    if (!owned)
        return hl_base_fail_no_memory(error);
    const hl_machine_yaml self = {.arena = &owned->arena, .file = file, .error = error};
    const hl_machine_node *root = NULL;
    haul_status status = hl_machine_yaml_read(yaml, size, file, &owned->arena, &root, error);
    if (!status)
        status = read_mapping(&self, root, &hl_machine_mapping, (origin){0}, &owned->machine);
    if (status) {
        haul_machine_free(&owned->machine);
        return status;
    }
    /* Kept for haul_machine_check, which names the old word; reading accepts it in silence. */
    owned->machine.old_word_line = old_word_line(root);
    *machine = &owned->machine;
    return HAUL_OK;
}
