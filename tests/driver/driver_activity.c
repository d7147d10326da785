/* Records of what was done, for CUPTI. */
#include "driver.h"
#include "record/cupti_abi.h"

enum { HTOD = 1, DTOH = 2, DTOD = 8, HTOH = 9, PTOP = 10 };

void driver_activity_device(int device)
{
    DRIVER_KEEP((hl_record_abi_device){.kind = HL_RECORD_ABI_DEVICE,
                                       .memory_bandwidth = 900000000,
                                       .memory_bytes = driver.options.memory_bytes,
                                       .l2_bytes = 524288,
                                       .clock_rate = 1530000,
                                       .copy_engines = 2,
                                       .multiprocessors = 80,
                                       .major = 7,
                                       .id = (uint32_t)device,
                                       .uuid = {0xab, [15] = (uint8_t)device},
                                       .name = driver_device_name()});
}

void driver_activity_context(const driver_context *context)
{
    DRIVER_KEEP((hl_record_abi_context){.kind = HL_RECORD_ABI_CONTEXT,
                                        .context = context->object.id,
                                        .device = (uint32_t)context->device});
}

void driver_activity_wait(uint32_t type, const driver_stream *stream, const driver_event *event,
                          int64_t start_ns, int result)
{
    DRIVER_KEEP((hl_record_abi_sync){.kind = HL_RECORD_ABI_SYNC,
                                     .type = type,
                                     .start = (uint64_t)start_ns,
                                     .end = (uint64_t)driver_now(),
                                     .correlation = driver_correlation,
                                     .context = stream->context->object.id,
                                     .stream = type == 4 ? UINT32_MAX : stream->object.id,
                                     .event = event ? event->object.id : UINT32_MAX,
                                     .sync_id = event ? event->record_id : 0,
                                     .result = (uint32_t)result});
}

static uint8_t kind_of_copy(driver_memory from, driver_memory to)
{
    if (from == DRIVER_DEVICE)
        return to == DRIVER_DEVICE ? DTOD : DTOH;
    return to == DRIVER_DEVICE ? HTOD : HTOH;
}

static void keep_copy(const driver_stream *stream, const driver_op *op)
{
    const driver_copy *copy = &op->copy;
    const driver_memory from = copy->staged ? DRIVER_PAGEABLE : driver_memory_at(copy->from.at);
    const driver_memory to = driver_memory_at(copy->to.at);
    DRIVER_KEEP((hl_record_abi_copy){.kind = HL_RECORD_ABI_COPY,
                                     .copy_kind = kind_of_copy(from, to),
                                     .source_kind = (uint8_t)from,
                                     .target_kind = (uint8_t)to,
                                     .transfer.bytes = copy->bytes * copy->rows * copy->planes,
                                     .transfer.start = (uint64_t)op->start_ns,
                                     .transfer.end = (uint64_t)op->end_ns,
                                     .transfer.device = (uint32_t)stream->context->device,
                                     .transfer.context = stream->context->object.id,
                                     .transfer.stream = stream->object.id,
                                     .transfer.correlation = op->correlation});
}

static void keep_peer_copy(const driver_stream *stream, const driver_op *op, int from, int to)
{
    const driver_copy *copy = &op->copy;
    DRIVER_KEEP(
        (hl_record_abi_peer_copy){.copy.kind = HL_RECORD_ABI_PEER_COPY,
                                  .copy.copy_kind = PTOP,
                                  .copy.source_kind = DRIVER_DEVICE,
                                  .copy.target_kind = DRIVER_DEVICE,
                                  .copy.transfer.bytes = copy->bytes * copy->rows * copy->planes,
                                  .copy.transfer.start = (uint64_t)op->start_ns,
                                  .copy.transfer.end = (uint64_t)op->end_ns,
                                  .copy.transfer.device = (uint32_t)stream->context->device,
                                  .copy.transfer.context = stream->context->object.id,
                                  .copy.transfer.stream = stream->object.id,
                                  .copy.transfer.source_device = (uint32_t)from,
                                  .target_device = (uint32_t)to,
                                  .correlation = op->correlation});
}

static void keep_any_copy(const driver_stream *stream, const driver_op *op)
{
    const driver_block *from = op->copy.staged ? NULL : driver_block_at(op->copy.from.at);
    const driver_block *to = driver_block_at(op->copy.to.at);
    const bool within = from && to && from->memory == DRIVER_DEVICE && to->memory == DRIVER_DEVICE;
    if (within && from->device != to->device)
        keep_peer_copy(stream, op, from->device, to->device);
    else
        keep_copy(stream, op);
}

static void keep_fill(const driver_stream *stream, const driver_op *op)
{
    DRIVER_KEEP((hl_record_abi_memset){.kind = HL_RECORD_ABI_MEMSET,
                                       .value = op->fill.value,
                                       .transfer.bytes = op->fill.count * op->fill.width,
                                       .transfer.start = (uint64_t)op->start_ns,
                                       .transfer.end = (uint64_t)op->end_ns,
                                       .transfer.device = (uint32_t)stream->context->device,
                                       .transfer.context = stream->context->object.id,
                                       .transfer.stream = stream->object.id,
                                       .transfer.correlation = op->correlation,
                                       .memory_kind = (uint16_t)driver_memory_at(op->fill.at)});
}

static void keep_kernel(const driver_stream *stream, const driver_op *op)
{
    const driver_launch *launch = &op->launch;
    hl_record_abi_kernel record = {.kind = HL_RECORD_ABI_KERNEL,
                                   .registers_per_thread = 32,
                                   .start = (uint64_t)op->start_ns,
                                   .end = (uint64_t)op->end_ns,
                                   .device = (uint32_t)stream->context->device,
                                   .context = stream->context->object.id,
                                   .stream = stream->object.id,
                                   .dynamic_shared = (int32_t)launch->shared_bytes,
                                   .correlation = op->correlation,
                                   .name = launch->function->name};
    for (int i = 0; i < 3; i++) {
        record.grid[i] = (int32_t)launch->grid[i];
        record.block[i] = (int32_t)launch->block[i];
    }
    DRIVER_KEEP(record);
}

static void keep_event(const driver_stream *stream, const driver_op *op)
{
    DRIVER_KEEP((hl_record_abi_event){.kind = HL_RECORD_ABI_EVENT,
                                      .correlation = op->correlation,
                                      .context = stream->context->object.id,
                                      .stream = stream->object.id,
                                      .event = op->event->object.id,
                                      .device = (uint32_t)stream->context->device,
                                      .sync_id = op->correlation});
}

void driver_activity_op(const driver_stream *stream, const driver_op *op)
{
    switch (op->kind) {
    case DRIVER_COPY:
        keep_any_copy(stream, op);
        break;
    case DRIVER_FILL:
        keep_fill(stream, op);
        break;
    case DRIVER_LAUNCH:
        keep_kernel(stream, op);
        break;
    case DRIVER_RECORD:
        keep_event(stream, op);
        break;
    default:
        break;
    }
}
