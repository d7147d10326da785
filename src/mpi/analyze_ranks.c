/* The processes share files, not operations: what is kept of a file is one row, so memory is that
 * of the largest file, however many there are. Files are handed out by size, the largest first, to
 * the process that has least to read. */
#include "mpi/analyze_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/grow.h"
#include "haul/analysis.h"
#include "haul/trace.h"
#include "haul/units.h"
#include "trace/profile_folder.h"

/* The measures of each file, as keys, heads of tables, and words in a sentence. */
#define PARTS(X)                                                                                   \
    X(SPAN, "span", "span")                                                                        \
    X(KERNELS, "kernels", "kernels")                                                               \
    X(COLLECTIVES, "collectives", "collectives")                                                   \
    X(EXPOSED, "exposed_collectives", "exposed")                                                   \
    X(COPIES, "copies", "copies")                                                                  \
    X(IDLE, "idle", "idle")

typedef enum part {
#define ENUM_OF(name, key, head) PART_##name,
    PARTS(ENUM_OF)
#undef ENUM_OF
        PART_COUNT
} part;

static const char *const heads[PART_COUNT] = {
#define HEAD_OF(name, key, head) head,
    PARTS(HEAD_OF)
#undef HEAD_OF
};

/* Of one file; sent as bytes between processes of one program. */
typedef struct row {
    uint64_t file; /* its number */
    int64_t rank;  /* -1: the file names none */
    uint64_t operations;
    uint64_t losses;
    int64_t time_ns[PART_COUNT];
    uint64_t gpus;
    char gpu[96];
    char host[72];
    haul_error error; /* its status is OK where the file was read */
} row;

/* The names of all files, in one block, and who reads each; of the first process until they are
 * sent. */
typedef struct file_list {
    char *names; /* ended by zeros, one behind the other */
    size_t bytes, capacity;
    uint64_t *sizes;
    size_t count, size_capacity;
    int *readers;
} file_list;

/* --- the list, made by the first process */

static haul_status add_file(file_list *self, const char *path, uint64_t size, haul_error *error)
{
    const size_t length = strlen(path) + 1;
    if (!hl_base_grow(&self->names, &self->capacity, self->bytes + length, 1) ||
        !hl_base_grow(&self->sizes, &self->size_capacity, self->count + 1, sizeof *self->sizes))
        return hl_base_fail_no_memory(error);
    memcpy(self->names + self->bytes, path, length);
    self->bytes += length;
    self->sizes[self->count++] = size;
    return HAUL_OK;
}

static haul_status list_files(file_list *self, const hl_mpi_analyze_request *given,
                              haul_error *error)
{
    hl_base_name_list found = {0};
    struct stat is;
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < given->count; i++)
        status = hl_trace_profiles_add(&found, given->paths[i], error);
    for (size_t i = 0; !status && i < found.count; i++)
        status = stat(found.names[i], &is)
                     ? hl_base_fail_open(error, found.names[i])
                     : add_file(self, found.names[i], (uint64_t)is.st_size, error);
    hl_base_name_list_release(&found);
    return status;
}

typedef struct sized {
    uint64_t size;
    size_t file;
} sized;

static int compare_sizes(const void *a, const void *b)
{
    const sized *const x = a, *const y = b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return hl_base_compare_unsigned(x->file, y->file);
}

/* The largest first, each to the process that has least so far. */
static haul_status hand_out(file_list *self, int processes, haul_error *error)
{
    sized *const order = malloc((self->count + 1) * sizeof *order);
    uint64_t *const load = calloc((size_t)processes, sizeof *load);
    self->readers = malloc((self->count + 1) * sizeof *self->readers);
    if (!order || !load || !self->readers) {
        free(order);
        free(load);
        return hl_base_fail_no_memory(error);
    }
    for (size_t i = 0; i < self->count; i++)
        order[i] = (sized){self->sizes[i], i};
    qsort(order, self->count, sizeof *order, compare_sizes);
    for (size_t i = 0; i < self->count; i++) {
        int least = 0;
        for (int p = 1; p < processes; p++)
            least = load[p] < load[least] ? p : least;
        self->readers[order[i].file] = least;
        load[least] += order[i].size + 1;
    }
    free(order);
    free(load);
    return HAUL_OK;
}

/* The worst status of all processes: none goes on alone. */
static haul_status agree_status(MPI_Comm of, haul_status status)
{
    int own = (int)status, worst = 0;
    (void)MPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MAX, of);
    return status ? status : (haul_status)worst;
}

