/* Kernels on the target, one by one: those that matter come first, each with what told its class,
 * so that a reader can tell a wrong one; then the classes, whose misses are what the sum's interval
 * is made of. */
#include <math.h>
#include <stdio.h>

#include "report/report_projection.h"
#include "report/wording.h"

enum { KERNELS_SHOWN = 3 };

/* "fp32 product", "streaming"; what the launch told goes before the name. */
static haul_words say_class(const haul_kernel_row *row)
{
    haul_words words;
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

static void add_rows(const haul_projected *self)
{
    static const haul_column columns[] = {
        {"name", HAUL_NAME, .head = "Kernels"},
        {NULL, HAUL_TEXT, .head = "class"},
        {"class", .unit = HAUL_TEXT},
        {"predicted_as", .unit = HAUL_TEXT},
        {"precision", HAUL_TEXT, .optional = true},
        {"pattern", HAUL_TEXT, .head = "because of", .optional = true},
        {"count", HAUL_COUNT, .head = "count"},
        {"recorded_s", HAUL_SECONDS, .head = "recorded"},
        {"predicted_s", HAUL_SECONDS, .head = "predicted"},
        {"interval_s", HAUL_INTERVAL, .head = "interval"},
        {"bound", HAUL_TEXT, .head = "bound by"},
        {"share", HAUL_SHARE, .head = "share"},
        {"critical_recorded_s", .unit = HAUL_TIME},
        {"critical_s", .unit = HAUL_TIME},
        {NULL, HAUL_TEXT, .head = "critical path", .optional = true},
        {"flops", HAUL_NUMBER, .optional = true},
        {"bytes", HAUL_NUMBER, .optional = true},
        {"counted_s", HAUL_SECONDS, .optional = true},
        {"counted_predicted_s", HAUL_SECONDS, .optional = true},
        {0},
    };
    const haul_projection *projection = self->projection;
    haul_table *table = haul_report_table(self->report, "kernel_rows", columns);
    haul_table_limit(table, KERNELS_SHOWN);
    for (size_t i = 0; i < projection->kernel_row_count; i++) {
        const haul_kernel_row *row = &projection->kernel_rows[i];
        const haul_kernel_kind *kind = &row->kind;
        /* Kernels of some profiles have none, and the row must be findable. */
        haul_table_row(table, *row->name ? row->name : "(no name)", say_class(row).text,
                       haul_kernel_class_text(kind->kind), haul_kernel_class_text(row->as),
                       kind->precision ? haul_precision_text(kind->precision) : NULL, kind->pattern,
                       row->count, row->recorded_s, row->predicted.seconds, row->predicted.low_s,
                       row->predicted.high_s, haul_kernel_bound_text(row->bound),
                       haul_share_of(row->predicted.seconds, projection->kernels.seconds),
                       row->critical_recorded_ns, row->critical_ns, say_path(row),
                       known(row->flops), known(row->bytes), known(row->counted_s),
                       known(row->counted_predicted_s));
    }
}

static void add_classes(const haul_projected *self)
{
    static const haul_column columns[] = {
        {"class", HAUL_TEXT, .head = "Classes"},
        {"count", HAUL_COUNT, .head = "kernels"},
        {"recorded_s", HAUL_SECONDS, .head = "recorded"},
        {"predicted_s", HAUL_SECONDS, .head = "predicted"},
        {"interval_s", HAUL_INTERVAL, .head = "interval"},
        {"reference_s", HAUL_SECONDS, .head = "reference", .optional = true},
        {NULL, HAUL_PERCENT, .head = "error", .optional = true},
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
            table, haul_kernel_class_text((haul_kernel_class)c), sum->count, sum->recorded_s,
            sum->predicted.seconds, sum->predicted.low_s, sum->predicted.high_s, reference_s,
            reference_s > 0 ? 100 * (sum->predicted.seconds / reference_s - 1) : (double)NAN);
    }
}

/* What part of the time neither name nor launch told: it could make the answer wrong. */
static void say_unknown(const haul_projected *self)
{
    const haul_projection *projection = self->projection;
    double unknown_s = 0;
    for (size_t i = 0; i < projection->kernel_row_count; i++)
        if (projection->kernel_rows[i].as == HAUL_KERNEL_CLASS_UNKNOWN)
            unknown_s += projection->kernel_rows[i].recorded_s;
    const double share = haul_share_of(unknown_s, projection->recorded_kernels_s);
    /* Below a twentieth of the time it cannot change the answer much. */
    if (share >= 0.05)
        haul_report_say(
            self->report,
            "%s of the kernels' time is predicted between the ratios of memory and of "
            "clock: names or machine files do not tell what bounds it. A table of names "
            "may: --classes FILE",
            haul_say_share(share).text);
}

void haul_projected_add_kernels(const haul_projected *self)
{
    /* Without a model kernels were not scaled; the answer says why. */
    if (!self->projection->kernels.model)
        return;
    haul_report_section(self->report, "kernels", "Kernels on the target");
    add_rows(self);
    say_unknown(self);
    haul_report_detail(self->report, !self->options->reference);
    add_classes(self);
    haul_report_detail(self->report, false);
}
