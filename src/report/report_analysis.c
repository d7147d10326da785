/* Where the time of a recorded program went: what ran, what was overlapped, and what cost most.
 *
 * Two sums of time occur and are never mixed. Busy time counts each moment once, however many
 * operations ran in it; total time adds the durations, and passes the span where streams overlap.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numerals.h"
#include "haul/collective.h"
#include "haul/report.h"
#include "report/document.h"
#include "report/report_analysis.h"
#include "report/shared_parts.h"
#include "report/wording.h"

enum {
    COLLECTIVES_SHOWN = 2,
    BAR_WIDTH = 12,
    DEVICES_SHOWN = 16,
    LARGEST_SHOWN = 3,
    HOST_SHOWN = 2,
};

/* Their table leaves others a row less: the report fits a terminal of 40 lines. */
static size_t has_collectives(const hl_report_analyzed *self)
{
    return self->analysis->communication.count > 0;
}

static const haul_column totals_columns[] = {
    {"count", .unit = HAUL_UNIT_COUNT}, {"time_s", .unit = HAUL_UNIT_TIME}, {0}};
static const haul_column sized_columns[] = {{"count", .unit = HAUL_UNIT_COUNT},
                                            {"bytes", .unit = HAUL_UNIT_BYTES},
                                            {"time_s", .unit = HAUL_UNIT_TIME},
                                            {0}};

/* Kernels have no bytes. */
static void add_totals(haul_table *parent, const char *key, const haul_totals *totals)
{
    haul_report_object(parent, key, totals_columns,
                       HAUL_CELLS(haul_cell_count(totals->count), haul_cell_time(totals->time_ns)));
}

static void add_sized(haul_table *parent, const char *key, const haul_totals *totals)
{
    haul_report_object(parent, key, sized_columns,
                       HAUL_CELLS(haul_cell_count(totals->count), haul_cell_count(totals->bytes),
                                  haul_cell_time(totals->time_ns)));
}

/* Unions of time: of each kind, of copies and kernels at once, of either, and of any work. */
static void add_busy(haul_table *parent, const haul_busy *busy)
{
    static const haul_column columns[] = {{"copy", .unit = HAUL_UNIT_TIME},
                                          {"kernel", .unit = HAUL_UNIT_TIME},
                                          {"memset", .unit = HAUL_UNIT_TIME},
                                          {"both", .unit = HAUL_UNIT_TIME},
                                          {"either", .unit = HAUL_UNIT_TIME},
                                          {"any", .unit = HAUL_UNIT_TIME},
                                          {"communication", .unit = HAUL_UNIT_TIME},
                                          {"hidden_communication", .unit = HAUL_UNIT_TIME},
                                          {0}};
    haul_report_object(parent, "busy_s", columns,
                       HAUL_CELLS(haul_cell_time(busy->copy_ns), haul_cell_time(busy->kernel_ns),
                                  haul_cell_time(busy->memset_ns), haul_cell_time(busy->both_ns),
                                  haul_cell_time(busy->either_ns), haul_cell_time(busy->any_ns),
                                  haul_cell_time(busy->communication_ns),
                                  haul_cell_time(busy->hidden_communication_ns)));
}

/* JSON has these as the members of "busy_s" and of each kind of operation. */
static void add_times(const hl_report_analyzed *self)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_TEXT, .head = "Time on the devices"},
                                          {NULL, HAUL_UNIT_COUNT, .head = "count"},
                                          {NULL, HAUL_UNIT_SECONDS, .head = "total time"},
                                          {NULL, HAUL_UNIT_TIME, .head = "busy time"},
                                          {NULL, HAUL_UNIT_SHARE, .head = "of the span"},
                                          {0}};
    const haul_analysis *analysis = self->analysis;
    const haul_busy *busy = &analysis->busy;
    const struct {
        const char *name;
        const haul_totals *totals;
        int64_t busy_ns;
    } rows[] = {
        {"kernels", &analysis->kernels, busy->kernel_ns},
        {"collectives", &analysis->communication, busy->communication_ns},
        {"copies", &analysis->copies, busy->copy_ns},
        {"memsets", &analysis->memsets, busy->memset_ns},
        {"copies and kernels at once", NULL, busy->both_ns},
        {"idle", NULL, analysis->idle_ns},
    };
    if (!analysis->device_count)
        return;
    haul_table *table = haul_report_table(self->report, NULL, columns);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const haul_totals *totals = rows[i].totals;
        /* Most programs have none: the row would only be a zero. */
        if ((totals == &analysis->memsets || totals == &analysis->communication) && !totals->count)
            continue;
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(rows[i].name),
                       haul_cell_count(totals ? totals->count : HAUL_NO_COUNT),
                       haul_cell_number(totals ? 1e-9 * (double)totals->time_ns : (double)NAN),
                       haul_cell_time(rows[i].busy_ns),
                       /* Of the span, like every share here, so that the rows can be compared. */
                       haul_cell_number(hl_report_share_ns(rows[i].busy_ns, analysis->span_ns))));
    }
}

