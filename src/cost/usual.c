/* Medians of the GPUs that were measured; usual.h says which. */
#include "cost/usual.h"

const hl_cost_usual_share hl_cost_usual_busy = {0.86, {0.93, 0.71}};
const hl_cost_usual_share hl_cost_usual_mapped = {0.66, {0.70, 0.54}};
