/* Runs on several machines: a bar for each machine with its interval, and one for what the run
 * costs there; a panel for each profile, so that who wins where is seen at once. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "page/chart.h"
#include "page/html.h"
#include "page/page_parts.h"
#include "report/shared_parts.h"

enum {
    MACHINES_MOST = 16, /* the table has them all */
    PANELS_MOST = 8,
    SLOT = 96,
    BAR = 48, /* of it */
    LEFT = 12,
    PLOT_HEIGHT = 130,
    TOP = 44,
    NEXT = PLOT_HEIGHT + 66, /* from one plot to the other: names are below bars */
};

/* The machines of one profile. */
typedef struct bars {
    const haul_target_row *rows;
    bool of_cost;
    hl_page_span base;
} bars;

static double value_of(const bars *self, size_t i)
{
    const haul_target_row *row = &self->rows[i];
    return self->of_cost ? hl_report_target_cost(row) : 1e-9 * (double)row->predicted_ns;
}

static bool bar_at(const void *of, size_t i, hl_page_point *point)
{
    const bars *self = of;
    const haul_target_row *row = &self->rows[i];
    const double value = value_of(self, i);
    if (row->missing || !(value > 0))
        return false;
    point->x = (double)i + 0.5;
    point->y = value;
    point->size = BAR;
    point->name = row->name;
    if (self->of_cost)
        (void)snprintf(point->label, sizeof point->label, "%.3g", value);
    else
        (void)snprintf(point->label, sizeof point->label, "%s",
                       hl_report_say_time(row->predicted_ns).text);
    (void)snprintf(point->title, sizeof point->title, ": %s, %s to %s",
                   hl_report_say_time(row->predicted_ns).text, hl_report_say_time(row->low_ns).text,
                   hl_report_say_time(row->high_ns).text);
    return true;
}

/* Two ends for each machine, and nothing that would join it to the next. */
static bool interval_at(const void *of, size_t i, hl_page_point *point)
{
    const bars *self = of;
    const size_t machine = i / 3;
    const haul_target_row *row = &self->rows[machine];
    if (row->missing || i % 3 == 2)
        return false;
    point->x = (double)machine + 0.8;
    point->y = 1e-9 * (double)(i % 3 ? row->high_ns : row->low_ns);
    return true;
}

/* The machine's name below its bar, without characters that mean something in HTML. */
static bool name_at(const void *of, size_t i, hl_page_point *point)
{
    enum { SHOWN = 15 };
    const haul_target_row *row = &((const bars *)of)->rows[i];
    *point = (hl_page_point){.x = (double)i + 0.5, .size = 0.5, .style = "base"};
    (void)snprintf(point->label, sizeof point->label, "%.*s", SHOWN, row->name);
    for (char *at = point->label; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr(" ._=,/+-", *at))
            *at = '?';
    return true;
}

static hl_page_plot make_plot(bars *self, size_t count, int top)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const double high = 1e-9 * (double)self->rows[i].high_ns;
        if (!self->rows[i].missing)
            most = fmax(most, self->of_cost ? value_of(self, i) : high);
    }
    hl_page_plot plot = {
        .x = {.high = (double)count, .at_low = LEFT, .at_high = LEFT + SLOT * (double)count},
        .y = {.high = most > 0 ? most : 1, .at_low = top + PLOT_HEIGHT, .at_high = top},
        .head = self->of_cost ? "cost of 1,000 runs" : "time of a run"};
    self->base = (hl_page_span){{0, 0}, {(double)count, 0}};
    hl_page_plot_add(&plot,
                     (hl_page_series){HL_PAGE_FORM_BARS, .count = count, .at = bar_at, .of = self});
    if (!self->of_cost)
        hl_page_plot_add(&plot, (hl_page_series){HL_PAGE_FORM_LINE, "base", .count = 3 * count,
                                                 .at = interval_at, .of = self});
    hl_page_plot_add(&plot, hl_page_straight(&self->base, "base"));
    hl_page_plot_add(
        &plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = count, .at = name_at, .of = self});
    return plot;
}

static void write_panel(const haul_target_row *rows, size_t count, size_t of, FILE *out)
{
    char first[80] = "";
    bars times = {.rows = rows}, costs = {.rows = rows, .of_cost = true};
    bool is_priced = false;
    for (size_t i = 0; i < count; i++)
        is_priced |= hl_report_target_cost(&rows[i]) > 0;
    if (count < of)
        (void)snprintf(first, sizeof first, "; the first %zu of %zu machines", count, of);
    hl_page_chart chart = {.figure = "panel targets",
                           .drawing = "look0",
                           .width = 2 * LEFT + SLOT * (int)count,
                           .height = TOP + PLOT_HEIGHT + (is_priced ? NEXT : 0) + 28,
                           .count = is_priced ? 2 : 1};
    (void)snprintf(chart.caption, sizeof chart.caption,
                   "recorded %s; the line beside a bar is its interval%s",
                   hl_report_say_time(rows[0].recorded_ns).text, first);
    (void)snprintf(chart.label, sizeof chart.label,
                   "Predicted time of the run on each machine; the table below says the same");
    chart.plots[0] = make_plot(&times, count, TOP);
    if (is_priced)
        chart.plots[1] = make_plot(&costs, count, TOP + NEXT);
    hl_page_chart_draw(&chart, out);
    fputs("</figure>\n", out);
}

void hl_page_targets(hl_page_writer *self)
{
    const haul_page *page = self->page;
    const size_t count = page->target_count < MACHINES_MOST ? page->target_count : MACHINES_MOST;
    for (size_t j = 0; count && j < page->job_count && j < PANELS_MOST; j++) {
        const haul_target_row *rows = &page->targets[j * page->target_count];
        if (page->job_count > 1) {
            fputs("<h3>", self->out);
            hl_page_html_text_cut(rows[0].source, 80, self->out);
            fputs("</h3>\n", self->out);
        }
        write_panel(rows, count, page->target_count, self->out);
    }
}
