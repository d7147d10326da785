/* The session that both recorders have inside the program. To survive fork and exec, it is handed
 * on in the environment alone. */
#include "record/record_session.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NAME_TRIES = 100,
    LONGEST_PATH = 4096,
};

// NOLINTBEGIN(concurrency-mt-unsafe): the environment is read, as every library of the program does

/* 0 where it is not there: no limit, or no recording. */
static int64_t number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : 0;
}

const char *hl_record_session_program(const char *process, char *buffer, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/comm", process);
    FILE *file = fopen(path, "re");
    buffer[0] = '\0';
    if (file && fgets(buffer, (int)size, file))
        buffer[strcspn(buffer, "\n")] = '\0';
    if (file)
        fclose(file);
    return buffer;
}

/* A line, "" for none, in one write, so that those of several processes do not mix. */
static void say_line(const char *what)
{
    char line[1300], path[LONGEST_PATH];
    const char *folder = getenv(HAUL_RECORD_FOLDER);
    if (!folder)
        return;
    snprintf(path, sizeof path, "%.4000s/" HL_RECORD_SAID, folder);
    const int length = snprintf(line, sizeof line, "%s\n", what);
    const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0)
        return;
    if (write(file, line, (size_t)length) != length && what[0])
        fprintf(stderr, "haul: %s\n", what);
    close(file);
}

bool hl_record_session_asks_for_stacks(void)
{
    return number_of(HAUL_RECORD_STACKS) > 0;
}

bool hl_record_session_start_thread(pthread_t *thread, void *(*function)(void *))
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = !pthread_create(thread, NULL, function, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void hl_record_session_loaded(void)
{
    say_line("");
}

void hl_record_session_failed(const char *why)
{
    say_line(why);
}

/* A folder that is gone means that haul has ended: the program goes on unrecorded, without a word.
 * */
hl_record_profile_writer *hl_record_session_open(bool has_calls_only)
{
    char program[64], text[1200];
    const char *folder = getenv(HAUL_RECORD_FOLDER);
    hl_record_profile_options options = {
        .has_calls_only = has_calls_only,
        .program = hl_record_session_program("self", program, sizeof program),
        .start_ns = number_of(HAUL_RECORD_START),
        .duration_ns = number_of(HAUL_RECORD_DURATION),
        .max_operations = (uint64_t)number_of(HAUL_RECORD_MAX_OPS),
    };
    if (!folder || !*folder || access(folder, W_OK))
        return NULL;
    hl_record_profile_writer *writer = NULL;
    haul_error error = {.status = HAUL_STATUS_IO};
    /* A process has one writer for each interface, and others after exec. haul takes a ring's name
     * away once it has met it, so a name is never used again: it has the time. The file is made
     * exclusively: two recorders of one process that begin at once get two names. */
    char path[LONGEST_PATH];
    haul_status status = HAUL_STATUS_IO;
    options.path = path;
    for (int i = 0; i < NAME_TRIES; i++) {
        snprintf(path, sizeof path, "%.4000s/%ld.%" PRId64, folder, (long)getpid(),
                 hl_record_profile_now());
        if (!access(path, F_OK))
            continue;
        status = hl_record_profile_open(&options, &writer, &error);
        if (!status || access(path, F_OK))
            break;
    }
    options.path = NULL;
    if (!status)
        return writer;
    say_line(haul_error_format(&error, text, sizeof text));
    return NULL;
}

// NOLINTEND(concurrency-mt-unsafe)
