/* Shared by models of every kind: finding one by name or in a shared object, and the check of what
 * any of them answers. */
#ifndef HAUL_COST_MODEL_REGISTRY_H
#define HAUL_COST_MODEL_REGISTRY_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

#include "haul/cost.h"

/* How every kind of model begins: haul_copy_model and haul_kernel_model have these four members, in
 * this order, with a function of their own type last. */
typedef struct hl_cost_model_head {
    unsigned abi;
    const char *name;
    const char *summary;
    void (*time)(void);
} hl_cost_model_head;

/* Another name that a model is found by. */
typedef struct hl_cost_model_alias {
    const char *alias;
    const char *name;
} hl_cost_model_alias;

/* A kind of model: haul's own, and the function that a shared object exports for a user's. */
typedef struct hl_cost_model_kind {
    const char *what;         /* in errors: "model", "kernel model" */
    const void *const *items; /* haul's own */
    size_t count;
    const hl_cost_model_alias *aliases;
    size_t alias_count;
    const char *entry; /* the exported function's name */
    unsigned abi;
    const char *header; /* that declares the entry */
} hl_cost_model_kind;

/* Finds a model of haul's own by its name or alias, or, where `name` contains a '/' or ends in
 * ".so", loads the shared object and checks what its model says of itself. Returns USAGE with the
 * list of names, or BAD_INPUT with the file and the reason. On success the caller closes *handle,
 * NULL for haul's own, with hl_cost_model_close. */
haul_status hl_cost_model_find_in(const hl_cost_model_kind *kind, const char *name,
                                  const void **model, void **handle, haul_error *error);

/* NULL is fine. */
void hl_cost_model_close(void *handle);

/* The question to a model, in errors: "a copy of ", 5, " bytes". */
typedef struct hl_cost_model_asked {
    const char *before;
    double amount;
    const char *after;
} hl_cost_model_asked;

/* Finite, not negative, and inside its own interval. */
static inline bool hl_cost_estimate_is_sound(const haul_estimate *self)
{
    return self->low_s >= 0 && self->low_s <= self->seconds && self->seconds <= self->high_s &&
           self->high_s <= DBL_MAX;
}

/* Ends an answer that is none: returns `status` with an error text where the model gave none,
 * BAD_INPUT for an estimate that is not sound. */
haul_status hl_cost_estimate_fail(haul_status status, const haul_estimate *estimate,
                                  hl_cost_model_asked asked, haul_error *error);

#endif
