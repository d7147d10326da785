/* Measured copies: what is read can be fitted, and the curves are in order; what is refused has a
 * reason. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/curve.h"
#include "cost/samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { POINTS = 4 };

static void check_curve(const haul_copy_curve *curve)
{
    const size_t count = hl_cost_curve_points(curve);
    assert(count <= POINTS);
    assert(count || curve->rate_Bps.value >= 0);
    for (size_t i = 0; i < count; i++) {
        assert(isfinite(curve->points[i].seconds) && curve->points[i].seconds > 0);
        assert(!i || curve->points[i].bytes > curve->points[i - 1].bytes);
        assert(!i || curve->points[i].seconds >= curve->points[i - 1].seconds);
    }
}

static void check_fit(const haul_samples *samples)
{
    haul_fit_group *groups;
    size_t count;
    haul_error error;
    const haul_status status = haul_fit_groups(samples, POINTS, &groups, &count, &error);
    assert(status == HAUL_OK);
    size_t copies = 0;
    for (size_t i = 0; i < count; i++) {
        check_curve(&groups[i].curve);
        assert(isfinite(groups[i].floor) && isfinite(groups[i].of_curve.wape));
        copies += groups[i].of_curve.samples;
    }
    assert(copies == samples->count);
    haul_fit_groups_free(groups);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    haul_samples samples;
    haul_error error = {0};
    if (hl_cost_samples_parse(text, size, "fuzz", &samples, &error)) {
        assert(error.status && error.text[0] && !strcmp(error.file, "fuzz"));
    } else {
        check_fit(&samples);
        haul_samples_free(&samples);
    }
    free(text);
    return 0;
}
