/* What both recorders share inside the program. The environment is the only thing they are given,
 * for it is what survives fork and exec. */
#include "record/record_session.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PARTS = 100, LONGEST_PATH = 4096 };

// NOLINTBEGIN(concurrency-mt-unsafe): the environment is read, as every library of the program does

/* 0 where it is not there: no limit, or no recording. */
static int64_t number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : 0;
}

const char *haul_session_program(const char *process, char *buffer, size_t size)
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
static void say(const char *what)
{
    char line[1300], path[LONGEST_PATH];
    const char *folder = getenv(HAUL_RECORD_FOLDER);
    if (!folder)
        return;
    snprintf(path, sizeof path, "%.4000s/" HAUL_RECORD_SAID, folder);
    const int length = snprintf(line, sizeof line, "%s\n", what);
    const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0)
        return;
    if (write(file, line, (size_t)length) != length && what[0])
        fprintf(stderr, "haul: %s\n", what);
    close(file);
}

bool haul_session_start_thread(pthread_t *thread, void *(*function)(void *))
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = !pthread_create(thread, NULL, function, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void haul_session_loaded(void)
{
    say("");
}

/* A process has one writer for each interface, and others after exec. */
static haul_status open_any(const char *folder, haul_profile_options *options,
                            haul_profile_writer **writer, haul_error *error)
{
    char path[LONGEST_PATH];
    haul_status status = HAUL_IO;
    options->path = path;
    /* The file is made exclusively, so two recorders of one process that begin at once get two
     * names. */
    for (int i = 0; i < MOST_PARTS; i++) {
        snprintf(path, sizeof path, "%.4000s/%ld.%d", folder, (long)getpid(), i);
        if (!access(path, F_OK))
            continue;
        status = haul_profile_open(options, writer, error);
        if (!status || access(path, F_OK))
            break;
    }
    options->path = NULL;
    return status;
}

/* A folder that is gone means that haul has ended: the program goes on unrecorded, without a word.
 * */
haul_profile_writer *haul_session_open(void)
{
    char program[64], text[1200];
    const char *folder = getenv(HAUL_RECORD_FOLDER);
    haul_profile_options options = {
        .program = haul_session_program("self", program, sizeof program),
        .start_ns = number_of(HAUL_RECORD_START),
        .duration_ns = number_of(HAUL_RECORD_DURATION),
        .max_operations = (uint64_t)number_of(HAUL_RECORD_MAX_OPS),
    };
    if (!folder || !*folder || access(folder, W_OK))
        return NULL;
    haul_profile_writer *writer = NULL;
    haul_error error = {.status = HAUL_IO};
    if (!open_any(folder, &options, &writer, &error))
        return writer;
    say(haul_error_format(&error, text, sizeof text));
    return NULL;
}

// NOLINTEND(concurrency-mt-unsafe)
