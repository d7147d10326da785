/* `haul record` itself: it makes the child, gives it the environment in which the recorders load,
 * reads their rings until all have ended, and moves the profile to its name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/record.h"
#include "record/collector.h"
#include "record/group_witness.h"
#include "record/output_file.h"
#include "record/record_session.h"
#include "record/ring_folder.h"
#include "record/unpacked.h"

enum {
    LONGEST_PATH = HL_RECORD_LONGEST_PATH,
    ROUND_MS = 20,        /* between two readings of the rings */
    BUSY_BYTES = 1 << 20, /* of which more in a round: the next follows at once */
    TELL_AFTER_MS = 1000, /* that haul waits for what the program left */
};

// NOLINTBEGIN(concurrency-mt-unsafe): the environment is read, and set in the child alone

/* The settings that the program is run with. */
typedef struct launch {
    const haul_recording_options *options;
    hl_record_output_file output;
    hl_record_ring_folder folder;
    char opencl[LONGEST_PATH]; /* the libraries that record, "" for none */
    char cuda[LONGEST_PATH];
    char mpi[LONGEST_PATH];
    char unpacked[LONGEST_PATH];   /* the folder of those that were written, "" for none */
    struct sigaction child_action; /* of SIGCHLD before us */
    sigset_t mask;                 /* before us */
    hl_record_group_witness witness;
    hl_record_collector collector;
    int talk; /* a socket: the child waits there for the folder, and says why it fails */
    pid_t child;
} launch;

static void tell_user(const launch *self, const char *text)
{
    if (self->options->told)
        self->options->told(self->options->context, text);
}

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

/* The recorders' files: written from their images where there are any, else found. */
static haul_status provide_libraries(launch *self, haul_error *error)
{
    const struct {
        const haul_recorder_image *image;
        const char *name;
        char *path;
    } libraries[] = {
        {&self->options->opencl, "libhaul-record-opencl.so", self->opencl},
        {&self->options->cuda, "libhaul-record-cuda.so", self->cuda},
    };
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < sizeof libraries / sizeof *libraries; i++) {
        if (libraries[i].image->size)
            status =
                hl_record_unpack_recorder(self->unpacked, libraries[i].image, libraries[i].name,
                                          libraries[i].path, LONGEST_PATH, error);
        else
            find_library(libraries[i].name, libraries[i].path, LONGEST_PATH);
    }
    if (self->options->mpi)
        find_library("libhaul-record-mpi.so", self->mpi, sizeof self->mpi);
    if (!status && self->options->mpi && !self->mpi[0])
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "no library to record MPI with: build haul with an MPI (packages "
                              "libopenmpi-dev or libmpich-dev)");
    if (status || self->opencl[0] || self->cuda[0] || self->mpi[0])
        return status;
    return haul_error_set(error, HAUL_STATUS_ABSENT,
                          "no library to record with: build haul with OpenCL's headers (packages "
                          "ocl-icd-opencl-dev and opencl-headers)");
}

/* --- the child: it waits before it becomes the program, whose number the profile's name may hold
 */

static void set_number(const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    if (value)
        setenv(name, text, 1);
    else
        unsetenv(name);
}

