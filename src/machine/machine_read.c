/* From a YAML tree to a machine, by the rows of machine_fields.c. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "base/numerals.h"
#include "machine/machine_fields.h"
#include "machine/machine_own.h"
#include "machine/yaml_tree.h"

typedef struct machine_reader {
    haul_arena *arena;
    const char *file;
    haul_error *error;
} machine_reader;

/* `from` and `source` as they hold at some place of the tree. */
typedef struct origin {
    haul_provenance from;
    const char *source;
} origin;

static const char *const provenances[] = {NULL,
#define PROVENANCE_ROW(name, text) text,
                                          HAUL_PROVENANCE_LIST(PROVENANCE_ROW)
#undef PROVENANCE_ROW
};

enum { PROVENANCE_COUNT = sizeof provenances / sizeof *provenances, DESCRIPTION = 96 };

/* The words that are there, for messages: "pcie, nvlink, c2c or fabric". */
static const char *list_words(const char *const *words, int count, char *buffer, size_t size)
{
    size_t used = 0;
    int last = count - 1;
    while (last > 0 && !words[last])
        last--;
    buffer[0] = '\0';
    for (int i = 0; i <= last && used < size; i++) {
        if (!words[i])
            continue;
        const char *before = !used ? "" : i == last ? " or " : ", ";
        const int added = snprintf(buffer + used, size - used, "%s%s", before, words[i]);
        used += added > 0 ? (size_t)added : 0;
    }
    return buffer;
}

static haul_status fail_expected(const machine_reader *self, const haul_node *node,
                                 const char *expected, const char *key)
{
    char found[DESCRIPTION];
    return haul_node_fail(node, self->file, self->error, "expected %s for '%s', not %s", expected,
                          key, haul_node_describe(node, found, sizeof found));
}

/* The index of a scalar among `words`, in any case; -1 for none. */
static int find_word(const haul_node *node, const char *const *words, int count)
{
    for (int i = 0; node->kind == HAUL_NODE_SCALAR && i < count; i++)
        if (words[i] && !strcasecmp(words[i], node->text))
            return i;
    return -1;
}

static haul_status read_word(const machine_reader *self, const haul_node *node, const char *key,
                             const char *const *words, int count, int *out)
{
    char list[160];
    const int found = find_word(node, words, count);
    if (found < 0)
        return fail_expected(self, node, list_words(words, count, list, sizeof list), key);
    *out = found;
    return HAUL_OK;
}

/* One line of text, without the blanks and breaks at its end that a block of YAML adds. */
static haul_status read_text(const machine_reader *self, const haul_node *node, const char *key,
                             const char **out)
{
    if (node->kind != HAUL_NODE_SCALAR)
        return fail_expected(self, node, "a line of text", key);
    size_t length = strlen(node->text);
    while (length && strchr(" \n", node->text[length - 1]))
        length--;
    for (size_t i = 0; i < length;) {
        const int bytes = haul_machine_text_length(node->text + i);
        if (!bytes)
            return haul_node_fail(node, self->file, self->error,
                                  "expected one line of text for '%s', without control characters",
                                  key);
        i += (size_t)bytes;
    }
    if (!length)
        return fail_expected(self, node, "a line of text", key);
    const char *text = haul_arena_text(self->arena, node->text, length);
    if (!text)
        return haul_fail_no_memory(self->error);
    *out = text;
    return HAUL_OK;
}

static haul_status read_name(const machine_reader *self, const haul_node *node, const char *key,
                             const char **out)
{
    if (node->kind != HAUL_NODE_SCALAR || !haul_machine_name_ok(node->text))
        return fail_expected(self, node, "lower-case letters, digits and '-', at most 64,", key);
    return read_text(self, node, key, out);
}

static haul_status read_version(const machine_reader *self, const haul_node *node, const char *key)
{
    if (node->kind != HAUL_NODE_SCALAR || strcmp(node->text, "1") != 0)
        return fail_expected(self, node, "1, the version of this format,", key);
    return HAUL_OK;
}

