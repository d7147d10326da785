/* The top: haul/tile.h's calls, and what they share. */
#ifndef HAUL_TILE_TILE_CALLS_H
#define HAUL_TILE_TILE_CALLS_H

#include "tile/tile_processes.h"

/* Runs what is queued; first returns a failure that was kept. */
haul_status hl_tile_queue_run(haul_context *context, haul_error *error);

/* Queues a loop. */
haul_status hl_tile_loop_queue(haul_context *context, const hl_tile_asked_loop *loop,
                               haul_error *error);

/* Does a job on all devices' contexts; first returns a failure that was kept. */
haul_status hl_tile_on_all(haul_context *context, hl_tile_job job, void *state, haul_error *error);

/* Opens a context on one device. */
haul_status hl_tile_context_open(const char *device, const haul_context_options *options,
                                 haul_context **context, haul_error *error);

/* Over several devices: whether each may have a part of the array; gives the others what the host
 * has set; divides the array, or gives it to all; the same for a loop's arrays, in the order of its
 * uses. Runs what is queued, where it does anything. */
bool hl_tile_array_can_divide(const haul_array *array);
haul_status hl_tile_array_spread(haul_array *array, haul_error *error);
haul_status hl_tile_array_place(haul_array *array, bool on_all, haul_error *error);
/* The model's choices, with the seconds of a loop: loops between exchanges, or planes of regions
 * where devices run loops in turns; 0: these fit in none. */
unsigned hl_tile_exchange_choose(haul_array *const *arrays, const hl_tile_step *step,
                                 double *loop_s);
int hl_tile_relay_choose(haul_array *const *arrays, const hl_tile_step *step, double *loop_s);
haul_status hl_tile_arrays_place(haul_array *const *arrays, const hl_tile_step *step,
                                 haul_error *error);
/* The host waits, or a loop cannot go in turns with those before it. */
void hl_tile_stretch_end(haul_context *context);
/* Makes the arrays anew with room for planes of several loops, where these pay. */
haul_status hl_tile_arrays_deepen(haul_array *const *arrays, const hl_tile_step *step,
                                  haul_error *error);

/* In the checked mode: runs the queue on the arrays' shadows, and checks each access of its
 * kernels; compares what the host has of a part with the shadow. */
haul_status hl_tile_checked_run(haul_context *context, haul_error *error);
haul_status hl_tile_checked_compare(hl_tile_field *field, int part, haul_error *error);

/* Lends a field on the device, which has room for all of it, to what is not a loop of the queue:
 * what is read is brought, and nothing else uses it. What is written is the device's alone then. */
haul_status hl_tile_field_lend(hl_tile_field *field, haul_use use, haul_error *error);

/* Compaction of `from`, which has so many cells: on the device where it has all of these and of the
 * flags, and room for `to`, else on the host. Not over several devices. USAGE where the cells that
 * are found do not fit. */
haul_status hl_tile_scan(haul_array *from, haul_array *flags, haul_array *to, int64_t cells,
                         uint64_t *found, haul_error *error);
haul_status hl_tile_scan_check_room(const hl_tile_field *to, uint64_t found, haul_error *error);

/* Begins the context's trace, where one is asked for; writes it. */
haul_status hl_tile_trace_open(haul_context *context, haul_error *error);
void hl_tile_trace_close(haul_context *context);

/* Needs: no queued work uses the field. Planes that only the device has go into its file. */
void hl_tile_field_close(hl_tile_field *field);

#endif
