/* Buffers of CUDA and HIP, and the copies between them. One address space holds the host's memory
 * and all devices', so that an address says whose it is. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/cuda_device.h"

haul_status hl_device_cu_room(haul_device *device, uint64_t *bytes, haul_error *error)
{
    const hl_device_cu_device *self = (const hl_device_cu_device *)device;
    size_t left, whole;
    HL_DEVICE_CU_VISIT(self);
    HAUL_TRY(hl_device_cu_enter(self, error));
    const int result = self->api.room(&left, &whole);
    if (result)
        return hl_device_cu_fail(&self->api, result, "asking for the free memory", error);
    *bytes = left;
    return HAUL_OK;
}

/* Looks among haul's own buffers: memory of others counts as pageable. */
haul_status hl_device_cu_memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                                   haul_error *error)
{
    (void)error;
    static const haul_memory kinds[HAUL_BUFFER_KINDS] = {HAUL_MEMORY_DEVICE, HAUL_MEMORY_PINNED,
                                                         HAUL_MEMORY_PINNED, HAUL_MEMORY_PINNED,
                                                         HAUL_MEMORY_MANAGED};
    const hl_device_cu_address at = (uintptr_t)pointer;
    haul_memory found = HAUL_MEMORY_PAGEABLE;
    for (const hl_device_cu_buffer *i = ((hl_device_cu_device *)device)->buffers; i; i = i->next) {
        const hl_device_cu_address first = i->base.host ? (uintptr_t)i->base.host : i->at;
        if (at >= first && at - first < i->base.bytes)
            found = kinds[i->base.kind];
    }
    *memory = found;
    return HAUL_OK;
}

/* --- buffers */

/* Adds the buffer to the device's list; the caller releases what it allocated where this fails. */
static haul_status adopt(hl_device_cu_device *owner, const hl_device_cu_buffer *made,
                         haul_buffer **buffer, haul_error *error)
{
    hl_device_cu_buffer *self = malloc(sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    *self = *made;
    self->base.pointer = (void *)(uintptr_t)made->at; // NOLINT(performance-no-int-to-ptr)
    self->next = owner->buffers;
    owner->buffers = self;
    *buffer = &self->base;
    return HAUL_OK;
}

/* Portable, so that every device of the node copies from it as pinned. */
static int alloc_host(const hl_device_cu_api *api, hl_device_cu_buffer *to, uint64_t bytes,
                      unsigned flags)
{
    int result = api->alloc_host(&to->base.host, bytes, HL_DEVICE_CU_HOST_PORTABLE | flags);
    to->at = (uintptr_t)to->base.host;
    if (result || !(flags & HL_DEVICE_CU_HOST_MAPPED))
        return result;
    result = api->address_of(&to->at, to->base.host, 0);
    if (result)
        api->free_host(to->base.host);
    return result;
}

static int alloc(const hl_device_cu_api *api, hl_device_cu_buffer *to, haul_buffer_kind kind,
                 uint64_t bytes)
{
    int result;
    switch (kind) {
    case HAUL_BUFFER_DEVICE:
        return api->alloc(&to->at, bytes);
    case HAUL_BUFFER_MANAGED:
        result = api->alloc_managed(&to->at, bytes, HL_DEVICE_CU_ATTACH_GLOBAL);
        if (!result)
            to->base.host = (void *)(uintptr_t)to->at; // NOLINT(performance-no-int-to-ptr)
        return result;
    case HAUL_BUFFER_WRITE_COMBINED:
        return alloc_host(api, to, bytes, HL_DEVICE_CU_HOST_WRITE_COMBINED);
    case HAUL_BUFFER_MAPPED:
        return alloc_host(api, to, bytes, HL_DEVICE_CU_HOST_MAPPED);
    default:
        return alloc_host(api, to, bytes, 0);
    }
}

static void release(const hl_device_cu_api *api, const hl_device_cu_buffer *self,
                    haul_buffer_kind kind)
{
    if (self->is_wrapped)
        return;
    if (self->is_imported)
        api->close_import(self->at);
    else if (self->is_pinned)
        api->unpin(self->base.host);
    else if (kind == HAUL_BUFFER_DEVICE || kind == HAUL_BUFFER_MANAGED)
        api->free(self->at);
    else
        api->free_host(self->base.host);
}

haul_status hl_device_cu_buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                                    haul_buffer **buffer, haul_error *error)
{
    hl_device_cu_device *owner = (hl_device_cu_device *)device;
    hl_device_cu_buffer made = {.at = 0};
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    const int result = alloc(&owner->api, &made, kind, bytes);
    if (result == HL_DEVICE_CU_OUT_OF_MEMORY)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FULL,
                              "device '%s' has no %llu bytes of %s memory", device->name,
                              (unsigned long long)bytes, haul_buffer_kind_text(kind));
    if (result)
        return hl_device_cu_fail(&owner->api, result, "allocating memory", error);
    haul_status status = adopt(owner, &made, buffer, error);
    if (status)
        release(&owner->api, &made, kind);
    return status;
}

