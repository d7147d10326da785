/* Kernels on other GPUs, from the data sheet. */
#include <math.h>

#include "accuracy.h"
#include "kernel_rows.h"
#include "kernel_scores.h"

typedef struct share {
    char text[16];
} share;

/* A dash where one pair of GPUs is all that there is: without a GPU nothing is left. */
static share share_text(double percent)
{
    share out = {"-"};
    if (!isnan(percent))
        (void)snprintf(out.text, sizeof out.text, "%.1f %%", percent);
    return out;
}

enum { GTX_680, TITAN, K40, GTX_750, GTX_970, PAIRS_MOST = 12 };

typedef struct board_group {
    const char *name;
    double goal; /* mean |error|, percent */
    int pair_count;
    int pairs[PAIRS_MOST][2];
} board_group;

static const board_group groups[] = {
    {"compute capability 3.5", 9, 2, {{TITAN, K40}, {K40, TITAN}}},
    {"Maxwell", 9, 2, {{GTX_750, GTX_970}, {GTX_970, GTX_750}}},
    {"all of Kepler",
     12,
     6,
     {{TITAN, K40},
      {K40, TITAN},
      {GTX_680, TITAN},
      {TITAN, GTX_680},
      {GTX_680, K40},
      {K40, GTX_680}}},
    {"within an architecture",
     0,
     8,
     {{TITAN, K40},
      {K40, TITAN},
      {GTX_680, TITAN},
      {TITAN, GTX_680},
      {GTX_680, K40},
      {K40, GTX_680},
      {GTX_750, GTX_970},
      {GTX_970, GTX_750}}},
    {"Kepler and Maxwell",
     30,
     12,
     {{GTX_680, GTX_750},
      {GTX_680, GTX_970},
      {TITAN, GTX_750},
      {TITAN, GTX_970},
      {K40, GTX_750},
      {K40, GTX_970},
      {GTX_750, GTX_680},
      {GTX_970, GTX_680},
      {GTX_750, TITAN},
      {GTX_970, TITAN},
      {GTX_750, K40},
      {GTX_970, K40}}},
};

enum { GROUPS = sizeof groups / sizeof *groups };

/* By one ratio of the data sheets, all rows alike. */
static double scaled(const haul_machine *from, const haul_machine *to, int which)
{
    const haul_gpu *a = &from->gpu;
    const haul_gpu *b = &to->gpu;
    const double clock = a->clock_Hz.value / b->clock_Hz.value;
    const double cores =
        a->multiprocessors.value * a->cores.value / (b->multiprocessors.value * b->cores.value);
    const double memory = a->memory_bandwidth_Bps.value / b->memory_bandwidth_Bps.value;
    return which == 0 ? clock * cores : which == 1 ? memory : clock;
}

static haul_status predict(const haul_kernel_case *base, const haul_kernel_sample *row,
                           kernel_score score, kernel_scores *scores, double naive[3],
                           haul_error *error)
{
    haul_kernel_case what = *base;
    what.size = row->size;
    what.counts = row->counts;
    haul_estimate estimate;
    haul_estimate source;
    haul_status status =
        haul_kernel_time(haul_kernel_model_at((size_t)score.model), &what, &estimate, error);
    what.target = base->source;
    if (status == HAUL_OK)
        status = haul_kernel_time(haul_kernel_model_at(0), &what, &source, error);
    if (status)
        return status;
    score.ratio = estimate.seconds / row->seconds;
    score.uncertainty = fabs(log(score.ratio)) / log(estimate.high_s / estimate.seconds);
    for (int i = 0; i < 3; i++)
        naive[i] = source.seconds * scaled(base->source, base->target, i) / row->seconds;
    score.naive = naive[0];
    score.beyond = row->size < base->fit->knots[0].size ||
                   row->size > base->fit->knots[base->fit->count - 1].size;
    return kernel_scores_add(scores, score, error);
}

/* With hindsight: of the three ratios the one whose mean error over the program is least. */
static void take_best(kernel_score *scores, size_t count, double naive[][3])
{
    double sums[3] = {0};
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            sums[k] += fabs(naive[i][k] - 1);
    int best = 0;
    for (int k = 1; k < 3; k++)
        if (sums[k] < sums[best])
            best = k;
    for (size_t i = 0; i < count; i++)
        scores[i].best = naive[i][best];
}

