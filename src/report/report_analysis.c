#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/numerals.h"
#include "base/table.h"
#include "report/analysis_tables.h"
#include "report/report_analysis.h"
#include "report/report_fields.h"
#include "report/wording.h"

enum { BAR_WIDTH = 12, DEVICES_SHOWN = 16 };

typedef struct page {
    const haul_workload *workload;
    const haul_analysis *analysis;
    FILE *out;
    haul_arena arena;
    bool failed;
} page;

static void print_table(page *self, haul_table *table)
{
    self->failed |= !haul_report_print_part(table, self->out);
}

/* "a" and "b" as "a, b"; the page's. */
static const char *join(page *self, const char *text, const char *more)
{
    const char *joined = haul_arena_format(&self->arena, "%s, %s", text, more);
    self->failed |= !joined;
    return joined ? joined : text;
}

static const char *describe_device(page *self, const haul_workload_device *device)
{
    const char *text = device->name ? device->name : "not described by the profile";
    if (device->multiprocessors)
        text = join(self, text,
                    haul_say_number_of(device->multiprocessors, "multiprocessor", NULL).text);
    if (device->memory_bytes)
        text = join(self, text, haul_say_bytes(device->memory_bytes).text);
    if (device->memory_bandwidth_Bps > 0)
        text = join(self, text, haul_say_rate(device->memory_bandwidth_Bps).text);
    if (device->copy_engines)
        text = join(self, text, haul_say_number_of(device->copy_engines, "copy engine", NULL).text);
    return text;
}

/* The device of number `at` in the analysis; NULL where the profile does not name it. */
static const haul_workload_device *device_at(const page *self, size_t at)
{
    const uint32_t index = self->analysis->devices[at].device;
    return index == HAUL_NONE ? NULL : &self->workload->devices[index];
}

static bool is_alike(const haul_workload_device *a, const haul_workload_device *b)
{
    return (a->name == b->name || (a->name && b->name && !strcmp(a->name, b->name))) &&
           a->multiprocessors == b->multiprocessors && a->memory_bytes == b->memory_bytes &&
           !(a->memory_bandwidth_Bps < b->memory_bandwidth_Bps) &&
           !(a->memory_bandwidth_Bps > b->memory_bandwidth_Bps) &&
           a->copy_engines == b->copy_engines;
}

/* One line for the devices from number `at` on that are alike and have ids in a row. Returns the
 * number after them. */
static size_t print_like_devices(page *self, size_t at)
{
    const haul_workload_device *first = device_at(self, at);
    if (!first) {
        haul_print_wrapped("device      ", "not named by some operations", self->out);
        return at + 1;
    }
    size_t end = at + 1;
    for (; end < self->analysis->device_count; end++) {
        const haul_workload_device *next = device_at(self, end);
        if (!next || next->id != first->id + (end - at) || !is_alike(first, next))
            break;
    }
    char label[64], ids[48];
    if (end == at + 1)
        snprintf(ids, sizeof ids, "%" PRIu64, first->id);
    else
        snprintf(ids, sizeof ids, "%" PRIu64 "-%" PRIu64, first->id, first->id + (end - at - 1));
    snprintf(label, sizeof label, "device %-4s ", ids);
    haul_print_wrapped(label, describe_device(self, first), self->out);
    return end;
}

static void print_more_devices(const page *self, size_t shown)
{
    if (shown < self->analysis->device_count)
        fprintf(self->out, "and %s\n",
                haul_say_number_of(self->analysis->device_count - shown, "more device", NULL).text);
}

static void print_header(page *self)
{
    const haul_workload *workload = self->workload;
    const haul_analysis *analysis = self->analysis;
    haul_print_wrapped("profile     ", workload->source ? workload->source : "", self->out);
    haul_print_wrapped("format      ", workload->format ? workload->format : "", self->out);
    size_t shown = 0;
    for (int i = 0; i < DEVICES_SHOWN && shown < analysis->device_count; i++)
        shown = print_like_devices(self, shown);
    print_more_devices(self, shown);
    char text[300];
    snprintf(
        text, sizeof text, "%s on %s of %s; %s",
        haul_say_number_of(workload->counts.device_ops, "operation", NULL).text,
        haul_say_number_of(workload->stream_count, "stream", NULL).text,
        haul_say_number_of(analysis->device_count, "device", NULL).text,
        haul_say_number_of(workload->counts.calls, "call of the host", "calls of the host").text);
    haul_print_wrapped("recorded    ", text, self->out);
    if (!analysis->device_count)
        return;
    snprintf(text, sizeof text, "%s from the first operation's start to the last one's end",
             haul_say_time(analysis->span_ns).text);
    haul_print_wrapped("span        ", text, self->out);
}

static void print_no_work(page *self)
{
    fputc('\n', self->out);
    haul_print_wrapped(
        "",
        "The profile holds no copies, kernels or memsets. Were they recorded? Nsight "
        "Systems does so with 'nsys profile --trace cuda'.",
        self->out);
}

