/* haul record on a program that knows what it moves (tests/tools/cl_program), and its profile. */
#include "record_program.h"

typedef enum kind {
    IN_PAGEABLE,
    IN_PINNED,
    OUT_PAGEABLE,
    OUT_PINNED,
    WITHIN,
    SET,
    KERNEL,
    KINDS
} kind;

typedef struct sums {
    struct {
        unsigned long long count, bytes, ns;
    } of[KINDS];
} sums;

static sums parse(void)
{
    static const char *const names[KINDS] = {"HtoD pageable", "HtoD pinned", "DtoH pageable",
                                             "DtoH pinned",   "DtoD device", "memset",
                                             "kernel"};
    sums all = {0};
    for (int i = 0; i < KINDS; i++) {
        char start[32];
        snprintf(start, sizeof start, "%s: ", names[i]);
        const char *at = strstr(printed, start);
        if (!at)
            fail_msg("no '%s' in: %s", start, printed);
        else
            assert_int_equal(sscanf(at + strlen(start), "%llu %llu %llu", &all.of[i].count,
                                    &all.of[i].bytes, &all.of[i].ns),
                             3);
    }
    return all;
}

static kind kind_of(const haul_op *op)
{
    if (op->kind == HAUL_OP_KERNEL)
        return KERNEL;
    if (op->kind == HAUL_OP_MEMSET)
        return SET;
    if (op->direction == HAUL_DIRECTION_DTOD)
        return WITHIN;
    const bool pinned = op->detail == HAUL_MEMORY_PINNED;
    if (op->direction == HAUL_DIRECTION_HTOD)
        return pinned ? IN_PINNED : IN_PAGEABLE;
    return pinned ? OUT_PINNED : OUT_PAGEABLE;
}

static sums add_up(const haul_workload *workload)
{
    sums all = {0};
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op))
            continue;
        const kind of = kind_of(op);
        all.of[of].count++;
        all.of[of].bytes += of == KERNEL ? 0 : op->bytes;
        all.of[of].ns += (unsigned long long)op->dur_ns;
    }
    return all;
}

/* Counts and bytes exact; times within 5 % of the program's own events. */
static void check_sums(void)
{
    haul_workload *workload = load();
    const sums expected = parse(), found = add_up(workload);
    for (int i = 0; i < KINDS; i++) {
        assert_int_equal(found.of[i].count, expected.of[i].count);
        assert_int_equal(found.of[i].bytes, expected.of[i].bytes);
        CHECK_NEAR(found.of[i].ns, expected.of[i].ns, 0.05);
    }
    assert_int_equal(workload->counts.orphans, 0);
    for (size_t i = 0; i < workload->repair_count; i++)
        print_message("%s\n%s", workload->repairs[i].text, said);
    assert_int_equal(workload->repair_count, 0);
    haul_workload_free(workload);
}

static void what_is_moved_is_recorded(void **state)
{
    (void)state;
    assert_int_equal(record("", "moves 20"), 0);
    check_sums();
    assert_non_null(strstr(said, "next: haul analyze"));
    assert_null(strstr(said, "dropped"));
}

static void threads_with_a_queue_each(void **state)
{
    (void)state;
    assert_int_equal(record("", "threads 20"), 0);
    check_sums();
    haul_workload *workload = load();
    assert_int_equal(workload->stream_count, 8);
    assert_true(workload->thread_count >= 8);
    haul_workload_free(workload);
}

static void threads_on_one_queue(void **state)
{
    (void)state;
    assert_int_equal(record("", "shared 20"), 0);
    check_sums();
    haul_workload *workload = load();
    assert_int_equal(workload->stream_count, 1);
    haul_workload_free(workload);
}

/* The operation that an edge leads to from `before`, of those that a device runs. */
static const haul_op *next_of(const haul_workload *workload, const haul_op *before,
                              haul_op_kind wanted)
{
    for (size_t i = 0; workload->ops && i < workload->edge_count; i++)
        if (&workload->ops[workload->edges[i].before] == before &&
            workload->ops[workload->edges[i].after].kind == wanted)
            return &workload->ops[workload->edges[i].after];
    return NULL;
}

