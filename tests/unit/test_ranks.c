/* Profiles of several processes read as one, and windows of a profile. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "haul/trace.h"
#include "workload_check.h"

enum { MOST = 16 };

static char folder[] = "/tmp/haul-ranks-XXXXXX";
static char names[MOST][64];
static const char *paths[MOST];

/* A process's trace: a copy, its call, a kernel, a wait and a range, `at` us after its epoch. */
static void write_rank(int file, const char *head, long long at)
{
    snprintf(names[file], sizeof names[file], "%s/rank%d.json", folder, file);
    paths[file] = names[file];
    FILE *out = fopen(names[file], "w");
    assert_non_null(out);
    fprintf(
        out,
        "{%s\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMemcpyAsync\",\"pid\":9,\"tid\":9,"
        "\"ts\":%lld,\"dur\":2,\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> "
        "Device)\",\"pid\":0,"
        "\"tid\":7,\"ts\":%lld,\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1,"
        "\"bytes\":100}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,"
        "\"ts\":%lld,\"dur\":2,\"args\":{\"correlation\":2}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%lld,\"dur\":"
        "20,"
        "\"args\":{\"device\":0,\"stream\":7,\"correlation\":2,\"Collective name\":\"allreduce\","
        "\"dtype\":\"Float\"}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaDeviceSynchronize\",\"pid\":9,"
        "\"tid\":9,\"ts\":%lld,\"dur\":30,\"args\":{\"correlation\":3}},"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step\",\"pid\":9,\"tid\":9,\"ts\":%"
        "lld,"
        "\"dur\":50}]}",
        head, at, at + 4, at + 6, at + 20, at + 22, at);
    fclose(out);
}

static void ranks_are_joined(void **state)
{
    (void)state;
    for (int i = 0; i < MOST; i++) {
        char head[128];
        snprintf(head, sizeof head,
                 "\"baseTimeNanoseconds\":%lld,\"distributedInfo\":{\"rank\":%d},",
                 1700000000000000000 + 1000LL * i, MOST - i);
        write_rank(i, head, 100);
    }
    haul_workload *workload = NULL;
    haul_error error = {0};
    assert_int_equal(haul_trace_load_ranks(paths, MOST, &workload, &error), HAUL_OK);
    workload_check(workload);
    assert_int_equal(workload->op_count, 3 * MOST);
    assert_int_equal(workload->counts.calls, 3 * MOST);
    assert_int_equal(workload->counts.orphans, 0);
    assert_int_equal(workload->device_count, MOST);
    assert_int_equal(workload->stream_count, MOST);
    assert_int_equal(workload->thread_count, MOST);
    assert_int_equal(workload->range_count, MOST);
    assert_int_equal(workload->collective_count, 1);
    assert_true(workload->edge_count >= MOST);
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_COPY)
            continue;
        const int64_t file = MOST - workload->devices[workload->streams[op->stream].device].rank;
        assert_int_equal(op->start_ns, 104000 + 1000 * file); /* by the files' clocks */
        assert_int_equal(op->call_ns, 100000 + 1000 * file);
    }
    assert_string_equal(haul_workload_string(workload, workload->ranges[0].name), "step");
    haul_workload_free(workload);
}

/* A process's trace of `count` kernels at random times, each within an operator, by the rank. */
static void write_kernels(int file, int count, unsigned *random)
{
    snprintf(names[file], sizeof names[file], "%s/rank%d.json", folder, file);
    paths[file] = names[file];
    FILE *out = fopen(names[file], "w");
    assert_non_null(out);
    fprintf(out,
            "{\"baseTimeNanoseconds\":%lld,\"distributedInfo\":{\"rank\":%d},\"traceEvents\":[{}",
            1700000000000000000 + 500LL * file, file);
    for (int i = 0; i < count; i++) {
        *random = *random * 1103515245 + 12345;
        const unsigned at = 1000 + 10 * (unsigned)i + *random / 65536 % 40;
        fprintf(out,
                ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::of_%d\",\"pid\":9,\"tid\":9,"
                "\"ts\":%u,\"dur\":3},{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
                "\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,\"ts\":%u,\"dur\":1,\"args\":{"
                "\"correlation\":%d}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,"
                "\"tid\":7,\"ts\":%u,\"dur\":2,\"args\":{\"device\":0,\"stream\":7,"
                "\"correlation\":%d}}",
                file, at, at + 1, i + 1, file, at + 5 + *random / 97 % 60, i + 1);
    }
    fputs("]}", out);
    fclose(out);
}

