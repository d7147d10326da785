/* A profile that convert writes is read back to an equal workload. */
#include "check.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "haul/trace.h"
#include "workload_check.h"

static char folder[] = "/tmp/haul-convert-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static haul_workload *made(const char *text)
{
    haul_workload *workload = NULL;
    FILE *out = fopen(path_of("made.json"), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    assert_int_equal(haul_trace_load(path_of("made.json"), &workload, NULL), HAUL_OK);
    remove(path_of("made.json"));
    return workload;
}

/* Writes a workload and reads it again: nothing is lost. */
static haul_workload *again(const haul_workload *workload, bool json)
{
    haul_workload *read = NULL;
    haul_error error = {0};
    char path[128], lost[600];
    snprintf(path, sizeof path, "%s", path_of(json ? "w.json" : "w.sqlite"));
    if (json) {
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        assert_int_equal(haul_trace_write_json(workload, out, &error), HAUL_OK);
        fclose(out);
    } else {
        assert_int_equal(haul_trace_write_sqlite(workload, path, &error), HAUL_OK);
    }
    if (haul_trace_load(path, &read, &error))
        fail_msg("%s: %s", path, error.text);
    workload_check(read);
    assert_int_equal(haul_trace_written_check(workload, path, lost, sizeof lost, &error), HAUL_OK);
    remove(path);
    if (*lost)
        fail_msg("%s of %s: %s", json ? "JSON" : "SQLite", workload->source, lost);
    return read;
}

static bool same_text(const haul_workload *a, uint32_t x, const haul_workload *b, uint32_t y)
{
    return !strcmp(haul_workload_string(a, x), haul_workload_string(b, y));
}

/* Operations at equal times may change places where nothing else tells them apart. */
static bool same_op(const haul_workload *a, const haul_workload *b, size_t i)
{
    const haul_op *x = &a->ops[i], *y = &b->ops[i];
    if (x->start_ns != y->start_ns || x->dur_ns != y->dur_ns || x->kind != y->kind ||
        x->flags != y->flags || x->call_ns != y->call_ns || x->call_dur_ns != y->call_dur_ns ||
        x->detail != y->detail || !same_text(a, x->name, b, y->name) ||
        (x->stream == HAUL_NONE) != (y->stream == HAUL_NONE))
        return false;
    if (haul_op_has_bytes(x) && (x->bytes != y->bytes || x->direction != y->direction))
        return false;
    if (x->kind == HAUL_OP_KERNEL &&
        memcmp(&a->shapes[x->shape], &b->shapes[y->shape], offsetof(haul_shape, collective)) != 0)
        return false;
    return x->stream_prev == y->stream_prev &&
           (x->stream == HAUL_NONE || a->streams[x->stream].id == b->streams[y->stream].id);
}

static void check_equal(const haul_workload *a, const haul_workload *b, const char *what)
{
    assert_int_equal(a->op_count, b->op_count);
    for (size_t i = 0; i < a->op_count; i++)
        if (!same_op(a, b, i))
            fail_msg("%s: operation %zu of %zu", what, i, a->op_count);
    assert_int_equal(a->edge_count, b->edge_count);
    for (size_t i = 0; i < a->edge_count; i++)
        if (a->edges[i].before != b->edges[i].before || a->edges[i].after != b->edges[i].after)
            fail_msg("%s: edge %zu of %zu", what, i, a->edge_count);
    assert_int_equal(a->counts.calls, b->counts.calls);
    assert_int_equal(a->counts.orphans, b->counts.orphans);
    assert_int_equal(a->range_count, b->range_count);
    for (size_t i = 0; i < a->range_count; i++) {
        assert_int_equal(a->ranges[i].start_ns, b->ranges[i].start_ns);
        assert_int_equal(a->ranges[i].dur_ns, b->ranges[i].dur_ns);
    }
    for (size_t i = 0; i < a->device_count; i++) {
        assert_int_equal(a->devices[i].memory_bytes, b->devices[i].memory_bytes);
        assert_int_equal(a->devices[i].copy_engines, b->devices[i].copy_engines);
    }
}

static void check_comes_back(const haul_workload *workload)
{
    for (int json = 0; json < 2; json++) {
        haul_workload *read = again(workload, json);
        check_equal(workload, read, json ? "JSON" : "SQLite");
        haul_workload_free(read);
    }
}

/* A stream that waits for another's event, a copy whose bytes are not known, and a kernel on a
 * stream that is not. */
static void waits_and_what_is_unknown_come_back(void **state)
{
    (void)state;
    static const char text[] =
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipMemcpyAsync\",\"pid\":9,\"tid\":10,"
        "\"ts\":99,\"dur\":2,\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"CopyHostToDevice\",\"pid\":0,\"tid\":7,"
        "\"ts\":104,\"dur\":5,\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":1}}"
        ","
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaEventRecord\",\"pid\":9,\"tid\":10,"
        "\"ts\":102,\"dur\":1,\"args\":{\"correlation\":2}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Wait Event\",\"pid\":0,\"tid\":8,"
        "\"ts\":103,\"dur\":1,\"args\":{\"cuda_sync_kind\":\"Stream Wait Event\",\"device\":0,"
        "\"context\":1,\"stream\":8,\"correlation\":3,\"wait_on_stream\":7,"
        "\"wait_on_cuda_event_record_corr_id\":2,\"wait_on_cuda_event_id\":5}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":8,\"ts\":110,\"dur\":2,"
        "\"args\":{\"device\":0,\"context\":1,\"stream\":8,\"correlation\":4}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":8,\"ts\":120,\"dur\":2,"
        "\"args\":{\"stream\":-1}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":10,"
        "\"ts\":105,\"dur\":1,\"args\":{\"correlation\":4}}]}";
    haul_workload *workload = made(text);
    assert_int_equal(workload->edge_count, 1);
    assert_int_equal(workload->ops[workload->edges[0].after].kind, HAUL_OP_KERNEL);
    assert_int_equal(workload->ops[workload->op_count - 1].stream, HAUL_NONE);
    check_comes_back(workload);
    haul_workload_free(workload);
}

