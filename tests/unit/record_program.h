/* Runs haul record on tests/tools/cl_program, in a folder of its own for each test. */
#ifndef HAUL_TESTS_RECORD_PROGRAM_H
#define HAUL_TESTS_RECORD_PROGRAM_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "haul/trace.h"

static char folder[64];
static char path[96];
static char said[4096]; /* on stderr */
static char printed[4096];

static inline int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/haul-record-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/profile.sqlite", folder);
    return 0;
}

static inline void remove_file(const char *name)
{
    char file_name[160];
    snprintf(file_name, sizeof file_name, "%s/%s", folder, name);
    remove(file_name);
}

/* Nothing but the profile may be left. */
static inline int end(void **state)
{
    (void)state;
    remove(path);
    remove_file("printed");
    remove_file("said");
    return rmdir(folder);
}

/* Runs a command of the shell; returns its status, as system() does. */
static inline int shell(const char *format, ...)
{
    char command[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

static inline void read_file(const char *name, char *text, size_t size)
{
    char file_name[160];
    snprintf(file_name, sizeof file_name, "%s/%s", folder, name);
    FILE *file = fopen(file_name, "r");
    const size_t length = file ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
}

/* Runs `haul record OPTIONS -- cl_program WHAT`; returns its exit code. */
static inline int record(const char *options, const char *what)
{
    const int status = shell("%s record --force -o %s %s -- %s %s >%s/printed 2>%s/said </dev/null",
                             HAUL_PROGRAM, path, options, CL_PROGRAM, what, folder, folder);
    read_file("printed", printed, sizeof printed);
    read_file("said", said, sizeof said);
    if (WEXITSTATUS(status) == 77) {
        print_message("%s", printed);
        skip();
    }
    return WEXITSTATUS(status);
}

static inline haul_workload *load(void)
{
    haul_workload *workload = NULL;
    haul_error error = {0};
    if (haul_trace_load(path, &workload, &error))
        fail_msg("%s (%s)", error.text, said);
    return workload;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
