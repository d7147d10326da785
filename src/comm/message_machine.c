/* A fit as a machine: each piece of a curve becomes a protocol. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "haul/message.h"

enum { COPIES_MOST = 64 };

/* Six digits: a fit has no more, and people read the file. NaN: not known. */
static haul_parameter fitted(double value, const char *source)
{
    char text[32];
    if (!isfinite(value))
        return (haul_parameter){0};
    (void)snprintf(text, sizeof text, "%.6g", value);
    return (haul_parameter){strtod(text, NULL), HAUL_PROVENANCE_FITTED, source};
}

/* A rate above all that a machine file holds (1e18 B/s) is that of bytes that take no time: none.
 */
static haul_parameter fitted_rate(double per_byte_s, const char *source)
{
    return fitted(per_byte_s > 1e-18 ? 1 / per_byte_s : (double)NAN, source);
}

/* The share of its time by which a point is off the line between its neighbours. */
static double bend(const haul_point *at)
{
    const double part = (at[0].bytes - at[-1].bytes) / (at[1].bytes - at[-1].bytes);
    return fabs(at[-1].seconds + part * (at[1].seconds - at[-1].seconds) - at[0].seconds) /
           at[0].seconds;
}

/* The measured sizes of a piece; of more than a protocol holds those that bend the curve most. */
static void put_points(haul_message_protocol *of, const haul_message_curve *curve, double end,
                       const char *source)
{
    haul_point points[HAUL_MESSAGE_POINTS];
    size_t count = 0;
    for (size_t i = 0; i < curve->point_count; i++)
        if (curve->points[i].bytes >= of->from_bytes.value && curve->points[i].bytes < end)
            points[count++] = (haul_point){curve->points[i].bytes,
                                           fitted(curve->points[i].seconds, source).value};
    while (count > HAUL_MACHINE_CURVE_POINTS) {
        size_t least = 1;
        for (size_t i = 2; i + 1 < count; i++)
            least = bend(&points[i]) < bend(&points[least]) ? i : least;
        count--;
        memmove(&points[least], &points[least + 1], (count - least) * sizeof *points);
    }
    memcpy(of->points, points, count * sizeof *points);
    if (count)
        of->points_from = (haul_parameter){(double)count, HAUL_PROVENANCE_FITTED, source};
}

static haul_message_protocol protocol_of(const haul_message_curve *curve, size_t at,
                                         const char *source)
{
    const haul_message_piece *piece = &curve->pieces[at];
    const bool is_last = at + 1 == curve->count;
    haul_message_protocol made = {
        .memory = curve->memory,
        .reach = curve->reach,
        .from_bytes = {piece->from_bytes, HAUL_PROVENANCE_FITTED, source},
        .most_bytes = is_last ? (haul_parameter){curve->most_bytes, HAUL_PROVENANCE_FITTED, source}
                              : (haul_parameter){0},
        .latency_s = fitted(piece->latency_s, source),
        .rate_Bps = fitted_rate(piece->per_byte_s, source),
        .gap_s = fitted(piece->gap_s, source),
        .error = fitted(1e-4 * round(100 * curve->median), source),
    };
    put_points(&made, curve, is_last ? (double)INFINITY : piece[1].from_bytes, source);
    return made;
}

/* A host's clock sees the copy's latency and the call's as one: where the machine has the GPU's own
 * latency, the rest is the call's. The rate is that of the largest copies. */
static void put_copy(haul_copy_curve *copies, size_t *count, const haul_message_curve *curve,
                     const char *source)
{
    const haul_message_piece *last = &curve->pieces[curve->count - 1];
    size_t at = 0;
    while (at < *count &&
           (copies[at].direction != curve->direction || copies[at].memory != HAUL_MEMORY_PINNED ||
            copies[at].locality != curve->locality))
        at++;
    if (at == COPIES_MOST)
        return;
    if (at == *count)
        copies[(*count)++] = (haul_copy_curve){.direction = curve->direction,
                                               .memory = HAUL_MEMORY_PINNED,
                                               .locality = curve->locality,
                                               .latency_s = fitted(0, source)};
    haul_copy_curve *copy = &copies[at];
    const double own_s = copy->latency_s.value;
    copy->call_latency_s = fitted(fmax(0, curve->pieces[0].latency_s - own_s), source);
    if (last->per_byte_s > 0 && !copy->points_from.provenance)
        copy->rate_Bps = fitted_rate(last->per_byte_s, source);
    copy->shared_latency_s = fitted(curve->shared_latency_s, source);
    copy->shared_rate_Bps = fitted(curve->shared_rate_Bps, source);
}

