/* The parts of a measurement, and the machine that comes of them. */
#include "haul/measure.h"

#include <stdlib.h>

#include "base/fail.h"
#include "haul/cost.h"
#include "measure/session.h"

/* Drivers answer 0 for what they do not know. */
static haul_parameter said(double value)
{
    return value > 0 ? (haul_parameter){value, HAUL_MEASURED, "what the driver says"}
                     : (haul_parameter){.provenance = HAUL_NOT_GIVEN};
}

/* What no measurement is needed for. Runs after the parts, on the machine that they filled. */
static void describe(haul_session *self)
{
    const haul_device_properties *device = haul_device_describe(self->device);
    haul_machine *machine = &self->machine;
    machine->name = self->options.name ? self->options.name : "measured";
    machine->summary = haul_arena_format(&self->arena, "%.100s, measured by haul", device->name);
    machine->gpu.name = device->name;
    machine->gpu.architecture = device->architecture;
    machine->gpu.memory_bytes = said((double)device->memory_bytes);
    machine->gpu.multiprocessors = said(device->multiprocessors);
    machine->gpu.clock_Hz = said(device->clock_Hz);
    machine->gpu.l2_bytes = said((double)device->l2_bytes);
}

/* A part that the device has nothing for is left out, as long as another finds something. */
static haul_status run_parts(haul_session *self, haul_error *error)
{
    static const struct {
        unsigned part;
        haul_status (*measure)(haul_session *session, haul_error *error);
    } parts[] = {{HAUL_MEASURE_TRANSFERS, haul_measure_copies},
                 {HAUL_MEASURE_KERNELS, haul_measure_kernels},
                 {HAUL_MEASURE_HOST, haul_measure_host}};
    const unsigned wanted = self->options.parts;
    haul_status lacking = HAUL_OK;
    bool found = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (wanted && !(wanted & parts[i].part))
            continue;
        const haul_status status = parts[i].measure(self, error);
        if (status && !haul_is_lacking(status))
            return status;
        found = found || !status;
        lacking = status ? status : lacking;
    }
    return found ? HAUL_OK : lacking;
}

/* A kind that the machine cannot predict keeps 0. */
static void predict_sizes(haul_measurement *made)
{
    for (size_t i = 0; i < made->size_count; i++) {
        haul_measured_copy *size = &made->sizes[i];
        const haul_copy copy = {size->bytes, size->direction, size->memory, HAUL_NEAR};
        haul_estimate estimate;
        if (!haul_copy_time(made->machine, NULL, &copy, &estimate, NULL))
            size->predicted_s = estimate.seconds;
    }
}

/* Copies are verified on the finished machine, through the same models as any user's prediction. */
static haul_status run(haul_session *self, haul_error *error)
{
    HAUL_TRY(run_parts(self, error));
    describe(self);
    haul_status status = haul_machine_with_copies(&self->machine, self->curves, self->curve_count,
                                                  &self->made.machine, error);
    if (!status)
        predict_sizes(&self->made);
    if (!status && self->options.verify)
        status = haul_verify_copies(self, error);
    return status;
}

haul_status haul_measure(haul_device *device, const haul_measure_options *options,
                         haul_measurement *measurement, haul_error *error)
{
    const haul_measure_options none = {.name = NULL};
    haul_session *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    haul_status status = haul_session_begin(self, device, options ? options : &none, error);
    if (!status)
        status = run(self, error);
    if (status)
        haul_measurement_release(&self->made);
    else
        *measurement = self->made;
    haul_session_end(self);
    free(self);
    return status;
}

void haul_measurement_release(haul_measurement *measurement)
{
    haul_machine_free(measurement->machine);
    free(measurement->sizes);
    *measurement = (haul_measurement){.machine = NULL};
}
