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
#define HAUL_CL_CALLS(X)                                                                           \
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

typedef enum haul_cl_call_name {
#define HAUL_CL_CALL_ENUM(name) HAUL_CALL_##name,
    HAUL_CL_CALLS(HAUL_CL_CALL_ENUM)
#undef HAUL_CL_CALL_ENUM
        HAUL_CL_CALL_COUNT
} haul_cl_call_name;

typedef enum haul_cl_effect {
    HAUL_CL_NOTHING, /* on a device: `record` is not used */
    HAUL_CL_RECORD,  /* a command of the device, with `record`'s kind and figures */
    HAUL_CL_MOVE,    /* likewise, but nothing where the device shares the host's memory */
    HAUL_CL_BARRIER, /* what follows on the queue waits for all before, or for the list */
    HAUL_CL_FINISH,  /* the host waited for the queue */
    HAUL_CL_WAIT,    /* the host waited for the list */
} haul_cl_effect;

/* A call while it is made. A wrapper begins it, calls the runtime with `event`, fills `effect` and
 * `record` and ends it. */
typedef struct haul_cl_call {
    bool active; /* recorded; else ending it does nothing */
    haul_cl_call_name name;
    cl_command_queue queue; /* NULL for a call that is on none */
    cl_uint wait_count;
    const cl_event *waits;
    cl_event own;    /* the command's event where the program wants none */
    cl_event *event; /* where the runtime puts it; NULL for a call without */
    bool is_own;
    bool blocks; /* the call returns when its command has ended */
    haul_cl_effect effect;
    haul_record record;
    int64_t start_ns;
} haul_cl_call;

/* The runtime below; set once, when the layer is loaded. */
extern cl_icd_dispatch haul_cl_runtime;

/* Memory of the host that is pinned, shared or mapped. */
extern haul_host_ranges haul_cl_ranges;

bool haul_cl_active(void);

void haul_cl_begin(haul_cl_call *call, haul_cl_call_name name, cl_command_queue queue);

/* Of a call that has a list to wait for and gives an event. */
void haul_cl_enqueue(haul_cl_call *call, haul_cl_call_name name, cl_command_queue queue,
                     cl_uint wait_count, const cl_event *waits, cl_event *event);

/* Returns `result`, what the runtime returned. */
cl_int haul_cl_end(haul_cl_call *call, cl_int result);

/* The body of a wrapper that enqueues a command: `describe` fills `call`, then the runtime makes
 * the command. The wrapper calls what OpenCL's list of waits and event are by these names. */
#define HAUL_CL_COMMAND(name, describe, ...)                                                       \
    haul_cl_call call;                                                                             \
    haul_cl_enqueue(&call, HAUL_CALL_##name, queue, wait_count, waits, event);                     \
    describe;                                                                                      \
    return haul_cl_end(&call,                                                                      \
                       haul_cl_runtime.name(queue, __VA_ARGS__, wait_count, waits, call.event))

/* The same of a command that is described only once the runtime has made it. */
#define HAUL_CL_COMMAND_MADE(name, describe, ...)                                                  \
    haul_cl_call call;                                                                             \
    haul_cl_enqueue(&call, HAUL_CALL_##name, queue, wait_count, waits, event);                     \
    const cl_int result = haul_cl_runtime.name(queue, __VA_ARGS__, wait_count, waits, call.event); \
    if (call.active && result == CL_SUCCESS)                                                       \
        describe;                                                                                  \
    return haul_cl_end(&call, result)

/* Begins the recording where it has not, and makes a queue that measures times, known to the
 * recorder: the two ways to make one. `properties` as the program gave them. */
cl_command_queue haul_cl_make_queue(cl_context context, cl_device_id device,
                                    cl_command_queue_properties properties, cl_int *result);
cl_command_queue haul_cl_make_queue_listed(cl_context context, cl_device_id device,
                                           const cl_queue_properties *properties, cl_int *result);

/* What the program asked the queue to be: false where that is what it is. */
typedef struct haul_cl_asked {
    cl_command_queue_properties properties;
    cl_queue_properties list[16];
    size_t list_length; /* with its 0; 0 for none */
} haul_cl_asked;

bool haul_cl_was_forced(cl_command_queue queue, haul_cl_asked *asked);

/* Takes the times of what is complete, so that nothing is kept of what the program gives up. */
void haul_cl_collect(void);

/* The number of a kernel's name. */
uint32_t haul_cl_kernel_name(cl_kernel kernel);
void haul_cl_kernel_made(cl_kernel kernel);

/* Counts bytes that were copied while a buffer was made: no event tells when. */
void haul_cl_copied_at_creation(size_t bytes);

#endif