static haul_status try_program(const kernel_rows *rows, kernel_score score, kernel_scores *scores,
                               haul_error *error)
{
    const int p = score.program;
    const int pair[2] = {score.source, score.board};
    const kernel_series *source = &rows->series[p][pair[0]];
    const kernel_series *there = &rows->series[p][pair[1]];
    haul_kernel_fit *fit = NULL;
    haul_status status = haul_kernel_fit_new(rows->machines[pair[0]], HAUL_KERNEL_FIT_AUTO,
                                             source->samples, source->count, &fit, error);
    if (status)
        return status;
    const haul_kernel_case base = {
        .source = rows->machines[pair[0]], .fit = fit, .target = rows->machines[pair[1]]};
    const size_t first = scores->count;
    double naive[KERNEL_SIZES][3];
    for (size_t i = 0; i < there->count && status == HAUL_OK; i++)
        status = predict(&base, &there->samples[i], score, scores, naive[i], error);
    if (status == HAUL_OK)
        take_best(scores->items + first, there->count, naive);
    haul_kernel_fit_free(fit);
    return status;
}

static haul_status try_pair(const kernel_rows *rows, const int pair[2], int model,
                            kernel_scores *scores, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int p = 0; p < KERNEL_PROGRAMS && status == HAUL_OK; p++) {
        const kernel_score score = {
            .program = p, .source = pair[0], .board = pair[1], .model = model};
        if (kernel_series_alike(&rows->series[p][pair[0]], &rows->series[p][pair[1]]))
            status = try_program(rows, score, scores, error);
    }
    return status;
}

static haul_status print_error(const char *what, const char *goal, const kernel_scores *scores,
                               FILE *out, haul_error *error)
{
    kernel_error sum;
    const haul_status status = kernel_scores_error(scores, &sum, error);
    if (status == HAUL_OK)
        fprintf(out,
                "| %s | %zu | %.1f %% | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |",
                what, sum.count, sum.mean, goal, sum.inside, sum.median, sum.naive, sum.best,
                kernel_scores_held(scores));
    return status;
}

static haul_status print_group(const kernel_rows *rows, const board_group *group,
                               kernel_scores *all, FILE *out, haul_error *error)
{
    haul_status status = HAUL_OK;
    const bool is_sum = group->goal <= 0; /* its pairs are shown above */
    for (int i = 0; i < group->pair_count && status == HAUL_OK; i++) {
        kernel_scores pair = {0};
        char name[64];
        status = try_pair(rows, group->pairs[i], 0, &pair, error);
        snprintf(name, sizeof name, "%s to %s", kernel_boards[group->pairs[i][0]].machine,
                 kernel_boards[group->pairs[i][1]].machine);
        if (status == HAUL_OK && !is_sum) {
            status = print_error(name, "", &pair, out, error);
            fputs(" | |\n", out);
        }
        for (size_t k = 0; k < pair.count && status == HAUL_OK; k++)
            status = kernel_scores_add(all, pair.items[k], error);
        kernel_scores_release(&pair);
    }
    double program = 0;
    double board = 0;
    char name[64];
    char goal[32] = "";
    snprintf(name, sizeof name, "**%s**", group->name);
    if (!is_sum)
        snprintf(goal, sizeof goal, "%.0f %%", group->goal);
    if (status == HAUL_OK)
        status = kernel_scores_held_out(all, LEFT_PROGRAM, &program, error);
    if (status == HAUL_OK)
        status = kernel_scores_held_out(all, LEFT_BOARD, &board, error);
    if (status == HAUL_OK)
        status = print_error(name, goal, all, out, error);
    fprintf(out, " %.1f %% | %s |\n", program, share_text(board).text);
    return status;
}

/* Rows measured on both GPUs, scaled by their time and launch alone. */
static haul_status carry_program(const kernel_rows *rows, kernel_score score, kernel_scores *scores,
                                 haul_error *error)
{
    const kernel_series *source = &rows->series[score.program][score.source];
    const kernel_series *there = &rows->series[score.program][score.board];
    haul_status status = HAUL_OK;
    for (size_t i = 0, k = 0; i < source->count && status == HAUL_OK; i++) {
        const haul_kernel_sample *row = &source->samples[i];
        while (k < there->count && there->samples[k].size < row->size)
            k++;
        if (k == there->count || there->samples[k].size > row->size)
            continue;
        haul_estimate estimate;
        status =
            haul_kernel_scale_launches(rows->machines[score.source], rows->machines[score.board],
                                       &source->launches[i], row->seconds, &estimate, error);
        if (status)
            break;
        const double measured = there->samples[k].seconds;
        const double end = estimate.seconds < measured ? estimate.high_s : estimate.low_s;
        score.ratio = estimate.seconds / measured;
        score.uncertainty = fabs(log(score.ratio) / log(end / estimate.seconds));
        status = kernel_scores_add(scores, score, error);
    }
    return status;
}

