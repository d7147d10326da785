#include "event_tally.h"

#include <stdio.h>
#include <stdlib.h>

#include "opencl_setup.h"

const char *made_name(made kind)
{
    static const char *const names[MADE_KINDS] = {"HtoD",   "HtoD", "DtoH", "DtoH",
                                                  "kernel", "map",  "unmap"};
    return names[kind];
}

const char *made_memory(made kind)
{
    static const char *const names[MADE_KINDS] = {"pageable", "pinned", "pageable", "pinned",
                                                  "",         "pinned", "pinned"};
    return names[kind];
}

void tally_add(tally *self, made kind, size_t bytes, cl_event event)
{
    if (self->count == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : 64;
        self->items = realloc(self->items, self->capacity * sizeof *self->items);
        if (!self->items) {
            fputs("convolution: out of memory\n", stderr);
            exit(1);
        }
    }
    self->items[self->count++] = (tally_item){event, kind};
    self->sums[kind].count++;
    self->sums[kind].bytes += bytes;
}

static cl_ulong moment(cl_event event, cl_profiling_info which)
{
    cl_ulong ns = 0;
    must(clGetEventProfilingInfo(event, which, sizeof ns, &ns, NULL), "clGetEventProfilingInfo");
    return ns;
}

void tally_settle(tally *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const tally_item *item = &self->items[i];
        must(clWaitForEvents(1, &item->event), "clWaitForEvents");
        self->sums[item->kind].time_ns += moment(item->event, CL_PROFILING_COMMAND_END) -
                                          moment(item->event, CL_PROFILING_COMMAND_START);
        clReleaseEvent(item->event);
    }
    self->count = 0;
}

void tally_end(tally *self)
{
    free(self->items);
    *self = (tally){.items = NULL};
}
