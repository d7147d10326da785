/* A CUDA program of 16 threads that knows how many copies it makes: each thread has a context and a
 * stream of its own, waits for its copies and destroys both at once, before records are fetched.
 * With "fork" a child ends while they work; with "kill" the program kills itself when all is done
 * and fetched. The driver's interface is loaded as it runs. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 16, COPIES = 200, BYTES = 4096 };

typedef void *handle;
typedef unsigned long long address;

#define FUNCTIONS(X)                                                                               \
    X(cuInit, (unsigned flags))                                                                    \
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
    pthread_t threads[THREADS];
    load();
    MUST(cuInit(0));
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
