/* haul comm: messages between processes and GPUs, fitted and predicted. */
#include "cli/command.h"

extern const cli_command cli_comm_curves, cli_comm_fit, cli_comm_platform, cli_comm_predict;

const cli_command cli_comm = {
    .name = "comm",
    .summary = "messages between GPUs and nodes: fits and predictions",
    .synopsis = "fit|predict|curves|platform [options] [arguments]",
    .about = "Messages between processes and GPUs, on one node and between nodes.\n",
    .examples = {"haul comm fit pingpong.csv",
                 "haul comm predict summit --bytes 4KiB --messages 8"},
    .parts = (const cli_command *const[]){&cli_comm_fit, &cli_comm_predict, &cli_comm_curves,
                                          &cli_comm_platform, NULL},
};
