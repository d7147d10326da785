/* The timelines, drawn so that they can be read without scripts: a lane for each stream and thread,
 * bars by what they show, and below them in figures what a reader of the drawing cannot see. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "haul/units.h"
#include "page/chart.h"
#include "page/html.h"
#include "page/page_parts.h"
#include "page/write_html.h"
#include "report/wording.h"

enum {
    LANE_PX = 26,
    BAR_PX = 20,
    MARK_PX = 2,
    AXIS_PX = 22,
    RATE_PX = 34,       /* of a track of rates */
    PX = 10,            /* units of the drawing's height */
    WIDTH = 20000,      /* units of its width, that stand for the window */
    CELLS = 1600,       /* what is shorter than one of so many is drawn together */
    DRAWN_BARS = 24000, /* of a timeline at most: 25 bytes of the page each */
    MOST_TICKS = 8,
    LEGEND_CHARACTERS = 48,
};

/* "stream 7", "GPU 1, stream 7", "host thread 4711", or the name that it was given: any bytes. */
static hl_report_words lane_name(const hl_page_lanes *lanes, const hl_page_lane *lane)
{
    const haul_workload *workload = lanes->drawn->workload;
    hl_report_words words = {"host"};
    if (lane->number == HAUL_NONE)
        return lane->host ? words : (hl_report_words){"no stream"};
    if (lane->host) {
        const haul_workload_thread *thread = &workload->threads[lane->number];
        if (thread->name)
            (void)snprintf(words.text, sizeof words.text, "%.60s", thread->name);
        else if (workload->thread_count > 1)
            /* nvprof's ids are 32 bits with a sign, which fills the upper ones */
            (void)snprintf(words.text, sizeof words.text, "host thread %" PRIu64,
                           thread->id >> 32 == UINT32_MAX ? thread->id & UINT32_MAX : thread->id);
        return words;
    }
    const haul_workload_stream *stream = &workload->streams[lane->number];
    char gpu[32] = "";
    if (workload->device_count > 1 && stream->device != HAUL_NONE)
        (void)snprintf(gpu, sizeof gpu, "GPU %" PRIu64 ", ", workload->devices[stream->device].id);
    if (stream->name)
        (void)snprintf(words.text, sizeof words.text, "%s%.30s", gpu, stream->name);
    else
        (void)snprintf(words.text, sizeof words.text, "%sstream %" PRIu64, gpu, stream->id);
    return words;
}

typedef struct placed_bar {
    hl_page_bar bar;
    int top; /* of its lane */
} placed_bar;

/* Bars are found once, for all looks. */
typedef struct drawing {
    placed_bar *bars;
    size_t count;
    size_t capacity;
    int top;
    bool failed;
    double per_ns;
} drawing;

static void keep_bar(void *state, const hl_page_bar *bar)
{
    drawing *self = state;
    if (hl_base_grow(&self->bars, &self->capacity, self->count + 1, sizeof *self->bars))
        self->bars[self->count++] = (placed_bar){*bar, self->top};
    else
        self->failed = true;
}

static long place_of(const drawing *self, int64_t ns)
{
    return (long)((double)ns * self->per_ns + 0.5);
}

/* As one piece of a path: millions of rectangles as elements of their own would stop a browser. The
 * width is at least half a cell, so that a short bar is seen. */
static void draw_bar(const drawing *self, const placed_bar *placed, FILE *out)
{
    const hl_page_bar *bar = &placed->bar;
    const long least = WIDTH / CELLS / 2;
    const long left = place_of(self, bar->start_ns), right = place_of(self, bar->end_ns);
    const long width = right - left > least ? right - left : least;
    const double length_ns = (double)(bar->end_ns - bar->start_ns);
    const double share = bar->shares && length_ns > 0 ? (double)bar->busy_ns / length_ns : 1;
    const int base = (int)(bar->base * BAR_PX * PX + 0.5);
    const int height = (int)(share * BAR_PX * PX + 0.5);
    fprintf(out, "M%ld %dh%ldv%dh-%ldz", left, placed->top + BAR_PX * PX - base - height, width,
            height > 1 ? height : 1, width);
}