static haul_status carry_pair(const kernel_rows *rows, const int pair[2], kernel_scores *scores,
                              haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int p = 0; p < KERNEL_PROGRAMS && status == HAUL_OK; p++) {
        const kernel_score score = {.program = p, .source = pair[0], .board = pair[1]};
        if (kernel_series_alike(&rows->series[p][pair[0]], &rows->series[p][pair[1]]))
            status = carry_program(rows, score, scores, error);
    }
    return status;
}

/* By one of the other models, or (`model` below 0) by times and launches alone. */
static haul_status print_other(const kernel_rows *rows, const board_group *group, int model,
                               FILE *out, haul_error *error)
{
    kernel_scores scores = {0};
    haul_status status = HAUL_OK;
    for (int i = 0; i < group->pair_count && status == HAUL_OK; i++)
        status = model < 0 ? carry_pair(rows, group->pairs[i], &scores, error)
                           : try_pair(rows, group->pairs[i], model, &scores, error);
    double program = 0;
    double board = 0;
    kernel_error sum = {0};
    if (status == HAUL_OK)
        status = kernel_scores_held_out(&scores, LEFT_PROGRAM, &program, error);
    if (status == HAUL_OK)
        status = kernel_scores_held_out(&scores, LEFT_BOARD, &board, error);
    if (status == HAUL_OK)
        status = kernel_scores_error(&scores, &sum, error);
    if (status == HAUL_OK)
        fprintf(out, "| %s | %s | %zu | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %s |\n",
                model < 0 ? "times and launches alone" : haul_kernel_model_at((size_t)model)->name,
                group->name, sum.count, sum.mean, sum.median, kernel_scores_held(&scores), program,
                share_text(board).text);
    kernel_scores_release(&scores);
    return status;
}

/* Of one program over the pairs of a group. */
static void print_program(const kernel_scores *scores, int p, const char *group, FILE *out)
{
    enum { SHOWN = 25 }; /* percent */
    size_t count = 0;
    double sum = 0;
    double least = HUGE_VAL;
    double most = 0;
    for (size_t i = 0; i < scores->count; i++) {
        if (scores->items[i].program != p)
            continue;
        const double ratio = scores->items[i].ratio;
        count++;
        sum += 100 * fabs(ratio - 1);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    if (count && sum > SHOWN * (double)count)
        fprintf(out, "- %s, %s: mean |error| %.0f %%, predicted / measured %.2f to %.2f\n", group,
                kernel_programs[p], sum / (double)count, least, most);
}

static double mean_without(const kernel_scores *scores, int program)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < scores->count; i++) {
        if (scores->items[i].program == program)
            continue;
        sum += 100 * fabs(scores->items[i].ratio - 1);
        count++;
    }
    return count ? sum / (double)count : 0;
}

/* How much of a group's error hangs on one program. */
static void print_without(const kernel_scores *scores, const board_group *group, FILE *out)
{
    double least = HUGE_VAL;
    double most = 0;
    int hardest = 0;
    for (int p = 0; p < KERNEL_PROGRAMS; p++) {
        const double mean = mean_without(scores, p);
        most = fmax(most, mean);
        hardest = mean < least ? p : hardest;
        least = fmin(least, mean);
    }
    fprintf(out, "- %s: %.1f %% (without %s) to %.1f %%\n", group->name, least,
            kernel_programs[hardest], most);
}

/* Launched in another way on the two GPUs: left out above. */
static haul_status print_apart(const kernel_rows *rows, const board_group *group,
                               const kernel_scores *same, FILE *out, haul_error *error)
{
    kernel_scores apart = {0};
    haul_status status = HAUL_OK;
    for (int i = 0; i < group->pair_count; i++)
        for (int p = 0; p < KERNEL_PROGRAMS && status == HAUL_OK; p++) {
            const int *pair = group->pairs[i];
            const kernel_score score = {.program = p, .source = pair[0], .board = pair[1]};
            if (!kernel_series_alike(&rows->series[p][pair[0]], &rows->series[p][pair[1]]))
                status = try_program(rows, score, &apart, error);
        }
    kernel_error alone = {0};
    kernel_error others = {0};
    if (status == HAUL_OK)
        status = kernel_scores_error(&apart, &alone, error);
    if (status == HAUL_OK)
        status = kernel_scores_error(same, &others, error);
    if (status == HAUL_OK && alone.count)
        fprintf(out, "- %s: %zu rows, mean |error| %.0f %%; %.1f %% with all the others\n",
                group->name, alone.count, alone.mean,
                (alone.mean * (double)alone.count + others.mean * (double)others.count) /
                    (double)(alone.count + others.count));
    kernel_scores_release(&apart);
    return status;
}

