/* A libcuda.so.1 for tests, of which tests/device/known_copies needs what is here: a GPU in the
 * host's memory. It loads CUDA_INJECTION64_PATH as the driver does, and keeps records of what it
 * was asked, which CUPTI's stand-in delivers. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver_records.h"
#include "record/cupti_abi.h"

#define VISIBLE __attribute__((visibility("default")))

enum { RECORDS = 16384, PINNED_RANGES = 8, PAGEABLE = 1, PINNED = 2, DEVICE = 3 };
enum { HTOD = 1, DTOH = 2, DTOD = 8 };

typedef unsigned long long address;

static struct {
    pthread_mutex_t lock; /* of the records alone: one thread calls at a time */
    driver_record records[RECORDS];
    size_t count;
    struct {
        const char *begin;
        size_t bytes;
    } pinned[PINNED_RANGES];
    size_t pinned_count;
    uint32_t streams, correlation;
    uint64_t clock_ns;
} self = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Does work that takes so long; returns when it began. */
static uint64_t work(uint64_t duration_ns)
{
    const uint64_t start = self.clock_ns;
    self.clock_ns += duration_ns;
    return start;
}

static void keep(const void *record, size_t size)
{
    pthread_mutex_lock(&self.lock);
    if (self.count == RECORDS)
        abort();
    memcpy(self.records[self.count].bytes, record, size);
    self.records[self.count++].size = size;
    pthread_mutex_unlock(&self.lock);
}

#define KEEP(...) keep(&(__VA_ARGS__), sizeof(__VA_ARGS__))

VISIBLE driver_take_records_function driver_take_records;

size_t driver_take_records(driver_record *into, size_t most)
{
    pthread_mutex_lock(&self.lock);
    const size_t taken = self.count < most ? self.count : most;
    memcpy(into, self.records, taken * sizeof *into);
    memmove(self.records, self.records + taken, (self.count - taken) * sizeof *into);
    self.count -= taken;
    pthread_mutex_unlock(&self.lock);
    return taken;
}

static uint8_t kind_of(const void *host)
{
    for (size_t i = 0; i < self.pinned_count; i++) {
        const char *begin = self.pinned[i].begin;
        if ((const char *)host >= begin && (const char *)host < begin + self.pinned[i].bytes)
            return PINNED;
    }
    return PAGEABLE;
}

static uint32_t id_of(const void *stream)
{
    return stream ? (uint32_t)(uintptr_t)stream : 7;
}

static int copy(uint8_t kind, void *to, const void *from, size_t bytes, const void *stream)
{
    const uint64_t start = work(1000 + bytes / 10);
    memmove(to, from, bytes);
    KEEP((haul_abi_copy){
        .kind = HAUL_ABI_COPY,
        .copy_kind = kind,
        .source_kind = kind == HTOD ? kind_of(from) : DEVICE,
        .target_kind = kind == DTOH ? kind_of(to) : DEVICE,
        .bytes = bytes,
        .start = start,
        .end = self.clock_ns,
        .context = 1,
        .stream = id_of(stream),
        .correlation = ++self.correlation,
    });
    return 0;
}

/* --- the driver's functions, with its names */

VISIBLE int cuInit(unsigned flags);
VISIBLE int cuDeviceGetCount(int *count);
VISIBLE int cuDevicePrimaryCtxRetain(void **context, int device);
VISIBLE int cuCtxSetCurrent(void *context);
VISIBLE int cuMemAlloc_v2(address *device, size_t bytes);
VISIBLE int cuMemAllocHost_v2(void **host, size_t bytes);
VISIBLE int cuMemFree_v2(address device);
VISIBLE int cuMemFreeHost(void *host);
VISIBLE int cuEventDestroy_v2(void *event);
VISIBLE int cuStreamDestroy_v2(void *stream);
VISIBLE int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream);
VISIBLE int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream);
VISIBLE int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream);
VISIBLE int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes);
VISIBLE int cuMemcpyDtoH_v2(void *to, address from, size_t bytes);
VISIBLE int cuMemsetD32Async(address to, unsigned value, size_t count, void *stream);
VISIBLE int cuStreamCreate(void **stream, unsigned flags);
VISIBLE int cuStreamSynchronize(void *stream);
VISIBLE int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
VISIBLE int cuEventCreate(void **event, unsigned flags);
VISIBLE int cuEventRecord(void *event, void *stream);
VISIBLE int cuEventElapsedTime(float *ms, void *from, void *to);
VISIBLE int cuModuleLoadData(void **module, const char *image);
VISIBLE int cuModuleGetFunction(void **function, void *module, const char *name);
VISIBLE int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                           void *stream, void **parameters, void **extra);

