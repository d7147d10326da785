/* Kineto traces made for the test: spellings, repairs and refusals. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "haul/analysis.h"
#include "haul/report.h"
#include "haul/trace.h"
#include "workload_check.h"

#define COPY(more)                                                                                 \
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> Device)\",\"pid\":0,"  \
    "\"tid\":7,\"ts\":100.5,\"dur\":2.25,\"args\":{\"device\":0,\"stream\":7,\"correlation\":"     \
    "5" more "}}"
#define CALL                                                                                       \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMemcpyAsync\",\"pid\":9,\"tid\":9,"     \
    "\"ts\":90,\"dur\":3,\"args\":{\"correlation\":5}}"

static haul_status load(const char *text, size_t size, haul_workload **workload, haul_error *error)
{
    char path[] = "/tmp/haul-kineto-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, size), (ssize_t)size);
    close(descriptor);
    *error = (haul_error){0};
    *workload = NULL;
    const haul_status status = haul_trace_load(path, workload, error);
    if (!status)
        workload_check(*workload);
    else
        assert_string_equal(error->file, path);
    (void)remove(path);
    return status;
}

static haul_workload *loaded(const char *text)
{
    haul_workload *workload;
    haul_error error;
    if (load(text, strlen(text), &workload, &error))
        fail_msg("%s: %s", text, error.text);
    return workload;
}

static bool has_note(const haul_note *notes, size_t count, const char *part, uint64_t times)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(notes[i].text, part))
            return notes[i].count == times;
    return false;
}

static void check_one_copy(const char *text)
{
    haul_workload *workload = loaded(text);
    assert_int_equal(workload->op_count, 1);
    const haul_op *op = &workload->ops[0];
    assert_int_equal(op->start_ns, 100500);
    assert_int_equal(op->dur_ns, 2250);
    assert_int_equal(op->bytes, 4096);
    assert_int_equal(op->direction, HAUL_DIRECTION_HTOD);
    assert_int_equal(op->detail, HAUL_MEMORY_PINNED);
    assert_int_equal(op->call_ns, 90000);
    assert_int_equal(op->call_dur_ns, 3000);
    assert_string_equal(haul_workload_string(workload, op->name), "cudaMemcpyAsync");
    haul_workload_free(workload);
}

static void shapes_of_documents_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"traceEvents\":[" COPY(",\"bytes\":4096") "," CALL "]}",
        "\n {\"traceEvents\":[" CALL "," COPY(",\"bytes\":4096") "]}",
        "[" COPY(",\"bytes\":4096") "," CALL "]",
        "\xEF\xBB\xBF{\"a\":[{}],\"traceEvents\":[" COPY(",\"bytes\":4096") "," CALL "],\"z\":1}",
        /* the last of a key counts */
        "{\"traceEvents\":[" COPY(",\"bytes\":1,\"bytes\":4096") "," CALL "]}",
        /* written twice */
        "{\"traceEvents\":[" COPY(",\"bytes\":4096") "," CALL "," COPY(",\"bytes\":4096") "," CALL
                                                                                          "]}",
        /* keys in another order, numbers as texts and with exponents, and an event of another kind
         */
        "{\"traceEvents\":[{\"args\":{\"bytes\":\"4096\",\"stream\":7,\"correlation\":5,\"device\":"
        "0},"
        "\"dur\":225e-2,\"ts\":1.005e2,\"name\":\"Memcpy HtoD (Pinned -> Device)\",\"ph\":\"X\","
        "\"cat\":\"gpu_memcpy\"},{\"ph\":\"i\",\"s\":\"t\"},{\"ph\":\"X\",\"cat\":\"cpu_op\","
        "\"name\":\"x\",\"ts\":1,\"dur\":2}," CALL "]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_one_copy(texts[i]);
}

