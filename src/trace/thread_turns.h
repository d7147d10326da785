/* Threads of a program that take turns. */
#ifndef HAUL_TRACE_THREAD_TURNS_H
#define HAUL_TRACE_THREAD_TURNS_H

#include "workload/builder.h"

/* Whether the two threads that call for the most operations of devices take turns, as PyTorch's
 * forward and backward passes do: one sleeps while the other calls. Sets *two to them then. `order`
 * has the operations thread by thread in order of call, up to ends[t] those of thread t. */
bool hl_trace_threads_take_turns(const hl_workload_builder *built, const uint32_t *order,
                                 const size_t *ends, uint32_t two[2]);

#endif
