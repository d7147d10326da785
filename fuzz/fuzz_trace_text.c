/* Whatever the bytes of a file, a trace that is a text, gzipped or not, is refused with a reason or
 * read into a workload that holds. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "convert_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    (void)fuzz_path(path, sizeof path, "");
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    HOLDS(file >= 0 && write(file, data, size) == (ssize_t)size);
    close(file);
    haul_workload *workload = NULL;
    haul_error error = {0};
    if (haul_trace_load(path, &workload, &error)) {
        HOLDS(error.status && error.text[0] && error.file[0] && !workload);
    } else {
        workload_check(workload);
        fuzz_cut(workload);
        fuzz_converted(workload, size % 2);
        haul_workload_free(workload);
    }
    unlink(path);
    return 0;
}
