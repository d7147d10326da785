/* The arguments of a command, by its table of options: texts first, then values. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "haul/units.h"

enum { LONG = 256 /* above every letter */ };

/* The options as getopt wants them; a long one is found as LONG and its place in the list. */
typedef struct getopt_options {
    struct option longs[2 * CLI_OPTIONS_MOST + 2]; /* with old names, --help and the end */
    char letters[2 * CLI_OPTIONS_MOST + 5];
} getopt_options;

static void describe_options(const cli_command *self, const cli_option_list *list,
                             getopt_options *out)
{
    /* '+': stop at the first operand */
    int used = snprintf(out->letters, sizeof out->letters, "%s:h", self->runs_program ? "+" : "");
    struct option *next = out->longs;
    *next++ = (struct option){"help", no_argument, NULL, 'h'};
    for (size_t i = 0; i < list->count; i++) {
        const cli_option *option = &list->items[i];
        const int takes = option->kind == CLI_FLAG ? no_argument : required_argument;
        *next++ = (struct option){option->name, takes, NULL, LONG + (int)i};
        if (option->old)
            *next++ = (struct option){option->old, takes, NULL, LONG + (int)i};
        if (option->letter)
            used += snprintf(out->letters + used, sizeof out->letters - (size_t)used, "%c%s",
                             option->letter, takes == no_argument ? "" : ":");
    }
}

static int find_options(const cli_command *self, int argc, char **argv, cli_given *given)
{
    const cli_option_list *list = &given->options;
    getopt_options known = {.letters = ""};
    bool asks_help = false;
    describe_options(self, list, &known);
    optind = 0; /* from the start */
    opterr = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
    for (int found; (found = getopt_long(argc, argv, known.letters, known.longs, NULL)) != -1;) {
        if (found == ':')
            return cli_usage(self, "'%s' needs a value", argv[optind - 1]);
        if (found == '?') {
            const char *word = argv[optind - 1];
            char dashed[CLI_OPTIONS_MOST][32], text[80], meant[80];
            const char *names[CLI_OPTIONS_MOST];
            for (size_t i = 0; i < list->count; i++) {
                (void)snprintf(dashed[i], sizeof dashed[i], "--%s", list->items[i].name);
                names[i] = dashed[i];
            }
            (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(word, "="), word);
            return cli_usage(self, "no option '%s'%s", word,
                             haul_name_suggest(text, names, list->count, meant, sizeof meant));
        }
        size_t i = found >= LONG ? (size_t)(found - LONG) : 0;
        while (found < LONG && i < list->count && list->items[i].letter != found)
            i++;
        asks_help = asks_help || found == 'h';
        if (found != 'h')
            given->texts[i].items[given->texts[i].count++] = optarg ? optarg : "";
    }
    if (asks_help)
        cli_help(self);
    return asks_help ? 0 : CLI_GO_ON;
}

static int check_operands(const cli_command *self, const cli_texts *operands)
{
    const char *noun = self->operand.name;
    if (operands->count < self->least)
        return self->least == 1 ? cli_usage(self, "which %s?", noun)
                                : cli_usage(self, "expected two %ss", noun);
    if (operands->count > self->most)
        return self->most
                   ? cli_usage(self, "%s %s%s at a time, not also '%s'",
                               self->most == 1 ? "one" : "two", noun, self->most == 1 ? "" : "s",
                               operands->items[self->most])
                   : cli_usage(self, "it takes no files or names, not '%s'", operands->items[0]);
    return CLI_GO_ON;
}