/* A call of 5 s and an id beyond 32 bits have no room in the records of most calls. */
static void calls_of_any_order_and_size_are_joined(void **state)
{
    (void)state;
    enum { CALLS = 3000 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("[", out);
    for (int i = CALLS; i > 0; i--) { /* two threads, each from its end to its beginning */
        const int time = i % 2 ? i : CALLS + i;
        fprintf(out,
                "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"call%d\",\"pid\":9,"
                "\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%lld}},",
                i % 7, i % 2, 10 * time, i % 5 ? 3 : 5000000 + i, i % 3 ? i : 5000000000LL + i);
        fprintf(out,
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":%d,"
                "\"ts\":%d,\"dur\":1,\"args\":{\"stream\":%d,\"correlation\":%lld}}%s",
                i, i % 2, 10 * time + 5, i % 2, i % 3 ? i : 5000000000LL + i, i > 1 ? "," : "]");
    }
    fclose(out);
    haul_workload *workload = loaded(text);
    assert_int_equal(workload->op_count, CALLS);
    for (size_t o = 0; o < workload->op_count; o++) {
        const haul_op *op = &workload->ops[o];
        const int i = (int)strtol(haul_workload_string(workload, op->name) + 1, NULL, 10);
        assert_int_equal(op->call_ns, op->start_ns - 5000);
        assert_int_equal(op->call_dur_ns, i % 5 ? 3000 : 1000LL * (5000000 + i));
        assert_int_equal(workload->threads[op->thread].id, i % 2);
    }
    haul_workload_free(workload);
    free(text);
}

static void bytes_may_be_unknown(void **state)
{
    (void)state;
    haul_workload *workload = loaded("{\"traceEvents\":[" COPY("") "]}");
    assert_int_equal(workload->ops[0].flags & HAUL_OP_NO_BYTES, HAUL_OP_NO_BYTES);
    assert_int_equal(workload->ops[0].dur_ns, 2250);
    assert_true(has_note(workload->missing, workload->missing_count, "number of bytes", 1));
    haul_workload_free(workload);

    /* roctracer's calls tell, as texts */
    workload = loaded("{\"traceEvents\":[" COPY(
        "") ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
            "\"hipMemcpyAsync\",\"pid\":9,\"tid\":9,\"ts\":90,\"dur\":3,\"args\":{"
            "\"correlation\":5,\"size\":\"4096\"}}]}");
    assert_int_equal(workload->ops[0].bytes, 4096);
    assert_int_equal(workload->ops[0].flags & HAUL_OP_NO_BYTES, 0);
    haul_workload_free(workload);
}

/* One call of HIP's counts work items. A grid that is no multiple of its block is of blocks. */
static void grids_of_work_items_are_counted_in_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *call;
        const char *grid;
        uint32_t blocks;
    } cases[] = {{"hipExtModuleLaunchKernel", "1024,2,1", 4},
                 {"hipLaunchKernel", "1024,2,1", 1024},
                 {"hipExtModuleLaunchKernel", "1000,2,1", 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        (void)snprintf(
            text, sizeof text,
            "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"Cijk_Ailk_Bljk"
            "_SB_MT64x64x16\",\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":2,\"args\":{"
            "\"device\":0,\"stream\":7,\"correlation\":5,\"grid\":[%s],\"block\":"
            "[256,1,1]}},{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":9,"
            "\"tid\":9,\"ts\":90,\"dur\":3,\"args\":{\"correlation\":5}}]}",
            cases[i].grid, cases[i].call);
        haul_workload *workload = loaded(text);
        assert_int_equal(workload->op_count, 1);
        assert_int_equal(workload->shapes[workload->ops[0].shape].grid[0], cases[i].blocks);
        assert_int_equal(workload->shapes[workload->ops[0].shape].grid[1], 2);
        haul_workload_free(workload);
    }
}

/* As ROCm's profiler once wrote them, without correlation ids; the flow may come before its ends.
 */
static void flows_link_what_ids_do_not(void **state)
{
    (void)state;
#define END(phase, place, us)                                                                      \
    "{\"ph\":\"" phase "\",\"id\":3,\"cat\":\"ac2g\",\"name\":\"ac2g\"," place ",\"ts\":" us "},"
    haul_workload *workload =
        loaded("{\"traceEvents\":[" END("f", "\"pid\":0,\"tid\":7", "100") END(
            "s", "\"pid\":9,\"tid\":9",
            "90") "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"CopyHostToDevice\",\"pid\":0,"
                  "\"tid\":7,\"ts\":100,\"dur\":2,\"args\":{\"device\":0,\"stream\":7,\"bytes\":4}}"
                  ","
                  "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"CopyHostToDevice\",\"pid\":0,"
                  "\"tid\":8,\"ts\":100,\"dur\":2,\"args\":{\"device\":0,\"stream\":8,\"bytes\":4}}"
                  ","
                  "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipMemcpyAsync\",\"pid\":9,"
                  "\"tid\":9,\"ts\":90,\"dur\":3,\"args\":{}}]}");
#undef END
    assert_int_equal(workload->op_count, 2);
    assert_int_equal(workload->counts.calls, 1);
    assert_int_equal(workload->counts.orphans, 1);
    for (size_t i = 0; i < 2; i++) {
        const haul_op *op = &workload->ops[i];
        const bool linked = workload->streams[op->stream].id == 7;
        assert_int_equal(op->flags & HAUL_OP_HAS_CALL, linked ? HAUL_OP_HAS_CALL : 0);
        assert_int_equal(op->call_ns, linked ? 90000 : 0);
    }
    haul_workload_free(workload);
}

