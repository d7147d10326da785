/* Programs of which a recorder could lose something (tests/tools/cl_disturbed): all is there, or
 * the profile says what is not. */
#include <sys/stat.h>

#include "record_program.h"

/* Runs `BEFORE haul record OPTIONS -- AFTER` in a shell; returns its exit code. */
static int record_with(const char *before, const char *options, const char *after)
{
    char command[1500];
    snprintf(command, sizeof command,
             "%s %s record --force -o %s %s -- %s >%s/printed 2>%s/said </dev/null", before,
             HAUL_PROGRAM, path, options, after, folder, folder);
    const int status = system(command);
    read_file("printed", printed, sizeof printed);
    read_file("said", said, sizeof said);
    return WEXITSTATUS(status);
}

static int disturb(const char *what)
{
    char after[300];
    snprintf(after, sizeof after, "%s %s", CL_DISTURBED, what);
    return record_with("", "", after);
}

static void expect_copies(size_t copies)
{
    haul_workload *workload = load();
    if (workload->counts.device_ops != copies)
        fail_msg("%zu of %zu copies (%s)", (size_t)workload->counts.device_ops, copies, said);
    haul_workload_free(workload);
}

static void expect_loss(const char *text)
{
    haul_workload *workload = load();
    bool found = false;
    for (size_t i = 0; i < workload->loss_count; i++)
        found |= !strncmp(workload->losses[i].text, text, strlen(text));
    if (!found)
        fail_msg("no loss '%s': %s", text, said);
    haul_workload_free(workload);
}

static void handlers_and_destructors_are_recorded(void **state)
{
    (void)state;
    assert_int_equal(disturb("late 50"), 0);
    expect_copies(150);
    assert_null(strstr(said, "incomplete"));
}

/* ThreadSanitizer does not see such a child begin: it takes the child's memory for its parent's,
 * and now and then reports a race between the two. */
static void a_child_past_the_handlers_of_fork_ends(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    assert_int_equal(disturb("raw 50"), 3);
    expect_copies(100);
}

static void a_chain_of_programs_in_one_process_is_recorded(void **state)
{
    (void)state;
    assert_int_equal(disturb("chain 130"), 0);
    expect_copies(130);
}

/* A thread that takes its process for a child would begin anew, and drop what others had made. */
static void threads_that_begin_together_are_recorded(void **state)
{
    (void)state;
    assert_int_equal(disturb("begin 8"), 0);
    expect_copies(128);
}

static void rings_cannot_be_cut(void **state)
{
    (void)state;
    assert_int_equal(disturb("cut 50"), 0);
    expect_copies(100);
    expect_loss("the folder of the recorders was removed");
}

static void no_wait_for_what_a_handle_was_before(void **state)
{
    (void)state;
    assert_int_equal(disturb("handles 320"), 0);
    haul_workload *workload = load();
    size_t between = 0;
    for (size_t i = 0; i < workload->edge_count; i++) {
        const haul_op *before = &workload->ops[workload->edges[i].before];
        const haul_op *after = &workload->ops[workload->edges[i].after];
        between += haul_op_on_device(before) && haul_op_on_device(after) &&
                   before->stream != after->stream;
    }
    assert_int_equal(workload->counts.device_ops, 640);
    assert_int_equal(between, 0);
    haul_workload_free(workload);
}

static void commands_that_fail_are_said(void **state)
{
    (void)state;
    assert_int_equal(disturb("failed 20"), 0);
    expect_copies(40);
    expect_loss("20 commands failed and are missing (33.3 % of 60)");
}

/* As on a busy machine: the first calls return 4 ms after their commands were queued, which alone
 * puts the device's clock 2 ms ahead: ends would lie behind the waits for them, and behind the
 * starts that come after, when calls are quick. */
