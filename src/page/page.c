/* A page as a whole: its head, its key figures, its sections, and what its script reads. */
#include "haul/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "haul/version.h"
#include "page/html.h"
#include "page/page_parts.h"
#include "page/write_html.h"
#include "report/wording.h"

enum { LANES_SHOWN = 40, SECTIONS = 7 };

static bool has_timelines(const haul_page *page)
{
    return page->timeline_count > 0;
}

static bool has_advice(const haul_page *page)
{
    return page->advice != NULL;
}

static bool has_run(const haul_page *page)
{
    return page->projection && page->projection->timeline && page->projection->replay.ops > 0;
}

static bool has_projected_copies(const haul_page *page)
{
    return page->projection && page->projection->size_count > 0;
}

static bool has_overlap(const haul_page *page)
{
    return page->overlap != NULL;
}

static bool has_machines(const haul_page *page)
{
    return page->machine_count > 0;
}

static const struct section {
    const char *id;
    const char *title;
    bool (*has)(const haul_page *page);
    void (*write)(haul_page_writer *self);
} sections[SECTIONS] = {
    {"timeline", "Timeline", has_timelines, haul_page_timelines},
    {"advice", "Advice", has_advice, haul_page_advice},
    {"run", "The whole run", has_run, haul_page_run},
    {"copies", "Copies on the target", has_projected_copies, haul_page_copies},
    {"accuracy", "Predicted against measured", has_projected_copies, haul_page_accuracy},
    {"strategies", "Strategies of overlap", has_overlap, haul_page_overlap},
    {"machines", "The machine's figures", has_machines, haul_page_machines},
};

void haul_page_table(haul_page_writer *self, haul_grid *table, const char *caption)
{
    self->failed |= table->failed;
    if (!table->failed)
        haul_html_table(table, caption, self->out);
    haul_grid_release(table);
}

static void write_head(const haul_page_writer *self)
{
    FILE *out = self->out;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; "
            "form-action 'none'\">\n",
            haul_page_style_hash, haul_page_script_hash);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n",
          out);
    fprintf(out, "<meta name=\"generator\" content=\"haul %s\">\n", haul_version());
    fputs("<link rel=\"icon\" href=\"data:,\">\n<title>", out);
    haul_html_text(self->page->title, out);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", haul_page_style);
}

static void write_figure(const char *what, const char *value, FILE *out)
{
    fputs("<div><dt>", out);
    haul_html_text(what, out);
    fputs("</dt><dd>", out);
    haul_html_text(value, out);
    fputs("</dd></div>\n", out);
}

static void write_projected(const haul_page *page, FILE *out)
{
    const haul_projection *projection = page->projection;
    if (has_run(page)) {
        write_figure("run, recorded", haul_say_time(projection->recorded_run.makespan_ns).text,
                     out);
        write_figure("run, on the target", haul_say_time(projection->target_run.makespan_ns).text,
                     out);
        write_figure(
            "within",
            haul_say_interval(1e-9 * (double)projection->low_ns, 1e-9 * (double)projection->high_ns)
                .text,
            out);
    }
    write_figure("copies, recorded", haul_say_seconds(projection->recorded_copies_s).text, out);
    write_figure("copies, on the target", haul_say_seconds(projection->copies.seconds).text, out);
}

static void write_advised(const haul_advice_list *list, FILE *out)
{
    write_figure("run before", haul_say_time(list->baseline_ns).text, out);
    if (list->together.changes) {
        write_figure("after all changes together",
                     haul_say_time(list->baseline_ns - list->together.saved_ns).text, out);
        write_figure("saved", haul_say_share(list->together.share).text, out);
    }
    write_figure("pieces of advice", haul_say_count(list->count).text, out);
}

static void write_figures(const haul_page_writer *self)
{
    const haul_page *page = self->page;
    fputs("<dl class=\"figures\">", self->out);
    if (page->projection)
        write_projected(page, self->out);
    else if (page->advice)
        write_advised(page->advice, self->out);
    else if (!page->report_count)
        for (size_t i = 0; i < page->timeline_count; i++)
            write_figure(page->timelines[i].label ? page->timelines[i].label : "makespan",
                         haul_say_time(self->lanes[i].window_ns).text, self->out);
    fputs("</dl>\n", self->out);
}

