/* Profiles as files, for convert and cut. */
#ifndef HAUL_CLI_PROFILE_OUTPUT_H
#define HAUL_CLI_PROFILE_OUTPUT_H

#include "cli/command.h"
#include "haul/trace.h"

/* Checks the profiles and where they go. Returns CLI_GO_ON or the exit code for wrong use. */
int cli_profile_output_check(const cli_command *self, const cli_arguments *arguments,
                             const char *output);

/* Writes SQLite or JSON, by the end of the path. */
haul_status cli_profile_write(const haul_workload *workload, const char *path, haul_error *error);

#endif
