/* Copies as haul measure timed them, a figure for each kind: times over sizes with the machine
 * file's prediction, and below it how far that is off. */
#include <math.h>

#include "page/html.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum {
    WIDTH = 440,
    HEIGHT = 400,
    LEFT = 74, /* the sides of both plots */
    RIGHT = 430,
    TOP = 12,
    BOTTOM = 230,
    RESIDUALS_TOP = 260,
    RESIDUALS_BOTTOM = 360,
};

/* The copies of one kind, from the first on, in the order of their sizes; of the sweep, then fresh
 * ones. */
typedef struct plot {
    FILE *out;
    const haul_measured_copy *copies;
    size_t count;
    haul_axis x;
    haul_axis y;
    haul_axis off; /* in percent */
} plot;

static double off_percent(const haul_measured_copy *copy)
{
    return 100 * (copy->predicted_s / copy->seconds - 1);
}

static bool is_drawn(const haul_measured_copy *copy)
{
    return copy->bytes && copy->seconds > 0 && copy->predicted_s > 0;
}

/* Whole decades around all times; residuals to the next 10 %, 100 % at most. */
static bool set_scales(plot *self)
{
    double low_s = (double)INFINITY, high_s = 0, most_bytes = 1, most_off = 1;
    for (size_t i = 0; i < self->count; i++) {
        const haul_measured_copy *copy = &self->copies[i];
        if (!is_drawn(copy))
            continue;
        low_s = fmin(low_s, fmin(copy->seconds, copy->predicted_s));
        high_s = fmax(high_s, fmax(copy->seconds, copy->predicted_s));
        most_bytes = fmax(most_bytes, (double)copy->bytes);
        most_off = fmax(most_off, fabs(off_percent(copy)));
    }
    if (!(high_s > 0) || most_bytes < 2)
        return false;
    const double most = fmin(10 * ceil(most_off / 10), 100);
    self->x = (haul_axis){1, most_bytes, LEFT, RIGHT, true};
    self->y = (haul_axis){pow(10, floor(log10(low_s))), pow(10, ceil(log10(high_s * 1.01))), BOTTOM,
                          TOP, true};
    self->off = (haul_axis){-most, most, RESIDUALS_BOTTOM, RESIDUALS_TOP, false};
    return true;
}

static void draw_axes(const plot *self)
{
    fputs("<g class=\"axis\">\n", self->out);
    const int decades = (int)lround(log10(self->y.high / self->y.low));
    for (int i = 0; i <= decades; i++) {
        const double s = self->y.low * pow(10, i);
        haul_html_level(&self->x, haul_scale_at(&self->y, s), haul_say_seconds(s).text, self->out);
    }
    for (int i = -1; i <= 1; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%+.0f %%", i * self->off.high);
        haul_html_level(&self->x, haul_scale_at(&self->off, i * self->off.high), i ? text : "0",
                        self->out);
    }
    for (uint64_t bytes = 1; (double)bytes <= self->x.high; bytes *= 1024)
        fprintf(self->out, "<text class=\"mid\" x=\"%.1f\" y=\"%d\">%s</text>\n",
                haul_scale_at(&self->x, (double)bytes), RESIDUALS_BOTTOM + 19,
                haul_say_bytes(bytes).text);
    fputs("</g>\n", self->out);
}

/* Through the sizes of the sweep. */
static void draw_prediction(const plot *self)
{
    const char *letter = "M";
    fputs("<path class=\"diagonal\" fill=\"none\" d=\"", self->out);
    for (size_t i = 0; i < self->count; i++) {
        const haul_measured_copy *copy = &self->copies[i];
        if (!is_drawn(copy) || copy->is_fresh)
            continue;
        fprintf(self->out, "%s%.1f %.1f", letter, haul_scale_at(&self->x, (double)copy->bytes),
                haul_scale_at(&self->y, copy->predicted_s));
        letter = " L";
    }
    fputs("\"/>\n", self->out);
}

static void draw_copy(const plot *self, const haul_measured_copy *copy)
{
    const double x = haul_scale_at(&self->x, (double)copy->bytes);
    const double off = fmax(fmin(off_percent(copy), self->off.high), self->off.low);
    const double places[] = {haul_scale_at(&self->y, copy->seconds),
                             haul_scale_at(&self->off, off)};
    for (int i = 0; i < 2; i++)
        fprintf(self->out,
                "<circle class=\"look0%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s: %s, spread "
                "%.1f %%, predicted %s</title></circle>\n",
                copy->is_fresh ? " hollow" : "", x, places[i], haul_say_bytes(copy->bytes).text,
                haul_say_seconds(copy->seconds).text, copy->spread,
                haul_say_seconds(copy->predicted_s).text);
}

static void draw_plot(plot *self)
{
    const haul_measured_copy *first = self->copies;
    const haul_words kind = haul_say_copies(first->direction, first->memory);
    if (!set_scales(self))
        return;
    fprintf(self->out,
            "<figure class=\"scatter\">\n<figcaption><b>%s</b></figcaption>\n<svg viewBox=\"0 0 %d "
            "%d\" role=\"img\" aria-label=\"Times of copies %s over their sizes, and how far the "
            "prediction is off\">\n",
            kind.text, WIDTH, HEIGHT, kind.text);
    draw_axes(self);
    draw_prediction(self);
    for (size_t i = 0; i < self->count; i++)
        if (is_drawn(&self->copies[i]))
            draw_copy(self, &self->copies[i]);
    fputs("</svg>\n</figure>\n", self->out);
}

void haul_page_measured(haul_page_writer *self)
{
    const haul_measurement *measurement = self->page->measurement;
    if (!measurement)
        return;
    fputs("<div class=\"panels\">\n", self->out);
    for (size_t i = 0, next; i < measurement->size_count; i = next) {
        const haul_measured_copy *first = &measurement->sizes[i];
        for (next = i + 1; next < measurement->size_count; next++)
            if (measurement->sizes[next].direction != first->direction ||
                measurement->sizes[next].memory != first->memory)
                break;
        plot one = {.out = self->out, .copies = first, .count = next - i};
        draw_plot(&one);
    }
    fputs("</div>\n<p class=\"remark\">Above the median time of each size, and as a broken line "
          "what the machine file predicts; below it how far the prediction is off. Hollow: sizes "
          "that nothing was fitted to.</p>\n",
          self->out);
}
