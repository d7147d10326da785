/* The program: one command a file, each usage, options, parse, act, release. */
#ifndef HAUL_CLI_COMMAND_H
#define HAUL_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "haul/page.h"
#include "haul/report.h"
#include "haul/status.h"

/* `usage` begins the text of `haul help NAME`; its first line is the synopsis, without "usage: ".
 * The options of every report follow it. */
typedef struct cli_command {
    const char *name; /* "machine time" */
    const char *summary;
    const char *usage;
    const char *csv;   /* the rows of --format csv; NULL: there is none */
    const char *exits; /* exit codes after 0 and 2: "3 ..." */
    bool has_html;     /* it draws a page, a timeline */
    bool has_perfetto;
    /* gets the arguments from the command's own name on and returns the exit code */
    int (*run)(const struct cli_command *self, int argc, char **argv);
    const struct cli_command *const
        *parts;        /* instead of `run`, up to NULL: commands of their own */
    bool runs_program; /* from its first operand on the arguments are a program's */
} cli_command;

#define CLI_COMMAND(name) extern const cli_command cli_##name;
#include "cli/commands.h"
#undef CLI_COMMAND

/* Prints "haul: file:line:column: text" on stderr and returns the exit code of error->status. */
int cli_fail(const haul_error *error);

/* Prints "haul NAME: message" and the synopsis on stderr; returns the exit code for wrong use. */
int cli_usage(const cli_command *self, const char *format, ...) HAUL_PRINTF(2, 3);

/* An option; a list ends with {0}. Its text goes to *value, or to value[(*count)++] where it may be
 * given more than once: then there is room for as many as there are arguments. */
typedef struct cli_option {
    const char *name;
    const char **value;
    bool *flag; /* instead of `value`: it takes none */
    int *count;
    const char *missing; /* it has to be given; else this is said */
    const char *old;     /* an earlier name, still read */
    char letter;         /* of the short form */
    bool is_input;       /* it names a file that no output may replace */
} cli_option;

/* Where results go and in which form. */
typedef struct cli_results {
    const char *form; /* --format; NULL: a table */
    const char *output;
    const char *html;
    const char *perfetto;
    bool makes_file; /* set beforehand: --output names a file that the command makes, beside the
                      * report, which goes to stdout, or to stderr where the file does */
    haul_report_options options; /* read from these, and --verbose */
    char command[1024];          /* as it was given, for people; cut where it is very long */
} cli_results;

/* What a command takes; the operands are what is left beside the options. */
typedef struct cli_arguments {
    const cli_option *options; /* at most 15 */
    cli_results *results;      /* NULL: it writes no report, and has no options for it */
    const char *operand;       /* what its one operand is, "profile"; NULL: any number */
    char **operands;           /* read: */
    int count;
} cli_arguments;

/* What reads arguments returns this where the command is to be run; else an exit code, all being
 * said. */
enum { CLI_GO_ON = -1 };

/* Prints the usage and returns the exit code. */
int cli_help(const cli_command *self);

/* Reads the arguments after argv[0]. Refuses a report that would replace an input, or a page where
 * the report goes. Returns CLI_GO_ON, the exit code for wrong use, or that of cli_help where -h or
 * --help is among them. */
int cli_arguments_read(const cli_command *self, int argc, char **argv, cli_arguments *arguments);

/* Where results go: stdout for NULL or "-", else a new file. */
haul_status cli_output_open(const char *path, FILE **out, haul_error *error);

/* Closes after writing ended with `status`, and returns it; what could not be written takes the
 * place of an error, for it names the file and the reason. */
haul_status cli_output_finish(FILE *out, const char *path, haul_status status, haul_error *error);

/* The first of `inputs`, which may be NULL, that `output` is another path of, else NULL: a report
 * must not replace what it reports on. */
const char *cli_overwritten(const char *output, const char *const *inputs, size_t count);

/* Writes a report where the results go, and frees it. */
haul_status cli_report(const cli_results *results, haul_report *report, haul_error *error);

/* Writes the page of --html FILE, with the command's line and `reports`, and frees these. Nothing
 * is written where none is asked for. */
haul_status cli_page(const cli_results *results, haul_page *page, haul_report **reports,
                     size_t count, haul_error *error);

/* Writes the trace of --perfetto FILE, and says on stderr what it leaves out. Likewise. */
haul_status cli_perfetto(const cli_results *results, const haul_drawn *timelines, size_t count,
                         haul_error *error);

/* Reads a profile, with progress on a terminal. */
haul_status cli_profile_load(const char *path, haul_workload **workload, haul_error *error);

/* Reads the profiles of one program's processes into one workload. Likewise. */
haul_status cli_profiles_load(const char *const *paths, size_t count, haul_workload **workload,
                              haul_error *error);

/* The last part of a path. */
const char *cli_file_name(const char *path);

/* Shows "WHAT 'SUBJECT' ... 3 s" on stderr where that is a terminal, from the first second on. */
void cli_progress_begin(const char *what, const char *subject);
void cli_progress_end(void);

#endif
