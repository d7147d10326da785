/* The program: a command is a table of options, whose values are read into a struct, and a function
 * that acts on it. Help, man pages and completions come from the same tables. */
#ifndef HAUL_CLI_COMMAND_H
#define HAUL_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "haul/page.h"
#include "haul/report.h"
#include "haul/status.h"
#include "haul/trace.h"

/* The kind of a value, and the type of its field. */
typedef enum cli_kind {
    CLI_FLAG,     /* bool; it has no value */
    CLI_TEXT,     /* const char * */
    CLI_TEXTS,    /* cli_texts: it may be given again */
    CLI_WORD,     /* an enumeration, in the order of the words in `takes`, "near|far" */
    CLI_SIDES,    /* cli_sides: "4096x1024" */
    CLI_BYTES,    /* uint64_t */
    CLI_COUNT,    /* uint64_t */
    CLI_NUMBER,   /* double */
    CLI_SECONDS,  /* double */
    CLI_MACHINE,  /* haul_machine *, of the catalogue or a file */
    CLI_MACHINES, /* cli_machines: it may be given again, or as a list with commas */
    CLI_MODEL,    /* haul_model_ref */
    CLI_PROFILE,  /* haul_workload *; as operands, those of one program's processes */
    CLI_PROFILES, /* haul_trace_jobs, of operands: those of one job are joined */
} cli_kind;

/* An option, or a command's operands. Where it is not given its field stays 0. */
typedef struct cli_option {
    const char *name;
    const char *takes; /* what its value is called: "BYTES" */
    cli_kind kind;
    size_t at; /* of its field in the request */
    const char *help;
    const char *missing; /* it has to be given; else the error's text */
    const char *old;     /* an earlier name, still read */
    const char *preset;  /* the text that stands for it where it is not given */
    double least, most;  /* of numbers and sides, where `most` is not 0 */
    char letter;         /* of the short form */
    bool is_input;       /* it names a file that no output may replace */
} cli_option;

typedef struct cli_texts {
    const char **items;
    size_t count;
} cli_texts;

typedef struct cli_machines {
    haul_machine **items;
    char **names; /* as they were given */
    size_t count;
} cli_machines;

typedef struct cli_sides {
    uint64_t side[3];
    size_t count;
} cli_sides;

/* Where results go and in which form. */
typedef struct cli_results {
    const char *output;
    const char *html;
    const char *perfetto;
    const char *junit; /* of the command that has such an option */
    bool keeps_output; /* --output names a file that the command makes, beside the report, which
                        * goes to stdout, or to stderr where the file does */
    haul_report_options options;
    char command[1024]; /* as it was given, for people; cut where it is very long */
} cli_results;

/* The first member of each command's struct. */
typedef struct cli_request {
    cli_results results;
    const char *range; /* what of its profiles is meant */
    const char *device;
    double from_s;
    double to_s;
    const char **operands;
    size_t operand_count;
    const struct cli_given *texts; /* of all options */
    int exit_code; /* where all went well: set by a command that has one of its own */
} cli_request;

/* Whether an option was given. */
bool cli_has(const cli_request *request, const char *name);

typedef struct cli_command cli_command;
struct cli_command {
    const char *name; /* "machine time" */
    const char *summary;
    const char *synopsis;      /* without "haul NAME" */
    const char *about;         /* lines of at most 98 characters */
    const cli_option *options; /* at most 17, ended by {0} */
    cli_option operand;        /* its name is a noun: "profile" */
    size_t least, most;        /* operands */
    const char *output;        /* what --output names; NULL: the report */
    const char *csv;           /* the rows of --format csv */
    const char *exits;         /* exit codes after 0 and 2: "3 ..." */
    const char *examples[2];
    bool has_report;
    bool has_selection; /* its profiles may be looked at in part: --range, --device, a window */
    bool has_html;      /* it draws a page, a timeline */
    bool has_perfetto;
    bool runs_program; /* from its first operand on the arguments are a program's */
    size_t size;       /* of its struct */

    /* Refuses wrong arguments before any file is read; may be NULL. */
    haul_status (*check)(void *request, haul_error *error);
    haul_status (*act)(void *request, haul_error *error);
    const cli_command *const *parts; /* instead of all this, up to NULL: commands of their own */
};

