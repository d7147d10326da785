/* What several reports say in the same way: losses, cautions and notes of a profile, and names of
 * costs.
 */
#include "report/shared_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/wording.h"

enum { NAME_WIDTH = 48, MOST_LOSSES = 3 };

/* A profile that lost operations makes every total too small: this stands in the answer. */
void haul_report_losses(haul_report *report, const haul_workload *workload)
{
    /* The answer stays short however much a profile lost. */
    const size_t count = workload->loss_count, shown = count > MOST_LOSSES ? MOST_LOSSES : count;
    for (size_t i = 0; i < shown; i++)
        haul_report_line(report, "incomplete", "%.600s", workload->losses[i].text);
    if (count > shown)
        haul_report_line(report, "incomplete", "and %zu more: --format json lists them",
                         count - shown);
}

void haul_report_loss_list(haul_report *report, const haul_workload *workload)
{
    static const haul_column losses[] = {{"", .unit = HAUL_TEXT}, {0}}; /* people read the lines */
    haul_table *list = haul_report_list(report, "losses", losses);
    for (size_t i = 0; i < workload->loss_count; i++)
        haul_table_row(list, workload->losses[i].text);
}

/* The first note of several, with how many more there are: the answer stays five lines long. */
void haul_report_caution(haul_report *report, const haul_workload *workload)
{
    const size_t count = workload->missing_count + workload->repair_count;
    char more[64] = "";
    if (count > 1)
        (void)snprintf(more, sizeof more, "; and %zu more (--verbose)", count - 1);
    /* What the profile lacks comes first: it can make an answer wrong, where a repair was already
     * made. */
    if (workload->missing_count)
        haul_report_line(report, "caution", "the profile lacks: %.600s%s",
                         workload->missing[0].text, more);
    else if (count)
        haul_report_line(report, "caution", "%.600s%s", workload->repairs[0].text, more);
}

void haul_report_sentences(haul_table *parent, const char *key, const haul_column *column,
                           const char *const *texts, size_t count)
{
    haul_table *list = haul_report_list(parent, key, column);
    for (size_t i = 0; i < count; i++)
        haul_table_row(list, texts[i]);
}

/* Repairs with how often each was made; once needs no number. */
void haul_report_notes(haul_report *report, const haul_workload *workload)
{
    static const haul_column missing[] = {{"", HAUL_TEXT, .head = "The profile lacks"}, {0}};
    static const haul_column repaired[] = {{NULL, HAUL_TEXT, .head = "Repaired"}, {0}};
    static const haul_column repairs[] = {
        {"text", .unit = HAUL_TEXT}, {"count", HAUL_COUNT, .optional = true}, {0}};
    haul_report_loss_list(report, workload);
    haul_table *lacking = haul_report_list(report, "missing", missing);
    for (size_t i = 0; i < workload->missing_count; i++)
        haul_table_row(lacking, workload->missing[i].text);
    haul_table *rows = haul_report_table(report, "repairs", repairs);
    haul_table *list = haul_report_list(report, NULL, repaired);
    for (size_t i = 0; i < workload->repair_count; i++) {
        const haul_note *repair = &workload->repairs[i];
        char text[1100];
        haul_table_row(rows, repair->text, repair->count ? repair->count : HAUL_NO_COUNT);
        (void)snprintf(text, sizeof text, repair->count ? "%.1000s (%s)" : "%.1000s", repair->text,
                       haul_say_number_of(repair->count, "time", NULL).text);
        haul_table_row(list, text);
    }
}

/* Demangled names of kernels are shortened: a template's is thousands of characters long. */
const char *haul_say_cost(const haul_workload *workload, const haul_cost_row *row, char *text)
{
    const haul_words size = haul_say_bytes(row->bytes);
    const char *of = row->bytes ? " of " : "", *bytes = row->bytes ? size.text : "";
    if (row->kind == HAUL_OP_COPY)
        (void)snprintf(text, HAUL_COST_NAME_BYTES, "copy %s%s%s",
                       haul_say_copies(row->direction, row->memory).text, of, bytes);
    else if (row->kind == HAUL_OP_MEMSET)
        (void)snprintf(text, HAUL_COST_NAME_BYTES, "memset%s%s", of, bytes);
    else if (*haul_workload_string(workload, row->name))
        haul_shorten_name(haul_workload_string(workload, row->name), NAME_WIDTH, text,
                          HAUL_COST_NAME_BYTES);
    else
        (void)snprintf(text, HAUL_COST_NAME_BYTES, "kernel without a name");
    return text;
}

/* Both lists are of the same names, in an order of their own. */
static const haul_range_use *find_use(const haul_range_use *uses, size_t count, uint32_t name)
{
    for (size_t i = 0; i < count; i++)
        if (uses[i].name == name)
            return &uses[i];
    return NULL;
}

void haul_report_ranges(haul_report *report, const haul_workload *workload,
                        const int64_t *durations_ns)
{
    enum { SHOWN = 2 };
    static const haul_column columns[] = {
        {"name", HAUL_NAME, .head = "Range"},
        {"count", HAUL_COUNT, .head = "count"},
        {"time_s", HAUL_TIME, .head = "on the host"},
        {"operations", HAUL_COUNT, .head = "operations"},
        {"kernels_s", HAUL_TIME, .head = "kernels"},
        {"copies_s", HAUL_TIME, .head = "copies"},
        {"predicted_kernels_s", HAUL_SECONDS, .head = "kernels there", .optional = true},
        {"predicted_copies_s", HAUL_SECONDS, .head = "copies there", .optional = true},
        {0},
    };
    haul_range_use *uses = NULL, *there = NULL;
    size_t count = 0, there_count = 0;
    if (!workload->range_count || haul_range_uses(workload, NULL, &uses, &count, NULL) ||
        (durations_ns && haul_range_uses(workload, durations_ns, &there, &there_count, NULL))) {
        free(uses);
        return;
    }
    haul_table *table = haul_report_table(report, "ranges", columns);
    haul_table_limit(table, SHOWN);
    for (size_t i = 0; i < count; i++) {
        const haul_range_use *use = &uses[i];
        const haul_range_use *then = find_use(there, there_count, use->name);
        haul_table_row(table, haul_workload_string(workload, use->name), use->count, use->time_ns,
                       use->ops, use->kernels_ns, use->copies_ns,
                       then ? 1e-9 * (double)then->kernels_ns : (double)NAN,
                       then ? 1e-9 * (double)then->copies_ns : (double)NAN);
    }
    free(uses);
    free(there);
}