static const haul_op *first_of(const haul_workload *workload, haul_op_kind wanted, uint64_t bytes)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == wanted && (!bytes || workload->ops[i].bytes == bytes))
            return &workload->ops[i];
    fail_msg("no such operation");
    return NULL;
}

static void check_order(bool out_of_order)
{
    haul_workload *workload = load();
    const haul_op *written = first_of(workload, HAUL_OP_COPY, 1 << 20);
    const haul_op *kernel = next_of(workload, written, HAUL_OP_KERNEL);
    assert_ptr_equal(kernel, first_of(workload, HAUL_OP_KERNEL, 0));
    const haul_op *read = next_of(workload, kernel, HAUL_OP_COPY);
    assert_non_null(read);
    assert_int_equal(read->direction, HAUL_DIRECTION_DTOH);
    const haul_op *wait = next_of(workload, read, HAUL_OP_SYNC);
    assert_non_null(wait);
    const haul_op *other = first_of(workload, HAUL_OP_COPY, 1000);
    /* Of a queue out of order no order is made up. */
    assert_int_equal(other->stream != read->stream, out_of_order);
    assert_non_null(next_of(workload, other, HAUL_OP_SYNC)); /* the finish */
    haul_workload_free(workload);
}

static void waits_become_edges(void **state)
{
    (void)state;
    assert_int_equal(record("", "order"), 0);
    check_order(false);
}

static void no_order_is_made_up(void **state)
{
    (void)state;
    assert_int_equal(record("", "order 1"), 0);
    check_order(true);
}

static size_t edges_between(const haul_workload *workload, haul_op_kind before, haul_op_kind after)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->edge_count; i++)
        count += workload->ops[workload->edges[i].before].kind == before &&
                 workload->ops[workload->edges[i].after].kind == after;
    return count;
}

static void barriers_hold_what_follows(void **state)
{
    (void)state;
    assert_int_equal(record("", "barrier"), 0);
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 4);
    assert_int_equal(edges_between(workload, HAUL_OP_COPY, HAUL_OP_COPY), 0);
    /* one of the three is before the kernel on its stream */
    const haul_op *kernel = first_of(workload, HAUL_OP_KERNEL, 0);
    const size_t before =
        edges_between(workload, HAUL_OP_COPY, HAUL_OP_KERNEL) + (kernel->stream_prev != HAUL_NONE);
    assert_int_equal(before, 3);
    haul_workload_free(workload);
}

typedef struct expected_copy {
    haul_direction direction;
    haul_memory memory;
    uint64_t bytes;
    int count;
} expected_copy;

static void check_copies(const haul_workload *workload, const expected_copy *expected, size_t kinds)
{
    int all = 0;
    for (size_t k = 0; k < kinds; k++) {
        int found = 0;
        for (size_t i = 0; i < workload->op_count; i++) {
            const haul_op *op = &workload->ops[i];
            found += op->kind == HAUL_OP_COPY && op->direction == expected[k].direction &&
                     op->detail == expected[k].memory && op->bytes == expected[k].bytes;
        }
        assert_int_equal(found, expected[k].count);
        all += found;
    }
    for (size_t i = 0; i < workload->op_count; i++)
        all -= workload->ops[i].kind == HAUL_OP_COPY;
    assert_int_equal(all, 0);
}

static void shared_memory_is_managed(void **state)
{
    (void)state;
    assert_int_equal(record("", "svm"), 0);
    const int mapped = strstr(printed, "maps in place") ? 0 : 1;
    const expected_copy expected[] = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 20, 1},
                                      {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 1000, 1},
                                      {HAUL_DIRECTION_DTOH, HAUL_MEMORY_MANAGED, 1 << 20, mapped},
                                      {HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED, 1 << 20, mapped}};
    haul_workload *workload = load();
    check_copies(workload, expected, 4);
    assert_int_equal(first_of(workload, HAUL_OP_MEMSET, 0)->bytes, 1 << 20);
    haul_workload_free(workload);
}

