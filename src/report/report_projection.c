/* A recorded program on another machine: the answer, its copies, and how well they are predicted.
 *
 * Beside each prediction stands what tells its worth: the self-check on the machine that recorded
 * it, the two bounds that AHEAD compares with, and where there is a reference, the errors against
 * it. */
#include "report/report_projection.h"

#include <math.h>
#include <string.h>

#include "base/numerals.h"
#include "report/shared_parts.h"
#include "report/wording.h"

/* "9.4 ms -> 5.1 ms (...); assumes PCIe gen 4 x16; 1.9x as long on gen 3", or "; over PCIe gen
 * 6 x16 in place of NVLink", or "; over PCIe gen 3 x16, as the profile's own show". */
static void say_copies(const hl_report_projected *self)
{
    /* Also where the time is NaN. */
    const haul_projection *projection = self->projection;
    const haul_estimate *copies = &projection->copies;
    const haul_link *link = &self->options->to->link;
    const haul_link_kind replaced = self->options->to->replaced_link;
    const bool is_slower =
        projection->slower_link_generation && projection->slower_link_s > 1.05 * copies->seconds;
    char over[80] = "", slower[40] = "", instead[32] = "";
    if (!(projection->recorded_copies_s > 0))
        return;
    if (replaced)
        (void)snprintf(instead, sizeof instead, " in place of %s", haul_link_kind_text(replaced));
    if (replaced || is_slower)
        (void)snprintf(over, sizeof over, "; %s PCIe gen %.0f x%.0f%s",
                       replaced ? "over" : "assumes", link->generation.value, link->lanes.value,
                       instead);
    if (projection->own_slot_generation)
        (void)snprintf(over, sizeof over, "; over PCIe gen %d x%.0f, as the profile's own show",
                       projection->own_slot_generation, link->lanes.value);
    if (projection->is_in_own_slot)
        (void)snprintf(over, sizeof over, "; in the recording machine's slot");
    if (is_slower)
        (void)snprintf(slower, sizeof slower, "; %.3gx as long on gen %d",
                       projection->slower_link_s / copies->seconds,
                       projection->slower_link_generation);
    haul_report_line(self->report, "copies", "%s -> %s (%s)%s%s",
                     hl_report_say_seconds(projection->recorded_copies_s).text,
                     hl_report_say_seconds(copies->seconds).text,
                     hl_report_say_interval(copies->low_s, copies->high_s).text, over, slower);
}

/* "; 6.03 ms of them in fp4 and 2 ms in fp8, for which a100-sxm4 has no tensor cores: predicted in
 * fp16". */
static void say_lacking(const hl_report_projected *self, char *text, size_t size)
{
    const haul_lacking *of = self->projection->lacking;
    const size_t count = self->projection->lacking_count;
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s%s in %s",
                                 !i              ? "; "
                                 : i + 1 < count ? ", "
                                                 : " and ",
                                 hl_report_say_seconds(of[i].recorded_s).text, i ? "" : " of them",
                                 haul_precision_text(of[i].precision));
    if (used < size)
        (void)snprintf(text + used, size - used, ", for which %s has no tensor cores%s%s",
                       self->options->to->name,
                       of[0].instead == of[0].precision ? "" : ": predicted in ",
                       of[0].instead == of[0].precision ? "" : haul_precision_text(of[0].instead));
}

/* Scaled, with what another precision of products would make of it; or why they are not. */
static void say_kernels(const hl_report_projected *self, const char *missing)
{
    const double recorded_s = self->projection->recorded_kernels_s;
    const double gain_s = self->projection->tf32_gain_s;
    const haul_estimate *kernels = &self->projection->kernels;
    char other[320] = "";
    if (self->projection->lacking_count)
        say_lacking(self, other, sizeof other);
    else if (gain_s > 0.05 * kernels->seconds)
        (void)snprintf(other, sizeof other, "; assumes products in fp32, in TF32: %s (--tf32)",
                       hl_report_say_seconds(kernels->seconds - gain_s).text);
    if (recorded_s > 0 && kernels->model)
        haul_report_line(self->report, "kernels", "%s -> %s (%s)%s",
                         hl_report_say_seconds(recorded_s).text,
                         hl_report_say_seconds(kernels->seconds).text,
                         hl_report_say_interval(kernels->low_s, kernels->high_s).text, other);
    else if (recorded_s > 0)
        haul_report_line(self->report, "kernels", "%s recorded; not scaled%s%s",
                         hl_report_say_seconds(recorded_s).text, *missing ? ": " : "", missing);
}

