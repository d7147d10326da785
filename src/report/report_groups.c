/* Kernels and copies by operator, range, kernel, source line or call stack: a row each. */
#include <stdlib.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/wording.h"

enum { GROUPS_SHOWN = 20 };

static const char *const words[] = {"", "operator", "range", "kernel", "source line", "call stack"};
/* in JSON, as `--by` has them */
static const char *const keys[] = {"", "operator", "range", "kernel", "line", "stack"};

static int64_t time_of(const haul_work_group *group)
{
    return group->kernels_ns + group->copies_ns;
}

static void say_first(haul_report *report, const haul_workload *workload, haul_group_by by,
                      const haul_work_group *groups, size_t count)
{
    double all_ns = 0;
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        all_ns += (double)time_of(&groups[i]);
        named += groups[i].name != HAUL_NONE;
    }
    if (!named) {
        const bool is_line = by == HAUL_GROUP_BY_LINE || by == HAUL_GROUP_BY_STACK;
        haul_report_say(report, "The profile names no %s of its kernels and copies%s.", words[by],
                        is_line ? "; record with with_stack=True (PyTorch), --cudabacktrace=all "
                                  "(Nsight Systems) or --stacks (haul record)"
                                : "");
        return;
    }
    const haul_work_group *const first = &groups[groups[0].name == HAUL_NONE && count > 1];
    char name[256];
    haul_report_say(
        report, "%s takes %s of the time of kernels and copies, %s of %s: %s of %s",
        hl_report_shorten_name(haul_workload_string(workload, first->name), 40, name, sizeof name),
        hl_report_say_share(hl_report_share_of((double)time_of(first), all_ns)).text,
        hl_report_say_time(time_of(first)).text, hl_report_say_seconds(1e-9 * all_ns).text,
        "the largest", hl_report_say_number_of(named, words[by], NULL).text);
}

haul_status haul_report_groups(haul_report **report, const haul_workload *workload,
                               haul_group_by by, haul_error *error)
{
    static const haul_column head[] = {
        {"source", .unit = HAUL_UNIT_TEXT}, {"by", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column columns[] = {{"name", HAUL_UNIT_NAME, .head = "name"},
                                          {"kernels", HAUL_UNIT_COUNT, .head = "kernels"},
                                          {"kernels_s", HAUL_UNIT_TIME, .head = "time"},
                                          {"copies", HAUL_UNIT_COUNT, .head = "copies"},
                                          {"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
                                          {"copies_s", HAUL_UNIT_TIME, .head = "time"},
                                          {"share", HAUL_UNIT_SHARE, .head = "share"},
                                          {0}};
    HL_PLAIN_NUMERALS;
    haul_work_group *groups = NULL;
    size_t count = 0;
    double all_ns = 0;
    HAUL_TRY(haul_work_groups(workload, by, &groups, &count, error));
    haul_report *made = haul_report_new("groups");
    haul_report_object(made, NULL, head,
                       HAUL_CELLS(haul_cell_text(workload->source), haul_cell_text(keys[by])));
    say_first(made, workload, by, groups, count);
    haul_table *table = haul_report_table(made, "groups", columns);
    haul_table_csv(table);
    haul_table_limit(table, GROUPS_SHOWN);
    for (size_t i = 0; i < count; i++)
        all_ns += (double)time_of(&groups[i]);
    for (size_t i = 0; i < count; i++) {
        const haul_work_group *const group = &groups[i];
        const char *const name = haul_workload_string(workload, group->name);
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(group->name == HAUL_NONE ? "(none)" : name),
                       haul_cell_count(group->kernels), haul_cell_time(group->kernels_ns),
                       haul_cell_count(group->copies), haul_cell_count(group->bytes),
                       haul_cell_time(group->copies_ns),
                       haul_cell_number(hl_report_share_of((double)time_of(group), all_ns))));
    }
    free(groups);
    *report = made;
    return HAUL_OK;
}
