/* Programs that a recorder could lose something of: each prints how many copies it made.
 *
 * usage: cl_disturbed WHAT [COUNT]; exits 77 where there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_mem buffer;
static char host[4096];

static void check(cl_int result, const char *what)
{
    if (result == CL_SUCCESS)
        return;
    fprintf(stderr, "cl_disturbed: %s: %d\n", what, (int)result);
    _exit(1);
}

static void begin_device(void)
{
    cl_platform_id platform;
    cl_uint count = 0;
    cl_int result;
    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || !count ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        puts("skipped: no OpenCL device");
        exit(77);
    }
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
    check(result, "context");
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL, &result);
    check(result, "buffer");
}

static void begin(void)
{
    cl_int result;
    begin_device();
    queue = clCreateCommandQueue(context, device, 0, &result);
    check(result, "queue");
}

static void copy(int count)
{
    for (int i = 0; i < count; i++)
        check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL),
              "write");
}

/* --- what: late. Copies of handlers and destructors that were there before the first queue. */

static int late_copies;

static void copy_late(void)
{
    copy(late_copies);
}

__attribute__((destructor)) static void copy_last(void)
{
    copy(late_copies);
}

static int copy_and_leave_the_rest(int count)
{
    late_copies = count;
    if (atexit(copy_late))
        return 1;
    begin();
    copy(count);
    return 0;
}

/* --- what: raw. A child that no handler of fork has prepared: its end runs the handlers of exit.
 */

static int raw_child(int count)
{
    begin();
    copy(count);
    const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!child) {
        signal(SIGALRM, SIG_DFL);
        alarm(20); /* a child that hangs is killed by it, which its status says */
        exit(3);
    }
    int status = 0;
    waitpid((pid_t)child, &status, 0);
    copy(count);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* --- what: chain and children */

static void become(const char *self, const char *what, int count)
{
    char text[16];
    snprintf(text, sizeof text, "%d", count);
    execl(self, self, what, text, (char *)NULL);
    _exit(1);
}

/* One copy, then the next program of the same process. */
static int chain(const char *self, int count)
{
    begin();
    copy(1);
    if (count > 1)
        become(self, "chain", count - 1);
    return 0;
}

/* One after the other, each another program; the parent copies, too. */
static int children(const char *self, int count)
{
    begin();
    copy(10);
    for (int i = 0; i < count; i++) {
        const pid_t child = fork();
        if (!child)
            become(self, "copies", 10);
        waitpid(child, NULL, 0);
    }
    return 0;
}

/* The bytes of this process's rings. */
static long ring_bytes(void)
{
    char line[4096];
    long bytes = 0;
    const char *folder = getenv("HAUL_RECORD_FOLDER");
    FILE *maps = fopen("/proc/self/maps", "r");
    while (folder && maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (strstr(line, folder) && sscanf(line, "%lx-%lx", &from, &to) == 2)
            bytes += (long)(to - from);
    }
    if (maps)
        fclose(maps);
    return bytes;
}

/* All at once: none ends before all have copied, and said how much memory their rings take. */
static int crowd(int count)
{
    int done[2], leave[2], status, bad = 0;
    long used = 0, bytes = 0;
    if (pipe(done) || pipe(leave))
        return 1;
    for (int i = 0; i < count; i++) {
        if (fork())
            continue;
        char byte;
        close(leave[1]);
        begin();
        copy(10);
        bytes = ring_bytes();
        if (write(done[1], &bytes, sizeof bytes) < 0 || read(leave[0], &byte, 1) < 0)
            _exit(1);
        exit(0);
    }
    close(done[1]);
    for (int i = 0; i < count && read(done[0], &bytes, sizeof bytes) == sizeof bytes; i++)
        used += bytes;
    printf("%ld\n", used);
    fflush(stdout);
    close(leave[1]);
    while (wait(&status) > 0)
        bad |= status;
    return bad != 0;
}

/* --- what: begin. In each of so many processes all threads make their first queues together. */

enum { BEGINNERS = 16 };

static pthread_barrier_t together;

static void *begin_queue(void *argument)
{
    cl_int result;
    pthread_barrier_wait(&together);
    cl_command_queue own = clCreateCommandQueue(context, device, 0, &result);
    check(result, "queue");
    check(clEnqueueWriteBuffer(own, buffer, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL), "write");
    clReleaseCommandQueue(own);
    return argument;
}

