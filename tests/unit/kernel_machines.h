/* Two machines of round figures, and kernels predicted from one to the other. */
#ifndef KERNEL_MACHINES_H
#define KERNEL_MACHINES_H

#include "check.h"

#include <math.h>

#include "haul/kernel.h"
#include "haul/machine.h"

static inline haul_parameter given(double value)
{
    return (haul_parameter){value, HAUL_PROVENANCE_PUBLISHED, "a test"};
}

/* 10 multiprocessors, 1 GHz; sustained 1 Tflop/s in fp32, 100 GB/s. */
static inline haul_machine small(void)
{
    haul_machine machine = {.name = "small"};
    machine.gpu = (haul_gpu){.name = "Small",
                             .architecture = "volta",
                             .multiprocessors = given(10),
                             .cores = given(64),
                             .clock_Hz = given(1e9),
                             .memory_bandwidth_Bps = given(120e9),
                             .l2_bytes = given(1e6),
                             .fp64_flops = given(0.64e12),
                             .fp32_flops = given(1.28e12),
                             .launch_latency_s = given(2e-6),
                             .stream_Bps = given(100e9)};
    machine.gpu.product_flops[HAUL_PRECISION_FP32] = given(1e12);
    return machine;
}

/* 20 multiprocessors: sustained 3 Tflop/s in fp32, 12 in TF32, 400 GB/s. */
static inline haul_machine large(void)
{
    haul_machine machine = small();
    machine.name = "large";
    machine.gpu.name = "Large";
    machine.gpu.multiprocessors = given(20);
    machine.gpu.memory_bandwidth_Bps = given(480e9);
    machine.gpu.stream_Bps = given(400e9);
    machine.gpu.fp32_flops = given(3.5e12);
    machine.gpu.fp64_flops = given(0.1e12);
    machine.gpu.launch_latency_s = given(4e-6);
    machine.gpu.product_flops[HAUL_PRECISION_FP32] = given(3e12);
    machine.gpu.product_flops[HAUL_PRECISION_TF32] = given(12e12);
    return machine;
}

static inline haul_kernel_work work_of(const char *name, double seconds, double blocks)
{
    return (haul_kernel_work){.kind = haul_kernel_kind_of(name, NULL),
                              .launches = {.count = 1, .blocks = blocks, .block = 256},
                              .seconds = seconds};
}

static inline haul_kernel_prediction predicted(const haul_machine *from, const haul_machine *to,
                                               const haul_kernel_work *work)
{
    haul_kernel_prediction out = {.bound = HAUL_KERNEL_BOUNDS};
    haul_error error = {0};
    if (haul_kernel_predict(from, to, work, &out, &error))
        fail_msg("%s", error.text);
    assert_true(out.estimate.low_s <= out.estimate.seconds);
    assert_true(out.estimate.seconds <= out.estimate.high_s);
    return out;
}

static inline double width_up(const haul_kernel_work *work)
{
    const haul_machine from = small(), to = large();
    const haul_estimate of = predicted(&from, &to, work).estimate;
    return log(of.high_s / of.seconds);
}

#endif
