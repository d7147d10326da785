#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "haul/version.h"

static const cli_command *const commands[] = {
#define CLI_COMMAND(name) &cli_##name,
#include "cli/commands.h"
#undef CLI_COMMAND
    NULL,
};

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
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nusage: %.*s\nsee 'haul help %s'\n", (int)strcspn(self->usage, "\n"),
            self->usage, self->name);
    return haul_status_exit_code(HAUL_USAGE);
}

static void print_commands(FILE *out)
{
    fputs("usage: haul COMMAND [options] [files]\n"
          "\n"
          "Explains and predicts the movement of data on machines with GPUs.\n"
          "\n",
          out);
    for (int i = 0; commands[i]; i++)
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

static bool is_help(const char *word)
{
    return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* By the last word of its name. */
static const cli_command *find(const cli_command *const *among, const char *word)
{
    for (; *among; among++) {
        const char *space = strrchr((*among)->name, ' ');
        if (!strcmp(space ? space + 1 : (*among)->name, word))
            return *among;
    }
    return NULL;
}

static int help(int count, char **words)
{
    if (!count || is_help(words[0])) {
        print_commands(stdout);
        return 0;
    }
    const cli_command *command = find(commands, words[0]);
    if (!command) {
        fprintf(stderr, "haul help: no command '%s'\n", words[0]);
        return haul_status_exit_code(HAUL_USAGE);
    }
    if (!command->parts || count < 2 || is_help(words[1]))
        return cli_help(command);
    const cli_command *part = find(command->parts, words[1]);
    return part ? cli_help(part) : cli_usage(command, "no command '%s'", words[1]);
}

static int run(const cli_command *command, int argc, char **argv)
{
    if (!command->parts)
        return command->run(command, argc, argv);
    if (argc < 2)
        return cli_usage(command, "what to do is missing");
    if (is_help(argv[1]))
        return cli_help(command);
    const cli_command *part = find(command->parts, argv[1]);
    return part ? part->run(part, argc - 1, argv + 1)
                : cli_usage(command, "no command '%s'", argv[1]);
}

static int start(int argc, char **argv)
{
    if (argc < 2) {
        print_commands(stderr);
        return haul_status_exit_code(HAUL_USAGE);
    }
    if (is_help(argv[1]))
        return help(argc - 2, argv + 2);
    if (!strcmp(argv[1], "--version")) {
        print_version();
        return 0;
    }
    const cli_command *command = find(commands, argv[1]);
    if (!command) {
        fprintf(stderr, "haul: no command '%s'; see 'haul help'\n", argv[1]);
        return haul_status_exit_code(HAUL_USAGE);
    }
    return run(command, argc - 1, argv + 1);
}

/* What a command prints without a report, such as its help, may meet a full disk too. */
int main(int argc, char **argv)
{
    const int code = start(argc, argv);
    if (code || (!fflush(stdout) && !ferror(stdout)))
        return code;
    fputs("haul: cannot write 'standard output'\n", stderr);
    return haul_status_exit_code(HAUL_IO);
}