/* That a stream is the default one is no matter of its number: Kineto's stream 7 need not be one,
 * and a file that was converted says which are. */
static void default_streams_come_back(void **state)
{
    (void)state;
    static const char text[] =
        "{\"haul notes\":[{\"kind\":\"default stream\"},"
        "{\"kind\":\"default stream\",\"text\":\"0 1 9\"},"
        "{\"kind\":\"default stream\",\"text\":\"none\"}],\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":104,\"dur\":2,"
        "\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":9,\"ts\":110,\"dur\":2,"
        "\"args\":{\"device\":0,\"context\":1,\"stream\":9,\"correlation\":2}}]}";
    haul_workload *workload = made(text);
    for (int form = 0; form < 3; form++) { /* as made, SQLite, JSON */
        haul_workload *const read = form ? again(workload, form == 2) : workload;
        assert_int_equal(read->stream_count, 2);
        for (size_t s = 0; s < read->stream_count; s++)
            assert_int_equal(read->streams[s].is_default, read->streams[s].id == 9);
        if (form)
            haul_workload_free(read);
    }
    haul_workload_free(workload);
}

/* Threads of one id in two processes that have no stream, and a device 1 before a device 0. */
static void ids_stay_apart(void **state)
{
    (void)state;
    static const char text[] =
        "{\"deviceProperties\":[{\"id\":1,\"name\":\"One\",\"numSms\":8},"
        "{\"id\":0,\"name\":\"Zero\",\"numSms\":8}],"
        "\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":8,\"tid\":9,"
        "\"ts\":90,\"dur\":2,\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":5,\"tid\":9,"
        "\"ts\":90,\"dur\":2,\"args\":{\"correlation\":2}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":7,\"ts\":104,\"dur\":2,"
        "\"args\":{\"device\":1,\"context\":1,\"stream\":7,\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":105,\"dur\":2,"
        "\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":2}}]}";
    haul_workload *workload = made(text);
    assert_int_equal(workload->thread_count, 2);
    assert_int_equal(workload->counts.calls, 2);
    for (int json = 0; json < 2; json++) {
        haul_workload *read = again(workload, json);
        assert_int_equal(read->thread_count, 2);
        assert_int_equal(read->counts.calls, 2);
        for (size_t d = 0; d < read->device_count; d++)
            assert_string_equal(read->devices[d].name, read->devices[d].id ? "One" : "Zero");
        haul_workload_free(read);
    }
    haul_workload_free(workload);
}

