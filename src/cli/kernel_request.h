/* Arguments that commands of `haul kernel` share. */
#ifndef HAUL_CLI_KERNEL_REQUEST_H
#define HAUL_CLI_KERNEL_REQUEST_H

#include "cli/command.h"
#include "haul/kernel_file.h"

enum { KERNEL_LIST_MOST = 256 };

typedef struct kernel_request {
    cli_request given;
    cli_machines machines;
    const char *kernel;
    const char *model;
    const char *csv;
    cli_sides block;
    cli_texts size_texts;
    haul_kernel_fit_kind calibration;

    /* read by kernel_sizes_read: */
    double sizes[KERNEL_LIST_MOST];
    size_t size_count;
    const char *files[KERNEL_LIST_MOST];
    size_t file_count;
} kernel_request;

/* Reads the sizes. Numbers that stand alone behind a --size are further sizes; the other operands
 * are files. */
haul_status kernel_sizes_read(kernel_request *self, haul_error *error);

extern const cli_option kernel_fit_options[], kernel_predict_options[], kernel_explain_options[];
extern const cli_command cli_kernel_fit, cli_kernel_predict, cli_kernel_explain, cli_kernel_class,
    cli_kernel_scale;

/* Machines by name, each loaded once: rows of a table name the same few. Zero is none. */
typedef struct kernel_machines {
    haul_machine **items;
    char **names;
    size_t count;
} kernel_machines;

haul_status kernel_machines_find(kernel_machines *self, const char *name,
                                 const haul_machine **machine, haul_error *error);
void kernel_machines_release(kernel_machines *self);

#endif
