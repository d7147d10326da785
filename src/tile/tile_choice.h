/* The third layer: the model, which decides before anything is made or run. It takes the arrays,
 * the steps and the machine's rates, and says how many planes a region has, how many loops a launch
 * and a pass take, and how many rows a column has. */
#ifndef HAUL_TILE_TILE_CHOICE_H
#define HAUL_TILE_TILE_CHOICE_H

#include "tile/tile_kernels.h"
#include "tile/tile_queue.h"

enum { HL_TILE_FUSED_CHOICES = 4 }; /* 1, 3, 5 or 7 loops a launch */

/* Bytes a second of a host whose cores are not measured. */
#define HL_TILE_HOST_BPS 1e10

/* Rates of a machine, for the model. */
typedef struct hl_tile_rates {
    double copy_Bps[2]; /* in, out */
    double copy_latency_s;
    double busy[2];  /* the share that a copy keeps while the other direction is busy */
    bool one_engine; /* for both directions */
    double memory_Bps;
    double fp64_flops; /* a second; 0: unknown */
    double shared_Bps; /* of the groups' shared memory */
    double launch_s;
    const char *source;
} hl_tile_rates;

/* A launch's traffic to memory and to shared memory, and its computations. */
typedef struct hl_tile_work {
    double bytes;
    double shared_bytes;
    double flops;
} hl_tile_work;

/* A kernel of several steps as the device compiles it. */
typedef struct hl_tile_fused_kernel {
    struct hl_tile_fused_kernel *next;
    const haul_kernel_source *of;
    haul_kernel_source source;
} hl_tile_fused_kernel;

typedef struct hl_tile_pass_time {
    size_t steps; /* of the first pass, as the times but the total */
    int region;
    size_t passes;
    double run_s;
    double copy_s[2];
    double fill_s;  /* the first region's copy in */
    double bound_s; /* of all passes, with perfect overlap behind the first region */
    double total_s; /* of all passes */
} hl_tile_pass_time;

/* The model's choices and predictions. */
typedef struct hl_tile_choice {
    const haul_context_options *options;
    const hl_tile_memory *memory;
    hl_tile_kernels *kernels;
    const hl_tile_field *wanted; /* wholly, by the host, once the queue has run; NULL: none */
    hl_tile_pass_time predicted; /* of the last steps that regions were chosen for */
    hl_tile_fused_kernel *fused_kernels;
    bool has_chosen_fused;
    double fused_s[HL_TILE_FUSED_CHOICES]; /* of all steps, with 1, 3... loops a launch */
    double host_share;                     /* corrected; 0: not yet */
    bool is_share_bad;                     /* less than a region */
} hl_tile_choice;

void hl_tile_choice_release(hl_tile_choice *choice);

/* The machine's rates, and what a step takes with them. */
hl_tile_rates hl_tile_rates_of(const hl_tile_choice *choice);
double hl_tile_step_bytes(const hl_tile_step *step);
double hl_tile_step_seconds(const hl_tile_rates *rates, const hl_tile_step *step);

/* How long a pass may be that begins with the first step, over regions of so many planes. */
hl_tile_block_limits hl_tile_limits_of(const hl_tile_choice *choice, const hl_tile_step *steps,
                                       size_t count, int region);
/* The model's time of the steps; infinite where they do not fit. */
hl_tile_pass_time hl_tile_predict(const hl_tile_choice *self, hl_tile_step *steps, size_t count,
                                  int region);

/* Stencils of several steps: the kernel of several steps of the source's, NULL where the device
 * does not compile it, or where the program gave a kernel of one. */
const haul_kernel_source *hl_tile_fused_source(hl_tile_choice *choice,
                                               const haul_kernel_source *source);
/* How many loops are made one launch. */
typedef struct hl_tile_fusing {
    unsigned loops;
    int region; /* planes of regions; 0: those that the arrays have */
} hl_tile_fusing;

/* Where so many loops can be one launch: their geometry, of equal steps that of the step before. */
bool hl_tile_fused_make(hl_tile_choice *choice, hl_tile_step *step, const hl_tile_step *before,
                        hl_tile_fusing fusing);
/* The arguments of a launch of a part of the step, its work, and its groups. */
haul_box hl_tile_fused_launch(const hl_tile_choice *choice, const hl_tile_step *step,
                              const haul_box *part, haul_fused *fused, hl_tile_work *work);
/* The time of all planes in launches of so many, without the launches' own. */
double hl_tile_fused_seconds(const hl_tile_choice *choice, const hl_tile_rates *rates,
                             const hl_tile_step *step, int planes);

/* Chooses the size of regions for the steps, before any array is on the device. Regions are what
 * they were where the program said so. Returns planes; 0: nothing fits. */
int hl_tile_region_choose(hl_tile_choice *self, hl_tile_step *steps, size_t count);
/* How many loops a launch best has, where the arrays are divided into regions. */
unsigned hl_tile_fused_choose(hl_tile_choice *choice, hl_tile_step *steps, size_t count);
/* Makes steps that can be one launch one, in place; returns how many steps are left. */
size_t hl_tile_fuse(hl_tile_choice *choice, hl_tile_step *steps, size_t count,
                    hl_tile_fusing fusing);
/* Planes of the regions that the step goes over. */
int hl_tile_step_region(const hl_tile_step *step);

/* Whether the step's planes are too large for the device, so that they are cut in columns. */
bool hl_tile_needs_columns(hl_tile_step *step);
/* The block of steps that goes through columns, and their rows; rows below 1 do not fit. */
int hl_tile_columns_choose(const hl_tile_choice *choice, hl_tile_step *steps, size_t count,
                           hl_tile_block *block);
/* Rows beside a column that are on the device with it. */
int hl_tile_column_margin(const hl_tile_block *block, const hl_tile_field *field);

/* Regions at the end of the block's arrays that the host takes while the device has the others. */
int hl_tile_host_parts(const hl_tile_choice *self, const hl_tile_block *block);
/* Corrects the host's share from the times of both sides: where they would have ended together. */
void hl_tile_share_correct(hl_tile_choice *choice, int host_parts, int parts, double host_s,
                           double device_s);

#endif
