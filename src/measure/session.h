/* A measurement while it runs. */
#ifndef HAUL_MEASURE_SESSION_H
#define HAUL_MEASURE_SESSION_H

#include "haul/measure.h"
#include "haul/units.h"
#include "measure/journal.h"

enum { HAUL_WAYS = 6 }; /* kinds of copies */

enum { HAUL_SESSION_STREAMS = 2, HAUL_SESSION_EVENTS = 64, HAUL_SESSION_BUFFERS = 2 };

enum { HAUL_SWEEP_SIZES = 32 };

/* Copies of sizes that no curve is fitted to. */
typedef struct haul_fresh {
    size_t count;
    uint64_t bytes[HAUL_SWEEP_SIZES];
    double seconds[HAUL_SWEEP_SIZES];
    double spreads[HAUL_SWEEP_SIZES];
} haul_fresh;

typedef struct haul_session {
    haul_device *device;
    haul_measure_options options;
    haul_journal journal;
    haul_stream *streams[HAUL_SESSION_STREAMS];
    haul_event *events[HAUL_SESSION_EVENTS];
    haul_buffer *on_device[HAUL_SESSION_BUFFERS]; /* of largest_bytes each, as the next */
    haul_buffer *pinned[HAUL_SESSION_BUFFERS];
    char *pageable[HAUL_SESSION_BUFFERS];
    haul_buffer *on_peers[HAUL_PEERS_MOST];
    haul_machine machine; /* its texts are the arena's */
    haul_copy_curve curves[HAUL_WAYS];
    haul_fresh fresh[HAUL_WAYS]; /* by curve, where copies are verified */
    size_t curve_count;
    uint64_t cursor;      /* where in the host's buffers the next copy begins */
    haul_kernel *compute; /* of a CPU, else NULL */
    haul_kernel *hold;    /* of a GPU, else NULL */
    haul_arena arena;
    haul_measurement made;
    size_t size_capacity; /* of made.sizes */
} haul_session;

haul_status haul_session_begin(haul_session *session, haul_device *device,
                               const haul_measure_options *options, haul_error *error);
void haul_session_end(haul_session *session);

/* A kind of copy. */
typedef struct haul_way {
    haul_direction direction;
    haul_memory memory;
    haul_buffer *host; /* the host's end, of largest_bytes; NULL: the session's of that memory */
} haul_way;

/* One attempt at a point: sets what it took. */
typedef haul_status (*haul_attempt)(haul_session *session, const void *what, double *seconds,
                                    haul_error *error);

/* A point to measure: `point` is the outcome. */
typedef struct haul_trial {
    char name[96];
    haul_attempt attempt;
    const void *what;
    haul_point_measured point;
} haul_trial;

enum { HAUL_TRIALS = 2 * HAUL_SWEEP_SIZES };

/* Measures at most HAUL_TRIALS points in turns, so that a machine that gets slower for a while does
 * so for all of them: each as often as its time allows, five times at least (a simulated one once).
 * Those that the journal has are not measured. */
haul_status haul_session_trials(haul_session *session, haul_trial *trials, size_t count,
                                haul_error *error);

/* By how much a point's median may be off, in percent, from its spread and count. */
double haul_median_error(const haul_point_measured *point);

haul_status haul_session_point(haul_session *session, const char *name, haul_attempt attempt,
                               const void *what, haul_point_measured *point, haul_error *error);

/* Where the device is a CPU, queues a kernel on the first so many bytes that copies read or write
 * there: as in a program, they were last in the caches of all cores. */
haul_status haul_session_compute(haul_session *session, uint64_t bytes, haul_error *error);

/* Keeps a GPU's stream busy while what is timed is queued behind it. On an idle stream the host's
 * calls are in the time between two events: 3 to 13 us of each on an H100. */
haul_status haul_session_hold(haul_session *session, int stream, haul_error *error);

/* Queues a copy on a stream, from buffers of its own for each of the two, so that copies on both
 * may overlap. On the host each copy goes on where the one before ended: a program copies what it
 * has not just copied, and which core's cache holds what was is chance. */
haul_status haul_session_copy(haul_session *session, haul_way way, uint64_t bytes, int stream,
                              haul_event *event, haul_error *error);

/* Waits for both streams. */
haul_status haul_session_wait(haul_session *session, haul_error *error);

/* Waits for both streams; the time from the beginning of whichever of the first two events'
 * operations began first to the end of whichever ended last. */
haul_status haul_session_pair_seconds(haul_session *session, double *seconds, haul_error *error);

/* A parameter with its source: the point's median, spread and count. */
haul_parameter haul_session_found(haul_session *session, double value,
                                  const haul_point_measured *point);

/* Adds what the machine file has no place for; `point` is what it was measured by. More than
 * HAUL_FINDINGS_MOST are dropped. */
void haul_session_tell(haul_session *session, haul_dimension dimension, double value,
                       const haul_point_measured *point, const char *format, ...) HAUL_PRINTF(5, 6);

/* What a device cannot do is no failure of a measurement. */
static inline bool haul_is_lacking(haul_status status)
{
    return status == HAUL_ABSENT || status == HAUL_MISSING;
}

/* The parts: each adds what it finds to the session's machine. Copies are verified on made.machine.
 */
haul_status haul_measure_copies(haul_session *session, haul_error *error);
haul_status haul_measure_kernels(haul_session *session, haul_error *error);
haul_status haul_measure_products(haul_session *session, haul_error *error);
haul_status haul_measure_queue(haul_session *session, haul_error *error);
haul_status haul_measure_host(haul_session *session, haul_error *error);
haul_status haul_verify_copies(haul_session *session, haul_error *error);

#endif
