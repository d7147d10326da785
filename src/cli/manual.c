/* Man pages (man(7)) and completions for bash, zsh and fish, from the commands' tables. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "haul/version.h"

/* Calls `visit` for every command that runs: the parts of a group, not the group. */
static void visit_commands(void (*visit)(const cli_command *command))
{
    for (const cli_command *const *at = cli_commands; *at; at++) {
        if (!(*at)->parts)
            visit(*at);
        for (const cli_command *const *part = (*at)->parts; part && *part; part++)
            visit(*part);
    }
}

/* A text of roff: what would be a request or an escape is none, a dash is that of a terminal. */
static void put_roff(const char *text)
{
    bool begins = true;
    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        begins = *text == '\n';
    }
}

static void put_option(const cli_option *option)
{
    fputs(".TP\n\\fB", stdout);
    if (option->letter)
        printf("\\-%c\\fR, \\fB", option->letter);
    fputs("\\-\\-", stdout);
    put_roff(option->name);
    fputs("\\fR \\fI", stdout);
    put_roff(option->takes ? option->takes : "");
    fputs("\\fR\n", stdout);
    put_roff(option->help);
    putchar('\n');
}

static void put_head(const char *name, const char *summary)
{
    fputs(".TH \"HAUL", stdout);
    for (const char *at = name; *at; at++)
        putchar(*at == ' ' ? '-' : toupper((unsigned char)*at));
    printf("\" \"1\" \"\" \"haul %s\" \"haul\"\n.SH NAME\nhaul", haul_version());
    for (const char *at = name; *at; at++)
        fputs(*at == ' ' ? "\\-" : (char[]){*at, '\0'}, stdout);
    fputs(" \\- ", stdout);
    put_roff(summary);
    fputs("\n.SH SYNOPSIS\n", stdout);
}

static void put_commands(const cli_command *const *commands)
{
    fputs(".SH COMMANDS\n", stdout);
    for (; *commands; commands++) {
        fputs(".TP\n\\fBhaul ", stdout);
        put_roff((*commands)->name);
        fputs("\\fR\n", stdout);
        put_roff((*commands)->summary);
        putchar('\n');
    }
}

static void print_program_page(void)
{
    put_head("", "what data movement costs a GPU program");
    fputs(
        "\\fBhaul\\fR \\fICOMMAND\\fR [options] [files]\n.SH DESCRIPTION\n"
        "Explains and predicts the movement of data on machines with GPUs. Each command has a page "
        "of its own, \\fBhaul\\-\\fICOMMAND\\fR(1).\n",
        stdout);
    put_commands(cli_commands);
    fputs(".SH ENVIRONMENT\n.TP\n\\fBHAUL_MACHINES\\fR, \\fBHAUL_KERNELS\\fR\n"
          "folders of more machines and kernels, separated by ':', looked in first\n"
          ".TP\n\\fBCOLUMNS\\fR\nthe width of reports where \\-\\-width is not given\n"
          ".TP\n\\fBNO_COLOR\\fR\nno colour on a terminal\n",
          stdout);
}

void cli_print_page(const cli_command *self)
{
    if (!self) {
        print_program_page();
        return;
    }
    char name[64];
    (void)snprintf(name, sizeof name, " %s", self->name);
    put_head(name, self->summary);
    fputs("\\fBhaul ", stdout);
    put_roff(self->name);
    fputs("\\fR ", stdout);
    put_roff(self->synopsis);
    fputs("\n.SH DESCRIPTION\n", stdout);
    fputs(".nf\n", stdout);
    put_roff(self->about);
    fputs(".fi\n", stdout);
    if (self->parts)
        put_commands(self->parts);
    cli_option_list list;
    cli_options_of(self, &list);
    if (list.count)
        fputs(".SH OPTIONS\n", stdout);
    for (size_t i = 0; i < list.count; i++)
        put_option(&list.items[i]);
    if (self->exits) {
        fputs(".SH EXIT STATUS\n0 done, 2 wrong use, ", stdout);
        put_roff(self->exits);
        putchar('\n');
    }
    fputs(".SH EXAMPLES\n.nf\n", stdout);
    for (int i = 0; i < 2; i++) {
        put_roff(self->examples[i]);
        putchar('\n');
    }
    fputs(".fi\n.SH SEE ALSO\n\\fBhaul\\fR(1)\n", stdout);
}

