/* Why no device works: the line of the answer, its table, and the command to run next. */
#include <stdio.h>

#include "haul/report.h"
#include "report/shared_parts.h"
#include "report/wording.h"
#include "workload/idle.h"

enum { KINDS_SAID = 2, CAUSES_SHOWN = 3, IDLE_NAME_WIDTH = 28, MOST_NAMED = 10000 };

/* Below this share of the span no line says why: it would explain noise. */
static const double least_idle = 0.005;

typedef struct idle_kind_sum {
    int64_t time_ns[HAUL_IDLE_KINDS];
    const haul_idle_cause *largest[HAUL_IDLE_KINDS]; /* with a name */
} idle_kind_sum;

/* Causes come with those of the most time first. */
static idle_kind_sum sum_kinds(const haul_analysis *analysis)
{
    idle_kind_sum sum = {.time_ns = {0}};
    for (size_t i = 0; i < analysis->idle_count; i++) {
        const haul_idle_cause *const cause = &analysis->idle[i];
        sum.time_ns[cause->kind] += cause->time_ns;
        if (!sum.largest[cause->kind] && cause->name != HAUL_NONE)
            sum.largest[cause->kind] = cause;
    }
    return sum;
}

/* The kind of the most time that `said` does not hold yet; HAUL_IDLE_KINDS: none is left. */
static haul_idle_kind next_kind(const idle_kind_sum *sum, unsigned said)
{
    haul_idle_kind found = HAUL_IDLE_KINDS;
    for (unsigned k = 0; k < HAUL_IDLE_KINDS; k++)
        if (!(said >> k & 1) && sum->time_ns[k] &&
            (found == HAUL_IDLE_KINDS || sum->time_ns[k] > sum->time_ns[found]))
            found = (haul_idle_kind)k;
    return found;
}

bool hl_report_idle_find_most(const haul_workload *workload, const haul_analysis *analysis,
                              hl_report_idle_most *out)
{
    const idle_kind_sum sum = sum_kinds(analysis);
    const haul_idle_kind kind = next_kind(&sum, 0);
    if (kind == HAUL_IDLE_KINDS)
        return false;
    const haul_idle_cause *const named = sum.largest[kind];
    *out =
        (hl_report_idle_most){.kind = kind,
                              .time_ns = sum.time_ns[kind],
                              .name = named ? haul_workload_string(workload, named->name) : NULL};
    return true;
}

bool hl_report_idle_says(const haul_analysis *analysis)
{
    return analysis->idle_count &&
           (double)analysis->idle_ns >= least_idle * (double)analysis->span_ns;
}

void hl_report_idle_line(haul_report *report, const haul_workload *workload,
                         const haul_analysis *analysis)
{
    const idle_kind_sum sum = sum_kinds(analysis);
    const double idle_ns = (double)analysis->idle_ns;
    char text[600] = "";
    size_t used = 0;
    unsigned said = 0;
    for (int n = 0; n < KINDS_SAID; n++) {
        const haul_idle_kind kind = next_kind(&sum, said);
        /* the first cause, and others of a tenth of the idle time */
        if (kind == HAUL_IDLE_KINDS || (n && (double)sum.time_ns[kind] < 0.1 * idle_ns))
            break;
        said |= 1U << kind;
        const haul_idle_cause *const cause = sum.largest[kind];
        char name[4 * IDLE_NAME_WIDTH + 8];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", n ? ", " : "",
                                 hl_workload_idle_phrase(kind),
                                 hl_report_say_time(sum.time_ns[kind]).text);
        if (cause)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, " (of it %s %s)",
                                 hl_report_shorten_name(haul_workload_string(workload, cause->name),
                                                        IDLE_NAME_WIDTH, name, sizeof name),
                                 hl_report_say_time(cause->time_ns).text);
    }
    haul_report_line(report, "idle", "%s, %s: %s",
                     hl_report_say_share_ns(analysis->idle_ns, analysis->span_ns).text,
                     hl_report_say_time(analysis->idle_ns).text, text);
}