static int check_outputs(const cli_command *self, const cli_given *given,
                         const cli_results *results)
{
    const struct {
        const char *path;
        const char *name;
    } outputs[] = {
        {results->html, "--html"},
        {results->perfetto, "--perfetto"},
        {results->junit, "--junit"},
        {results->output ? results->output : "-", "the report"},
    };
    enum { OUTPUTS = sizeof outputs / sizeof *outputs };
    for (size_t i = 0; i < OUTPUTS; i++) {
        /* An input that an output would replace, or NULL. */
        const size_t count = given->options.count;
        const char *lost = cli_overwritten(outputs[i].path, &given->texts[count]);
        for (size_t k = 0; !lost && k < count; k++)
            if (given->options.items[k].is_input)
                lost = cli_overwritten(outputs[i].path, &given->texts[k]);
        if (lost)
            return cli_usage(self, "'%s' would be overwritten by the %s", lost,
                             self->output ? "result" : "report");
        for (size_t j = i + 1; outputs[i].path && j < OUTPUTS; j++)
            if (outputs[j].path && cli_same_place(outputs[i].path, outputs[j].path))
                return cli_usage(self, "%s and %s would go to the same place", outputs[i].name,
                                 outputs[j].name);
    }
    return CLI_GO_ON;
}

static haul_status fail_text(const cli_option *option, const char *text, haul_error *error)
{
    static const char *const nouns[] = {[CLI_BYTES] = "a size",
                                        [CLI_COUNT] = "a whole number",
                                        [CLI_NUMBER] = "a number",
                                        [CLI_SECONDS] = "a time"};
    const haul_dimension dimension = option->kind == CLI_BYTES     ? HAUL_DIM_BYTES
                                     : option->kind == CLI_SECONDS ? HAUL_DIM_SECONDS
                                                                   : HAUL_DIM_NUMBER;
    char least[48], most[48];
    haul_quantity_format(option->least, dimension, 6, least, sizeof least);
    haul_quantity_format(option->most, dimension, 6, most, sizeof most);
    if (option->kind == CLI_SIDES)
        return haul_error_set(error, HAUL_STATUS_USAGE, "expected numbers such as %s, not '%.40s'",
                              option->takes, text);
    if (option->most >= 1e300)
        return haul_error_set(error, HAUL_STATUS_USAGE, "expected %s from %s on, not '%.40s'",
                              nouns[option->kind], least, text);
    return haul_error_set(error, HAUL_STATUS_USAGE, "expected %s from %s to %s, not '%.40s'",
                          nouns[option->kind], least, most, text);
}

static haul_status read_word(const cli_option *option, const char *text, void *field,
                             haul_error *error)
{
    int number = 0;
    for (const char *word = option->takes; *word; number++) {
        const size_t length = strcspn(word, "|");
        if (strlen(text) == length && !strncasecmp(text, word, length)) {
            memcpy(field, &number, sizeof number);
            return HAUL_OK;
        }
        word += length + (word[length] == '|');
    }
    return haul_error_set(error, HAUL_STATUS_USAGE, "expected %s, not '%.40s'", option->takes,
                          text);
}

/* Up to three whole numbers with an 'x' between them. */
static haul_status read_sides(const cli_option *option, const char *text, cli_sides *field,
                              haul_error *error)
{
    cli_sides sides = {.count = 0};
    const char *at = text;
    while (sides.count < 3 && *at >= '1' && *at <= '9') {
        char *end;
        const unsigned long long side = strtoull(at, &end, 10);
        if ((double)side > option->most || (*end && *end != 'x'))
            break;
        sides.side[sides.count++] = side;
        if (!*end) {
            *field = sides;
            return HAUL_OK;
        }
        at = end + 1;
    }
    return fail_text(option, text, error);
}

/* Numbers are within the option's limits where it has any. */
static haul_status read_number(const cli_option *option, const char *text, void *field,
                               haul_error *error)
{
    uint64_t bytes = 0;
    double value = 0;
    const haul_status status =
        option->kind == CLI_BYTES
            ? haul_bytes_parse(text, &bytes, error)
            : haul_quantity_parse(text,
                                  option->kind == CLI_SECONDS ? HAUL_DIM_SECONDS : HAUL_DIM_NUMBER,
                                  &value, error);
    if (status && (option->kind == CLI_SECONDS || !(option->most > 0)))
        return status;
    if (option->kind == CLI_BYTES)
        value = (double)bytes;
    if (status || (option->most > 0 && !(value >= option->least && value <= option->most)) ||
        (option->kind == CLI_COUNT && value != floor(value)))
        return fail_text(option, text, error);
    if (option->kind == CLI_NUMBER || option->kind == CLI_SECONDS)
        *(double *)field = value;
    else
        *(uint64_t *)field = option->kind == CLI_BYTES ? bytes : (uint64_t)value;
    return HAUL_OK;
}

