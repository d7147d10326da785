/* Kernel files: what is read gives, at any size, counts that can be, or an error with a place; what
 * is refused has a place and a reason. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "haul/kernel_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_counts(const haul_kernel_counts *counts)
{
    assert(counts->threads >= 1 && counts->block >= 1 && counts->comp >= 0);
    assert(counts->loads_global >= 0 && counts->stores_global >= 0);
    assert(counts->l1_hits + counts->l2_hits <= counts->loads_global * 1.001);
    assert(counts->flops >= 0 && counts->bytes >= 0 && counts->bytes <= 1e27);
}

static void check_size(const haul_kernel_file *kernel, double n)
{
    haul_kernel_counts counts = {0};
    haul_error error = {0};
    if (!haul_kernel_file_at(kernel, n, &counts, &error)) {
        assert(n >= kernel->from && n <= kernel->to);
        check_counts(&counts);
        return;
    }
    assert(error.status == HAUL_STATUS_BAD_INPUT && error.text[0] && !strcmp(error.file, "input"));
    assert(error.line > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    haul_kernel_file *kernel = NULL;
    haul_error error = {0};
    if (haul_kernel_file_parse((const char *)data, size, "input", &kernel, &error)) {
        assert(error.status == HAUL_STATUS_BAD_INPUT && error.text[0] && !kernel);
        assert(!strcmp(error.file, "input") && (error.line > 0 || strstr(error.text, "larger")));
        return 0;
    }
    assert(kernel->from >= 1 && kernel->from <= kernel->to);
    assert(haul_kernel_file_is(kernel, kernel->name));
    check_size(kernel, kernel->from);
    check_size(kernel, kernel->to);
    check_size(kernel, kernel->from + 1);
    check_size(kernel, 0);
    haul_kernel_file_free(kernel);
    return 0;
}
