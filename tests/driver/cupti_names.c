/* A libcupti for tests, by the names of NVIDIA's. README.md says how it behaves. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "cupti_buffers.h"

#define VISIBLE __attribute__((visibility("default")))

enum { NOT_COMPATIBLE = 14, NOT_SUPPORTED = 27, LOOK_MS = 5, TAKEN = 256 };

static struct {
    pthread_once_t once;
    pthread_mutex_t lock; /* one delivery of the driver's records at a time */
    bool has_thread, delivered_known, asked_for_memory;
    driver_take_records_function *take_records;
    driver_call_name_function *call_name;
} self = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static const cupti_options *options(void)
{
    pthread_once(&self.once, cupti_read_options);
    return &cupti.options;
}

/* --- records of the driver */

static void find_driver(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *take = cuda ? dlsym(cuda, "driver_take_records") : NULL;
    void *name = cuda ? dlsym(cuda, "driver_call_name") : NULL;
    memcpy(&self.take_records, &take, sizeof take);
    memcpy(&self.call_name, &name, sizeof name);
}

static void deliver_from_driver(void)
{
    driver_record taken[TAKEN];
    cupti_batch batch = {0};
    size_t count;
    pthread_mutex_lock(&self.lock);
    if (!self.take_records)
        find_driver();
    while (self.take_records && (count = self.take_records(taken, TAKEN)) > 0)
        for (size_t i = 0; i < count; i++)
            cupti_put(&batch, taken[i].bytes, taken[i].size);
    if (batch.count)
        cupti_deliver(&batch);
    pthread_mutex_unlock(&self.lock);
}

/* CUPTI completes buffers on a thread of its own. */
static void *look_for_records(void *argument)
{
    (void)argument;
    for (;;) {
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
        deliver_from_driver();
    }
    return NULL;
}

static void start_thread(void)
{
    pthread_t thread;
    if (self.has_thread || !options()->driver || options()->late)
        return;
    self.has_thread = true;
    if (!pthread_create(&thread, NULL, look_for_records, NULL))
        pthread_detach(thread);
}

/* --- the entry points */

#define ENTRY(name, parameters, needed) VISIBLE int cupti##name parameters;
HL_RECORD_CUPTI_FUNCTIONS(ENTRY)

int cuptiGetVersion(uint32_t *version)
{
    *version = options()->old ? 13 : options()->ancient ? 9 : 130001;
    return 0;
}

int cuptiGetTimestamp(uint64_t *time_ns)
{
    *time_ns = cupti_now();
    return 0;
}

int cuptiGetResultString(int result, const char **text)
{
    *text = result == NOT_SUPPORTED    ? "CUPTI_ERROR_NOT_SUPPORTED"
            : result == NOT_COMPATIBLE ? "CUPTI_ERROR_NOT_COMPATIBLE"
                                       : "CUPTI_ERROR";
    return 0;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name)
{
    if (options()->driver)
        *name = self.call_name ? self.call_name(function) : NULL;
    else
        *name = domain == HL_RECORD_ABI_DOMAIN_RUNTIME && function == 41   ? "cudaMemcpyAsync_v3020"
                : domain == HL_RECORD_ABI_DOMAIN_DRIVER && function == 307 ? "cuLaunchKernel"
                                                                           : NULL;
    return *name ? 0 : 1;
}

int cuptiActivityEnable(uint32_t kind)
{
    if (options()->refuses)
        return HL_RECORD_CUPTI_NO_PRIVILEGE;
    if (options()->refused >> kind & 1)
        return NOT_COMPATIBLE;
    cupti.enabled |= UINT64_C(1) << kind;
    start_thread();
    return 0;
}

int cuptiActivityDisable(uint32_t kind)
{
    cupti.enabled &= ~(UINT64_C(1) << kind);
    return 0;
}

int cuptiActivityRegisterCallbacks(hl_record_abi_request *request, hl_record_abi_complete *complete)
{
    cupti.request = request;
    cupti.complete = complete;
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, hl_record_abi_record **record)
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
        return HL_RECORD_CUPTI_MAX_LIMIT;
    *record = (hl_record_abi_record *)(void *)(at + 8);
    return 0;
}

/* Asking sets the count back, as with the real one. */
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = atomic_exchange(&cupti.dropped, 0);
    return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    if (options()->late && flag != HL_RECORD_ABI_FLUSH_FORCED)
        return 0;
    if (options()->driver)
        deliver_from_driver();
    else if (!self.delivered_known)
        cupti_deliver_known();
    self.delivered_known = true;
    return 0;
}

int cuptiActivityConfigureUnifiedMemoryCounter(hl_record_abi_counter_config *config, uint32_t count)
{
    const bool first = !self.asked_for_memory;
    self.asked_for_memory = true;
    if (options()->old && first)
        return HL_RECORD_CUPTI_NOT_INITIALIZED;
    return config && count < (options()->old ? 3 : 4) ? 0 : HL_RECORD_CUPTI_INVALID_PARAMETER;
}

int cuptiSetThreadIdType(uint32_t type)
{
    return type == HL_RECORD_ABI_THREAD_ID_SYSTEM ? 0 : NOT_SUPPORTED;
}

int cuptiActivityRegisterTimestampCallback(hl_record_abi_clock *clock)
{
    if (options()->old)
        return NOT_SUPPORTED;
    cupti.clock = clock;
    return 0;
}

int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
    return enable ? 1 : 0;
}
