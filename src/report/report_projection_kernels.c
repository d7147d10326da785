/* Kernels on the target, one by one: those that matter come first, each with what told its class,
 * so that a reader can tell a wrong one; then the classes, whose misses are what the sum's interval
 * is made of. */
#include <math.h>
#include <stdio.h>

#include "report/report_projection.h"
#include "report/wording.h"

enum { KERNELS_SHOWN = 3 };

/* "fp32 product", "streaming"; what the launch told goes before the name. */
static hl_report_words say_class(const haul_kernel_row *row)
{
    hl_report_words words;
    /* A kernel bound by latency is scaled as such, whatever its name tells. */
    const bool is_latency = row->as == HAUL_KERNEL_CLASS_LATENCY;
    const char *precision = is_latency ? "" : haul_precision_text(row->kind.precision);
    (void)snprintf(words.text, sizeof words.text, "%s%s%s", precision, *precision ? " " : "",
                   haul_kernel_class_text(is_latency ? row->as : row->kind.kind));
    return words;
}

/* NULL where the kernel is on both critical paths, or on neither. */
static const char *say_path(const haul_kernel_row *row)
{
    if (!row->critical_recorded_ns == !row->critical_ns)
        return NULL;
    return row->critical_ns ? "enters" : "leaves";
}

static double known(double value)
{
    return value > 0 ? value : (double)NAN;
}