bool cli_has(const cli_request *request, const char *name)
{
    const cli_given *given = request->texts;
    size_t i = 0;
    while (i < given->options.count && strcmp(given->options.items[i].name, name) != 0)
        i++;
    return given->texts[i].count > 0;
}

/* Reads an option's last text; machines, models and profiles are loaded later. */
static haul_status read_value(const cli_option *option, const char *text, void *field,
                              haul_error *error)
{
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return HAUL_OK;
    case CLI_TEXT:
        *(const char **)field = text;
        return HAUL_OK;
    case CLI_WORD:
        return read_word(option, text, field, error);
    case CLI_SIDES:
        return read_sides(option, text, field, error);
    case CLI_BYTES:
    case CLI_COUNT:
    case CLI_NUMBER:
    case CLI_SECONDS:
        return read_number(option, text, field, error);
    case CLI_TEXTS:
    case CLI_MACHINE:
    case CLI_MACHINES:
    case CLI_MODEL:
    case CLI_PROFILE:
    case CLI_PROFILES:
        break;
    }
    return HAUL_OK;
}

static int read_values(const cli_command *self, cli_given *given, cli_request *request)
{
    for (size_t i = 0; i < given->options.count; i++) {
        const cli_option *option = &given->options.items[i];
        cli_texts *texts = &given->texts[i];
        void *field = (char *)request + option->at;
        haul_error error;
        if (!texts->count && option->preset)
            texts->items[texts->count++] = option->preset;
        if (!texts->count && option->missing)
            return cli_usage(self, "%s", option->missing);
        if (option->kind == CLI_TEXTS)
            *(cli_texts *)field = *texts;
        if (texts->count && read_value(option, texts->items[texts->count - 1], field, &error))
            return cli_usage(self, "--%s: %s", option->name, error.text);
    }
    return CLI_GO_ON;
}

int cli_arguments_read(const cli_command *self, int argc, char **argv, cli_given *given,
                       cli_request *request)
{
    /* Pages say which command made them. */
    const size_t size = sizeof request->results.command;
    int used = snprintf(request->results.command, size, "haul %s", self->name);
    for (int i = 1; i < argc && used < (int)size; i++) {
        /* A shell takes words of these characters as they are. */
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "@%+=:,./_-";
        const char *quote = *argv[i] && !argv[i][strspn(argv[i], plain)] ? "" : "'";
        used += snprintf(request->results.command + used, size - (size_t)used, " %s%s%s", quote,
                         argv[i], quote);
    }
    int code = find_options(self, argc, argv, given);
    if (code != CLI_GO_ON)
        return code;
    cli_texts *operands = &given->texts[given->options.count];
    for (int i = optind; i < argc; i++)
        operands->items[operands->count++] = argv[i];
    request->texts = given;
    request->operands = operands->items;
    request->operand_count = operands->count;
    request->results.keeps_output = self->output != NULL;
    code = check_operands(self, operands);
    if (code == CLI_GO_ON)
        code = read_values(self, given, request);
    haul_report_options *report = &request->results.options;
    if (code == CLI_GO_ON && report->table && report->format != HAUL_FORMAT_CSV) {
        if (cli_has(request, "format"))
            return cli_usage(self, "--table is printed as CSV");
        report->format = HAUL_FORMAT_CSV;
    }
    if (code == CLI_GO_ON && (self->has_report || self->output))
        code = check_outputs(self, given, &request->results);
    haul_error error;
    if (code == CLI_GO_ON && self->check && self->check(request, &error))
        code = cli_usage(self, "%s", error.text);
    return code;
}
