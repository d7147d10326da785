/* A program that moves data with OpenCL and knows what it moved: it prints, for each kind of
 * command, its count, its bytes, and its time by the program's own events. Tests record it and
 * compare.
 *
 * usage: cl_program WHAT [COUNT]; exits 77 where there is no device. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum kind {
    IN_PAGEABLE,
    IN_PINNED,
    OUT_PAGEABLE,
    OUT_PINNED,
    WITHIN,
    SET,
    KERNEL,
    KINDS
} kind;

static const char *const kind_names[KINDS] = {"HtoD pageable", "HtoD pinned", "DtoH pageable",
                                              "DtoH pinned",   "DtoD device", "memset",
                                              "kernel"};

typedef struct sums {
    struct {
        unsigned long long count, bytes, ns;
    } of[KINDS];
} sums;

static cl_device_id device;
static cl_context context;
static cl_kernel kernel;
static cl_bool maps_in_place;

enum { SIZE = 1 << 20 };

static void check(cl_int result, const char *what)
{
    if (result == CL_SUCCESS)
        return;
    fprintf(stderr, "cl_program: %s: %d\n", what, (int)result);
    _exit(1);
}

static void begin(void)
{
    cl_platform_id platform;
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || !count ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        puts("skipped: no OpenCL device");
        exit(77);
    }
    cl_int result;
    clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof maps_in_place, &maps_in_place,
                    NULL);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
    check(result, "context");
}

static void build(void)
{
    static const char *source =
        "kernel void twice(global float *a) { a[get_global_id(0)] *= 2.0f; }";
    cl_int result;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &result);
    check(result, "program");
    check(clBuildProgram(program, 1, &device, NULL, NULL, NULL), "build");
    kernel = clCreateKernel(program, "twice", &result);
    check(result, "kernel");
    clReleaseProgram(program);
}

static cl_command_queue make_queue(cl_command_queue_properties properties)
{
    cl_int result;
    cl_command_queue queue = clCreateCommandQueue(context, device, properties, &result);
    check(result, "queue");
    return queue;
}

static cl_mem make_buffer(cl_mem_flags flags, void *host)
{
    cl_int result;
    cl_mem buffer = clCreateBuffer(context, flags, SIZE, host, &result);
    check(result, "buffer");
    return buffer;
}

/* Adds a command by its event, which it takes. */
static void add(sums *to, kind of, size_t bytes, cl_event event)
{
    cl_ulong start = 0, end = 0;
    check(clWaitForEvents(1, &event), "wait");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
          "start");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "end");
    clReleaseEvent(event);
    to->of[of].count++;
    to->of[of].bytes += bytes;
    to->of[of].ns += end - start;
}

static void print(const sums *all)
{
    for (int i = 0; i < KINDS; i++)
        printf("%s: %llu %llu %llu\n", kind_names[i], all->of[i].count, all->of[i].bytes,
               all->of[i].ns);
    fflush(stdout);
}

/* --- what: moves */

static void move_buffer(cl_command_queue queue, sums *to, int rounds)
{
    float *host = calloc(1, SIZE);
    cl_mem a = make_buffer(CL_MEM_READ_WRITE, NULL), b = make_buffer(CL_MEM_READ_WRITE, NULL);
    const size_t origin[3] = {0, 0, 0}, region[3] = {100, 20, 3};
    const float zero = 0;
    cl_event event;
    for (int i = 0; i < rounds; i++) {
        const size_t size = SIZE - (size_t)i * 4;
        check(clEnqueueWriteBuffer(queue, a, i % 2 != 0, 0, size, host, 0, NULL, &event), "write");
        add(to, IN_PAGEABLE, size, event);
        check(clEnqueueCopyBuffer(queue, a, b, 0, 0, size, 0, NULL, &event), "copy");
        add(to, WITHIN, size, event);
        check(clEnqueueReadBuffer(queue, b, i % 2 != 0, 0, size, host, 0, NULL, &event), "read");
        add(to, OUT_PAGEABLE, size, event);
        check(clEnqueueFillBuffer(queue, b, &zero, sizeof zero, 0, SIZE, 0, NULL, &event), "fill");
        add(to, SET, SIZE, event);
        check(clEnqueueWriteBufferRect(queue, a, CL_TRUE, origin, origin, region, 128, 4096, 128,
                                       4096, host, 0, NULL, &event),
              "write rectangle");
        add(to, IN_PAGEABLE, 6000, event);
        check(clEnqueueReadBufferRect(queue, a, CL_TRUE, origin, origin, region, 128, 4096, 128,
                                      4096, host, 0, NULL, &event),
              "read rectangle");
        add(to, OUT_PAGEABLE, 6000, event);
        check(clEnqueueCopyBufferRect(queue, a, b, origin, origin, region, 128, 4096, 128, 4096, 0,
                                      NULL, &event),
              "copy rectangle");
        add(to, WITHIN, 6000, event);
    }
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    free(host);
}

