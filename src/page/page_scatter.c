/* Measured times of copies against those predicted of them, on logarithmic axes: a relative error
 * is the same distance from the diagonal at every size. */
#include <math.h>
#include <stdlib.h>

#include "page/html.h"
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

/* Pinned memory is drawn filled, pageable hollow, others as a square: of each direction. */
enum { FORMS = 3 };

typedef struct scatter {
    FILE *out;
    const haul_copy_pair *pairs;
    size_t count;
    haul_axis x;
    haul_axis y;
    bool *taken; /* cells of each look and form */
    bool has[HAUL_LOOKS][FORMS];
} scatter;

/* A logarithm needs a time above 0. */
static bool is_drawn(const haul_copy_pair *pair)
{
    return pair->measured_s > 0 && isfinite(pair->measured_s) && pair->predicted_s > 0 &&
           isfinite(pair->predicted_s);
}

static haul_look look_of(const haul_copy_pair *pair)
{
    const haul_op like = {.kind = HAUL_OP_COPY, .direction = (uint8_t)pair->direction};
    return haul_look_of(&like);
}

static int form_of(const haul_copy_pair *pair)
{
    return pair->memory == HAUL_PINNED ? 0 : pair->memory == HAUL_PAGEABLE ? 1 : 2;
}

/* A line for each decade; both axes have the same. */
static void draw_axes(const scatter *self)
{
    FILE *out = self->out;
    const int decades = (int)lround(log10(self->x.high / self->x.low));
    fputs("<g class=\"axis\">\n", out);
    for (int k = 0; k <= decades; k++) {
        const double value = self->x.low * pow(10, k);
        const double x = haul_scale_at(&self->x, value), y = haul_scale_at(&self->y, value);
        const haul_words words = haul_say_seconds(value);
        fprintf(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                x, x, TOP, BOTTOM, LEFT, RIGHT, y, y);
        fprintf(out,
                "<text class=\"mid\" x=\"%.1f\" y=\"%d\">%s</text>"
                "<text class=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n",
                x, BOTTOM + 18, words.text, LEFT - 8, y + 4, words.text);
    }
    fprintf(out, "<text class=\"mid\" x=\"%d\" y=\"%d\">measured</text>\n", (LEFT + RIGHT) / 2,
            BOTTOM + 38);
    fprintf(
        out,
        "<text class=\"mid\" transform=\"translate(14 %d) rotate(-90)\">predicted</text>\n</g>\n",
        (TOP + BOTTOM) / 2);
}

/* The diagonal, and bands of errors around it: between t (1 - band) and t (1 + band), parallel to
 * the diagonal, cut off at the plot's sides. */
static void draw_bands(const scatter *self)
{
    for (size_t b = 0; b < sizeof bands / sizeof *bands; b++) {
        const double low = self->x.low, high = self->x.high;
        const double up = 1 + bands[b], down = 1 - bands[b];
        const double points[6][2] = {{low, low},   {low, low * up},     {high / up, high},
                                     {high, high}, {high, high * down}, {low / down, low}};
        fputs("<polygon class=\"band\" points=\"", self->out);
        for (int i = 0; i < 6; i++)
            fprintf(self->out, "%s%.1f,%.1f", i ? " " : "", haul_scale_at(&self->x, points[i][0]),
                    haul_scale_at(&self->y, points[i][1]));
        fputs("\"/>\n", self->out);
    }
    fprintf(self->out, "<line class=\"diagonal\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", LEFT,
            BOTTOM, RIGHT, TOP);
}

static void draw_point(const scatter *self, const haul_copy_pair *pair, double x, double y)
{
    FILE *out = self->out;
    const int look = (int)look_of(pair), form = form_of(pair);
    if (form == 2)
        fprintf(out, "<rect class=\"look%d\" x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\">", look,
                x - 3.5, y - 3.5);
    else
        fprintf(out, "<circle class=\"look%d%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\">", look,
                form ? " hollow" : "", x, y);
    fprintf(out, "<title>%s, %s of %s: measured %s, predicted %s, %+.1f %%</title></%s>\n",
            haul_say_copies(pair->direction, pair->memory).text,
            haul_say_number_of(pair->count, "copy", "copies").text,
            haul_say_bytes(pair->bytes).text, haul_say_seconds(pair->measured_s).text,
            haul_say_seconds(pair->predicted_s).text,
            100 * (pair->predicted_s / pair->measured_s - 1), form == 2 ? "rect" : "circle");
}

