/* The arguments of a command: its options, those of every report, --help, and what is left. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

enum { MOST_OPTIONS = 20, LONG = 256 /* above every letter */ };

/* All options of a command, as getopt wants them. */
typedef struct known {
    cli_option options[MOST_OPTIONS];
    int count;
    struct option longs[2 * MOST_OPTIONS + 2]; /* with old names, --help and the end */
    int of[2 * MOST_OPTIONS];                  /* option of each long name */
    int long_count;
    char letters[2 * MOST_OPTIONS + 5]; /* "+:ho:" */
} known;

static void add_name(known *self, const char *name)
{
    const int takes = self->options[self->count].flag ? no_argument : required_argument;
    self->longs[self->long_count] = (struct option){name, takes, NULL, LONG + self->long_count};
    self->of[self->long_count++] = self->count;
}

static void add_option(known *self, const cli_option *option)
{
    self->options[self->count] = *option;
    add_name(self, option->name);
    if (option->old)
        add_name(self, option->old);
    if (option->letter)
        (void)snprintf(self->letters + strlen(self->letters), 3, "%c%s", option->letter,
                       option->flag ? "" : ":");
    self->count++;
}

static void list_options(const cli_command *command, const cli_arguments *arguments, known *self)
{
    cli_results *results = arguments->results;
    /* '+': stop at the first operand */
    (void)snprintf(self->letters, sizeof self->letters, "%s:h", command->runs_program ? "+" : "");
    for (const cli_option *option = arguments->options; option && option->name; option++)
        add_option(self, option);
    if (results) {
        add_option(self, &(cli_option){"format", .value = &results->form});
        add_option(self, &(cli_option){"output", .value = &results->output, .letter = 'o'});
        add_option(self,
                   &(cli_option){"verbose", .flag = &results->options.verbose, .letter = 'v'});
    }
    if (results && command->has_html)
        add_option(self, &(cli_option){"html", .value = &results->html});
    if (results && command->has_perfetto)
        add_option(self, &(cli_option){"perfetto", .value = &results->perfetto});
    self->longs[self->long_count] = (struct option){"help", no_argument, NULL, 'h'};
}

static void keep_value(known *self, int found, const char *text)
{
    const cli_option *option = self->options;
    if (found >= LONG)
        option += self->of[found - LONG];
    else
        while (option->letter != found)
            option++;
    if (option->flag)
        *option->flag = true;
    else
        option->value[option->count ? (*option->count)++ : 0] = text;
}

/* Whether a shell takes the word as it is. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./_-";
    return *word && !word[strspn(word, plain)];
}

/* Pages say which command made them. */
static void keep_command(int argc, char **argv, char *text, size_t size)
{
    int used = snprintf(text, size, "haul");
    for (int i = 0; i < argc && used < (int)size; i++) {
        const char *quote = is_plain(argv[i]) ? "" : "'";
        used += snprintf(text + used, size - (size_t)used, " %s%s%s", quote, argv[i], quote);
    }
}

static int check_operand(const cli_command *self, const cli_arguments *arguments)
{
    if (!arguments->operand)
        return CLI_GO_ON;
    if (!arguments->count)
        return cli_usage(self, "which %s?", arguments->operand);
    if (arguments->count > 1)
        return cli_usage(self, "one %s at a time, not also '%s'", arguments->operand,
                         arguments->operands[1]);
    return CLI_GO_ON;
}

static const char *skip_here(const char *path)
{
    while (path[0] == '.' && path[1] == '/' && path[2])
        path += 2;
    return path;
}

enum { LONGEST_PATH = 4096, MOST_LINKS = 8 };

/* What a link names, also where that is not there yet; `text` has LONGEST_PATH bytes. */
static const char *behind_links(const char *path, char *text)
{
    for (int i = 0; i < MOST_LINKS; i++) {
        char target[LONGEST_PATH], whole[2 * LONGEST_PATH];
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length <= 0)
            break;
        target[length] = '\0';
        const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
        (void)snprintf(whole, sizeof whole, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path,
                       target);
        const size_t bytes = strlen(whole) + 1;
        if (bytes > LONGEST_PATH)
            break;
        path = memcpy(text, whole, bytes);
    }
    return path;
}

