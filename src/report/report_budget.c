/* Limits of a run: what it has of each, and which are broken. */
#include <math.h>
#include <string.h>

#include "haul/report.h"
#include "report/shared_parts.h"
#include "report/wording.h"

static hl_report_words say_value(const haul_limit *limit, double value)
{
    if (isnan(value))
        return (hl_report_words){"not known"};
    if (limit->is_share)
        return hl_report_say_share(value);
    if (limit->dimension == HAUL_DIM_SECONDS)
        return hl_report_say_seconds(value);
    return limit->dimension == HAUL_DIM_BYTES ? hl_report_say_bytes((uint64_t)value)
                                              : hl_report_say_count((uint64_t)value);
}

static const char *unit_of(const haul_limit *limit)
{
    return limit->is_share                        ? "share"
           : limit->dimension == HAUL_DIM_SECONDS ? "s"
           : limit->dimension == HAUL_DIM_BYTES   ? "B"
                                                  : "count";
}

static void say_answer(haul_report *report, const haul_budget *budget)
{
    size_t first = 0;
    while (first < budget->count && !budget->limits[first].is_broken)
        first++;
    if (first == budget->count) {
        haul_report_say(report, "All %s kept.",
                        hl_report_say_number_of(budget->count, "limit is", "limits are").text);
        return;
    }
    const haul_limit *const limit = &budget->limits[first];
    haul_report_say(report, "%zu of %s %s broken: %s %s, at most %s is allowed (%s:%d)",
                    budget->broken, hl_report_say_number_of(budget->count, "limit", NULL).text,
                    budget->broken == 1 ? "is" : "are", limit->what,
                    say_value(limit, limit->measured).text, say_value(limit, limit->most).text,
                    budget->file, limit->line);
}

haul_report *haul_report_budget(const haul_workload *workload, const haul_budget *budget)
{
    static const haul_column head[] = {{"source", .unit = HAUL_UNIT_TEXT},
                                       {"budget", .unit = HAUL_UNIT_TEXT},
                                       {"broken", .unit = HAUL_UNIT_COUNT},
                                       {0}};
    static const haul_column columns[] = {{"limit", HAUL_UNIT_TEXT, .head = "limit"},
                                          {.unit = HAUL_UNIT_TEXT, .head = "measured"},
                                          {.unit = HAUL_UNIT_TEXT, .head = "at most"},
                                          {"verdict", HAUL_UNIT_TEXT, .head = "verdict"},
                                          {"measured", .unit = HAUL_UNIT_NUMBER},
                                          {"at_most", .unit = HAUL_UNIT_NUMBER},
                                          {"unit", .unit = HAUL_UNIT_TEXT},
                                          {"line", HAUL_UNIT_ID, .head = "line"},
                                          {0}};
    haul_report *report = haul_report_new("budget");
    say_answer(report, budget);
    for (size_t i = 0; i < budget->count; i++)
        if (budget->limits[i].is_unmatched)
            haul_report_line(report, "caution", "%s: there are none (%s:%d)",
                             budget->limits[i].what, budget->file, budget->limits[i].line);
    hl_report_losses(report, workload);
    haul_report_object(report, NULL, head,
                       HAUL_CELLS(haul_cell_text(workload->source), haul_cell_text(budget->file),
                                  haul_cell_count(budget->broken)));
    hl_report_loss_list(report, workload);
    haul_table *table = haul_report_table(report, "limits", columns);
    haul_table_csv(table);
    for (size_t i = 0; i < budget->count; i++) {
        const haul_limit *const limit = &budget->limits[i];
        const char *verdict = limit->is_broken      ? "broken"
                              : limit->is_unmatched ? "no such kernel"
                                                    : "kept";
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(limit->what),
                                  haul_cell_text(say_value(limit, limit->measured).text),
                                  haul_cell_text(say_value(limit, limit->most).text),
                                  haul_cell_text(verdict), haul_cell_number(limit->measured),
                                  haul_cell_number(limit->most), haul_cell_text(unit_of(limit)),
                                  haul_cell_count((uint64_t)limit->line)));
    }
    return report;
}

static void print_xml(const char *text, FILE *out)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (strchr("&<>\"'", c))
            fprintf(out, "&#%u;", (unsigned)c);
        else
            fputc(c < ' ' ? ' ' : c, out); /* XML takes no other control characters */
    }
}

haul_status haul_budget_junit_write(const haul_budget *budget, FILE *out, haul_error *error)
{
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n<testsuite name=\"haul check\" tests=\"%zu\" failures=\"%zu\">\n",
            budget->count, budget->broken);
    for (size_t i = 0; i < budget->count; i++) {
        const haul_limit *const limit = &budget->limits[i];
        fputs("<testcase classname=\"budget\" name=\"", out);
        print_xml(limit->what, out);
        fputs("\" file=\"", out);
        print_xml(budget->file, out);
        fprintf(out, "\" line=\"%d\">", limit->line);
        if (limit->is_broken)
            fprintf(out, "<failure message=\"%s, at most %s is allowed\"/>",
                    say_value(limit, limit->measured).text, say_value(limit, limit->most).text);
        fputs("</testcase>\n", out);
    }
    fputs("</testsuite>\n</testsuites>\n", out);
    return ferror(out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the report") : HAUL_OK;
}
