/* Kernels of profiles on other GPUs, by class: operators one by one, sequences of them, whole
 * traces. */
#include <math.h>
#include <stdlib.h>

#include "accuracy.h"
#include "base/fail.h"
#include "base/stats.h"
#include "haul/project.h"
#include "haul/trace.h"
#include "operator_rows.h"

enum { SEQUENCES = 200, SEQUENCE_LEAST = 20, SEQUENCE_MOST = 200 };

/* An operator predicted on another GPU. */
typedef struct score {
    int from;
    int to;
    haul_kernel_class kind;
    double error;      /* log(predicted / measured), by name and launch */
    double with_sizes; /* the same with the operands' sizes known */
    bool held;
    bool held_with_sizes;
} score;

typedef struct scores {
    operator_rows rows;
    haul_machine *machines[OPERATOR_GPUS];
    score *items;
    size_t count;
    double *values; /* room for as many */
} scores;

static double relative(double error)
{
    return 100 * fabs(exp(error) - 1);
}

static haul_status score_one(const scores *self, const operator_row *row, score *out,
                             haul_error *error)
{
    const haul_machine *from = self->machines[out->from], *to = self->machines[out->to];
    haul_kernel_work work = row->work[out->from];
    const double measured = row->work[out->to].seconds;
    haul_kernel_prediction one, known;
    haul_status status = haul_kernel_predict(from, to, &work, &one, error);
    work.operands = row->operands;
    if (!status)
        status = haul_kernel_predict(from, to, &work, &known, error);
    if (status)
        return status;
    out->kind = work.kind.kind;
    out->error = log(one.estimate.seconds / measured);
    out->with_sizes = log(known.estimate.seconds / measured);
    out->held = one.estimate.low_s <= measured && measured <= one.estimate.high_s;
    out->held_with_sizes = known.estimate.low_s <= measured && measured <= known.estimate.high_s;
    return HAUL_OK;
}

static haul_status score_all(scores *self, haul_error *error)
{
    const size_t most = self->rows.count * OPERATOR_GPUS * (OPERATOR_GPUS - 1);
    haul_status status = HAUL_OK;
    self->items = calloc(most + 1, sizeof *self->items);
    self->values = calloc(most + 1, sizeof *self->values);
    if (!self->items || !self->values)
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < self->rows.count; i++)
        for (int from = 0; from < OPERATOR_GPUS; from++)
            for (int to = 0; !status && to < OPERATOR_GPUS; to++) {
                const operator_row *row = &self->rows.items[i];
                if (from == to || !(row->work[from].seconds > 0) || !(row->work[to].seconds > 0))
                    continue;
                score *made = &self->items[self->count++];
                *made = (score){.from = from, .to = to};
                status = score_one(self, row, made, error);
            }
    return status;
}

static const haul_kernel_class kinds[] = {HAUL_KERNEL_CLASS_PRODUCT, HAUL_KERNEL_CLASS_STREAMING,
                                          HAUL_KERNEL_CLASS_ROWS};

/* --- operators */

/* Mean error in percent of a pair's operators of a class (HAUL_KERNEL_CLASSES: of all). */
static double mean_of(const scores *self, int from, int to, haul_kernel_class kind, bool with_sizes)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < self->count; i++) {
        const score *at = &self->items[i];
        if (at->from != from || at->to != to || (kind != HAUL_KERNEL_CLASSES && at->kind != kind))
            continue;
        sum += relative(with_sizes ? at->with_sizes : at->error);
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

static double goal_of(int from, int to)
{
    enum { V100, A100, P100, T4, H100 };
    if (from == T4 || to == T4)
        return 15;
    if (from == H100 || to == H100)
        return 10;
    return from == V100 && to == A100 ? 8 : from == P100 && to == V100 ? 10 : (double)NAN;
}

/* The share that the intervals hold of what `from` and `to` (-1: any) have in common. */
static double held_of(const scores *self, int from, int to, bool with_sizes)
{
    double count = 0, held = 0;
    for (size_t i = 0; i < self->count; i++) {
        const score *at = &self->items[i];
        if (at->from != from || at->to != to)
            continue;
        count++;
        held += with_sizes ? at->held_with_sizes : at->held;
    }
    return 100 * held / count;
}

static const char *against(double error, double goal)
{
    return error <= goal ? "met" : "missed";
}

static void write_pair(const scores *self, int from, int to, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++)
        count += self->items[i].from == from && self->items[i].to == to;
    const double named = mean_of(self, from, to, HAUL_KERNEL_CLASSES, false);
    const double sized = mean_of(self, from, to, HAUL_KERNEL_CLASSES, true);
    fprintf(out, "| %s | %s | %zu | %.1f %% | ", operator_gpus[from].name, operator_gpus[to].name,
            count, named);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        fprintf(out, "%.1f %% | ", mean_of(self, from, to, kinds[k], false));
    fprintf(out, "%.0f %% | %.1f %% | ", held_of(self, from, to, false), sized);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k] != HAUL_KERNEL_CLASS_STREAMING)
            fprintf(out, "%.1f %% | ", mean_of(self, from, to, kinds[k], true));
    fprintf(out, "%.0f %% | ", held_of(self, from, to, true));
    const double goal = goal_of(from, to);
    if (isnan(goal))
        fputs("|\n", out);
    else
        fprintf(out, "%.0f %%: %s, %s |\n", goal, against(named, goal), against(sized, goal));
}

