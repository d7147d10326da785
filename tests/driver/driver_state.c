/* The state that the whole driver shares: its lock, options, objects, and how a call begins and
 * ends. */
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "driver_words.h"
#include "record/cupti_abi.h"

enum { MOST_NAMES = 256, MEMORY_BYTES = 1 << 30 };

driver_state driver = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
_Thread_local uint32_t driver_correlation;

static const char *names[MOST_NAMES]; /* of calls, by their numbers */

void driver_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("driver: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

int64_t driver_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t driver_draw(uint64_t below)
{
    uint64_t x = driver.options.seed + UINT64_C(0x9e3779b97f4a7c15) * ++driver.draws;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9); /* splitmix64 */
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % below;
}

void *driver_new(size_t bytes)
{
    void *made = calloc(1, bytes);
    if (!made)
        driver_complain("the host has no memory left");
    return made;
}

/* --- objects */

void *driver_object_new(size_t bytes, uint32_t kind)
{
    driver_object *made = driver_new(bytes);
    *made = (driver_object){kind, true, ++driver.object_ids, driver.objects};
    return driver.objects = made;
}

void *driver_object_of(void *handle, uint32_t kind, const char *what)
{
    const driver_object *object = handle;
    if (!object || object->kind != kind)
        return NULL;
    if (!object->alive)
        driver_complain("%s is used after it was destroyed", what);
    return handle;
}

/* --- options and the beginning */

static bool take_word(const char *word, const uint64_t *number)
{
    driver_options *to = &driver.options;
    if (!strcmp(word, "late") && !number)
        to->order = DRIVER_LATE;
    else if (!strcmp(word, "eager") && !number)
        to->order = DRIVER_EAGER;
    else if (!strcmp(word, "random") && number)
        to->order = DRIVER_RANDOM, to->seed = *number;
    else if (!strcmp(word, "stage") && !number)
        to->stages = true;
    else if (!strcmp(word, "devices") && number && *number <= DRIVER_MOST_DEVICES)
        to->devices = *number;
    else if (!strcmp(word, "memory") && number)
        to->memory_bytes = *number;
    else if (!strcmp(word, "allocations") && number)
        to->allocations = *number;
    else if (!strcmp(word, "lose") && number)
        to->lose_after = *number;
    else
        return false;
    return true;
}

/* As CUDA's driver does with CUDA_INJECTION64_PATH. */
static void load_injection(void)
{
    int (*begin)(void) = NULL;
    const char *path = *DRIVER_INJECTION ? getenv(DRIVER_INJECTION) : NULL;
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    void *found = library ? dlsym(library, "InitializeInjection") : NULL;
    memcpy(&begin, &found, sizeof found);
    driver.recorded = begin;
    if (begin)
        begin();
}

static void begin(void)
{
    driver.options = (driver_options){.order = DRIVER_LATE, .devices = 1};
    driver.options.memory_bytes = MEMORY_BYTES;
    driver_read_words("FAKE_CUDA", "late", take_word);
    driver.process = (long)getpid();
    load_injection();
    for (int i = 0; i < (int)driver.options.devices; i++)
        driver_activity_device(i);
    driver_order_start();
}

int driver_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    driver.ready = true;
    return driver.options.devices ? DRIVER_OK : DRIVER_NO_DEVICE;
}

/* --- calls */

driver_api driver_enter(const char *name, uint32_t *number)
{
    driver_api api = {.start_ns = driver_now()};
    if (driver_in_callback())
        driver_complain("%s is called from a host function, which may not call CUDA", name);
    if (driver.ready && driver.process != (long)getpid()) /* of which the lock may be held */
        return (driver_api){.result = DRIVER_NOT_INITIALIZED};
    pthread_mutex_lock(&driver.lock);
    for (uint32_t i = 1; !*number && i < MOST_NAMES; i++)
        if (!names[i])
            names[ *number = i] = name;
    api.number = *number;
    driver.lost |= driver.options.lose_after && ++driver.calls > driver.options.lose_after;
    driver_correlation = ++driver.correlations;
    api.result = !driver.ready ? DRIVER_NOT_INITIALIZED : driver.lost ? DRIVER_UNKNOWN : DRIVER_OK;
    return api;
}

int driver_leave(const driver_api *api, int result)
{
    if (!api->number)
        return api->result;
    result = driver.lost ? DRIVER_UNKNOWN : result;
    DRIVER_KEEP((hl_record_abi_call){.kind = HL_RECORD_ABI_DRIVER,
                                     .function = api->number,
                                     .start = (uint64_t)api->start_ns,
                                     .end = (uint64_t)driver_now(),
                                     .process = (uint32_t)driver.process,
                                     .thread = (uint32_t)syscall(SYS_gettid),
                                     .correlation = driver_correlation,
                                     .result = (uint32_t)result});
    driver_order_wake();
    pthread_mutex_unlock(&driver.lock);
    return result;
}

/* --- records */

static struct {
    pthread_mutex_t lock;
    driver_record *records;
    size_t first, count, room;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

void driver_keep(const void *record, size_t size)
{
    if (!driver.recorded)
        return;
    pthread_mutex_lock(&kept.lock);
    if (kept.first + kept.count == kept.room) {
        kept.room = kept.room ? 2 * kept.room : 1024;
        kept.records = realloc(kept.records, kept.room * sizeof *kept.records);
    }
    if (!kept.records || size > sizeof kept.records->bytes)
        driver_complain("a record does not fit");
    driver_record *next = &kept.records[kept.first + kept.count++];
    next->size = size;
    memcpy(next->bytes, record, size);
    pthread_mutex_unlock(&kept.lock);
}

DRIVER_VISIBLE driver_take_records_function driver_take_records;
DRIVER_VISIBLE driver_call_name_function driver_call_name;

size_t driver_take_records(driver_record *into, size_t most)
{
    pthread_mutex_lock(&kept.lock);
    const size_t taken = kept.count < most ? kept.count : most;
    if (taken)
        memcpy(into, kept.records + kept.first, taken * sizeof *into);
    kept.count -= taken;
    kept.first = kept.count ? kept.first + taken : 0;
    pthread_mutex_unlock(&kept.lock);
    return taken;
}

const char *driver_call_name(uint32_t number)
{
    pthread_mutex_lock(&driver.lock);
    const char *name = number < MOST_NAMES ? names[number] : NULL;
    pthread_mutex_unlock(&driver.lock);
    return name;
}
