/* The wrappers of calls, by file: each puts its own into the layer's table. */
#ifndef HAUL_RECORD_CL_LAYER_H
#define HAUL_RECORD_CL_LAYER_H

#include "record/cl_headers.h"

void hl_record_cl_buffers_install(cl_icd_dispatch *layer);
void hl_record_cl_images_install(cl_icd_dispatch *layer);
void hl_record_cl_shared_install(cl_icd_dispatch *layer);  /* shared virtual memory */
void hl_record_cl_objects_install(cl_icd_dispatch *layer); /* queues, kernels, memory, waits */

#endif
