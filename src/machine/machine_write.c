/* From a machine to YAML, by the rows of machine_fields.c. */
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "machine/machine_fields.h"
#include "machine/yaml_read.h"

enum { INDENT = 2, QUANTITY = 64, PLAIN_DIGITS = 15 };

/* Plain where YAML reads the same text back, in a list in brackets too; else in double quotes. What
 * a machine file may not hold becomes '?'. */
static bool is_plain(const char *text)
{
    /* Conservative: '#', ':', ',', brackets and quotes mean something to YAML in some places, so
     * any text with one is quoted. A first character that is no letter or digit could be an
     * indicator. */
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char inside[] = " ._+/()%=;<>@$^~-";
    if (!*text || !strchr(letters, text[0]))
        return false;
    for (const char *at = text; *at; at++)
        if (!strchr(letters, *at) && !strchr(inside, *at))
            return false;
    return text[strlen(text) - 1] != ' ';
}

void hl_machine_yaml_text_write(const char *text, FILE *out)
{
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    while (*text) {
        const int length = hl_machine_text_length(text);
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if (length)
            fwrite(text, 1, (size_t)length, out);
        else
            /* YAML could carry these only as escapes, which haul's reader would refuse again. */
            fputc('?', out);
        text += length ? length : 1;
    }
    fputc('"', out);
}

/* The shortest text with a readable prefix that reads back to the very value, or all digits in the
 * base unit. */
static void write_quantity(double value, haul_dimension dimension, FILE *out)
{
    char text[QUANTITY];
    if (dimension == HAUL_DIM_NUMBER && value == (double)(long)value) {
        fprintf(out, "%.0f", value); /* 40, not 4e+01 */
        return;
    }
    /* At most 17 digits tell any two doubles apart, so the loop ends with the value itself unless
     * the unit's scale rounds it. */
    for (int digits = 1; digits <= PLAIN_DIGITS + 2; digits++) {
        double again = 0;
        hl_machine_parameter_format(value, dimension, digits, text, sizeof text);
        if (!haul_quantity_parse(text, dimension, &again, NULL) && again == value) {
            fputs(text, out);
            return;
        }
    }
    fprintf(out, "%.17g %s", value, haul_dimension_unit(dimension));
}

static bool same_origin(const haul_parameter *a, const haul_parameter *b)
{
    /* NULL sources are equal only to each other. */
    if (a->provenance != b->provenance || !a->source || !b->source)
        return a->provenance == b->provenance && a->source == b->source;
    return !strcmp(a->source, b->source);
}

/* The parameter whose origin a field has, or NULL. */
static const haul_parameter *field_figure(const hl_machine_field *field, const void *base)
{
    const bool has =
        field->kind == HL_MACHINE_FIELD_PARAMETER || field->kind == HL_MACHINE_FIELD_POINTS;
    const haul_parameter *figure = has ? hl_machine_field_at(field, base) : NULL;
    return figure && figure->provenance ? figure : NULL;
}

/* A parameter whose origin is the most common in a mapping, or NULL where there is no parameter. */
static const haul_parameter *common_origin(const hl_machine_yaml_mapping *mapping, const void *base)
{
    /* Quadratic over at most 32 fields; ties go to the first, so that the same machine gives the
     * same file. */
    const haul_parameter *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < mapping->count; i++) {
        const haul_parameter *figure = field_figure(&mapping->fields[i], base);
        size_t count = 0;
        for (size_t j = 0; figure && j < mapping->count; j++) {
            const haul_parameter *other = field_figure(&mapping->fields[j], base);
            count += other && same_origin(figure, other);
        }
        if (count > most) {
            best = figure;
            most = count;
        }
    }
    return best;
}

static void write_origin(const haul_parameter *figure, const char *before, const char *between,
                         FILE *out)
{
    fprintf(out, "%sfrom: %s", before, haul_provenance_text(figure->provenance));
    if (figure->source) {
        fprintf(out, "%ssource: ", between);
        hl_machine_yaml_text_write(figure->source, out);
    }
}

static void write_points(const hl_machine_points *points, FILE *out)
{
    fputc('[', out);
    /* Bounded even where the count is wrong: callers may fill a curve by hand. */
    for (size_t i = 0; i < (size_t)points->from.value && i < HAUL_MACHINE_CURVE_POINTS; i++) {
        fputs(i ? ", [" : "[", out);
        write_quantity(points->at[i].bytes, HAUL_DIM_BYTES, out);
        fputs(", ", out);
        write_quantity(points->at[i].seconds, HAUL_DIM_SECONDS, out);
        fputc(']', out);
    }
    fputc(']', out);
}

