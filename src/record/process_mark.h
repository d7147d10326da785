/* Whether this is still the process that made a mark: a child of _Fork or of clone runs no handlers
 * of fork, but has all of the parent's memory, with locks that nobody will let go. */
#ifndef HAUL_RECORD_PROCESS_MARK_H
#define HAUL_RECORD_PROCESS_MARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero is a mark that no process has made. */
typedef struct hl_record_process_mark {
    _Atomic(_Atomic unsigned *) page; /* which the kernel clears in a child */
} hl_record_process_mark;

/* Where the kernel clears no pages (before Linux 4.14) every process counts as the one. */
void hl_record_process_mark_make(hl_record_process_mark *self);

static inline _Atomic unsigned *hl_record_process_mark_page(const hl_record_process_mark *self)
{
    return atomic_load_explicit(&self->page, memory_order_acquire);
}

/* Cheap: no call of the kernel. False only in a child of the process that made the mark. */
static inline bool hl_record_process_mark_is_own(const hl_record_process_mark *self)
{
    const _Atomic unsigned *page = hl_record_process_mark_page(self);
    return !page || atomic_load_explicit(page, memory_order_acquire) == 1;
}

/* In a child: returns true to one caller, which puts things right and then makes the mark; the
 * others wait for that. */
bool hl_record_process_mark_claim(hl_record_process_mark *self);

#endif
