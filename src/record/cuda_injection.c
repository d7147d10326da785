/* libhaul-record-cuda.so: what the CUDA driver loads into a program for CUDA_INJECTION64_PATH. It
 * asks CUPTI for activity records, which come in buffers, on CUPTI's own thread, and writes them
 * into the profile. The program's calls are not touched; whatever fails here leaves it alone. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/cupti_decode.h"
#include "record/cupti_library.h"
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
    haul_abi_kind kind;
    bool needed;
} kinds[] = {
    {HAUL_ABI_COPY, true},     {HAUL_ABI_KERNEL, true},     {HAUL_ABI_MEMSET, true},
    {HAUL_ABI_RUNTIME, true},  {HAUL_ABI_DRIVER, true},     {HAUL_ABI_DEVICE, false},
    {HAUL_ABI_CONTEXT, false}, {HAUL_ABI_PEER_COPY, false}, {HAUL_ABI_SYNC, false},
    {HAUL_ABI_EVENT, false},   {HAUL_ABI_OVERHEAD, false},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* One process, one recording. */
static struct {
    haul_cupti_library library;
    haul_cupti_decoder decoder; /* under `lock` */
    uint64_t dropped;           /* by CUPTI, for want of buffers; under `lock` */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool has_thread;
    bool ending; /* under `lock` */
    atomic_int buffers;
    atomic_bool alive; /* the writer may be used: not yet closed, and not a forked child */
} self = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void say(const char *what, const char *why)
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
        haul_cupti_decode(&self.decoder, buffer, used);
        if (self.library.functions.ActivityGetNumDroppedRecords(context, stream, &dropped) ==
            HAUL_CUPTI_SUCCESS)
            self.dropped += dropped;
    }
    pthread_mutex_unlock(&self.lock);
    free(buffer);
    atomic_fetch_sub(&self.buffers, 1);
}

/* --- clocks */

static uint64_t tell_time(void)
{
    return (uint64_t)haul_profile_now();
}

/* What CUPTI's clock lacks to CLOCK_MONOTONIC: the narrowest of some tries, right to half of the
 * time between the two readings around it, which `error_ns` gets. */
