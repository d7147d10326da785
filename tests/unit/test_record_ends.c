/* Recordings whose program, haul or disk comes to its end. */
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "record_program.h"

typedef struct ending {
    const char *what;
    int exit_code;
    size_t least; /* operations; of those that end in order exactly so many */
    bool killed;
} ending;

static void check_end(const ending *expected)
{
    assert_int_equal(record("", expected->what), expected->exit_code);
    haul_workload *workload = load();
    if (workload->counts.device_ops < expected->least)
        fail_msg("%s: %zu of %zu operations (%s)", expected->what,
                 (size_t)workload->counts.device_ops, expected->least, said);
    haul_workload_free(workload);
    assert_int_equal(strstr(said, "incomplete: the program was killed by signal") != NULL,
                     expected->killed);
}

/* All that the program waited for is there, however soon after it the program ends. */
static void every_end_leaves_all(void **state)
{
    (void)state;
    static const ending ends[] = {
        {"end return", 7, 100, false},           {"end _exit", 6, 100, false},
        {"end quick_exit", 8, 100, false},       {"end exec", 0, 150, false},
        {"end abort", 128 + SIGABRT, 100, true}, {"end term", 128 + SIGTERM, 100, true},
        {"end kill", 128 + SIGKILL, 100, true},  {"end thread", 5, 100, false},
        {"end16 return", 7, 1600, false},        {"end16 _exit", 6, 1600, false},
        {"end16 exec", 0, 1650, false},          {"end16 kill", 128 + SIGKILL, 1600, true},
        {"end16 quick_exit", 8, 1600, false},
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        check_end(&ends[i]);
}

static pid_t busy_process(void)
{
    const pid_t child = fork();
    if (!child)
        for (volatile unsigned i = 0;; i++)
            if (i == 0 && getppid() == 1)
                _exit(0);
    return child;
}

/* The same with more work than processors. */
static void every_end_leaves_all_under_load(void **state)
{
    static const ending ends[] = {
        {"end kill", 128 + SIGKILL, 100, true},
        {"end16 kill", 128 + SIGKILL, 1600, true},
        {"end _exit", 6, 100, false},
        {"end16 _exit", 6, 1600, false},
        {"end quick_exit", 8, 100, false},
        {"end16 quick_exit", 8, 1600, false},
        {"end exec", 0, 150, false},
        {"end16 exec", 0, 1650, false},
    };
    (void)state;
    pid_t busy[8];
    for (int i = 0; i < 8; i++)
        busy[i] = busy_process();
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        check_end(&ends[i]);
    for (int i = 0; i < 8; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
}

/* As many in flight as have ended: the ones are counted, the others all there. */
static void what_is_in_flight_at_the_end_is_counted(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        size_t count;
        const char *words;
    } killed[] = {
        {"in_flight 1", 1, "1 command was in flight and is missing"},
        {"in_flight 70", 70, "70 commands were in flight and are missing"},
        {"in_flight16 30", 480, "480 commands were in flight and are missing"},
    };
    for (size_t i = 0; i < sizeof killed / sizeof killed[0]; i++) {
        assert_int_equal(record("", killed[i].what), 128 + SIGKILL);
        if (!strstr(said, killed[i].words))
            fail_msg("%s: not '%s' in: %s", killed[i].what, killed[i].words, said);
        haul_workload *workload = load();
        assert_int_equal(workload->counts.device_ops, killed[i].count);
        assert_int_equal(workload->loss_count, 2); /* the signal, and what it cost */
        assert_non_null(strstr(workload->losses[1].text, killed[i].words));
        haul_workload_free(workload);
    }
}

static void pause_ms(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Where the last transaction that is through ends in SQLite's log, of pages of 4096 bytes: each has
 * a header of 24, whose second number is not 0 in the last page of a transaction. */
static long committed_bytes(const char *log)
{
    long end = 32;
    long committed = 0;
    unsigned char header[24];
    FILE *file = fopen(log, "rb");
    while (file && !fseek(file, end, SEEK_SET) && fread(header, sizeof header, 1, file) == 1) {
        end += (long)sizeof header + 4096;
        if (header[4] | header[5] | header[6] | header[7])
            committed = end;
    }
    if (file)
        fclose(file);
    return committed;
}

/* Until the log of the profile in the making has three megabytes of transactions that are through,
 * thousands of operations: each small transaction writes its pages whole, and on a busy machine one
 * large one may be under way. Under a sanitizer it takes seconds to begin. */
static void wait_for_operations(void)
{
    char pattern[200];
    snprintf(pattern, sizeof pattern, "%s/profile.sqlite.part-*-wal", folder);
    for (int tries = 0; tries < 300; tries++) {
        glob_t found;
        long committed = 0;
        // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
        if (!glob(pattern, 0, NULL, &found))
            committed = committed_bytes(found.gl_pathv[0]);
        globfree(&found);
        if (committed > 3000000)
            return;
        pause_ms(100);
    }
}

/* The process that `command` writes the number of into the file `pid`. */
static pid_t read_pid(void)
{
    char text[40];
    read_file("pid", text, sizeof text);
    const long pid = strtol(text, NULL, 10);
    assert_true(pid > 1);
    return (pid_t)pid;
}

/* Killed from outside while commands are in flight: no call is lost, and a call whose command is
 * not there is counted as one in flight. Now and then none is, or one. */
static void what_was_in_flight_is_counted(void **state)
{
    (void)state;
    char command[400];
    snprintf(command, sizeof command,
             "%s record --force -o %s -- sh -c '%s many 0 & echo $! >%s/pid; wait $!; true' "
             "2>%s/said",
             HAUL_PROGRAM, path, CL_PROGRAM, folder, folder);
    const pid_t child = fork();
    if (!child) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(1);
    }
    wait_for_operations();
    kill(read_pid(), SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    read_file("said", said, sizeof said);
    haul_workload *workload = load();
    if (workload->counts.device_ops <= 100) /* a busy machine writes few in each transaction */
        fail_msg("%zu operations", (size_t)workload->counts.device_ops);
    for (size_t i = 0; i < workload->loss_count; i++)
        if (!strstr(workload->losses[i].text, "in flight and"))
            fail_msg("%s (%s)", workload->losses[i].text, said);
    haul_workload_free(workload);
    remove_file("pid");
}

/* Not only the program: haul with it. The file that was to be renamed stays, with its log. */
static void killed_outright_it_is_readable(void **state)
{
    (void)state;
    if (record("", "write 1") != 0)
        fail_msg("%s", said);
    remove_file("profile.sqlite");
    const pid_t child = fork();
    if (!child) {
        setpgid(0, 0);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        execl(HAUL_PROGRAM, HAUL_PROGRAM, "record", "-o", path, CL_PROGRAM, "many", "0",
              (char *)NULL);
        _exit(1);
    }
    wait_for_operations();
    kill(-child, SIGKILL);
    waitpid(child, NULL, 0);
    pause_ms(100);
    assert_int_equal(shell("cd %s && for f in profile.sqlite.part-??????; do mv $f profile.sqlite; "
                           "mv $f-wal profile.sqlite-wal; done",
                           folder),
                     0);
    haul_workload *workload = load();
    if (workload->counts.device_ops <= 100) /* a busy machine writes few in each transaction */
        fail_msg("%zu operations", (size_t)workload->counts.device_ops);
    haul_workload_free(workload);
    assert_int_equal(shell("rm %s/profile.sqlite?*", folder), 0);
}

/* A full disk is stood for by a limit on the size of files, which the program keeps to itself. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 300000;
    setrlimit(RLIMIT_FSIZE, &limit);
    const int code = record("", "many 100000");
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, 0);
    assert_non_null(strstr(printed, "KiB"));
    assert_non_null(strstr(said, "recording stopped: "));
    assert_non_null(strstr(said, "cannot write"));
    haul_workload_free(load());
}

/* A disk that is full, where this test may make one. */
static void a_small_disk_keeps_what_fitted(void **state)
{
    (void)state;
    char disk[96], kept[sizeof path];
    snprintf(disk, sizeof disk, "%s/disk", folder);
    if (shell("mkdir %s && mount -t tmpfs -o size=400k tmpfs %s 2>&1", disk, disk) != 0) {
        rmdir(disk);
        print_message("skipped: cannot mount a small disk\n");
        skip();
    }
    memcpy(kept, path, sizeof path);
    snprintf(path, sizeof path, "%.80s/p.sqlite", disk);
    const int code = record("", "many 300000");
    haul_workload *workload = NULL;
    haul_error error = {0};
    const haul_status status = haul_trace_load(path, &workload, &error);
    haul_workload_free(workload);
    memcpy(path, kept, sizeof path);
    assert_int_equal(shell("umount %s && rmdir %s", disk, disk), 0);
    assert_int_equal(code, 0);
    assert_non_null(strstr(said, "full"));
    if (status)
        fail_msg("%s", error.text);
}

int main(void)
{
    if (shell(CL_PROGRAM " write 1") != 0) {
        puts("skipped: no OpenCL device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        TEST(every_end_leaves_all),
        TEST(every_end_leaves_all_under_load),
        TEST(what_is_in_flight_at_the_end_is_counted),
        TEST(what_was_in_flight_is_counted),
        TEST(killed_outright_it_is_readable),
        TEST(a_full_disk_is_said),
        TEST(a_small_disk_keeps_what_fitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
