/* The words of each loss. */
#include "record/losses.h"

const hl_record_loss_words hl_record_loss_says[HL_RECORD_LOSSES] = {
    [HL_RECORD_LOSS_DROPPED_RECORDS] = {"DROPPED_RECORDS", HL_RECORD_LOSS_OF_RECORDS,
                                        "record was dropped", "records were dropped"},
    [HL_RECORD_LOSS_DROPPED_COMMANDS] = {"DROPPED_COMMANDS", HL_RECORD_LOSS_OF_OPERATIONS,
                                         "command was dropped", "commands were dropped"},
    [HL_RECORD_LOSS_DROPPED_BY_CUPTI] = {"DROPPED_BY_CUPTI", HL_RECORD_LOSS_OF_RECORDS,
                                         "record was dropped by CUPTI",
                                         "records were dropped by CUPTI"},
    [HL_RECORD_LOSS_IN_FLIGHT] = {"COMMANDS_IN_FLIGHT", HL_RECORD_LOSS_OF_OPERATIONS,
                                  "command was in flight and is missing",
                                  "commands were in flight and are missing"},
    [HL_RECORD_LOSS_UNFINISHED] = {"UNFINISHED_COMMANDS", HL_RECORD_LOSS_OF_OPERATIONS,
                                   "command had not ended when the program did",
                                   "commands had not ended when the program did"},
    [HL_RECORD_LOSS_FAILED] = {"FAILED_COMMANDS", HL_RECORD_LOSS_OF_OPERATIONS,
                               "command failed and is missing", "commands failed and are missing"},
    [HL_RECORD_LOSS_COMMANDS_UNTIMED] = {"COMMANDS_WITHOUT_TIMES", HL_RECORD_LOSS_OF_OPERATIONS,
                                         "command is missing: its device gave no times",
                                         "commands are missing: their device gave no times"},
    [HL_RECORD_LOSS_RECORDS_UNTIMED] = {"RECORDS_WITHOUT_TIMES", HL_RECORD_LOSS_OF_OPERATIONS,
                                        "operation is missing: CUPTI gave no times",
                                        "operations are missing: CUPTI gave no times"},
    [HL_RECORD_LOSS_BEYOND_LIMITS] = {"OPERATIONS_BEYOND_LIMITS", HL_RECORD_LOSS_OF_OPERATIONS,
                                      "operation beyond the limit was left out",
                                      "operations beyond the limit were left out"},
    [HL_RECORD_LOSS_DAMAGED_RECORDERS] = {"DAMAGED_PARTS", HL_RECORD_LOSS_OF_RECORDERS,
                                          "recorder's memory was overwritten or cut",
                                          "recorders' memory was overwritten or cut"},
    [HL_RECORD_LOSS_NO_RECORDERS] = {"RECORDERS_NOT_BEGUN", HL_RECORD_LOSS_OF_RECORDERS,
                                     "recorder could not begin", "recorders could not begin"},
    [HL_RECORD_LOSS_TAKEN_OVER] = {"RECORDERS_TAKEN_OVER", HL_RECORD_LOSS_OF_RECORDERS,
                                   "recorder lost CUPTI to another profiler in the program, such "
                                   "as PyTorch's: later CUDA work is missing",
                                   "recorders lost CUPTI to other profilers in the program, such "
                                   "as PyTorch's: later CUDA work is missing"},
};

void hl_record_lost_add(hl_record_lost *self, const hl_record_lost *more)
{
    self->count += more->count;
    if (more->count && more->since_ns && (!self->since_ns || more->since_ns < self->since_ns))
        self->since_ns = more->since_ns;
}
