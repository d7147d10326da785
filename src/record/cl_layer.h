/* The wrappers of calls, by file: each puts its own into the layer's table. */
#ifndef HAUL_RECORD_CL_LAYER_H
#define HAUL_RECORD_CL_LAYER_H

#include "record/cl_headers.h"

void haul_cl_buffers_install(cl_icd_dispatch *layer);
void haul_cl_images_install(cl_icd_dispatch *layer);
void haul_cl_shared_install(cl_icd_dispatch *layer);  /* shared virtual memory */
void haul_cl_objects_install(cl_icd_dispatch *layer); /* queues, kernels, memory, waits */

#endif
