/* How many copies a second each model prices, beside the bare line c + m n over the same sizes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "haul/cost.h"
#include "took.h"

enum { SIZES = 4096, ROUNDS = 500 };

/* Sizes as programs copy them: from bytes to hundreds of megabytes. */
static void fill(uint64_t sizes[SIZES])
{
    uint64_t seed = 1;
    for (size_t i = 0; i < SIZES; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        sizes[i] = (seed >> 36) >> (seed >> 33) % 26;
    }
}

/* Through a volatile pointer, as a model is called: else the compiler sums the sizes instead. */
static double line(double bytes)
{
    return 9.42e-6 + bytes / 12.02e9;
}
static double (*volatile const bare)(double) = line;

static double rate_of_line(const uint64_t sizes[SIZES])
{
    double sum = 0;
    const double start = wall_s();
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < SIZES; i++)
            sum += bare((double)sizes[i]);
    const double took = wall_s() - start;
    return sum > 0 ? SIZES * (double)ROUNDS / took : 0;
}

/* 0 where the machine cannot price such copies by the model. */
static double rate_of(const haul_machine *machine, const haul_copy_model *model, haul_copy copy,
                      const uint64_t sizes[SIZES])
{
    const double start = wall_s();
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < SIZES; i++) {
            haul_estimate estimate;
            copy.bytes = sizes[i];
            if (haul_copy_time(machine, model, &copy, &estimate, NULL))
                return 0;
        }
    return SIZES * (double)ROUNDS / (wall_s() - start);
}

/* The machine with points for pinned copies to the device, as fits write them. */
static haul_machine *with_points(const haul_machine *machine)
{
    haul_machine *out = NULL;
    haul_copy_curve *copies = calloc(machine->copy_count + 1, sizeof *copies);
    for (size_t i = 0; copies && i < machine->copy_count; i++)
        copies[i + 1] = machine->copies[i];
    if (copies) {
        *copies = (haul_copy_curve){
            .direction = HAUL_DIRECTION_HTOD,
            .memory = HAUL_MEMORY_HOST, /* a kind that the file has not, so that it stands beside
                                           pinned */
            .points_from = {4, HAUL_PROVENANCE_FITTED, NULL},
            .points = {{0, 1e-6}, {65536, 7e-6}, {1048576, 88e-6}, {268435456, 22e-3}},
        };
        if (haul_machine_with_copies(machine, copies, machine->copy_count + 1, &out, NULL))
            out = NULL;
    }
    free(copies);
    return out;
}

static void print_rates(const haul_machine *machine, const uint64_t sizes[SIZES])
{
    static const haul_memory kinds[] = {HAUL_MEMORY_PINNED, HAUL_MEMORY_PAGEABLE, HAUL_MEMORY_HOST};
    const double line_rate = rate_of_line(sizes);
    printf("%-10s %-9s %12s %12s\n", "model", "memory", "copies/s", "of the line");
    printf("%-10s %-9s %12.3g %11.0f%%\n", "c + m n", "", line_rate, 100.0);
    for (size_t m = 0; m < haul_copy_model_count(); m++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            const haul_copy_model *model = haul_copy_model_at(m);
            const haul_copy copy = {.direction = HAUL_DIRECTION_HTOD, .memory = kinds[k]};
            const double rate = rate_of(machine, model, copy, sizes);
            if (rate > 0)
                printf("%-10s %-9s %12.3g %11.0f%%\n", model->name, haul_memory_text(kinds[k]),
                       rate, 100 * rate / line_rate);
        }
}

int main(int argc, char **argv)
{
    static uint64_t sizes[SIZES];
    haul_error error;
    haul_machine *machine = NULL;
    if (haul_machine_load(argc > 1 ? argv[1] : "a100-pcie4", &machine, &error)) {
        char text[1200];
        fprintf(stderr, "bench_pricing: %s\n", haul_error_format(&error, text, sizeof text));
        return 1;
    }
    haul_machine *full = with_points(machine);
    fill(sizes);
    if (full)
        print_rates(full, sizes);
    haul_machine_free(full);
    haul_machine_free(machine);
    return full ? 0 : 1;
}
