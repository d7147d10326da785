/* Profiles of different jobs side by side, a row each: where the time of each went, and what advice
 * would save of it. */
#include <math.h>
#include <stdlib.h>

#include "base/intervals.h"
#include "base/numerals.h"
#include "haul/report.h"
#include "report/shared_parts.h"
#include "report/wording.h"
#include "workload/idle.h"

enum { TOLD = 3 };

static double seconds(int64_t ns)
{
    return 1e-9 * (double)ns;
}

/* --- where the time went */

/* Sums over profiles. */
typedef struct profile_sums {
    int64_t span_ns;
    int64_t kernel_ns;
    int64_t copy_ns;
    int64_t idle_ns;
} profile_sums;

/* The profile with the largest share of idle time, which the next command is for. */
static size_t find_most_idle(const haul_analyzed_profile *profiles, size_t count, double *most)
{
    size_t found = 0;
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        const haul_analysis *of = profiles[i].analysis;
        const double share = of->span_ns ? (double)of->idle_ns / (double)of->span_ns : 0;
        found = share > *most ? i : found;
        *most = fmax(*most, share);
    }
    return found;
}

/* "host work 500 ms in enumerate"; "" where nothing idles. */
static void say_cause(const haul_analyzed_profile *of, char *text, size_t size)
{
    enum { WIDTH = 28 };
    hl_report_idle_most most;
    char name[4 * WIDTH + 8] = "";
    text[0] = '\0';
    if (!hl_report_idle_find_most(of->workload, of->analysis, &most))
        return;
    if (most.name)
        hl_report_shorten_name(most.name, WIDTH, name, sizeof name);
    (void)snprintf(text, size, "%s %s%s%s", hl_workload_idle_phrase(most.kind),
                   hl_report_say_time(most.time_ns).text, most.name ? ", most in " : "", name);
}

static void say_analyses(haul_report *report, const haul_analyzed_profile *profiles,
                         const char *const *sources, size_t count)
{
    profile_sums sum = {.span_ns = 0};
    double share = 0;
    char cause[300];
    for (size_t i = 0; i < count; i++) {
        const haul_analysis *of = profiles[i].analysis;
        sum.span_ns = hl_base_add_ns(sum.span_ns, of->span_ns);
        sum.kernel_ns = hl_base_add_ns(sum.kernel_ns, of->busy.kernel_ns);
        sum.copy_ns = hl_base_add_ns(sum.copy_ns, of->busy.copy_ns);
        sum.idle_ns = hl_base_add_ns(sum.idle_ns, of->idle_ns);
    }
    haul_report_say(report,
                    "%zu profiles of different jobs, %s in all: kernels run %s of it, copies %s; "
                    "idle %s",
                    count, hl_report_say_time(sum.span_ns).text,
                    hl_report_say_share_ns(sum.kernel_ns, sum.span_ns).text,
                    hl_report_say_share_ns(sum.copy_ns, sum.span_ns).text,
                    hl_report_say_share_ns(sum.idle_ns, sum.span_ns).text);
    const size_t most = find_most_idle(profiles, count, &share);
    if (share > 0) {
        say_cause(&profiles[most], cause, sizeof cause);
        haul_report_line(report, "most idle", "%.100s: %s, %s: %s",
                         hl_report_profile_name(sources, count, most),
                         hl_report_say_share(share).text,
                         hl_report_say_time(profiles[most].analysis->idle_ns).text, cause);
    }
    for (size_t i = 0, told = 0; i < count && told < TOLD; i++) {
        /* A profile that lost operations has sums that are too small. */
        if (profiles[i].workload->loss_count)
            haul_report_line(report, "incomplete", "%.100s: %.400s",
                             hl_report_profile_name(sources, count, i),
                             profiles[i].workload->losses[0].text);
        told += profiles[i].workload->loss_count > 0;
    }
    hl_report_next_command(report, profiles[most].workload, profiles[most].analysis);
}

