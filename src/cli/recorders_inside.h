/* The recorders within the program, for those who copy it as one file. */
#ifndef HAUL_CLI_RECORDERS_INSIDE_H
#define HAUL_CLI_RECORDERS_INSIDE_H

#include "haul/record.h"

/* Of size 0 where the build put none inside. */
haul_recorder_image hl_cli_opencl_recorder_inside(void);
haul_recorder_image hl_cli_cuda_recorder_inside(void);

#endif
