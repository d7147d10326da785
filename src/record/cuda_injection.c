/* libhaul-record-cuda.so: what the CUDA driver loads into a program for CUDA_INJECTION64_PATH. It
 * asks CUPTI for activity records, which come in buffers, on CUPTI's own thread, and writes them
 * into the profile. The program's calls are not touched; whatever fails here leaves it alone. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/cupti_decode.h"
#include "record/cupti_library.h"
#include "record/process_mark.h"
#include "record/record_session.h"

enum {
    BUFFER_BYTES = 1 << 20,
    MOST_BUFFERS = 256, /* at CUPTI at once: beyond, it drops records, and counts them */
    FLUSH_MS = 100,     /* what a killed program loses at most */
    PATIENCE_MS = 5000, /* for the writer, on CUPTI's thread */
    CLOCK_TRIES = 16,
    READY_MS = 10, /* between two questions whether the driver is ready, for a second */
    READY_TRIES = 100,
};

/* In the order in which they are asked for; a kind that fails to be enabled, and may, is left out.
 */
static const struct {
    hl_record_abi_kind kind;
    bool needed;
} kinds[] = {
    {HL_RECORD_ABI_COPY, true},     {HL_RECORD_ABI_KERNEL, true},     {HL_RECORD_ABI_MEMSET, true},
    {HL_RECORD_ABI_RUNTIME, true},  {HL_RECORD_ABI_DRIVER, true},     {HL_RECORD_ABI_DEVICE, false},
    {HL_RECORD_ABI_CONTEXT, false}, {HL_RECORD_ABI_PEER_COPY, false}, {HL_RECORD_ABI_SYNC, false},
    {HL_RECORD_ABI_EVENT, false},   {HL_RECORD_ABI_OVERHEAD, false},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* One process, one recording. */
static struct {
    hl_record_cupti_library library;
    hl_record_cupti_decoder decoder; /* under `lock` */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool has_thread;
    bool ending; /* under `lock` */
    atomic_int buffers;
    uint64_t asked; /* calls that the recorder made itself, to see whether it gets their records */
    bool asked_at_end;  /* the last of them, at the program's end */
    int64_t records_ns; /* under `lock`, as what follows: when records came last */
    uint64_t dropped;   /* by CUPTI */
    atomic_bool alive;  /* the writer may be used: not yet closed, and not a forked child */
    hl_record_process_mark mark; /* of the process that records */
} self = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void say_problem(const char *what, const char *why)
{
    fprintf(stderr, "haul: CUDA is not recorded: %s%s%s\n", what, why ? ": " : "", why ? why : "");
}

/* --- buffers */

/* CUPTI asks on the thread that fills a buffer, which may be the program's: it gets one at once or
 * none. */
static void request(uint8_t **buffer, size_t *size, size_t *record_limit)
{
    *buffer = NULL;
    if (atomic_fetch_add(&self.buffers, 1) < MOST_BUFFERS)
        *buffer = malloc(BUFFER_BYTES);
    if (!*buffer)
        atomic_fetch_sub(&self.buffers, 1);
    *size = *buffer ? BUFFER_BYTES : 0;
    *record_limit = 0;
}

/* On CUPTI's thread. Buffers come late and in any order, some after the program's end has begun. */
static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
    (void)size;
    size_t dropped = 0;
    pthread_mutex_lock(&self.lock);
    if (atomic_load(&self.alive)) {
        hl_record_cupti_decode(&self.decoder, buffer, used);
        self.records_ns = hl_record_profile_now();
        if (self.library.functions.ActivityGetNumDroppedRecords(context, stream, &dropped) ==
            HL_RECORD_CUPTI_SUCCESS)
            hl_record_profile_lost(self.decoder.writer, HL_RECORD_LOSS_DROPPED_BY_CUPTI, dropped);
        self.dropped += dropped;
    }
    pthread_mutex_unlock(&self.lock);
    free(buffer);
    atomic_fetch_sub(&self.buffers, 1);
}

/* --- clocks */

static uint64_t tell_time(void)
{
    return (uint64_t)hl_record_profile_now();
}

/* The difference of CUPTI's clock to CLOCK_MONOTONIC: the narrowest of some tries, right to half of
 * the time between the two readings around it, which `error_ns` gets. */
static int64_t clock_shift(const hl_record_cupti_functions *cupti, int64_t *error_ns)
{
    int64_t shift = 0, narrowest = INT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t theirs = 0;
        const int64_t before = hl_record_profile_now();
        if (cupti->GetTimestamp(&theirs) != HL_RECORD_CUPTI_SUCCESS)
            continue;
        const int64_t width = hl_record_profile_now() - before;
        if (width >= narrowest)
            continue;
        narrowest = width;
        shift = before + width / 2 - (int64_t)theirs;
    }
    *error_ns = narrowest / 2;
    return shift;
}

/* --- beginning */

/* Unified memory is counted only once the driver is ready, which it is not yet while it loads us.
 * Returns false where that is still to be waited for. */
