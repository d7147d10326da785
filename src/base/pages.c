#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The size of a large page, and from how many on a block is worth the call. */
static const size_t large_page = (size_t)2 << 20, pages_least = 2;

/* Advice only: without such pages all goes on as before. */
static void ask(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t begin = ((uintptr_t)block + large_page - 1) / large_page * large_page;
    const uintptr_t end = ((uintptr_t)block + bytes) / large_page * large_page;
    if (end > begin && end - begin >= pages_least * large_page)
        (void)madvise((char *)block + (begin - (uintptr_t)block), end - begin, MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}

void *hl_base_pages_alloc(size_t bytes)
{
    void *block = malloc(bytes);
    if (block)
        ask(block, bytes);
    return block;
}
