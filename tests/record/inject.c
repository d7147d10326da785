/* Does what the CUDA driver does with CUDA_INJECTION64_PATH, and then what its argument says:
 * "exit", "wait" a while before, "kill" itself after the first flush, "fork" and let both end, or
 * end from a "thread". */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *end_from_here(void *argument)
{
    (void)argument;
    exit(7);
}

/* The child of a program with threads has none but its own, and LeakSanitizer would wait for the
 * others: it asks this function before it looks. */
static bool is_child;
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): its interface
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
int __lsan_is_turned_off(void)
{
    return is_child;
}

static int end_as(const char *how)
{
    pthread_t thread;
    if (!strcmp(how, "pid"))
        printf("%ld\n", (long)getpid());
    if (!strcmp(how, "wait"))
        nanosleep(&(struct timespec){0, 300000000}, NULL);
    if (!strcmp(how, "kill")) {
        nanosleep(&(struct timespec){1, 500000000}, NULL);
        raise(SIGKILL);
    }
    if (!strcmp(how, "fork")) {
        const pid_t child = fork();
        is_child = !child;
        if (child)
            waitpid(child, NULL, 0);
        return child ? 5 : 6;
    }
    if (!strcmp(how, "thread") && !pthread_create(&thread, NULL, end_from_here, NULL))
        pause();
    return 0;
}

int main(int argc, char **argv)
{
    int (*begin)(void) = NULL;
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (argc != 2 || !path) {
        fputs("usage: CUDA_INJECTION64_PATH=LIBRARY inject exit|wait|kill|fork|thread\n", stderr);
        return 2;
    }
    dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL); /* as a plug-in in C++ brings it */
    void *library = dlopen(path, RTLD_NOW);
    void *found = library ? dlsym(library, "InitializeInjection") : NULL;
    memcpy(&begin, &found, sizeof found);
    if (!begin) {
        fprintf(stderr, "inject: %s\n", dlerror());
        return 2;
    }
    if (begin() != 1)
        return 3;
    if (strcmp(argv[1], "pid") != 0)
        puts("the program's own output");
    return end_as(argv[1]);
}
