/* Source lines that called for operations: whose frames count, and where profiles tell of them. */
#include "nsys_tables.h"

#include <stdlib.h>
#include <unistd.h>

#include "haul/analysis.h"
#include "trace/frames.h"

static void frames_of_python_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *frame, *line;
    } cases[] = {
        {"train.py(42): step", "train.py:42 in step"},
        {"/home/u/train.py(42): <module>", "/home/u/train.py:42 in <module>"},
        {"transformers/models/owlv2/modeling_owlv2.py(407): _shape",
         "transformers/models/owlv2/modeling_owlv2.py:407 in _shape"},
        {"/opt/conda/lib/python3.10/site-packages/transformers/trainer.py(9): f",
         "/opt/conda/lib/python3.10/site-packages/transformers/trainer.py:9 in f"},
        {"<ipython-input-3-1f>(5): step", "<ipython-input-3-1f>:5 in step"},
        {"a (1)/b.py(7): f", "a (1)/b.py:7 in f"},
        {"threading_tools.py(3): f", "threading_tools.py:3 in f"},
        {"torch_tools/x.py(3): f", "torch_tools/x.py:3 in f"},
        {"torch/nn/modules/linear.py(124): forward", ""},
        {"/opt/conda/lib/python3.10/site-packages/torch/nn/functional.py(9): f", ""},
        {"/usr/lib/python3.10/statistics.py(9): mean", ""},
        {"threading.py(1032): _bootstrap", ""},
        {"concurrent/futures/thread.py(58): run", ""},
        {"<frozen runpy>(88): _run_code", ""},
        {"<string>(2): __init__", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hl_trace_stack stack;
        hl_trace_stack_begin(&stack);
        assert_true(hl_trace_stack_add_python(&stack, cases[i].frame, strlen(cases[i].frame)));
        assert_string_equal(stack.text, cases[i].line);
    }
    hl_trace_stack stack;
    hl_trace_stack_begin(&stack);
    assert_false(hl_trace_stack_add_python(&stack, "nn.Module: Linear_0", 19));
    assert_false(hl_trace_stack_add_python(&stack, "f(): g", 6));
    assert_false(hl_trace_stack_add_python(&stack, "", 0));
}

static void functions_of_libraries_are_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *function, *module, *line;
    } cases[] = {
        {"step(float*)", "/home/u/libmodel.so", "step(float*) (libmodel.so)"},
        {"cudaq_step", "/home/u/app", "cudaq_step (app)"},
        {"load.py:3 in load", "", "load.py:3 in load"},
        {"load", "/home/u/load.py", "/home/u/load.py in load"},
        {"0x7f72b45f088f", "/home/u/app", ""},
        {"0x7f72b45f088f", "", ""},
        {"cudaMemcpyAsync", "/home/u/app", ""},
        {"cuMemcpyHtoDAsync_v2", "/usr/lib64/libcuda.so.525.105.17", ""},
        {"__cudart516", "/home/u/app", ""},
        {"__device_stub__Z4stepPf", "/home/u/app", ""},
        {"at::native::copy_", "/usr/lib/python3/dist-packages/torch/lib/libtorch_cpu.so", ""},
        {"_PyEval_EvalFrameDefault", "/usr/bin/python3.10", ""},
        {"__libc_start_main", "/lib64/libc-2.31.so", ""},
        {"forward", "/opt/site-packages/torch/nn/modules/linear.py", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hl_trace_stack stack;
        hl_trace_stack_begin(&stack);
        hl_trace_stack_add_function(&stack, cases[i].function, cases[i].module);
        assert_string_equal(stack.text, cases[i].line);
    }
}

/* A recursion ends the stack, and the line stays. */
static void deep_stacks_are_cut(void **state)
{
    (void)state;
    hl_trace_stack stack;
    hl_trace_stack_begin(&stack);
    char longest[2 * HL_TRACE_STACK_BYTES];
    for (int i = 0; i < 100; i++)
        assert_true(hl_trace_stack_add_python(&stack, "a.py(1): f", 10));
    assert_int_equal(stack.frames, HL_TRACE_STACK_FRAMES);
    assert_int_equal(stack.line_length, strlen("a.py:1 in f"));
    memset(longest, 'x', sizeof longest);
    hl_trace_stack_begin(&stack);
    hl_trace_stack_add(&stack, longest, sizeof longest);
    assert_int_equal(stack.length, HL_TRACE_STACK_BYTES - 1);
    hl_trace_stack_add(&stack, "a", 1);
    assert_int_equal(stack.frames, 1);
}

static haul_workload *read_json(const char *text)
{
    char path[] = "/tmp/haul-lines-XXXXXX";
    haul_workload *workload = NULL;
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    assert_int_equal(haul_trace_load(path, &workload, NULL), HAUL_OK);
    workload_check(workload);
    remove(path);
    return workload;
}