static void write_pairs(const scores *self, FILE *out)
{
    fputs("| from | to | operators | by name | products | streaming | rows | interval holds | "
          "sizes known | products | rows | interval holds | goal: by name, sizes known |\n"
          "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
          "--- |\n",
          out);
    for (int from = 0; from < OPERATOR_GPUS; from++)
        for (int to = 0; to < OPERATOR_GPUS; to++)
            if (from != to)
                write_pair(self, from, to, out);
}

/* --- intervals */

/* Whether a score is of a class, and neither from nor to a GPU (-1: any). */
static bool is_of(const score *at, haul_kernel_class kind, int without)
{
    return at->kind == kind && at->from != without && at->to != without;
}

/* The half width that holds 90 of 100 of the operators of a class from and to each of the GPUs, one
 * left out wholly (-1: none): a GPU that is not known may be as hard as the hardest that is. And
 * the share that it holds of those that the GPU left out had. */
static double width_without(const scores *self, haul_kernel_class kind, bool with_sizes, int left,
                            double *held)
{
    double inside = 0, tested = 0, width = 0;
    for (int hardest = 0; hardest < OPERATOR_GPUS; hardest++) {
        size_t count = 0;
        for (size_t i = 0; hardest != left && i < self->count; i++) {
            const score *at = &self->items[i];
            if (is_of(at, kind, left) && (at->from == hardest || at->to == hardest))
                self->values[count++] = fabs(with_sizes ? at->with_sizes : at->error);
        }
        haul_sort_doubles(self->values, count);
        width = fmax(width, count ? haul_quantile_sorted(self->values, count, 0.9) : 0);
    }
    for (size_t i = 0; i < self->count; i++) {
        const score *at = &self->items[i];
        if (!is_of(at, kind, -1) || is_of(at, kind, left))
            continue;
        tested++;
        inside += fabs(with_sizes ? at->with_sizes : at->error) <= width;
    }
    *held = tested > 0 ? 100 * inside / tested : (double)NAN;
    return width;
}

static void write_widths(const scores *self, haul_kernel_class kind, bool with_sizes, FILE *out)
{
    double held, sum = 0, count = 0;
    fprintf(out, "| %s, %s | %.2f |", haul_kernel_class_text(kind),
            with_sizes ? "sizes known" : "by name",
            width_without(self, kind, with_sizes, -1, &held));
    for (int left = 0; left < OPERATOR_GPUS; left++) {
        const double width = width_without(self, kind, with_sizes, left, &held);
        fprintf(out, " %.2f | %.0f %% |", width, held);
    }
    for (size_t i = 0; i < self->count; i++)
        if (self->items[i].kind == kind) {
            count++;
            sum += with_sizes ? self->items[i].held_with_sizes : self->items[i].held;
        }
    fprintf(out, " %.0f %% |\n", 100 * sum / count);
}

static void write_left_out(const scores *self, FILE *out)
{
    fputs("| class | all five | without V100 | held | without A100 | held | without P100 | held | "
          "without T4 | held | without H100 | held | stated |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
          "---: |\n",
          out);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        write_widths(self, kinds[k], false, out);
        if (kinds[k] != HAUL_KERNEL_CLASS_STREAMING)
            write_widths(self, kinds[k], true, out);
    }
}

/* --- sequences */

/* A run of operators on two GPUs, by names and with sizes known: the sum's error, and whether its
 * interval held. */
