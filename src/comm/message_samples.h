/* Reading measured messages from memory. */
#ifndef HAUL_COMM_MESSAGE_SAMPLES_H
#define HAUL_COMM_MESSAGE_SAMPLES_H

#include "haul/message.h"

enum { HL_COMM_PROCESSES_MOST = 1 << 20 };

/* haul_message_samples_load from `size` bytes in memory, NUL behind them; `file` names them in
 * errors. */
haul_status hl_comm_message_samples_parse(const char *text, size_t size, const char *file,
                                          const haul_message_source *source,
                                          haul_message_samples *samples, haul_error *error);

/* Adds one, whose numbers are checked here: a size that a double holds exactly, a duration, and no
 * more processes and messages than any machine has. */
haul_status hl_comm_message_sample_add(haul_message_samples *samples,
                                       const haul_message_sample *sample, haul_error *error);

/* OSU's and nccl-tests' output, line by line. */
haul_status hl_comm_message_text_read(const char *text, const char *file,
                                      const haul_message_source *source,
                                      haul_message_samples *samples, haul_error *error);

#endif
