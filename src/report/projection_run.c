/* The whole run in a projection's table. */
#include <stddef.h>
#include <string.h>

#include "report/report_fields.h"
#include "report/report_projection.h"
#include "report/wording.h"

enum { NAME_WIDTH = 48 };

static haul_words share_of(int64_t part_ns, int64_t whole_ns)
{
    return haul_say_share(haul_share_of((double)part_ns, (double)whole_ns));
}

static haul_words say_ns_interval(int64_t low_ns, int64_t high_ns)
{
    return haul_say_interval(1e-9 * (double)low_ns, 1e-9 * (double)high_ns);
}

/* The parts of a makespan, in the order of the table's rows. */
static const struct part {
    const char *name;
    size_t offset;
} parts[] = {
    {"kernels alone", offsetof(haul_breakdown, kernels_ns)},
    {"copies behind kernels", offsetof(haul_breakdown, hidden_ns)},
    {"copies both ways", offsetof(haul_breakdown, both_ways_ns)},
    {"copies alone", offsetof(haul_breakdown, exposed_ns)},
    {"the host alone", offsetof(haul_breakdown, idle_ns)},
    {"makespan", offsetof(haul_breakdown, makespan_ns)},
};

static int64_t part_at(const haul_breakdown *run, size_t offset)
{
    return *(const int64_t *)(const void *)((const char *)run + offset);
}

void haul_fill_parts(haul_grid *table, const haul_projection_page *page)
{
    static const char *const heads[] = {"<The whole run", "recorded", "share", "on target",
                                        "share",          "truth",    "share"};
    const haul_projection *projection = page->projection;
    const haul_breakdown *const runs[] = {&projection->recorded_run, &projection->target_run,
                                          &projection->reference_run};
    const size_t count = page->options->reference ? 3 : 2;
    haul_grid_begin(table, heads, 1 + 2 * count);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        haul_grid_cell(table, "%s", parts[p].name);
        for (size_t r = 0; r < count; r++) {
            const int64_t part_ns = part_at(runs[r], parts[p].offset);
            haul_grid_cell(table, "%s", haul_say_time(part_ns).text);
            haul_grid_cell(table, "%s", share_of(part_ns, runs[r]->makespan_ns).text);
        }
    }
}

static bool print_parts(const haul_projection_page *page)
{
    haul_grid table;
    haul_fill_parts(&table, page);
    return haul_report_print_part(&table, page->out);
}

static void print_verdict(const haul_projection_page *page)
{
    const haul_projection *projection = page->projection;
    const int64_t target_ns = projection->target_run.makespan_ns;
    haul_print_paragraph(
        page->out, "",
        "From the first start to the last end on a device: %s on %s%s, %s of the recorded; %s with "
        "every copy and kernel at the low, or at the high end of its interval.",
        haul_say_time(target_ns).text, page->options->to->name,
        projection->kernels_missing && projection->recorded_kernels_s > 0
            ? " if its kernels took as long as recorded"
            : "",
        share_of(target_ns, projection->recorded_run.makespan_ns).text,
        say_ns_interval(projection->low_ns, projection->high_ns).text);
    const int64_t truth_ns = projection->reference_run.makespan_ns;
    if (page->options->reference && truth_ns > 0)
        haul_print_paragraph(page->out, "", "The truth took %s: the prediction is %+.1f %% off.",
                             haul_say_time(truth_ns).text,
                             100 * (double)(target_ns - truth_ns) / (double)truth_ns);
}

static void put_path_row(haul_grid *table, const char *name, uint64_t count, int64_t ns,
                         int64_t all_ns)
{
    haul_grid_cell(table, "%s", name);
    haul_grid_cell(table, "%s", count ? haul_say_count(count).text : "");
    haul_grid_cell(table, "%s", haul_say_time(ns).text);
    haul_grid_cell(table, "%s", share_of(ns, all_ns).text);
}

static void put_path_operation(const haul_projection_page *page, haul_grid *table,
                               const haul_cost_row *row)
{
    char text[4 * NAME_WIDTH + 8];
    const char *name = haul_workload_string(page->workload, row->name);
    haul_words copies = {"memset"};
    if (row->kind == HAUL_OP_KERNEL)
        name = *name ? haul_shorten_name(name, NAME_WIDTH, text, sizeof text)
                     : "kernel without a name";
    else if (row->kind == HAUL_OP_COPY)
        copies = haul_say_copies(row->direction, row->memory);
    put_path_row(table, row->kind == HAUL_OP_KERNEL ? name : copies.text, row->count, row->time_ns,
                 page->projection->target_run.makespan_ns);
}