/* Their own check stands beside them: how far sizes explain their times at all. */
static void say_collectives(const hl_report_projected *self)
{
    const haul_projection *projection = self->projection;
    const haul_kernel_class_sum *of = &projection->kernel_classes[HAUL_KERNEL_CLASS_COLLECTIVE];
    char check[96] = "; sizes not recorded: time kept";
    if (!of->count || !projection->kernels.model)
        return;
    if (projection->collectives.count)
        (void)snprintf(check, sizeof check, "; own ones within %.2g %%, equal ones spread %.2g %%",
                       projection->collectives.of.wape, projection->collectives.spread);
    haul_report_line(self->report, "between GPUs", "%s of these -> %s (%s)%s",
                     hl_report_say_seconds(of->recorded_s).text,
                     hl_report_say_seconds(of->predicted.seconds).text,
                     hl_report_say_interval(of->predicted.low_s, of->predicted.high_s).text, check);
}

static void say_answer(const hl_report_projected *self)
{
    const haul_projection *projection = self->projection;
    const haul_replay *replay = &projection->replay;
    const haul_score *check = &projection->self_check.of.score;
    char replayed[480] = "", copies[120] = "", more[64] = "";
    /* the headline says why where the whole run fails for its kernels */
    const bool is_said = !projection->run_missing && replay->ops && !projection->unsound;
    const char *missing =
        is_said || !projection->kernels_missing ? "" : projection->kernels_missing;
    hl_report_projected_say_run(self);
    say_copies(self);
    say_kernels(self, missing);
    say_collectives(self);
    if (replay->ops)
        (void)snprintf(replayed, sizeof replayed, "replaying the profile gives %s (%+.2f %%)",
                       hl_report_say_time(replay->replayed_ns).text, replay->error);
    if (check->count)
        (void)snprintf(copies, sizeof copies, "%sits copies, within %.2g %%", *replayed ? "; " : "",
                       check->wape);
    if (*replayed || *copies)
        haul_report_line(self->report, "self-check", "%s%s", replayed, copies);
    hl_report_losses(self->report, self->workload);
    if (projection->release == HAUL_RELEASE_RECORDED && replay->ops)
        haul_report_line(self->report, "caution",
                         "the profile has no API calls: the pauses within its streams are kept; "
                         "the interval holds a host that starts nothing earlier than recorded");
    if (projection->note_count > 1)
        (void)snprintf(more, sizeof more, "; and %zu more (--verbose)", projection->note_count - 1);
    if (projection->note_count)
        haul_report_line(self->report, "caution", "%.800s%s", projection->notes[0], more);
    else
        hl_report_caution(self->report, self->workload);
}

/* The sums over all copies. */
static void add_totals(const hl_report_projected *self)
{
    static const haul_column totals[] = {
        {"chosen", .unit = HAUL_UNIT_TEXT},
        {"recorded_s", .unit = HAUL_UNIT_SECONDS},
        {"predicted_s", .unit = HAUL_UNIT_SECONDS},
        {"interval_s", .unit = HAUL_UNIT_INTERVAL},
        {"provenance", .unit = HAUL_UNIT_TEXT},
        {"contention_s", .unit = HAUL_UNIT_SECONDS},
        {"replaced_link", HAUL_UNIT_TEXT, .optional = true},
        {"own_slot_generation", HAUL_UNIT_COUNT, .optional = true},
        {"slower_link_generation", HAUL_UNIT_COUNT, .optional = true},
        {"slower_link_s", HAUL_UNIT_SECONDS, .optional = true},
        {"tf32_gain_s", HAUL_UNIT_SECONDS, .optional = true},
        {"lacking_precision", HAUL_UNIT_TEXT, .optional = true},
        {"lacking_recorded_s", HAUL_UNIT_SECONDS, .optional = true},
        {"other_maker", HAUL_UNIT_TEXT, .optional = true},
        {0}};
    const haul_projection_options *options = self->options;
    const haul_projection *projection = self->projection;
    const haul_estimate *copies = &projection->copies;
    const haul_lacking *longest = projection->lacking_count ? projection->lacking : NULL;
    haul_report_object(
        self->report, NULL, totals,
        HAUL_CELLS(
            haul_cell_text(projection->chosen), haul_cell_number(projection->recorded_copies_s),
            haul_cell_number(copies->seconds), haul_cell_interval(copies->low_s, copies->high_s),
            haul_cell_text(copies->weakest == HAUL_PROVENANCE_NOT_GIVEN
                               ? NULL
                               : haul_provenance_text(copies->weakest)),
            haul_cell_number(projection->contention_s),
            haul_cell_text(options->to->replaced_link
                               ? haul_link_kind_text(options->to->replaced_link)
                               : NULL),
            haul_cell_count(projection->own_slot_generation
                                ? (uint64_t)projection->own_slot_generation
                                : HAUL_NO_COUNT),
            haul_cell_count(projection->slower_link_generation
                                ? (uint64_t)projection->slower_link_generation
                                : HAUL_NO_COUNT),
            haul_cell_number(projection->slower_link_generation ? projection->slower_link_s
                                                                : (double)NAN),
            haul_cell_number(projection->tf32_gain_s > 0 ? projection->tf32_gain_s : (double)NAN),
            haul_cell_text(longest ? haul_precision_text(longest->precision) : NULL),
            haul_cell_number(longest ? longest->recorded_s : (double)NAN),
            haul_cell_text(projection->other_maker)));
}

