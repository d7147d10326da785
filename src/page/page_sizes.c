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

/* One decade's bar with its number; a share is at least a line high, so that one copy is seen. */
static void draw_column(const histogram *self, int decade, FILE *out)
{
    const int columns = self->last - self->first + 1, slot = PANEL_WIDTH / columns;
    const int width = slot < 70 ? slot - 4 : 66, middle = (decade - self->first) * slot + slot / 2;
    const int base = self->top + PLOT_TOP + PLOT_HEIGHT;
    const haul_totals *part = &self->group->decades[decade], *whole = &self->group->totals;
    if (!part->count)
        return;
    const double found = self->of_bytes ? haul_share_of((double)part->bytes, (double)whole->bytes)
                                        : haul_share_of((double)part->count, (double)whole->count);
    const double share = isfinite(found) ? fmin(found, 1) : 0;
    const double height = fmax(share * PLOT_HEIGHT, 1);
    haul_words value;
    if (self->of_bytes)
        haul_quantity_format((double)part->bytes, HAUL_DIM_BYTES, 2, value.text, sizeof value.text);
    else
        value = haul_say_count(part->count);
    fprintf(out, "<rect x=\"%d\" y=\"%.4g\" width=\"%d\" height=\"%.4g\">", middle - width / 2,
            base - height, width, height);
    fprintf(out, "<title>%s: %s, %.1f %%</title></rect>\n", haul_say_decade(decade).text,
            value.text, 100 * share);
    fprintf(out, "<text class=\"value\" x=\"%d\" y=\"%.4g\">%s</text>\n", middle, base - height - 4,
            value.text);
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

/* Two histograms of one group, by number and by bytes, over one axis of sizes. */
static void write_panel(const haul_copy_group *group, histogram bars, FILE *out)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    static const int powers[] = {1, 10, 100};
    const haul_op like = {.kind = HAUL_OP_COPY, .direction = (uint8_t)group->direction};
    const haul_words copies = haul_say_copies(group->direction, group->memory);
    const int slot = PANEL_WIDTH / (bars.last - bars.first + 1);
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
    for (int k = bars.first; k <= bars.last; k++) /* where decades meet: "10 kB" */
        fprintf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">%d %s</text>\n",
                k == bars.first ? "begin" : "tick", (k - bars.first) * slot, PANEL_HEIGHT - 4,
                k ? powers[k % 3] : 0, units[k / 3]);
    fputs("</svg>\n</figure>\n", out);
}

void haul_page_sizes(haul_page_writer *self)
{
    const haul_analysis *analysis = self->page->analysis;
    if (!analysis)
        return;
    /* the decades in which there is a copy of any group: the panels have one scale */
    histogram range = {.first = HAUL_DECADES - 1};
    for (size_t i = 0; i < analysis->group_count * HAUL_DECADES; i++) {
        const int k = (int)(i % HAUL_DECADES);
        if (!analysis->groups[i / HAUL_DECADES].decades[k].count)
            continue;
        range.first = k < range.first ? k : range.first;
        range.last = k > range.last ? k : range.last;
    }
    fputs("<div class=\"panels\">\n", self->out);
    for (size_t i = 0; i < analysis->group_count; i++)
        write_panel(&analysis->groups[i], range, self->out);
    fputs("</div>\n", self->out);
}