/* A machine file needs no row for each of 40 processes: few processes differ most, so up to eight,
 * then powers of two, and the most of all. */
static bool is_kept(const haul_message_fit *fit, size_t at)
{
    const haul_injection *of = &fit->injection[at];
    double most = 0;
    for (size_t i = 0; i < fit->injection_count; i++)
        if (fit->injection[i].memory == of->memory)
            most = fmax(most, fit->injection[i].processes.value);
    int exponent;
    const double processes = of->processes.value;
    return processes <= 8 || processes == most || frexp(processes, &exponent) == 0.5;
}

/* Whether messages of this memory and reach were fitted; without a reach, rates of a node. */
static bool is_fitted(const haul_message_fit *fit, haul_memory memory, const haul_reach *reach)
{
    bool found = false;
    for (size_t i = 0; reach && i < fit->count; i++)
        found |= !fit->curves[i].is_copy && fit->curves[i].memory == memory &&
                 fit->curves[i].reach == *reach;
    for (size_t i = 0; !reach && i < fit->injection_count; i++)
        found |= fit->injection[i].memory == memory;
    return found;
}

/* The node's rates, of a memory those of the fit or those of the base. */
static size_t put_injection(const haul_message_fit *fit, const haul_machine *base,
                            const char *source, haul_injection *injection)
{
    size_t count = 0;
    for (size_t i = 0; i < fit->injection_count; i++)
        if (is_kept(fit, i))
            injection[count++] = (haul_injection){fit->injection[i].memory,
                                                  fitted(fit->injection[i].processes.value, source),
                                                  fitted(fit->injection[i].rate_Bps.value, source)};
    for (size_t i = 0; i < base->injection_count; i++)
        if (!is_fitted(fit, base->injection[i].memory, NULL))
            injection[count++] = base->injection[i];
    return count;
}

haul_status haul_message_fit_machine(const haul_message_fit *fit, const haul_machine *base,
                                     const char *source, haul_machine **machine, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    const size_t most = fit->count * HAUL_MESSAGE_PIECES + base->message_count + 1;
    const size_t injection_most = fit->injection_count + base->injection_count + 1;
    haul_machine made = *base;
    haul_message_protocol *messages = calloc(most, sizeof *messages);
    haul_injection *injection = calloc(injection_most, sizeof *injection);
    haul_copy_curve *copies = calloc(COPIES_MOST, sizeof *copies);
    haul_status status = HAUL_STATUS_NO_MEMORY;
    if (!messages || !injection || !copies) {
        (void)hl_base_fail_no_memory(error);
    } else {
        size_t message_count = 0;
        made.copy_count = base->copy_count < COPIES_MOST ? base->copy_count : COPIES_MOST;
        if (made.copy_count)
            memcpy(copies, base->copies, made.copy_count * sizeof *copies);
        for (size_t c = 0; c < fit->count; c++)
            if (fit->curves[c].is_copy)
                put_copy(copies, &made.copy_count, &fit->curves[c], source);
            else
                for (size_t k = 0; k < fit->curves[c].count; k++)
                    messages[message_count++] = protocol_of(&fit->curves[c], k, source);
        for (size_t i = 0; i < base->message_count; i++)
            if (!is_fitted(fit, base->messages[i].memory, &base->messages[i].reach))
                messages[message_count++] = base->messages[i];
        made.messages = messages;
        made.message_count = message_count;
        made.injection = injection;
        made.injection_count = put_injection(fit, base, source, injection);
        status = haul_machine_with_copies(&made, copies, made.copy_count, machine, error);
    }
    free(messages);
    free(injection);
    free(copies);
    return status;
}