static void print_times(page *self)
{
    haul_table table;
    haul_fill_times(&table, self->analysis);
    print_table(self, &table);
}

/* What the times say, in words: AHEAD's share, the overlap achieved. */
static void print_verdicts(page *self)
{
    const haul_analysis *analysis = self->analysis;
    if (!analysis->copies.time_ns)
        return;
    fprintf(self->out, "\nCopies took %s of the summed time of copies and kernels.\n",
            haul_say_share(analysis->copy_share).text);
    if (analysis->kernels.count)
        fprintf(self->out, "Overlap: %s of the copies' busy time lay under kernels%s.\n",
                haul_say_share(analysis->overlap_share).text,
                analysis->device_count > 1 ? " of the same device" : "");
}

static void print_devices(page *self)
{
    static const char *const heads[] = {"<By device", "copies", "busy",    "kernels",
                                        "busy",       "both",   "memsets", "idle"};
    const haul_analysis *analysis = self->analysis;
    if (analysis->device_count < 2)
        return;
    haul_table table;
    haul_table_begin(&table, heads, 8);
    const size_t shown =
        analysis->device_count < DEVICES_SHOWN ? analysis->device_count : DEVICES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const haul_workload_device_use *use = &analysis->devices[i];
        if (use->device == HAUL_NONE)
            haul_table_cell(&table, "not named");
        else
            haul_table_cell(&table, "device %" PRIu64, self->workload->devices[use->device].id);
        haul_table_cell(&table, "%s", haul_say_count(use->copies.count).text);
        haul_table_cell(&table, "%s", haul_say_time(use->busy.copy_ns).text);
        haul_table_cell(&table, "%s", haul_say_count(use->kernels.count).text);
        haul_table_cell(&table, "%s", haul_say_time(use->busy.kernel_ns).text);
        haul_table_cell(&table, "%s", haul_say_time(use->busy.both_ns).text);
        haul_table_cell(&table, "%s", haul_say_count(use->memsets.count).text);
        haul_table_cell(&table, "%s", haul_say_time(analysis->span_ns - use->busy.any_ns).text);
    }
    print_table(self, &table);
    print_more_devices(self, shown);
}

static void print_latency(page *self)
{
    const haul_analysis *analysis = self->analysis;
    const char *unknown = NULL;
    for (size_t i = 0; i < analysis->group_count; i++) {
        const haul_copy_group *group = &analysis->groups[i];
        if (!isnan(group->latency_s))
            continue;
        const haul_words copies = haul_say_copies(group->direction, group->memory);
        unknown = unknown ? join(self, unknown, copies.text)
                          : haul_arena_string(&self->arena, copies.text);
    }
    if (!isnan(analysis->latency_share))
        fprintf(self->out, "Latency took %s of the time of the copies%s.\n",
                haul_say_share(analysis->latency_share).text,
                unknown ? " for which it is known" : "");
    if (unknown)
        unknown = haul_arena_format(&self->arena,
                                    "No latency for %s: the copies are too long, or too alike in "
                                    "size, to tell it from the rate.",
                                    unknown);
    if (unknown)
        haul_print_wrapped("", unknown, self->out);
}

static void print_copies(page *self)
{
    const haul_analysis *analysis = self->analysis;
    if (!analysis->group_count)
        return;
    haul_table table;
    haul_fill_copies(&table, analysis);
    print_table(self, &table);
    haul_print_wrapped("",
                       analysis->device_count > 1
                           ? "Rate: bytes by busy time, of all devices together; median, best: of "
                             "single copies; latency: of a copy of no bytes."
                           : "Rate: bytes by busy time; median, best: of single copies; latency: "
                             "of a copy of no bytes.",
                       self->out);
    print_latency(self);
}

static void add_size_rows(haul_table *table, const char *label, const haul_totals *decades,
                          const haul_totals *all)
{
    for (int k = 0; k < HAUL_DECADES; k++) {
        const haul_totals *decade = &decades[k];
        if (!decade->count)
            continue;
        const double by_count = haul_share_of((double)decade->count, (double)all->count);
        const double by_time = haul_share_of((double)decade->time_ns, (double)all->time_ns);
        haul_table_cell(table, "%s", label);
        haul_table_cell(table, "%s", haul_say_decade(k).text);
        haul_table_cell(table, "%s", haul_say_count(decade->count).text);
        haul_table_cell(table, "%s", haul_say_share(by_count).text);
        haul_table_cell(table, "%s", haul_say_bar(by_count, BAR_WIDTH).text);
        haul_table_cell(table, "%s", haul_say_time(decade->time_ns).text);
        haul_table_cell(table, "%s", haul_say_share(by_time).text);
        haul_table_cell(table, "%s", haul_say_bar(by_time, BAR_WIDTH).text);
        label = "";
    }
}

