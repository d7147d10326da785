/* A machine with one parameter changed, to ask "what if". A change of the link changes the rates
 * that were measured over it, too, or a faster slot would leave the copies as slow as they were. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "base/numerals.h"
#include "haul/units.h"
#include "machine/link_rate.h"

static const char given_here[] = "given with --set";

typedef struct setter {
    char path[96];
    const char *text; /* the value */
    haul_error *error;
    char nearest[96]; /* of the other parameters */
    size_t distance;
} setter;

/* The parameters are those of a machine that is the setter's own. */
static int visit(void *state, const char *path, int dimension, const haul_parameter *parameter)
{
    setter *self = state;
    double value;
    const size_t distance = hl_base_edit_distance(self->path, path);
    /* "link.gen" is short for "link.generation", whatever else has as few letters to change */
    const bool is_short = !strncmp(path, self->path, strlen(self->path));
    const size_t away = is_short && distance ? 1 : distance;
    if (away < self->distance) {
        self->distance = away;
        (void)snprintf(self->nearest, sizeof self->nearest, "%s", path);
    }
    if (distance)
        return HAUL_OK;
    haul_error wrong = {0};
    const haul_status status =
        haul_quantity_parse(self->text, (haul_dimension)dimension, &value, &wrong);
    if (status)
        return (int)haul_error_set(self->error, status, "%.80s: %.400s", path, wrong.text);
    *(haul_parameter *)parameter = (haul_parameter){value, HAUL_PROVENANCE_ASSUMED, given_here};
    return -1;
}

bool haul_parameter_is_set(const haul_parameter *parameter)
{
    return parameter->source && !strcmp(parameter->source, given_here);
}

static void scale(haul_parameter *rate, double ratio)
{
    if (rate->provenance == HAUL_PROVENANCE_NOT_GIVEN || ratio == 1)
        return;
    rate->value *= ratio;
    rate->provenance = haul_provenance_weaker(rate->provenance, HAUL_PROVENANCE_SCALED);
}

/* Copies of pinned memory go as fast as the link lets them, pageable ones as the host does: those
 * are never faster for a faster link, and no faster than a slower one. */
static void scale_curve(haul_copy_curve *curve, double ratio, double peak_Bps)
{
    const size_t count = (size_t)curve->points_from.value;
    const haul_point *points = curve->points;
    if (!haul_direction_crosses_link(curve->direction))
        return;
    if (curve->memory == HAUL_MEMORY_PAGEABLE) {
        if (curve->rate_Bps.value > peak_Bps)
            scale(&curve->rate_Bps, peak_Bps / curve->rate_Bps.value);
        for (size_t i = 0; i < count; i++)
            curve->points[i].seconds = fmax(points[i].seconds, points[i].bytes / peak_Bps);
        return;
    }
    scale(&curve->rate_Bps, ratio);
    scale(&curve->busy_rate_Bps, ratio);
    scale(&curve->mapped_rate_Bps, ratio);
    if (!count)
        return;
    /* each point keeps its latency: only the time of its bytes, at the rate of the last, changes */
    const double byte_s = points[count - 1].seconds / points[count - 1].bytes;
    for (size_t i = 0; i < count; i++)
        curve->points[i].seconds += points[i].bytes * byte_s * (1 / ratio - 1);
    curve->points_from.provenance =
        haul_provenance_weaker(curve->points_from.provenance, HAUL_PROVENANCE_SCALED);
}

/* A gen 6 slot for a GPU that now has NVLink: rates and points measured over the old link say
 * nothing of it, so that models compute them from the new one; no copy outruns it. Parameters
 * of a link that are not given are taken as usual (copy_packet.c). */
