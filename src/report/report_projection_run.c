/* The whole run on another machine: how much faster it is and what bounds it.
 *
 * The factor compares the prediction with the replay, not with the recorded time: the replay errs
 * as the prediction does, so that the error of the timeline falls out of their ratio. */
#include <math.h>
#include <string.h>

#include "report/report_projection.h"
#include "report/shared_parts.h"
#include "report/wording.h"

enum { BOUNDS_SAID = 3, SHOWN = 3 };

/* The kind of operation that the critical path spends most on, and its share. */
static void say_bound(const hl_report_projected *self)
{
    const haul_critical_path *path = &self->projection->critical;
    const int64_t all_ns = self->projection->target_run.makespan_ns;
    char text[512] = "";
    size_t used = 0;
    int said = 0;
    char copies[HAUL_DIRECTIONS][32];
    enum { OTHERS = 5, WORKS = OTHERS + HAUL_DIRECTIONS, KINDS = WORKS + HAUL_DRIVER_WORKS };
    const char *names[KINDS] = {"kernels", "the host", "memsets", "messages",
                                "gaps between operations"};
    /* Kinds of operation compete as equals: a direction of copies may outweigh all kernels. */
    int64_t times_ns[KINDS] = {path->kernels_ns, haul_critical_path_host(path), path->memsets_ns,
                               path->messages_ns, path->gaps_ns};
    for (int d = 0; d < HAUL_DIRECTIONS; d++) {
        (void)snprintf(copies[d], sizeof copies[d], "%s copies",
                       haul_direction_text((haul_direction)d));
        names[OTHERS + d] = copies[d];
        times_ns[OTHERS + d] = path->copies_ns[d];
    }
    for (int w = 0; w < HAUL_DRIVER_WORKS; w++) {
        names[WORKS + w] = haul_driver_work_text((haul_driver_work)w);
        times_ns[WORKS + w] = path->driver_ns[w];
    }
    /* The largest is taken out each time: there are only a few. */
    for (;;) {
        int most = 0;
        for (int i = 1; i < KINDS; i++)
            most = times_ns[i] > times_ns[most] ? i : most;
        /* Less than 0.1 % of the path bounds nothing. */
        if (times_ns[most] <= 0 || (used && times_ns[most] < all_ns / 1000) || said == BOUNDS_SAID)
            break;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s%s", used ? ", " : "",
                                 names[most], hl_report_say_share_ns(times_ns[most], all_ns).text,
                                 used ? "" : " of the critical path");
        times_ns[most] = 0;
        said++;
    }
    if (used)
        haul_report_line(self->report, "bound by", "%s", text);
}

/* One sentence; where the run is not predicted it says why instead of a number. */
void hl_report_projected_say_run(const hl_report_projected *self)
{
    const haul_projection *projection = self->projection;
    const haul_replay *replay = &projection->replay;
    const char *to = self->options->to->name;
    if (projection->run_missing) {
        haul_report_say(self->report, "The whole run on %s is not predicted: %s", to,
                        projection->run_missing);
        return;
    }
    /* Nothing to replay, so that there is no run to predict. */
    if (!replay->ops)
        return;
    if (projection->unsound) {
        haul_report_say(self->report, "No prediction of the whole run on %s: %s", to,
                        projection->unsound);
        return;
    }
    if (projection->kernels_missing && projection->recorded_kernels_s > 0) {
        haul_report_say(self->report,
                        "No prediction of the whole run on %s: its kernels cannot be scaled (%s)",
                        to, projection->kernels_missing);
        return;
    }
    const double target = (double)projection->target_run.makespan_ns;
    /* The change is that of the replay: where it is off, the times alone would say another. */
    char replayed[96] = "";
    if (fabs(replay->error) >= 0.5)
        (void)snprintf(replayed, sizeof replayed, ", replayed as %s",
                       hl_report_say_time(replay->replayed_ns).text);
    haul_report_say(self->report, "%s%s -> %s on %s: %s",
                    hl_report_say_time(projection->recorded_run.makespan_ns).text, replayed,
                    hl_report_say_time(projection->target_run.makespan_ns).text, to,
                    hl_report_say_change(replay->replayed_ns, projection->target_run.makespan_ns,
                                         projection->low_ns, projection->high_ns)
                        .text);
    const double reference = (double)projection->reference_run.makespan_ns;
    if (self->options->reference && reference > 0)
        haul_report_line(self->report, "reference", "took %s: the prediction is %+.1f %% off",
                         hl_report_say_seconds(1e-9 * reference).text,
                         100 * (target - reference) / reference);
    say_bound(self);
    hl_report_host(self->report, &self->projection->host);
    const haul_target_row row = {.other_maker = projection->other_maker};
    hl_report_other_makers(self->report, &row, 1);
}

