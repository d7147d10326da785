/* Fits of messages: the protocols that were found, and how well they give the measurements back. */
#include <math.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/wording.h"

/* "host network", "HtoD near" */
static void name_curve(const haul_message_curve *curve, char *text, size_t size)
{
    static const char *const reaches[] = {"socket", "node", "network"};
    if (curve->is_copy)
        (void)snprintf(text, size, "%s %s", haul_direction_text(curve->direction),
                       haul_locality_text(curve->locality));
    else
        (void)snprintf(text, size, "%s %s", haul_memory_text(curve->memory), reaches[curve->reach]);
}

/* The whole of the fit: how many protocols, and the two errors that a prediction rests on. */
static void say_answer(haul_report *report, const haul_message_fit *fit)
{
    double median = 0, p90 = 0;
    size_t pieces = 0, worst = 0;
    char name[64] = "";
    for (size_t i = 0; i < fit->count; i++) {
        pieces += fit->curves[i].count;
        median = fmax(median, fit->curves[i].median);
        p90 = fmax(p90, fit->curves[i].p90);
        /* The curve with the worst tail is named: predictions rest on it. */
        worst = fit->curves[i].p90 > fit->curves[worst].p90 ? i : worst;
    }
    if (!fit->count) {
        haul_report_say(report, "no ping-pong or copy: what a node sends, for %s",
                        hl_report_say_number_of(fit->injection_count, "number of processes",
                                                "numbers of processes")
                            .text);
    } else {
        /* Errors of the worst curve, so that the sentence holds for every one. */
        name_curve(&fit->curves[worst], name, sizeof name);
        haul_report_say(report,
                        "%s in %s: median errors up to %.1f %%, 90 %% of errors up to %.1f %% (%s)",
                        hl_report_say_number_of(fit->count, "curve", NULL).text,
                        hl_report_say_number_of(pieces, "piece", NULL).text, median, p90, name);
    }
    /* The two memories that messages have: device and host. */
    static const haul_memory memories[] = {HAUL_MEMORY_DEVICE, HAUL_MEMORY_HOST};
    for (int m = 0; m < 2; m++) {
        const haul_injection *one = NULL, *most = NULL;
        for (size_t i = 0; i < fit->injection_count; i++) {
            const haul_injection *at = &fit->injection[i];
            if (at->memory != memories[m])
                continue;
            one = at->processes.value == 1 ? at : one;
            most = !most || at->rate_Bps.value > most->rate_Bps.value ? at : most;
        }
        /* One process may reach the node's limit alone: then there is nothing to compare. */
        if (one && most && one != most)
            haul_report_line(report, "node", "%s: one process sends %s, %g send %s",
                             haul_memory_text(memories[m]),
                             hl_report_say_rate(one->rate_Bps.value).text, most->processes.value,
                             hl_report_say_rate(most->rate_Bps.value).text);
    }
}

/* Copies by several processes that the two parameters miss by twice and more are told of. */
static void say_shared(haul_report *report, const haul_message_fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        const haul_message_curve *curve = &fit->curves[i];
        const double ratio = curve->shared_measured_s / curve->shared_fitted_s;
        if (!curve->is_copy || isnan(curve->shared_worst) || (ratio < 2 && ratio > 0.5))
            continue;
        char name[64];
        name_curve(curve, name, sizeof name);
        haul_report_line(
            report, "caution",
            "%s by several processes: one latency and rate miss them by %.0f %% at the "
            "median; %u processes with %s each took %s, the fit says %s",
            name, curve->shared_median, (unsigned)curve->shared_processes,
            hl_report_say_bytes((uint64_t)curve->shared_bytes).text,
            hl_report_say_seconds(curve->shared_measured_s).text,
            hl_report_say_seconds(curve->shared_fitted_s).text);
    }
}

/* The time that each further process of a GPU adds to a copy, and how well that fits the measured
 * times. */