#define CLI_COMMAND(name) extern const cli_command cli_##name;
#include "cli/commands.h"
#undef CLI_COMMAND

/* The commands, up to NULL. */
extern const cli_command *const cli_commands[];

/* Prints "haul: file:line:column: text" on stderr and returns the exit code of error->status. */
int cli_fail(const haul_error *error);

/* Prints "haul NAME: message" and the synopsis on stderr; returns the exit code for wrong use. */
int cli_usage(const cli_command *self, const char *format, ...) HAUL_PRINTF(2, 3);

/* Prints the help of a command on stdout. */
void cli_help(const cli_command *self);

/* Prints its man page; NULL: that of the program. */
void cli_print_page(const cli_command *self);

/* Prints the completion for a shell; false where haul has none for it. */
bool cli_print_completion(const char *shell);

/* The name of a command within its group: "time" of "machine time". */
const char *cli_last_word(const cli_command *command);

/* Reads the arguments after argv[0], loads the machines, models and profiles among them, acts, and
 * returns the exit code. */
int cli_run(const cli_command *self, int argc, char **argv);

enum { CLI_OPTIONS_MOST = 25, CLI_GO_ON = -1 };

/* The options of a command with those of every report. */
typedef struct cli_option_list {
    cli_option items[CLI_OPTIONS_MOST];
    size_t count;
    size_t own; /* of which are the command's */
} cli_option_list;

void cli_options_of(const cli_command *self, cli_option_list *list);

/* The texts that each option was given, in the order of the list; and of the operands at last. */
typedef struct cli_given {
    cli_option_list options;
    cli_texts texts[CLI_OPTIONS_MOST + 1];
} cli_given;

/* Reads the arguments into `given`, whose texts have room for `argc` each, and into the request
 * all that is no file. Returns CLI_GO_ON, or an exit code where the user has the answer. */
int cli_arguments_read(const cli_command *self, int argc, char **argv, cli_given *given,
                       cli_request *request);

/* Where results go: stdout for NULL or "-", else a new file. */
haul_status cli_output_open(const char *path, FILE **out, haul_error *error);

/* Whether that file can be written, for a command that takes long before it does: nothing is
 * changed. */
haul_status cli_output_try(const char *path, haul_error *error);

/* Closes after writing ended with `status`, and returns it; what could not be written takes the
 * place of an error, for it names the file and the reason. */
haul_status cli_output_finish(FILE *out, const char *path, haul_status status, haul_error *error);

/* A machine as such a file. */
haul_status cli_machine_write(const haul_machine *machine, const char *path, haul_error *error);

/* The first of `inputs`, which may be NULL, that `output` is another path of, else NULL: a report
 * must not replace what it reports on. */
const char *cli_overwritten(const char *output, const cli_texts *inputs);

/* Whether two outputs would go to one file, also behind links, also where none is there yet. */
bool cli_same_place(const char *a, const char *b);

/* The columns of a report on `out`: what is asked for with --width, else COLUMNS, else a
 * terminal's; 0: none of these. */
uint64_t cli_width(const cli_results *results, FILE *out);

/* Writes a report where the results go, and frees it. */
haul_status cli_report(const cli_results *results, haul_report *report, haul_error *error);

/* A report, and what is drawn of it where that is asked for. */
typedef struct cli_answer {
    haul_report *report;
    haul_page page;                  /* title, timelines, and what its sections are drawn of */
    const haul_workload *analyzed;   /* its analysis follows the report on the page; may be NULL */
    const haul_machine *machines[2]; /* follow, likewise */
    const char *undrawn;             /* why there is no timeline to draw; NULL: there is one */
} cli_answer;

/* Writes the report, the page of --html and the trace of --perfetto, and frees the report. */
haul_status cli_answer_write(const cli_results *results, cli_answer *answer, haul_error *error);

/* Reads the profiles of one program's processes into one workload, with progress on a terminal. */
haul_status cli_profiles_load(const char *const *paths, size_t count, haul_workload **workload,
                              haul_error *error);

/* The last part of a path. */
const char *cli_file_name(const char *path);

/* Shows "WHAT 'SUBJECT' ... 3 s" on stderr where that is a terminal, from the first second on. */
void cli_progress_begin(const char *what, const char *subject);
void cli_progress_end(void);

#endif