static haul_status write_tables(const kernel_rows *rows, FILE *out, haul_error *error)
{
    kernel_scores scores[GROUPS] = {0};
    haul_status status = HAUL_OK;
    for (int i = 0; i < GROUPS && status == HAUL_OK; i++)
        status = print_group(rows, &groups[i], &scores[i], out, error);
    if (status == HAUL_OK)
        fputs("\nWhat misses (mean |error| above 25 %):\n\n", out);
    for (int i = 0; i < GROUPS && status == HAUL_OK; i++)
        for (int p = 0; p < KERNEL_PROGRAMS; p++)
            print_program(&scores[i], p, groups[i].name, out);
    if (status == HAUL_OK)
        fputs("\nThe mean with one of the programs left out:\n\n", out);
    for (int i = 0; i < GROUPS && status == HAUL_OK; i++)
        print_without(&scores[i], &groups[i], out);
    if (status == HAUL_OK)
        fputs("\ndotProd between the GTX 750 and the others:\n\n", out);
    for (int i = 0; i < GROUPS && status == HAUL_OK; i++)
        status = print_apart(rows, &groups[i], &scores[i], out, error);
    for (int i = 0; i < GROUPS; i++)
        kernel_scores_release(&scores[i]);
    return status;
}

static haul_status write_others(const kernel_rows *rows, FILE *out, haul_error *error)
{
    enum { BY_BSP = 1, GROUPS_SHOWN = 2 };
    static const int models[] = {-1, BY_BSP};
    fputs(
        "\nKnown by their times and launches alone, as in a profile (`haul project`), kernels are "
        "scaled between the ratios that may bound them; `bsp` is one lambda, as published:\n\n"
        "| by | GPUs | rows | mean | median | interval holds | program left out | GPU left "
        "out |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        out);
    haul_status status = HAUL_OK;
    for (int m = 0; m < 2; m++)
        for (int i = GROUPS - GROUPS_SHOWN; i < GROUPS && status == HAUL_OK; i++)
            status = print_other(rows, &groups[i], models[m], out, error);
    return status;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    kernel_rows *rows = NULL;
    haul_status status = kernel_rows_read(data, &rows, error);
    if (status)
        return status;
    fputs("## Kernels: other GPUs, from the data sheet\n\n"
          "Data: `kernels/gpuperfpredict-times.csv`. Fitted on one GPU with all its sizes, "
          "`roofline` predicts all sizes of the other from the machine files alone. Error: 100 "
          "|predicted / measured - 1|; beside the mean over all sizes, which the goal is of, "
          "that over the sizes within those measured on the source GPU (fewer were measured on the "
          "GTX 680 "
          "and 750: up to a third of the GTX 970's largest). Two rules without a model: the source "
          "time scaled by R P (HiPC 2015, one lambda), and by the best of R P, bandwidth and clock "
          "for each program, chosen with hindsight. dotProd is left out between the GTX 750 and "
          "the others: there it was launched with 32 blocks, each thread adding up thousands of "
          "products, elsewhere with N / 256, a sum in steps for every 256 products; the memory "
          "bounds the first and not the second, and no time of the one says how long the other's "
          "steps take. What it would add is below. The counters of the GTX 750 are not used: they "
          "are those of other programs and GPUs (their grids and durations show it). Intervals "
          "as above; between the two GPUs of compute capability 3.5 alone they are wider than need "
          "be, "
          "and one pair of GPUs is too few to fit others to.\n\n"
          "| GPUs | rows | mean | goal | sizes of source | median | R P | best of three | interval "
          "holds | program left out | GPU left out |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
          out);
    status = write_tables(rows, out, error);
    if (status == HAUL_OK)
        status = write_others(rows, out, error);
    kernel_rows_free(rows);
    return status;
}

const accuracy_section accuracy_kernel_boards = {"kernel-gpus", write_section};
