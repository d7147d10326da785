/* Profiles of the processes of one program, and parts of a profile. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "haul/trace.h"
#include "workload/join.h"

/* Files are taken in turn by threads. The first failure, by the files' order, is kept. */
typedef struct rank_loader {
    const char *const *paths;
    size_t count;
    pthread_mutex_t lock;
    size_t next;
    haul_workload **workloads;
    size_t failed_at; /* `count`: none */
    haul_status status;
    haul_error error;
} rank_loader;

/* A file that comes after one that failed is not begun any more. */
static void *load_files(void *argument)
{
    rank_loader *const self = argument;
    for (;;) {
        haul_error error = {0};
        pthread_mutex_lock(&self->lock);
        const size_t file = self->next;
        const bool taken = file < self->failed_at;
        self->next += taken;
        pthread_mutex_unlock(&self->lock);
        if (!taken)
            return NULL;
        const haul_status status =
            haul_trace_load(self->paths[file], &self->workloads[file], &error);
        pthread_mutex_lock(&self->lock);
        if (status && file < self->failed_at) {
            self->failed_at = file;
            self->status = status;
            self->error = error;
        }
        pthread_mutex_unlock(&self->lock);
    }
}

/* One thread a core, this one among them; without threads this one reads all. */
static void load_all(rank_loader *self)
{
    enum { MOST_THREADS = 256 };
    pthread_t threads[MOST_THREADS];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = cores > 1 ? (size_t)cores - 1 : 0, started = 0;
    wanted = wanted < self->count - 1 ? wanted : self->count - 1;
    while (started < wanted && started < MOST_THREADS &&
           !pthread_create(&threads[started], NULL, load_files, self))
        started++;
    (void)load_files(self);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* Puts the files' clocks in step. Returns whether they could be. */
static bool align(const rank_loader *self, hl_workload_part *parts)
{
    bool known = true;
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < self->count; i++) {
        const int64_t epoch_ns = self->workloads[i]->epoch_ns;
        known &= epoch_ns > 0;
        first = epoch_ns < first ? epoch_ns : first;
    }
    for (size_t i = 0; i < self->count; i++) {
        const haul_workload *const of = self->workloads[i];
        parts[i] = (hl_workload_part){.of = of, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
        if (known)
            parts[i].shift_ns = of->epoch_ns - first;
        else
            parts[i].shift_ns = of->op_count ? -of->ops[0].start_ns : 0;
    }
    return known;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int64_t last_end(const haul_workload *of)
{
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; i < of->op_count; i++) {
        const int64_t end_ns = hl_base_end_of(of->ops[i].start_ns, of->ops[i].dur_ns);
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns;
}

/* A file whose operations all end before those of another begin: processes of one program run at
 * once. Says so in `note`, which is "" otherwise. */
static void find_apart(const rank_loader *self, const hl_workload_part *parts, char *note,
                       size_t size)
{
    int64_t end_ns = INT64_MAX, begin_ns = INT64_MIN;
    size_t ended = 0, begun = 0;
    note[0] = '\0';
    for (size_t i = 0; i < self->count; i++) {
        const haul_workload *const of = self->workloads[i];
        if (!of->op_count)
            continue;
        const int64_t last_ns = hl_base_add_ns(last_end(of), parts[i].shift_ns);
        const int64_t first_ns = hl_base_add_ns(of->ops[0].start_ns, parts[i].shift_ns);
        ended = last_ns < end_ns ? i : ended;
        end_ns = last_ns < end_ns ? last_ns : end_ns;
        begun = first_ns > begin_ns ? i : begun;
        begin_ns = first_ns > begin_ns ? first_ns : begin_ns;
    }
    if (begin_ns > end_ns)
        (void)snprintf(
            note, size,
            "a common time: '%.200s' begins %.1f s after '%.200s' has ended, so they may be "
            "of two runs, or of hosts whose clocks differ",
            file_name(self->paths[begun]), 1e-9 * ((double)begin_ns - (double)end_ns),
            file_name(self->paths[ended]));
}

/* The joined workload copies what it needs: files are freed afterwards. */
static haul_status join_all(rank_loader *self, haul_workload **workload, haul_error *error)
{
    char source[512], apart[640];
    uint64_t orphaned;
    hl_workload_part *const parts = calloc(self->count, sizeof *parts);
    if (!parts)
        return hl_base_fail_no_memory(error);
    (void)snprintf(source, sizeof source, "%.400s and %zu more", self->paths[0], self->count - 1);
    const bool aligned = align(self, parts);
    find_apart(self, parts, apart, sizeof apart);
    const hl_workload_join_options options = {
        .source = source,
        .format = self->workloads[0]->format,
        .note = !aligned ? "when each file's times begin: each is taken to begin at its first "
                           "operation"
                : *apart ? apart
                         : NULL};
    const haul_status status =
        hl_workload_join(parts, self->count, &options, &orphaned, workload, error);
    free(parts);
    return status;
}

static haul_status load_files_of(rank_loader *self, haul_error *error)
{
    self->failed_at = self->count;
    self->workloads = calloc(self->count, sizeof(haul_workload *));
    if (!self->workloads)
        return hl_base_fail_no_memory(error);
    pthread_mutex_init(&self->lock, NULL);
    load_all(self);
    pthread_mutex_destroy(&self->lock);
    if (self->status && error)
        *error = self->error;
    return self->status;
}

static void release_files(rank_loader *self)
{
    for (size_t i = 0; self->workloads && i < self->count; i++)
        haul_workload_free(self->workloads[i]);
    free(self->workloads);
}

/* The first failure by the files' order is reported, whichever thread met one first. */
haul_status haul_trace_load_ranks(const char *const *paths, size_t count, haul_workload **workload,
                                  haul_error *error)
{
    if (count == 1)
        return haul_trace_load(paths[0], workload, error);
    rank_loader self = {.paths = paths, .count = count};
    haul_status status = load_files_of(&self, error);
    if (!status)
        status = join_all(&self, workload, error);
    release_files(&self);
    return status;
}

/* --- jobs */

/* When a file's operations run, by its clock. */
typedef struct file_span {
    int64_t begin_ns;
    int64_t end_ns;
} file_span;

/* Each file is compared with many others, so that its operations are gone through once. */
static file_span span_of(const haul_workload *of)
{
    if (!of->op_count)
        return (file_span){INT64_MIN, INT64_MAX};
    return (file_span){hl_base_add_ns(of->epoch_ns, of->ops[0].start_ns),
                       hl_base_add_ns(of->epoch_ns, last_end(of))};
}

/* A job without clocks to tell runs on GPUs of one kind. */
static bool have_same_gpu(const haul_workload *a, const haul_workload *b)
{
    const char *of_a = a->device_count ? a->devices[0].name : NULL;
    const char *of_b = b->device_count ? b->devices[0].name : NULL;
    return !of_a || !of_b || !strcmp(of_a, of_b);
}

/* A launcher starts the processes of a job within seconds: of a short one the work of two ranks may
 * have no moment in common. */
static const int64_t launch_ns = 5000000000;

/* By the clocks that both files give their processes run at the same time, or, of different ranks,
 * at most `apart_ns` from each other; without clocks by their ranks. */
static bool are_of_one_job(const rank_loader *self, const file_span *spans, size_t i, size_t k,
                           int64_t apart_ns)
{
    const haul_workload *a = self->workloads[i], *b = self->workloads[k];
    const bool have_ranks = a->rank >= 0 && b->rank >= 0;
    if (have_ranks && a->rank == b->rank)
        return false;
    if (!(a->epoch_ns > 0 && b->epoch_ns > 0))
        return have_ranks && have_same_gpu(a, b);
    const int64_t within_ns = have_ranks && have_same_gpu(a, b) ? apart_ns : 0;
    return spans[i].begin_ns < hl_base_end_of(spans[k].end_ns, within_ns) &&
           spans[k].begin_ns < hl_base_end_of(spans[i].end_ns, within_ns);
}

/* Whether a file is of a job, as are_of_one_job has it of each of the job's files before it. */
static bool fits_job(const rank_loader *self, const file_span *spans, const size_t *job_of,
                     size_t job, size_t file, int64_t apart_ns)
{
    for (size_t k = 0; k < file; k++)
        if (job_of[k] == job && !are_of_one_job(self, spans, k, file, apart_ns))
            return false;
    return true;
}

/* The job of each file: that of the first file before it that it runs with, else one shortly before
 * or after it, else its own; no file of the job may be at odds with it. */
static size_t sort_into_jobs(const rank_loader *self, file_span *spans, size_t *job_of)
{
    size_t jobs = 0;
    for (size_t i = 0; i < self->count; i++) {
        size_t job = 0;
        spans[i] = span_of(self->workloads[i]);
        while (job < jobs && !fits_job(self, spans, job_of, job, i, 0))
            job++;
        if (job == jobs)
            for (job = 0; job < jobs && !fits_job(self, spans, job_of, job, i, launch_ns);)
                job++;
        job_of[i] = job;
        jobs += job == jobs;
    }
    return jobs;
}

/* The files of one job, joined; a single one is handed over as it is. */
static haul_status take_job(rank_loader *self, const size_t *job_of, size_t job,
                            haul_workload **made, haul_error *error)
{
    rank_loader of = {.paths = NULL};
    const char **paths = calloc(self->count, sizeof *paths);
    haul_workload **workloads = calloc(self->count, sizeof(haul_workload *));
    size_t last = 0;
    haul_status status = HAUL_OK;
    if (!paths || !workloads) {
        free(paths);
        free(workloads);
        return hl_base_fail_no_memory(error);
    }
    for (size_t i = 0; i < self->count; i++)
        if (job_of[i] == job) {
            paths[of.count] = self->paths[i];
            workloads[of.count++] = self->workloads[i];
            last = i;
        }
    of.paths = paths;
    of.workloads = workloads;
    if (of.count > 1) {
        status = join_all(&of, made, error);
    } else {
        *made = self->workloads[last];
        self->workloads[last] = NULL;
    }
    free(paths);
    free(workloads);
    return status;
}

haul_status haul_trace_load_jobs(const char *const *paths, size_t count, haul_trace_jobs *jobs,
                                 haul_error *error)
{
    rank_loader self = {.paths = paths, .count = count};
    haul_trace_jobs made = {.items = calloc(count, sizeof(haul_workload *))};
    size_t *job_of = calloc(count, sizeof *job_of);
    file_span *spans = calloc(count, sizeof *spans);
    if (!made.items || !job_of || !spans) {
        free(made.items);
        free(job_of);
        free(spans);
        return hl_base_fail_no_memory(error);
    }
    haul_status status = load_files_of(&self, error);
    const size_t total = status ? 0 : sort_into_jobs(&self, spans, job_of);
    free(spans);
    while (!status && made.count < total) {
        status = take_job(&self, job_of, made.count, &made.items[made.count], error);
        made.count += !status;
    }
    release_files(&self);
    free(job_of);
    if (status)
        haul_trace_jobs_release(&made);
    else
        *jobs = made;
    return status;
}

void haul_trace_jobs_release(haul_trace_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        haul_workload_free(jobs->items[i]);
    free(jobs->items);
    *jobs = (haul_trace_jobs){.items = NULL};
}

/* A window is a workload of one part. */
haul_status haul_trace_cut(const haul_workload *workload, int64_t from_ns, int64_t to_ns,
                           uint64_t *orphaned, haul_workload **part, haul_error *error)
{
    const int64_t limit = INT64_C(1) << 61; /* of times */
    const int64_t first = workload->op_count ? workload->ops[0].start_ns : 0;
    if (from_ns < 0 || to_ns <= from_ns || to_ns > limit)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "expected times of a window, the second after the first");
    const hl_workload_part of = {
        .of = workload, .from_ns = first + from_ns, .to_ns = first + to_ns};
    const hl_workload_join_options options = {.source = workload->source,
                                              .format = workload->format};
    return hl_workload_join(&of, 1, &options, orphaned, part, error);
}