/* ROCm's records number the GPUs that the program does not see as well. */
static void one_gpu_is_named_whatever_its_id(void **state)
{
    (void)state;
#define KERNEL(device)                                                                             \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":" device ",\"tid\":7,\"ts\":100,"     \
    "\"dur\":2,\"args\":{\"device\":" device ",\"stream\":7}}"
#define NAMED(id) "{\"id\":" id ",\"name\":\"GPU " id "\",\"numSms\":8}"
    static const struct {
        const char *text;
        const char *name;
        uint64_t notes;
    } cases[] = {
        {"{\"deviceProperties\":[" NAMED("0") "],\"traceEvents\":[" KERNEL("2") "]}", "GPU 0", 1},
        {"{\"deviceProperties\":[" NAMED("2") "],\"traceEvents\":[" KERNEL("2") "]}", "GPU 2", 0},
        {"{\"deviceProperties\":[" NAMED("0") "," NAMED("1") "],\"traceEvents\":[" KERNEL("2") "]}",
         NULL, 0},
        {"{\"deviceProperties\":[" NAMED("0") "],\"traceEvents\":[" KERNEL("2") "," KERNEL(
             "3") "]}",
         NULL, 0}};
#undef NAMED
#undef KERNEL
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        haul_workload *workload = loaded(cases[i].text);
        const haul_workload_device *device = &workload->devices[0];
        assert_int_equal(device->id, 2);
        assert_int_equal(device->multiprocessors, cases[i].name ? 8 : 0);
        if (cases[i].name)
            assert_string_equal(device->name, cases[i].name);
        else
            assert_null(device->name);
        assert_true(!cases[i].notes ||
                    has_note(workload->repairs, workload->repair_count, "another id", 1));
        haul_workload_free(workload);
    }
}

static void old_spellings_are_read(void **state)
{
    (void)state;
    haul_workload *workload = loaded(
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"CopyDeviceToHost\",\"pid\":"
        "1,"
        "\"tid\":2,\"ts\":1,\"dur\":1,\"args\":{\"bytes\":8}},{\"ph\":\"X\",\"cat\":\"Kernel\","
        "\"name\":"
        "\"k\",\"pid\":1,\"tid\":2,\"ts\":3,\"dur\":1,\"args\":{}},{\"ph\":\"X\",\"cat\":"
        "\"Memset\","
        "\"name\":\"Memset\",\"pid\":1,\"tid\":2,\"ts\":5,\"dur\":1,\"args\":{\"bytes\":9}}]}");
    assert_int_equal(workload->op_count, 3);
    assert_int_equal(workload->ops[0].direction, HAUL_DIRECTION_DTOH);
    assert_int_equal(workload->ops[0].detail, HAUL_MEMORY_HOST);
    assert_int_equal(workload->ops[1].kind, HAUL_OP_KERNEL);
    assert_int_equal(workload->ops[2].bytes, 9);
    assert_int_equal(workload->streams[0].id, 2);
    assert_int_equal(workload->devices[0].id, 1);
    haul_workload_free(workload);
}

static void wrong_events_are_repaired(void **state)
{
    (void)state;
    static const char *const times[] = {"\"ts\":1e400,\"dur\":1", "\"dur\":1", "\"ts\":1",
                                        "\"ts\":\"soon\",\"dur\":1", "\"ts\":[1],\"dur\":1"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",%s}]}",
                 times[i]);
        haul_workload *workload = loaded(text);
        assert_int_equal(workload->op_count, 0);
        assert_true(has_note(workload->repairs, workload->repair_count, "without a start", 1));
        haul_workload_free(workload);
    }
    haul_workload *workload = loaded(
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":-3,\"args\":7}]}");
    assert_int_equal(workload->ops[0].dur_ns, 0);
    assert_true(has_note(workload->repairs, workload->repair_count, "duration negative", 1));
    haul_workload_free(workload);
}

#define MEMBERS                                                                                    \
    "\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":2,\"args\":{\"device\":0,\"context\":1,\"stream\":7}"

/* The last of a key that comes twice counts, also where an earlier one says that the event is of no
 * use. One that can be known of use only behind what was skipped is counted. */
