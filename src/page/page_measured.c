/* Copies as haul measure timed them, a figure for each kind: times over sizes with the machine
 * file's prediction, and below it how far that is off. */
#include <math.h>

#include "page/chart.h"
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
typedef struct copies_of_kind {
    const haul_measured_copy *copies;
    size_t count;
    double most_off; /* of the axis of residuals, in percent */
} copies_of_kind;

static double off_percent(const haul_measured_copy *copy)
{
    return 100 * (copy->predicted_s / copy->seconds - 1);
}

static bool is_drawn(const haul_measured_copy *copy)
{
    return copy->bytes && copy->seconds > 0 && copy->predicted_s > 0;
}

static hl_report_words say_bytes(double bytes)
{
    return hl_report_say_bytes((uint64_t)bytes);
}

static hl_report_words say_off(double percent)
{
    hl_report_words words = {"0"};
    if (percent != 0)
        (void)snprintf(words.text, sizeof words.text, "%+.0f %%", percent);
    return words;
}

/* Whole decades around all times; residuals to the next 10 %, 100 % at most. */
static bool find_axes(copies_of_kind *self, hl_page_plot *times, hl_page_plot *residuals)
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
    self->most_off = fmin(10 * ceil(most_off / 10), 100);
    times->x = (hl_page_axis){
        .low = 1, .high = most_bytes, .at_low = LEFT, .at_high = RIGHT, .is_log = true};
    times->y = hl_page_decades(low_s, high_s * 1.01, BOTTOM, TOP);
    times->y.say = hl_report_say_seconds;
    residuals->x = times->x;
    residuals->x.first = 1;
    residuals->x.step = 1024;
    residuals->x.say = say_bytes;
    residuals->y = (hl_page_axis){-self->most_off, self->most_off,           RESIDUALS_BOTTOM,
                                  RESIDUALS_TOP,   .first = -self->most_off, .step = self->most_off,
                                  .say = say_off};
    return true;
}

/* Through the sizes of the sweep. */
static bool prediction_at(const void *of, size_t i, hl_page_point *point)
{
    const haul_measured_copy *copy = &((const copies_of_kind *)of)->copies[i];
    point->x = (double)copy->bytes;
    point->y = copy->predicted_s;
    return is_drawn(copy) && !copy->is_fresh;
}

static bool time_at(const void *of, size_t i, hl_page_point *point)
{
    const haul_measured_copy *copy = &((const copies_of_kind *)of)->copies[i];
    if (!is_drawn(copy))
        return false;
    *point = (hl_page_point){(double)copy->bytes, copy->seconds, .size = 3};
    (void)snprintf(point->style, sizeof point->style, "look0%s", copy->is_fresh ? " hollow" : "");
    (void)snprintf(point->title, sizeof point->title, "%s: %s, spread %.1f %%, predicted %s",
                   hl_report_say_bytes(copy->bytes).text, hl_report_say_seconds(copy->seconds).text,
                   copy->spread, hl_report_say_seconds(copy->predicted_s).text);
    return true;
}

static bool residual_at(const void *of, size_t i, hl_page_point *point)
{
    const copies_of_kind *self = of;
    if (!time_at(of, i, point))
        return false;
    point->y = fmax(fmin(off_percent(&self->copies[i]), self->most_off), -self->most_off);
    return true;
}

static void draw_kind(copies_of_kind *self, FILE *out)
{
    const hl_report_words kind =
        hl_report_say_copies(self->copies->direction, self->copies->memory);
    hl_page_chart chart = {
        .figure = "scatter", .drawing = "", .width = WIDTH, .height = HEIGHT, .count = 2};
    hl_page_plot *times = &chart.plots[0], *residuals = &chart.plots[1];
    if (!find_axes(self, times, residuals))
        return;
    (void)snprintf(chart.caption, sizeof chart.caption, "<b>%s</b>", kind.text);
    (void)snprintf(chart.label, sizeof chart.label,
                   "Times of copies %s over their sizes, and how far the prediction is off",
                   kind.text);
    hl_page_plot_add(times, (hl_page_series){HL_PAGE_FORM_LINE, "diagonal", .count = self->count,
                                             .at = prediction_at, .of = self});
    hl_page_plot_add(times, (hl_page_series){HL_PAGE_FORM_POINTS, .count = self->count,
                                             .at = time_at, .of = self});
    hl_page_plot_add(residuals, (hl_page_series){HL_PAGE_FORM_POINTS, .count = self->count,
                                                 .at = residual_at, .of = self});
    hl_page_chart_draw(&chart, out);
    fputs("</figure>\n", out);
}