/* Both forms of a written profile hold the lines. */
static void check_written(const haul_workload *workload)
{
    for (int json = 0; json < 2; json++) {
        char path[] = "/tmp/haul-lines-XXXXXX", lost[600];
        const int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        FILE *const out = fdopen(descriptor, "w");
        assert_int_equal(json ? haul_trace_write_json(workload, out, NULL)
                              : haul_trace_write_sqlite(workload, path, NULL),
                         HAUL_OK);
        fclose(out);
        assert_int_equal(haul_trace_written_check(workload, path, lost, sizeof lost, NULL),
                         HAUL_OK);
        assert_string_equal(lost, "");
        remove(path);
    }
}

static void check_lines(const haul_workload *workload, const char *const expected[][2])
{
    for (size_t i = 0; i < workload->op_count; i++) {
        assert_string_equal(haul_workload_string(workload, haul_op_line(workload, i)),
                            expected[i][0]);
        assert_string_equal(haul_workload_string(workload, haul_op_stack(workload, i)),
                            expected[i][1]);
    }
}

#define EVENT(cat, name, tid, ts, dur, more)                                                       \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":9,\"tid\":" tid ",\"ts\":" ts \
    ",\"dur\":" dur ",\"args\":{" more "}}"
#define FRAME(name, ts, dur) EVENT("python_function", name, "9", ts, dur, "\"Python id\":1")
#define CALL(id, tid, ts)                                                                          \
    EVENT("cuda_runtime", "cudaMemcpyAsync", tid, ts, "3", "\"correlation\":" id)
#define COPY(id)                                                                                   \
    EVENT("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "7", "1" id "00", "2",                   \
          "\"device\":0,\"stream\":7,\"bytes\":4096,\"correlation\":" id)

/* The innermost frame of the program's own around each call, and those around that. */
static void functions_of_python_make_stacks(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"train.py:42 in step", "train.py:42 in step <- train.py:80 in main"},
        {"data.py:7 in load", "data.py:7 in load <- train.py:80 in main"},
        {"train.py:80 in main", "train.py:80 in main"},
        {"", ""}, /* behind them all */
        {"", ""}, /* on another thread */
    };
    haul_workload *const workload = read_json(
        "{\"traceEvents\":[" COPY("1") "," COPY("2") "," COPY("3") "," COPY("4") "," COPY("5") "," CALL("1", "9", "30") "," CALL("2", "9", "70") "," CALL(
            "3", "9",
            "90") "," CALL("4", "9",
                           "190") "," CALL("5", "8",
                                           "30") "," FRAME("torch/nn/modules/module.py(1743): "
                                                           "_call_impl",
                                                           "25",
                                                           "20") "," FRAME("train.py(42): step",
                                                                           "20",
                                                                           "30") "," FRAME("<built-"
                                                                                           "in "
                                                                                           "method "
                                                                                           "to>",
                                                                                           "28",
                                                                                           "9") "," FRAME("nn.Module: Linear_0",
                                                                                                          "26",
                                                                                                          "18") "," FRAME("data.py(7): load",
                                                                                                                          "60",
                                                                                                                          "20") "," FRAME("threading.py(9): run",
                                                                                                                                          "5",
                                                                                                                                          "110") "," FRAME("train.py(80): main",
                                                                                                                                                           "10",
                                                                                                                                                           "100") "]}");
    assert_int_equal(workload->op_count, 5);
    check_lines(workload, expected);
    check_written(workload);
    haul_work_group *groups = NULL;
    size_t count = 0;
    assert_int_equal(haul_work_groups(workload, HAUL_GROUP_BY_LINE, &groups, &count, NULL),
                     HAUL_OK);
    assert_int_equal(count, 4);
    free(groups);
    uint64_t orphaned;
    haul_workload *part = NULL;
    assert_int_equal(haul_trace_cut(workload, 0, 1000000000, &orphaned, &part, NULL), HAUL_OK);
    check_lines(part, expected);
    haul_workload_free(part);
    haul_workload_free(workload);
}

#define LINK(phase, id, tid, ts)                                                                   \
    "{\"ph\":\"" phase "\",\"id\":" id ",\"pid\":9,\"tid\":" tid ",\"ts\":" ts                     \
    ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"bp\":\"e\"}"

