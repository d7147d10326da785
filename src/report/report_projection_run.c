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
static void say_bound(const haul_projected *self)
{
    const haul_critical_path *path = &self->projection->critical;
    const int64_t all_ns = self->projection->target_run.makespan_ns;
    char text[512] = "";
    size_t used = 0;
    int said = 0;
    char copies[HAUL_DIRECTIONS][32];
    enum { OTHERS = 4, KINDS = HAUL_DIRECTIONS + OTHERS };
    const char *names[KINDS] = {"kernels", "the host", "memsets", "gaps between kernels"};
    /* Kinds of operation compete as equals: a direction of copies may outweigh all kernels. */
    int64_t times_ns[KINDS] = {path->kernels_ns, path->host_ns, path->memsets_ns, path->gaps_ns};
    for (int d = 0; d < HAUL_DIRECTIONS; d++) {
        (void)snprintf(copies[d], sizeof copies[d], "%s copies",
                       haul_direction_text((haul_direction)d));
        names[OTHERS + d] = copies[d];
        times_ns[OTHERS + d] = path->copies_ns[d];
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
                                 names[most], haul_say_share_ns(times_ns[most], all_ns).text,
                                 used ? "" : " of the critical path");
        times_ns[most] = 0;
        said++;
    }
    haul_report_line(self->report, "bound by", "%s", text);
}

/* One sentence; where the run is not predicted it says why instead of a number. */
void haul_projected_say_run(const haul_projected *self)
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
        haul_report_say(self->report, "No prediction of the whole run on %s: %s (%+.1f %%)", to,
                        projection->unsound, replay->error);
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
                       haul_say_time(replay->replayed_ns).text);
    haul_report_say(self->report, "%s%s -> %s on %s: %s",
                    haul_say_time(projection->recorded_run.makespan_ns).text, replayed,
                    haul_say_time(projection->target_run.makespan_ns).text, to,
                    haul_say_change(replay->replayed_ns, projection->target_run.makespan_ns,
                                    projection->low_ns, projection->high_ns)
                        .text);
    const double reference = (double)projection->reference_run.makespan_ns;
    if (self->options->reference && reference > 0)
        haul_report_line(self->report, "reference", "took %s: the prediction is %+.1f %% off",
                         haul_say_seconds(1e-9 * reference).text,
                         100 * (target - reference) / reference);
    say_bound(self);
}

/* The same parts of the recorded, the predicted and the reference's run. */
static void add_breakdown(haul_table *parent, const char *key, const haul_breakdown *run)
{
    static const haul_column columns[] = {{"makespan_s", .unit = HAUL_TIME},
                                          {"kernels_alone_s", .unit = HAUL_TIME},
                                          {"copies_hidden_s", .unit = HAUL_TIME},
                                          {"copies_both_ways_s", .unit = HAUL_TIME},
                                          {"copies_exposed_s", .unit = HAUL_TIME},
                                          {"host_alone_s", .unit = HAUL_TIME},
                                          {0}};
    haul_report_object(parent, key, columns, run->makespan_ns, run->kernels_ns, run->hidden_ns,
                       run->both_ways_ns, run->exposed_ns, run->idle_ns);
}

/* The path by kind of operation, and its largest costs: what a faster part would shorten. */
static void add_path(haul_table *parent, const haul_projected *self)
{
    static const haul_column none[] = {{0}};
    static const haul_column copies[] = {
        {"direction", .unit = HAUL_TEXT}, {"", .unit = HAUL_TIME}, {0}};
    static const haul_column sums[] = {{"kernels_s", .unit = HAUL_TIME},
                                       {"memsets_s", .unit = HAUL_TIME},
                                       {"gaps_s", .unit = HAUL_TIME},
                                       {"host_s", .unit = HAUL_TIME},
                                       {0}};
    static const haul_column largest[] = {
        {"kind", .unit = HAUL_TEXT},
        {"name", HAUL_TEXT, .optional = true},
        {"direction", HAUL_TEXT, .optional = true},
        {"memory", HAUL_TEXT, .optional = true},
        {"count", .unit = HAUL_COUNT},
        {"time_s", .unit = HAUL_TIME},
        {0},
    };
    const haul_critical_path *path = &self->projection->critical;
    haul_table *object = haul_report_object(parent, "critical_path", none);
    haul_table *map = haul_report_map(object, "copies_s", copies);
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        haul_table_row(map, haul_direction_text((haul_direction)d), path->copies_ns[d]);
    haul_report_object(object, NULL, sums, path->kernels_ns, path->memsets_ns, path->gaps_ns,
                       path->host_ns);
    haul_table *rows = haul_report_table(object, "largest", largest);
    for (size_t i = 0; i < path->largest_count; i++) {
        const haul_cost_row *row = &path->largest[i];
        const bool is_kernel = row->kind == HAUL_OP_KERNEL, is_copy = row->kind == HAUL_OP_COPY;
        haul_table_row(rows, haul_op_kind_text(row->kind),
                       is_kernel ? haul_workload_string(self->workload, row->name) : NULL,
                       is_copy ? haul_direction_text(row->direction) : NULL,
                       is_copy ? haul_memory_text(row->memory) : NULL, row->count, row->time_ns);
    }
}