/* The words that complete an option's value. */
static const char *words_of(const cli_option *option)
{
    return option->kind == CLI_WORD                                      ? option->takes
           : option->kind == CLI_MACHINE || option->kind == CLI_MACHINES ? "machines"
                                                                         : NULL;
}

static void put_words(const char *text)
{
    for (; *text; text++)
        putchar(*text == '|' ? ' ' : *text);
}

static void print_bash_options(const cli_command *self)
{
    cli_option_list list;
    cli_options_of(self, &list);
    printf("    '%s') words='--help", self->name);
    for (size_t i = 0; i < list.count; i++)
        printf(" --%s", list.items[i].name);
    puts("' ;;");
}

static bool takes_machines(const cli_command *self)
{
    return self->operand.kind == CLI_MACHINE || self->operand.kind == CLI_MACHINES;
}

static void print_bash_values(const cli_command *self)
{
    cli_option_list list;
    cli_options_of(self, &list);
    for (size_t i = 0; i < list.count; i++) {
        const char *words = words_of(&list.items[i]);
        if (!words)
            continue;
        printf("    '%s --%s') words=", self->name, list.items[i].name);
        if (list.items[i].kind == CLI_WORD) {
            putchar('\'');
            put_words(words);
            puts("' ;;");
        } else {
            puts("$(_haul_machines) ;;");
        }
    }
    if (takes_machines(self))
        printf("    '%s '*) [[ $current = -* ]] || words=$(_haul_machines) ;;\n", self->name);
}

static void put_names(const cli_command *const *commands)
{
    for (; *commands; commands++)
        printf("%s ", cli_last_word(*commands));
}

static const char machines_function[] =
    "_haul_machines()\n"
    "{\n"
    "    haul machine list --format csv 2>/dev/null | sed -e 1d -e 's/,.*//'\n"
    "}\n"
    "\n";

static void print_bash(void)
{
    printf("# bash completion of haul, as 'haul help --completion bash' prints it\n%s"
           "_haul()\n"
           "{\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local command=${COMP_WORDS[1]} words=\n"
           "    case $COMP_CWORD/$command in\n"
           "    1/*) words='help --version ",
           machines_function);
    put_names(cli_commands);
    puts("' ;;");
    for (const cli_command *const *at = cli_commands; *at; at++) {
        if (!(*at)->parts)
            continue;
        printf("    2/%s) words='", (*at)->name);
        put_names((*at)->parts);
        printf("' ;;\n    */%s) command=\"$command ${COMP_WORDS[2]}\" ;;\n", (*at)->name);
    }
    puts("    esac\n"
         "    case \"$command $before\" in");
    visit_commands(print_bash_values);
    puts("    esac\n"
         "    case $words$current in -*) case $command in");
    visit_commands(print_bash_options);
    /* of a list the last name is completed */
    puts("    esac ;; esac\n"
         "    local list=${current%\"${current##*,}\"}\n"
         "    COMPREPLY=($(compgen -P \"$list\" -W \"$words\" -- \"${current##*,}\"))\n"
         "}\n"
         "complete -o default -F _haul haul");
}

/* Up to the first sign that ends a clause: one line of a menu; quotes and what zsh takes as its own
 * is left out. */
static void put_short(const char *text)
{
    const int length = (int)strcspn(text, ";:,(");
    for (int i = 0; i < length; i++)
        if (!strchr("'[]\\", text[i]))
            putchar(text[i]);
}