/* A copy that no known call issued: that its process is the thread's, the wait alone tells. */
static void a_wait_for_what_no_call_issued_comes_back(void **state)
{
    (void)state;
    static const char text[] =
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> "
        "Device)\",\"pid\":0,"
        "\"tid\":7,\"ts\":90,\"dur\":30,\"args\":{\"device\":0,\"context\":1,\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaDeviceSynchronize\",\"pid\":9,"
        "\"tid\":9,"
        "\"ts\":91,\"dur\":29,\"args\":{\"correlation\":5}}]}";
    haul_workload *workload = made(text);
    assert_int_equal(workload->op_count, 2);
    assert_int_equal(workload->edge_count, 1);
    check_comes_back(workload);
    haul_workload_free(workload);
}

/* Two ranks that have all ids alike: GPU, context, stream, thread and correlation; the host's
 * process is another number than the one that Kineto gives streams. Each waits for its own context
 * alone. */
static void joined_profiles_come_back(void **state)
{
    (void)state;
    static const char text[] =
        "{\"distributedInfo\":{\"rank\":%d},\"baseTimeNanoseconds\":1700000000000000000,"
        "\"deviceProperties\":[{\"id\":0,\"name\":\"Zero\",\"numSms\":8,\"haul host\":\"n%d\"}],"
        "\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":8,\"tid\":9,"
        "\"ts\":9%d,\"dur\":2,\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaEventQuery\",\"pid\":8,\"tid\":9,"
        "\"ts\":98,\"dur\":2,\"args\":{\"correlation\":2}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaDeviceSynchronize\",\"pid\":8,"
        "\"tid\":9,\"ts\":101,\"dur\":6,\"args\":{\"correlation\":3}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Context Sync\",\"pid\":0,\"tid\":-1,"
        "\"ts\":101,\"dur\":6,\"args\":{\"cuda_sync_kind\":\"Context Sync\",\"stream\":-1,"
        "\"correlation\":3,\"device\":0,\"context\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":104,\"dur\":2,"
        "\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":1}}]}";
    char names[2][128];
    const char *const paths[] = {names[0], names[1]};
    haul_workload *workload = NULL;
    for (int rank = 0; rank < 2; rank++) {
        snprintf(names[rank], sizeof names[rank], "%s/rank%d.json", folder, rank);
        FILE *out = fopen(names[rank], "w");
        assert_non_null(out);
        fprintf(out, text, rank, rank, rank);
        fclose(out);
    }
    assert_int_equal(haul_trace_load_ranks(paths, 2, &workload, NULL), HAUL_OK);
    assert_int_equal(workload->edge_count, 2);
    for (int json = 0; json < 2; json++) {
        haul_workload *const read = again(workload, json);
        haul_workload_free(again(read, !json));
        assert_int_equal(read->op_count, workload->op_count);
        assert_int_equal(read->device_count, 2);
        for (int i = 0; i < 2; i++)
            assert_string_equal(read->devices[i].host, read->devices[i].rank ? "n1" : "n0");
        assert_int_equal(read->devices[0].rank + read->devices[1].rank, 1);
        assert_int_equal(read->edge_count, 2);
        haul_workload_free(read);
    }
    haul_workload_free(workload);
    remove(names[0]);
    remove(names[1]);
}

