"""AddressSanitizer's allocator does not survive a fork while another thread
ends (glibc's does): the child waits for a lock that nobody holds any more.
Threads of an experiment end a moment after it, so that forks wait for them."""
import os
import time

import numpy  # its threads stay

TASKS = "/proc/self/task"


def wait_for_threads_that_end(staying=len(os.listdir(TASKS))):
    until = time.monotonic() + 10
    while len(os.listdir(TASKS)) > staying and time.monotonic() < until:
        time.sleep(0.001)


if os.environ.get("TARRY_SANITIZE"):
    os.register_at_fork(before=wait_for_threads_that_end)