/* A map or an unmap moves something unless all is overwritten, or the host sees the memory itself.
 */
static void add_map(bool moves, sums *to, kind of, cl_event event)
{
    if (moves && !maps_in_place)
        add(to, of, SIZE, event);
    else
        clReleaseEvent(event);
}

static void map_buffer(cl_command_queue queue, sums *to, cl_mem buffer, cl_map_flags flags,
                       bool pinned)
{
    cl_int result;
    cl_event event;
    void *at = clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 0, SIZE, 0, NULL, &event, &result);
    check(result, "map");
    add_map(!(flags & CL_MAP_WRITE_INVALIDATE_REGION), to, pinned ? OUT_PINNED : OUT_PAGEABLE,
            event);
    check(clEnqueueUnmapMemObject(queue, buffer, at, 0, NULL, &event), "unmap");
    add_map(flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION), to,
            pinned ? IN_PINNED : IN_PAGEABLE, event);
}

/* A staging buffer, mapped once and copied from, as programs have pinned memory. */
static void move_pinned(cl_command_queue queue, sums *to, int rounds)
{
    cl_int result;
    cl_event event;
    cl_mem staging = make_buffer(CL_MEM_ALLOC_HOST_PTR, NULL);
    cl_mem a = make_buffer(CL_MEM_READ_WRITE, NULL);
    float *own = aligned_alloc(4096, SIZE);
    memset(own, 0, SIZE);
    cl_mem using = make_buffer(CL_MEM_USE_HOST_PTR, own);
    char *pinned = clEnqueueMapBuffer(queue, staging, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                      SIZE, 0, NULL, NULL, &result);
    check(result, "map");
    memset(pinned, 1, SIZE);
    for (int i = 0; i < rounds; i++) {
        check(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, SIZE, pinned, 0, NULL, &event), "write");
        add(to, IN_PINNED, SIZE, event);
        check(clEnqueueReadBuffer(queue, a, CL_FALSE, 0, 1000, pinned + 8, 0, NULL, &event),
              "read");
        add(to, OUT_PINNED, 1000, event);
        map_buffer(queue, to, using, CL_MAP_READ, true);
        map_buffer(queue, to, using, CL_MAP_READ | CL_MAP_WRITE, true);
        map_buffer(queue, to, a, CL_MAP_WRITE_INVALIDATE_REGION, false);
        map_buffer(queue, to, a, CL_MAP_WRITE, false);
    }
    check(clEnqueueUnmapMemObject(queue, staging, pinned, 0, NULL, &event), "unmap");
    add_map(true, to, IN_PINNED, event);
    clReleaseMemObject(staging);
    clReleaseMemObject(using);
    clReleaseMemObject(a);
    free(own);
}

static void run_kernels(cl_command_queue queue, sums *to, int rounds)
{
    cl_mem a = make_buffer(CL_MEM_READ_WRITE, NULL);
    const size_t global = SIZE / 4, local = 64;
    check(clSetKernelArg(kernel, 0, sizeof a, &a), "argument");
    for (int i = 0; i < rounds; i++) {
        cl_event event;
        check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event),
              "launch");
        add(to, KERNEL, 0, event);
    }
    clReleaseMemObject(a);
}

