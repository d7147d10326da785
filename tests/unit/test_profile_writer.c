/* The writer inside programs and the collector outside, read back by the reader of profiles. */
#include "record/profile_writer.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "haul/trace.h"
#include "record/collector.h"

static char folder[] = "/tmp/haul-profile-XXXXXX";
static char path[64];
static char rings[64];
static hl_record_collector collector;

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/haul-profile-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/profile.sqlite", folder);
    snprintf(rings, sizeof rings, "%s/rings", folder);
    FILE *file = fopen(path, "w");
    collector = (hl_record_collector){.folder = rings, .path = path, .start_ns = 1000000};
    return file && !fclose(file) && !mkdir(rings, 0700) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static hl_record_profile_writer *open_writer(hl_record_profile_options options)
{
    static int number;
    char name[96];
    hl_record_profile_writer *writer = NULL;
    haul_error error = {0};
    snprintf(name, sizeof name, "%s/%d", rings, ++number);
    options.path = name;
    if (hl_record_profile_open(&options, &writer, &error))
        fail_msg("%s", error.text);
    return writer;
}

static haul_recording finish(void)
{
    static haul_recording recording;
    memset(&recording, 0, sizeof recording);
    hl_record_collector_finish(&collector, "", hl_record_profile_now(), &recording);
    return recording;
}

static haul_workload *load(void)
{
    haul_workload *workload = NULL;
    haul_error error = {0};
    if (haul_trace_load(path, &workload, &error))
        fail_msg("%s", error.text);
    return workload;
}

static hl_record copy_of(int64_t start_ns, uint32_t stream, uint32_t correlation)
{
    return (hl_record){
        .kind = HL_RECORD_COPY,
        .correlation = correlation,
        .start_ns = start_ns,
        .end_ns = start_ns + 1000,
        .stream = stream,
        .copy = {.bytes = 4096,
                 .copy_kind = HL_RECORD_HTOD,
                 .source_kind = HL_RECORD_PINNED,
                 .target_kind = HL_RECORD_DEVICE,
                 .source_device = HL_RECORD_PROFILE_NO_ID,
                 .target_device = HL_RECORD_PROFILE_NO_ID},
    };
}

static const haul_op *find(const haul_workload *workload, haul_op_kind kind)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == kind)
            return &workload->ops[i];
    fail_msg("no operation of kind %d", (int)kind);
    return NULL;
}

enum { T0 = 1000000 };

/* copy on stream 1; kernel on stream 2 waits for it; the host waits for stream 2 */
static void put_program(hl_record_profile_writer *writer)
{
    const uint32_t launch = hl_record_profile_name(writer, "launch");
    const hl_record records[] = {
        copy_of(T0 + 1000, 1, 1),
        {.kind = HL_RECORD_CALL,
         .correlation = 1,
         .start_ns = T0 + 500,
         .end_ns = T0 + 900,
         .call = {.name = hl_record_profile_name(writer, "copy"), .thread = 77}},
        {.kind = HL_RECORD_EVENT,
         .start_ns = T0 + 2000,
         .stream = 1,
         .event = {.event = 5, .sync_id = 9}},
        {.kind = HL_RECORD_SYNC,
         .start_ns = T0 + 950,
         .end_ns = T0 + 950,
         .stream = 2,
         .sync = {.type = HL_RECORD_STREAM_WAITS, .event = 5, .sync_id = 9}},
        {.kind = HL_RECORD_KERNEL,
         .correlation = 2,
         .start_ns = T0 + 2500,
         .end_ns = T0 + 4500,
         .stream = 2,
         .kernel = {.name = hl_record_profile_name(writer, "convolve"),
                    .grid = {10, 2, 1},
                    .block = {64, 1, 1},
                    .static_shared_bytes = 100}},
        {.kind = HL_RECORD_CALL,
         .correlation = 2,
         .start_ns = T0 + 950,
         .end_ns = T0 + 990,
         .call = {.name = launch, .thread = 77}},
        {.kind = HL_RECORD_SET,
         .correlation = 3,
         .start_ns = T0 + 5000,
         .end_ns = T0 + 5100,
         .stream = 1,
         .set = {.bytes = 64, .value = 1, .memory_kind = HL_RECORD_DEVICE}},
        {.kind = HL_RECORD_SYNC,
         .correlation = 4,
         .start_ns = T0 + 1000,
         .end_ns = T0 + 4600,
         .stream = 2,
         .sync = {.type = HL_RECORD_WAIT_STREAM,
                  .event = HL_RECORD_PROFILE_NO_ID,
                  .sync_id = HL_RECORD_PROFILE_NO_ID}},
        {.kind = HL_RECORD_OVERHEAD, .start_ns = T0, .end_ns = T0 + 1, .overhead = {.type = 1}},
    };
    assert_int_equal(hl_record_profile_name(writer, "launch"), launch);
    assert_true(hl_record_profile_put(writer, records, sizeof records / sizeof records[0]));
}

