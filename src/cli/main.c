#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "haul/version.h"

static const cli_command *const commands[] = {&cli_analyze, &cli_advise,   &cli_project,
                                              &cli_overlap, &cli_simulate, &cli_kernel,
                                              &cli_machine, &cli_record};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

int cli_fail(const haul_error *error)
{
    char text[1200];
    fprintf(stderr, "haul: %s\n", haul_error_format(error, text, sizeof text));
    return haul_status_exit_code(error->status);
}

static int synopsis_length(const cli_command *command)
{
    return (int)strcspn(command->usage, "\n");
}

int cli_usage(const cli_command *self, const char *format, ...)
{
    fprintf(stderr, "haul %s: ", self->name);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nusage: %.*s\nsee 'haul help %s'\n", synopsis_length(self), self->usage,
            self->name);
    return haul_status_exit_code(HAUL_USAGE);
}

static const cli_command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static void print_commands(FILE *out)
{
    fputs("usage: haul COMMAND [options] [files]\n"
          "\n"
          "Explains and predicts the movement of data on machines with GPUs.\n"
          "\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-14s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help COMMAND   what a command takes\n"
          "  --version      the version and what it was built with\n",
          out);
}

static void print_version(void)
{
    printf("haul %s\n", haul_version());
    haul_part part;
    for (size_t i = 0; haul_part_get(i, &part); i++)
        printf("  %-8s %-8s %s\n", part.name, part.version, part.purpose);
}

/* `part`: as 'time' in 'haul help machine time', or NULL. */
static int run_help(const cli_command *command, const char *part)
{
    char name[40], word[40], help[] = "--help";
    snprintf(name, sizeof name, "%s", command->name);
    snprintf(word, sizeof word, "%s", part ? part : help);
    char *words[] = {name, word, help, NULL};
    return command->run(command, part ? 3 : 2, words);
}

static int print_help(int argc, char **argv)
{
    const cli_command *command = argc > 2 ? find_command(argv[2]) : NULL;
    if (argc > 2 && !command) {
        fprintf(stderr, "haul help: no command '%s'\n", argv[2]);
        return haul_status_exit_code(HAUL_USAGE);
    }
    if (command)
        return run_help(command, command->has_parts && argc > 3 ? argv[3] : NULL);
    print_commands(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_commands(stderr);
        return haul_status_exit_code(HAUL_USAGE);
    }
    if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return print_help(argc, argv);
    if (!strcmp(argv[1], "--version")) {
        print_version();
        return 0;
    }
    const cli_command *command = find_command(argv[1]);
    if (!command) {
        fprintf(stderr, "haul: no command '%s'; see 'haul help'\n", argv[1]);
        return haul_status_exit_code(HAUL_USAGE);
    }
    return command->run(command, argc - 1, argv + 1);
}