/* The engine's thread runs no line of the program: a gradient's work has the forward operator's. */
static void gradients_have_the_forward_line(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"model.py:42 in forward", "model.py:42 in forward <- train.py:80 in main"},
        {"model.py:42 in forward (backward)",
         "model.py:42 in forward (backward) <- train.py:80 in main"},
        {"", ""}, /* between operators */
        {"", ""}, /* whose forward operator is not in the file */
        {"own.py:5 in backward", "own.py:5 in backward"}, /* of a function of its own */
    };
    static const char *const parts[] = {
        CALL("1", "9", "30"),
        CALL("2", "8", "130"),
        CALL("3", "8", "145"),
        CALL("4", "8", "155"),
        CALL("5", "8", "175"),
        FRAME("train.py(80): main", "10", "190"),
        FRAME("model.py(42): forward", "20", "30"),
        EVENT("python_function", "own.py(5): backward", "8", "172", "6", "\"Python id\":2"),
        EVENT("cpu_op", "aten::mm", "9", "25", "10", ""),
        EVENT("cpu_op", "MmBackward0", "8", "125", "15", ""),
        EVENT("cpu_op", "AddBackward0", "8", "150", "15", ""),
        EVENT("cpu_op", "OwnBackward", "8", "170", "15", ""),
        LINK("f", "7", "8", "125"),
        LINK("s", "7", "9", "25"),
        LINK("f", "8", "8", "150"),
        LINK("s", "9", "9", "60"),
        LINK("f", "9", "8", "170"),
        LINK("s", "10", "99", "1"),
        COPY("1"),
        COPY("2"),
        COPY("3"),
        COPY("4"),
        COPY("5")};
    char text[8192] = "{\"traceEvents\":[";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        strcat(text, i ? "," : "");
        strcat(text, parts[i]);
    }
    haul_workload *const workload = read_json(strcat(text, "]}"));
    assert_int_equal(workload->op_count, 5);
    check_lines(workload, expected);
    check_written(workload);
    haul_workload_free(workload);
}

/* PyTorch 1.8 to 1.10 wrote the stack with each operator, the empty ones of C++ too. */
static void operators_may_have_stacks(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"train.py:42 in step", "train.py:42 in step <- train.py:80 in main"},
        {"", ""},
    };
    haul_workload *const workload =
        read_json("{\"traceEvents\":[" COPY("1") "," COPY("2") "," CALL("1", "9", "30") "," CALL(
            "2", "9",
            "70") "," EVENT("cpu_op", "aten::copy_", "9", "20", "30",
                            "\"Input Dims\":[[]],\"Call stack\":"
                            "\"torch/tensor.py(3): to;<built-in function copy_>;train.py(42): step;"
                            " train.py(80): main\"") "," EVENT("cpu_op", "aten::zero_", "9", "60",
                                                               "30", "\"Call stack\":\"\"") "]}");
    check_lines(workload, expected);
    check_written(workload);
    haul_workload_free(workload);
}

/* Rows of a stack may come in any order; what is not its own stays out, and stack 0 is none. */
static void nsight_systems_records_stacks(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"load(float*) (libdata.so)", "load(float*) (libdata.so) <- main (app)"},
        {"main (app)", "main (app)"},
        {"", ""},
        {"", ""},
    };
    haul_workload *const workload = profile_load(
        STRINGS MEMCPY
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid "
        "INT, correlationId INT, nameId INT, callchainId INT);"
        "CREATE TABLE CUDA_CALLCHAINS(id INT, symbol INT, module INT, unresolved INT, stackDepth "
        "INT);"
        "INSERT INTO StringIds VALUES(1, 'main'), (2, '/home/u/app'), (3, 'load(float*)'), (4, "
        "'/home/u/libdata.so'), (5, 'cudaMemcpyAsync'), (6, '/usr/lib/libcudart.so.12');"
        "INSERT INTO CUDA_CALLCHAINS VALUES(7, 1, 2, NULL, 2), (7, 5, 6, NULL, 0), (7, 3, 4, NULL, "
        "1), (8, 1, 2, NULL, 0), (9, 5, 6, NULL, 0), (9, 99, 98, 1, 1), (9, NULL, 'x', 1, 4000);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        "(100, 110, 0, 1, 7, 1, " PID ", 64, 1, 1, 2, NULL, NULL),"
        "(200, 210, 0, 1, 7, 2, " PID ", 64, 1, 1, 2, NULL, NULL),"
        "(300, 310, 0, 1, 7, 3, " PID ", 64, 1, 1, 2, NULL, NULL),"
        "(400, 410, 0, 1, 7, 4, " PID ", 64, 1, 1, 2, NULL, NULL);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(90, 95, 0, " PID
        ", 1, 5, 7), (190, 190, 0, " PID ", 2, 5, 8), (290, 295, 0, " PID
        ", 3, 5, 9), (390, 395, 0, " PID ", 4, 5, 0);");
    assert_int_equal(workload->op_count, 4);
    check_lines(workload, expected);
    check_written(workload);
    haul_workload_free(workload);
}

/* Nothing is kept for profiles without stacks. */
static void other_profiles_have_no_lines(void **state)
{
    (void)state;
    haul_workload *const workload =
        read_json("{\"traceEvents\":[" COPY("1") "," CALL("1", "9", "30") "]}");
    assert_null(workload->lines);
    assert_null(workload->stacks);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_python_are_told_apart),
        cmocka_unit_test(functions_of_libraries_are_passed_over),
        cmocka_unit_test(deep_stacks_are_cut),
        cmocka_unit_test(functions_of_python_make_stacks),
        cmocka_unit_test(gradients_have_the_forward_line),
        cmocka_unit_test(operators_may_have_stacks),
        cmocka_unit_test(nsight_systems_records_stacks),
        cmocka_unit_test(other_profiles_have_no_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