/* Whatever the times, each operation stays with its rank's device, thread and operator, and both
 * its links with its own. */
static void operations_are_in_order_and_keep_what_is_theirs(void **state)
{
    (void)state;
    enum { KERNELS = 500 };
    unsigned random = 1;
    for (int i = 0; i < MOST; i++)
        write_kernels(i, KERNELS + i, &random);
    haul_workload *workload = NULL;
    haul_error error = {0};
    assert_int_equal(haul_trace_load_ranks(paths, MOST, &workload, &error), HAUL_OK);
    workload_check(workload);
    assert_int_equal(workload->op_count, MOST * KERNELS + MOST * (MOST - 1) / 2);
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i], *before = i ? op - 1 : op;
        char name[16], operator_name[16];
        const int rank = (int)workload->devices[workload->streams[op->stream].device].rank;
        assert_true(before->start_ns <= op->start_ns);
        snprintf(name, sizeof name, "k%d", rank);
        snprintf(operator_name, sizeof operator_name, "aten::of_%d", rank);
        assert_string_equal(haul_workload_string(workload, op->name), name);
        assert_string_equal(haul_workload_string(workload, haul_op_operator(workload, i)),
                            operator_name);
        if (op->thread_prev != HAUL_NONE) {
            assert_int_equal(workload->ops[op->thread_prev].thread, op->thread);
            assert_true(workload->ops[op->thread_prev].call_ns <= op->call_ns);
        }
    }
    haul_workload_free(workload);
}

/* A process's trace of kernels, each launched from a line of its own; of even ranks without lines.
 */
static void write_lined(int file, int kernels)
{
    snprintf(names[file], sizeof names[file], "%s/rank%d.json", folder, file);
    paths[file] = names[file];
    FILE *out = fopen(names[file], "w");
    assert_non_null(out);
    fprintf(out,
            "{\"baseTimeNanoseconds\":%lld,\"distributedInfo\":{\"rank\":%d},\"traceEvents\":[{}",
            1700000000000000000 + 500LL * file, file);
    if (file % 2)
        fprintf(out,
                ",{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"main.py(%d): run\","
                "\"pid\":9,\"tid\":9,\"ts\":1,\"dur\":100000}",
                file);
    for (int i = 0; i < kernels; i++) {
        if (file % 2)
            fprintf(out,
                    ",{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"train_%d.py(%d): "
                    "step\",\"pid\":9,\"tid\":9,\"ts\":%d,\"dur\":8}",
                    file, 10 + i, 100 + 10 * i);
        fprintf(out,
                ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
                "\"tid\":9,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},{\"ph\":\"X\","
                "\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":2,"
                "\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}}",
                102 + 10 * i, i + 1, i, 104 + 10 * i, i + 1);
    }
    fputs("]}", out);
    fclose(out);
}

static void check_lines(const haul_workload *workload)
{
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *const op = &workload->ops[i];
        const int rank = (int)workload->devices[workload->streams[op->stream].device].rank;
        const char *const name = haul_workload_string(workload, op->name);
        char line[64], stack[128];
        snprintf(line, sizeof line, "train_%d.py:%ld in step", rank,
                 10 + strtol(name + 1, NULL, 10));
        snprintf(stack, sizeof stack, "%s <- main.py:%d in run", line, rank);
        if (rank % 2) {
            assert_string_equal(haul_workload_string(workload, haul_op_line(workload, i)), line);
            assert_string_equal(haul_workload_string(workload, haul_op_stack(workload, i)), stack);
        } else {
            assert_int_equal(haul_op_line(workload, i), HAUL_NONE);
            assert_int_equal(haul_op_stack(workload, i), HAUL_NONE);
        }
    }
}

