/* The cost of recording an OpenCL program: the time of a call with haul record beside that without,
 * on one core, and the time of a whole program.
 *
 * usage: bench_record HAUL [PROGRAM [ARGUMENTS]]
 *        bench_record HAUL --stacks
 *        bench_record HAUL --threads
 * The second measures calls that are recorded with their call stacks. The third compares 1, 2 and
 * 16 threads with a queue each, in one run: processor time and context switches of a blocking call,
 * which tell a lock that is waited for from work. The figures to beat: 2 us a call at the median; 3
 * % of the program's run time. */
#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 20000, ROUNDS = 5, BATCH = 32, RUNS = 9 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* --- the measured program: prints of each kind of call the median time and, as what the writer
 * does on the same core is in that, the mean of all; in nanoseconds */

typedef enum call { WRITE, READ_BLOCKING, LAUNCH, COPY, MAP, FINISH, KINDS } call;

static const char *const call_names[KINDS] = {
    "clEnqueueWriteBuffer, 64 B",   "clEnqueueReadBuffer, 4 KiB, blocking",
    "clEnqueueNDRangeKernel",       "clEnqueueCopyBuffer, 64 B",
    "clEnqueueMapBuffer, blocking", "clFinish, nothing to do"};

typedef struct subject {
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem a, b;
    char host[4096];
} subject;

static void die(const char *what)
{
    fprintf(stderr, "bench_record: %s\n", what);
    exit(77);
}

static void set_up(subject *self)
{
    static const char *source = "kernel void one(global int *a) { a[0] = 1; }";
    cl_platform_id platform;
    cl_device_id device;
    cl_uint count = 0;
    cl_int result;
    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || !count ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        die("no OpenCL device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
    self->queue = clCreateCommandQueue(context, device, 0, &result);
    self->a = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 16, NULL, &result);
    self->b = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 16, NULL, &result);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &result);
    if (result != CL_SUCCESS || clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS)
        die("cannot build a kernel");
    self->kernel = clCreateKernel(program, "one", &result);
    if (result != CL_SUCCESS || clSetKernelArg(self->kernel, 0, sizeof self->a, &self->a))
        die("cannot make a kernel");
}

static cl_int make_call(subject *self, call of)
{
    const size_t one = 1;
    cl_int result = CL_SUCCESS;
    void *at;
    switch (of) {
    case WRITE:
        return clEnqueueWriteBuffer(self->queue, self->a, CL_FALSE, 0, 64, self->host, 0, NULL,
                                    NULL);
    case READ_BLOCKING:
        return clEnqueueReadBuffer(self->queue, self->a, CL_TRUE, 0, 4096, self->host, 0, NULL,
                                   NULL);
    case LAUNCH:
        return clEnqueueNDRangeKernel(self->queue, self->kernel, 1, NULL, &one, &one, 0, NULL,
                                      NULL);
    case COPY:
        return clEnqueueCopyBuffer(self->queue, self->a, self->b, 0, 0, 64, 0, NULL, NULL);
    case MAP:
        at = clEnqueueMapBuffer(self->queue, self->a, CL_TRUE, CL_MAP_READ, 0, 4096, 0, NULL, NULL,
                                &result);
        return result ? result : clEnqueueUnmapMemObject(self->queue, self->a, at, 0, NULL, NULL);
    default:
        return clFinish(self->queue);
    }
}

static int measure(void)
{
    static double times[CALLS];
    subject self;
    memset(&self, 0, sizeof self);
    set_up(&self);
    for (int of = 0; of < KINDS; of++) {
        const double start = now_s();
        for (int i = 0; i < CALLS; i++) {
            const double begin = now_s();
            if (make_call(&self, (call)of) != CL_SUCCESS)
                die("a call failed");
            times[i] = now_s() - begin;
            if (i % BATCH == 0)
                clFinish(self.queue);
        }
        clFinish(self.queue);
        printf("%.1f %.1f\n", 1e9 * median(times, CALLS), 1e9 * (now_s() - start) / CALLS);
    }
    return 0;
}

/* --- the measured program of several threads: prints for each number of them the processor time of
 * a call in microseconds, and its context switches */

enum { CROWDS = 3, ALL_CALLS = 32000 };

static const int crowds[CROWDS] = {1, 2, 16};

