/* Why a kernel takes what it takes: the times that no kernel of its counts can be faster than, the
 * largest of which is its bound, and what would change it. */
#include <math.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/wording.h"

/* Advice for a kernel, by its bound. */
static const char *advice_of(const haul_kernel_explanation *why)
{
    static const char uneven[] =
        "More blocks: smaller ones, or the work cut finer, until all multiprocessors have as many; "
        "or a higher clock, or more multiprocessors, up to one for each block. More bandwidth "
        "changes nothing.";
    static const char *const advice[HAUL_KERNEL_BOUNDS] = {
        [HAUL_KERNEL_BOUND_LAUNCH] =
            "Fewer, larger launches: fuse it with its neighbours, or record them "
            "as a graph.",
        [HAUL_KERNEL_BOUND_MEMORY] =
            "Fewer bytes: narrower types, data used again in shared memory or caches, kernels "
            "fused so that what one writes the next need not read; or memory with more bandwidth. "
            "More cores or clock change nothing.",
        [HAUL_KERNEL_BOUND_ARITHMETIC] =
            "Fewer or cheaper operations: fused multiply-adds, lower precision, matrix units; or "
            "more cores and clock. More bandwidth changes nothing.",
        [HAUL_KERNEL_BOUND_LATENCY] =
            "Less waiting inside the multiprocessors: accesses of a warp side by side (coalesced, "
            "without conflicts of banks), more work a thread, more resident warps; or more "
            "multiprocessors and clock.",
        [HAUL_KERNEL_BOUND_LOW_OCCUPANCY] =
            "More blocks: smaller ones, or the work cut finer, until every multiprocessor has "
            "some; "
            "or a higher clock. More multiprocessors or bandwidth change nothing.",
    };
    /* Every multiprocessor may have a block, but some have more than others. */
    if (why->bound == HAUL_KERNEL_BOUND_LOW_OCCUPANCY && why->busiest > 1)
        return uneven;
    return (unsigned)why->bound < HAUL_KERNEL_BOUNDS ? advice[why->bound] : "";
}

/* A size on a machine for people, then every bound: as a table in JSON's explanation, and in rows
 * of CSV, which say the kernel and its time each. */
static void add_one(haul_report *report, haul_table *parent, haul_table *csv,
                    const haul_kernel_predictions *all, const haul_kernel_predicted *of)
{
    static const haul_column columns[] = {{"bound", .unit = HAUL_UNIT_TEXT},
                                          {NULL, HAUL_UNIT_TEXT, .head = "Cannot be faster than"},
                                          {"time_s", HAUL_UNIT_SECONDS, .head = "time"},
                                          {"share", HAUL_UNIT_SHARE, .head = "of the time"},
                                          {0}};
    const haul_kernel_explanation *why = &of->why;
    const char *bound = haul_kernel_bound_text(why->bound);
    char idle[120] = "";
    if (why->idle > 0)
        (void)snprintf(idle, sizeof idle, "; %s of the multiprocessors' time is without a block",
                       hl_report_say_share(why->idle).text);
    haul_report_say(report, "%.100s at size %.17g on %.100s: %s (%s), bound by %s", all->kernel,
                    of->size, of->machine->name, hl_report_say_seconds(why->estimate.seconds).text,
                    hl_report_say_interval(why->estimate.low_s, why->estimate.high_s).text, bound);
    /* On the machine of the measurement there is nothing to scale. */
    if (of->machine != all->source)
        haul_report_line(report, "measured", "%s on %.100s; without the launches %.3g times that",
                         hl_report_say_seconds(why->source_s).text, all->source->name, why->ratio);
    haul_report_line(report, "blocks", "%.0f, at most %.4g on one multiprocessor%s", why->blocks,
                     why->busiest, idle);
    haul_report_line(report, "if", "its bound were twice as fast: %s",
                     hl_report_say_seconds(why->if_rate).text);
    haul_report_line(report, "advice", "%s", advice_of(why));
    haul_table *terms = haul_report_table(parent, "terms", columns);
    for (int i = 0; i < HAUL_KERNEL_BOUNDS; i++) {
        const haul_kernel_term *term = &why->terms[i];
        const char *name = haul_kernel_bound_text((haul_kernel_bound)i);
        /* A bound of 0 seconds was not computed: the counts or the machine lack what it needs. */
        const bool is_known = term->seconds > 0, is_bound = (int)why->bound == i;
        char label[80];
        (void)snprintf(label, sizeof label, "%s%s", name, is_bound ? " (the bound)" : "");
        haul_table_row(terms, HAUL_CELLS(haul_cell_text(name), haul_cell_text(label),
                                         haul_cell_number(is_known ? term->seconds : (double)NAN),
                                         haul_cell_number(is_known ? term->share : (double)NAN)));
        haul_table_row(csv,
                       HAUL_CELLS(haul_cell_text(all->kernel), haul_cell_text(of->machine->name),
                                  haul_cell_number(of->size),
                                  haul_cell_number(why->estimate.seconds), haul_cell_text(bound),
                                  haul_cell_text(name), haul_cell_number(term->seconds),
                                  haul_cell_number(term->share), haul_cell_flag(is_bound)));
    }
}

