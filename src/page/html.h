/* HTML with SVG inside: text of any bytes made harmless, tables, scales of charts. */
#ifndef HAUL_PAGE_HTML_H
#define HAUL_PAGE_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints text for between tags and for an attribute in double quotes. What is no UTF-8, control
 * characters and those that turn the direction of writing become U+FFFD. */
void haul_html_text(const char *text, FILE *out);

/* The same, of at most `most` characters; a longer text ends with an ellipsis. */
void haul_html_text_cut(const char *text, size_t most, FILE *out);

/* Prints a string of JSON, with its quotes, that cannot end the script element it stands in; cut as
 * above. */
void haul_html_json_text(const char *text, size_t most, FILE *out);

/* From a value to a place in a drawing. Logarithmic scales need 0 < low < high. */
typedef struct haul_axis {
    double low;
    double high;
    double at_low;
    double at_high;
    int is_log;
} haul_axis;

double haul_scale_at(const haul_axis *scale, double value);

/* Draws a line across a plot, from one side to the other, with its value at the left; and a mark
 * below the plot's lower side with its value. */
void haul_html_level(const haul_axis *across, double y, const char *text, FILE *out);
void haul_html_mark(double x, int bottom, const char *text, FILE *out);

/* The smallest of 1, 2 and 5 times a power of ten that divides `span` into at most `most` parts. */
double haul_nice_step(double span, int most);

#endif
