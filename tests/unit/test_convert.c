/* What convert writes is read back to an equal workload. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static haul_workload *again(const haul_workload *workload, bool json)
{
    haul_workload *read = NULL;
    haul_error error = {0};
    const char *path = path_of(json ? "w.json" : "w.sqlite");
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
    remove(path);
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
    for (int json = 0; json < 2; json++) {
        haul_workload *read = again(workload, json);
        check_equal(workload, read, json ? "JSON" : "SQLite");
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
        for (int json = strstr(names[i], "recsys-v100") != NULL; json < 2; json++) {
            haul_workload *read = again(workload, json);
            check_equal(workload, read, names[i]);
            haul_workload_free(read);
        }
        haul_workload_free(workload);
    }
    if (!found)
        skip();
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
        cmocka_unit_test(ids_stay_apart),
        cmocka_unit_test(what_was_kept_is_kept_again),
        cmocka_unit_test(made_traces_come_back),
        cmocka_unit_test(waits_and_what_is_unknown_come_back),
        cmocka_unit_test(profiles_of_the_data_come_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