/* Of joined ranks, of a file that they are written to, and of a window of them. */
static void lines_stay_with_their_rank(void **state)
{
    (void)state;
    enum { KERNELS = 30 };
    char path[100];
    haul_workload *joined = NULL, *read = NULL, *part = NULL;
    haul_error error = {0};
    for (int i = 0; i < MOST; i++)
        write_lined(i, KERNELS);
    assert_int_equal(haul_trace_load_ranks(paths, MOST, &joined, &error), HAUL_OK);
    workload_check(joined);
    assert_int_equal(joined->op_count, MOST * KERNELS);
    check_lines(joined);
    uint64_t orphaned;
    assert_int_equal(haul_trace_cut(joined, 50000, 200000, &orphaned, &part, &error), HAUL_OK);
    assert_int_equal(part->op_count > 0 && part->op_count < joined->op_count, 1);
    check_lines(part);
    haul_workload_free(part);
    snprintf(path, sizeof path, "%s/joined.sqlite", folder);
    assert_int_equal(haul_trace_write_sqlite(joined, path, &error), HAUL_OK);
    assert_int_equal(haul_trace_load(path, &read, &error), HAUL_OK);
    (void)remove(path);
    assert_int_equal(read->op_count, joined->op_count);
    check_lines(read);
    haul_workload_free(read);
    haul_workload_free(joined);
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static long peak_kib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

/* One copy of the operations, and the files that are being read: two for each core. */
static void joining_takes_one_copy(void **state)
{
    (void)state;
    enum { KERNELS = 10000, RANKS = 64 };
    const char *one_file[RANKS];
    unsigned random = 1;
    haul_workload *workload = NULL;
    haul_error error = {0};
    if (SANITIZED)
        skip();
    write_kernels(0, KERNELS, &random);
    for (int i = 0; i < RANKS; i++)
        one_file[i] = names[0];
    const long before_kib = peak_kib(), cores = sysconf(_SC_NPROCESSORS_ONLN);
    assert_int_equal(haul_trace_load_ranks(one_file, RANKS, &workload, &error), HAUL_OK);
    const double taken = 1024.0 * (double)(peak_kib() - before_kib);
    const double bytes = (double)(workload->op_count * sizeof(haul_op));
    assert_int_equal(workload->op_count, RANKS * KERNELS);
    print_message("%.1f MB for %.1f MB of operations\n", 1e-6 * taken, 1e-6 * bytes);
    assert_true(taken < bytes * (1.25 + 2.0 * (double)cores / RANKS) + 4e6);
    haul_workload_free(workload);
}

static void clocks_may_be_unknown(void **state)
{
    (void)state;
    write_rank(0, "", 100);
    write_rank(1, "", 7000);
    haul_workload *workload = NULL;
    assert_int_equal(haul_trace_load_ranks(paths, 2, &workload, NULL), HAUL_OK);
    workload_check(workload);
    assert_int_equal(workload->ops[0].start_ns, 0);
    assert_int_equal(workload->ops[1].start_ns, 0);
    assert_int_equal(workload->devices[1].rank, 1);
    bool said = false;
    for (size_t i = 0; i < workload->missing_count; i++)
        said |= strstr(workload->missing[i].text, "first operation") != NULL;
    assert_true(said);
    haul_workload_free(workload);
}

static void the_first_wrong_file_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < MOST; i++)
        write_rank(i, "", 1);
    for (int i = 5; i < MOST; i += 4)
        assert_int_equal(truncate(paths[i], 40), 0);
    haul_workload *workload = NULL;
    haul_error error = {0};
    assert_int_equal(haul_trace_load_ranks(paths, MOST, &workload, &error), HAUL_STATUS_BAD_INPUT);
    assert_string_equal(error.file, paths[5]);
    assert_null(workload);
}

