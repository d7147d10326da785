/* A compiler's messages about a kernel. */
#ifndef HAUL_DEVICE_COMPILE_LOG_H
#define HAUL_DEVICE_COMPILE_LOG_H

#include "haul/device.h"

/* BAD_INPUT with the place and the text of the first error in a compiler's log, which is clang's
 * ("file:3:5: error: ..."), PoCL's ("error: file:3:5: ...") or NVRTC's ("file(3): error: ...");
 * with the log's beginning where there is none of either form. */
haul_status hl_device_fail_compile(const haul_kernel_source *source, const char *log,
                                   haul_error *error);

#endif
