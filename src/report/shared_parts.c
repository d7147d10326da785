/* Parts that several reports share: losses, cautions and notes of a profile, and names of costs. */
#include "report/shared_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/intervals.h"
#include "report/document.h"
#include "report/wording.h"

enum { NAME_WIDTH = 48, MOST_LOSSES = 3 };

/* A profile that lost operations makes every total too small: this stands in the answer. */
void hl_report_losses(haul_report *report, const haul_workload *workload)
{
    /* The answer stays short however much a profile lost. */
    const size_t count = workload->loss_count, shown = count > MOST_LOSSES ? MOST_LOSSES : count;
    for (size_t i = 0; i < shown; i++)
        haul_report_line(report, "incomplete", "%.600s", workload->losses[i].text);
    if (count > shown)
        haul_report_line(report, "incomplete", "and %zu more: --format json lists them",
                         count - shown);
}

void hl_report_loss_list(haul_report *report, const haul_workload *workload)
{
    static const haul_column losses[] = {{"", .unit = HAUL_UNIT_TEXT},
                                         {0}}; /* people read the lines */
    haul_table *list = haul_report_list(report, "losses", losses);
    for (size_t i = 0; i < workload->loss_count; i++)
        haul_table_row(list, HAUL_CELLS(haul_cell_text(workload->losses[i].text)));
}

