/* Finds values of a machine that contradict each other. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "haul/machine.h"
#include "haul/units.h"
#include "machine/architectures.h"

typedef struct checker {
    const haul_machine *machine;
    haul_machine_finding visit;
    void *state;
} checker;

static void add_finding(const checker *self, const char *format, ...) HAUL_PRINTF(2, 3);

static void add_finding(const checker *self, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    self->visit(self->state, text);
}

/* Data sheets round; their peaks are at the boost clock or a little below. */
static void check_gpu(const checker *self)
{
    const haul_gpu *gpu = &self->machine->gpu;
    /* Two operations, for a multiply-add counts as two in every data sheet. 5 % covers peaks that
     * are stated at a lower clock than the boost clock of the file. */
    const double computed = 2 * gpu->multiprocessors.value * gpu->cores.value * gpu->clock_Hz.value;
    char given[32];
    if (computed > 0 && gpu->fp32_flops.value > 0 &&
        fabs(gpu->fp32_flops.value / computed - 1) > 0.05)
        add_finding(
            self, "gpu.fp32 is %s, and 2 x multiprocessors x cores x clock gives %.4g Tflop/s",
            haul_quantity_format(gpu->fp32_flops.value, HAUL_DIM_FLOPS, 4, given, sizeof given),
            computed / 1e12);
    /* At best both are equal, as on CDNA 2. */
    if (gpu->fp64_flops.value > gpu->fp32_flops.value && gpu->fp32_flops.value > 0)
        add_finding(self, "gpu.fp64 is above gpu.fp32");
    /* Rounding of both, and HBM that is sold below what its parts allow, stay within 3 %. */
    const double bus = gpu->memory_bus.value * gpu->memory_data_rate_Hz.value / 8;
    if (bus > 0 && gpu->memory_bandwidth_Bps.value > 0 &&
        fabs(gpu->memory_bandwidth_Bps.value / bus - 1) > 0.03)
        add_finding(
            self, "gpu.memory_bandwidth is %.4g GB/s, and memory_bus x memory_data_rate gives %.4g",
            gpu->memory_bandwidth_Bps.value / 1e9, bus / 1e9);
    if (gpu->base_clock_Hz.value > gpu->clock_Hz.value && gpu->clock_Hz.value > 0)
        add_finding(self, "gpu.base_clock is above gpu.clock");
    const hl_machine_architecture *found = hl_machine_architecture_of(gpu);
    if (gpu->architecture && !found)
        add_finding(self, "gpu.architecture '%.40s' is none that haul knows", gpu->architecture);
    else if (found && gpu->cores.value > 0 && found->cores != gpu->cores.value)
        add_finding(self, "gpu.cores is %g, and multiprocessors of '%.40s' have %u",
                    gpu->cores.value, gpu->architecture, found->cores);
}

/* No kernel outruns the cores that it runs on: vector units where there are no tensor cores. Where
 * multiply-adds in double precision were measured, of vector units alone, a file does not say what
 * tensor cores add. GeForce boards run at up to a tenth above the boost clock that they are sold
 * with. */
static void check_products(const checker *self)
{
    static const char *const names[] = {HAUL_PRECISION_LIST(HAUL_ROW_TEXT)};
    const haul_gpu *gpu = &self->machine->gpu;
    for (int p = 0; p < HAUL_PRECISIONS; p++) {
        const haul_parameter none = {0}, *tensor = &gpu->tensor_flops[p];
        const haul_parameter *vector = p == HAUL_PRECISION_FP64   ? &gpu->fp64_flops
                                       : p == HAUL_PRECISION_FP32 ? &gpu->fp32_flops
                                                                  : &none;
        if (p == HAUL_PRECISION_FP64 && vector->provenance == HAUL_PROVENANCE_MEASURED &&
            !tensor->provenance)
            continue;
        const double most = fmax(vector->value, tensor->value);
        if (most > 0 && gpu->product_flops[p].value > 1.1 * most)
            add_finding(self, "gpu.product_%s is %.4g Tflop/s, above the peak of %.4g", names[p],
                        gpu->product_flops[p].value / 1e12, most / 1e12);
    }
    if (gpu->memory_bandwidth_Bps.value > 0 &&
        gpu->stream_Bps.value > gpu->memory_bandwidth_Bps.value)
        add_finding(self, "gpu.stream_bandwidth is above gpu.memory_bandwidth");
}