/* The median and the best rate are of single copies and tell what the link could do. */
static void add_copies(const hl_report_analyzed *self)
{
    static const haul_column decade_columns[] = {
        {"least_bytes", .unit = HAUL_UNIT_BYTES}, {"most_bytes", .unit = HAUL_UNIT_BYTES}, {0}};
    static const haul_column columns[] = {
        {"direction", HAUL_UNIT_TEXT, .head = "Copies"},
        {"memory", HAUL_UNIT_TEXT, .head = "memory"},
        {"count", HAUL_UNIT_COUNT, .head = "count"},
        {"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
        {"time_s", HAUL_UNIT_TIME, .head = "total time"},
        {"busy_s", HAUL_UNIT_TIME, .head = "busy time"},
        {"shortest_s", .unit = HAUL_UNIT_TIME},
        {"longest_s", .unit = HAUL_UNIT_TIME},
        {"latency_s", HAUL_UNIT_SECONDS, .head = "latency"},
        {"rate_Bps", HAUL_UNIT_RATE, .head = "rate"},
        {"median_Bps", HAUL_UNIT_RATE, .head = "median"},
        {"best_Bps", HAUL_UNIT_RATE, .head = "best"},
        {0},
    };
    haul_table *table = haul_report_table(self->report, "copies", columns);
    for (size_t i = 0; i < self->analysis->group_count; i++) {
        const haul_copy_group *group = &self->analysis->groups[i];
        const haul_totals *totals = &group->totals;
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(haul_direction_text(group->direction)),
                       haul_cell_text(haul_memory_text(group->memory)),
                       haul_cell_count(totals->count), haul_cell_count(totals->bytes),
                       haul_cell_time(totals->time_ns), haul_cell_time(group->busy_ns),
                       haul_cell_time(group->shortest_ns), haul_cell_time(group->longest_ns),
                       haul_cell_number(group->latency_s),
                       haul_cell_number(hl_report_copies_rate(group)),
                       haul_cell_number(group->median_Bps), haul_cell_number(group->best_Bps)));
        /* Decades without a copy are left out of JSON: a reader takes them for zero. */
        haul_table *decades = haul_report_table(table, "decades", decade_columns);
        for (int k = 0; k < HAUL_ANALYSIS_DECADES; k++)
            if (group->decades[k].count) {
                haul_table_row(decades, HAUL_CELLS(haul_cell_count(hl_report_decade_least(k)),
                                                   haul_cell_count(hl_report_decade_most(k))));
                add_sized(decades, NULL, &group->decades[k]);
            }
    }
    haul_report_detail(self->report, true);
    if (self->analysis->group_count)
        haul_report_say(self->report,
                        "Rate: bytes by busy time%s; median and best of single copies; latency: "
                        "time of a copy of no bytes, where sizes differ enough to tell it.",
                        self->analysis->device_count > 1 ? " of all devices together" : "");
    haul_report_detail(self->report, false);
}

