#include "overlap/run_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "overlap/paper_kernels.h"

enum { LEVELS = 42, PARTS = 64, EACH = 16, VECTOR = 1 << 14, SIDE = 256, PAGE = 4096 };

/* A program seldom copies what it has just copied: runs go round so much memory, as the copies of
 * `haul measure` do, in an odd number of places, so that no strategy always has the same. */
static const uint64_t placed_bytes = UINT64_C(64) << 20;

static void add_group(run_problem *self, size_t count, uint64_t bytes, bool is_out, bool is_whole)
{
    self->groups[self->group_count++] =
        (run_group){.count = count, .bytes = bytes, .is_out = is_out, .is_whole = is_whole};
    self->array_count += count;
}

static void add_number(run_problem *self, int number)
{
    self->numbers[self->value_count] = number;
    self->values[self->value_count] = &self->numbers[self->value_count];
    self->value_count++;
}

/* Levels of side x side, 42 as in the paper. The operations of a quotient are counted by hand, a
 * division and a root as one. */
static void make_ocean(run_problem *self, int side, size_t outputs, double flops)
{
    const uint64_t cells = (uint64_t)side * (uint64_t)side * LEVELS;
    add_group(self, 2, 8 * cells, false, false);
    add_group(self, outputs, 8 * cells, true, false);
    add_number(self, side);
    add_number(self, side);
    self->step = 100;
    self->values[self->value_count++] = &self->step;
    self->box = (haul_box){.hi = {side, side, LEVELS}};
    self->parts = LEVELS;
    self->flops = flops * (double)cells;
    self->scale = 30;
}

static void make_state(run_problem *self, int side)
{
    self->source = &state;
    make_ocean(self, side, 3, 130);
}

static void make_buoydiff(run_problem *self, int side)
{
    self->source = &buoydiff;
    make_ocean(self, side, 2, 170);
    self->before = 1;
    self->reads_first = true;
    self->reads = 3;
}

static void make_product(run_problem *self, int side)
{
    const int rows = 4 * side;
    self->source = &product;
    add_group(self, 1, 4 * (uint64_t)rows * (uint64_t)side, false, false);
    add_group(self, 1, 4 * (uint64_t)side * (uint64_t)side, false, true);
    add_group(self, 1, 4 * (uint64_t)rows * (uint64_t)side, true, false);
    add_number(self, side);
    add_number(self, side);
    self->box = (haul_box){.hi = {side, rows}};
    self->flops = 2.0 * rows * side * side;
    self->reads = side / 32.0;
}

static void make_convolution(run_problem *self, int side)
{
    const int wide = 4 * side;
    const uint64_t bytes = 4 * (uint64_t)wide * (uint64_t)wide;
    self->source = &convolution;
    add_group(self, 1, bytes, false, false);
    add_group(self, 1, 25 * sizeof(float), false, true);
    add_group(self, 1, bytes, true, false);
    add_number(self, wide);
    add_number(self, wide);
    self->box = (haul_box){.hi = {wide, wide}};
    /* The two rows before a part came two rows late, with the ahead of their own part. */
    const int part_rows = wide / self->parts;
    self->before = (4 + part_rows - 1) / part_rows;
    self->ahead = 2 * (4 * (uint64_t)wide);
    self->flops = 50.0 * wide * wide;
    self->reads = 5;
}

static void make_sparse(run_problem *self, int side)
{
    const int rows = 4 * side * side;
    self->source = &sparse;
    add_group(self, 2, 4 * (uint64_t)rows * EACH, false, false);
    add_group(self, 1, 4 * (uint64_t)VECTOR, false, true);
    add_group(self, 1, 4 * (uint64_t)rows, true, false);
    add_number(self, EACH);
    self->box = (haul_box){.hi = {rows}};
    self->flops = 2.0 * EACH * rows;
    /* Each thread reads a row of its own: 32 bytes a request, where threads that read side by side
     * share one of 128 (an H100 takes 5.2 times as long over the link as by coalesced reads). */
    self->reads = 4;
}

haul_status hl_overlap_run_problem_init(run_problem *self, const char *name, uint32_t side,
                                        haul_error *error)
{
    static const struct {
        const char *name;
        void (*make)(run_problem *self, int side);
    } kernels[] = {
#define KERNEL_ROW(name, text) {#name, make_##name},
        HAUL_RUN_KERNEL_LIST(KERNEL_ROW)
#undef KERNEL_ROW
    };
    const uint32_t wanted = side ? side : SIDE;
    if (wanted % 16 || wanted < 32 || wanted > 4096)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a side is a multiple of 16 from 32 to 4096, not %u", wanted);
    *self = (run_problem){.parts = PARTS, .reads = 1, .scale = 1};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!strcmp(name, kernels[i].name)) {
            kernels[i].make(self, (int)wanted);
            return HAUL_OK;
        }
    return haul_error_set(
        error, HAUL_STATUS_USAGE,
        "no kernel '%.40s': there are state, buoydiff, product, convolution and sparse", name);
}