/* One path for each colour, so that the page names it once. */
static void draw_bars(const drawing *self, const hl_page_lanes *lanes, FILE *out)
{
    for (int colour = 0; colour < HL_PAGE_COLOURS; colour++) {
        const int shade = colour < HL_PAGE_LOOKS ? 0 : colour - HL_PAGE_LOOKS + 1;
        if (!lanes->ops[shade ? HL_PAGE_LOOK_KERNEL : colour])
            continue;
        fprintf(out, shade ? "<path class=\"shade%d\" d=\"" : "<path class=\"look%d\" d=\"",
                shade ? shade : colour);
        for (size_t i = 0; i < self->count; i++)
            if (self->bars[i].bar.colour == colour)
                draw_bar(self, &self->bars[i], out);
        fputs("\"/>\n", out);
    }
}

/* The critical path: a line below the bars. */
typedef struct marking {
    FILE *out;
    const drawing *bars;
    int top;
} marking;

static void mark_stretch(void *state, haul_span stretch)
{
    const marking *self = state;
    const long left = place_of(self->bars, stretch.start_ns);
    const long right = place_of(self->bars, stretch.end_ns);
    const long least = WIDTH / CELLS / 2, width = right - left > least ? right - left : least;
    fprintf(self->out, "M%ld %dh%ldv%dh-%ldz", left, self->top, width, MARK_PX * PX, width);
}

/* The axis, then the bars in a drawing of their own, which the script stretches when it zooms: its
 * units are shares of the window, and lines of text are outside it. */
static void write_plot(hl_page_writer *self, const char *label, const hl_page_lanes *lanes,
                       const drawing *bars, const hl_page_rate_tracks *rates)
{
    FILE *out = self->out;
    const int lanes_px = (int)lanes->count * LANE_PX, rates_px = (int)rates->count * RATE_PX;
    const int height = lanes_px + rates_px;
    const double window_s = 1e-9 * (double)self->window_ns;
    const double step = window_s > 0 ? hl_page_nice_step(window_s, MOST_TICKS) : 1;
    fprintf(out,
            "<svg class=\"plot\" width=\"100%%\" height=\"%d\" role=\"img\" aria-label=\"Timeline ",
            height + AXIS_PX);
    hl_page_html_text(label, out);
    fputs("; the table below it says the same in figures\">\n<g class=\"axis\">\n", out);
    for (int i = 0; i * step <= window_s; i++) {
        const double at = window_s > 0 ? 100 * i * step / window_s : 0;
        fprintf(out, "<line x1=\"%.4g%%\" x2=\"%.4g%%\" y1=\"16\" y2=\"%d\"/>", at, at,
                height + AXIS_PX);
        fprintf(out, "<text x=\"%.4g%%\" y=\"12\"%s>%s</text>\n", at,
                i ? at > 97 ? " class=\"last\"" : "" : " class=\"first\"",
                i ? hl_report_say_seconds(i * step).text : "0");
    }
    fprintf(
        out,
        "</g>\n<svg class=\"bars\" y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" "
        "preserveAspectRatio=\"none\">\n",
        AXIS_PX, lanes_px, WIDTH, lanes_px * PX);
    draw_bars(bars, lanes, out);
    if (lanes->drawn->critical_count) {
        fputs("<path class=\"critical\" d=\"", out);
        for (size_t i = 0; i < lanes->count; i++) {
            marking to = {out, bars, ((int)i * LANE_PX + LANE_PX - MARK_PX) * PX};
            hl_page_lane_critical(lanes, &lanes->lanes[i], lanes->window_ns / CELLS, mark_stretch,
                                  &to);
        }
        fputs("\"/>\n", out);
    }
    fprintf(out,
            "</svg>\n<svg class=\"rates\" y=\"%d\" width=\"100%%\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n",
            AXIS_PX + lanes_px, rates_px, WIDTH, rates_px * PX);
    for (size_t t = 0; t < rates->count; t++)
        hl_page_draw_rates(&rates->tracks[t], self->most_Bps,
                           (hl_page_box){((int)t * RATE_PX + (LANE_PX - BAR_PX)) * PX, WIDTH,
                                         (RATE_PX - (LANE_PX - BAR_PX)) * PX},
                           out);
    fputs("</svg>\n</svg>\n", out);
}