haul_status hl_device_cu_buffer_pin(haul_device *device, void *host, uint64_t bytes,
                                    haul_buffer **buffer, haul_error *error)
{
    hl_device_cu_device *owner = (hl_device_cu_device *)device;
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    const int result = owner->api.pin(host, bytes, HL_DEVICE_CU_HOST_PORTABLE);
    if (result)
        return hl_device_cu_fail(&owner->api, result, "page-locking memory", error);
    const hl_device_cu_buffer made = {
        .base = {.host = host}, .at = (uintptr_t)host, .is_pinned = true};
    haul_status status = adopt(owner, &made, buffer, error);
    if (status)
        owner->api.unpin(host);
    return status;
}

haul_status hl_device_cu_buffer_wrap(haul_device *device, void *memory, uint64_t bytes,
                                     haul_buffer **buffer, haul_error *error)
{
    (void)bytes;
    const hl_device_cu_buffer made = {.at = (uintptr_t)memory, .is_wrapped = true};
    return adopt((hl_device_cu_device *)device, &made, buffer, error);
}

/* Waits for all queued work, which may still use the memory. On a lost device the memory is left: a
 * copy may be running into it. */
void hl_device_cu_buffer_free(haul_buffer *buffer)
{
    hl_device_cu_device *owner = (hl_device_cu_device *)buffer->device;
    hl_device_cu_buffer *self = (hl_device_cu_buffer *)buffer, **at = &owner->buffers;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    HL_DEVICE_CU_VISIT(owner);
    if (hl_device_cu_settle(owner))
        release(&owner->api, self, buffer->kind);
    free(self);
}

haul_status hl_device_cu_buffer_export(haul_buffer *buffer, haul_buffer_handle *handle,
                                       haul_error *error)
{
    const hl_device_cu_device *owner = (const hl_device_cu_device *)buffer->device;
    hl_device_cu_ipc_handle name;
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    const int result = owner->api.export_(&name, ((hl_device_cu_buffer *)buffer)->at);
    if (result)
        return hl_device_cu_fail(&owner->api, result, "sharing memory", error);
    handle->bytes = buffer->bytes;
    memcpy(handle->name, name.name, sizeof handle->name);
    return HAUL_OK;
}

haul_status hl_device_cu_buffer_import(haul_device *device, const haul_buffer_handle *handle,
                                       haul_buffer **buffer, haul_error *error)
{
    hl_device_cu_device *owner = (hl_device_cu_device *)device;
    hl_device_cu_buffer made = {.is_imported = true};
    hl_device_cu_ipc_handle name;
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    memcpy(name.name, handle->name, sizeof name.name);
    int result = owner->api.import(&made.at, name, HL_DEVICE_CU_IPC_LAZY_PEER);
    if (result && owner->api.is_hip)
        result = owner->api.import(&made.at, name, 0); /* the flag's number in ROCm 5 */
    if (result)
        return hl_device_cu_fail(&owner->api, result, "importing memory of another process", error);
    haul_status status = adopt(owner, &made, buffer, error);
    if (status)
        owner->api.close_import(made.at);
    return status;
}

/* --- copies */

static hl_device_cu_address place_of_end(const haul_address *end)
{
    return end->buffer ? ((const hl_device_cu_buffer *)end->buffer)->at + end->offset
                       : (uintptr_t)end->host;
}

/* A copy in addresses. */
typedef struct box {
    hl_device_cu_address to, from;
    uint64_t size[3];
    uint64_t to_pitch[2], from_pitch[2];
} box;

