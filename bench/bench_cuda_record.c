/* Writing what CUPTI delivers: records a second and peak memory, for a million launches, each a
 * call and a kernel, handed over in buffers of 1 MiB as fast as they are taken; another process
 * reads the ring and writes the profile, as haul record does. What CUPTI itself costs the program
 * takes a GPU to measure: tests/device/check_cuda_record.
 *
 * bench_cuda_record [LAUNCHES [FOLDER]]: so many (1000000), the profile made in the folder (/tmp).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/collector.h"
#include "record/cupti_decode.h"

/* A GPU is fed at most some 500000 launches a second, by one thread 200000: CUDA's launch takes 2
 * to 5 us. Two records each. */
static const double to_beat_records_s = 1e6;

enum { STRIDE = 160, BUFFER = 1 << 20, KERNELS = 40 };

static int next_record(uint8_t *buffer, size_t used, hl_record_abi_record **record)
{
    uint8_t *at = *record ? (uint8_t *)*record + STRIDE : buffer;
    *record = (hl_record_abi_record *)(void *)at;
    return at + STRIDE > buffer + used ? HL_RECORD_CUPTI_MAX_LIMIT : HL_RECORD_CUPTI_SUCCESS;
}

static int name_of(uint32_t domain, uint32_t function, const char **name)
{
    (void)domain, (void)function;
    *name = "cudaLaunchKernel_v7000";
    return HL_RECORD_CUPTI_SUCCESS;
}

static char names[KERNELS][64];

/* Fills the buffer with launches from number `first` on; returns how many. */
static uint64_t fill(uint8_t *buffer, uint64_t first, uint64_t most, uint64_t start)
{
    uint64_t launches = 0;
    for (; launches < most && (2 * launches + 2) * STRIDE <= BUFFER; launches++) {
        const uint32_t id = (uint32_t)(first + launches + 1);
        const uint64_t at = start + 5000 * (first + launches);
        const hl_record_abi_call call = {HL_RECORD_ABI_RUNTIME, 211, at, at + 2500, 1, 77, id, 0};
        const hl_record_abi_kernel kernel = {
            .kind = HL_RECORD_ABI_KERNEL,
            .start = at + 4000,
            .end = at + 8500,
            .context = 1,
            .stream = 7,
            .grid = {64, 1, 1},
            .block = {128, 1, 1},
            .correlation = id,
            .name = names[id % KERNELS],
        };
        memcpy(buffer + 2 * launches * STRIDE, &call, sizeof call);
        memcpy(buffer + (2 * launches + 1) * STRIDE, &kernel, sizeof kernel);
    }
    return launches;
}

static double now_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024e-6;
}

static hl_record_profile_writer *open_writer(const char *path)
{
    hl_record_profile_writer *writer = NULL;
    haul_error error;
    char text[1200];
    if (hl_record_profile_open(&(hl_record_profile_options){.path = path}, &writer, &error)) {
        fprintf(stderr, "bench_cuda_record: %s\n", haul_error_format(&error, text, sizeof text));
        exit(1);
    }
    return writer;
}

/* Reads the rings in `folder` until there is nothing more to come of `alive`. */
static void collect(const char *folder, const char *profile, int alive)
{
    static const struct timespec round = {.tv_nsec = 20000000};
    hl_record_collector collector = {
        .folder = folder, .path = profile, .start_ns = hl_record_profile_now()};
    static haul_recording recording;
    struct pollfd ended = {.fd = alive, .events = POLLIN};
    while (!poll(&ended, 1, 0)) {
        hl_record_collector_read(&collector, true);
        if (collector.bytes_read < 1 << 20)
            nanosleep(&round, NULL);
    }
    hl_record_collector_finish(&collector, "", hl_record_profile_now(), &recording);
    _exit(recording.failure[0] != '\0');
}

static void record(uint64_t launches, const char *ring)
{
    static const hl_record_cupti_functions cupti = {
        .ActivityGetNextRecord = next_record,
        .GetCallbackName = name_of,
    };
    static hl_record_cupti_decoder decoder;
    uint8_t *buffer = malloc(BUFFER);
    hl_record_profile_result result;
    double decode_s = 0;
    if (!buffer)
        exit(1);
    const double begin_mb = peak_mb(), begin_s = now_s(CLOCK_MONOTONIC);
    decoder.cupti = &cupti;
    decoder.version = HL_RECORD_CUPTI_EVENT_TIMES;
    decoder.writer = open_writer(ring);
    hl_record_profile_be_patient(decoder.writer, 5000); /* as the library is */
    const uint64_t start = (uint64_t)hl_record_profile_now();
    for (uint64_t done = 0, added; done < launches; done += added) {
        added = fill(buffer, done, launches - done, start);
        const double before = now_s(CLOCK_THREAD_CPUTIME_ID);
        hl_record_cupti_decode(&decoder, buffer, 2 * added * STRIDE);
        decode_s += now_s(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    hl_record_profile_close(decoder.writer, &result);
    const double wall_s = now_s(CLOCK_MONOTONIC) - begin_s;
    const double records = 2 * (double)launches;
    printf("%.0f records: %.2f million a second, of which to beat %.2f million\n", records,
           1e-6 * records / wall_s, 1e-6 * to_beat_records_s);
    printf("%.0f ns a record on the thread that delivers\n", 1e9 * decode_s / records);
    printf("%" PRIu64 " dropped, waited %.3f s, %.0f MB of memory at the peak\n", result.dropped,
           1e-9 * (double)result.waited_ns, peak_mb() - begin_mb);
    hl_record_kernel_names_release(&decoder.kernel_names);
    free(buffer);
}

int main(int argc, char **argv)
{
    const long long launches = argc > 1 ? atoll(argv[1]) : 1000000;
    char folder[512], profile[600], ring[600], command[700];
    int alive[2], status = 1;
    snprintf(folder, sizeof folder, "%.400s/haul-bench-XXXXXX", argc > 2 ? argv[2] : "/tmp");
    if (!mkdtemp(folder) || pipe(alive))
        return 1;
    snprintf(profile, sizeof profile, "%s/profile.sqlite", folder);
    snprintf(ring, sizeof ring, "%s/1", folder);
    const int file = open(profile, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || close(file))
        return 1;
    for (int i = 0; i < KERNELS; i++)
        snprintf(names[i], sizeof names[i], "_ZN5bench6kernelILi%dEEEvPfS1_i", i);
    const pid_t reader = fork();
    if (!reader) {
        close(alive[1]);
        collect(folder, profile, alive[0]);
    }
    record(launches > 0 ? (uint64_t)launches : 1, ring);
    close(alive[1]);
    waitpid(reader, &status, 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return status || system(command);
}
