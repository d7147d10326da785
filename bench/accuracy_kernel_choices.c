/* What each choice that was made with the measurements at hand is worth: the means without it. */
#include <math.h>

#include "accuracy.h"
#include "kernel_rows.h"

enum { GTX_680, TITAN, K40, GTX_750, GTX_970 };
enum { CAPABILITY_35, MAXWELL, KEPLER, ACROSS, GROUPS };

static const double goals[GROUPS] = {9, 9, 12, 30};

static void take_highest_clocks(kernel_rows *rows)
{
    for (int b = 0; b < KERNEL_BOARDS; b++)
        rows->machines[b]->gpu.base_clock_Hz.value = 0;
}

static void take_paper_bandwidth(kernel_rows *rows)
{
    rows->machines[GTX_970]->gpu.memory_bandwidth_Bps.value = 224.3e9;
}

static void take_seven_channels(kernel_rows *rows)
{
    rows->machines[GTX_970]->gpu.memory_bandwidth_Bps.value = 224.3e9 * 7 / 8;
}

static void take_slow_memory(kernel_rows *rows)
{
    rows->machines[GTX_970]->gpu.memory_bandwidth_Bps.value = 224.3e9 * 3004 / 3505;
}

static void take_full_bandwidth(kernel_rows *rows)
{
    rows->machines[K40]->gpu.inline_ecc.value = 0;
}

/* Loads are what its time is of. */
static void take_squares(kernel_rows *rows)
{
    enum { QUICKSORT = 7 };
    for (int b = 0; b < KERNEL_BOARDS; b++) {
        kernel_series *series = &rows->series[QUICKSORT][b];
        for (size_t i = 0; i < series->count; i++) {
            haul_kernel_sample *sample = &series->samples[i];
            sample->counts.loads_global = sample->size * sample->size / sample->counts.threads;
            sample->counts.comp = sample->counts.loads_global;
        }
    }
}

static void take_all_conflicts(haul_kernel_fit *fit)
{
    for (size_t i = 0; i < fit->count; i++)
        fit->knots[i].log_calm = fit->knots[i].log_calibration;
}

static void take_plain_rows(kernel_rows *rows)
{
    take_highest_clocks(rows);
    take_paper_bandwidth(rows);
    take_full_bandwidth(rows);
    take_squares(rows);
}

typedef struct choice {
    const char *name;
    const char *grounds;
    void (*change_rows)(kernel_rows *rows);
    void (*change_fit)(haul_kernel_fit *fit);
} choice;

static const choice choices[] = {
    {"as predicted", "", NULL, NULL},
    {"the highest clocks, not the base clocks",
     "boost is as heat and power allow; a GTX TITAN's counters say its base clock, a GTX 680's "
     "more "
     "than its boost",
     take_highest_clocks, NULL},
    {"the GTX 970's memory as on paper, 224.3 GB/s",
     "both of the next two, published by its maker and by its users", take_paper_bandwidth, NULL},
    {"the same, seven of its eight channels alone", "programs keep to 3.5 of the 4 GiB",
     take_seven_channels, NULL},
    {"the same, its clock for CUDA programs alone", "performance state P2: 3004 of 3505 MHz",
     take_slow_memory, NULL},
    {"the K40's memory without ECC", "on as the GPU is sold", take_full_bandwidth, NULL},
    {"quicksort of N^2 loads", "counted by running its loops on what it sorts", take_squares, NULL},
    {"conflicts in L2 go to every GPU",
     "strides of powers of two fall on three of six partitions, on one of four", NULL,
     take_all_conflicts},
    {"none of the choices", "", take_plain_rows, take_all_conflicts},
};

enum { CHOICES = sizeof choices / sizeof *choices };

typedef struct mean {
    double sum; /* of 100 |ratio - 1| */
    size_t count;
} mean;

static bool is_maxwell(int board)
{
    return board == GTX_750 || board == GTX_970;
}

static void add(mean means[GROUPS], int source, int board, double error)
{
    const bool all_of_one = is_maxwell(source) == is_maxwell(board);
    const int group = !all_of_one ? ACROSS : is_maxwell(source) ? MAXWELL : KEPLER;
    means[group].sum += error;
    means[group].count++;
    if (group == KEPLER && source != GTX_680 && board != GTX_680) {
        means[CAPABILITY_35].sum += error;
        means[CAPABILITY_35].count++;
    }
}

static haul_status try_boards(const kernel_rows *rows, const choice *self, int program, int source,
                              mean means[GROUPS], haul_error *error)
{
    const kernel_series *from = &rows->series[program][source];
    haul_kernel_fit *fit = NULL;
    haul_status status = haul_kernel_fit_new(rows->machines[source], HAUL_KERNEL_FIT_AUTO,
                                             from->samples, from->count, &fit, error);
    if (status)
        return status;
    if (self->change_fit)
        self->change_fit(fit);
    for (int board = 0; board < KERNEL_BOARDS; board++) {
        const kernel_series *to = &rows->series[program][board];
        if (board == source || !kernel_series_alike(from, to))
            continue;
        for (size_t i = 0; i < to->count && status == HAUL_OK; i++) {
            const haul_kernel_case what = {.source = rows->machines[source],
                                           .fit = fit,
                                           .target = rows->machines[board],
                                           .size = to->samples[i].size,
                                           .counts = to->samples[i].counts};
            haul_estimate estimate = {0};
            status = haul_kernel_time(haul_kernel_model_at(0), &what, &estimate, error);
            add(means, source, board, 100 * fabs(estimate.seconds / to->samples[i].seconds - 1));
        }
    }
    haul_kernel_fit_free(fit);
    return status;
}

static haul_status write_choice(const char *data, const choice *self, FILE *out, haul_error *error)
{
    kernel_rows *rows = NULL;
    mean means[GROUPS] = {0};
    haul_status status = kernel_rows_read(data, &rows, error);
    if (status)
        return status;
    if (self->change_rows)
        self->change_rows(rows);
    for (int p = 0; p < KERNEL_PROGRAMS; p++)
        for (int source = 0; source < KERNEL_BOARDS && status == HAUL_OK; source++)
            status = try_boards(rows, self, p, source, means, error);
    kernel_rows_free(rows);
    if (status)
        return status;
    fprintf(out, "| %s |", self->name);
    for (int i = 0; i < GROUPS; i++) {
        const double value = means[i].sum / fmax(1, (double)means[i].count);
        const char *mark = value > goals[i] ? "**" : "";
        fprintf(out, " %s%.1f %%%s |", mark, value, mark);
    }
    fprintf(out, " %s |\n", self->grounds);
    return HAUL_OK;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    fputs(
        "## Kernels: what was chosen with these measurements at hand\n\n"
        "The means above, with each choice undone by itself: each has its grounds, but was looked "
        "for where predictions missed, on the same rows, so a new pair of GPUs may do worse. "
        "Bold: above the goal.\n\n"
        "| instead | compute capability 3.5 | Maxwell | all of Kepler | Kepler and Maxwell | "
        "grounds of the choice |\n| --- | --- | --- | --- | --- | --- |\n",
        out);
    haul_status status = HAUL_OK;
    for (int i = 0; i < CHOICES && status == HAUL_OK; i++)
        status = write_choice(data, &choices[i], out, error);
    return status;
}

const accuracy_section accuracy_kernel_choices = {"kernel-choices", write_section};
