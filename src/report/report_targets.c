/* A recorded program on several machines, or on one with a parameter swept: a row each, so that
 * the machine to buy, or the parameter that pays, is found by reading down a column. */
#include <math.h>
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
static haul_words say_bound(const haul_target_row *row)
{
    const haul_critical_path *path = &row->critical;
    haul_words words = {""};
    const char *most = "the host", *of = "";
    int64_t most_ns = path->host_ns;
    if (path->kernels_ns > most_ns) {
        most = "kernels";
        most_ns = path->kernels_ns;
    }
    if (path->gaps_ns > most_ns) {
        most = "gaps between kernels";
        most_ns = path->gaps_ns;
    }
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        if (path->copies_ns[d] > most_ns) {
            most = haul_direction_text((haul_direction)d);
            of = " copies";
            most_ns = path->copies_ns[d];
        }
    if (row->predicted_ns > 0)
        (void)snprintf(words.text, sizeof words.text, "%.20s%s %.20s", most, of,
                       haul_say_share_ns(most_ns, row->predicted_ns).text);
    return words;
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
                        haul_say_time(best->recorded_ns).text, gpu ? gpu : "an unknown GPU",
                        best->name, haul_say_time(best->predicted_ns).text,
                        haul_say_change(best->replay.replayed_ns, best->predicted_ns, best->low_ns,
                                        best->high_ns)
                            .text);
        haul_report_line(report, "self-check", "replaying the profile gives %s (%+.2f %%)",
                         haul_say_time(best->replay.replayed_ns).text, best->replay.error);
    }
    if (replaced)
        haul_report_line(report, "link", "PCIe in place of %s, as asked",
                         haul_link_kind_text(replaced));
    if (best && unknown)
        haul_report_line(report, "caution", "%s not predicted: %.300s",
                         haul_say_number_of(unknown, "machine is", "machines are").text,
                         reason ? reason : "see the last column");
    haul_report_losses(report, workload);
    haul_report_caution(report, workload);
}

haul_report *haul_report_targets(const haul_workload *workload, const char *gpu,
                                 const haul_target_row *rows, size_t count)
{
    static const haul_column inputs[] = {{"source", .unit = HAUL_TEXT},
                                         {"format", .unit = HAUL_TEXT},
                                         {"gpu", .unit = HAUL_TEXT},
                                         {"recorded_s", .unit = HAUL_TIME},
                                         {0}};
    static const haul_column columns[] = {
        {"name", HAUL_TEXT, .head = "Machine"},
        {"run_s", HAUL_SECONDS, .head = "run"},
        {"interval_s", HAUL_INTERVAL, .head = "interval"},
        {"speedup", HAUL_FACTOR, .head = "speedup"},
        {"copies_s", HAUL_SECONDS, .head = "copies"},
        {"kernels_s", HAUL_SECONDS, .head = "kernels"},
        {"bound", HAUL_TEXT, .head = "bound by"},
        {"replaced_link", HAUL_TEXT, .optional = true, .csv = ""},
        {"missing", HAUL_TEXT, .optional = true},
        {0},
    };
    enum { MISSING = sizeof columns / sizeof *columns - 2 };
    HAUL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("targets");
    say_answer(report, workload, gpu, rows, count);
    haul_report_object(report, NULL, inputs, workload->source, workload->format, gpu,
                       rows[0].recorded_ns);
    haul_report_section(report, "targets", "Machines");
    haul_table *table = haul_report_table(report, "targets", columns);
    haul_table_csv(table);
    if (!common_reason(rows, count))
        haul_table_head(table, MISSING, "not predicted");
    for (size_t i = 0; i < count; i++) {
        const haul_target_row *row = &rows[i];
        const double unknown = (double)NAN;
        haul_table_row(
            table, row->name, row->missing ? unknown : seconds(row->predicted_ns),
            row->missing ? unknown : seconds(row->low_ns),
            row->missing ? unknown : seconds(row->high_ns),
            row->missing ? unknown : (double)row->replay.replayed_ns / (double)row->predicted_ns,
            row->copies_s, row->kernels_s, row->missing ? NULL : say_bound(row).text,
            row->replaced_link ? haul_link_kind_text(row->replaced_link) : NULL, row->missing);
    }
    haul_report_loss_list(report, workload);
    return report;
}
