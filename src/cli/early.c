/* early.c - what happens before a command: stacks, signals, descriptors. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/json.h"
#include "base/machine.h"
#include "cli/cli.h"

/* Stack of each thread in bytes; commands use up to 200 KB. */
static const size_t STACK = (size_t)1 << 20;

/* The limit is that of the first thread's stack, which grows, and was the size
 * of those of all others when the program began: both are raised if they are
 * small.  No limit holds for the latter. */
static bool has_stack(void)
{
    struct rlimit limit;
    pthread_attr_t others;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK)
        return true;
    limit.rlim_cur = STACK;
    return setrlimit(RLIMIT_STACK, &limit) == 0 &&
           pthread_getattr_default_np(&others) == 0 &&
           pthread_attr_setstacksize(&others, STACK) == 0 &&
           pthread_setattr_default_np(&others) == 0;
}

/* A file that the program opens must not become its standard output.  What
 * stands in for a closed descriptor fails when it is used. */
static void open_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* A closed pipe and a full quota then are errors of the write. */
static void ignore_deaths(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int cli_start(void)
{
    open_descriptors();
    ignore_deaths();
    tarry__json_use_base();
    const char *vectors = tarry__base_vectors_unknown();
    if (vectors != NULL)
        return cli_error(EXIT_USAGE,
                         "TARRY_VECTORS is '%s'; it may be plain, avx2 or "
                         "avx512",
                         vectors);
    if (!has_stack())
        return cli_error(EXIT_FAILED,
                         "the limit on the stack (ulimit -s) is too low: at "
                         "least %zu KB are needed",
                         STACK >> 10);
    return EXIT_SUCCESS;
}