void hl_report_next_command(haul_report *report, const haul_workload *workload,
                            const haul_analysis *analysis)
{
    const idle_kind_sum sum = sum_kinds(analysis);
    const double span_ns = (double)analysis->span_ns, idle_ns = (double)analysis->idle_ns;
    const double exposed_ns = (double)(analysis->busy.copy_ns - analysis->busy.both_ns);
    const double of_copies_ns = exposed_ns + (double)sum.time_ns[HAUL_IDLE_COPY];
    /* ranges name the host's own work alone, not its calls */
    const bool is_driver =
        sum.time_ns[HAUL_IDLE_CALL] + sum.time_ns[HAUL_IDLE_LAUNCH] > sum.time_ns[HAUL_IDLE_HOST];
    /* several files have no one name */
    const bool is_joined = workload->device_count && workload->devices[0].rank >= 0;
    const char *const file = is_joined ? "PROFILE..." : workload->source;
    if (idle_ns > 0.5 * span_ns && (double)sum.time_ns[HAUL_IDLE_UNKNOWN] > 0.5 * idle_ns)
        haul_report_line(report, "next", "record the API calls too: they tell why the GPU idles");
    else if (of_copies_ns > 0.1 * span_ns)
        haul_report_line(report, "next", "haul advise %.200s", file);
    else if (idle_ns > 0.3 * span_ns && is_driver)
        haul_report_line(report, "next", "haul analyze %.200s --verbose", file);
    else if (idle_ns > 0.3 * span_ns && !workload->range_count && !workload->operators)
        haul_report_line(report, "next",
                         "name the host's work by NVTX or roctx ranges, and record them");
    else if (idle_ns > 0.3 * span_ns)
        haul_report_line(report, "next", "haul analyze %.200s --by %s", file,
                         workload->operators ? "operator" : "range");
    else
        haul_report_line(report, "next", "haul project %.200s --to h200", file);
}

static void add_idle_cause(haul_table *table, const haul_analysis *analysis,
                           const haul_idle_cause *cause, const char *name)
{
    haul_table_row(
        table,
        HAUL_CELLS(haul_cell_text(haul_idle_text(cause->kind)),
                   haul_cell_text(hl_workload_idle_phrase(cause->kind)), haul_cell_text(name),
                   haul_cell_count(cause->count), haul_cell_time(cause->time_ns),
                   haul_cell_number(hl_report_share_ns(cause->time_ns, analysis->span_ns))));
}

/* Programs that name each step anew have as many causes as steps: behind the first ones they are
 * summed, as ranges are. */
void hl_report_idle_table(haul_report *report, const haul_workload *workload,
                          const haul_analysis *analysis)
{
    static const haul_column columns[] = {{"cause", .unit = HAUL_UNIT_TEXT},
                                          {NULL, HAUL_UNIT_TEXT, .head = "Why the GPU idles"},
                                          {"name", HAUL_UNIT_NAME, .head = "in", .optional = true},
                                          {"count", HAUL_UNIT_COUNT, .head = "count"},
                                          {"time_s", HAUL_UNIT_TIME, .head = "time"},
                                          {NULL, HAUL_UNIT_SHARE, .head = "of the span"},
                                          {0}};
    haul_table *table = haul_report_table(report, "idle", columns);
    haul_table_limit(table, CAUSES_SHOWN);
    const size_t count = analysis->idle_count;
    const size_t named = count <= MOST_NAMED ? count : (size_t)MOST_NAMED;
    for (size_t i = 0; i < named; i++) {
        const uint32_t name = analysis->idle[i].name;
        add_idle_cause(table, analysis, &analysis->idle[i],
                       name == HAUL_NONE ? NULL : haul_workload_string(workload, name));
    }
    /* The causes after the named ones, one row a kind. */
    haul_idle_cause rest[HAUL_IDLE_KINDS] = {{0}};
    size_t names[HAUL_IDLE_KINDS] = {0};
    for (size_t i = named; i < analysis->idle_count; i++) {
        const haul_idle_cause *const cause = &analysis->idle[i];
        rest[cause->kind].count += cause->count;
        rest[cause->kind].time_ns += cause->time_ns;
        names[cause->kind]++;
    }
    for (unsigned kind = 0; kind < HAUL_IDLE_KINDS; kind++) {
        char name[64];
        rest[kind].kind = (haul_idle_kind)kind;
        (void)snprintf(name, sizeof name, "(%zu other names)", names[kind]);
        if (names[kind])
            add_idle_cause(table, analysis, &rest[kind], name);
    }
}
