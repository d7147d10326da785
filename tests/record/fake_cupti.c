/* A libcupti for tests: it delivers one set of records, known to the tests, at the first flush.
 * FAKE_CUPTI says how it behaves: "new" is CUPTI of CUDA 13, "old" of CUDA 11.0 without what came
 * later, "ancient" of CUDA 8, "refuses" lets nothing be recorded, "many" delivers 40000 copies more
 * from four threads at once; "driver" delivers what fake_cuda was asked for. Records have more
 * behind what is declared, as real ones do. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_cuda.h"
#include "record/cupti_abi.h"

#define VISIBLE __attribute__((visibility("default")))

enum { NOT_SUPPORTED = 27, BEHIND = 40, THREADS = 4, COPIES = 10000 };

static struct {
    haul_abi_request *request;
    haul_abi_complete *complete;
    haul_abi_clock *clock;
    uint64_t enabled; /* a bit a kind */
    int delivered;
    int asked;    /* to count unified memory */
    size_t taken; /* of fake_cuda's records */
} self;

static int is(const char *mode)
{
    const char *given = getenv("FAKE_CUPTI");
    return !strcmp(given ? given : "new", mode);
}

static uint64_t realtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t time_now(void)
{
    return self.clock ? self.clock() : realtime();
}

/* A buffer being filled; each record has its size, and then what CUPTI would have there. */
typedef struct filling {
    uint8_t *buffer;
    size_t size, used;
} filling;

static void begin(filling *to)
{
    size_t limit;
    to->used = 0;
    self.request(&to->buffer, &to->size, &limit);
}

static void deliver(filling *from)
{
    self.complete(NULL, 0, from->buffer, from->size, from->used);
}

static void put(filling *to, const void *record, size_t size)
{
    const uint64_t whole = (size + BEHIND + 15) / 8 * 8;
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (kind < 64 && !(self.enabled >> kind & 1))
        return;
    if (to->used + whole + 8 > to->size) {
        deliver(to);
        begin(to);
    }
    memcpy(to->buffer + to->used, &whole, 8);
    memset(to->buffer + to->used + 8, 0xee, whole - 8);
    memcpy(to->buffer + to->used + 8, record, size);
    to->used += whole;
}

#define PUT(to, ...) put(to, &(__VA_ARGS__), sizeof(__VA_ARGS__))

static void put_machine(filling *to)
{
    PUT(to, (haul_abi_device){.kind = HAUL_ABI_DEVICE,
                              .memory_bandwidth = 900000000,
                              .memory_bytes = 16945512448,
                              .l2_bytes = 6291456,
                              .clock_rate = 1530000,
                              .copy_engines = 3,
                              .multiprocessors = 80,
                              .major = 7,
                              .id = 1,
                              .uuid = {0xab, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xcd},
                              .name = "Fake V100"});
    PUT(to, (haul_abi_context){.kind = HAUL_ABI_CONTEXT, .context = 5, .device = 1});
}

static void put_copies(filling *to, uint64_t t)
{
    PUT(to,
        (haul_abi_copy){HAUL_ABI_COPY, 1, 1, 3, 0, 1 << 20, t + 10000, t + 110000, 1, 5, 7, 101});
    PUT(to, (haul_abi_copy){HAUL_ABI_COPY, 2, 3, 2, 1, 4096, t + 300000, t + 302000, 1, 5, 7, 103});
    PUT(to, (haul_abi_copy){HAUL_ABI_COPY, 8, 3, 3, 1, 512, t + 310000, t + 311000, 1, 5, 7, 104});
    /* a peer copy, from device 1 to 2; a copy of which CUPTI took no time */
    PUT(to, (haul_abi_peer_copy){HAUL_ABI_PEER_COPY, 10, 3, 3, 1, 2048, t + 320000, t + 321000, 1,
                                 5, 7, 1, 5, 2, 6, 105});
    PUT(to, (haul_abi_copy){HAUL_ABI_COPY, 1, 1, 3, 0, 999, 0, 0, 1, 5, 7, 106});
    PUT(to,
        (haul_abi_memset){HAUL_ABI_MEMSET, 255, 65536, t + 330000, t + 331000, 1, 5, 7, 107, 0, 3});
    PUT(to, (haul_abi_migration){.kind = HAUL_ABI_MIGRATION,
                                 .counter = HAUL_ABI_MOVED_HTOD,
                                 .value = 65536,
                                 .start = t + 340000,
                                 .end = t + 345000,
                                 .source = UINT32_MAX,
                                 .target = 1,
                                 .flags = 2});
    PUT(to,
        (haul_abi_migration){.kind = HAUL_ABI_MIGRATION, .counter = 4, .value = 3}); /* faults */
}

