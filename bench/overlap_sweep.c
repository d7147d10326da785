/* How near the analytical models of overlap are to the timeline: the tables of docs/overlap.md,
 * over the random machines of the tests and over those of the catalogue.
 *
 * overlap_sweep [CASES]: 20000. */
#include <stdio.h>
#include <stdlib.h>

#include "../tests/unit/any_overlap.h"
#include "base/stats.h"
#include "haul/overlap.h"
#include "overlap/formulas.h"

/* |form / timeline - 1| of one kind of case. */
typedef struct tally {
    double *unmet; /* of cases with an assumption that does not hold */
    size_t unmet_count;
    size_t count;
    size_t within; /* 1 % */
    double worst_met;
} tally;

enum { IMPLICIT_STREAMS, ONE_STREAMS, TWO_STREAMS, HYBRIDS, KINDS };

static const char *const kind_texts[KINDS] = {
    "streams, implicit synchronisation", "streams, one engine", "streams, two engines", "hybrid"};

static void add(tally *self, const overlap_draw *any, haul_strategy strategy)
{
    double played_s = 0;
    haul_error error;
    if (haul_overlap_play(&any->of, strategy, any->streams, &played_s, &error)) {
        (void)fprintf(stderr, "overlap_sweep: %s\n", error.text);
        exit(70); // NOLINT(concurrency-mt-unsafe): there is one thread
    }
    const double analytical_s = haul_overlap_time(&any->of, strategy, any->streams);
    const double apart = played_s > 0 ? fabs(analytical_s / played_s - 1) : 0;
    self->count++;
    self->within += apart <= 0.01;
    if (haul_overlap_unmet(&any->of, strategy, any->streams))
        self->unmet[self->unmet_count++] = apart;
    else
        self->worst_met = fmax(self->worst_met, apart);
}

static void print_row(const char *name, tally *self)
{
    const double all = (double)self->count;
    const double met = (double)(self->count - self->unmet_count);
    printf("| %s | %zu | %.0f %% | %.0f %% | ", name, self->count, 100 * met / all,
           100 * (double)self->within / all);
    if (!self->unmet_count) {
        printf("- | - | - | %.1g %% |\n", 100 * self->worst_met);
        return;
    }
    hl_base_sort_doubles(self->unmet, self->unmet_count);
    printf("%.2g %% | %.2g %% | %.0f %% | %.1g %% |\n",
           100 * hl_base_quantile_sorted(self->unmet, self->unmet_count, 0.5),
           100 * hl_base_quantile_sorted(self->unmet, self->unmet_count, 0.9),
           100 * self->unmet[self->unmet_count - 1], 100 * self->worst_met);
}

enum { MACHINES_MOST = 256 };

/* The machines of the catalogue. */
typedef struct machines {
    haul_machine *items[MACHINES_MOST];
    size_t count;
} machines;

static machines load_catalogue(void)
{
    machines self = {0};
    char **names = NULL;
    size_t count = 0;
    haul_error error;
    if (haul_catalogue_list(&names, &count, &error))
        return self;
    for (size_t i = 0; i < count && i < MACHINES_MOST; i++)
        self.count += !haul_machine_load(names[i], &self.items[self.count], &error);
    haul_names_free(names, count);
    return self;
}

/* 64 KiB to 4 GiB each way, kernels of 10 us to 1 s, 2 to 128 streams; of the machines that say
 * what the forms need. */
static overlap_draw draw_catalogue(const machines *from, uint64_t *seed)
{
    for (;;) {
        haul_error error;
        const haul_overlap_work work = {
            .in_bytes = (uint64_t)between(seed, 0x1p16, 0x1p32),
            .out_bytes = (uint64_t)between(seed, 0x1p16, 0x1p32),
            .kernel_s = between(seed, 1e-5, 1),
        };
        overlap_draw self = {.streams = (uint32_t)between(seed, 2, 129)};
        const haul_machine *machine = from->items[next(seed) % from->count];
        if (!haul_overlap_describe(machine, &work, &self.of, &error))
            return self;
    }
}

/* Over random machines, or those given. */
static void print_table(const char *title, size_t cases, const machines *from)
{
    tally kinds[KINDS] = {0};
    uint64_t seed = 1;
    for (int k = 0; k < KINDS; k++)
        kinds[k].unmet = malloc((cases + 1) * sizeof *kinds[k].unmet);
    for (size_t i = 0; i < cases; i++) {
        const overlap_draw any = from ? draw_catalogue(from, &seed) : any_draw(&seed);
        add(&kinds[any.of.device], &any, HAUL_STRATEGY_STREAMS);
        add(&kinds[HYBRIDS], &any, HAUL_STRATEGY_HYBRID);
    }
    printf("%s\n\n"
           "| strategy | cases | assumptions met | within 1 %% | unmet: median | 90th percentile | "
           "worst | met: worst |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
           title);
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k].count)
            print_row(kind_texts[k], &kinds[k]);
        free(kinds[k].unmet);
    }
}

static hl_overlap_leg_times leg_times(const haul_overlap_leg *leg)
{
    return (hl_overlap_leg_times){leg->latency_s, leg->bytes * leg->per_byte_s, leg->gap_s};
}

/* The paper's form of the scenario that dominates. */
static double dominant_time(const overlap_draw *any)
{
    const hl_overlap_formula f = {leg_times(&any->of.in), leg_times(&any->of.out),
                                  any->of.kernel_s};
    const bool kernel = haul_overlap_kernel_dominates(&any->of);
    if (any->of.device == HAUL_IMPLICIT_SYNC)
        return kernel ? hl_overlap_formula_sync_kernel(&f, any->streams)
                      : hl_overlap_formula_sync_transfer(&f, any->streams);
    return kernel ? hl_overlap_formula_one_kernel(&f, any->streams)
                  : hl_overlap_formula_one_transfer(&f, any->streams);
}

static void print_mixed(size_t cases)
{
    uint64_t seed = 1;
    size_t count = 0, mixed = 0;
    double worst = 0;
    for (size_t i = 0; i < cases; i++) {
        const overlap_draw any = any_draw(&seed);
        if (any.of.device == HAUL_TWO_ENGINES)
            continue;
        const double both_s = haul_overlap_time(&any.of, HAUL_STRATEGY_STREAMS, any.streams);
        const double less = both_s > 0 ? 1 - dominant_time(&any) / both_s : 0;
        count++;
        mixed += less > 0.01;
        worst = fmax(worst, less);
    }
    printf("\nOne engine: the scenario that dominates is below the longer of both by over 1 %% in "
           "%.2g %% of %zu cases, at worst by %.0f %%.\n",
           100 * (double)mixed / (double)count, count, 100 * worst);
}

int main(int argc, char **argv)
{
    const size_t cases = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    print_table("Random machines", cases, NULL);
    print_mixed(cases);
    machines catalogue = load_catalogue();
    if (catalogue.count) {
        printf("\n");
        print_table("Machines of the catalogue", cases, &catalogue);
    }
    for (size_t i = 0; i < catalogue.count; i++)
        haul_machine_free(catalogue.items[i]);
    return 0;
}
