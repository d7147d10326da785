/* A GPU's memory through CUDA's driver, or HIP's; errors end the program. */
#ifndef CUDA_MEMORY_H
#define CUDA_MEMORY_H

#include <stddef.h>

/* 0: there is no driver. */
int cuda_memory_open(void);
void *cuda_memory_new(size_t bytes);
void cuda_memory_free(void *at);
void cuda_memory_write(void *at, const void *from, size_t bytes);
void cuda_memory_read(void *to, const void *at, size_t bytes);

#endif
