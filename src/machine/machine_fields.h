/* The keys of a machine file, as data: one row each. Reading, checking, writing, copying,
 * showing and comparing all go through these rows, so a new parameter is one line here and one in
 * haul/machine.h. */
#ifndef HAUL_MACHINE_FIELDS_H
#define HAUL_MACHINE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "haul/machine.h"
#include "haul/units.h"

typedef enum hl_machine_field_kind {
    HL_MACHINE_FIELD_VERSION,   /* of the format; nothing is kept */
    HL_MACHINE_FIELD_NAME,      /* const char *: lower case, digits and '-' */
    HL_MACHINE_FIELD_TEXT,      /* const char *: one line */
    HL_MACHINE_FIELD_WORD,      /* an enumeration: index into `words` */
    HL_MACHINE_FIELD_PARAMETER, /* haul_parameter */
    HL_MACHINE_FIELD_POINTS,    /* hl_machine_points */
    HL_MACHINE_FIELD_MAPPING,   /* a structure in the structure, by `mapping` */
    HL_MACHINE_FIELD_LIST,      /* a pointer to structures of `mapping`, and their number */
} hl_machine_field_kind;

/* Limits of a parameter, beside its unit and the limits of its dimension. */
typedef enum hl_machine_field_range {
    HL_MACHINE_RANGE_POSITIVE,
    HL_MACHINE_RANGE_FROM_ZERO,
    HL_MACHINE_RANGE_COUNT,      /* whole, from 1 */
    HL_MACHINE_RANGE_FLAG,       /* 0 or 1 */
    HL_MACHINE_RANGE_GENERATION, /* of PCIe: 1 to 6 */
    HL_MACHINE_RANGE_SHARE,      /* from 0 to below 1 */
} hl_machine_field_range;

/* Which links a parameter is of. */
typedef enum hl_machine_field_links {
    HL_MACHINE_LINKS_ANY,
    HL_MACHINE_LINKS_PCIE,
    HL_MACHINE_LINKS_OTHER,
} hl_machine_field_links;

/* A POINTS field: points_from and points of a haul_copy_curve or a haul_message_protocol. */
typedef struct hl_machine_points {
    haul_parameter
        from; /* value: their number, which callers who fill one by hand may have wrong */
    haul_point at[HAUL_MACHINE_CURVE_POINTS];
} hl_machine_points;

typedef struct hl_machine_yaml_mapping hl_machine_yaml_mapping;

typedef struct hl_machine_field {
    const char *key;
    size_t offset; /* in the structure of its mapping */
    hl_machine_field_kind kind;
    haul_dimension dimension;
    hl_machine_field_range range;
    hl_machine_field_links links;
    bool required;            /* in a link: by the links that it is of */
    bool is_name;             /* a figure that names its item of a list */
    bool is_default;          /* a word that is not written where it is the first */
    bool may_fall;            /* points: of more bytes in less time */
    const char *const *words; /* NULL where the index is no word of a file */
    int word_count;
    const hl_machine_yaml_mapping *mapping;
    size_t count_offset; /* of a list's number */
    size_t item_size;
} hl_machine_field;

struct hl_machine_yaml_mapping {
    const char *what; /* for messages: its key, or "machine" */
    const hl_machine_field *fields;
    size_t count;
    bool is_link; /* of a haul_link: its kind decides which fields mean something */
};

enum { HL_MACHINE_FIELDS_MOST = 48, HL_MACHINE_CURVES_MOST = 64 };

/* Of a haul_machine and a haul_copy_curve. */
extern const hl_machine_yaml_mapping hl_machine_mapping;
extern const hl_machine_yaml_mapping hl_machine_curve_mapping;

/* The least and largest value of a parameter; *whole where it has to be a whole number. They keep
 * what models compute from a machine finite. */
typedef struct hl_machine_parameter_limits {
    double least;
    double most;
    bool whole;
} hl_machine_parameter_limits;
hl_machine_parameter_limits hl_machine_field_limits(const hl_machine_field *field);

/* Where a field is in a structure of its mapping. */
static inline const void *hl_machine_field_at(const hl_machine_field *field, const void *base)
{
    return (const char *)base + field->offset;
}

/* The number of items of a LIST field, and one of them. */
static inline size_t hl_machine_list_count(const hl_machine_field *field, const void *base)
{
    size_t count;
    memcpy(&count, (const char *)base + field->count_offset, sizeof count);
    return count;
}

static inline const void *hl_machine_list_item(const hl_machine_field *field, const void *base,
                                               size_t at)
{
    const char *items;
    memcpy(&items, hl_machine_field_at(field, base), sizeof items);
    return items + at * field->item_size;
}

enum { HL_MACHINE_ITEM_NAME_BYTES = 96 };

/* "copies[HtoD pinned far]": an item by its words and the figures that name it, which no other
 * of the list may share. Returns `text`. */
const char *hl_machine_item_name(const hl_machine_field *list, const void *item,
                                 char text[HL_MACHINE_ITEM_NAME_BYTES]);

/* The word at a WORD field's place; NULL where it is none of a file's. */
const char *hl_machine_field_word(const hl_machine_field *field, const void *at);

/* As haul_quantity_format, with sizes that are whole in powers of 1000 only in those: "80 GB". */
char *hl_machine_parameter_format(double value, haul_dimension dimension, int digits, char *buffer,
                                  size_t size);

/* Calls `visit` for every field of a machine that holds a text, a word, a parameter or points, in
 * the file's order, with its path; `at` is the field's place. Stops at the first non-zero return
 * and returns it. */
typedef int (*hl_machine_field_visitor)(void *state, const char *path,
                                        const hl_machine_field *field, const void *at);
int hl_machine_walk(const haul_machine *machine, hl_machine_field_visitor visit, void *state);

/* Bytes of the character at `text` that may stand in a text of a machine file, or 0: UTF-8, and
 * nothing that breaks or hides a line. */
int hl_machine_text_length(const char *text);

/* True where `name` may name a machine. */
bool hl_machine_name_ok(const char *name);

#endif
