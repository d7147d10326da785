/* A recorded program on several machines, or on one with a parameter swept: a row each, so that
 * the machine to buy, or the parameter that pays, is found by reading down a column. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/shared_parts.h"
#include "report/wording.h"

static double seconds(int64_t ns)
{
    return 1e-9 * (double)ns;
}

/* "kernels, 84.6 %": what a faster part would shorten most. */
static hl_report_words say_bound(const haul_target_row *row)
{
    const haul_critical_path *path = &row->critical;
    hl_report_words words = {""};
    const char *most = "the host", *of = "";
    int64_t most_ns = haul_critical_path_host(path);
    for (int w = 0; w < HAUL_DRIVER_WORKS; w++)
        if (path->driver_ns[w] > most_ns) {
            most = haul_driver_work_text((haul_driver_work)w);
            most_ns = path->driver_ns[w];
        }
    if (path->kernels_ns > most_ns) {
        most = "kernels";
        most_ns = path->kernels_ns;
    }
    if (path->gaps_ns > most_ns) {
        most = "gaps between operations";
        most_ns = path->gaps_ns;
    }
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        if (path->copies_ns[d] > most_ns) {
            most = haul_direction_text((haul_direction)d);
            of = " copies";
            most_ns = path->copies_ns[d];
        }
    if (row->predicted_ns > 0)
        (void)snprintf(words.text, sizeof words.text, "%.24s%s %.20s", most, of,
                       hl_report_say_share_ns(most_ns, row->predicted_ns).text);
    return words;
}

double hl_report_target_cost(const haul_target_row *row)
{
    enum { RUNS = 1000, SECONDS_PER_HOUR = 3600 };
    return row->missing || row->price_per_hour <= 0
               ? (double)NAN
               : RUNS * row->price_per_hour * seconds(row->predicted_ns) / SECONDS_PER_HOUR;
}

/* Of a run, in joules; NaN: not known. */
static double energy_of(const haul_target_row *row)
{
    return row->missing || row->watts <= 0 ? (double)NAN : row->watts * seconds(row->predicted_ns);
}

/* The machine on which all the profiles cost least; nothing where no price is known of a
 * machine that is predicted for all. */
static void say_cheapest(haul_report *report, const haul_target_row *rows, size_t jobs,
                         size_t targets)
{
    char each[40] = "";
    size_t best = targets;
    double least = (double)INFINITY, joules = 0;
    for (size_t t = 0; t < targets; t++) {
        double cost = 0, energy = 0;
        for (size_t j = 0; j < jobs; j++) {
            cost += hl_report_target_cost(&rows[j * targets + t]);
            energy += energy_of(&rows[j * targets + t]);
        }
        if (cost < least) {
            least = cost;
            joules = energy;
            best = t;
        }
    }
    if (joules > 0)
        (void)snprintf(each, sizeof each, ", %.3g J for one", joules);
    if (best < targets)
        haul_report_line(report, "cheapest", "%.150s: %.3g for 1,000 runs%s%s", rows[best].name,
                         least, jobs > 1 ? " of each" : "", each);
}

/* The reason that all machines without a prediction have, or NULL. */
static const char *common_reason(const haul_target_row *rows, size_t count)
{
    const char *reason = NULL;
    for (size_t i = 0; i < count; i++) {
        if (reason && rows[i].missing && strcmp(reason, rows[i].missing) != 0)
            return NULL;
        reason = rows[i].missing ? rows[i].missing : reason;
    }
    return reason;
}

/* Machines that nobody can tell from the fastest: predictions err by far more than 2 %. */
static void say_equals(haul_report *report, const haul_target_row *best,
                       const haul_target_row *rows, size_t count)
{
    enum { NAMED = 4, NAME = 60 };
    char names[NAMED * (NAME + 2) + 1] = "", more[48] = "";
    size_t used = 0, found = 0;
    for (size_t i = 0; i < count; i++) {
        const haul_target_row *row = &rows[i];
        if (row == best || row->missing || row->predicted_ns > best->predicted_ns / 100 * 102)
            continue;
        if (found++ < NAMED)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "",
                                     NAME, row->name);
    }
    if (found > NAMED)
        (void)snprintf(more, sizeof more, " and %zu more", found - NAMED);
    if (found)
        haul_report_line(report, "as fast", "%s%s: within 2 %%, less than such predictions err",
                         names, more);
}