static void keys_may_come_twice(void **state)
{
    (void)state;
    static const struct {
        const char *event;
        const char *name; /* of the one kernel, NULL where there is none */
        bool lost;
    } cases[] = {
        {"\"ph\":\"X\",\"cat\":\"zzz\",\"cat\":\"kernel\",\"name\":\"k\"," MEMBERS, "k", false},
        {"\"ph\":\"M\",\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\"," MEMBERS, "k", false},
        {"\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"cat\":\"kernel\",\"ph\":\"X\"," MEMBERS,
         "aten::add", false},
        {"\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\"," MEMBERS ",\"name\":\"j\"", "j", false},
        {"\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\"," MEMBERS ",\"cat\":\"zzz\"", NULL, false},
        {"\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\"," MEMBERS ",\"ph\":\"M\"", NULL, false},
        {"\"ph\":\"X\",\"cat\":\"zzz\",\"name\":\"k\"," MEMBERS ",\"cat\":\"kernel\"", NULL, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"traceEvents\":[{%s}]}", cases[i].event);
        haul_workload *workload = loaded(text);
        assert_int_equal(workload->op_count, cases[i].name != NULL);
        if (cases[i].name)
            assert_string_equal(haul_workload_string(workload, workload->ops[0].name),
                                cases[i].name);
        assert_int_equal(has_note(workload->repairs, workload->repair_count, "comes twice", 1),
                         cases[i].lost);
        haul_workload_free(workload);
    }
}

static void metadata_alone_is_an_empty_profile(void **state)
{
    (void)state;
    haul_workload *workload =
        loaded("{\"schemaVersion\":1,\"traceEvents\":[{\"name\":\"process_name\","
               "\"ph\":\"M\",\"ts\":0,\"pid\":1,\"args\":{\"name\":\"python\"}}]}");
    assert_int_equal(workload->op_count, 0);
    assert_string_equal(workload->format, "kineto 1");
    haul_workload_free(workload);
}

static void overlaps_are_counted(void **state)
{
    (void)state;
    haul_workload *workload = loaded(
        "[{\"ph\":\"X\",\"cat\":\"kernel\",\"tid\":7,\"ts\":1,\"dur\":10},{\"ph\":\"X\",\"cat\":"
        "\"kernel\",\"tid\":7,\"ts\":5,\"dur\":10},{\"ph\":\"X\",\"cat\":\"kernel\",\"tid\":8,"
        "\"ts\":5,\"dur\":10}]");
    assert_int_equal(workload->op_count, 3);
    assert_true(has_note(workload->repairs, workload->repair_count, "overlap", 1));
    haul_workload_free(workload);
}

/* A program that names each step anew: the table of ranges has 10,000 names and a row of the rest.
 */
static void names_beyond_a_table_are_one_row(void **state)
{
    (void)state;
    enum { NAMES = 12000, EVENT = 120 };
    char *text = malloc((size_t)NAMES * EVENT + 100);
    assert_non_null(text);
    size_t length = (size_t)sprintf(
        text, "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
              "\"tid\":7,\"ts\":5,\"dur\":2}");
    for (int i = 0; i < NAMES; i++)
        length += (size_t)snprintf(text + length, EVENT,
                                   ",{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"%d\","
                                   "\"pid\":9,\"tid\":9,\"ts\":%d,\"dur\":2}",
                                   i, 10 * i);
    memcpy(text + length, "]}", sizeof "]}");
    haul_workload *workload = loaded(text);
    free(text);
    haul_analysis *analysis = NULL;
    assert_int_equal(haul_analysis_make(workload, &analysis, NULL), HAUL_OK);
    haul_report *report = haul_report_analysis(workload, analysis);
    const haul_report_options options = {.format = HAUL_FORMAT_JSON};
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    assert_int_equal(haul_report_write(report, &options, out, NULL), HAUL_OK);
    fclose(out);
    const char *rest = strstr(written, "(2000 other names)");
    assert_non_null(rest);
    assert_non_null(strstr(rest, "\"count\": 2000"));
    assert_non_null(strstr(rest, "\"time_s\": 0.004"));
    free(written);
    haul_report_free(report);
    haul_analysis_free(analysis);
    haul_workload_free(workload);
}