static void what_is_put_is_read(void **state)
{
    (void)state;
    hl_record_profile_writer *writer = open_writer((hl_record_profile_options){.start_ns = T0});
    const hl_record_profile_device device = {
        .id = 0, .name = "a device", .memory_bytes = 1 << 20, .multiprocessors = 3};
    hl_record_profile_describe_device(writer, &device);
    hl_record_profile_describe_stream(writer, 0, 1);
    hl_record_profile_note(writer, "HAUL:NOTE", "%d", 1);
    hl_record_profile_note(writer, "HAUL:NOTE", "%d", 2);
    put_program(writer);
    hl_record_profile_result result;
    hl_record_profile_close(writer, &result);
    assert_int_equal(result.operations, 3);
    assert_int_equal(result.dropped, 0);
    const haul_recording recording = finish();
    assert_string_equal(recording.failure, "");
    assert_string_equal(recording.incomplete, "");
    assert_int_equal(recording.operations, 3);

    haul_workload *workload = load();
    assert_string_equal(workload->format, "nsys 3.24.14");
    assert_int_equal(workload->counts.device_ops, 3);
    assert_int_equal(workload->device_count, 1);
    assert_string_equal(workload->devices[0].name, "a device");
    assert_int_equal(workload->devices[0].multiprocessors, 3);
    const haul_op *copy = find(workload, HAUL_OP_COPY);
    assert_int_equal(copy->start_ns, 1000);
    assert_int_equal(copy->dur_ns, 1000);
    assert_int_equal(copy->call_ns, 500);
    assert_int_equal(copy->detail, HAUL_MEMORY_PINNED);
    const haul_op *kernel = find(workload, HAUL_OP_KERNEL);
    assert_string_equal(haul_workload_string(workload, kernel->name), "convolve");
    assert_int_equal(workload->shapes[kernel->shape].grid[0], 10);
    assert_int_equal(workload->shapes[kernel->shape].shared_bytes, 100);
    assert_int_equal(workload->edge_count, 2);
    assert_true(&workload->ops[workload->edges[0].before] == kernel ||
                &workload->ops[workload->edges[1].before] == kernel);
    assert_true(&workload->ops[workload->edges[0].after] == kernel ||
                &workload->ops[workload->edges[1].after] == kernel);
    haul_workload_free(workload);
}

enum { THREADS = 8, EACH = 20000 };

static void *put_many(void *argument)
{
    hl_record_profile_writer *writer = argument;
    for (uint32_t i = 0; i < EACH; i++) {
        char name[32];
        snprintf(name, sizeof name, "kernel %u", i % 7);
        const hl_record records[] = {
            copy_of(hl_record_profile_now(), 1, i + 1),
            {.kind = HL_RECORD_KERNEL,
             .start_ns = hl_record_profile_now(),
             .end_ns = hl_record_profile_now(),
             .kernel = {.name = hl_record_profile_name(writer, name)}},
        };
        hl_record_profile_put(writer, records, 2);
    }
    return NULL;
}

static void *read_on(void *argument)
{
    const atomic_bool *go_on = argument;
    while (atomic_load(go_on))
        hl_record_collector_read(&collector, true);
    return NULL;
}

