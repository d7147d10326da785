/* The rates of a node, from measured messages. */
#ifndef HAUL_COMM_INJECTION_FIT_H
#define HAUL_COMM_INJECTION_FIT_H

#include "haul/message.h"

/* Adds to fit->injection the rate of each number of processes that was measured: that of
 * T = latency + max(n / R_b, ppn n / R) (Bienz et al., HPEC 2021, eq. 2), with the latency and R_b
 * of the fit's curve between nodes. So it is the rate of the bytes alone, as predictions use it.
 * Returns NO_MEMORY. */
haul_status hl_comm_injection_fit(haul_message_fit *fit, const haul_message_samples *samples,
                                  haul_error *error);

#endif
