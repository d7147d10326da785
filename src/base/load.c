/* Linux tells the processor time of all programs in /proc/stat; other systems are not asked. */
#include "base/load.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { TICKS = 8 };

/* user, nice, system, idle, iowait, irq, softirq, steal: all but the fourth and the fifth. */
static bool read_all(double *seconds)
{
    char line[512];
    FILE *file = fopen("/proc/stat", "r");
    const long rate = sysconf(_SC_CLK_TCK);
    if (!file)
        return false;
    const bool is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!is_read || strncmp(line, "cpu ", 4) != 0 || rate <= 0)
        return false;
    char *at = line + 4;
    unsigned long long sum = 0;
    for (int i = 0; i < TICKS; i++) {
        const unsigned long long ticks = strtoull(at, &at, 10);
        sum += i == 3 || i == 4 ? 0 : ticks;
    }
    *seconds = (double)sum / (double)rate;
    return true;
}

hl_base_load hl_base_load_now(void)
{
    struct rusage used;
    hl_base_load now = {
        .own_s = getrusage(RUSAGE_SELF, &used)
                     ? 0
                     : (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
        .at_s = hl_base_clock_s()};
    now.is_told = read_all(&now.all_s);
    return now;
}

double hl_base_load_others(const hl_base_load *before)
{
    const hl_base_load now = hl_base_load_now();
    if (!before->is_told || !now.is_told || now.at_s <= before->at_s)
        return -1;
    const double others_s = now.all_s - before->all_s - (now.own_s - before->own_s);
    return fmax(0, others_s / (now.at_s - before->at_s));
}

double hl_base_load_share(double others)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (others < HL_BASE_LOAD_BUSY || cores < 1)
        return 0;
    return others < (double)cores ? others / (double)cores : 1;
}

/* A fifth of a second tells a core from half of one by the system's ticks of 10 ms. */
void hl_base_load_wait(double longest_s)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    const double begin_s = hl_base_clock_s();
    double others = HL_BASE_LOAD_BUSY;
    while (others >= HL_BASE_LOAD_BUSY && hl_base_clock_s() - begin_s < longest_s) {
        const hl_base_load before = hl_base_load_now();
        nanosleep(&moment, NULL);
        others = hl_base_load_others(&before);
    }
}
