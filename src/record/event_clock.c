#include "record/event_clock.h"

/* Two clocks of one machine part by at most this; quartz does by 20 to 50 in a million, and a clock
 * that NTP holds is steered within that. */
static const int64_t parting_per_million = 100;

static void widen(haul_event_clock *self, int64_t now_ns)
{
    const int64_t since_ns = now_ns > self->at_ns ? now_ns - self->at_ns : 0;
    const int64_t parted_ns = since_ns / 1000000 * parting_per_million;
    self->lower -= parted_ns;
    self->upper += parted_ns;
    /* What is below a millisecond waits for the next bracket. */
    self->at_ns += since_ns / 1000000 * 1000000;
}

void haul_event_clock_bracket(haul_event_clock *self, int64_t before_ns, int64_t first_ns,
                              int64_t last_ns, int64_t after_ns)
{
    const int64_t lower = before_ns - first_ns, upper = after_ns - last_ns;
    if (lower > upper)
        return;
    if (self->known)
        widen(self, before_ns);
    else
        *self =
            (haul_event_clock){.known = true, .at_ns = before_ns, .lower = lower, .upper = upper};
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

int64_t haul_event_clock_host(haul_event_clock *self, int64_t device_ns)
{
    const int64_t error_ns = (self->upper - self->lower) / 2;
    if (error_ns > self->worst_error_ns)
        self->worst_error_ns = error_ns;
    return device_ns + self->lower + error_ns;
}
