/* Objects that are no models, or bad ones: one a value of BROKEN. */
#include <math.h>

#include "haul/backend.h"

enum {
    NO_ENTRY,
    NO_MODEL,
    WRONG_ABI,
    NO_TIME,
    TAKEN_NAME,
    GIVES_NAN,
    UPSIDE_DOWN,
    NEGATIVE,
    SILENT
};

#if BROKEN != 0
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    (void)machine;
    (void)copy;
    (void)error;
    if (BROKEN == SILENT)
        return HAUL_STATUS_MISSING;
    *out = (haul_estimate){
        .seconds = 1, .low_s = 0.5, .high_s = 2, .weakest = HAUL_PROVENANCE_DATASHEET};
    if (BROKEN == GIVES_NAN)
        out->seconds = NAN;
    if (BROKEN == UPSIDE_DOWN)
        out->low_s = 3;
    if (BROKEN == NEGATIVE)
        out->low_s = out->seconds = -1;
    return HAUL_OK;
}

const haul_copy_model *haul_model_entry(void)
{
    static const haul_copy_model model = {
        .abi = BROKEN == WRONG_ABI ? 77 : HAUL_MODEL_ABI,
        .name = BROKEN == TAKEN_NAME ? "packet" : "broken",
        .summary = "a model that is broken on purpose",
        .time = BROKEN == NO_TIME ? NULL : time_of,
    };
    return BROKEN == NO_MODEL ? NULL : &model;
}
#endif
