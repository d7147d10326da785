/* How well a profile's copies and collectives are predicted on the machine that recorded it. */
#include <math.h>

#include "report/report_projection.h"
#include "report/wording.h"

/* Errors are not known where nothing was scored. */
haul_score hl_report_score_known(haul_score score)
{
    if (!score.count)
        /* NaN: an error of 0 would look like a perfect prediction. */
        score.wmape = score.wape = score.median = score.p90 = (double)NAN;
    return score;
}

static haul_self_check_score known_check(haul_self_check_score check)
{
    if (!check.score.count)
        check.noise_floor = check.wape_without_contention = (double)NAN;
    check.score = hl_report_score_known(check.score);
    return check;
}

/* The self-check of collectives: a curve over sizes, as for copies. */
static void add_collectives(const haul_projection *projection, haul_table *object)
{
    static const haul_column columns[] = {{"operation", .unit = HAUL_UNIT_TEXT},
                                          {"ranks", .unit = HAUL_UNIT_COUNT},
                                          {"count", .unit = HAUL_UNIT_COUNT},
                                          {"recorded_s", .unit = HAUL_UNIT_SECONDS},
                                          {"wape", .unit = HAUL_UNIT_PERCENT},
                                          {"median", .unit = HAUL_UNIT_PERCENT},
                                          {"p90", .unit = HAUL_UNIT_PERCENT},
                                          {"noise_floor", .unit = HAUL_UNIT_PERCENT},
                                          {0}};
    haul_table *table = haul_report_table(object, "collectives", columns);
    for (size_t i = 0; i < projection->collective_row_count; i++) {
        const haul_collective_check *row = &projection->collective_rows[i];
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(haul_collective_text(row->kind)),
                                  haul_cell_count(row->ranks), haul_cell_count(row->count),
                                  haul_cell_number(row->time_s), haul_cell_number(row->of.wape),
                                  haul_cell_number(row->of.median), haul_cell_number(row->of.p90),
                                  haul_cell_number(row->spread)));
    }
}

void hl_report_projected_add_check(const hl_report_projected *self)
{
    static const haul_column total[] = {HL_REPORT_SCORE_KEYS,
                                        {"noise_floor", .unit = HAUL_UNIT_PERCENT},
                                        {"wape_without_contention", .unit = HAUL_UNIT_PERCENT},
                                        {"copies", .unit = HAUL_UNIT_COUNT},
                                        {"fitted", .unit = HAUL_UNIT_FLAG},
                                        {"unpredicted", .unit = HAUL_UNIT_COUNT},
                                        {0}};
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "Self-check of copies"},
        {"direction", .unit = HAUL_UNIT_TEXT},
        {"memory", .unit = HAUL_UNIT_TEXT},
        {"copies", HAUL_UNIT_COUNT, .head = "count"},
        {"wmape", .unit = HAUL_UNIT_PERCENT},
        {"wape", HAUL_UNIT_PERCENT, .head = "error"},
        {"noise_floor", HAUL_UNIT_PERCENT, .head = "noise floor"},
        {"wape_without_contention", HAUL_UNIT_PERCENT, .head = "no contention"},
        {"median", HAUL_UNIT_PERCENT, .head = "median"},
        {"p90", HAUL_UNIT_PERCENT, .head = "p90"},
        {"points", HAUL_UNIT_NUMBER, .head = "points"},
        {"contended", HAUL_UNIT_COUNT, .head = "contended"},
        {"busy_speed", HAUL_UNIT_SHARE, .head = "speed"},
        {0},
    };
    const haul_self_check *check = &self->projection->self_check;
    const haul_self_check_score all = known_check(check->of);
    /* One object for the sums, with the groups inside. */
    haul_table *object = haul_report_object(
        self->report, "self_check", total,
        HAUL_CELLS(haul_cell_number(all.score.wmape), haul_cell_number(all.score.wape),
                   haul_cell_number(all.score.median), haul_cell_number(all.score.p90),
                   haul_cell_number(all.noise_floor), haul_cell_number(all.wape_without_contention),
                   haul_cell_count(all.score.count), haul_cell_flag(check->fitted),
                   haul_cell_count(check->unpredicted)));
    haul_table *groups = haul_report_table(object, "groups", columns);
    for (size_t i = 0; i < check->row_count; i++) {
        const haul_self_check_row *row = &check->rows[i];
        const haul_self_check_score of = known_check(row->of);
        haul_table_row(
            groups,
            HAUL_CELLS(haul_cell_text(hl_report_say_copies(row->direction, row->memory).text),
                       haul_cell_text(haul_direction_text(row->direction)),
                       haul_cell_text(haul_memory_text(row->memory)),
                       haul_cell_count(of.score.count), haul_cell_number(of.score.wmape),
                       haul_cell_number(of.score.wape), haul_cell_number(of.noise_floor),
                       haul_cell_number(of.wape_without_contention),
                       haul_cell_number(of.score.median), haul_cell_number(of.score.p90),
                       haul_cell_number(row->points), haul_cell_count(row->contended),
                       haul_cell_number(row->busy_speed)));
    }
    add_collectives(self->projection, object);
    if (check->row_count)
        haul_report_say(
            self->report,
            "The profile's own copies, predicted on the machine that recorded it. "
            "Error: sum of |t - prediction| by sum of t; noise floor: the same with "
            "the median of equal copies as prediction; no contention: the best without "
            "the contention model; points of the machine's curve; contended: copies "
            "while the other direction was busy; speed that such a copy keeps, fitted.");
}
