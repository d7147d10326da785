/* A measurement while it runs. */
#ifndef HAUL_MEASURE_SESSION_H
#define HAUL_MEASURE_SESSION_H

#include "base/load.h"
#include "haul/measure.h"
#include "haul/units.h"
#include "measure/journal.h"

enum { HL_MEASURE_WAYS = 6 }; /* kinds of copies */

enum {
    HL_MEASURE_SESSION_STREAMS = 2,
    HL_MEASURE_SESSION_EVENTS = 64,
    HL_MEASURE_SESSION_BUFFERS = 2
};

enum { HL_MEASURE_SWEEP_SIZES = 128 };

/* Copies of sizes that no curve is fitted to. */
typedef struct hl_measure_fresh {
    size_t count;
    uint64_t bytes[HL_MEASURE_SWEEP_SIZES];
    double seconds[HL_MEASURE_SWEEP_SIZES];
    double spreads[HL_MEASURE_SWEEP_SIZES];
} hl_measure_fresh;

typedef struct hl_measure_session {
    haul_device *device;
    haul_measure_options options;
    hl_measure_journal journal;
    haul_stream *streams[HL_MEASURE_SESSION_STREAMS];
    haul_event *events[HL_MEASURE_SESSION_EVENTS];
    haul_buffer *on_device[HL_MEASURE_SESSION_BUFFERS]; /* of largest_bytes each, as the next */
    haul_buffer *pinned[HL_MEASURE_SESSION_BUFFERS];
    char *pageable[HL_MEASURE_SESSION_BUFFERS];
    haul_buffer *on_peers[HAUL_MEASURE_PEERS_MOST];
    haul_machine machine; /* its texts are the arena's */
    haul_copy_curve curves[HL_MEASURE_WAYS];
    hl_measure_fresh fresh[HL_MEASURE_WAYS]; /* by curve, where copies are verified */
    size_t curve_count;
    uint64_t cursor;      /* where in the host's buffers the next copy begins */
    haul_kernel *compute; /* of a CPU, else NULL */
    haul_kernel *hold;    /* of a GPU, else NULL */
    hl_base_arena arena;
    haul_measurement made;
    size_t size_capacity; /* of made.sizes */
    double begin_s;       /* hl_base_clock_s at the beginning */
    hl_base_load load;    /* of the machine then */
} hl_measure_session;

haul_status hl_measure_session_begin(hl_measure_session *session, haul_device *device,
                                     const haul_measure_options *options, haul_error *error);
void hl_measure_session_end(hl_measure_session *session);

/* A kind of copy. */
typedef struct hl_measure_way {
    haul_direction direction;
    haul_memory memory;
    haul_buffer *host; /* the host's end, of largest_bytes; NULL: the session's of that memory */
} hl_measure_way;

/* One attempt at a point: sets what it took. */
typedef haul_status (*hl_measure_attempt)(hl_measure_session *session, const void *what,
                                          double *seconds, haul_error *error);

/* A point to measure: `point` is the outcome. */
typedef struct hl_measure_trial {
    char name[96];
    hl_measure_attempt attempt;
    const void *what;
    bool only_verifies; /* nothing is fitted to it: it ends at the usual number of attempts, or time
                         */
    hl_measure_point_measured point;
} hl_measure_trial;

enum { HL_MEASURE_TRIALS = 2 * HL_MEASURE_SWEEP_SIZES };

/* Trials that are measured in turns, as the copies of one kind are. `status` is the outcome: the
 * device may lack the kind. */
typedef struct hl_measure_trial_set {
    hl_measure_trial *trials;
    size_t count;
    haul_status status;
} hl_measure_trial_set;

/* Measures sets of trials in rounds: all of a round's sets before the next round, so that a set's
 * rounds are seconds apart, and what lasts for a second slows one round of all. A point is the
 * median of its rounds' medians. Without a time limit in four rounds; with one, in as many as it
 * takes until they agree, within half of the limit. A set that the device lacks is left out, and
 * `error` tells of the last such. */
haul_status hl_measure_session_rounds(hl_measure_session *session, hl_measure_trial_set *sets,
                                      size_t count, haul_error *error);

/* Measures at most HL_MEASURE_TRIALS points in turns, so that a machine that gets slower for a
 * while does so for all of them: each as often as its time allows, five times at least (a simulated
 * one once). Those that the journal has are not measured. */
