/* others.c - see others.h.  Linux counts all work in /proc/stat; what this
 * program and its ended children used comes off. */
#define _DEFAULT_SOURCE
#include "others.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* The first line of /proc/stat: "cpu", then ticks spent on user, nice, system,
 * idle, iowait, irq, softirq and, stolen by the host, steal. */
static double all_seconds(void)
{
    double tick[8] = {0}, busy = 0;
    FILE *in = fopen("/proc/stat", "r");
    if (in == NULL || fscanf(in, "cpu") != 0)
        return 0;
    for (int i = 0; i < 8 && fscanf(in, "%lf", &tick[i]) == 1; i++)
        if (i != 3 && i != 4)
            busy += tick[i];
    fclose(in);
    return busy / (double)sysconf(_SC_CLK_TCK);
}

static double used_by(int who)
{
    struct rusage use;
    if (getrusage(who, &use) != 0)
        return 0;
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

double others_seconds(void)
{
    const double all = all_seconds();
    return all > 0 ? all - used_by(RUSAGE_SELF) - used_by(RUSAGE_CHILDREN) : 0;
}