static void images_are_arrays(void **state)
{
    (void)state;
    enum { BYTES = 256 * 128 * 4 };
    assert_int_equal(record("", "images"), 0);
    const int mapped = strstr(printed, "maps in place") ? 0 : 1;
    const expected_copy expected[] = {
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, BYTES, 1},
        {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, BYTES, 1 + mapped},
        {HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, BYTES, 3}};
    haul_workload *workload = load();
    check_copies(workload, expected, 3);
    assert_int_equal(first_of(workload, HAUL_OP_MEMSET, 0)->bytes, BYTES);
    haul_workload_free(workload);
}

static void the_program_sees_nothing(void **state)
{
    (void)state;
    assert_int_equal(record("", "plain"), 0);
    assert_string_equal(printed, "unchanged\n");
}

/* OPENCL_LAYERS is a list with colons. */
static void a_colon_in_the_path_is_no_matter(void **state)
{
    (void)state;
    char command[1000];
    snprintf(
        command, sizeof command,
        "mkdir %s/a:b && cp %s \"$(dirname %s)\"/libhaul-record-*.so %s/a:b && %s/a:b/haul record "
        "--force -o %s -- %s write 20 2>%s/said; rm -r %s/a:b",
        folder, HAUL_PROGRAM, HAUL_PROGRAM, folder, folder, path, CL_PROGRAM, folder, folder);
    assert_int_equal(system(command), 0);
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 20);
    haul_workload_free(workload);
}

static void descriptors_are_the_programs(void **state)
{
    (void)state;
    char what[200];
    snprintf(what, sizeof what, "descriptors %s/own", folder);
    assert_int_equal(record("", what), 0);
    assert_string_equal(printed, "4640 bytes\n");
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 1100);
    haul_workload_free(workload);
    char command[200];
    snprintf(command, sizeof command, "cat %s/own.* | grep -vc '^[0-9]*$'; rm %s/own.*", folder,
             folder);
    FILE *strange = popen(command, "r");
    int lines = -1;
    assert_int_equal(fscanf(strange, "%d", &lines), 1);
    pclose(strange);
    assert_int_equal(lines, 0);
}

static void a_child_that_stays_is_waited_for(void **state)
{
    (void)state;
    assert_int_equal(record("", "daemon 1500"), 0);
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 250);
    haul_workload_free(workload);
    assert_null(strstr(said, "incomplete"));
}

/* Four at once on one name: one records, the others refuse before their programs run. */
static void one_name_has_one_recording(void **state)
{
    (void)state;
    char command[800];
    snprintf(command, sizeof command,
             "cd %s; for i in 1 2 3 4; do (%s record --force -o profile.sqlite -- %s slowly 700 "
             "2>said.$i; echo $? >code.$i) & sleep 0.1; done; wait; cat code.*; rm code.*; grep -l "
             "'another recording writes' said.* | wc -l; rm said.*",
             folder, HAUL_PROGRAM, CL_PROGRAM);
    FILE *file = popen(command, "r");
    char text[64] = "";
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    pclose(file);
    assert_string_equal(text, "0\n3\n3\n3\n3\n");
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 70);
    haul_workload_free(workload);
}

static void processes_share_a_profile(void **state)
{
    (void)state;
    assert_int_equal(record("", "fork"), 0);
    assert_non_null(strstr(said, "of 2 processes"));
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 250);
    assert_int_equal(workload->stream_count, 3);
    assert_int_equal(workload->device_count, 1);
    assert_non_null(workload->devices[0].name);
    haul_workload_free(workload);
}

static void the_library_may_be_unloaded(void **state)
{
    (void)state;
    assert_int_equal(record("", "unload"), 0);
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 300);
    haul_workload_free(workload);
}

static void limits_are_kept_and_said(void **state)
{
    (void)state;
    assert_int_equal(record("--max-ops 30", "write 100"), 0);
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 30);
    haul_workload_free(workload);
    assert_non_null(strstr(said, "left out 70 operations"));
    assert_int_equal(record("--duration 0.000001", "write 100"), 0);
    assert_non_null(strstr(said, "left out 100 operations"));
}