static void write_figure(const hl_machine_field *field, const void *base,
                         const haul_parameter *common, FILE *out)
{
    const haul_parameter *figure = hl_machine_field_at(field, base);
    /* In the short form the origin is that of the mapping. */
    const bool own = !common || !same_origin(figure, common);
    if (own)
        fputs("{value: ", out);
    if (field->kind == HL_MACHINE_FIELD_POINTS)
        write_points(hl_machine_field_at(field, base), out);
    else
        write_quantity(figure->value, field->dimension, out);
    if (own) {
        write_origin(figure, ", ", ", ", out);
        fputc('}', out);
    }
}

/* Whether a field has something to write. */
static bool is_given(const hl_machine_field *field, const void *base)
{
    bool has_any = false;
    switch (field->kind) {
    case HL_MACHINE_FIELD_NAME:
    case HL_MACHINE_FIELD_TEXT:
        return *(const char *const *)hl_machine_field_at(field, base) != NULL;
    case HL_MACHINE_FIELD_WORD: {
        const char *word = hl_machine_field_word(field, hl_machine_field_at(field, base));
        return word && !(field->is_default && word == field->words[0]);
    }
    case HL_MACHINE_FIELD_PARAMETER:
    case HL_MACHINE_FIELD_POINTS:
        return field_figure(field, base) != NULL;
    case HL_MACHINE_FIELD_LIST:
        return hl_machine_list_count(field, base) > 0;
    case HL_MACHINE_FIELD_MAPPING:
        for (size_t i = 0; i < field->mapping->count && !has_any; i++)
            has_any = is_given(&field->mapping->fields[i], hl_machine_field_at(field, base));
        return has_any;
    default:
        return true;
    }
}

/* NULL `common`: the top level, where every parameter would carry its own origin. */
static void write_field(const hl_machine_field *field, const void *base,
                        const haul_parameter *common, FILE *out)
{
    switch (field->kind) {
    case HL_MACHINE_FIELD_VERSION:
        fputc('1', out);
        break;
    case HL_MACHINE_FIELD_NAME:
    case HL_MACHINE_FIELD_TEXT:
        hl_machine_yaml_text_write(*(const char *const *)hl_machine_field_at(field, base), out);
        break;
    case HL_MACHINE_FIELD_WORD:
        fputs(hl_machine_field_word(field, hl_machine_field_at(field, base)), out);
        break;
    default:
        write_figure(field, base, common, out);
    }
}

/* The fields that have a value of their own, `from` and `source` of most of them behind the texts
 * and words. */
static void write_fields(const hl_machine_yaml_mapping *mapping, const void *base,
                         const char *first_indent, int indent, FILE *out)
{
    char break_text[16];
    snprintf(break_text, sizeof break_text, "\n%*s", indent, "");
    const haul_parameter *common = common_origin(mapping, base);
    const char *before = first_indent;
    bool origin_written = false;
    for (size_t i = 0; i < mapping->count; i++) {
        const hl_machine_field *field = &mapping->fields[i];
        if (!is_given(field, base))
            continue;
        /* `common` is set here, for this field has a figure of its own. */
        if (field_figure(field, base) && !origin_written) {
            write_origin(common, before, break_text, out);
            before = break_text;
            origin_written = true;
        }
        fprintf(out, "%s%s: ", before, field->key);
        write_field(field, base, common, out);
        before = break_text;
    }
}

haul_status haul_machine_write(const haul_machine *machine, FILE *out, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    /* The reader takes keys in any order; the rows' order keeps files comparable with diff. */
    const hl_machine_yaml_mapping *top = &hl_machine_mapping;
    for (size_t i = 0; i < top->count; i++) {
        const hl_machine_field *field = &top->fields[i];
        if (!is_given(field, machine))
            continue;
        if (field->kind == HL_MACHINE_FIELD_MAPPING) {
            fprintf(out, "\n%s:", field->key);
            write_fields(field->mapping, hl_machine_field_at(field, machine), "\n  ", INDENT, out);
        } else if (field->kind == HL_MACHINE_FIELD_LIST) {
            fprintf(out, "\n%s:", field->key);
            for (size_t j = 0; j < hl_machine_list_count(field, machine); j++)
                write_fields(field->mapping, hl_machine_list_item(field, machine, j), "\n  - ",
                             2 * INDENT, out);
        } else {
            fprintf(out, "%s%s: ", i ? "\n" : "", field->key);
            write_field(field, machine, NULL, out);
        }
    }
    fputc('\n', out);
    /* stdio keeps the first failure: one question at the end is enough. */
    if (ferror(out))
        return haul_error_set(error, HAUL_STATUS_IO, "cannot write the machine '%s'",
                              machine->name);
    return HAUL_OK;
}
