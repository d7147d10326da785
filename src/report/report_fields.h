/* What reports of machines share: fields as text and as JSON. */
#ifndef HAUL_REPORT_FIELDS_H
#define HAUL_REPORT_FIELDS_H

#include "haul/report.h"
#include "machine/machine_fields.h"

enum { HAUL_REPORT_DIGITS = 6, HAUL_FIELD_TEXT_BYTES = 160 };

/* The peaks that follow from the parameters of a machine's links. */
typedef struct haul_link_peaks {
    haul_parameter link;
    haul_parameter peer;
} haul_link_peaks;

/* haul_machine_walk, then the peaks as fields of their own, at places in *peaks. */
int haul_report_walk(const haul_machine *machine, haul_link_peaks *peaks, haul_field_visitor visit,
                     void *state);

/* The two values of a curve's point for people. */
void haul_report_point(const haul_point *point, char bytes[32], char seconds[32]);

/* The parameter of a PARAMETER or POINTS field at `at`; NULL of others. */
const haul_parameter *haul_parameter_of(const haul_field *field, const void *at);

/* Whether a field is the machine's name or summary. */
bool haul_report_is_title(const haul_field *field);

/* Whether a field's path says its value: what an item of a list is named by. */
bool haul_report_in_path(const haul_field *field, const char *path);

/* The curve whose points are at `at`. */
const haul_copy_curve *haul_report_curve(const void *at);

/* A field's value for people, perhaps in `buffer` of HAUL_FIELD_TEXT_BYTES; "" where it is not
 * given, or `at` is NULL. */
const char *haul_report_text(const haul_field *field, const void *at, char *buffer);

/* A field's key in JSON, with the unit: "rate_Bps". */
const char *haul_report_key(const char *key, haul_dimension dimension, char *buffer);

/* Adds {"value", "provenance", "source"} under a key, or null where it is not given. */
void haul_report_parameter(haul_table *parent, const char *key, const haul_parameter *figure);

#endif
