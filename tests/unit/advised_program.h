/* Programs written call by call, whose profile is what a profiler would have seen, and advice on
 * them. For one test program at a time. */
#ifndef HAUL_TESTS_ADVISED_PROGRAM_H
#define HAUL_TESTS_ADVISED_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/advise.h"
#include "haul/cost.h"
#include "trace/trace_builder.h"

enum { PROCESS = 1, CONTEXT = 1, MOST_CALLS = 512 };

/* The time of each call that does not block, how long after its call an operation starts, how long
 * after an operation's end a call that blocks returns, and what the host does between calls. */
enum { CALL = 3000, ISSUE = 2000, TAIL = 500, GAP = 1000 };

static const char machine_text[] =
    "haul: 1\n"
    "name: by-hand\n"
    "summary: figures that are easy to compute with\n"
    "from: measured\n"
    "gpu: {name: By Hand, copy_engines: 2}\n"
    "copies:\n"
    "  - {direction: HtoD, memory: pinned, latency: 10 us, rate: 10 GB/s}\n"
    "  - {direction: DtoH, memory: pinned, latency: 10 us, rate: 10 GB/s}\n"
    "  - {direction: HtoD, memory: pageable, latency: 10 us, rate: 2.5 GB/s}\n"
    "  - {direction: DtoH, memory: pageable, latency: 10 us, rate: 2.5 GB/s}\n";

static haul_machine *machine;

static inline int64_t price(haul_direction direction, haul_memory memory, uint64_t bytes)
{
    const haul_copy copy = {bytes, direction, memory, HAUL_LOCALITY_NEAR};
    haul_estimate estimate;
    for (size_t m = 0; m < haul_copy_model_count(); m++)
        if (!strcmp(haul_copy_model_at(m)->name, "auto")) {
            haul_error error;
            if (haul_copy_time(machine, haul_copy_model_at(m), &copy, &estimate, &error))
                fail_msg("%s", error.text);
        }
    return llround(1e9 * estimate.seconds);
}

/* A program as it is written: each call is made when the one before it has returned, each operation
 * starts when its call was made and what is before it on its stream has ended. */
typedef struct program {
    hl_trace_builder builder;
    hl_trace_host_call calls[MOST_CALLS];
    const char *names[MOST_CALLS];
    size_t count;
    int64_t host_ns;
    int64_t stream_ns; /* when the only stream is free */
    uint32_t stream;
} program;

static program written;

static inline void begin(void)
{
    memset(&written, 0, sizeof written);
    hl_trace_init(&written.builder);
    const haul_workload_stream stream = {.device = hl_trace_device(&written.builder, 0, 0),
                                         .process = PROCESS,
                                         .context = CONTEXT,
                                         .id = 7,
                                         .is_default = true};
    written.stream = hl_workload_builder_stream(&written.builder.built, &stream);
}

static inline uint64_t begin_call(const char *name)
{
    assert_true(written.count < MOST_CALLS);
    written.names[written.count] = name;
    written.calls[written.count] =
        (hl_trace_host_call){.start_ns = written.host_ns, .key = written.count + 1};
    return written.count + 1;
}

static inline void end_call(int64_t dur_ns)
{
    written.calls[written.count++].dur_ns = dur_ns;
    written.host_ns += dur_ns + GAP;
}

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns its end. */
static inline int64_t enqueue(haul_op op, uint64_t key, int64_t dur_ns)
{
    op.start_ns = later(written.host_ns + ISSUE, written.stream_ns);
    op.dur_ns = dur_ns;
    op.stream = written.stream;
    op.thread = op.name = HAUL_NONE;
    hl_trace_op(&written.builder, &op, key);
    return written.stream_ns = op.start_ns + dur_ns;
}

static inline void kernel_with(int64_t dur_ns, unsigned flags)
{
    const uint64_t key = begin_call("cudaLaunchKernel_v7000");
    haul_op op = {.kind = HAUL_OP_KERNEL, .shape = HAUL_NONE};
    op.flags = (uint8_t)flags;
    (void)enqueue(op, key, dur_ns);
    end_call(CALL);
}

static inline void kernel(int64_t dur_ns)
{
    kernel_with(dur_ns, 0);
}

static inline haul_op copy_op(haul_direction direction, haul_memory memory, uint64_t bytes)
{
    return (haul_op){.kind = HAUL_OP_COPY,
                     .direction = (uint8_t)direction,
                     .detail = (uint8_t)memory,
                     .bytes = bytes};
}

