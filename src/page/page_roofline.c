/* The roofline of the kernels whose flops and bytes were counted: what each reached on the GPU that
 * recorded them, under what its memory and its arithmetic allow (Williams et al., CACM 2009). */
#include <math.h>

#include "haul/units.h"
#include "page/chart.h"
#include "page/page_parts.h"
#include "page/write_html.h"
#include "report/wording.h"

enum {
    WIDTH = 640,
    HEIGHT = 380,
    LEFT = 90, /* the sides of the plot */
    RIGHT = 610,
    TOP = 14,
    BOTTOM = 326,
    MOST_POINTS = 400,
};

/* The rates that memory and arithmetic of a GPU allow. */
typedef struct roof {
    double flops;
    double Bps;
    double left; /* flops for each byte */
    double right;
} roof;

typedef struct roofline {
    FILE *out;
    const haul_projection *of;
    roof source;
    roof target;
} roofline;

static bool is_counted(const haul_kernel_row *row)
{
    return row->flops > 0 && row->bytes > 0 && row->counted_s > 0 &&
           isfinite(row->flops / row->bytes) && isfinite(row->flops / row->counted_s);
}

static hl_report_words say_rate(double value, haul_dimension dimension)
{
    hl_report_words words;
    haul_quantity_format(value, dimension, 3, words.text, sizeof words.text);
    return words;
}

static hl_report_words say_flops(double rate)
{
    return say_rate(rate, HAUL_DIM_FLOPS);
}

static hl_report_words say_intensity(double intensity)
{
    hl_report_words words;
    (void)snprintf(words.text, sizeof words.text, "%g", intensity);
    return words;
}

static bool has_target(const roofline *self)
{
    return self->of->target_peak_flops > 0 && self->of->target_peak_Bps > 0;
}

/* Whole decades around the points and the ridges. */
static bool find_axes(const roofline *self, hl_page_plot *plot)
{
    const double ridge = self->of->peak_flops / self->of->peak_Bps;
    const double there =
        has_target(self) ? self->of->target_peak_flops / self->of->target_peak_Bps : ridge;
    double least_x = fmin(ridge, there), most_x = fmax(ridge, there);
    double least_y = self->of->peak_flops, most_y = least_y;
    if (has_target(self))
        most_y = fmax(most_y, self->of->target_peak_flops);
    size_t count = 0;
    for (size_t i = 0; i < self->of->kernel_row_count; i++) {
        const haul_kernel_row *row = &self->of->kernel_rows[i];
        if (!is_counted(row))
            continue;
        least_x = fmin(least_x, row->flops / row->bytes);
        most_x = fmax(most_x, row->flops / row->bytes);
        least_y = fmin(least_y, row->flops / fmax(row->counted_s, row->counted_predicted_s));
        count++;
    }
    plot->x = hl_page_decades(least_x * 0.8, most_x * 1.25, LEFT, RIGHT);
    plot->x.has_lines = true;
    plot->x.say = say_intensity;
    plot->x.name = "flops for each byte";
    plot->y = hl_page_decades(least_y * 0.8, most_y * 1.25, BOTTOM, TOP);
    plot->y.say = say_flops;
    return count > 0;
}

/* Memory allows its rate times the flops for each byte, up to the peak. */
static bool roof_at(const void *of, size_t i, hl_page_point *point)
{
    const roof *self = of;
    point->x = i == 0 ? self->left : i == 1 ? self->flops / self->Bps : self->right;
    point->y = fmin(point->x * self->Bps, self->flops);
    return true;
}

static void add_roof(hl_page_plot *plot, roof *of, const char *dashes)
{
    /* the roof of memory may begin below the drawing at its left side */
    of->left = fmax(plot->x.low, plot->y.low / of->Bps);
    of->right = plot->x.high;
    hl_page_plot_add(plot, (hl_page_series){HL_PAGE_FORM_LINE, "roof", .dashes = dashes, .count = 3,
                                            .at = roof_at, .of = of});
}

/* The area grows with the kernel's time; the smallest is seen. */
static bool reached_at(const void *of, size_t i, hl_page_point *point)
{
    const roofline *self = of;
    const haul_kernel_row *row = &self->of->kernel_rows[i];
    if (!is_counted(row))
        return false;
    const double intensity = row->flops / row->bytes, reached = row->flops / row->counted_s;
    const double share = row->counted_s / self->of->recorded_kernels_s;
    *point = (hl_page_point){intensity, reached, .size = 3 + 9 * sqrt(fmin(fmax(share, 0), 1)),
                             .style = "look0", .name = row->name};
    (void)snprintf(point->title, sizeof point->title,
                   ": %s, %.3g flops for each byte, %.0f %% of the roof, %s",
                   say_flops(reached).text, intensity,
                   100 * reached / fmin(self->source.flops, intensity * self->source.Bps),
                   hl_report_say_seconds(row->counted_s).text);
    return true;
}