static void add_lane_row(haul_table *table, const char *name, const hl_page_sum *sum,
                         int64_t window_ns)
{
    haul_table_row(table,
                   HAUL_CELLS(haul_cell_text(name), haul_cell_count(sum->count),
                              haul_cell_time(sum->time_ns), haul_cell_time(sum->busy_ns),
                              haul_cell_number(hl_report_share_ns(sum->busy_ns, window_ns))));
}

/* The same in figures, for who cannot see the drawing, or wants numbers. Shares are of busy time,
 * as in the report: of total time they would pass it where streams run at once. */
static void write_lane_table(hl_page_writer *self, const hl_page_lanes *lanes)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_TEXT, .head = "lane"},
                                          {NULL, HAUL_UNIT_COUNT, .head = "operations"},
                                          {NULL, HAUL_UNIT_TIME, .head = "total time"},
                                          {NULL, HAUL_UNIT_TIME, .head = "busy time"},
                                          {NULL, HAUL_UNIT_SHARE, .head = "of the time"},
                                          {0}};
    haul_report *report = haul_report_new("lanes");
    haul_table *table = haul_report_table(report, NULL, columns);
    for (size_t i = 0; i < lanes->count; i++) {
        const hl_page_lane *lane = &lanes->lanes[i];
        const hl_page_sum sum = {lane->count, lane->time_ns, lane->busy_ns};
        add_lane_row(table, lane_name(lanes, lane).text, &sum, lanes->window_ns);
    }
    for (int look = 0; look < HL_PAGE_LOOKS; look++) {
        char name[64];
        (void)snprintf(name, sizeof name, "all %s", hl_page_look_text((hl_page_look)look));
        if (lanes->sums[look].count)
            add_lane_row(table, name, &lanes->sums[look], lanes->window_ns);
    }
    if (lanes->collectives.count)
        add_lane_row(table, "all collectives", &lanes->collectives, lanes->window_ns);
    self->failed |= !hl_page_html_figures(report, self->out);
}

static void write_timeline(hl_page_writer *self, size_t number)
{
    FILE *out = self->out;
    const haul_drawn *drawn = &self->page->timelines[number];
    const hl_page_lanes *lanes = &self->lanes[number];
    const char *label = drawn->label ? drawn->label : "as recorded";
    const int64_t fine_ns = hl_page_lanes_fineness(lanes, self->window_ns / CELLS + 1, DRAWN_BARS);
    drawing bars = {.per_ns = WIDTH / (double)(self->window_ns + 1)};
    uint64_t ops = 0;
    for (size_t i = 0; i < lanes->count; i++) {
        bars.top = ((int)i * LANE_PX + (LANE_PX - BAR_PX) / 2) * PX;
        hl_page_lane_bars(lanes, &lanes->lanes[i], fine_ns, keep_bar, &bars);
        ops += lanes->lanes[i].count;
    }
    self->failed |= bars.failed;
    fputs("<figure class=\"timeline\">\n<figcaption><b>", out);
    hl_page_html_text(label, out);
    fprintf(out, "</b> %s</figcaption>\n<div class=\"chart\">\n<ul class=\"lanes\">\n",
            hl_report_say_time(drawn->run_ns ? drawn->run_ns : lanes->window_ns).text);
    for (size_t i = 0; i < lanes->count; i++) {
        fputs("<li>", out);
        hl_page_html_text(lane_name(lanes, &lanes->lanes[i]).text, out);
        fputs("</li>\n", out);
    }
    for (size_t t = 0; t < self->rates[number].count; t++) {
        const hl_page_rate_track *track = &self->rates[number].tracks[t];
        char rate[32];
        fprintf(out, "<li class=\"rate\" data-look=\"%d\">%s, to %s</li>\n", (int)track->look,
                hl_page_look_text(track->look),
                haul_quantity_format(self->most_Bps, HAUL_DIM_RATE, 3, rate, sizeof rate));
    }
    fputs("</ul>\n", out);
    write_plot(self, label, lanes, &bars, &self->rates[number]);
    /* what the drawing leaves out or takes together */
    fputs("</div>\n<p class=\"remark\">", out);
    if (bars.count < ops)
        fprintf(
            out,
            "<span class=\"merged\">Operations shorter than %s that begin together are one bar, as "
            "high as the share of its time that was busy: %s in %s.</span> ",
            hl_report_say_time(fine_ns).text, hl_report_say_number_of(ops, "operation", NULL).text,
            hl_report_say_number_of(bars.count, "bar", NULL).text);
    if (lanes->hidden)
        fprintf(out, "Not drawn: %s with the least time, of %s. ",
                hl_report_say_number_of(lanes->hidden, "lane", NULL).text,
                hl_report_say_number_of(lanes->hidden_ops, "operation", NULL).text);
    fputs("</p>\n", out);
    free(bars.bars);
    write_lane_table(self, lanes);
    fputs("</figure>\n", out);
}