/* A copy that blocks; returns how long its call took. */
static inline int64_t copy(const char *name, haul_direction direction, haul_memory memory,
                           uint64_t bytes)
{
    const uint64_t key = begin_call(name);
    const int64_t end_ns =
        enqueue(copy_op(direction, memory, bytes), key, price(direction, memory, bytes));
    const int64_t dur_ns = end_ns + TAIL - written.host_ns;
    end_call(dur_ns);
    return dur_ns;
}

static inline void copy_async(haul_direction direction, uint64_t bytes)
{
    const uint64_t key = begin_call("cudaMemcpyAsync_v3020");
    (void)enqueue(copy_op(direction, HAUL_MEMORY_PINNED, bytes), key,
                  price(direction, HAUL_MEMORY_PINNED, bytes));
    end_call(CALL);
}

/* The host waits for the stream. */
static inline void synchronize(void)
{
    const uint64_t key = begin_call("cudaDeviceSynchronize_v3020");
    const int64_t dur_ns = later(written.stream_ns - written.host_ns, 0) + TAIL;
    const haul_op op = {.kind = HAUL_OP_SYNC,
                        .detail = HAUL_SYNC_CONTEXT,
                        .start_ns = written.host_ns,
                        .dur_ns = dur_ns,
                        .stream = HAUL_NONE,
                        .thread = HAUL_NONE,
                        .name = HAUL_NONE};
    const hl_trace_host_wait wait = {.process = PROCESS, .context = CONTEXT};
    hl_trace_wait(&written.builder, &op, key, &wait);
    end_call(dur_ns);
}

static inline haul_workload *finish(void)
{
    const uint32_t thread = hl_workload_builder_thread(
        &written.builder.built, &(haul_workload_thread){.process = PROCESS, .id = 1});
    for (size_t c = 0; c < written.count; c++) {
        hl_trace_host_call *call = &written.calls[c];
        call->thread = thread;
        uint64_t key = 0;
        for (const char *at = written.names[c]; *at; at++)
            key = key * 31 + (unsigned char)*at;
        call->name = hl_trace_name(&written.builder, key);
        hl_trace_name_text(&written.builder, key, written.names[c], strlen(written.names[c]));
        hl_trace_call(&written.builder, call);
    }
    haul_workload *workload = NULL;
    haul_error error = {0};
    if (hl_trace_finish(&written.builder, "by hand", "nsys by hand", &workload, &error))
        fail_msg("%s", error.text);
    return workload;
}

static haul_workload *workload;
static haul_advice_list *list;

static inline const haul_advice *find(const char *change)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].change, change))
            return &list->items[i];
    return NULL;
}

static inline void advise_with(const haul_advise_options *options)
{
    haul_error error = {0};
    workload = finish();
    if (haul_advice_make(workload, options, &list, &error))
        fail_msg("%s", error.text);
    assert_int_equal(list->replay.recorded_ns, list->replay.replayed_ns);
    for (size_t i = 1; i < list->count; i++)
        assert_true(list->items[i - 1].saved_ns >= list->items[i].saved_ns ||
                    (list->items[i].certainty == HAUL_CERTAINTY_SPECULATIVE &&
                     list->items[i - 1].certainty != HAUL_CERTAINTY_SPECULATIVE));
}

static inline void advise(void)
{
    const haul_advise_options options = {.from = machine};
    advise_with(&options);
}

static inline void forget(void)
{
    haul_advice_free(list);
    haul_workload_free(workload);
    list = NULL;
    workload = NULL;
}

static inline void check_saved(const char *change, int64_t saved_ns)
{
    const haul_advice *advice = find(change);
    if (!advice)
        fail_msg("no '%s'", change);
    else if (llabs(advice->saved_ns - saved_ns) > 2)
        fail_msg("'%s' saves %ld ns, not %ld", change, (long)advice->saved_ns, (long)saved_ns);
}

enum { MB = 1000 * 1000, MS = 1000 * 1000 };

static inline bool read_machine(void)
{
    haul_error error = {0};
    if (!haul_machine_parse(machine_text, sizeof machine_text - 1, "by-hand", &machine, &error))
        return true;
    fprintf(stderr, "%s\n", error.text);
    return false;
}

#endif
