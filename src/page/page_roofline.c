/* The roofline of the kernels whose flops and bytes were counted: what each reached on the GPU that
 * recorded them, under what its memory and its arithmetic allow (Williams et al., CACM 2009). */
#include <math.h>

#include "haul/units.h"
#include "page/html.h"
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
    NAME_CHARACTERS = 60,
    MOST_POINTS = 400,
};

typedef struct roofline {
    FILE *out;
    const haul_projection *of;
    haul_axis x; /* flops for each byte */
    haul_axis y; /* flop/s */
} roofline;

static bool is_counted(const haul_kernel_row *row)
{
    return row->flops > 0 && row->bytes > 0 && row->counted_s > 0 &&
           isfinite(row->flops / row->bytes) && isfinite(row->flops / row->counted_s);
}

static haul_words say_rate(double value, haul_dimension dimension)
{
    haul_words words;
    haul_quantity_format(value, dimension, 3, words.text, sizeof words.text);
    return words;
}

static bool has_target(const roofline *self)
{
    return self->of->target_peak_flops > 0 && self->of->target_peak_Bps > 0;
}

/* Whole decades around the points and the ridges. */
static bool find_axes(roofline *self)
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
    self->x = (haul_axis){pow(10, floor(log10(least_x * 0.8))), pow(10, ceil(log10(most_x * 1.25))),
                          LEFT, RIGHT, true};
    self->y = (haul_axis){pow(10, floor(log10(least_y * 0.8))), pow(10, ceil(log10(most_y * 1.25))),
                          BOTTOM, TOP, true};
    return count > 0;
}

