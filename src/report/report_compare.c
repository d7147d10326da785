/* Two profiles of one program, side by side: equal operations are matched by kind, name and size in
 * their order, so that a change of the program shows as operations that only one profile has. */

#include <string.h>

#include "haul/report.h"
#include "report/names_apart.h"
#include "report/wording.h"
#include "workload/idle.h"

enum { ROWS_SHOWN = 20, NAME_BYTES = 512, CAUSES_SAID = 3, CAUSE_WIDTH = 40 };

/* The name of a row: a kernel's own, or the kind and size of what moves bytes. */
static void name_of(const haul_compared *row, char *name, size_t size)
{
    const char *const kind = haul_op_kind_text(row->kind);
    const hl_report_words bytes = hl_report_say_bytes(row->bytes);
    if (row->kind == HAUL_OP_KERNEL)
        (void)snprintf(name, size, "%s", row->name && *row->name ? row->name : "kernel");
    else if (row->kind == HAUL_OP_COPY)
        (void)snprintf(name, size, "copy %s of %s", haul_direction_text(row->direction),
                       bytes.text);
    else
        (void)snprintf(name, size, "%s of %s", kind, bytes.text);
}

/* A cause of a difference in time between two runs: a class of operations, or a cause of idle time.
 */
typedef struct run_cause {
    const haul_compared *row; /* NULL: idle time */
    haul_idle_kind idle;
    int64_t more_ns; /* in the second; negative: less */
} run_cause;

static int64_t idle_of(const haul_analysis *analysis, unsigned kind)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < analysis->idle_count; i++)
        if (analysis->idle[i].kind == (haul_idle_kind)kind)
            sum_ns += analysis->idle[i].time_ns;
    return sum_ns;
}

/* Puts a cause among the largest that go the way of the whole run. */
static void keep_cause(run_cause kept[CAUSES_SAID], run_cause cause, bool is_slower)
{
    for (int i = 0; i < CAUSES_SAID; i++) {
        const bool is_larger =
            is_slower ? cause.more_ns > kept[i].more_ns : cause.more_ns < kept[i].more_ns;
        if (!is_larger)
            continue;
        const run_cause moved = kept[i];
        kept[i] = cause;
        cause = moved;
    }
}

/* Two kernels that differ look different, as in the table. */
static void name_causes(haul_report *report, const run_cause kept[CAUSES_SAID],
                        hl_report_name_text shown[CAUSES_SAID])
{
    char texts[CAUSES_SAID][NAME_BYTES];
    const char *names[CAUSES_SAID];
    size_t count = 0;
    for (; count < CAUSES_SAID && kept[count].more_ns; count++) {
        names[count] = texts[count];
        if (kept[count].row)
            name_of(kept[count].row, texts[count], NAME_BYTES);
        else
            (void)snprintf(texts[count], NAME_BYTES, "idle, %s",
                           hl_workload_idle_phrase(kept[count].idle));
    }
    if (!hl_report_names_apart(names, count, CAUSE_WIDTH, shown)) {
        memset(shown, 0, CAUSES_SAID * sizeof *shown);
        report->document->failed = true;
    }
}

/* Sums of durations and idle time: where streams overlap they exceed the difference of the runs. */
static void say_causes(haul_report *report, const haul_compared_run runs[2],
                       const haul_comparison *of)
{
    const bool is_slower = runs[1].analysis->span_ns > runs[0].analysis->span_ns;
    run_cause kept[CAUSES_SAID] = {{.row = NULL}};
    hl_report_name_text shown[CAUSES_SAID];
    char text[CAUSES_SAID * (HL_REPORT_CELL_BYTES + 48)] = "";
    size_t used = 0;
    for (size_t i = 0; i < of->count; i++)
        keep_cause(kept,
                   (run_cause){.row = &of->rows[i],
                               .more_ns = of->rows[i].all_b_ns - of->rows[i].all_a_ns},
                   is_slower);
    for (unsigned k = 0; k < HAUL_IDLE_KINDS; k++)
        keep_cause(
            kept,
            (run_cause){.idle = (haul_idle_kind)k,
                        .more_ns = idle_of(runs[1].analysis, k) - idle_of(runs[0].analysis, k)},
            is_slower);
    name_causes(report, kept, shown);
    for (int i = 0; i < CAUSES_SAID && kept[i].more_ns; i++) {
        const int64_t size_ns = kept[i].more_ns < 0 ? -kept[i].more_ns : kept[i].more_ns;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %c%s", i ? "; " : "",
                                 shown[i].text, is_slower ? '+' : '-',
                                 hl_report_say_time(size_ns).text);
    }
    if (used)
        haul_report_line(report, is_slower ? "more" : "less", "%s", text);
}

/* A profile that lost operations makes its run look shorter, and the other's work unmatched. */
static void say_losses(haul_report *report, const haul_compared_run runs[2])
{
    for (int i = 0; i < 2; i++) {
        const haul_workload *const of = runs[i].workload;
        char more[64] = "";
        if (of->loss_count > 1)
            (void)snprintf(more, sizeof more, "; and %zu more: 'haul analyze' lists them",
                           of->loss_count - 1);
        if (of->loss_count)
            haul_report_line(report, "incomplete", "the %s profile: %.600s%s",
                             i ? "second" : "first", of->losses[0].text, more);
    }
}