static int copy_3d(const hl_device_cu_api *api, const box *what, uint64_t plane, uint64_t planes,
                   hl_device_cu stream)
{
    const hl_device_cu_copy_3d copy = {
        .from = {.type = HL_DEVICE_CU_TYPE_UNIFIED,
                 .device = what->from + plane * what->from_pitch[1],
                 .pitch = what->from_pitch[0],
                 .height = what->from_pitch[1] / what->from_pitch[0]},
        .to = {.type = HL_DEVICE_CU_TYPE_UNIFIED,
               .device = what->to + plane * what->to_pitch[1],
               .pitch = what->to_pitch[0],
               .height = what->to_pitch[1] / what->to_pitch[0]},
        .width = what->size[0],
        .height = what->size[1],
        .depth = planes,
    };
    return api->cuda_copy_3d(&copy, stream);
}

/* CUDA copies planes at once where each is of whole rows, HIP one after the other. */
static int copy_box(const hl_device_cu_api *api, const box *what, hl_device_cu stream)
{
    const bool whole_rows = what->to_pitch[1] % what->to_pitch[0] == 0 &&
                            what->from_pitch[1] % what->from_pitch[0] == 0;
    if (!api->is_hip && whole_rows)
        return copy_3d(api, what, 0, what->size[2], stream);
    int result = 0;
    for (uint64_t plane = 0; plane < what->size[2] && !result; plane++)
        result =
            api->is_hip
                ? api->hip_copy_2d(what->to + plane * what->to_pitch[1], what->to_pitch[0],
                                   what->from + plane * what->from_pitch[1], what->from_pitch[0],
                                   what->size[0], what->size[1], HL_DEVICE_HIP_COPY_DEFAULT, stream)
                : copy_3d(api, what, plane, 1, stream);
    return result;
}

haul_status hl_device_cu_copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                              haul_error *error)
{
    const hl_device_cu_api *api = &hl_device_cu_owner(stream)->api;
    hl_device_cu handle = ((hl_device_cu_stream *)stream)->handle;
    /* Planes of one row are rows. */
    box what = {.to = place_of_end(&transfer->to), .from = place_of_end(&transfer->from)};
    memcpy(what.size, transfer->size, sizeof what.size);
    memcpy(what.to_pitch, transfer->to_pitch, sizeof what.to_pitch);
    memcpy(what.from_pitch, transfer->from_pitch, sizeof what.from_pitch);
    if (what.size[1] == 1) {
        what.size[1] = what.size[2];
        what.size[2] = 1;
        what.to_pitch[0] = what.to_pitch[1];
        what.from_pitch[0] = what.from_pitch[1];
    }
    HL_DEVICE_CU_VISIT(hl_device_cu_owner(stream));
    HAUL_TRY(hl_device_cu_begin(stream, event, error));
    int result = 0;
    if (what.size[0])
        result = haul_transfer_is_flat(transfer)
                     ? api->is_hip ? api->hip_copy(what.to, what.from, what.size[0],
                                                   HL_DEVICE_HIP_COPY_DEFAULT, handle)
                                   : api->cuda_copy(what.to, what.from, what.size[0], handle)
                     : copy_box(api, &what, handle);
    return hl_device_cu_end(stream, event, result, "queueing a copy", error);
}

haul_status hl_device_cu_fill(haul_stream *stream, const haul_filling *filling, haul_event *event,
                              haul_error *error)
{
    HL_DEVICE_CU_VISIT(hl_device_cu_owner(stream));
    HAUL_TRY(hl_device_cu_begin(stream, event, error));
    const hl_device_cu_address at = ((hl_device_cu_buffer *)filling->buffer)->at + filling->offset;
    const int result =
        filling->bytes
            ? hl_device_cu_owner(stream)->api.fill(at, filling->value, filling->bytes,
                                                   ((hl_device_cu_stream *)stream)->handle)
            : 0;
    return hl_device_cu_end(stream, event, result, "queueing a fill", error);
}

/* Where host and kernels cannot use managed memory at once it cannot be moved ahead either. */
haul_status hl_device_cu_prefetch(haul_stream *stream, haul_buffer *buffer, bool to_host,
                                  haul_event *event, haul_error *error)
{
    const hl_device_cu_device *self = hl_device_cu_owner(stream);
    HL_DEVICE_CU_VISIT(hl_device_cu_owner(stream));
    HAUL_TRY(hl_device_cu_begin(stream, event, error));
    const int result = self->managed
                           ? self->api.prefetch(((hl_device_cu_buffer *)buffer)->at, buffer->bytes,
                                                to_host ? HL_DEVICE_CU_CPU : self->number,
                                                ((hl_device_cu_stream *)stream)->handle)
                           : 0;
    return hl_device_cu_end(stream, event, result, "queueing a prefetch", error);
}
