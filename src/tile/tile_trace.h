/* The trace of a context: notes of what it did, with the host's times of each call and the device's
 * times of each operation. They stay in memory until tile_trace_write.c makes a profile of them. */
#ifndef HAUL_TILE_TILE_TRACE_H
#define HAUL_TILE_TILE_TRACE_H

#include <pthread.h>

#include "base/strings.h"
#include "tile/tile_pass.h"

/* Notes that a context keeps at most: 72 bytes each. */
enum { HL_TILE_NOTES_MOST = 1 << 22 };

typedef enum hl_tile_note_kind {
    HL_TILE_NOTE_COPY,
    HL_TILE_NOTE_KERNEL,
    HL_TILE_NOTE_RECORD,       /* of an event */
    HL_TILE_NOTE_STREAM_WAITS, /* for an event */
    HL_TILE_NOTE_WAIT_EVENT,   /* the host does */
    HL_TILE_NOTE_WAIT_STREAM,
    HL_TILE_NOTE_CALL, /* of another kind */
    HL_TILE_NOTE_SPAN, /* loops on the host, beside a device */
} hl_tile_note_kind;

/* Names are texts of the trace, or HAUL_NONE. */
typedef struct hl_tile_note {
    int64_t call_ns;
    int64_t call_dur_ns;
    int64_t start_ns; /* on the device */
    int64_t dur_ns;
    union {
        uint64_t bytes;
        const haul_event *event; /* which one: it may be gone */
    };
    uint32_t name; /* of the kernel, the array or the call */
    uint32_t line; /* of a kernel's text */
    int32_t planes[2];
    uint32_t thread;
    uint8_t kind;
    uint8_t stream; /* hl_tile_stream_number */
    uint8_t direction;
    uint8_t memory;
    bool is_timed; /* the device's times are known */
} hl_tile_note;

/* An operation whose device times are not known yet. */
typedef struct hl_tile_untimed {
    size_t note;
    haul_event *done;
} hl_tile_untimed;

typedef struct hl_tile_noted_kernel {
    const haul_kernel_source *source;
    uint32_t name;
    uint32_t line;
} hl_tile_noted_kernel;

struct hl_tile_trace {
    hl_tile_trace *next; /* of the file */
    void *file;          /* tile_trace_write.c's */
    haul_device_properties device;
    uint32_t device_text;
    uint32_t device_name; /* as the program opened it */
    int beside;           /* contexts that were open, where the device is simulated: each then has a
                           * device of its own */
    hl_base_strings texts;
    hl_tile_note *notes;
    size_t count, capacity;
    hl_tile_untimed *untimed; /* from `untimed_first` on */
    size_t untimed_first, untimed_count, untimed_capacity;
    haul_event **spare;
    size_t spare_count, spare_capacity;
    hl_tile_noted_kernel *kernels;
    size_t kernel_count, kernel_capacity;
    haul_event *base; /* the device's times count from it: it was at base_ns of the host's clock */
    int64_t base_ns;
    int64_t shift_ns; /* from the clock of the context's device to that of the file */
    int64_t last_ns;  /* of the calls: each is later than the one before */
    pthread_t thread;
    uint32_t thread_id;
    uint64_t lost; /* notes that found no room */
};

/* Begins a trace. */
haul_status hl_tile_trace_start(haul_context *context, haul_error *error);
/* Takes the times of operations that have ended, without waiting. */
void hl_tile_trace_harvest(haul_context *context);
/* Gives up what is the device's; the notes stay. Needs: the context waited. */
void hl_tile_trace_stop(haul_context *context);

/* A note that is being taken. `note` is NULL where the context has no trace, `done` an event that
 * the operation is to be queued with, or NULL. */
typedef struct hl_tile_noting {
    hl_tile_note *note;
    haul_event *done;
} hl_tile_noting;

/* Before and after the call; no other is noted meanwhile. A call that failed leaves no note. */
hl_tile_noting hl_tile_note_begin(haul_context *context, hl_tile_note_kind kind,
                                  const haul_stream *stream);
void hl_tile_note_end(haul_context *context, const hl_tile_noting *self, haul_status status);

/* The same, of an event or of a call of that name. */
hl_tile_noting hl_tile_note_event(haul_context *context, hl_tile_note_kind kind,
                                  const haul_stream *stream, const haul_event *event);
hl_tile_noting hl_tile_note_call(haul_context *context, const char *name);

/* Between the two. */
void hl_tile_note_copy(haul_context *context, const hl_tile_noting *self,
                       const haul_transfer *transfer);
void hl_tile_note_kernel(haul_context *context, const hl_tile_noting *self,
                         const haul_kernel_source *source);

/* After loops ran on the host, from `began_ns` of its clock on: `span` is when, `more` how many
 * other loops ran with the first. */
void hl_tile_note_host_loops(haul_context *context, const hl_tile_step *first, size_t more,
                             const int64_t span[2], int64_t began_ns);

#endif
