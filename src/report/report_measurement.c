/* Measurements of a device's copies, and how well they predict others. */
#include <math.h>

#include "haul/measure.h"
#include "haul/report.h"
#include "haul/units.h"

/* A parameter without provenance was not measured. */
static double value_of(const haul_parameter *parameter)
{
    /* NaN: null in JSON, an empty cell for people. */
    return parameter->provenance ? parameter->value : (double)NAN;
}

/* Of a curve through points, as of a CPU with its caches, one rate is of one size: the largest. */
static const char *format_rate(const haul_copy_curve *curve, char *text, size_t size)
{
    char rate[32], bytes[32];
    const size_t count = curve && curve->points_from.provenance && curve->points_from.value >= 1
                             ? (size_t)curve->points_from.value
                             : 0;
    if (!curve)
        return "-";
    if (!count || count > HAUL_MACHINE_CURVE_POINTS)
        return haul_quantity_format(curve->rate_Bps.value, HAUL_DIM_RATE, 3, text, size);
    const haul_point *last = &curve->points[count - 1];
    (void)snprintf(
        text, size, "%s (of %s)",
        haul_quantity_format(last->bytes / last->seconds, HAUL_DIM_RATE, 3, rate, sizeof rate),
        haul_quantity_format(last->bytes, HAUL_DIM_BYTES, 3, bytes, sizeof bytes));
    return text;
}

/* The answer: the rates that most programs care about, and whether directions overlap. */
static void say_copies(haul_report *report, const haul_machine *machine)
{
    /* Not measured: the run was for rates other than copies'. */
    if (!machine->gpu.copy_engines.provenance)
        return;
    char there[64], back[64];
    const haul_copy_curve *in =
        haul_machine_curve(machine, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    const haul_copy_curve *out =
        haul_machine_curve(machine, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    haul_report_say(report,
                    "%s: pinned copies run at %s to the device and %s back; copies of both "
                    "directions %s",
                    machine->gpu.name, format_rate(in, there, sizeof there),
                    format_rate(out, back, sizeof back),
                    machine->gpu.copy_engines.value > 1 ? "overlap" : "do not overlap");
}

/* The text is for people: the unit of a number is in its row. */
static void add_findings(haul_report *report, const haul_measurement *measurement)
{
    static const haul_column columns[] = {
        {"what", HAUL_UNIT_TEXT, .head = "also measured"},
        {"value", HAUL_UNIT_NUMBER, .head = NULL},
        {"unit", HAUL_UNIT_TEXT, .head = NULL},
        {NULL, HAUL_UNIT_TEXT, .head = "value"},
        {"spread_percent", HAUL_UNIT_PERCENT, .head = "spread"},
        {0},
    };
    haul_table *table =
        measurement->finding_count ? haul_report_table(report, "findings", columns) : NULL;
    for (size_t i = 0; i < measurement->finding_count; i++) {
        const haul_finding *finding = &measurement->findings[i];
        const haul_dimension dimension = (haul_dimension)finding->dimension;
        char text[64];
        haul_quantity_format(finding->value, dimension, 3, text, sizeof text);
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(finding->what), haul_cell_number(finding->value),
                                  haul_cell_text(haul_dimension_unit(dimension)),
                                  haul_cell_text(text), haul_cell_number(finding->spread)));
    }
}

