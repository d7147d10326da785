/* Kernels on other GPUs, from measurements that the model was not made with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/fail.h"
#include "haul/kernel_file.h"
#include "haul/kernel_times.h"
#include "kernel_rows.h"
#include "kernel_scores.h"

enum { BOARDS_MOST = 4, PROGRAMS_MOST = 9, PAIRS_MOST = 6 };

/* Launches of one program on one GPU. */
typedef struct launches {
    haul_kernel_measured *rows;
    size_t count;
    haul_kernel_times *times; /* that they are of; NULL: another's */
} launches;

typedef struct board_set {
    int board_count;
    int program_count;
    haul_machine *machines[BOARDS_MOST];
    launches series[PROGRAMS_MOST][BOARDS_MOST];
} board_set;

typedef struct pair_group {
    const char *name;
    int pair_count;
    int pairs[PAIRS_MOST][2];
} pair_group;

/* --- counters: gtx-680, gtx-titan, k40, gtx-970 */

static const pair_group counted_groups[] = {
    {"compute capability 3.5", 2, {{1, 2}, {2, 1}}},
    {"all of Kepler", 6, {{1, 2}, {2, 1}, {0, 1}, {1, 0}, {0, 2}, {2, 0}}},
    {"Kepler and Maxwell", 6, {{0, 3}, {1, 3}, {2, 3}, {3, 0}, {3, 1}, {3, 2}}},
};

static haul_status read_counted(const char *data, board_set *set, haul_error *error)
{
    static const int boards[BOARDS_MOST] = {0, 1, 2, 4}; /* of kernel_boards */
    haul_status status = HAUL_OK;
    set->board_count = BOARDS_MOST;
    for (int b = 0; b < BOARDS_MOST && !status; b++)
        status = haul_machine_load(kernel_boards[boards[b]].machine, &set->machines[b], error);
    for (int p = 0; p < KERNEL_PROGRAMS && !status; p++) {
        if (!strcmp(kernel_programs[p], "quicksort"))
            continue; /* has none */
        for (int b = 0; b < BOARDS_MOST && !status; b++) {
            launches *to = &set->series[set->program_count][b];
            char path[4096];
            snprintf(path, sizeof path, "%s/kernels/counters/%s-%s.csv", data, kernel_programs[p],
                     kernel_boards[boards[b]].in_data);
            status = haul_kernel_times_load(&(haul_kernel_csv){.path = path}, 1, &to->times, error);
            if (!status)
                *to = (launches){to->times->rows, to->times->count, to->times};
        }
        set->program_count++;
    }
    return status;
}

/* --- the paper's GPUs: gt-630, gtx-660, gtx-680 */

static const pair_group published_groups[] = {
    {"GTX 660 and GTX 680 (Kepler)", 2, {{1, 2}, {2, 1}}},
    {"GT 630 (Fermi) and those two", 4, {{0, 1}, {0, 2}, {1, 0}, {2, 0}}},
};

/* The rows of one kernel and GPU, with the counts of its file. */
static haul_status take_rows(const haul_kernel_times *times, const char *board,
                             const haul_kernel_file *file, launches *to, haul_error *error)
{
    to->rows = calloc(times->count, sizeof *to->rows);
    if (!to->rows)
        return haul_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < times->count && !status; i++) {
        haul_kernel_measured row = times->rows[i];
        if (!row.gpu || !row.kernel || strcmp(row.gpu, board) != 0 ||
            !haul_kernel_file_is(file, row.kernel))
            continue;
        status = haul_kernel_file_at(file, row.size, &row.counts, error);
        row.is_counted = true;
        to->rows[to->count++] = row;
    }
    return status;
}

static haul_status take_kernels(const haul_kernel_times *times, board_set *set, haul_error *error)
{
    enum { PAPER_BOARDS = 3, PAPER_KERNELS = 4 };
    static const char *const boards[PAPER_BOARDS] = {"gt-630", "gtx-660", "gtx-680"};
    static const char *const kernels[PAPER_KERNELS] = {"matmul-global-uncoalesced", "matmul-global",
                                                       "matmul-shared-uncoalesced", "max-subarray"};
    haul_status status = HAUL_OK;
    set->board_count = PAPER_BOARDS;
    set->program_count = PAPER_KERNELS;
    for (int b = 0; b < PAPER_BOARDS && !status; b++)
        status = haul_machine_load(boards[b], &set->machines[b], error);
    for (int p = 0; p < PAPER_KERNELS && !status; p++) {
        haul_kernel_file *file = NULL;
        status = haul_kernel_file_load(kernels[p], &file, error);
        for (int b = 0; b < PAPER_BOARDS && !status; b++)
            status = take_rows(times, boards[b], file, &set->series[p][b], error);
        haul_kernel_file_free(file);
    }
    return status;
}

static haul_status read_published(const char *data, board_set *set, haul_error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/kernels/bsp-measured.csv", data);
    haul_kernel_times *times = NULL;
    haul_status status = haul_kernel_times_load(&(haul_kernel_csv){.path = path}, 1, &times, error);
    if (!status)
        status = take_kernels(times, set, error);
    haul_kernel_times_free(times);
    return status;
}

static void release(board_set *set)
{
    for (int b = 0; b < set->board_count; b++)
        haul_machine_free(set->machines[b]);
    for (int p = 0; p < PROGRAMS_MOST; p++)
        for (int b = 0; b < BOARDS_MOST; b++) {
            launches *of = &set->series[p][b];
            if (!of->times)
                free(of->rows);
            haul_kernel_times_free(of->times);
        }
}

/* --- predictions */

static bool same_block(const haul_kernel_measured *a, const haul_kernel_measured *b)
{
    return a->is_counted && b->is_counted && !memcmp(a->block, b->block, sizeof a->block);
}