typedef struct sequence {
    double error[2];
    bool held[2];
} sequence;

/* Knuth's multiplicative generator (MMIX), so that the sequences are the same everywhere. */
static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

/* Of sums by class: all together, and whether their interval holds what was measured. */
static double total_of(const haul_kernel_sum *sums)
{
    double seconds = 0;
    for (int c = 0; c < HAUL_KERNEL_CLASSES; c++)
        seconds += sums[c].seconds;
    return seconds;
}

static bool holds(const haul_kernel_sum *sums, double measured)
{
    const double off = measured - total_of(sums);
    double squared = 0;
    for (int c = 0; c < HAUL_KERNEL_CLASSES; c++)
        squared += haul_kernel_sum_squared(&sums[c], off > 0);
    return off * off <= squared;
}

static haul_status draw(const scores *self, int from, int to, uint64_t *seed, sequence *out,
                        haul_error *error)
{
    haul_kernel_sum sums[2][HAUL_KERNEL_CLASSES] = {0};
    double measured = 0;
    const uint64_t length = SEQUENCE_LEAST + next(seed) % (SEQUENCE_MOST - SEQUENCE_LEAST + 1);
    for (uint64_t drawn = 0; drawn < length;) {
        const operator_row *row = &self->rows.items[next(seed) % self->rows.count];
        haul_kernel_work work = row->work[from];
        if (!(work.seconds > 0) || !(row->work[to].seconds > 0))
            continue;
        for (int known = 0; known < 2; known++) {
            haul_kernel_prediction one;
            work.operands = known ? row->operands : (haul_operands){0};
            const haul_status status =
                haul_kernel_predict(self->machines[from], self->machines[to], &work, &one, error);
            if (status)
                return status;
            haul_kernel_sum_add(&sums[known][work.kind.kind], &one);
        }
        measured += row->work[to].seconds;
        drawn++;
    }
    for (int known = 0; known < 2; known++) {
        out->error[known] = log(total_of(sums[known]) / measured);
        out->held[known] = holds(sums[known], measured);
    }
    return HAUL_OK;
}

static haul_status write_sequence_pair(const scores *self, int from, int to, uint64_t *seed,
                                       FILE *out, haul_error *error)
{
    double errors[2][SEQUENCES], sums[2] = {0}, held[2] = {0};
    for (int s = 0; s < SEQUENCES; s++) {
        sequence one;
        const haul_status status = draw(self, from, to, seed, &one, error);
        if (status)
            return status;
        for (int known = 0; known < 2; known++) {
            errors[known][s] = relative(one.error[known]);
            sums[known] += errors[known][s] / SEQUENCES;
            held[known] += 100.0 * one.held[known] / SEQUENCES;
        }
    }
    fprintf(out, "| %s | %s |", operator_gpus[from].name, operator_gpus[to].name);
    for (int known = 0; known < 2; known++) {
        haul_sort_doubles(errors[known], SEQUENCES);
        fprintf(out, " %.1f %% | %.1f %% | %.0f %% |", sums[known],
                haul_quantile_sorted(errors[known], SEQUENCES, 0.9), held[known]);
    }
    fprintf(out, " %s, %s |\n", against(sums[0], 6), against(sums[1], 6));
    return HAUL_OK;
}

static haul_status write_sequences(const scores *self, FILE *out, haul_error *error)
{
    fputs("| from | to | by name | 90th percentile | interval holds | sizes known | 90th "
          "percentile | interval holds | goal 6 %: by name, sizes known |\n"
          "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
          out);
    uint64_t seed = 2025;
    haul_status status = HAUL_OK;
    for (int from = 0; from < OPERATOR_GPUS; from++)
        for (int to = 0; !status && to < OPERATOR_GPUS; to++)
            if (from != to)
                status = write_sequence_pair(self, from, to, &seed, out, error);
    return status;
}

/* --- traces */