/* Each row of CSV is one term, so that a spreadsheet can draw them. */
haul_report *haul_report_kernel_why(const haul_kernel_predictions *of)
{
    static const haul_column head[] = {
        {"kernel", .unit = HAUL_UNIT_TEXT}, {"source_machine", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column columns[] = {
        {"machine", .unit = HAUL_UNIT_TEXT},
        {"size", .unit = HAUL_UNIT_NUMBER},
        {"time_s", .unit = HAUL_UNIT_SECONDS},
        {"interval_s", .unit = HAUL_UNIT_INTERVAL},
        {"bound", .unit = HAUL_UNIT_TEXT},
        {"source_time_s", .unit = HAUL_UNIT_SECONDS},
        {"ratio", .unit = HAUL_UNIT_FACTOR},
        {"twice_as_fast_s", .unit = HAUL_UNIT_SECONDS},
        {"blocks", .unit = HAUL_UNIT_NUMBER},
        {"busiest_blocks", .unit = HAUL_UNIT_NUMBER},
        {"idle_share", .unit = HAUL_UNIT_SHARE},
        {"advice", .unit = HAUL_UNIT_TEXT},
        {0},
    };
    static const haul_column term[] = {
        {NULL, HAUL_UNIT_TEXT, .csv = "kernel"},    {NULL, HAUL_UNIT_TEXT, .csv = "machine"},
        {NULL, HAUL_UNIT_NUMBER, .csv = "size"},    {NULL, HAUL_UNIT_SECONDS, .csv = "seconds"},
        {NULL, HAUL_UNIT_TEXT, .csv = "bound"},     {NULL, HAUL_UNIT_TEXT, .csv = "term"},
        {NULL, HAUL_UNIT_SECONDS, .csv = "term_s"}, {NULL, HAUL_UNIT_SHARE, .csv = "share"},
        {NULL, HAUL_UNIT_FLAG, .csv = "is_bound"},  {0},
    };
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("kernel explanations");
    haul_report_object(report, NULL, head,
                       HAUL_CELLS(haul_cell_text(of->kernel), haul_cell_text(of->source->name)));
    haul_table *all = haul_report_table(report, "explanations", columns);
    haul_table *csv = haul_report_table(report, NULL, term);
    haul_table_csv(csv);
    for (size_t i = 0; i < of->count; i++) {
        const haul_kernel_explanation *why = &of->items[i].why;
        haul_table_row(all,
                       HAUL_CELLS(haul_cell_text(of->items[i].machine->name),
                                  haul_cell_number(of->items[i].size),
                                  haul_cell_number(why->estimate.seconds),
                                  haul_cell_interval(why->estimate.low_s, why->estimate.high_s),
                                  haul_cell_text(haul_kernel_bound_text(why->bound)),
                                  haul_cell_number(why->source_s), haul_cell_number(why->ratio),
                                  haul_cell_number(why->if_rate), haul_cell_number(why->blocks),
                                  haul_cell_number(why->busiest), haul_cell_number(why->idle),
                                  haul_cell_text(advice_of(why))));
        add_one(report, all, csv, of, &of->items[i]);
    }
    return report;
}