static void begin_together(void)
{
    pthread_t threads[BEGINNERS];
    begin_device();
    pthread_barrier_init(&together, NULL, BEGINNERS);
    for (int i = 0; i < BEGINNERS; i++)
        if (pthread_create(&threads[i], NULL, begin_queue, NULL))
            _exit(1);
    for (int i = 0; i < BEGINNERS; i++)
        pthread_join(threads[i], NULL);
}

static int begin_often(int count)
{
    int status, bad = 0;
    for (int i = 0; i < count; i++) {
        const pid_t child = fork();
        if (!child) {
            begin_together();
            exit(0);
        }
        if (waitpid(child, &status, 0) < 0)
            return 1;
        bad |= status;
    }
    return bad != 0;
}

/* --- what: cut. Somebody cuts the rings while they are used, and removes their folder. A ring that
 * haul has met has no name; on a busy machine that takes a while. */

static int cut_rings(int count)
{
    begin();
    copy(count);
    const int lost = system("cd \"$HAUL_RECORD_FOLDER\" && for i in $(seq 1 200); do"
                            " ls | grep -q '^[0-9]' || break; sleep 0.1; done;"
                            " for f in [0-9]*; do [ ! -e \"$f\" ] || : >\"$f\"; done;"
                            " rm -r \"$HAUL_RECORD_FOLDER\"");
    copy(count);
    return lost;
}

/* --- what: handles. The handles of user events are those of commands' events that are gone. */

static int reuse_handles(int count)
{
    cl_int result;
    begin();
    cl_command_queue other = clCreateCommandQueue(context, device, 0, &result);
    check(result, "queue");
    for (int i = 0; i < count; i++) {
        cl_event copied, own;
        check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof host, host, 0, NULL, &copied),
              "write");
        clReleaseEvent(copied);
        clFinish(queue);
        own = clCreateUserEvent(context, &result);
        check(result, "user event");
        check(clEnqueueWriteBuffer(other, buffer, CL_FALSE, 0, sizeof host, host, 1, &own, NULL),
              "write");
        clSetUserEventStatus(own, CL_COMPLETE);
        clFinish(other);
        clReleaseEvent(own);
    }
    return 0;
}

/* --- what: failed. Copies that wait for what fails, between others. */

static int fail_some(int count)
{
    cl_int result;
    begin();
    cl_command_queue other = clCreateCommandQueue(context, device, 0, &result);
    check(result, "queue");
    copy(count);
    for (int i = 0; i < count; i++) {
        cl_event own = clCreateUserEvent(context, &result);
        check(result, "user event");
        check(clEnqueueWriteBuffer(other, buffer, CL_FALSE, 0, sizeof host, host, 1, &own, NULL),
              "write");
        clSetUserEventStatus(own, -1);
        clFinish(other);
        clReleaseEvent(own);
    }
    copy(count);
    return 0;
}

/* --- what: awake. A filter denies to sleep, as that of a container may; what waits by sleeping in
 * a loop spins then. Prints the processor's time in ms, of count tenths of a second without work.
 */

static int stay_awake(int count)
{
    static struct sock_filter denies[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_nanosleep, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {sizeof denies / sizeof *denies, denies};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 77;
    begin();
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < count; i++) {
        copy(1);
        poll(NULL, 0, 100);
    }
    getrusage(RUSAGE_SELF, &after);
    printf("%ld\n", 1000 * (after.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_utime.tv_sec -
                            before.ru_stime.tv_sec) +
                        (after.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_utime.tv_usec -
                         before.ru_stime.tv_usec) /
                            1000);
    return 0;
}

static int run(const char *self, const char *what, int count)
{
    if (!strcmp(what, "late"))
        return copy_and_leave_the_rest(count);
    if (!strcmp(what, "raw"))
        return raw_child(count);
    if (!strcmp(what, "chain"))
        return chain(self, count);
    if (!strcmp(what, "children"))
        return children(self, count);
    if (!strcmp(what, "crowd"))
        return crowd(count);
    if (!strcmp(what, "begin"))
        return begin_often(count);
    if (!strcmp(what, "cut"))
        return cut_rings(count);
    if (!strcmp(what, "handles"))
        return reuse_handles(count);
    if (!strcmp(what, "failed"))
        return fail_some(count);
    if (!strcmp(what, "awake"))
        return stay_awake(count);
    if (!strcmp(what, "copies")) {
        begin();
        copy(count);
        return 0;
    }
    fputs("usage: cl_disturbed WHAT [COUNT]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    return run(argv[0], argc > 1 ? argv[1] : "", argc > 2 ? atoi(argv[2]) : 10);
}