/* The rate is what each GPU sends by the median time. */
static void add_communication(const hl_report_analyzed *self)
{
    static const haul_column columns[] = {
        {"operation", HAUL_UNIT_TEXT, .head = "Collectives"},
        {"data_type", HAUL_UNIT_TEXT, .head = "type", .optional = true},
        {"group", HAUL_UNIT_TEXT, .head = "group", .optional = true},
        {"ranks", HAUL_UNIT_COUNT, .head = "ranks"},
        {"bytes", HAUL_UNIT_BYTES, .head = "size"},
        {"count", HAUL_UNIT_COUNT, .head = "count"},
        {"time_s", HAUL_UNIT_TIME, .head = "total time"},
        {"shortest_s", HAUL_UNIT_TIME, .head = "shortest"},
        {"median_s", HAUL_UNIT_TIME, .head = "median"},
        {"rate_Bps", HAUL_UNIT_RATE, .head = "rate"},
        {0},
    };
    haul_communication_use *uses = NULL;
    size_t count = 0;
    if (!self->analysis->communication.count)
        return;
    if (haul_communication_uses(self->workload, &uses, &count, NULL)) {
        hl_report_no_memory(self->report);
        return;
    }
    /* without sizes it says little more than the answer */
    haul_report_detail(self->report, !self->analysis->communication.bytes);
    haul_table *table = haul_report_table(self->report, "collectives", columns);
    haul_report_detail(self->report, false);
    haul_table_limit(table, COLLECTIVES_SHOWN);
    for (size_t i = 0; i < count; i++) {
        const haul_communication *of = &uses[i].of;
        const char *type = haul_workload_string(self->workload, of->data_type);
        const char *group = haul_workload_string(self->workload, of->group);
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(haul_collective_text(of->kind)),
                       haul_cell_text(*type ? type : NULL), haul_cell_text(*group ? group : NULL),
                       haul_cell_count(of->ranks ? (uint64_t)of->ranks : HAUL_NO_COUNT),
                       haul_cell_count(of->bytes ? of->bytes : HAUL_NO_COUNT),
                       haul_cell_count(uses[i].count), haul_cell_time(uses[i].time_ns),
                       haul_cell_time(uses[i].shortest_ns), haul_cell_time(uses[i].median_ns),
                       haul_cell_number(of->bytes && uses[i].median_ns > 0
                                            ? haul_communication_moved(of) /
                                                  (1e-9 * (double)uses[i].median_ns)
                                            : (double)NAN)));
    }
    free(uses);
}

static const haul_column device_figures[] = {
    {"name", .unit = HAUL_UNIT_TEXT},           {"memory_bandwidth_Bps", .unit = HAUL_UNIT_NUMBER},
    {"clock_Hz", .unit = HAUL_UNIT_NUMBER},     {"memory_bytes", .unit = HAUL_UNIT_BYTES},
    {"l2_bytes", .unit = HAUL_UNIT_BYTES},      {"multiprocessors", .unit = HAUL_UNIT_COUNT},
    {"copy_engines", .unit = HAUL_UNIT_COUNT},  {"compute_major", .unit = HAUL_UNIT_COUNT},
    {"compute_minor", .unit = HAUL_UNIT_COUNT}, {0},
};

/* "rank 3: 0 NVIDIA A100". A profile may name a device by an operation alone, without a row for it.
 */
static void device_label(const haul_workload_device *device, char *label, size_t size)
{
    char rank[32] = "";
    if (device && device->rank >= 0)
        (void)snprintf(rank, sizeof rank, "rank %" PRId64 ": ", device->rank);
    if (device)
        (void)snprintf(label, size, "%s%" PRIu64 " %.100s", rank, device->id,
                       device->name ? device->name : "");
    else
        (void)snprintf(label, size, "not named");
}

/* One row for each device that worked; where there is one alone the answer says the same, and the
 * table is a detail. Figures of the device that the profile does not hold are left out. */
