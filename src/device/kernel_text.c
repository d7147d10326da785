/* The text that a device compiles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "haul/kernel_source.h"

/* haul/kernel_source.h itself. */
HAUL_KERNEL_TEXT(hl_device_prelude, "hl_device_prelude", HAUL_KERNEL_PRELUDE)

haul_status haul_kernel_text(const haul_kernel_source *source, char **text, haul_error *error)
{
    const size_t prelude = (size_t)(hl_device_prelude_text_end - hl_device_prelude_text);
    const size_t own = (size_t)(source->text_end - source->text);
    const size_t place = strlen(source->file) + sizeof "\n#line 1 \"\"\n";
    enum { FUSED = 128 };
    char *made = malloc(FUSED + prelude + place + own + 1), *at = made;
    if (!made)
        return hl_base_fail_no_memory(error);
    if (source->fused_bytes)
        at += snprintf(at, FUSED,
                       "#define HAUL_FUSED_BYTES %u\n#define HAUL_FUSED_WIDTH %u\n"
                       "#define HAUL_FUSED_HEIGHT %u\n",
                       source->fused_bytes, source->group[0], source->group[1]);
    memcpy(at, hl_device_prelude_text, prelude);
    at += prelude;
    at += snprintf(at, place, "\n#line 1 \"%s\"\n", source->file);
    memcpy(at, source->text, own);
    at[own] = '\0';
    /* The kernel's own #include of the prelude, which the device's compiler has no file for,
     * becomes a comment of the same length. */
    char *include = strstr(at, "#include \"haul/kernel_source.h\"");
    if (include)
        include[0] = include[1] = '/';
    *text = made;
    return HAUL_OK;
}
