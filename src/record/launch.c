#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/record.h"
#include "record/part_files.h"
#include "record/profile_writer.h"
#include "record/record_session.h"
#include "record/unpacked.h"

enum { LONGEST_PATH = 4096 };

// NOLINTBEGIN(concurrency-mt-unsafe): the environment is read, and set in the child alone

/* What the program is run with. */
typedef struct launch {
    const haul_recording_options *options;
    char output[LONGEST_PATH];
    char report[LONGEST_PATH];
    char opencl[LONGEST_PATH]; /* the libraries that record, "" for none */
    char cuda[LONGEST_PATH];
    char unpacked[LONGEST_PATH];   /* the folder of those that were written, "" for none */
    struct sigaction child_action; /* of SIGCHLD before us */
    sigset_t mask;                 /* before us */
} launch;

/* --- the libraries */

/* Beside the program, as in a build tree; or where an installation has them, from there. */
static void find_library(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"", HAUL_RECORD_LIBRARIES "/"};
    char program[LONGEST_PATH];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    path[0] = '\0';
    if (length <= 0)
        return;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const int full = snprintf(path, size, "%s%s%s", program, places[i], name);
        if (full >= 0 && (size_t)full < size && !access(path, R_OK))
            return;
    }
    path[0] = '\0';
}

/* The recorder's file: written from its image where there is one, else found. */
static haul_status provide_library(launch *self, const haul_recorder_image *image, const char *name,
                                   char path[LONGEST_PATH], haul_error *error)
{
    if (image->size)
        return haul_unpack_recorder(self->unpacked, image, name, path, LONGEST_PATH, error);
    find_library(name, path, LONGEST_PATH);
    return HAUL_OK;
}

static haul_status provide_libraries(launch *self, haul_error *error)
{
    haul_status status = provide_library(self, &self->options->opencl, "libhaul-record-opencl.so",
                                         self->opencl, error);
    if (!status)
        status = provide_library(self, &self->options->cuda, "libhaul-record-cuda.so", self->cuda,
                                 error);
    if (status || self->opencl[0] || self->cuda[0])
        return status;
    return haul_fail(error, HAUL_ABSENT,
                     "no library to record with: build haul with OpenCL's headers (packages "
                     "ocl-icd-opencl-dev and opencl-headers)");
}

/* --- before */

static haul_status prepare(launch *self, haul_error *error)
{
    const char *output = self->options->output;
    char here[LONGEST_PATH / 2] = "";
    if (output[0] != '/' && !getcwd(here, sizeof here))
        return haul_fail_open(error, ".");
    snprintf(self->output, sizeof self->output, "%s%s%s", here, here[0] ? "/" : "", output);
    const haul_status status = haul_parts_clear(output, error);
    if (status)
        return status;
    const char *folder = getenv("TMPDIR");
    snprintf(self->report, sizeof self->report, "%.4000s/haul-record-XXXXXX",
             folder && *folder ? folder : "/tmp");
    const int file = mkstemp(self->report);
    if (file < 0)
        return haul_fail_open(error, self->report);
    close(file);
    return HAUL_OK;
}

/* --- the child */

static void set_number(const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    if (value)
        setenv(name, text, 1);
    else
        unsetenv(name);
}

static void set_layers(const char *ours)
{
    char layers[2 * LONGEST_PATH];
    const char *theirs = getenv("OPENCL_LAYERS");
    snprintf(layers, sizeof layers, "%s%s%s", theirs ? theirs : "", theirs && *theirs ? ":" : "",
             ours);
    setenv("OPENCL_LAYERS", layers, 1);
}

static void set_environment(const launch *self)
{
    setenv(HAUL_RECORD_OUTPUT, self->output, 1);
    setenv(HAUL_RECORD_REPORT, self->report, 1);
    set_number(HAUL_RECORD_START, haul_profile_now());
    set_number(HAUL_RECORD_DURATION, (int64_t)(self->options->duration_s * 1e9));
    set_number(HAUL_RECORD_MAX_OPS, (int64_t)self->options->max_operations);
    if (self->opencl[0])
        set_layers(self->opencl);
    if (self->cuda[0])
        setenv("CUDA_INJECTION64_PATH", self->cuda, 1);
}

/* Says through `failed` why the program cannot be run. */
static _Noreturn void become(const launch *self, int failed)
{
    char *const *program = self->options->program;
    sigaction(SIGCHLD, &self->child_action, NULL);
    pthread_sigmask(SIG_SETMASK, &self->mask, NULL);
    set_environment(self);
    execvp(program[0], program);
    const int reason = errno;
    if (write(failed, &reason, sizeof reason) != (ssize_t)sizeof reason)
        _exit(126);
    _exit(127);
}

