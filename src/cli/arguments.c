/* The arguments of a command: options with a value, --help, and what is left; and as a text. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

enum { MOST_OPTIONS = 15, LONG = 256 /* above every letter */ };

typedef struct known {
    struct option longs[MOST_OPTIONS + 2]; /* and --help, and the end */
    char letters[2 * MOST_OPTIONS + 4];    /* as getopt wants them: ":ho:" */
} known;

static void list_options(const cli_command *command, const cli_option *options, known *self)
{
    char *letter = self->letters;
    if (command->runs_program)
        *letter++ = '+'; /* stop at the first operand */
    *letter++ = ':';
    *letter++ = 'h';
    int count = 0;
    for (; options[count].name && count < MOST_OPTIONS; count++) {
        self->longs[count] =
            (struct option){options[count].name, required_argument, NULL, LONG + count};
        if (!options[count].letter)
            continue;
        *letter++ = options[count].letter;
        *letter++ = ':';
    }
    self->longs[count] = (struct option){"help", no_argument, NULL, 'h'};
}

static const cli_option *find_option(const cli_option *options, int found)
{
    if (found >= LONG)
        return &options[found - LONG];
    while (options->letter != found)
        options++;
    return options;
}

static void keep_value(const cli_option *option, const char *text)
{
    option->value[option->count ? (*option->count)++ : 0] = text;
}

int cli_help(const cli_command *self)
{
    printf("usage: %s", self->usage);
    return 0;
}

int cli_arguments_read(const cli_command *self, int argc, char **argv, const cli_option *options,
                       cli_arguments *out)
{
    known all = {0};
    list_options(self, options, &all);
    bool asks_help = false;
    optind = 0; /* from the start */
    opterr = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
    for (int found; (found = getopt_long(argc, argv, all.letters, all.longs, NULL)) != -1;) {
        if (found == ':')
            return cli_usage(self, "'%s' needs a value", argv[optind - 1]);
        if (found == '?')
            return cli_usage(self, "no option '%s'", argv[optind - 1]);
        if (found == 'h')
            asks_help = true;
        else
            keep_value(find_option(options, found), optarg);
    }
    if (asks_help)
        return cli_help(self);
    out->operands = argv + optind;
    out->count = argc - optind;
    return CLI_GO_ON;
}

int cli_operand_read(const cli_command *self, const cli_arguments *arguments, const char *what,
                     const char **operand)
{
    if (!arguments->count)
        return cli_usage(self, "which %s?", what);
    if (arguments->count > 1)
        return cli_usage(self, "one %s at a time, not also '%s'", what, arguments->operands[1]);
    *operand = arguments->operands[0];
    return CLI_GO_ON;
}

const char *cli_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Whether a shell takes the word as it is. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./_-";
    return *word && !word[strspn(word, plain)];
}

void cli_command_text(int argc, char **argv, cli_command_line *line)
{
    int used = snprintf(line->text, sizeof line->text, "haul");
    for (int i = 0; i < argc && used < (int)sizeof line->text; i++) {
        const char *quote = is_plain(argv[i]) ? "" : "'";
        used += snprintf(line->text + used, sizeof line->text - (size_t)used, " %s%s%s", quote,
                         argv[i], quote);
    }
}
