/* The program `haul`: finds the command. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/command.h"
#include "haul/version.h"

static void print_commands(FILE *out)
{
    fputs("usage: haul COMMAND [options] [files]\n"
          "       haul PROFILE... [options]         the first answer: haul analyze\n"
          "\n"
          "Explains and predicts the movement of data on machines with GPUs.\n"
          "\n",
          out);
    for (int i = 0; cli_commands[i]; i++)
        fprintf(out, "  %-14s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("  help COMMAND   what a command takes; --man: as a man page\n"
          "  help --completion bash|zsh|fish\n"
          "                 the completion for a shell\n"
          "  --version      the version and what it was built with\n"
          "\n"
          "-o names what a command makes: a report, a profile or a machine file.\n"
          "\n"
          "A profile is a file of Nsight Systems, nvprof, PyTorch's profiler, rocprofv3, rpd or\n"
          "'haul record', or a folder of them, one for each process. The Python package brings\n"
          "'haul demo', a first minute without a profile, and 'haul mcp', for assistants.\n",
          out);
}

static bool is_help(const char *word)
{
    return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

static const cli_command *find_command(const cli_command *const *among, const char *word)
{
    while (*among && strcmp(cli_last_word(*among), word) != 0)
        among++;
    return *among;
}

/* Commands of other packages are programs, as git has it: `haul mcp` is haul-mcp of the Python
 * package, beside this program or on the PATH. Returns where there is none. */
static void start_program(char **argv)
{
    enum { PATH_BYTES = 4096 };
    char program[PATH_BYTES];
    char *const word = argv[1];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *const slash = strrchr(program, '/');
    char *const name = slash ? slash + 1 : program;
    const size_t room = (size_t)(program + sizeof program - name);
    const int written = snprintf(name, room, "haul-%s", word);
    if (!word[strcspn(word, "/")] && written > 0 && (size_t)written < room) {
        argv[1] = name;
        if (slash)
            execv(program, argv + 1);
        execvp(name, argv + 1);
        argv[1] = word;
    }
}

static int fail_command(const cli_command *group, const char *word)
{
    enum { COMMANDS = 32 };
    const cli_command *const *among = group ? group->parts : cli_commands;
    const char *names[COMMANDS] = {NULL};
    char meant[80];
    size_t count = 0;
    for (; among && among[count] && count < COMMANDS; count++)
        names[count] = cli_last_word(among[count]);
    haul_name_suggest(word, names, count, meant, sizeof meant);
    if (group)
        return cli_usage(group, "no command '%s'%s", word, meant);
    if (!strcmp(word, "demo") || !strcmp(word, "mcp"))
        (void)snprintf(meant, sizeof meant, " in this program: the Python package has it");
    fprintf(stderr, "haul: no command '%s'%s\nsee 'haul help'\n", word, meant);
    return haul_status_exit_code(HAUL_STATUS_USAGE);
}

/* haul help [--man] [COMMAND [PART]], haul help --completion SHELL */
static int print_help(int count, char **words)
{
    const bool is_page = count && !strcmp(words[0], "--man");
    if (count && !strcmp(words[0], "--completion")) {
        if (count == 2 && cli_print_completion(words[1]))
            return 0;
        fputs("haul help: completion for which shell? bash, zsh or fish\n", stderr);
        return haul_status_exit_code(HAUL_STATUS_USAGE);
    }
    count -= is_page;
    words += is_page;
    const cli_command *const *among = cli_commands;
    const cli_command *command = NULL;
    for (int i = 0; i < count && among && !is_help(words[i]); i++) {
        const cli_command *found = find_command(among, words[i]);
        if (!found)
            return fail_command(command, words[i]);
        command = found;
        among = found->parts;
    }
    if (is_page)
        cli_print_page(command);
    else if (command)
        cli_help(command);
    else
        print_commands(stdout);
    return 0;
}

static int start_command(int argc, char **argv)
{
    if (argc < 2) {
        print_commands(stderr);
        return haul_status_exit_code(HAUL_STATUS_USAGE);
    }
    if (is_help(argv[1]))
        return print_help(argc - 2, argv + 2);
    if (!strcmp(argv[1], "--version")) {
        printf("haul %s\n", haul_version());
        haul_part part;
        for (size_t i = 0; haul_part_get(i, &part); i++)
            printf("  %-8s %-8s %s\n", part.name, part.version, part.purpose);
        return 0;
    }
    const cli_command *command = find_command(cli_commands, argv[1]);
    if (!command)
        start_program(argv);
    /* the name of a file that is there, or has what names of files have */
    if (!command && argv[1][0] != '-' &&
        (argv[1][strcspn(argv[1], "./")] || !access(argv[1], F_OK)))
        return cli_run(&cli_analyze, argc, argv);
    if (!command)
        return fail_command(NULL, argv[1]);
    if (!command->parts)
        return cli_run(command, argc - 1, argv + 1);
    if (argc < 3)
        return cli_usage(command, "what to do is missing");
    if (is_help(argv[2]))
        return print_help(1, argv + 1);
    const cli_command *part = find_command(command->parts, argv[2]);
    return part ? cli_run(part, argc - 2, argv + 2) : fail_command(command, argv[2]);
}

/* Output without a report, such as a command's help, may meet a full disk too. */
int main(int argc, char **argv)
{
#ifdef __GLIBC__
    /* Else glibc comes to keep freed blocks of up to 32 MB for others, which seldom fit: a tenth of
     * the peak of a million names. */
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
    (void)mallopt(M_MMAP_THRESHOLD, 16 << 20);
#endif
    const int code = start_command(argc, argv);
    if (code || (!fflush(stdout) && !ferror(stdout)))
        return code;
    fputs("haul: cannot write 'standard output'\n", stderr);
    return haul_status_exit_code(HAUL_STATUS_IO);
}
