#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The size of a large page, and from how many on a block is worth the call. */
static const size_t large_page = (size_t)2 << 20, pages_least = 2;

void *hl_base_pages_alloc(size_t bytes)
{
    void *block = malloc(bytes);
#ifdef MADV_HUGEPAGE
    /* Advice only: without such pages all goes on as before. */
    const uintptr_t begin = ((uintptr_t)block + large_page - 1) / large_page * large_page;
    const uintptr_t end = ((uintptr_t)block + bytes) / large_page * large_page;
    if (block && end > begin && end - begin >= pages_least * large_page)
        (void)madvise((char *)block + (begin - (uintptr_t)block), end - begin, MADV_HUGEPAGE);
#endif
    return block;
}