static void threads_put_at_once(void **state)
{
    (void)state;
    hl_record_profile_writer *writer = open_writer((hl_record_profile_options){0});
    pthread_t threads[THREADS], reader;
    atomic_bool go_on = true;
    assert_int_equal(pthread_create(&reader, NULL, read_on, &go_on), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_many, writer), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&go_on, false);
    pthread_join(reader, NULL);
    hl_record_profile_result result;
    hl_record_profile_close(writer, &result);
    /* Nothing is lost unseen, and of each pair both or none is there. */
    assert_int_equal(result.operations + result.dropped, 2 * THREADS * EACH);
    assert_int_equal(finish().operations, result.operations);
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, result.operations);
    haul_workload_free(workload);
}

/* Without a reader callers wait once, then drop; the names of what is there are there. */
static void a_full_ring_drops_and_counts(void **state)
{
    (void)state;
    hl_record_profile_writer *writer = open_writer((hl_record_profile_options){0});
    const int64_t begin_ns = hl_record_profile_now();
    uint64_t taken = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        const hl_record record = copy_of(hl_record_profile_now(), 1, i + 1);
        taken += hl_record_profile_put(writer, &record, 1);
    }
    assert_true(hl_record_profile_now() - begin_ns < INT64_C(5000000000));
    assert_in_range(taken, 50000, 199999);
    hl_record_collector_read(&collector, true);
    const hl_record record = copy_of(hl_record_profile_now(), 1, 1);
    assert_true(hl_record_profile_put(writer, &record, 1));
    hl_record_profile_close(writer, NULL);
    const haul_recording recording = finish();
    assert_int_equal(recording.operations, taken + 1);
    assert_int_equal(recording.dropped, 200000 - taken);
    assert_non_null(strstr(recording.incomplete, "records were dropped"));
}

/* A program may write into any of its memory. */
static void a_damaged_ring_harms_nobody(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        hl_record_profile_writer *writer = open_writer((hl_record_profile_options){0});
        for (uint32_t i = 0; i < 100; i++) {
            const hl_record record = copy_of(hl_record_profile_now(), 1, i + 1);
            assert_true(hl_record_profile_put(writer, &record, 1));
        }
        char name[96];
        snprintf(name, sizeof name, "cd %s; ls -t | head -1 >../newest", rings);
        assert_int_equal(system(name), 0);
        snprintf(name, sizeof name, "%s/newest", folder);
        FILE *file = fopen(name, "r");
        char newest[32] = "";
        assert_int_equal(fscanf(file, "%31s", newest), 1);
        fclose(file);
        snprintf(name, sizeof name, "%s/%s", rings, newest);
        file = fopen(name, "r+");
        assert_non_null(file);
        srand(seed);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(fseek(file, rand() % 12000, SEEK_SET), 0);
            fputc(rand(), file);
        }
        fclose(file);
        hl_record_collector_read(&collector, true);
        hl_record_profile_close(writer, NULL);
    }
    assert_true(finish().has_profile);
    haul_workload_free(load());
}

static void limits_hold(void **state)
{
    (void)state;
    hl_record_profile_writer *writer =
        open_writer((hl_record_profile_options){.max_operations = 3});
    for (uint32_t i = 0; i < 10; i++) {
        const hl_record record = copy_of(hl_record_profile_now(), 1, i);
        assert_int_equal(hl_record_profile_put(writer, &record, 1), i < 3);
    }
    hl_record_profile_result result;
    hl_record_profile_close(writer, &result);
    assert_int_equal(result.operations, 3);
    assert_int_equal(result.beyond_limits, 7);
    assert_int_equal(finish().beyond_limits, 7);
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 3);
    haul_workload_free(workload);
}

static void a_killed_process_leaves_a_profile(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (!child) {
        hl_record_profile_writer *writer = open_writer((hl_record_profile_options){0});
        for (uint32_t i = 0; i < 30000; i++) {
            const hl_record record = copy_of(hl_record_profile_now(), 1, i + 1);
            hl_record_profile_put(writer, &record, 1);
        }
        hl_record_profile_count_issued(writer, 30002);
        hl_record_profile_count_settled(writer, 30000);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    const haul_recording recording = finish();
    assert_int_equal(recording.operations, 30000);
    assert_int_equal(recording.in_flight, 2);
    assert_non_null(strstr(recording.incomplete, "2 commands were in flight and are missing"));
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 30000);
    haul_workload_free(workload);
}

