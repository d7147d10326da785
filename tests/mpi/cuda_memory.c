/* A GPU's memory through CUDA's driver or HIP, for programs that know nothing of haul. */
#include "cuda_memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long address;

#ifdef HIP
#define LIBRARY "libamdhip64.so.6"
static const char *const names[] = {
    "hipInit",        "hipDevicePrimaryCtxRetain", "hipCtxSetCurrent", "hipMalloc", "hipFree",
    "hipMemcpyAsync", "hipCtxSynchronize"};
enum { ANY_WAY = 4 };
#else
#define LIBRARY "libcuda.so.1"
static const char *const names[] = {
    "cuInit",        "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemAlloc_v2", "cuMemFree_v2",
    "cuMemcpyAsync", "cuCtxSynchronize"};
#endif

static struct {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*set)(void *context);
    int (*alloc)(address *at, size_t bytes);
    int (*free)(address at);
#ifdef HIP
    int (*copy)(address to, address from, size_t bytes, int kind, void *stream);
#else
    int (*copy)(address to, address from, size_t bytes, void *stream);
#endif
    int (*wait)(void);
} gpu;

static void check(int result, const char *what)
{
    if (!result)
        return;
    fprintf(stderr, "GPU: %s failed with %d\n", what, result);
    exit(1);
}

int cuda_memory_open(void)
{
    void *context, *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void **const functions[] = {(void **)&gpu.init,  (void **)&gpu.retain, (void **)&gpu.set,
                                (void **)&gpu.alloc, (void **)&gpu.free,   (void **)&gpu.copy,
                                (void **)&gpu.wait};
    if (!library)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        *functions[i] = dlsym(library, names[i]);
    check(gpu.init(0), "initialization");
    check(gpu.retain(&context, 0), "the context");
    check(gpu.set(context), "setting the context");
    return 1;
}

void *cuda_memory_new(size_t bytes)
{
    address at = 0;
    check(gpu.alloc(&at, bytes), "allocation");
    return (void *)(size_t)at;
}

void cuda_memory_free(void *at)
{
    check(gpu.free((size_t)at), "freeing");
}

static void copy(void *to, const void *from, size_t bytes)
{
#ifdef HIP
    check(gpu.copy((size_t)to, (size_t)from, bytes, ANY_WAY, NULL), "a copy");
#else
    check(gpu.copy((size_t)to, (size_t)from, bytes, NULL), "a copy");
#endif
    check(gpu.wait(), "waiting");
}

void cuda_memory_write(void *at, const void *from, size_t bytes)
{
    copy(at, from, bytes);
}

void cuda_memory_read(void *to, const void *at, size_t bytes)
{
    copy(to, at, bytes);
}