/* The operator of each call and, of joined profiles, what each profiler lost. */
static void operators_and_losses_come_back(void **state)
{
    (void)state;
    static const char text[] =
        "{\"distributedInfo\":{\"rank\":%d},\"haul losses\":[{\"text\":\"12 records\\nlost\","
        "\"count\":12},{\"count\":0,\"text\":\"all \\\"events\\\"\"},{}],\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"pid\":8,\"tid\":%d,\"ts\":80,"
        "\"dur\":30},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add_\",\"pid\":8,\"tid\":%d,"
        "\"ts\":94,\"dur\":5},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":8,\"tid\":%d,"
        "\"ts\":9%d,\"dur\":2,\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaEventQuery\",\"pid\":8,\"tid\":%d,"
        "\"ts\":120,\"dur\":2,\"args\":{\"correlation\":2}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":12%d,\"dur\":2,"
        "\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":1}}]}";
    const int thread = 0x7fffff00; /* beyond the 24 bits that Nsight Systems' files have */
    char names[2][128];
    const char *const paths[] = {names[0], names[1]};
    haul_workload *workload = NULL;
    for (int rank = 0; rank < 2; rank++) {
        snprintf(names[rank], sizeof names[rank], "%s/lossy%d.json", folder, rank);
        FILE *out = fopen(names[rank], "w");
        assert_non_null(out);
        fprintf(out, text, rank, thread, thread, thread, rank * 5, thread, 5 + rank);
        fclose(out);
    }
    assert_int_equal(haul_trace_load_ranks(paths, 2, &workload, NULL), HAUL_OK);
    assert_int_equal(workload->op_count, 4);
    for (int json = 0; json < 2; json++) {
        haul_workload *const read = again(workload, json);
        haul_workload_free(again(read, !json));
        assert_int_equal(read->loss_count, 2);
        assert_string_equal(read->losses[0].text, "2 of 2 ranks: 12 records lost");
        assert_int_equal(read->losses[0].count, workload->losses[0].count);
        assert_string_equal(read->losses[1].text, "2 of 2 ranks: all \"events\"");
        static const char *const operators[] = {"", "", "aten::add", "aten::add_"};
        for (size_t i = 0; i < 4; i++)
            assert_string_equal(haul_workload_string(read, haul_op_operator(read, i)),
                                operators[i]);
        haul_workload_free(read);
    }
    haul_workload_free(workload);
    remove(names[0]);
    remove(names[1]);
}

/* The profile's own notes, and those alone: what a reader of the other format would note of its
 * tables is no loss of the profile. Devices come in the order of their ids from every table. */
static void notes_come_back(void **state)
{
    (void)state;
    static const char text[] =
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":8,\"tid\":8,"
        "\"ts\":90,\"dur\":2,\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":20,"
        "\"args\":{\"device\":1,\"context\":1,\"stream\":7,\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"l\",\"pid\":0,\"tid\":7,\"ts\":110,\"dur\":20,"
        "\"args\":{\"device\":1,\"context\":1,\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> "
        "Device)\",\"pid\":0,"
        "\"tid\":7,\"ts\":140,\"dur\":2,\"args\":{\"device\":0,\"context\":2,\"stream\":7,"
        "\"bytes\":8}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"m\"}]}";
    haul_workload *workload = made(text);
    assert_int_equal(workload->missing_count, 2); /* events of synchronisation, a device table */
    assert_int_equal(workload->repair_count, 2);  /* an overlap, and an event without times */
    assert_int_equal(workload->device_count, 2);
    for (int json = 0; json < 2; json++) {
        haul_workload *const read = again(workload, json);
        haul_workload *const twice = again(read, !json);
        const haul_workload *const both[] = {read, twice};
        for (int i = 0; i < 2; i++) {
            assert_int_equal(both[i]->missing_count, 2);
            assert_int_equal(both[i]->repair_count, 2);
            for (int k = 0; k < 2; k++) {
                assert_string_equal(both[i]->missing[k].text, workload->missing[k].text);
                assert_string_equal(both[i]->repairs[k].text, workload->repairs[k].text);
                assert_int_equal(both[i]->repairs[k].count, 1);
                assert_int_equal(both[i]->devices[k].id, k);
            }
        }
        haul_workload_free(twice);
        haul_workload_free(read);
    }
    haul_workload_free(workload);
}

