/* The four figures of a machine's messages, over sizes and numbers of processes. */
#include <math.h>

#include "page/chart.h"
#include "page/page_parts.h"

typedef struct curve {
    const haul_message_figure *figure;
    const double *y;
} curve;

static bool point_at(const void *of, size_t i, hl_page_point *point)
{
    const curve *self = of;
    point->x = (double)self->figure->x[i];
    point->y = self->y[i];
    return self->y[i] > 0;
}

static hl_report_words say_bytes(double bytes)
{
    return hl_report_say_bytes((uint64_t)bytes);
}

static hl_report_words say_number(double value)
{
    hl_report_words words;
    (void)snprintf(words.text, sizeof words.text, "%g", value);
    return words;
}

static const char *const captions[HAUL_FIGURES] = {
    [HAUL_FIGURE_PAIRS] = "Time of a message over its size, between hosts and between GPUs",
    [HAUL_FIGURE_WAYS] = "Time of a message between GPUs of two nodes, by GPUDirect and through "
                         "the hosts",
    [HAUL_FIGURE_SPLIT] = "Time of data to another node over the number of processes that send it",
    [HAUL_FIGURE_GAIN] = "GPUDirect's time by that of 3-step, over the size of each message: above "
                         "1 3-step is faster",
};

static void draw(const haul_message_figure *figure, haul_message_figure_kind kind, FILE *out)
{
    static const char *const styles[HAUL_FIGURE_LINES] = {"line1", "line3", "line5",
                                                          "line2", "line4", "line0"};
    const bool over_processes = kind == HAUL_FIGURE_SPLIT, is_ratio = kind == HAUL_FIGURE_GAIN;
    hl_page_chart chart = hl_page_curves(captions[kind], captions[kind]);
    hl_page_plot *plot = &chart.plots[0];
    curve curves[HAUL_FIGURE_LINES];
    double low = (double)INFINITY, high = 0;
    for (size_t l = 0; l < figure->lines; l++)
        for (size_t i = 0; i < figure->points; i++) {
            low = fmin(low, figure->y[l][i]); /* of NaN and a number the number */
            high = fmax(high, figure->y[l][i]);
        }
    if (!(high > 0) || figure->points < 2)
        return;
    plot->x.high = (double)figure->x[figure->points - 1];
    plot->x.step = over_processes ? 2 : 16;
    plot->x.say = over_processes ? say_number : say_bytes;
    plot->x.name = over_processes ? "processes" : "size of a message";
    const hl_page_axis y = plot->y;
    plot->y = hl_page_decades(low, high > low ? high : 2 * low, y.at_low, y.at_high);
    plot->y.say = is_ratio ? say_number : y.say;
    for (size_t l = 0; l < figure->lines; l++) {
        curves[l] = (curve){figure, figure->y[l]};
        hl_page_series line = {HL_PAGE_FORM_LINE, styles[l], .count = figure->points,
                               .at = point_at, .of = &curves[l]};
        (void)snprintf(line.name, sizeof line.name, "%s", figure->names[l]);
        hl_page_plot_add(plot, line);
    }
    hl_page_chart_draw(&chart, out);
    fputs("</figure>\n", out);
}

void hl_page_messages(hl_page_writer *page)
{
    for (int f = 0; page->page->figures && f < HAUL_FIGURES; f++)
        draw(&page->page->figures[f], (haul_message_figure_kind)f, page->out);
}