/* One program on two GPUs, and why it misses where it does. */
static const struct trace_pair {
    const char *from;
    const char *to;
    const char *source;
    const char *target;
    const char *cause;
    bool tf32; /* as the program on the target was */
} trace_pairs[] = {
    {"owlv2-h100", "owlv2-mi300x", "h100-sxm5", "mi300x",
     "5185 rows of attention are odd numbers of two bytes: cuBLAS ran kernels without alignment "
     "made for Turing, far below the H100's rate, and hipBLASLt's, which need none, are still "
     "half as fast as the MI300X's memory allows",
     false},
    {"owlv2-mi300x", "owlv2-h100", "mi300x", "h100-sxm5",
     "the same, the other way: the factor of 2 for odd sizes is the least that is published",
     false},
    {"recsys-a100", "recsys-v100", "a100-sxm4-40gb", "v100-sxm2",
     "products in TF32 on the A100, in fp32 on the V100, small and some of them bound by latency; "
     "collectives wait for other ranks, which no GPU's rate tells",
     false},
    {"recsys-v100", "recsys-a100", "v100-sxm2", "a100-sxm4-40gb",
     "products in fp32 on the V100 ran in TF32 on the A100, which the profile does not tell: "
     "neither kernels' names nor its metadata have it, and `haul project` says beside the kernels' "
     "time what TF32 would make of it",
     false},
    {"recsys-v100", "recsys-a100", "v100-sxm2", "a100-sxm4-40gb",
     "products so small that latency bounds them, scaled by rates of large ones", true},
};

static haul_status load(const char *data, const char *name, haul_workload **workload,
                        haul_error *error)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/traces/kineto/%s.json.gz", data, name);
    return haul_trace_load(path, workload, error);
}

static void write_sums(const struct trace_pair *pair, const haul_projection *of, FILE *out)
{
    double recorded = 0, predicted = 0, measured = 0;
    fprintf(out, "%s to %s%s:\n\n| class | recorded | predicted | interval | measured | error |\n",
            pair->from, pair->to, pair->tf32 ? ", with --tf32" : "");
    fputs("| --- | ---: | ---: | ---: | ---: | ---: |\n", out);
    for (int c = 0; c < HAUL_KERNEL_CLASSES; c++) {
        const haul_kernel_class_sum *one = &of->kernel_classes[c];
        if (!(one->recorded_s > 0) && !(one->reference_s > 0))
            continue;
        fprintf(out, "| %s | %.2f ms | %.2f ms | %.2f to %.2f ms | %.2f ms | ",
                haul_kernel_class_text((haul_kernel_class)c), 1e3 * one->recorded_s,
                1e3 * one->predicted.seconds, 1e3 * one->predicted.low_s,
                1e3 * one->predicted.high_s, 1e3 * one->reference_s);
        if (one->reference_s > 0)
            fprintf(out, "%+.0f %% |\n", 100 * (one->predicted.seconds / one->reference_s - 1));
        else
            fputs("|\n", out);
        if (c == HAUL_KERNEL_CLASS_COLLECTIVE)
            continue;
        recorded += one->recorded_s;
        predicted += one->predicted.seconds;
        measured += one->reference_s;
    }
    const double error = 100 * (predicted / measured - 1);
    fprintf(out, "| all but collectives | %.2f ms | %.2f ms | | %.2f ms | %+.0f %% |\n\n",
            1e3 * recorded, 1e3 * predicted, 1e3 * measured, error);
    fprintf(out, "Goal 20 %%: %s. What it misses by: %s.\n", fabs(error) <= 20 ? "met" : "missed",
            pair->cause);
}

static haul_status write_trace(const char *data, const struct trace_pair *pair, FILE *out,
                               haul_error *error)
{
    haul_workload *from = NULL, *to = NULL;
    haul_machine *source = NULL, *target = NULL;
    haul_projection *projection = NULL;
    haul_status status = load(data, pair->from, &from, error);
    if (!status)
        status = load(data, pair->to, &to, error);
    if (!status)
        status = haul_machine_load(pair->source, &source, error);
    if (!status)
        status = haul_machine_load(pair->target, &target, error);
    const haul_projection_options options = {
        .to = target, .from = source, .reference = to, .tf32 = pair->tf32};
    if (!status)
        status = haul_project(from, &options, &projection, error);
    if (!status)
        write_sums(pair, projection, out);
    haul_projection_free(projection);
    haul_machine_free(target);
    haul_machine_free(source);
    haul_workload_free(to);
    haul_workload_free(from);
    return status;
}