/* An event that is written often, with others of its start between: what is kept once is kept when
 * it is converted again. */
static void what_was_kept_is_kept_again(void **state)
{
    (void)state;
    char text[65536] = "{\"traceEvents\":[";
    for (int i = 0; i < 200; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                       "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":7,"
                       "\"ts\":104,\"dur\":2,\"args\":{\"device\":0,\"context\":1,\"stream\":%d}}",
                       i ? "," : "", i % 100 ? "k" : "once", i % 100 < 70 ? 7 : i % 100);
    strcat(text, "]}");
    haul_workload *workload = made(text);
    assert_int_equal(workload->op_count, 2 + 30);
    for (int json = 0; json < 2; json++) {
        haul_workload *read = again(workload, json);
        assert_int_equal(read->op_count, workload->op_count);
        haul_workload_free(read);
    }
    haul_workload_free(workload);
}

static void made_traces_come_back(void **state)
{
    (void)state;
    static const char text[] =
        "{\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaGraphLaunch\",\"pid\":9,\"tid\":10,"
        "\"ts\":99.001,\"dur\":2,\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoH (Device -> "
        "Pageable)\",\"pid\":0,"
        "\"tid\":7,\"ts\":104.5,\"dur\":5.25,\"args\":{\"device\":0,\"context\":1,\"stream\":7,"
        "\"correlation\":1,\"bytes\":100}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k \\\"quoted\\\" "
        "\\u00e9\",\"pid\":0,\"tid\":8,"
        "\"ts\":105,\"dur\":20,\"args\":{\"device\":0,\"context\":1,\"stream\":8,\"correlation\":1,"
        "\"grid\":[1,2,3],\"block\":[4,5,6],\"registers per thread\":7,\"shared memory\":8}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"Memset\",\"pid\":0,\"tid\":8,\"ts\":130,"
        "\"dur\":1,\"args\":{\"device\":0,\"context\":1,\"stream\":8,\"bytes\":64}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaStreamSynchronize\",\"pid\":9,"
        "\"tid\":10,"
        "\"ts\":106,\"dur\":30,\"args\":{\"correlation\":3}},"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step\",\"pid\":9,\"tid\":10,\"ts\":"
        "98,"
        "\"dur\":50}]}";
    haul_workload *workload = made(text);
    for (int json = 0; json < 2; json++) {
        haul_workload *read = again(workload, json);
        check_equal(workload, read, json ? "JSON" : "SQLite");
        assert_int_equal(read->epoch_ns, workload->epoch_ns);
        assert_int_equal(read->edge_count, workload->edge_count);
        haul_workload_free(read);
    }
    haul_workload_free(workload);
}