static void set_environment(const launch *self, const char *folder)
{
    char text[2 * LONGEST_PATH];
    /* The user's own layers: within a recording, without that one's recorder, which would write
     * into this recording's folder, too. */
    const char *list = getenv("OPENCL_LAYERS"), *outer = getenv(HAUL_RECORD_LAYERS);
    if (list && outer && getenv(HAUL_RECORD_FOLDER) && !strcmp(list, outer))
        list = getenv(HAUL_RECORD_THEIRS);
    const char *theirs = list ? list : "";
    setenv(HAUL_RECORD_FOLDER, folder, 1);
    set_number(HAUL_RECORD_START, self->collector.start_ns);
    set_number(HAUL_RECORD_DURATION, (int64_t)(self->options->duration_s * 1e9));
    set_number(HAUL_RECORD_MAX_OPS, (int64_t)self->options->max_operations);
    set_number(HAUL_RECORD_STACKS, self->options->stacks);
    if (self->opencl[0]) { /* a list with colons: a link in the folder is for paths with one */
        setenv(HAUL_RECORD_THEIRS, theirs, 1);
        theirs = getenv(HAUL_RECORD_THEIRS); /* the list itself may be the outer recording's */
        snprintf(text, sizeof text, "%s%s%s%s", theirs ? theirs : "", theirs && *theirs ? ":" : "",
                 strchr(self->opencl, ':') ? folder : self->opencl,
                 strchr(self->opencl, ':') ? "/" HL_RECORD_RING_FOLDER_LINK : "");
        setenv("OPENCL_LAYERS", text, 1);
        setenv(HAUL_RECORD_LAYERS, text, 1);
    }
    if (self->cuda[0])
        setenv("CUDA_INJECTION64_PATH", self->cuda, 1);
    if (self->mpi[0]) { /* in front of the MPI, and of what else is there */
        const char *others = getenv("LD_PRELOAD");
        snprintf(text, sizeof text, "%s%s%s", self->mpi, others && *others ? ":" : "",
                 others ? others : "");
        setenv("LD_PRELOAD", text, 1);
    }
}

/* Says through `talk`, which exec closes, why the program cannot be run. */
static _Noreturn void become(const launch *self, int talk)
{
    char *const *program = self->options->program;
    char folder[LONGEST_PATH] = "";
    if (read(talk, folder, sizeof folder - 1) <= 0)
        _exit(127); /* haul could not begin */
    sigaction(SIGCHLD, &self->child_action, NULL);
    pthread_sigmask(SIG_SETMASK, &self->mask, NULL);
    set_environment(self, folder);
    execvp(program[0], program);
    const int reason = errno;
    if (write(talk, &reason, sizeof reason) != (ssize_t)sizeof reason)
        _exit(126);
    _exit(127);
}

static haul_status make_child(launch *self, haul_error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return haul_error_set(error, HAUL_STATUS_IO, "cannot make a pair of sockets");
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    self->child = fork();
    if (!self->child) {
        close(ends[1]);
        become(self, ends[0]);
    }
    close(ends[0]);
    self->talk = ends[1];
    if (self->child > 0)
        return HAUL_OK;
    close(ends[1]);
    return haul_error_set(error, HAUL_STATUS_IO, "cannot start a process");
}

/* Lets the child become the program, in whose environment `folder` is; "" gives it up. */
static haul_status let_go(launch *self, const char *folder, haul_error *error)
{
    int reason = 0;
    const size_t length = strlen(folder);
    const bool ran = length && write(self->talk, folder, length) == (ssize_t)length &&
                     read(self->talk, &reason, sizeof reason) == 0;
    close(self->talk);
    if (ran)
        return HAUL_OK;
    waitpid(self->child, NULL, 0);
    char text[128];
    if (strerror_r(reason, text, sizeof text))
        text[0] = '\0';
    return haul_error_set(error, HAUL_STATUS_IO, "cannot run '%.300s': %s",
                          self->options->program[0], text);
}

/* --- before */

/* The name may hold the program's number, so it is known only once the child is there. */
static haul_status take_output(launch *self, haul_error *error)
{
    bool ranked;
    HAUL_TRY(hl_record_output_name(self->options->output, (long)self->child, self->output.name,
                                   &ranked, error));
    if (ranked) {
        char text[LONGEST_PATH + 200];
        snprintf(
            text, sizeof text,
            "one of several MPI processes: the profile's name has neither %%p nor %%q{...}, so "
            "it gets the rank: '%s'",
            self->output.name);
        tell_user(self, text);
    }
    return hl_record_output_open(&self->output, self->options->replace, error);
}

