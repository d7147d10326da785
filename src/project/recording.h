/* The machine that recorded a profile, as the profile tells it. */
#ifndef HAUL_PROJECT_RECORDING_H
#define HAUL_PROJECT_RECORDING_H

#include "haul/fit.h"
#include "project/contention.h"

/* Begin with zero; release with hl_project_recording_release, whatever the outcome. */
typedef struct hl_project_recording {
    hl_project_size_classes classes;
    hl_project_contention contention;
    uint64_t
        impossible;     /* copies that moved nothing: see hl_project_size_classes_mark_impossible */
    haul_machine *like; /* the catalogue's first machine with the GPU, or NULL */
    bool is_family;     /* `like` has another GPU of the same family */
    bool has_slot;      /* `like` is in the slot that the profile's copies show (own_slot.h), */
    int catalogue_generation; /* and not in one of this PCIe generation */
    haul_machine *gpu;        /* a machine that has the GPU and nothing else; NULL: not known, */
    haul_error gpu_unknown;   /* and why */
    haul_machine
        *machine; /* the GPU with the link fitted to the profile's copies; NULL: not asked */
} hl_project_recording;

/* Fills classes and contention; the rest where the recording machine is not given in `from`. */
haul_status hl_project_recording_learn(const haul_workload *workload, const haul_machine *from,
                                       hl_project_recording *self, haul_error *error);
void hl_project_recording_release(hl_project_recording *self);

/* Fits a curve to the copies of each direction and memory, freed of their contention: through the
 * medians where there are few sizes, else through a point for every eight copies (four parameters'
 * worth of evidence a parameter), at least four and at most HAUL_MACHINE_CURVE_POINTS. `gpu`, which
 * may be NULL, is what is known besides. The caller owns *machine. */
haul_status hl_project_recording_fit(const haul_workload *workload,
                                     const hl_project_size_classes *classes,
                                     const hl_project_contention *contention,
                                     const haul_machine *gpu, haul_machine **machine,
                                     haul_error *error);

/* Fills `like` and `gpu`: by the GPU's name from the catalogue, else by its family's with what the
 * profile's device table has, else as that table describes it. Returns MISSING, with what to give,
 * where neither knows it or where the profile's GPUs differ. */
haul_status hl_project_recording_gpu(const haul_workload *workload, hl_project_recording *self,
                                     haul_error *error);

/* The name of the profile's GPU where it is known and another than that of `machine`, else NULL. */
const char *hl_project_recording_other_gpu(const haul_workload *workload,
                                           const haul_machine *machine);

#endif
