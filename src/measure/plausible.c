/* The pass over all that was measured, before a machine is made of it: noise must leave no value
 * that a machine file may not hold, and none above what the device itself can. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_fields.h"
#include "measure/session.h"

/* Above a peak by less is the clock's rounding, and not worth a word. */
static const double rounding = 0.01;

void hl_measure_note(hl_measure_session *session, const char *format, ...)
{
    haul_measurement *made = &session->made;
    if (made->note_count == HAUL_MEASURE_NOTES_MOST)
        return;
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the line before begins it
    (void)vsnprintf(made->notes[made->note_count], sizeof made->notes[0], format, arguments);
    va_end(arguments);
    made->note_count++;
}

/* --- what a file may hold */

/* Differences of two times that are alike may fall below zero: they are nothing then. Whatever else
 * is outside what a file may hold says nothing of the machine, and is left out. */
static void bring_within(hl_measure_session *self, const char *path, const hl_machine_field *field,
                         haul_parameter *parameter)
{
    const hl_machine_parameter_limits limits = hl_machine_field_limits(field);
    const double value = parameter->value;
    char text[32];
    if (!parameter->provenance ||
        (value >= limits.least && value <= limits.most && (!limits.whole || value == floor(value))))
        return;
    haul_quantity_format(value, field->dimension, 3, text, sizeof text);
    if (value < 0 && limits.least == 0) {
        *parameter = (haul_parameter){0, parameter->provenance,
                                      "haul measure: less than times vary by, taken as 0"};
        hl_measure_note(self, "%.80s came out as %.30s, which is noise: taken as 0", path, text);
        return;
    }
    *parameter = (haul_parameter){.provenance = HAUL_PROVENANCE_NOT_GIVEN};
    hl_measure_note(self, "%.80s came out as %.30s, which cannot be: left out", path, text);
}

/* Points of no time or of no order are no curve. */
static void check_points(hl_measure_session *self, const char *path, const hl_machine_field *field,
                         hl_machine_points *points)
{
    const size_t count = points->from.provenance ? (size_t)points->from.value : 0;
    bool is_curve = count <= HAUL_MACHINE_CURVE_POINTS;
    for (size_t i = 0; i < count && is_curve; i++)
        is_curve =
            points->at[i].seconds >= 1e-15 && points->at[i].seconds <= 1e6 &&
            (!i || (points->at[i].bytes > points->at[i - 1].bytes &&
                    (field->may_fall || points->at[i].seconds >= points->at[i - 1].seconds)));
    if (is_curve)
        return;
    points->from = (haul_parameter){.provenance = HAUL_PROVENANCE_NOT_GIVEN};
    hl_measure_note(self, "%.80s came out without times, or in no order: left out", path);
}

/* The machine is the session's own, which the walk only promises not to change for others. */
static int check_field(void *state, const char *path, const hl_machine_field *field, const void *at)
{
    if (field->kind == HL_MACHINE_FIELD_PARAMETER)
        bring_within(state, path, field, (haul_parameter *)at);
    else if (field->kind == HL_MACHINE_FIELD_POINTS)
        check_points(state, path, field, (hl_machine_points *)at);
    return 0;
}

/* --- what the device can */

static void hold_below(hl_measure_session *self, haul_parameter *parameter, double most,
                       const char *what)
{
    char text[32], limit[32];
    if (!(most > 0) || !parameter->provenance || parameter->value <= most)
        return;
    if (parameter->value > (1 + rounding) * most)
        hl_measure_note(self,
                        "%.80s came out as %.30s, above the %.30s that the device has: held "
                        "to that",
                        what, haul_quantity_format(parameter->value, HAUL_DIM_RATE, 3, text, 32),
                        haul_quantity_format(most, HAUL_DIM_RATE, 3, limit, 32));
    parameter->value = most;
}

void hl_measure_check_plausible(hl_measure_session *session)
{
    haul_machine whole = session->machine;
    whole.copies = session->curves;
    whole.copy_count = session->curve_count;
    (void)hl_machine_walk(&whole, check_field, session);
    session->machine.gpu = whole.gpu;
    session->machine.host = whole.host;
    /* The driver's own bandwidth, where it tells one: a copy within the device reads and writes it.
     * Copies across the link are held to nothing, for a driver does not tell the link. */
    haul_gpu *gpu = &session->machine.gpu;
    const double most = haul_device_describe(session->device)->memory_bandwidth_Bps;
    hold_below(session, &gpu->memory_bandwidth_Bps, most, "gpu.memory_bandwidth");
    hold_below(session, &gpu->stream_Bps, most, "gpu.stream_bandwidth");
    for (size_t i = 0; i < session->curve_count; i++) {
        haul_copy_curve *curve = &session->curves[i];
        if (curve->direction == HAUL_DIRECTION_DTOD)
            hold_below(session, &curve->rate_Bps, most / 2, "the rate of copies within the device");
        if (!curve->rate_Bps.provenance)
            continue;
        hold_below(session, &curve->busy_rate_Bps, curve->rate_Bps.value, "a rate while busy");
        hold_below(session, &curve->mapped_rate_Bps, curve->rate_Bps.value,
                   "a rate beside mapped memory");
    }
}
