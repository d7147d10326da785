/* Calls of MPI: how much of the ranks' time, for whom they wait, and how long data move. */
#include <stdio.h>
#include <stdlib.h>

#include "haul/report.h"
#include "report/document.h"
#include "report/shared_parts.h"
#include "report/wording.h"

enum { CALLS_SHOWN = 8, RANKS_SHOWN = 8 };

/* The sums of all ranks, and the call that waited longest for late ones. */
typedef struct mpi_sums {
    size_t ranks;
    haul_mpi_use all; /* span_ns: of all ranks together */
    const haul_mpi_use *latest;
    const haul_mpi_use *last; /* the rank for which others waited longest */
} mpi_sums;

static mpi_sums sum_of(const haul_mpi_use *uses, size_t count)
{
    mpi_sums sums = {.ranks = 0};
    for (size_t i = 0; i < count; i++) {
        const haul_mpi_use *const use = &uses[i];
        if (use->rank < 0) {
            if (use->late_ns && (!sums.latest || use->late_ns > sums.latest->late_ns))
                sums.latest = use;
            continue;
        }
        sums.ranks++;
        if (use->caused_ns && (!sums.last || use->caused_ns > sums.last->caused_ns))
            sums.last = use;
        sums.all.time_ns += use->time_ns;
        sums.all.late_ns += use->late_ns;
        sums.all.transfer_ns += use->transfer_ns;
        sums.all.span_ns += use->span_ns;
    }
    return sums;
}

bool hl_report_mpi_line(haul_report *report, const haul_workload *workload, bool is_answer)
{
    haul_mpi_use *uses = NULL;
    size_t count = 0;
    if (haul_mpi_uses(workload, &uses, &count, NULL)) {
        hl_report_no_memory(report);
        return false;
    }
    const mpi_sums sums = sum_of(uses, count);
    const int64_t span_ns = sums.all.span_ns;
    if (sums.ranks && span_ns > 0) {
        char late[160] = "", last[48] = "", text[500];
        if (sums.last)
            (void)snprintf(last, sizeof last, ", most for rank %lld", (long long)sums.last->rank);
        if (sums.latest)
            (void)snprintf(late, sizeof late, " (most in %.60s%s)",
                           haul_workload_string(workload, sums.latest->name), last);
        (void)snprintf(text, sizeof text,
                       "%s of their time: waiting for late ranks %s%s, transfer %s",
                       hl_report_say_share_ns(sums.all.time_ns, span_ns).text,
                       hl_report_say_share_ns(sums.all.late_ns, span_ns).text, late,
                       hl_report_say_share_ns(sums.all.transfer_ns, span_ns).text);
        if (is_answer)
            haul_report_say(report, "MPI takes %s %s",
                            hl_report_say_number_of(sums.ranks, "rank", NULL).text, text);
        else
            haul_report_line(report, "MPI", "%s %s",
                             hl_report_say_number_of(sums.ranks, "rank", NULL).text, text);
    }
    free(uses);
    return sums.ranks > 0;
}

bool hl_report_has_mpi(const haul_workload *workload)
{
    haul_mpi_use *uses = NULL;
    size_t count = 0;
    const haul_status status = haul_mpi_uses(workload, &uses, &count, NULL);
    free(uses);
    return !status && count;
}

static void add_rows(haul_table *table, const haul_workload *workload, const haul_mpi_use *uses,
                     size_t count, bool of_ranks)
{
    for (size_t i = 0; i < count; i++) {
        const haul_mpi_use *const use = &uses[i];
        if ((use->rank >= 0) != of_ranks)
            continue;
        const haul_cell sums[] = {haul_cell_count(use->calls), haul_cell_count(use->bytes),
                                  haul_cell_time(use->time_ns), haul_cell_time(use->late_ns),
                                  haul_cell_time(use->transfer_ns)};
        if (of_ranks)
            haul_table_row(
                table,
                HAUL_CELLS(haul_cell_count((uint64_t)use->rank), sums[0], sums[1], sums[2], sums[3],
                           sums[4], haul_cell_time(use->caused_ns),
                           haul_cell_number(hl_report_share_ns(use->time_ns, use->span_ns))));
        else
            haul_table_row(table,
                           HAUL_CELLS(haul_cell_text(haul_workload_string(workload, use->name)),
                                      sums[0], sums[1], sums[2], sums[3], sums[4]));
    }
}

void hl_report_mpi_tables(haul_report *report, const haul_workload *workload)
{
    static const haul_column calls[] = {
        {"name", HAUL_UNIT_TEXT, .head = "Calls of MPI"},
        {"count", HAUL_UNIT_COUNT, .head = "count"},
        {"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
        {"time_s", HAUL_UNIT_TIME, .head = "time"},
        {"late_s", HAUL_UNIT_TIME, .head = "for late ranks"},
        {"transfer_s", HAUL_UNIT_TIME, .head = "transfer"},
        {0},
    };
    static const haul_column ranks[] = {
        {"rank", HAUL_UNIT_COUNT, .head = "Rank"},
        {"count", HAUL_UNIT_COUNT, .head = "calls of MPI"},
        {"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
        {"time_s", HAUL_UNIT_TIME, .head = "time"},
        {"late_s", HAUL_UNIT_TIME, .head = "for late ranks"},
        {"transfer_s", HAUL_UNIT_TIME, .head = "transfer"},
        {"caused_s", HAUL_UNIT_TIME, .head = "others for it"},
        {"share", HAUL_UNIT_SHARE, .head = "of its time"},
        {0},
    };
    haul_mpi_use *uses = NULL;
    size_t count = 0;
    if (haul_mpi_uses(workload, &uses, &count, NULL)) {
        hl_report_no_memory(report);
        return;
    }
    if (count) {
        haul_table *const by_call = haul_report_table(report, "mpi_calls", calls);
        haul_table_limit(by_call, CALLS_SHOWN);
        add_rows(by_call, workload, uses, count, false);
    }
    if (count && uses[count - 1].rank >= 0) {
        haul_table *const by_rank = haul_report_table(report, "mpi_ranks", ranks);
        haul_table_limit(by_rank, RANKS_SHOWN);
        add_rows(by_rank, workload, uses, count, true);
    }
    free(uses);
}
