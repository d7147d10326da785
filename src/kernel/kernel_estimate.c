/* The one way to ask a kernel model, with its case and its answer checked. */
#include "cost/model_registry.h"
#include "kernel/kernel_parts.h"

/* Clears the error's text first: hl_cost_estimate_fail then sees whether a user's model wrote one.
 */
haul_status hl_kernel_estimate(const haul_kernel_model *model, const haul_kernel_case *what,
                               haul_estimate *out, haul_error *error)
{
    if (!(what->size > 0 && what->size <= 1e30))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected a size above 0, not %g",
                              what->size);
    HAUL_TRY(hl_kernel_counts_check(&what->counts, error));
    haul_estimate estimate = {.model = model->name};
    if (error)
        error->text[0] = '\0';
    haul_status status = model->time(what, &estimate, error);
    estimate.model = estimate.model ? estimate.model : model->name;
    const hl_cost_model_asked asked = {"size ", what->size, ""};
    if (status || !hl_cost_estimate_is_sound(&estimate))
        return hl_cost_estimate_fail(status, &estimate, asked, error);
    *out = estimate;
    return HAUL_OK;
}
