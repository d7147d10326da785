/* AHEAD's baselines beside ours, on machines known from the catalogue alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/fail.h"
#include "cost/curve.h"
#include "haul/cost.h"
#include "haul/trace.h"
#include "profile_files.h"
#include "project/score.h"
#include "project/size_class.h"
#include "transfer_rows.h"

enum { AUTO, PEAK, ENVELOPE, MODELS };

enum { LEAST_ROWS = 8, POINTS = 4 };

static const char *const model_names[MODELS] = {"auto", "latency-bandwidth-bound",
                                                "bandwidth-bound"};

/* The machine of the catalogue nearest to the one that was measured: the same GPU, or, where there
 * is none, one of its time on a link of its generation. */
static const struct {
    const char *gpu; /* how its name begins */
    const char *machine;
} nearest[] = {
    {"AMD Instinct MI300X", "mi300x"},
    {"GTX-680", "gtx-680"},
    {"GTX-750", "gtx-titan"},
    {"GTX-970", "gtx-titan"},
    {"Titan", "gtx-titan"},
    {"Tesla-K40", "k40"},
    {"GeForce GTX 1060", "gtx-1060"},
    {"NVIDIA A100", "a100-sxm4"},
    {"A100", "a100-sxm4"},
    {"NVIDIA GeForce RTX 3080", "rtx-3080"},
    {"NVIDIA H100", "h100-sxm5"},
    {"h100-2gpu", "h100-sxm5"}, /* a profile that does not name its GPU: by its file's name */
    {"Tesla V100-SXM2", "v100-sxm2"},
    {"V100 NVLink2", "v100-nvlink2"},
    {"Tesla T4", "t4"},
};

const char *accuracy_machine_for(const char *gpu)
{
    for (size_t i = 0; i < sizeof nearest / sizeof nearest[0]; i++)
        if (!strncmp(gpu, nearest[i].gpu, strlen(nearest[i].gpu)))
            return nearest[i].machine;
    return NULL;
}

/* Copies of one GPU, direction and memory. */
typedef struct contest {
    const char *name;
    const char *gpu;
    const haul_sample *samples; /* each with its own copy */
    size_t count;
    haul_locality locality;
    bool host_clock; /* the call's own latency is in the times */
} contest;

typedef struct tally {
    size_t groups;
    size_t worse[MODELS];
    size_t fitted; /* groups with enough copies to fit to */
    size_t fitted_best;
    FILE *notes; /* groups in which a baseline is better */
} tally;

static double call_latency_s(const haul_machine *machine, const contest *self)
{
    const haul_copy *copy = &self->samples[0].copy;
    const haul_copy_curve *curve =
        haul_machine_curve(machine, copy->direction, copy->memory, self->locality);
    return self->host_clock && curve ? curve->call_latency_s.value : 0;
}

/* Scores one model on a group. MISSING where the machine's figures do not allow it. */
static haul_status score_model(const haul_machine *machine, const contest *self, int index,
                               haul_score *score, haul_error *error)
{
    haul_model_ref model = {0};
    haul_scorer scorer = {0};
    haul_status status = haul_model_find(model_names[index], &model, error);
    const double call_s = index == ENVELOPE ? 0 : call_latency_s(machine, self);
    for (size_t i = 0; !status && i < self->count; i++) {
        haul_copy copy = self->samples[i].copy;
        copy.locality = self->locality;
        haul_estimate predicted;
        status = haul_copy_time(machine, model.model, &copy, &predicted, error);
        if (!status &&
            !haul_scorer_add(&scorer, self->samples[i].seconds, predicted.seconds + call_s))
            status = haul_fail_no_memory(error);
    }
    if (!status)
        *score = haul_scorer_finish(&scorer);
    haul_scorer_release(&scorer);
    haul_model_release(&model);
    return status;
}

/* What `haul machine fit` makes of copies 1, 3, 5 ... says of copies 2, 4, 6 ...; count 0 where
 * there are too few. */
