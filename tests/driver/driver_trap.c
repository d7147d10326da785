/* Device memory that is touched by who may not: a kernel then fails as on a GPU, a host's thread is
 * told and ended. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver.h"

static _Thread_local sigjmp_buf *kernel; /* that this thread runs */

static struct sigaction usual;

static void trap(int signal, siginfo_t *info, void *context)
{
    static const char words[] = "driver: the host uses device memory by its device address\n";
    (void)context;
    if (kernel)
        siglongjmp(*kernel, signal);
    if (driver_is_device_address(info->si_addr)) {
        if (write(STDERR_FILENO, words, sizeof words - 1) > 0)
            abort();
        abort();
    }
    sigaction(signal, &usual, NULL); /* and it faults again */
}

void driver_trap_start(void)
{
    struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &usual);
}

bool driver_trap_run(const driver_launch *launch, const driver_grid *grid)
{
    sigjmp_buf here;
    if (sigsetjmp(here, 1)) {
        kernel = NULL;
        return false;
    }
    kernel = &here;
    launch->function->run(grid, launch->values);
    kernel = NULL;
    return true;
}
