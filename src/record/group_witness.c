/* A child that blocks all signals and sleeps. A signal sent to the process group stays pending
 * there, and /proc shows it. */
#include "record/group_witness.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 10 }; /* 50 ms in all: a loaded machine delivers late */

static const struct timespec between_tries = {.tv_nsec = 5000000};

static _Noreturn void watch(int alive)
{
    char byte;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 3; i++) /* the program's readers wait for their end */
        if (i != alive)
            close(i);
    while (read(alive, &byte, 1) > 0)
        ;
    _exit(0);
}

/* The pipe's other end closes with haul, however that ends: the witness never outlives it. */
void hl_record_group_witness_start(hl_record_group_witness *self)
{
    int ends[2];
    *self = (hl_record_group_witness){.alive = -1};
    if (pipe(ends))
        return;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const pid_t made = fork();
    if (!made) {
        close(ends[1]);
        watch(ends[0]);
    }
    close(ends[0]);
    self->alive = ends[1];
    self->process = made > 0 ? made : 0;
}

/* SIGKILL, as it blocks all others. */
void hl_record_group_witness_end(hl_record_group_witness *self)
{
    if (self->alive >= 0)
        close(self->alive);
    if (self->process) {
        kill(self->process, SIGKILL);
        waitpid(self->process, NULL, 0);
    }
    *self = (hl_record_group_witness){.alive = -1};
}

static bool has_pending(const hl_record_group_witness *self, int signal)
{
    char name[64], line[256];
    uint64_t pending = 0;
    snprintf(name, sizeof name, "/proc/%ld/status", (long)self->process);
    FILE *file = fopen(name, "re");
    while (file && fgets(line, sizeof line, file))
        // NOLINTNEXTLINE(cert-err34-c): the kernel's own number
        if (sscanf(line, "ShdPnd: %" SCNx64, &pending) == 1)
            break;
    if (file)
        fclose(file);
    return pending >> (signal - 1) & 1;
}

bool hl_record_group_witness_saw(hl_record_group_witness *self, int signal)
{
    bool saw = false;
    for (int i = 0; self->process && !saw && i < TRIES; i++) {
        saw = has_pending(self, signal);
        nanosleep(&between_tries,
                  NULL); /* also after it: our own of the group is to be pending too */
    }
    if (!saw)
        return false;
    hl_record_group_witness_end(self);
    hl_record_group_witness_start(self);
    return true;
}