/* In the child: exits 0 where the program goes on, a message tells the failure, and each record is
 * in the profile or counted; a note and a name are no records. */
static int meet_the_limit(void)
{
    hl_record_profile_writer *writer = open_writer((hl_record_profile_options){0});
    const struct rlimit limit = {400000, 400000};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    for (uint32_t i = 0; i < 100000; i++) {
        const hl_record record = copy_of(hl_record_profile_now(), 1, i + 1);
        hl_record_profile_put(writer, &record, 1);
        if (i % 1000 != 0)
            continue;
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        hl_record_profile_name(writer, name);
        hl_record_profile_note(writer, "HAUL:CLOCK_ERROR_NS:0", "%u", i);
        hl_record_collector_read(&collector, true);
    }
    const bool went_on = !hl_record_profile_recording(writer);
    hl_record_profile_result result;
    hl_record_profile_close(writer, &result);
    const haul_recording recording = finish();
    return went_on && result.dropped > 0 && strstr(recording.failure, "cannot write") &&
                   recording.operations + recording.dropped == 100000
               ? 0
               : 1;
}

static void a_full_disk_stops_the_recording_only(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (!child)
        _exit(meet_the_limit());
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    haul_workload_free(load());
}

static void a_ring_is_never_overwritten(void **state)
{
    (void)state;
    hl_record_profile_writer *writer = NULL;
    haul_error error = {0};
    const hl_record_profile_options again = {.path = path};
    assert_int_equal(hl_record_profile_open(&again, &writer, &error), HAUL_STATUS_IO);
    assert_non_null(strstr(error.text, "File exists"));
    const hl_record_profile_options nowhere = {.path = "/nowhere/at/all"};
    assert_int_equal(hl_record_profile_open(&nowhere, &writer, &error), HAUL_STATUS_IO);
    assert_null(writer);
}

static void write_one(const char *device_name)
{
    hl_record_profile_writer *writer = open_writer((hl_record_profile_options){0});
    const hl_record_profile_device device = {.id = 0, .name = device_name, .multiprocessors = 1};
    hl_record_profile_describe_device(writer, &device);
    const hl_record records[] = {
        copy_of(T0 + 1000, 1, 1),
        {.kind = HL_RECORD_CALL,
         .correlation = 1,
         .start_ns = T0 + 500,
         .end_ns = T0 + 900,
         .call = {.name = hl_record_profile_name(writer, device_name), .thread = 77}},
    };
    assert_true(hl_record_profile_put(writer, records, 2));
    hl_record_profile_close(writer, NULL);
}

/* Of one process, as recorders of two interfaces make them; of one device and of another. */
static void rings_of_one_recording_are_joined(void **state)
{
    (void)state;
    write_one("first");
    hl_record_collector_read(&collector, true);
    write_one("second");
    hl_record_collector_read(&collector, true);
    write_one("first");
    const haul_recording recording = finish();
    assert_true(recording.has_profile);
    assert_int_equal(recording.operations, 3);
    assert_int_equal(recording.processes, 3);
    haul_workload *workload = load();
    assert_int_equal(workload->device_count, 2);
    assert_int_equal(workload->stream_count, 3);
    assert_int_equal(workload->counts.orphans, 0);
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const haul_workload_stream *stream = &workload->streams[op->stream];
        assert_string_equal(haul_workload_string(workload, op->name),
                            workload->devices[stream->device].name);
    }
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_put_is_read, begin, end),
        cmocka_unit_test_setup_teardown(threads_put_at_once, begin, end),
        cmocka_unit_test_setup_teardown(limits_hold, begin, end),
        cmocka_unit_test_setup_teardown(a_full_ring_drops_and_counts, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_ring_harms_nobody, begin, end),
        cmocka_unit_test_setup_teardown(a_killed_process_leaves_a_profile, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_stops_the_recording_only, begin, end),
        cmocka_unit_test_setup_teardown(a_ring_is_never_overwritten, begin, end),
        cmocka_unit_test_setup_teardown(rings_of_one_recording_are_joined, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
