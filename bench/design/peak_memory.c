/* peak_memory.c - see peak_memory.h.
 *
 * The kernel carries the peak over from before exec: after fork that is what
 * this program holds just then, so the caller should hold little.  After
 * vfork or posix_spawn it would be the most it ever held. */
#define _DEFAULT_SOURCE
#include "peak_memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/base.h"

static void become(char *const argv[])
{
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0)
        execv(argv[0], argv);
    _exit(127);
}

bool peak_memory_of(char *const argv[], peak_use *out)
{
    int status;
    struct rusage use;
    const double begin = tarry__base_seconds();
    const pid_t child = fork();
    if (child == 0)
        become(argv);
    if (child < 0 || wait4(child, &status, 0, &use) != child)
        return false;
    out->seconds = tarry__base_seconds() - begin;
    out->bytes = (size_t)use.ru_maxrss * 1024; /* Linux counts kilobytes */
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