static bool count_migrations(const hl_record_cupti_functions *cupti)
{
    hl_record_abi_counter_config configs[] = {
        {HL_RECORD_ABI_SCOPE_ALL_DEVICES, HL_RECORD_ABI_MOVED_HTOD, 0, 1},
        {HL_RECORD_ABI_SCOPE_ALL_DEVICES, HL_RECORD_ABI_MOVED_DTOH, 0, 1},
        {HL_RECORD_ABI_SCOPE_ALL_DEVICES, HL_RECORD_ABI_MOVED_DTOD, 0,
         1}, /* not known to all versions */
    };
    if (!cupti->ActivityConfigureUnifiedMemoryCounter)
        return true;
    int result = cupti->ActivityConfigureUnifiedMemoryCounter(configs, 3);
    if (result == HL_RECORD_CUPTI_INVALID_PARAMETER)
        result = cupti->ActivityConfigureUnifiedMemoryCounter(configs, 2);
    if (result == HL_RECORD_CUPTI_SUCCESS)
        cupti->ActivityEnable(HL_RECORD_ABI_MIGRATION);
    return result != HL_RECORD_CUPTI_NOT_INITIALIZED;
}

/* Returns CUPTI's result, of the first that is needed and fails. */
static int ask_for_records(const hl_record_cupti_functions *cupti)
{
    int result = cupti->ActivityRegisterCallbacks(request, complete);
    if (cupti->SetThreadIdType)
        cupti->SetThreadIdType(HL_RECORD_ABI_THREAD_ID_SYSTEM);
    if (cupti->ActivityEnableAllSyncRecords)
        cupti->ActivityEnableAllSyncRecords(0);
    for (int i = 0; result == HL_RECORD_CUPTI_SUCCESS && i < KINDS; i++) {
        const int enabled = cupti->ActivityEnable(kinds[i].kind);
        if (kinds[i].needed)
            result = enabled;
    }
    return result;
}

static void ask_for_no_more(void)
{
    for (int i = 0; i < KINDS; i++)
        self.library.functions.ActivityDisable(kinds[i].kind);
    self.library.functions.ActivityDisable(HL_RECORD_ABI_MIGRATION);
}

/* Tries one library after the other. CUPTI's times are taken with our clock where it lets us. */
static bool begin_records(int64_t *clock_error_ns)
{
    haul_error error;
    const char *why = NULL;
    char text[512] = "";
    while (!hl_record_cupti_library_next(&self.library, &error)) {
        const hl_record_cupti_functions *cupti = &self.library.functions;
        *clock_error_ns = 0;
        self.decoder.cupti = cupti;
        self.decoder.version = self.library.version;
        self.decoder.shift_ns = 0;
        if (!cupti->ActivityRegisterTimestampCallback ||
            cupti->ActivityRegisterTimestampCallback(tell_time) != HL_RECORD_CUPTI_SUCCESS)
            self.decoder.shift_ns = clock_shift(cupti, clock_error_ns);
        const int result = ask_for_records(cupti);
        if (result == HL_RECORD_CUPTI_SUCCESS)
            return true;
        ask_for_no_more();
        hl_record_cupti_library_leave(&self.library);
        if (result == HL_RECORD_CUPTI_NO_PRIVILEGE)
            why = "no permission; NVIDIA's driver gives it to administrators alone unless its "
                  "module has NVreg_RestrictProfilingToAdminUsers=0";
        else if (cupti->GetResultString(result, &why) != HL_RECORD_CUPTI_SUCCESS || !why)
            why = "it fails";
        snprintf(text, sizeof text, "'%.200s', %s", self.library.path, why);
    }
    if (why)
        say_problem("CUPTI refuses", text);
    else
        say_problem(error.text, "it comes with the CUDA toolkit; CUPTI_PATH may name its folder");
    return false;
}

/* --- the time between */

/* To keep the records of a program that is killed, completed ones are fetched ten times a second.
 */
static bool wait_for_end(long milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&self.lock);
    int late = 0;
    while (!self.ending && !late)
        late = pthread_cond_timedwait(&self.wake, &self.lock, &until);
    const bool ending = self.ending;
    pthread_mutex_unlock(&self.lock);
    return ending;
}

/* CUPTI has one taker of records. Another tool in the program, such as PyTorch's profiler, becomes
 * that without a word; but then the record of a call that this thread makes does not come. */
static void ask_driver(void)
{
    int count, (*ask)(int *) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver ? dlsym(driver, "cuDeviceGetCount") : NULL;
    memcpy(&ask, &found, sizeof found);
    if (!ask)
        return;
    (void)ask(&count);
    self.asked++;
}