/* Beyond the call alone: of one thread, and what another layer that times commands takes. */
static const double goal_us = 2, other_layer_us[2] = {4.6, 6.4};

typedef struct crowd {
    cl_context context;
    cl_device_id device;
    int calls; /* of each thread */
    pthread_barrier_t together;
} crowd;

static void *call_often(void *argument)
{
    crowd *const self = argument;
    char host[64] = "";
    cl_int result;
    cl_command_queue queue = clCreateCommandQueue(self->context, self->device, 0, &result);
    cl_mem buffer = clCreateBuffer(self->context, CL_MEM_READ_WRITE, 4096, NULL, &result);
    pthread_barrier_wait(&self->together);
    for (int i = 0; i < self->calls; i++)
        if (clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL))
            die("a call failed");
    pthread_barrier_wait(&self->together);
    return NULL;
}

static void use_of(double *us, double *switches)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    *us = 1e6 * (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
          (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    *switches = (double)(use.ru_nvcsw + use.ru_nivcsw);
}

static void measure_crowd(crowd *self, int threads)
{
    pthread_t ids[16];
    double us[2], switches[2];
    self->calls = ALL_CALLS / threads;
    pthread_barrier_init(&self->together, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, call_often, self))
            die("no thread");
    pthread_barrier_wait(&self->together);
    use_of(&us[0], &switches[0]);
    pthread_barrier_wait(&self->together);
    use_of(&us[1], &switches[1]);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&self->together);
    printf("%.3f %.3f\n", (us[1] - us[0]) / ALL_CALLS, (switches[1] - switches[0]) / ALL_CALLS);
}

static int measure_crowds(void)
{
    subject first;
    crowd self;
    memset(&first, 0, sizeof first);
    set_up(&first);
    clGetCommandQueueInfo(first.queue, CL_QUEUE_CONTEXT, sizeof(void *), &self.context, NULL);
    clGetCommandQueueInfo(first.queue, CL_QUEUE_DEVICE, sizeof(void *), &self.device, NULL);
    for (int i = 0; i < CROWDS; i++)
        measure_crowd(&self, crowds[i]);
    return 0;
}

/* --- with and without recording */

static char profile[] = "/tmp/haul-bench-XXXXXX";
static bool with_stacks;

/* Runs `program`, recorded where `haul` is given; its output goes to `out`, or nowhere. Returns the
 * time, or -1. */
static double run(const char *haul, char *const *program, int out)
{
    const char *arguments[64] = {haul, "record", "--force", "-o", profile};
    int count = haul ? 5 : 0;
    if (haul && with_stacks)
        arguments[count++] = "--stacks";
    if (haul)
        arguments[count++] = "--";
    for (int i = 0; program[i] && count < 63; i++)
        arguments[count++] = program[i];
    arguments[count] = NULL;
    const double begin = now_s();
    const pid_t child = fork();
    if (!child) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(out >= 0 ? out : nowhere, 1);
        dup2(nowhere, 2);
        execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status ? -1 : now_s() - begin;
}

typedef struct figures {
    double median[KINDS], mean[KINDS];
} figures;

/* Runs this program with `option`, which prints so many pairs of numbers. */
static bool run_self(const char *haul, char *const self[3], int count, double *first,
                     double *second)
{
    FILE *file = tmpfile();
    if (!file || run(haul, self, fileno(file)) < 0)
        return false;
    rewind(file);
    bool complete = true;
    for (int i = 0; i < count; i++)
        complete &= fscanf(file, "%lf %lf", &first[i], &second[i]) == 2;
    fclose(file);
    return complete;
}

/* How much more recorded calls take, by the medians of the rounds. */
static void print_call(int of, const figures *alone, const figures *recorded)
{
    double values[4][ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        values[0][i] = alone[i].median[of];
        values[1][i] = recorded[i].median[of];
        values[2][i] = alone[i].mean[of];
        values[3][i] = recorded[i].mean[of];
    }
    const double a = median(values[0], ROUNDS), b = median(values[1], ROUNDS);
    const double c = median(values[2], ROUNDS), d = median(values[3], ROUNDS);
    printf("%-38s %7.0f ns %7.0f ns %6.0f ns %9.0f ns\n", call_names[of], a, b, b - a, d - c);
}

