/* Measuring a machine: its parameters from a device, by the benchmark of CCGrid 2014, section V.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_MEASURE_H
#define HAUL_MEASURE_H

#include "haul/device.h"
#include "haul/fit.h"
#include "haul/machine.h"

HAUL_BEGIN

enum {
    HAUL_MEASURE_TRANSFERS = 1,
    HAUL_MEASURE_KERNELS = 2,
    HAUL_MEASURE_HOST = 4,
};

enum { HAUL_MEASURE_PEERS_MOST = 16 };

/* Zero is the default of each. */
typedef struct haul_measure_options {
    unsigned parts;   /* HAUL_MEASURE_TRANSFERS | ...; 0: all */
    const char *name; /* of the machine; NULL: "measured" */
    /* Opened beside the device, at most HAUL_MEASURE_PEERS_MOST: copies between each two are
     * measured, and what each takes from copies to the device. */
    haul_device *const *peers;
    size_t peer_count;
    uint64_t largest_bytes; /* of a copy, 1 MiB at least; 0: 64 MiB */
    double point_s;         /* time for one point, at most; 0: 0.1 s */
    /* Points that are measured are added to this file, and what it holds is not measured again: an
     * interrupted measurement goes on. NULL: none. */
    const char *journal;
    bool verify; /* measure copies of other sizes, and predict them */
    /* On a machine that others use: first waits, up to a quarter of it, while they take half a core
     * or more; then measures copies in further rounds, up to half of it, until rounds agree within
     * 3 %; after it every point is attempted five times only. 0: measures at once, in four rounds.
     */
    double time_limit_s;
    /* Told of each point before it is measured, as "HtoD pinned, 64 KiB". */
    void (*progress)(void *state, const char *point);
    void *progress_state;
    uint64_t reserved[4]; /* zeros: see haul/api.h */
} haul_measure_options;

/* How copies of sizes that nothing was fitted to are predicted. */
typedef struct haul_verified {
    haul_direction direction;
    haul_memory memory;
    haul_residuals error; /* of the prediction, in percent */
    double spread; /* median over sizes of the interquartile range of equal copies, in percent */
} haul_verified;

enum { HAUL_MEASURE_VERIFIED_MOST = 8 };

/* How fast a triad over so many bytes runs: from a cache where they fit into one. */
typedef struct haul_triad_rate {
    uint64_t bytes;
    double rate_Bps;
} haul_triad_rate;

enum { HAUL_MEASURE_TRIAD_MOST = 24 };

/* Copies of one size, and what the machine that came of the measurement predicts of them. */
typedef struct haul_measured_copy {
    haul_direction direction;
    haul_memory memory;
    uint64_t bytes;
    double seconds; /* the median */
    double spread;  /* interquartile range, in percent */
    double drift;   /* of medians of rounds seconds apart, around theirs, in percent */
    double predicted_s;
    double low_s, high_s; /* its interval */
    bool is_fresh;        /* measured to verify: nothing was fitted to it */
} haul_measured_copy;

/* A copy of pinned memory in equal parts, one on each of so many streams, and what the machine that
 * came of the measurement predicts of it (CCGrid 2014, section V). */
typedef struct haul_measured_streams {
    haul_direction direction;
    unsigned streams;
    uint64_t bytes; /* of all parts */
    double seconds; /* the median, from the first part's start to the last one's end */
    double spread;  /* interquartile range, in percent */
    double predicted_s;
} haul_measured_streams;

/* 1, 2, 4, ... 64 streams, in both directions. */
enum { HAUL_MEASURE_STREAMS_MOST = 14 };

/* A measurement that machine files have no place for: "rows of 64 bytes, HtoD", in the unit of
 * `dimension` (a haul_dimension). */
typedef struct haul_finding {
    char what[72];
    int dimension;
    double value;
    double spread; /* interquartile range over the median, in percent */
} haul_finding;

enum { HAUL_MEASURE_FINDINGS_MOST = 128, HAUL_MEASURE_NOTES_MOST = 32 };

typedef struct haul_measurement {
    haul_machine *machine;
    haul_verified verified[HAUL_MEASURE_VERIFIED_MOST];
    size_t verified_count;                                    /* 0 where that was not asked */
    haul_measured_streams streams[HAUL_MEASURE_STREAMS_MOST]; /* by direction, likewise */
    size_t stream_count;
    /* Of a GPU that is there alone: */
    haul_triad_rate triad[HAUL_MEASURE_TRIAD_MOST]; /* by size */
    size_t triad_count;
    unsigned
        kernels_at_once; /* of one thread each; 64 or more are not told apart; 0: not measured */
    haul_measured_copy *sizes; /* by kind of copy */
    size_t size_count;
    haul_finding findings[HAUL_MEASURE_FINDINGS_MOST];
    size_t finding_count;
    char notes[HAUL_MEASURE_NOTES_MOST][200]; /* sentences on what was left out, held to a peak, or
                                               * could not be told */
    size_t note_count;
    size_t points;
    size_t points_kept; /* of those, from the journal */
} haul_measurement;

/* Measures a device.
 *
 * Transfers, in each direction: from and to pinned and pageable memory, within the device and to
 * its peers. Latency L+o by copies of one byte; 1/G by a sweep over sizes, with a curve where the
 * line is off by more than equal copies vary; the gap g by one-byte copies in a row; the rate while
 * the other direction is busy, with copies and with a kernel on mapped memory; the number of copy
 * engines by copies that do or do not overlap; how pageable copies are staged; write-combined
 * memory, rows with a pitch, and which peers share the link.
 *
 * Kernels: the launch latency by one that does nothing, memory bandwidth by a triad, the peaks by
 * chains of multiply-adds; each rate by the slope between two sizes. Of a GPU also the triad at all
 * sizes, reads within half of L2, matrix products by the vendor's library where it is installed,
 * and how many kernels run at once.
 *
 * Host: one core's copies, from memory and from cache. Not of a simulated device.
 *
 * Returns IO where the journal cannot be written, BAD_INPUT where it is of another device, and what
 * the device's functions return; what was measured until then is in the journal. Free with
 * haul_measurement_release. */
HAUL_API haul_status haul_measurement_make(haul_device *device, const haul_measure_options *options,
                                           haul_measurement *measurement, haul_error *error);
HAUL_API void haul_measurement_release(haul_measurement *measurement);

HAUL_END

#endif
