/* The parts of a measurement, and the machine that comes of them. */
#include "haul/measure.h"

#include <stdlib.h>

#include "base/fail.h"
#include "haul/cost.h"
#include "measure/session.h"

/* Drivers answer 0 for what they do not know. */
static haul_parameter told_by_driver(double value)
{
    return value > 0 ? (haul_parameter){value, HAUL_PROVENANCE_MEASURED, "what the driver says"}
                     : (haul_parameter){.provenance = HAUL_PROVENANCE_NOT_GIVEN};
}

/* A part that the device has nothing for is left out, as long as another finds something. */
static haul_status run_parts(hl_measure_session *self, haul_error *error)
{
    static const struct {
        unsigned part;
        haul_status (*measure)(hl_measure_session *session, haul_error *error);
    } parts[] = {{HAUL_MEASURE_TRANSFERS, hl_measure_copies},
                 {HAUL_MEASURE_KERNELS, hl_measure_kernels},
                 {HAUL_MEASURE_HOST, hl_measure_host}};
    const unsigned wanted = self->options.parts;
    haul_status lacking = HAUL_OK;
    bool found = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (wanted && !(wanted & parts[i].part))
            continue;
        const haul_status status = parts[i].measure(self, error);
        if (status && !hl_measure_is_lacking(status))
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
        const haul_copy copy = {size->bytes, size->direction, size->memory, HAUL_LOCALITY_NEAR};
        haul_estimate estimate;
        if (haul_copy_time(made->machine, NULL, &copy, &estimate, NULL))
            continue;
        size->predicted_s = estimate.seconds;
        size->low_s = estimate.low_s;
        size->high_s = estimate.high_s;
    }
}

static void note_finding(void *state, const char *text)
{
    hl_measure_note(state, "%.190s", text);
}

/* The machine's predictions are needed to know what it may be off by, which is a part of it. */
static haul_status make_machine(hl_measure_session *self, haul_error *error)
{
    haul_machine *without;
    HAUL_TRY(
        haul_machine_with_copies(&self->machine, self->curves, self->curve_count, &without, error));
    self->made.machine = without;
    predict_sizes(&self->made);
    HAUL_TRY(hl_measure_find_uncertainty(self, error));
    HAUL_TRY(haul_machine_with_copies(&self->machine, self->curves, self->curve_count,
                                      &self->made.machine, error));
    haul_machine_free(without);
    predict_sizes(&self->made);
    return HAUL_OK;
}

/* Copies are verified on the finished machine, through the same models as any user's prediction.
 * `haul machine check` says the same of the file as the notes do. */
static haul_status measure_all(hl_measure_session *self, haul_error *error)
{
    HAUL_TRY(run_parts(self, error));
    /* The parameters that need no measurement come after the parts, which fill the machine. */
    const haul_device_properties *device = haul_device_describe(self->device);
    haul_machine *machine = &self->machine;
    machine->name = self->options.name ? self->options.name : "measured";
    machine->summary = hl_base_arena_format(&self->arena, "%.100s, measured by haul", device->name);
    machine->gpu.name = device->name;
    machine->gpu.architecture = device->architecture;
    machine->gpu.count = told_by_driver(device->is_host ? 0 : device->count);
    machine->gpu.memory_bytes = told_by_driver((double)device->memory_bytes);
    machine->gpu.multiprocessors = told_by_driver(device->multiprocessors);
    machine->gpu.clock_Hz = told_by_driver(device->clock_Hz);
    machine->gpu.l2_bytes = told_by_driver((double)device->l2_bytes);
    if (!machine->gpu.copy_engines.provenance)
        machine->gpu.copy_engines = told_by_driver(device->copy_engines);
    if (!machine->gpu.implicit_sync.provenance && device->implicit_sync >= 0)
        machine->gpu.implicit_sync = (haul_parameter){
            device->implicit_sync, HAUL_PROVENANCE_MEASURED, "what the driver says"};
    hl_measure_check_plausible(self);
    haul_status status = make_machine(self, error);
    if (!status)
        haul_machine_check(self->made.machine, note_finding, self);
    if (!status)
        status = hl_measure_note_load(self, error);
    if (!status && self->options.verify)
        status = hl_measure_verify_copies(self, error);
    if (!status && self->options.verify && self->curve_count)
        status = hl_measure_verify_streams(self, error);
    return status;
}

haul_status haul_measurement_make(haul_device *device, const haul_measure_options *options,
                                  haul_measurement *measurement, haul_error *error)
{
    const haul_measure_options none = {.name = NULL};
    hl_measure_session *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    haul_status status = hl_measure_session_begin(self, device, options ? options : &none, error);
    if (!status)
        status = measure_all(self, error);
    if (status)
        haul_measurement_release(&self->made);
    else
        *measurement = self->made;
    hl_measure_session_end(self);
    free(self);
    return status;
}

void haul_measurement_release(haul_measurement *measurement)
{
    haul_machine_free(measurement->machine);
    free(measurement->sizes);
    *measurement = (haul_measurement){.machine = NULL};
}
