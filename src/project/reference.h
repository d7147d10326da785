/* A projection against a profile of the same program on the target. */
#ifndef HAUL_PROJECT_REFERENCE_H
#define HAUL_PROJECT_REFERENCE_H

#include "haul/project.h"
#include "project/notes.h"
#include "project/size_class.h"

enum { HL_PROJECT_NO_PARTNER = -1 };

typedef struct hl_project_reference {
    int64_t *partner_ns; /* duration of each operation's partner, or HL_PROJECT_NO_PARTNER */
    uint64_t matched;
    uint64_t unmatched;               /* of both */
    bool any_memory[HAUL_DIRECTIONS]; /* where kinds of memory were not told apart */
} hl_project_reference;

/* Pairs the copies of two profiles in order of start within direction, memory and size. In a
 * direction where either profile has copies of memory that it does not know, kinds of memory are
 * taken together. Release with hl_project_reference_release. */
haul_status hl_project_reference_pair(const haul_workload *workload, const haul_workload *reference,
                                      hl_project_reference *pairs, haul_error *error);
void hl_project_reference_release(hl_project_reference *pairs);

/* The score of the copies of some classes that have a partner; total_s holds the time of
 * each class's copies together, NaN for a class that is left out. */
haul_status hl_project_reference_score(const hl_project_reference *pairs,
                                       const hl_project_size_classes *classes,
                                       hl_project_class_range range, const double *total_s,
                                       haul_score *score, haul_error *error);

typedef struct hl_project_comparison {
    const haul_workload *workload;
    const haul_workload *reference;
    const hl_project_size_classes *classes; /* of the workload */
    hl_project_notes *notes;
} hl_project_comparison;

/* Scores a projection's rows, sizes and models against the reference, and lists both times. */
haul_status hl_project_reference_compare(const hl_project_comparison *what, haul_projection *out,
                                         haul_error *error);

#endif
