/* Writing a report in the form that is asked for. */
#include "base/fail.h"
#include "base/numerals.h"
#include "report/document.h"

/* Rows that are made while they are written may fail then, after half of the report is out: the
 * status says so. */
haul_status haul_report_write(const haul_report *report, const haul_report_options *options,
                              FILE *out, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    /* A report that could not be built whole is not written at all. */
    if (!report || report->document->failed)
        return hl_base_fail_no_memory(error);
    HAUL_TRY(hl_report_rows_check(report, error));
    if (options->format == HAUL_FORMAT_JSON)
        hl_report_write_json(report, out);
    else if (options->format == HAUL_FORMAT_CSV)
        HAUL_TRY(hl_report_write_csv(report, options->table, out, error));
    else if (options->format == HAUL_FORMAT_MARKDOWN)
        hl_report_write_markdown(report, options, out);
    else if (!hl_report_write_terminal(report, options, out))
        return hl_base_fail_no_memory(error);
    for (const haul_table *part = report; part; part = part->reading) {
        if (part->made && part->made->document->failed)
            return hl_base_fail_no_memory(error);
        if (part->made)
            HAUL_TRY(hl_report_rows_check(part->made, error));
    }
    return ferror(out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the report") : HAUL_OK;
}
