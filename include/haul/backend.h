/* For authors of models: a shared object that exports
 *
 *     const haul_copy_model *haul_model_entry(void);
 *
 * is a model: `haul project --model ./mine.so`. The returned value must live as long as the object
 * is loaded. It needs no symbol of libhaul: a machine is plain data. See
 * examples/model.
 *
 * Threads: what is registered is constant; a model's functions may be called by several threads at
 * once. */
#ifndef HAUL_BACKEND_H
#define HAUL_BACKEND_H

#include "haul/cost.h"

HAUL_BEGIN

typedef const haul_copy_model *(*haul_model_entry_fn)(void);

/* Defined by the object; libhaul has no such function. */
HAUL_API const haul_copy_model *haul_model_entry(void);

#define HAUL_MODEL_ENTRY "haul_model_entry"

HAUL_END

#endif
