/* haul comm: messages between processes and GPUs, fitted and predicted. */
#include "cli/command.h"

extern const cli_command cli_comm_fit;

const cli_command cli_comm = {
    .name = "comm",
    .summary = "messages between GPUs and nodes: fits and predictions",
    .synopsis = "fit [options] [arguments]",
    .about = "Messages between processes and GPUs, on one node and between nodes.\n",
    .examples = {"haul comm fit pingpong.csv", "haul comm fit pingpong.csv -o mine.yaml"},
    .parts = (const cli_command *const[]){&cli_comm_fit, NULL},
};