/* By name, for they may not be there yet; or one file of two names. */
static bool is_same_place(const char *a, const char *b)
{
    char behind_a[LONGEST_PATH], behind_b[LONGEST_PATH];
    return !strcmp(skip_here(behind_links(a, behind_a)), skip_here(behind_links(b, behind_b))) ||
           cli_overwritten(a, &b, 1);
}

/* An input that an output would replace, or NULL. */
static const char *find_lost(const known *self, const cli_arguments *arguments, const char *output)
{
    const char *lost =
        cli_overwritten(output, (const char *const *)arguments->operands, (size_t)arguments->count);
    for (int i = 0; !lost && i < self->count; i++) {
        const cli_option *option = &self->options[i];
        if (option->is_input)
            lost =
                cli_overwritten(output, option->value, option->count ? (size_t)*option->count : 1);
    }
    return lost;
}

static int check_outputs(const cli_command *self, const known *all, const cli_arguments *arguments)
{
    const cli_results *results = arguments->results;
    const struct {
        const char *path;
        const char *name;
    } outputs[] = {
        {results->html, "--html"},
        {results->perfetto, "--perfetto"},
        {results->output ? results->output : "-", "the report"},
    };
    enum { OUTPUTS = sizeof outputs / sizeof *outputs };
    for (size_t i = 0; i < OUTPUTS; i++) {
        const char *lost = find_lost(all, arguments, outputs[i].path);
        if (lost)
            return cli_usage(self, "'%s' would be overwritten by the %s", lost,
                             results->makes_file ? "result" : "report");
        for (size_t j = i + 1; outputs[i].path && j < OUTPUTS; j++)
            if (outputs[j].path && is_same_place(outputs[i].path, outputs[j].path))
                return cli_usage(self, "%s and %s would go to the same place", outputs[i].name,
                                 outputs[j].name);
    }
    return CLI_GO_ON;
}

static int check_format(const cli_command *self, cli_results *results)
{
    static const char *const names[] = {"table", "json", "csv"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(results->form ? results->form : names[0], names[i])) {
            results->options.format = (haul_format)i;
            return CLI_GO_ON;
        }
    return cli_usage(self, "no format '%.40s': table, json or csv", results->form);
}

static int check(const cli_command *self, const known *all, const cli_arguments *arguments)
{
    int code = check_operand(self, arguments);
    for (int i = 0; code == CLI_GO_ON && i < all->count; i++)
        if (all->options[i].missing && !*all->options[i].value)
            code = cli_usage(self, "%s", all->options[i].missing);
    if (code == CLI_GO_ON && arguments->results)
        code = check_format(self, arguments->results);
    if (code == CLI_GO_ON && arguments->results)
        code = check_outputs(self, all, arguments);
    return code;
}

int cli_help(const cli_command *self)
{
    printf("usage: %s", self->usage);
    if (self->csv)
        printf("\noptions of every report:\n"
               "  --format table|json|csv       how to print (table); json is described in\n"
               "                                docs/json.md; csv: %s\n"
               "  -o, --output FILE             print to a file\n"
               "  -v, --verbose                 print the method and all tables, too\n",
               self->csv);
    if (self->has_html)
        fputs("  --html FILE                   write a page for a browser, too: docs/page.md\n",
              stdout);
    if (self->has_perfetto)
        fputs("  --perfetto FILE               write the timeline for ui.perfetto.dev, too\n",
              stdout);
    if (self->exits)
        printf("  -h, --help                    print this\n\nexit code: 0 done, 2 wrong use, %s\n",
               self->exits);
    return 0;
}

int cli_arguments_read(const cli_command *self, int argc, char **argv, cli_arguments *arguments)
{
    known all = {0};
    bool asks_help = false;
    if (arguments->results) /* before their order changes */
        keep_command(argc, argv, arguments->results->command, sizeof arguments->results->command);
    list_options(self, arguments, &all);
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
            keep_value(&all, found, optarg);
    }
    if (asks_help)
        return cli_help(self);
    arguments->operands = argv + optind;
    arguments->count = argc - optind;
    return check(self, &all, arguments);
}
