/* A CUDA program that knows what it does: copies of each direction and kind of memory, memsets,
 * kernels and waits, timed by its own events. It prints "operation,memory,count,bytes,time_ns" as
 * CSV for tests/record/compare_profile. The driver's interface is loaded while it runs and the
 * kernel is PTX, so nothing of CUDA is needed to build it. Exit code 4 where there is no GPU.
 *
 * usage: known_copies [MEGABYTES]: the size of each operation, 32. Operations of some microseconds
 * are too short to compare: events see the gaps between them, too. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 8, SMALL = 4096, SMALL_TIMES = 1000, THREADS = 256 };

/* Rounds of the kernel that is timed, and of one of a single group that keeps a stream busy for
 * some milliseconds. */
enum { ROUNDS = 200, BUSY_ROUNDS = 10000 };

typedef void *handle;
typedef unsigned long long address;

#define FUNCTIONS(X)                                                                               \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDeviceGetCount, (int *count))                                                              \
    X(cuDevicePrimaryCtxRetain, (handle * context, int device))                                    \
    X(cuCtxSetCurrent, (handle context))                                                           \
    X(cuMemAlloc_v2, (address * device, size_t bytes))                                             \
    X(cuMemAllocHost_v2, (void **host, size_t bytes))                                              \
    X(cuMemFree_v2, (address device))                                                              \
    X(cuMemFreeHost, (void *host))                                                                 \
    X(cuEventDestroy_v2, (handle event))                                                           \
    X(cuStreamDestroy_v2, (handle stream))                                                         \
    X(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, handle stream))           \
    X(cuMemcpyDtoHAsync_v2, (void *to, address from, size_t bytes, handle stream))                 \
    X(cuMemcpyDtoDAsync_v2, (address to, address from, size_t bytes, handle stream))               \
    X(cuMemcpyHtoD_v2, (address to, const void *from, size_t bytes))                               \
    X(cuMemcpyDtoH_v2, (void *to, address from, size_t bytes))                                     \
    X(cuMemsetD32Async, (address to, unsigned value, size_t count, handle stream))                 \
    X(cuStreamCreate, (handle * stream, unsigned flags))                                           \
    X(cuStreamSynchronize, (handle stream))                                                        \
    X(cuStreamWaitEvent, (handle stream, handle event, unsigned flags))                            \
    X(cuEventCreate, (handle * event, unsigned flags))                                             \
    X(cuEventRecord, (handle event, handle stream))                                                \
    X(cuEventQuery, (handle event))                                                                \
    X(cuEventElapsedTime, (float *ms, handle from, handle to))                                     \
    X(cuModuleLoadData, (handle * module, const char *image))                                      \
    X(cuModuleGetFunction, (handle * function, handle module, const char *name))                   \
    X(cuLaunchKernel, (handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,         \
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,      \
                       handle stream, void **parameters, void **extra))

static struct {
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
} cuda;

/* Adds 1 to each number, `rounds` times over. */
static const char ptx[] = ".version 6.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry add_rounds(.param .u64 data, .param .u32 rounds)\n"
                          "{\n"
                          "  .reg .u64 %a, %o;\n"
                          "  .reg .u32 %i, %b, %t, %n, %v;\n"
                          "  .reg .pred %p;\n"
                          "  ld.param.u64 %a, [data];\n"
                          "  ld.param.u32 %n, [rounds];\n"
                          "  cvta.to.global.u64 %a, %a;\n"
                          "  mov.u32 %b, %ctaid.x;\n"
                          "  mov.u32 %t, %ntid.x;\n"
                          "  mov.u32 %i, %tid.x;\n"
                          "  mad.lo.u32 %i, %b, %t, %i;\n"
                          "  mul.wide.u32 %o, %i, 4;\n"
                          "  add.u64 %a, %a, %o;\n"
                          "again:\n"
                          "  ld.volatile.global.u32 %v, [%a];\n"
                          "  add.u32 %v, %v, 1;\n"
                          "  st.volatile.global.u32 [%a], %v;\n"
                          "  sub.u32 %n, %n, 1;\n"
                          "  setp.ne.u32 %p, %n, 0;\n"
                          "  @%p bra again;\n"
                          "  ret;\n"
                          "}\n";

static void must(int result, const char *call)
{
    if (!result)
        return;
    fprintf(stderr, "known_copies: %s failed with %d\n", call, result);
    exit(1);
}

#define MUST(call) must(cuda.call, #call)

static void absent(const char *why)
{
    fprintf(stderr, "known_copies: no CUDA device: %s\n", why);
    exit(4);
}

