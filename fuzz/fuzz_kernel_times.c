/* Tables of measured kernels: rows that are read hold what a row may; what is refused has a place
 * and a reason. Counts can be kept as a kernel file and read back. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/kernel_file.h"
#include "haul/kernel_times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const haul_kernel_measured *row)
{
    assert(row->line > 0 && !strcmp(row->file, "input"));
    assert(row->seconds >= 0 && row->size >= 0 && isfinite(row->size));
    if (!row->is_counted)
        return;
    const haul_kernel_counts *counts = &row->counts;
    assert(counts->threads >= 1 && counts->block > 0 && counts->comp >= 0);
    assert(counts->loads_global >= 0 && counts->stores_global >= 0);
    assert(counts->l1_hits + counts->l2_hits <= counts->loads_global * 1.001);
}

/* Writing what may not be read back (sizes without bound) is refused by the reader alone. */
static void check_kept(const haul_kernel_measured *row)
{
    const haul_kernel_sample sample = {
        .size = row->size, .seconds = row->seconds, .counts = row->counts};
    const haul_kernel_samples samples = {&sample, 1};
    char *text = NULL;
    size_t size = 0;
    haul_error error = {0};
    FILE *out = open_memstream(&text, &size);
    assert(out && !haul_kernel_file_write(NULL, row->kernel ? row->kernel : "k", "m", &samples, out,
                                          &error));
    assert(!fclose(out));
    haul_kernel_file *kernel = NULL;
    if (!haul_kernel_file_parse(text, size, "kept", &kernel, &error))
        assert(kernel->sample_count == 1);
    else
        assert(error.text[0] && !kernel);
    haul_kernel_file_free(kernel);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    haul_kernel_times *times = NULL;
    haul_error error = {0};
    const haul_kernel_csv file = {.path = "input"};
    if (haul_kernel_times_parse(text, size, file, &times, &error)) {
        assert(!times && error.status == HAUL_STATUS_BAD_INPUT && error.text[0]);
        assert(!strcmp(error.file, "input"));
    } else {
        assert(times->count);
        for (size_t i = 0; i < times->count; i++) {
            check_row(&times->rows[i]);
            if (times->rows[i].is_counted && times->rows[i].size >= 1)
                check_kept(&times->rows[i]);
        }
        haul_kernel_times_free(times);
    }
    free(text);
    return 0;
}