static void add_analysis(haul_table *table, const char *name, const haul_analyzed_profile *of)
{
    const haul_analysis *analysis = of->analysis;
    const haul_workload *workload = of->workload;
    hl_report_idle_most most = {.kind = HAUL_IDLE_KINDS};
    const bool idles = hl_report_idle_find_most(workload, analysis, &most);
    haul_table_row(
        table,
        HAUL_CELLS(haul_cell_text(name),
                   haul_cell_text(workload->device_count ? workload->devices[0].name : NULL),
                   haul_cell_time(analysis->span_ns), haul_cell_time(analysis->busy.any_ns),
                   haul_cell_time(analysis->busy.kernel_ns), haul_cell_time(analysis->busy.copy_ns),
                   haul_cell_time(analysis->idle_ns),
                   haul_cell_number(hl_report_share_ns(analysis->idle_ns, analysis->span_ns)),
                   haul_cell_text(idles ? haul_idle_text(most.kind) : NULL),
                   haul_cell_text(idles ? hl_workload_idle_phrase(most.kind) : NULL),
                   haul_cell_number(idles ? seconds(most.time_ns) : (double)NAN),
                   haul_cell_text(idles ? most.name : NULL),
                   haul_cell_text(workload->loss_count ? workload->losses[0].text : NULL)));
}

/* The section that both reports have, with a table of a row each. */
static haul_table *add_profiles(haul_report *report, const haul_column *columns)
{
    haul_report_section(report, "profiles", "Profiles");
    haul_table *table = haul_report_table(report, "rows", columns);
    haul_table_csv(table);
    return table;
}

haul_report *haul_report_analyses(const haul_analyzed_profile *profiles, size_t count)
{
    static const haul_column columns[] = {
        {"profile", HAUL_UNIT_TEXT, .head = "Profile"},
        {"gpu", .unit = HAUL_UNIT_TEXT},
        {"recorded_s", HAUL_UNIT_TIME, .head = "recorded"},
        {"busy_s", HAUL_UNIT_TIME, .head = "busy"},
        {"kernels_s", .unit = HAUL_UNIT_TIME},
        {"copies_s", .unit = HAUL_UNIT_TIME},
        {"idle_s", HAUL_UNIT_TIME, .head = "idle"},
        {"idle_share", HAUL_UNIT_SHARE, .head = "share"},
        {"cause", .unit = HAUL_UNIT_TEXT},
        {NULL, HAUL_UNIT_TEXT, .head = "most idle by"},
        {"cause_s", HAUL_UNIT_SECONDS, .head = "time"},
        {"cause_name", HAUL_UNIT_NAME, .head = "in"},
        {"incomplete", HAUL_UNIT_TEXT, .optional = true},
        {0},
    };
    HL_PLAIN_NUMERALS;
    const char **sources = malloc(count * sizeof *sources);
    if (!sources)
        return NULL;
    for (size_t i = 0; i < count; i++)
        sources[i] = profiles[i].workload->source;
    haul_report *report = haul_report_new("analyses");
    say_analyses(report, profiles, sources, count);
    haul_table *const table = add_profiles(report, columns);
    for (size_t i = 0; i < count; i++)
        add_analysis(table, hl_report_profile_name(sources, count, i), &profiles[i]);
    free(sources);
    return report;
}

/* --- what advice would save */

static double share_of(const haul_advised_profile *of)
{
    return of->missing || !of->together.changes ? 0 : of->together.share;
}

