/* A collective: the way that NCCL has for it, the others, and the curve over sizes. */
#include <math.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/wording.h"

enum { SIZES = 17 }; /* 8 B to 32 GiB, by four */

/* The fastest way that NCCL has for it, or of the others; -1: there is none. */
static int best_of(const haul_collective_way_time times[HAUL_COLLECTIVE_WAYS], bool of_library)
{
    int best = -1;
    for (int w = 0; w < HAUL_COLLECTIVE_WAYS; w++)
        if (!times[w].is_impossible && times[w].is_library == of_library &&
            (best < 0 || times[w].seconds < times[best].seconds))
            best = w;
    return best;
}

static void say_answer(haul_report *report, const haul_collective_report *self,
                       const haul_collective_way_time times[HAUL_COLLECTIVE_WAYS])
{
    const haul_collective_way_time *best = &times[best_of(times, true)];
    const int other = best_of(times, false);
    const double bytes_s = best->seconds - best->latency_s;
    haul_report_say(report, "%s, %s: %s (%s) for %s %s of %s on %s of %.64s, %s",
                    haul_collective_way_text(best->way), best->protocol,
                    hl_report_say_seconds(best->seconds).text,
                    hl_report_say_interval(best->low_s, best->high_s).text,
                    *haul_collective_text(self->of.kind) == 'a' ? "an" : "a",
                    haul_collective_text(self->of.kind), hl_report_say_bytes(self->of.bytes).text,
                    hl_report_say_number_of(self->of.ranks, "GPU", NULL).text, self->machine->name,
                    best->latency_s > bytes_s ? "most of it the latency of its hops"
                                              : "most of it the bytes");
    if (other >= 0 && times[other].seconds < best->seconds)
        haul_report_line(report, "faster", "%s: %s, by kernels of one's own: NCCL has no such %s",
                         haul_collective_way_text(times[other].way),
                         hl_report_say_seconds(times[other].seconds).text,
                         haul_collective_text(self->of.kind));
    if (!best->is_fitted)
        haul_report_line(report, "caution",
                         "NCCL's own table of latencies, and the links' rates: 'haul comm fit' of "
                         "nccl-tests' output gives this machine's");
}

/* The library's time over sizes. */
static void add_curve(haul_report *report, const haul_collective_report *self)
{
    static const haul_column columns[] = {{"bytes", HAUL_UNIT_BYTES, .head = "size"},
                                          {"ring_s", HAUL_UNIT_SECONDS, .head = "ring"},
                                          {"tree_s", HAUL_UNIT_SECONDS, .head = "tree"},
                                          {"direct_s", HAUL_UNIT_SECONDS, .head = "direct"},
                                          {"library", HAUL_UNIT_TEXT, .head = "NCCL"},
                                          {"protocol", HAUL_UNIT_TEXT, .head = "protocol"},
                                          {"bus_Bps", HAUL_UNIT_RATE, .head = "bus bandwidth"},
                                          {0}};
    haul_table *table = haul_report_table(report, "curve", columns);
    haul_communication of = self->of;
    for (int i = 0; i < SIZES; i++) {
        haul_collective_way_time times[HAUL_COLLECTIVE_WAYS];
        of.bytes = UINT64_C(8) << (2 * i);
        if (haul_collective_predict(self->machine, &of, self->nodes, times, NULL))
            continue;
        const haul_collective_way_time *best = &times[best_of(times, true)];
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_count(of.bytes),
                                  haul_cell_number(times[HAUL_COLLECTIVE_WAY_RING].seconds),
                                  haul_cell_number(times[HAUL_COLLECTIVE_WAY_TREE].seconds),
                                  haul_cell_number(times[HAUL_COLLECTIVE_WAY_DIRECT].seconds),
                                  haul_cell_text(haul_collective_way_text(best->way)),
                                  haul_cell_text(best->protocol),
                                  haul_cell_number(haul_communication_moved(&of) / best->seconds)));
    }
    haul_table_csv(table);
}

haul_report *haul_report_collective(const haul_collective_report *self,
                                    const haul_collective_way_time times[HAUL_COLLECTIVE_WAYS])
{
    static const haul_column head[] = {
        {"machine", .unit = HAUL_UNIT_TEXT}, {"operation", .unit = HAUL_UNIT_TEXT},
        {"bytes", .unit = HAUL_UNIT_BYTES},  {"ranks", .unit = HAUL_UNIT_COUNT},
        {"nodes", .unit = HAUL_UNIT_COUNT},  {0}};
    static const haul_column columns[] = {{"way", HAUL_UNIT_TEXT, .head = "Way"},
                                          {"protocol", HAUL_UNIT_TEXT, .head = "protocol"},
                                          {"time_s", HAUL_UNIT_SECONDS, .head = "time"},
                                          {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
                                          {"latency_s", HAUL_UNIT_SECONDS, .head = "latency"},
                                          {"bytes_s", HAUL_UNIT_SECONDS, .head = "bytes"},
                                          {"is_library", .unit = HAUL_UNIT_FLAG},
                                          {NULL, HAUL_UNIT_TEXT, .head = "made by"},
                                          {"is_fitted", .unit = HAUL_UNIT_FLAG},
                                          {"provenance", HAUL_UNIT_TEXT, .head = "from"},
                                          {0}};
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("collective");
    haul_report_object(report, NULL, head,
                       HAUL_CELLS(haul_cell_text(self->machine->name),
                                  haul_cell_text(haul_collective_text(self->of.kind)),
                                  haul_cell_count(self->of.bytes), haul_cell_count(self->of.ranks),
                                  haul_cell_count(self->nodes)));
    say_answer(report, self, times);
    haul_table *table = haul_report_table(report, "ways", columns);
    for (int w = 0; w < HAUL_COLLECTIVE_WAYS; w++) {
        const haul_collective_way_time *of = &times[w];
        if (of->is_impossible)
            continue;
        haul_table_row(
            table,
            HAUL_CELLS(
                haul_cell_text(haul_collective_way_text(of->way)), haul_cell_text(of->protocol),
                haul_cell_number(of->seconds), haul_cell_interval(of->low_s, of->high_s),
                haul_cell_number(of->latency_s), haul_cell_number(of->seconds - of->latency_s),
                haul_cell_flag(of->is_library),
                haul_cell_text(of->is_library ? "NCCL" : "own kernels"),
                haul_cell_flag(of->is_fitted), haul_cell_text(haul_provenance_text(of->weakest))));
    }
    if (self->with_curve)
        add_curve(report, self);
    else
        haul_table_csv(table);
    return report;
}