/* Drawings that stand in sections of a report, above its tables. */
static const struct chart {
    const char *section;
    void (*write)(haul_page_writer *self);
} charts[] = {
    {"sizes", haul_page_sizes},
};

static bool has_part(const haul_table *section)
{
    for (const haul_table *part = section->reading; part; part = part->reading)
        if (part->part == HAUL_PART_SECTION)
            return false;
        else if (haul_html_is_shown(part))
            return true;
    return false;
}

static void write_links(const haul_page_writer *self, const haul_report *report)
{
    for (const haul_table *part = report; part; part = part->reading)
        if (part->part == HAUL_PART_SECTION && has_part(part))
            fprintf(self->out, "<li><a href=\"#%s\">%s</a></li>\n", part->key, part->text);
}

static void begin_section(const haul_page_writer *self, const char *id, const char *title)
{
    fprintf(self->out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n", id, id);
    fprintf(self->out, "<h2 id=\"%s-title\">%s</h2>\n", id, title);
}

static void write_report_sections(haul_page_writer *self, const haul_report *report)
{
    for (const haul_table *part = report; part; part = part->reading) {
        if (part->part != HAUL_PART_SECTION || !has_part(part))
            continue;
        begin_section(self, part->key, part->text);
        for (size_t c = 0; c < sizeof charts / sizeof *charts; c++)
            if (!strcmp(charts[c].section, part->key))
                charts[c].write(self);
        haul_html_parts(part->reading, self->out);
        fputs("</section>\n", self->out);
    }
}

static void write_header(const haul_page_writer *self)
{
    const haul_page *page = self->page;
    fputs("<header>\n<h1>", self->out);
    haul_html_text(page->title, self->out);
    fputs("</h1>\n", self->out);
    if (page->command) {
        fputs("<p><code>", self->out);
        haul_html_text(page->command, self->out);
        fputs("</code></p>\n", self->out);
    }
    for (size_t i = 0; i < page->report_count; i++)
        haul_html_answer(page->reports[i], self->out);
    write_figures(self);
    fputs("</header>\n<nav aria-label=\"Sections\">\n<ul>\n", self->out);
    for (int i = 0; i < SECTIONS; i++)
        if (sections[i].has(page))
            fprintf(self->out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id,
                    sections[i].title);
    for (size_t i = 0; i < page->report_count; i++)
        write_links(self, page->reports[i]);
    fputs("</ul>\n</nav>\n", self->out);
}

static void write_sections(haul_page_writer *self)
{
    fputs("<main>\n", self->out);
    for (int i = 0; i < SECTIONS; i++) {
        if (!sections[i].has(self->page))
            continue;
        begin_section(self, sections[i].id, sections[i].title);
        sections[i].write(self);
        fputs("</section>\n", self->out);
    }
    for (size_t i = 0; i < self->page->report_count; i++)
        write_report_sections(self, self->page->reports[i]);
    fprintf(self->out,
            "</main>\n<footer>Written by haul %s. This page needs no network.</footer>\n",
            haul_version());
}

static haul_status make_lanes(haul_page_writer *self, haul_error *error)
{
    const haul_page *page = self->page;
    self->lanes = calloc(page->timeline_count + 1, sizeof *self->lanes);
    if (!self->lanes)
        return haul_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < page->timeline_count; i++) {
        status = haul_lanes_make(&page->timelines[i], LANES_SHOWN, &self->lanes[i], error);
        if (!status && self->lanes[i].window_ns > self->window_ns)
            self->window_ns = self->lanes[i].window_ns;
    }
    return status;
}

haul_status haul_page_write(const haul_page *page, FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    haul_page_writer self = {.page = page, .out = out};
    haul_status status = make_lanes(&self, error);
    if (!status) {
        write_head(&self);
        write_header(&self);
        write_sections(&self);
        haul_page_timeline_data(&self);
        fprintf(out, "<script>%s</script>\n</body>\n</html>\n", haul_page_script);
    }
    for (size_t i = 0; self.lanes && i < page->timeline_count; i++)
        haul_lanes_release(&self.lanes[i]);
    free(self.lanes);
    if (!status && ferror(out))
        status = haul_fail(error, HAUL_IO, "cannot write the page");
    return !status && self.failed ? haul_fail_no_memory(error) : status;
}
