/* Measured times of copies against those predicted of them, on logarithmic axes: a relative error
 * is the same distance from the diagonal at every size. */
#include <math.h>
#include <stdlib.h>

#include "page/chart.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum {
    WIDTH = 540,
    HEIGHT = 490,
    LEFT = 74, /* the sides of the plot */
    RIGHT = 506,
    TOP = 10,
    BOTTOM = 442,
    CELLS = 216, /* a point each and look: more would cover each other */
};

/* Bands around the diagonal, the widest first. */
static const double bands[] = {0.25, 0.10};
enum { BANDS = sizeof bands / sizeof *bands, CORNERS = 6 };

/* Pinned memory is drawn filled, pageable hollow, others as a square: of each direction. */
enum { FORMS = 3 };

typedef struct scatter {
    const haul_copy_pair *pairs;
    size_t count;
    const hl_page_plot *plot;
    bool *taken; /* cells of each look and form */
    bool has[HL_PAGE_LOOKS][FORMS];
    uint64_t drawn;
} scatter;

/* A band's corners. */
typedef struct error_band {
    double corners[CORNERS][2];
} error_band;

/* A logarithm needs a time above 0. */
static bool is_drawn(const haul_copy_pair *pair)
{
    return pair->measured_s > 0 && isfinite(pair->measured_s) && pair->predicted_s > 0 &&
           isfinite(pair->predicted_s);
}

static hl_page_look look_of(const haul_copy_pair *pair)
{
    const haul_op like = {.kind = HAUL_OP_COPY, .direction = (uint8_t)pair->direction};
    return hl_page_look_of(&like);
}

static int form_of(const haul_copy_pair *pair)
{
    return pair->memory == HAUL_MEMORY_PINNED ? 0 : pair->memory == HAUL_MEMORY_PAGEABLE ? 1 : 2;
}

/* A band of errors is between t (1 - band) and t (1 + band), parallel to the diagonal, cut off at
 * the plot's sides. */
static error_band find_band(double low, double high, double band)
{
    const double up = 1 + band, down = 1 - band;
    return (error_band){{{low, low},
                         {low, low * up},
                         {high / up, high},
                         {high, high},
                         {high, high * down},
                         {low / down, low}}};
}

static bool corner_at(const void *of, size_t i, hl_page_point *point)
{
    const error_band *band = of;
    point->x = band->corners[i][0];
    point->y = band->corners[i][1];
    return true;
}

/* Of points within two pixels of each other, of one look and form, only the first is drawn. */
static bool is_first_there(scatter *self, const haul_copy_pair *pair)
{
    const double x = hl_page_axis_at(&self->plot->x, pair->measured_s);
    const double y = hl_page_axis_at(&self->plot->y, pair->predicted_s);
    const size_t column = (size_t)((x - LEFT) / (RIGHT - LEFT + 1) * CELLS);
    const size_t row = (size_t)((y - TOP) / (BOTTOM - TOP + 1) * CELLS);
    const size_t sheet = (size_t)look_of(pair) * FORMS + (size_t)form_of(pair);
    bool *taken = &self->taken[(sheet * CELLS + row) * CELLS + column];
    const bool is_first = !*taken;
    *taken = true;
    return is_first;
}

/* Counts as it draws, for the legend and the remark. */
static bool pair_at(const void *of, size_t i, hl_page_point *point)
{
    scatter *self = *(scatter *const *)of;
    const haul_copy_pair *pair = &self->pairs[i];
    if (!is_drawn(pair) || !is_first_there(self, pair))
        return false;
    const hl_page_look look = look_of(pair);
    const int form = form_of(pair);
    self->has[look][form] = true;
    self->drawn++;
    *point = (hl_page_point){pair->measured_s, pair->predicted_s, .size = form == 2 ? 3.5 : 4,
                             .is_square = form == 2};
    (void)snprintf(point->style, sizeof point->style, "look%d%s", (int)look,
                   form == 1 ? " hollow" : "");
    (void)snprintf(
        point->title, sizeof point->title, "%s, %s of %s: measured %s, predicted %s, %+.1f %%",
        hl_report_say_copies(pair->direction, pair->memory).text,
        hl_report_say_number_of(pair->count, "copy", "copies").text,
        hl_report_say_bytes(pair->bytes).text, hl_report_say_seconds(pair->measured_s).text,
        hl_report_say_seconds(pair->predicted_s).text,
        100 * (pair->predicted_s / pair->measured_s - 1));
    return true;
}

