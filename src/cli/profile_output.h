/* Profiles that commands write: SQLite, JSON or NumPy's arrays, by the file's name. */
#ifndef HAUL_CLI_PROFILE_OUTPUT_H
#define HAUL_CLI_PROFILE_OUTPUT_H

#include "cli/command.h"
#include "haul/trace.h"

#define PROFILE_OUTPUT_HELP "what to write; its name ends in .sqlite, .json or .npz"
#define PROFILE_OUTPUT_MISSING "where to? give --output FILE"

/* Writes a workload to `path`. */
haul_status cli_profile_write(const haul_workload *workload, const char *path, haul_error *error);

/* Refuses a name that ends otherwise: the check of a command that writes a profile. */
haul_status cli_profile_output_check(void *request, haul_error *error);

#endif