/* How far the replay of the recorded durations is off: the error that every prediction shares. */
static void add_replay(haul_table *parent, const haul_replay *replay)
{
    static const haul_column columns[] = {
        {"makespan_s", .unit = HAUL_TIME},        {"error", .unit = HAUL_PERCENT},
        {"start_median_s", .unit = HAUL_SECONDS}, {"start_p90_s", .unit = HAUL_SECONDS},
        {"start_worst_s", .unit = HAUL_SECONDS},  {"operations", .unit = HAUL_COUNT},
        {"uncalled", .unit = HAUL_COUNT},         {"delayed", .unit = HAUL_COUNT},
        {"delays_s", .unit = HAUL_TIME},          {0},
    };
    haul_report_object(parent, "replay", columns, replay->replayed_ns, replay->error,
                       /* Medians of nanoseconds are doubles. */
                       1e-9 * replay->start_median_ns, 1e-9 * replay->start_p90_ns,
                       1e-9 * replay->start_worst_ns, replay->ops, replay->unissued,
                       replay->delayed, replay->delays_ns);
}

/* The limits of the target that the timeline kept to, for a reader who doubts the prediction. */
static void add_device(haul_table *parent, const haul_timeline_device *device)
{
    static const haul_column columns[] = {
        {"copy_engines", .unit = HAUL_COUNT},
        {"kernels", .unit = HAUL_COUNT},
        {"implicit_sync", .unit = HAUL_FLAG},
        {"queue_depth", .unit = HAUL_COUNT},
        {"link_devices", .unit = HAUL_COUNT},
        {"staging", .unit = HAUL_FLAG},
        {"migrations", .unit = HAUL_COUNT},
        {"kernel_gap_s", .unit = HAUL_TIME},
        {0},
    };
    static const haul_column room[] = {
        {"multiprocessors", .unit = HAUL_COUNT}, {"blocks", .unit = HAUL_COUNT},
        {"threads", .unit = HAUL_COUNT},         {"registers", .unit = HAUL_COUNT},
        {"shared_bytes", .unit = HAUL_COUNT},    {0},
    };
    static const haul_column speed[] = {
        {"direction", .unit = HAUL_TEXT}, {"", .unit = HAUL_SHARE}, {0}};
    const haul_occupancy *occupancy = &device->occupancy;
    haul_table *object = haul_report_object(
        parent, "device", columns, (uint64_t)device->copy_engines, (uint64_t)device->kernels,
        (int)device->implicit_sync, (uint64_t)device->queue_depth, (uint64_t)device->link_devices,
        (int)device->staging, (uint64_t)device->migrations, device->kernel_gap_ns);
    haul_report_object(object, "occupancy", room, (uint64_t)occupancy->multiprocessors,
                       (uint64_t)occupancy->blocks, (uint64_t)occupancy->threads,
                       (uint64_t)occupancy->registers, (uint64_t)occupancy->shared_bytes);
    haul_table *map = haul_report_map(object, "busy_speed", speed);
    for (int d = HAUL_HTOD; d <= HAUL_DTOH; d++)
        haul_table_row(map, haul_direction_text((haul_direction)d), device->busy_speed[d]);
}

/* JSON's object "run". Without a prediction it has the reason alone. */
static void add_data(const haul_projected *self)
{
    static const haul_column head[] = {
        {"missing", HAUL_TEXT, .optional = true}, {"calls", HAUL_TEXT, .optional = true}, {0}};
    static const haul_column interval[] = {
        {"unsound", HAUL_TEXT, .optional = true}, {"interval_s", .unit = HAUL_INTERVAL}, {0}};
    const haul_projection *projection = self->projection;
    const char *missing = projection->run_missing;
    const char *calls = projection->release == HAUL_RELEASE_HOST ? "simulated" : "recorded";
    haul_table *run =
        haul_report_object(self->report, "run", head, missing, missing ? NULL : calls);
    if (missing)
        return;
    add_breakdown(run, "recorded", &projection->recorded_run);
    add_breakdown(run, "target", &projection->target_run);
    if (self->options->reference)
        add_breakdown(run, "reference", &projection->reference_run);
    haul_report_object(run, NULL, interval, projection->unsound, 1e-9 * (double)projection->low_ns,
                       1e-9 * (double)projection->high_ns);
    add_path(run, self);
    add_replay(run, &projection->replay);
    add_device(run, &projection->device);
}