static void add_head(const hl_report_projected *self)
{
    static const haul_column reference[] = {{"source", .unit = HAUL_UNIT_TEXT},
                                            {"matched", .unit = HAUL_UNIT_COUNT},
                                            {"unmatched", .unit = HAUL_UNIT_COUNT},
                                            {0}};
    const haul_projection_options *options = self->options;
    const haul_projection *projection = self->projection;
    static const haul_column inputs[] = {
        {"source", HAUL_UNIT_TEXT, .head = "profile"},
        {"format", HAUL_UNIT_TEXT, .head = "format"},
        {"to", HAUL_UNIT_TEXT, .head = "target"},
        {"from", .unit = HAUL_UNIT_TEXT},
        {NULL, HAUL_UNIT_TEXT, .head = "recorded on", .optional = true},
        {NULL, HAUL_UNIT_TEXT, .head = "source GPU"},
        {0}};
    const char *from = options->from ? options->from->name : NULL;
    haul_report_detail(self->report, true);
    haul_report_object(
        self->report, NULL, inputs,
        HAUL_CELLS(haul_cell_text(self->workload->source), haul_cell_text(self->workload->format),
                   haul_cell_text(options->to->name), haul_cell_text(from), haul_cell_text(from),
                   haul_cell_text(projection->gpu ? projection->gpu : "not known")));
    haul_report_detail(self->report, false);
    add_totals(self);
    if (options->reference)
        haul_report_object(self->report, "reference", reference,
                           HAUL_CELLS(haul_cell_text(options->reference->source),
                                      haul_cell_count(projection->matched),
                                      haul_cell_count(projection->unmatched)));
}

/* Kernels and memsets: scaled, or with the reason why they are not. */
static void add_work(const hl_report_projected *self, const char *key, double recorded_s,
                     const haul_estimate *scaled)
{
    static const haul_column recorded[] = {{"recorded_s", .unit = HAUL_UNIT_SECONDS},
                                           {"missing", HAUL_UNIT_TEXT, .optional = true},
                                           {0}};
    static const haul_column predicted[] = {{"predicted_s", .unit = HAUL_UNIT_SECONDS},
                                            {"interval_s", .unit = HAUL_UNIT_INTERVAL},
                                            {"model", .unit = HAUL_UNIT_TEXT},
                                            {"provenance", .unit = HAUL_UNIT_TEXT},
                                            {0}};
    haul_table *object = haul_report_object(
        self->report, key, recorded,
        HAUL_CELLS(haul_cell_number(recorded_s),
                   haul_cell_text(scaled->model ? NULL : self->projection->kernels_missing)));
    if (scaled->model)
        haul_report_object(object, NULL, predicted,
                           HAUL_CELLS(haul_cell_number(scaled->seconds),
                                      haul_cell_interval(scaled->low_s, scaled->high_s),
                                      haul_cell_text(scaled->model),
                                      haul_cell_text(haul_provenance_text(scaled->weakest))));
}

/* By a model of this name; by the chosen one where the name is not among the others. */
static double model_time(const haul_projection *projection, const haul_projection_row *row,
                         const char *name)
{
    /* Model 0 is the chosen one. */
    for (size_t m = 1; m < projection->model_count; m++)
        if (!strcmp(projection->models[m].name, name))
            return row->model_s[m];
    return row->model_s[0];
}

