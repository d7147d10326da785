/* The driver's stand-in: a GPU in the host's memory that does what it is asked as late, or in as
 * odd an order, as CUDA's rules allow, and ends a program that breaks them. README.md. */
#ifndef HAUL_TESTS_DRIVER_H
#define HAUL_TESTS_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver_records.h"

#define DRIVER_VISIBLE __attribute__((visibility("default")))

typedef uint64_t driver_address; /* of a device, or of the host */

/* CUresult; HIP's numbers are the same. */
enum {
    DRIVER_OK = 0,
    DRIVER_INVALID_VALUE = 1,
    DRIVER_INVALID_CONFIGURATION = 9, /* HIP's alone */
    DRIVER_OUT_OF_MEMORY = 2,
    DRIVER_NOT_INITIALIZED = 3,
    DRIVER_NO_DEVICE = 100,
    DRIVER_INVALID_DEVICE = 101,
    DRIVER_INVALID_IMAGE = 200,
    DRIVER_INVALID_CONTEXT = 201,
    DRIVER_INVALID_HANDLE = 400,
    DRIVER_NOT_FOUND = 500,
    DRIVER_NOT_READY = 600,
    DRIVER_ILLEGAL_ADDRESS = 700,
    DRIVER_OUT_OF_RESOURCES = 701,
    DRIVER_PEER_ALREADY_ENABLED = 704,
    DRIVER_PEER_NOT_ENABLED = 705,
    DRIVER_ALREADY_REGISTERED = 712,
    DRIVER_NOT_REGISTERED = 713,
    DRIVER_NOT_SUPPORTED = 801,
    DRIVER_UNKNOWN = 999, /* what a GPU that has fallen off the bus gives */
};

enum { DRIVER_MOST_DEVICES = 8 };

typedef enum driver_order { DRIVER_LATE, DRIVER_EAGER, DRIVER_RANDOM } driver_order;

/* The options of FAKE_CUDA. */
typedef struct driver_options {
    driver_order order;
    bool stages; /* pageable memory is always copied from when the copy is queued */
    uint64_t seed;
    uint64_t devices;
    uint64_t memory_bytes; /* of each device */
    uint64_t allocations;  /* of device memory, after which there is none; 0 is any number */
    uint64_t lose_after;   /* calls, after which the devices are gone; 0 is never */
} driver_options;

/* An object is never freed, so that its use after its end is seen. */
typedef struct driver_object {
    uint32_t kind; /* DRIVER_CONTEXT to DRIVER_FUNCTION */
    bool alive;
    uint32_t id;                /* as CUPTI counts */
    struct driver_object *next; /* of all */
} driver_object;

enum { DRIVER_CONTEXT = 0x4C787443, DRIVER_STREAM, DRIVER_EVENT, DRIVER_MODULE, DRIVER_FUNCTION };

typedef struct driver_stream driver_stream;

typedef struct driver_context {
    driver_object object;
    int device;
    bool primary;
    unsigned retained;
    unsigned peers;         /* a bit a device whose memory it may reach */
    int error;              /* of a kernel that failed: nothing works any more */
    driver_stream *streams; /* the newest first */
    driver_stream *usual;   /* the default stream */
} driver_context;

/* The operation `number` of a stream has to end first. */
typedef struct driver_need {
    driver_stream *stream;
    uint64_t number;
} driver_need;

/* A box in memory. */
typedef struct driver_side {
    driver_address at;
    uint64_t pitch, plane; /* bytes from row to row, from plane to plane */
} driver_side;

typedef struct driver_copy {
    driver_side to, from;
    uint64_t bytes, rows, planes; /* of a row, rows of a plane */
    void *staged;                 /* what the host had in `from`, or NULL; owned */
} driver_copy;

typedef struct driver_fill {
    driver_address at;
    uint64_t count;
    uint32_t value, width; /* bytes of the value */
} driver_fill;

typedef struct driver_event driver_event;
typedef struct driver_function driver_function;

typedef struct driver_launch {
    driver_function *function;
    unsigned grid[3], block[3], shared_bytes;
    void *values; /* the parameters' values and pointers to them; owned */
} driver_launch;

typedef enum driver_op_kind {
    DRIVER_COPY,
    DRIVER_FILL,
    DRIVER_LAUNCH,
    DRIVER_CALL,
    DRIVER_RECORD,
    DRIVER_WAIT,
} driver_op_kind;

typedef struct driver_op {
    driver_op_kind kind;
    uint32_t correlation;
    uint64_t number; /* in its stream, from 1 */
    int64_t queued_ns, start_ns, end_ns;
    driver_need *needs; /* owned */
    size_t need_count;
    struct driver_op *next;
    union {
        driver_copy copy;
        driver_fill fill;
        driver_launch launch;
        driver_event *event;
        struct {
            void (*function)(void *state);
            void *state;
        } call;
    };
} driver_op;