/* Whole decades around all the times, the same on both axes; false where there is none. */
static bool find_axes(const scatter *self, hl_page_plot *plot)
{
    double low = (double)INFINITY, high = 0;
    for (size_t i = 0; i < self->count; i++) {
        if (!is_drawn(&self->pairs[i]))
            continue;
        low = fmin(low, fmin(self->pairs[i].measured_s, self->pairs[i].predicted_s));
        high = fmax(high, fmax(self->pairs[i].measured_s, self->pairs[i].predicted_s));
    }
    plot->x = hl_page_decades(low * 0.8, high * 1.25, LEFT, RIGHT);
    plot->y = hl_page_decades(low * 0.8, high * 1.25, BOTTOM, TOP);
    plot->x.say = plot->y.say = hl_report_say_seconds;
    plot->x.has_lines = true;
    plot->x.name = "measured";
    plot->y.name = "predicted";
    return high > 0;
}

static void write_legend(const scatter *self, FILE *out)
{
    static const char *const forms[FORMS] = {"pinned", "pageable", "other memory"};
    static const char *const classes[FORMS] = {"round", "round hollow", ""};
    fputs("<ul class=\"legend\">\n", out);
    for (int look = 0; look < HL_PAGE_LOOKS; look++)
        for (int form = 0; form < FORMS; form++)
            if (self->has[look][form])
                fprintf(out, "<li><i class=\"key look%d %s\"></i>%s %s</li>\n", look, classes[form],
                        hl_page_look_text((hl_page_look)look), forms[form]);
    fprintf(out, "</ul>\n<p class=\"remark\">A point for each direction, memory and size, one copy "
                 "on average; bands of 10 %% and 25 %%.");
    if (self->drawn < self->count)
        fprintf(out, " Of %s, %s drawn: the others lie under them or took no time.",
                hl_report_say_number_of(self->count, "size", NULL).text,
                hl_report_say_number_of(self->drawn, "point is", "points are").text);
    fputs("</p>\n", out);
}

static void draw_scatter(hl_page_writer *page, const char *caption, const haul_copy_pair *pairs,
                         size_t count)
{
    hl_page_chart chart = {
        .figure = "scatter",
        .drawing = "",
        .label = "Predicted time of each size of copy over the measured one; the tables say the "
                 "errors",
        .width = WIDTH,
        .height = HEIGHT,
        .count = 1};
    hl_page_plot *plot = &chart.plots[0];
    scatter self = {.pairs = pairs, .count = count, .plot = plot};
    if (!find_axes(&self, plot))
        return;
    self.taken = calloc((size_t)HL_PAGE_LOOKS * FORMS * CELLS * CELLS, sizeof *self.taken);
    if (!self.taken) {
        page->failed = true;
        return;
    }
    (void)snprintf(chart.caption, sizeof chart.caption, "%s", caption);
    error_band around[BANDS];
    for (int i = 0; i < BANDS; i++) {
        around[i] = find_band(plot->x.low, plot->x.high, bands[i]);
        hl_page_plot_add(plot, (hl_page_series){HL_PAGE_FORM_AREA, "band", .count = CORNERS,
                                                .at = corner_at, .of = &around[i]});
    }
    const hl_page_span diagonal = {{plot->x.low, plot->y.low}, {plot->x.high, plot->y.high}};
    hl_page_plot_add(plot, hl_page_straight(&diagonal, "diagonal"));
    scatter *const drawing = &self;
    hl_page_plot_add(
        plot, (hl_page_series){HL_PAGE_FORM_POINTS, .count = count, .at = pair_at, .of = &drawing});
    hl_page_chart_draw(&chart, page->out);
    write_legend(&self, page->out);
    fputs("</figure>\n", page->out);
    free(self.taken);
}

void hl_page_accuracy(hl_page_writer *self)
{
    const haul_projection *projection = self->page->projection;
    if (!projection)
        return;
    fputs("<div class=\"beside\">\n", self->out);
    draw_scatter(self, "The profile's own copies, predicted on the machine that recorded it",
                 projection->self_check.pairs, projection->self_check.pair_count);
    draw_scatter(self, "The reference's copies, and their prediction", projection->reference_pairs,
                 projection->reference_pair_count);
    fputs("</div>\n", self->out);
}
