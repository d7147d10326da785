/* Times of the strategies of overlap over the number of streams: lines by the analytical model of
 * CCGrid 2014, points on the timeline, and as levels what does not depend on streams. */
#include <math.h>
#include <stdlib.h>

#include "page/html.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum {
    WIDTH = 760,
    HEIGHT = 360,
    LEFT = 70, /* the sides of the plot */
    RIGHT = 590,
    TOP = 16,
    BOTTOM = 310,
    LABEL_PX = 15, /* from one line of a label to the next */
    MOST_LABELS = 8,
    MOST_TICKS = 6,
};

/* What stands at the right end of a line. */
typedef struct end_label {
    double y;
    const char *line; /* its class */
    char text[64];
} end_label;

typedef struct chart {
    FILE *out;
    const haul_overlap_report *of;
    haul_axis x;
    haul_axis y;
    uint32_t most; /* streams */
    end_label labels[MOST_LABELS];
    int label_count;
} chart;

static void add_label(chart *self, double seconds, const char *line, const char *name)
{
    if (self->label_count == MOST_LABELS)
        return;
    end_label *label = &self->labels[self->label_count++];
    label->y = haul_scale_at(&self->y, seconds);
    label->line = line;
    (void)snprintf(label->text, sizeof label->text, "%s", name);
}