static void write_legend(const hl_page_writer *self)
{
    fputs("<ul class=\"legend\">\n", self->out);
    for (int look = 0; look < HL_PAGE_LOOKS; look++) {
        uint64_t ops = 0;
        for (size_t i = 0; i < self->page->timeline_count; i++)
            ops += self->lanes[i].ops[look];
        if (ops)
            fprintf(self->out, "<li><i class=\"key look%d\"></i>%s%s</li>\n", look,
                    look == HL_PAGE_LOOK_KERNEL && self->shades.count ? "other " : "",
                    hl_page_look_text((hl_page_look)look));
    }
    for (size_t s = 0; s < self->shades.count; s++) {
        fprintf(self->out, "<li><i class=\"key shade%zu\"></i>", s + 1);
        /* A kernel's name without its type and parameters. A template's instances differ in their
         * arguments, of which it keeps as much as tables do. */
        char own[256];
        hl_report_shorten_name(self->shades.names[s], LEGEND_CHARACTERS, own, sizeof own);
        const char *from = strncmp(own, "void ", 5) ? own : own + 5;
        size_t length = strcspn(from, "(<");
        if (from[length] == '<') { /* the template's arguments, to their end or the text's */
            int depth = 0;
            do
                depth += (from[length] == '<') - (from[length] == '>');
            while (from[length] && from[++length] && depth > 0);
        }
        /* an operator or a lambda may begin with them */
        if (length >= 3)
            own[from - own + (ptrdiff_t)length] = 0;
        hl_page_html_text_cut(from, LEGEND_CHARACTERS, self->out);
        fputs("</li>\n", self->out);
    }
    bool marked = false;
    for (size_t i = 0; i < self->page->timeline_count; i++)
        marked |= self->page->timelines[i].critical_count > 0;
    if (marked)
        fputs("<li><i class=\"key critical\"></i>critical path</li>\n", self->out);
    fputs("</ul>\n", self->out);
}

void hl_page_timelines(hl_page_writer *self)
{
    fputs("<div class=\"tools\">\n", self->out);
    write_legend(self);
    fputs(
        "<label class=\"find\" hidden>Search <input id=\"find\" type=\"search\" "
        "autocomplete=\"off\" spellcheck=\"false\"> <output id=\"found\"></output></label>\n"
        "<div class=\"zoom\" id=\"zoom\" hidden>\n"
        "<button type=\"button\" data-zoom=\"in\" aria-label=\"Zoom in\">+</button>\n"
        "<button type=\"button\" data-zoom=\"out\" aria-label=\"Zoom out\">\xe2\x88\x92</button>\n"
        "<button type=\"button\" data-zoom=\"all\">All</button>\n"
        "</div>\n</div>\n<div id=\"map\" hidden></div>\n",
        self->out);
    for (size_t i = 0; i < self->page->timeline_count; i++)
        write_timeline(self, i);
    fputs("<div id=\"range\" class=\"beside\" hidden></div>\n", self->out);
    fputs("<p class=\"remark\" id=\"how\" hidden>Drag over a stretch of time to zoom in, or Ctrl + "
          "wheel; Shift + wheel moves, Shift + drag selects a range for the numbers above. On the "
          "keyboard: + and \xe2\x88\x92, the arrows left and "
          "right, "
          "0 for all; arrows up and down choose a lane, N and P go through its operations.</p>\n",
          self->out);
}