static int moves(int rounds)
{
    sums all = {0};
    build();
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    move_buffer(queue, &all, rounds);
    move_pinned(queue, &all, rounds);
    run_kernels(queue, &all, rounds);
    check(clFinish(queue), "finish");
    clReleaseCommandQueue(queue);
    clReleaseKernel(kernel);
    clReleaseContext(context);
    print(&all);
    return 0;
}

/* --- what: large, copies that last longer than a slow call, each waited for */

static int large_copies(int rounds)
{
    enum { LARGE = 64 << 20 };
    cl_int result;
    char *host = calloc(1, LARGE);
    cl_command_queue queue = make_queue(0);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, LARGE, NULL, &result);
    check(result, "buffer");
    for (int i = 0; i < rounds; i++) {
        cl_event event;
        check(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, LARGE, host, 0, NULL, &event),
              "write");
        check(clWaitForEvents(1, &event), "wait");
        clReleaseEvent(event);
    }
    clReleaseMemObject(buffer);
    free(host);
    return 0;
}

/* --- what: threads, one queue each; shared, all on one */

enum { THREADS = 8 };

typedef struct job {
    cl_command_queue queue;
    int rounds;
    sums done;
} job;

static void *work(void *argument)
{
    job *self = argument;
    move_buffer(self->queue, &self->done, self->rounds);
    return NULL;
}

static int threads(int rounds, bool shared)
{
    static job jobs[THREADS];
    pthread_t ids[THREADS];
    sums all = {0};
    cl_command_queue one = make_queue(CL_QUEUE_PROFILING_ENABLE);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].queue = shared ? one : make_queue(CL_QUEUE_PROFILING_ENABLE);
        jobs[i].rounds = rounds;
        if (pthread_create(&ids[i], NULL, work, &jobs[i]))
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        for (int k = 0; k < KINDS; k++) {
            all.of[k].count += jobs[i].done.of[k].count;
            all.of[k].bytes += jobs[i].done.of[k].bytes;
            all.of[k].ns += jobs[i].done.of[k].ns;
        }
    }
    print(&all);
    return 0;
}

/* --- what: order. A write, a kernel that waits for it on another queue, a read out of order that
 * waits for that, and one that waits for nothing. */

static int order(cl_command_queue_properties of_third)
{
    static char host[SIZE], other[SIZE];
    build();
    cl_command_queue first = make_queue(0), second = make_queue(0), third = make_queue(of_third);
    cl_mem a = make_buffer(CL_MEM_READ_WRITE, NULL), b = make_buffer(CL_MEM_READ_WRITE, NULL);
    const size_t global = SIZE / 4;
    cl_event written, run, read, free_read;
    check(clSetKernelArg(kernel, 0, sizeof a, &a), "argument");
    check(clEnqueueWriteBuffer(first, a, CL_FALSE, 0, SIZE, host, 0, NULL, &written), "write");
    check(clEnqueueNDRangeKernel(second, kernel, 1, NULL, &global, NULL, 1, &written, &run),
          "launch");
    check(clEnqueueReadBuffer(third, a, CL_FALSE, 0, SIZE, host, 1, &run, &read), "read");
    check(clEnqueueReadBuffer(third, b, CL_FALSE, 0, 1000, other, 0, NULL, &free_read), "read");
    check(clWaitForEvents(1, &read), "wait");
    check(clFinish(third), "finish");
    return 0;
}

/* --- what: barrier. Three writes of one queue out of order, a barrier, a kernel, a marker for it.
 */

static int barrier(void)
{
    static char host[3][SIZE];
    build();
    cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem buffers[3];
    const size_t global = SIZE / 4;
    cl_event marked;
    for (int i = 0; i < 3; i++) {
        buffers[i] = make_buffer(CL_MEM_READ_WRITE, NULL);
        check(clEnqueueWriteBuffer(queue, buffers[i], CL_FALSE, 0, SIZE, host[i], 0, NULL, NULL),
              "write");
    }
    check(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL), "barrier");
    check(clSetKernelArg(kernel, 0, sizeof buffers[0], &buffers[0]), "argument");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "launch");
    check(clEnqueueMarkerWithWaitList(queue, 0, NULL, &marked), "marker");
    check(clWaitForEvents(1, &marked), "wait");
    check(clFinish(queue), "finish");
    return 0;
}

