/* Loaded before a program (LD_PRELOAD): its allocation number FAIL_MALLOC, counted from 1, fails,
 * and with FAIL_MALLOC_ON all after it do. At the end says on descriptor 9, where that is open, how
 * many there were. Only calls of the program and its libraries are counted, not the C library's
 * own. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
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

__attribute__((constructor)) static void begin(void)
{
    const char *which = getenv("FAIL_MALLOC");
    failing = which ? strtol(which, NULL, 10) : 0;
    all_after = getenv("FAIL_MALLOC_ON") != NULL;
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    if (write(9, text, (size_t)length) < 0)
        return;
}

static bool fails(void)
{
    const long number = atomic_fetch_add(&count, 1) + 1;
    const bool now = failing > 0 && (number == failing || (all_after && number > failing));
    if (now)
        errno = ENOMEM;
    return now;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return fails() ? NULL : __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