/* The parts add up to the makespan, so that a column tells where a prediction differs: in what the
 * kernels take, in what is overlapped, or in what the host does between them. */
static void add_parts(const haul_projected *self)
{
    static const haul_column columns[] = {
        {NULL, HAUL_TEXT, .head = "The whole run"},
        {NULL, HAUL_TIME, .head = "recorded"},
        {NULL, HAUL_SHARE, .head = "share"},
        {NULL, HAUL_TIME, .head = "predicted"},
        {NULL, HAUL_SHARE, .head = "share"},
        {NULL, HAUL_SECONDS, .head = "reference", .optional = true},
        {NULL, HAUL_SHARE, .head = "share", .optional = true},
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
            shares[r] = haul_share_of((double)parts[r][p], (double)parts[r][5]);
        haul_table_row(table, names[p], parts[0][p], shares[0], parts[1][p], shares[1],
                       self->options->reference ? 1e-9 * (double)parts[2][p] : (double)NAN,
                       shares[2]);
    }
}

/* What is not on the path can take longer without changing the end. */
static void add_largest(const haul_projected *self)
{
    static const haul_column columns[] = {{NULL, HAUL_TEXT, .head = "Critical path"},
                                          {NULL, HAUL_COUNT, .head = "count"},
                                          {NULL, HAUL_TIME, .head = "time"},
                                          {NULL, HAUL_SHARE, .head = "share"},
                                          {0}};
    const haul_critical_path *path = &self->projection->critical;
    const int64_t all_ns = self->projection->target_run.makespan_ns;
    int64_t rest_ns = all_ns - path->host_ns - path->gaps_ns;
    haul_table *table = haul_report_table(self->report, NULL, columns);
    haul_table_limit(table, SHOWN);
    haul_table_row(table, "the host", HAUL_NO_COUNT, path->host_ns,
                   haul_share_ns(path->host_ns, all_ns));
    for (size_t i = 0; i < path->largest_count; i++) {
        const haul_cost_row *row = &path->largest[i];
        char name[HAUL_COST_NAME_BYTES];
        haul_table_row(table, haul_say_cost(self->workload, row, name), row->count, row->time_ns,
                       haul_share_ns(row->time_ns, all_ns));
        rest_ns -= row->time_ns;
    }
    if (path->gaps_ns)
        haul_table_row(table, "gaps between kernels", HAUL_NO_COUNT, path->gaps_ns,
                       haul_share_ns(path->gaps_ns, all_ns));
    /* The list of largest costs is cut: the rest makes the shares add up. */
    if (rest_ns > 0)
        haul_table_row(table, "other operations", HAUL_NO_COUNT, rest_ns,
                       haul_share_ns(rest_ns, all_ns));
}

/* How the host's side was treated, and what the replay's error says. */
static void say_method(const haul_projected *self)
{
    const haul_replay *replay = &self->projection->replay;
    haul_report_say(self->report,
                    "Replay of the profile's own durations: starts are off by %s in the median, "
                    "%s at 90 %%, %s at worst. A gain below the replay's error of %+.2f %% says "
                    "nothing.",
                    haul_say_seconds(1e-9 * replay->start_median_ns).text,
                    haul_say_seconds(1e-9 * replay->start_p90_ns).text,
                    haul_say_seconds(1e-9 * replay->start_worst_ns).text, replay->error);
    if (self->projection->release == HAUL_RELEASE_RECORDED)
        haul_report_say(self->report,
                        "The profile has no calls that issued device work, so no operation "
                        "starts earlier than recorded: a faster machine shows only where "
                        "operations waited for each other.");
    else
        haul_report_say(self->report,
                        "What the host did between its calls takes as long as recorded; waits and "
                        "copies that block last as long as the target makes them.");
    if (self->projection->release != HAUL_RELEASE_RECORDED && replay->unissued)
        haul_report_say(self->report,
                        "%s of %s have no call in the profile: they start as soon as their stream "
                        "allows.",
                        haul_say_count(replay->unissued).text,
                        haul_say_number_of(replay->ops, "operation", NULL).text);
}

/* Without a prediction there is nothing to show but why. */
void haul_projected_add_run(const haul_projected *self)
{
    add_data(self);
    if (self->projection->run_missing || !self->projection->replay.ops)
        return;
    haul_report_section(self->report, "run", "The whole run");
    add_parts(self);
    add_largest(self);
    haul_report_detail(self->report, true);
    say_method(self);
    haul_report_detail(self->report, false);
}