static void add_rows(const hl_report_projected *self)
{
    static const haul_column columns[] = {
        {"name", HAUL_UNIT_NAME, .head = "Kernels"},
        {NULL, HAUL_UNIT_TEXT, .head = "class"},
        {"class", .unit = HAUL_UNIT_TEXT},
        {"predicted_as", .unit = HAUL_UNIT_TEXT},
        {"precision", HAUL_UNIT_TEXT, .optional = true},
        {NULL, HAUL_UNIT_TEXT, .head = "called by", .optional = true},
        {"pattern", HAUL_UNIT_TEXT, .head = "because of", .optional = true},
        {"operator", HAUL_UNIT_TEXT, .optional = true},
        {"range", HAUL_UNIT_TEXT, .optional = true},
        {"line", HAUL_UNIT_TEXT, .optional = true},
        {"count", HAUL_UNIT_COUNT, .head = "count"},
        {"recorded_s", HAUL_UNIT_SECONDS, .head = "recorded"},
        {"predicted_s", HAUL_UNIT_SECONDS, .head = "predicted"},
        {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
        {"bound", HAUL_UNIT_TEXT, .head = "bound by"},
        {"share", HAUL_UNIT_SHARE, .head = "share"},
        {"critical_recorded_s", .unit = HAUL_UNIT_TIME},
        {"critical_s", .unit = HAUL_UNIT_TIME},
        {NULL, HAUL_UNIT_TEXT, .head = "critical path", .optional = true},
        {"flops", HAUL_UNIT_NUMBER, .optional = true},
        {"bytes", HAUL_UNIT_NUMBER, .optional = true},
        {"counted_s", HAUL_UNIT_SECONDS, .optional = true},
        {"counted_predicted_s", HAUL_UNIT_SECONDS, .optional = true},
        {0},
    };
    const haul_projection *projection = self->projection;
    haul_table *table = haul_report_table(self->report, "kernel_rows", columns);
    haul_table_limit(table, KERNELS_SHOWN);
    for (size_t i = 0; i < projection->kernel_row_count; i++) {
        const haul_kernel_row *row = &projection->kernel_rows[i];
        const haul_kernel_kind *kind = &row->kind;
        char place[HL_REPORT_PLACE_BYTES];
        /* Kernels of some profiles have none, and the row must be findable. */
        haul_table_row(
            table,
            HAUL_CELLS(
                haul_cell_text(*row->name ? row->name : "(no name)"),
                haul_cell_text(say_class(row).text),
                haul_cell_text(haul_kernel_class_text(kind->kind)),
                haul_cell_text(haul_kernel_class_text(row->as)),
                haul_cell_text(kind->precision ? haul_precision_text(kind->precision) : NULL),
                haul_cell_text(hl_report_say_place(&row->place, place)),
                haul_cell_text(kind->pattern), haul_cell_text(row->place.operator_name),
                haul_cell_text(row->place.range), haul_cell_text(row->place.line),

                haul_cell_count(row->count), haul_cell_number(row->recorded_s),
                haul_cell_number(row->predicted.seconds),
                haul_cell_interval(row->predicted.low_s, row->predicted.high_s),
                haul_cell_text(haul_kernel_bound_text(row->bound)),
                haul_cell_number(
                    hl_report_share_of(row->predicted.seconds, projection->kernels.seconds)),
                haul_cell_time(row->critical_recorded_ns), haul_cell_time(row->critical_ns),
                haul_cell_text(say_path(row)), haul_cell_number(known(row->flops)),
                haul_cell_number(known(row->bytes)), haul_cell_number(known(row->counted_s)),
                haul_cell_number(known(row->counted_predicted_s))));
    }
}

static void add_classes(const hl_report_projected *self)
{
    static const haul_column columns[] = {
        {"class", HAUL_UNIT_TEXT, .head = "Classes"},
        {"count", HAUL_UNIT_COUNT, .head = "kernels"},
        {"recorded_s", HAUL_UNIT_SECONDS, .head = "recorded"},
        {"predicted_s", HAUL_UNIT_SECONDS, .head = "predicted"},
        {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
        {"reference_s", HAUL_UNIT_SECONDS, .head = "reference", .optional = true},
        {NULL, HAUL_UNIT_PERCENT, .head = "error", .optional = true},
        {0},
    };
    haul_table *table = haul_report_table(self->report, "kernel_classes", columns);
    const bool has_reference = self->options->reference;
    for (int c = 0; c < HAUL_KERNEL_CLASSES; c++) {
        const haul_kernel_class_sum *sum = &self->projection->kernel_classes[c];
        const double reference_s = has_reference ? sum->reference_s : (double)NAN;
        /* A class that only the reference has shows what the prediction missed. */
        if (!sum->count && !(reference_s > 0))
            continue;
        haul_table_row(
            table, HAUL_CELLS(haul_cell_text(haul_kernel_class_text((haul_kernel_class)c)),
                              haul_cell_count(sum->count), haul_cell_number(sum->recorded_s),
                              haul_cell_number(sum->predicted.seconds),
                              haul_cell_interval(sum->predicted.low_s, sum->predicted.high_s),
                              haul_cell_number(reference_s),
                              haul_cell_number(
                                  reference_s > 0 ? 100 * (sum->predicted.seconds / reference_s - 1)
                                                  : (double)NAN)));
    }
}

void hl_report_projected_add_kernels(const hl_report_projected *self)
{
    /* Without a model kernels were not scaled; the answer says why. */
    if (!self->projection->kernels.model)
        return;
    haul_report_section(self->report, "kernels", "Kernels on the target");
    add_rows(self);
    /* The share of the time of kernels that neither name nor launch tells: it could make the answer
     * wrong. */
    const haul_projection *projection = self->projection;
    double unknown_s = 0;
    for (size_t i = 0; i < projection->kernel_row_count; i++)
        if (projection->kernel_rows[i].as == HAUL_KERNEL_CLASS_UNKNOWN)
            unknown_s += projection->kernel_rows[i].recorded_s;
    const double share = hl_report_share_of(unknown_s, projection->recorded_kernels_s);
    /* Below a twentieth of the time it cannot change the answer much. */
    if (share >= 0.05)
        haul_report_say(
            self->report,
            "%s of the kernels' time is predicted between the ratios of memory and of "
            "clock: names or machine files do not tell what bounds it. A table of names "
            "may: --classes FILE",
            hl_report_say_share(share).text);
    haul_report_detail(self->report, !self->options->reference);
    add_classes(self);
    haul_report_detail(self->report, false);
}