static void add_devices(const hl_report_analyzed *self)
{
    static const haul_column columns[] = {
        {"id", .unit = HAUL_UNIT_ID},
        {"rank", .unit = HAUL_UNIT_ID},
        {"host", .unit = HAUL_UNIT_TEXT},
        {NULL, HAUL_UNIT_TEXT, .head = "By device"},
        {NULL, HAUL_UNIT_COUNT, .head = "copies"},
        {NULL, HAUL_UNIT_TIME, .head = "busy time"},
        {NULL, HAUL_UNIT_COUNT, .head = "kernels"},
        {NULL, HAUL_UNIT_TIME, .head = "busy time"},
        {NULL, HAUL_UNIT_TIME, .head = "both"},
        {NULL, HAUL_UNIT_TIME, .head = "idle"},
        {NULL, HAUL_UNIT_BYTES, .head = "memory"},
        {0},
    };
    haul_report_detail(self->report, self->analysis->device_count < 2);
    haul_table *table = haul_report_table(self->report, "devices", columns);
    haul_report_detail(self->report, false);
    haul_table_limit(table, DEVICES_SHOWN);
    for (size_t i = 0; i < self->analysis->device_count; i++) {
        const haul_workload_device_use *use = &self->analysis->devices[i];
        const haul_workload_device *device = hl_report_analysis_device(self, i);
        /* Of a file of one process the devices are those of its rank. */
        const int64_t rank = device && device->rank >= 0 ? device->rank : self->workload->rank;
        char label[200];
        device_label(device, label, sizeof label);
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_count(device ? device->id : HAUL_NO_COUNT),
                       haul_cell_count(rank >= 0 ? (uint64_t)rank : HAUL_NO_COUNT),
                       haul_cell_text(device ? device->host : NULL), haul_cell_text(label),
                       haul_cell_count(use->copies.count), haul_cell_time(use->busy.copy_ns),
                       haul_cell_count(use->kernels.count), haul_cell_time(use->busy.kernel_ns),
                       /* Idle within the span of all devices, so that devices of one run can be
                        * compared. */
                       haul_cell_time(use->busy.both_ns),
                       haul_cell_time(self->analysis->span_ns - use->busy.any_ns),
                       haul_cell_count(device && device->memory_bytes ? device->memory_bytes
                                                                      : HAUL_NO_COUNT)));
        if (device)
            haul_report_object(table, NULL, device_figures,
                               HAUL_CELLS(haul_cell_text(device->name),
                                          haul_cell_number(device->memory_bandwidth_Bps),
                                          haul_cell_number(device->clock_Hz),
                                          haul_cell_count(device->memory_bytes),
                                          haul_cell_count(device->l2_bytes),
                                          haul_cell_count((uint64_t)device->multiprocessors),
                                          haul_cell_count((uint64_t)device->copy_engines),
                                          haul_cell_count((uint64_t)device->compute_major),
                                          haul_cell_count((uint64_t)device->compute_minor)));
        add_sized(table, "copies", &use->copies);
        add_totals(table, "kernels", &use->kernels);
        add_sized(table, "communication", &use->communication);
        add_sized(table, "memsets", &use->memsets);
        add_busy(table, &use->busy);
    }
}

/* Bars make the two distributions comparable at a glance: many small copies may take less time
 * than few large ones (AHEAD, Figure 1). */
static void add_size_rows(haul_table *table, const char *label, const haul_totals *decades,
                          const haul_totals *all)
{
    for (int k = 0; k < HAUL_ANALYSIS_DECADES; k++) {
        const haul_totals *decade = &decades[k];
        if (!decade->count)
            continue;
        const double by_count = hl_report_share_of((double)decade->count, (double)all->count);
        const double by_time = hl_report_share_ns(decade->time_ns, all->time_ns);
        haul_table_row(
            table, HAUL_CELLS(haul_cell_text(label), haul_cell_text(hl_report_say_decade(k).text),
                              haul_cell_count(decade->count), haul_cell_number(by_count),
                              haul_cell_text(hl_report_say_bar(by_count, BAR_WIDTH).text),
                              haul_cell_time(decade->time_ns), haul_cell_number(by_time),
                              haul_cell_text(hl_report_say_bar(by_time, BAR_WIDTH).text)));
        /* The label stands in its first row alone, as in a printed table. */
        label = "";
    }
}

