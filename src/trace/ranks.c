/* Profiles of the processes of one program, and parts of a profile. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "haul/trace.h"
#include "trace/profile_folder.h"
#include "workload/join.h"

/* The job of a file, and when its operations ran: its workload may be gone. */
typedef struct rank_facts {
    int64_t epoch_ns, rank;
    int64_t first_ns, last_ns; /* of its operations, by its own clock */
    bool any;                  /* has operations */
    bool has_clock;            /* epoch_ns + its times are of the calendar */
    char gpu[128];             /* of its first device; "" where not known */
    size_t job;
} rank_facts;

/* Files of one run. They are joined one after the other, each freed when it was: beside the joined
 * profile memory holds those that were read and not joined yet. */
typedef struct rank_job {
    size_t count;
    haul_workload *single; /* the first, until there is a second */
    hl_workload_joiner *joiner;
    char format[64];
} rank_job;

/* Files are taken in turn by threads. */
typedef struct rank_loader {
    const char *const *paths;
    size_t count;
    bool as_one; /* all are one job */
    pthread_mutex_t lock;
    size_t next;
    haul_workload **workloads; /* read and in no job yet */
    haul_error *failures;      /* of files that could not be read; HAUL_OK is none */
    rank_facts *facts;         /* of those that are in a job */
    rank_job *jobs;
    size_t job_count;
    bool joining;  /* a thread does */
    size_t sorted; /* files that are in a job, or in none for they could not be read */
    size_t ahead;  /* files that may be read beyond those */
    pthread_cond_t grown;
    size_t failed_at; /* the first file without which there is no answer; `count`: none */
} rank_loader;

/* PyTorch's profiler before it gave an epoch, and nvprof, write times since 1970: those of no clock
 * that began with a machine are beyond 2001. */
static const int64_t calendar_ns = INT64_C(1000000000000000000);

static rank_facts facts_of(const haul_workload *of)
{
    rank_facts facts = {.epoch_ns = of->epoch_ns, .rank = of->rank, .any = of->op_count > 0};
    const char *gpu = of->device_count ? of->devices[0].name : NULL;
    facts.first_ns = facts.any ? of->ops[0].start_ns : 0;
    for (size_t i = 0; i < of->op_count; i++) {
        const int64_t end_ns = hl_base_end_of(of->ops[i].start_ns, of->ops[i].dur_ns);
        facts.last_ns = !i || end_ns > facts.last_ns ? end_ns : facts.last_ns;
    }
    facts.has_clock = of->epoch_ns > 0 || (facts.any && facts.first_ns > calendar_ns);
    (void)snprintf(facts.gpu, sizeof facts.gpu, "%s", gpu ? gpu : "");
    return facts;
}

/* A launcher starts the processes of a job within seconds: of a short one the work of two ranks may
 * have no moment in common. */
static const int64_t launch_ns = 5000000000;

/* By the clocks that both files give their processes run at the same time, or, of different ranks,
 * at most `apart_ns` from each other; without clocks by their ranks. */
static bool are_of_one_job(const rank_facts *a, const rank_facts *b, int64_t apart_ns)
{
    const bool have_ranks = a->rank >= 0 && b->rank >= 0;
    const bool have_same_gpu = !*a->gpu || !*b->gpu || !strcmp(a->gpu, b->gpu);
    if (have_ranks && a->rank == b->rank)
        return false;
    if (!(a->has_clock && b->has_clock))
        return have_ranks && have_same_gpu;
    const int64_t within_ns = have_ranks && have_same_gpu ? apart_ns : 0;
    return !a->any || !b->any ||
           (hl_base_add_ns(a->epoch_ns, a->first_ns) <
                hl_base_end_of(hl_base_add_ns(b->epoch_ns, b->last_ns), within_ns) &&
            hl_base_add_ns(b->epoch_ns, b->first_ns) <
                hl_base_end_of(hl_base_add_ns(a->epoch_ns, a->last_ns), within_ns));
}