static haul_status start(const launch *self, pid_t *child, haul_error *error)
{
    int failed[2], reason = 0;
    if (pipe(failed))
        return haul_fail(error, HAUL_IO, "cannot make a pipe");
    fcntl(failed[0], F_SETFD, FD_CLOEXEC);
    fcntl(failed[1], F_SETFD, FD_CLOEXEC);
    const pid_t made = fork();
    if (!made)
        become(self, failed[1]);
    close(failed[1]);
    const bool ran = made > 0 && read(failed[0], &reason, sizeof reason) == 0;
    close(failed[0]);
    if (ran) {
        *child = made;
        return HAUL_OK;
    }
    if (made > 0)
        waitpid(made, NULL, 0);
    char text[128];
    if (strerror_r(made > 0 ? reason : EAGAIN, text, sizeof text))
        text[0] = '\0';
    return haul_fail(error, HAUL_IO, "cannot run '%.300s': %s", self->options->program[0], text);
}

/* --- while it runs */

static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};

/* Signals are taken one by one from here on; SIGCHLD must not be ignored for that. */
static void hold_signals(launch *self)
{
    sigset_t taken;
    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&taken, forwarded[i]);
    pthread_sigmask(SIG_BLOCK, &taken, &self->mask);
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigemptyset(&plain.sa_mask);
    sigaction(SIGCHLD, &plain, &self->child_action);
}

static void give_signals_back(const launch *self)
{
    sigaction(SIGCHLD, &self->child_action, NULL);
    pthread_sigmask(SIG_SETMASK, &self->mask, NULL);
}

/* What a terminal sends, it sends the program too; what a process sends us alone is sent on. */
static int wait_for(pid_t child)
{
    sigset_t taken;
    int status;
    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&taken, forwarded[i]);
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR))
            return ended == child ? status : 0;
        siginfo_t info;
        const int signal = sigwaitinfo(&taken, &info);
        if (signal > 0 && signal != SIGCHLD && info.si_code <= 0)
            kill(child, signal);
    }
}

/* --- after */

/* Whether the loader would find a platform: without one it loads no layers. */
static bool has_platform(void)
{
    const char *given = getenv("OCL_ICD_VENDORS");
    DIR *folder = opendir(given && *given ? given : "/etc/OpenCL/vendors");
    if (!folder)
        return given && strstr(given, ".so") != NULL; /* may be one library's name */
    bool found = false;
    for (const struct dirent *entry; !found && (entry = readdir(folder));) {
        const size_t length = strlen(entry->d_name);
        found = length > 4 && !strcmp(entry->d_name + length - 4, ".icd");
    }
    closedir(folder);
    return found;
}

static void read_report(const launch *self, haul_recording *recording)
{
    char line[1024];
    FILE *file = fopen(self->report, "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        haul_session_report said;
        if (!haul_session_report_parse(line, &said))
            continue;
        recording->met_runtime = true;
        if (said.failure[0] && !recording->failure[0])
            snprintf(recording->failure, sizeof recording->failure, "%s", said.failure);
    }
    fclose(file);
    unlink(self->report);
}

haul_status haul_recording_run(const haul_recording_options *options, haul_recording *recording,
                               haul_error *error)
{
    launch self = {.options = options};
    haul_recording made = {0};
    pid_t child = 0;
    haul_status status = provide_libraries(&self, error);
    if (!status)
        status = prepare(&self, error);
    if (status) {
        haul_remove_unpacked(self.unpacked);
        return status;
    }
    hold_signals(&self);
    status = start(&self, &child, error);
    const int ended = status ? 0 : wait_for(child);
    give_signals_back(&self);
    read_report(&self, &made);
    haul_remove_unpacked(self.unpacked);
    if (status)
        return status;
    made.exit_code = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    haul_error joining;
    if (haul_parts_join(options->output, &made, &joining)) {
        char text[1200];
        if (!made.failure[0]) /* the first cause */
            snprintf(made.failure, sizeof made.failure, "%s",
                     haul_error_format(&joining, text, sizeof text));
    }
    made.met_runtime |= made.has_profile;
    made.has_platform = has_platform();
    made.records_opencl = self.opencl[0] != '\0';
    *recording = made;
    return HAUL_OK;
}

// NOLINTEND(concurrency-mt-unsafe)
