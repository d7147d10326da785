/* The kernel models, each named once, here: X(NAME) is hl_kernel_model_NAME in kernel_NAME.c,
 * which the build finds by this list too. The first is the default. */
#ifndef HAUL_KERNEL_MODELS_H
#define HAUL_KERNEL_MODELS_H

#include "haul/kernel.h"

#define HL_KERNEL_MODEL_LIST(X)                                                                    \
    X(roofline)                                                                                    \
    X(bsp)                                                                                         \
    X(scale)

#define HL_KERNEL_MODEL_DECLARED(name) extern const haul_kernel_model hl_kernel_model_##name;
HL_KERNEL_MODEL_LIST(HL_KERNEL_MODEL_DECLARED)
#undef HL_KERNEL_MODEL_DECLARED

#endif