static int compare_calls(const char *haul, char *self)
{
    static figures alone[ROUNDS], recorded[ROUNDS];
    char *const program[] = {self, "--measure", NULL};
    for (int round = 0; round < ROUNDS; round++)
        if (!run_self(NULL, program, KINDS, alone[round].median, alone[round].mean) ||
            !run_self(haul, program, KINDS, recorded[round].median, recorded[round].mean))
            return 1;
    printf("%-38s %10s %10s %9s %12s\n", "call, median", "alone", "recorded", "more", "more, mean");
    for (int i = 0; i < KINDS; i++)
        print_call(i, alone, recorded);
    printf("%-38s %10s %10s %6.0f ns\n", "the figure to beat", "", "", 2000.0);
    return 0;
}

/* Runs alone and recorded take turns. */
static int compare_crowds(const char *haul, char *self)
{
    static double us[2][RUNS][CROWDS], switches[2][RUNS][CROWDS];
    char *const program[] = {self, "--measure-threads", NULL};
    double more[CROWDS];
    for (int i = 0; i < 2 * RUNS; i++)
        if (!run_self(i % 2 ? haul : NULL, program, CROWDS, us[i % 2][i / 2],
                      switches[i % 2][i / 2]))
            return 1;
    printf("%-24s %9s %9s %9s  %s\n", "a blocking call, median", "alone", "recorded", "more",
           "context switches");
    for (int of = 0; of < CROWDS; of++) {
        double values[4][RUNS];
        for (int i = 0; i < RUNS; i++) {
            values[0][i] = us[0][i][of];
            values[1][i] = us[1][i][of];
            values[2][i] = switches[0][i][of];
            values[3][i] = switches[1][i][of];
        }
        const double a = median(values[0], RUNS), b = median(values[1], RUNS);
        more[of] = b - a;
        printf("%2d thread%-15s %6.1f us %6.1f us %6.1f us  %.2f alone, %.2f recorded\n",
               crowds[of], crowds[of] == 1 ? "" : "s", a, b, b - a, median(values[2], RUNS),
               median(values[3], RUNS));
    }
    printf("%-24s %9s %9s %6.1f us  below what the OpenCL Intercept Layer takes, %.1f to %.1f us\n",
           "the goal, 1 thread", "", "", goal_us, other_layer_us[0], other_layer_us[1]);
    printf("%-24s %9s %9s %6.1f us  as with 1 thread\n", "the goal, 16 threads", "", "", more[0]);
    return 0;
}

/* Processor time of all that was run so far. */
static double used_s(void)
{
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void print_program(const char *what, double alone[RUNS], double recorded[RUNS])
{
    const double a = median(alone, RUNS), b = median(recorded, RUNS);
    printf("  %-15s %8.3f s alone, %8.3f s recorded: %+.1f %%\n", what, a, b, 100 * (b - a) / a);
}

/* Where other programs run too, the processor's time is the steadier figure. */
static int compare_program(const char *haul, char *const *program)
{
    double wall[2][RUNS], used[2][RUNS];
    for (int i = 0; i < 2 * RUNS; i++) {
        const double before_s = used_s();
        const double took_s = run(i % 2 ? haul : NULL, program, -1);
        if (took_s < 0)
            return 1;
        wall[i % 2][i / 2] = took_s;
        used[i % 2][i / 2] = used_s() - before_s;
    }
    printf("%s, medians of %d runs; the figure to beat: 3 %%\n", program[0], RUNS);
    print_program("run time", wall[0], wall[1]);
    print_program("processor time", used[0], used[1]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--measure"))
        return measure();
    if (argc == 2 && !strcmp(argv[1], "--measure-threads"))
        return measure_crowds();
    if (argc < 2) {
        fputs("usage: bench_record HAUL [PROGRAM [ARGUMENTS]]\n"
              "       bench_record HAUL --stacks\n"
              "       bench_record HAUL --threads\n",
              stderr);
        return 2;
    }
    const int file = mkstemp(profile);
    if (file < 0)
        return 1;
    close(file);
    int status;
    with_stacks = argc == 3 && !strcmp(argv[2], "--stacks");
    if (argc == 3 && !strcmp(argv[2], "--threads")) {
        status = compare_crowds(argv[1], argv[0]);
    } else if (argc > 2 && !with_stacks) {
        status = compare_program(argv[1], argv + 2);
    } else {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        sched_setaffinity(0, sizeof one, &one);
        status = compare_calls(argv[1], argv[0]);
    }
    unlink(profile);
    return status;
}
