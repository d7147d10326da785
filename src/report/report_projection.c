#include "report/report_projection.h"

#include <math.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "base/table.h"

haul_status haul_report_projection(const haul_workload *workload,
                                   const haul_projection_options *options,
                                   const haul_projection *projection, haul_format format, FILE *out,
                                   haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    const haul_projection_page page = {workload, options, projection, out};
    const bool printed = format == HAUL_TABLE  ? haul_projection_print_table(&page)
                         : format == HAUL_JSON ? haul_projection_print_json(&page)
                                               : haul_projection_print_csv(&page);
    if (ferror(out))
        return haul_fail(error, HAUL_IO, "cannot write the report");
    return printed ? HAUL_OK : haul_fail_no_memory(error);
}

static void put_number(haul_grid *table, double value)
{
    if (isfinite(value))
        haul_grid_cell(table, "%.9g", value);
    else
        haul_grid_cell(table, "%s", "");
}

static void put_score(haul_grid *table, const haul_score *score)
{
    haul_grid_cell(table, "%llu", (unsigned long long)score->count);
    put_number(table, score->count ? score->wape : (double)NAN);
    put_number(table, score->count ? score->median : (double)NAN);
    put_number(table, score->count ? score->p90 : (double)NAN);
}

static void put_size(haul_grid *table, const haul_projection *projection,
                     const haul_projection_row *row)
{
    haul_grid_cell(table, "%s", haul_direction_text(row->direction));
    haul_grid_cell(table, "%s", haul_memory_text(row->memory));
    haul_grid_cell(table, "%llu", (unsigned long long)row->copy_bytes);
    haul_grid_cell(table, "%llu", (unsigned long long)row->count);
    put_number(table, row->recorded_s);
    put_number(table, row->predicted.seconds);
    put_number(table, row->predicted.low_s);
    put_number(table, row->predicted.high_s);
    haul_grid_cell(table, "%s", row->predicted.model ? row->predicted.model : "");
    haul_grid_cell(table, "%s", haul_provenance_text(row->predicted.weakest));
    put_score(table, &row->score);
    for (size_t m = 1; m < projection->model_count; m++)
        put_number(table, row->model_s[m]);
}

/* One row for each size: the models after the chosen one in columns of their own. */
bool haul_projection_print_csv(const haul_projection_page *page)
{
    enum { FIXED = 14, MOST = 64 };
    const haul_projection *projection = page->projection;
    const char *heads[MOST] = {"direction",      "memory",      "bytes",        "count",
                               "recorded_s",     "predicted_s", "low_s",        "high_s",
                               "model",          "provenance",  "truth_copies", "wape_percent",
                               "median_percent", "p90_percent"};
    haul_arena names = {0};
    haul_grid table = {0};
    size_t columns = FIXED;
    for (size_t m = 1; m < projection->model_count && columns < MOST; m++) {
        const char *head = haul_arena_format(&names, "%s_s", projection->models[m].name);
        heads[columns++] = head ? head : "";
    }
    haul_grid_begin(&table, heads, columns);
    haul_arena_release(&names);
    for (size_t s = 0; s < projection->size_count; s++)
        put_size(&table, projection, &projection->sizes[s]);
    const bool printed = haul_grid_print_csv(&table, page->out);
    haul_grid_release(&table);
    return printed;
}
