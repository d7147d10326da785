/* The program: one command a file, each usage, options, parse, act, release. */
#ifndef HAUL_CLI_COMMAND_H
#define HAUL_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "haul/page.h"
#include "haul/report.h"
#include "haul/status.h"

/* `run` gets the arguments from the command's own name on and returns the exit code. `usage` is the
 * text of `haul help NAME`; its first line is the synopsis, without "usage: ". */
typedef struct cli_command {
    const char *name;
    const char *summary;
    const char *usage;
    int (*run)(const struct cli_command *self, int argc, char **argv);
    bool has_parts;    /* its first argument is a command again, with a help of its own */
    bool runs_program; /* from its first operand on the arguments are a program's */
} cli_command;

extern const cli_command cli_advise;
extern const cli_command cli_analyze;
extern const cli_command cli_kernel;
extern const cli_command cli_machine;
extern const cli_command cli_overlap;
extern const cli_command cli_project;
extern const cli_command cli_record;
extern const cli_command cli_simulate;

/* The commands of `haul machine` that have a file of their own; `argv` starts with their own name.
 */
int cli_machine_time(const cli_command *self, int argc, char **argv);
int cli_machine_fit(const cli_command *self, int argc, char **argv);

/* Prints "haul: file:line:column: text" on stderr and returns the exit code of error->status. */
int cli_fail(const haul_error *error);

/* Prints "haul NAME: message" and the synopsis on stderr; returns the exit code for wrong use. */
int cli_usage(const cli_command *self, const char *format, ...) HAUL_PRINTF(2, 3);

/* An option with a value, whose text goes to *value, or to value[(*count)++] where it may be given
 * more than once: then there is room for as many as there are arguments. */
typedef struct cli_option {
    const char *name; /* NULL ends a list */
    const char **value;
    char letter; /* of the short form, 0 where it has none */
    int *count;
} cli_option;

/* What is left beside the options. */
typedef struct cli_arguments {
    char **operands;
    int count;
} cli_arguments;

/* What reads arguments returns where the command is to be run; else an exit code, all being said.
 */
enum { CLI_GO_ON = -1 };

/* Prints the usage and returns the exit code. */
int cli_help(const cli_command *self);

/* Reads the arguments after argv[0]; a list has at most 15 options. Returns CLI_GO_ON, the exit
 * code for wrong use, or that of cli_help where -h or --help is among them. */
int cli_arguments_read(const cli_command *self, int argc, char **argv, const cli_option *options,
                       cli_arguments *out);

/* The operand of a command that has one, of the kind `what`. Returns as above. */
int cli_operand_read(const cli_command *self, const cli_arguments *arguments, const char *what,
                     const char **operand);

/* Reads "table", "json" or "csv". */
haul_status cli_format_parse(const char *text, haul_format *format, haul_error *error);

/* Where results go: stdout for NULL or "-", else a new file. Close with cli_output_close, which
 * reports what could not be written. */
haul_status cli_output_open(const char *path, FILE **out, haul_error *error);
haul_status cli_output_close(FILE *out, const char *path, haul_error *error);

/* Closes after writing ended with `status`, and returns it; what could not be written takes the
 * place of an error, for it names the file and the reason. */
haul_status cli_output_finish(FILE *out, const char *path, haul_status status, haul_error *error);

/* The first of `inputs`, which may be NULL, that `output` is another path of, else NULL: a report
 * must not replace what it reports on. */
const char *cli_overwritten(const char *output, const char *const *inputs, size_t count);

/* The options of a command that reports, in which form and where to. */
typedef struct cli_results {
    const char *form; /* --format; NULL: a table */
    const char *output;
    const char *html;
    const char *perfetto;
    haul_format format; /* `form`, read */
} cli_results;

/* Reads the form, and refuses a file that is one of the inputs, and a page where the report goes.
 * Returns CLI_GO_ON, or the exit code for wrong use. */
int cli_results_check(const cli_command *self, cli_results *results, const char *const *inputs,
                      size_t count);

/* What --html FILE asks for: writes the page. Nothing where `path` is NULL. */
haul_status cli_page_write(const char *path, const haul_page *page, haul_error *error);

/* The last part of a path. */
const char *cli_file_name(const char *path);

/* A command as it was given, for people to read; cut where it is very long. Made before the
 * arguments are read, which changes their order. */
typedef struct cli_command_line {
    char text[1024];
} cli_command_line;

void cli_command_text(int argc, char **argv, cli_command_line *line);

/* What --perfetto FILE asks for: writes the trace, and says on stderr what it leaves out. Nothing
 * where `path` is NULL. */
haul_status cli_perfetto_write(const char *path, const haul_drawn *timelines, size_t count,
                               haul_error *error);

/* Shows "WHAT 'SUBJECT' ... 3 s" on stderr where that is a terminal, from the first second on. */
void cli_progress_begin(const char *what, const char *subject);
void cli_progress_end(void);

#endif
