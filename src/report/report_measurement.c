/* What was measured of a device's copies, and how well that predicts others. */
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

/* The answer: the rates that most programs care about, and whether directions overlap. */
static void say_copies(haul_report *report, const haul_machine *machine)
{
    /* Not measured: the run was for rates other than copies'. */
    if (!machine->gpu.copy_engines.provenance)
        return;
    char there[64] = "-", back[64] = "-";
    const haul_copy_curve *in = haul_machine_curve(machine, HAUL_HTOD, HAUL_PINNED, HAUL_NEAR);
    const haul_copy_curve *out = haul_machine_curve(machine, HAUL_DTOH, HAUL_PINNED, HAUL_NEAR);
    if (in)
        haul_quantity_format(in->rate_Bps.value, HAUL_DIM_RATE, 3, there, sizeof there);
    if (out)
        haul_quantity_format(out->rate_Bps.value, HAUL_DIM_RATE, 3, back, sizeof back);
    haul_report_say(report,
                    "%s: pinned copies run at %s to the device and %s back; copies of both "
                    "directions %s",
                    machine->gpu.name, there, back,
                    machine->gpu.copy_engines.value > 1 ? "overlap" : "do not overlap");
}

/* The text is for people: the unit of a number is in its row. */
static void add_findings(haul_report *report, const haul_measurement *measurement)
{
    static const haul_column columns[] = {
        {"what", HAUL_TEXT, .head = "also measured"},
        {"value", HAUL_NUMBER, .head = NULL},
        {"unit", HAUL_TEXT, .head = NULL},
        {NULL, HAUL_TEXT, .head = "value"},
        {"spread_percent", HAUL_PERCENT, .head = "spread"},
        {0},
    };
    haul_table *table =
        measurement->finding_count ? haul_report_table(report, "findings", columns) : NULL;
    for (size_t i = 0; i < measurement->finding_count; i++) {
        const haul_finding *finding = &measurement->findings[i];
        const haul_dimension dimension = (haul_dimension)finding->dimension;
        char text[64];
        haul_quantity_format(finding->value, dimension, 3, text, sizeof text);
        haul_table_row(table, finding->what, finding->value, haul_dimension_unit(dimension), text,
                       finding->spread);
    }
}

/* What is not a copy's, a line each. */
static void add_rates(haul_report *report, const haul_measurement *measurement)
{
    const haul_machine *machine = measurement->machine;
    static const haul_column columns[] = {
        {"launch_latency_s", HAUL_SECONDS, .head = "launch latency", .optional = true},
        {"kernel_gap_s", HAUL_SECONDS, .head = "gap between kernels", .optional = true},
        {"memory_bandwidth_Bps", HAUL_RATE, .head = "memory bandwidth", .optional = true},
        {"fp32_Tflops", HAUL_NUMBER, .head = "single precision, Tflop/s", .optional = true},
        {"fp64_Tflops", HAUL_NUMBER, .head = "double precision, Tflop/s", .optional = true},
        {"host_copy_rate_Bps", HAUL_RATE, .head = "one core's copy", .optional = true},
        {"host_cached_copy_rate_Bps", HAUL_RATE, .head = "the same from cache", .optional = true},
        {"l2_rate_Bps", HAUL_RATE, .head = "L2 bandwidth", .optional = true},
        {"product_fp64_Tflops", HAUL_NUMBER, .head = "double product, Tflop/s", .optional = true},
        {"product_fp32_Tflops", HAUL_NUMBER, .head = "single product, Tflop/s", .optional = true},
        {"product_fp16_Tflops", HAUL_NUMBER, .head = "half product, Tflop/s", .optional = true},
        {"kernels_at_once", HAUL_COUNT, .head = "kernels at once", .optional = true},
        {0},
    };
    const haul_gpu *gpu = &machine->gpu;
    haul_report_object(
        report, NULL, columns, value_of(&gpu->launch_latency_s), value_of(&gpu->kernel_gap_s),
        value_of(&gpu->memory_bandwidth_Bps), 1e-12 * value_of(&gpu->fp32_flops),
        1e-12 * value_of(&gpu->fp64_flops), value_of(&machine->host.copy_rate_Bps),
        value_of(&machine->host.cached_copy_rate_Bps), value_of(&gpu->l2_Bps),
        1e-12 * value_of(&gpu->product_flops[HAUL_PRECISION_FP64]),
        1e-12 * value_of(&gpu->product_flops[HAUL_PRECISION_FP32]),
        1e-12 * value_of(&gpu->product_flops[HAUL_PRECISION_FP16]),
        measurement->kernels_at_once ? (uint64_t)measurement->kernels_at_once : HAUL_NO_COUNT);
}

