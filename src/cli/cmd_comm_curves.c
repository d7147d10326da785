/* haul comm curves: a machine's messages over their size and number. */
#include "cli/command.h"
#include "haul/message_figures.h"

static const char about[] = "Times of a machine's messages as the max-rate model has them (Bienz "
                            "et al., HPEC 2021, Figures\n"
                            "2 to 5): between hosts and between GPUs over the size, GPUDirect "
                            "beside 3-step, data split over\n"
                            "the processes of a node, and what 3-step gains with several messages. "
                            "With --html four charts.\n"
                            "The machine needs 'messages' ('haul comm fit').\n";

typedef struct curves_request {
    cli_request given;
    cli_machines machines;
} curves_request;

static haul_status show_curves(void *request, haul_error *error)
{
    const curves_request *self = request;
    const haul_machine *machine = self->machines.items[0];
    haul_message_figure figures[HAUL_FIGURES];
    HAUL_TRY(haul_message_figures_make(machine, figures, error));
    cli_answer answer = {
        .report = haul_report_message_figures(machine, figures),
        .page = {.title = "haul: messages over their size and number", .figures = figures}};
    return cli_answer_write(&self->given.results, &answer, error);
}

const cli_command cli_comm_curves = {
    .name = "comm curves",
    .summary = "a machine's messages over their size and number",
    .synopsis = "MACHINE [options]",
    .about = about,
    .operand = {.name = "machine",
                .takes = "MACHINE",
                .kind = CLI_MACHINES,
                .at = offsetof(curves_request, machines)},
    .least = 1,
    .most = 1,
    .csv = "messages between hosts and between GPUs, a row for each size",
    .exits = "3 bad input, or a machine without messages",
    .examples = {"haul comm curves summit", "haul comm curves summit --html summit.html"},
    .has_report = true,
    .has_html = true,
    .size = sizeof(curves_request),
    .act = show_curves,
};