/* Every process gets the first one's list. */
static haul_status share_files(MPI_Comm of, int process, file_list *files, haul_error *error)
{
    uint64_t counts[2] = {files->count, files->bytes};
    (void)MPI_Bcast(counts, 2, MPI_UINT64_T, 0, of);
    const bool fits = counts[0] < INT32_MAX && counts[1] < INT32_MAX;
    haul_status status = HAUL_OK;
    if (process && fits) {
        files->names = malloc(counts[1] + 1);
        files->readers = malloc((counts[0] + 1) * sizeof *files->readers);
        files->count = counts[0];
        files->bytes = counts[1];
    }
    if (!fits || !files->names || !files->readers)
        status = hl_base_fail_no_memory(error);
    HAUL_TRY(agree_status(of, status));
    (void)MPI_Bcast(files->names, (int)counts[1], MPI_CHAR, 0, of);
    (void)MPI_Bcast(files->readers, (int)counts[0], MPI_INT, 0, of);
    return HAUL_OK;
}

/* --- a row */

static void fill_row(row *to, const haul_workload *workload, const haul_analysis *analysis)
{
    to->rank = workload->rank;
    to->operations = workload->counts.device_ops;
    to->losses = workload->loss_count;
    to->time_ns[PART_SPAN] = analysis->span_ns;
    to->time_ns[PART_KERNELS] = analysis->busy.kernel_ns;
    to->time_ns[PART_COLLECTIVES] = analysis->busy.communication_ns;
    to->time_ns[PART_EXPOSED] = haul_analysis_exposed_ns(analysis);
    to->time_ns[PART_COPIES] = analysis->busy.copy_ns;
    to->time_ns[PART_IDLE] = analysis->idle_ns;
    to->gpus = analysis->device_count;
    if (workload->device_count && workload->devices[0].name)
        (void)snprintf(to->gpu, sizeof to->gpu, "%s", workload->devices[0].name);
    if (workload->device_count && workload->devices[0].host)
        (void)snprintf(to->host, sizeof to->host, "%s", workload->devices[0].host);
}

/* The rows of this process's files, in the order of the files. */
static row *read_share(const file_list *files, int process, size_t *count)
{
    const char *name = files->names;
    *count = 0;
    for (size_t i = 0; i < files->count; i++)
        *count += files->readers[i] == process;
    row *const rows = calloc(*count + 1, sizeof *rows);
    size_t next = 0;
    for (size_t i = 0; rows && i < files->count; i++, name += strlen(name) + 1) {
        if (files->readers[i] != process)
            continue;
        rows[next].file = i;
        row *to = &rows[next++];
        haul_workload *workload = NULL;
        haul_analysis *analysis = NULL;
        haul_status status = haul_trace_load(name, &workload, &to->error);
        if (!status)
            status = haul_analysis_make(workload, &analysis, &to->error);
        if (!status)
            fill_row(to, workload, analysis);
        to->error.status = status;
        haul_analysis_free(analysis);
        haul_workload_free(workload);
    }
    return rows;
}

/* Rows of all processes, at the first one in the order of the files; NULL elsewhere. */
static haul_status gather_rows(MPI_Comm of, const file_list *files, const row *own,
                               size_t own_count, row **all)
{
    int process, processes;
    (void)MPI_Comm_rank(of, &process);
    (void)MPI_Comm_size(of, &processes);
    MPI_Datatype one;
    (void)MPI_Type_contiguous((int)sizeof *own, MPI_BYTE, &one);
    (void)MPI_Type_commit(&one);
    int *const counts = calloc((size_t)processes * 2, sizeof *counts);
    row *const received = process ? NULL : calloc(files->count + 1, sizeof *received);
    haul_status status = counts && (process || received) ? HAUL_OK : HAUL_STATUS_NO_MEMORY;
    status = agree_status(of, status);
    if (!status && counts) {
        for (size_t i = 0; i < files->count; i++)
            counts[files->readers[i]]++;
        for (int p = 1; p < processes; p++)
            counts[processes + p] = counts[processes + p - 1] + counts[p - 1];
        (void)MPI_Gatherv(own, (int)own_count, one, received, counts, counts + processes, one, 0,
                          of);
    }
    (void)MPI_Type_free(&one);
    free(counts);
    if (status)
        free(received);
    else
        *all = received;
    return status;
}

/* --- the report */

static int compare_rows(const void *a, const void *b)
{
    const row *const x = a, *const y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return hl_base_compare_unsigned(x->file, y->file);
}

typedef struct answer {
    haul_report *report;
    const char **names; /* of the files, by their numbers */
    const row *rows;    /* that were read, by rank */
    size_t count;
    int64_t *sorted; /* room for a time of each */
    int processes;
} answer;

