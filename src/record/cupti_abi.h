/* The part of NVIDIA's CUPTI that is used here, declared anew so that no toolkit is needed to
 * build: the beginnings of its activity records, which newer versions only append to, and the
 * functions. Layouts are those of 64-bit systems from CUPTI 12 (CUDA 10) on;
 * tests/record/cupti_layout.c holds them, and every older layout that the toolkit still declares,
 * against its headers. */
#ifndef HAUL_RECORD_CUPTI_ABI_H
#define HAUL_RECORD_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* cuptiGetVersion: counts up to 28 (CUDA 12.9.1), then 10000 a major version of CUDA. */
enum {
    HL_RECORD_CUPTI_OLDEST = 12, /* CUDA 10 */
    HL_RECORD_CUPTI_EVENT_TIMES =
        26, /* CUDA 12.8: events have times, waits name the record waited for */
    HL_RECORD_CUPTI_SUCCESS = 0,
    HL_RECORD_CUPTI_INVALID_PARAMETER = 1,
    HL_RECORD_CUPTI_MAX_LIMIT = 12, /* CUPTI_ERROR_MAX_LIMIT_REACHED: no further record */
    HL_RECORD_CUPTI_NOT_INITIALIZED = 15,
    HL_RECORD_CUPTI_NO_PRIVILEGE = 35, /* CUPTI_ERROR_INSUFFICIENT_PRIVILEGES */
};

/* CUpti_ActivityKind */
typedef enum hl_record_abi_kind {
    HL_RECORD_ABI_COPY = 1,
    HL_RECORD_ABI_MEMSET = 2,
    HL_RECORD_ABI_DRIVER = 4,
    HL_RECORD_ABI_RUNTIME = 5,
    HL_RECORD_ABI_DEVICE = 8,
    HL_RECORD_ABI_CONTEXT = 9,
    HL_RECORD_ABI_KERNEL = 10, /* CONCURRENT_KERNEL: KERNEL, 3, would serialise the program's */
    HL_RECORD_ABI_OVERHEAD = 17,
    HL_RECORD_ABI_PEER_COPY = 22,
    HL_RECORD_ABI_MIGRATION = 25, /* UNIFIED_MEMORY_COUNTER */
    HL_RECORD_ABI_EVENT = 36,
    HL_RECORD_ABI_SYNC = 38,
} hl_record_abi_kind;

/* CUpti_CallbackDomain */
enum { HL_RECORD_ABI_DOMAIN_DRIVER = 1, HL_RECORD_ABI_DOMAIN_RUNTIME = 2 };

/* CUpti_ActivityUnifiedMemoryCounterKind: bytes moved; the others count faults and the like. */
enum { HL_RECORD_ABI_MOVED_HTOD = 1, HL_RECORD_ABI_MOVED_DTOH = 2, HL_RECORD_ABI_MOVED_DTOD = 8 };

/* CUpti_ActivityUnifiedMemoryCounterScope: one process, all its devices */
enum { HL_RECORD_ABI_SCOPE_ALL_DEVICES = 2 };

/* CUpti_ActivityThreadIdType: the system's own */
enum { HL_RECORD_ABI_THREAD_ID_SYSTEM = 1 };

/* cuptiActivityFlushAll: what has not completed too */
enum { HL_RECORD_ABI_FLUSH_FORCED = 1 };

/* CUpti_Activity, and how each record begins. */
typedef struct hl_record_abi_record {
    uint32_t kind;
} hl_record_abi_record;

/* The members that records of copies and memsets share. */
typedef struct hl_record_abi_transfer {
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t device;
    uint32_t context;
    uint32_t stream;
    union {
        uint32_t correlation;
        uint32_t source_device; /* CUpti_ActivityMemcpyPtoP */
    };
} hl_record_abi_transfer;

/* CUpti_ActivityMemcpy to 6 */
typedef struct hl_record_abi_copy {
    uint32_t kind;
    uint8_t copy_kind;
    uint8_t source_kind;
    uint8_t target_kind;
    uint8_t flags;
    hl_record_abi_transfer transfer;
} hl_record_abi_copy;

/* CUpti_ActivityMemcpyPtoP to 4 */
typedef struct hl_record_abi_peer_copy {
    hl_record_abi_copy copy;
    uint32_t source_context;
    uint32_t target_device;
    uint32_t target_context;
    uint32_t correlation;
} hl_record_abi_peer_copy;

/* CUpti_ActivityMemset to 4 */
typedef struct hl_record_abi_memset {
    uint32_t kind;
    uint32_t value;
    hl_record_abi_transfer transfer;
    uint16_t flags;
    uint16_t memory_kind;
} hl_record_abi_memset;

/* CUpti_ActivityKernel3 to 10 */
typedef struct hl_record_abi_kernel {
    uint32_t kind;
    uint8_t cache_config;
    uint8_t shared_memory_config;
    uint16_t registers_per_thread;
    uint32_t partitioned_cache[2];
    uint64_t start;
    uint64_t end;
    uint64_t completed;
    uint32_t device;
    uint32_t context;
    uint32_t stream;
    int32_t grid[3];
    int32_t block[3];
    int32_t static_shared;
    int32_t dynamic_shared;
    uint32_t local_per_thread;
    uint32_t local_total;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
} hl_record_abi_kernel;