/* Returns how many are drawn: of points within two pixels of each other, of one look and form, only
 * the first. */
static uint64_t draw_points(scatter *self)
{
    uint64_t drawn = 0;
    for (size_t i = 0; i < self->count; i++) {
        const haul_copy_pair *pair = &self->pairs[i];
        if (!is_drawn(pair))
            continue;
        const double x = haul_scale_at(&self->x, pair->measured_s);
        const double y = haul_scale_at(&self->y, pair->predicted_s);
        const size_t column = (size_t)((x - LEFT) / (RIGHT - LEFT + 1) * CELLS);
        const size_t row = (size_t)((y - TOP) / (BOTTOM - TOP + 1) * CELLS);
        const size_t sheet = (size_t)look_of(pair) * FORMS + (size_t)form_of(pair);
        bool *taken = &self->taken[(sheet * CELLS + row) * CELLS + column];
        if (*taken)
            continue;
        *taken = true;
        draw_point(self, pair, x, y);
        self->has[look_of(pair)][form_of(pair)] = true;
        drawn++;
    }
    return drawn;
}

static void draw_scatter(haul_page_writer *page, const char *caption, const haul_copy_pair *pairs,
                         size_t count)
{
    static const char *const forms[FORMS] = {"pinned", "pageable", "other memory"};
    static const char *const classes[FORMS] = {"round", "round hollow", ""};
    scatter self = {.out = page->out, .pairs = pairs, .count = count};
    double low = (double)INFINITY, high = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_drawn(&pairs[i]))
            continue;
        low = fmin(low, fmin(pairs[i].measured_s, pairs[i].predicted_s));
        high = fmax(high, fmax(pairs[i].measured_s, pairs[i].predicted_s));
    }
    if (!(high > 0))
        return;
    /* whole decades around all the times */
    low = pow(10, floor(log10(low * 0.8)));
    high = pow(10, ceil(log10(high * 1.25)));
    self.x = (haul_axis){low, high, LEFT, RIGHT, true};
    self.y = (haul_axis){low, high, BOTTOM, TOP, true};
    self.taken = calloc((size_t)HAUL_LOOKS * FORMS * CELLS * CELLS, sizeof *self.taken);
    if (!self.taken) {
        page->failed = true;
        return;
    }
    fprintf(page->out,
            "<figure class=\"scatter\">\n<figcaption>%s</figcaption>\n<svg viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"Predicted time of each size of copy over the measured one; "
            "the tables say the errors\">\n",
            caption, WIDTH, HEIGHT);
    draw_axes(&self);
    draw_bands(&self);
    const uint64_t drawn = draw_points(&self);
    fputs("</svg>\n<ul class=\"legend\">\n", page->out);
    for (int look = 0; look < HAUL_LOOKS; look++)
        for (int form = 0; form < FORMS; form++)
            if (self.has[look][form])
                fprintf(page->out, "<li><i class=\"key look%d %s\"></i>%s %s</li>\n", look,
                        classes[form], haul_look_text((haul_look)look), forms[form]);
    fprintf(page->out,
            "</ul>\n<p class=\"remark\">A point for each direction, memory and size, one copy on "
            "average; bands of 10 %% and 25 %%.");
    if (drawn < count)
        fprintf(page->out, " Of %s, %s drawn: the others lie under them or took no time.",
                haul_say_number_of(count, "size", NULL).text,
                haul_say_number_of(drawn, "point is", "points are").text);
    fputs("</p>\n</figure>\n", page->out);
    free(self.taken);
}

void haul_page_accuracy(haul_page_writer *self)
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
