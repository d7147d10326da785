/* What a machine file may hold, as data: one row a key. Reading, checking, writing, copying,
 * showing and comparing all go through these rows, so a new parameter is one line here and one in
 * haul/machine.h. */
#ifndef HAUL_MACHINE_FIELDS_H
#define HAUL_MACHINE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "haul/machine.h"
#include "haul/units.h"

typedef enum haul_field_kind {
    HAUL_FIELD_VERSION,   /* of the format; nothing is kept */
    HAUL_FIELD_NAME,      /* const char *: lower case, digits and '-' */
    HAUL_FIELD_TEXT,      /* const char *: one line */
    HAUL_FIELD_WORD,      /* an enumeration: index into `words` */
    HAUL_FIELD_PARAMETER, /* haul_parameter */
    HAUL_FIELD_POINTS,    /* points_from and points of a haul_copy_curve */
    HAUL_FIELD_MAPPING,   /* a structure in the structure, by `mapping` */
    HAUL_FIELD_LIST,      /* a pointer to structures of `mapping`, and their number */
} haul_field_kind;

/* What a parameter may be, beside its unit and the limits of its dimension. */
typedef enum haul_field_range {
    HAUL_RANGE_POSITIVE,
    HAUL_RANGE_FROM_ZERO,
    HAUL_RANGE_COUNT,      /* whole, from 1 */
    HAUL_RANGE_FLAG,       /* 0 or 1 */
    HAUL_RANGE_GENERATION, /* of PCIe: 1 to 6 */
    HAUL_RANGE_SHARE,      /* from 0 to below 1 */
} haul_field_range;

/* Which links a parameter is of. */
typedef enum haul_field_links {
    HAUL_LINKS_ANY,
    HAUL_LINKS_PCIE,
    HAUL_LINKS_OTHER,
} haul_field_links;

typedef struct haul_mapping haul_mapping;

typedef struct haul_field {
    const char *key;
    size_t offset; /* in the structure of its mapping */
    haul_field_kind kind;
    haul_dimension dimension;
    haul_field_range range;
    haul_field_links links;
    bool required;            /* in a link: by the links that it is of */
    bool is_name;             /* a figure that names its item of a list */
    bool is_default;          /* a word that is not written where it is the first */
    const char *const *words; /* NULL where the index is no word of a file */
    int word_count;
    const haul_mapping *mapping;
    size_t count_offset; /* of a list's number */
    size_t item_size;
} haul_field;

struct haul_mapping {
    const char *what; /* for messages: its key, or "machine" */
    const haul_field *fields;
    size_t count;
    bool is_link; /* of a haul_link: its kind decides which fields mean something */
};

enum { HAUL_FIELDS_MOST = 48, HAUL_CURVES_MOST = 64 };

/* Of a haul_machine and a haul_copy_curve. */
extern const haul_mapping haul_machine_mapping;
extern const haul_mapping haul_curve_mapping;

/* The least and largest value of a parameter; *whole where it has to be a whole number. They keep
 * what models compute from a machine finite. */
typedef struct haul_parameter_limits {
    double least;
    double most;
    bool whole;
} haul_parameter_limits;
haul_parameter_limits haul_field_limits(const haul_field *field);

/* Where a field is in a structure of its mapping. */
static inline const void *haul_field_at(const haul_field *field, const void *base)
{
    return (const char *)base + field->offset;
}

/* The number of items of a LIST field, and one of them. */
static inline size_t haul_list_count(const haul_field *field, const void *base)
{
    size_t count;
    memcpy(&count, (const char *)base + field->count_offset, sizeof count);
    return count;
}

static inline const void *haul_list_item(const haul_field *field, const void *base, size_t at)
{
    const char *items;
    memcpy(&items, haul_field_at(field, base), sizeof items);
    return items + at * field->item_size;
}

enum { HAUL_ITEM_NAME_BYTES = 96 };

/* "copies[HtoD pinned far]": an item by its words and the figures that name it, which no other
 * of the list may share. Returns `text`. */
const char *haul_item_name(const haul_field *list, const void *item,
                           char text[HAUL_ITEM_NAME_BYTES]);

/* The word at a WORD field's place; NULL where it is none of a file's. */
const char *haul_field_word(const haul_field *field, const void *at);

/* As haul_quantity_format, with sizes that are whole in powers of 1000 only in those: "80 GB". */
char *haul_parameter_format(double value, haul_dimension dimension, int digits, char *buffer,
                            size_t size);

/* Calls `visit` for every field of a machine that holds a text, a word, a parameter or points, in
 * the file's order, with its path; `at` is the field's place. Stops at the first non-zero return
 * and returns it. */
typedef int (*haul_field_visitor)(void *state, const char *path, const haul_field *field,
                                  const void *at);
int haul_machine_walk(const haul_machine *machine, haul_field_visitor visit, void *state);

/* Bytes of the character at `text` that may stand in a text of a machine file, or 0: UTF-8, and
 * nothing that breaks or hides a line. */
int haul_machine_text_length(const char *text);

/* True where `name` may name a machine. */
bool haul_machine_name_ok(const char *name);

#endif