/* The copies of a row: those of all sizes by their name, the decades below them by their sizes. */
static hl_report_words say_row(const haul_projection_row *row)
{
    /* One beyond the last decade stands for all sizes. */
    if (row->decade == HAUL_ANALYSIS_DECADES)
        return hl_report_say_copies(row->direction, row->memory);
    hl_report_words words;
    (void)snprintf(words.text, sizeof words.text, "  %.60s",
                   hl_report_say_decade(row->decade).text);
    return words;
}

/* Tables inside a row: the sums of all models, and the scores. */
static void add_inside(haul_table *table, const haul_projection *projection,
                       const haul_projection_row *row)
{
    static const haul_column time[] = {
        {"model", .unit = HAUL_UNIT_TEXT}, {"", .unit = HAUL_UNIT_SECONDS}, {0}};
    static const haul_column score[] = {
        {"copies", .unit = HAUL_UNIT_COUNT}, HL_REPORT_SCORE_KEYS, {0}};
    haul_table *models = haul_report_map(table, "models_s", time);
    for (size_t m = 0; m < projection->model_count; m++)
        haul_table_row(models, HAUL_CELLS(haul_cell_text(projection->models[m].name),
                                          haul_cell_number(row->model_s[m])));
    if (row->score.count)
        haul_report_object(
            table, "reference", score,
            HAUL_CELLS(haul_cell_count(row->score.count), haul_cell_number(row->score.wmape),
                       haul_cell_number(row->score.wape), haul_cell_number(row->score.median),
                       haul_cell_number(row->score.p90)));
}

/* By kind of copy and decade of size, beside the two bounds that no model may pass. */
static void add_rows(const hl_report_projected *self)
{
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "Copies by size"},
        {"direction", .unit = HAUL_UNIT_TEXT},
        {"memory", .unit = HAUL_UNIT_TEXT},
        {"least_bytes", HAUL_UNIT_BYTES, .optional = true},
        {"most_bytes", HAUL_UNIT_BYTES, .optional = true},
        {"count", HAUL_UNIT_COUNT, .head = "count"},
        {"bytes", .unit = HAUL_UNIT_BYTES},
        {"recorded_s", HAUL_UNIT_SECONDS, .head = "recorded"},
        {"predicted_s", HAUL_UNIT_SECONDS, .head = "predicted"},
        {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
        {NULL, HAUL_UNIT_RATE, .head = "rate"},
        {NULL, HAUL_UNIT_SECONDS, .head = "bandwidth bound"},
        {NULL, HAUL_UNIT_SECONDS, .head = "with latency"},
        {"model", .unit = HAUL_UNIT_TEXT},
        {"provenance", .unit = HAUL_UNIT_TEXT},
        {"operator", HAUL_UNIT_TEXT, .optional = true},
        {"range", HAUL_UNIT_TEXT, .optional = true},
        {"line", HAUL_UNIT_TEXT, .optional = true},
        {0},
    };
    const haul_projection *projection = self->projection;
    haul_table *table = haul_report_table(self->report, "rows", columns);
    for (size_t r = 0; r < projection->row_count; r++) {
        const haul_projection_row *row = &projection->rows[r];
        const haul_estimate *predicted = &row->predicted;
        const bool is_all = row->decade == HAUL_ANALYSIS_DECADES;
        haul_table_row(
            table,
            HAUL_CELLS(
                haul_cell_text(say_row(row).text),
                haul_cell_text(haul_direction_text(row->direction)),
                haul_cell_text(haul_memory_text(row->memory)),
                haul_cell_count(is_all ? HAUL_NO_COUNT : hl_report_decade_least(row->decade)),
                haul_cell_count(is_all ? HAUL_NO_COUNT : hl_report_decade_most(row->decade)),
                haul_cell_count(row->count), haul_cell_count(row->bytes),
                haul_cell_number(row->recorded_s), haul_cell_number(predicted->seconds),
                haul_cell_interval(predicted->low_s, predicted->high_s),
                /* The rate that the prediction amounts to, latency included. */
                haul_cell_number((double)row->bytes / predicted->seconds),
                haul_cell_number(model_time(projection, row, "bandwidth-bound")),
                haul_cell_number(model_time(projection, row, "latency-bandwidth-bound")),
                haul_cell_text(predicted->model),
                haul_cell_text(haul_provenance_text(predicted->weakest)),
                haul_cell_text(row->place.operator_name), haul_cell_text(row->place.range),
                haul_cell_text(row->place.line)));
        add_inside(table, projection, row);
    }
}

