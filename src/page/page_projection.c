/* A projection: the whole run, the copies on the target, and how well copies are predicted. */
#include "page/html.h"
#include "page/page_parts.h"
#include "report/report_projection.h"

static haul_projection_page projection_of(const haul_page_writer *self)
{
    return (haul_projection_page){.workload = self->page->workload,
                                  .options = self->page->projected,
                                  .projection = self->page->projection,
                                  .out = self->out};
}

void haul_page_run(haul_page_writer *self)
{
    const haul_projection_page projection = projection_of(self);
    haul_grid table;
    fputs("<div class=\"beside\">\n", self->out);
    haul_fill_parts(&table, &projection);
    haul_page_table(self, &table, NULL);
    haul_fill_path(&table, &projection);
    haul_page_table(self, &table, NULL);
    fputs("</div>\n", self->out);
    const haul_replay *replay = &self->page->projection->replay;
    fprintf(
        self->out,
        "<p class=\"remark\">With its own durations the recording comes back as %s, %+.2f %%: a "
        "gain below that says nothing.</p>\n",
        haul_say_time(replay->replayed_ns).text, replay->error);
}

void haul_page_copies(haul_page_writer *self)
{
    const haul_projection *projection = self->page->projection;
    haul_grid table;
    haul_fill_projection(&table, projection);
    haul_page_table(self, &table, NULL);
    fputs(
        "<p class=\"remark\">Sums over the copies; each is priced as if it ran alone. Rate: bytes "
        "by predicted time; peak, envelope: what the nominal rate says with and without "
        "latency.</p>\n",
        self->out);
    if (!projection->note_count)
        return;
    fputs("<ul class=\"notes\">\n", self->out);
    for (size_t i = 0; i < projection->note_count; i++) {
        fputs("<li>", self->out);
        haul_html_text(projection->notes[i], self->out);
        fputs("</li>\n", self->out);
    }
    fputs("</ul>\n", self->out);
}

void haul_page_accuracy(haul_page_writer *self)
{
    const haul_projection *projection = self->page->projection;
    fputs("<div class=\"beside\">\n", self->out);
    haul_page_scatter(self, "The profile's own copies, priced on the machine that recorded it",
                      projection->self_check.pairs, projection->self_check.pair_count);
    haul_page_scatter(self, "The truth's copies, and what was predicted of them",
                      projection->reference_pairs, projection->reference_pair_count);
    fputs("</div>\n", self->out);
    haul_grid table;
    haul_fill_self_check(&table, projection);
    haul_page_table(self, &table, NULL);
    fputs("<p class=\"remark\">Error: sum of |t - price| by sum of t; floor: the same with the "
          "median "
          "of equal copies for a price; alone: the error of the best that does not know "
          "collisions; median, p90: of the copies' relative errors; points: of the machine's "
          "curve; collided: copies that met one of the other direction; speed: what such a copy "
          "keeps, fitted.</p>\n",
          self->out);
}