/* A rank for people: a file that names none has its place. */
static long long rank_of(const answer *self, size_t i)
{
    return self->rows[i].rank >= 0 ? (long long)self->rows[i].rank : (long long)i;
}

typedef struct spread {
    int64_t least_ns, median_ns, most_ns;
    size_t least_at, most_at; /* rows */
} spread;

static spread spread_of(const answer *self, part of)
{
    spread found = {.least_at = 0};
    for (size_t i = 0; i < self->count; i++) {
        const int64_t time_ns = self->sorted[i] = self->rows[i].time_ns[of];
        if (time_ns < self->rows[found.least_at].time_ns[of])
            found.least_at = i;
        if (time_ns > self->rows[found.most_at].time_ns[of])
            found.most_at = i;
    }
    qsort(self->sorted, self->count, sizeof *self->sorted, hl_base_compare_signed_items);
    found.least_ns = self->sorted[0];
    found.median_ns = self->sorted[self->count / 2];
    found.most_ns = self->sorted[self->count - 1];
    return found;
}

/* Of the time that each GPU's file spans, over all files. */
static double share_of(const answer *self, part of)
{
    double time = 0, span = 0;
    for (size_t i = 0; i < self->count; i++) {
        time += (double)self->rows[i].time_ns[of];
        span += (double)self->rows[i].time_ns[PART_SPAN];
    }
    return span > 0 ? time / span : 0;
}

static const char *time_text(int64_t time_ns, char *text, size_t size)
{
    return haul_quantity_format(1e-9 * (double)time_ns, HAUL_DIM_SECONDS, 3, text, size);
}

static void say_answer(const answer *self)
{
    char text[32], files[48], least[32];
    const spread span = spread_of(self, PART_SPAN), waits = spread_of(self, PART_COLLECTIVES);
    haul_report_say(self->report,
                    "%s at the median on %s: kernels run %.1f %% of it, collectives %.1f %%, "
                    "copies %.1f %%; idle %.1f %%",
                    time_text(span.median_ns, text, sizeof text),
                    haul_number_of(self->count, "rank", NULL, files, sizeof files),
                    100 * share_of(self, PART_KERNELS), 100 * share_of(self, PART_COLLECTIVES),
                    100 * share_of(self, PART_COPIES), 100 * share_of(self, PART_IDLE));
    const char *path = self->names[self->rows[span.most_at].file];
    const char *slash = strrchr(path, '/');
    haul_report_line(self->report, "longest", "rank %lld, %s (%s)", rank_of(self, span.most_at),
                     time_text(span.most_ns, text, sizeof text),
                     slash && slash[1] ? slash + 1 : path);
    if (waits.most_ns)
        haul_report_line(self->report, "collectives",
                         "rank %lld is in them for %s, rank %lld for %s: the last to arrive "
                         "waits least",
                         rank_of(self, waits.least_at),
                         time_text(waits.least_ns, least, sizeof least),
                         rank_of(self, waits.most_at), time_text(waits.most_ns, text, sizeof text));
    uint64_t lossy = 0;
    for (size_t i = 0; i < self->count; i++)
        lossy += self->rows[i].losses > 0;
    if (lossy)
        haul_report_line(self->report, "incomplete", "%s something that the profiler lost",
                         haul_number_of(lossy, "file names", "files name", files, sizeof files));
}

/* How far the ranks are apart. */
static void add_spreads(const answer *self)
{
    static const haul_column columns[] = {
        {"part", HAUL_UNIT_TEXT, .head = "Over the ranks"},
        {"least_s", HAUL_UNIT_TIME, .head = "least"},
        {"median_s", HAUL_UNIT_TIME, .head = "median"},
        {"most_s", HAUL_UNIT_TIME, .head = "most"},
        {"most_rank", HAUL_UNIT_ID, .head = "of rank"},
        {0},
    };
    haul_table *const table = haul_report_table(self->report, "spreads", columns);
    for (int p = 0; p < PART_COUNT; p++) {
        const spread found = spread_of(self, (part)p);
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(heads[p]), haul_cell_time(found.least_ns),
                                  haul_cell_time(found.median_ns), haul_cell_time(found.most_ns),
                                  haul_cell_count((uint64_t)rank_of(self, found.most_at))));
    }
}

