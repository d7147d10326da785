/* The sizes of a recorded program's copies as histograms (AHEAD, Figure 1). */
#include <math.h>

#include "haul/units.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum { PANEL_WIDTH = 440, PLOT_HEIGHT = 78, PLOT_TOP = 30, PANEL_HEIGHT = 246 };

/* Bars of one group of copies over the decades of size: their number, or their bytes. */
typedef struct histogram {
    const haul_copy_group *group;
    int first; /* decades that are drawn */
    int last;
    int top;
    bool of_bytes;
} histogram;

static double share_of(const histogram *self, int decade)
{
    const haul_totals *part = &self->group->decades[decade], *whole = &self->group->totals;
    const double share = self->of_bytes ? haul_share_of((double)part->bytes, (double)whole->bytes)
                                        : haul_share_of((double)part->count, (double)whole->count);
    return isfinite(share) ? fmin(share, 1) : 0;
}

static haul_words value_of(const histogram *self, int decade)
{
    const haul_totals *part = &self->group->decades[decade];
    haul_words words;
    if (self->of_bytes)
        haul_quantity_format((double)part->bytes, HAUL_DIM_BYTES, 2, words.text, sizeof words.text);
    else
        words = haul_say_count(part->count);
    return words;
}

static void draw_column(const histogram *self, int decade, FILE *out)
{
    const int columns = self->last - self->first + 1, slot = PANEL_WIDTH / columns;
    const int width = slot < 70 ? slot - 4 : 66, middle = (decade - self->first) * slot + slot / 2;
    const double share = share_of(self, decade), height = fmax(share * PLOT_HEIGHT, 1);
    const int base = self->top + PLOT_TOP + PLOT_HEIGHT;
    if (!self->group->decades[decade].count)
        return;
    fprintf(out, "<rect x=\"%d\" y=\"%.4g\" width=\"%d\" height=\"%.4g\">", middle - width / 2,
            base - height, width, height);
    fprintf(out, "<title>%s: %s, %.1f %%</title></rect>\n", haul_say_decade(decade).text,
            value_of(self, decade).text, 100 * share);
    fprintf(out, "<text class=\"value\" x=\"%d\" y=\"%.4g\">%s</text>\n", middle, base - height - 4,
            value_of(self, decade).text);
}

static void draw_histogram(const histogram *self, FILE *out)
{
    const int base = self->top + PLOT_TOP + PLOT_HEIGHT;
    fprintf(out, "<text class=\"head\" x=\"0\" y=\"%d\">%s, by share</text>\n", self->top + 12,
            self->of_bytes ? "bytes" : "copies");
    for (int k = self->first; k <= self->last; k++)
        draw_column(self, k, out);
    fprintf(out, "<line class=\"base\" x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", PANEL_WIDTH,
            base, base);
}

/* Where decades meet: "10 kB". */
static void draw_decades(const histogram *self, FILE *out)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    static const int powers[] = {1, 10, 100};
    const int columns = self->last - self->first + 1, slot = PANEL_WIDTH / columns;
    for (int k = self->first; k <= self->last; k++)
        fprintf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">%d %s</text>\n",
                k == self->first ? "begin" : "tick", (k - self->first) * slot, PANEL_HEIGHT - 4,
                k ? powers[k % 3] : 0, units[k / 3]);
}

/* The decades in which there is a copy of any group: the panels have one scale. */
static histogram find_range(const haul_analysis *analysis)
{
    histogram range = {.first = HAUL_DECADES - 1};
    for (size_t i = 0; i < analysis->group_count; i++)
        for (int k = 0; k < HAUL_DECADES; k++) {
            if (!analysis->groups[i].decades[k].count)
                continue;
            range.first = k < range.first ? k : range.first;
            range.last = k > range.last ? k : range.last;
        }
    return range;
}

static void write_panel(const haul_copy_group *group, histogram bars, FILE *out)
{
    const haul_op like = {.kind = HAUL_OP_COPY, .direction = (uint8_t)group->direction};
    const haul_words copies = haul_say_copies(group->direction, group->memory);
    bars.group = group;
    fprintf(out, "<figure class=\"panel\">\n<figcaption><b>%s</b> %s, %s</figcaption>\n",
            copies.text, haul_say_number_of(group->totals.count, "copy", "copies").text,
            haul_say_bytes(group->totals.bytes).text);
    fprintf(out,
            "<svg class=\"look%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Copies %s by "
            "decade of size; the table below says the same\">\n",
            (int)haul_look_of(&like), PANEL_WIDTH, PANEL_HEIGHT, copies.text);
    draw_histogram(&bars, out);
    bars.of_bytes = true;
    bars.top = PLOT_TOP + PLOT_HEIGHT + 8;
    draw_histogram(&bars, out);
    draw_decades(&bars, out);
    fputs("</svg>\n</figure>\n", out);
}

void haul_page_sizes(haul_page_writer *self)
{
    const haul_analysis *analysis = self->page->analysis;
    if (!analysis)
        return;
    const histogram range = find_range(analysis);
    fputs("<div class=\"panels\">\n", self->out);
    for (size_t i = 0; i < analysis->group_count; i++)
        write_panel(&analysis->groups[i], range, self->out);
    fputs("</div>\n", self->out);
}
