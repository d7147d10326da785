/* Advice: what each change would save, why, and which calls it concerns. */
#include "page/html.h"
#include "page/page_parts.h"
#include "report/wording.h"

enum { CALLS_SHOWN = 12 };

static void write_line(const char *what, const char *text, FILE *out)
{
    if (!text)
        return;
    fprintf(out, "<dt>%s</dt><dd>", what);
    haul_html_text(text, out);
    fputs("</dd>\n", out);
}

static void fill_calls(haul_grid *table, const haul_advice *advice)
{
    static const char *const heads[] = {"<call",        "<copies",     "count", "bytes",
                                        "smallest one", "largest one", "first", "took"};
    haul_grid_begin(table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < advice->call_count && i < CALLS_SHOWN; i++) {
        const haul_advised_calls *calls = &advice->calls[i];
        haul_grid_cell(table, "%s", *calls->name ? calls->name : "not in the profile");
        haul_grid_cell(table, "%s", haul_say_copies(calls->direction, calls->memory).text);
        haul_grid_cell(table, "%s", haul_say_count(calls->count).text);
        haul_grid_cell(table, "%s", haul_say_bytes(calls->bytes).text);
        haul_grid_cell(table, "%s", haul_say_bytes(calls->least_bytes).text);
        haul_grid_cell(table, "%s", haul_say_bytes(calls->most_bytes).text);
        haul_grid_cell(table, "%s", haul_say_time(calls->first_ns).text);
        haul_grid_cell(table, "%s", haul_say_time(calls->time_ns).text);
    }
}

static void write_calls(haul_page_writer *self, const haul_advice *advice)
{
    if (!advice->call_count)
        return;
    fprintf(self->out, "<details><summary>%s</summary>\n",
            haul_say_number_of(advice->call_count, "kind of copies", "kinds of copies").text);
    haul_grid table;
    fill_calls(&table, advice);
    haul_page_table(self, &table, NULL);
    if (advice->call_count > CALLS_SHOWN)
        fprintf(self->out, "<p class=\"remark\">The %d that took longest.</p>\n", CALLS_SHOWN);
    fputs("</details>\n", self->out);
}

/* The bar says the saving as a share of the run. */
static void write_advice(haul_page_writer *self, const haul_advice *advice)
{
    FILE *out = self->out;
    fputs("<li>\n<h3>", out);
    haul_html_text(advice->what, out);
    fprintf(
        out,
        "</h3>\n<p><svg class=\"saving\" width=\"120\" height=\"10\" aria-hidden=\"true\"><rect "
        "width=\"120\" height=\"10\"/><rect class=\"saved\" width=\"%.1f\" height=\"10\"/></svg> "
        "<b>%s</b>, ",
        120 * (advice->share > 0 && advice->share < 1 ? advice->share : 0),
        haul_say_time(advice->saved_ns).text);
    haul_html_text(haul_say_share(advice->share).text, out);
    fprintf(out, " of the run; %s; %s</p>\n<dl class=\"answers\">\n", advice->change,
            haul_certainty_text(advice->certainty));
    write_line("why", advice->why, out);
    write_line("if", advice->assumes, out);
    write_line("needs", advice->needs, out);
    write_line("apart", advice->apart, out);
    fputs("</dl>\n", out);
    write_calls(self, advice);
    fputs("</li>\n", out);
}

static void write_plan(const char *what, const haul_advised_plan *plan, FILE *out)
{
    if (!plan->changes)
        return;
    fprintf(out, "<dt>%s</dt><dd>%s: %s, ", what,
            haul_say_number_of(plan->changes, "change", NULL).text,
            haul_say_time(plan->saved_ns).text);
    haul_html_text(haul_say_share(plan->share).text, out);
    fputs(" of the run, scheduled at once</dd>\n", out);
}

void haul_page_advice(haul_page_writer *self)
{
    const haul_advice_list *list = self->page->advice;
    FILE *out = self->out;
    fputs("<dl class=\"answers\">\n", out);
    write_plan("together", &list->together, out);
    if (list->with_speculative.changes > list->together.changes)
        write_plan("and suspects", &list->with_speculative, out);
    fprintf(
        out,
        "<dt>identity</dt><dd>the recorded run comes back from its own times to within %+.2f %%"
        "</dd>\n<dt>tried</dt><dd>%s; %s would save less than %s, and are not said</dd>\n</dl>\n",
        list->replay.error, haul_say_number_of(list->tried, "change", NULL).text,
        haul_say_count(list->below).text, haul_say_time(list->threshold_ns).text);
    if (list->count)
        fputs("<ol class=\"advice\">\n", out);
    for (size_t i = 0; i < list->count; i++)
        write_advice(self, &list->items[i]);
    fputs(list->count ? "</ol>\n" : "<p>Nothing that was tried saves more than that.</p>\n", out);
    for (size_t i = 0; i < list->note_count; i++) {
        fputs("<p class=\"remark\">", out);
        haul_html_text(list->notes[i], out);
        fputs("</p>\n", out);
    }
}
