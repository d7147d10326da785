/* How a command fails: messages on stderr, and the exit code. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

int cli_fail(const haul_error *error)
{
    char text[1200];
    fprintf(stderr, "haul: %s\n", haul_error_format(error, text, sizeof text));
    return haul_status_exit_code(error->status);
}

int cli_usage(const cli_command *self, const char *format, ...)
{
    fprintf(stderr, "haul %s: ", self->name);
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the line before begins it
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nusage: haul %s %s\nsee 'haul help %s'\n", self->name, self->synopsis,
            self->name);
    return haul_status_exit_code(HAUL_STATUS_USAGE);
}

const char *cli_last_word(const cli_command *command)
{
    const char *space = strrchr(command->name, ' ');
    return space ? space + 1 : command->name;
}
