/* Shared by reports of machines: fields as text and as JSON. */
#ifndef HAUL_REPORT_FIELDS_H
#define HAUL_REPORT_FIELDS_H

#include "haul/report.h"
#include "machine/machine_fields.h"

enum { HL_REPORT_DIGITS = 6, HL_REPORT_FIELD_TEXT_BYTES = 160 };

/* The peaks that follow from the parameters of a machine's links. */
typedef struct hl_report_link_peaks {
    haul_parameter link;
    haul_parameter peer;
} hl_report_link_peaks;

/* hl_machine_walk, then the peaks as fields of their own, at places in *peaks. */
int hl_report_walk(const haul_machine *machine, hl_report_link_peaks *peaks,
                   hl_machine_field_visitor visit, void *state);

/* The two values of a curve's point for people. */
void hl_report_point(const haul_point *point, char bytes[32], char seconds[32]);

/* The parameter of a PARAMETER or POINTS field at `at`; NULL of others. */
const haul_parameter *hl_report_parameter_of(const hl_machine_field *field, const void *at);

/* Whether a field is the machine's name or summary. */
bool hl_report_is_title(const hl_machine_field *field);

/* Whether a field's path says its value: what an item of a list is named by. */
bool hl_report_in_path(const hl_machine_field *field, const char *path);

/* A field's value for people, perhaps in `buffer` of HL_REPORT_FIELD_TEXT_BYTES; "" where it is not
 * given, or `at` is NULL. */
const char *hl_report_text(const hl_machine_field *field, const void *at, char *buffer);

/* A field's key in JSON, with the unit: "rate_Bps". */
const char *hl_report_key(const char *key, haul_dimension dimension, char *buffer);

/* Adds {"value", "provenance", "source"} under a key, or null where it is not given. */
void hl_report_parameter(haul_table *parent, const char *key, const haul_parameter *figure);

#endif