static void draw_axes(const roofline *self)
{
    FILE *out = self->out;
    const int columns = (int)lround(log10(self->x.high / self->x.low));
    const int rows = (int)lround(log10(self->y.high / self->y.low));
    fputs("<g class=\"axis\">\n", out);
    for (int k = 0; k <= columns; k++) {
        const double value = self->x.low * pow(10, k), x = haul_scale_at(&self->x, value);
        fprintf(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
                "<text class=\"mid\" x=\"%.1f\" y=\"%d\">%g</text>\n",
                x, x, TOP, BOTTOM, x, BOTTOM + 18, value);
    }
    for (int k = 0; k <= rows; k++) {
        const double value = self->y.low * pow(10, k);
        haul_html_level(&self->x, haul_scale_at(&self->y, value),
                        say_rate(value, HAUL_DIM_FLOPS).text, out);
    }
    fprintf(out, "<text class=\"mid\" x=\"%d\" y=\"%d\">flops for each byte</text>\n</g>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 38);
}

/* Memory allows its rate times the flops for each byte, up to the peak. */
static void draw_roof(const roofline *self, double flops, double bytes_per_s, const char *dashes)
{
    const double ridge = flops / bytes_per_s;
    /* what memory allows may be below the drawing at its left side */
    const double left = fmax(self->x.low, self->y.low / bytes_per_s);
    fprintf(self->out, "<path class=\"roof\"%s d=\"M%.1f %.1fL%.1f %.1fH%d\"/>\n", dashes,
            haul_scale_at(&self->x, left), haul_scale_at(&self->y, left * bytes_per_s),
            haul_scale_at(&self->x, ridge), haul_scale_at(&self->y, flops), RIGHT);
}

static void draw_point(const roofline *self, const haul_kernel_row *row)
{
    const double intensity = row->flops / row->bytes, reached = row->flops / row->counted_s;
    const double roof = fmin(self->of->peak_flops, intensity * self->of->peak_Bps);
    const double share = row->counted_s / self->of->recorded_kernels_s;
    /* the area grows with the kernel's time; the smallest is seen */
    fprintf(self->out, "<circle class=\"look0\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>",
            haul_scale_at(&self->x, intensity), haul_scale_at(&self->y, reached),
            3 + 9 * sqrt(fmin(fmax(share, 0), 1)));
    haul_html_text_cut(row->name, NAME_CHARACTERS, self->out);
    fprintf(self->out, ": %s, %.3g flops for each byte, %.0f %% of the roof, %s</title></circle>\n",
            say_rate(reached, HAUL_DIM_FLOPS).text, intensity, 100 * reached / roof,
            haul_say_seconds(row->counted_s).text);
    if (!has_target(self) || !(row->counted_predicted_s > 0))
        return;
    const double predicted = row->flops / row->counted_predicted_s;
    fprintf(self->out, "<circle class=\"look1\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>",
            haul_scale_at(&self->x, intensity), haul_scale_at(&self->y, predicted));
    haul_html_text_cut(row->name, NAME_CHARACTERS, self->out);
    fprintf(self->out, ": predicted %s, %s</title></circle>\n",
            say_rate(predicted, HAUL_DIM_FLOPS).text,
            haul_say_seconds(row->counted_predicted_s).text);
}

/* The same in figures, for who cannot see the drawing. */
static void write_table(const roofline *self, haul_page_writer *page)
{
    static const haul_column columns[] = {
        {NULL, HAUL_NAME, .head = "kernel"},       {NULL, HAUL_SECONDS, .head = "recorded"},
        {NULL, HAUL_TEXT, .head = "reached"},      {NULL, HAUL_SECONDS, .head = "predicted"},
        {NULL, HAUL_TEXT, .head = "memory"},       {NULL, HAUL_TEXT, .head = "flops a byte"},
        {NULL, HAUL_SHARE, .head = "of the roof"}, {0}};
    haul_report *report = haul_report_new("roofline");
    haul_table *table = haul_report_table(report, NULL, columns);
    for (size_t i = 0; i < self->of->kernel_row_count; i++) {
        const haul_kernel_row *row = &self->of->kernel_rows[i];
        if (!is_counted(row))
            continue;
        const double intensity = row->flops / row->bytes, reached = row->flops / row->counted_s;
        char ratio[32];
        (void)snprintf(ratio, sizeof ratio, "%.3g", intensity);
        haul_table_row(table, *row->name ? row->name : "(no name)", row->counted_s,
                       say_rate(reached, HAUL_DIM_FLOPS).text, row->counted_predicted_s,
                       say_rate(row->bytes / row->counted_s, HAUL_DIM_RATE).text, ratio,
                       reached / fmin(self->of->peak_flops, intensity * self->of->peak_Bps));
    }
    page->failed |= !haul_html_figures(report, self->out);
}

void haul_page_roofline(haul_page_writer *page)
{
    roofline self = {.out = page->out, .of = page->page->projection};
    if (!self.of || !(self.of->peak_flops > 0) || !(self.of->peak_Bps > 0) || !find_axes(&self))
        return;
    fprintf(page->out,
            "<figure class=\"roofline\">\n<figcaption>Kernels on the GPU that recorded them, "
            "large, under "
            "%s and %s</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Flops a "
            "second of each kernel over its flops for each byte; the table below it says the "
            "same\">\n",
            say_rate(self.of->peak_Bps, HAUL_DIM_RATE).text,
            say_rate(self.of->peak_flops, HAUL_DIM_FLOPS).text, WIDTH, HEIGHT);
    draw_axes(&self);
    draw_roof(&self, self.of->peak_flops, self.of->peak_Bps, "");
    if (has_target(&self))
        draw_roof(&self, self.of->target_peak_flops, self.of->target_peak_Bps,
                  " stroke-dasharray=\"6 4\"");
    size_t drawn = 0;
    for (size_t i = 0; i < self.of->kernel_row_count && drawn < MOST_POINTS; i++)
        if (is_counted(&self.of->kernel_rows[i])) {
            draw_point(&self, &self.of->kernel_rows[i]);
            drawn++;
        }
    fputs("</svg>\n<p class=\"remark\">A circle for each kernel that counters or operands tell of, "
          "larger the longer it ran; a small one where it is predicted to be, under the dashed "
          "roof of the target.</p>\n",
          page->out);
    write_table(&self, page);
    fputs("</figure>\n", page->out);
}