static void bad_documents_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } wrong[] = {
        {"{\"traceEvents\":[" COPY(",\"bytes\":4096") ",",
         "cut short: expected a value at byte 184"},
        {"{\"traceEvents\":["
         "{\"ph\":\"X\",\"ts\":12",
         "cut short: expected ',' or '}'"},
        {"{\"traceEvents\":{}}", "expected an array at byte 15"},
        {"{\"traceEvents\":[1]}", "expected an object at byte 16"},
        {"[1, 2]", "expected an object at byte 1"},
        {"{\"otherData\":{}}", "without traceEvents"},
        {"{\"traceEvents\":[]} x", "something behind the document at byte 19"},
        {"{\"traceEvents\":[{\"name\":\"\xFF\"}]}", "invalid UTF-8 at byte 25"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        haul_workload *workload;
        haul_error error;
        assert_int_equal(load(wrong[i].text, strlen(wrong[i].text), &workload, &error),
                         HAUL_STATUS_BAD_INPUT);
        if (!strstr(error.text, wrong[i].says))
            fail_msg("case %zu: %s", i, error.text);
    }
    char *deep = malloc(100000 + 32);
    assert_non_null(deep);
    const int head = sprintf(deep, "{\"traceEvents\":[");
    memset(deep + head, '[', 100000);
    haul_workload *workload;
    haul_error error;
    assert_int_equal(load(deep, 100000, &workload, &error), HAUL_STATUS_BAD_INPUT);
    free(deep);
}

static void damaged_gzip_is_refused(void **state)
{
    (void)state;
    unsigned char text[] = "{\"traceEvents\":[" COPY(",\"bytes\":4096") "," CALL "]}";
    unsigned char packed[1024];
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    stream.next_in = text;
    stream.avail_in = sizeof text - 1;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t size = sizeof packed - stream.avail_out;
    deflateEnd(&stream);
    haul_workload *workload;
    haul_error error;
    assert_int_equal(load((char *)packed, size, &workload, &error), HAUL_OK);
    assert_int_equal(workload->op_count, 1);
    haul_workload_free(workload);
    for (size_t kept = 20; kept < size; kept += 7) {
        assert_int_equal(load((char *)packed, kept, &workload, &error), HAUL_STATUS_IO);
        assert_non_null(strstr(error.text, "gzip data cut short at byte"));
    }
    packed[size / 2] ^= 0x55;
    assert_int_not_equal(load((char *)packed, size, &workload, &error), HAUL_OK);
}

#define OPERATOR(name, start, sizes, types)                                                        \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::" name                                      \
    "\",\"pid\":9,\"tid\":9,\"ts\":" start ",\"dur\":50,\"args\":{\"Input Dims\":" sizes           \
    ",\"Input type\":" types ",\"Input Strides\":[[1],[64,1],[1,64]]}}"
#define LAUNCH(id, start)                                                                          \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,"    \
    "\"ts\":" start ",\"dur\":3,\"args\":{\"correlation\":" id "}}"
#define KERNEL(id, name)                                                                           \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":1" id       \
    "00,\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":" id                         \
    ",\"grid\":[8,1,1],\"block\":[256,1,1]}}"

/* The operands of the kernel with the number, or zero. */
static haul_operands operands_of(const haul_workload *workload, size_t op)
{
    const uint32_t shape = workload->ops[op].shape;
    const uint32_t of = shape != HAUL_NONE ? workload->shapes[shape].operands : 0;
    assert_true(of <= workload->operand_count);
    return of ? workload->operands[of - 1] : (haul_operands){0};
}

/* A kernel is told the sizes of the operator during which it was launched; two of one name have
 * split its work, and are told nothing. */
static void sizes_of_operators_go_to_their_kernels(void **state)
{
    (void)state;
    haul_workload *workload = loaded(
        "{\"traceEvents\":[" OPERATOR("addmm", "100", "[[33],[5,64],[64,33]]", "[\"c10::Half\",\"c10::Half\",\"c10::Half\"]") "," LAUNCH("1", "110") "," LAUNCH("2", "160") "," OPERATOR(
            "_softmax", "200", "[[16,10],[],[]]",
            "[\"float\",\"\",\"\"]") "," LAUNCH("3",
                                                "210") "," OPERATOR("mm", "300",
                                                                    "[[4,8],[8,"
                                                                    "4]]",
                                                                    "[\"float\""
                                                                    ",\"float\""
                                                                    "]") "," LAUNCH("4",
                                                                                    "310") "," LAUNCH("5",
                                                                                                      "320") "," KERNEL("1",
                                                                                                                        "gemm") "," KERNEL("2",
                                                                                                                                           "other") "," KERNEL("3",
                                                                                                                                                               "softmax") "," KERNEL("4",
                                                                                                                                                                                     "gemm") "," KERNEL("5",
                                                                                                                                                                                                        "gemm") "]}");
    assert_int_equal(workload->op_count, 5);
    const haul_operands product = operands_of(workload, 0), rows = operands_of(workload, 2);
    assert_int_equal(product.batch, 1);
    assert_int_equal(product.rows, 5);
    assert_int_equal(product.inner, 64);
    assert_int_equal(product.columns, 33);
    assert_int_equal(product.bytes, 2 * (5 * 64 + 64 * 33 + 5 * 33));
    assert_int_equal(product.alignment, 2); /* rows of the result are 33 elements of 2 bytes */
    assert_int_equal(operands_of(workload, 1).bytes, 0);
    assert_int_equal(rows.batch, 0);
    assert_int_equal(rows.bytes, 2 * 16 * 10 * 4);
    assert_int_equal(operands_of(workload, 3).bytes, 0);
    assert_int_equal(operands_of(workload, 4).bytes, 0);
    haul_workload_free(workload);
}