static void slow_calls_contradict_no_wait(void **state)
{
    (void)state;
    assert_int_equal(
        record_with("OPENCL_LAYERS=" PLAIN_LAYER " LAYER_SLOW_US=2000", "", CL_PROGRAM " moves 5"),
        0);
    haul_workload *workload = load();
    for (size_t i = 0; i < workload->repair_count; i++)
        print_message("%s\n", workload->repairs[i].text);
    assert_int_equal(workload->repair_count, 0);
    haul_workload_free(workload);
}

static void commands_without_times_are_said(void **state)
{
    (void)state;
    assert_int_equal(record_with("OPENCL_LAYERS=" PLAIN_LAYER " LAYER_HIDES_TIMES=3", "",
                                 CL_DISTURBED " copies 300"),
                     0);
    expect_copies(100);
    expect_loss("200 commands are missing: their device gave no times (66.7 % of 300)");
    char command[400];
    snprintf(command, sizeof command, "%s analyze %s >%s/printed", HAUL_PROGRAM, path, folder);
    assert_int_equal(system(command), 0);
    read_file("printed", printed, sizeof printed);
    assert_non_null(strstr(printed, "incomplete  200 commands are missing"));
}

static void what_a_limit_leaves_out_is_said(void **state)
{
    (void)state;
    assert_int_equal(record_with("", "--max-ops 20", CL_DISTURBED " copies 100"), 0);
    expect_copies(20);
    expect_loss("80 operations beyond the limit were left out (80 % of 100)");
}

static void children_under_the_users_layers_are_recorded(void **state)
{
    (void)state;
    assert_int_equal(record_with("OPENCL_LAYERS=" PLAIN_LAYER, "", CL_DISTURBED " children 4"), 0);
    expect_copies(50);
    assert_int_equal(
        record_with("OPENCL_LAYERS=" PLAIN_LAYER ":" PLAIN_LAYER, "", CL_DISTURBED " children 4"),
        0);
    expect_copies(50);
}

static void an_inner_recording_counts_once(void **state)
{
    (void)state;
    char inner[400];
    snprintf(inner, sizeof inner, "%s record --force -o %s/inner -- %s copies 30", HAUL_PROGRAM,
             folder, CL_DISTURBED);
    assert_int_equal(record_with("OPENCL_LAYERS=" PLAIN_LAYER, "", inner), 0);
    assert_non_null(strstr(said, "within another recording"));
    snprintf(path, sizeof path, "%s/inner", folder);
    expect_copies(30);
}

/* 100 processes at once: what each takes is its own use, not a ring of full size. */
static void rings_grow_with_use(void **state)
{
    (void)state;
    assert_int_equal(disturb("crowd 100"), 0);
    expect_copies(1000);
    assert_in_range(atol(printed), 1, 100 * 100000);
}

/* As a container has it: 64 MB, which are the program's. */
static void a_small_shared_memory_is_left_alone(void **state)
{
    (void)state;
    if (system("unshare -m mount -t tmpfs -o size=64m tmpfs /dev/shm 2>/dev/null") != 0) {
        print_message("skipped: cannot make a mount namespace\n");
        skip();
    }
    char command[600];
    snprintf(command, sizeof command,
             "unshare -m sh -c 'mount -t tmpfs -o size=64m tmpfs /dev/shm && %s record --force -o "
             "%s -- %s crowd 40; e=$?; ls -A /dev/shm; exit $e' >%s/printed 2>%s/said",
             HAUL_PROGRAM, path, CL_DISTURBED, folder, folder);
    assert_int_equal(system(command), 0);
    read_file("printed", printed, sizeof printed);
    read_file("said", said, sizeof said);
    expect_copies(400);
    assert_null(strstr(printed, "haul-"));
    assert_null(strstr(said, "stopped"));
}

/* `WHAT` is done to the name while the program runs; returns what haul exits with. */
static int meddle(const char *what)
{
    char after[900];
    snprintf(after, sizeof after, "sh -c '%s copies 10; cd %s && %s'", CL_DISTURBED, folder, what);
    return record_with("", "", after);
}

