/* What the commands of `haul kernel` take. */
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

/* The options of fit; those of predict begin with the third, of explain with the fourth. */
extern const cli_option kernel_options[];
extern const cli_command cli_kernel_fit, cli_kernel_predict, cli_kernel_explain, cli_kernel_class;

#endif
