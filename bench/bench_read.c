/* Reading profiles: operations a second and memory an operation, beside what SQLite takes to sum
 * the same columns of the same file in the same run. SQLite's time is of one thread; haul's of the
 * processor, all threads together, and as it passes. The file is in the page cache.
 *
 * bench_read [MILLIONS [FOLDER]]: so many operations a mix (5), files made in the folder (/tmp). */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "haul/trace.h"
#include "synthetic.h"
#include "took.h"

enum { ROUNDS = 3 };

static const double to_beat_ops_s = 2e6;
static const double to_beat_of_sum = 1.7;

typedef struct measured {
    double floor_s;
    double load_s;
    double wall_s;
    double bytes_per_op; /* peak of the process above what it was before */
} measured;

static const char sum_copies[] =
    "SELECT sum(start), sum(end), sum(deviceId), sum(contextId), sum(streamId), "
    "sum(correlationId), sum(globalPid % 1000), sum(bytes), sum(copyKind), sum(srcKind), "
    "sum(dstKind), sum(srcDeviceId), sum(dstDeviceId) FROM CUPTI_ACTIVITY_KIND_MEMCPY";
static const char sum_kernels[] =
    "SELECT sum(start), sum(end), sum(deviceId), sum(contextId), sum(streamId), "
    "sum(correlationId), sum(globalPid % 1000), sum(demangledName), sum(gridX), sum(gridY), "
    "sum(gridZ), sum(blockX), sum(blockY), sum(blockZ), sum(registersPerThread), "
    "sum(staticSharedMemory), sum(dynamicSharedMemory) FROM CUPTI_ACTIVITY_KIND_KERNEL";
static const char sum_calls[] = "SELECT sum(start), sum(end), sum(globalTid % 1000), "
                                "sum(correlationId), sum(nameId) FROM CUPTI_ACTIVITY_KIND_RUNTIME";

static double sum_s(const char *path)
{
    static const char *const queries[] = {sum_copies, sum_kernels, sum_calls};
    const double start = cpu_s();
    sqlite3 *db = NULL;
    sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        if (sqlite3_exec(db, queries[i], NULL, NULL, NULL) != SQLITE_OK)
            fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    sqlite3_close(db);
    return cpu_s() - start;
}

static void load(const char *path, measured *result)
{
    const double peak = peak_bytes();
    const double start = cpu_s(), start_wall = wall_s();
    haul_workload *workload = NULL;
    haul_error error;
    char text[1200];
    if (haul_trace_load(path, &workload, &error)) {
        fprintf(stderr, "%s\n", haul_error_format(&error, text, sizeof text));
        exit(1);
    }
    result->load_s = cpu_s() - start;
    result->wall_s = wall_s() - start_wall;
    result->bytes_per_op = (peak_bytes() - peak) / (double)workload->op_count;
    haul_workload_free(workload);
}

/* Each round in a process of its own, since a peak never falls. */
static measured measure(const char *path)
{
    measured best = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2];
        measured result = {0};
        if (pipe(ends))
            exit(1);
        const pid_t child = fork();
        if (!child) {
            load(path, &result);
            result.floor_s = sum_s(path);
            _exit(write(ends[1], &result, sizeof result) != sizeof result);
        }
        close(ends[1]);
        if (read(ends[0], &result, sizeof result) != sizeof result)
            exit(1);
        close(ends[0]);
        waitpid(child, NULL, 0);
        best.bytes_per_op = result.bytes_per_op;
        if (!round || result.load_s < best.load_s)
            best.load_s = result.load_s;
        if (!round || result.wall_s < best.wall_s)
            best.wall_s = result.wall_s;
        if (!round || result.floor_s < best.floor_s)
            best.floor_s = result.floor_s;
    }
    return best;
}

int main(int argc, char **argv)
{
    const int64_t ops = (int64_t)((argc > 1 ? atof(argv[1]) : 5) * 1e6);
    const synthetic_mix mixes[] = {
        {"copies", ops, 0, false},
        {"copies, API", ops, 0, true},
        {"kernels", 0, ops, false},
        {"kernels, API", 0, ops, true},
        {"1 copy to 3 kernels, API", ops / 4, ops - ops / 4, true},
    };
    char path[1024];
    snprintf(path, sizeof path, "%s/haul-bench-%ld.sqlite", argc > 2 ? argv[2] : "/tmp",
             (long)getpid());
    printf("%-26s %6s %8s %8s %8s %8s %9s %6s\n", "mix", "Mrows", "sum s", "all s", "passed s",
           "Mops/s", "of sum", "B/op");
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
        if (!synthetic_write(path, &mixes[i]))
            return 1;
        const measured result = measure(path);
        const double rows = (double)ops * (mixes[i].calls ? 2 : 1);
        printf("%-26s %6.1f %8.2f %8.2f %8.2f %8.2f %8.0f%% %6.1f\n", mixes[i].name, rows / 1e6,
               result.floor_s, result.load_s, result.wall_s, (double)ops / result.wall_s / 1e6,
               100 * result.floor_s / result.wall_s, result.bytes_per_op);
        fflush(stdout);
    }
    remove(path);
    printf("to beat: %.1f million operations a second, and on two cores %.0f%% of the sum\n",
           to_beat_ops_s / 1e6, 100 * to_beat_of_sum);
    return 0;
}