/* Products that linear layers become: in FP8 and integers, and with an activation fused to them. */
static void products_of_other_operators_have_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t element;
    } cases[] = {
        {"{\"traceEvents\":[" OPERATOR("_scaled_mm", "100", "[[5,64],[64,32],[],[]]",
                                       "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\",\"float\","
                                       "\"float\"]") "," LAUNCH("1", "110") "," KERNEL("1",
                                                                                       "gemm") "]}",
         1},
        {"{\"traceEvents\":[" OPERATOR(
             "_int_mm", "100", "[[5,64],[64,32]]",
             "[\"signed char\",\"signed char\"]") "," LAUNCH("1", "110") "," KERNEL("1",
                                                                                    "gemm") "]}",
         1},
        {"{\"traceEvents\":[" OPERATOR(
             "_addmm_activation", "100", "[[32],[5,64],[64,32]]",
             "[\"c10::Half\",\"c10::Half\",\"c10::Half\"]") "," LAUNCH("1",
                                                                       "110") "," KERNEL("1",
                                                                                         "gemm") "]"
                                                                                                 "}",
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        haul_workload *workload = loaded(cases[i].text);
        const haul_operands product = operands_of(workload, 0);
        assert_int_equal(product.batch, 1);
        assert_int_equal(product.rows, 5);
        assert_int_equal(product.inner, 64);
        assert_int_equal(product.columns, 32);
        assert_int_equal(product.bytes, cases[i].element * (5 * 64 + 64 * 32 + 5 * 32));
        haul_workload_free(workload);
    }
}

/* A kernel launched in an operator of these sizes, types and values. */
static haul_operands operands_within(const char *name, const char *sizes, const char *types,
                                     const char *values)
{
    char text[4096];
    (void)snprintf(
        text, sizeof text,
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::%s\","
        "\"pid\":9,\"tid\":9,\"ts\":100,\"dur\":50,\"args\":{\"Concrete Inputs\":%s,"
        "\"Input Dims\":%s,\"Input type\":%s}}," LAUNCH("1", "110") "," KERNEL("1", "k") "]}",
        name, values, sizes, types);
    haul_workload *workload = loaded(text);
    assert_int_equal(workload->op_count, 1);
    const haul_operands of = operands_of(workload, 0);
    haul_workload_free(workload);
    return of;
}

typedef struct operand_sizes {
    int batch;
    int rows;
    int columns;
    int inner;
    int bytes;
} operand_sizes;

static void check_operands(haul_operands of, operand_sizes expected)
{
    assert_int_equal(of.batch, expected.batch);
    assert_int_equal(of.rows, expected.rows);
    assert_int_equal(of.columns, expected.columns);
    assert_int_equal(of.inner, expected.inner);
    assert_int_equal(of.bytes, expected.bytes);
}

