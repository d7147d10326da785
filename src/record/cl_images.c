/* Wrappers of the calls that move images. Their bytes are those of the region, which is counted in
 * elements: a pitch that the host side has is no part of the copy. */
#include "record/cl_copies.h"
#include "record/cl_layer.h"

// NOLINTBEGIN(readability-function-size): the parameters are OpenCL's

/* Of the region in the image. A format that the runtime cannot tell leaves 0. */
static uint64_t image_bytes(const hl_record_cl_call *call, cl_mem image, const size_t *region)
{
    size_t element = 0;
    if (!call->active ||
        hl_record_cl_runtime.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element,
                                            NULL) != CL_SUCCESS)
        return 0;
    return hl_record_cl_volume(region) * element;
}

static cl_int read_image(cl_command_queue queue, cl_mem image, cl_bool blocking,
                         const size_t *origin, const size_t *region, size_t row_pitch,
                         size_t slice_pitch, void *pointer, cl_uint wait_count,
                         const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(
        clEnqueueReadImage,
        hl_record_cl_copy_out(&call, image_bytes(&call, image, region), pointer, blocking), image,
        blocking, origin, region, row_pitch, slice_pitch, pointer);
}

static cl_int write_image(cl_command_queue queue, cl_mem image, cl_bool blocking,
                          const size_t *origin, const size_t *region, size_t row_pitch,
                          size_t slice_pitch, const void *pointer, cl_uint wait_count,
                          const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(
        clEnqueueWriteImage,
        hl_record_cl_copy_in(&call, image_bytes(&call, image, region), pointer, blocking), image,
        blocking, origin, region, row_pitch, slice_pitch, pointer);
}

static cl_int copy_image(cl_command_queue queue, cl_mem source, cl_mem target,
                         const size_t *source_origin, const size_t *target_origin,
                         const size_t *region, cl_uint wait_count, const cl_event *waits,
                         cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueCopyImage,
                         hl_record_cl_copy(&call, HL_RECORD_DTOD,
                                           image_bytes(&call, source, region), HL_RECORD_ARRAY,
                                           HL_RECORD_ARRAY),
                         source, target, source_origin, target_origin, region);
}

/* Between an image and a buffer the device converts its layout: nsys has arrays on one side. */
static cl_int copy_image_to_buffer(cl_command_queue queue, cl_mem source, cl_mem target,
                                   const size_t *origin, const size_t *region, size_t offset,
                                   cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueCopyImageToBuffer,
                         hl_record_cl_copy(&call, HL_RECORD_DTOD,
                                           image_bytes(&call, source, region), HL_RECORD_ARRAY,
                                           HL_RECORD_DEVICE),
                         source, target, origin, region, offset);
}

static cl_int copy_buffer_to_image(cl_command_queue queue, cl_mem source, cl_mem target,
                                   size_t offset, const size_t *origin, const size_t *region,
                                   cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueCopyBufferToImage,
                         hl_record_cl_copy(&call, HL_RECORD_DTOD,
                                           image_bytes(&call, target, region), HL_RECORD_DEVICE,
                                           HL_RECORD_ARRAY),
                         source, target, offset, origin, region);
}

static cl_int fill_image(cl_command_queue queue, cl_mem image, const void *color,
                         const size_t *origin, const size_t *region, cl_uint wait_count,
                         const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(
        clEnqueueFillImage,
        hl_record_cl_fill(&call, image_bytes(&call, image, region), HL_RECORD_ARRAY), image, color,
        origin, region);
}

/* As map_buffer; the pitches are the program's to ask for. */
static void *map_image(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                       const size_t *origin, const size_t *region, size_t *row_pitch,
                       size_t *slice_pitch, cl_uint wait_count, const cl_event *waits,
                       cl_event *event, cl_int *result)
{
    cl_int unasked = CL_SUCCESS;
    result = result ? result : &unasked;
    hl_record_cl_call call;
    hl_record_cl_enqueue(&call, HL_RECORD_CALL_clEnqueueMapImage, queue, wait_count, waits, event);
    call.blocks = blocking;
    void *pointer = hl_record_cl_runtime.clEnqueueMapImage(queue, image, blocking, flags, origin,
                                                           region, row_pitch, slice_pitch,
                                                           wait_count, waits, call.event, result);
    hl_record_cl_mapped(&call, image, flags, pointer, image_bytes(&call, image, region));
    hl_record_cl_end(&call, *result);
    return pointer;
}

void hl_record_cl_images_install(cl_icd_dispatch *layer)
{
    layer->clEnqueueReadImage = read_image;
    layer->clEnqueueWriteImage = write_image;
    layer->clEnqueueCopyImage = copy_image;
    layer->clEnqueueCopyImageToBuffer = copy_image_to_buffer;
    layer->clEnqueueCopyBufferToImage = copy_buffer_to_image;
    layer->clEnqueueFillImage = fill_image;
    layer->clEnqueueMapImage = map_image;
}

// NOLINTEND(readability-function-size)
