/* Times of the ways of an exchange over the size of a message, both logarithmic, with the sizes
 * from which another way is best. */
#include <math.h>

#include "page/line_chart.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum { SIZES = 23 /* 1 B to 4 MiB */ };

typedef struct chart {
    haul_line_chart lines;
    double seconds[HAUL_PATHS][SIZES]; /* NaN: not known */
    haul_path best[SIZES];             /* HAUL_PATHS: none */
} chart;

static double size_at(int i)
{
    return (double)(UINT64_C(1) << i);
}

/* False where there is no time to draw. */
static bool fill(chart *self, const haul_exchange_report *of, FILE *out)
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
    self->lines =
        haul_line_chart_make(out, size_at(SIZES - 1), low, high > low ? high : 2 * low, true);
    return isfinite(low) && low > 0;
}

static void draw_axes(const chart *self)
{
    const haul_line_chart *lines = &self->lines;
    const int first = (int)ceil(log10(lines->y.low)), last = (int)floor(log10(lines->y.high));
    for (int power = first; power <= last; power++)
        haul_line_chart_level(lines, pow(10, power), haul_say_seconds(pow(10, power)).text);
    for (int i = 0; i < SIZES; i += 4)
        haul_line_chart_mark(lines, size_at(i), haul_say_bytes(UINT64_C(1) << i).text);
    haul_line_chart_name_x(lines, "size of a message");
}

static void draw_ways(chart *self)
{
    static const char *const classes[HAUL_PATHS] = {"line1", "line3", "line2", "roof", "line0"};
    haul_line_chart *lines = &self->lines;
    for (int p = 0; p < HAUL_PATHS; p++) {
        bool is_first = true;
        fprintf(lines->out, "<path class=\"%s\" d=\"", classes[p]);
        for (int i = 0; i < SIZES; i++) {
            if (!(self->seconds[p][i] > 0))
                continue;
            haul_line_chart_to(lines, is_first, size_at(i), self->seconds[p][i]);
            is_first = false;
        }
        fputs("\"/>\n", lines->out);
        if (self->seconds[p][SIZES - 1] > 0)
            haul_line_chart_add_name(lines, self->seconds[p][SIZES - 1], classes[p],
                                     haul_path_text((haul_path)p));
    }
}

/* The first of the sizes from which a way is best. */
static void draw_crossovers(const chart *self)
{
    for (int i = 1; i < SIZES; i++) {
        if (self->best[i] == self->best[i - 1] || self->best[i] == HAUL_PATHS ||
            self->best[i - 1] == HAUL_PATHS)
            continue;
        const double x = haul_scale_at(&self->lines.x, size_at(i));
        const double y = haul_scale_at(&self->lines.y, self->seconds[self->best[i]][i]);
        fprintf(self->lines.out,
                "<circle class=\"best\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>%s is best at %s, "
                "%s</title></circle>\n",
                x, y, haul_path_text(self->best[i]), haul_say_bytes(UINT64_C(1) << i).text,
                haul_say_seconds(self->seconds[self->best[i]][i]).text);
    }
}

void haul_page_exchange(haul_page_writer *page)
{
    chart self;
    if (!page->page->exchange || !fill(&self, page->page->exchange, page->out))
        return;
    haul_line_chart_open(&self.lines,
                         "Time of each way over the size of a message; circles: from here on "
                         "another way is best",
                         "Time of each way over the size of a message; the table says from which "
                         "size on another way is best");
    draw_axes(&self);
    draw_ways(&self);
    draw_crossovers(&self);
    haul_line_chart_close(&self.lines);
    fputs("</figure>\n", page->out);
}