static void put_work(filling *to, uint64_t t)
{
    PUT(to, (haul_abi_kernel){.kind = HAUL_ABI_KERNEL,
                              .registers_per_thread = 32,
                              .start = t + 120000,
                              .end = t + 290000,
                              .device = 1,
                              .context = 5,
                              .stream = 7,
                              .grid = {64, 2, 1},
                              .block = {128, 1, 1},
                              .static_shared = 1024,
                              .dynamic_shared = 512,
                              .correlation = 102,
                              .name = "_ZN3lib5scaleIfEEvPT_i"});
    PUT(to, (haul_abi_call){HAUL_ABI_RUNTIME, 41, t, t + 112000, 1, 77, 101, 0});
    PUT(to, (haul_abi_call){HAUL_ABI_DRIVER, 307, t + 113000, t + 116000, 1, 77, 102, 0});
    PUT(to, (haul_abi_call){HAUL_ABI_RUNTIME, 1999, t + 117000, t + 118000, 1, 77, 109, 2});
    PUT(to, (haul_abi_overhead){HAUL_ABI_OVERHEAD, 6 << 16, 2, {1, 77, 0}, t + 200000, t + 210000});
    PUT(to, (haul_abi_record){63}); /* of a kind that is not known */
}

/* Until CUDA 12.8 these records were shorter. */
static void put_event(filling *to, haul_abi_event record)
{
    record.kind = HAUL_ABI_EVENT;
    put(to, &record, is("old") ? offsetof(haul_abi_event, device) : sizeof record);
}

static void put_sync(filling *to, haul_abi_sync record)
{
    record.kind = HAUL_ABI_SYNC;
    put(to, &record, is("old") ? offsetof(haul_abi_sync, sync_id) : sizeof record);
}

/* Stream 8 waits for an event of stream 7, the host for stream 7, and for the context. */
static void put_waits(filling *to, uint64_t t)
{
    const uint32_t none = UINT32_MAX;
    put_event(
        to,
        (haul_abi_event){
            .correlation = 108, .context = 5, .stream = 7, .event = 3, .device = 1, .sync_id = 11});
    put_sync(to, (haul_abi_sync){0, 2, t + 350000, t + 351000, 110, 5, 8, 3, 11, 0});
    put_sync(to, (haul_abi_sync){0, 3, t + 352000, t + 360000, 111, 5, 7, none, 0, 0});
    put_sync(to, (haul_abi_sync){0, 4, t + 363000, t + 370000, 113, 5, none, none, 0, 0});
    /* a query that was not ready, CUDA_ERROR_NOT_READY */
    if (!is("old"))
        put_sync(to, (haul_abi_sync){0, 3, t + 361000, t + 362000, 112, 5, 7, none, 0, 600});
}

static void *put_many(void *argument)
{
    const uint64_t t = *(const uint64_t *)argument;
    filling to;
    begin(&to);
    for (uint64_t i = 0; i < COPIES; i++)
        PUT(&to,
            (haul_abi_copy){HAUL_ABI_COPY, 1, 2, 3, 1, 8, t + 10 * i, t + 10 * i + 5, 1, 5, 9, 0});
    deliver(&to);
    return NULL;
}