static haul_status fail_range(const machine_reader *self, const haul_node *node,
                              const haul_field *field, double value)
{
    const haul_parameter_limits limits = haul_field_limits(field);
    char limit[32];
    char expected[96];
    const bool high = value > limits.most;
    haul_quantity_format(high ? limits.most : limits.least, field->dimension, 6, limit,
                         sizeof limit);
    snprintf(expected, sizeof expected, "%s of at %s %s",
             limits.whole ? "a whole number" : "a value", high ? "most" : "least", limit);
    return fail_expected(self, node, expected, field->key);
}

static haul_status read_quantity(const machine_reader *self, const haul_node *node,
                                 const haul_field *field, double *out)
{
    double value = 0;
    haul_error ignored;
    if (node->kind != HAUL_NODE_SCALAR ||
        haul_quantity_parse(node->text, field->dimension, &value, &ignored))
        return fail_expected(self, node, haul_dimension_text(field->dimension), field->key);
    const haul_parameter_limits limits = haul_field_limits(field);
    if (value < limits.least || value > limits.most || (limits.whole && value != floor(value)))
        return fail_range(self, node, field, value);
    *out = value == 0 ? 0 : value; /* no negative zero */
    return HAUL_OK;
}

static const haul_node *find_child(const haul_node *mapping, const char *key)
{
    const haul_node *child = mapping->first;
    while (child && strcmp(child->key->text, key) != 0)
        child = child->next;
    return child;
}

/* What a mapping says of the figures in it. A `from` without a `source` does not keep the source
 * of the mapping around it, which was another's. */
static haul_status read_origin(const machine_reader *self, const haul_node *mapping, origin *out)
{
    const haul_node *from = find_child(mapping, "from");
    const haul_node *source = find_child(mapping, "source");
    haul_status status = HAUL_OK;
    if (from) {
        int word = 0;
        status = read_word(self, from, "from", provenances, PROVENANCE_COUNT, &word);
        *out = (origin){.from = (haul_provenance)word};
    }
    if (!status && source)
        status = read_text(self, source, "source", &out->source);
    return status;
}

static haul_status fail_key(const machine_reader *self, const haul_node *key, const char *what,
                            const char *const *known, size_t count)
{
    const size_t near = haul_nearest(key->text, known, count);
    char list[256];
    if (near < count)
        return haul_node_fail(key, self->file, self->error,
                              "unknown key '%.80s' in '%s'; did you mean '%s'?", key->text, what,
                              known[near]);
    return haul_node_fail(key, self->file, self->error,
                          "unknown key '%.80s' in '%s'; expected one of %s", key->text, what,
                          list_words(known, (int)count, list, sizeof list));
}

/* Every key is known, and there once. */
static haul_status check_keys(const machine_reader *self, const haul_node *mapping,
                              const char *what, const char *const *known, size_t count)
{
    uint64_t seen = 0;
    for (const haul_node *child = mapping->first; child; child = child->next) {
        size_t at = 0;
        while (at < count && strcmp(known[at], child->key->text) != 0)
            at++;
        if (at == count)
            return fail_key(self, child->key, what, known, count);
        if (seen >> at & 1)
            return haul_node_fail(child->key, self->file, self->error,
                                  "'%s' is there twice in '%s'; expected it once", known[at], what);
        seen |= UINT64_C(1) << at;
    }
    return HAUL_OK;
}

/* A figure with its own `from` and `source`: *value is then its value. */
static haul_status open_figure(const machine_reader *self, const haul_node *node, const char *key,
                               origin *own, const haul_node **value)
{
    static const char *const keys[] = {"value", "from", "source"};
    *value = node;
    if (node->kind == HAUL_NODE_MAPPING) {
        haul_status status = check_keys(self, node, key, keys, 3);
        if (!status)
            status = read_origin(self, node, own);
        if (status)
            return status;
        *value = find_child(node, "value");
        if (!*value)
            return haul_node_fail(node, self->file, self->error, "'value' is missing for '%s'",
                                  key);
    }
    if (!own->from)
        return haul_node_fail(node, self->file, self->error,
                              "'from' is missing for '%s': where the figure was measured or read",
                              key);
    return HAUL_OK;
}