struct driver_stream {
    driver_object object;
    driver_context *context;
    bool waits_for_default; /* not of CU_STREAM_NON_BLOCKING */
    driver_op *first, *last;
    uint64_t queued, ended; /* operations */
    uint64_t asked;         /* a program that polls wants what is up to here */
    int64_t end_ns;         /* of its last operation, on the device's clock */
    driver_stream *next;    /* of its context */
    driver_stream *next_of_all;
};

struct driver_event {
    driver_object object;
    driver_context *context;
    bool without_time;
    driver_need record; /* the last that was queued; stream NULL for none */
    uint32_t record_id; /* of it, among all */
    int64_t end_ns;     /* of the last that ended */
};

typedef struct driver_module {
    driver_object object;
    driver_context *context;
    void *library; /* NULL: PTX, whose kernels take a while and do nothing */
    const char *text;
} driver_module;

/* How a kernel that NVRTC's stand-in compiled is run: kernel_prelude.h. */
typedef struct driver_grid {
    unsigned grid[3], block[3], shared_bytes;
    uint64_t seed; /* 0: the last block first; else of a random order */
} driver_grid;

/* Shared memory of a block, where the function was told of more, and of a multiprocessor, as
 * compute capability 9.0 has it: half of it is more than a block's own. */
enum {
    DRIVER_MOST_SHARED = 48 << 10,
    DRIVER_MOST_DYNAMIC = 227 << 10,
    DRIVER_MULTIPROCESSOR = 228 << 10,
};

struct driver_function {
    driver_object object;
    unsigned most_dynamic;
    driver_module *module;
    const char *name;
    void (*run)(const driver_grid *grid, void **values);
    const size_t *value_bytes; /* of each parameter, and 0 */
};

/* --- driver_state.c: one lock for all; what follows needs it, unless it says otherwise */

typedef struct driver_state {
    driver_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an operation was queued, wanted or has ended */
    atomic_bool ready;      /* cuInit has returned; a recorder's thread may call before */
    bool lost;
    bool recorded; /* a library of CUDA_INJECTION64_PATH is there */
    long process;  /* of cuInit: a forked child cannot use the driver */
    uint64_t calls;
    uint64_t draws;
    uint32_t correlations;
    driver_object *objects;
    uint32_t object_ids;
} driver_state;

extern driver_state driver;
extern _Thread_local uint32_t driver_correlation; /* of this thread's call */

/* Says on stderr which rule the program broke, and aborts. Needs no lock. */
_Noreturn void driver_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A call of the program's, from its first line to its last. */
typedef struct driver_api {
    int result; /* not DRIVER_OK: there is nothing more to do */
    uint32_t number;
    int64_t start_ns;
} driver_api;

/* Takes the lock; `number` is where the call's number in records is kept, 0 at first. */
driver_api driver_enter(const char *name, uint32_t *number);
int driver_leave(const driver_api *api, int result);

int driver_init(void);
int64_t driver_now(void);
uint64_t driver_draw(uint64_t below);
void *driver_new(size_t bytes); /* zeroed; never NULL */
void *driver_object_new(size_t bytes, uint32_t kind);

/* The object, which must live and be of the kind; what names it in a complaint. */
void *driver_object_of(void *handle, uint32_t kind, const char *what);

/* Keeps a record for CUPTI, where one listens. */
void driver_keep(const void *record, size_t size);
#define DRIVER_KEEP(...) driver_keep(&(__VA_ARGS__), sizeof(__VA_ARGS__))

/* --- driver_devices.c, driver_contexts.c */

int driver_device_check(int device);
/* By CUDA's number, or by HIP's. */
int driver_attribute(int *value, int attribute, int device);
int driver_hip_attribute(int *value, int attribute, int device);
const char *driver_device_name(void);

/* The calling thread's context, or NULL. */
driver_context *driver_current(void);
int driver_set_current(driver_context *context);
int driver_context_new(driver_context **context, int device);
int driver_context_destroy(driver_context *context);
int driver_context_push(driver_context *context);
int driver_context_pop(driver_context **context);
int driver_primary_retain(driver_context **context, int device);
int driver_primary_release(int device);
int driver_context_wait(void);
int driver_peer_enable(driver_context *peer);
/* Sets *context to the calling thread's, if it works. */
int driver_context_check(driver_context **context);

/* --- driver_memory.c */

typedef enum driver_memory {
    DRIVER_PAGEABLE = 1, /* as CUPTI counts */
    DRIVER_PINNED = 2,
    DRIVER_DEVICE = 3,
    DRIVER_MANAGED = 5,
} driver_memory;

typedef struct driver_block {
    driver_address at;
    uint64_t bytes;
    driver_memory memory;
    int device;
    bool registered, imported, write_combined;
    int file; /* of a device's memory, and where in it */
    uint64_t offset;
    struct driver_block *next;
} driver_block;