/* The same parts of the recorded, the predicted and the reference's run. */
static void add_breakdown(haul_table *parent, const char *key, const haul_breakdown *run)
{
    static const haul_column columns[] = {{"makespan_s", .unit = HAUL_UNIT_TIME},
                                          {"kernels_alone_s", .unit = HAUL_UNIT_TIME},
                                          {"copies_hidden_s", .unit = HAUL_UNIT_TIME},
                                          {"copies_both_ways_s", .unit = HAUL_UNIT_TIME},
                                          {"copies_exposed_s", .unit = HAUL_UNIT_TIME},
                                          {"host_alone_s", .unit = HAUL_UNIT_TIME},
                                          {0}};
    haul_report_object(parent, key, columns,
                       HAUL_CELLS(haul_cell_time(run->makespan_ns), haul_cell_time(run->kernels_ns),
                                  haul_cell_time(run->hidden_ns), haul_cell_time(run->both_ways_ns),
                                  haul_cell_time(run->exposed_ns), haul_cell_time(run->idle_ns)));
}

/* The path by kind of operation, and its largest costs: what a faster part would shorten. */
static void add_path(haul_table *parent, const hl_report_projected *self)
{
    static const haul_column none[] = {{0}};
    static const haul_column copies[] = {
        {"direction", .unit = HAUL_UNIT_TEXT}, {"", .unit = HAUL_UNIT_TIME}, {0}};
    static const haul_column works[] = {
        {"work", .unit = HAUL_UNIT_TEXT}, {"", .unit = HAUL_UNIT_TIME}, {0}};
    static const haul_column sums[] = {
        {"kernels_s", .unit = HAUL_UNIT_TIME},  {"memsets_s", .unit = HAUL_UNIT_TIME},
        {"messages_s", .unit = HAUL_UNIT_TIME}, {"gaps_s", .unit = HAUL_UNIT_TIME},
        {"host_s", .unit = HAUL_UNIT_TIME},     {0}};
    static const haul_column largest[] = {
        {"kind", .unit = HAUL_UNIT_TEXT},
        {"name", HAUL_UNIT_TEXT, .optional = true},
        {"direction", HAUL_UNIT_TEXT, .optional = true},
        {"memory", HAUL_UNIT_TEXT, .optional = true},
        {"count", .unit = HAUL_UNIT_COUNT},
        {"time_s", .unit = HAUL_UNIT_TIME},
        {0},
    };
    const haul_critical_path *path = &self->projection->critical;
    haul_table *object = haul_report_object(parent, "critical_path", none, NULL, 0);
    haul_table *map = haul_report_map(object, "copies_s", copies);
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        haul_table_row(map, HAUL_CELLS(haul_cell_text(haul_direction_text((haul_direction)d)),
                                       haul_cell_time(path->copies_ns[d])));
    haul_report_object(object, NULL, sums,
                       HAUL_CELLS(haul_cell_time(path->kernels_ns),
                                  haul_cell_time(path->memsets_ns),
                                  haul_cell_time(path->messages_ns), haul_cell_time(path->gaps_ns),
                                  haul_cell_time(path->host_ns)));
    haul_table *driver = haul_report_map(object, "driver_s", works);
    for (int w = 0; w < HAUL_DRIVER_WORKS; w++)
        haul_table_row(driver,
                       HAUL_CELLS(haul_cell_text(haul_driver_work_text((haul_driver_work)w)),
                                  haul_cell_time(path->driver_ns[w])));
    haul_table *rows = haul_report_table(object, "largest", largest);
    for (size_t i = 0; i < path->largest_count; i++) {
        const haul_cost_row *row = &path->largest[i];
        const bool is_kernel = row->kind == HAUL_OP_KERNEL, is_copy = row->kind == HAUL_OP_COPY;
        haul_table_row(
            rows,
            HAUL_CELLS(
                haul_cell_text(haul_op_kind_text(row->kind)),
                haul_cell_text(is_kernel ? haul_workload_string(self->workload, row->name) : NULL),
                haul_cell_text(is_copy ? haul_direction_text(row->direction) : NULL),
                haul_cell_text(is_copy ? haul_memory_text(row->memory) : NULL),
                haul_cell_count(row->count), haul_cell_time(row->time_ns)));
    }
}