/* A slot or board of a later generation than the GPU does not make it faster. */
static void check_link(const checker *self, const char *key, const haul_link *link)
{
    const hl_machine_architecture *of = hl_machine_architecture_of(&self->machine->gpu);
    const double lanes = link->lanes.value;
    if (link->kind == HAUL_LINK_PCIE && of && of->pcie && link->generation.value > of->pcie)
        add_finding(self, "%s.generation is %.0f, and GPUs of '%.40s' have PCIe %u at most", key,
                    link->generation.value, of->name, of->pcie);
    if (link->kind == HAUL_LINK_PCIE &&
        (lanes > 16 || (lanes > 0 && exp2(round(log2(lanes))) != lanes)))
        add_finding(self, "%s.lanes is %g, and slots have 1, 2, 4, 8 or 16", key, lanes);
    if (link->kind == HAUL_LINK_NVLINK && of && of->nvlink_GBps &&
        fabs(link->link_rate_Bps.value / (1e9 * of->nvlink_GBps) - 1) > 0.05)
        add_finding(self,
                    "%s.link_rate is %.4g GB/s, and a link of '%.40s' has %u in one direction", key,
                    link->link_rate_Bps.value / 1e9, of->name, of->nvlink_GBps);
}

/* The most that a copy of this direction can have; 0: not known. A bandwidth that a kernel was
 * measured with is none: copies pass it by stores around the caches, and by engines of their own.
 */
static double most_of(const haul_machine *machine, haul_direction direction)
{
    switch (direction) {
    case HAUL_DIRECTION_HTOD:
    case HAUL_DIRECTION_DTOH:
        return haul_link_peak(&machine->link).value;
    case HAUL_DIRECTION_PTOP:
        return haul_link_peak(&machine->peer).value;
    case HAUL_DIRECTION_DTOD:
        if (machine->gpu.memory_bandwidth_Bps.provenance == HAUL_PROVENANCE_MEASURED)
            return 0;
        return machine->gpu.memory_bandwidth_Bps.value / 2; /* each byte is read and written */
    default:
        return 0;
    }
}

static void check_rate(const checker *self, const haul_copy_curve *curve, const char *key,
                       const haul_parameter *rate)
{
    const double most = most_of(self->machine, curve->direction);
    /* No copy outruns the link or memory that it crosses: a unit or the link must be wrong. */
    if (most > 0 && rate->value > most)
        add_finding(self, "copies[%s %s%s].%s is %.4g GB/s, above the %.4g GB/s of what it crosses",
                    haul_direction_text(curve->direction), haul_memory_text(curve->memory),
                    curve->locality == HAUL_LOCALITY_FAR ? " far" : "", key, rate->value / 1e9,
                    most / 1e9);
}

/* The rate of the largest messages of one process between nodes. */
static double own_rate(const haul_machine *machine, haul_memory memory)
{
    const haul_message_protocol *last = NULL;
    for (size_t i = 0; i < machine->message_count; i++) {
        const haul_message_protocol *one = &machine->messages[i];
        if (one->memory == memory && one->reach == HAUL_REACH_BETWEEN_NODES &&
            (!last || one->from_bytes.value >= last->from_bytes.value))
            last = one;
    }
    return last ? last->rate_Bps.value : 0;
}

/* The rate of one process of a node is written twice, as its protocol's rate and as the node's for
 * one process: of one MPI both are the same but for what fits differ in, a few percent; and
 * a file with another MPI's rates is off by more: by half on Lassen. */
static void check_injection(const checker *self)
{
    const haul_machine *machine = self->machine;
    for (size_t i = 0; i < machine->injection_count; i++) {
        const haul_injection *one = &machine->injection[i];
        const double own = one->processes.value == 1 ? own_rate(machine, one->memory) : 0;
        const double ratio = own > 0 ? one->rate_Bps.value / own : 1;
        if (ratio > 1.25 || ratio < 0.8)
            add_finding(
                self,
                "injection[%s].rate of one process is %.4g GB/s, and messages[%s network].rate "
                "of the largest ones %.4g GB/s",
                haul_memory_text(one->memory), one->rate_Bps.value / 1e9,
                haul_memory_text(one->memory), own / 1e9);
    }
}

void haul_machine_check(const haul_machine *machine, haul_machine_finding visit, void *state)
{
    /* Findings are advice, not errors: the machine stays usable. */
    const checker self = {machine, visit, state};
    if (machine->old_word_line)
        add_finding(&self, "line %d: 'carried over' is now 'scaled', or 'assumed'",
                    machine->old_word_line);
    check_gpu(&self);
    check_products(&self);
    check_link(&self, "link", &machine->link);
    check_link(&self, "peer", &machine->peer);
    check_injection(&self);
    for (size_t i = 0; i < machine->copy_count; i++) {
        const haul_copy_curve *curve = &machine->copies[i];
        check_rate(&self, curve, "rate", &curve->rate_Bps);
        check_rate(&self, curve, "busy_rate", &curve->busy_rate_Bps);
        /* Traffic the other way can slow a copy, never speed it up. */
        if (curve->rate_Bps.value > 0 && curve->busy_rate_Bps.value > curve->rate_Bps.value)
            add_finding(&self, "copies[%s %s].busy_rate is above its rate",
                        haul_direction_text(curve->direction), haul_memory_text(curve->memory));
    }
}