/* By exact size, for programs: what a fit or a plot needs. */
static void add_sizes(const hl_report_projected *self)
{
    static const haul_column columns[] = {
        {"direction", .unit = HAUL_UNIT_TEXT},
        {"memory", .unit = HAUL_UNIT_TEXT},
        {"bytes_each", HAUL_UNIT_BYTES, .csv = "bytes"},
        {"count", .unit = HAUL_UNIT_COUNT},
        {"bytes", HAUL_UNIT_BYTES, .csv = ""},
        {"recorded_s", .unit = HAUL_UNIT_SECONDS},
        {"predicted_s", .unit = HAUL_UNIT_SECONDS},
        {"interval_s", .unit = HAUL_UNIT_INTERVAL},
        {"model", .unit = HAUL_UNIT_TEXT},
        {"provenance", .unit = HAUL_UNIT_TEXT},
        {NULL, HAUL_UNIT_COUNT, .csv = "reference_copies"},
        {NULL, HAUL_UNIT_PERCENT, .csv = "wape_percent"},
        {NULL, HAUL_UNIT_PERCENT, .csv = "median_percent"},
        {NULL, HAUL_UNIT_PERCENT, .csv = "p90_percent"},
        {0},
    };
    haul_table *table = haul_report_table(self->report, "sizes", columns);
    haul_table_csv(table);
    for (size_t s = 0; s < self->projection->size_count; s++) {
        const haul_projection_row *row = &self->projection->sizes[s];
        const haul_estimate *predicted = &row->predicted;
        const haul_score score = hl_report_score_known(row->score);
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(haul_direction_text(row->direction)),
                                  haul_cell_text(haul_memory_text(row->memory)),
                                  haul_cell_count(row->copy_bytes), haul_cell_count(row->count),
                                  haul_cell_count(row->bytes), haul_cell_number(row->recorded_s),
                                  haul_cell_number(predicted->seconds),
                                  haul_cell_interval(predicted->low_s, predicted->high_s),
                                  haul_cell_text(predicted->model),
                                  haul_cell_text(haul_provenance_text(predicted->weakest)),
                                  haul_cell_count(score.count), haul_cell_number(score.wape),
                                  haul_cell_number(score.median), haul_cell_number(score.p90)));
        add_inside(table, self->projection, row);
    }
}

/* The time of each kind of copies, its model, and the weakest parameter behind it. */
static void add_copies(const hl_report_projected *self)
{
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "Copies"},
        {NULL, HAUL_UNIT_COUNT, .head = "count"},
        {NULL, HAUL_UNIT_SECONDS, .head = "recorded"},
        {NULL, HAUL_UNIT_SECONDS, .head = "predicted"},
        {NULL, HAUL_UNIT_INTERVAL, .head = "interval"},
        {NULL, HAUL_UNIT_RATE, .head = "rate"},
        {NULL, HAUL_UNIT_TEXT, .head = "model"},
        {NULL, HAUL_UNIT_TEXT, .head = "from"},
        {NULL, HAUL_UNIT_PERCENT, .head = "error", .optional = true},
        {NULL, HAUL_UNIT_TEXT, .head = "called by", .optional = true},
        {0},
    };
    haul_table *table = haul_report_table(self->report, NULL, columns);
    for (size_t r = 0; r < self->projection->row_count; r++) {
        const haul_projection_row *row = &self->projection->rows[r];
        const haul_estimate *predicted = &row->predicted;
        char place[HL_REPORT_PLACE_BYTES];
        if (row->decade == HAUL_ANALYSIS_DECADES)
            haul_table_row(
                table,
                HAUL_CELLS(haul_cell_text(say_row(row).text), haul_cell_count(row->count),
                           haul_cell_number(row->recorded_s), haul_cell_number(predicted->seconds),
                           haul_cell_interval(predicted->low_s, predicted->high_s),
                           haul_cell_number((double)row->bytes / predicted->seconds),
                           /* Copies of one kind may be predicted by several models. */
                           haul_cell_text(predicted->model ? predicted->model : "several, by size"),
                           haul_cell_text(haul_provenance_text(predicted->weakest)),
                           haul_cell_number(hl_report_score_known(row->score).wape),
                           haul_cell_text(hl_report_say_place(&row->place, place))));
    }
}

/* AHEAD's two baselines stand beside the other models: the nominal rate with a latency and without.
 */