/* How far the replay of the recorded durations is off: the error that every prediction shares. */
static void add_replay(haul_table *parent, const haul_replay *replay)
{
    static const haul_column columns[] = {
        {"makespan_s", .unit = HAUL_UNIT_TIME},        {"error", .unit = HAUL_UNIT_PERCENT},
        {"start_median_s", .unit = HAUL_UNIT_SECONDS}, {"start_p90_s", .unit = HAUL_UNIT_SECONDS},
        {"start_worst_s", .unit = HAUL_UNIT_SECONDS},  {"operations", .unit = HAUL_UNIT_COUNT},
        {"uncalled", .unit = HAUL_UNIT_COUNT},         {"delayed", .unit = HAUL_UNIT_COUNT},
        {"delays_s", .unit = HAUL_UNIT_TIME},          {0},
    };
    haul_report_object(
        parent, "replay", columns,
        HAUL_CELLS(haul_cell_time(replay->replayed_ns), haul_cell_number(replay->error),
                   /* Medians of nanoseconds are doubles. */
                   haul_cell_number(1e-9 * replay->start_median_ns),
                   haul_cell_number(1e-9 * replay->start_p90_ns),
                   haul_cell_number(1e-9 * replay->start_worst_ns), haul_cell_count(replay->ops),
                   haul_cell_count(replay->unissued), haul_cell_count(replay->delayed),
                   haul_cell_time(replay->delays_ns)));
}

/* The limits of the target that the timeline kept to, for a reader who doubts the prediction. */
static void add_device(haul_table *parent, const haul_timeline_device *device)
{
    static const haul_column columns[] = {
        {"copy_engines", .unit = HAUL_UNIT_COUNT}, {"kernels", .unit = HAUL_UNIT_COUNT},
        {"implicit_sync", .unit = HAUL_UNIT_FLAG}, {"queue_depth", .unit = HAUL_UNIT_COUNT},
        {"link_devices", .unit = HAUL_UNIT_COUNT}, {"staging", .unit = HAUL_UNIT_FLAG},
        {"migrations", .unit = HAUL_UNIT_COUNT},   {"kernel_gap_s", .unit = HAUL_UNIT_TIME},
        {"memory_gap_s", .unit = HAUL_UNIT_TIME},  {0},
    };
    static const haul_column room[] = {
        {"multiprocessors", .unit = HAUL_UNIT_COUNT}, {"blocks", .unit = HAUL_UNIT_COUNT},
        {"threads", .unit = HAUL_UNIT_COUNT},         {"registers", .unit = HAUL_UNIT_COUNT},
        {"shared_bytes", .unit = HAUL_UNIT_COUNT},    {0},
    };
    static const haul_column speed[] = {
        {"direction", .unit = HAUL_UNIT_TEXT}, {"", .unit = HAUL_UNIT_SHARE}, {0}};
    const haul_occupancy *occupancy = &device->occupancy;
    haul_table *object = haul_report_object(
        parent, "device", columns,
        HAUL_CELLS(haul_cell_count((uint64_t)device->copy_engines),
                   haul_cell_count((uint64_t)device->kernels),
                   haul_cell_flag(device->implicit_sync),
                   haul_cell_count((uint64_t)device->queue_depth),
                   haul_cell_count((uint64_t)device->link_devices), haul_cell_flag(device->staging),
                   haul_cell_count((uint64_t)device->migrations),
                   haul_cell_time(device->kernel_gap_ns), haul_cell_time(device->memory_gap_ns)));
    haul_report_object(object, "occupancy", room,
                       HAUL_CELLS(haul_cell_count((uint64_t)occupancy->multiprocessors),
                                  haul_cell_count((uint64_t)occupancy->blocks),
                                  haul_cell_count((uint64_t)occupancy->threads),
                                  haul_cell_count((uint64_t)occupancy->registers),
                                  haul_cell_count((uint64_t)occupancy->shared_bytes)));
    haul_table *map = haul_report_map(object, "busy_speed", speed);
    for (int d = HAUL_DIRECTION_HTOD; d <= HAUL_DIRECTION_DTOH; d++)
        haul_table_row(map, HAUL_CELLS(haul_cell_text(haul_direction_text((haul_direction)d)),
                                       haul_cell_number(device->busy_speed[d])));
}

/* JSON's object "run". Without a prediction it has the reason alone; where the prediction cannot be
 * relied on, the reason and what was recorded. */