static void print_zsh_command(const cli_command *self)
{
    cli_option_list list;
    cli_options_of(self, &list);
    printf("    '%s')\n        _arguments '--help[print this]'", self->name);
    for (size_t i = 0; i < list.count; i++) {
        const cli_option *option = &list.items[i];
        printf(" \\\n            '--%s%s[", option->name, option->kind == CLI_FLAG ? "" : "=");
        put_short(option->help);
        putchar(']');
        if (option->kind == CLI_WORD) {
            fputs(":word:(", stdout);
            put_words(option->takes);
            putchar(')');
        } else if (option->kind != CLI_FLAG) {
            fputs(words_of(option) ? ":machine:_haul_machine_or_file" : ":value:_files", stdout);
        }
        putchar('\'');
    }
    printf(" \\\n            '*:%s' ;;\n",
           takes_machines(self) ? "machine:_haul_machine_or_file" : "file:_files");
}

static void put_zsh_list(const cli_command *const *commands)
{
    for (; *commands; commands++) {
        printf(" '%s:", cli_last_word(*commands));
        put_short((*commands)->summary);
        putchar('\'');
    }
}

static void print_zsh(void)
{
    printf("#compdef haul\n# as 'haul help --completion zsh' prints it\n%s"
           "_haul_machine_or_file()\n"
           "{\n"
           "    compadd -- $(_haul_machines)\n"
           "    _files\n"
           "}\n"
           "\n"
           "_haul()\n"
           "{\n"
           "    local -a names\n"
           "    local command=$words[2]\n"
           "    if (( CURRENT == 2 )); then\n"
           "        names=('help:what a command takes'",
           machines_function);
    put_zsh_list(cli_commands);
    puts(")\n        _describe command names\n        return\n    fi");
    for (const cli_command *const *at = cli_commands; *at; at++) {
        if (!(*at)->parts)
            continue;
        printf("    if [[ $command == %s ]]; then\n        names=(", (*at)->name);
        put_zsh_list((*at)->parts);
        puts(")\n"
             "        (( CURRENT == 3 )) && { _describe command names; return }\n"
             "        command=\"$command $words[3]\"\n"
             "        shift words\n"
             "        (( CURRENT-- ))\n"
             "    fi");
    }
    puts("    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
    visit_commands(print_zsh_command);
    puts("    esac\n}\n\n_haul \"$@\"");
}

static void print_fish_command(const cli_command *self)
{
    cli_option_list list;
    const char *space = strchr(self->name, ' ');
    char condition[160];
    cli_options_of(self, &list);
    if (space)
        (void)snprintf(condition, sizeof condition,
                       "__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s",
                       (int)(space - self->name), self->name, space + 1);
    else
        (void)snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", self->name);
    for (size_t i = 0; i < list.count; i++) {
        const cli_option *option = &list.items[i];
        printf("complete -c haul -n '%s' -l %s", condition, option->name);
        if (option->letter)
            printf(" -s %c", option->letter);
        fputs(option->kind == CLI_FLAG ? " -d '" : " -r -d '", stdout);
        put_short(option->help);
        putchar('\'');
        if (option->kind == CLI_WORD) {
            fputs(" -f -a '", stdout);
            put_words(option->takes);
            putchar('\'');
        } else if (words_of(option)) {
            fputs(" -a '(__haul_machines)'", stdout);
        }
        putchar('\n');
    }
}

static void put_fish_list(const cli_command *const *commands, const char *condition)
{
    for (; *commands; commands++) {
        printf("complete -c haul -f -n '%s' -a %s -d '", condition, cli_last_word(*commands));
        put_short((*commands)->summary);
        puts("'");
    }
}

static void print_fish(void)
{
    char condition[96];
    puts("# fish completion of haul, as 'haul help --completion fish' prints it\n"
         "function __haul_machines\n"
         "    haul machine list --format csv 2>/dev/null | sed -e 1d -e 's/,.*//'\n"
         "end\n");
    put_fish_list(cli_commands, "__fish_use_subcommand");
    for (const cli_command *const *at = cli_commands; *at; at++) {
        if (!(*at)->parts)
            continue;
        (void)snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", (*at)->name);
        put_fish_list((*at)->parts, condition);
    }
    visit_commands(print_fish_command);
}

bool cli_print_completion(const char *shell)
{
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shell, shells[i].shell)) {
            shells[i].print();
            return true;
        }
    return false;
}
