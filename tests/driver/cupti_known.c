/* One set of records that tests know by heart. */
#include <pthread.h>
#include <stdlib.h>

#include "cupti_buffers.h"

enum { THREADS = 4, COPIES = 10000 };

#define PUT(to, ...) cupti_put(to, &(__VA_ARGS__), sizeof(__VA_ARGS__))

static void put_machine(cupti_batch *to)
{
    PUT(to,
        (hl_record_abi_device){.kind = HL_RECORD_ABI_DEVICE,
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
    PUT(to, (hl_record_abi_context){.kind = HL_RECORD_ABI_CONTEXT, .context = 5, .device = 1});
}

static void put_copies(cupti_batch *to, uint64_t t)
{
    PUT(to, (hl_record_abi_copy){
                HL_RECORD_ABI_COPY, 1, 1, 3, 0, {1 << 20, t + 10000, t + 110000, 1, 5, 7, {101}}});
    PUT(to, (hl_record_abi_copy){
                HL_RECORD_ABI_COPY, 2, 3, 2, 1, {4096, t + 300000, t + 302000, 1, 5, 7, {103}}});
    PUT(to, (hl_record_abi_copy){
                HL_RECORD_ABI_COPY, 8, 3, 3, 1, {512, t + 310000, t + 311000, 1, 5, 7, {104}}});
    /* a peer copy, from device 1 to 2; a copy of which CUPTI took no time */
    PUT(to,
        (hl_record_abi_peer_copy){
            {HL_RECORD_ABI_PEER_COPY, 10, 3, 3, 1, {2048, t + 320000, t + 321000, 1, 5, 7, {1}}},
            5,
            2,
            6,
            105});
    PUT(to, (hl_record_abi_copy){HL_RECORD_ABI_COPY, 1, 1, 3, 0, {999, 0, 0, 1, 5, 7, {106}}});
    PUT(to, (hl_record_abi_memset){
                HL_RECORD_ABI_MEMSET, 255, {65536, t + 330000, t + 331000, 1, 5, 7, {107}}, 0, 3});
    PUT(to, (hl_record_abi_migration){.kind = HL_RECORD_ABI_MIGRATION,
                                      .counter = HL_RECORD_ABI_MOVED_HTOD,
                                      .value = 65536,
                                      .start = t + 340000,
                                      .end = t + 345000,
                                      .source = UINT32_MAX,
                                      .target = 1,
                                      .flags = 2});
    PUT(to, (hl_record_abi_migration){
                .kind = HL_RECORD_ABI_MIGRATION, .counter = 4, .value = 3}); /* faults */
}

static void put_work(cupti_batch *to, uint64_t t)
{
    PUT(to, (hl_record_abi_kernel){.kind = HL_RECORD_ABI_KERNEL,
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
    PUT(to, (hl_record_abi_call){HL_RECORD_ABI_RUNTIME, 41, t, t + 112000, 1, 77, 101, 0});
    PUT(to, (hl_record_abi_call){HL_RECORD_ABI_DRIVER, 307, t + 113000, t + 116000, 1, 77, 102, 0});
    PUT(to,
        (hl_record_abi_call){HL_RECORD_ABI_RUNTIME, 1999, t + 117000, t + 118000, 1, 77, 109, 2});
    PUT(to, (hl_record_abi_overhead){
                HL_RECORD_ABI_OVERHEAD, 6 << 16, 2, {1, 77, 0}, t + 200000, t + 210000});
    PUT(to, (hl_record_abi_record){63}); /* of a kind that is not known */
}

/* Stream 8 waits for an event of stream 7, the host for stream 7, and for the context. */
static void put_waits(cupti_batch *to, uint64_t t)
{
    const uint32_t none = UINT32_MAX;
    PUT(to, (hl_record_abi_event){.kind = HL_RECORD_ABI_EVENT,
                                  .correlation = 108,
                                  .context = 5,
                                  .stream = 7,
                                  .event = 3,
                                  .device = 1,
                                  .sync_id = 11});
    PUT(to,
        (hl_record_abi_sync){HL_RECORD_ABI_SYNC, 2, t + 350000, t + 351000, 110, 5, 8, 3, 11, 0});
    PUT(to,
        (hl_record_abi_sync){HL_RECORD_ABI_SYNC, 3, t + 352000, t + 360000, 111, 5, 7, none, 0, 0});
    PUT(to, (hl_record_abi_sync){HL_RECORD_ABI_SYNC, 4, t + 363000, t + 370000, 113, 5, none, none,
                                 0, 0});
    /* a query that was not ready, CUDA_ERROR_NOT_READY */
    if (!cupti.options.old)
        PUT(to, (hl_record_abi_sync){HL_RECORD_ABI_SYNC, 3, t + 361000, t + 362000, 112, 5, 7, none,
                                     0, 600});
}

static void *put_many(void *argument)
{
    const uint64_t t = *(const uint64_t *)argument;
    cupti_batch to = {0};
    for (uint64_t i = 0; i < COPIES; i++)
        PUT(&to,
            (hl_record_abi_copy){
                HL_RECORD_ABI_COPY, 1, 2, 3, 1, {8, t + 10 * i, t + 10 * i + 5, 1, 5, 9, {0}}});
    cupti_deliver(&to);
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

void cupti_deliver_known(void)
{
    const uint64_t t = cupti_now();
    cupti_batch to = {0};
    put_machine(&to);
    put_copies(&to, t);
    put_work(&to, t);
    put_waits(&to, t);
    cupti_deliver(&to);
    if (cupti.options.many)
        put_from_threads(t);
}
