#include "event_tally.h"

#include <stdio.h>
#include <stdlib.h>

const char *made_name(made kind)
{
    static const char *const names[MADE_KINDS] = {"HtoD", "HtoD", "DtoH", "DtoH", "kernel"};
    return names[kind];
}

const char *made_memory(made kind)
{
    static const char *const names[MADE_KINDS] = {"pageable", "pinned", "pageable", "pinned", ""};
    return names[kind];
}

void must(haul_status status, const haul_error *error)
{
    char text[1024];
    if (status == HAUL_OK)
        return;
    fprintf(stderr, "convolution: %s\n", haul_error_format(error, text, sizeof text));
    exit(status == HAUL_STATUS_ABSENT || status == HAUL_STATUS_USAGE ? haul_status_exit_code(status)
                                                                     : 1);
}

haul_event *tally_add(tally *self, haul_device *device, made kind, size_t bytes)
{
    haul_error error;
    if (self->count == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : 64;
        self->items = realloc(self->items, self->capacity * sizeof *self->items);
        if (!self->items) {
            fputs("convolution: out of memory\n", stderr);
            exit(1);
        }
    }
    tally_item *item = &self->items[self->count++];
    item->kind = kind;
    must(haul_event_new(device, &item->event, &error), &error);
    self->sums[kind].count++;
    self->sums[kind].bytes += bytes;
    return item->event;
}

void tally_settle(tally *self)
{
    haul_error error;
    for (size_t i = 0; i < self->count; i++) {
        const tally_item *item = &self->items[i];
        double seconds = 0;
        must(haul_event_wait(item->event, &error), &error);
        must(haul_event_seconds(item->event, item->event, &seconds, &error), &error);
        self->sums[item->kind].time_ns += (uint64_t)(seconds * 1e9 + 0.5);
        haul_event_free(item->event);
    }
    self->count = 0;
}

void tally_end(tally *self)
{
    free(self->items);
    *self = (tally){.items = NULL};
}
