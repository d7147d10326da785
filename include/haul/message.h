/* Messages between processes: measured times read and fitted, exchanges predicted.
 *
 * The models are those of Bienz, Olson, Gropp and Lockhart (HPEC 2021): the postal model of a
 * message by protocol and locality (eq. 1), the max-rate model of a node (eq. 2), and the paths
 * between GPUs of its sections III to VI. No MPI is needed for any of it.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_MESSAGE_H
#define HAUL_MESSAGE_H

#include "haul/machine.h"

HAUL_BEGIN

/* The kind of a measurement. */
typedef enum haul_message_op {
    HAUL_MESSAGE_PAIR, /* a message between two processes, half of a ping-pong */
    HAUL_MESSAGE_RATE, /* a message from each of `processes` of a node to one of another node */
    HAUL_MESSAGE_MANY, /* `messages` messages of one process to as many others */
    HAUL_MESSAGE_COPY, /* a copy between host and GPU by each of `processes`, as the host sees it */
} haul_message_op;

typedef struct haul_message_sample {
    haul_message_op op;
    haul_memory memory; /* HAUL_MEMORY_HOST or HAUL_MEMORY_DEVICE; of no copy */
    haul_reach reach;
    haul_direction direction; /* of a copy */
    haul_locality locality;   /* of a copy */
    uint32_t processes;
    uint32_t messages; /* of one process; of a rate, those that are on their way at once */
    uint64_t bytes;    /* of one message, or of one process's copy */
    double seconds;
} haul_message_sample;

typedef struct haul_message_samples {
    haul_message_sample *items;
    size_t count;
} haul_message_samples;

/* Parameters of a file that it does not give itself. */
typedef struct haul_message_source {
    const char *system; /* the rows of a CSV to take, by its column `system`; NULL: there is one */
    haul_memory memory; /* of a text; HAUL_MEMORY_UNKNOWN: what its title says, else the host's */
    haul_reach reach;   /* of a text, */
    bool is_reach_told; /* whatever it says: else ranks of nccl-tests on one host are of a node */
    uint32_t processes; /* of OSU's collectives, which do not say it, and of IMB's those to take;
                         * 0: not known, the most */
    const char *benchmark; /* of IMB's, the one to take; NULL: PingPong and Uniband */
} haul_message_source;

/* Adds the measurements of one file to `samples`, which begins as {0} and is freed with
 * haul_message_samples_free; the format is found by content, gzipped or not:
 *
 *   CSV         columns mem, bytes or bytes_per_msg or bytes_each or bytes_total, seconds or min_s;
 *               with locality (socket, node, network) a ping-pong, with ppn a node's rate, with
 *               n_msgs many messages, with kind (h2d, d2h) and locality (on, off) or n_procs copies
 *   OSU         osu_latency, osu_multi_lat, osu_bw, osu_mbw_mr; of device memory, with `processes`:
 *               osu_allreduce, osu_reduce_scatter, osu_allgather, osu_alltoall, osu_bcast,
 *               osu_reduce, of which what one GPU sends counts, as of nccl-tests
 *   IMB         PingPong and Uniband; of device memory `benchmark`: Sendrecv, Exchange, Allreduce,
 *               Reduce, Reduce_scatter, Allgather(v), Alltoall(v), Bcast, likewise
 *   nccl-tests  any of them: what one GPU sends is `size` times the ratio of busbw and algbw
 *
 * Returns BAD_INPUT with line and column, IO, NO_MEMORY. */
HAUL_API haul_status haul_message_samples_load(const char *path, const haul_message_source *source,
                                               haul_message_samples *samples, haul_error *error);
HAUL_API void haul_message_samples_free(haul_message_samples *samples);

enum { HAUL_MESSAGE_PIECES = 4, HAUL_MESSAGE_POINTS = 64 };

/* T = latency_s + per_byte_s n, from from_bytes on. */
typedef struct haul_message_piece {
    double from_bytes;
    double latency_s;
    double per_byte_s;
    double gap_s; /* NaN: not measured */
} haul_message_piece;

/* The fit to the messages of one memory and reach, or to the copies of one direction and locality
 * by one process. */
typedef struct haul_message_curve {
    bool is_copy;
    haul_memory memory;
    haul_reach reach;
    haul_direction direction;
    haul_locality locality;
    haul_message_piece pieces[HAUL_MESSAGE_PIECES];
    size_t count;
    size_t samples;
    double least_bytes, most_bytes; /* that were measured: the curve holds between them */
    double median, p90, worst;      /* of 100 |t - fit| / t */
    /* copies by several processes at once: see haul_copy_curve; NaN: not measured */
    double shared_latency_s, shared_rate_Bps;
    /* of 100 |t - fit| / t of these copies, NaN likewise; and the copies where it is worst */
    double shared_median, shared_p90, shared_worst;
    uint32_t shared_processes;
    double shared_bytes, shared_measured_s, shared_fitted_s;
    size_t point_count; /* the fastest time of each size, ascending; of more sizes the first ones */
    haul_point points[HAUL_MESSAGE_POINTS];
} haul_message_curve;

typedef struct haul_message_fit {
    haul_message_curve *curves;
    size_t count;
    haul_injection *injection; /* without provenance and source */
    size_t injection_count;
} haul_message_fit;

typedef struct haul_message_fit_options {
    size_t breaks;          /* between pieces at most; 0 to 3 */
    const double *switches; /* NULL: found; else the breaks, in bytes, ascending */
    size_t switch_count;
    bool is_absolute; /* least squares of |t - fit|, as published tables were made, in place of the
                       * least sum of |t - fit| / t */
    uint64_t reserved[4]; /* zeros: see haul/api.h */
} haul_message_fit_options;

/* Fits a curve to each kind of message and copy among the samples: pieces of at least three sizes,
 * their number and places by the Bayesian information criterion for errors that are distributed as
 * Laplace's, latency and time per byte never negative. Of equal samples the fastest counts. Gaps
 * come from many messages, the node's rates by eq. 2 from all sizes of each number of processes.
 * Returns MISSING where nothing can be fitted, NO_MEMORY. Free with haul_message_fit_free. */
HAUL_API haul_status haul_message_fit_make(const haul_message_samples *samples,
                                           const haul_message_fit_options *options,
                                           haul_message_fit *fit, haul_error *error);
HAUL_API void haul_message_fit_free(haul_message_fit *fit);

/* The time of n bytes by a curve. */
HAUL_API double haul_message_curve_time(const haul_message_curve *curve, double bytes);

/* A copy of `base` with the fit's messages, injection and copies in place of its own of the same
 * memory, reach and direction; others stay. `source` says where the fit's are from. The caller
 * frees *machine. Returns NO_MEMORY. */
HAUL_API haul_status haul_message_fit_machine(const haul_message_fit *fit, const haul_machine *base,
                                              const char *source, haul_machine **machine,
                                              haul_error *error);

HAUL_END

#endif
