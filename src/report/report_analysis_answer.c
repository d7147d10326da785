/* The lines that answer where the time of a recorded program went. */
#include <stdio.h>
#include <string.h>

#include "report/report_analysis.h"
#include "report/shared_parts.h"
#include "report/wording.h"

enum {
    RATES_SHOWN = 3,
    LATENCY_BYTES = 4096, /* take under half a microsecond on any link, latencies 1 to 10 */
};

const haul_workload_device *hl_report_analysis_device(const hl_report_analyzed *self, size_t at)
{
    const uint32_t index = self->analysis->devices[at].device;
    return index == HAUL_NONE ? NULL : &self->workload->devices[index];
}

double hl_report_copies_rate(const haul_copy_group *group)
{
    return hl_report_share_of((double)group->totals.bytes, 1e-9 * (double)group->busy_ns);
}

/* Between host and device, the one that copied longest after `before`; NULL: none is left. A walk
 * in order without a copy of the groups to sort; there are at most some dozens. */
static const haul_copy_group *next_longest(const haul_analysis *analysis,
                                           const haul_copy_group *before)
{
    const haul_copy_group *found = NULL;
    for (size_t i = 0; i < analysis->group_count; i++) {
        const haul_copy_group *group = &analysis->groups[i];
        /* Ties are broken by the place in the array, so that each group comes once. */
        const bool is_left = !before || group->busy_ns < before->busy_ns ||
                             (group->busy_ns == before->busy_ns && group > before);
        if (haul_direction_crosses_link(group->direction) && group->totals.bytes &&
            group->busy_ns && is_left && (!found || group->busy_ns > found->busy_ns))
            found = group;
    }
    return found;
}

/* The few rates that say whether the link is used well: those of the kinds that copied longest. */
static void say_copies(const hl_report_analyzed *self, bool with_rates)
{
    const haul_analysis *analysis = self->analysis;
    char rates[400] = "";
    size_t used = 0;
    haul_report_line(self->report, "copies", "%s of %s in %s; %s of it overlapped by kernels",
                     hl_report_say_number_of(analysis->copies.count, "copy", "copies").text,
                     hl_report_say_bytes(analysis->copies.bytes).text,
                     hl_report_say_time(analysis->busy.copy_ns).text,
                     hl_report_say_share(analysis->overlap_share).text);
    const haul_copy_group *group = NULL;
    /* Three rates fit a line. Of copies of a few bytes a rate says nothing: they are latency. */
    for (int seen = 0; seen < RATES_SHOWN && (group = next_longest(analysis, group)); seen++)
        if (group->totals.bytes / group->totals.count >= LATENCY_BYTES)
            used += (size_t)snprintf(rates + used, sizeof rates - used, "%s%s %s", used ? ", " : "",
                                     hl_report_say_copies(group->direction, group->memory).text,
                                     hl_report_say_rate(hl_report_copies_rate(group)).text);
    /* Five lines are an answer: why devices idle, and collectives, matter more. */
    if (used && with_rates && !analysis->communication.count)
        haul_report_line(self->report, "rates", "%s", rates);
}

/* Collectives are data movement. Their time includes that of waiting for other ranks, which no
 * profile of one rank tells apart. */
static void say_communication(const hl_report_analyzed *self)
{
    const haul_analysis *analysis = self->analysis;
    const haul_totals *of = &analysis->communication;
    haul_report_line(self->report, "between GPUs", "%s, %s%s, in %s; %s of it hidden by kernels",
                     hl_report_say_number_of(of->count, "collective", NULL).text,
                     analysis->unsized && of->bytes ? "at least " : "",
                     of->bytes ? hl_report_say_bytes(of->bytes).text : "sizes not recorded",
                     hl_report_say_time(analysis->busy.communication_ns).text,
                     hl_report_say_share(analysis->hidden_share).text);
}

/* How the profile's own recorder is told to record work of devices. */
static const char *how_to_record(const char *format)
{
    static const struct {
        const char *format;
        const char *how;
    } recorders[] = {
        {"kineto", "PyTorch's profiler does so with activities=[ProfilerActivity.CPU, "
                   "ProfilerActivity.CUDA]"},
        {"rocp", "rocprofv3 does so with '--sys-trace --output-format rocpd'"},
    };
    for (size_t i = 0; format && i < sizeof recorders / sizeof *recorders; i++)
        if (!strncmp(format, recorders[i].format, strlen(recorders[i].format)))
            return recorders[i].how;
    return "Nsight Systems does so with 'nsys profile --trace cuda'";
}

/* Shares are of the span of all devices, in which each moment counts once. */
void hl_report_analysis_answer(const hl_report_analyzed *self)
{
    const haul_analysis *analysis = self->analysis;
    const size_t count = analysis->device_count;
    const int64_t span_ns = analysis->span_ns;
    char devices[200];
    if (!count && hl_report_mpi_line(self->report, self->workload, true))
        return;
    if (!count) {
        haul_report_say(self->report,
                        "The profile holds no copies, kernels or memsets. Were they recorded? %s.",
                        how_to_record(self->workload->format));
        return;
    }
    /* "NVIDIA A100 80GB PCIe", "2 x ...", "4 devices" */
    const haul_workload_device *first = hl_report_analysis_device(self, 0);
    bool alike = first && first->name;
    for (size_t i = 1; alike && i < count; i++) {
        const haul_workload_device *next = hl_report_analysis_device(self, i);
        alike = next && next->name && !strcmp(next->name, first->name);
    }
    if (alike && count > 1)
        (void)snprintf(devices, sizeof devices, "%zu x %.150s", count, first->name);
    else
        (void)snprintf(devices, sizeof devices, "%.150s",
                       alike ? first->name : hl_report_say_number_of(count, "device", NULL).text);
    if (!span_ns) {
        haul_report_say(self->report, "0 s on %s: no operation has a duration", devices);
        return;
    }
    /* Shares may add up to more than 100 %: kernels and copies overlap. */
    char collectives[64] = "";
    if (analysis->communication.count)
        (void)snprintf(collectives, sizeof collectives, "collectives %.40s, ",
                       hl_report_say_share_ns(analysis->busy.communication_ns, span_ns).text);
    const bool says_why = hl_report_idle_says(analysis);
    char idle[64] = "";
    if (!says_why)
        (void)snprintf(idle, sizeof idle, "; idle %.40s",
                       hl_report_say_share_ns(analysis->idle_ns, span_ns).text);
    haul_report_say(self->report, "%s on %s: kernels run %s of it, %scopies %s%s",
                    hl_report_say_time(span_ns).text, devices,
                    hl_report_say_share_ns(analysis->busy.kernel_ns, span_ns).text, collectives,
                    hl_report_say_share_ns(analysis->busy.copy_ns, span_ns).text, idle);
    if (says_why)
        hl_report_idle_line(self->report, self->workload, analysis);
    if (analysis->copies.count)
        say_copies(self, !says_why);
    if (analysis->communication.count)
        say_communication(self);
    (void)hl_report_mpi_line(self->report, self->workload, false);
    hl_report_next_command(self->report, self->workload, analysis);
}