static void say_answer(haul_report *report, const haul_workload *workload, const char *gpu,
                       const haul_target_row *rows, size_t count)
{
    const haul_target_row *best = NULL;
    const char *reason = common_reason(rows, count);
    haul_link_kind replaced = HAUL_LINK_NONE;
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].missing && (!best || rows[i].predicted_ns < best->predicted_ns))
            best = &rows[i];
        unknown += rows[i].missing != NULL;
        replaced = rows[i].replaced_link ? rows[i].replaced_link : replaced;
    }
    if (!best) {
        haul_report_say(report, "No prediction of the whole run: %.300s",
                        reason ? reason : "see the last column");
    } else {
        haul_report_say(report, "%s recorded on %.100s; fastest on %.150s: %s, %s",
                        hl_report_say_time(best->recorded_ns).text, gpu ? gpu : "an unknown GPU",
                        best->name, hl_report_say_time(best->predicted_ns).text,
                        hl_report_say_change(best->replay.replayed_ns, best->predicted_ns,
                                             best->low_ns, best->high_ns)
                            .text);
        say_equals(report, best, rows, count);
        haul_report_line(report, "self-check", "replaying the profile gives %s (%+.2f %%)",
                         hl_report_say_time(best->replay.replayed_ns).text, best->replay.error);
    }
    say_cheapest(report, rows, 1, count);
    hl_report_hosts(report, rows, count, "machine");
    hl_report_other_makers(report, rows, count);
    if (replaced)
        haul_report_line(report, "link", "PCIe in place of %s, as asked",
                         haul_link_kind_text(replaced));
    if (best && unknown)
        haul_report_line(report, "caution", "%s not predicted: %.300s",
                         hl_report_say_number_of(unknown, "machine is", "machines are").text,
                         reason ? reason : "see the last column");
    hl_report_losses(report, workload);
    hl_report_caution(report, workload);
}

