#include "page/line_chart.h"

#include <math.h>
#include <stdlib.h>

enum {
    WIDTH = 760,
    HEIGHT = 360,
    LEFT = 70, /* the sides of the plot */
    RIGHT = 590,
    TOP = 16,
    BOTTOM = 310,
    NAME_PX = 15, /* from one line of text to the next */
};

haul_line_chart haul_line_chart_make(FILE *out, double most_x, double low, double high, bool is_log)
{
    return (haul_line_chart){
        .out = out, .x = {1, most_x, LEFT, RIGHT, true}, .y = {low, high, BOTTOM, TOP, is_log}};
}

void haul_line_chart_open(const haul_line_chart *self, const char *caption, const char *label)
{
    fprintf(self->out,
            "<figure>\n<figcaption>%s</figcaption>\n<svg class=\"curve\" viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"%s\">\n<g class=\"axis\">\n",
            caption, WIDTH, HEIGHT, label);
}

void haul_line_chart_level(const haul_line_chart *self, double value, const char *text)
{
    haul_html_level(&self->x, haul_scale_at(&self->y, value), text, self->out);
}

void haul_line_chart_mark(const haul_line_chart *self, double x, const char *text)
{
    haul_html_mark(haul_scale_at(&self->x, x), BOTTOM, text, self->out);
}

void haul_line_chart_name_x(const haul_line_chart *self, const char *name)
{
    fprintf(self->out, "<text class=\"mid\" x=\"%d\" y=\"%d\">%s</text>\n</g>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 40, name);
}

void haul_line_chart_to(const haul_line_chart *self, bool is_first, double x, double value)
{
    fprintf(self->out, "%s%.1f %.1f", is_first ? "M" : "L", haul_scale_at(&self->x, x),
            haul_scale_at(&self->y, value));
}

void haul_line_chart_across(const haul_line_chart *self, double value, const char *line)
{
    const double y = haul_scale_at(&self->y, value);
    fprintf(self->out, "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", line,
            LEFT, RIGHT, y, y);
}

void haul_line_chart_add_name(haul_line_chart *self, double value, const char *line,
                              const char *name)
{
    if (self->name_count == HAUL_CHART_NAMES)
        return;
    haul_chart_name *made = &self->names[self->name_count++];
    made->y = haul_scale_at(&self->y, value);
    made->line = line;
    (void)snprintf(made->text, sizeof made->text, "%s", name);
}

static int by_height(const void *a, const void *b)
{
    const double one = ((const haul_chart_name *)a)->y, other = ((const haul_chart_name *)b)->y;
    return (one > other) - (one < other);
}

/* Names that would cover one another move up, from the lowest on; at the top they move down again.
 */
void haul_line_chart_close(haul_line_chart *self)
{
    qsort(self->names, (size_t)self->name_count, sizeof *self->names, by_height);
    double below = BOTTOM + NAME_PX, above = TOP - NAME_PX;
    for (int i = self->name_count - 1; i >= 0; i--)
        below = self->names[i].y = fmin(self->names[i].y, below - NAME_PX);
    for (int i = 0; i < self->name_count; i++) {
        const haul_chart_name *name = &self->names[i];
        above = fmax(name->y, above + NAME_PX);
        fprintf(self->out, "<text class=\"name %s\" x=\"%d\" y=\"%.1f\">%s</text>\n", name->line,
                RIGHT + 8, above + 4, name->text);
    }
    fputs("</svg>\n", self->out);
}