/* A line for each measurement that is not of copies. */
static void add_rates(haul_report *report, const haul_measurement *measurement)
{
    const haul_machine *machine = measurement->machine;
    static const haul_column columns[] = {
        {"launch_latency_s", HAUL_UNIT_SECONDS, .head = "launch latency", .optional = true},
        {"kernel_gap_s", HAUL_UNIT_SECONDS, .head = "gap between kernels", .optional = true},
        {"memory_gap_s", HAUL_UNIT_SECONDS, .head = "gap around fillings", .optional = true},
        {"memory_bandwidth_Bps", HAUL_UNIT_RATE, .head = "memory bandwidth", .optional = true},
        {"fp32_Tflops", HAUL_UNIT_NUMBER, .head = "single precision, Tflop/s", .optional = true},
        {"fp64_Tflops", HAUL_UNIT_NUMBER, .head = "double precision, Tflop/s", .optional = true},
        {"host_copy_rate_Bps", HAUL_UNIT_RATE, .head = "one core's copy", .optional = true},
        {"host_cached_copy_rate_Bps", HAUL_UNIT_RATE, .head = "the same from cache",
         .optional = true},
        {"l2_rate_Bps", HAUL_UNIT_RATE, .head = "L2 bandwidth", .optional = true},
        {"product_fp64_Tflops", HAUL_UNIT_NUMBER, .head = "double product, Tflop/s",
         .optional = true},
        {"product_fp32_Tflops", HAUL_UNIT_NUMBER, .head = "single product, Tflop/s",
         .optional = true},
        {"product_fp16_Tflops", HAUL_UNIT_NUMBER, .head = "half product, Tflop/s",
         .optional = true},
        {"kernels_at_once", HAUL_UNIT_COUNT, .head = "kernels at once", .optional = true},
        {0},
    };
    const haul_gpu *gpu = &machine->gpu;
    haul_report_object(
        report, NULL, columns,
        HAUL_CELLS(haul_cell_number(value_of(&gpu->launch_latency_s)),
                   haul_cell_number(value_of(&gpu->kernel_gap_s)),
                   haul_cell_number(value_of(&gpu->memory_gap_s)),
                   haul_cell_number(value_of(&gpu->memory_bandwidth_Bps)),
                   haul_cell_number(1e-12 * value_of(&gpu->fp32_flops)),
                   haul_cell_number(1e-12 * value_of(&gpu->fp64_flops)),
                   haul_cell_number(value_of(&machine->host.copy_rate_Bps)),
                   haul_cell_number(value_of(&machine->host.cached_copy_rate_Bps)),
                   haul_cell_number(value_of(&gpu->l2_Bps)),
                   haul_cell_number(1e-12 * value_of(&gpu->product_flops[HAUL_PRECISION_FP64])),
                   haul_cell_number(1e-12 * value_of(&gpu->product_flops[HAUL_PRECISION_FP32])),
                   haul_cell_number(1e-12 * value_of(&gpu->product_flops[HAUL_PRECISION_FP16])),
                   haul_cell_count(measurement->kernels_at_once
                                       ? (uint64_t)measurement->kernels_at_once
                                       : HAUL_NO_COUNT)));
}