static void add_models(const hl_report_projected *self)
{
    static const haul_column columns[] = {
        {"name", HAUL_UNIT_TEXT, .head = "All copies, by model"},
        {"total_s", HAUL_UNIT_SECONDS, .head = "time"},
        {NULL, HAUL_UNIT_SHARE, .head = "of recorded"},
        {"wmape", HAUL_UNIT_PERCENT, .head = "wmape", .optional = true},
        {"wape", HAUL_UNIT_PERCENT, .head = "wape", .optional = true},
        {"median", HAUL_UNIT_PERCENT, .head = "median", .optional = true},
        {"p90", HAUL_UNIT_PERCENT, .head = "p90", .optional = true},
        {"missing", HAUL_UNIT_TEXT, .head = "not for all", .optional = true},
        {0},
    };
    const haul_projection *projection = self->projection;
    haul_table *table = haul_report_map(self->report, "models", columns);
    for (size_t m = 0; m < projection->model_count; m++) {
        const haul_model_total *model = &projection->models[m];
        /* a model that lacks a parameter for some copies is scored on others than the rest */
        const haul_score score =
            hl_report_score_known(model->missing ? (haul_score){0} : model->score);
        haul_table_row(
            table, HAUL_CELLS(haul_cell_text(model->name), haul_cell_number(model->total_s),
                              haul_cell_number(hl_report_share_of(model->total_s,
                                                                  projection->recorded_copies_s)),
                              haul_cell_number(score.wmape), haul_cell_number(score.wape),
                              haul_cell_number(score.median), haul_cell_number(score.p90),
                              haul_cell_text(model->missing)));
    }
}

static void add_scores(const hl_report_projected *self)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_TEXT, .head = "Against the reference"},
                                          {NULL, HAUL_UNIT_COUNT, .head = "matched"},
                                          {NULL, HAUL_UNIT_PERCENT, .head = "wmape"},
                                          {NULL, HAUL_UNIT_PERCENT, .head = "wape"},
                                          {NULL, HAUL_UNIT_PERCENT, .head = "median"},
                                          {NULL, HAUL_UNIT_PERCENT, .head = "p90"},
                                          {0}};
    /* Without a reference, or without a copy that both have. */
    if (!self->projection->matched)
        return;
    haul_table *table = haul_report_table(self->report, NULL, columns);
    for (size_t r = 0; r < self->projection->row_count; r++) {
        const haul_projection_row *row = &self->projection->rows[r];
        const haul_score score = hl_report_score_known(row->score);
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(say_row(row).text), haul_cell_count(score.count),
                                  haul_cell_number(score.wmape), haul_cell_number(score.wape),
                                  haul_cell_number(score.median), haul_cell_number(score.p90)));
    }
    haul_report_say(self->report,
                    "%s matched with those of the reference, by '%s'. Wmape: as AHEAD publishes "
                    "it, the mean over the copies of their shares of the error; wape: their sum.",
                    hl_report_say_number_of(self->projection->matched, "copy", "copies").text,
                    self->projection->models[0].name);
}

haul_report *haul_report_projection(const haul_workload *workload,
                                    const haul_projection_options *options,
                                    const haul_projection *projection)
{
    static const haul_column notes[] = {{"", HAUL_UNIT_TEXT, .head = "Notes"}, {0}};
    HL_PLAIN_NUMERALS;
    const hl_report_projected self = {haul_report_new("projection"), workload, options, projection};
    say_answer(&self);
    add_head(&self);
    add_work(&self, "kernels", projection->recorded_kernels_s, &projection->kernels);
    add_work(&self, "memsets", projection->recorded_memsets_s, &projection->memsets);
    hl_report_projected_add_run(&self);
    /* The run first, then kernels and copies: the order in which they explain the answer. */
    hl_report_ranges(self.report, workload, projection->durations_ns);
    hl_report_projected_add_kernels(&self);
    haul_report_section(self.report, "copies", "Copies on the target");
    add_copies(&self);
    haul_report_detail(self.report, true);
    add_rows(&self);
    add_sizes(&self);
    add_models(&self);
    /* Accuracy is what a reference was given for; without one it is a detail. */
    haul_report_detail(self.report, !options->reference);
    haul_report_section(self.report, "accuracy", "Predicted against measured");
    add_scores(&self);
    haul_report_detail(self.report, true);
    hl_report_projected_add_check(&self);
    hl_report_sentences(self.report, "notes", notes, projection->notes, projection->note_count);
    hl_report_notes(self.report, workload);
    return self.report;
}
