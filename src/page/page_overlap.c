/* Times of the strategies of overlap over the number of streams: lines by the analytical model of
 * CCGrid 2014, points on the timeline, and as levels what does not depend on streams. */
#include <math.h>

#include "page/line_chart.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum { MOST_TICKS = 6 };

typedef struct chart {
    haul_line_chart lines;
    const haul_overlap_report *of;
    uint32_t most; /* streams */
} chart;

/* Streams double along the axis: what is not overlapped falls with their number. */
static void draw_axes(const chart *self)
{
    const haul_line_chart *lines = &self->lines;
    const double step = haul_nice_step(lines->y.high, MOST_TICKS);
    for (int i = 0; i * step <= lines->y.high; i++)
        haul_line_chart_level(lines, i * step, i ? haul_say_seconds(i * step).text : "0");
    const uint32_t factor = self->most > 256 ? 4 : 2;
    for (uint32_t streams = 1; streams <= self->most; streams *= factor) {
        char text[16];
        (void)snprintf(text, sizeof text, "%u", streams);
        haul_line_chart_mark(lines, streams, text);
    }
    haul_line_chart_name_x(lines, "number of streams");
}

/* A level beyond the chart is left out; a remark says so for mapped memory. */
static void draw_level(chart *self, double seconds, const char *line, const char *name)
{
    if (!(seconds <= self->lines.y.high))
        return;
    haul_line_chart_across(&self->lines, seconds, line);
    char text[64];
    (void)snprintf(text, sizeof text, "%.30s %.30s", name, haul_say_seconds(seconds).text);
    haul_line_chart_add_name(&self->lines, seconds, line, text);
}

/* The line of the analytical model, in steps of a sixteenth; it may leave the chart and return. */
static void draw_form(chart *self, haul_strategy strategy, const char *line)
{
    double seconds = (double)NAN;
    bool begun = false;
    fprintf(self->lines.out, "<path class=\"%s\" d=\"", line);
    for (uint32_t streams = 1; streams <= self->most; streams += 1 + streams / 16) {
        seconds = haul_overlap_time(self->of->of, strategy, streams);
        if (!(seconds <= self->lines.y.high)) {
            begun = false;
            continue;
        }
        haul_line_chart_to(&self->lines, !begun, streams, seconds);
        begun = true;
    }
    fputs("\"/>\n", self->lines.out);
    if (begun)
        haul_line_chart_add_name(&self->lines, seconds, line, haul_strategy_word(strategy));
}

/* What the timeline's engine makes of the same, as points over the form's line. */
static void draw_engine(const chart *self, haul_strategy strategy, const char *line)
{
    haul_overlap_point points[HAUL_OVERLAP_POINTS];
    size_t count;
    if (haul_overlap_curve(self->of->of, strategy, self->most, points, &count, NULL))
        return; /* more than a workload holds */
    for (size_t i = 0; i < count; i++)
        if (points[i].engine_s <= self->lines.y.high)
            fprintf(self->lines.out,
                    "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s, %u streams: "
                    "%s on the timeline, %s by the form</title></circle>\n",
                    line, haul_scale_at(&self->lines.x, points[i].streams),
                    haul_scale_at(&self->lines.y, points[i].engine_s), haul_strategy_word(strategy),
                    (unsigned)points[i].streams, haul_say_seconds(points[i].engine_s).text,
                    haul_say_seconds(points[i].analytical_s).text);
}

/* The best strategy's point. */
static void draw_best(const chart *self, const haul_overlap *of)
{
    const haul_overlap_row *row = &of->rows[of->best];
    if (!haul_strategy_has_streams(row->strategy) || row->streams > self->most)
        return;
    const double x = haul_scale_at(&self->lines.x, row->streams);
    const double y = haul_scale_at(&self->lines.y, row->seconds);
    fprintf(self->lines.out,
            "<circle class=\"best\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>"
            "<text class=\"mid strong\" x=\"%.1f\" y=\"%.1f\">%s, %s</text>\n",
            x, y, x, y + 20, haul_say_number_of(row->streams, "stream", NULL).text,
            haul_say_seconds(row->seconds).text);
}

void haul_page_curve(haul_page_writer *page)
{
    if (!page->page->overlap)
        return;
    const haul_overlap *of = &page->page->overlap->strategies;
    const double one_by_one = fmax(of->rows[HAUL_EXPLICIT].seconds, of->none_s);
    chart self = {.of = page->page->overlap, .most = 16};
    /* the chart goes past the best numbers of streams, so that one sees what more of them cost, and
     * up to twice the time without overlap: mapped memory may be far beyond it */
    double longest = one_by_one;
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        while (self.most < HAUL_STREAMS_MOST && self.most / 4 < of->rows[i].best_streams)
            self.most *= 2;
        if (of->rows[i].seconds <= 2 * one_by_one)
            longest = fmax(longest, of->rows[i].seconds);
    }
    self.lines =
        haul_line_chart_make(page->out, self.most, 0, longest > 0 ? 1.08 * longest : 1, false);
    haul_line_chart_open(&self.lines,
                         "Time over the number of streams: lines by the analytical model, points "
                         "on the timeline",
                         "Time of each strategy over the number of streams; the table says the "
                         "best of each");
    draw_axes(&self);
    draw_level(&self, of->full_s, "roof", "full overlap");
    draw_level(&self, of->rows[HAUL_EXPLICIT].seconds, "line0", haul_strategy_word(HAUL_EXPLICIT));
    draw_level(&self, of->rows[HAUL_MAPPED].seconds, "line2", haul_strategy_word(HAUL_MAPPED));
    draw_form(&self, HAUL_HYBRID, "line3");
    draw_form(&self, HAUL_STREAMS, "line1");
    draw_engine(&self, HAUL_HYBRID, "line3");
    draw_engine(&self, HAUL_STREAMS, "line1");
    draw_best(&self, of);
    haul_line_chart_close(&self.lines);
    if (of->rows[HAUL_MAPPED].seconds > self.lines.y.high)
        fprintf(page->out, "<p class=\"remark\">Beyond the chart: mapped memory, %s.</p>\n",
                haul_say_seconds(of->rows[HAUL_MAPPED].seconds).text);
    fputs("</figure>\n", page->out);
}
