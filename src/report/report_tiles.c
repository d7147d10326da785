/* A product or a stencil in tiles, its copies overlapped: the longest of three stages bounds the
 * time.
 */

#include "haul/report.h"
#include "report/wording.h"

typedef struct part {
    uint64_t count;
    double seconds;
} part;

/* The work of the three streams: each takes its operations one after another, so that sums are busy
 * times. */
typedef enum stage { IN, COMPUTE, BACK, STAGES } stage;

static const char *const stages[] = {"copies to the device", "kernels", "copies from the device"};

static void add_stages(haul_report *report, const part busy[STAGES], double time_s)
{
    static const haul_column columns[] = {
        {"stage", HAUL_UNIT_TEXT, .head = "Stage"},
        {"count", HAUL_UNIT_COUNT, .head = "number"},
        {"busy_s", HAUL_UNIT_SECONDS, .head = "busy"},
        {"share", HAUL_UNIT_SHARE, .head = "of the time"},
        {0},
    };
    haul_table *table = haul_report_table(report, "stages", columns);
    haul_table_csv(table);
    for (int s = 0; s < STAGES; s++)
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(stages[s]), haul_cell_count(busy[s].count),
                                  haul_cell_number(busy[s].seconds),
                                  haul_cell_number(hl_report_share_of(busy[s].seconds, time_s))));
}

/* The busy time of each stage; returns that of all operations alone, one after another. */
static double sum_stages(const haul_tiles_report *self, part busy[STAGES])
{
    double alone_s = 0;
    for (size_t i = 0; i < self->workload->op_count; i++) {
        const haul_op *op = &self->workload->ops[i];
        const haul_span span = self->timeline->ops[i];
        const stage of = op->kind == HAUL_OP_KERNEL             ? COMPUTE
                         : op->direction == HAUL_DIRECTION_HTOD ? IN
                                                                : BACK;
        busy[of].count++;
        busy[of].seconds += 1e-9 * (double)(span.end_ns - span.start_ns);
        alone_s += 1e-9 * (double)op->dur_ns;
    }
    return alone_s;
}

static void add_costs(haul_report *report, const haul_blocked_costs *costs)
{
    static const haul_column tile[] = {
        {"in_s", .unit = HAUL_UNIT_SECONDS},     {"in_busy_s", .unit = HAUL_UNIT_SECONDS},
        {"out_s", .unit = HAUL_UNIT_SECONDS},    {"out_busy_s", .unit = HAUL_UNIT_SECONDS},
        {"kernel_s", .unit = HAUL_UNIT_SECONDS}, {0},
    };
    haul_report_object(report, "tile", tile,
                       HAUL_CELLS(haul_cell_number(costs->in_s), haul_cell_number(costs->in_busy_s),
                                  haul_cell_number(costs->out_s),
                                  haul_cell_number(costs->out_busy_s),
                                  haul_cell_number(costs->kernel_s)));
}

haul_report *haul_report_tiles(const haul_tiles_report *self)
{
    static const haul_column head[] = {
        {"machine", .unit = HAUL_UNIT_TEXT},
        {"tiles", .unit = HAUL_UNIT_TEXT},
        {"time_s", .unit = HAUL_UNIT_SECONDS},
        {"none_s", .unit = HAUL_UNIT_SECONDS},
        {"gain", .unit = HAUL_UNIT_FACTOR},
        {"queue_depth", .unit = HAUL_UNIT_COUNT},
        {0},
    };
    const haul_blocked_costs *costs = &self->costs;
    const double time_s = 1e-9 * (double)self->timeline->makespan_ns;
    part busy[STAGES] = {{0}};
    const double alone_s = sum_stages(self, busy);
    const double gain = time_s > 0 ? alone_s / time_s : 1;
    /* on three streams in a steady state the longest stage sets the pace */
    stage longest = IN;
    for (int s = 0; s < STAGES; s++)
        longest = busy[s].seconds > busy[longest].seconds ? (stage)s : longest;
    haul_report *report = haul_report_new("tiles");
    haul_report_object(
        report, NULL, head,
        HAUL_CELLS(
            haul_cell_text(self->machine->name), haul_cell_text(self->kind),
            haul_cell_number(time_s), haul_cell_number(alone_s), haul_cell_number(gain),
            /* 0: as many as there are operations, which JSON tells as null. */
            haul_cell_count(self->queue_depth ? (uint64_t)self->queue_depth : HAUL_NO_COUNT)));
    add_costs(report, costs);
    haul_report_say(report, "%s for the %s on %.100s: %.2fx faster than one after another",
                    hl_report_say_seconds(time_s).text, self->kind, self->machine->name, gain);
    haul_report_line(report, "bound by", "%s, busy %s of the time", stages[longest],
                     hl_report_say_share(hl_report_share_of(busy[longest].seconds, time_s)).text);
    haul_report_line(
        report, "a tile", "in %s (%s beside copies back), kernel %s, back %s (%s)",
        hl_report_say_seconds(costs->in_s).text, hl_report_say_seconds(costs->in_busy_s).text,
        hl_report_say_seconds(costs->kernel_s).text, hl_report_say_seconds(costs->out_s).text,
        hl_report_say_seconds(costs->out_busy_s).text);
    add_stages(report, busy, time_s);
    return report;
}
