#include "record/record_session.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 100 };

// NOLINTBEGIN(concurrency-mt-unsafe): the environment is read, as every library of the program does

static int64_t number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : 0;
}

static const char *name_of_program(char *buffer, size_t size)
{
    FILE *file = fopen("/proc/self/comm", "re");
    buffer[0] = '\0';
    if (!file)
        return NULL;
    if (fgets(buffer, (int)size, file))
        buffer[strcspn(buffer, "\n")] = '\0';
    fclose(file);
    return buffer;
}

/* One write, so that lines of several processes do not mix. */
static void report(const haul_session_report *said)
{
    char line[800];
    const int length =
        snprintf(line, sizeof line, "%ld %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", said->process,
                 said->operations, said->dropped, said->beyond_limits, said->failure);
    const char *path = getenv(HAUL_RECORD_REPORT);
    const int file = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file >= 0) {
        if (write(file, line, (size_t)length) != length)
            fprintf(stderr, "haul: %s\n", said->failure);
        close(file);
    } else if (said->failure[0]) {
        fprintf(stderr, "haul: recording stopped: %s\n", said->failure);
    }
}

void haul_session_loaded(void)
{
    report(&(haul_session_report){.process = getpid()});
}

static void put_failure(haul_session_report *said, const haul_error *error)
{
    char text[1200];
    if (error->status)
        snprintf(said->failure, sizeof said->failure, "%s",
                 haul_error_format(error, text, sizeof text));
    for (char *at = said->failure; *at; at++)
        if (*at == '\n')
            *at = ' ';
}

/* The profile itself, or where that exists a file beside it. */
static haul_status open_any(haul_profile_options *options, haul_profile_writer **writer,
                            haul_error *error)
{
    const char *output = options->path;
    char path[4096];
    haul_status status = haul_profile_open(options, writer, error);
    for (int i = 0; status && !access(output, F_OK) && i < MOST_FILES; i++) {
        snprintf(path, sizeof path, i ? "%s-%ld.%d" : "%s-%ld", output, (long)getpid(), i);
        if (!access(path, F_OK))
            continue;
        options->path = path;
        status = haul_profile_open(options, writer, error);
        break;
    }
    return status;
}

haul_profile_writer *haul_session_open(void (*collect)(void *context, bool last), void *context)
{
    char program[64];
    haul_profile_options options = {
        .path = getenv(HAUL_RECORD_OUTPUT),
        .program = name_of_program(program, sizeof program),
        .start_ns = number_of(HAUL_RECORD_START),
        .duration_ns = number_of(HAUL_RECORD_DURATION),
        .max_operations = (uint64_t)number_of(HAUL_RECORD_MAX_OPS),
        .collect = collect,
        .context = context,
    };
    if (!options.path || !*options.path)
        return NULL;
    haul_profile_writer *writer = NULL;
    haul_error error;
    if (open_any(&options, &writer, &error)) {
        haul_session_report said = {.process = getpid()};
        put_failure(&said, &error);
        report(&said);
        return NULL;
    }
    return writer;
}

// NOLINTEND(concurrency-mt-unsafe)

void haul_session_close(haul_profile_writer *writer)
{
    haul_profile_result result;
    haul_profile_close(writer, &result);
    haul_session_report said = {
        .process = getpid(),
        .operations = result.operations,
        .dropped = result.dropped,
        .beyond_limits = result.beyond_limits,
    };
    put_failure(&said, &result.failure);
    report(&said);
}

bool haul_session_report_parse(const char *line, haul_session_report *said)
{
    *said = (haul_session_report){0};
    int at = 0;
    // NOLINTNEXTLINE(cert-err34-c): our own numbers
    if (sscanf(line, "%ld %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &said->process,
               &said->operations, &said->dropped, &said->beyond_limits, &at) != 4)
        return false;
    snprintf(said->failure, sizeof said->failure, "%.*s", (int)strcspn(line + at, "\n"), line + at);
    return true;
}
