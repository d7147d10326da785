/* Launches whose time tells a rate. */
#ifndef HAUL_MEASURE_KERNEL_RUNS_H
#define HAUL_MEASURE_KERNEL_RUNS_H

#include "measure/session.h"

enum { HL_MEASURE_GPU_STEPS = 2 }; /* of a kernel that repeats its work, before they are doubled */

/* A launch over `count` indices. */
typedef struct hl_measure_run {
    const haul_kernel *kernel;
    const haul_argument *arguments;
    size_t argument_count;
    int count;
    double bytes;
    double flops;
    bool is_double;
    haul_parameter *rate; /* that it measures: either bytes or flops are 0 */
} hl_measure_run;

bool hl_measure_is_gpu(const hl_measure_session *self);

/* On a stream; `event` may be NULL. */
haul_status hl_measure_run_launch(hl_measure_session *session, const hl_measure_run *self,
                                  int stream, haul_event *event, haul_error *error);

/* Doubles the steps that `run` is given until it takes long enough for the clock. */
haul_status hl_measure_run_choose_steps(hl_measure_session *self, const hl_measure_run *run,
                                        int *steps, haul_error *error);

/* An attempt at a run, by the device's own clock around one launch: the host's cost is not in it.
 */
haul_status hl_measure_run_try(hl_measure_session *session, const void *what, double *seconds,
                               haul_error *error);

/* Measures the rate between a launch and one of half its work. */
haul_status hl_measure_run_slope(hl_measure_session *self, const char *name,
                                 const hl_measure_run *whole, const hl_measure_run *half,
                                 haul_error *error);

/* Measures the rate of a kernel that does its work over and over: `each` says what one step over
 * all indices is, and argument `at` of its arguments how many steps. */
haul_status hl_measure_run_steps(hl_measure_session *self, const char *text,
                                 const hl_measure_run *each, size_t at, haul_error *error);

#endif