static void begin(void)
{
    int count = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    handle context;
    if (!library)
        absent("no libcuda.so.1 (NVIDIA's driver)");
#define LOAD(name, parameters)                                                                     \
    {                                                                                              \
        void *found = dlsym(library, #name);                                                       \
        if (!found)                                                                                \
            absent("its driver has no " #name);                                                    \
        memcpy(&cuda.name, &found, sizeof found);                                                  \
    }
    FUNCTIONS(LOAD)
    if (cuda.cuInit(0) || cuda.cuDeviceGetCount(&count) || !count)
        absent("the driver finds none");
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
}

/* The memory that is worked on, and the work's ends in time. */
typedef struct work {
    size_t bytes; /* an operation */
    handle stream, other, before, from, to, kernel;
    address a, b;
    char *pinned, *pageable;
} work;

static work prepare(size_t bytes)
{
    work w = {.bytes = bytes, .pageable = malloc(bytes)};
    handle module;
    if (!w.pageable)
        must(1, "malloc");
    memset(w.pageable, 1, bytes);
    MUST(cuStreamCreate(&w.stream, 1)); /* CU_STREAM_NON_BLOCKING */
    MUST(cuStreamCreate(&w.other, 1));
    MUST(cuEventCreate(&w.before, 0));
    MUST(cuEventCreate(&w.from, 0));
    MUST(cuEventCreate(&w.to, 0));
    MUST(cuMemAlloc_v2(&w.a, bytes));
    MUST(cuMemAlloc_v2(&w.b, bytes));
    MUST(cuMemAllocHost_v2((void **)&w.pinned, bytes));
    memset(w.pinned, 2, bytes);
    MUST(cuModuleLoadData(&module, ptx));
    MUST(cuModuleGetFunction(&w.kernel, module, "add_rounds"));
    return w;
}

static void release(const work *w)
{
    MUST(cuMemFree_v2(w->a));
    MUST(cuMemFree_v2(w->b));
    MUST(cuMemFreeHost(w->pinned));
    MUST(cuEventDestroy_v2(w->before));
    MUST(cuEventDestroy_v2(w->from));
    MUST(cuEventDestroy_v2(w->to));
    MUST(cuStreamDestroy_v2(w->stream));
    MUST(cuStreamDestroy_v2(w->other));
    free(w->pageable);
}

static void copy_in(const work *w)
{
    MUST(cuMemcpyHtoDAsync_v2(w->a, w->pinned, w->bytes, w->stream));
}

static void copy_out(const work *w)
{
    MUST(cuMemcpyDtoHAsync_v2(w->pinned, w->a, w->bytes, w->stream));
}

static void copy_within(const work *w)
{
    MUST(cuMemcpyDtoDAsync_v2(w->b, w->a, w->bytes, w->stream));
}

static void set(const work *w)
{
    MUST(cuMemsetD32Async(w->b, 7, w->bytes / 4, w->stream));
}

static void launch(const work *w, unsigned groups, unsigned rounds)
{
    address data = w->b;
    void *parameters[] = {&data, &rounds};
    MUST(cuLaunchKernel(w->kernel, groups, 1, 1, THREADS, 1, 1, 0, w->stream, parameters, NULL));
}

static void compute(const work *w)
{
    launch(w, (unsigned)(w->bytes / 4 / THREADS), ROUNDS);
}

static uint64_t syncs; /* of streams, by the host */

static double elapsed_ns(handle from, handle to)
{
    float ms;
    MUST(cuEventElapsedTime(&ms, from, to));
    return 1e6 * (double)ms;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A kernel keeps the stream busy until all is queued, so that no time of the host's is between the
 * events; where the host was too late, as on a busy machine, they tell no time: -1. It is a kernel
 * that the program made, too. */
static void timed(const work *w, void (*operation)(const work *), const char *name, uint64_t bytes)
{
    static const double launch_s = 100e-6; /* at most, for its kernel takes milliseconds */
    const double begin_s = now_s();
    MUST(cuEventRecord(w->before, w->stream));
    launch(w, 1, BUSY_ROUNDS);
    const bool launched_in_time = now_s() - begin_s < launch_s;
    MUST(cuEventRecord(w->from, w->stream));
    for (int i = 0; i < TIMES; i++)
        operation(w);
    MUST(cuEventRecord(w->to, w->stream));
    const bool in_time = cuda.cuEventQuery(w->from) != 0; /* the kernel still runs */
    MUST(cuStreamSynchronize(w->stream));
    syncs++;
    printf("kernel,,1,0,%.0f\n", launched_in_time ? elapsed_ns(w->before, w->from) : -1.0);
    printf("%s,%d,%llu,%.0f\n", name, TIMES, (unsigned long long)TIMES * bytes,
           in_time ? elapsed_ns(w->from, w->to) : -1.0);
}

/* Many small ones: only counted, as is what the driver cuts pageable copies into. */
static void counted(const work *w)
{
    for (int i = 0; i < SMALL_TIMES; i++) {
        MUST(cuMemcpyHtoD_v2(w->a, w->pageable, SMALL));
        MUST(cuMemcpyDtoH_v2(w->pageable, w->a, SMALL));
    }
    printf("HtoD,pageable,%d,%d,0\n", SMALL_TIMES, SMALL_TIMES * SMALL);
    printf("DtoH,pageable,%d,%d,0\n", SMALL_TIMES, SMALL_TIMES * SMALL);
    for (int i = 0; i < TIMES; i++) {
        MUST(cuEventRecord(w->to, w->stream));
        MUST(cuStreamWaitEvent(w->other, w->to, 0));
    }
    MUST(cuStreamSynchronize(w->other));
    syncs++;
    printf("stream wait,,%d,0,0\n", TIMES);
    printf("stream sync,,%llu,0,0\n", (unsigned long long)syncs);
}

int main(int argc, char **argv)
{
    const long megabytes = argc > 1 ? strtol(argv[1], NULL, 10) : 32;
    if (megabytes < 1 || megabytes > 1024) {
        fputs("usage: known_copies [MEGABYTES]\n", stderr);
        return 2;
    }
    begin();
    const work w = prepare((size_t)megabytes << 20);
    puts("operation,memory,count,bytes,time_ns");
    timed(&w, copy_in, "HtoD,pinned", w.bytes);
    timed(&w, copy_out, "DtoH,pinned", w.bytes);
    timed(&w, copy_within, "DtoD,", w.bytes);
    timed(&w, set, "memset,", w.bytes);
    timed(&w, compute, "kernel,", 0);
    counted(&w);
    release(&w);
    return fflush(stdout) ? 1 : 0;
}