static void expect_left(const char *name, const char *content)
{
    char text[100];
    read_file(name, text, sizeof text);
    assert_string_equal(text, content);
    char command[300];
    snprintf(command, sizeof command, "cd %s && ls -A | grep -v '^printed$\\|^said$'", folder);
    assert_int_equal(system(command), 0);
    assert_non_null(strstr(said, "changed during the recording"));
    snprintf(command, sizeof command,
             "cd %s && %s analyze profile.sqlite.part-?????? >/dev/null && rm -f profile*", folder,
             HAUL_PROGRAM);
    assert_int_equal(system(command), 0);
}

static void a_file_put_at_the_name_is_left(void **state)
{
    (void)state;
    assert_int_equal(meddle("echo mine >other && mv other profile.sqlite"), 3);
    expect_left("profile.sqlite", "mine\n");
    assert_int_equal(meddle("echo mine >profile.sqlite"), 3);
    expect_left("profile.sqlite", "mine\n");
    assert_int_equal(meddle("echo mine >profile.sqlite-wal"), 3);
    expect_left("profile.sqlite-wal", "mine\n");
}

static void a_file_that_would_be_the_log_is_refused(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "echo mine >%s-wal", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(disturb("copies 10"), 3);
    assert_non_null(strstr(said, "SQLite would take for a part of it"));
    snprintf(command, sizeof command, "grep -q mine %s-wal && rm %s-wal", path, path);
    assert_int_equal(system(command), 0);
}

/* Each record is in the profile or counted, also of the transaction that failed. */
static void a_full_disk_loses_nothing_unsaid(void **state)
{
    (void)state;
    if (record_with("ulimit -f 600;", "", CL_PROGRAM " many 100000") != 0)
        fail_msg("%s", said);
    assert_non_null(strstr(said, "recording stopped"));
    unsigned long long dropped = 0, all = 0;
    const char *loss = strstr(said, "incomplete: ");
    assert_non_null(loss);
    assert_int_equal(
        sscanf(loss, "incomplete: %llu records were dropped (%*s %% of %llu)", &dropped, &all), 2);
    /* a copy and its call each; the buffer's call; the last wait, and its call */
    assert_int_equal(all, 200003);
    assert_in_range(dropped, 1, all);
}

static void an_alarm_and_a_real_time_signal_reach_the_program(void **state)
{
    (void)state;
    static const char *const names[] = {"ALRM", "PIPE", "XCPU", "VTALRM",
                                        "PROF", "IO",   "PWR",  "RTMIN+3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char after[400];
        snprintf(after, sizeof after,
                 "bash -c 'trap \"kill \\$!; exit 9\" %s; %s copies 10; kill -s %s $PPID; sleep 20 "
                 "& wait'",
                 names[i], CL_DISTURBED, names[i]);
        if (record_with("", "", after) != 9)
            fail_msg("%s: %s", names[i], said);
        expect_copies(10);
    }
}

/* Each allocation of the recorder fails in turn: all is recorded, or haul says that it is not. */
static void failed_allocations_are_said(void **state)
{
    (void)state;
#ifdef FAIL_MALLOC
    enum { BEYOND_THE_LAST = 22, AT_THE_START = 6 };
    int stopped = 0;
    for (int n = 1; n <= BEYOND_THE_LAST; n += n < AT_THE_START ? 1 : 4) {
        char after[1200];
        snprintf(after, sizeof after,
                 "env LD_PRELOAD=%s FAIL_MALLOC_FROM=record-opencl FAIL_MALLOC=%d %s copies 10",
                 FAIL_MALLOC, n, CL_DISTURBED);
        (void)remove(path);
        assert_int_equal(record_with("", "", after), 0);
        if (strstr(said, "recording stopped: out of memory"))
            stopped++;
        else if (strstr(said, "incomplete: 1 command was dropped (10 % of 10)"))
            expect_copies(9);
        else
            expect_copies(10);
    }
    assert_in_range(stopped, 1, AT_THE_START);
#else
    skip(); /* under a sanitizer the allocator is the sanitizer's */
#endif
}

