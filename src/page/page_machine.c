/* The figures of the machines, each with where it is from. */
#include <string.h>

#include "base/strings.h"
#include "page/html.h"
#include "page/page_parts.h"
#include "report/report_fields.h"

typedef struct machine_writer {
    FILE *out;
    size_t machine;       /* its number on the page */
    haul_strings sources; /* said once, below the figures, by number */
    char group[128];      /* what the rows' paths begin with: "gpu", "copies[HtoD pinned]" */
    bool failed;
} machine_writer;

/* Where the path's last part begins. */
static size_t group_length(const char *path)
{
    const char *bracket = strchr(path, ']'), *dot = strchr(bracket ? bracket : path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

static void begin_group(machine_writer *self, const char *path, size_t length)
{
    if (strlen(self->group) == length && !strncmp(self->group, path, length))
        return;
    (void)snprintf(self->group, sizeof self->group, "%.*s", (int)length, path);
    fputs("</tbody>\n<tbody>\n<tr><th class=\"group\" colspan=\"4\" scope=\"rowgroup\">",
          self->out);
    haul_html_text(self->group, self->out);
    fputs("</th></tr>\n", self->out);
}

static void write_source(machine_writer *self, const char *source)
{
    if (!source || !*source)
        return;
    const uint32_t number = haul_strings_add(&self->sources, source, strlen(source));
    self->failed |= number == UINT32_MAX;
    fprintf(self->out, "<a href=\"#source-%zu-%u\" title=\"", self->machine, (unsigned)number + 1);
    haul_html_text(source, self->out);
    fprintf(self->out, "\">%u</a>", (unsigned)number + 1);
}

static int write_figure(void *state, const char *path, const haul_field *field, const void *at)
{
    machine_writer *self = state;
    char buffer[HAUL_FIELD_TEXT_BYTES];
    const char *text = haul_report_text(field, at, buffer);
    if (!*text || haul_report_is_title(field) || haul_report_in_path(field, path))
        return 0;
    const haul_parameter *figure = haul_parameter_of(field, at);
    const size_t length = group_length(path);
    begin_group(self, path, length);
    fputs("<tr><th scope=\"row\" class=\"left\">", self->out);
    haul_html_text(path + length + (length > 0), self->out);
    fputs("</th><td>", self->out);
    haul_html_text(text, self->out);
    fputs("</td><td class=\"left\">", self->out);
    if (figure)
        fprintf(self->out, "<span class=\"from from%d\">%s</span>", (int)figure->provenance,
                haul_provenance_text(figure->provenance));
    fputs("</td><td>", self->out);
    write_source(self, figure ? figure->source : NULL);
    fputs("</td></tr>\n", self->out);
    return 0;
}

static void write_sources(const machine_writer *self)
{
    if (!self->sources.count)
        return;
    fputs("<ol class=\"sources\">\n", self->out);
    for (size_t i = 0; i < self->sources.count; i++) {
        fprintf(self->out, "<li id=\"source-%zu-%zu\">", self->machine, i + 1);
        haul_html_text(self->sources.texts[i], self->out);
        fputs("</li>\n", self->out);
    }
    fputs("</ol>\n", self->out);
}

static void write_machine(haul_page_writer *page, size_t number)
{
    const haul_machine *machine = page->page->machines[number];
    machine_writer self = {.out = page->out, .machine = number};
    fputs("<h3>", self.out);
    haul_html_text(machine->name, self.out);
    fputs("</h3>\n<p>", self.out);
    haul_html_text(machine->summary ? machine->summary : "", self.out);
    fputs("</p>\n<div class=\"scroll\"><table class=\"machine\">\n<thead><tr><th scope=\"col\" "
          "class=\"left\">figure</th><th scope=\"col\">value</th><th scope=\"col\" "
          "class=\"left\">from</th><th scope=\"col\">source</th></tr></thead>\n<tbody>\n",
          self.out);
    (void)haul_machine_walk(machine, write_figure, &self);
    fputs("</tbody>\n</table></div>\n", self.out);
    write_sources(&self);
    page->failed |= self.failed;
    haul_strings_release(&self.sources);
}

void haul_page_machines(haul_page_writer *self)
{
    for (size_t i = 0; i < self->page->machine_count; i++)
        write_machine(self, i);
}