/* The first job with none of whose files the file is at odds; the number of jobs where there is
 * none. */
static size_t fitting_job(const rank_loader *self, size_t file, int64_t apart_ns)
{
    size_t job = 0;
    for (bool fits = self->as_one; job < self->job_count && !fits; job += !fits) {
        fits = true;
        for (size_t k = 0; k < file && fits; k++)
            fits = self->facts[k].job != job ||
                   are_of_one_job(&self->facts[k], &self->facts[file], apart_ns);
    }
    return job;
}

/* Takes the workload. */
static void join_workload(rank_job *self, haul_workload *workload)
{
    const hl_workload_part part = {.of = workload, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
    if (self->joiner)
        hl_workload_joiner_add(self->joiner, &part);
    haul_workload_free(workload);
}

/* Puts the next file into its job. */
static void sort_file(rank_loader *self, haul_workload *workload)
{
    rank_facts *const facts = &self->facts[self->sorted];
    *facts = facts_of(workload);
    /* that of the first file before it that it runs with, else one shortly before or after it, else
     * its own; no file of the job may be at odds with it */
    facts->job = fitting_job(self, self->sorted, 0);
    if (facts->job >= self->job_count)
        facts->job = fitting_job(self, self->sorted, launch_ns);
    rank_job *const job = &self->jobs[facts->job];
    self->job_count += facts->job == self->job_count;
    if (!job->count++) {
        (void)snprintf(job->format, sizeof job->format, "%s", workload->format);
        job->single = workload;
        return;
    }
    if (job->count == 2) {
        job->joiner = hl_workload_joiner_new(true);
        join_workload(job, job->single);
        job->single = NULL;
    }
    join_workload(job, workload);
}

/* With the lock held, which is let go meanwhile: one thread joins what is ready, the others read
 * on. */
static void sort_ready(rank_loader *self)
{
    if (self->joining)
        return;
    self->joining = true;
    while (self->sorted < self->count &&
           (self->workloads[self->sorted] || self->failures[self->sorted].status)) {
        haul_workload *const workload = self->workloads[self->sorted];
        self->workloads[self->sorted] = NULL;
        pthread_mutex_unlock(&self->lock);
        if (workload)
            sort_file(self, workload);
        else
            self->facts[self->sorted].job = SIZE_MAX;
        pthread_mutex_lock(&self->lock);
        self->sorted++;
        pthread_cond_broadcast(&self->grown);
    }
    self->joining = false;
}

/* With the lock held: the next file to read, false for none. One that comes after one that failed
 * is not begun any more, one that would wait for many others to be joined not yet. */
static bool take_file(rank_loader *self, size_t *file)
{
    while (self->next < self->failed_at && self->next - self->sorted >= self->ahead)
        pthread_cond_wait(&self->grown, &self->lock);
    *file = self->next;
    self->next += *file < self->failed_at;
    return *file < self->failed_at;
}

static void *load_files(void *argument)
{
    rank_loader *const self = argument;
    for (;;) {
        haul_error error = {0};
        haul_workload *workload = NULL;
        size_t file;
        pthread_mutex_lock(&self->lock);
        const bool taken = take_file(self, &file);
        pthread_mutex_unlock(&self->lock);
        if (!taken)
            return NULL;
        const haul_status status = haul_trace_load(self->paths[file], &workload, &error);
        pthread_mutex_lock(&self->lock);
        self->workloads[file] = workload;
        self->failures[file] = error;
        self->failures[file].status = status;
        /* A run would miss the rank; other jobs do not miss the file. */
        const bool stops_all = status && (self->as_one || status == HAUL_STATUS_NO_MEMORY);
        if (stops_all && file < self->failed_at) {
            self->failed_at = file;
            pthread_cond_broadcast(&self->grown);
        }
        sort_ready(self);
        pthread_mutex_unlock(&self->lock);
    }
}

/* One thread a core, this one among them; without threads this one reads all.
 */
static void load_all(rank_loader *self)
{
    enum { MOST_THREADS = 256 };
    pthread_t threads[MOST_THREADS];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = cores > 1 ? (size_t)cores - 1 : 0, started = 0;
    wanted = wanted < self->count - 1 ? wanted : self->count - 1;
    self->ahead = 2 * (wanted + 1);
    while (started < wanted && started < MOST_THREADS &&
           !pthread_create(&threads[started], NULL, load_files, self))
        started++;
    (void)load_files(self);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* Puts the clocks of a job's files in step. Returns whether they could be. */
static bool align(const rank_loader *self, size_t job, int64_t *shifts_ns)
{
    bool known = true;
    int64_t first = INT64_MAX;
    size_t part = 0;
    for (size_t i = 0; i < self->count; i++) {
        const rank_facts *const of = &self->facts[i];
        if (of->job != job)
            continue;
        known &= of->has_clock;
        first = of->epoch_ns < first ? of->epoch_ns : first;
    }
    for (size_t i = 0; i < self->count; i++) {
        const rank_facts *const of = &self->facts[i];
        if (of->job == job)
            shifts_ns[part++] = known ? of->epoch_ns - first : -of->first_ns;
    }
    return known;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A file whose operations all end before those of another begin: processes of one program run at
 * once. Says so in `note`, which is "" otherwise. */
static void find_apart(const rank_loader *self, size_t job, const int64_t *shifts_ns, char *note,
                       size_t size)
{
    int64_t end_ns = INT64_MAX, begin_ns = INT64_MIN;
    size_t ended = 0, begun = 0, part = 0;
    note[0] = '\0';
    for (size_t i = 0; i < self->count; i++) {
        const rank_facts *const of = &self->facts[i];
        const int64_t shift_ns = of->job == job ? shifts_ns[part++] : 0;
        if (of->job != job || !of->any)
            continue;
        const int64_t last_ns = hl_base_add_ns(of->last_ns, shift_ns);
        const int64_t first_ns = hl_base_add_ns(of->first_ns, shift_ns);
        ended = last_ns < end_ns ? i : ended;
        end_ns = last_ns < end_ns ? last_ns : end_ns;
        begun = first_ns > begin_ns ? i : begun;
        begin_ns = first_ns > begin_ns ? first_ns : begin_ns;
    }
    if (begin_ns > end_ns)
        (void)snprintf(note, size,
                       "a common time: '%.200s' begins %.1f s after '%.200s' has "
                       "ended, so they may be "
                       "of two runs, or of hosts whose clocks differ",
                       file_name(self->paths[begun]), 1e-9 * ((double)begin_ns - (double)end_ns),
                       file_name(self->paths[ended]));
}

/* The files of one job, joined; a single one is handed over as it is. */
static haul_status take_job(rank_loader *self, size_t job, haul_workload **made, haul_error *error)
{
    rank_job *const of = &self->jobs[job];
    char source[512], apart[640];
    uint64_t orphaned;
    if (of->single) {
        *made = of->single;
        of->single = NULL;
        return HAUL_OK;
    }
    int64_t *const shifts_ns = calloc(of->count, sizeof *shifts_ns);
    if (!shifts_ns || !of->joiner) {
        free(shifts_ns);
        return hl_base_fail_no_memory(error);
    }
    size_t first = 0;
    while (self->facts[first].job != job)
        first++;
    (void)snprintf(source, sizeof source, "%.400s and %zu more", self->paths[first], of->count - 1);
    const bool aligned = align(self, job, shifts_ns);
    find_apart(self, job, shifts_ns, apart, sizeof apart);
    const hl_workload_join_options options = {
        .source = source,
        .format = of->format,
        .note = !aligned ? "when each file's times begin: each is taken to begin "
                           "at its first "
                           "operation"
                : *apart ? apart
                         : NULL,
        .shifts_ns = shifts_ns};
    const haul_status status =
        hl_workload_joiner_finish(of->joiner, &options, &orphaned, made, error);
    free(shifts_ns);
    return status;
}

/* Without any file the first failure by the files' order is reported, whichever thread met one
 * first. */
static haul_status load_jobs(rank_loader *self, haul_error *error)
{
    self->failed_at = self->count;
    self->workloads = calloc(self->count + 1, sizeof(haul_workload *));
    self->failures = calloc(self->count + 1, sizeof *self->failures);
    self->facts = calloc(self->count + 1, sizeof *self->facts);
    self->jobs = calloc(self->count + 1, sizeof *self->jobs);
    if (!self->workloads || !self->failures || !self->facts || !self->jobs)
        return hl_base_fail_no_memory(error);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->grown, NULL);
    load_all(self);
    pthread_cond_destroy(&self->grown);
    pthread_mutex_destroy(&self->lock);
    size_t failed = self->failed_at;
    if (!self->job_count)
        failed = 0;
    if (error && failed < self->count)
        *error = self->failures[failed];
    return failed < self->count ? self->failures[failed].status : HAUL_OK;
}

static void release_loader(rank_loader *self)
{
    for (size_t i = 0; self->workloads && i < self->count; i++)
        haul_workload_free(self->workloads[i]);
    for (size_t i = 0; self->jobs && i < self->count; i++) {
        haul_workload_free(self->jobs[i].single);
        hl_workload_joiner_free(self->jobs[i].joiner);
    }
    free(self->workloads);
    free(self->failures);
    free(self->facts);
    free(self->jobs);
}

/* The files that are named, with those of folders. Released by the caller, whatever is returned. */
static haul_status list_files(const char *const *paths, size_t count, hl_base_name_list *files,
                              haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < count; i++)
        status = hl_trace_profiles_add(files, paths[i], error);
    return status;
}

static haul_status load_as_one(const hl_base_name_list *files, haul_workload **workload,
                               haul_error *error)
{
    if (files->count == 1)
        return haul_trace_load(files->names[0], workload, error);
    rank_loader self = {
        .paths = (const char *const *)files->names, .count = files->count, .as_one = true};
    haul_status status = load_jobs(&self, error);
    if (!status)
        status = take_job(&self, 0, workload, error);
    release_loader(&self);
    return status;
}

haul_status haul_trace_load_ranks(const char *const *paths, size_t count, haul_workload **workload,
                                  haul_error *error)
{
    hl_base_name_list files = {0};
    haul_status status = list_files(paths, count, &files, error);
    if (!status)
        status = load_as_one(&files, workload, error);
    hl_base_name_list_release(&files);
    return status;
}

haul_status haul_trace_load_jobs(const char *const *paths, size_t count, haul_trace_jobs *jobs,
                                 haul_error *error)
{
    hl_base_name_list files = {0};
    haul_trace_jobs made = {.items = NULL};
    haul_status status = list_files(paths, count, &files, error);
    rank_loader self = {.paths = (const char *const *)files.names, .count = files.count};
    if (!status)
        made.items = calloc(files.count + 1, sizeof(haul_workload *));
    if (!status)
        status = made.items ? load_jobs(&self, error) : hl_base_fail_no_memory(error);
    while (!status && made.count < self.job_count) {
        status = take_job(&self, made.count, &made.items[made.count], error);
        made.count += !status;
    }
    /* The list of failures is handed over without its empty ones. */
    for (size_t i = 0; !status && self.failures && i < self.count; i++)
        if (self.failures[i].status)
            self.failures[made.unread_count++] = self.failures[i];
    if (!status) {
        made.unread = self.failures;
        self.failures = NULL;
    }
    release_loader(&self);
    hl_base_name_list_release(&files);
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
    free(jobs->unread);
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
    return hl_workload_join_one(&of, orphaned, part, error);
}
