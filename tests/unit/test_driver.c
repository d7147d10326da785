/* The driver's stand-in: what it lets a program do, and when, and what it ends it for. Each test
 * runs in a process of its own, for a driver reads FAKE_CUDA once. */
#include "check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void *handle;
typedef unsigned long long address;

#define FUNCTIONS(X)                                                                               \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDevicePrimaryCtxRetain, (handle * context, int device))                                    \
    X(cuCtxSetCurrent, (handle context))                                                           \
    X(cuCtxCreate_v2, (handle * context, unsigned flags, int device))                              \
    X(cuCtxDestroy_v2, (handle context))                                                           \
    X(cuMemAlloc_v2, (address * at, size_t bytes))                                                 \
    X(cuMemFree_v2, (address at))                                                                  \
    X(cuMemAllocHost_v2, (void **host, size_t bytes))                                              \
    X(cuMemFreeHost, (void *host))                                                                 \
    X(cuMemcpyAsync, (address to, address from, size_t bytes, handle stream))                      \
    X(cuMemcpyHtoD_v2, (address to, const void *from, size_t bytes))                               \
    X(cuMemcpyDtoH_v2, (void *to, address from, size_t bytes))                                     \
    X(cuMemsetD8Async, (address at, unsigned char value, size_t bytes, handle stream))             \
    X(cuStreamCreate, (handle * stream, unsigned flags))                                           \
    X(cuStreamDestroy_v2, (handle stream))                                                         \
    X(cuStreamSynchronize, (handle stream))                                                        \
    X(cuStreamQuery, (handle stream))                                                              \
    X(cuStreamWaitEvent, (handle stream, handle event, unsigned flags))                            \
    X(cuEventCreate, (handle * event, unsigned flags))                                             \
    X(cuEventDestroy_v2, (handle event))                                                           \
    X(cuEventRecord, (handle event, handle stream))                                                \
    X(cuLaunchHostFunc, (handle stream, void (*function)(void *), void *state))                    \
    X(cuModuleLoadData, (handle * module, const void *image))                                      \
    X(cuModuleGetFunction, (handle * function, handle module, const char *name))                   \
    X(cuFuncSetAttribute, (handle function, int attribute, int value))                             \
    X(cuLaunchKernel, (handle function, unsigned, unsigned, unsigned, unsigned, unsigned,          \
                       unsigned, unsigned bytes, handle stream, void **values, void **extra))

static struct {
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
} cuda;

/* In the child: an exit code says which call of OK failed. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        const int result = cuda.call;                                                              \
        if (result) {                                                                              \
            fprintf(stderr, "%s: %d\n", #call, result);                                            \
            _exit(100);                                                                            \
        }                                                                                          \
    } while (0)
#define TRUE(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: not %s\n", __LINE__, #condition);                            \
            _exit(101);                                                                            \
        }                                                                                          \
    } while (0)

enum { BYTES = 1000 };

/* Each test begins with this. */
static handle context, stream, other;
static address at;
static unsigned char *pinned, pageable[BYTES];

static void begin(void)
{
    void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
    if (!library)
        _exit(102);
#define LOAD(name, parameters)                                                                     \
    {                                                                                              \
        void *found = dlsym(library, #name);                                                       \
        memcpy(&cuda.name, &found, sizeof found);                                                  \
    }
    FUNCTIONS(LOAD)
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&other, 1));
    OK(cuMemAlloc_v2(&at, BYTES));
    OK(cuMemAllocHost_v2((void **)&pinned, BYTES));
    memset(pinned, 1, BYTES);
    memset(pageable, 2, BYTES);
}

static address on_host(const void *pointer)
{
    return (uintptr_t)pointer;
}

/* --- when things happen */

static void copies_run_when_they_are_waited_for(void)
{
    OK(cuMemsetD8Async(at, 7, BYTES, stream));
    OK(cuMemcpyAsync(on_host(pinned), at, BYTES, stream));
    TRUE(pinned[0] == 1);
    OK(cuStreamSynchronize(stream));
    TRUE(pinned[0] == 7 && pinned[BYTES - 1] == 7);
}