static void add_data(const hl_report_projected *self)
{
    static const haul_column head[] = {{"missing", HAUL_UNIT_TEXT, .optional = true},
                                       {"calls", HAUL_UNIT_TEXT, .optional = true},
                                       {0}};
    static const haul_column interval[] = {{"unsound", HAUL_UNIT_TEXT, .optional = true},
                                           {"interval_s", .unit = HAUL_UNIT_INTERVAL},
                                           {0}};
    static const haul_column host[] = {
        {"time", .unit = HAUL_UNIT_FACTOR},        {"low", .unit = HAUL_UNIT_FACTOR},
        {"high", .unit = HAUL_UNIT_FACTOR},        {"same_cpu_assumed", .unit = HAUL_UNIT_FLAG},
        {"turns_assumed", .unit = HAUL_UNIT_FLAG}, {0}};
    static const haul_column unsound[] = {{"unsound", .unit = HAUL_UNIT_TEXT}, {0}};
    const haul_projection *projection = self->projection;
    const char *missing = projection->run_missing;
    const char *calls = projection->release == HAUL_RELEASE_HOST ? "simulated" : "recorded";
    haul_table *run = haul_report_object(
        self->report, "run", head,
        HAUL_CELLS(haul_cell_text(missing), haul_cell_text(missing ? NULL : calls)));
    if (missing)
        return;
    add_breakdown(run, "recorded", &projection->recorded_run);
    if (!projection->unsound)
        add_breakdown(run, "target", &projection->target_run);
    if (self->options->reference)
        add_breakdown(run, "reference", &projection->reference_run);
    if (projection->unsound)
        haul_report_object(run, NULL, unsound, HAUL_CELLS(haul_cell_text(projection->unsound)));
    else
        haul_report_object(run, NULL, interval,
                           HAUL_CELLS(haul_cell_text(NULL),
                                      haul_cell_interval(1e-9 * (double)projection->low_ns,
                                                         1e-9 * (double)projection->high_ns)));
    if (!projection->unsound)
        add_path(run, self);
    if (!projection->unsound)
        haul_report_object(run, "host", host,
                           HAUL_CELLS(haul_cell_number(projection->host.likely),
                                      haul_cell_number(projection->host.low),
                                      haul_cell_number(projection->host.high),
                                      haul_cell_flag(projection->host.is_assumed),
                                      haul_cell_flag(projection->host.has_turns)));
    add_replay(run, &projection->replay);
    add_device(run, &projection->device);
}

/* The parts add up to the makespan, so that a column tells where a prediction differs: in what the
 * kernels take, in what is overlapped, or in what the host does between them. */
static void add_parts(const hl_report_projected *self)
{
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "The whole run"},
        {NULL, HAUL_UNIT_TIME, .head = "recorded"},
        {NULL, HAUL_UNIT_SHARE, .head = "share"},
        {NULL, HAUL_UNIT_TIME, .head = "predicted"},
        {NULL, HAUL_UNIT_SHARE, .head = "share"},
        {NULL, HAUL_UNIT_SECONDS, .head = "reference", .optional = true},
        {NULL, HAUL_UNIT_SHARE, .head = "share", .optional = true},
        {0},
    };
    static const char *const names[] = {"kernels, no copy", "copies hidden by kernels",
                                        "copies both ways", "copies exposed",
                                        "no device works",  "makespan"};
    const haul_projection *projection = self->projection;
    const haul_breakdown *const runs[] = {&projection->recorded_run, &projection->target_run,
                                          &projection->reference_run};
    int64_t parts[3][6];
    /* Three runs by six parts, the last of which is the whole. */
    for (int r = 0; r < 3; r++) {
        const haul_breakdown *run = runs[r];
        const int64_t of[] = {run->kernels_ns, run->hidden_ns, run->both_ways_ns,
                              run->exposed_ns, run->idle_ns,   run->makespan_ns};
        memcpy(parts[r], of, sizeof of);
    }
    haul_table *table = haul_report_table(self->report, NULL, columns);
    for (int p = 0; p < 6; p++) {
        double shares[3];
        for (int r = 0; r < 3; r++)
            /* Shares of each run's own makespan, so that a faster run can be compared. */
            shares[r] = hl_report_share_of((double)parts[r][p], (double)parts[r][5]);
        haul_table_row(
            table, HAUL_CELLS(haul_cell_text(names[p]), haul_cell_time(parts[0][p]),
                              haul_cell_number(shares[0]), haul_cell_time(parts[1][p]),
                              haul_cell_number(shares[1]),
                              haul_cell_number(self->options->reference ? 1e-9 * (double)parts[2][p]
                                                                        : (double)NAN),
                              haul_cell_number(shares[2])));
    }
}