static void replace_link(haul_machine *made, haul_copy_curve *copies)
{
    static const char why[] = "a slot of 16 lanes in place of the machine's link";
    const haul_parameter generation = made->link.generation;
    made->replaced_link = made->link.kind;
    made->link = (haul_link){.kind = HAUL_LINK_PCIE,
                             .generation = generation,
                             .lanes = {16, HAUL_PROVENANCE_ASSUMED, why}};
    const haul_parameter none = {0};
    const double peak = hl_machine_link_rate(&made->link);
    for (size_t c = 0; c < made->copy_count; c++) {
        haul_copy_curve *curve = &copies[c];
        if (!haul_direction_crosses_link(curve->direction))
            continue;
        curve->busy_rate_Bps = curve->mapped_rate_Bps = none;
        curve->shared_latency_s = curve->shared_rate_Bps = curve->points_from = none;
        if (curve->memory == HAUL_MEMORY_PINNED && curve->locality == HAUL_LOCALITY_NEAR)
            curve->rate_Bps = none;
        else if (curve->rate_Bps.value > peak)
            scale(&curve->rate_Bps, peak / curve->rate_Bps.value);
    }
}

/* Written and read again, the machine passes every check of a file; what is wrong has a place in no
 * file of the user's. */
static haul_status check_assigned(const haul_machine *machine, const char *assignment,
                                  haul_machine **out, haul_error *error)
{
    char *yaml = NULL;
    size_t size = 0;
    errno = 0;
    FILE *file = open_memstream(&yaml, &size);
    haul_status status = file ? haul_machine_write(machine, file, error) : HAUL_STATUS_NO_MEMORY;
    const bool is_lost = file && (fclose(file) || !yaml);
    /* A stream into memory fails for lack of it alone; glibc may lose a part of the text and tell
     * by errno at most. */
    if (status == HAUL_STATUS_IO || (!status && (is_lost || errno == ENOMEM)))
        status = HAUL_STATUS_NO_MEMORY;
    haul_error wrong = {0};
    if (!status)
        status = haul_machine_parse(yaml, size, "", out, &wrong);
    if (status == HAUL_STATUS_NO_MEMORY)
        (void)hl_base_fail_no_memory(error);
    else if (wrong.status)
        (void)haul_error_set(error, status, "%.80s: %.400s", assignment, wrong.text);
    free(yaml);
    return status;
}

haul_status haul_machine_set(const haul_machine *machine, const char *assignment,
                             haul_machine **out, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    const char *equals = strchr(assignment, '=');
    setter self = {.text = equals ? equals + 1 : "", .error = error, .distance = SIZE_MAX};
    if (!equals || (size_t)(equals - assignment) >= sizeof self.path)
        return haul_error_set(error, HAUL_STATUS_USAGE, "expected PARAMETER=VALUE, not '%.80s'",
                              assignment);
    memcpy(self.path, assignment, (size_t)(equals - assignment));
    haul_machine made = *machine;
    haul_copy_curve *copies = malloc((machine->copy_count + 1) * sizeof *copies);
    if (!copies)
        return hl_base_fail_no_memory(error);
    for (size_t c = 0; c < machine->copy_count; c++)
        copies[c] = machine->copies[c];
    made.copies = copies;
    haul_status status = HAUL_OK;
    const int found = haul_machine_visit(&made, visit, &self);
    if (found > 0)
        status = (haul_status)found;
    else if (!found)
        status = haul_error_set(error, HAUL_STATUS_USAGE,
                                "machine '%.80s' has no parameter '%s'; did you mean '%s'?",
                                machine->name, self.path, self.nearest);
    /* kernels that stream reach as much of the memory's bandwidth as before */
    const double memory_rate = machine->gpu.memory_bandwidth_Bps.value;
    if (memory_rate > 0)
        scale(&made.gpu.stream_Bps, made.gpu.memory_bandwidth_Bps.value / memory_rate);
    const bool is_other = made.link.kind != HAUL_LINK_NONE && made.link.kind != HAUL_LINK_PCIE;
    const double before = hl_machine_link_rate(&machine->link);
    const double after = hl_machine_link_rate(&made.link);
    if (!status && is_other && made.link.generation.provenance)
        replace_link(&made, copies);
    else if (before > 0 && after > 0 && before != after)
        for (size_t c = 0; c < made.copy_count; c++)
            scale_curve(&copies[c], after / before, after);
    if (!status)
        status = check_assigned(&made, assignment, out, error);
    if (!status)
        (*out)->replaced_link = made.replaced_link;
    free(copies);
    return status;
}