haul_report *haul_report_measurement(const haul_measurement *measurement)
{
    static const haul_column head[] = {{"machine", .unit = HAUL_TEXT},
                                       {"device", .unit = HAUL_TEXT},
                                       {"copy_engines", .unit = HAUL_COUNT},
                                       {"points", .unit = HAUL_COUNT},
                                       {"points_from_journal", .unit = HAUL_COUNT},
                                       {0}};
    static const haul_column columns[] = {
        {"direction", HAUL_TEXT, .head = "direction"},
        {"memory", HAUL_TEXT, .head = "memory"},
        {"latency_s", HAUL_SECONDS, .head = "latency"},
        {"rate_Bps", HAUL_RATE, .head = "rate"},
        {"gap_s", HAUL_SECONDS, .head = "gap"},
        {"busy_rate_Bps", HAUL_RATE, .head = "rate while busy", .optional = true},
        {"mapped_rate_Bps", HAUL_RATE, .head = "beside mapped memory", .optional = true},
        {"curve_points", HAUL_COUNT, .head = "curve points"},
        {"median_error_percent", HAUL_PERCENT, .head = "median error", .optional = true},
        {"p90_error_percent", HAUL_PERCENT, .head = "90 % of errors", .optional = true},
        {"spread_percent", HAUL_PERCENT, .head = "spread", .optional = true},
        {0},
    };
    static const haul_column triad_columns[] = {
        {"bytes", HAUL_BYTES, .head = "bytes"}, {"rate_Bps", HAUL_RATE, .head = "rate"}, {0}};
    const haul_machine *machine = measurement->machine;
    haul_report *report = haul_report_new("measurement");
    haul_report_object(report, NULL, head, machine->name, machine->gpu.name,
                       machine->gpu.copy_engines.provenance
                           ? (uint64_t)machine->gpu.copy_engines.value
                           : HAUL_NO_COUNT,
                       (uint64_t)measurement->points, (uint64_t)measurement->points_kept);
    say_copies(report, machine);
    add_rates(report, measurement);
    haul_report_section(report, "measured", "As it was measured");
    haul_table *copies = haul_report_table(report, "copies", columns);
    haul_table_csv(copies);
    for (size_t i = 0; i < machine->copy_count; i++) {
        const haul_copy_curve *curve = &machine->copies[i];
        /* the errors of copies that were held back from the fit; not all kinds have them */
        const haul_verified *verified = NULL;
        for (size_t k = 0; k < measurement->verified_count && !verified; k++)
            if (measurement->verified[k].direction == curve->direction &&
                measurement->verified[k].memory == curve->memory)
                verified = &measurement->verified[k];
        haul_table_row(
            copies, haul_direction_text(curve->direction), haul_memory_text(curve->memory),
            value_of(&curve->latency_s), value_of(&curve->rate_Bps), value_of(&curve->gap_s),
            value_of(&curve->busy_rate_Bps), value_of(&curve->mapped_rate_Bps),
            (uint64_t)curve->points_from.value, verified ? verified->error.median : (double)NAN,
            verified ? verified->error.p90 : (double)NAN,
            verified ? verified->spread : (double)NAN);
    }
    add_findings(report, measurement);
    haul_table *triads =
        /* A NULL table takes rows in silence. */
        measurement->triad_count ? haul_report_table(report, "triad", triad_columns) : NULL;
    for (size_t i = 0; i < measurement->triad_count; i++)
        haul_table_row(triads, measurement->triad[i].bytes, measurement->triad[i].rate_Bps);
    return report;
}