/* A row for each direction and number of streams. */
static void add_streams(haul_report *report, const haul_measurement *measurement)
{
    static const haul_column columns[] = {{"direction", HAUL_UNIT_TEXT, .head = "in parts"},
                                          {"streams", HAUL_UNIT_COUNT, .head = "streams"},
                                          {"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
                                          {"time_s", HAUL_UNIT_SECONDS, .head = "time"},
                                          {"predicted_s", HAUL_UNIT_SECONDS, .head = "predicted"},
                                          {"error_percent", HAUL_UNIT_PERCENT, .head = "error"},
                                          {"spread_percent", HAUL_UNIT_PERCENT, .head = "spread"},
                                          {0}};
    haul_table *table =
        measurement->stream_count ? haul_report_table(report, "streams", columns) : NULL;
    for (size_t i = 0; i < measurement->stream_count; i++) {
        const haul_measured_streams *row = &measurement->streams[i];
        const double percent = 100 * (row->predicted_s / row->seconds - 1);
        const double error_percent = fabs(percent) < 0.005 ? 0 : percent; /* never "-0.00" */
        haul_table_row(
            table, HAUL_CELLS(haul_cell_text(haul_direction_text(row->direction)),
                              haul_cell_count(row->streams), haul_cell_count(row->bytes),
                              haul_cell_number(row->seconds), haul_cell_number(row->predicted_s),
                              haul_cell_number(error_percent), haul_cell_number(row->spread)));
    }
}

static const haul_column measured_columns[] = {
    {"direction", HAUL_UNIT_TEXT, .head = "direction"},
    {"memory", HAUL_UNIT_TEXT, .head = "memory"},
    {"latency_s", HAUL_UNIT_SECONDS, .head = "latency"},
    {"rate_Bps", HAUL_UNIT_RATE, .head = "rate"},
    {"gap_s", HAUL_UNIT_SECONDS, .head = "gap"},
    {"busy_rate_Bps", HAUL_UNIT_RATE, .head = "rate while busy", .optional = true},
    {"mapped_rate_Bps", HAUL_UNIT_RATE, .head = "beside mapped memory", .optional = true},
    {"curve_points", HAUL_UNIT_COUNT, .head = "curve points"},
    {"median_error_percent", HAUL_UNIT_PERCENT, .head = "median error", .optional = true},
    {"p90_error_percent", HAUL_UNIT_PERCENT, .head = "90 % of errors", .optional = true},
    {"spread_percent", HAUL_UNIT_PERCENT, .head = "spread", .optional = true},
    {0},
};

static const haul_column measurement_head[] = {{"machine", .unit = HAUL_UNIT_TEXT},
                                               {"device", .unit = HAUL_UNIT_TEXT},
                                               {"copy_engines", .unit = HAUL_UNIT_COUNT},
                                               {"points", .unit = HAUL_UNIT_COUNT},
                                               {"points_from_journal", .unit = HAUL_UNIT_COUNT},
                                               {0}};

haul_report *haul_report_measurement(const haul_measurement *measurement)
{
    static const haul_column note[] = {{"", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column triad_columns[] = {{"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
                                                {"rate_Bps", HAUL_UNIT_RATE, .head = "rate"},
                                                {0}};
    const haul_machine *machine = measurement->machine;
    haul_report *report = haul_report_new("measurement");
    haul_report_object(report, NULL, measurement_head,
                       HAUL_CELLS(haul_cell_text(machine->name), haul_cell_text(machine->gpu.name),
                                  haul_cell_count(machine->gpu.copy_engines.provenance
                                                      ? (uint64_t)machine->gpu.copy_engines.value
                                                      : HAUL_NO_COUNT),
                                  haul_cell_count((uint64_t)measurement->points),
                                  haul_cell_count((uint64_t)measurement->points_kept)));
    say_copies(report, machine);
    if (measurement->points_kept)
        haul_report_line(report, "journal", "%zu of %zu points were measured before, and kept",
                         measurement->points_kept, measurement->points);
    haul_table *notes = haul_report_list(report, "notes", note);
    for (size_t i = 0; i < measurement->note_count; i++) {
        haul_report_line(report, "note", "%s", measurement->notes[i]);
        haul_table_row(notes, HAUL_CELLS(haul_cell_text(measurement->notes[i])));
    }
    add_rates(report, measurement);
    haul_report_section(report, "measured", "As it was measured");
    haul_table *copies = haul_report_table(report, "copies", measured_columns);
    haul_table_csv(copies);
    for (size_t i = 0; i < machine->copy_count; i++) {
        const haul_copy_curve *curve = &machine->copies[i];
        /* the errors of copies that were held back from the fit; not all kinds have them */
        const haul_verified *verified = NULL;
        for (size_t k = 0; k < measurement->verified_count && !verified; k++)
            if (measurement->verified[k].direction == curve->direction &&
                measurement->verified[k].memory == curve->memory)
                verified = &measurement->verified[k];
        haul_table_row(copies,
                       HAUL_CELLS(haul_cell_text(haul_direction_text(curve->direction)),
                                  haul_cell_text(haul_memory_text(curve->memory)),
                                  haul_cell_number(value_of(&curve->latency_s)),
                                  haul_cell_number(value_of(&curve->rate_Bps)),
                                  haul_cell_number(value_of(&curve->gap_s)),
                                  haul_cell_number(value_of(&curve->busy_rate_Bps)),
                                  haul_cell_number(value_of(&curve->mapped_rate_Bps)),
                                  haul_cell_count((uint64_t)curve->points_from.value),
                                  haul_cell_number(verified ? verified->error.median : (double)NAN),
                                  haul_cell_number(verified ? verified->error.p90 : (double)NAN),
                                  haul_cell_number(verified ? verified->spread : (double)NAN)));
    }
    add_streams(report, measurement);
    add_findings(report, measurement);
    haul_table *triads =
        /* A NULL table takes rows in silence. */
        measurement->triad_count ? haul_report_table(report, "triad", triad_columns) : NULL;
    for (size_t i = 0; i < measurement->triad_count; i++)
        haul_table_row(triads, HAUL_CELLS(haul_cell_count(measurement->triad[i].bytes),
                                          haul_cell_number(measurement->triad[i].rate_Bps)));
    return report;
}