/* The launches in blocks of one shape; returns how many. */
static size_t samples_of(const launches *of, const haul_kernel_measured *like,
                         haul_kernel_sample *samples)
{
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++)
        if (same_block(&of->rows[i], like))
            samples[count++] = (haul_kernel_sample){.size = of->rows[i].size,
                                                    .seconds = of->rows[i].seconds,
                                                    .counts = of->rows[i].counts};
    return count;
}

static haul_status predict(haul_kernel_case what, const haul_kernel_sample *source,
                           const haul_kernel_measured *row, kernel_score score,
                           kernel_scores *scores, haul_error *error)
{
    haul_estimate estimate;
    what.size = source->size;
    what.counts = source->counts;
    const haul_status status = haul_kernel_time(haul_kernel_model_at(0), &what, &estimate, error);
    if (status)
        return status;
    score.ratio = estimate.seconds / row->seconds;
    score.uncertainty = fabs(log(score.ratio)) / log(estimate.high_s / estimate.seconds);
    return kernel_scores_add(scores, score, error);
}

/* All rows of the target in blocks of this shape, at the sizes measured on the source GPU. */
static haul_status predict_shape(const board_set *set, kernel_score score,
                                 const haul_kernel_measured *like, kernel_scores *scores,
                                 haul_error *error)
{
    const launches *source = &set->series[score.program][score.source];
    const launches *there = &set->series[score.program][score.board];
    haul_kernel_sample *samples = calloc(source->count, sizeof *samples);
    if (!samples)
        return haul_fail_no_memory(error);
    const size_t count = samples_of(source, like, samples);
    haul_kernel_case what = {.source = set->machines[score.source],
                             .target = set->machines[score.board]};
    haul_kernel_fit *fit = NULL;
    haul_status status =
        haul_kernel_fit_new(what.source, HAUL_KERNEL_FIT_AUTO, samples, count, &fit, error);
    what.fit = fit;
    for (size_t i = 0; i < there->count && !status; i++)
        for (size_t k = 0; same_block(&there->rows[i], like) && k < count; k++)
            if (samples[k].size == there->rows[i].size) {
                status = predict(what, &samples[k], &there->rows[i], score, scores, error);
                break;
            }
    haul_kernel_fit_free(fit);
    free(samples);
    return status;
}

static bool is_first_of_shape(const launches *of, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (same_block(&of->rows[i], &of->rows[at]))
            return false;
    return of->rows[at].is_counted;
}

static haul_status predict_group(const board_set *set, const pair_group *group,
                                 kernel_scores *scores, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < group->pair_count && !status; i++)
        for (int p = 0; p < set->program_count && !status; p++) {
            const int *pair = group->pairs[i];
            const launches *source = &set->series[p][pair[0]];
            const kernel_score score = {.program = p, .source = pair[0], .board = pair[1]};
            for (size_t k = 0; k < source->count && !status; k++)
                if (is_first_of_shape(source, k))
                    status = predict_shape(set, score, &source->rows[k], scores, error);
        }
    return status;
}

/* --- the section */

static haul_status write_group(const board_set *set, const char *data, const pair_group *group,
                               FILE *out, haul_error *error)
{
    kernel_scores scores = {0};
    kernel_error sum;
    haul_status status = predict_group(set, group, &scores, error);
    if (!status)
        status = kernel_scores_error(&scores, &sum, error);
    if (!status)
        fprintf(out, "| `%s` | %s | %zu | %.1f %% | %.1f %% | %.1f %% |\n", data, group->name,
                sum.count, sum.mean, sum.median, kernel_scores_held(&scores));
    kernel_scores_release(&scores);
    return status;
}

typedef struct data_set {
    const char *name;
    haul_status (*read)(const char *data, board_set *set, haul_error *error);
    const pair_group *groups;
    size_t group_count;
} data_set;

static const data_set data_sets[] = {
    {"counters", read_counted, counted_groups, sizeof counted_groups / sizeof *counted_groups},
    {"bsp-measured.csv", read_published, published_groups,
     sizeof published_groups / sizeof *published_groups},
};

static haul_status write_set(const char *data, const data_set *self, FILE *out, haul_error *error)
{
    board_set *set = calloc(1, sizeof *set);
    if (!set)
        return haul_fail_no_memory(error);
    haul_status status = self->read(data, set, error);
    for (size_t i = 0; i < self->group_count && !status; i++)
        status = write_group(set, self->name, &self->groups[i], out, error);
    release(set);
    free(set);
    return status;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    fputs("## Kernels: other GPUs, from other measurements\n\n"
          "`roofline` as above, on rows that had no part in what it makes of GPUs. "
          "`kernels/counters`: nine programs in blocks of all shapes that were measured (8 x 8 to "
          "32 x 32, 64 to 1024 threads), each shape fitted to the profiler's durations and "
          "counters on one GPU, and compared with its durations on the other at the same sizes; "
          "the GTX 750's are not used, as above. Of its intervals the one of kernels bound by "
          "memory on another architecture is fitted to these rows too: with that of the rows above "
          "alone, 0.21, the intervals between Kepler and Maxwell held 76 %. "
          "`kernels/bsp-measured.csv`: GPUs, and an architecture, that nothing was fitted to, "
          "with the kernel files that come with haul.\n\n"
          "| data | GPUs | rows | mean | median | interval holds |\n"
          "| --- | --- | --- | --- | --- | --- |\n",
          out);
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < sizeof data_sets / sizeof *data_sets && !status; i++)
        status = write_set(data, &data_sets[i], out, error);
    return status;
}

const accuracy_section accuracy_kernel_unseen = {"kernel-unseen", write_section};