/* --- what: svm, images */

static int shared_memory(void)
{
    cl_device_svm_capabilities able = 0;
    if (clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof able, &able, NULL) ||
        !(able & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
        puts("skipped: no shared virtual memory");
        return 77;
    }
    static char host[SIZE];
    const float one = 1;
    cl_command_queue queue = make_queue(0);
    void *shared = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 0);
    check(clEnqueueSVMMemcpy(queue, CL_FALSE, shared, host, SIZE, 0, NULL, NULL), "memcpy in");
    check(clEnqueueSVMMemFill(queue, shared, &one, sizeof one, SIZE, 0, NULL, NULL), "fill");
    check(clEnqueueSVMMemcpy(queue, CL_TRUE, host, shared, 1000, 0, NULL, NULL), "memcpy out");
    check(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, shared, SIZE, 0, NULL, NULL),
          "map");
    check(clEnqueueSVMUnmap(queue, shared, 0, NULL, NULL), "unmap");
    check(clFinish(queue), "finish");
    clSVMFree(context, shared);
    puts(maps_in_place ? "maps in place" : "maps copy");
    return 0;
}

static int images(void)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc described = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 256, .image_height = 128};
    const size_t origin[3] = {0, 0, 0}, region[3] = {256, 128, 1};
    const cl_uint color[4] = {1, 2, 3, 4};
    static char host[SIZE];
    cl_bool able = CL_FALSE;
    cl_int result;
    size_t pitch;
    clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof able, &able, NULL);
    if (!able) {
        puts("skipped: no images");
        return 77;
    }
    cl_command_queue queue = make_queue(0);
    cl_mem a = clCreateImage(context, CL_MEM_READ_WRITE, &format, &described, NULL, &result);
    check(result, "image");
    cl_mem b = clCreateImage(context, CL_MEM_READ_WRITE, &format, &described, NULL, &result);
    check(result, "image");
    cl_mem buffer = make_buffer(CL_MEM_READ_WRITE, NULL);
    check(clEnqueueWriteImage(queue, a, CL_FALSE, origin, region, 0, 0, host, 0, NULL, NULL),
          "write");
    check(clEnqueueCopyImage(queue, a, b, origin, origin, region, 0, NULL, NULL), "copy");
    check(clEnqueueCopyImageToBuffer(queue, b, buffer, origin, region, 0, 0, NULL, NULL), "out");
    check(clEnqueueCopyBufferToImage(queue, buffer, b, 0, origin, region, 0, NULL, NULL), "in");
    check(clEnqueueFillImage(queue, a, color, origin, region, 0, NULL, NULL), "fill");
    check(clEnqueueReadImage(queue, b, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL), "read");
    void *at = clEnqueueMapImage(queue, a, CL_TRUE, CL_MAP_READ, origin, region, &pitch, NULL, 0,
                                 NULL, NULL, &result);
    check(result, "map");
    check(clEnqueueUnmapMemObject(queue, a, at, 0, NULL, NULL), "unmap");
    check(clFinish(queue), "finish");
    puts(maps_in_place ? "maps in place" : "maps copy");
    return 0;
}

/* --- what: plain. Whether anything is seen of the recording. */

static int plain(void)
{
    cl_command_queue_properties properties = 99;
    cl_ulong time;
    cl_event event;
    int bad = 0;
    cl_command_queue queue = make_queue(0);
    cl_mem a = make_buffer(CL_MEM_READ_WRITE, NULL);
    int value = 0;
    check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL),
          "properties");
    bad |= properties != 0;
    check(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, sizeof value, &value, 0, NULL, &event),
          "write");
    bad |= clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL) !=
           CL_PROFILING_INFO_NOT_AVAILABLE;
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                        0};
    cl_queue_properties given[8] = {0};
    size_t size = 0;
    cl_int result;
    cl_command_queue other = clCreateCommandQueueWithProperties(context, device, list, &result);
    check(result, "queue");
    check(clGetCommandQueueInfo(other, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL),
          "properties");
    bad |= properties != CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    if (clGetCommandQueueInfo(other, CL_QUEUE_PROPERTIES_ARRAY, sizeof given, given, &size) ==
        CL_SUCCESS)
        bad |= size != sizeof list || memcmp(given, list, sizeof list) != 0;
    bad |= clEnqueueWriteBuffer(queue, NULL, CL_TRUE, 0, 4, &value, 0, NULL, NULL) !=
           CL_INVALID_MEM_OBJECT;
    puts(bad ? "changed" : "unchanged");
    return bad;
}