/* AHEAD's Figure 1: copies by decade of size, by count and by time. */
static void add_sizes(const hl_report_analyzed *self)
{
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "Sizes"},
        {NULL, HAUL_UNIT_TEXT, .head = "bytes"},
        {NULL, HAUL_UNIT_COUNT, .head = "count"},
        {NULL, HAUL_UNIT_SHARE, .head = "share"},
        {NULL, HAUL_UNIT_TEXT, .head = "by count"},
        {NULL, HAUL_UNIT_TIME, .head = "time"},
        {NULL, HAUL_UNIT_SHARE, .head = "share"},
        {NULL, HAUL_UNIT_TEXT, .head = "by time"},
        {0},
    };
    const haul_analysis *analysis = self->analysis;
    haul_totals sums[HAUL_ANALYSIS_DECADES] = {0};
    haul_table *table = haul_report_table(self->report, NULL, columns);
    for (size_t i = 0; i < analysis->group_count; i++)
        for (int k = 0; k < HAUL_ANALYSIS_DECADES; k++) {
            sums[k].count += analysis->groups[i].decades[k].count;
            sums[k].time_ns += analysis->groups[i].decades[k].time_ns;
        }
    /* With one kind of copy the sum would repeat it. */
    if (analysis->group_count > 1)
        add_size_rows(table, "all copies", sums, &analysis->copies);
    for (size_t i = 0; i < analysis->group_count; i++) {
        const haul_copy_group *group = &analysis->groups[i];
        add_size_rows(table, hl_report_say_copies(group->direction, group->memory).text,
                      group->decades, &analysis->copies);
    }
}

/* One flat table: a row for each kind of copy and decade of size. */
static void add_csv(const hl_report_analyzed *self)
{
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .csv = "direction"},    {NULL, HAUL_UNIT_TEXT, .csv = "memory"},
        {NULL, HAUL_UNIT_BYTES, .csv = "least_bytes"}, {NULL, HAUL_UNIT_BYTES, .csv = "most_bytes"},
        {NULL, HAUL_UNIT_COUNT, .csv = "count"},       {NULL, HAUL_UNIT_BYTES, .csv = "bytes"},
        {NULL, HAUL_UNIT_TIME, .csv = "time_s"},       {0},
    };
    haul_table *table = haul_report_table(self->report, NULL, columns);
    haul_table_csv(table);
    for (size_t i = 0; i < self->analysis->group_count; i++)
        for (int k = 0; k < HAUL_ANALYSIS_DECADES; k++) {
            const haul_copy_group *group = &self->analysis->groups[i];
            const haul_totals *decade = &group->decades[k];
            if (decade->count)
                haul_table_row(table,
                               HAUL_CELLS(haul_cell_text(haul_direction_text(group->direction)),
                                          haul_cell_text(haul_memory_text(group->memory)),
                                          haul_cell_count(hl_report_decade_least(k)),
                                          haul_cell_count(hl_report_decade_most(k)),
                                          haul_cell_count(decade->count),
                                          haul_cell_count(decade->bytes),
                                          haul_cell_time(decade->time_ns)));
        }
}

/* Equal operations as one row, by the sum of their durations: a short kernel that is launched a
 * million times is a large cost. */