/* All that can fail is done before the program runs: a mistake costs no profile. */
static haul_status start(launch *self, haul_error *error)
{
    HAUL_TRY(make_child(self, error));
    self->collector = (hl_record_collector){.folder = self->folder.path,
                                            .path = self->output.temporary,
                                            .start_ns = hl_record_profile_now()};
    haul_status status = take_output(self, error);
    if (!status && (status = hl_record_ring_folder_make(&self->folder, self->opencl, error)))
        hl_record_output_drop(&self->output);
    if (status) {
        let_go(self, "", NULL);
        return status;
    }
    /* Some settings in the program's environment do not take effect. */
    char text[LONGEST_PATH + 200];
    const char *tool = getenv("CUDA_INJECTION64_PATH");
    if (getenv(HAUL_RECORD_FOLDER))
        tell_user(self, "this runs within another recording, which sees nothing of this program");
    else if (tool && *tool && self->cuda[0]) {
        snprintf(text, sizeof text,
                 "CUDA_INJECTION64_PATH is '%.4000s', which is not loaded: CUDA loads one tool",
                 tool);
        tell_user(self, text);
    }
    status = let_go(self, self->folder.path, error);
    if (status) {
        hl_record_ring_folder_remove(&self->folder);
        hl_record_output_drop(&self->output);
    }
    return status;
}

/* --- while it runs */

/* Signals that end a process and can be caught, but for faults of its own. */
static const int taken_signals[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1,
                                    SIGUSR2, SIGALRM, SIGPIPE, SIGXCPU, SIGVTALRM,
                                    SIGPROF, SIGPOLL, SIGPWR,  SIGCHLD};

static void fill_taken(sigset_t *taken)
{
    sigemptyset(taken);
    for (size_t i = 0; i < sizeof taken_signals / sizeof taken_signals[0]; i++)
        sigaddset(taken, taken_signals[i]);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        sigaddset(taken, signal);
}

/* Signals are taken one by one from here on; SIGCHLD must not be ignored for that. SIGXFSZ would
 * come of a profile larger than the limit of files. */
static void hold_signals(launch *self)
{
    sigset_t held;
    fill_taken(&held);
    sigaddset(&held, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &held, &self->mask);
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigemptyset(&plain.sa_mask);
    sigaction(SIGCHLD, &plain, &self->child_action);
}

static void give_signals_back(const launch *self)
{
    static const struct timespec now = {0};
    sigset_t size;
    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    if (!sigismember(&self->mask, SIGXFSZ))
        while (sigtimedwait(&size, NULL, &now) == SIGXFSZ)
            ; /* of our own writes */
    sigaction(SIGCHLD, &self->child_action, NULL);
    pthread_sigmask(SIG_SETMASK, &self->mask, NULL);
}

/* Reads the rings, and sleeps until the next round unless there was much. Returns the signal that
 * came within the round; 0 for none but SIGCHLD. */
static int next_round(launch *self, bool *alone)
{
    hl_record_collector_read(&self->collector, false);
    /* A terminal sends its own to the program too, and so does who sends it to the group:
     * `alone` is of the others. */
    static const struct timespec now = {0};
    const struct timespec round = {
        .tv_nsec = (self->collector.bytes_read > BUSY_BYTES ? 0 : ROUND_MS) * 1000000L};
    sigset_t taken, same;
    siginfo_t info;
    fill_taken(&taken);
    const int signal = sigtimedwait(&taken, &info, &round);
    if (signal <= 0 || signal == SIGCHLD)
        return 0;
    const bool saw = hl_record_group_witness_saw(&self->witness, signal);
    if (saw) { /* the group's own, behind one for us */
        sigemptyset(&same);
        sigaddset(&same, signal);
        sigtimedwait(&same, NULL, &now);
    }
    /* An alarm that was set before haul began is the program's, as alarms outlive exec. A pipe of
     * haul's own that broke is not. */
    *alone = !saw && (info.si_code <= 0 || signal == SIGALRM) &&
             !(signal == SIGPIPE && info.si_pid == getpid());
    return signal;
}

static int wait_for_child(launch *self)
{
    int status;
    for (;;) {
        bool alone = false;
        const pid_t ended = waitpid(self->child, &status, WNOHANG);
        if (ended == self->child || (ended < 0 && errno != EINTR))
            return ended == self->child ? status : 0;
        const int signal = next_round(self, &alone);
        if (signal && alone)
            kill(self->child, signal);
    }
}

