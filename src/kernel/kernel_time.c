#include "base/fail.h"
#include "cost/object.h"
#include "kernel/kernels.h"

haul_status haul_kernel_time_by(const haul_kernel_model *model, const haul_kernel_case *what,
                                haul_estimate *out, haul_error *error)
{
    if (!(what->size > 0 && what->size <= 1e30))
        return haul_fail(error, HAUL_BAD_INPUT, "expected a size above 0, not %g", what->size);
    haul_status status = haul_kernel_counts_check(&what->counts, error);
    if (status)
        return status;
    haul_estimate estimate = {.model = model->name};
    if (error)
        error->text[0] = '\0';
    status = model->time(what, &estimate, error);
    if (status != HAUL_OK) {
        if (error && !error->text[0]) /* a user's model may say no more than the status */
            haul_fail(error, status, "model '%s' gives no time for such a kernel", model->name);
        return status;
    }
    if (!haul_estimate_is_sound(&estimate))
        return haul_fail(error, HAUL_BAD_INPUT, "model '%s' gave %g s (%g to %g) for size %g",
                         model->name, estimate.seconds, estimate.low_s, estimate.high_s,
                         what->size);
    *out = estimate;
    return HAUL_OK;
}