static void *fetch(void *argument)
{
    pthread_mutex_lock(&self.lock);
    self.decoder.own_threads[0] = hl_record_profile_thread();
    self.decoder.own_threads[1] = (uint32_t)pthread_self();
    pthread_mutex_unlock(&self.lock);
    bool asked = true, counting = count_migrations(&self.library.functions);
    for (int tries = 0; !counting && tries < READY_TRIES; tries++) {
        if (wait_for_end(READY_MS))
            return argument;
        counting = count_migrations(&self.library.functions);
    }
    ask_driver();
    while (!wait_for_end(FLUSH_MS)) {
        if (asked && !hl_record_profile_recording(self.decoder.writer)) {
            ask_for_no_more();
            asked = false;
        }
        if (asked) {
            const int64_t begin_ns = hl_record_profile_now();
            self.library.functions.ActivityFlushAll(0);
            hl_record_profile_fetched(self.decoder.writer, begin_ns);
        }
    }
    if (asked) {
        ask_driver();
        self.asked_at_end = true;
    }
    return argument;
}

/* CUDA does not outlive a fork: a child records only what it runs after exec. */
static void before_fork(void)
{
    pthread_mutex_lock(&self.lock);
    if (atomic_load(&self.alive))
        hl_record_profile_hold(self.decoder.writer);
}

static void after_fork(void)
{
    if (atomic_load(&self.alive))
        hl_record_profile_release(self.decoder.writer);
    pthread_mutex_unlock(&self.lock);
}

static void in_child(void)
{
    if (atomic_load(&self.alive))
        hl_record_profile_forget(self.decoder.writer);
    atomic_store(&self.alive, false);
    pthread_mutex_unlock(&self.lock);
}

/* --- the end */

/* A child of _Fork has neither our thread nor, for certain, our lock. */
static bool is_alive(void)
{
    return atomic_load(&self.alive) && hl_record_process_mark_is_own(&self.mark);
}

/* Handlers of the program's may follow this one, and work on. */
static void end_thread(void)
{
    if (!is_alive())
        return;
    pthread_mutex_lock(&self.lock);
    self.ending = true;
    const bool joins = self.has_thread;
    pthread_cond_signal(&self.wake);
    pthread_mutex_unlock(&self.lock);
    if (joins)
        pthread_join(self.thread, NULL);
    self.library.functions.ActivityFlushAll(HL_RECORD_ABI_FLUSH_FORCED);
}

/* Whether the driver has ended, at the end of a process: nobody may call it, or CUPTI, then. */
static bool has_driver_ended(void)
{
    enum { DEINITIALIZED = 4 }; /* CUDA_ERROR_DEINITIALIZED */
    int device, (*ask)(int *) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver ? dlsym(driver, "cuCtxGetDevice") : NULL;
    memcpy(&ask, &found, sizeof found);
    return ask && ask(&device) == DEINITIALIZED;
}

/* After all handlers, and the destructors of the program and of libraries that it was linked with.
 */
__attribute__((destructor)) static void close_at_end(void)
{
    if (!is_alive())
        return;
    if (!has_driver_ended())
        self.library.functions.ActivityFlushAll(HL_RECORD_ABI_FLUSH_FORCED);
    pthread_mutex_lock(&self.lock);
    hl_record_profile_writer *writer = self.decoder.writer;
    atomic_store(&self.alive, false);
    /* All records have been fetched: those of the first call came, and that of the last did not.
     * Where CUPTI dropped some, it may be one of these. */
    if (self.asked_at_end && !self.dropped && self.decoder.own_calls &&
        self.decoder.own_calls < self.asked)
        hl_record_profile_lost_since(writer, HL_RECORD_LOSS_TAKEN_OVER, 1, self.records_ns);
    hl_record_profile_close(writer, NULL);
    hl_record_kernel_names_release(&self.decoder.kernel_names);
    pthread_mutex_unlock(&self.lock);
}

/* Called by the driver, within the program's first call of it; 1 is success. */
// NOLINTNEXTLINE(readability-identifier-naming): the name that the driver looks for
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    int64_t clock_error_ns;
    pthread_condattr_t attributes;
    if (self.decoder.writer)
        return 1;
    hl_record_session_loaded();
    if (!begin_records(&clock_error_ns))
        return 1;
    hl_record_profile_writer *writer = hl_record_session_open(false);
    if (!writer) {
        ask_for_no_more();
        return 1;
    }
    hl_record_profile_be_patient(writer, PATIENCE_MS);
    hl_record_profile_fetched(writer, hl_record_profile_now());
    hl_record_profile_note(writer, "HAUL:CUPTI_VERSION", "%u", self.library.version);
    hl_record_profile_note_count(writer, "HAUL:CLOCK_ERROR_NS:cuda", (uint64_t)clock_error_ns);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self.wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_lock(&self.lock);
    self.decoder.writer = writer;
    hl_record_process_mark_make(&self.mark);
    atomic_store(&self.alive, true);
    pthread_mutex_unlock(&self.lock);
    pthread_atfork(before_fork, after_fork, in_child);
    if (atexit(end_thread))
        say_problem("its records", "cannot be written at exit");
    /* Unless the program has ended meanwhile, in another thread. */
    pthread_mutex_lock(&self.lock);
    if (!self.ending && atomic_load(&self.alive))
        self.has_thread = hl_record_session_start_thread(&self.thread, fetch);
    pthread_mutex_unlock(&self.lock);
    return 1;
}