/* Waits for processes that are recorded, until a signal comes. */
static void wait_for_left(launch *self)
{
    bool told = false, alone;
    long pid = 0;
    const int64_t begin_ns = hl_record_profile_now();
    hl_record_collector_read(&self->collector, true);
    while (hl_record_collector_has_writer(&self->collector, &pid) && !next_round(self, &alone)) {
        char text[200];
        if (told || hl_record_profile_now() - begin_ns < TELL_AFTER_MS * INT64_C(1000000))
            continue;
        snprintf(
            text, sizeof text,
            "the program has ended; process %ld, which it left, is recorded on (Ctrl-C ends the "
            "recording)",
            pid);
        tell_user(self, text);
        told = true;
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

/* Reads the recorders' lines: an empty one when a runtime was loaded, else what failed. */
/* The first failure is told; the others are mostly the same one in other processes. */
static void read_said(launch *self, haul_recording *recording)
{
    char line[HL_RECORD_LONGEST_PATH + 16];
    snprintf(line, sizeof line, "%s/" HL_RECORD_SAID, self->folder.path);
    FILE *file = fopen(line, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        recording->met_runtime = true;
        self->collector.lost[HL_RECORD_LOSS_NO_RECORDERS].count += line[0] != '\0';
        if (line[0] && !recording->failure[0])
            snprintf(recording->failure, sizeof recording->failure, "%.599s", line);
    }
    if (file)
        fclose(file);
}

/* Rings are read to their end before the folder goes; the profile gets its name last. */
static haul_status end_recording(launch *self, int ended, haul_recording *made, haul_error *error)
{
    char cause[800];
    const int64_t ended_ns = hl_record_profile_now();
    wait_for_left(self);
    hl_record_ring_folder_users(&self->folder, hl_record_collector_has_finished, &self->collector,
                                made->running, sizeof made->running);
    read_said(self, made);
    cause[0] = '\0';
    if (WIFSIGNALED(ended))
        snprintf(cause, sizeof cause, "the program was killed by signal %d (%s)", WTERMSIG(ended),
                 strsignal(WTERMSIG(ended)));
    if (made->running[0])
        snprintf(cause + strlen(cause), sizeof cause - strlen(cause), "%s%s ran on",
                 cause[0] ? "; " : "", made->running);
    made->exit_code = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    hl_record_collector_finish(&self->collector, cause, ended_ns, made);
    hl_record_ring_folder_remove(&self->folder);
    snprintf(made->output, sizeof made->output, "%s", self->output.name);
    made->met_runtime |= made->has_profile;
    made->has_platform = has_platform();
    made->records_opencl = self->opencl[0] != '\0';
    if (made->has_profile)
        return hl_record_output_keep(&self->output, error);
    hl_record_output_drop(&self->output);
    return HAUL_OK;
}

/* Signals are held from before the child is made: one that comes meanwhile is not lost, and reaches
 * the program. */
static haul_status run_program(launch *self, haul_recording *made, haul_error *error)
{
    haul_status status = provide_libraries(self, error);
    if (!status) {
        hold_signals(self);
        hl_record_group_witness_start(&self->witness);
        status = start(self, error);
        if (!status)
            status = end_recording(self, wait_for_child(self), made, error);
        hl_record_group_witness_end(&self->witness);
        give_signals_back(self);
    }
    hl_record_remove_unpacked(self->unpacked);
    return status;
}

haul_status haul_recording_run(const haul_recording_options *options, haul_recording *recording,
                               haul_error *error)
{
    launch *self = calloc(1, sizeof *self);
    haul_recording *made = calloc(1, sizeof *made);
    haul_status status = HAUL_OK;
    if (self && made) {
        self->options = options;
        status = run_program(self, made, error);
        if (!status)
            *recording = *made;
    } else {
        status = hl_base_fail_no_memory(error);
    }
    free(made);
    free(self);
    return status;
}

// NOLINTEND(concurrency-mt-unsafe)
