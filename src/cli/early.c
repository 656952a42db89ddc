/* early.c - what happens before a command: memory, stacks, signals,
 * descriptors.
 *
 * OpenBLAS takes memory for each thread while it is loaded, and tries for ever
 * when there is none.  So under a limit on the address space, or on data, it is
 * looked first whether there is room: if not for all threads, the program
 * starts itself again with one; if not even for that, it says so.  This runs as
 * the executable's "preinit" function, before the libraries' own start, when
 * little of the C library may be used.  OpenBLAS starts its threads then too,
 * so the stacks are seen to before. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/json.h"
#include "cli/cli.h"

/* Address space that OpenBLAS and OpenMP take when they are loaded, with room
 * for the command; each thread more takes as much again when it first calls. */
static const size_t FOR_ONE = (size_t)160 << 20;
static const size_t FOR_EACH_MORE = (size_t)256 << 20;
static char one_blas[] = "OPENBLAS_NUM_THREADS=1",
            one_omp[] = "OMP_NUM_THREADS=1";

/* Stack of each thread: commands use up to 200 KB, BLAS some more. */
static const size_t STACK = (size_t)1 << 20;

static bool has_room(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

static size_t threads(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set)
                                                       : CPU_SETSIZE;
}

/* Of a variable that is there twice only the first counts. */
static void start_with_one_thread(char **argv, char **environment)
{
    enum { MOST = 4000 };
    static char *changed[MOST + 3];
    size_t count = 0;
    int is_one = 0;
    for (char **e = environment; *e != NULL && count < MOST; e++) {
        is_one += strcmp(*e, one_blas) == 0 || strcmp(*e, one_omp) == 0;
        if (strncmp(*e, one_blas, sizeof one_blas - 2) != 0 &&
            strncmp(*e, one_omp, sizeof one_omp - 2) != 0)
            changed[count++] = *e;
    }
    if (is_one == 2)
        return; /* perhaps we have been here before */
    changed[count++] = one_blas;
    changed[count++] = one_omp;
    execve("/proc/self/exe", argv, changed);
}

/* The limit on data is one on memory that can be written. */
static bool is_limited(void)
{
    struct rlimit space, data;
    return getrlimit(RLIMIT_AS, &space) == 0 &&
           getrlimit(RLIMIT_DATA, &data) == 0 &&
           (space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}

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

static void refuse(const char *line)
{
    (void)!write(STDERR_FILENO, line, strlen(line));
    _exit(EXIT_FAILED);
}

static void before_libraries(int argc, char **argv, char **environment)
{
    (void)argc;
    if (!has_stack())
        refuse("tarry: the limit on the stack (ulimit -s) is too low\n");
    if (!is_limited())
        return;
    if (!has_room(FOR_ONE))
        refuse("tarry: the limit on the address space (ulimit -v, -d) is too "
               "low\n");
    if (!has_room(FOR_ONE + (threads() - 1) * FOR_EACH_MORE))
        start_with_one_thread(argv, environment);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **,
                                                   char **) = before_libraries;

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

void cli_start(void)
{
    open_descriptors();
    ignore_deaths();
    tarry__json_use_base();
}
