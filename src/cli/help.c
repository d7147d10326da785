/* The help of a command, from its table. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

enum { TEXT_AT = 32, WIDTH = 98 };

/* Prints a text in lines that begin at column `at`, the first of which has come to `column`. */
static void print_text(int column, int at, const char *text)
{
    if (column > at || (column == at && at)) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", at - column, "");
    column = at;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > at && column + 1 + length > WIDTH) {
            printf("\n%*s", at, "");
            column = at;
        }
        column += printf("%s%.*s", column > at ? " " : "", length, text);
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

static void print_options(const cli_option *options, size_t count, const char *csv)
{
    for (size_t i = 0; i < count; i++) {
        char head[80];
        const char letter[] = {'-', options[i].letter, ',', ' ', '\0'};
        const int column = snprintf(
            head, sizeof head, "  %s--%s%s%s", options[i].letter ? letter : "", options[i].name,
            options[i].takes ? " " : "", options[i].takes ? options[i].takes : "");
        printf("%s", head);
        print_text(column, TEXT_AT, options[i].help);
        if (csv && !strcmp(options[i].name, "format")) {
            char text[200];
            (void)snprintf(text, sizeof text, "csv: %s", csv);
            print_text(0, TEXT_AT, text);
        }
    }
}

void cli_help(const cli_command *self)
{
    cli_option_list list;
    printf("usage: haul %s %s\n\n%s", self->name, self->synopsis, self->about);
    if (self->parts)
        putchar('\n');
    for (size_t i = 0; self->parts && self->parts[i]; i++)
        printf("  %-24s %s\n", self->parts[i]->name, self->parts[i]->summary);
    cli_options_of(self, &list);
    if (list.own)
        printf("\noptions:\n");
    print_options(list.items, list.own, NULL);
    if (list.count > list.own)
        printf("\noptions of every report:\n");
    print_options(list.items + list.own, list.count - list.own, self->csv);
    printf("  -h, --help");
    print_text(12, TEXT_AT, "print this");
    if (self->exits) {
        char text[300];
        (void)snprintf(text, sizeof text, "exit code: 0 done, 2 wrong use, %s", self->exits);
        putchar('\n');
        print_text(0, 0, text);
    }
    printf("\nexamples:\n  %s\n  %s\n", self->examples[0], self->examples[1]);
}