/* CUpti_ActivityAPI */
typedef struct hl_record_abi_call {
    uint32_t kind;
    uint32_t function;
    uint64_t start;
    uint64_t end;
    uint32_t process;
    uint32_t thread;
    uint32_t correlation;
    uint32_t result;
} hl_record_abi_call;

/* CUpti_ActivityDevice2 to 5 */
typedef struct hl_record_abi_device {
    uint32_t kind;
    uint32_t flags;
    uint64_t memory_bandwidth; /* kB/s */
    uint64_t memory_bytes;
    uint32_t constant_bytes;
    uint32_t l2_bytes;
    uint32_t warp_threads;
    uint32_t clock_rate; /* kHz */
    uint32_t copy_engines;
    uint32_t multiprocessors;
    uint32_t limits[14];
    uint32_t major;
    uint32_t minor;
    uint32_t id;
    uint32_t ecc;
    uint8_t uuid[16];
    const char *name;
} hl_record_abi_device;

/* CUpti_ActivityContext to 3 */
typedef struct hl_record_abi_context {
    uint32_t kind;
    uint32_t context;
    uint32_t device;
} hl_record_abi_context;

/* CUpti_ActivitySynchronization; from HL_RECORD_CUPTI_EVENT_TIMES on 2, with the last two. */
typedef struct hl_record_abi_sync {
    uint32_t kind;
    uint32_t type;
    uint64_t start;
    uint64_t end;
    uint32_t correlation;
    uint32_t context;
    uint32_t stream;
    uint32_t event;
    uint64_t sync_id;
    uint32_t result;
} hl_record_abi_sync;

/* CUpti_ActivityCudaEvent; from HL_RECORD_CUPTI_EVENT_TIMES on 2, with what is behind `event`. */
typedef struct hl_record_abi_event {
    uint32_t kind;
    uint32_t correlation;
    uint32_t context;
    uint32_t stream;
    uint32_t event;
    uint32_t pad;
    uint32_t device;
    uint32_t pad2;
    void *reserved;
    uint64_t time;
    uint64_t sync_id;
} hl_record_abi_event;

/* CUpti_ActivityUnifiedMemoryCounter2 and 3 */
typedef struct hl_record_abi_migration {
    uint32_t kind;
    uint32_t counter;
    uint64_t value; /* bytes, or faults */
    uint64_t start;
    uint64_t end;
    uint64_t address;
    uint32_t source;
    uint32_t target;
    uint32_t stream;
    uint32_t process;
    uint32_t flags; /* CUpti_ActivityUnifiedMemoryMigrationCause of bytes moved */
} hl_record_abi_migration;

/* CUpti_ActivityOverhead to 3 */
typedef struct hl_record_abi_overhead {
    uint32_t kind;
    uint32_t overhead;
    uint32_t object;
    uint32_t object_id[3]; /* process and thread, or device, context and stream */
    uint64_t start;
    uint64_t end;
} hl_record_abi_overhead;

/* CUpti_ActivityUnifiedMemoryCounterConfig */
typedef struct hl_record_abi_counter_config {
    uint32_t scope;
    uint32_t counter;
    uint32_t device;
    uint32_t enable;
} hl_record_abi_counter_config;

typedef void hl_record_abi_request(uint8_t **buffer, size_t *size, size_t *record_limit);
typedef void hl_record_abi_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                    size_t used);
typedef uint64_t hl_record_abi_clock(void);

/* The functions. X(name, parameters, needed): those that are not needed are of newer versions. */
#define HL_RECORD_CUPTI_FUNCTIONS(X)                                                               \
    X(GetVersion, (uint32_t * version), 1)                                                         \
    X(GetTimestamp, (uint64_t * time_ns), 1)                                                       \
    X(GetResultString, (int result, const char **text), 1)                                         \
    X(GetCallbackName, (uint32_t domain, uint32_t function, const char **name), 1)                 \
    X(ActivityEnable, (uint32_t kind), 1)                                                          \
    X(ActivityDisable, (uint32_t kind), 1)                                                         \
    X(ActivityRegisterCallbacks,                                                                   \
      (hl_record_abi_request * request, hl_record_abi_complete * complete), 1)                     \
    X(ActivityGetNextRecord, (uint8_t * buffer, size_t used, hl_record_abi_record * *record), 1)   \
    X(ActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped), 1)          \
    X(ActivityFlushAll, (uint32_t flag), 1)                                                        \
    X(ActivityConfigureUnifiedMemoryCounter,                                                       \
      (hl_record_abi_counter_config * config, uint32_t count), 0)                                  \
    X(SetThreadIdType, (uint32_t type), 0)                                                         \
    X(ActivityRegisterTimestampCallback, (hl_record_abi_clock * clock), 0)                         \
    X(ActivityEnableAllSyncRecords, (uint8_t enable), 0)

typedef struct hl_record_cupti_functions {
#define HL_RECORD_CUPTI_FUNCTION(name, parameters, needed) int(*name) parameters;
    HL_RECORD_CUPTI_FUNCTIONS(HL_RECORD_CUPTI_FUNCTION)
#undef HL_RECORD_CUPTI_FUNCTION
} hl_record_cupti_functions;

#endif