static void add_ranks(const answer *self)
{
    enum { SHOWN = 16 };
#define COLUMN_OF(name, key, head_of) {key "_s", HAUL_UNIT_TIME, .head = head_of},
    static const haul_column columns[] = {
        {"rank", HAUL_UNIT_ID, .head = "Rank"},
        PARTS(COLUMN_OF){"operations", HAUL_UNIT_COUNT, .head = "operations"},
        {"losses", .unit = HAUL_UNIT_COUNT},
        {"gpus", .unit = HAUL_UNIT_COUNT},
        {"gpu", .unit = HAUL_UNIT_TEXT},
        {"host", .unit = HAUL_UNIT_TEXT},
        {"file", .unit = HAUL_UNIT_TEXT},
        {0},
    };
#undef COLUMN_OF
    haul_table *const table = haul_report_table(self->report, "ranks", columns);
    haul_table_limit(table, SHOWN);
    haul_table_csv(table);
    for (size_t i = 0; i < self->count; i++) {
        const row *const of = &self->rows[i];
#define CELL_OF(name, key, head_of) haul_cell_time(of->time_ns[PART_##name]),
        haul_table_row(table, HAUL_CELLS(haul_cell_count((uint64_t)rank_of(self, i)),
                                         PARTS(CELL_OF) haul_cell_count(of->operations),
                                         haul_cell_count(of->losses), haul_cell_count(of->gpus),
                                         haul_cell_text(*of->gpu ? of->gpu : NULL),
                                         haul_cell_text(*of->host ? of->host : NULL),
                                         haul_cell_text(self->names[of->file])));
#undef CELL_OF
    }
}

static haul_status write_report(const answer *self, const hl_mpi_analyze_request *given,
                                haul_error *error)
{
    static const haul_column head[] = {
        {"files", .unit = HAUL_UNIT_COUNT}, {"processes", .unit = HAUL_UNIT_COUNT}, {0}};
    const haul_report_options options = {.format = given->format, .verbose = given->verbose};
    haul_report_object(
        self->report, NULL, head,
        HAUL_CELLS(haul_cell_count(self->count), haul_cell_count((uint64_t)self->processes)));
    if (self->count) {
        say_answer(self);
        add_spreads(self);
        add_ranks(self);
    }
    FILE *const out = given->output ? fopen(given->output, "w") : stdout;
    if (!out)
        return hl_base_fail_open(error, given->output);
    haul_status status = haul_report_write(self->report, &options, out, error);
    if (given->output && fclose(out) && !status)
        status = haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.300s'", given->output);
    return status;
}

static haul_status report_all(const file_list *files, row *rows, int processes,
                              const hl_mpi_analyze_request *given, haul_error *error)
{
    size_t unread = 0;
    answer self = {.rows = rows,
                   .names = calloc(files->count + 1, sizeof *self.names),
                   .sorted = calloc(files->count + 1, sizeof *self.sorted),
                   .processes = processes,
                   .report = haul_report_new("ranks")};
    const char *name = files->names;
    haul_error first = {.status = HAUL_OK};
    haul_status status = HAUL_OK;
    if (self.names && self.sorted && rows) {
        for (size_t i = 0; i < files->count; i++, name += strlen(name) + 1)
            self.names[i] = name;
        for (size_t i = 0; i < files->count; i++) /* rows that were read come to the front */
            if (!rows[i].error.status)
                rows[self.count++] = rows[i];
            else if (!unread++)
                first = rows[i].error;
        qsort(rows, self.count, sizeof *rows, compare_rows);
        if (unread)
            haul_report_line(self.report, "unread", "%zu of %zu files", unread, files->count);
        status = write_report(&self, given, error);
    } else {
        status = hl_base_fail_no_memory(error);
    }
    if (!status && unread) {
        *error = first;
        status = first.status;
    }
    haul_report_free(self.report);
    free((void *)self.names);
    free(self.sorted);
    return status;
}

haul_status hl_mpi_analyze_ranks(MPI_Comm of, const hl_mpi_analyze_request *given,
                                 haul_error *error)
{
    int process, processes;
    size_t own_count = 0;
    file_list files = {.names = NULL};
    row *own = NULL, *all = NULL;
    (void)MPI_Comm_rank(of, &process);
    (void)MPI_Comm_size(of, &processes);
    haul_status status = process ? HAUL_OK : list_files(&files, given, error);
    if (!process && !status)
        status = hand_out(&files, processes, error);
    status = agree_status(of, status);
    if (!status)
        status = share_files(of, process, &files, error);
    if (!status) {
        own = read_share(&files, process, &own_count);
        status = agree_status(of, own ? HAUL_OK : hl_base_fail_no_memory(error));
    }
    if (!status)
        status = gather_rows(of, &files, own, own_count, &all);
    if (!status && !process)
        status = report_all(&files, all, processes, given, error);
    status = agree_status(of, status);
    free(own);
    free(all);
    free(files.names);
    free(files.sizes);
    free(files.readers);
    files = (file_list){.names = NULL};
    return status;
}
