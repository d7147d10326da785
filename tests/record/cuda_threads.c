/* A CUDA program of 16 threads that knows how many copies it makes: each thread has a context and a
 * stream of its own, waits for its copies and destroys both at once, before records are fetched.
 * With "fork" a child ends while they work; with "kill" the program kills itself when all is done
 * and fetched. The driver's interface is loaded as it runs.
 *
 * usage: cuda_threads [fork|kill]
 *        cuda_threads launch THREADS LAUNCHES
 *        cuda_threads end THREADS MILLISECONDS _exit|quick_exit|SIGKILL|SIGINT
 *
 * `launch` launches so many empty kernels in all, from threads that share a context, and prints the
 * seconds that they took. `end` launches until it ends itself so, in the middle, and before that
 * prints a line "milliseconds,kernels completed" for each 10 ms. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 16, COPIES = 200, BYTES = 4096 };

/* Launches between two waits, fewer than a stream's queue takes, and those of a program that is to
 * know how far it is; a note each 10 ms. */
enum { A_WAIT = 500, A_NOTED_WAIT = 20, NOTE_NS = 10000000, NOTES = 1000 };

typedef void *handle;
typedef unsigned long long address;

#define FUNCTIONS(X)                                                                               \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDevicePrimaryCtxRetain, (handle * context, int device))                                    \
    X(cuCtxSetCurrent, (handle context))                                                           \
    X(cuModuleLoadData, (handle * module, const char *image))                                      \
    X(cuModuleGetFunction, (handle * function, handle module, const char *name))                   \
    X(cuLaunchKernel, (handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,         \
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,      \
                       handle stream, void **parameters, void **extra))                            \
    X(cuCtxCreate_v2, (handle * context, unsigned flags, int device))                              \
    X(cuCtxDestroy_v2, (handle context))                                                           \
    X(cuMemAlloc_v2, (address * device, size_t bytes))                                             \
    X(cuMemFree_v2, (address device))                                                              \
    X(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, handle stream))           \
    X(cuStreamCreate, (handle * stream, unsigned flags))                                           \
    X(cuStreamDestroy_v2, (handle stream))                                                         \
    X(cuStreamSynchronize, (handle stream))

static struct {
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
} cuda;

static void must(int result, const char *call)
{
    if (!result)
        return;
    fprintf(stderr, "cuda_threads: %s failed with %d\n", call, result);
    _exit(1);
}

#define MUST(call) must(cuda.call, #call)

static void *work(void *argument)
{
    static char host[BYTES];
    handle context, stream;
    address device;
    MUST(cuCtxCreate_v2(&context, 0, 0));
    MUST(cuStreamCreate(&stream, 0));
    MUST(cuMemAlloc_v2(&device, BYTES));
    for (int i = 0; i < COPIES; i++)
        MUST(cuMemcpyHtoDAsync_v2(device, host, BYTES, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree_v2(device));
    MUST(cuStreamDestroy_v2(stream));
    MUST(cuCtxDestroy_v2(context));
    return argument;
}

static const char ptx[] = ".version 6.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry empty()\n"
                          "{\n"
                          "  ret;\n"
                          "}\n";

/* The state that launching threads share. */
static struct {
    handle context, kernel;
    long a_thread; /* launches */
    long a_wait;
    atomic_long completed;
} shared;

static void *launch(void *argument)
{
    handle stream;
    MUST(cuCtxSetCurrent(shared.context));
    MUST(cuStreamCreate(&stream, 1)); /* CU_STREAM_NON_BLOCKING */
    for (long left = shared.a_thread, some; left > 0; left -= some) {
        some = left < shared.a_wait ? left : shared.a_wait;
        for (long i = 0; i < some; i++)
            MUST(cuLaunchKernel(shared.kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        MUST(cuStreamSynchronize(stream));
        atomic_fetch_add(&shared.completed, some);
    }
    return argument;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One launch before, for what the driver does at the first. */
static void prepare_launches(long a_thread, long a_wait)
{
    handle module;
    MUST(cuDevicePrimaryCtxRetain(&shared.context, 0));
    MUST(cuCtxSetCurrent(shared.context));
    MUST(cuModuleLoadData(&module, ptx));
    MUST(cuModuleGetFunction(&shared.kernel, module, "empty"));
    shared.a_thread = shared.a_wait = 1;
    launch(NULL);
    shared.a_thread = a_thread;
    shared.a_wait = a_wait;
}

static void end_as(const char *how)
{
    fflush(stdout);
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "quick_exit"))
        quick_exit(0);
    signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
    raise(!strcmp(how, "SIGINT") ? SIGINT : SIGKILL);
}

/* Notes how far the threads are, and ends the program while they launch. */
static void note_and_end(double begin, long milliseconds, const char *how)
{
    static struct {
        double ms;
        long completed;
    } notes[NOTES];
    int count = 0;
    while (count < NOTES && (!count || notes[count - 1].ms < (double)milliseconds)) {
        nanosleep(&(struct timespec){0, NOTE_NS}, NULL);
        notes[count].completed = atomic_load(&shared.completed);
        notes[count].ms = 1e3 * (seconds() - begin);
        count++;
    }
    for (int i = 0; i < count; i++)
        printf("%.1f,%ld\n", notes[i].ms, notes[i].completed);
    end_as(how);
}

static int launch_from_threads(int threads, long launches, long milliseconds, const char *how)
{
    pthread_t of[THREADS];
    prepare_launches(how ? LONG_MAX : launches / threads, how ? A_NOTED_WAIT : A_WAIT);
    const double begin = seconds();
    for (int i = 0; i < threads; i++)
        if (pthread_create(&of[i], NULL, launch, NULL))
            return 1;
    if (how)
        note_and_end(begin, milliseconds, how);
    for (int i = 0; i < threads; i++)
        pthread_join(of[i], NULL);
    printf("%.6f\n", seconds() - begin);
    return fflush(stdout) ? 1 : 0;
}

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        _exit(4);
#define LOAD(name, parameters)                                                                     \
    {                                                                                              \
        void *found = dlsym(library, #name);                                                       \
        if (!found)                                                                                \
            _exit(4);                                                                              \
        memcpy(&cuda.name, &found, sizeof found);                                                  \
    }
    FUNCTIONS(LOAD)
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const int wanted = argc > 2 ? atoi(argv[2]) : 1;
    const long number = argc > 3 ? atol(argv[3]) : 0;
    pthread_t threads[THREADS];
    if (wanted < 1 || wanted > THREADS)
        return 2;
    load();
    MUST(cuInit(0));
    if (!strcmp(how, "launch"))
        return launch_from_threads(wanted, number, 0, NULL);
    if (!strcmp(how, "end"))
        return launch_from_threads(wanted, 0, number, argc > 4 ? argv[4] : "_exit");
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    if (!strcmp(how, "fork")) {
        const pid_t child = fork();
        if (!child)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (!strcmp(how, "kill")) {
        nanosleep(&(struct timespec){1, 0}, NULL);
        raise(SIGKILL);
    }
    return 0;
}