static int64_t clock_shift(const haul_cupti_functions *cupti, int64_t *error_ns)
{
    int64_t shift = 0, narrowest = INT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t theirs = 0;
        const int64_t before = haul_profile_now();
        if (cupti->GetTimestamp(&theirs) != HAUL_CUPTI_SUCCESS)
            continue;
        const int64_t width = haul_profile_now() - before;
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
static bool count_migrations(const haul_cupti_functions *cupti)
{
    haul_abi_counter_config configs[] = {
        {HAUL_ABI_SCOPE_ALL_DEVICES, HAUL_ABI_MOVED_HTOD, 0, 1},
        {HAUL_ABI_SCOPE_ALL_DEVICES, HAUL_ABI_MOVED_DTOH, 0, 1},
        {HAUL_ABI_SCOPE_ALL_DEVICES, HAUL_ABI_MOVED_DTOD, 0, 1}, /* not known to all versions */
    };
    if (!cupti->ActivityConfigureUnifiedMemoryCounter)
        return true;
    int result = cupti->ActivityConfigureUnifiedMemoryCounter(configs, 3);
    if (result == HAUL_CUPTI_INVALID_PARAMETER)
        result = cupti->ActivityConfigureUnifiedMemoryCounter(configs, 2);
    if (result == HAUL_CUPTI_SUCCESS)
        cupti->ActivityEnable(HAUL_ABI_MIGRATION);
    return result != HAUL_CUPTI_NOT_INITIALIZED;
}

/* Returns CUPTI's result, of the first that is needed and fails. */
static int ask_for_records(const haul_cupti_functions *cupti)
{
    int result = cupti->ActivityRegisterCallbacks(request, complete);
    if (cupti->SetThreadIdType)
        cupti->SetThreadIdType(HAUL_ABI_THREAD_ID_SYSTEM);
    if (cupti->ActivityEnableAllSyncRecords)
        cupti->ActivityEnableAllSyncRecords(0);
    for (int i = 0; result == HAUL_CUPTI_SUCCESS && i < KINDS; i++) {
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
    self.library.functions.ActivityDisable(HAUL_ABI_MIGRATION);
}

/* Tries one library after the other. CUPTI's times are taken with our clock where it lets us. */
static bool begin_records(int64_t *clock_error_ns)
{
    haul_error error;
    const char *why = NULL;
    char text[512] = "";
    while (!haul_cupti_library_next(&self.library, &error)) {
        const haul_cupti_functions *cupti = &self.library.functions;
        *clock_error_ns = 0;
        self.decoder.cupti = cupti;
        self.decoder.version = self.library.version;
        self.decoder.shift_ns = 0;
        if (!cupti->ActivityRegisterTimestampCallback ||
            cupti->ActivityRegisterTimestampCallback(tell_time) != HAUL_CUPTI_SUCCESS)
            self.decoder.shift_ns = clock_shift(cupti, clock_error_ns);
        const int result = ask_for_records(cupti);
        if (result == HAUL_CUPTI_SUCCESS)
            return true;
        ask_for_no_more();
        haul_cupti_library_leave(&self.library);
        if (result == HAUL_CUPTI_NO_PRIVILEGE)
            why = "no permission; NVIDIA's driver gives it to administrators alone unless its "
                  "module has NVreg_RestrictProfilingToAdminUsers=0";
        else if (cupti->GetResultString(result, &why) != HAUL_CUPTI_SUCCESS || !why)
            why = "it fails";
        snprintf(text, sizeof text, "'%.200s', %s", self.library.path, why);
    }
    if (why)
        say("CUPTI refuses", text);
    else
        say(error.text, "it comes with the CUDA toolkit; CUPTI_PATH may name its folder");
    return false;
}

/* --- the time between */

/* What has completed is fetched ten times a second, so that a program that is killed leaves it. */
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

static void *fetch(void *argument)
{
    bool asked = true, counting = count_migrations(&self.library.functions);
    for (int tries = 0; !counting && tries < READY_TRIES; tries++) {
        if (wait_for_end(READY_MS))
            return argument;
        counting = count_migrations(&self.library.functions);
    }
    while (!wait_for_end(FLUSH_MS)) {
        if (asked && !haul_profile_recording(self.decoder.writer)) {
            ask_for_no_more();
            asked = false;
        }
        if (asked) {
            const int64_t begin_ns = haul_profile_now();
            self.library.functions.ActivityFlushAll(0);
            haul_profile_fetched(self.decoder.writer, begin_ns);
        }
    }
    return argument;
}

/* CUDA does not outlive a fork: a child records only what it runs after exec. */
static void before_fork(void)
{
    pthread_mutex_lock(&self.lock);
    if (atomic_load(&self.alive))
        haul_profile_hold(self.decoder.writer);
}

static void after_fork(void)
{
    if (atomic_load(&self.alive))
        haul_profile_release(self.decoder.writer);
    pthread_mutex_unlock(&self.lock);
}

static void in_child(void)
{
    if (atomic_load(&self.alive))
        haul_profile_forget(self.decoder.writer);
    atomic_store(&self.alive, false);
    pthread_mutex_unlock(&self.lock);
}

/* --- the end */

static void end(void)
{
    if (!atomic_load(&self.alive))
        return;
    pthread_mutex_lock(&self.lock);
    self.ending = true;
    pthread_cond_signal(&self.wake);
    pthread_mutex_unlock(&self.lock);
    if (self.has_thread)
        pthread_join(self.thread, NULL);
    self.library.functions.ActivityFlushAll(HAUL_ABI_FLUSH_FORCED);
    pthread_mutex_lock(&self.lock);
    haul_profile_writer *writer = self.decoder.writer;
    haul_profile_note_count(writer, "HAUL:DROPPED_BY_CUPTI", self.dropped);
    haul_profile_note_count(writer, "HAUL:RECORDS_WITHOUT_TIMES", self.decoder.untimed);
    atomic_store(&self.alive, false);
    haul_profile_close(writer, NULL);
    haul_kernel_names_release(&self.decoder.kernel_names);
    pthread_mutex_unlock(&self.lock);
}

/* What the driver calls, within the program's first call of it; 1 is success. */
// NOLINTNEXTLINE(readability-identifier-naming): the name that the driver looks for
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    int64_t clock_error_ns;
    pthread_condattr_t attributes;
    if (self.decoder.writer)
        return 1;
    haul_session_loaded();
    if (!begin_records(&clock_error_ns))
        return 1;
    haul_profile_writer *writer = haul_session_open();
    if (!writer) {
        ask_for_no_more();
        return 1;
    }
    haul_profile_be_patient(writer, PATIENCE_MS);
    haul_profile_fetched(writer, haul_profile_now());
    haul_profile_note(writer, "HAUL:CUPTI_VERSION", "%u", self.library.version);
    haul_profile_note_count(writer, "HAUL:CLOCK_ERROR_NS:cuda", (uint64_t)clock_error_ns);
    pthread_mutex_lock(&self.lock);
    self.decoder.writer = writer;
    atomic_store(&self.alive, true);
    pthread_mutex_unlock(&self.lock);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self.wake, &attributes);
    pthread_condattr_destroy(&attributes);
    self.has_thread = haul_session_start_thread(&self.thread, fetch);
    pthread_atfork(before_fork, after_fork, in_child);
    if (atexit(end))
        say("its records", "cannot be written at exit");
    return 1;
}