static void sum_decades(const haul_analysis *analysis, haul_totals *sums)
{
    for (size_t i = 0; i < analysis->group_count; i++)
        for (int k = 0; k < HAUL_DECADES; k++) {
            sums[k].count += analysis->groups[i].decades[k].count;
            sums[k].time_ns += analysis->groups[i].decades[k].time_ns;
        }
}

/* AHEAD's Figure 1: copies by decade of size, by count and by time. */
static void print_sizes(page *self)
{
    static const char *const heads[] = {"<Sizes",    "bytes", "count", "share",
                                        "<by count", "time",  "share", "<by time"};
    const haul_analysis *analysis = self->analysis;
    if (!analysis->group_count)
        return;
    haul_table table;
    haul_table_begin(&table, heads, 8);
    if (analysis->group_count > 1) {
        haul_totals decades[HAUL_DECADES] = {0};
        sum_decades(analysis, decades);
        add_size_rows(&table, "all copies", decades, &analysis->copies);
    }
    for (size_t i = 0; i < analysis->group_count; i++) {
        const haul_copy_group *group = &analysis->groups[i];
        add_size_rows(&table, haul_say_copies(group->direction, group->memory).text, group->decades,
                      &analysis->copies);
    }
    print_table(self, &table);
}

static void print_largest(page *self)
{
    if (!self->analysis->largest_count)
        return;
    haul_table table;
    haul_fill_largest(&table, self->workload, self->analysis);
    print_table(self, &table);
}

static void add_host_row(haul_table *table, const char *what, uint64_t count, int64_t ns)
{
    haul_table_cell(table, "%s", what);
    haul_table_cell(table, "%s", count ? haul_say_count(count).text : "");
    haul_table_cell(table, "%s", haul_say_time(ns).text);
}

static void print_host(page *self)
{
    static const char *const heads[] = {"<Time on the host", "count", "time"};
    static const char *const waits[HAUL_SYNC_KINDS] = {
        [HAUL_SYNC_UNKNOWN] = "  waiting, for what is not known",
        [HAUL_SYNC_EVENT] = "  waiting for events",
        [HAUL_SYNC_STREAM_WAIT] = "  making streams wait for events",
        [HAUL_SYNC_STREAM] = "  waiting for streams",
        [HAUL_SYNC_CONTEXT] = "  waiting for whole devices",
    };
    const haul_analysis *analysis = self->analysis;
    const haul_host_use *host = &analysis->host;
    haul_table table;
    haul_table_begin(&table, heads, 3);
    if (host->threads) {
        char label[100];
        snprintf(label, sizeof label, "in calls of %s",
                 haul_say_number_of(host->threads, "thread", NULL).text);
        add_host_row(&table, label, self->workload->counts.calls, host->call_ns);
        add_host_row(&table, "  that copied", 0, host->copy_call_ns);
        add_host_row(&table, "  that launched kernels", 0, host->launch_call_ns);
    }
    for (int i = 0; i < HAUL_SYNC_KINDS; i++)
        if (analysis->syncs[i].count)
            add_host_row(&table, waits[i], analysis->syncs[i].count, analysis->syncs[i].time_ns);
    if (table.count > table.columns)
        print_table(self, &table);
    else
        haul_table_release(&table);
}

static void print_orphans(page *self)
{
    const haul_workload *workload = self->workload;
    if (!workload->counts.orphans)
        return;
    char text[300];
    snprintf(
        text, sizeof text,
        "%s of %s have no call of the host in the profile: they were issued before it began, or "
        "calls were not recorded.",
        haul_say_count(workload->counts.orphans).text,
        haul_say_number_of(workload->counts.device_ops, "operation", NULL).text);
    fputc('\n', self->out);
    haul_print_wrapped("", text, self->out);
}

static bool print_page(const haul_workload *workload, const haul_analysis *analysis, FILE *out)
{
    page self = {.workload = workload, .analysis = analysis, .out = out};
    print_header(&self);
    if (analysis->device_count)
        print_times(&self);
    else
        print_no_work(&self);
    print_verdicts(&self);
    print_devices(&self);
    print_copies(&self);
    print_sizes(&self);
    print_largest(&self);
    print_host(&self);
    print_orphans(&self);
    haul_print_notes("The profile lacks", workload->missing, workload->missing_count, out);
    haul_print_notes("Repaired", workload->repairs, workload->repair_count, out);
    haul_arena_release(&self.arena);
    return !self.failed;
}

haul_status haul_report_analysis(const haul_workload *workload, const haul_analysis *analysis,
                                 haul_format format, FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    const bool written = format == HAUL_JSON  ? haul_analysis_json(workload, analysis, out)
                         : format == HAUL_CSV ? haul_analysis_csv(analysis, out)
                                              : print_page(workload, analysis, out);
    if (ferror(out))
        return haul_fail(error, HAUL_IO, "cannot write the report");
    return written ? HAUL_OK : haul_fail_no_memory(error);
}
