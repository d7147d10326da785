/* Queues of OpenCL as streams of a profile.
 *
 * A queue in order is one stream. One out of order has streams only as its commands' own waits make
 * them: a command goes on the stream of a command that it waits for, where that is the stream's
 * last, else on one that is unused since the queue was last finished or had a barrier. There are
 * HL_RECORD_CL_CHAINS of them; a command more than that is put behind an unrelated one, which is
 * counted. Such a queue has a context of its own, as a finish of it waits for all its streams. */
#ifndef HAUL_RECORD_CL_QUEUES_H
#define HAUL_RECORD_CL_QUEUES_H

#include "record/cl_commands.h"
#include "record/cl_recorder.h"
#include "record/handle_map.h"

enum { HL_RECORD_CL_CHAINS = HL_RECORD_CL_MOST_WAITS };

typedef struct hl_record_cl_queue {
    cl_command_queue handle;
    cl_context context_handle;
    cl_device_id device_handle;
    hl_record_cl_asked asked;
    bool forced; /* to measure times */
    bool out_of_order;
    bool shares_memory; /* its device, the host's: maps move nothing */
    uint32_t device, context;
    uint32_t stream; /* the first of HL_RECORD_CL_CHAINS where out of order */
    uint32_t epoch;  /* counts finishes and barriers */
    struct {
        uint32_t last;  /* command */
        uint32_t epoch; /* in which it was put there */
    } chains[HL_RECORD_CL_CHAINS];
    struct {
        uint32_t stream, number;
    } barrier[HL_RECORD_CL_MOST_WAITS]; /* what the epoch's first commands wait for */
    uint32_t barrier_count;
    uint32_t next_shared;
    uint64_t shared;
} hl_record_cl_queue;

typedef struct hl_record_cl_queues {
    hl_record_cl_queue *items;
    size_t count, capacity;
    hl_record_handle_map by_handle;
    hl_record_handle_map contexts, devices; /* numbers */
    uint32_t context_count, device_count, stream_count;
    uint64_t shared; /* of queues that are gone */
} hl_record_cl_queues;

/* Numbers the queue, given with its handles, what was asked and whether it was forced; describes
 * its device where it is new. Returns where it is kept, until the next is added; NULL without
 * memory. */
hl_record_cl_queue *hl_record_cl_queues_add(hl_record_cl_queues *self,
                                            hl_record_profile_writer *writer,
                                            const hl_record_cl_queue *queue);
hl_record_cl_queue *hl_record_cl_queues_find(hl_record_cl_queues *self, cl_command_queue handle);

/* Also a queue that was made past the layer. NULL without memory. */
hl_record_cl_queue *hl_record_cl_queues_find_or_add(hl_record_cl_queues *self,
                                                    hl_record_profile_writer *writer,
                                                    cl_command_queue handle);
void hl_record_cl_queues_forget(hl_record_cl_queues *self);
void hl_record_cl_queues_note(hl_record_cl_queues *self, hl_record_profile_writer *writer);

/* Gives the command its device, context and stream, and what it waits for beside its list. */
void hl_record_cl_queue_place(hl_record_cl_queue *self, hl_record_cl_command *command);

/* Copies the list with profiling in it. Returns false where it is there already, or must not be. */
bool hl_record_cl_queue_force(const cl_queue_properties *list, hl_record_cl_asked *asked,
                              cl_queue_properties *forced);

#endif