/* Streams double along the axis: what is not overlapped falls with their number. */
static void draw_axes(const chart *self)
{
    FILE *out = self->out;
    const double step = haul_nice_step(self->y.high, MOST_TICKS);
    fputs("<g class=\"axis\">\n", out);
    for (int i = 0; i * step <= self->y.high; i++)
        haul_html_level(&self->x, haul_scale_at(&self->y, i * step),
                        i ? haul_say_seconds(i * step).text : "0", out);
    const uint32_t factor = self->most > 256 ? 4 : 2;
    for (uint32_t streams = 1; streams <= self->most; streams *= factor) {
        char text[16];
        (void)snprintf(text, sizeof text, "%u", streams);
        haul_html_mark(haul_scale_at(&self->x, streams), BOTTOM, text, out);
    }
    fprintf(out, "<text class=\"mid\" x=\"%d\" y=\"%d\">number of streams</text>\n</g>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 40);
}

/* A level beyond the chart is left out; a remark says so for mapped memory. */
static void draw_level(chart *self, double seconds, const char *line, const char *name)
{
    if (!(seconds <= self->y.high))
        return;
    const double y = haul_scale_at(&self->y, seconds);
    fprintf(self->out, "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", line,
            LEFT, RIGHT, y, y);
    char text[64];
    (void)snprintf(text, sizeof text, "%.30s %.30s", name, haul_say_seconds(seconds).text);
    add_label(self, seconds, line, text);
}

/* The line of the analytical model, in steps of a sixteenth; it may leave the chart and return. */
static void draw_form(chart *self, haul_strategy strategy, const char *line)
{
    double seconds = (double)NAN;
    bool begun = false;
    fprintf(self->out, "<path class=\"%s\" d=\"", line);
    for (uint32_t streams = 1; streams <= self->most; streams += 1 + streams / 16) {
        seconds = haul_overlap_time(self->of->of, strategy, streams);
        if (!(seconds <= self->y.high)) {
            begun = false;
            continue;
        }
        fprintf(self->out, "%s%.1f %.1f", begun ? "L" : "M", haul_scale_at(&self->x, streams),
                haul_scale_at(&self->y, seconds));
        begun = true;
    }
    fputs("\"/>\n", self->out);
    if (begun)
        add_label(self, seconds, line, haul_strategy_word(strategy));
}

/* What the timeline's engine makes of the same, as points over the form's line. */
static void draw_engine(const chart *self, haul_strategy strategy, const char *line)
{
    haul_overlap_point points[HAUL_OVERLAP_POINTS];
    size_t count;
    if (haul_overlap_curve(self->of->of, strategy, self->most, points, &count, NULL))
        return; /* more than a workload holds */
    for (size_t i = 0; i < count; i++)
        if (points[i].engine_s <= self->y.high)
            fprintf(self->out,
                    "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s, %u streams: "
                    "%s on the timeline, %s by the form</title></circle>\n",
                    line, haul_scale_at(&self->x, points[i].streams),
                    haul_scale_at(&self->y, points[i].engine_s), haul_strategy_word(strategy),
                    (unsigned)points[i].streams, haul_say_seconds(points[i].engine_s).text,
                    haul_say_seconds(points[i].analytical_s).text);
}

static int by_height(const void *a, const void *b)
{
    const double one = ((const end_label *)a)->y, other = ((const end_label *)b)->y;
    return (one > other) - (one < other);
}

/* The best strategy's point, then the names of the lines from the lowest up, so that none covers
 * another. */
static void draw_texts(chart *self, const haul_overlap *of)
{
    const haul_overlap_row *row = &of->rows[of->best];
    if (haul_strategy_has_streams(row->strategy) && row->streams <= self->most) {
        const double x = haul_scale_at(&self->x, row->streams);
        const double y = haul_scale_at(&self->y, row->seconds);
        fprintf(self->out, "<circle class=\"best\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", x, y);
        fprintf(self->out, "<text class=\"mid strong\" x=\"%.1f\" y=\"%.1f\">%s, %s</text>\n", x,
                y + 20, haul_say_number_of(row->streams, "stream", NULL).text,
                haul_say_seconds(row->seconds).text);
    }
    qsort(self->labels, (size_t)self->label_count, sizeof *self->labels, by_height);
    double below = BOTTOM + LABEL_PX;
    for (int i = self->label_count - 1; i >= 0; i--) {
        const end_label *label = &self->labels[i];
        const double y = fmin(label->y, below - LABEL_PX);
        fprintf(self->out, "<text class=\"name %s\" x=\"%d\" y=\"%.1f\">%s</text>\n", label->line,
                RIGHT + 8, y + 4, label->text);
        below = y;
    }
}

void haul_page_curve(haul_page_writer *page)
{
    if (!page->page->overlap)
        return;
    const haul_overlap *of = &page->page->overlap->strategies;
    const double one_by_one = fmax(of->rows[HAUL_EXPLICIT].seconds, of->none_s);
    chart self = {.out = page->out, .of = page->page->overlap, .most = 16};
    /* the chart goes past the best numbers of streams, so that one sees what more of them cost, and
     * up to twice the time without overlap: mapped memory may be far beyond it */
    double longest = one_by_one;
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        while (self.most < HAUL_STREAMS_MOST && self.most / 4 < of->rows[i].best_streams)
            self.most *= 2;
        if (of->rows[i].seconds <= 2 * one_by_one)
            longest = fmax(longest, of->rows[i].seconds);
    }
    self.x = (haul_axis){1, self.most, LEFT, RIGHT, true};
    self.y = (haul_axis){0, longest > 0 ? 1.08 * longest : 1, BOTTOM, TOP, false};
    fprintf(self.out,
            "<figure>\n<figcaption>Time over the number of streams: lines by the analytical "
            "model, points on the timeline</figcaption>\n"
            "<svg class=\"curve\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Time of each "
            "strategy over the number of streams; the table says the best of each\">\n",
            WIDTH, HEIGHT);
    draw_axes(&self);
    draw_level(&self, of->full_s, "roof", "full overlap");
    draw_level(&self, of->rows[HAUL_EXPLICIT].seconds, "line0", haul_strategy_word(HAUL_EXPLICIT));
    draw_level(&self, of->rows[HAUL_MAPPED].seconds, "line2", haul_strategy_word(HAUL_MAPPED));
    draw_form(&self, HAUL_HYBRID, "line3");
    draw_form(&self, HAUL_STREAMS, "line1");
    draw_engine(&self, HAUL_HYBRID, "line3");
    draw_engine(&self, HAUL_STREAMS, "line1");
    draw_texts(&self, of);
    fputs("</svg>\n", self.out);
    if (of->rows[HAUL_MAPPED].seconds > self.y.high)
        fprintf(self.out, "<p class=\"remark\">Beyond the chart: mapped memory, %s.</p>\n",
                haul_say_seconds(of->rows[HAUL_MAPPED].seconds).text);
    fputs("</figure>\n", self.out);
}