static haul_status read_figure(const machine_reader *self, const haul_node *node,
                               const haul_field *field, origin own, haul_parameter *out)
{
    const haul_node *value = NULL;
    haul_status status = open_figure(self, node, field->key, &own, &value);
    if (!status)
        status = read_quantity(self, value, field, &out->value);
    if (status)
        return status;
    out->provenance = own.from;
    out->source = own.source;
    return HAUL_OK;
}

static haul_status read_point(const machine_reader *self, const haul_node *node, haul_point *out)
{
    static const haul_field bytes = {
        .key = "points", .dimension = HAUL_DIM_BYTES, .range = HAUL_RANGE_FROM_ZERO};
    static const haul_field seconds = {.key = "points", .dimension = HAUL_DIM_SECONDS};
    const haul_node *first = node->kind == HAUL_NODE_LIST ? node->first : NULL;
    if (!first || !first->next || first->next->next)
        return fail_expected(self, node, "[bytes, time]", "points");
    const haul_status status = read_quantity(self, first, &bytes, &out->bytes);
    return status ? status : read_quantity(self, first->next, &seconds, &out->seconds);
}

static haul_status check_order(const machine_reader *self, const haul_node *node,
                               const haul_point *before, const haul_point *point)
{
    if (point->bytes <= before->bytes)
        return fail_expected(self, node->first, "points ascending in bytes", "points");
    if (point->seconds < before->seconds)
        return fail_expected(self, node->first->next, "no less time than the point before",
                             "points");
    return HAUL_OK;
}

static haul_status read_points(const machine_reader *self, const haul_node *node, origin own,
                               haul_copy_curve *curve)
{
    const haul_node *list = NULL;
    haul_status status = open_figure(self, node, "points", &own, &list);
    if (status)
        return status;
    if (list->kind != HAUL_NODE_LIST || !list->first)
        return fail_expected(self, list, "a list of [bytes, time]", "points");
    size_t count = 0;
    for (const haul_node *at = list->first; at; at = at->next, count++) {
        if (count == HAUL_CURVE_POINTS)
            return haul_node_fail(at, self->file, self->error, "expected at most %d points",
                                  HAUL_CURVE_POINTS);
        haul_point *point = &curve->points[count];
        status = read_point(self, at, point);
        if (!status && count)
            status = check_order(self, at, point - 1, point);
        if (status)
            return status;
    }
    curve->points_from = (haul_parameter){(double)count, own.from, own.source};
    return HAUL_OK;
}

static haul_status read_mapping(const machine_reader *self, const haul_node *node,
                                const haul_mapping *mapping, origin own, void *base);

static haul_status check_unique(const machine_reader *self, const haul_node *node,
                                const haul_copy_curve *curves, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (curves[i].direction == curves[at].direction && curves[i].memory == curves[at].memory &&
            curves[i].locality == curves[at].locality)
            return haul_node_fail(node, self->file, self->error,
                                  "copies %s %s %s are there twice; expected them once",
                                  haul_direction_text(curves[at].direction),
                                  haul_memory_text(curves[at].memory),
                                  curves[at].locality == HAUL_FAR ? "far" : "near");
    return HAUL_OK;
}

static size_t count_children(const haul_node *node)
{
    size_t count = 0;
    for (const haul_node *child = node->first; child; child = child->next)
        count++;
    return count;
}

static haul_status read_curves(const machine_reader *self, const haul_node *node, origin own,
                               haul_machine *machine)
{
    if (node->kind != HAUL_NODE_LIST)
        return fail_expected(self, node, "a list", "copies");
    const size_t count = count_children(node);
    if (count > HAUL_CURVES_MOST)
        return haul_node_fail(node, self->file, self->error,
                              "expected at most %d entries of 'copies', not %zu", HAUL_CURVES_MOST,
                              count);
    haul_copy_curve *curves = haul_arena_alloc(self->arena, count * sizeof *curves);
    if (!curves)
        return haul_fail_no_memory(self->error);
    size_t at = 0;
    for (const haul_node *child = node->first; child; child = child->next, at++) {
        haul_status status = read_mapping(self, child, &haul_curve_mapping, own, &curves[at]);
        if (!status)
            status = check_unique(self, child, curves, at);
        if (status)
            return status;
    }
    machine->copies = curves;
    machine->copy_count = count;
    return HAUL_OK;
}

