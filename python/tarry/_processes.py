"""The runs of an experiment on several processes.

Python code runs in one thread at a time, but in as many processes as there are
cores.  Each process plays every so many-th run and keeps a journal; the
journals together are that of the whole experiment, from which the results are
read: so they are the same as from one process."""
from __future__ import annotations

import contextlib
import fcntl
import multiprocessing
import os
import pickle
import tempfile
from typing import Any, Callable, Iterator, List, Optional

from . import _tarry
from ._errors import BadArgument, Error, InputOutputError


def _play(open_part: Callable[..., _tarry.Experiment], path: str, part: int,
          parts: int, line: Any) -> None:
    """In a process of its own."""
    try:
        open_part(1, path, part, parts).run()
        line.send_bytes(pickle.dumps(None))
    except BaseException as error:
        try:
            data = pickle.dumps(error)
            pickle.loads(data)
        except Exception:
            data = pickle.dumps(Error("%s: %s" % (type(error).__name__,
                                                  error)))
        line.send_bytes(data)
    os._exit(0)  # nothing of the parent's is to be flushed or joined


def _join(paths: List[str]) -> bytes:
    """The first line of all, then the others without repetitions."""
    lines: List[bytes] = []
    for path in paths:
        with open(path, "rb") as file:
            lines += [line for line in file if line.endswith(b"\n")]
    return b"".join(dict.fromkeys(lines))


def _wait(children: List[Any], lines: List[Any]) -> Optional[BaseException]:
    """The first exception of a child, or None."""
    failure: Optional[BaseException] = None
    for child, line in zip(children, lines):
        try:
            answer = pickle.loads(line.recv_bytes())
        except EOFError:
            child.join()  # before that it has no code
            answer = Error("a process ended with code %s" % child.exitcode)
        failure = failure or answer
        child.join()
    return failure


@contextlib.contextmanager
def _locked(journal: Any) -> Iterator[bytes]:
    """The bytes of the journal, which no other job can open meanwhile."""
    if journal is None:
        yield b""
        return
    is_new = not os.path.exists(journal)
    try:
        file = os.open(journal, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise InputOutputError("%s: %s" % (journal, error.strerror))
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadArgument(
                "%s: another job is writing this journal; wait for its end, or "
                "name another file" % journal)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # tells whose it is
        yield os.pread(file, os.fstat(file).st_size, 0)
    finally:
        if is_new and os.path.getsize(journal) == 0:
            os.unlink(journal)
        os.close(file)


def run_parts(open_part: Callable[..., _tarry.Experiment], parts: int,
              journal: Any) -> _tarry.Experiment:
    """The experiment, run; open_part(threads, journal, part, parts) makes it
    or a part of it."""
    context = multiprocessing.get_context("fork")
    with _locked(journal) as known, tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "whole")
        paths = [os.path.join(folder, str(part)) for part in range(parts)]
        children, lines = [], []
        for part, path in enumerate(paths):
            with open(path, "wb") as file:
                file.write(known)
            mine, theirs = context.Pipe(duplex=False)
            child = context.Process(
                target=_play, args=(open_part, path, part, parts, theirs))
            child.start()
            theirs.close()
            children.append(child)
            lines.append(mine)
        try:
            failure = _wait(children, lines)
        except BaseException:
            for child in children:
                child.terminate()
                child.join()
            raise
        finally:
            data = _join([path for path in paths if os.path.exists(path)])
            for path in [whole, journal] if journal and data else [whole]:
                _tarry.write_file(path, data)
        if failure is not None:
            raise failure
        handle = open_part(1, whole)
        handle.run()
    return handle