haul_report *haul_report_targets(const haul_workload *workload, const char *gpu,
                                 const haul_target_row *rows, size_t count)
{
    static const haul_column inputs[] = {{"source", .unit = HAUL_UNIT_TEXT},
                                         {"format", .unit = HAUL_UNIT_TEXT},
                                         {"gpu", .unit = HAUL_UNIT_TEXT},
                                         {"recorded_s", .unit = HAUL_UNIT_TIME},
                                         {0}};
    static const haul_column columns[] = {
        {"name", HAUL_UNIT_TEXT, .head = "Machine"},
        {"run_s", HAUL_UNIT_SECONDS, .head = "run"},
        {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
        {"speedup", HAUL_UNIT_FACTOR, .head = "speedup"},
        {"copies_s", HAUL_UNIT_SECONDS, .head = "copies"},
        {"kernels_s", HAUL_UNIT_SECONDS, .head = "kernels"},
        {"bound", HAUL_UNIT_TEXT, .head = "bound by"},
        {"cost_of_1000_runs", HAUL_UNIT_NUMBER, .optional = true, .head = "1,000 runs"},
        {"energy_J", HAUL_UNIT_NUMBER, .optional = true, .head = "energy (J)"},
        {"replaced_link", HAUL_UNIT_TEXT, .optional = true, .csv = ""},
        {"other_maker", HAUL_UNIT_TEXT, .optional = true, .csv = ""},
        {"missing", HAUL_UNIT_TEXT, .optional = true},
        {0},
    };
    enum { MISSING = sizeof columns / sizeof *columns - 2 };
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("targets");
    say_answer(report, workload, gpu, rows, count);
    haul_report_object(report, NULL, inputs,
                       HAUL_CELLS(haul_cell_text(workload->source),
                                  haul_cell_text(workload->format), haul_cell_text(gpu),
                                  haul_cell_time(rows[0].recorded_ns)));
    haul_report_section(report, "targets", "Machines");
    haul_table *table = haul_report_table(report, "targets", columns);
    haul_table_csv(table);
    if (!common_reason(rows, count))
        haul_table_head(table, MISSING, "not predicted");
    for (size_t i = 0; i < count; i++) {
        const haul_target_row *row = &rows[i];
        const double unknown = (double)NAN;
        haul_table_row(
            table,
            HAUL_CELLS(
                haul_cell_text(row->name),
                haul_cell_number(row->missing ? unknown : seconds(row->predicted_ns)),
                haul_cell_interval(row->missing ? unknown : seconds(row->low_ns),
                                   row->missing ? unknown : seconds(row->high_ns)),
                haul_cell_number(row->missing
                                     ? unknown
                                     : (double)row->replay.replayed_ns / (double)row->predicted_ns),
                haul_cell_number(row->copies_s), haul_cell_number(row->kernels_s),
                haul_cell_text(row->missing ? NULL : say_bound(row).text),
                haul_cell_number(hl_report_target_cost(row)), haul_cell_number(energy_of(row)),
                haul_cell_text(row->replaced_link ? haul_link_kind_text(row->replaced_link) : NULL),
                haul_cell_text(row->other_maker), haul_cell_text(row->missing)));
    }
    haul_report_detail(report, true);
    hl_report_notes(report, workload);
    return report;
}

/* --- profiles of several jobs */

/* The targets by the product of their speedups, for one that is fastest for one profile may not be
 * for another; NULL where no target is predicted for all profiles. */
static const haul_target_row *find_fastest(const haul_target_row *rows, size_t jobs, size_t targets,
                                           double *speedup)
{
    const haul_target_row *best = NULL;
    for (size_t t = 0; t < targets; t++) {
        double sum = 0; /* of logarithms */
        for (size_t j = 0; j < jobs; j++) {
            const haul_target_row *row = &rows[j * targets + t];
            sum += row->missing ? -(double)INFINITY
                                : log((double)row->replay.replayed_ns / (double)row->predicted_ns);
        }
        const double mean = exp(sum / (double)jobs);
        if (mean > 0 && (!best || mean > *speedup)) {
            best = &rows[t];
            *speedup = mean;
        }
    }
    return best;
}

/* The common answer, then a line a profile: the machine that is fastest for it. */
static void say_matrix(haul_report *report, const haul_target_row *rows, const char *const *sources,
                       size_t jobs, size_t targets)
{
    enum { LINES = 8 };
    double speedup = 0;
    size_t unknown = 0;
    const haul_target_row *fastest = find_fastest(rows, jobs, targets, &speedup);
    const char *reason = common_reason(rows, jobs * targets);
    for (size_t i = 0; i < jobs * targets; i++)
        unknown += rows[i].missing != NULL;
    if (fastest)
        haul_report_say(report,
                        "%zu profiles of different jobs: on %.150s %.3gx as fast, the "
                        "geometric mean",
                        jobs, fastest->name, speedup);
    else
        haul_report_say(report,
                        "%zu profiles of different jobs: no machine is predicted for all of them",
                        jobs);
    for (size_t j = 0; j < jobs && j < LINES; j++) {
        const haul_target_row *best = NULL;
        for (size_t t = 0; t < targets; t++) {
            const haul_target_row *row = &rows[j * targets + t];
            if (!row->missing && (!best || row->predicted_ns < best->predicted_ns))
                best = row;
        }
        if (best)
            haul_report_line(report, "fastest", "%.100s: %s -> %s on %.100s, %s",
                             hl_report_profile_name(sources, jobs, j),
                             hl_report_say_time(best->recorded_ns).text,
                             hl_report_say_time(best->predicted_ns).text, best->name,
                             hl_report_say_change(best->replay.replayed_ns, best->predicted_ns,
                                                  best->low_ns, best->high_ns)
                                 .text);
    }
    say_cheapest(report, rows, jobs, targets);
    hl_report_hosts(report, rows, jobs * targets, "run");
    hl_report_other_makers(report, rows, jobs * targets);
    if (unknown)
        haul_report_line(report, "caution", "%s not predicted: %.300s",
                         hl_report_say_number_of(unknown, "run is", "runs are").text,
                         reason ? reason : "see the last column");
}

haul_report *haul_report_matrix(const haul_target_row *rows, size_t jobs, size_t targets)
{
    static const haul_column columns[] = {
        {"profile", HAUL_UNIT_TEXT, .head = "Profile"},
        {"machine", HAUL_UNIT_TEXT, .head = "machine"},
        {"gpu", HAUL_UNIT_TEXT, .head = NULL},
        {"recorded_s", HAUL_UNIT_SECONDS, .head = "recorded", .spare = true},
        {"run_s", HAUL_UNIT_SECONDS, .head = "run"},
        {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
        {"speedup", HAUL_UNIT_FACTOR, .head = "speedup"},
        {"bound", HAUL_UNIT_TEXT, .head = "bound by"},
        {"cost_of_1000_runs", HAUL_UNIT_NUMBER, .optional = true, .head = "1,000 runs"},
        {"energy_J", HAUL_UNIT_NUMBER, .optional = true, .head = "energy (J)"},
        {"other_maker", HAUL_UNIT_TEXT, .optional = true, .csv = ""},
        {"missing", HAUL_UNIT_TEXT, .optional = true},
        {0},
    };
    enum { MISSING = sizeof columns / sizeof *columns - 2 };
    HL_PLAIN_NUMERALS;
    const char **sources = malloc(jobs * sizeof *sources);
    if (!sources)
        return NULL;
    for (size_t j = 0; j < jobs; j++)
        sources[j] = rows[j * targets].source;
    haul_report *report = haul_report_new("matrix");
    say_matrix(report, rows, sources, jobs, targets);
    haul_report_section(report, "targets", "Profiles and machines");
    haul_table *table = haul_report_table(report, "rows", columns);
    haul_table_csv(table);
    if (!common_reason(rows, jobs * targets))
        haul_table_head(table, MISSING, "not predicted");
    for (size_t i = 0; i < jobs * targets; i++) {
        const haul_target_row *row = &rows[i];
        const double unknown = (double)NAN;
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(hl_report_profile_name(sources, jobs, i / targets)),
                       haul_cell_text(row->name), haul_cell_text(row->gpu),
                       haul_cell_number(row->recorded_ns ? seconds(row->recorded_ns) : unknown),
                       haul_cell_number(row->missing ? unknown : seconds(row->predicted_ns)),
                       haul_cell_interval(row->missing ? unknown : seconds(row->low_ns),
                                          row->missing ? unknown : seconds(row->high_ns)),
                       haul_cell_number(row->missing ? unknown
                                                     : (double)row->replay.replayed_ns /
                                                           (double)row->predicted_ns),
                       haul_cell_text(row->missing ? NULL : say_bound(row).text),
                       haul_cell_number(hl_report_target_cost(row)),
                       haul_cell_number(energy_of(row)), haul_cell_text(row->other_maker),
                       haul_cell_text(row->missing)));
    }
    free(sources);
    return report;
}