static void only_what_is_waited_for(void)
{
    OK(cuMemsetD8Async(at, 7, BYTES, stream));
    OK(cuStreamSynchronize(other));
    OK(cuMemcpyAsync(on_host(pinned), at, BYTES, other)); /* no event: not ordered */
    OK(cuStreamSynchronize(other));
    TRUE(pinned[0] == 0xff); /* the poison of new memory */
}

static void a_poll_brings_it_about(void)
{
    OK(cuMemsetD8Async(at, 7, BYTES, stream));
    TRUE(cuda.cuStreamQuery(stream) == 600);
    while (cuda.cuStreamQuery(stream) == 600)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    OK(cuStreamQuery(stream));
}

static void pageable_memory_is_read_late(void)
{
    OK(cuMemcpyAsync(at, on_host(pageable), BYTES, stream));
    memset(pageable, 9, BYTES);
    OK(cuMemcpyAsync(on_host(pinned), at, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    TRUE(pinned[5] == 9);
}

static void a_plain_copy_is_not_for_other_streams(void)
{
    OK(cuMemcpyHtoD_v2(at, pageable, BYTES));
    OK(cuMemcpyAsync(on_host(pinned), at, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    TRUE(pinned[5] == 0xff);
    OK(cuMemcpyDtoH_v2(pinned, at, BYTES));
    TRUE(pinned[5] == 2);
}

static void events_are_as_they_were_recorded(void)
{
    handle event;
    OK(cuEventCreate(&event, 0));
    OK(cuMemsetD8Async(at, 7, BYTES, stream));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuMemsetD8Async(at, 8, BYTES, stream));
    OK(cuEventRecord(event, stream)); /* the wait is for the one before */
    OK(cuMemcpyAsync(on_host(pinned), at, BYTES, other));
    OK(cuStreamSynchronize(other));
    TRUE(pinned[0] == 7);
}

static void the_default_stream_is_ordered(void)
{
    handle blocking;
    OK(cuStreamCreate(&blocking, 0));
    OK(cuMemsetD8Async(at, 7, BYTES, blocking));
    OK(cuMemcpyAsync(on_host(pinned), at, BYTES, NULL));
    OK(cuStreamSynchronize(NULL));
    TRUE(pinned[0] == 7);
}

static void a_child_is_refused(void)
{
    const pid_t child = fork();
    if (!child)
        _exit(cuda.cuStreamSynchronize(stream) == 3 ? 0 : 1);
    int status;
    waitpid(child, &status, 0);
    TRUE(status == 0);
}

/* --- what ends a program */

static void use_of_freed_memory(void)
{
    OK(cuMemFree_v2(at));
    cuda.cuMemcpyHtoD_v2(at, pageable, BYTES);
}

static void freed_twice(void)
{
    OK(cuMemFree_v2(at));
    cuda.cuMemFree_v2(at);
}

static void freed_while_in_use(void)
{
    OK(cuMemsetD8Async(at, 7, BYTES, stream));
    cuda.cuMemFree_v2(at);
}

static void pinned_freed_while_in_use(void)
{
    OK(cuMemcpyAsync(at, on_host(pinned), BYTES, stream));
    cuda.cuMemFreeHost(pinned);
}

static void used_by_the_host(void)
{
    TRUE(*(volatile char *)(uintptr_t)at);
}

static void a_destroyed_stream(void)
{
    OK(cuStreamDestroy_v2(stream));
    cuda.cuStreamSynchronize(stream);
}

static void a_destroyed_event(void)
{
    handle event;
    OK(cuEventCreate(&event, 0));
    OK(cuEventDestroy_v2(event));
    cuda.cuEventRecord(event, stream);
}

static void a_destroyed_context(void)
{
    handle made, inner;
    OK(cuCtxCreate_v2(&made, 0, 0));
    OK(cuStreamCreate(&inner, 1));
    OK(cuCtxDestroy_v2(made));
    OK(cuCtxSetCurrent(context));
    cuda.cuStreamSynchronize(inner);
}

static void call_it(void *state)
{
    (void)state;
    cuda.cuStreamQuery(stream);
}

static void a_call_from_a_host_function(void)
{
    OK(cuLaunchHostFunc(stream, call_it, NULL));
    cuda.cuStreamSynchronize(stream);
}

/* More than 48 KB of a block only where its function was told, and no more than it was told. */
static void shared_memory_is_asked_for(void)
{
    handle module, function;
    OK(cuModuleLoadData(&module, ".version 7.0\n.visible .entry idle()"));
    OK(cuModuleGetFunction(&function, module, "idle"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 48 << 10, stream, NULL, NULL));
    TRUE(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 49 << 10, stream, NULL, NULL) == 1);
    TRUE(cuda.cuFuncSetAttribute(function, 8, 228 << 10) == 1);
    OK(cuFuncSetAttribute(function, 8, 113 << 10));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 113 << 10, stream, NULL, NULL));
    TRUE(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 114 << 10, stream, NULL, NULL) == 1);
    OK(cuStreamSynchronize(stream));
}

