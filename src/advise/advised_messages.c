/* MPI's all-to-alls: what the ways of libhaul-mpi would take by the messages of the machine, beside
 * the recorded time of transfer. It is a prediction beside a measurement, and said as such. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"
#include "base/fail.h"
#include "base/records.h"
#include "comm/host_exchange.h"
#include "workload/mpi_calls.h"

enum { MOST_SAID = 3 };

/* Below this share of the recorded time a way is worth a word: predictions err by a tenth. */
static const double worth = 0.9;

/* All-to-alls of one communicator and size. */
typedef struct all_to_all {
    uint64_t comm;
    uint64_t bytes; /* that a rank sends in one */
    uint32_t name;
    uint32_t none;
} all_to_all;

typedef struct all_to_all_sum {
    uint64_t count;
    double seconds; /* of transfer */
} all_to_all_sum;

/* The fastest way by the machine's messages; NaN where it lacks those. */
static double fastest_s(const haul_machine *machine, const hl_workload_mpi_layout *layout,
                        const all_to_all *of, bool may_rotate, const char **way)
{
    const double ranks = (double)layout->ranks, most = (double)layout->most;
    hl_comm_host_exchange exchange = {.machine = machine,
                                      .owners = (int)layout->ranks,
                                      .most = (int)layout->most,
                                      .nodes = (int)layout->hosts,
                                      .far_count = ranks - most,
                                      .near_count = most - 1,
                                      .bytes = (double)of->bytes / ranks};
    double best_s = hl_comm_host_direct(&exchange, 1);
    *way = "direct";
    const double rounds_s = may_rotate ? hl_comm_host_bruck(&exchange) : (double)NAN;
    const double bundled_s =
        layout->hosts > 1 && layout->most > 1 ? hl_comm_host_aggregated(&exchange) : (double)NAN;
    if (rounds_s < best_s) {
        best_s = rounds_s;
        *way = "bruck";
    }
    if (bundled_s < best_s) {
        best_s = bundled_s;
        *way = "aggregated";
    }
    return best_s;
}

static void say_one(hl_advise_advisor *self, const haul_machine *machine, const all_to_all *of,
                    const all_to_all_sum *sum)
{
    const hl_workload_mpi_layout layout =
        hl_workload_mpi_layout_of(self->workload, (uint32_t)of->comm);
    const char *const name = haul_workload_string(self->workload, of->name), *way;
    if (layout.ranks < 2 || layout.ranks > INT32_MAX)
        return;
    const double takes_s = fastest_s(machine, &layout, of, !strcmp(name, "MPI_Alltoall"), &way);
    const double recorded_s = sum->seconds / (double)sum->count;
    if (takes_s <= worth * recorded_s)
        hl_project_notes_add(
            &self->notes,
            "%s of %.0f bytes to each of %zu ranks took %.3g ms, beside waits for late ranks; by "
            "the "
            "messages of '%.60s' it would take %.2f of that by '%s', a way of libhaul-mpi (%llu "
            "calls, %.3g ms in all)",
            name, (double)of->bytes / (double)layout.ranks, layout.ranks, 1e3 * recorded_s,
            machine->name, takes_s / recorded_s, way, (unsigned long long)sum->count,
            1e3 * sum->seconds);
}

/* Sums in order of their first call; those of the most time are said. */
haul_status hl_advise_advisor_messages(hl_advise_advisor *self, haul_error *error)
{
    const haul_machine *const machine = self->target ? self->target : self->recorded;
    hl_base_records keys = {.size = sizeof(all_to_all)};
    all_to_all_sum *sums = NULL;
    size_t capacity = 0;
    bool enough = true;
    for (size_t i = 0; enough && i < self->workload->op_count; i++) {
        const haul_op *const op = &self->workload->ops[i];
        if (!hl_workload_is_of_hosts(self->workload, op) || op->flags & HAUL_OP_HAS_CALL ||
            strncmp(haul_workload_string(self->workload, op->name), "MPI_Alltoall", 12) != 0)
            continue;
        const all_to_all key = {self->workload->streams[op->stream].id, op->bytes, op->name, 0};
        const size_t before = keys.count;
        const uint32_t number = hl_base_records_add(&keys, &key);
        enough = number != UINT32_MAX && hl_base_grow(&sums, &capacity, keys.count, sizeof *sums);
        if (enough && number == before)
            sums[number] = (all_to_all_sum){.count = 0};
        if (enough) {
            sums[number].count++;
            sums[number].seconds += 1e-9 * (double)op->dur_ns;
        }
    }
    for (int said = 0; enough && machine && machine->message_count && said < MOST_SAID; said++) {
        size_t most = 0;
        for (size_t i = 1; i < keys.count; i++)
            most = sums[i].seconds > sums[most].seconds ? i : most;
        if (!keys.count || sums[most].seconds <= 0)
            break;
        say_one(self, machine, &((const all_to_all *)keys.items)[most], &sums[most]);
        sums[most].seconds = 0;
    }
    if (enough && keys.count && !(machine && machine->message_count))
        hl_project_notes_add(&self->notes,
                             "all-to-alls of MPI: whether another way is faster is known of a "
                             "machine with messages ('haul-mpi measure', 'haul comm fit', then "
                             "--machine)");
    free(sums);
    hl_base_records_release(&keys);
    return enough ? HAUL_OK : hl_base_fail_no_memory(error);
}
