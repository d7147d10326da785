/* A chart of lines over a logarithmic axis, each line's name at its right end. */
#ifndef HAUL_PAGE_LINE_CHART_H
#define HAUL_PAGE_LINE_CHART_H

#include <stdbool.h>

#include "page/html.h"

enum { HAUL_CHART_NAMES = 8 };

/* What stands at the right end of a line. */
typedef struct haul_chart_name {
    double y;
    const char *line; /* its class */
    char text[64];
} haul_chart_name;

typedef struct haul_line_chart {
    FILE *out;
    haul_axis x;
    haul_axis y;
    haul_chart_name names[HAUL_CHART_NAMES];
    int name_count;
} haul_line_chart;

/* A chart of x from 1 to `most_x`, whose values go from `low` to `high`. */
haul_line_chart haul_line_chart_make(FILE *out, double most_x, double low, double high,
                                     bool is_log);

/* Opens the drawing under its caption, and its axes; `label` is for a reader who cannot see it. */
void haul_line_chart_open(const haul_line_chart *self, const char *caption, const char *label);

/* Levels and marks of the axes; `name` ends the axes with the name of x. */
void haul_line_chart_level(const haul_line_chart *self, double value, const char *text);
void haul_line_chart_mark(const haul_line_chart *self, double x, const char *text);
void haul_line_chart_name_x(const haul_line_chart *self, const char *name);

/* A point of a path, which the first of its points begins. */
void haul_line_chart_to(const haul_line_chart *self, bool is_first, double x, double value);

/* A line of class `line` across the whole chart. */
void haul_line_chart_across(const haul_line_chart *self, double value, const char *line);

/* Names the line that ends at `value`; of more than fit, the first are kept. */
void haul_line_chart_add_name(haul_line_chart *self, double value, const char *line,
                              const char *name);

/* Writes the names, none over another, and closes the drawing. */
void haul_line_chart_close(haul_line_chart *self);

#endif