static void profiles_of_the_data_come_back(void **state)
{
    (void)state;
    static const char *const names[] = {
        "nsys/a100-cloverleaf.sqlite",
        "nsys/gtx1060-concurrent-s4.sqlite",
        "nsys/gtx1060-concurrent-s16.sqlite",
        "nsys/h100-2gpu-training-1s.sqlite",
        "nsys/h100-2gpu-training-before.sqlite",
        "nsys/rtx3080-small.sqlite",
        "nvprof/t4-vectoradd-4streams-5e6.nvvp",
        "nvprof/t4-vectoradd-pageable-5e6.nvvp",
        "kineto/alexnet-a100.json.gz",
        "kineto/event-sync-multi-stream-a100.json.gz",
        "kineto/minitoy-mi250.json.gz",
        "kineto/nccl-arguments.json.gz",
        "kineto/owlv2-h100.json.gz",
        "kineto/owlv2-mi300x.json.gz",
        "kineto/recsys-a100.json.gz",
        "kineto/recsys-v100.json.gz",
        "rocpd/matmul-v2.rpd",
        "rocpd/rocprofv3-csv/kernel_trace.csv",
    };
    const char *data = getenv("HAUL_DATA");
    size_t found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        haul_workload *workload = NULL;
        snprintf(path, sizeof path, "%s/traces/%s", data && *data ? data : "../shared/data",
                 names[i]);
        if (access(path, R_OK))
            continue;
        found++;
        assert_int_equal(haul_trace_load(path, &workload, NULL), HAUL_OK);
        /* times of whole microseconds: a copy and a kernel that start at once change places where
         * they come of two tables */
        const bool has_ties = strstr(names[i], "recsys-v100") != NULL;
        for (int first = 0; first < 2; first++) {
            haul_workload *read = again(workload, first);
            if (first || !has_ties)
                check_equal(workload, read, names[i]);
            for (int second = 0; second < 2; second++)
                haul_workload_free(again(read, second));
            haul_workload_free(read);
        }
        haul_workload_free(workload);
    }
    if (!found)
        skip();
}

static void profiles_of_the_data_come_back_joined(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"kineto/alexnet-a100.json.gz", "kineto/event-sync-multi-stream-a100.json.gz"},
        {"nsys/h100-2gpu-training-1s.sqlite", "nsys/h100-2gpu-training-before.sqlite"},
        {"kineto/minitoy-mi250.json.gz", "kineto/nccl-arguments.json.gz"},
        {"rocpd/matmul-v2.rpd", "nvprof/t4-vectoradd-pageable-5e6.nvvp"},
    };
    const char *data = getenv("HAUL_DATA");
    size_t found = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char paths[2][1024];
        haul_workload *workload = NULL;
        for (int k = 0; k < 2; k++)
            snprintf(paths[k], sizeof paths[k], "%s/traces/%s",
                     data && *data ? data : "../shared/data", pairs[i][k]);
        if (access(paths[0], R_OK) || access(paths[1], R_OK))
            continue;
        found++;
        const char *const both[] = {paths[0], paths[1]};
        assert_int_equal(haul_trace_load_ranks(both, 2, &workload, NULL), HAUL_OK);
        for (int json = 0; json < 2; json++)
            haul_workload_free(again(workload, json));
        haul_workload_free(workload);
    }
    if (!found)
        skip();
}

/* Two kernels that are equal in all, two equal calls, and a call that waits without a row of its
 * wait: none of them is dropped or made up when it is read from a file that haul wrote. */
