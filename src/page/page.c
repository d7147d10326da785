/* A page as a whole: its head, its answer, its sections, and what its script reads.
 *
 * One file that needs no network: style and script are inside it, and the Content-Security-Policy
 * names their hashes, so that nothing else can run, whatever a profile's names hold. */
#include "haul/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "haul/version.h"
#include "page/html.h"
#include "page/page_parts.h"
#include "page/write_html.h"

enum { LANES_SHOWN = 40 };

static void write_head(const hl_page_writer *self)
{
    FILE *out = self->out;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; "
            "form-action 'none'\">\n",
            hl_page_style_hash, hl_page_script_hash);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n",
          out);
    fprintf(out, "<meta name=\"generator\" content=\"haul %s\">\n", haul_version());
    /* A copy and the kernel that hides a part of it. */
    fputs("<link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' "
          "viewBox='0 0 16 16'%3E%3Crect y='2' width='11' height='5' fill='%23c97400'/%3E%3Crect "
          "x='5' "
          "y='9' width='11' height='5' fill='%232f6db5'/%3E%3C/svg%3E\">\n<title>",
          out);
    hl_page_html_text(self->page->title, out);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", hl_page_style);
}

/* Drawings that stand in sections, above the tables of the report. */
static const struct chart {
    const char *section;
    void (*write)(hl_page_writer *self);
} charts[] = {
    {"timeline", hl_page_timelines}, {"sizes", hl_page_sizes},      {"accuracy", hl_page_accuracy},
    {"kernels", hl_page_roofline},   {"strategies", hl_page_curve}, {"measured", hl_page_measured},
    {"ways", hl_page_exchange},      {"targets", hl_page_targets},  {"run", hl_page_run},
    {"curves", hl_page_messages},
};

/* A section that shows nothing gets neither a heading nor a link. */
static bool has_part(const haul_table *section)
{
    for (const haul_table *part = section->reading; part; part = part->reading)
        if (part->part == HL_REPORT_PART_SECTION)
            return false;
        else if (hl_page_html_is_shown(part))
            return true;
    return false;
}

static void write_link(const char *id, const char *title, FILE *out)
{
    fputs("<li><a href=\"#", out);
    hl_page_html_text(id, out);
    fputs("\">", out);
    hl_page_html_text(title, out);
    fputs("</a></li>\n", out);
}

static void write_header(const hl_page_writer *self)
{
    const haul_page *page = self->page;
    fputs("<header>\n<h1>", self->out);
    hl_page_html_text(page->title, self->out);
    fputs("</h1>\n", self->out);
    if (page->command) {
        fputs("<p><code>", self->out);
        hl_page_html_text(page->command, self->out);
        fputs("</code></p>\n", self->out);
    }
    if (page->report_count)
        hl_page_html_answer(page->reports[0], self->out);
    fputs("</header>\n<nav aria-label=\"Sections\">\n<ul>\n", self->out);
    if (page->timeline_count)
        write_link("timeline", "Timeline", self->out);
    for (size_t i = 0; i < page->report_count; i++)
        for (const haul_table *part = page->reports[i]; part; part = part->reading)
            if (part->part == HL_REPORT_PART_SECTION && has_part(part))
                write_link(part->key, part->text, self->out);
    fputs("</ul>\n</nav>\n", self->out);
}

static void write_section(hl_page_writer *self, const char *id, const char *title,
                          const haul_table *first)
{
    fputs("<section id=\"", self->out);
    hl_page_html_text(id, self->out);
    fputs("\">\n<h2>", self->out);
    hl_page_html_text(title, self->out);
    fputs("</h2>\n", self->out);
    for (size_t c = 0; c < sizeof charts / sizeof *charts; c++)
        if (!strcmp(charts[c].section, id))
            charts[c].write(self);
    if (first)
        hl_page_html_parts(first, self->out);
    fputs("</section>\n", self->out);
}

/* Timelines share one scale of time, that of the longest, one of rates, and their kernels' colours.
 */
static haul_status make_timelines(hl_page_writer *self, haul_error *error)
{
    const haul_page *page = self->page;
    haul_status status = HAUL_OK;
    if (page->timeline_count && !hl_page_shades_find(page->timelines[0].workload, &self->shades))
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; !status && i < page->timeline_count; i++) {
        status = hl_page_lanes_make(&page->timelines[i], LANES_SHOWN, &self->lanes[i], error);
        if (!status && !hl_page_lanes_shade(&self->lanes[i], &self->shades))
            status = hl_base_fail_no_memory(error);
        if (!status && self->lanes[i].window_ns > self->window_ns)
            self->window_ns = self->lanes[i].window_ns;
    }
    for (size_t i = 0; !status && i < page->timeline_count; i++) {
        hl_page_rates(&self->lanes[i], self->window_ns, &self->rates[i]);
        for (size_t t = 0; t < self->rates[i].count; t++)
            self->most_Bps = fmax(self->most_Bps, self->rates[i].tracks[t].most_Bps);
    }
    return status;
}

haul_status haul_page_write(const haul_page *page, FILE *out, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    hl_page_writer self = {.page = page, .out = out};
    self.lanes = calloc(page->timeline_count + 1, sizeof *self.lanes);
    self.rates = calloc(page->timeline_count + 1, sizeof *self.rates);
    haul_status status =
        self.lanes && self.rates ? make_timelines(&self, error) : hl_base_fail_no_memory(error);
    if (!status) {
        write_head(&self);
        write_header(&self);
        fputs("<main>\n", out);
        if (page->timeline_count)
            write_section(&self, "timeline", "Timeline", NULL);
        for (size_t i = 0; i < page->report_count; i++)
            for (const haul_table *part = page->reports[i]; part; part = part->reading)
                if (part->part == HL_REPORT_PART_SECTION && has_part(part))
                    write_section(&self, part->key, part->text, part->reading);
        fprintf(out, "</main>\n<footer>Written by haul %s. This page needs no network.</footer>\n",
                haul_version());
        hl_page_timeline_data(&self);
        fprintf(out, "<script>%s</script>\n</body>\n</html>\n", hl_page_script);
    }
    for (size_t i = 0; self.lanes && i < page->timeline_count; i++)
        hl_page_lanes_release(&self.lanes[i]);
    free(self.lanes);
    free(self.rates);
    if (!status && ferror(out))
        status = haul_error_set(error, HAUL_STATUS_IO, "cannot write the page");
    return !status && self.failed ? hl_base_fail_no_memory(error) : status;
}
