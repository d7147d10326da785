/* Times of the strategies as they ran on a device, over the number of streams: points as measured,
 * lines as predicted (CCGrid 2014, Figures 4 to 6). */
#include <math.h>

#include "page/chart.h"
#include "page/page_parts.h"
#include "report/wording.h"

/* The rows of a strategy. */
typedef struct strategy_rows {
    const haul_run_row *first;
    size_t count;
    const char *style;
    double last; /* of the axis: a strategy without streams is a level up to it */
} strategy_rows;

static bool predicted_at(const void *of, size_t i, hl_page_point *point)
{
    const strategy_rows *rows = of;
    const haul_run_row *row = &rows->first[i < rows->count ? i : 0];
    point->x = i < rows->count ? (double)row->streams : rows->last;
    point->y = row->predicted_s;
    return row->predicted_s > 0;
}

static bool measured_at(const void *of, size_t i, hl_page_point *point)
{
    const strategy_rows *rows = of;
    const haul_run_row *row = &rows->first[i];
    *point = (hl_page_point){row->streams, row->measured_s, .size = 4};
    (void)snprintf(point->style, sizeof point->style, "%s", rows->style);
    (void)snprintf(point->title, sizeof point->title,
                   "%s, %u streams: %s measured, half of the runs within %.2g %%; %s predicted",
                   haul_strategy_word(row->strategy), (unsigned)row->streams,
                   hl_report_say_seconds(row->measured_s).text, row->spread,
                   hl_report_say_seconds(row->predicted_s).text);
    return row->measured_s > 0;
}

/* The rows of each strategy stand together. */
static void find_rows(const haul_run *run, strategy_rows *rows)
{
    static const char *const styles[HAUL_STRATEGIES] = {[HAUL_STRATEGY_EXPLICIT] = "line0",
                                                        [HAUL_STRATEGY_STREAMS] = "line1",
                                                        [HAUL_STRATEGY_MAPPED] = "line2",
                                                        [HAUL_STRATEGY_HYBRID] = "line3"};
    for (size_t i = 0; i < run->row_count; i++) {
        strategy_rows *of = &rows[run->rows[i].strategy];
        if (!of->count++)
            of->first = &run->rows[i];
        of->style = styles[run->rows[i].strategy];
    }
}

void hl_page_run(hl_page_writer *page)
{
    const haul_run *run = page->page->run;
    strategy_rows rows[HAUL_STRATEGIES] = {{0}};
    if (!run)
        return;
    hl_page_chart chart = hl_page_curves(
        "Time over the number of streams: points as measured, lines as predicted",
        "Time of each strategy over the number of streams; the table has the values");
    hl_page_plot *plot = &chart.plots[0];
    double most = 2, longest_s = 0;
    find_rows(run, rows);
    for (size_t i = 0; i < run->row_count; i++) {
        most = fmax(most, run->rows[i].streams);
        longest_s = fmax(longest_s, fmax(run->rows[i].measured_s, run->rows[i].predicted_s));
    }
    hl_page_plot_streams(plot, most, longest_s);
    for (int s = 0; s < HAUL_STRATEGIES; s++) {
        rows[s].last = most;
        hl_page_series line = {HL_PAGE_FORM_LINE, rows[s].style,
                               .count = rows[s].count + (rows[s].count == 1), .at = predicted_at,
                               .of = &rows[s]};
        (void)snprintf(line.name, sizeof line.name, "%s", haul_strategy_word((haul_strategy)s));
        if (rows[s].count)
            hl_page_plot_add(plot, line);
    }
    for (int s = 0; s < HAUL_STRATEGIES; s++)
        if (rows[s].count)
            hl_page_plot_add(plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = rows[s].count,
                                                    .at = measured_at, .of = &rows[s]});
    hl_page_chart_draw(&chart, page->out);
    fputs("</figure>\n", page->out);
}
