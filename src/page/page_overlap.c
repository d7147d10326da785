/* Times of the strategies of overlap over the number of streams: lines by the analytical model of
 * CCGrid 2014, points on the timeline, and as levels the times that do not depend on streams. */
#include <math.h>

#include "page/chart.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum { LINES = 2, LEVELS = 3 };

/* A strategy with streams. */
typedef struct strategy_line {
    const haul_overlap_report *of;
    haul_strategy strategy;
    const char *style;
    haul_overlap_point points[HAUL_OVERLAP_POINTS];
} strategy_line;

/* Numbers of streams in steps of a sixteenth. */
static uint32_t streams_at(size_t i)
{
    uint32_t streams = 1;
    while (i--)
        streams += 1 + streams / 16;
    return streams;
}

static bool analytical_at(const void *of, size_t i, hl_page_point *point)
{
    const strategy_line *line = of;
    const uint32_t streams = streams_at(i);
    point->x = streams;
    point->y = haul_overlap_time(line->of->of, line->strategy, streams);
    return true;
}

static bool engine_at(const void *of, size_t i, hl_page_point *point)
{
    const strategy_line *line = of;
    const haul_overlap_point *at = &line->points[i];
    *point = (hl_page_point){at->streams, at->engine_s, .size = 3};
    (void)snprintf(point->style, sizeof point->style, "%s", line->style);
    (void)snprintf(
        point->title, sizeof point->title, "%s, %u streams: %s on the timeline, %s by the form",
        haul_strategy_word(line->strategy), (unsigned)at->streams,
        hl_report_say_seconds(at->engine_s).text, hl_report_say_seconds(at->analytical_s).text);
    return true;
}

static bool best_at(const void *of, size_t i, hl_page_point *point)
{
    const haul_overlap_row *row = of;
    (void)i;
    *point = (hl_page_point){row->streams, row->seconds, .size = 5, .style = "best"};
    (void)snprintf(point->label, sizeof point->label, "%s, %s",
                   hl_report_say_number_of(row->streams, "stream", NULL).text,
                   hl_report_say_seconds(row->seconds).text);
    return true;
}

/* A level beyond the chart is left out; a remark says so for mapped memory. */
static void add_level(hl_page_plot *plot, hl_page_span *span, double seconds, const char *style,
                      const char *name)
{
    *span = (hl_page_span){{plot->x.low, seconds}, {plot->x.high, seconds}};
    hl_page_series level = hl_page_straight(span, style);
    (void)snprintf(level.name, sizeof level.name, "%.30s %.30s", name,
                   hl_report_say_seconds(seconds).text);
    if (seconds <= plot->y.high)
        hl_page_plot_add(plot, level);
}

static void add_lines(hl_page_plot *plot, strategy_line *lines, uint32_t most)
{
    size_t steps = 0;
    while (streams_at(steps) <= most)
        steps++;
    for (int i = 0; i < LINES; i++) {
        hl_page_series line = {HL_PAGE_FORM_LINE, lines[i].style, .count = steps,
                               .at = analytical_at, .of = &lines[i]};
        (void)snprintf(line.name, sizeof line.name, "%s", haul_strategy_word(lines[i].strategy));
        hl_page_plot_add(plot, line);
    }
    for (int i = 0; i < LINES; i++) {
        size_t count;
        /* more than a workload holds have no points */
        if (!haul_overlap_curve(lines[i].of->of, lines[i].strategy, most, lines[i].points, &count,
                                NULL))
            hl_page_plot_add(plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = count,
                                                    .at = engine_at, .of = &lines[i]});
    }
}

/* The chart goes past the best numbers of streams, so that one sees the cost of more of them, and
 * up to twice the time without overlap: mapped memory may be far beyond it. */
static void find_axes(const haul_overlap *of, hl_page_plot *plot, uint32_t *most)
{
    const double one_by_one = fmax(of->rows[HAUL_STRATEGY_EXPLICIT].seconds, of->none_s);
    double longest = one_by_one;
    *most = 16;
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        while (*most < HAUL_OVERLAP_STREAMS_MOST && *most / 4 < of->rows[i].best_streams)
            *most *= 2;
        if (of->rows[i].seconds <= 2 * one_by_one)
            longest = fmax(longest, of->rows[i].seconds);
    }
    hl_page_plot_streams(plot, *most, longest);
}

void hl_page_curve(hl_page_writer *page)
{
    if (!page->page->overlap)
        return;
    const haul_overlap *of = &page->page->overlap->strategies;
    const haul_overlap_row *best = &of->rows[of->best];
    const double mapped_s = of->rows[HAUL_STRATEGY_MAPPED].seconds;
    strategy_line lines[LINES] = {
        {.of = page->page->overlap, .strategy = HAUL_STRATEGY_HYBRID, .style = "line3"},
        {.of = page->page->overlap, .strategy = HAUL_STRATEGY_STREAMS, .style = "line1"}};
    hl_page_span levels[LEVELS];
    uint32_t most;
    hl_page_chart chart = hl_page_curves(
        "Time over the number of streams: lines by the analytical model, points on the timeline",
        "Time of each strategy over the number of streams; the table says the best of each");
    hl_page_plot *plot = &chart.plots[0];
    find_axes(of, plot, &most);
    add_level(plot, &levels[0], of->full_s, "roof", "full overlap");
    add_level(plot, &levels[1], of->rows[HAUL_STRATEGY_EXPLICIT].seconds, "line0",
              haul_strategy_word(HAUL_STRATEGY_EXPLICIT));
    add_level(plot, &levels[2], mapped_s, "line2", haul_strategy_word(HAUL_STRATEGY_MAPPED));
    add_lines(plot, lines, most);
    if (haul_strategy_has_streams(best->strategy) && best->streams <= most)
        hl_page_plot_add(
            plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = 1, .at = best_at, .of = best});
    hl_page_chart_draw(&chart, page->out);
    if (mapped_s > plot->y.high)
        fprintf(page->out, "<p class=\"remark\">Beyond the chart: mapped memory, %s.</p>\n",
                hl_report_say_seconds(mapped_s).text);
    fputs("</figure>\n", page->out);
}