/* Not random, but without a pattern that a part's size could hide. */
static void fill_input(const run_problem *self, void *data, uint64_t array_bytes,
                       const haul_kernel_parameter *is)
{
    const bool is_index = !strcmp(is->name, "columns");
    uint32_t drawn = 12345;
    for (uint64_t i = 0; i < array_bytes / is->bytes; i++) {
        drawn = drawn * 1664525 + 1013904223; /* Numerical Recipes */
        const double value = self->scale * (double)(drawn >> 8) / 0x1p24;
        if (is_index)
            ((int *)data)[i] = (int)(drawn >> 8) % VECTOR;
        else if (is->bytes == sizeof(double))
            ((double *)data)[i] = value;
        else
            ((float *)data)[i] = (float)value;
    }
}

/* Where the next group begins behind one: at a page, as a program's own arrays. */
static uint64_t pitch_of(const run_group *of)
{
    return (of->count * of->bytes + PAGE - 1) / PAGE * PAGE;
}

uint64_t hl_overlap_run_group_at(const run_problem *self, const run_group *of)
{
    return self->place * pitch_of(of);
}

static haul_status expect(run_problem *self, haul_error *error)
{
    void *arguments[RUN_ARRAYS + RUN_VALUES];
    size_t at = 0;
    for (size_t g = 0; g < self->group_count; g++) {
        run_group *group = &self->groups[g];
        char *data = haul_buffer_host(group->host);
        if (group->is_out)
            data = group->expected = calloc(group->count, group->bytes);
        if (!data)
            return hl_base_fail_no_memory(error);
        for (size_t i = 0; i < group->count; i++, at++) {
            arguments[at] = data + i * group->bytes;
            if (!group->is_out)
                fill_input(self, arguments[at], group->bytes, &self->source->parameters[at]);
        }
    }
    for (size_t i = 0; i < self->value_count; i++)
        arguments[at + i] = (void *)self->values[i];
    haul_box all = self->box;
    for (int d = 0; d < 3; d++)
        all.hi[d] = all.hi[d] > 0 ? all.hi[d] : 1;
    self->source->host(&all, &all, arguments);
    /* Each place has the inputs, and pages for the outputs. */
    for (size_t g = 0; g < self->group_count; g++) {
        const run_group *group = &self->groups[g];
        char *const data = haul_buffer_host(group->host);
        for (uint64_t i = 1; i < self->places; i++)
            memcpy(data + i * pitch_of(group), data, group->count * group->bytes);
    }
    return HAUL_OK;
}

haul_status hl_overlap_run_problem_allocate(run_problem *self, haul_device *device, bool has_data,
                                            haul_error *error)
{
    const haul_device_properties *is = haul_device_describe(device);
    const uint64_t bytes =
        hl_overlap_run_problem_bytes(self, false) + hl_overlap_run_problem_bytes(self, true);
    haul_status status = HAUL_OK;
    self->places = 1;
    while (!is->is_simulated && self->places * bytes < placed_bytes)
        self->places += 2;
    for (size_t i = 0; i < self->group_count && !status; i++) {
        run_group *group = &self->groups[i];
        status = haul_buffer_new(
            device, is->can & HAUL_DEVICE_CAN_MAP ? HAUL_BUFFER_MAPPED : HAUL_BUFFER_PINNED,
            self->places * pitch_of(group), &group->host, error);
        if (!status)
            status = haul_buffer_new(device, HAUL_BUFFER_DEVICE, group->count * group->bytes,
                                     &group->device, error);
    }
    if (!status && has_data)
        status = expect(self, error);
    return status;
}

void hl_overlap_run_problem_release(run_problem *self)
{
    for (size_t i = 0; i < self->group_count; i++) {
        haul_buffer_free(self->groups[i].host);
        haul_buffer_free(self->groups[i].device);
        free(self->groups[i].expected);
    }
    self->group_count = 0;
}

/* The largest difference of an array's elements, relative to the largest that is expected. */
static double difference_of(const char *made, const char *expected, uint64_t bytes, uint32_t each)
{
    double largest = 0, off = 0;
    for (uint64_t i = 0; i < bytes; i += each) {
        const bool is_double = each == sizeof(double);
        const double value =
            is_double ? *(const double *)(made + i) : (double)*(const float *)(made + i);
        const double wanted =
            is_double ? *(const double *)(expected + i) : (double)*(const float *)(expected + i);
        const double difference = fabs(value - wanted);
        largest = fmax(largest, fabs(wanted));
        off = difference <= off ? off : difference; /* no number is the worst */
    }
    return off / largest;
}

double hl_overlap_run_problem_check(run_problem *self)
{
    double worst = 0;
    for (size_t g = 0; g < self->group_count; g++) {
        const run_group *group = &self->groups[g];
        char *made = (char *)haul_buffer_host(group->host) + hl_overlap_run_group_at(self, group);
        if (!group->is_out)
            continue;
        for (size_t i = 0; i < group->count; i++) {
            const size_t first = i * group->bytes;
            const double off =
                difference_of(made + first, (char *)group->expected + first, group->bytes,
                              self->source->parameters[self->array_count - 1].bytes);
            worst = off <= worst ? worst : off;
        }
        memset(made, 0xff, group->count * group->bytes);
    }
    return worst;
}

uint64_t hl_overlap_run_problem_bytes(const run_problem *self, bool out)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < self->group_count; i++)
        if (self->groups[i].is_out == out)
            bytes += self->groups[i].count * self->groups[i].bytes;
    return bytes;
}

uint64_t hl_overlap_run_problem_shared(const run_problem *self)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < self->group_count; i++)
        if (self->groups[i].is_whole)
            bytes += self->groups[i].count * self->groups[i].bytes;
    return bytes;
}
