#include <math.h>
#include <string.h>

#include "report/report_fields.h"
#include "report/report_projection.h"
#include "report/wording.h"

typedef struct printer {
    const haul_projection_page *page;
    const haul_projection *projection;
    FILE *out;
    bool failed;
} printer;

static void print_table(printer *self, haul_grid *table)
{
    self->failed |= !haul_report_print_part(table, self->out);
}

static haul_words say_percent(double percent)
{
    haul_words words = {"-"};
    if (isfinite(percent))
        snprintf(words.text, sizeof words.text, percent < 9.995 ? "%.2f %%" : "%.1f %%", percent);
    return words;
}

/* The copies of a row: those of all sizes by their name, the decades below them by their sizes. */
static haul_words say_row(const haul_projection_row *row)
{
    if (row->decade == HAUL_DECADES)
        return haul_say_copies(row->direction, row->memory);
    haul_words words;
    snprintf(words.text, sizeof words.text, "  %.60s", haul_say_decade(row->decade).text);
    return words;
}

static haul_words say_interval(const haul_estimate *estimate)
{
    return haul_say_interval(estimate->low_s, estimate->high_s);
}

static void print_head(printer *self)
{
    const haul_workload *workload = self->page->workload;
    const haul_machine *to = self->page->options->to, *from = self->page->options->from;
    const char *gpu = self->projection->gpu;
    haul_print_paragraph(self->out, "profile   ", "%s", workload->source ? workload->source : "-");
    if (self->page->options->reference)
        haul_print_paragraph(self->out, "truth     ", "%s", self->page->options->reference->source);
    haul_print_paragraph(self->out, "format    ", "%s", workload->format ? workload->format : "-");
    if (from)
        haul_print_paragraph(self->out, "recorded  ", "on %s%s%s", from->name, gpu ? ", " : "",
                             gpu ? gpu : "");
    else
        haul_print_paragraph(
            self->out, "recorded  ",
            "on %s; no --from was given, so its link is fitted to the profile's own "
            "copies",
            gpu ? gpu : "a GPU that is not known");
    haul_print_paragraph(self->out, "target    ", "%s%s%s", to->name, to->summary ? ": " : "",
                         to->summary ? to->summary : "");
}

static void put_identity_score(haul_grid *table, const haul_self_check_score *of)
{
    const double values[] = {of->score.wape, of->noise_floor, of->wape_without_contention,
                             of->score.median, of->score.p90};
    haul_grid_cell(table, "%s", haul_say_count(of->score.count).text);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        haul_grid_cell(table, "%s", of->score.count ? say_percent(values[i]).text : "-");
}

static void put_identity_row(haul_grid *table, const haul_self_check_row *row)
{
    haul_grid_cell(table, "%s", haul_say_copies(row->direction, row->memory).text);
    put_identity_score(table, &row->of);
    haul_grid_cell(table, row->points > 0 ? "%.0f" : "-", row->points);
    haul_grid_cell(table, "%s", haul_say_count(row->contended).text);
    haul_grid_cell(table, "%s", row->busy_speed < 1 ? haul_say_share(row->busy_speed).text : "-");
}

void haul_fill_self_check(haul_grid *table, const haul_projection *projection)
{
    static const char *const heads[] = {"<Identity check", "count", "error",  "floor",    "alone",
                                        "median",          "p90",   "points", "collided", "speed"};
    const haul_self_check *identity = &projection->self_check;
    haul_grid_begin(table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < identity->row_count; i++)
        put_identity_row(table, &identity->rows[i]);
    haul_grid_cell(table, "all copies");
    put_identity_score(table, &identity->of);
    for (int i = 0; i < 3; i++)
        haul_grid_cell(table, "%s", "");
}

static void print_identity(printer *self)
{
    haul_grid table;
    haul_fill_self_check(&table, self->projection);
    print_table(self, &table);
    haul_print_paragraph(
        self->out, "",
        "The profile's own copies, priced on the machine that recorded it. Error: sum of "
        "|t - price| by sum of t; floor: the same with the median of equal copies for a "
        "price; alone: the error of the best that does not know collisions; median, p90: "
        "of the copies' relative errors; points: of the machine's curve; collided: copies "
        "that met one of the other direction; speed: what such a copy keeps, fitted.");
}

/* The baselines' places in a row's times; 0 where the model is the chosen one or is not there. */
static size_t model_index(const haul_projection *projection, const char *name)
{
    for (size_t m = 1; m < projection->model_count; m++)
        if (!strcmp(projection->models[m].name, name))
            return m;
    return 0;
}

