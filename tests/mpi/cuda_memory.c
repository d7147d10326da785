/* A GPU's memory through CUDA's driver, for programs that know nothing of haul. */
#include "cuda_memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long address;

static struct {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*set)(void *context);
    int (*alloc)(address *at, size_t bytes);
    int (*free)(address at);
    int (*to)(address to, const void *from, size_t bytes);
    int (*wait)(void);
    int (*from)(void *to, address from, size_t bytes);
} cuda;

static void check(int result, const char *what)
{
    if (!result)
        return;
    fprintf(stderr, "CUDA: %s failed with %d\n", what, result);
    exit(1);
}

int cuda_memory_open(void)
{
    void *context, *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 0;
    *(void **)&cuda.init = dlsym(library, "cuInit");
    *(void **)&cuda.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&cuda.set = dlsym(library, "cuCtxSetCurrent");
    *(void **)&cuda.alloc = dlsym(library, "cuMemAlloc_v2");
    *(void **)&cuda.free = dlsym(library, "cuMemFree_v2");
    *(void **)&cuda.to = dlsym(library, "cuMemcpyHtoD_v2");
    *(void **)&cuda.wait = dlsym(library, "cuCtxSynchronize");
    *(void **)&cuda.from = dlsym(library, "cuMemcpyDtoH_v2");
    check(cuda.init(0), "cuInit");
    check(cuda.retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuda.set(context), "cuCtxSetCurrent");
    return 1;
}

void *cuda_memory_new(size_t bytes)
{
    address at = 0;
    check(cuda.alloc(&at, bytes), "cuMemAlloc");
    return (void *)(size_t)at;
}

void cuda_memory_free(void *at)
{
    check(cuda.free((size_t)at), "cuMemFree");
}

void cuda_memory_write(void *at, const void *from, size_t bytes)
{
    check(cuda.to((size_t)at, from, bytes), "cuMemcpyHtoD");
    check(cuda.wait(), "cuCtxSynchronize"); /* the copy may return before the bytes are there */
}

void cuda_memory_read(void *to, const void *at, size_t bytes)
{
    check(cuda.from(to, (size_t)at, bytes), "cuMemcpyDtoH");
}
