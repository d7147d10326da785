/* Fields of machine files for reports: the machine's own table of fields (machine_fields.h) says
 * which there are, so that a new one is in every report without a line here. */
#include "report/report_fields.h"

#include <stdio.h>
#include <string.h>

#include "haul/units.h"

int hl_report_walk(const haul_machine *machine, hl_report_link_peaks *peaks,
                   hl_machine_field_visitor visit, void *state)
{
    static const hl_machine_field peak = {.kind = HL_MACHINE_FIELD_PARAMETER,
                                          .dimension = HAUL_DIM_RATE};
    /* The file's own fields first. */
    const int result = hl_machine_walk(machine, visit, state);
    *peaks = (hl_report_link_peaks){haul_link_peak(&machine->link), haul_link_peak(&machine->peer)};
    /* link.peak and peer.peak are computed, not read: no row of the file stands for them. */
    return result ? result
                  : visit(state, "link.peak", &peak, &peaks->link) ||
                        visit(state, "peer.peak", &peak, &peaks->peer);
}

const haul_parameter *hl_report_parameter_of(const hl_machine_field *field, const void *at)
{
    const bool has =
        field->kind == HL_MACHINE_FIELD_PARAMETER || field->kind == HL_MACHINE_FIELD_POINTS;
    /* Points keep their provenance in the place of a parameter. */
    return has ? at : NULL;
}

/* The name and the required text, which is the summary, head every report of a machine. */
bool hl_report_is_title(const hl_machine_field *field)
{
    return field->kind == HL_MACHINE_FIELD_NAME ||
           (field->kind == HL_MACHINE_FIELD_TEXT && field->required);
}

/* "copies[HtoD pinned].latency" says direction and memory already. */
bool hl_report_in_path(const hl_machine_field *field, const char *path)
{
    return (field->kind == HL_MACHINE_FIELD_WORD || field->is_name) && strchr(path, '[');
}

void hl_report_point(const haul_point *point, char bytes[32], char seconds[32])
{
    haul_quantity_format(point->bytes, HAUL_DIM_BYTES, HL_REPORT_DIGITS, bytes, 32);
    haul_quantity_format(point->seconds, HAUL_DIM_SECONDS, HL_REPORT_DIGITS, seconds, 32);
}

const char *hl_report_text(const hl_machine_field *field, const void *at, char *buffer)
{
    const haul_parameter *figure = hl_report_parameter_of(field, at);
    if (!at || (figure && !figure->provenance))
        return "";
    if (field->kind == HL_MACHINE_FIELD_POINTS) {
        /* "12, to 64 MiB in 2.6 ms": how many points, and the last. */
        const hl_machine_points *points = at;
        char bytes[32], seconds[32];
        const size_t count = (size_t)points->from.value;
        /* A curve made by hand may hold any number. */
        if (!count || count > HAUL_MACHINE_CURVE_POINTS)
            return "";
        hl_report_point(&points->at[count - 1], bytes, seconds);
        snprintf(buffer, HL_REPORT_FIELD_TEXT_BYTES, "%zu, to %s in %s", count, bytes, seconds);
        return buffer;
    }
    if (figure)
        return hl_machine_parameter_format(figure->value, field->dimension, HL_REPORT_DIGITS,
                                           buffer, HL_REPORT_FIELD_TEXT_BYTES);
    const char *const *place = at;
    const char *text =
        field->kind == HL_MACHINE_FIELD_WORD ? hl_machine_field_word(field, at) : *place;
    return text ? text : "";
}

/* Keys of JSON carry the base unit: a reader needs no manual to know what 1.2e-05 is of. */
const char *hl_report_key(const char *key, haul_dimension dimension, char *buffer)
{
    static const char *const suffixes[] = {
        [HAUL_DIM_NUMBER] = "",   [HAUL_DIM_BYTES] = "_bytes", [HAUL_DIM_SECONDS] = "_s",
        [HAUL_DIM_RATE] = "_Bps", [HAUL_DIM_HERTZ] = "_Hz",    [HAUL_DIM_FLOPS] = "_flops",
    };
    snprintf(buffer, HL_REPORT_FIELD_TEXT_BYTES, "%s%s", key, suffixes[dimension]);
    return buffer;
}

/* A number never stands without where it is from. */
void hl_report_parameter(haul_table *parent, const char *key, const haul_parameter *figure)
{
    static const haul_column columns[] = {{"value", .unit = HAUL_UNIT_NUMBER},
                                          {"provenance", .unit = HAUL_UNIT_TEXT},
                                          {"source", .unit = HAUL_UNIT_TEXT},
                                          {0}};
    if (figure->provenance)
        haul_report_object(parent, key, columns,
                           HAUL_CELLS(haul_cell_number(figure->value),
                                      haul_cell_text(haul_provenance_text(figure->provenance)),
                                      haul_cell_text(figure->source)));
    else
        haul_report_value(parent, key, NULL);
}
