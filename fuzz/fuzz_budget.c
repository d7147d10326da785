/* Budgets: what is read has limits of at least 0 with a line each; what is refused has a place and
 * a reason. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "haul/budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    haul_budget *budget = NULL;
    haul_error error = {0};
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    const haul_status status = haul_budget_parse(text, size, "input", &budget, &error);
    if (status) {
        assert(status == HAUL_STATUS_BAD_INPUT && error.text[0] && !strcmp(error.file, "input"));
        assert(!budget);
    } else {
        assert(budget->count > 0);
        for (size_t i = 0; i < budget->count; i++)
            assert(budget->limits[i].most >= 0 && budget->limits[i].line > 0 &&
                   *budget->limits[i].what);
    }
    haul_budget_free(budget);
    free(text);
    return 0;
}