void haul_fill_path(haul_grid *table, const haul_projection_page *page)
{
    static const char *const heads[] = {"<Critical path on the target", "count", "time", "share"};
    const haul_critical_path *path = &page->projection->critical;
    const int64_t all_ns = page->projection->target_run.makespan_ns;
    int64_t rest_ns = all_ns - path->host_ns;
    haul_grid_begin(table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < path->largest_count; i++) {
        put_path_operation(page, table, &path->largest[i]);
        rest_ns -= path->largest[i].time_ns;
    }
    if (rest_ns > 0)
        put_path_row(table, "other operations", 0, rest_ns, all_ns);
    put_path_row(table, "the host", 0, path->host_ns, all_ns);
}

static bool print_path(const haul_projection_page *page)
{
    haul_grid table;
    haul_fill_path(&table, page);
    return haul_report_print_part(&table, page->out);
}

/* ", kernels 12.3 %" after what is there, where there are any. */
static void add_kind(char *text, size_t size, const char *name, int64_t ns, int64_t all_ns)
{
    const size_t used = strlen(text);
    if (ns > 0)
        snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", name,
                 share_of(ns, all_ns).text);
}

static void print_path_kinds(const haul_projection_page *page)
{
    const haul_critical_path *path = &page->projection->critical;
    const int64_t all_ns = page->projection->target_run.makespan_ns;
    char text[512] = "", name[64];
    for (int d = 0; d < HAUL_DIRECTIONS; d++) {
        snprintf(name, sizeof name, "%s copies", haul_direction_text((haul_direction)d));
        add_kind(text, sizeof text, name, path->copies_ns[d], all_ns);
    }
    add_kind(text, sizeof text, "kernels", path->kernels_ns, all_ns);
    add_kind(text, sizeof text, "memsets", path->memsets_ns, all_ns);
    add_kind(text, sizeof text, "the host", path->host_ns, all_ns);
    haul_print_paragraph(page->out, "",
                         "What decides the end, each waiting for the one before it: %s. The host: "
                         "its calls, what lies between them, and from call to start.",
                         text);
}

/* What the replay's error says of the prediction. */
static void print_replay(const haul_projection_page *page)
{
    const haul_replay *replay = &page->projection->replay;
    haul_print_paragraph(
        page->out, "",
        "Identity replay: with its own durations the recording comes back as %s, %+.2f %%; its "
        "starts are off by %s in the median, %s at 90 %%, %s at worst. A gain below the error of "
        "the makespan says nothing.",
        haul_say_time(replay->replayed_ns).text, replay->error,
        haul_say_seconds(1e-9 * replay->start_median_ns).text,
        haul_say_seconds(1e-9 * replay->start_p90_ns).text,
        haul_say_seconds(1e-9 * replay->start_worst_ns).text);
}

static void print_release(const haul_projection_page *page)
{
    const haul_replay *replay = &page->projection->replay;
    if (page->projection->release == HAUL_RELEASE_RECORDED) {
        haul_print_paragraph(page->out, "",
                             "The profile has no calls that issued device work, so no operation "
                             "starts earlier than recorded: a faster machine shows only where "
                             "operations waited for each other.");
        return;
    }
    haul_print_paragraph(page->out, "",
                         "What the host did between its calls takes as long as recorded; waits and "
                         "copies that block last as long as the target makes them.");
    if (replay->unissued)
        haul_print_paragraph(page->out, "",
                             "%s of %s have no call in the profile: they start as soon as their "
                             "stream allows.",
                             haul_say_count(replay->unissued).text,
                             haul_say_number_of(replay->ops, "operation", NULL).text);
}

bool haul_projection_print_run(const haul_projection_page *page)
{
    const haul_projection *projection = page->projection;
    if (projection->run_missing) {
        fputc('\n', page->out);
        haul_print_paragraph(page->out, "", "The whole run is not predicted: %s.",
                             projection->run_missing);
        return true;
    }
    if (!projection->replay.ops)
        return true;
    bool printed = print_parts(page);
    print_verdict(page);
    print_replay(page);
    print_release(page);
    printed &= print_path(page);
    print_path_kinds(page);
    return printed;
}
