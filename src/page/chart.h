/* A chart as a value: plots with axes and series, drawn by one function. */
#ifndef HAUL_PAGE_CHART_H
#define HAUL_PAGE_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "report/wording.h"

/* From a value to a place in a drawing. Logarithmic axes need 0 < low < high. */
typedef struct hl_page_axis {
    double low;
    double high;
    double at_low;
    double at_high;
    bool is_log;
    bool has_lines; /* of x: through the plot at its ticks, which those of y always have */
    double first;   /* tick; the others follow by `step`, on a logarithmic axis as a factor */
    double step;    /* 0: no ticks */
    hl_report_words (*say)(double value);
    const char *name; /* NULL: none */
} hl_page_axis;

double hl_page_axis_at(const hl_page_axis *axis, double value);

/* The smallest of 1, 2 and 5 times a power of ten that divides `span` into at most `most` parts. */
double hl_page_nice_step(double span, int most);

/* Whole decades from the one of `low` to that of `high`, ticks included. */
hl_page_axis hl_page_decades(double low, double high, double at_low, double at_high);

/* A point of a series. Texts are plain but the name. */
typedef struct hl_page_point {
    double x;
    double y;
    double size; /* radius of a circle, or half the side of a square; 0: it is not drawn */
    bool is_square;
    char style[24];   /* class of its mark */
    const char *name; /* of any bytes, before the title; NULL: none */
    char title[700];  /* shown where the pointer is */
    char label[136];  /* below it; above a bar */
} hl_page_point;

typedef enum hl_page_form {
    HL_PAGE_FORM_LINE, /* it leaves off where values are beyond the axis */
    HL_PAGE_FORM_AREA, /* a closed line, filled */
    HL_PAGE_FORM_POINTS,
    HL_PAGE_FORM_BARS, /* from the axis, each around its x and as wide as its size */
    HL_PAGE_FORM_STEPS /* filled, each value from its x to the next point's; in whole pixels */
} hl_page_form;

typedef struct hl_page_series {
    hl_page_form form;
    const char *style;  /* class of the line */
    const char *dashes; /* of a line: lengths of strokes and gaps; NULL: none */
    char name[64];      /* at the right end of a line that does not leave off there */
    size_t count;
    /* Sets point `i`, which is zero; false: there is none. */
    bool (*at)(const void *of, size_t i, hl_page_point *point);
    const void *of;
} hl_page_series;

enum { HL_PAGE_SERIES_MOST = 12, HL_PAGE_PLOTS_MOST = 2 };

typedef struct hl_page_plot {
    hl_page_axis x;
    hl_page_axis y;
    const char *head; /* a text above it; NULL: none */
    hl_page_series series[HL_PAGE_SERIES_MOST];
    int count;
} hl_page_plot;

/* Adds a series; one beyond the most is left out. */
void hl_page_plot_add(hl_page_plot *plot, hl_page_series series);

/* A line of two points, the second of them the end. */
typedef struct hl_page_span {
    double from[2];
    double to[2];
} hl_page_span;

hl_page_series hl_page_straight(const hl_page_span *span, const char *style);

typedef struct hl_page_chart {
    const char *figure; /* class of the figure; of the drawing in it */
    const char *drawing;
    char caption[320]; /* HTML */
    char label[200];   /* for a reader who cannot see the drawing */
    int width;
    int height;
    hl_page_plot plots[HL_PAGE_PLOTS_MOST];
    int count;
} hl_page_chart;

/* A chart of lines over a logarithmic axis from 1, with room for their names at the right; the
 * caller sets the axes' ends and ticks. Values are linear from 0 unless the caller says else. */
hl_page_chart hl_page_curves(const char *caption, const char *label);

/* Axes of times over numbers of streams, which double along theirs: what is not overlapped falls
 * with their number. */
void hl_page_plot_streams(hl_page_plot *plot, double most, double longest_s);

/* Opens the figure and draws all in it. The caller writes what stands below, and closes it. */
void hl_page_chart_draw(const hl_page_chart *chart, FILE *out);

/* One series alone, in a drawing of the caller's. */
void hl_page_series_draw(const hl_page_plot *plot, const hl_page_series *series, FILE *out);

#endif
