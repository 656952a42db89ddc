"""Programs that are stopped by Ctrl-C."""
import contextlib
import os
import signal
import subprocess
import sys
import time

#: where the tests run in the background a shell has them ignore it
HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


def printed_when_stopped(script, after_s):
    """What a script says that is stopped so long after it has said "ready".
    Nothing that it has started is left behind."""
    child = subprocess.Popen([sys.executable, "-c", HEED + script], text=True,
                             stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(after_s)
        os.kill(child.pid, signal.SIGINT)
        return child.communicate(timeout=120)[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
