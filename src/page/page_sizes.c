/* The sizes of a recorded program's copies as histograms (AHEAD, Figure 1). */
#include <math.h>

#include "haul/units.h"
#include "page/chart.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum {
    WIDTH = 440,
    HEIGHT = 246,
    PLOT_HEIGHT = 78,
    TOP = 30,                     /* of the upper plot; its head is above it */
    NEXT = TOP + PLOT_HEIGHT + 8, /* from one plot to the other */
    MARGIN = 20,                  /* at both sides, for the sizes at the ends */
};

/* One group's copies over the decades of size: their number, or their bytes. */
typedef struct histogram {
    const haul_copy_group *group;
    int first; /* decades that are drawn */
    int last;
    bool of_bytes;
    hl_page_span base;
} histogram;

/* Where decades meet: "10 kB" */
static hl_report_words say_decade_start(double decade)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    static const int powers[] = {1, 10, 100};
    const int k = (int)decade;
    hl_report_words words;
    (void)snprintf(words.text, sizeof words.text, "%d %s", k ? powers[k % 3] : 0, units[k / 3]);
    return words;
}

/* One decade's bar with its number. */
static bool decade_at(const void *of, size_t i, hl_page_point *point)
{
    const histogram *self = of;
    const int decade = self->first + (int)i,
              slot = (WIDTH - 2 * MARGIN) / (self->last - self->first + 1);
    const haul_totals *part = &self->group->decades[decade], *whole = &self->group->totals;
    if (!part->count)
        return false;
    const double found = self->of_bytes
                             ? hl_report_share_of((double)part->bytes, (double)whole->bytes)
                             : hl_report_share_of((double)part->count, (double)whole->count);
    hl_report_words value;
    if (self->of_bytes)
        haul_quantity_format((double)part->bytes, HAUL_DIM_BYTES, 2, value.text, sizeof value.text);
    else
        value = hl_report_say_count(part->count);
    point->x = decade + 0.5;
    point->y = isfinite(found) ? fmin(found, 1) : 0;
    point->size = slot < 70 ? slot - 4 : 66;
    (void)snprintf(point->title, sizeof point->title, "%s: %s, %.1f %%",
                   hl_report_say_decade(decade).text, value.text, 100 * point->y);
    (void)snprintf(point->label, sizeof point->label, "%s", value.text);
    return true;
}

static hl_page_plot make_plot(histogram *self, int top)
{
    hl_page_plot plot = {.x = {.low = self->first,
                               .high = self->last + 1,
                               .at_low = MARGIN,
                               .at_high = WIDTH - MARGIN},
                         .y = {.high = 1, .at_low = top + PLOT_HEIGHT, .at_high = top},
                         .head = self->of_bytes ? "bytes, by share" : "copies, by share"};
    self->base = (hl_page_span){{plot.x.low, 0}, {plot.x.high, 0}};
    hl_page_plot_add(&plot, (hl_page_series){HL_PAGE_FORM_BARS,
                                             .count = (size_t)(self->last - self->first + 1),
                                             .at = decade_at, .of = self});
    hl_page_plot_add(&plot, hl_page_straight(&self->base, "base"));
    return plot;
}

/* Two histograms of one group, by number and by bytes, over one axis of sizes. */
static void write_panel(const haul_copy_group *group, histogram range, FILE *out)
{
    const haul_op like = {.kind = HAUL_OP_COPY, .direction = (uint8_t)group->direction};
    const hl_report_words copies = hl_report_say_copies(group->direction, group->memory);
    char drawing[16];
    (void)snprintf(drawing, sizeof drawing, "look%d", (int)hl_page_look_of(&like));
    hl_page_chart chart = {
        .figure = "panel", .drawing = drawing, .width = WIDTH, .height = HEIGHT, .count = 2};
    (void)snprintf(chart.caption, sizeof chart.caption, "<b>%s</b> %s, %s", copies.text,
                   hl_report_say_number_of(group->totals.count, "copy", "copies").text,
                   hl_report_say_bytes(group->totals.bytes).text);
    (void)snprintf(chart.label, sizeof chart.label,
                   "Copies %s by decade of size; the table below says the same", copies.text);
    range.group = group;
    histogram bytes = range;
    bytes.of_bytes = true;
    chart.plots[0] = make_plot(&range, TOP);
    chart.plots[1] = make_plot(&bytes, TOP + NEXT);
    chart.plots[1].x.first = bytes.first;
    chart.plots[1].x.step = 1;
    chart.plots[1].x.say = say_decade_start;
    hl_page_chart_draw(&chart, out);
    fputs("</figure>\n", out);
}

void hl_page_sizes(hl_page_writer *self)
{
    const haul_analysis *analysis = self->page->analysis;
    if (!analysis)
        return;
    /* the decades in which there is a copy of any group: the panels have one scale */
    histogram range = {.first = HAUL_ANALYSIS_DECADES - 1};
    for (size_t i = 0; i < analysis->group_count * HAUL_ANALYSIS_DECADES; i++) {
        const int k = (int)(i % HAUL_ANALYSIS_DECADES);
        if (!analysis->groups[i / HAUL_ANALYSIS_DECADES].decades[k].count)
            continue;
        range.first = k < range.first ? k : range.first;
        range.last = k > range.last ? k : range.last;
    }
    fputs("<div class=\"panels\">\n", self->out);
    for (size_t i = 0; i < analysis->group_count; i++)
        write_panel(&analysis->groups[i], range, self->out);
    fputs("</div>\n", self->out);
}
