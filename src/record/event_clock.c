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

/* The middle moves when the bounds narrow: a command placed by the new one could begin before the
 * end of the one before it, placed by the old. To keep the device's order it is then placed by the
 * old one, and is off by as much more; what did not begin before that end begins after it, for the
 * end of a command without a duration is 1 ns behind its start. A clock that began anew has no such
 * order. */
void hl_record_event_clock_place(hl_record_event_clock *self, hl_record_event_end *last,
                                 int64_t *start_ns, int64_t *end_ns)
{
    const int64_t length_ns = *end_ns - *start_ns, device_end_ns = *end_ns;
    int64_t start = hl_record_event_clock_host(self, *start_ns);
    const bool ordered = last->known && last->contradictions == self->contradictions;
    const int64_t gap_ns = *start_ns - last->device_ns;
    const int64_t least = last->host_ns + (gap_ns < 0 ? gap_ns : 1);
    if (ordered && start < least) {
        start = least;
        const int64_t error_ns = start - *start_ns - self->lower;
        self->worst_error_ns = error_ns > self->worst_error_ns ? error_ns : self->worst_error_ns;
    }
    *start_ns = start;
    *end_ns = start + length_ns;
    if (!ordered || device_end_ns > last->device_ns)
        *last = (hl_record_event_end){true, device_end_ns, *end_ns, self->contradictions};
}