static void put_times(haul_grid *table, double recorded_s, const haul_estimate *predicted,
                      double bytes)
{
    haul_grid_cell(table, "%s", haul_say_seconds(recorded_s).text);
    haul_grid_cell(table, "%s", haul_say_seconds(predicted->seconds).text);
    haul_grid_cell(table, "%s", say_interval(predicted).text);
    haul_grid_cell(table, "%s", haul_say_rate(bytes / predicted->seconds).text);
}

static void put_row(haul_grid *table, const haul_projection *projection,
                    const haul_projection_row *row)
{
    haul_grid_cell(table, "%s", say_row(row).text);
    haul_grid_cell(table, "%s", haul_say_count(row->count).text);
    put_times(table, row->recorded_s, &row->predicted, (double)row->bytes);
    haul_grid_cell(table, "%s",
                   haul_say_seconds(row->model_s[model_index(projection, "peak")]).text);
    haul_grid_cell(table, "%s",
                   haul_say_seconds(row->model_s[model_index(projection, "envelope")]).text);
}

static void put_total(haul_grid *table, const haul_projection *projection)
{
    uint64_t count = 0;
    double bytes = 0;
    for (size_t s = 0; s < projection->size_count; s++) {
        count += projection->sizes[s].count;
        bytes += (double)projection->sizes[s].bytes;
    }
    haul_grid_cell(table, "all copies");
    haul_grid_cell(table, "%s", haul_say_count(count).text);
    put_times(table, projection->recorded_copies_s, &projection->copies, bytes);
    const size_t peak = model_index(projection, "peak");
    const size_t envelope = model_index(projection, "envelope");
    haul_grid_cell(table, "%s", haul_say_seconds(projection->models[peak].total_s).text);
    haul_grid_cell(table, "%s", haul_say_seconds(projection->models[envelope].total_s).text);
}

void haul_fill_projection(haul_grid *table, const haul_projection *projection)
{
    static const char *const heads[] = {"<Projection", "count", "recorded", "predicted",
                                        "interval",    "rate",  "peak",     "envelope"};
    haul_grid_begin(table, heads, sizeof heads / sizeof *heads);
    for (size_t r = 0; r < projection->row_count; r++)
        put_row(table, projection, &projection->rows[r]);
    put_total(table, projection);
}

static void print_copies(printer *self)
{
    haul_grid table;
    haul_fill_projection(&table, self->projection);
    print_table(self, &table);
    haul_print_paragraph(
        self->out, "",
        "Sums over the copies; each is priced as if it ran alone. Rate: bytes by "
        "predicted time; peak, envelope: what the nominal rate says with and without "
        "latency.");
}

/* Which model answered for which copies, and on what figures it rests. */
static void print_grounds(printer *self)
{
    static const char *const heads[] = {"<Priced by", "<model", "<weakest figure"};
    const haul_projection *projection = self->projection;
    haul_grid table = {0};
    haul_grid_begin(&table, heads, sizeof heads / sizeof *heads);
    for (size_t r = 0; r < projection->row_count; r++) {
        const haul_projection_row *row = &projection->rows[r];
        if (row->decade != HAUL_DECADES)
            continue;
        haul_grid_cell(&table, "%s", haul_say_copies(row->direction, row->memory).text);
        haul_grid_cell(&table, "%s",
                       row->predicted.model ? row->predicted.model : "several, by size");
        haul_grid_cell(&table, "%s", haul_provenance_text(row->predicted.weakest));
    }
    print_table(self, &table);
}

static void put_scores(haul_grid *table, const haul_score *score)
{
    const double values[] = {score->wape, score->median, score->p90};
    haul_grid_cell(table, score->count ? "%.3g %%" : "-", score->wmape);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        haul_grid_cell(table, "%s", say_percent(score->count ? values[i] : (double)NAN).text);
}

static void print_unable(printer *self)
{
    for (size_t m = 0; m < self->projection->model_count; m++) {
        const haul_model_total *model = &self->projection->models[m];
        char first[64];
        if (!model->missing)
            continue;
        snprintf(first, sizeof first, "  - %.40s: ", model->name);
        haul_print_wrapped(first, model->missing, self->out);
    }
}