static void windows_are_cut(void **state)
{
    (void)state;
    write_rank(0, "", 100);
    haul_workload *workload = NULL, *part = NULL;
    uint64_t orphaned = 7;
    haul_error error = {0};
    assert_int_equal(haul_trace_load(paths[0], &workload, NULL), HAUL_OK);
    /* the first operation, the copy, starts at 104 us; the kernel 16 us later; its call was 2 us
     * after the copy's start */
    assert_int_equal(haul_trace_cut(workload, 0, 1000000, &orphaned, &part, &error), HAUL_OK);
    workload_check(part);
    assert_int_equal(part->op_count, 3);
    assert_int_equal(orphaned, 1); /* the copy's call was before it */
    assert_int_equal(part->ops[0].start_ns, 104000);
    assert_int_equal(part->counts.orphans, 1);
    assert_int_equal(part->range_count, 1);
    haul_workload_free(part);
    assert_int_equal(haul_trace_cut(workload, 10000, 17000, &orphaned, &part, &error), HAUL_OK);
    workload_check(part);
    assert_int_equal(part->op_count, 1);
    assert_int_equal(part->ops[0].kind, HAUL_OP_KERNEL);
    assert_int_equal(part->ops[0].stream_prev, HAUL_NONE);
    assert_int_equal(orphaned, 1);
    haul_workload_free(part);
    assert_int_equal(haul_trace_cut(workload, 10, 10, &orphaned, &part, &error), HAUL_STATUS_USAGE);
    haul_workload_free(workload);
}

/* Ranks of two jobs, and a file that tells neither clock nor rank. */
static void files_are_sorted_into_jobs(void **state)
{
    (void)state;
    static const struct {
        long long epoch_us; /* 0: not told */
        int rank;           /* -1: not told */
    } files[] = {{1000, 0},   {900000, 0}, {1010, 1},    {900010, 1},
                 {0, -1},     {1020, 1},   {4000000, 2}, /* the launcher took its time */
                 {8000000, 3}};
    /* of each job, in the order of their first files */
    static const size_t ops[] = {9, 6, 3, 3, 3};
    enum { FILES = sizeof files / sizeof *files, JOBS = sizeof ops / sizeof *ops };
    for (int i = 0; i < FILES; i++) {
        char head[128] = "";
        if (files[i].epoch_us)
            snprintf(head, sizeof head,
                     "\"baseTimeNanoseconds\":%lld,\"distributedInfo\":{\"rank\":%d},",
                     1700000000000000000 + 1000 * files[i].epoch_us, files[i].rank);
        write_rank(i, head, 100);
    }
    haul_trace_jobs jobs;
    haul_error error = {0};
    assert_int_equal(haul_trace_load_jobs(paths, FILES, &jobs, &error), HAUL_OK);
    assert_int_equal(jobs.count, JOBS);
    for (size_t j = 0; j < JOBS; j++) {
        workload_check(jobs.items[j]);
        assert_int_equal(jobs.items[j]->op_count, ops[j]);
    }
    haul_trace_jobs_release(&jobs);
    assert_int_equal(haul_trace_load_jobs((const char *const[]){"/not/there"}, 1, &jobs, &error),
                     HAUL_STATUS_IO);
}

/* Times since 1970 in files that tell no epoch, as of PyTorch's profiler before 2024: ranks of two
 * jobs, years apart. */
static void times_of_the_calendar_tell_jobs_apart(void **state)
{
    (void)state;
    static const char *const heads[] = {"\"distributedInfo\":{\"rank\":0},",
                                        "\"distributedInfo\":{\"rank\":3},",
                                        "\"distributedInfo\":{\"rank\":1},"};
    write_rank(0, heads[0], 1695835542481129);
    write_rank(1, heads[1], 1661203462584767);
    write_rank(2, heads[2], 1695835542481149);
    haul_trace_jobs jobs;
    haul_error error = {0};
    assert_int_equal(haul_trace_load_jobs(paths, 3, &jobs, &error), HAUL_OK);
    assert_int_equal(jobs.count, 2);
    workload_check(jobs.items[0]);
    assert_int_equal(jobs.items[0]->op_count, 6);
    /* 20 us from one to the other, as their clocks say */
    assert_int_equal(jobs.items[0]->ops[1].start_ns - jobs.items[0]->ops[0].start_ns, 16000);
    assert_int_equal(jobs.items[1]->op_count, 3);
    haul_trace_jobs_release(&jobs);
}

