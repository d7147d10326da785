/* Fills the new machine's parameters that only the old one has: AHEAD, section IV.C, which keeps
 * the single figure that needs a measurement, the latency. */
#include "cost/complete.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "cost/lookup.h"
#include "cost/points.h"

/* `to` is what is known of the new machine, `from` the machine that was measured. Sources of values
 * point to `kept` and `scaled`: haul_machine_with_copies copies them. */
typedef struct completion {
    const haul_machine *to;
    const haul_machine *from;
    double ratio;  /* of the hosts' copy rates; 0: nothing of the host is scaled */
    bool is_board; /* `to` is a board alone, without a link: it goes into the old machine's slot */
    char kept[160];
    char scaled[160];
    haul_copy_curve *copies;
    size_t count;
} completion;

static bool is_given(const haul_parameter *figure)
{
    return figure->provenance != HAUL_PROVENANCE_NOT_GIVEN;
}

bool hl_cost_is_board(const haul_machine *machine)
{
    bool is_board = machine->link.kind == HAUL_LINK_NONE;
    for (size_t i = 0; is_board && i < machine->copy_count; i++)
        is_board = !haul_direction_crosses_link(machine->copies[i].direction);
    return is_board;
}

/* Never replaces a value that the new machine has. */
static void take_parameter(haul_parameter *to, const haul_parameter *from, double factor,
                           const char *source)
{
    if (!is_given(to) && is_given(from))
        *to = (haul_parameter){from->value * factor, HAUL_PROVENANCE_SCALED, source};
}

/* The array has room for all entries of both machines, so adding never fails. */
static haul_copy_curve *entry_of(completion *self, const haul_copy_curve *like, haul_memory memory)
{
    for (size_t i = 0; i < self->count; i++) {
        haul_copy_curve *entry = &self->copies[i];
        if (entry->direction == like->direction && entry->memory == memory &&
            entry->locality == like->locality)
            return entry;
    }
    haul_copy_curve *added = &self->copies[self->count++];
    *added = (haul_copy_curve){
        .direction = like->direction, .memory = memory, .locality = like->locality};
    return added;
}

/* The rate at which the old host staged: its figure, or that of large pageable copies where they
 * were clearly slower than the link, so that it was the host that set the pace. */
static haul_parameter staged_rate(const completion *self, const haul_copy_curve *old)
{
    haul_parameter rate = old->memory_rate_Bps;
    if (is_given(&rate))
        return rate;
    rate = old->rate_Bps;
    if (!is_given(&rate)) {
        rate = old->points_from;
        if (!hl_cost_curve_rate(old, &rate.value))
            return (haul_parameter){0};
    }
    const haul_copy_curve *pinned =
        haul_machine_curve(self->from, old->direction, HAUL_MEMORY_PINNED, old->locality);
    haul_parameter link = haul_link_peak(&self->from->link);
    if (pinned && is_given(&pinned->rate_Bps))
        link = pinned->rate_Bps;
    else if (pinned)
        (void)hl_cost_curve_rate(pinned, &link.value);
    return link.value > 0 && rate.value > 0.9 * link.value ? (haul_parameter){0} : rate;
}

static void mark_kept(const completion *self, haul_parameter *figure)
{
    if (is_given(figure))
        *figure = (haul_parameter){figure->value, HAUL_PROVENANCE_SCALED, self->kept};
}

/* The old machine's copies over its link, as they are: the board goes into its slot. */
static void take_slot(completion *self, const haul_copy_curve *old)
{
    haul_copy_curve *entry = entry_of(self, old, old->memory);
    *entry = *old;
    mark_kept(self, &entry->latency_s);
    mark_kept(self, &entry->rate_Bps);
    mark_kept(self, &entry->busy_rate_Bps);
    mark_kept(self, &entry->memory_rate_Bps);
    mark_kept(self, &entry->points_from);
}

/* AHEAD keeps the latency as it is, because launching a copy costs software, not bandwidth
 * (section IV.C); so do the latency of a call and the gap here. Rates of pinned copies are not
 * taken: they follow from the new machine's link. */
static void take_entry(completion *self, const haul_copy_curve *old)
{
    if (self->is_board && haul_direction_crosses_link(old->direction)) {
        take_slot(self, old);
        return;
    }
    const haul_memory memory = hl_cost_memory_stand_in(old->direction, old->memory);
    if (memory != old->memory &&
        haul_machine_curve(self->from, old->direction, memory, old->locality))
        return; /* the kind that stands in for it has its own figures */
    haul_parameter latency = {0};
    const bool has_latency = hl_cost_latency_of(self->from, old, &latency);
    haul_copy_curve *entry = entry_of(self, old, memory);
    if (has_latency && !is_given(&entry->points_from))
        take_parameter(&entry->latency_s, &latency, 1, self->kept);
    take_parameter(&entry->call_latency_s, &old->call_latency_s, 1, self->kept);
    take_parameter(&entry->gap_s, &old->gap_s, 1, self->kept);
    if (old->memory == HAUL_MEMORY_PAGEABLE && !(self->ratio <= 0) && !is_given(&entry->rate_Bps) &&
        !is_given(&entry->points_from)) {
        /* Rates of staging follow the host's copy rate; sizes are the driver's and stay. A measured
         * rate or curve of pageable copies on the new machine speaks for itself: nothing is scaled
         * beside it. */
        const haul_parameter rate = staged_rate(self, old);
        take_parameter(&entry->memory_rate_Bps, &rate, self->ratio, self->scaled);
        take_parameter(&entry->host_rate_Bps, &old->host_rate_Bps, self->ratio, self->scaled);
        take_parameter(&entry->small_rate_Bps, &old->small_rate_Bps, self->ratio, self->scaled);
        take_parameter(&entry->threshold_bytes, &old->threshold_bytes, 1, self->kept);
        take_parameter(&entry->chunk_bytes, &old->chunk_bytes, 1, self->kept);
        if (!is_given(&self->to->host.cache_bytes)) /* the knee is the host's own */
            take_parameter(&entry->cache_bytes, &old->cache_bytes, 1, self->kept);
    }
}

haul_status haul_machine_complete(const haul_machine *to, const haul_machine *from,
                                  haul_machine **out, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    const double now = to->host.copy_rate_Bps.value, old = from->host.copy_rate_Bps.value;
    const char *name = from->name ? from->name : "another machine";
    completion self = {.to = to, .from = from, .is_board = hl_cost_is_board(to)};
    /* where the old host's rate is not known and the new one's is, that speaks for itself; where
     * neither is, rates are kept */
    self.ratio = now > 0 && old > 0 ? now / old : now > 0 ? 0 : 1;
    snprintf(self.kept, sizeof self.kept, "kept from %.100s", name);
    if (now > 0)
        snprintf(self.scaled, sizeof self.scaled, "from %.100s, x %.3g for the hosts' copy rates",
                 name, self.ratio);
    else
        snprintf(self.scaled, sizeof self.scaled, "kept from %.100s: no host copy rate to scale by",
                 name);
    self.copies = calloc(to->copy_count + from->copy_count + 1, sizeof *self.copies);
    if (!self.copies)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < to->copy_count; i++)
        self.copies[self.count++] = to->copies[i];
    for (size_t i = 0; i < from->copy_count; i++)
        take_entry(&self, &from->copies[i]);
    haul_machine slotted = *to;
    if (self.is_board)
        slotted.link = from->link;
    const haul_status status =
        haul_machine_with_copies(&slotted, self.copies, self.count, out, error);
    free(self.copies);
    return status;
}
