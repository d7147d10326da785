/* Streams for queues. A queue in order is trivial; nearly all of this file is about queues out of
 * order, whose commands must not look ordered in the profile where the program left them free. */
#include "record/cl_queues.h"

#include <inttypes.h>

#include "base/grow.h"

/* --- numbers */

/* Numbers count up in the order of the first use, as Nsight's do. */
static uint32_t number_of(hl_record_handle_map *map, const void *handle, uint32_t *count,
                          bool *is_new)
{
    uint64_t value;
    *is_new = !hl_record_handle_map_get(map, handle, &value);
    if (*is_new) {
        value = (*count)++;
        hl_record_handle_map_set(map, handle, value);
    }
    return (uint32_t)value;
}

/* OpenCL answers in 4 or 8 bytes by what is asked; `size` says which. */
static uint64_t ask_number(cl_device_id device, cl_device_info what, size_t size)
{
    cl_ulong wide = 0;
    cl_uint narrow = 0;
    void *to = size == sizeof wide ? (void *)&wide : (void *)&narrow;
    if (hl_record_cl_runtime.clGetDeviceInfo(device, what, size, to, NULL) != CL_SUCCESS)
        return 0;
    return size == sizeof wide ? wide : narrow;
}

static void describe_device(hl_record_profile_writer *writer, cl_device_id device, uint32_t id)
{
    char name[256] = "";
    if (hl_record_cl_runtime.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL) !=
        CL_SUCCESS)
        name[0] = '\0';
    const hl_record_profile_device described = {
        .id = id,
        .name = name,
        .discrete = !ask_number(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool)),
        .memory_bytes = ask_number(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong)),
        .l2_bytes = ask_number(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cl_ulong)),
        .clock_Hz = 1000000 * ask_number(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint)),
        .multiprocessors =
            (uint32_t)ask_number(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)),
    };
    hl_record_profile_describe_device(writer, &described);
}

static void number_queue(hl_record_cl_queues *self, hl_record_profile_writer *writer,
                         hl_record_cl_queue *queue)
{
    bool is_new;
    cl_command_queue_properties properties = 0;
    hl_record_cl_runtime.clGetCommandQueueInfo(queue->handle, CL_QUEUE_PROPERTIES,
                                               sizeof properties, &properties, NULL);
    queue->device = number_of(&self->devices, queue->device_handle, &self->device_count, &is_new);
    if (is_new)
        describe_device(writer, queue->device_handle, queue->device);
    queue->shares_memory =
        ask_number(queue->device_handle, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool));
    queue->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    queue->context = queue->out_of_order ? self->context_count++
                                         : number_of(&self->contexts, queue->context_handle,
                                                     &self->context_count, &is_new);
    /* chains of epoch 0 are unused */
    queue->epoch = 1;
    const uint32_t streams = queue->out_of_order ? HL_RECORD_CL_CHAINS : 1;
    queue->stream = self->stream_count + 1;
    self->stream_count += streams;
    for (uint32_t i = 0; i < streams; i++)
        hl_record_profile_describe_stream(writer, queue->context, queue->stream + i);
}

hl_record_cl_queue *hl_record_cl_queues_add(hl_record_cl_queues *self,
                                            hl_record_profile_writer *writer,
                                            const hl_record_cl_queue *queue)
{
    hl_record_cl_queue *place = hl_record_cl_queues_find(self, queue->handle);
    if (place) {
        self->shared += place->shared; /* its handle is given again: it is gone */
    } else {
        if (!hl_base_grow(&self->items, &self->capacity, self->count + 1, sizeof *self->items))
            return NULL;
        hl_record_handle_map_set(&self->by_handle, queue->handle, self->count);
        place = &self->items[self->count++];
    }
    *place = *queue;
    number_queue(self, writer, place);
    return place;
}

hl_record_cl_queue *hl_record_cl_queues_find(hl_record_cl_queues *self, cl_command_queue handle)
{
    uint64_t at;
    return hl_record_handle_map_get(&self->by_handle, handle, &at) && at < self->count
               ? &self->items[at]
               : NULL;
}

/* Queues made before the layer was there, or by another library past it, may measure no times:
 * their commands are counted as such. */
hl_record_cl_queue *hl_record_cl_queues_find_or_add(hl_record_cl_queues *self,
                                                    hl_record_profile_writer *writer,
                                                    cl_command_queue handle)
{
    hl_record_cl_queue *found = hl_record_cl_queues_find(self, handle);
    if (found)
        return found;
    hl_record_cl_queue queue = {.handle = handle};
    // NOLINTBEGIN(bugprone-sizeof-expression): the handles themselves
    hl_record_cl_runtime.clGetCommandQueueInfo(
        handle, CL_QUEUE_CONTEXT, sizeof queue.context_handle, &queue.context_handle, NULL);
    hl_record_cl_runtime.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof queue.device_handle,
                                               &queue.device_handle, NULL);
    // NOLINTEND(bugprone-sizeof-expression)
    if (!queue.context_handle || !queue.device_handle)
        return NULL;
    return hl_record_cl_queues_add(self, writer, &queue);
}