/* Places of the result by PyTorch's formula for Conv2d, flops by the product that it is. */
static void convolutions_have_sizes(void **state)
{
    (void)state;
    static const char half[] = "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"\"]";
    /* patches of 14 x 14 of a picture, in H100's trace of a vision transformer */
    check_operands(
        operands_within("cudnn_convolution", "[[1,3,1008,1008],[1024,3,14,14],[],[],[],[],[]]",
                        half, "[\"\",\"\",\"[0, 0]\",\"[14, 14]\",\"[1, 1]\",\"1\",\"False\"]"),
        (operand_sizes){1, 72 * 72, 1024, 3 * 14 * 14,
                        2 * (3 * 1008 * 1008 + 1024 * 588 + 72 * 72 * 1024)});
    /* two groups, a stride along one side alone, a dilation: 7 x 4 places */
    check_operands(operands_within("miopen_convolution", "[[5,8,7,9],[6,4,3,3],[6],[],[],[]]", half,
                                   "[\"\",\"\",\"\",\"[1, 1]\",\"[1, 2]\",\"[1, 2]\",\"2\"]"),
                   (operand_sizes){2, 5 * 7 * 4, 3, 4 * 9, 2 * (5 * 8 * 63 + 6 * 36 + 5 * 6 * 28)});
    check_operands(
        operands_within("convolution_backward",
                        "[[5,6,7,4],[5,8,7,9],[6,4,3,3],[],[],[],[],[],[],[]]", half,
                        "[\"\",\"\",\"\",\"[6]\",\"[1, 2]\",\"[1, 1]\",\"[1, 2]\",\"False\"]"),
        (operand_sizes){2, 5 * 7 * 4, 3, 4 * 9, 2 * (5 * 8 * 63 + 6 * 36 + 5 * 6 * 28)});
    /* a transposed one, strides that nobody tells, a filter larger than the picture, channels that
     * do not fit: nothing */
    static const char *const none[][2] = {
        {"[[1,3,8,8],[4,3,3,3]]", "[\"\",\"\",\"[0, 0]\"]"},
        {"[[1,3,8,8],[4,3,3,3]]", "7"},
        {"[[1,3,8,8],[4,3,3,3]]", "[\"\",\"\",\"[0, 0]\",\"[0, 0]\",\"[1, 1]\"]"},
        {"[[1,3,8,8],[4,3,3,3]]", "[\"\",\"\",\"[-1, 0]\",\"[1, 1]\",\"[1, 1]\"]"},
        {"[[1,3,8,8],[4,3,9,9]]", "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[1, 1]\"]"},
        {"[[1,3,8,8],[4,2,3,3]]", "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[1, 1]\"]"},
        {"[[1,3,8,8],[4,0,3,3]]", "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[1, 1]\"]"},
        {"[[1,3,8,8],[4,3,3]]", "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[1, 1]\"]"},
        {"[[1,4,8,9223372036854775807],[5,2,3,3]]", "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[1, 1]\"]"},
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check_operands(operands_within("cudnn_convolution", none[i][0], half, none[i][1]),
                       (operand_sizes){0});
    check_operands(operands_within("convolution_backward", "[[5,4,9,9],[5,4,7,7],[4,4,3,3],[]]",
                                   half,
                                   "[\"\",\"\",\"\",\"[4]\",\"[1]\",\"[1]\",\"[1]\",\"True\"]"),
                   (operand_sizes){0});
}

/* FlashAttention's operators have tokens before heads, cuDNN's behind; half of the keys where
 * tokens see those before them alone; heads that share keys; gradients. */
static void attention_has_sizes(void **state)
{
    (void)state;
    static const char half[] = "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\","
                               "\"c10::BFloat16\"]";
    check_operands(
        operands_within("_flash_attention_forward",
                        "[[2,100,8,64],[2,120,2,64],[2,120,2,64],[],[],[],[],[],[]]", half,
                        "[\"\",\"\",\"\",\"\",\"\",\"100\",\"120\",\"0.\",\"False\"]"),
        (operand_sizes){16, 100, 120, 128, 2 * (2 * 2 * 100 * 8 * 64 + 2 * 2 * 120 * 2 * 64)});
    check_operands(operands_within("_scaled_dot_product_cudnn_attention",
                                   "[[2,8,100,64],[2,8,100,64],[2,8,100,32],[],[],[],[]]", half,
                                   "[\"\",\"\",\"\",\"\",\"False\",\"0.\",\"True\"]"),
                   (operand_sizes){16, 100, 50, 96, 2 * 2 * 2 * 800 * 96});
    check_operands(
        operands_within("_flash_attention_backward",
                        "[[2,100,8,64],[2,100,8,64],[2,100,8,64],[2,100,8,64]]", half,
                        "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"100\",\"100\",\"0.\","
                        "\"False\"]"),
        (operand_sizes){16, 100, 100, 320, 2 * 8 * 2 * 100 * 8 * 64});
    static const char *const none[] = {
        "[[200,8,64],[240,2,64],[240,2,64]]",
        "[[2,100,8,64],[2,120,8,32],[2,120,8,64]]",
        "[[2,100,8,64],[3,120,8,64],[3,120,8,64]]",
        "[[2,100,8,0],[2,120,8,0],[2,120,8,64]]",
        "[[2,100,8,9223372036854775807],[2,120,8,9223372036854775807],[2,120,8,64]]",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check_operands(operands_within("_flash_attention_forward", none[i], half, "[]"),
                       (operand_sizes){0});
}

/* The innermost operator in which an operation was called names it; a call beyond all has none. */
static void operators_name_what_they_called(void **state)
{
    (void)state;
    haul_workload *workload =
        loaded("{\"traceEvents\":["
               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::linear\",\"pid\":9,\"tid\":9,"
               "\"ts\":100,\"dur\":50,\"args\":{\"Sequence number\":5}},"
               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::t\",\"pid\":9,\"tid\":9,"
               "\"ts\":105,\"dur\":5}," LAUNCH("1", "106") "," LAUNCH("2", "120") "," LAUNCH(
                   "3", "190") "," KERNEL("1", "a") "," KERNEL("2", "b") "," KERNEL("3", "c") "]}");
    assert_int_equal(workload->op_count, 3);
    assert_string_equal(haul_workload_string(workload, haul_op_operator(workload, 0)), "aten::t");
    assert_string_equal(haul_workload_string(workload, haul_op_operator(workload, 1)),
                        "aten::linear");
    assert_int_equal(haul_op_operator(workload, 2), HAUL_NONE);
    uint64_t orphaned;
    haul_workload *part = NULL;
    haul_error error;
    assert_int_equal(haul_trace_cut(workload, 0, 1000000000, &orphaned, &part, &error), HAUL_OK);
    for (size_t i = 0; i < part->op_count; i++)
        assert_string_equal(haul_workload_string(part, haul_op_operator(part, i)),
                            haul_workload_string(workload, haul_op_operator(workload, i)));
    haul_workload_free(part);
    haul_workload_free(workload);
}

/* Sizes that make no product, of any kind, are no sizes. */
static void sizes_that_do_not_fit_tell_nothing(void **state)
{
    (void)state;
    static const char *const sizes[] = {
        "[[4,8],[9,4]]",
        "[[4,8]]",
        "[]",
        "7",
        "[[4,8],[8,-4]]",
        "[[4,0],[0,4]]",
        "[[1,2,3,4,5],[1,2,3,4,5]]",
        "[[9223372036854775807,8],[8,9223372036854775807]]",
        "[[4294967296,4294967296],[4294967296,4294967296]]",
        "[[99999999999999999999999,8],[8,4]]",
        "[[\"4\",8],[8,4]]",
        "[[[4,8],[8,4]],[[8,4]]]",
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[2048];
        (void)snprintf(text, sizeof text,
                       "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\","
                       "\"pid\":9,\"tid\":9,\"ts\":100,\"dur\":50,\"args\":{\"Input Dims\":%s,"
                       "\"Input type\":[\"float\",\"float\"]}}," LAUNCH("1", "110") "," KERNEL(
                           "1", "gemm") "]}",
                       sizes[i]);
        haul_workload *workload = loaded(text);
        assert_int_equal(workload->op_count, 1);
        assert_int_equal(operands_of(workload, 0).bytes, 0);
        haul_workload_free(workload);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_operators_go_to_their_kernels),
        cmocka_unit_test(products_of_other_operators_have_sizes),
        cmocka_unit_test(convolutions_have_sizes),
        cmocka_unit_test(attention_has_sizes),
        cmocka_unit_test(sizes_that_do_not_fit_tell_nothing),
        cmocka_unit_test(operators_name_what_they_called),
        cmocka_unit_test(shapes_of_documents_are_read),
        cmocka_unit_test(calls_of_any_order_and_size_are_joined),
        cmocka_unit_test(bytes_may_be_unknown),
        cmocka_unit_test(grids_of_work_items_are_counted_in_blocks),
        cmocka_unit_test(flows_link_what_ids_do_not),
        cmocka_unit_test(one_gpu_is_named_whatever_its_id),
        cmocka_unit_test(old_spellings_are_read),
        cmocka_unit_test(wrong_events_are_repaired),
        cmocka_unit_test(keys_may_come_twice),
        cmocka_unit_test(metadata_alone_is_an_empty_profile),
        cmocka_unit_test(overlaps_are_counted),
        cmocka_unit_test(names_beyond_a_table_are_one_row),
        cmocka_unit_test(bad_documents_are_refused),
        cmocka_unit_test(damaged_gzip_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