static void add_largest(const hl_report_analyzed *self)
{
    static const haul_column columns[] = {
        {"kind", .unit = HAUL_UNIT_TEXT},
        {NULL, HAUL_UNIT_TEXT, .head = "Largest costs"},
        {"name", HAUL_UNIT_TEXT, .optional = true},
        {"direction", HAUL_UNIT_TEXT, .optional = true},
        {"memory", HAUL_UNIT_TEXT, .optional = true},
        {"bytes_each", HAUL_UNIT_BYTES, .optional = true},
        {"count", HAUL_UNIT_COUNT, .head = "count"},
        {NULL, HAUL_UNIT_SECONDS, .head = "mean"},
        {"time_s", HAUL_UNIT_TIME, .head = "total time"},
        {"shortest_s", .unit = HAUL_UNIT_TIME},
        {NULL, HAUL_UNIT_SHARE, .head = "share"},
        {0},
    };
    const haul_analysis *analysis = self->analysis;
    /* Total time of all kinds: a share of the span would pass 100 % where streams overlap. */
    const double all = (double)analysis->copies.time_ns + (double)analysis->kernels.time_ns +
                       (double)analysis->communication.time_ns + (double)analysis->memsets.time_ns;
    haul_table *table = haul_report_table(self->report, "largest", columns);
    haul_table_limit(table, LARGEST_SHOWN - has_collectives(self));
    for (size_t i = 0; i < analysis->largest_count; i++) {
        const haul_cost_row *row = &analysis->largest[i];
        const bool is_kernel = row->kind == HAUL_OP_KERNEL, is_copy = row->kind == HAUL_OP_COPY;
        char name[HL_REPORT_COST_NAME_BYTES];
        haul_table_row(
            table,
            HAUL_CELLS(
                haul_cell_text(haul_op_kind_text(row->kind)),
                haul_cell_text(hl_report_say_cost(self->workload, row, name)),
                haul_cell_text(is_kernel ? haul_workload_string(self->workload, row->name) : NULL),
                haul_cell_text(is_copy ? haul_direction_text(row->direction) : NULL),
                haul_cell_text(is_copy ? haul_memory_text(row->memory) : NULL),
                haul_cell_count(is_kernel ? HAUL_NO_COUNT : row->bytes),
                haul_cell_count(row->count),
                haul_cell_number(1e-9 * (double)row->time_ns / (double)row->count),
                haul_cell_time(row->time_ns), haul_cell_time(row->shortest_ns),
                haul_cell_number(hl_report_share_of((double)row->time_ns, all))));
    }
}

/* The time of the host's threads. Calls are unions on each thread: a call inside another counts
 * once, and waits are part of the calls that waited. */
static void add_host(const hl_report_analyzed *self)
{
    static const haul_column columns[] = {{"threads", .unit = HAUL_UNIT_COUNT},
                                          {"calls", .unit = HAUL_UNIT_COUNT},
                                          {"call_s", .unit = HAUL_UNIT_TIME},
                                          {"copy_call_s", .unit = HAUL_UNIT_TIME},
                                          {"launch_call_s", .unit = HAUL_UNIT_TIME},
                                          {"wait_s", .unit = HAUL_UNIT_TIME},
                                          {0}};
    static const haul_column sync_columns[] = {{"kind", .unit = HAUL_UNIT_TEXT},
                                               {"count", .unit = HAUL_UNIT_COUNT},
                                               {"time_s", .unit = HAUL_UNIT_TIME},
                                               {0}};
    static const haul_column time_columns[] = {{NULL, HAUL_UNIT_TEXT, .head = "Time on the host"},
                                               {NULL, HAUL_UNIT_COUNT, .head = "count"},
                                               {NULL, HAUL_UNIT_TIME, .head = "time"},
                                               {0}};
    static const char *const waits[HAUL_SYNC_KINDS][2] = {
        [HAUL_SYNC_UNKNOWN] = {"unknown", "  waiting, for what is not known"},
        [HAUL_SYNC_EVENT] = {"event", "  waiting for events"},
        [HAUL_SYNC_STREAM_WAIT] = {"stream_wait", "  making streams wait for events"},
        [HAUL_SYNC_STREAM] = {"stream", "  waiting for streams"},
        [HAUL_SYNC_CONTEXT] = {"context", "  device-wide synchronisation"},
    };
    /* A profile without API calls has no rows here, and tables without rows are not shown. */
    const haul_host_use *host = &self->analysis->host;
    const uint64_t calls = self->workload->counts.calls;
    haul_table *object = haul_report_object(
        self->report, "host", columns,
        HAUL_CELLS(haul_cell_count((uint64_t)host->threads), haul_cell_count(calls),
                   haul_cell_time(host->call_ns), haul_cell_time(host->copy_call_ns),
                   haul_cell_time(host->launch_call_ns), haul_cell_time(host->wait_ns)));
    haul_table *syncs = haul_report_map(object, "syncs", sync_columns);
    haul_table *times = haul_report_table(self->report, NULL, time_columns);
    haul_table_limit(times, HOST_SHOWN - has_collectives(self));
    if (host->threads) {
        char label[100];
        (void)snprintf(label, sizeof label, "in API calls of %s",
                       hl_report_say_number_of(host->threads, "thread", NULL).text);
        haul_table_row(times, HAUL_CELLS(haul_cell_text(label), haul_cell_count(calls),
                                         haul_cell_time(host->call_ns)));
        haul_table_row(times,
                       HAUL_CELLS(haul_cell_text("  that copied"), haul_cell_count(HAUL_NO_COUNT),
                                  haul_cell_time(host->copy_call_ns)));
        haul_table_row(times, HAUL_CELLS(haul_cell_text("  that launched kernels"),
                                         haul_cell_count(HAUL_NO_COUNT),
                                         haul_cell_time(host->launch_call_ns)));
    }
    for (int i = 0; i < HAUL_SYNC_KINDS; i++) {
        const haul_totals *sync = &self->analysis->syncs[i];
        /* JSON has every kind, so that a program finds its key; people see those that occurred. */
        haul_table_row(syncs, HAUL_CELLS(haul_cell_text(waits[i][0]), haul_cell_count(sync->count),
                                         haul_cell_time(sync->time_ns)));
        if (sync->count)
            haul_table_row(times,
                           HAUL_CELLS(haul_cell_text(waits[i][1]), haul_cell_count(sync->count),
                                      haul_cell_time(sync->time_ns)));
    }
}

