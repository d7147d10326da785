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
static bool align(const rank_loader *self, haul_part *parts)
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
        parts[i] = (haul_part){.of = of, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
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
        const int64_t end_ns = haul_end_of(of->ops[i].start_ns, of->ops[i].dur_ns);
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns;
}

/* A file whose operations all end before those of another begin: processes of one program run at
 * once. Says so in `note`, which is "" otherwise. */
static void find_apart(const rank_loader *self, const haul_part *parts, char *note, size_t size)
{
    int64_t end_ns = INT64_MAX, begin_ns = INT64_MIN;
    size_t ended = 0, begun = 0;
    note[0] = '\0';
    for (size_t i = 0; i < self->count; i++) {
        const haul_workload *const of = self->workloads[i];
        if (!of->op_count)
            continue;
        const int64_t last_ns = haul_add_ns(last_end(of), parts[i].shift_ns);
        const int64_t first_ns = haul_add_ns(of->ops[0].start_ns, parts[i].shift_ns);
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
    haul_part *const parts = calloc(self->count, sizeof *parts);
    if (!parts)
        return haul_fail_no_memory(error);
    (void)snprintf(source, sizeof source, "%.400s and %zu more", self->paths[0], self->count - 1);
    const bool aligned = align(self, parts);
    find_apart(self, parts, apart, sizeof apart);
    const haul_join_options options = {
        .source = source,
        .format = self->workloads[0]->format,
        .note = !aligned ? "when each file's times begin: each is taken to begin at its first "
                           "operation"
                : *apart ? apart
                         : NULL};
    const haul_status status =
        haul_workload_join(parts, self->count, &options, &orphaned, workload, error);
    free(parts);
    return status;
}

/* The first failure by the files' order is reported, whichever thread met one first. */
haul_status haul_trace_load_ranks(const char *const *paths, size_t count, haul_workload **workload,
                                  haul_error *error)
{
    if (count == 1)
        return haul_trace_load(paths[0], workload, error);
    rank_loader self = {.paths = paths,
                        .count = count,
                        .failed_at = count,
                        .workloads = calloc(count, sizeof(haul_workload *))};
    if (!self.workloads)
        return haul_fail_no_memory(error);
    pthread_mutex_init(&self.lock, NULL);
    load_all(&self);
    haul_status status = self.status;
    if (!status)
        status = join_all(&self, workload, error);
    else if (error)
        *error = self.error;
    for (size_t i = 0; i < count; i++)
        haul_workload_free(self.workloads[i]);
    free(self.workloads);
    pthread_mutex_destroy(&self.lock);
    return status;
}

/* A window is a workload of one part. */
haul_status haul_trace_cut(const haul_workload *workload, int64_t from_ns, int64_t to_ns,
                           uint64_t *orphaned, haul_workload **part, haul_error *error)
{
    const int64_t limit = INT64_C(1) << 61; /* of times */
    const int64_t first = workload->op_count ? workload->ops[0].start_ns : 0;
    if (from_ns < 0 || to_ns <= from_ns || to_ns > limit)
        return haul_fail(error, HAUL_USAGE,
                         "expected times of a window, the second after the first");
    const haul_part of = {.of = workload, .from_ns = first + from_ns, .to_ns = first + to_ns};
    const haul_join_options options = {.source = workload->source, .format = workload->format};
    return haul_workload_join(&of, 1, &options, orphaned, part, error);
}
