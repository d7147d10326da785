/* Every copy model, once; registry.c puts them in order. */
#ifndef HAUL_COST_MODELS_H
#define HAUL_COST_MODELS_H

#include "cost/pricing.h"

extern const haul_copy_model haul_model_auto;
extern const haul_copy_model haul_model_curve;
extern const haul_copy_model haul_model_loggp;
extern const haul_copy_model haul_model_packet;
extern const haul_copy_model haul_model_staged;
extern const haul_copy_model haul_model_ahead;
extern const haul_copy_model haul_model_peak;
extern const haul_copy_model haul_model_envelope;

#endif
