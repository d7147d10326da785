/* The self-check over the public profiles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/stats.h"
#include "haul/fit.h"
#include "haul/trace.h"
#include "profile_files.h"
#include "project/recording.h"
#include "project/self_check.h"

enum { LEAST_COPIES = 20 };

static const double goal_median = 0.5, goal_worst = 4;

/* A profile with what is found of it. */
typedef struct subject {
    haul_workload *workload;
    haul_size_classes classes;
    haul_contention contention;
    haul_arena arena;
    haul_self_check with;  /* contention */
    haul_self_check alone; /* a curve that does not know them */
    double line;           /* wape of a line through each direction and memory */
} subject;

typedef struct gap_list {
    double *items; /* wape less floor */
    size_t count;
    size_t capacity;
} gap_list;

static haul_status check(subject *self, const haul_contention *contention, haul_self_check *out,
                         haul_error *error)
{
    haul_machine *machine = NULL;
    haul_model_ref model = {0};
    haul_status status = haul_model_find("auto", &model, error);
    if (!status)
        status =
            haul_recording_fit(self->workload, &self->classes, contention, NULL, &machine, error);
    const haul_self_check_inputs inputs = {self->workload, &self->classes, NULL,
                                           contention,     machine,        model.model};
    if (!status)
        status = haul_self_check_run(&inputs, &self->arena, out, error);
    haul_machine_free(machine);
    haul_model_release(&model);
    return status;
}

static size_t gather(const subject *self, haul_class_range range, haul_sample *samples)
{
    size_t count = 0;
    for (size_t c = range.begin; c < range.end; c++) {
        const haul_size_class *one = &self->classes.items[c];
        for (size_t k = 0; k < one->count; k++) {
            const uint32_t op = self->classes.ops[one->first + k];
            samples[count++] = (haul_sample){
                .copy.bytes = one->bytes, .seconds = 1e-9 * (double)self->workload->ops[op].dur_ns};
        }
    }
    return count;
}

/* Adds what a line through the copies of one direction and memory misses; their median where there
 * is no line. */
static haul_status add_line(const subject *self, haul_class_range range, double *miss_s,
                            double *time_s, haul_error *error)
{
    haul_sample *samples = calloc(haul_size_copies(&self->classes, range), sizeof *samples);
    if (!samples)
        return haul_fail_no_memory(error);
    const size_t count = gather(self, range, samples);
    haul_copy_curve line;
    haul_residuals residuals;
    haul_status status = haul_fit_line_relative(samples, count, &line, &residuals, error);
    if (status == HAUL_MISSING)
        status = haul_fit_curve(samples, count, 1, HAUL_FIT_TIME, &line, &residuals, error);
    double sum_s = 0;
    for (size_t i = 0; i < count; i++)
        sum_s += samples[i].seconds;
    if (!status) {
        *miss_s += 0.01 * residuals.wape * sum_s;
        *time_s += sum_s;
    }
    free(samples);
    return status;
}

static haul_status check_line(subject *self, haul_error *error)
{
    double miss_s = 0, time_s = 0;
    haul_status status = HAUL_OK;
    for (haul_class_range range = {0}; !status && range.end < self->classes.count;) {
        range = haul_size_group(&self->classes, range.end);
        status = add_line(self, range, &miss_s, &time_s, error);
    }
    self->line = time_s > 0 ? 100 * miss_s / time_s : 0;
    return status;
}

static haul_status measure(const char *path, subject *self, haul_error *error)
{
    const haul_contention none = {0};
    haul_status status = haul_trace_load(path, &self->workload, error);
    if (!status)
        status = haul_size_classes_make(self->workload, NULL, &self->classes, error);
    if (!status)
        status = haul_contention_find(self->workload, &self->classes, &self->contention, error);
    if (!status)
        status = check(self, &self->contention, &self->with, error);
    if (!status)
        status = check(self, &none, &self->alone, error);
    return status ? status : check_line(self, error);
}

static void release(subject *self)
{
    haul_contention_release(&self->contention);
    haul_size_classes_release(&self->classes);
    haul_workload_free(self->workload);
    haul_arena_release(&self->arena);
}

static void print_row(const char *path, const subject *self, FILE *out)
{
    const haul_self_check_score *of = &self->with.of;
    fprintf(out, "| %s | %llu | %.2f | %.2f | %.2f | %.2f | %+.2f |\n", profile_name(path),
            (unsigned long long)of->score.count, of->noise_floor, self->line,
            self->alone.of.score.wape, of->score.wape, of->score.wape - of->noise_floor);
}

static void note_collisions(const char *path, const subject *self, FILE *out)
{
    for (size_t i = 0; i < self->with.row_count; i++) {
        const haul_self_check_row *row = &self->with.rows[i];
        if (!row->contended)
            continue;
        fprintf(out, "- %s, %s %s: %llu of %llu copies met one of the other direction, ",
                profile_name(path), haul_direction_text(row->direction),
                haul_memory_text(row->memory), (unsigned long long)row->contended,
                (unsigned long long)row->of.score.count);
        if (row->busy_speed < 1)
            fprintf(out, "and kept %.0f %% of their speed: %.2f %% instead of %.2f %%.\n",
                    100 * row->busy_speed, row->of.score.wape, self->alone.rows[i].of.score.wape);
        else
            fprintf(out, "which does not explain their spread beyond chance.\n");
    }
}

