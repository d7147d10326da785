/* Two profiles of one program, side by side: equal operations are matched by kind, name and size in
 * their order, so that a change of the program shows as operations that only one profile has. */

#include "haul/report.h"
#include "report/wording.h"

enum { ROWS_SHOWN = 20, NAME_BYTES = 512 };

/* The name of a row: a kernel's own, or the kind and size of what moves bytes. */
static void name_of(const haul_compared *row, char *name, size_t size)
{
    const char *const kind = haul_op_kind_text(row->kind);
    const char *const bytes = haul_say_bytes(row->bytes).text;
    if (row->kind == HAUL_OP_KERNEL)
        (void)snprintf(name, size, "%s", row->name && *row->name ? row->name : "kernel");
    else if (row->kind == HAUL_OP_COPY)
        (void)snprintf(name, size, "copy %s of %s", haul_direction_text(row->direction), bytes);
    else
        (void)snprintf(name, size, "%s of %s", kind, bytes);
}

haul_report *haul_report_comparison(const haul_workload *a, const haul_workload *b,
                                    const haul_comparison *of)
{
    static const haul_column head[] = {
        {"first", .unit = HAUL_TEXT},        {"second", .unit = HAUL_TEXT},
        {"matched", .unit = HAUL_COUNT},     {"only_first", .unit = HAUL_COUNT},
        {"only_second", .unit = HAUL_COUNT}, {"first_s", .unit = HAUL_TIME},
        {"second_s", .unit = HAUL_TIME},     {0}};
    static const haul_column columns[] = {{"operation", HAUL_NAME, .head = "operation"},
                                          {"matched", HAUL_COUNT, .head = "matched"},
                                          {"first_s", HAUL_TIME, .head = "first"},
                                          {"second_s", HAUL_TIME, .head = "second"},
                                          {"difference_s", HAUL_SECONDS, .head = "difference"},
                                          {"ratio", HAUL_FACTOR, .head = "second / first"},
                                          {"only_first", HAUL_COUNT, .head = "only first"},
                                          {"only_second", HAUL_COUNT, .head = "only second"},
                                          {0}};
    haul_report *report = haul_report_new("comparison");
    if (!of->matched)
        haul_report_say(report, "No operation of the first profile is in the second.");
    else
        haul_report_say(report, "%s in both: %s in the first, %s in the second, %.2fx",
                        haul_say_number_of(of->matched, "operation is", "operations are").text,
                        haul_say_time(of->a_ns).text, haul_say_time(of->b_ns).text,
                        haul_share_ns(of->b_ns, of->a_ns));
    if (of->matched && (of->only_a || of->only_b))
        haul_report_line(report, "unmatched", "%s of the first, %s of the second",
                         haul_say_number_of(of->only_a, "operation", NULL).text,
                         haul_say_count(of->only_b).text);
    haul_report_object(report, NULL, head, a->source, b->source, of->matched, of->only_a,
                       of->only_b, of->a_ns, of->b_ns);
    haul_table *table = haul_report_table(report, "operations", columns);
    haul_table_csv(table);
    haul_table_limit(table, ROWS_SHOWN);
    for (size_t i = 0; i < of->count; i++) {
        const haul_compared *row = &of->rows[i];
        char name[NAME_BYTES];
        name_of(row, name, sizeof name);
        haul_table_row(table, name, row->matched, row->a_ns, row->b_ns,
                       1e-9 * (double)(row->b_ns - row->a_ns), haul_share_ns(row->b_ns, row->a_ns),
                       row->only_a, row->only_b);
    }
    return report;
}
