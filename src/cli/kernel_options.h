/* What the subcommands of `haul kernel` take. */
#ifndef HAUL_CLI_KERNEL_OPTIONS_H
#define HAUL_CLI_KERNEL_OPTIONS_H

#include "cli/command.h"
#include "haul/kernel_file.h"

enum { KERNEL_LIST_MOST = 256 };

typedef struct kernel_options {
    const char *files[KERNEL_LIST_MOST];
    size_t file_count;
    const char *machine_names[KERNEL_LIST_MOST];
    size_t machine_count;
    double sizes[KERNEL_LIST_MOST];
    size_t size_count;
    const char *kernel;
    const char *model;
    haul_kernel_fit_kind lambda;
    int block[3]; /* sides; 0: any */
    cli_results results;
} kernel_options;

/* Reads the arguments, `argv` from the subcommand's name on. Numbers that stand alone beside a
 * --size are further sizes. Returns as cli_arguments_read. */
int kernel_options_parse(const cli_command *self, int argc, char **argv, kernel_options *out);

/* The machines that they name, in an array as long as the options' list. */
haul_status kernel_machines_load(const kernel_options *options, haul_machine **machines,
                                 haul_error *error);
void kernel_machines_free(haul_machine **machines, size_t count);

/* The subcommands; each returns the exit code. */
int kernel_fit_run(const cli_command *self, const kernel_options *options);
int kernel_predict_run(const cli_command *self, const kernel_options *options);
int kernel_explain_run(const cli_command *self, const kernel_options *options);

#endif