static haul_status read_field(const machine_reader *self, const haul_node *node,
                              const haul_field *field, origin own, void *base)
{
    void *at = (char *)base + field->offset;
    switch (field->kind) {
    case HAUL_FIELD_VERSION:
        return read_version(self, node, field->key);
    case HAUL_FIELD_NAME:
        return read_name(self, node, field->key, at);
    case HAUL_FIELD_TEXT:
        return read_text(self, node, field->key, at);
    case HAUL_FIELD_WORD:
        return read_word(self, node, field->key, field->words, field->word_count, at);
    case HAUL_FIELD_PARAMETER:
        return read_figure(self, node, field, own, at);
    case HAUL_FIELD_POINTS:
        return read_points(self, node, own, base);
    case HAUL_FIELD_MAPPING:
        return read_mapping(self, node, field->mapping, own, at);
    case HAUL_FIELD_CURVES:
        return read_curves(self, node, own, base);
    }
    return haul_fail(self->error, HAUL_INTERNAL, "no reader for '%s'", field->key);
}

/* Whether a figure is of the kind of link at hand; other mappings have figures of any kind only. */
static bool is_of_link(const haul_field *field, const haul_mapping *mapping, const void *base)
{
    if (!mapping->is_link || field->links == HAUL_LINKS_ANY)
        return true;
    const bool pcie = ((const haul_link *)base)->kind == HAUL_LINK_PCIE;
    return pcie == (field->links == HAUL_LINKS_PCIE);
}

/* What must be there is there, and what has no meaning is not. */
static haul_status check_fields(const machine_reader *self, const haul_node *node,
                                const haul_mapping *mapping, const void *base)
{
    for (size_t i = 0; i < mapping->count; i++) {
        const haul_field *field = &mapping->fields[i];
        const haul_node *child = find_child(node, field->key);
        const bool meant = is_of_link(field, mapping, base);
        if (child && !meant)
            return haul_node_fail(child->key, self->file, self->error,
                                  "'%s' has no meaning for this kind of link", field->key);
        if (!child && field->required && meant)
            return haul_node_fail(node, self->file, self->error, "'%s' is missing in '%s'",
                                  field->key, mapping->what);
    }
    return HAUL_OK;
}

/* NULL for `from` and `source`, which are of no one field. */
static const haul_field *find_field(const haul_mapping *mapping, const char *key)
{
    for (size_t i = 0; i < mapping->count; i++)
        if (!strcmp(mapping->fields[i].key, key))
            return &mapping->fields[i];
    return NULL;
}

static haul_status read_mapping(const machine_reader *self, const haul_node *node,
                                const haul_mapping *mapping, origin own, void *base)
{
    const char *known[HAUL_FIELDS_MOST + 2];
    if (node->kind != HAUL_NODE_MAPPING)
        return fail_expected(self, node, "a mapping of keys", mapping->what);
    for (size_t i = 0; i < mapping->count; i++)
        known[i] = mapping->fields[i].key;
    known[mapping->count] = "from";
    known[mapping->count + 1] = "source";
    haul_status status = check_keys(self, node, mapping->what, known, mapping->count + 2);
    if (!status)
        status = read_origin(self, node, &own);
    for (const haul_node *child = node->first; !status && child; child = child->next) {
        const haul_field *field = find_field(mapping, child->key->text);
        if (field)
            status = read_field(self, child, field, own, base);
    }
    return status ? status : check_fields(self, node, mapping, base);
}

haul_status haul_machine_parse(const char *yaml, size_t size, const char *file,
                               haul_machine **machine, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    haul_owned_machine *owned = haul_owned_machine_new();
    if (!owned)
        return haul_fail_no_memory(error);
    const machine_reader self = {.arena = &owned->arena, .file = file, .error = error};
    const haul_node *root = NULL;
    haul_status status = haul_yaml_read(yaml, size, file, &owned->arena, &root, error);
    if (!status)
        status = read_mapping(&self, root, &haul_machine_mapping, (origin){0}, &owned->machine);
    if (status) {
        haul_machine_free(&owned->machine);
        return status;
    }
    *machine = &owned->machine;
    return HAUL_OK;
}