static void print_verdict(gap_list *gaps, FILE *out)
{
    if (!gaps->count)
        return;
    haul_sort_doubles(gaps->items, gaps->count);
    const double median = haul_quantile_sorted(gaps->items, gaps->count, 0.5);
    const double worst = gaps->items[gaps->count - 1];
    fprintf(out,
            "\nProfiles with at least %d copies: %zu. Above the floor: %.2f points at the median "
            "(goal %.1f: %s), %.2f at the worst (goal %.0f: %s).\n",
            LEAST_COPIES, gaps->count, median, goal_median,
            median <= goal_median ? "reached" : "missed", worst, goal_worst,
            worst <= goal_worst ? "reached" : "missed");
}

static haul_status print_profile(const char *path, gap_list *gaps, FILE *rows, FILE *notes,
                                 haul_error *error)
{
    subject self = {0};
    haul_status status = measure(path, &self, error);
    const haul_self_check_score *of = &self.with.of;
    if (!status && of->score.count >= LEAST_COPIES) {
        print_row(path, &self, rows);
        note_collisions(path, &self, notes);
        if (haul_grow(&gaps->items, &gaps->capacity, gaps->count + 1, sizeof *gaps->items))
            gaps->items[gaps->count++] = of->score.wape - of->noise_floor;
        else
            status = haul_fail_no_memory(error);
    }
    release(&self);
    return status;
}

/* Profiles of one machine: the link fitted to the one predicts the other. */
static const char *const siblings[][2] = {
    {"gtx1060-concurrent-s4.sqlite", "gtx1060-concurrent-s16.sqlite"},
    {"gtx1060-concurrent-s16.sqlite", "gtx1060-concurrent-s4.sqlite"},
    {"h100-2gpu-training-1s.sqlite", "h100-2gpu-training-before.sqlite"},
    {"h100-2gpu-training-before.sqlite", "h100-2gpu-training-1s.sqlite"},
};

static const char *find_path(const profile_files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++)
        if (!strcmp(profile_name(files->paths[i]), name))
            return files->paths[i];
    return NULL;
}

/* The copies of `other`, with their own contention, on the link and at the speeds of `self`. */
static haul_status price_other(subject *self, subject *other, FILE *out, haul_error *error)
{
    haul_machine *machine = NULL;
    haul_model_ref model = {0};
    haul_status status = haul_model_find("auto", &model, error);
    if (!status)
        status = haul_recording_fit(self->workload, &self->classes, &self->contention, NULL,
                                    &machine, error);
    haul_contention contention = other->contention;
    memcpy(contention.loss, self->contention.loss, sizeof contention.loss);
    const haul_self_check_inputs inputs = {other->workload, &other->classes, NULL,
                                           &contention,     machine,         model.model};
    haul_self_check check;
    if (!status)
        status = haul_self_check_run(&inputs, &other->arena, &check, error);
    haul_machine_free(machine);
    haul_model_release(&model);
    for (size_t i = 0; !status && i < check.row_count; i++) {
        const haul_self_check_row *row = &check.rows[i];
        if (row->of.score.count && row->points > 1)
            fprintf(out, "| %s | %s | %s %s | %llu | %.2f | %.2f | %.2f |\n",
                    profile_name(self->workload->source), profile_name(other->workload->source),
                    haul_direction_text(row->direction), haul_memory_text(row->memory),
                    (unsigned long long)row->of.score.count, row->of.noise_floor,
                    row->of.score.wape, row->of.score.median);
    }
    return status;
}

static haul_status print_siblings(const profile_files *files, FILE *out, haul_error *error)
{
    fputs("\nThe link fitted to one profile, with the speed that its contention leaves, on another "
          "profile of the same machine with other sizes; copies of which the first knows one size "
          "are left out, for a single point tells no slope. Floor, wape and median relative error, "
          "in percent.\n\n"
          "| fitted to | tested on | copies | count | floor | wape | median |\n"
          "| --- | --- | --- | ---: | ---: | ---: | ---: |\n",
          out);
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < sizeof siblings / sizeof siblings[0]; i++) {
        const char *first = find_path(files, siblings[i][0]);
        const char *second = find_path(files, siblings[i][1]);
        if (!first || !second)
            continue;
        subject self = {0}, other = {0};
        status = measure(first, &self, error);
        if (!status)
            status = measure(second, &other, error);
        if (!status)
            status = price_other(&self, &other, out, error);
        release(&self);
        release(&other);
    }
    return status;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    profile_files files = {0};
    haul_status status = profile_files_list(data, &files, error);
    if (status)
        return status;
    fputs(
        "## Self-check: a profile's own copies on the machine that recorded it\n\n"
        "The recording link is fitted to the profile's own copies, each direction and kind of "
        "memory on its own, as `haul project` does without `--from`. Sums of |t - predicted time| "
        "by sums of t, in percent. Noise floor: each copy is predicted as the median of the copies "
        "of its direction, memory and size. Line: a straight line (weighted least squares on "
        "relative error), or the median "
        "where there is one size. Curve: what "
        "haul fits, without contention; ours: with them.\n\n"
        "| profile | copies | noise floor | line | curve | ours | ours above it |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        out);
    char *notes = NULL;
    size_t size = 0;
    FILE *noted = open_memstream(&notes, &size);
    gap_list gaps = {0};
    status = noted ? HAUL_OK : haul_fail_no_memory(error);
    for (size_t i = 0; !status && i < files.count; i++)
        status = print_profile(files.paths[i], &gaps, out, noted, error);
    if (noted)
        fclose(noted);
    if (!status) {
        print_verdict(&gaps, out);
        fprintf(out,
                "\nCollisions, t = base / (1 - k x) with x the share of a copy's time in which its "
                "device copies the other way, k kept where it holds on copies left out of its "
                "fit:\n\n%s",
                notes);
        status = print_siblings(&files, out, error);
    }
    free(notes);
    free(gaps.items);
    profile_files_release(&files);
    return status;
}

const accuracy_section accuracy_self_check = {"self-check", write_section};