static haul_status score_fitted(const contest *self, haul_score *score, haul_error *error)
{
    *score = (haul_score){0};
    if (self->count < LEAST_ROWS)
        return HAUL_OK;
    haul_sample *odd = calloc(self->count, sizeof *odd);
    if (!odd)
        return haul_fail_no_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < self->count; i += 2)
        odd[count++] = self->samples[i];
    haul_copy_curve curve;
    haul_residuals residuals;
    haul_scorer scorer = {0};
    haul_status status =
        haul_fit_curve(odd, count, POINTS, HAUL_FIT_RELATIVE, &curve, &residuals, error);
    free(odd);
    for (size_t i = 1; !status && i < self->count; i += 2)
        if (!haul_scorer_add(&scorer, self->samples[i].seconds,
                             haul_curve_seconds(&curve, (double)self->samples[i].copy.bytes)))
            status = haul_fail_no_memory(error);
    if (!status)
        *score = haul_scorer_finish(&scorer);
    haul_scorer_release(&scorer);
    return status;
}

static void print_scores(const contest *self, const char *machine, const haul_score *scores,
                         const haul_score *fitted, FILE *out)
{
    const haul_copy *copy = &self->samples[0].copy;
    fprintf(out, "| %s | %s %s | %s | %zu |", self->name, haul_direction_text(copy->direction),
            haul_memory_text(copy->memory), machine, self->count);
    for (int m = 0; m < MODELS; m++)
        fprintf(out, " %.1f / %.1f |", scores[m].wape, scores[m].median);
    if (fitted->count)
        fprintf(out, " %.1f / %.1f |\n", fitted->wape, fitted->median);
    else
        fputs(" - |\n", out);
}

static void count_scores(const contest *self, const haul_score *scores, const haul_score *fitted,
                         tally *total)
{
    const haul_copy *copy = &self->samples[0].copy;
    total->groups++;
    total->fitted += fitted->count > 0;
    total->fitted_best +=
        fitted->count && fitted->wape < scores[PEAK].wape && fitted->wape < scores[ENVELOPE].wape;
    for (int m = PEAK; m < MODELS; m++) {
        const bool worse = scores[m].wape > scores[AUTO].wape;
        total->worse[m] += worse;
        if (!worse)
            fprintf(total->notes, "- %s, %s %s: `%s` %.1f %%, ours %.1f %%\n", self->name,
                    haul_direction_text(copy->direction), haul_memory_text(copy->memory),
                    model_names[m], scores[m].wape, scores[AUTO].wape);
    }
}

static haul_status run_contest(const contest *self, tally *total, FILE *out, haul_error *error)
{
    const char *name = accuracy_machine_for(self->gpu);
    if (!name) {
        fprintf(total->notes, "- %s: no machine of the catalogue is near\n", self->name);
        return HAUL_OK;
    }
    haul_machine *machine = NULL;
    haul_score scores[MODELS], fitted;
    haul_error missing = {0};
    haul_status status = haul_machine_load(name, &machine, error);
    if (status)
        return status;
    for (int m = 0; !status && m < MODELS; m++)
        status = score_model(machine, self, m, &scores[m], &missing);
    haul_machine_free(machine);
    if (status == HAUL_MISSING) {
        fprintf(total->notes, "- %s: %s\n", self->name, missing.text);
        return HAUL_OK;
    }
    if (status) {
        *error = missing;
        return status;
    }
    status = score_fitted(self, &fitted, error);
    if (status)
        return status;
    print_scores(self, name, scores, &fitted, out);
    count_scores(self, scores, &fitted, total);
    return HAUL_OK;
}

static haul_status run_transfers(const char *data, tally *total, FILE *out, haul_error *error)
{
    transfer_groups groups = {0};
    haul_status status = transfer_groups_read(data, &groups, error);
    for (size_t i = 0; !status && i < groups.count; i++) {
        const transfer_group *group = &groups.items[i];
        if (!strcmp(group->node, "both"))
            continue;
        const bool far = !strcmp(group->node, "far");
        char name[200];
        snprintf(name, sizeof name, "%s%s%s", group->gpu, *group->node ? ", " : "", group->node);
        const contest self = {.name = name,
                              .gpu = group->gpu,
                              .samples = group->samples,
                              .count = group->count,
                              .locality = far ? HAUL_FAR : HAUL_NEAR,
                              .host_clock = !strncmp(group->tool, "commscope", 9)};
        status = run_contest(&self, total, out, error);
    }
    transfer_groups_release(&groups);
    return status;
}

