/* Times of the ways of an exchange over the size of a message, both logarithmic, with the sizes
 * from which another way is best. */
#include <math.h>

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
    LABEL_PX = 15,
    SIZES = 23 /* 1 B to 4 MiB */
};

typedef struct chart {
    FILE *out;
    haul_axis x;
    haul_axis y;
    double seconds[HAUL_PATHS][SIZES]; /* NaN: not known */
    haul_path best[SIZES];             /* HAUL_PATHS: none */
} chart;

static void fill(chart *self, const haul_exchange_report *of)
{
    double low = (double)INFINITY, high = 0;
    for (int i = 0; i < SIZES; i++) {
        haul_path_time times[HAUL_PATHS];
        haul_exchange exchange = *of->exchange;
        exchange.bytes = UINT64_C(1) << i;
        self->best[i] = HAUL_PATHS;
        if (haul_exchange_predict(of->machine, &exchange, times, NULL)) {
            for (int p = 0; p < HAUL_PATHS; p++)
                self->seconds[p][i] = (double)NAN;
            continue;
        }
        self->best[i] = times[0].path;
        for (int p = 0; p < HAUL_PATHS; p++) {
            self->seconds[times[p].path][i] = times[p].seconds;
            low = fmin(low, times[p].seconds);
            high = fmax(high, times[p].seconds);
        }
    }
    self->x = (haul_axis){1, (double)(UINT64_C(1) << (SIZES - 1)), LEFT, RIGHT, true};
    self->y = (haul_axis){low, high > low ? high : 2 * low, BOTTOM, TOP, true};
}

static void draw_axes(const chart *self)
{
    fputs("<g class=\"axis\">\n", self->out);
    const int first = (int)ceil(log10(self->y.low)), last = (int)floor(log10(self->y.high));
    for (int power = first; power <= last; power++) {
        const double t = pow(10, power);
        haul_html_level(&self->x, haul_scale_at(&self->y, t), haul_say_seconds(t).text, self->out);
    }
    for (int i = 0; i < SIZES; i += 4)
        haul_html_mark(haul_scale_at(&self->x, (double)(UINT64_C(1) << i)), BOTTOM,
                       haul_say_bytes(UINT64_C(1) << i).text, self->out);
    fprintf(self->out, "<text class=\"mid\" x=\"%d\" y=\"%d\">size of a message</text>\n</g>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 40);
}

/* A line for each way; their names stand beside each other's at the right, from the top down. */
static void draw_ways(const chart *self)
{
    static const char *const lines[HAUL_PATHS] = {"line1", "line3", "line2", "roof", "line0"};
    double taken = TOP - LABEL_PX;
    bool is_drawn[HAUL_PATHS] = {false};
    for (int p = 0; p < HAUL_PATHS; p++) {
        const char *step = "M";
        fprintf(self->out, "<path class=\"%s\" d=\"", lines[p]);
        for (int i = 0; i < SIZES; i++) {
            if (!(self->seconds[p][i] > 0))
                continue;
            fprintf(self->out, "%s%.1f %.1f", step,
                    haul_scale_at(&self->x, (double)(UINT64_C(1) << i)),
                    haul_scale_at(&self->y, self->seconds[p][i]));
            step = "L";
        }
        fputs("\"/>\n", self->out);
    }
    for (int shown = 0; shown < HAUL_PATHS; shown++) {
        int slowest = -1;
        for (int p = 0; p < HAUL_PATHS; p++)
            if (!is_drawn[p] && self->seconds[p][SIZES - 1] > 0 &&
                (slowest < 0 || self->seconds[p][SIZES - 1] > self->seconds[slowest][SIZES - 1]))
                slowest = p;
        if (slowest < 0)
            break;
        is_drawn[slowest] = true;
        taken = fmax(taken + LABEL_PX, haul_scale_at(&self->y, self->seconds[slowest][SIZES - 1]));
        fprintf(self->out, "<text class=\"name %s\" x=\"%d\" y=\"%.1f\">%s</text>\n",
                lines[slowest], RIGHT + 8, taken + 4, haul_path_text((haul_path)slowest));
    }
}

/* The first of the sizes from which a way is best. */
static void draw_crossovers(const chart *self)
{
    for (int i = 1; i < SIZES; i++) {
        if (self->best[i] == self->best[i - 1] || self->best[i] == HAUL_PATHS ||
            self->best[i - 1] == HAUL_PATHS)
            continue;
        const double x = haul_scale_at(&self->x, (double)(UINT64_C(1) << i));
        const double y = haul_scale_at(&self->y, self->seconds[self->best[i]][i]);
        fprintf(self->out,
                "<circle class=\"best\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>%s is best at %s, "
                "%s</title></circle>\n",
                x, y, haul_path_text(self->best[i]), haul_say_bytes(UINT64_C(1) << i).text,
                haul_say_seconds(self->seconds[self->best[i]][i]).text);
    }
}

void haul_page_exchange(haul_page_writer *page)
{
    chart self = {.out = page->out};
    if (!page->page->exchange)
        return;
    fill(&self, page->page->exchange);
    if (!isfinite(self.y.low) || !(self.y.low > 0))
        return;
    fprintf(self.out,
            "<figure>\n<figcaption>Time of each way over the size of a message; circles: from "
            "here on another way is best</figcaption>\n<svg class=\"curve\" viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"Time of each way over the size of a message; the table says "
            "from which size on another way is best\">\n",
            WIDTH, HEIGHT);
    draw_axes(&self);
    draw_ways(&self);
    draw_crossovers(&self);
    fputs("</svg>\n</figure>\n", self.out);
}
