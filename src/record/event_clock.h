/* A device's clock against the host's, from brackets: an event of the device that happened between
 * two readings of the host's clock bounds the offset between them from both sides. */
#ifndef HAUL_RECORD_EVENT_CLOCK_H
#define HAUL_RECORD_EVENT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Zero is a clock that nothing is known of. Times are nanoseconds. */
typedef struct hl_record_event_clock {
    bool known;
    int64_t at_ns;           /* host's time of the last bracket */
    int64_t lower, upper;    /* of what is added to the device's time to have the host's */
    int64_t worst_error_ns;  /* of the times converted so far */
    uint64_t contradictions; /* brackets that did not meet those before */
} hl_record_event_clock;

/* Says that the device's clock was `first_ns` not before the host's was `before_ns`, and `last_ns`
 * not after `after_ns`; first and last may be one moment. */
void hl_record_event_clock_bracket(hl_record_event_clock *self, int64_t before_ns, int64_t first_ns,
                                   int64_t last_ns, int64_t after_ns);

/* The host's time of a device's, the middle of what the brackets allow; half their width is the
 * error, kept in worst_error_ns. */
int64_t hl_record_event_clock_host(hl_record_event_clock *self, int64_t device_ns);

/* The latest end that was placed of a stream, by both clocks. Zero is a stream without one. */
typedef struct hl_record_event_end {
    bool known;
    int64_t device_ns, host_ns;
    uint64_t contradictions; /* of the clock, by then */
} hl_record_event_end;

/* Brings a command's times to the host's clock. Its duration stays, and it begins no earlier beside
 * the end that was placed before it on its stream than the device says. */
void hl_record_event_clock_place(hl_record_event_clock *self, hl_record_event_end *last,
                                 int64_t *start_ns, int64_t *end_ns);

#endif
