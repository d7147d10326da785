/* Tables of kernels' names: what is refused has a place and a reason, what is read tells a class of
 * any name, here its own text. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "haul/kernel_class.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    haul_kernel_classes *classes = NULL;
    haul_error error = {0};
    if (haul_kernel_classes_parse(text, size, "input", &classes, &error))
        assert(!classes && error.status == HAUL_STATUS_BAD_INPUT && error.text[0]);
    const haul_kernel_kind kind = haul_kernel_kind_of(text, classes);
    assert((unsigned)kind.kind < HAUL_KERNEL_CLASSES);
    assert((unsigned)kind.precision < HAUL_PRECISIONS);
    assert(kind.pattern || !kind.kind);
    haul_kernel_classes_free(classes);
    free(text);
    return 0;
}
