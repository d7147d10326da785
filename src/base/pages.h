/* Large blocks of memory on large pages: a block that is walked at random, or once, costs a fault
 * and a miss of the TLB for each page of 4 KiB else. */
#ifndef HAUL_BASE_PAGES_H
#define HAUL_BASE_PAGES_H

#include <stddef.h>

/* As malloc. Asks the system for large pages where the block has some. Not for blocks that grow:
 * the system then holds such a block in parts, which realloc can only copy. */
void *hl_base_pages_alloc(size_t bytes);

#endif
