/* The rates of a node while several of its processes send. */
#include "comm/injection_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

/* The time of a message but for its bytes, and of its bytes in one process. */
typedef struct parts {
    double latency_s;
    double sent_s;
} parts;

/* Without ping-pongs of this memory nothing is known of latencies: all of the time is the bytes'.
 */
static parts message_parts(const haul_message_fit *fit, const haul_message_sample *of)
{
    for (size_t c = 0; c < fit->count; c++) {
        const haul_message_curve *curve = &fit->curves[c];
        if (curve->is_copy || curve->memory != of->memory ||
            curve->reach != HAUL_REACH_BETWEEN_NODES)
            continue;
        size_t at = 0;
        while (at + 1 < curve->count && curve->pieces[at + 1].from_bytes <= (double)of->bytes)
            at++;
        /* messages that are on their way together have one latency among them */
        return (parts){curve->pieces[at].latency_s / of->messages,
                       curve->pieces[at].per_byte_s * (double)of->bytes};
    }
    return (parts){0, 0};
}

static bool is_alike(const haul_message_sample *one, const haul_message_sample *other)
{
    return one->op == HAUL_MESSAGE_RATE && one->memory == other->memory &&
           one->processes == other->processes;
}

/* The rate with which this sample alone would have its measured time; infinite where its latency is
 * longer than that. */
static double sample_rate(const haul_message_fit *fit, const haul_message_sample *of)
{
    const double left_s = of->seconds - message_parts(fit, of).latency_s;
    return left_s > 0 ? of->processes * (double)of->bytes / left_s : (double)INFINITY;
}

/* The least sum of relative errors lies at the rate of one of the samples, for between these each
 * term is monotone. Of equal sums the lowest rate: higher ones would be of messages that the node
 * does not limit. */
static double fitted_rate(const haul_message_fit *fit, const haul_message_samples *samples,
                          const haul_message_sample *like)
{
    double best = 0, least = (double)INFINITY;
    for (size_t i = 0; i < samples->count; i++) {
        const double rate = is_alike(&samples->items[i], like)
                                ? sample_rate(fit, &samples->items[i])
                                : (double)INFINITY;
        if (!isfinite(rate))
            continue;
        double sum = 0;
        for (size_t k = 0; k < samples->count; k++) {
            const haul_message_sample *one = &samples->items[k];
            if (!is_alike(one, like))
                continue;
            const parts of = message_parts(fit, one);
            const double node_s = one->processes * (double)one->bytes / rate;
            sum += fabs(of.latency_s + fmax(of.sent_s, node_s) - one->seconds) / one->seconds;
        }
        if (sum < least || (sum == least && rate < best)) {
            least = sum;
            best = rate;
        }
    }
    return best;
}

/* The rate of the network interface, R_N: the most that any number of processes reached with its
 * largest messages, in which the latency matters least, and never less than one process's. Of
 * smaller messages many processes hide each other's latencies, so that what is left of their times
 * without one would be a rate that no network has. */
static double interface_rate(const haul_message_fit *fit, const haul_message_samples *samples,
                             haul_memory memory)
{
    double most = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const haul_message_sample *one = &samples->items[i];
        bool is_largest = one->op == HAUL_MESSAGE_RATE && one->memory == memory;
        for (size_t k = 0; is_largest && k < samples->count; k++)
            is_largest =
                !is_alike(&samples->items[k], one) || samples->items[k].bytes <= one->bytes;
        const double rate = is_largest ? sample_rate(fit, one) : 0;
        const double sent_s = is_largest ? message_parts(fit, one).sent_s : 0;
        if (isfinite(rate))
            most = fmax(most, rate);
        if (sent_s > 0)
            most = fmax(most, (double)one->bytes / sent_s);
    }
    return most;
}

haul_status hl_comm_injection_fit(haul_message_fit *fit, const haul_message_samples *samples,
                                  haul_error *error)
{
    for (size_t i = 0; i < samples->count; i++) {
        const haul_message_sample *sample = &samples->items[i];
        size_t first = 0;
        while (first < i && !is_alike(&samples->items[first], sample))
            first++;
        const bool is_first = sample->op == HAUL_MESSAGE_RATE && first == i;
        const double rate = is_first ? fmin(fitted_rate(fit, samples, sample),
                                            interface_rate(fit, samples, sample->memory))
                                     : 0;
        if (!(rate > 0))
            continue;
        haul_injection *grown = realloc(fit->injection, (fit->injection_count + 1) * sizeof *grown);
        if (!grown)
            return hl_base_fail_no_memory(error);
        fit->injection = grown;
        fit->injection[fit->injection_count++] =
            (haul_injection){.memory = sample->memory,
                             .processes = {.value = sample->processes},
                             .rate_Bps = {.value = rate}};
    }
    return HAUL_OK;
}
