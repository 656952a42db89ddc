/* journal_file.h - the file of a journal, which goes away after the tests. */
#ifndef TARRY_TEST_JOURNAL_FILE_H
#define TARRY_TEST_JOURNAL_FILE_H

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/tarry-journal-XXXXXX";

/* Group setup and teardown for cmocka. */
static inline int begin(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static inline int end(void **state)
{
    (void)state;
    return unlink(path);
}

#endif