haul_status hl_measure_session_trials(hl_measure_session *session, hl_measure_trial *trials,
                                      size_t count, haul_error *error);

/* By how much a point's median may be off, in percent, from its spread and count. */
double hl_measure_median_error(const hl_measure_point_measured *point);

haul_status hl_measure_session_point(hl_measure_session *session, const char *name,
                                     hl_measure_attempt attempt, const void *what,
                                     hl_measure_point_measured *point, haul_error *error);

/* Where the device is a CPU, queues a kernel on the first so many bytes that copies read or write
 * there: as in a program, they were last in the caches of all cores. */
haul_status hl_measure_session_compute(hl_measure_session *session, uint64_t bytes,
                                       haul_error *error);

/* Keeps a GPU's stream busy while what is timed is queued behind it. On an idle stream the host's
 * calls are in the time between two events: 3 to 13 us of each on an H100. */
haul_status hl_measure_session_hold(hl_measure_session *session, int stream, haul_error *error);

/* Queues a copy on a stream, from buffers of its own for each of the two, so that copies on both
 * may overlap. On the host each copy goes on where the one before ended: a program copies what it
 * has not just copied, and which core's cache holds what was is chance. */
haul_status hl_measure_session_copy(hl_measure_session *session, hl_measure_way way, uint64_t bytes,
                                    int stream, haul_event *event, haul_error *error);

/* Waits for both streams. */
haul_status hl_measure_session_wait(hl_measure_session *session, haul_error *error);

/* Waits for both streams; the time from the beginning of whichever of the first two events'
 * operations began first to the end of whichever ended last. */
haul_status hl_measure_session_pair_seconds(hl_measure_session *session, double *seconds,
                                            haul_error *error);

/* A parameter with its source: the point's median, spread and count. */
haul_parameter hl_measure_session_found(hl_measure_session *session, double value,
                                        const hl_measure_point_measured *point);

/* Adds what the machine file has no place for; `point` is what it was measured by. More than
 * HAUL_MEASURE_FINDINGS_MOST are dropped. */
void hl_measure_session_tell(hl_measure_session *session, haul_dimension dimension, double value,
                             const hl_measure_point_measured *point, const char *format, ...)
    HAUL_PRINTF(5, 6);

/* Adds a sentence for the reader of the report. More than HAUL_MEASURE_NOTES_MOST are dropped. */
void hl_measure_note(hl_measure_session *session, const char *format, ...) HAUL_PRINTF(2, 3);

/* Brings what was measured within what a machine file may hold and the device can, with a note on
 * each value that it changes: after the parts, before a machine is made. */
void hl_measure_check_plausible(hl_measure_session *session);

/* Sets what the curves may be off by, from the sizes that were measured and are predicted. */
haul_status hl_measure_find_uncertainty(hl_measure_session *session, haul_error *error);

/* Notes that the machine was busy, or unsteady, since the session's beginning. */
haul_status hl_measure_note_load(hl_measure_session *session, haul_error *error);

/* Bytes of the larger of the device's L2 and the host's last level. */
uint64_t hl_measure_caches_of(const haul_device_properties *device);

/* Whether both are one device of the node. */
bool hl_measure_is_same_device(const haul_device *a, const haul_device *b);

/* Opens options.journal, as of the device, its driver, the sizes of copies and the peers: points of
 * any other are never mixed with them. */
haul_status hl_measure_open_journal(hl_measure_session *session, haul_error *error);

/* A measurement does not fail where the device lacks an ability or memory. */
static inline bool hl_measure_is_lacking(haul_status status)
{
    return status == HAUL_STATUS_ABSENT || status == HAUL_STATUS_MISSING ||
           status == HAUL_STATUS_DEVICE_FULL;
}

/* The parts: each adds what it finds to the session's machine. Copies are verified on made.machine.
 */
haul_status hl_measure_copies(hl_measure_session *session, haul_error *error);
haul_status hl_measure_kernels(hl_measure_session *session, haul_error *error);
haul_status hl_measure_memory(hl_measure_session *session, haul_error *error);
haul_status hl_measure_products(hl_measure_session *session, haul_error *error);
haul_status hl_measure_queue(hl_measure_session *session, haul_error *error);
haul_status hl_measure_host(hl_measure_session *session, haul_error *error);
haul_status hl_measure_verify_copies(hl_measure_session *session, haul_error *error);
haul_status hl_measure_verify_streams(hl_measure_session *session, haul_error *error);

#endif
