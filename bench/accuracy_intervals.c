/* Whether the intervals of copies on machines of the catalogue hold what others measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/stats.h"
#include "haul/cost.h"
#include "transfer_rows.h"

/* A group of measured copies beside its prediction, in seconds of all together. */
typedef struct held_group {
    const transfer_group *group;
    const char *machine;
    double measured_s;
    haul_estimate predicted; /* the sums; `weakest` of all */
} held_group;

enum { GROUPS_MOST = 256 };

static haul_status predict(const haul_machine *machine, held_group *self, haul_error *error)
{
    const transfer_group *group = self->group;
    const bool is_host_clock = !strncmp(group->tool, "commscope", 9);
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < group->count; i++) {
        haul_copy copy = group->samples[i].copy;
        haul_estimate one;
        copy.locality = strcmp(group->node, "far") != 0 ? HAUL_NEAR : HAUL_FAR;
        status = haul_copy_time(machine, NULL, &copy, &one, error);
        if (status)
            break;
        const haul_copy_curve *curve =
            haul_machine_curve(machine, copy.direction, copy.memory, copy.locality);
        const double call_s = is_host_clock && curve ? curve->call_latency_s.value : 0;
        self->measured_s += group->samples[i].seconds;
        self->predicted.seconds += one.seconds + call_s;
        self->predicted.low_s += one.low_s + call_s;
        self->predicted.high_s += one.high_s + call_s;
        self->predicted.weakest = haul_provenance_weaker(self->predicted.weakest, one.weakest);
        self->predicted.model = one.model;
    }
    return status;
}

typedef enum copy_path { LINK, HOST, DEVICE, PATHS } copy_path;

static copy_path path_of(const held_group *self)
{
    const haul_copy *copy = &self->group->samples->copy;
    if (copy->direction == HAUL_DTOD)
        return DEVICE;
    return copy->memory == HAUL_PAGEABLE ? HOST : LINK;
}

/* |log (measured / predicted)| */
static double miss_of(const held_group *self)
{
    return fabs(log(self->measured_s / self->predicted.seconds));
}

static bool is_held(const held_group *self)
{
    return self->measured_s >= self->predicted.low_s && self->measured_s <= self->predicted.high_s;
}

/* The least factor that holds at least 90 of 100 groups of a path, those of one machine left out
 * (NULL: none). */
static double width_without(const held_group *all, size_t count, copy_path path,
                            const char *machine)
{
    double misses[GROUPS_MOST];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (path_of(&all[i]) == path && (!machine || strcmp(all[i].machine, machine) != 0))
            misses[kept++] = miss_of(&all[i]);
    haul_sort_doubles(misses, kept);
    return kept ? exp(misses[(size_t)ceil(0.9 * (double)kept) - 1]) : 1;
}

static haul_status gather(const transfer_groups *groups, held_group *all, size_t *count,
                          haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < groups->count && *count < GROUPS_MOST; i++) {
        held_group self = {.group = &groups->items[i],
                           .machine = accuracy_machine_for(groups->items[i].gpu)};
        haul_machine *machine = NULL;
        haul_error missing = {0};
        if (!self.machine || !strcmp(self.group->node, "both"))
            continue;
        status = haul_machine_load(self.machine, &machine, error);
        if (!status && !predict(machine, &self, &missing))
            all[(*count)++] = self;
        haul_machine_free(machine);
    }
    return status;
}

static void write_groups(const held_group *all, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        const held_group *self = &all[i];
        const haul_copy *copy = &self->group->samples->copy;
        const double predicted = self->predicted.seconds;
        fprintf(out, "| %s%s%s | %s %s | %s | %s | %.2f | %.2f to %.2f | %s |\n", self->group->gpu,
                *self->group->node ? ", " : "", self->group->node,
                haul_direction_text(copy->direction), haul_memory_text(copy->memory), self->machine,
                self->predicted.model, self->measured_s / predicted,
                self->predicted.low_s / predicted, self->predicted.high_s / predicted,
                is_held(self) ? "yes" : "**no**");
    }
}

/* What a width fitted to the other machines is worth for each. */
static void write_left_out(const held_group *all, size_t count, FILE *out)
{
    static const char *const names[] = {"over the link", "through the host", "inside the GPU"};
    size_t held = 0, held_out = 0;
    fputs("\n| copies | groups | inside | width fitted to all | inside by the width of the other "
          "machines |\n| --- | ---: | ---: | ---: | ---: |\n",
          out);
    for (int path = 0; path < PATHS; path++) {
        size_t groups = 0, inside = 0, inside_out = 0;
        for (size_t i = 0; i < count; i++) {
            if ((int)path_of(&all[i]) != path)
                continue;
            const double width = width_without(all, count, (copy_path)path, all[i].machine);
            groups++;
            inside += is_held(&all[i]);
            inside_out += miss_of(&all[i]) <= log(width) * (1 + 1e-12);
        }
        fprintf(out, "| %s | %zu | %zu | %.2f | %zu |\n", names[path], groups, inside,
                width_without(all, count, (copy_path)path, NULL), inside_out);
        held += inside;
        held_out += inside_out;
    }
    fprintf(
        out,
        "\nInside the stated intervals: %zu of %zu groups, %.0f %% (goal 85 to 95 %%); by widths "
        "of the other machines alone: %zu, %.0f %%.\n",
        held, count, 100 * (double)held / (double)count, held_out,
        100 * (double)held_out / (double)count);
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    static held_group all[GROUPS_MOST];
    transfer_groups groups = {0};
    size_t count = 0;
    haul_status status = transfer_groups_read(data, &groups, error);
    if (!status)
        status = gather(&groups, all, &count, error);
    if (!status && count) {
        fputs("## Intervals of copies on machines of the catalogue\n\n"
              "Groups of `transfers/transfers.csv`, all copies of one together, on the machine of "
              "the "
              "catalogue that is nearest: measured / predicted, and the stated interval over the "
              "prediction. Whoever measured had a host of his own: a slot of another generation, "
              "another core to stage pageable copies with. Widths: the least factor, up and down, "
              "that "
              "holds "
              "90 of 100 groups.\n\n"
              "| measured | copies | machine | model | ratio | interval | inside |\n"
              "| --- | --- | --- | --- | ---: | ---: | --- |\n",
              out);
        write_groups(all, count, out);
        write_left_out(all, count, out);
    }
    transfer_groups_release(&groups);
    return status;
}

const accuracy_section accuracy_intervals = {"intervals", write_section};
