#include "page/chart.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "page/html.h"

enum { NAME_CHARACTERS = 60, NAME_PX = 15 /* from one line of text to the next */ };

double hl_page_axis_at(const hl_page_axis *axis, double value)
{
    const double share = axis->is_log ? log(value / axis->low) / log(axis->high / axis->low)
                                      : (value - axis->low) / (axis->high - axis->low);
    return axis->at_low + share * (axis->at_high - axis->at_low);
}

double hl_page_nice_step(double span, int most)
{
    double step = pow(10, floor(log10(span / most)));
    static const double factors[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (span / (factors[i] * step) <= most * (1 + 1e-9))
            return factors[i] * step;
    return 10 * step;
}

hl_page_axis hl_page_decades(double low, double high, double at_low, double at_high)
{
    const double first = pow(10, floor(log10(low)));
    return (hl_page_axis){.low = first,
                          .high = pow(10, ceil(log10(high))),
                          .at_low = at_low,
                          .at_high = at_high,
                          .is_log = true,
                          .first = first,
                          .step = 10};
}

void hl_page_plot_add(hl_page_plot *plot, hl_page_series series)
{
    if (plot->count < HL_PAGE_SERIES_MOST)
        plot->series[plot->count++] = series;
}

static bool end_of_span(const void *of, size_t i, hl_page_point *point)
{
    const hl_page_span *span = of;
    const double *end = i ? span->to : span->from;
    point->x = end[0];
    point->y = end[1];
    return true;
}

hl_page_series hl_page_straight(const hl_page_span *span, const char *style)
{
    return (hl_page_series){
        .form = HL_PAGE_FORM_LINE, .style = style, .count = 2, .at = end_of_span, .of = span};
}

hl_page_chart hl_page_curves(const char *caption, const char *label)
{
    enum { WIDTH = 760, HEIGHT = 360, LEFT = 70, RIGHT = 590, TOP = 16, BOTTOM = 310 };
    hl_page_chart made = {
        .figure = "", .drawing = "curve", .width = WIDTH, .height = HEIGHT, .count = 1};
    made.plots[0] = (hl_page_plot){
        .x = {.low = 1, .at_low = LEFT, .at_high = RIGHT, .is_log = true, .first = 1},
        .y = {.at_low = BOTTOM, .at_high = TOP, .say = hl_report_say_seconds}};
    (void)snprintf(made.caption, sizeof made.caption, "%s", caption);
    (void)snprintf(made.label, sizeof made.label, "%s", label);
    return made;
}

/* --- axes */

static hl_report_words say_count(double count)
{
    hl_report_words words;
    (void)snprintf(words.text, sizeof words.text, "%.0f", count);
    return words;
}

static hl_report_words say_time(double seconds)
{
    return seconds > 0 ? hl_report_say_seconds(seconds) : (hl_report_words){"0"};
}

void hl_page_plot_streams(hl_page_plot *plot, double most, double longest_s)
{
    enum { MOST_TICKS = 6 };
    plot->x.high = most;
    plot->x.step = most > 256 ? 4 : 2;
    plot->x.say = say_count;
    plot->x.name = "number of streams";
    plot->y.high = longest_s > 0 ? 1.08 * longest_s : 1;
    plot->y.step = hl_page_nice_step(plot->y.high, MOST_TICKS);
    plot->y.say = say_time;
}

/* Whether there is a tick `i`, and its value. */
static bool find_tick(const hl_page_axis *axis, int i, double *value)
{
    *value = axis->is_log ? axis->first * pow(axis->step, i) : axis->first + i * axis->step;
    return axis->step > 0 && *value <= axis->high + 1e-9 * fabs(axis->high);
}

static void draw_axes(const hl_page_plot *plot, FILE *out)
{
    const hl_page_axis *x = &plot->x, *y = &plot->y;
    double value;
    fputs("<g class=\"axis\">\n", out);
    for (int i = 0; find_tick(y, i, &value); i++) {
        const double at = hl_page_axis_at(y, value);
        fprintf(out,
                "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                x->at_low, x->at_high, at, at, x->at_low - 8, at + 4, y->say(value).text);
    }
    for (int i = 0; find_tick(x, i, &value); i++) {
        const double at = hl_page_axis_at(x, value);
        fprintf(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\"/>"
                "<text class=\"mid\" x=\"%.1f\" y=\"%.0f\">%s</text>\n",
                at, at, y->at_low, x->has_lines ? y->at_high : y->at_low + 5, at, y->at_low + 19,
                x->say(value).text);
    }
    if (x->name)
        fprintf(out, "<text class=\"mid\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                (x->at_low + x->at_high) / 2, y->at_low + 40, x->name);
    if (y->name)
        fprintf(out, "<text class=\"mid\" transform=\"translate(14 %.0f) rotate(-90)\">%s</text>\n",
                (y->at_low + y->at_high) / 2, y->name);
    fputs("</g>\n", out);
    if (plot->head)
        fprintf(out, "<text class=\"head\" x=\"0\" y=\"%.0f\">%s</text>\n", y->at_high - 18,
                plot->head);
}

/* --- series */

static bool find_point(const hl_page_series *series, size_t i, hl_page_point *point)
{
    *point = (hl_page_point){0};
    return series->at(series->of, i, point);
}

static void draw_line(const hl_page_plot *plot, const hl_page_series *series, FILE *out)
{
    hl_page_point point;
    bool is_begun = false;
    fprintf(out, "<path class=\"%s\" fill=\"none\"", series->style);
    if (series->dashes)
        fprintf(out, " stroke-dasharray=\"%s\"", series->dashes);
    fputs(" d=\"", out);
    for (size_t i = 0; i < series->count; i++) {
        const bool is_within = find_point(series, i, &point) && point.y <= plot->y.high;
        if (is_within)
            fprintf(out, "%s%.1f %.1f", is_begun ? "L" : "M", hl_page_axis_at(&plot->x, point.x),
                    hl_page_axis_at(&plot->y, point.y));
        is_begun = is_within;
    }
    fputs("\"/>\n", out);
}

static void draw_area(const hl_page_plot *plot, const hl_page_series *series, FILE *out)
{
    hl_page_point point;
    fprintf(out, "<polygon class=\"%s\" points=\"", series->style);
    for (size_t i = 0; i < series->count; i++)
        if (find_point(series, i, &point))
            fprintf(out, "%s%.1f,%.1f", i ? " " : "", hl_page_axis_at(&plot->x, point.x),
                    hl_page_axis_at(&plot->y, point.y));
    fputs("\"/>\n", out);
}

static void draw_title(const hl_page_point *point, FILE *out)
{
    if (!point->name && !*point->title)
        return;
    fputs("<title>", out);
    if (point->name)
        hl_page_html_text_cut(point->name, NAME_CHARACTERS, out);
    fprintf(out, "%s</title>", point->title);
}

static void draw_point(const hl_page_plot *plot, const hl_page_point *point, FILE *out)
{
    const double x = hl_page_axis_at(&plot->x, point->x), y = hl_page_axis_at(&plot->y, point->y);
    if (point->is_square)
        fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%g\" height=\"%g\">",
                point->style, x - point->size, y - point->size, 2 * point->size, 2 * point->size);
    else
        fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.3g\">", point->style, x, y,
                point->size);
    draw_title(point, out);
    fputs(point->is_square ? "</rect>\n" : "</circle>\n", out);
    if (*point->label)
        fprintf(out, "<text class=\"mid strong\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y + 20,
                point->label);
}

/* A bar is at least a pixel high, so that a small value is seen. */
static void draw_bar(const hl_page_plot *plot, const hl_page_point *point, FILE *out)
{
    const double x = hl_page_axis_at(&plot->x, point->x), base = plot->y.at_low;
    const double top = fmin(hl_page_axis_at(&plot->y, point->y), base - 1);
    fprintf(out, "<rect x=\"%.4g\" y=\"%.4g\" width=\"%.4g\" height=\"%.4g\">", x - point->size / 2,
            top, point->size, base - top);
    draw_title(point, out);
    fprintf(out, "</rect>\n<text class=\"value\" x=\"%.4g\" y=\"%.4g\">%s</text>\n", x, top - 4,
            point->label);
}

/* One path for all, which goes down to the axis where there is nothing. */
static void draw_steps(const hl_page_plot *plot, const hl_page_series *series, FILE *out)
{
    const long base = lround(plot->y.at_low);
    bool is_open = false;
    fprintf(out, "<path class=\"%s\" d=\"", series->style);
    for (size_t i = 0; i <= series->count; i++) {
        hl_page_point point = {0};
        const bool is_there = i < series->count && find_point(series, i, &point) && point.y > 0;
        const long x = lround(hl_page_axis_at(&plot->x, (double)i));
        const long next = lround(hl_page_axis_at(&plot->x, (double)i + 1));
        if (is_there && !is_open)
            fprintf(out, "M%ld %ld", x, base);
        if (is_there)
            fprintf(out, "V%ldh%ld", lround(hl_page_axis_at(&plot->y, point.y)), next - x);
        else if (is_open)
            fprintf(out, "V%ldz", base);
        is_open = is_there;
    }
    fputs("\"/>\n", out);
}

void hl_page_series_draw(const hl_page_plot *plot, const hl_page_series *series, FILE *out)
{
    hl_page_point point;
    if (series->form == HL_PAGE_FORM_LINE)
        draw_line(plot, series, out);
    else if (series->form == HL_PAGE_FORM_AREA)
        draw_area(plot, series, out);
    else if (series->form == HL_PAGE_FORM_STEPS)
        draw_steps(plot, series, out);
    else
        for (size_t i = 0; i < series->count; i++)
            if (find_point(series, i, &point) && point.size > 0)
                (series->form == HL_PAGE_FORM_BARS ? draw_bar : draw_point)(plot, &point, out);
}

/* --- names */

typedef struct line_name {
    double y;
    const hl_page_series *of;
} line_name;

static int by_height(const void *a, const void *b)
{
    const double one = ((const line_name *)a)->y, other = ((const line_name *)b)->y;
    return hl_base_compare_reals(one, other);
}

void hl_page_chart_draw(const hl_page_chart *chart, FILE *out)
{
    fprintf(out,
            "<figure class=\"%s\">\n<figcaption>%s</figcaption>\n<svg class=\"%s\" "
            "viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
            chart->figure, chart->caption, chart->drawing, chart->width, chart->height,
            chart->label);
    for (int p = 0; p < chart->count; p++) {
        const hl_page_plot *plot = &chart->plots[p];
        draw_axes(plot, out);
        for (int i = 0; i < plot->count; i++)
            hl_page_series_draw(plot, &plot->series[i], out);
        /* Names that would cover one another move up, from the lowest on; at the top they move down
         * again.
         */
        line_name names[HL_PAGE_SERIES_MOST];
        size_t count = 0;
        for (int i = 0; i < plot->count; i++) {
            const hl_page_series *series = &plot->series[i];
            hl_page_point last;
            if (*series->name && series->count && find_point(series, series->count - 1, &last) &&
                last.y <= plot->y.high)
                names[count++] = (line_name){hl_page_axis_at(&plot->y, last.y), series};
        }
        qsort(names, count, sizeof *names, by_height);
        double below = plot->y.at_low + NAME_PX, above = plot->y.at_high - NAME_PX;
        for (size_t i = count; i-- > 0;)
            below = names[i].y = fmin(names[i].y, below - NAME_PX);
        for (size_t i = 0; i < count; i++) {
            above = fmax(names[i].y, above + NAME_PX);
            fprintf(out, "<text class=\"name %s\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                    names[i].of->style, plot->x.at_high + 8, above + 4, names[i].of->name);
        }
    }
    fputs("</svg>\n", out);
}