static void gather(const haul_workload *workload, const haul_size_classes *classes,
                   haul_class_range range, haul_sample *samples)
{
    size_t count = 0;
    for (size_t c = range.begin; c < range.end; c++) {
        const haul_size_class *self = &classes->items[c];
        for (size_t k = 0; k < self->count; k++) {
            const haul_op *op = &workload->ops[classes->ops[self->first + k]];
            samples[count++] = (haul_sample){.copy = {self->bytes, (haul_direction)self->direction,
                                                      (haul_memory)self->memory, HAUL_NEAR},
                                             .seconds = 1e-9 * (double)op->dur_ns};
        }
    }
}

static const char *gpu_of(const haul_workload *workload, const char *path)
{
    for (size_t i = 0; i < workload->device_count; i++)
        if (workload->devices[i].name)
            return workload->devices[i].name;
    return profile_name(path);
}

static haul_status run_profile(const char *path, tally *total, FILE *out, haul_error *error)
{
    haul_workload *workload = NULL;
    haul_size_classes classes = {0};
    haul_status status = haul_trace_load(path, &workload, error);
    if (!status)
        status = haul_size_classes_make(workload, NULL, &classes, error);
    for (haul_class_range range = {0}; !status && range.end < classes.count;) {
        range = haul_size_group(&classes, range.end);
        const size_t count = haul_size_copies(&classes, range);
        haul_sample *samples = calloc(count, sizeof *samples);
        if (!samples) {
            status = haul_fail_no_memory(error);
            break;
        }
        gather(workload, &classes, range, samples);
        const contest self = {.name = profile_name(path),
                              .gpu = gpu_of(workload, path),
                              .samples = samples,
                              .count = count};
        status = run_contest(&self, total, out, error);
        free(samples);
    }
    haul_size_classes_release(&classes);
    haul_workload_free(workload);
    return status;
}

static haul_status run_profiles(const char *data, tally *total, FILE *out, haul_error *error)
{
    profile_files files = {0};
    haul_status status = profile_files_list(data, &files, error);
    for (size_t i = 0; !status && i < files.count; i++)
        status = run_profile(files.paths[i], total, out, error);
    profile_files_release(&files);
    return status;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    fputs(
        "## Baselines: machines known from the catalogue alone\n\n"
        "Every group of copies of the profiles and of `transfers/transfers.csv`, predicted on the "
        "machine of the catalogue that is nearest, nothing fitted to them. Ours is `auto`; beside "
        "it "
        "AHEAD's two baselines with the same machine's latency and link: `latency-bandwidth-bound` "
        "and `bandwidth-bound`. Sum of |t - predicted time| by sum of t, and the median relative "
        "error, in percent. Where a host clock "
        "was read, the machine's `call_latency` is added to ours and to the first of them. Fitted: "
        "what "
        "`haul machine fit` makes of copies 1, 3, 5, ... says of copies 2, 4, 6, ..., where there "
        "are enough.\n\n"
        "| measured | copies | machine | count | ours | latency + bandwidth bound | bandwidth "
        "bound | fitted |\n"
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
        out);
    char *notes = NULL;
    size_t size = 0;
    tally total = {.notes = open_memstream(&notes, &size)};
    if (!total.notes)
        return haul_fail_no_memory(error);
    haul_status status = run_profiles(data, &total, out, error);
    if (!status)
        status = run_transfers(data, &total, out, error);
    fclose(total.notes);
    if (!status)
        fprintf(out,
                "\nOf %zu groups `latency-bandwidth-bound` is worse than ours in %zu and "
                "`bandwidth-bound` in "
                "%zu, by the sum; "
                "fitted copies are better than both in %zu of %zu. Pageable copies depend on the "
                "host that was measured, and the catalogue's machine may have another; copies of a "
                "few bytes are all latency, which `latency-bandwidth-bound` shares with ours. "
                "Where a baseline is not "
                "worse, or nothing can be said:\n\n%s",
                total.groups, total.worse[PEAK], total.worse[ENVELOPE], total.fitted_best,
                total.fitted, notes);
    free(notes);
    return status;
}

const accuracy_section accuracy_baselines = {"baselines", write_section};