/* Of the thread's device. */
int driver_room(size_t *left, size_t *whole);
int driver_alloc(driver_address *at, uint64_t bytes);
int driver_free(driver_address at);
int driver_alloc_host(void **host, uint64_t bytes, bool write_combined);
int driver_alloc_managed(driver_address *at, uint64_t bytes);
int driver_free_host(void *host);
int driver_register(void *host, uint64_t bytes);
int driver_unregister(void *host);
int driver_export(unsigned char name[64], driver_address at);
int driver_import(driver_address *at, const unsigned char name[64]);
int driver_import_close(driver_address at);
int driver_free_pages(driver_block *block);

/* The block at an address, or NULL for pageable memory of the host; complains of freed memory. */
const driver_block *driver_block_at(driver_address at);

/* An attribute of a pointer, by CUDA's and HIP's numbers (CUpointer_attribute). */
int driver_pointer_tell(void *value, int attribute, driver_address at);
driver_memory driver_memory_at(driver_address at);
/* Whether the bytes are all of one block, or of the host's. */
bool driver_holds(driver_address at, uint64_t bytes);

/* Opens the device memory that kernels of the context may use, or closes it. */
void driver_expose(const driver_context *context, bool open);

/* Move bytes from or to any address; take the lock. Return false where the host's end is not there.
 */
bool driver_read(void *into, driver_address from, uint64_t bytes);
bool driver_write(driver_address to, const void *from, uint64_t bytes);

/* Needs no lock. */
bool driver_is_device_address(const void *at);

/* --- driver_streams.c */

/* The default stream of a context is its first. */
driver_stream *driver_stream_make(driver_context *context, bool waits_for_default);
int driver_stream_new(driver_stream **stream, bool waits_for_default);
int driver_stream_destroy(driver_stream *stream);
int driver_stream_wait(void *stream);
int driver_stream_query(void *stream);
int driver_stream_wait_event(void *stream, driver_event *event);
driver_stream *driver_streams(void); /* of all contexts */

/* Sets *stream to that of a handle; NULL and 1 are the default one of the thread's context. */
int driver_stream_of(driver_stream **stream, void *handle);

/* Queues an operation that is like `op`, of which number, needs and times are set here. */
void driver_queue(driver_stream *stream, const driver_op *op);
void driver_op_free(driver_op *op);

/* Complains if an operation that has not ended uses the memory. */
void driver_streams_unused(const driver_block *block);

/* Waits until the operation has ended, in the device's time too, and returns its context's error.
 */
int driver_wait_for(driver_need need);
/* Whether it has; a later question is answered so in the end. */
int driver_query(driver_need need, int64_t end_ns);

/* driver_events.c */
int driver_event_new(driver_event **event, unsigned flags);
int driver_event_destroy(driver_event *event);
int driver_event_record(driver_event *event, void *stream);
int driver_event_query(driver_event *event);
int driver_event_wait(driver_event *event);
int driver_event_elapsed(float *ms, driver_event *from, driver_event *to);

/* --- driver_copies.c */

int driver_copy_queue(void *stream, const driver_copy *copy);
int driver_copy_bytes(driver_address to, driver_address from, uint64_t bytes, void *stream);
/* As a call without a stream, which is over when it returns as far as the host can see. */
int driver_copy_now(const driver_copy *copy);
int driver_fill_queue(void *stream, const driver_fill *fill);
int driver_call_queue(void *stream, void (*function)(void *state), void *state);
/* One row. */
driver_copy driver_copy_flat(driver_address to, driver_address from, uint64_t bytes);

/* Do it; need no lock. */
bool driver_copy_run(const driver_copy *copy);
bool driver_fill_run(const driver_fill *fill);

/* --- driver_modules.c */

int driver_module_load(driver_module **module, const void *image);
int driver_module_unload(driver_module *module);
int driver_module_function(driver_function **function, driver_module *module, const char *name);
int driver_function_set(driver_function *function, int attribute, int value);
int driver_function_parameter(driver_function *function, size_t index, size_t *offset,
                              size_t *bytes);
/* `shape` is the grid, the block and the bytes of shared memory. */
int driver_launch_queue(driver_function *function, const unsigned shape[7], void *stream,
                        void **values);

/* --- driver_trap.c: device memory that is touched by who may not */

void driver_trap_start(void);
/* Runs the kernel; false where it touched what it may not. Needs no lock. */
bool driver_trap_run(const driver_launch *launch, const driver_grid *grid);

/* --- driver_activity.c: records for CUPTI */

void driver_activity_op(const driver_stream *stream, const driver_op *op);
void driver_activity_wait(uint32_t type, const driver_stream *stream, const driver_event *event,
                          int64_t start_ns, int result);
void driver_activity_device(int device);
void driver_activity_context(const driver_context *context);

/* --- driver_order.c: the thread that runs operations, in the order of the options */

/* A waiting thread wants this to have ended. */
typedef struct driver_want {
    driver_need need;
    struct driver_want *next;
} driver_want;

void driver_order_start(void);
void driver_order_wake(void); /* there is something new */
void driver_order_want(driver_want *want);
void driver_order_forget(const driver_want *want);
bool driver_in_callback(void);

#endif