static void nothing_is_dropped_or_made_up(void **state)
{
    (void)state;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path_of("twice.sqlite"), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(
            db,
            "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId,"
            " correlationId, globalPid, demangledName, gridX, gridY, gridZ, blockX, blockY, "
            "blockZ);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, "
            "nameId);"
            "INSERT INTO StringIds VALUES(1, 'k'), (2, 'cudaLaunchKernel'),"
            " (3, 'cudaDeviceSynchronize'), (4, 'cudaMalloc');"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
            "(1000, 2000, 0, 1, 7, 0, 1 << 24, 1, 1, 1, 1, 1, 1, 1),"
            "(1000, 2000, 0, 1, 7, 0, 1 << 24, 1, 1, 1, 1, 1, 1, 1),"
            "(3000, 4000, 0, 1, 8, 5, 1 << 24, 1, 1, 1, 1, 1, 1, 1);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(500, 600, (1 << 24) + 1, 5, 2),"
            "(700, 4100, (1 << 24) + 1, 6, 3), (5000, 5100, (1 << 24) + 1, 7, 4),"
            "(5000, 5100, (1 << 24) + 1, 8, 4)",
            NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    haul_workload *workload = NULL;
    assert_int_equal(haul_trace_load(path_of("twice.sqlite"), &workload, NULL), HAUL_OK);
    remove(path_of("twice.sqlite"));
    for (int json = 0; json < 2; json++) {
        haul_workload *read = again(workload, json);
        haul_workload_free(again(read, !json));
        haul_workload_free(read);
    }
    haul_workload_free(workload);
}

/* Losses are named: a file is checked against another workload. */
static void differences_are_said(void **state)
{
    (void)state;
#define KERNEL_WITH(what)                                                                          \
    "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel\",\"pid\":0,"        \
    "\"tid\":7,\"ts\":104,\"dur\":2,\"args\":{\"device\":0,\"context\":1," what "}}]}"
#define ONE_KERNEL                                                                                 \
    "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel\",\"pid\":0,"         \
    "\"tid\":7,\"ts\":104,\"dur\":2,\"args\":{\"device\":0,\"context\":1,\"stream\":7}}]}"
    static const struct {
        const char *text;
        const char *lost;
    } cases[] = {
        {KERNEL_WITH("\"stream\":7"), ""},
        {KERNEL_WITH("\"stream\":8"), "streams (1)"},
        {KERNEL_WITH("\"stream\":7,\"grid\":[2,1,1]"), "launches of kernels (1)"},
        {KERNEL_WITH("\"stream\":7,\"Collective name\":\"allreduce\",\"In msg nelems\":4"),
         "sizes and groups of collectives (1)"},
        {KERNEL_WITH("\"stream\":7,\"haul operands\":[1,2,3,4,5,16]"), "operands of kernels (1)"},
        {"{\"haul losses\":[{\"text\":\"lost\"}]," ONE_KERNEL,
         "notes of what the profiler lost (1)"},
        {"{\"traceEvents\":[]}", "operations (1)"},
    };
    haul_workload *workload = made(cases[0].text);
    assert_int_equal(haul_trace_write_sqlite(workload, path_of("one.sqlite"), NULL), HAUL_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lost[600];
        haul_workload *other = made(cases[i].text);
        assert_int_equal(
            haul_trace_written_check(other, path_of("one.sqlite"), lost, sizeof lost, NULL),
            HAUL_OK);
        if (i + 1 < sizeof cases / sizeof *cases)
            assert_string_equal(lost, cases[i].lost);
        else
            assert_non_null(strstr(lost, cases[i].lost));
        haul_workload_free(again(other, false));
        haul_workload_free(again(other, true));
        haul_workload_free(other);
    }
    remove(path_of("one.sqlite"));
    haul_workload_free(workload);
}

/* A profile that finds no room is removed, not left in part. */
static void no_part_of_a_profile_stays(void **state)
{
    (void)state;
    haul_workload *workload = made(
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
        "\"ts\":104,\"dur\":2,\"args\":{\"device\":0,\"context\":1,\"stream\":7}}]}");
    struct rlimit before;
    const char *const path = path_of("full.sqlite");
    haul_error error = {0};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    for (rlim_t room = 0; room <= 8192; room += 4096) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){room, before.rlim_max}), 0);
        assert_int_equal(haul_trace_write_sqlite(workload, path, &error), HAUL_STATUS_IO);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    haul_workload_free(workload);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_streams_come_back),
        cmocka_unit_test(ids_stay_apart),
        cmocka_unit_test(a_wait_for_what_no_call_issued_comes_back),
        cmocka_unit_test(joined_profiles_come_back),
        cmocka_unit_test(operators_and_losses_come_back),
        cmocka_unit_test(notes_come_back),
        cmocka_unit_test(what_was_kept_is_kept_again),
        cmocka_unit_test(made_traces_come_back),
        cmocka_unit_test(waits_and_what_is_unknown_come_back),
        cmocka_unit_test(nothing_is_dropped_or_made_up),
        cmocka_unit_test(differences_are_said),
        cmocka_unit_test(no_part_of_a_profile_stays),
        cmocka_unit_test(profiles_of_the_data_come_back),
        cmocka_unit_test(profiles_of_the_data_come_back_joined),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
