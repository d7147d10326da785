#include "base/fail.h"
#include "base/json_out.h"
#include "base/numerals.h"
#include "base/table.h"
#include "haul/report.h"
#include "haul/units.h"

/* One fit of a group, as a row of the table. */
typedef struct fit_row {
    const char *name;
    const haul_copy_curve *curve;
    const haul_residuals *residuals;
} fit_row;

enum { FITS = 3, FIGURES = 80 };

static void rows_of(const haul_fit_group *group, fit_row rows[FITS])
{
    rows[0] = (fit_row){"average line", &group->average, &group->of_average};
    rows[1] = (fit_row){"weighted line", &group->relative, &group->of_relative};
    rows[2] = (fit_row){"curve", &group->curve, &group->of_curve};
}

/* "9.42 us + n / 12 GB/s", "4 points", or the rate alone. */
static const char *figures_of(const haul_copy_curve *curve, char *text)
{
    char latency[32], rate[32];
    const unsigned points = (unsigned)curve->points_from.value;
    haul_quantity_format(curve->latency_s.value, HAUL_DIM_SECONDS, 4, latency, sizeof latency);
    haul_quantity_format(curve->rate_Bps.value, HAUL_DIM_RATE, 4, rate, sizeof rate);
    if (points)
        (void)snprintf(text, FIGURES, "%u point%s", points, points > 1 ? "s" : "");
    else if (curve->latency_s.provenance)
        (void)snprintf(text, FIGURES, "%s + n / %s", latency, rate);
    else
        (void)snprintf(text, FIGURES, "n / %s", rate);
    return text;
}

static const char *locality_of(const haul_fit_group *group)
{
    return group->curve.locality == HAUL_FAR ? "far" : "near";
}

static void put_group(haul_table *table, const haul_fit_group *group)
{
    fit_row rows[FITS];
    char figures[FIGURES];
    rows_of(group, rows);
    for (int i = 0; i < FITS; i++) {
        const haul_residuals *of = rows[i].residuals;
        if (!of->samples)
            continue;
        haul_table_cell(table, "%s", haul_direction_text(group->curve.direction));
        haul_table_cell(table, "%s", haul_memory_text(group->curve.memory));
        haul_table_cell(table, "%s", locality_of(group));
        haul_table_cell(table, "%zu", of->samples);
        haul_table_cell(table, "%zu", group->sizes);
        haul_table_cell(table, "%s", rows[i].name);
        haul_table_cell(table, "%s", figures_of(rows[i].curve, figures));
        haul_table_cell(table, "%.2f", of->wape);
        haul_table_cell(table, "%.2f", of->median);
        haul_table_cell(table, "%.2f", of->p90);
        haul_table_cell(table, "%.2f", group->floor);
    }
}

static bool print_table(const haul_fit_group *groups, size_t count, haul_format format, FILE *out)
{
    static const char *const heads[] = {"<direction", "<memory", "<locality", "copies",
                                        "sizes",      "<fit",    "<figures",  "wape %",
                                        "median %",   "p90 %",   "floor %"};
    haul_table table = {0};
    haul_table_begin(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < count; i++)
        put_group(&table, &groups[i]);
    const bool written =
        format == HAUL_CSV ? haul_table_print_csv(&table, out) : haul_table_print(&table, out);
    haul_table_release(&table);
    return written;
}

static void put_fit(haul_json *json, const fit_row *row)
{
    const size_t points = (size_t)row->curve->points_from.value;
    haul_json_open_object(json);
    haul_json_put_string(json, "fit", row->name);
    if (row->curve->latency_s.provenance)
        haul_json_put_number(json, "latency_s", row->curve->latency_s.value);
    if (row->curve->rate_Bps.provenance)
        haul_json_put_number(json, "rate_Bps", row->curve->rate_Bps.value);
    if (points) {
        haul_json_key(json, "points");
        haul_json_open_array(json);
        for (size_t i = 0; i < points; i++) {
            haul_json_open_object(json);
            haul_json_put_number(json, "bytes", row->curve->points[i].bytes);
            haul_json_put_number(json, "time_s", row->curve->points[i].seconds);
            haul_json_close_object(json);
        }
        haul_json_close_array(json);
    }
    haul_json_put_number(json, "wape", row->residuals->wape);
    haul_json_put_number(json, "median", row->residuals->median);
    haul_json_put_number(json, "p90", row->residuals->p90);
    haul_json_close_object(json);
}

static void put_json_group(haul_json *json, const haul_fit_group *group)
{
    fit_row rows[FITS];
    rows_of(group, rows);
    haul_json_open_object(json);
    haul_json_put_string(json, "direction", haul_direction_text(group->curve.direction));
    haul_json_put_string(json, "memory", haul_memory_text(group->curve.memory));
    haul_json_put_string(json, "locality", locality_of(group));
    haul_json_put_unsigned(json, "copies", group->of_curve.samples);
    haul_json_put_unsigned(json, "sizes", group->sizes);
    haul_json_put_number(json, "floor", group->floor);
    haul_json_key(json, "fits");
    haul_json_open_array(json);
    for (int i = 0; i < FITS; i++)
        if (rows[i].residuals->samples)
            put_fit(json, &rows[i]);
    haul_json_close_array(json);
    haul_json_close_object(json);
}

static bool print_json(const haul_fit_group *groups, size_t count, FILE *out)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_unsigned(&json, "schema", 1);
    haul_json_key(&json, "groups");
    haul_json_open_array(&json);
    for (size_t i = 0; i < count; i++)
        put_json_group(&json, &groups[i]);
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_json_end(&json);
}

haul_status haul_report_fit(const haul_fit_group *groups, size_t count, haul_format format,
                            FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    const bool written = format == HAUL_JSON ? print_json(groups, count, out)
                                             : print_table(groups, count, format, out);
    return written ? HAUL_OK : haul_fail(error, HAUL_IO, "cannot write the report of the fit");
}