/* The operators' tables, with what they show; the sequences' rows come behind. */
static void write_operators(const scores *self, FILE *out)
{
    fputs(
        "## Kernels of profiles, by class\n\n"
        "`haul_kernel_predict`, as `haul project` uses it: a kernel's name, launch and time on one "
        "GPU give its time on another, from the machine files alone, whose sustained rates are "
        "published or scaled from published ones; none is fitted to these rows. Data: "
        "`kernels/modern-ops.csv.gz` (PyTorch operators in fp32; NeuSight), and for the H100 "
        "docs/measured/h100-operators.csv.gz, the same operators in PyTorch 2.11 of 2026, measured "
        "when all rules and rates were there; since then intervals alone were changed, which had "
        "held "
        "68 to 97 % from and to the H100. Errors: mean of "
        "100 |predicted / measured - 1|. Sizes known: the same with the sizes of the operands, as "
        "a "
        "PyTorch trace with record_shapes=True tells them.\n\n",
        out);
    write_pairs(self, out);
    fputs(
        "\nBy name, products on a P100 miss: for linear layers its library has tiles of 32 x 128, "
        "made for Maxwell. That they are small is known by their name, and costs what L2's rate "
        "says (without that rule P100 to V100 is 34.7 %, to A100 21.0 %, to T4 30.5 %). But where "
        "the inner dimension is long they are slower by a factor of three and more (the next "
        "section), and nothing in the name or the launch tells that dimension: the time is that "
        "of a longer one at full speed. Grid times tile tells rows and columns of the result, and "
        "the time their inner dimension only where the rate is known. With the sizes known that "
        "is no matter where the P100 is the source, and it stays so where it is the target. An "
        "A100 runs batched products in "
        "tiles of 128 x 128, whatever their sizes: one tile may be an eighth full, of which its "
        "name, grid and time tell nothing. A T4 is held to 70 W: the same products run at 3.5 and "
        "at 6.5 Tflop/s, as its clock allows at that moment, which no profile tells. Tried and "
        "left: sizes guessed from the tile, the grid and the time, with edges half full (A100 to "
        "P100 and T4 better, the other pairs the same or worse); L2's cost of small tiles for "
        "GPUs with kernels of their own (A100 to V100 better, V100 to A100 worse).\n\n"
        "Half widths, in the logarithm, that hold 90 of 100 operators from and to each of the "
        "other four GPUs, the hardest among them too, and how many they hold of those from and to "
        "the GPU left out; goal 85 "
        "to 95 %. Stated: what the model's own intervals hold of all; those of products depend on "
        "whether a GPU's library has kernels of its own, which was seen on these GPUs, and reach "
        "a factor of e where its kernels were made for other multiprocessors and the inner "
        "dimension may be long, as on the P100: no other GPU's rows tell of it, so that with the "
        "P100 left out the least are held. Half precision, convolutions, attention and unknown "
        "names have no data here: their widths are stated, not tested.\n\n",
        out);
    write_left_out(self, out);
    fprintf(out,
            "\n%d sequences of %d to %d operators, drawn with a fixed seed: the error of the sum, "
            "and how often its interval holds. Half of a half width is taken as common to all "
            "products, and all of it where a P100 is, whose products miss together. "
            "Sums are ruled by their longest products: those to and from a P100 by long inner "
            "dimensions, those to a T4 by its clock: of products that ran for seconds some had "
            "half the usual rate.\n\n",
            SEQUENCES, SEQUENCE_LEAST, SEQUENCE_MOST);
}

static haul_status write_all(const char *data, scores *self, FILE *out, haul_error *error)
{
    haul_status status = operator_rows_read(data, &self->rows, error);
    for (int g = 0; !status && g < OPERATOR_GPUS; g++)
        status = haul_machine_load(operator_gpus[g].machine, &self->machines[g], error);
    if (!status)
        status = score_all(self, error);
    if (status)
        return status;
    write_operators(self, out);
    status = write_sequences(self, out, error);
    if (!status)
        fputs("\nWhole traces (`traces/kineto`), one program recorded on two GPUs: kernels' sums "
              "by the class that their names tell. The A100 of recsys has 40 GB, as its trace "
              "says (totalGlobalMem).\n",
              out);
    for (size_t i = 0; !status && i < sizeof trace_pairs / sizeof *trace_pairs; i++) {
        putc('\n', out);
        status = write_trace(data, &trace_pairs[i], out, error);
    }
    return status;
}

static haul_status write(const char *data, FILE *out, haul_error *error)
{
    scores self = {0};
    const haul_status status = write_all(data, &self, out, error);
    for (int g = 0; g < OPERATOR_GPUS; g++)
        haul_machine_free(self.machines[g]);
    free(self.rows.items);
    free(self.items);
    free(self.values);
    return status;
}

const accuracy_section accuracy_kernel_classes = {"kernel-classes", write};
