#include "project/message_scale.h"

#include <math.h>

#include "comm/message_cost.h"
#include "workload/mpi_calls.h"

/* The time of one message by the protocol of its size; NaN where the machine lacks that. *error
 * gets the 90th percentile of the fit's errors, as a share. */
static double message_s(const haul_machine *machine, haul_reach reach, double bytes, double *error)
{
    double measured = 0;
    const haul_message_protocol *protocol =
        machine ? hl_comm_message_protocol_of(machine, HAUL_MEMORY_HOST, reach, bytes, &measured)
                : NULL;
    if (!protocol && machine && reach == HAUL_REACH_ON_NODE)
        protocol = hl_comm_message_protocol_of(machine, HAUL_MEMORY_HOST, HAUL_REACH_ON_SOCKET,
                                               bytes, &measured);
    if (!protocol)
        return (double)NAN;
    *error += HL_COMM_MESSAGE_TAIL * protocol->error.value;
    return hl_comm_serial_s(machine, protocol, 1, bytes);
}

/* NaN where either machine lacks messages. */
static double ratio_of(const haul_machine *from, const haul_machine *to,
                       const haul_workload *workload, const haul_op *op, double *error)
{
    const bool is_far = workload->streams[op->stream].context == HL_WORKLOAD_BETWEEN_NODES;
    const haul_reach reach = is_far ? HAUL_REACH_BETWEEN_NODES : HAUL_REACH_ON_NODE;
    *error = 0;
    return message_s(to, reach, (double)op->bytes, error) /
           message_s(from, reach, (double)op->bytes, error);
}

/* A collective is a message without a call of its own. */
static bool is_collective(const haul_op *op)
{
    return !(op->flags & HAUL_OP_HAS_CALL);
}

hl_project_work_scale hl_project_message_scale(const haul_machine *from, const haul_machine *to,
                                               const haul_workload *workload, const haul_op *op)
{
    double error;
    const hl_project_work_scale kept = {1, 1, 1};
    if (!hl_workload_is_of_hosts(workload, op))
        return kept;
    const double ratio = ratio_of(from, to, workload, op, &error);
    if (!(ratio > 0) || !isfinite(ratio))
        return kept;
    if (is_collective(op))
        return (hl_project_work_scale){1, fmin(1, ratio), fmax(1, ratio)};
    return (hl_project_work_scale){ratio, ratio / (1 + error), ratio * (1 + error)};
}

void hl_project_message_note(const haul_machine *from, const haul_machine *to,
                             const haul_workload *workload, hl_project_notes *notes)
{
    size_t messages = 0, collectives = 0, unknown = 0;
    const bool are_known = from && to && from->message_count && to->message_count;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *const op = &workload->ops[i];
        double error;
        if (!hl_workload_is_of_hosts(workload, op))
            continue;
        messages += !is_collective(op);
        collectives += is_collective(op);
        unknown += are_known && isnan(ratio_of(from, to, workload, op, &error));
    }
    if (messages + collectives && !are_known)
        hl_project_notes_add(
            notes,
            "messages keep their recorded time: '%.100s' lacks messages, which 'haul-mpi measure' "
            "and 'haul comm fit' give a machine, and --from names the one that recorded",
            !from || !from->message_count || !to ? "the machine that recorded" : to->name);
    else if (unknown)
        hl_project_notes_add(notes,
                             "%zu messages keep their recorded time: a machine lacks those "
                             "of their reach",
                             unknown);
    if (collectives && are_known)
        hl_project_notes_add(notes, "collectives of MPI keep their recorded time; the interval "
                                    "reaches to that of a message of their size");
}