/* Copies of one direction in parts, by the number of streams. */
typedef struct copies_in_parts {
    const haul_measured_streams *rows;
    size_t count;
} copies_in_parts;

static hl_report_words say_number(double number)
{
    hl_report_words words;
    (void)snprintf(words.text, sizeof words.text, "%.0f", number);
    return words;
}

static bool parts_predicted_at(const void *of, size_t i, hl_page_point *point)
{
    const haul_measured_streams *row = &((const copies_in_parts *)of)->rows[i];
    point->x = row->streams;
    point->y = row->predicted_s;
    return true;
}

static bool parts_time_at(const void *of, size_t i, hl_page_point *point)
{
    const haul_measured_streams *row = &((const copies_in_parts *)of)->rows[i];
    *point = (hl_page_point){row->streams, row->seconds, .size = 3, .style = "look0"};
    (void)snprintf(point->title, sizeof point->title, "%s: %s, spread %.1f %%, predicted %s",
                   hl_report_say_number_of(row->streams, "stream", NULL).text,
                   hl_report_say_seconds(row->seconds).text, row->spread,
                   hl_report_say_seconds(row->predicted_s).text);
    return true;
}

/* Figures 5 and 6 of CCGrid 2014: measured points, and the model's curve. */
static void draw_parts(const copies_in_parts *self, FILE *out)
{
    const haul_measured_streams *first = self->rows;
    hl_page_chart chart = {
        .figure = "scatter", .drawing = "", .width = WIDTH, .height = BOTTOM + 50, .count = 1};
    hl_page_plot *plot = &chart.plots[0];
    (void)snprintf(chart.caption, sizeof chart.caption,
                   "<b>%s pinned, %s in parts</b>, one on each stream",
                   haul_direction_text(first->direction), hl_report_say_bytes(first->bytes).text);
    (void)snprintf(chart.label, sizeof chart.label,
                   "Times of copies in parts over the number of streams");
    plot->x = (hl_page_axis){.low = 1,
                             .high = first[self->count - 1].streams,
                             .at_low = LEFT,
                             .at_high = RIGHT,
                             .is_log = true,
                             .first = 1,
                             .step = 2,
                             .say = say_number,
                             .name = "number of streams"};
    plot->y = (hl_page_axis){.at_low = BOTTOM, .at_high = TOP, .say = hl_report_say_seconds};
    for (size_t i = 0; i < self->count; i++)
        plot->y.high = fmax(plot->y.high, 1.08 * fmax(first[i].seconds, first[i].predicted_s));
    plot->y.step = hl_page_nice_step(plot->y.high, 6);
    hl_page_plot_add(plot, (hl_page_series){HL_PAGE_FORM_LINE, "diagonal", .count = self->count,
                                            .at = parts_predicted_at, .of = self});
    hl_page_plot_add(plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = self->count,
                                            .at = parts_time_at, .of = self});
    hl_page_chart_draw(&chart, out);
    fputs("</figure>\n", out);
}

void hl_page_measured(hl_page_writer *self)
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
        draw_kind(&(copies_of_kind){.copies = first, .count = next - i}, self->out);
    }
    const haul_measured_streams *rows = measurement->streams;
    for (size_t i = 0, next; i < measurement->stream_count; i = next) {
        next = i + 1;
        while (next < measurement->stream_count && rows[next].direction == rows[i].direction)
            next++;
        draw_parts(&(copies_in_parts){&rows[i], next - i}, self->out);
    }
    fputs("</div>\n<p class=\"remark\">Above the median time of each size, and as a broken line "
          "what the machine file predicts; below it how far the prediction is off. Hollow: sizes "
          "that nothing was fitted to.</p>\n",
          self->out);
}