int cuInit(unsigned flags)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    self.clock_ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    int (*begin)(void) = NULL;
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    void *found = library ? dlsym(library, "InitializeInjection") : NULL;
    memcpy(&begin, &found, sizeof found);
    if (begin)
        begin();
    return (int)flags;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &self;
    return device;
}

int cuCtxSetCurrent(void *context)
{
    return context != &self;
}

int cuMemAlloc_v2(address *device, size_t bytes)
{
    *device = (address)(uintptr_t)malloc(bytes);
    return !*device;
}

int cuMemAllocHost_v2(void **host, size_t bytes)
{
    *host = malloc(bytes);
    if (!*host || self.pinned_count == PINNED_RANGES)
        return 2;
    self.pinned[self.pinned_count].begin = *host;
    self.pinned[self.pinned_count++].bytes = bytes;
    return 0;
}

int cuMemFree_v2(address device)
{
    free((void *)(uintptr_t)device);
    return 0;
}

int cuMemFreeHost(void *host)
{
    free(host);
    return 0;
}

int cuEventDestroy_v2(void *event)
{
    free(event);
    return 0;
}

int cuStreamDestroy_v2(void *stream)
{
    return !stream;
}

int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream)
{
    return copy(HTOD, (void *)(uintptr_t)to, from, bytes, stream);
}

int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream)
{
    return copy(DTOH, to, (const void *)(uintptr_t)from, bytes, stream);
}

int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream)
{
    return copy(DTOD, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, stream);
}

int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes)
{
    return copy(HTOD, (void *)(uintptr_t)to, from, bytes, NULL);
}

int cuMemcpyDtoH_v2(void *to, address from, size_t bytes)
{
    return copy(DTOH, to, (const void *)(uintptr_t)from, bytes, NULL);
}

int cuMemsetD32Async(address to, unsigned value, size_t count, void *stream)
{
    const uint64_t start = work(1000 + count / 100);
    uint32_t *at = (uint32_t *)(uintptr_t)to;
    for (size_t i = 0; i < count; i++)
        at[i] = value;
    KEEP((haul_abi_memset){
        .kind = HAUL_ABI_MEMSET,
        .value = value,
        .bytes = 4 * count,
        .start = start,
        .end = self.clock_ns,
        .context = 1,
        .stream = id_of(stream),
        .correlation = ++self.correlation,
        .memory_kind = DEVICE,
    });
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    *stream = (void *)(uintptr_t)(++self.streams + 12);
    return flags > 1;
}

static int wait_as(uint32_t type, const void *stream, uint32_t event)
{
    const uint64_t at = work(1);
    KEEP((haul_abi_sync){.kind = HAUL_ABI_SYNC,
                         .type = type,
                         .start = at,
                         .end = at + 1,
                         .correlation = ++self.correlation,
                         .context = 1,
                         .stream = id_of(stream),
                         .event = event,
                         .sync_id = event});
    return 0;
}

int cuStreamSynchronize(void *stream)
{
    return wait_as(3, stream, UINT32_MAX);
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    return event ? wait_as(2, stream, 1) : (int)flags;
}

int cuEventCreate(void **event, unsigned flags)
{
    *event = calloc(1, sizeof(uint64_t));
    return *event ? (int)flags : 2;
}

int cuEventRecord(void *event, void *stream)
{
    *(uint64_t *)event = work(100);
    KEEP((haul_abi_event){.kind = HAUL_ABI_EVENT,
                          .correlation = ++self.correlation,
                          .context = 1,
                          .stream = id_of(stream),
                          .event = 1,
                          .sync_id = 1});
    return 0;
}

int cuEventElapsedTime(float *ms, void *from, void *to)
{
    *ms = (float)(1e-6 * (double)(*(uint64_t *)to - *(uint64_t *)from));
    return 0;
}

int cuModuleLoadData(void **module, const char *image)
{
    *module = &self;
    return strstr(image, ".visible .entry") == NULL;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return !*name;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra)
{
    const uint64_t start = work(2000000);
    KEEP((haul_abi_kernel){
        .kind = HAUL_ABI_KERNEL,
        .start = start,
        .end = self.clock_ns,
        .context = 1,
        .stream = id_of(stream),
        .grid = {(int32_t)grid_x, (int32_t)grid_y, (int32_t)grid_z},
        .block = {(int32_t)block_x, (int32_t)block_y, (int32_t)block_z},
        .dynamic_shared = (int32_t)shared,
        .correlation = ++self.correlation,
        .name = "add_rounds",
    });
    return !function || !parameters || extra;
}