/* A file that is no profile, among those of a job, takes none of the others' answers. */
static void files_that_cannot_be_read_are_told(void **state)
{
    (void)state;
    write_rank(0, "\"distributedInfo\":{\"rank\":0},", 100);
    write_rank(1, "\"distributedInfo\":{\"rank\":1},", 100);
    const char *const some[] = {"/not/there", paths[0], "/dev/null", paths[1]};
    haul_trace_jobs jobs;
    haul_error error = {0};
    assert_int_equal(haul_trace_load_jobs(some, 4, &jobs, &error), HAUL_OK);
    assert_int_equal(jobs.count, 1);
    assert_int_equal(jobs.items[0]->op_count, 6);
    assert_int_equal(jobs.unread_count, 2);
    assert_non_null(strstr(jobs.unread[0].text, "/not/there"));
    assert_int_equal(jobs.unread[0].status, HAUL_STATUS_IO);
    assert_int_not_equal(jobs.unread[1].status, HAUL_OK);
    haul_trace_jobs_release(&jobs);
    haul_workload *workload = NULL;
    assert_int_equal(haul_trace_load_ranks(some, 4, &workload, &error), HAUL_STATUS_IO);
    assert_int_equal(haul_trace_load_jobs(some, 1, &jobs, &error), HAUL_STATUS_IO);
}

/* A folder stands for its profiles, in the order of their names; what else lies there is not read.
 */
static void a_folder_is_its_profiles(void **state)
{
    (void)state;
    char other[80], empty[80];
    write_rank(0, "\"distributedInfo\":{\"rank\":1},", 100);
    write_rank(1, "\"distributedInfo\":{\"rank\":0},", 100);
    for (int i = 2; i < MOST; i++)
        (void)remove(names[i]);
    (void)snprintf(other, sizeof other, "%s/notes.txt", folder);
    (void)snprintf(empty, sizeof empty, "%s/empty.json", folder); /* a folder, whatever its name */
    FILE *out = fopen(other, "w");
    assert_non_null(out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(mkdir(empty, 0700), 0);
    haul_workload *workload = NULL;
    haul_trace_jobs jobs;
    haul_error error = {0};
    const char *const whole[] = {folder}, *const none[] = {empty};
    assert_int_equal(haul_trace_load_ranks(whole, 1, &workload, &error), HAUL_OK);
    assert_int_equal(workload->op_count, 6);
    haul_workload_free(workload);
    assert_int_equal(haul_trace_load_jobs(whole, 1, &jobs, &error), HAUL_OK);
    assert_int_equal(jobs.count, 1);
    haul_trace_jobs_release(&jobs);
    assert_int_equal(haul_trace_load_jobs(none, 1, &jobs, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "has no profiles"));
    assert_int_equal(remove(other), 0);
    assert_int_equal(rmdir(empty), 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    for (int i = 0; i < MOST; i++)
        (void)remove(names[i]);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_joined),
        cmocka_unit_test(joining_takes_one_copy),
        cmocka_unit_test(lines_stay_with_their_rank),
        cmocka_unit_test(operations_are_in_order_and_keep_what_is_theirs),
        cmocka_unit_test(clocks_may_be_unknown),
        cmocka_unit_test(the_first_wrong_file_is_named),
        cmocka_unit_test(windows_are_cut),
        cmocka_unit_test(files_are_sorted_into_jobs),
        cmocka_unit_test(times_of_the_calendar_tell_jobs_apart),
        cmocka_unit_test(files_that_cannot_be_read_are_told),
        cmocka_unit_test(a_folder_is_its_profiles),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
