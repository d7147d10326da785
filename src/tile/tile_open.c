/* haul_context_open: one device, or several as one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/folders.h"
#include "tile/tile_calls.h"
#include "tile/tile_relay.h"

/* "cuda:*", "sim:lassen:*": as many as the first one says there are. */
static haul_status add_all(const char *kind, size_t length, const haul_device_options *options,
                           hl_base_name_list *list, haul_error *error)
{
    char name[256];
    haul_device *first;
    if (length > sizeof name - 32)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the device's name is too long");
    snprintf(name, sizeof name, "%.*s:0", (int)length, kind);
    HAUL_TRY(haul_device_open(name, options, &first, error));
    const unsigned there = haul_device_describe(first)->count;
    haul_device_close(first);
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < (there ? there : 1) && !status; i++) {
        snprintf(name, sizeof name, "%.*s:%u", (int)length, kind, i);
        status = hl_base_name_list_add(list, name, error);
    }
    return status;
}

static haul_status add_name(const char *name, size_t length, const haul_device_options *options,
                            hl_base_name_list *list, haul_error *error)
{
    if (length > 2 && !strncmp(name + length - 2, ":*", 2))
        return add_all(name, length - 2, options, list, error);
    char *one = strndup(name, length);
    const haul_status status =
        one ? hl_base_name_list_add(list, one, error) : hl_base_fail_no_memory(error);
    free(one);
    return status;
}

/* Parts of the planes as the devices' memory is fast, for that bounds most loops; equal ones where
 * it is not known of all. */
static haul_status set_parts(haul_context *self, haul_error *error)
{
    const int count = hl_tile_team_count(self->team);
    double sum = 0;
    self->before = calloc((size_t)count, sizeof *self->before);
    if (!self->before)
        return hl_base_fail_no_memory(error);
    for (int rank = 0; rank < count; rank++) {
        const haul_device *device = hl_tile_team_context(self->team, rank)->memory.device;
        const double rate = haul_device_describe(device)->memory_bandwidth_Bps;
        self->before[rank] = sum;
        if (!(rate > 0))
            return HAUL_OK;
        sum += rate;
    }
    for (int rank = 0; rank < count; rank++)
        self->before[rank] /= sum;
    for (int rank = 0; rank < count; rank++)
        hl_tile_team_context(self->team, rank)->memory.before = self->before;
    return HAUL_OK;
}

/* Loops can go in turns where each device has streams. */
static haul_status set_speeds(haul_context *self, haul_error *error)
{
    const int count = hl_tile_team_count(self->team);
    for (int rank = 0; rank < count; rank++) {
        const haul_context *one = hl_tile_team_context(self->team, rank);
        if (one->memory.is_host || one->is_checked)
            return HAUL_OK;
    }
    self->relay.speeds = calloc((size_t)count, sizeof *self->relay.speeds);
    self->relay.era = 1;
    for (int rank = 0; rank < count; rank++)
        hl_tile_team_context(self->team, rank)->relay.speeds = self->relay.speeds;
    return self->relay.speeds ? HAUL_OK : hl_base_fail_no_memory(error);
}

/* The host's threads have a share of their own where the list names the host. */
static haul_status open_members(haul_context *self, char *const *names,
                                const haul_context_options *options, haul_error *error)
{
    haul_context_options own = options ? *options : (haul_context_options){.steps = 0};
    own.host_share = own.host_share > 0 ? own.host_share : -1;
    for (int rank = 0; rank < hl_tile_team_count(self->team); rank++) {
        haul_context *one;
        own.processes = hl_tile_team_processes(self->team, rank);
        HAUL_TRY(hl_tile_context_open(names[rank], &own, &one, error));
        one->memory.is_team = true;
        hl_tile_team_set(self->team, rank, one, one->memory.device, !one->memory.without_data);
    }
    HAUL_TRY(set_parts(self, error));
    HAUL_TRY(set_speeds(self, error));
    const haul_context *first = hl_tile_team_context(self->team, 0);
    self->memory.device = first->memory.device;
    self->memory.without_data = first->memory.without_data;
    return HAUL_OK;
}

static haul_status open_team(char *const *names, size_t count, const haul_context_options *options,
                             haul_context **context, haul_error *error)
{
    if (count > HL_TILE_TEAM_MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "%zu devices: at most %d work as one",
                              count, HL_TILE_TEAM_MOST);
    if (options && options->stream)
        return haul_error_set(error, HAUL_STATUS_USAGE, "a stream of the program's for %zu devices",
                              count);
    if (options && options->processes)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "several devices beside several processes: each process opens one");
    haul_context *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->options.relay = options ? options->relay : 0;
    haul_status status = hl_tile_team_new((int)count, &self->team, error);
    if (!status)
        status = open_members(self, names, options, error);
    if (!status)
        *context = self;
    else if (self->team)
        haul_context_close(self);
    else
        free(self);
    return status;
}

haul_status haul_context_open(const char *device, const haul_context_options *options,
                              haul_context **context, haul_error *error)
{
    hl_base_name_list list = {.names = NULL};
    char **names;
    size_t count;
    if (!device || !strpbrk(device, ",*"))
        return hl_tile_context_open(device, options, context, error);
    /* Names with a comma between them. */
    haul_status status = HAUL_OK;
    for (const char *at = device; at && !status;) {
        const size_t length = strcspn(at, ",");
        status = length
                     ? add_name(at, length, options ? options->device_options : NULL, &list, error)
                     : haul_error_set(error, HAUL_STATUS_USAGE,
                                      "a name is missing in the list of devices '%.200s'", device);
        at = at[length] ? at + length + 1 : NULL;
    }
    HAUL_TRY(hl_base_name_list_hand_over(&list, status, &names, &count));
    status = count == 1 ? hl_tile_context_open(names[0], options, context, error)
                        : open_team(names, count, options, context, error);
    haul_names_free(names, count);
    return status;
}