/* Where something was recorded, a process that could not begin is a loss of the profile. */
static void a_recorder_that_cannot_begin_is_said(void **state)
{
    (void)state;
#ifdef FAIL_MALLOC
    char after[1200];
    snprintf(after, sizeof after,
             "sh -c '%s copies 10; LD_PRELOAD=%s FAIL_MALLOC_FROM=record-opencl FAIL_MALLOC=1 %s "
             "copies 10'",
             CL_DISTURBED, FAIL_MALLOC, CL_DISTURBED);
    assert_int_equal(record_with("", "", after), 0);
    expect_copies(10);
    expect_loss("1 recorder could not begin");
#else
    skip();
#endif
}

/* A program that is denied to sleep: no thread of the recorder spins. ThreadSanitizer's own thread
 * does, which sleeps in a loop. */
static void who_may_not_sleep_does_not_spin(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    const int code = disturb("awake 20");
    if (code == 77)
        skip();
    assert_int_equal(code, 0);
    expect_copies(20);
    if (strtol(printed, NULL, 10) > 1000) /* of 2 s without work */
        fail_msg("%s ms of the processor", printed);
}

/* A user, an environment or a view of the files of its own hides the recording from a process. */
static void who_cannot_report_is_not_said_to_use_nothing(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "env -i " CL_DISTURBED " copies 10",
        "unshare -m sh -c 'mount -t tmpfs none \"$HAUL_RECORD_FOLDER\"; " CL_DISTURBED
        " copies 10'",
        "setpriv --reuid=65534 --clear-groups " CL_DISTURBED " copies 10"};
    const bool is_root = geteuid() == 0 && !system("unshare -m true 2>/dev/null");
    for (size_t i = 0; i < (is_root ? sizeof ways / sizeof *ways : 1); i++) {
        (void)remove(path);
        (void)record_with("", "", ways[i]);
        if (!strstr(said, "reported no use of") || !strstr(said, "cannot report"))
            fail_msg("%s: %s", ways[i], said);
    }
}

static void a_folder_without_permission_is_said(void **state)
{
    (void)state;
    char command[600];
    if (geteuid() == 0)
        snprintf(command, sizeof command,
                 "chmod 755 %s; setpriv --reuid=65534 %s record -o %s -- true 2>%s/said", folder,
                 HAUL_PROGRAM, path, folder);
    else
        snprintf(command, sizeof command, "%s record -o /haul.sqlite -- true 2>%s/said",
                 HAUL_PROGRAM, folder);
    assert_int_not_equal(system(command), 0);
    read_file("said", said, sizeof said);
    if (!strstr(said, "ermission denied"))
        fail_msg("%s", said);
}

int main(void)
{
    if (system(CL_DISTURBED " copies 1") != 0) {
        puts("skipped: no OpenCL device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        TEST(handlers_and_destructors_are_recorded),
        TEST(a_child_past_the_handlers_of_fork_ends),
        TEST(a_chain_of_programs_in_one_process_is_recorded),
        TEST(threads_that_begin_together_are_recorded),
        TEST(rings_cannot_be_cut),
        TEST(no_wait_for_what_a_handle_was_before),
        TEST(commands_that_fail_are_said),
        TEST(slow_calls_contradict_no_wait),
        TEST(commands_without_times_are_said),
        TEST(what_a_limit_leaves_out_is_said),
        TEST(children_under_the_users_layers_are_recorded),
        TEST(an_inner_recording_counts_once),
        TEST(rings_grow_with_use),
        TEST(a_small_shared_memory_is_left_alone),
        TEST(a_file_put_at_the_name_is_left),
        TEST(a_file_that_would_be_the_log_is_refused),
        TEST(a_full_disk_loses_nothing_unsaid),
        TEST(an_alarm_and_a_real_time_signal_reach_the_program),
        TEST(failed_allocations_are_said),
        TEST(a_recorder_that_cannot_begin_is_said),
        TEST(who_may_not_sleep_does_not_spin),
        TEST(who_cannot_report_is_not_said_to_use_nothing),
        TEST(a_folder_without_permission_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