/* Shares of the path only: other operations can take longer without changing the end. */
static void add_largest(const hl_report_projected *self)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_TEXT, .head = "Critical path"},
                                          {NULL, HAUL_UNIT_COUNT, .head = "count"},
                                          {NULL, HAUL_UNIT_TIME, .head = "time"},
                                          {NULL, HAUL_UNIT_SHARE, .head = "share"},
                                          {0}};
    const haul_critical_path *path = &self->projection->critical;
    const int64_t all_ns = self->projection->target_run.makespan_ns;
    const int64_t host_ns = haul_critical_path_host(path);
    int64_t rest_ns = all_ns - path->host_ns - path->gaps_ns;
    haul_table *table = haul_report_table(self->report, NULL, columns);
    haul_table_limit(table, SHOWN);
    haul_table_row(table, HAUL_CELLS(haul_cell_text("the host"), haul_cell_count(HAUL_NO_COUNT),
                                     haul_cell_time(host_ns),
                                     haul_cell_number(hl_report_share_ns(host_ns, all_ns))));
    for (int w = 0; w < HAUL_DRIVER_WORKS; w++)
        if (path->driver_ns[w])
            haul_table_row(
                table,
                HAUL_CELLS(haul_cell_text(haul_driver_work_text((haul_driver_work)w)),
                           haul_cell_count(HAUL_NO_COUNT), haul_cell_time(path->driver_ns[w]),
                           haul_cell_number(hl_report_share_ns(path->driver_ns[w], all_ns))));
    for (size_t i = 0; i < path->largest_count; i++) {
        const haul_cost_row *row = &path->largest[i];
        char name[HL_REPORT_COST_NAME_BYTES];
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(hl_report_say_cost(self->workload, row, name)),
                                  haul_cell_count(row->count), haul_cell_time(row->time_ns),
                                  haul_cell_number(hl_report_share_ns(row->time_ns, all_ns))));
        rest_ns -= row->time_ns;
    }
    if (path->gaps_ns)
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text("gaps between operations"),
                                  haul_cell_count(HAUL_NO_COUNT), haul_cell_time(path->gaps_ns),
                                  haul_cell_number(hl_report_share_ns(path->gaps_ns, all_ns))));
    /* The list of largest costs is cut: the rest makes the shares add up. */
    if (rest_ns > 0)
        haul_table_row(table, HAUL_CELLS(haul_cell_text("other operations"),
                                         haul_cell_count(HAUL_NO_COUNT), haul_cell_time(rest_ns),
                                         haul_cell_number(hl_report_share_ns(rest_ns, all_ns))));
}

/* Without a prediction there is nothing to show but why. */
void hl_report_projected_add_run(const hl_report_projected *self)
{
    add_data(self);
    if (self->projection->run_missing || !self->projection->replay.ops)
        return;
    haul_report_section(self->report, "run", "The whole run");
    if (!self->projection->unsound) {
        add_parts(self);
        add_largest(self);
    }
    haul_report_detail(self->report, true);
    /* How the host's side was treated, and what the replay's error says. */
    const haul_replay *replay = &self->projection->replay;
    haul_report_say(self->report,
                    "Replay of the profile's own durations: starts are off by %s in the median, "
                    "%s at 90 %%, %s at worst. A gain below the replay's error of %+.2f %% says "
                    "nothing.",
                    hl_report_say_seconds(1e-9 * replay->start_median_ns).text,
                    hl_report_say_seconds(1e-9 * replay->start_p90_ns).text,
                    hl_report_say_seconds(1e-9 * replay->start_worst_ns).text, replay->error);
    if (self->projection->release == HAUL_RELEASE_RECORDED)
        haul_report_say(self->report,
                        "The profile has no calls that issued device work. Each operation follows "
                        "the one before it on its stream as long after its end as recorded; the "
                        "interval holds a run, too, in which none starts earlier than recorded.");
    else
        haul_report_say(self->report,
                        "What the host did between its calls takes as long as recorded; waits and "
                        "copies that block last as long as the target makes them.");
    if (self->projection->release != HAUL_RELEASE_RECORDED && replay->unissued)
        haul_report_say(self->report,
                        "%s of %s have no call in the profile: they start as soon as their stream "
                        "allows.",
                        hl_report_say_count(replay->unissued).text,
                        hl_report_say_number_of(replay->ops, "operation", NULL).text);
    haul_report_detail(self->report, false);
}