static void print_models(printer *self)
{
    static const char *const heads[] = {
        "<All copies, by model", "time", "of recorded", "wmape", "wape", "median", "p90"};
    const haul_projection *projection = self->projection;
    const bool scored = projection->matched > 0;
    size_t priced = 0;
    haul_grid table = {0};
    haul_grid_begin(&table, heads, scored ? 7 : 3);
    for (size_t m = 0; m < projection->model_count; m++) {
        const haul_model_total *model = &projection->models[m];
        if (model->missing)
            continue;
        priced++;
        const double share = haul_share_of(model->total_s, projection->recorded_copies_s);
        haul_grid_cell(&table, "%s", model->name);
        haul_grid_cell(&table, "%s", haul_say_seconds(model->total_s).text);
        haul_grid_cell(&table, "%s", haul_say_share(share).text);
        if (scored)
            put_scores(&table, &model->score);
    }
    print_table(self, &table);
    if (priced < projection->model_count)
        fputs("Models that cannot price all of them:\n", self->out);
    print_unable(self);
}

/* The truth by direction, memory and size. */
static void print_truth(printer *self)
{
    static const char *const heads[] = {
        "<Against the truth", "matched", "wmape", "wape", "median", "p90"};
    const haul_projection *projection = self->projection;
    if (!projection->matched)
        return;
    haul_grid table = {0};
    haul_grid_begin(&table, heads, sizeof heads / sizeof *heads);
    for (size_t r = 0; r < projection->row_count; r++) {
        const haul_projection_row *row = &projection->rows[r];
        haul_grid_cell(&table, "%s", say_row(row).text);
        haul_grid_cell(&table, "%s", haul_say_count(row->score.count).text);
        put_scores(&table, &row->score);
    }
    print_table(self, &table);
    haul_print_paragraph(
        self->out, "",
        "%s matched with those of the truth; by '%s'. Wmape: as AHEAD publishes it, the "
        "mean over the copies of their shares of the error; wape: their sum.",
        haul_say_number_of(projection->matched, "copy", "copies").text, projection->models[0].name);
}

static void put_work(haul_grid *table, const char *what, double recorded_s,
                     const haul_estimate *carried)
{
    if (!(recorded_s > 0))
        return;
    haul_grid_cell(table, "%s", what);
    haul_grid_cell(table, "%s", haul_say_seconds(recorded_s).text);
    haul_grid_cell(table, "%s", carried->model ? haul_say_seconds(carried->seconds).text : "-");
    haul_grid_cell(table, "%s", carried->model ? say_interval(carried).text : "-");
}

static void print_device_work(printer *self)
{
    static const char *const heads[] = {"<On the GPU", "recorded", "predicted", "interval"};
    const haul_projection *projection = self->projection;
    const haul_estimate *carried =
        projection->kernels.model ? &projection->kernels : &projection->memsets;
    if (!(projection->recorded_kernels_s > 0) && !(projection->recorded_memsets_s > 0))
        return;
    haul_grid table = {0};
    haul_grid_begin(&table, heads, sizeof heads / sizeof *heads);
    put_work(&table, "kernels", projection->recorded_kernels_s, &projection->kernels);
    put_work(&table, "memsets", projection->recorded_memsets_s, &projection->memsets);
    print_table(self, &table);
    if (!carried->model)
        haul_print_paragraph(self->out, "", "Not carried to %s: %s.", self->page->options->to->name,
                             projection->kernels_missing ? projection->kernels_missing
                                                         : "no ratio is known");
    else if (projection->recorded_kernels_s + projection->recorded_memsets_s ==
             projection->kernels.seconds + projection->memsets.seconds)
        haul_print_paragraph(self->out, "", "The GPU is the same: times are kept.");
    else
        haul_print_paragraph(self->out, "",
                             "From %s, by the ratios of the two GPUs that may bound them: memory, "
                             "arithmetic, clock.",
                             projection->gpu ? projection->gpu : "the recording GPU");
}

static void print_notes(printer *self)
{
    const haul_projection *projection = self->projection;
    if (projection->note_count)
        fputs("\nNotes\n", self->out);
    for (size_t i = 0; i < projection->note_count; i++)
        haul_print_wrapped("  - ", projection->notes[i], self->out);
}

bool haul_projection_print_table(const haul_projection_page *page)
{
    printer self = {page, page->projection, page->out, false};
    const haul_workload *workload = page->workload;
    print_head(&self);
    if (page->projection->size_count) {
        print_identity(&self);
        print_copies(&self);
        print_grounds(&self);
        print_models(&self);
        print_truth(&self);
    } else {
        fputs("\nThe profile has no copies.\n", page->out);
    }
    print_device_work(&self);
    self.failed |= !haul_projection_print_run(page);
    print_notes(&self);
    haul_print_notes("The profile lacks", workload->missing, workload->missing_count, page->out);
    haul_print_notes("Repaired", workload->repairs, workload->repair_count, page->out);
    return !self.failed;
}