static void say_advices(haul_report *report, const haul_advised_profile *profiles,
                        const char *const *sources, size_t count)
{
    int64_t run_ns = 0, safe_ns = 0, all_ns = 0;
    size_t unknown = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        const haul_advised_profile *of = &profiles[i];
        unknown += of->missing != NULL;
        most = share_of(of) > share_of(&profiles[most]) ? i : most;
        if (of->missing)
            continue;
        run_ns = hl_base_add_ns(run_ns, of->run_ns);
        safe_ns = hl_base_add_ns(safe_ns, of->safe.saved_ns);
        all_ns = hl_base_add_ns(all_ns, of->together.saved_ns);
    }
    char safe[80] = "no safe change saves time";
    if (safe_ns > 0)
        (void)snprintf(safe, sizeof safe, "safe changes save %.20s, %.20s",
                       hl_report_say_time(safe_ns).text,
                       hl_report_say_share_ns(safe_ns, run_ns).text);
    if (unknown == count)
        haul_report_say(report, "%zu profiles of different jobs: no change was tried for any",
                        count);
    else if (!all_ns)
        haul_report_say(report, "%zu profiles of different jobs, %s in all: no change saves time",
                        count, hl_report_say_time(run_ns).text);
    else
        haul_report_say(report,
                        "%zu profiles of different jobs, %s in all; %s; up to %s, %s, if what they "
                        "assume holds",
                        count, hl_report_say_time(run_ns).text, safe,
                        hl_report_say_time(all_ns).text,
                        hl_report_say_share_ns(all_ns, run_ns).text);
    if (share_of(&profiles[most]) > 0)
        haul_report_line(report, "most", "%.100s: up to %s of %s less, %s: %.400s",
                         hl_report_profile_name(sources, count, most),
                         hl_report_say_time(profiles[most].together.saved_ns).text,
                         hl_report_say_time(profiles[most].run_ns).text,
                         hl_report_say_share(share_of(&profiles[most])).text, profiles[most].first);
    if (unknown)
        haul_report_line(report, "caution", "no advice for %s: see the last column",
                         hl_report_say_number_of(unknown, "profile", NULL).text);
    if (all_ns)
        haul_report_line(report, "next",
                         "haul advise of one profile: its changes, with their calls");
}

static void add_advice(haul_table *table, const char *name, const haul_advised_profile *of)
{
    const double unknown = (double)NAN;
    const haul_advised_plan *safe = &of->safe, *all = &of->together;
    haul_table_row(
        table, HAUL_CELLS(haul_cell_text(name), haul_cell_text(of->machine),
                          haul_cell_number(of->recorded_ns ? seconds(of->recorded_ns) : unknown),
                          haul_cell_number(of->missing ? unknown : seconds(of->run_ns)),
                          haul_cell_number(of->missing ? unknown : seconds(safe->saved_ns)),
                          haul_cell_number(of->missing ? unknown : seconds(all->saved_ns)),
                          haul_cell_interval(of->missing ? unknown : seconds(all->low_ns),
                                             of->missing ? unknown : seconds(all->high_ns)),
                          haul_cell_number(of->missing ? unknown : all->share),
                          haul_cell_text(of->first), haul_cell_text(of->missing)));
}

haul_report *haul_report_advices(const haul_advised_profile *profiles, size_t count)
{
    static const haul_column columns[] = {
        {"profile", HAUL_UNIT_TEXT, .head = "Profile"},
        {"machine", .unit = HAUL_UNIT_TEXT},
        {"recorded_s", HAUL_UNIT_SECONDS, .head = "recorded"},
        {"run_s", .unit = HAUL_UNIT_SECONDS},
        {"safe_s", HAUL_UNIT_SECONDS, .head = "safe"},
        {"up_to_s", HAUL_UNIT_SECONDS, .head = "up to"},
        {"up_to_interval_s", .unit = HAUL_UNIT_INTERVAL},
        {"up_to_share", HAUL_UNIT_SHARE, .head = "share"},
        {"first", HAUL_UNIT_TEXT, .head = "first change"},
        {"missing", HAUL_UNIT_TEXT, .head = "no advice", .optional = true},
        {0},
    };
    HL_PLAIN_NUMERALS;
    const char **sources = malloc(count * sizeof *sources);
    if (!sources)
        return NULL;
    for (size_t i = 0; i < count; i++)
        sources[i] = profiles[i].source;
    haul_report *report = haul_report_new("advices");
    say_advices(report, profiles, sources, count);
    haul_table *const table = add_profiles(report, columns);
    for (size_t i = 0; i < count; i++)
        add_advice(table, hl_report_profile_name(sources, count, i), &profiles[i]);
    free(sources);
    return report;
}