/* The first note of several, with how many more there are: the answer stays five lines long. */
void hl_report_caution(haul_report *report, const haul_workload *workload)
{
    const size_t count = workload->missing_count + workload->repair_count;
    char more[64] = "";
    if (count > 1)
        (void)snprintf(more, sizeof more, "; and %zu more (--verbose)", count - 1);
    /* The profile's gaps come first: they can make an answer wrong, where a repair was already
     * made. */
    if (workload->missing_count)
        haul_report_line(report, "caution", "the profile lacks: %.600s%s",
                         workload->missing[0].text, more);
    else if (count)
        haul_report_line(report, "caution", "%.600s%s", workload->repairs[0].text, more);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *hl_report_profile_name(const char *const *sources, size_t count, size_t at)
{
    const char *name = file_name(sources[at]);
    for (size_t i = 0; i < count; i++)
        if (i != at && strcmp(sources[i], sources[at]) != 0 && !strcmp(file_name(sources[i]), name))
            return sources[at];
    return name;
}

void hl_report_sentences(haul_table *parent, const char *key, const haul_column *column,
                         const char *const *texts, size_t count)
{
    haul_table *list = haul_report_list(parent, key, column);
    for (size_t i = 0; i < count; i++)
        haul_table_row(list, HAUL_CELLS(haul_cell_text(texts[i])));
}

/* Repairs with how often each was made; once needs no number. */
void hl_report_notes(haul_report *report, const haul_workload *workload)
{
    static const haul_column missing[] = {{"", HAUL_UNIT_TEXT, .head = "The profile lacks"}, {0}};
    static const haul_column repaired[] = {{NULL, HAUL_UNIT_TEXT, .head = "Repaired"}, {0}};
    static const haul_column repairs[] = {
        {"text", .unit = HAUL_UNIT_TEXT}, {"count", HAUL_UNIT_COUNT, .optional = true}, {0}};
    hl_report_loss_list(report, workload);
    haul_table *lacking = haul_report_list(report, "missing", missing);
    for (size_t i = 0; i < workload->missing_count; i++)
        haul_table_row(lacking, HAUL_CELLS(haul_cell_text(workload->missing[i].text)));
    haul_table *rows = haul_report_table(report, "repairs", repairs);
    haul_table *list = haul_report_list(report, NULL, repaired);
    for (size_t i = 0; i < workload->repair_count; i++) {
        const haul_note *repair = &workload->repairs[i];
        char text[1100];
        haul_table_row(rows,
                       HAUL_CELLS(haul_cell_text(repair->text),
                                  haul_cell_count(repair->count ? repair->count : HAUL_NO_COUNT)));
        (void)snprintf(text, sizeof text, repair->count ? "%.1000s (%s)" : "%.1000s", repair->text,
                       hl_report_say_number_of(repair->count, "time", NULL).text);
        haul_table_row(list, HAUL_CELLS(haul_cell_text(text)));
    }
}

/* Demangled names of kernels are shortened: a template's is thousands of characters long. */
const char *hl_report_say_cost(const haul_workload *workload, const haul_cost_row *row, char *text)
{
    const hl_report_words size = hl_report_say_bytes(row->bytes);
    const char *of = row->bytes ? " of " : "", *bytes = row->bytes ? size.text : "";
    if (row->kind == HAUL_OP_COPY)
        (void)snprintf(text, HL_REPORT_COST_NAME_BYTES, "copy %s%s%s",
                       hl_report_say_copies(row->direction, row->memory).text, of, bytes);
    else if (row->kind == HAUL_OP_MEMSET)
        (void)snprintf(text, HL_REPORT_COST_NAME_BYTES, "memset%s%s", of, bytes);
    else if (row->kind == HAUL_OP_MESSAGE)
        (void)snprintf(text, HL_REPORT_COST_NAME_BYTES, "message%s%s", of, bytes);
    else if (*haul_workload_string(workload, row->name))
        hl_report_shorten_name(haul_workload_string(workload, row->name), NAME_WIDTH, text,
                               HL_REPORT_COST_NAME_BYTES);
    else
        (void)snprintf(text, HL_REPORT_COST_NAME_BYTES, "kernel without a name");
    return text;
}

static int compare_names(const void *a, const void *b)
{
    const haul_range_use *x = a, *y = b;
    return hl_base_compare_unsigned(x->name, y->name);
}

/* Both lists are of the same names, each in an order of its own: this one is put in that of the
 * names. */
static const haul_range_use *find_use(const haul_range_use *by_name, size_t count, uint32_t name)
{
    const haul_range_use sought = {.name = name};
    return count ? bsearch(&sought, by_name, count, sizeof *by_name, compare_names) : NULL;
}

/* A row of the table of ranges; `there` is by name. */
static void add_range(haul_table *table, const char *name, const haul_range_use *use,
                      const haul_range_use *there)
{
    haul_table_row(
        table, HAUL_CELLS(haul_cell_text(name), haul_cell_count(use->count),
                          haul_cell_time(use->time_ns), haul_cell_count(use->ops),
                          haul_cell_time(use->kernels_ns), haul_cell_time(use->copies_ns),
                          haul_cell_number(there ? 1e-9 * (double)there->kernels_ns : (double)NAN),
                          haul_cell_number(there ? 1e-9 * (double)there->copies_ns : (double)NAN)));
}

/* Programs that name each step anew have as many names as steps, and no table is read so far: what
 * is behind the first rows is one. */
static void add_other_ranges(haul_table *table, const haul_range_use *uses, size_t count,
                             const haul_range_use *there, size_t there_count)
{
    haul_range_use rest = {.name = HAUL_NONE}, rest_there = {.name = HAUL_NONE};
    char name[64];
    if (!count)
        return;
    for (size_t i = 0; i < count; i++) {
        const haul_range_use *then = find_use(there, there_count, uses[i].name);
        rest.count += uses[i].count;
        rest.ops += uses[i].ops;
        rest.time_ns = hl_base_add_ns(rest.time_ns, uses[i].time_ns);
        rest.kernels_ns = hl_base_add_ns(rest.kernels_ns, uses[i].kernels_ns);
        rest.copies_ns = hl_base_add_ns(rest.copies_ns, uses[i].copies_ns);
        rest_there.kernels_ns = hl_base_add_ns(rest_there.kernels_ns, then ? then->kernels_ns : 0);
        rest_there.copies_ns = hl_base_add_ns(rest_there.copies_ns, then ? then->copies_ns : 0);
    }
    (void)snprintf(name, sizeof name, "(%zu other names)", count);
    add_range(table, name, &rest, there ? &rest_there : NULL);
}

void hl_report_ranges(haul_report *report, const haul_workload *workload,
                      const int64_t *durations_ns)
{
    enum { SHOWN = 2, MOST_NAMED = 10000 };
    static const haul_column columns[] = {
        {"name", HAUL_UNIT_NAME, .head = "Range"},
        {"count", HAUL_UNIT_COUNT, .head = "count"},
        {"time_s", HAUL_UNIT_TIME, .head = "on the host"},
        {"operations", HAUL_UNIT_COUNT, .head = "operations"},
        {"kernels_s", HAUL_UNIT_TIME, .head = "kernels"},
        {"copies_s", HAUL_UNIT_TIME, .head = "copies"},
        {"predicted_kernels_s", HAUL_UNIT_SECONDS, .head = "kernels there", .optional = true},
        {"predicted_copies_s", HAUL_UNIT_SECONDS, .head = "copies there", .optional = true},
        {0},
    };
    haul_range_use *uses = NULL, *there = NULL;
    size_t count = 0, there_count = 0;
    if (!workload->range_count)
        return;
    if (haul_range_uses(workload, NULL, &uses, &count, NULL) ||
        (durations_ns && haul_range_uses(workload, durations_ns, &there, &there_count, NULL))) {
        hl_report_no_memory(report);
        free(uses);
        return;
    }
    if (there_count)
        qsort(there, there_count, sizeof *there, compare_names);
    haul_table *table = haul_report_table(report, "ranges", columns);
    haul_table_limit(table, SHOWN);
    const size_t named = count <= MOST_NAMED ? count : (size_t)MOST_NAMED;
    for (size_t i = 0; i < named; i++)
        add_range(table, haul_workload_string(workload, uses[i].name), &uses[i],
                  find_use(there, there_count, uses[i].name));
    add_other_ranges(table, uses + named, count - named, there, there_count);
    free(uses);
    free(there);
}

void hl_report_host(haul_report *report, const haul_host_time *host)
{
    const char *turns = host->has_turns ? ", and that two of its threads take turns" : "";
    if (host->is_given)
        haul_report_line(report, "host", "its time divided by %.3g, as asked%s", 1 / host->likely,
                         host->has_turns ? "; assumes that two of its threads take turns" : "");
    else if (host->is_assumed)
        haul_report_line(
            report, "host", "assumes %s%s%s, its time %.2gx to %.2gx%s; --host-speed gives another",
            *host->cpu ? "that " : "the same CPU", host->cpu,
            *host->cpu ? " is as fast as the recording CPU" : "", host->low, host->high, turns);
    else if (host->has_turns)
        haul_report_line(report, "host", "assumes that two of its threads take turns");
}

void hl_report_other_makers(haul_report *report, const haul_target_row *rows, size_t count)
{
    const char *maker = NULL;
    bool are_several = false;
    for (size_t i = 0; i < count; i++) {
        const char *of = rows[i].missing ? NULL : rows[i].other_maker;
        are_several |= of && maker && strcmp(of, maker) != 0;
        maker = of ? of : maker;
    }
    if (maker)
        haul_report_line(report, "needs",
                         "the program built for %s%s GPUs; assumes libraries as efficient there",
                         are_several ? "other makers'" : maker, are_several ? "" : "'s");
}

void hl_report_hosts(haul_report *report, const haul_target_row *rows, size_t count,
                     const char *what)
{
    size_t assumed = 0, turns = 0;
    char bounded[64];
    for (size_t i = 0; i < count; i++) {
        assumed += !rows[i].missing && rows[i].host.is_assumed;
        turns += !rows[i].missing && rows[i].host.has_turns;
    }
    (void)snprintf(bounded, sizeof bounded, "%zu %s%s where it takes over a quarter",
                   assumed ? assumed : turns, what, (assumed ? assumed : turns) == 1 ? "" : "s");
    if (assumed)
        haul_report_line(report, "host",
                         "assumes the same CPU as recorded%s on %s; --host-speed gives another",
                         turns ? ", and that two of its threads take turns," : "", bounded);
    else if (turns)
        haul_report_line(report, "host", "assumes that two of its threads take turns on %s",
                         bounded);
}