static const struct {
    const char *options; /* of FAKE_CUDA */
    void (*run)(void);
    const char *words; /* NULL: it ends well */
} cases[] = {
    {"late", copies_run_when_they_are_waited_for, NULL},
    {"late", only_what_is_waited_for, NULL},
    {"late", a_poll_brings_it_about, NULL},
    {"late", pageable_memory_is_read_late, NULL},
    {"late", a_plain_copy_is_not_for_other_streams, NULL},
    {"late", events_are_as_they_were_recorded, NULL},
    {"late", the_default_stream_is_ordered, NULL},
    {"eager", a_child_is_refused, NULL},
    {"late", shared_memory_is_asked_for, NULL},
    {"late", use_of_freed_memory, "is not of an allocation, or was freed"},
    {"late", freed_twice, "is freed twice"},
    {"late", freed_while_in_use, "memory is freed that an operation of a stream still uses"},
    {"late", pinned_freed_while_in_use, "memory is freed that an operation of a stream still uses"},
    {"late", used_by_the_host, "the host uses device memory by its device address"},
    {"late", a_destroyed_stream, "a stream is used after it was destroyed"},
    {"late", a_destroyed_event, "an event is used after it was destroyed"},
    {"late", a_destroyed_context, "a stream is used after it was destroyed"},
    {"late", a_call_from_a_host_function, "cuStreamQuery is called from a host function"},
    {"random=1,typo", a_child_is_refused, "FAKE_CUDA has the unknown word 'typo'"},
};

/* The child's text on stderr; its end in *status. */
static void run_case(size_t i, char *said, size_t size, int *status)
{
    int pipes[2];
    size_t used = 0;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (!child) {
        dup2(pipes[1], STDERR_FILENO);
        setenv("FAKE_CUDA", cases[i].options, 1);
        begin();
        cases[i].run();
        _exit(0);
    }
    close(pipes[1]);
    for (ssize_t got; used + 1 < size && (got = read(pipes[0], said + used, size - used - 1)) > 0;)
        used += (size_t)got;
    said[used] = '\0';
    close(pipes[0]);
    waitpid(child, status, 0);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[2048];
        int status;
        run_case(i, said, sizeof said, &status);
        if (!cases[i].words && status)
            fail_msg("case %zu: status %d: %s", i, status, said);
        if (cases[i].words && (!status || !strstr(said, cases[i].words)))
            fail_msg("case %zu: not '%s' but '%s' (%d)", i, cases[i].words, said, status);
    }
}

/* Two streams write the same bytes: over some seeds each comes last. */
static void race(void)
{
    OK(cuMemsetD8Async(at, 1, BYTES, stream));
    OK(cuMemsetD8Async(at, 2, BYTES, other));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamSynchronize(other));
    OK(cuMemcpyDtoH_v2(pinned, at, BYTES));
    _exit(pinned[0]);
}

static void test_random_orders(void **state)
{
    (void)state;
    unsigned seen = 0;
    for (int seed = 0; seed < 20 && seen != 6; seed++) {
        const pid_t child = fork();
        if (!child) {
            char options[32];
            snprintf(options, sizeof options, "random=%d", seed);
            setenv("FAKE_CUDA", options, 1);
            begin();
            race();
        }
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 2));
        seen |= 1U << WEXITSTATUS(status);
    }
    assert_int_equal(seen, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_random_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