void hl_record_cl_queues_forget(hl_record_cl_queues *self)
{
    *self = (hl_record_cl_queues){0}; /* the parent's memory, which nothing here frees */
}

void hl_record_cl_queues_note(hl_record_cl_queues *self, hl_record_profile_writer *writer)
{
    uint64_t shared = self->shared;
    for (size_t i = 0; i < self->count; i++)
        shared += self->items[i].shared;
    if (shared)
        hl_record_profile_note(writer, "HAUL:OUT_OF_ORDER_COMMANDS_ORDERED", "%" PRIu64, shared);
}

/* --- places */

/* Order on a stream is implied by the stream: such a wait would be a row that says nothing. */
static void drop_waits_for(hl_record_cl_command *command, uint32_t stream)
{
    for (int i = 0; i < command->wait_count;) {
        if (command->waits[i].stream == stream)
            command->waits[i] = command->waits[--command->wait_count];
        else
            i++;
    }
}

/* The stream whose last command it waits for, or one that is unused, or any. */
static uint32_t choose_chain(hl_record_cl_queue *self, const hl_record_cl_command *command)
{
    for (int i = 0; i < command->wait_count; i++) {
        const uint32_t chain = command->waits[i].stream - self->stream;
        if (chain < HL_RECORD_CL_CHAINS && self->chains[chain].last == command->waits[i].number)
            return chain;
    }
    for (uint32_t chain = 0; chain < HL_RECORD_CL_CHAINS; chain++)
        if (self->chains[chain].epoch != self->epoch)
            return chain;
    self->shared++;
    return self->next_shared++ % HL_RECORD_CL_CHAINS;
}

/* Makes later commands wait for the list, or for the last of each stream. */
static void place_barrier(hl_record_cl_queue *self, hl_record_cl_command *command)
{
    if (!command->wait_count)
        for (uint32_t i = 0; i < HL_RECORD_CL_CHAINS; i++)
            if (self->chains[i].last)
                hl_record_cl_command_waits(command, self->stream + i, self->chains[i].last);
    for (uint32_t i = 0; i < self->barrier_count; i++) /* the barrier before holds on */
        hl_record_cl_command_waits(command, self->barrier[i].stream, self->barrier[i].number);
    self->epoch++;
    self->barrier_count = 0;
    for (int i = 0; i < command->wait_count; i++) {
        self->barrier[self->barrier_count].stream = command->waits[i].stream;
        self->barrier[self->barrier_count++].number = command->waits[i].number;
    }
    command->wait_count = 0;
    command->record.stream = self->stream;
}

void hl_record_cl_queue_place(hl_record_cl_queue *self, hl_record_cl_command *command)
{
    command->record.device = self->device;
    command->record.context = self->context;
    command->record.stream = self->stream;
    if (!self->out_of_order) {
        if (command->effect != HL_RECORD_CL_WAIT)
            drop_waits_for(command, self->stream);
    } else if (command->effect == HL_RECORD_CL_BARRIER) {
        place_barrier(self, command);
    } else if (command->effect == HL_RECORD_CL_FINISH) {
        self->epoch++;
        self->barrier_count = 0;
        command->record.stream = HL_RECORD_PROFILE_NO_ID;
    } else if (command->issued) {
        /* The first command on a stream since a barrier waits for what the barrier does; those
         * behind it wait through it. */
        const uint32_t chain = choose_chain(self, command);
        const bool first = self->chains[chain].epoch != self->epoch;
        for (uint32_t i = 0; first && i < self->barrier_count; i++)
            hl_record_cl_command_waits(command, self->barrier[i].stream, self->barrier[i].number);
        command->record.stream = self->stream + chain;
        drop_waits_for(command, command->record.stream);
        self->chains[chain].last = command->number;
        self->chains[chain].epoch = self->epoch;
    }
}

bool hl_record_cl_queue_force(const cl_queue_properties *list, hl_record_cl_asked *asked,
                              cl_queue_properties *forced)
{
    enum { MOST = sizeof asked->list / sizeof asked->list[0] };
    size_t length = 0;
    bool found = false;
    for (; list && list[length]; length += 2) {
        if (length + 4 > MOST)
            return false;
        forced[length] = list[length];
        forced[length + 1] = list[length + 1];
        if (list[length] != CL_QUEUE_PROPERTIES)
            continue;
        found = true;
        asked->properties = list[length + 1];
        forced[length + 1] |= CL_QUEUE_PROFILING_ENABLE;
    }
    if (asked->properties & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE))
        return false;
    if (list) {
        asked->list_length = length + 1;
        memcpy(asked->list, list, asked->list_length * sizeof *list);
    }
    if (!found) {
        forced[length++] = CL_QUEUE_PROPERTIES;
        forced[length++] = CL_QUEUE_PROFILING_ENABLE;
    }
    forced[length] = 0;
    return true;
}