static bool predicted_at(const void *of, size_t i, hl_page_point *point)
{
    const roofline *self = of;
    const haul_kernel_row *row = &self->of->kernel_rows[i];
    if (!is_counted(row) || !(row->counted_predicted_s > 0))
        return false;
    *point = (hl_page_point){row->flops / row->bytes, row->flops / row->counted_predicted_s,
                             .size = 3, .style = "look1", .name = row->name};
    (void)snprintf(point->title, sizeof point->title, ": predicted %s, %s",
                   say_flops(point->y).text, hl_report_say_seconds(row->counted_predicted_s).text);
    return true;
}

/* The same in figures, for who cannot see the drawing. */
static void write_table(const roofline *self, hl_page_writer *page)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_NAME, .head = "kernel"},
                                          {NULL, HAUL_UNIT_SECONDS, .head = "recorded"},
                                          {NULL, HAUL_UNIT_TEXT, .head = "reached"},
                                          {NULL, HAUL_UNIT_SECONDS, .head = "predicted"},
                                          {NULL, HAUL_UNIT_TEXT, .head = "memory"},
                                          {NULL, HAUL_UNIT_TEXT, .head = "flops a byte"},
                                          {NULL, HAUL_UNIT_SHARE, .head = "of the roof"},
                                          {0}};
    haul_report *report = haul_report_new("roofline");
    haul_table *table = haul_report_table(report, NULL, columns);
    for (size_t i = 0; i < self->of->kernel_row_count; i++) {
        const haul_kernel_row *row = &self->of->kernel_rows[i];
        if (!is_counted(row))
            continue;
        const double intensity = row->flops / row->bytes, reached = row->flops / row->counted_s;
        char ratio[32];
        (void)snprintf(ratio, sizeof ratio, "%.3g", intensity);
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(*row->name ? row->name : "(no name)"),
                       haul_cell_number(row->counted_s),
                       haul_cell_text(say_rate(reached, HAUL_DIM_FLOPS).text),
                       haul_cell_number(row->counted_predicted_s),
                       haul_cell_text(say_rate(row->bytes / row->counted_s, HAUL_DIM_RATE).text),
                       haul_cell_text(ratio),
                       haul_cell_number(
                           reached / fmin(self->of->peak_flops, intensity * self->of->peak_Bps))));
    }
    page->failed |= !hl_page_html_figures(report, self->out);
}

void hl_page_roofline(hl_page_writer *page)
{
    const haul_projection *of = page->page->projection;
    hl_page_chart chart = {.figure = "roofline",
                           .drawing = "",
                           .label = "Flops a second of each kernel over its flops for each byte; "
                                    "the table below it says the same",
                           .width = WIDTH,
                           .height = HEIGHT,
                           .count = 1};
    hl_page_plot *plot = &chart.plots[0];
    if (!of || !(of->peak_flops > 0) || !(of->peak_Bps > 0))
        return;
    roofline self = {.out = page->out,
                     .of = of,
                     .source = {of->peak_flops, of->peak_Bps},
                     .target = {of->target_peak_flops, of->target_peak_Bps}};
    if (!find_axes(&self, plot))
        return;
    (void)snprintf(chart.caption, sizeof chart.caption,
                   "Kernels on the GPU that recorded them, large, under %s and %s",
                   say_rate(of->peak_Bps, HAUL_DIM_RATE).text, say_flops(of->peak_flops).text);
    size_t count = 0; /* of the kernels, from the first on, that have MOST_POINTS points */
    for (size_t points = 0; count < of->kernel_row_count && points < MOST_POINTS; count++)
        points += is_counted(&of->kernel_rows[count]);
    add_roof(plot, &self.source, NULL);
    if (has_target(&self))
        add_roof(plot, &self.target, "6 4");
    hl_page_plot_add(
        plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = count, .at = reached_at, .of = &self});
    if (has_target(&self))
        hl_page_plot_add(plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = count,
                                                .at = predicted_at, .of = &self});
    hl_page_chart_draw(&chart, page->out);
    fputs("<p class=\"remark\">A circle for each kernel that counters or operands tell of, "
          "larger the longer it ran; a small one where it is predicted to be, under the dashed "
          "roof of the target.</p>\n",
          page->out);
    write_table(&self, page);
    fputs("</figure>\n", page->out);
}
