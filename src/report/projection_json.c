#include <math.h>

#include "base/json_out.h"
#include "report/report_fields.h"
#include "report/report_projection.h"
#include "report/wording.h"

enum { SCHEMA = 1 };

/* null where nothing was scored */
static void put_percent(haul_json *json, const char *key, const haul_score *score, double percent)
{
    haul_json_put_number(json, key, score->count ? percent : (double)NAN);
}

static void put_score(haul_json *json, const haul_score *score)
{
    put_percent(json, "wmape", score, score->wmape);
    put_percent(json, "wape", score, score->wape);
    put_percent(json, "median", score, score->median);
    put_percent(json, "p90", score, score->p90);
}

static void put_copies(haul_json *json, haul_direction direction, haul_memory memory)
{
    haul_json_put_string(json, "direction", haul_direction_text(direction));
    haul_json_put_string(json, "memory", haul_memory_text(memory));
}

static void put_identity_score(haul_json *json, const haul_self_check_score *of)
{
    put_score(json, &of->score);
    put_percent(json, "floor", &of->score, of->noise_floor);
    put_percent(json, "wape_alone", &of->score, of->wape_without_contention);
    haul_json_put_unsigned(json, "copies", of->score.count);
}

static void put_identity(haul_json *json, const haul_self_check *identity)
{
    haul_json_key(json, "identity");
    haul_json_open_object(json);
    put_identity_score(json, &identity->of);
    haul_json_put_bool(json, "fitted", identity->fitted);
    haul_json_put_unsigned(json, "unpriced", identity->unpredicted);
    haul_json_key(json, "groups");
    haul_json_open_array(json);
    for (size_t i = 0; i < identity->row_count; i++) {
        const haul_self_check_row *row = &identity->rows[i];
        haul_json_open_object(json);
        put_copies(json, row->direction, row->memory);
        put_identity_score(json, &row->of);
        haul_json_put_number(json, "points", row->points);
        haul_json_put_unsigned(json, "collided", row->contended);
        haul_json_put_number(json, "busy_speed", row->busy_speed);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
    haul_json_close_object(json);
}

static void put_models(haul_json *json, const haul_projection *projection, bool has_truth)
{
    haul_json_key(json, "models");
    haul_json_open_object(json);
    for (size_t m = 0; m < projection->model_count; m++) {
        const haul_model_total *model = &projection->models[m];
        haul_json_key(json, model->name);
        haul_json_open_object(json);
        haul_json_put_number(json, "total_s", model->total_s);
        if (model->missing)
            haul_json_put_string(json, "missing", model->missing);
        else if (has_truth)
            put_score(json, &model->score);
        haul_json_close_object(json);
    }
    haul_json_close_object(json);
}

static void put_model_times(haul_json *json, const haul_projection *projection,
                            const double *model_s)
{
    haul_json_key(json, "models_s");
    haul_json_open_object(json);
    for (size_t m = 0; m < projection->model_count; m++)
        haul_json_put_number(json, projection->models[m].name, model_s[m]);
    haul_json_close_object(json);
}

static void put_row(haul_json *json, const haul_projection *projection,
                    const haul_projection_row *row, bool is_size)
{
    haul_json_open_object(json);
    put_copies(json, row->direction, row->memory);
    if (is_size) {
        haul_json_put_unsigned(json, "bytes_each", row->copy_bytes);
    } else if (row->decade != HAUL_DECADES) {
        haul_json_put_unsigned(json, "least_bytes", haul_decade_least(row->decade));
        haul_json_put_unsigned(json, "most_bytes", haul_decade_most(row->decade));
    }
    haul_json_put_unsigned(json, "count", row->count);
    haul_json_put_unsigned(json, "bytes", row->bytes);
    haul_json_put_number(json, "recorded_s", row->recorded_s);
    haul_json_put_number(json, "predicted_s", row->predicted.seconds);
    haul_report_put_interval(json, row->predicted.low_s, row->predicted.high_s);
    haul_json_put_string(json, "model", row->predicted.model);
    haul_json_put_string(json, "provenance", haul_provenance_text(row->predicted.weakest));
    put_model_times(json, projection, row->model_s);
    if (row->score.count) {
        haul_json_key(json, "truth");
        haul_json_open_object(json);
        haul_json_put_unsigned(json, "copies", row->score.count);
        put_score(json, &row->score);
        haul_json_close_object(json);
    }
    haul_json_close_object(json);
}

static void put_rows(haul_json *json, const haul_projection *projection)
{
    haul_json_key(json, "rows");
    haul_json_open_array(json);
    for (size_t r = 0; r < projection->row_count; r++)
        put_row(json, projection, &projection->rows[r], false);
    haul_json_close_array(json);
    haul_json_key(json, "sizes");
    haul_json_open_array(json);
    for (size_t s = 0; s < projection->size_count; s++)
        put_row(json, projection, &projection->sizes[s], true);
    haul_json_close_array(json);
}

static void put_device_work(haul_json *json, const char *key, double recorded_s,
                            const haul_estimate *carried, const char *missing)
{
    haul_json_key(json, key);
    haul_json_open_object(json);
    haul_json_put_number(json, "recorded_s", recorded_s);
    if (carried->model) {
        haul_json_put_number(json, "predicted_s", carried->seconds);
        haul_report_put_interval(json, carried->low_s, carried->high_s);
        haul_json_put_string(json, "model", carried->model);
        haul_json_put_string(json, "provenance", haul_provenance_text(carried->weakest));
    } else if (missing) {
        haul_json_put_string(json, "missing", missing);
    }
    haul_json_close_object(json);
}

static void put_notes(haul_json *json, const char *key, const haul_note *notes, size_t count)
{
    haul_json_key(json, key);
    haul_json_open_array(json);
    for (size_t i = 0; i < count; i++) {
        haul_json_open_object(json);
        haul_json_put_string(json, "text", notes[i].text);
        if (notes[i].count)
            haul_json_put_unsigned(json, "count", notes[i].count);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

static void put_texts(haul_json *json, const haul_projection *projection)
{
    haul_json_key(json, "notes");
    haul_json_open_array(json);
    for (size_t i = 0; i < projection->note_count; i++)
        haul_json_string(json, projection->notes[i]);
    haul_json_close_array(json);
}

static void put_missing(haul_json *json, const haul_workload *workload)
{
    haul_json_key(json, "missing");
    haul_json_open_array(json);
    for (size_t i = 0; i < workload->missing_count; i++)
        haul_json_string(json, workload->missing[i].text);
    haul_json_close_array(json);
}

static void put_inputs(haul_json *json, const haul_projection_page *page)
{
    const haul_projection_options *options = page->options;
    haul_json_put_string(json, "source", page->workload->source);
    haul_json_put_string(json, "format", page->workload->format);
    haul_json_put_string(json, "to", options->to->name);
    haul_json_put_string(json, "from", options->from ? options->from->name : NULL);
}

static void put_truth(haul_json *json, const haul_projection_page *page)
{
    haul_json_key(json, "truth");
    haul_json_open_object(json);
    haul_json_put_string(json, "source", page->options->reference->source);
    haul_json_put_unsigned(json, "matched", page->projection->matched);
    haul_json_put_unsigned(json, "unmatched", page->projection->unmatched);
    haul_json_close_object(json);
}

bool haul_projection_print_json(const haul_projection_page *page)
{
    const haul_projection *projection = page->projection;
    haul_json json = haul_json_begin(page->out);
    haul_json_open_object(&json);
    haul_json_put_string(&json, "report", "projection");
    haul_json_put_unsigned(&json, "schema", SCHEMA);
    put_inputs(&json, page);
    put_identity(&json, &projection->self_check);
    haul_json_put_string(&json, "chosen", projection->chosen);
    haul_json_put_number(&json, "recorded_s", projection->recorded_copies_s);
    haul_json_put_number(&json, "predicted_s", projection->copies.seconds);
    haul_report_put_interval(&json, projection->copies.low_s, projection->copies.high_s);
    const haul_provenance weakest = projection->copies.weakest;
    haul_json_put_string(&json, "provenance",
                         weakest == HAUL_NOT_GIVEN ? NULL : haul_provenance_text(weakest));
    haul_json_put_number(&json, "collisions_s", projection->contention_s);
    put_models(&json, projection, page->options->reference != NULL);
    if (page->options->reference)
        put_truth(&json, page);
    put_rows(&json, projection);
    put_device_work(&json, "kernels", projection->recorded_kernels_s, &projection->kernels,
                    projection->kernels_missing);
    put_device_work(&json, "memsets", projection->recorded_memsets_s, &projection->memsets,
                    projection->kernels_missing);
    haul_projection_put_run(&json, page);
    put_texts(&json, projection);
    put_missing(&json, page->workload);
    put_notes(&json, "repairs", page->workload->repairs, page->workload->repair_count);
    haul_json_close_object(&json);
    return haul_json_end(&json);
}
