/* The host's time on the target. No parameter of a machine file tells how fast a CPU runs a
 * program's own code and the driver's, so the recorded times are kept, and their interval is what
 * programs show that were recorded on two machines. */
#include <stdio.h>
#include <string.h>

#include "project/whole_run.h"

/* By how much the host's time differs between two machines, either way. Of the operators' own time
 * on the host, by equal operators, recsys took 1.36 times as long on the V100's machine as on the
 * A100's, owlv2 0.70 times as long on the MI300X's as on the H100's: exp(1.645 r) with r the root
 * mean square of the logarithms of both, 0.33, which is 90 % of a normal distribution. From either
 * pair alone it would be 1.65 and 1.79, which hold the other. */
static const double other_host = 1.72;

/* A CPU whose speed is known still runs another driver, under another load: assumed, not measured.
 */
static const double same_host = 1.1;

haul_host_time hl_project_host_time(const hl_project_whole_run *self)
{
    haul_host_time made = {1, 1, 1, .is_given = self->host_speed > 0};
    const bool is_same = self->recorded_on && self->recorded_on->host.name &&
                         self->target->host.name &&
                         !strcmp(self->recorded_on->host.name, self->target->host.name);
    if (made.is_given)
        made.likely = 1 / self->host_speed;
    else if (!is_same) {
        /* One core's copies are the one figure of a CPU that files have: they are no measure of its
         * speed in a program, so they are told and not used. */
        const haul_machine *from = self->recorded_on, *to = self->target;
        if (from && from->host.name && to->host.name && !(from->host.copy_rate_Bps.value <= 0) &&
            !(to->host.copy_rate_Bps.value <= 0)) {
            hl_project_notes_add(
                self->notes,
                "one core of '%s' copies %.2f times as fast as one of '%s', which says little of "
                "how fast it runs the program: --host-speed gives that",
                to->host.name, to->host.copy_rate_Bps.value / from->host.copy_rate_Bps.value,
                from->host.name);
        }
    }
    made.is_known = made.is_given || is_same;
    const haul_machine *target = self->target;
    if (!made.is_known && target->link.kind > HAUL_LINK_PCIE && target->host.name)
        (void)snprintf(made.cpu, sizeof made.cpu, "%s", target->host.name);
    const double spread = made.is_known ? same_host : other_host;
    made.low = made.likely / spread;
    made.high = made.likely * spread;
    return made;
}
