/* Large blocks of memory on large pages: a block that is walked at random, or once, costs a fault
 * and a miss of the TLB for each page of 4 KiB else. */
#ifndef HAUL_BASE_PAGES_H
#define HAUL_BASE_PAGES_H

#include <stddef.h>

/* As malloc. Asks the system for large pages where the block has some. */
void *hl_base_pages_alloc(size_t bytes);

/* Asks for large pages within a block of the heap, before it is written. */
void hl_base_pages_ask(void *block, size_t bytes);

#endif