/* --- what: the ways to end */

static void write_some(int count)
{
    cl_command_queue queue = make_queue(0);
    cl_mem a = make_buffer(CL_MEM_READ_WRITE, NULL);
    static char host[SIZE];
    for (int i = 0; i < count; i++)
        check(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, 4096, host, 0, NULL, NULL), "write");
}

static void rest(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void *leave(void *argument)
{
    (void)argument;
    exit(5);
}

/* Ends at once: nothing is given the recorder in which to catch up. */
static int end_by(const char *self, const char *way)
{
    pthread_t thread;
    if (!strcmp(way, "thread")) {
        pthread_create(&thread, NULL, leave, NULL);
        for (;;)
            write_some(10);
    }
    if (!strcmp(way, "_exit"))
        _exit(6);
    if (!strcmp(way, "quick_exit"))
        quick_exit(8);
    if (!strcmp(way, "exec"))
        execl(self, self, "write", "50", (char *)NULL);
    if (!strcmp(way, "abort"))
        abort();
    if (!strcmp(way, "term"))
        raise(SIGTERM);
    if (!strcmp(way, "kill"))
        raise(SIGKILL);
    return 7; /* return */
}

enum { WRITERS = 16 };

static void *write_and_end(void *argument)
{
    write_some(*(const int *)argument);
    return NULL;
}

/* 16 threads, each `count` copies on a queue of its own. */
static void write_from_threads(int count)
{
    pthread_t ids[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        if (pthread_create(&ids[i], NULL, write_and_end, &count))
            _exit(1);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(ids[i], NULL);
}

/* `count` copies that the thread waits for; then as many that wait for an event of its own, which
 * never comes. */
static void *write_and_hang(void *argument)
{
    const int count = *(const int *)argument;
    static char host[64];
    cl_int result;
    cl_command_queue queue = make_queue(0);
    cl_mem a = make_buffer(CL_MEM_READ_WRITE, NULL);
    cl_event never = clCreateUserEvent(context, &result);
    check(result, "user event");
    for (int i = 0; i < count; i++)
        check(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL),
              "write");
    for (int i = 0; i < count; i++)
        check(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, sizeof host, host, 1, &never, NULL),
              "write");
    return NULL;
}

/* Killed with known numbers of copies ended and in flight: `count` of each, by each thread. */
static void die_in_flight(int threads, int count)
{
    pthread_t ids[WRITERS];
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, write_and_hang, &count))
            _exit(1);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    raise(SIGKILL);
}

/* A program that closes what it takes for leaked descriptors, and opens files of its own there. */
static int close_descriptors(const char *path)
{
    write_some(100);
    for (int i = 3; i < 256; i++)
        close(i);
    FILE *files[16];
    for (int i = 0; i < 16; i++) {
        char name[300];
        snprintf(name, sizeof name, "%.200s.%d", path, i);
        files[i] = fopen(name, "w+");
        if (!files[i])
            return 1;
    }
    for (int i = 0; i < 100; i++) {
        write_some(10);
        for (int k = 0; k < 16; k++)
            fprintf(files[k], "%d\n", i);
    }
    long bytes = 0;
    for (int k = 0; k < 16; k++) {
        fflush(files[k]);
        fseek(files[k], 0, SEEK_END);
        bytes += ftell(files[k]);
    }
    printf("%ld bytes\n", bytes);
    return 0;
}

/* The program ends; its child writes on for `milliseconds`. */
static int leave_a_child(const char *self, int milliseconds)
{
    char text[16];
    snprintf(text, sizeof text, "%d", milliseconds);
    write_some(100);
    if (!fork()) {
        setsid();
        execl(self, self, "slowly", text, (char *)NULL);
        _exit(1);
    }
    rest(500);
    return 0;
}

