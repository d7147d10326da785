/* Fits of copies beside each other: a line through all times, a line by relative error, and a curve
 * of points, each with the residuals of the measurements that it was made from. Errors below the
 * noise floor, the spread of equal copies, mean nothing. */
#include <math.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "haul/units.h"

/* One fit of a group, as a row of the table. */
typedef struct fit_row {
    const char *name;
    const haul_copy_curve *curve;
    const haul_residuals *residuals;
} fit_row;

enum { FIGURES = 80 };

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

/* Adds a row for each finding from copies under other conditions. */
static void add_conditions(haul_table *rows, const haul_fit_group *group)
{
    static const char *const names[HAUL_CONDITIONS] = {
        [HAUL_CONDITION_BUSY] = "rate, other way busy",
        [HAUL_CONDITION_MAPPED] = "rate, other way mapped",
        [HAUL_CONDITION_GAP] = "gap between copies"};
    const haul_copy_curve *curve = &group->curve;
    const haul_parameter *const values[HAUL_CONDITIONS] = {NULL, &curve->busy_rate_Bps,
                                                           &curve->mapped_rate_Bps, &curve->gap_s};
    for (int c = HAUL_CONDITION_BUSY; c < HAUL_CONDITIONS; c++) {
        char value[FIGURES];
        if (!group->of_condition[c])
            continue;
        haul_quantity_format(values[c]->value,
                             c == HAUL_CONDITION_GAP ? HAUL_DIM_SECONDS : HAUL_DIM_RATE, 4, value,
                             sizeof value);
        haul_table_row(
            rows, HAUL_CELLS(haul_cell_text(haul_direction_text(curve->direction)),
                             haul_cell_text(haul_memory_text(curve->memory)),
                             haul_cell_text(haul_locality_text(curve->locality)),
                             haul_cell_count((uint64_t)group->of_condition[c]), haul_cell_count(1),
                             haul_cell_text(names[c]), haul_cell_text(value),
                             haul_cell_number((double)NAN), haul_cell_number((double)NAN),
                             haul_cell_number((double)NAN), haul_cell_number((double)NAN)));
    }
}

static double known_or_nan(const haul_parameter *parameter)
{
    return parameter->provenance ? parameter->value : (double)NAN;
}

