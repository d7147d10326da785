/* A page of memory that the kernel hands to a child as zeros. */
#include "record/process_mark.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NOBODYS, OWN, CLAIMED };

void hl_record_process_mark_make(hl_record_process_mark *self)
{
    _Atomic unsigned *page = hl_record_process_mark_page(self);
    if (!page) {
        const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return;
        if (madvise(at, bytes, MADV_WIPEONFORK)) {
            munmap(at, bytes);
            return;
        }
        page = at;
    }
    /* Marked before other threads can see it: a page of zeros would tell them that they are a
     * child. */
    atomic_store_explicit(page, OWN, memory_order_release);
    atomic_store_explicit(&self->page, page, memory_order_release);
}

bool hl_record_process_mark_claim(hl_record_process_mark *self)
{
    unsigned expected = NOBODYS;
    if (atomic_compare_exchange_strong(hl_record_process_mark_page(self), &expected, CLAIMED))
        return true;
    while (!hl_record_process_mark_is_own(self))
        sched_yield();
    return false;
}
