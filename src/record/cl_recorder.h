/* The recorder of OpenCL programs: what the layer's wrappers of calls give it, made into records.
 *
 * A call appends what it started to a list, with its event retained: one lock, no call of the
 * runtime but the retaining. Events are asked for their times when they are complete: by a call
 * that waits for them, before it returns, and else every millisecond by a thread of the recorder's
 * own. Times are brought to the host's clock and put as records. The list is bounded: where the
 * thread is behind, a call waits up to 3 s, then what it started is dropped and counted. */
#ifndef HAUL_RECORD_CL_RECORDER_H
#define HAUL_RECORD_CL_RECORDER_H

#include "record/cl_headers.h"
#include "record/host_ranges.h"
#include "record/profile_writer.h"

/* Calls that are named in profiles. */
#define HL_RECORD_CL_CALLS(X)                                                                      \
    X(clBuildProgram)                                                                              \
    X(clCreateBuffer)                                                                              \
    X(clCreateBufferWithProperties)                                                                \
    X(clEnqueueBarrier)                                                                            \
    X(clEnqueueBarrierWithWaitList)                                                                \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueCopyBufferRect)                                                                     \
    X(clEnqueueCopyBufferToImage)                                                                  \
    X(clEnqueueCopyImage)                                                                          \
    X(clEnqueueCopyImageToBuffer)                                                                  \
    X(clEnqueueFillBuffer)                                                                         \
    X(clEnqueueFillImage)                                                                          \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueMapImage)                                                                           \
    X(clEnqueueMarker)                                                                             \
    X(clEnqueueMarkerWithWaitList)                                                                 \
    X(clEnqueueMigrateMemObjects)                                                                  \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueNativeKernel)                                                                       \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueReadBufferRect)                                                                     \
    X(clEnqueueReadImage)                                                                          \
    X(clEnqueueSVMMap)                                                                             \
    X(clEnqueueSVMMemFill)                                                                         \
    X(clEnqueueSVMMemcpy)                                                                          \
    X(clEnqueueSVMMigrateMem)                                                                      \
    X(clEnqueueSVMUnmap)                                                                           \
    X(clEnqueueTask)                                                                               \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueWaitForEvents)                                                                      \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueWriteBufferRect)                                                                    \
    X(clEnqueueWriteImage)                                                                         \
    X(clFinish)                                                                                    \
    X(clFlush)                                                                                     \
    X(clWaitForEvents)

typedef enum hl_record_cl_call_name {
#define HL_RECORD_CL_CALL_ENUM(name) HL_RECORD_CALL_##name,
    HL_RECORD_CL_CALLS(HL_RECORD_CL_CALL_ENUM)
#undef HL_RECORD_CL_CALL_ENUM
        HL_RECORD_CL_CALL_COUNT
} hl_record_cl_call_name;

typedef enum hl_record_cl_effect {
    HL_RECORD_CL_NOTHING, /* on a device: `record` is not used */
    HL_RECORD_CL_RECORD,  /* a command of the device, with `record`'s kind and figures */
    HL_RECORD_CL_MOVE,    /* likewise, but nothing where the device shares the host's memory */
    HL_RECORD_CL_BARRIER, /* what follows on the queue waits for all before, or for the list */
    HL_RECORD_CL_FINISH,  /* the host waited for the queue */
    HL_RECORD_CL_WAIT,    /* the host waited for the list */
} hl_record_cl_effect;

/* A call while it is made. A wrapper begins it, calls the runtime with `event`, fills `effect` and
 * `record` and ends it. */
typedef struct hl_record_cl_call {
    bool active; /* recorded; else ending it does nothing */
    hl_record_cl_call_name name;
    cl_command_queue queue; /* NULL for a call that is on none */
    cl_uint wait_count;
    const cl_event *waits;
    cl_event own;    /* the command's event where the program wants none */
    cl_event *event; /* where the runtime puts it; NULL for a call without */
    bool is_own;
    bool blocks; /* the call returns when its command has ended */
    hl_record_cl_effect effect;
    hl_record record;
    int64_t start_ns;
    uint32_t stack; /* the number of the program's; 0: none is recorded */
} hl_record_cl_call;

/* The runtime below; set once, when the layer is loaded. */
extern cl_icd_dispatch hl_record_cl_runtime;

/* Memory of the host that is pinned, shared or mapped. */
extern hl_record_host_ranges hl_record_cl_ranges;

/* When the layer is loaded: the process that calls is told from children that are made past fork's
 * handlers, also of one that is made while the recording begins. */
void hl_record_cl_mark_process(void);

bool hl_record_cl_active(void);

void hl_record_cl_begin(hl_record_cl_call *call, hl_record_cl_call_name name,
                        cl_command_queue queue);

/* Of a call that has a list to wait for and gives an event. */
void hl_record_cl_enqueue(hl_record_cl_call *call, hl_record_cl_call_name name,
                          cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                          cl_event *event);

/* Returns `result`, what the runtime returned. */
cl_int hl_record_cl_end(hl_record_cl_call *call, cl_int result);

/* The body of a wrapper that enqueues a command: `describe` fills `call`, then the runtime makes
 * the command. The wrapper calls what OpenCL's list of waits and event are by these names. */
#define HL_RECORD_CL_COMMAND(name, describe, ...)                                                  \
    hl_record_cl_call call;                                                                        \
    hl_record_cl_enqueue(&call, HL_RECORD_CALL_##name, queue, wait_count, waits, event);           \
    describe;                                                                                      \
    return hl_record_cl_end(                                                                       \
        &call, hl_record_cl_runtime.name(queue, __VA_ARGS__, wait_count, waits, call.event))

/* The same of a command that is described only once the runtime has made it. */
#define HL_RECORD_CL_COMMAND_MADE(name, describe, ...)                                             \
    hl_record_cl_call call;                                                                        \
    hl_record_cl_enqueue(&call, HL_RECORD_CALL_##name, queue, wait_count, waits, event);           \
    const cl_int result =                                                                          \
        hl_record_cl_runtime.name(queue, __VA_ARGS__, wait_count, waits, call.event);              \
    if (call.active && result == CL_SUCCESS)                                                       \
        describe;                                                                                  \
    return hl_record_cl_end(&call, result)

/* Begins the recording where it has not, and makes a queue that measures times, known to the
 * recorder: the two ways to make one. `properties` as the program gave them. */
cl_command_queue hl_record_cl_make_queue(cl_context context, cl_device_id device,
                                         cl_command_queue_properties properties, cl_int *result);
cl_command_queue hl_record_cl_make_queue_listed(cl_context context, cl_device_id device,
                                                const cl_queue_properties *properties,
                                                cl_int *result);

/* The properties that the program asked for its queue and did not get: false where it got them. */
typedef struct hl_record_cl_asked {
    cl_command_queue_properties properties;
    cl_queue_properties list[16];
    size_t list_length; /* with its 0; 0 for none */
} hl_record_cl_asked;

bool hl_record_cl_was_forced(cl_command_queue queue, hl_record_cl_asked *asked);

/* Takes the times of what is complete, so that nothing is kept of what the program gives up. */
void hl_record_cl_collect(void);

/* The number of a kernel's name. */
uint32_t hl_record_cl_kernel_name(cl_kernel kernel);
void hl_record_cl_kernel_made(cl_kernel kernel);

/* An event that no command gives. */
void hl_record_cl_user_event_made(cl_event event);

/* Counts bytes that were copied while a buffer was made: no event tells when. */
void hl_record_cl_copied_at_creation(size_t bytes);

#endif
