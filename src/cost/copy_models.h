/* The copy models, each named once, here: X(NAME) is hl_cost_copy_model_NAME in copy_NAME.c, which
 * the build finds by this list too. The first is the default. */
#ifndef HAUL_COST_COPY_MODELS_H
#define HAUL_COST_COPY_MODELS_H

#include "haul/cost.h"

#define HL_COST_COPY_MODEL_LIST(X)                                                                 \
    X(auto)                                                                                        \
    X(curve)                                                                                       \
    X(loggp)                                                                                       \
    X(packet)                                                                                      \
    X(staged)                                                                                      \
    X(ahead)                                                                                       \
    X(latency_bandwidth_bound)                                                                     \
    X(bandwidth_bound)

#define HL_COST_COPY_MODEL_DECLARED(name) extern const haul_copy_model hl_cost_copy_model_##name;
HL_COST_COPY_MODEL_LIST(HL_COST_COPY_MODEL_DECLARED)
#undef HL_COST_COPY_MODEL_DECLARED

#endif
