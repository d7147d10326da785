/* Data for the page's script: the bars of the timelines in JSON, more and finer than those that are
 * drawn without it, for zooming in. Numbers are differences where that makes them shorter. */
#include <inttypes.h>
#include <string.h>

#include "base/strings.h"
#include "page/html.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum {
    BARS = 60000,          /* of all timelines: about 25 bytes each */
    NAME_CHARACTERS = 160, /* of one kernel, and of a source line */
    NAME_BYTES = 1 << 20,  /* of all; after that a kernel goes without */
};

/* Bars as numbers: from the start of the one before to its own, its length, what it shows, its
 * bytes. "What" is a number of the list `whats`, and -1 less where the bar stands for several: then
 * their number and the time that they ran follow. */
typedef struct data {
    FILE *out;
    const hl_page_lanes *lanes; /* of the timeline that is written */
    hl_base_strings whats;      /* a letter for the colour, the name, LINE_SIGN and the line */
    size_t name_bytes;
    int64_t last_ns;
    bool first;
    bool failed;
} data;

/* Stands in no name: it ends what is printed of one. */
static const char line_sign = '\x01';

/* The number in `whats` of a bar's colour, name and source line. A bar of several operations has no
 * line, and one of several kernels no name; after NAME_BYTES in all, none has. */
static uint32_t what_of(data *self, const hl_page_bar *bar)
{
    const haul_workload *workload = self->lanes->drawn->workload;
    const haul_op *op = &workload->ops[bar->op];
    char key[8 * NAME_CHARACTERS + 3], *end;
    /* bars that share a time and have a colour of their own are of one kernel */
    const bool is_one = !bar->shares || bar->colour >= HL_PAGE_LOOKS;
    const bool has_name = is_one && self->name_bytes < NAME_BYTES;
    hl_report_words words;
    const char *name = "";
    if (has_name &&
        (self->lanes->drawn->named || op->kind == HAUL_OP_KERNEL || haul_op_on_host(op))) {
        name = haul_workload_string(workload, op->name);
    } else if (has_name && op->kind == HAUL_OP_COPY) {
        words = hl_report_say_copies((haul_direction)op->direction, (haul_memory)op->detail);
        name = words.text;
    }
    const char *const line = has_name && !bar->shares
                                 ? haul_workload_string(workload, haul_op_line(workload, bar->op))
                                 : "";
    snprintf(key, 4 * NAME_CHARACTERS + 2, "%c%s", 'a' + bar->colour, name);
    end = key + strlen(key);
    if (*line)
        snprintf(end, sizeof key - (size_t)(end - key), "%c%s", line_sign, line);
    const size_t length = strlen(key);
    const size_t before = self->whats.count;
    const uint32_t what = hl_base_strings_add(&self->whats, key, strlen(key));
    if (what == UINT32_MAX)
        self->failed = true;
    else if (what == before)
        self->name_bytes += length;
    return what;
}

/* Its colour's look, the name, the colour, and the line where there is one. */
static void put_what(const char *what, FILE *out)
{
    const int colour = what[0] - 'a';
    const char *const line = strchr(what + 1, line_sign);
    char name[4 * NAME_CHARACTERS + 2];
    snprintf(name, sizeof name, "%.*s", (int)(line ? line - what - 1 : (long)strlen(what + 1)),
             what + 1);
    fprintf(out, "[%d,", colour < HL_PAGE_LOOKS ? colour : 0);
    hl_page_html_json_text(name, NAME_CHARACTERS, out);
    fprintf(out, ",%d", colour);
    if (line) {
        fputc(',', out);
        hl_page_html_json_text(line + 1, NAME_CHARACTERS, out);
    }
    fputc(']', out);
}

static void put_bar(void *state, const hl_page_bar *bar)
{
    data *self = state;
    const uint32_t what = what_of(self, bar);
    fprintf(self->out, "%s%" PRId64 ",%" PRId64, self->first ? "" : ",",
            bar->start_ns - self->last_ns, bar->end_ns - bar->start_ns);
    if (!bar->shares)
        fprintf(self->out, ",%" PRIu32 ",%" PRIu64, what, bar->bytes);
    else
        fprintf(self->out, ",-%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64, (uint64_t)what + 1,
                bar->bytes, bar->count, bar->busy_ns);
    self->last_ns = bar->start_ns;
    self->first = false;
}

static void put_stretch(void *state, haul_span stretch)
{
    data *self = state;
    fprintf(self->out, "%s%" PRId64 ",%" PRId64, self->first ? "" : ",",
            stretch.start_ns - self->last_ns, stretch.end_ns - stretch.start_ns);
    self->last_ns = stretch.start_ns;
    self->first = false;
}

/* Bars lane by lane, then the stretches of the critical path: their starts after each other, and
 * their lengths. */
static void put_timeline(data *self, const hl_page_lanes *lanes, uint64_t most)
{
    const int64_t fine_ns = hl_page_lanes_fineness(lanes, 0, most);
    const int64_t share = (int64_t)(most / 3 / (lanes->count + 1)) + 1;
    const int64_t gap_ns = lanes->drawn->critical_count > most / 3 ? lanes->window_ns / share : 0;
    self->lanes = lanes;
    fprintf(self->out, "{\"fine\":%" PRId64 ",\"lanes\":[", fine_ns);
    for (size_t i = 0; i < lanes->count; i++) {
        self->last_ns = 0;
        self->first = true;
        fprintf(self->out, "%s[", i ? ",\n" : "\n");
        hl_page_lane_bars(lanes, &lanes->lanes[i], fine_ns, put_bar, self);
        fputs("]", self->out);
    }
    fprintf(self->out, "],\"gap\":%" PRId64 ",\"critical\":[", gap_ns);
    for (size_t i = 0; i < lanes->count; i++) {
        self->last_ns = 0;
        self->first = true;
        fprintf(self->out, "%s[", i ? "," : "");
        hl_page_lane_critical(lanes, &lanes->lanes[i], gap_ns, put_stretch, self);
        fputs("]", self->out);
    }
    fputs("]}", self->out);
}

void hl_page_timeline_data(hl_page_writer *self)
{
    data to = {.out = self->out};
    const size_t count = self->page->timeline_count;
    fprintf(to.out,
            "<script type=\"application/json\" id=\"data\">{\"window\":%" PRId64 ",\"timelines\":[",
            self->window_ns);
    for (size_t i = 0; i < count; i++) {
        if (i)
            fputc(',', to.out);
        put_timeline(&to, &self->lanes[i], BARS / count);
    }
    fputs("],\n\"looks\":[", to.out);
    for (int look = 0; look < HL_PAGE_LOOKS; look++)
        fprintf(to.out, "%s\"%s\"", look ? "," : "", hl_page_look_text((hl_page_look)look));
    fputs("],\n\"whats\":[", to.out);
    for (size_t i = 0; i < to.whats.count; i++) {
        fputs(i ? ",\n" : "", to.out);
        put_what(to.whats.texts[i], to.out);
    }
    fputs("]}</script>\n", to.out);
    self->failed |= to.failed;
    hl_base_strings_release(&to.whats);
}