/* A child that goes on by itself, and one that becomes another program. */
static int fork_twice(const char *self)
{
    write_some(100);
    const pid_t other = fork();
    if (!other) {
        execl(self, self, "write", "50", (char *)NULL);
        _exit(1);
    }
    int status;
    waitpid(other, &status, 0);
    const pid_t plain_child = fork();
    if (!plain_child)
        exit(0); /* its handlers run, with nothing of the parent's */
    int second;
    waitpid(plain_child, &second, 0);
    write_some(100);
    return status || second;
}

/* OpenCL as a plug-in has it: loaded, used, unloaded. */
static int unload(void)
{
    typedef cl_int (*get_platforms)(cl_uint, cl_platform_id *, cl_uint *);
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return 1;
        cl_uint count = 0;
        get_platforms get;
        void *symbol = dlsym(library, "clGetPlatformIDs");
        memcpy(&get, &symbol, sizeof get);
        if (get(0, NULL, &count) != CL_SUCCESS)
            return 1;
        write_some(100);
        dlclose(library);
    }
    rest(200);
    return 0;
}

static int two_platforms(void)
{
    cl_platform_id platforms[8];
    cl_uint count = 0;
    sums all = {0};
    check(clGetPlatformIDs(8, platforms, &count), "platforms");
    if (count < 2) {
        puts("skipped: one platform");
        return 77;
    }
    for (cl_uint i = 0; i < count && i < 8; i++) {
        cl_int result;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
            continue;
        context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
        check(result, "context");
        move_buffer(make_queue(CL_QUEUE_PROFILING_ENABLE), &all, 5);
    }
    print(&all);
    return 0;
}

/* Calls without end, to be killed; or a million, and what memory they took. */
static int many(long count)
{
    struct rusage use;
    cl_command_queue queue = make_queue(0);
    cl_mem a = make_buffer(CL_MEM_READ_WRITE, NULL);
    static char host[64];
    for (long i = 0; count <= 0 || i < count; i++)
        check(clEnqueueWriteBuffer(queue, a, i % 64 == 0, 0, sizeof host, host, 0, NULL, NULL),
              "write");
    check(clFinish(queue), "finish");
    getrusage(RUSAGE_SELF, &use);
    printf("%ld KiB\n", use.ru_maxrss);
    return 0;
}

static int run(const char *self, const char *what, const char *with)
{
    const int count = with ? atoi(with) : 10;
    if (!strcmp(what, "moves"))
        return moves(count);
    if (!strcmp(what, "large"))
        return large_copies(count);
    if (!strcmp(what, "threads") || !strcmp(what, "shared"))
        return threads(count, what[0] == 's');
    if (!strcmp(what, "order"))
        return order(with ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    if (!strcmp(what, "barrier"))
        return barrier();
    if (!strcmp(what, "svm"))
        return shared_memory();
    if (!strcmp(what, "images"))
        return images();
    if (!strcmp(what, "plain"))
        return plain();
    if (!strcmp(what, "fork"))
        return fork_twice(self);
    if (!strcmp(what, "unload"))
        return unload();
    if (!strcmp(what, "platforms"))
        return two_platforms();
    if (!strcmp(what, "many"))
        return many(with ? atol(with) : 0);
    if (!strcmp(what, "slowly")) {
        for (int i = 0; i < count / 10; i++) {
            write_some(1);
            rest(10);
        }
        return 0;
    }
    if (!strcmp(what, "write")) {
        write_some(count);
        return 0;
    }
    if ((!strcmp(what, "end") || !strcmp(what, "end16")) && with) {
        if (what[3])
            write_from_threads(100);
        else
            write_some(100);
        return end_by(self, with);
    }
    if (!strcmp(what, "in_flight") || !strcmp(what, "in_flight16"))
        die_in_flight(what[9] ? WRITERS : 1, count);
    if (!strcmp(what, "million")) {
        write_from_threads(1000000 / WRITERS);
        return 0;
    }
    if (!strcmp(what, "descriptors"))
        return close_descriptors(with);
    if (!strcmp(what, "daemon"))
        return leave_a_child(self, count);
    fputs("usage: cl_program WHAT [COUNT]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        begin();
    return run(argv[0], argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : NULL);
}