static void put_from_threads(uint64_t t)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, put_many, &t))
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* At the end only: fake_cuda does not lock. */
static void put_asked_for(void)
{
    fake_cuda_records_function *records = NULL;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = cuda ? dlsym(cuda, "fake_cuda_records") : NULL;
    size_t count = 0;
    filling to;
    memcpy(&records, &found, sizeof found);
    const fake_record *all = records ? records(&count) : NULL;
    begin(&to);
    for (; self.taken < count; self.taken++)
        put(&to, all[self.taken].bytes, all[self.taken].size);
    deliver(&to);
}

/* --- the entry points */

#define ENTRY(name, parameters, needed) VISIBLE int cupti##name parameters;
HAUL_CUPTI_FUNCTIONS(ENTRY)

int cuptiGetVersion(uint32_t *version)
{
    *version = is("old") ? 13 : is("ancient") ? 9 : 130001;
    return 0;
}

int cuptiGetTimestamp(uint64_t *time_ns)
{
    *time_ns = time_now();
    return 0;
}

int cuptiGetResultString(int result, const char **text)
{
    *text = result == NOT_SUPPORTED ? "CUPTI_ERROR_NOT_SUPPORTED" : "CUPTI_ERROR";
    return 0;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name)
{
    *name = domain == HAUL_ABI_DOMAIN_RUNTIME && function == 41   ? "cudaMemcpyAsync_v3020"
            : domain == HAUL_ABI_DOMAIN_DRIVER && function == 307 ? "cuLaunchKernel"
                                                                  : NULL;
    return *name ? 0 : 1;
}

int cuptiActivityEnable(uint32_t kind)
{
    if (is("refuses"))
        return HAUL_CUPTI_NO_PRIVILEGE;
    self.enabled |= UINT64_C(1) << kind | UINT64_C(1) << 63;
    return 0;
}

int cuptiActivityDisable(uint32_t kind)
{
    self.enabled &= ~(UINT64_C(1) << kind);
    return 0;
}

int cuptiActivityRegisterCallbacks(haul_abi_request *request, haul_abi_complete *complete)
{
    self.request = request;
    self.complete = complete;
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, haul_abi_record **record)
{
    uint64_t size;
    uint8_t *at = *record ? (uint8_t *)*record - 8 : NULL;
    if (at) {
        memcpy(&size, at, 8);
        at += size;
    } else {
        at = buffer;
    }
    if (at >= buffer + used)
        return HAUL_CUPTI_MAX_LIMIT;
    *record = (haul_abi_record *)(void *)(at + 8);
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = is("many") || is("driver") ? 0 : 3;
    return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    if (is("driver")) {
        if (flag == HAUL_ABI_FLUSH_FORCED)
            put_asked_for();
        return 0;
    }
    if (self.delivered)
        return 0;
    self.delivered = 1;
    filling to;
    const uint64_t t = time_now();
    begin(&to);
    put_machine(&to);
    put_copies(&to, t);
    put_work(&to, t);
    put_waits(&to, t);
    deliver(&to);
    if (is("many"))
        put_from_threads(t);
    return 0;
}

int cuptiActivityConfigureUnifiedMemoryCounter(haul_abi_counter_config *config, uint32_t count)
{
    if (is("old") && !self.asked++)
        return HAUL_CUPTI_NOT_INITIALIZED;
    return config && count < (is("old") ? 3 : 4) ? 0 : HAUL_CUPTI_INVALID_PARAMETER;
}

int cuptiSetThreadIdType(uint32_t type)
{
    return type == HAUL_ABI_THREAD_ID_SYSTEM ? 0 : NOT_SUPPORTED;
}

int cuptiActivityRegisterTimestampCallback(haul_abi_clock *clock)
{
    if (is("old"))
        return NOT_SUPPORTED;
    self.clock = clock;
    return 0;
}

int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
    return enable ? 1 : 0;
}
