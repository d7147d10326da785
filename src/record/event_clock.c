/* Bounds of one clock against another, narrowed by each event that is seen from both and widened by
 * the drift since. No fit is made: bounds cannot be wrong, a fitted line can. */
#include "record/event_clock.h"

/* Two clocks of one machine part by at most this; quartz does by 20 to 50 in a million, and a clock
 * that NTP holds is steered within that. */
static const int64_t parting_per_million = 100;

void hl_record_event_clock_bracket(hl_record_event_clock *self, int64_t before_ns, int64_t first_ns,
                                   int64_t last_ns, int64_t after_ns)
{
    const int64_t lower = before_ns - first_ns, upper = after_ns - last_ns;
    if (lower > upper)
        return;
    if (!self->known)
        *self = (hl_record_event_clock){
            .known = true, .at_ns = before_ns, .lower = lower, .upper = upper};
    /* A part below a millisecond waits for the next bracket. */
    const int64_t parted_ms = before_ns > self->at_ns ? (before_ns - self->at_ns) / 1000000 : 0;
    self->lower -= parted_ms * parting_per_million;
    self->upper += parted_ms * parting_per_million;
    self->at_ns += parted_ms * 1000000;
    if (lower > self->upper || upper < self->lower) {
        self->contradictions++;
        self->at_ns = before_ns;
        self->lower = lower;
        self->upper = upper;
        return;
    }
    self->lower = lower > self->lower ? lower : self->lower;
    self->upper = upper < self->upper ? upper : self->upper;
}

/* The middle is off by at most half of the width, whichever moment within was the true one. */
int64_t hl_record_event_clock_host(hl_record_event_clock *self, int64_t device_ns)
{
    const int64_t error_ns = (self->upper - self->lower) / 2;
    if (error_ns > self->worst_error_ns)
        self->worst_error_ns = error_ns;
    return device_ns + self->lower + error_ns;
}
