/* Times of the ways of an exchange over the size of a message, both logarithmic, with the sizes
 * from which another way is best. */
#include <math.h>

#include "page/chart.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum { SIZES = 23 /* 1 B to 4 MiB */ };

typedef struct ways {
    double seconds[HAUL_WAYS][SIZES]; /* NaN: not known */
    haul_way best[SIZES];             /* HAUL_WAY_CHOSEN: none */
    double low_s;
    double high_s;
} ways;

static double size_at(size_t i)
{
    return (double)(UINT64_C(1) << i);
}

static hl_report_words say_bytes(double bytes)
{
    return hl_report_say_bytes((uint64_t)bytes);
}

/* False where there is no time to draw. */
static bool find_times(ways *self, const haul_exchange_report *of)
{
    self->low_s = (double)INFINITY;
    self->high_s = 0;
    for (int i = 0; i < SIZES; i++) {
        haul_way_time times[HAUL_WAYS_PREDICTED];
        haul_exchange exchange = *of->exchange;
        exchange.bytes = UINT64_C(1) << i;
        self->best[i] = HAUL_WAY_CHOSEN;
        if (haul_exchange_predict(of->machine, &exchange, times, NULL)) {
            for (int way = HAUL_WAY_DIRECT; way < HAUL_WAYS; way++)
                self->seconds[way][i] = (double)NAN;
            continue;
        }
        self->best[i] = times[0].way;
        for (int p = 0; p < HAUL_WAYS_PREDICTED; p++) {
            self->seconds[times[p].way][i] = times[p].seconds;
            self->low_s = fmin(self->low_s, times[p].seconds);
            self->high_s = fmax(self->high_s, times[p].seconds);
        }
    }
    return isfinite(self->low_s) && self->low_s > 0;
}

static bool time_at(const void *of, size_t i, hl_page_point *point)
{
    const double *seconds = of;
    point->x = size_at(i);
    point->y = seconds[i];
    return seconds[i] > 0;
}

/* The first of the sizes from which a way is best. */
static bool crossover_at(const void *of, size_t i, hl_page_point *point)
{
    const ways *self = of;
    const haul_way best = self->best[i];
    if (!i || best == self->best[i - 1] || best == HAUL_WAY_CHOSEN ||
        self->best[i - 1] == HAUL_WAY_CHOSEN)
        return false;
    *point = (hl_page_point){size_at(i), self->seconds[best][i], .size = 5, .style = "best"};
    (void)snprintf(point->title, sizeof point->title, "%s is best at %s, %s",
                   haul_way_text(best, HAUL_MEMORY_DEVICE), say_bytes(size_at(i)).text,
                   hl_report_say_seconds(point->y).text);
    return true;
}

void hl_page_exchange(hl_page_writer *page)
{
    static const char *const styles[HAUL_WAYS_PREDICTED] = {"line1", "line3", "line2", "roof",
                                                            "line0", "line4", "line5"};
    ways self;
    if (!page->page->exchange || !find_times(&self, page->page->exchange))
        return;
    hl_page_chart chart = hl_page_curves(
        "Time of each way over the size of a message; circles: from here on another way is best",
        "Time of each way over the size of a message; the table says from which size on another "
        "way is best");
    hl_page_plot *plot = &chart.plots[0];
    plot->x.high = size_at(SIZES - 1);
    plot->x.step = 16;
    plot->x.say = say_bytes;
    plot->x.name = "size of a message";
    plot->y.is_log = true;
    plot->y.low = self.low_s;
    plot->y.high = self.high_s > self.low_s ? self.high_s : 2 * self.low_s;
    plot->y.first = pow(10, ceil(log10(plot->y.low)));
    plot->y.step = 10;
    for (int way = HAUL_WAY_DIRECT; way < HAUL_WAYS; way++) {
        hl_page_series line = {HL_PAGE_FORM_LINE, styles[way - HAUL_WAY_DIRECT], .count = SIZES,
                               .at = time_at, .of = self.seconds[way]};
        (void)snprintf(line.name, sizeof line.name, "%s",
                       haul_way_text((haul_way)way, HAUL_MEMORY_DEVICE));
        hl_page_plot_add(plot, line);
    }
    hl_page_plot_add(plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = SIZES, .at = crossover_at,
                                            .of = &self});
    hl_page_chart_draw(&chart, page->out);
    fputs("</figure>\n", page->out);
}
