/* The recording machine as its profile tells it: a curve through its own copies, and the GPU by its
 * name. The curve needs no machine file, and predicts the copies of another run of the same program
 * best. */
#include "project/recording.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"

enum {
    COPIES_A_POINT = 8,
    FEWEST_POINTS = 4,
    SAMPLES = 16384, /* of one direction and memory; more are thinned evenly */
};

typedef struct fitter {
    const haul_workload *workload;
    const hl_project_size_classes *classes;
    const hl_project_contention *contention;
    haul_sample *samples; /* 2 * SAMPLES */
    haul_copy_curve *curves;
    size_t curve_count;
    size_t curve_capacity;
} fitter;

/* The samples are the times that the copies would take without contention. */
static haul_status fit_group(fitter *self, hl_project_class_range range, haul_error *error)
{
    if (!hl_base_grow(&self->curves, &self->curve_capacity, self->curve_count + 1,
                      sizeof *self->curves))
        return hl_base_fail_no_memory(error);
    const hl_project_size_stride stride = hl_project_size_thin(self->classes, range, SAMPLES);
    size_t points = hl_project_size_copies(self->classes, range) / COPIES_A_POINT, count = 0;
    points = points < FEWEST_POINTS ? FEWEST_POINTS : points;
    points = points < HAUL_MACHINE_CURVE_POINTS ? points : HAUL_MACHINE_CURVE_POINTS;
    for (size_t c = range.begin; c < range.end; c += stride.classes) {
        const hl_project_size_class *one = &self->classes->items[c];
        for (size_t k = 0; !one->impossible && k < one->count; k += stride.copies) {
            const uint32_t op = self->classes->ops[one->first + k];
            const double time_s = 1e-9 * (double)self->workload->ops[op].dur_ns;
            self->samples[count++] = (haul_sample){
                .copy = hl_project_size_class_copy(one),
                .seconds = time_s * hl_project_contention_speed(self->contention, one, op)};
        }
    }
    if (!count)
        return HAUL_OK;
    haul_copy_curve curve = {0};
    haul_residuals residuals;
    const haul_status status =
        haul_fit_curve(self->samples, count, points, HAUL_FIT_TIME, &curve, &residuals, error);
    if (!status)
        self->curves[self->curve_count++] = curve;
    else if (status == HAUL_STATUS_BAD_INPUT)
        hl_project_size_class_blame(&self->classes->items[range.begin], error);
    return status;
}

/* One buffer serves every direction and memory; `curves` grows by one for each. */
haul_status hl_project_recording_fit(const haul_workload *workload,
                                     const hl_project_size_classes *classes,
                                     const hl_project_contention *contention,
                                     const haul_machine *gpu, haul_machine **machine,
                                     haul_error *error)
{
    const haul_machine nameless = {.name = "the recording machine",
                                   .summary = "the machine that recorded the profile"};
    fitter self = {workload, classes, contention, .samples = NULL};
    self.samples = malloc(2 * (size_t)SAMPLES * sizeof *self.samples);
    haul_status status = self.samples ? HAUL_OK : hl_base_fail_no_memory(error);
    for (hl_project_class_range range = {0}; !status && range.end < classes->count;) {
        range = hl_project_size_group(classes, range.end);
        status = fit_group(&self, range, error);
    }
    if (!status)
        status = haul_machine_with_copies(gpu ? gpu : &nameless, self.curves, self.curve_count,
                                          machine, error);
    free(self.samples);
    free(self.curves);
    return status;
}

/* With a given machine only the contention is learned: its curves and GPU are the file's. */
haul_status hl_project_recording_learn(const haul_workload *workload, const haul_machine *from,
                                       hl_project_recording *self, haul_error *error)
{
    haul_status status = hl_project_size_classes_make(workload, NULL, &self->classes, error);
    self->impossible = hl_project_size_classes_mark_impossible(
        &self->classes, from ? haul_link_peak(&from->link).value : 0);
    if (!status)
        status = hl_project_contention_find(workload, &self->classes, &self->contention, error);
    if (status || from)
        return status;
    status = hl_project_recording_gpu(workload, self, &self->gpu_unknown);
    if (status && status != HAUL_STATUS_MISSING) {
        if (error)
            *error = self->gpu_unknown;
        return status;
    }
    return hl_project_recording_fit(workload, &self->classes, &self->contention, self->gpu,
                                    &self->machine, error);
}

void hl_project_recording_release(hl_project_recording *self)
{
    hl_project_size_classes_release(&self->classes);
    hl_project_contention_release(&self->contention);
    haul_machine_free(self->like);
    haul_machine_free(self->gpu);
    haul_machine_free(self->machine);
}