haul_report *haul_report_analysis(const haul_workload *workload, const haul_analysis *analysis)
{
    static const haul_column inputs[] = {{"source", HAUL_UNIT_TEXT, .head = "profile"},
                                         {"format", HAUL_UNIT_TEXT, .head = "format"},
                                         {"streams", HAUL_UNIT_COUNT, .head = "streams"},
                                         {"operations", HAUL_UNIT_COUNT, .head = "operations"},
                                         {"orphans", .unit = HAUL_UNIT_COUNT},
                                         {"span_s", .unit = HAUL_UNIT_TIME},
                                         {0}};
    static const haul_column shares[] = {
        {"idle_s", .unit = HAUL_UNIT_TIME},         {"overlap_share", .unit = HAUL_UNIT_SHARE},
        {"hidden_share", .unit = HAUL_UNIT_SHARE},  {"copy_share", .unit = HAUL_UNIT_SHARE},
        {"latency_share", .unit = HAUL_UNIT_SHARE}, {0}};
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("analysis");
    const hl_report_analyzed self = {report, workload, analysis};
    hl_report_analysis_answer(&self);
    hl_report_losses(report, workload);
    /* of a program without a GPU all lacks are of the GPU */
    if (analysis->device_count || !workload->counts.calls || !hl_report_has_mpi(workload))
        hl_report_caution(report, workload);
    haul_report_detail(report, true);
    haul_report_object(
        report, NULL, inputs,
        HAUL_CELLS(haul_cell_text(workload->source), haul_cell_text(workload->format),
                   haul_cell_count((uint64_t)analysis->stream_count),
                   haul_cell_count(workload->counts.device_ops),
                   haul_cell_count(workload->counts.orphans), haul_cell_time(analysis->span_ns)));
    haul_report_detail(report, false);
    add_busy(report, &analysis->busy);
    haul_report_object(
        report, NULL, shares,
        HAUL_CELLS(haul_cell_time(analysis->idle_ns), haul_cell_number(analysis->overlap_share),
                   haul_cell_number(analysis->hidden_share), haul_cell_number(analysis->copy_share),
                   haul_cell_number(analysis->latency_share)));
    haul_report_section(report, "costs", "Where the time goes");
    add_times(&self);
    haul_report_detail(report, true);
    hl_report_idle_table(report, workload, analysis);
    haul_report_detail(report, false);
    add_copies(&self);
    add_communication(&self);
    add_totals(report, "kernels", &analysis->kernels);
    add_sized(report, "communication", &analysis->communication);
    add_sized(report, "memsets", &analysis->memsets);
    hl_report_mpi_tables(report, workload);
    add_devices(&self);
    add_largest(&self);
    hl_report_ranges(report, workload, NULL);
    add_host(&self);
    haul_report_section(report, "sizes", "Sizes of copies");
    haul_report_detail(report, true);
    add_sizes(&self);
    add_csv(&self);
    hl_report_notes(report, workload);
    return report;
}
