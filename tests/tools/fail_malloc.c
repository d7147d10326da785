/* Loaded before a program (LD_PRELOAD): its allocation number FAIL_MALLOC, counted from 1, fails,
 * and with FAIL_MALLOC_ON all after it do. At the end says on descriptor 9, where that is open, how
 * many there were; with FAIL_MALLOC_SITES, before that, the number of the first allocation of each
 * call site, which is the functions that led to it. Only calls of the program and its libraries
 * are counted, not the C library's own; with FAIL_MALLOC_FROM only those of the library whose path
 * has that in it. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc's own, so that nothing has to be looked up while memory is allocated */
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

static atomic_long count;
static long failing = -1;
static bool all_after;

/* Call sites met, by a hash of their addresses. */
enum { SITES = 1 << 18, DEEPEST = 24 };
static _Atomic(uintptr_t) sites[SITES];
static _Thread_local bool looking; /* backtrace may allocate when it is called first */
static bool by_site;
static const char *only_from; /* NULL: all */

/* The linker may allocate itself while it looks. */
static bool is_counted(const void *caller)
{
    Dl_info of;
    if (!only_from)
        return true;
    looking = true;
    const bool found = dladdr(caller, &of) && of.dli_fname && strstr(of.dli_fname, only_from);
    looking = false;
    return found;
}

static void say(long number)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%ld\n", number);
    if (write(9, text, (size_t)length) < 0)
        by_site = false; /* nobody listens */
}

/* Whether the functions that lead here have not met before; a full table has met all. */
static bool is_new_site(void)
{
    void *frames[DEEPEST];
    const int depth = backtrace(frames, DEEPEST);
    uintptr_t hash = 1;
    for (int i = 2; i < depth; i++)
        hash = hash * 1099511628211U + (uintptr_t)frames[i];
    for (size_t i = 0; i < SITES; i++) {
        uintptr_t there = 0;
        if (atomic_compare_exchange_strong(&sites[(hash + i) % SITES], &there, hash))
            return true;
        if (there == hash)
            return false;
    }
    return false;
}

__attribute__((constructor)) static void begin(void)
{
    const char *which = getenv("FAIL_MALLOC");
    failing = which ? strtol(which, NULL, 10) : 0;
    all_after = getenv("FAIL_MALLOC_ON") != NULL;
    by_site = getenv("FAIL_MALLOC_SITES") != NULL;
    only_from = getenv("FAIL_MALLOC_FROM");
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
    by_site = false;
    say(atomic_load(&count));
}

static bool fails(const void *caller)
{
    if (looking || !is_counted(caller))
        return false;
    const long number = atomic_fetch_add(&count, 1) + 1;
    if (by_site) {
        looking = true;
        if (is_new_site())
            say(number);
        looking = false;
    }
    const bool now = failing > 0 && (number == failing || (all_after && number > failing));
    if (now)
        errno = ENOMEM;
    return now;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