static void say_answer(haul_report *report, const haul_compared_run runs[2],
                       const haul_comparison *of)
{
    const int64_t a_ns = runs[0].analysis->span_ns, b_ns = runs[1].analysis->span_ns;
    const double ratio = hl_report_share_ns(b_ns, a_ns);
    char change[64] = "the same time";
    /* within half a percent, as a prediction is called the same */
    if (ratio > 1.005)
        (void)snprintf(change, sizeof change, "%.3gx slower", ratio);
    else if (ratio > 0 && ratio < 1 / 1.005)
        (void)snprintf(change, sizeof change, "%.3gx faster", 1 / ratio);
    haul_report_say(report, "%s -> %s: %s%s", hl_report_say_time(a_ns).text,
                    hl_report_say_time(b_ns).text, change,
                    of->matched ? "" : ", but no operation is in both: of one program?");
    say_causes(report, runs, of);
    if (!of->matched)
        haul_report_line(report, "matched", "no operation of the first profile is in the second");
    else
        haul_report_line(
            report, "matched", "%s in both: %s in the first, %s in the second, %.2fx",
            hl_report_say_number_of(of->matched, "operation is", "operations are").text,
            hl_report_say_time(of->a_ns).text, hl_report_say_time(of->b_ns).text,
            hl_report_share_ns(of->b_ns, of->a_ns));
    if (of->matched && (of->only_a || of->only_b))
        haul_report_line(report, "unmatched", "%s of the first, %s of the second",
                         hl_report_say_number_of(of->only_a, "operation", NULL).text,
                         hl_report_say_count(of->only_b).text);
    say_losses(report, runs);
    for (int i = 0; i < 2; i++)
        if (runs[i].unsound && *runs[i].unsound)
            haul_report_line(report, "caution",
                             "of the %s profile only the operations' own times can be compared: %s",
                             i ? "second" : "first", runs[i].unsound);
}

static haul_cell why_unsound(const haul_compared_run *of)
{
    return haul_cell_text(of->unsound && *of->unsound ? of->unsound : NULL);
}

static haul_cell first_loss(const haul_compared_run *of)
{
    return haul_cell_text(of->workload->loss_count ? of->workload->losses[0].text : NULL);
}

haul_report *haul_report_comparison(const haul_compared_run runs[2], const haul_comparison *of)
{
    static const haul_column head[] = {{"first", .unit = HAUL_UNIT_TEXT},
                                       {"second", .unit = HAUL_UNIT_TEXT},
                                       {"matched", .unit = HAUL_UNIT_COUNT},
                                       {"only_first", .unit = HAUL_UNIT_COUNT},
                                       {"only_second", .unit = HAUL_UNIT_COUNT},
                                       {"first_s", .unit = HAUL_UNIT_TIME},
                                       {"second_s", .unit = HAUL_UNIT_TIME},
                                       {"first_run_s", .unit = HAUL_UNIT_TIME},
                                       {"second_run_s", .unit = HAUL_UNIT_TIME},
                                       {"first_unsound", HAUL_UNIT_TEXT, .optional = true},
                                       {"second_unsound", HAUL_UNIT_TEXT, .optional = true},
                                       {"first_incomplete", HAUL_UNIT_TEXT, .optional = true},
                                       {"second_incomplete", HAUL_UNIT_TEXT, .optional = true},
                                       {0}};
    static const haul_column columns[] = {
        {"operation", HAUL_UNIT_NAME, .head = "operation"},
        {"matched", HAUL_UNIT_COUNT, .head = "matched", .spare = true},
        {"first_s", HAUL_UNIT_TIME, .head = "first"},
        {"second_s", HAUL_UNIT_TIME, .head = "second"},
        {"difference_s", HAUL_UNIT_SECONDS, .head = "difference"},
        {"ratio", HAUL_UNIT_FACTOR, .head = "second / first"},
        {"only_first", HAUL_UNIT_COUNT, .head = "only first", .spare = true},
        {"only_second", HAUL_UNIT_COUNT, .head = "only second", .spare = true},
        {"operator", HAUL_UNIT_TEXT, .optional = true},
        {"range", HAUL_UNIT_TEXT, .optional = true},
        {"line", HAUL_UNIT_TEXT, .optional = true},
        {NULL, HAUL_UNIT_TEXT, .head = "called by", .optional = true, .spare = true},
        {0}};
    haul_report *report = haul_report_new("comparison");
    say_answer(report, runs, of);
    haul_report_object(
        report, NULL, head,
        HAUL_CELLS(haul_cell_text(runs[0].workload->source),
                   haul_cell_text(runs[1].workload->source), haul_cell_count(of->matched),
                   haul_cell_count(of->only_a), haul_cell_count(of->only_b),
                   haul_cell_time(of->a_ns), haul_cell_time(of->b_ns),
                   haul_cell_time(runs[0].analysis->span_ns),
                   haul_cell_time(runs[1].analysis->span_ns), why_unsound(&runs[0]),
                   why_unsound(&runs[1]), first_loss(&runs[0]), first_loss(&runs[1])));
    haul_table *table = haul_report_table(report, "operations", columns);
    haul_table_csv(table);
    haul_table_limit(table, ROWS_SHOWN);
    for (size_t i = 0; i < of->count; i++) {
        const haul_compared *row = &of->rows[i];
        char name[NAME_BYTES], place[HL_REPORT_PLACE_BYTES];
        name_of(row, name, sizeof name);
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(name), haul_cell_count(row->matched),
                                  haul_cell_time(row->a_ns), haul_cell_time(row->b_ns),
                                  haul_cell_number(1e-9 * (double)(row->b_ns - row->a_ns)),
                                  haul_cell_number(hl_report_share_ns(row->b_ns, row->a_ns)),
                                  haul_cell_count(row->only_a), haul_cell_count(row->only_b),
                                  haul_cell_text(row->place.operator_name),
                                  haul_cell_text(row->place.range), haul_cell_text(row->place.line),
                                  haul_cell_text(hl_report_say_place(&row->place, place))));
    }
    return report;
}