/* PoCL by two names is two platforms to the loader, of one device. */
static void two_platforms_are_recorded(void **state)
{
    (void)state;
    char command[1000];
    snprintf(command, sizeof command,
             "mkdir %s/icd && cp /etc/OpenCL/vendors/pocl.icd %s/icd/a.icd && /sbin/ldconfig -p |"
             " awk '/libpocl.so/ {print $NF; exit}' >%s/icd/b.icd && test -s %s/icd/b.icd",
             folder, folder, folder, folder);
    const bool made = system(command) == 0;
    snprintf(command, sizeof command, "%s/icd", folder);
    setenv("OCL_ICD_VENDORS", command, 1);
    const bool twice = made && system(CL_PROGRAM " platforms >/dev/null") == 0;
    const int code = twice ? record("", "platforms") : 77;
    unsetenv("OCL_ICD_VENDORS");
    snprintf(command, sizeof command, "rm -r %s/icd", folder);
    assert_int_equal(system(command), 0);
    if (!twice) {
        print_message("skipped: one platform\n");
        skip();
    }
    assert_int_equal(code, 0);
    check_sums();
    haul_workload *workload = load();
    assert_int_equal(workload->stream_count, 2);
    haul_workload_free(workload);
}

/* A million calls from 16 threads: none is dropped. */
static void a_million_calls_of_threads_are_all_there(void **state)
{
    (void)state;
    assert_int_equal(record("", "million"), 0);
    assert_null(strstr(said, "incomplete"));
    haul_workload *workload = load();
    assert_int_equal(workload->counts.device_ops, 1000000);
    haul_workload_free(workload);
}

/* With the command line "million": a million calls, beside the same program alone. */
static void a_million_calls_take_bounded_memory(void **state)
{
    (void)state;
    long alone_kib = 0, recorded_kib = 0;
    unsigned long long dropped = 0;
    FILE *alone = popen(CL_PROGRAM " many 1000000", "r");
    assert_non_null(alone);
    assert_int_equal(fscanf(alone, "%ld", &alone_kib), 1);
    pclose(alone);
    assert_int_equal(record("", "many 1000000"), 0);
    assert_int_equal(sscanf(printed, "%ld", &recorded_kib), 1);
    const char *incomplete = strstr(said, "incomplete: ");
    if (incomplete)
        assert_int_equal(sscanf(incomplete, "incomplete: %llu records", &dropped), 1);
    print_message("%ld MiB alone, %ld MiB recorded, %llu records dropped\n", alone_kib / 1024,
                  recorded_kib / 1024, dropped);
    assert_true(recorded_kib - alone_kib < 160 * 1024L);
    haul_workload *workload = load();
    assert_true(workload->counts.device_ops + dropped >= 1000000);
    haul_workload_free(workload);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest million[] = {TEST(a_million_calls_take_bounded_memory),
                                         TEST(a_million_calls_of_threads_are_all_there)};
    if (system(CL_PROGRAM " write 1") != 0) {
        puts("skipped: no OpenCL device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        TEST(what_is_moved_is_recorded),    TEST(threads_with_a_queue_each),
        TEST(threads_on_one_queue),         TEST(waits_become_edges),
        TEST(no_order_is_made_up),          TEST(barriers_hold_what_follows),
        TEST(shared_memory_is_managed),     TEST(images_are_arrays),
        TEST(the_program_sees_nothing),     TEST(a_colon_in_the_path_is_no_matter),
        TEST(descriptors_are_the_programs), TEST(a_child_that_stays_is_waited_for),
        TEST(one_name_has_one_recording),   TEST(processes_share_a_profile),
        TEST(the_library_may_be_unloaded),  TEST(limits_are_kept_and_said),
        TEST(two_platforms_are_recorded),
    };
    if (argc > 1 && !strcmp(argv[1], "million"))
        return cmocka_run_group_tests(million, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