static void put_shared(haul_report *report, const haul_message_fit *fit)
{
    static const haul_column columns[] = {
        {"curve", HAUL_UNIT_TEXT, .head = "Copies by several processes"},
        {"shared_latency_s", HAUL_UNIT_SECONDS, .head = "each adds"},
        {"shared_rate_Bps", HAUL_UNIT_RATE, .head = "rate of all"},
        {"median_percent", HAUL_UNIT_PERCENT, .head = "median error"},
        {"p90_percent", HAUL_UNIT_PERCENT, .head = "90 % of errors"},
        {"worst_percent", HAUL_UNIT_PERCENT, .head = "worst"},
        {0},
    };
    haul_table *table = haul_report_table(report, "shared", columns);
    for (size_t i = 0; i < fit->count; i++) {
        const haul_message_curve *curve = &fit->curves[i];
        char name[64];
        if (!curve->is_copy || isnan(curve->shared_worst))
            continue;
        name_curve(curve, name, sizeof name);
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(name), haul_cell_number(curve->shared_latency_s),
                                  haul_cell_number(curve->shared_rate_Bps),
                                  haul_cell_number(curve->shared_median),
                                  haul_cell_number(curve->shared_p90),
                                  haul_cell_number(curve->shared_worst)));
    }
}

haul_report *haul_report_message_fit(const haul_message_fit *fit)
{
    static const haul_column columns[] = {
        {"curve", HAUL_UNIT_TEXT, .head = "Messages, copies"},
        {"from_bytes", HAUL_UNIT_NUMBER, .head = "from"},
        {"most_bytes", HAUL_UNIT_NUMBER, .head = "to"},
        {"latency_s", HAUL_UNIT_SECONDS, .head = "latency"},
        {"per_byte_s", .unit = HAUL_UNIT_NUMBER},
        {NULL, HAUL_UNIT_RATE, .head = "rate"},
        {"gap_s", HAUL_UNIT_SECONDS, .head = "gap", .optional = true},
        {"samples", HAUL_UNIT_COUNT, .head = "sizes"},
        {"median_percent", HAUL_UNIT_PERCENT, .head = "median error"},
        {"p90_percent", HAUL_UNIT_PERCENT, .head = "90 % of errors"},
        {"worst_percent", HAUL_UNIT_PERCENT, .head = "worst"},
        {0},
    };
    static const haul_column injection[] = {{"memory", HAUL_UNIT_TEXT, .head = "Node sends from"},
                                            {"processes", HAUL_UNIT_NUMBER, .head = "processes"},
                                            {"rate_Bps", HAUL_UNIT_RATE, .head = "rate"},
                                            {0}};
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("message fit");
    say_answer(report, fit);
    say_shared(report, fit);
    haul_table *table = haul_report_table(report, "pieces", columns);
    haul_table_csv(table);
    for (size_t i = 0; i < fit->count; i++) {
        const haul_message_curve *curve = &fit->curves[i];
        char name[64];
        name_curve(curve, name, sizeof name);
        for (size_t k = 0; k < curve->count; k++) {
            const haul_message_piece *piece = &curve->pieces[k];
            const bool is_last = k + 1 == curve->count;
            haul_table_row(
                table,
                HAUL_CELLS(haul_cell_text(name), haul_cell_number(piece->from_bytes),
                           /* A piece holds up to where the next begins. */
                           haul_cell_number(is_last ? curve->most_bytes : piece[1].from_bytes),
                           haul_cell_number(piece->latency_s),
                           /* beta of the postal model is a time a byte; people compare rates. */
                           haul_cell_number(piece->per_byte_s),
                           haul_cell_number(1 / piece->per_byte_s), haul_cell_number(piece->gap_s),
                           haul_cell_count((uint64_t)curve->samples),
                           haul_cell_number(curve->median), haul_cell_number(curve->p90),
                           haul_cell_number(curve->worst)));
        }
    }
    haul_report_detail(report, true);
    put_shared(report, fit);
    haul_table *rates = haul_report_table(report, "injection", injection);
    for (size_t i = 0; i < fit->injection_count; i++)
        haul_table_row(rates, HAUL_CELLS(haul_cell_text(haul_memory_text(fit->injection[i].memory)),
                                         haul_cell_number(fit->injection[i].processes.value),
                                         haul_cell_number(fit->injection[i].rate_Bps.value)));
    return report;
}