/* One table for people and CSV, and groups with their fits inside for JSON. */
static void add_group(haul_table *rows, haul_table *groups, const haul_fit_group *group)
{
    static const haul_column fit[] = {{"fit", .unit = HAUL_UNIT_TEXT},
                                      {"latency_s", HAUL_UNIT_SECONDS, .optional = true},
                                      {"rate_Bps", HAUL_UNIT_RATE, .optional = true},
                                      {"wape", .unit = HAUL_UNIT_NUMBER},
                                      {"median", .unit = HAUL_UNIT_NUMBER},
                                      {"p90", .unit = HAUL_UNIT_NUMBER},
                                      {0}};
    static const haul_column point[] = {
        {"bytes", .unit = HAUL_UNIT_NUMBER}, {"time_s", .unit = HAUL_UNIT_SECONDS}, {0}};
    const char *direction = haul_direction_text(group->curve.direction);
    const char *memory = haul_memory_text(group->curve.memory);
    const char *locality = haul_locality_text(group->curve.locality);
    const fit_row fits[] = {{"average line", &group->average, &group->of_average},
                            {"weighted line", &group->relative, &group->of_relative},
                            {"curve", &group->curve, &group->of_curve}};
    haul_table_row(groups, HAUL_CELLS(haul_cell_text(direction), haul_cell_text(memory),
                                      haul_cell_text(locality),
                                      haul_cell_count((uint64_t)group->of_curve.samples),
                                      haul_cell_count((uint64_t)group->sizes),
                                      haul_cell_number(group->floor),
                                      haul_cell_number(known_or_nan(&group->curve.busy_rate_Bps)),
                                      haul_cell_number(known_or_nan(&group->curve.mapped_rate_Bps)),
                                      haul_cell_number(known_or_nan(&group->curve.gap_s))));
    haul_table *inside = haul_report_table(groups, "fits", fit);
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        const haul_residuals *of = fits[i].residuals;
        const haul_copy_curve *curve = fits[i].curve;
        const size_t points = (size_t)curve->points_from.value;
        char figures[FIGURES];
        /* No residuals: this fit could not be made. */
        if (!of->samples)
            continue;
        haul_table_row(
            rows, HAUL_CELLS(haul_cell_text(direction), haul_cell_text(memory),
                             haul_cell_text(locality), haul_cell_count((uint64_t)of->samples),
                             haul_cell_count((uint64_t)group->sizes), haul_cell_text(fits[i].name),
                             haul_cell_text(figures_of(curve, figures)), haul_cell_number(of->wape),
                             haul_cell_number(of->median), haul_cell_number(of->p90),
                             haul_cell_number(group->floor)));
        haul_table_row(
            inside, HAUL_CELLS(haul_cell_text(fits[i].name),
                               haul_cell_number(curve->latency_s.provenance ? curve->latency_s.value
                                                                            : (double)NAN),
                               haul_cell_number(curve->rate_Bps.provenance ? curve->rate_Bps.value
                                                                           : (double)NAN),
                               haul_cell_number(of->wape), haul_cell_number(of->median),
                               haul_cell_number(of->p90)));
        haul_table *list = points ? haul_report_table(inside, "points", point) : NULL;
        for (size_t k = 0; k < points; k++)
            haul_table_row(list, HAUL_CELLS(haul_cell_number(curve->points[k].bytes),
                                            haul_cell_number(curve->points[k].seconds)));
    }
    add_conditions(rows, group);
}

/* People compare fits over kinds of copies in one table; programs get them group by group. */
haul_report *haul_report_fit(const haul_fit_group *groups, size_t count)
{
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "direction", .csv = "direction"},
        {NULL, HAUL_UNIT_TEXT, .head = "memory", .csv = "memory"},
        {NULL, HAUL_UNIT_TEXT, .head = "locality", .csv = "locality"},
        {NULL, HAUL_UNIT_COUNT, .head = "copies", .csv = "copies"},
        {NULL, HAUL_UNIT_COUNT, .head = "sizes", .csv = "sizes"},
        {NULL, HAUL_UNIT_TEXT, .head = "fit", .csv = "fit"},
        {NULL, HAUL_UNIT_TEXT, .head = "parameters", .csv = "figures"},
        {NULL, HAUL_UNIT_PERCENT, .head = "wape", .csv = "wape %"},
        {NULL, HAUL_UNIT_PERCENT, .head = "median", .csv = "median %"},
        {NULL, HAUL_UNIT_PERCENT, .head = "p90", .csv = "p90 %"},
        {NULL, HAUL_UNIT_PERCENT, .head = "noise floor", .csv = "noise floor %"},
        {0},
    };
    static const haul_column group[] = {
        {"direction", .unit = HAUL_UNIT_TEXT},
        {"memory", .unit = HAUL_UNIT_TEXT},
        {"locality", .unit = HAUL_UNIT_TEXT},
        {"copies", .unit = HAUL_UNIT_COUNT},
        {"sizes", .unit = HAUL_UNIT_COUNT},
        {"noise_floor", .unit = HAUL_UNIT_NUMBER},
        {"busy_rate_Bps", HAUL_UNIT_RATE, .optional = true},
        {"mapped_rate_Bps", HAUL_UNIT_RATE, .optional = true},
        {"gap_s", HAUL_UNIT_SECONDS, .optional = true},
        {0},
    };
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("fit");
    haul_table *rows = haul_report_table(report, NULL, columns);
    haul_table *nested = haul_report_table(report, "groups", group);
    haul_table_csv(rows);
    for (size_t i = 0; i < count; i++)
        add_group(rows, nested, &groups[i]);
    return report;
}
