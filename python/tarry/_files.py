"""Files are old or new, never between, as the program writes them: under a new
name in the folder, synced, moved into place, and the folder synced.  The mode
of a file that is replaced stays, and so does a symbolic link to it."""
import os
import secrets
import stat
from typing import Union

Path = Union[str, "os.PathLike[str]"]


def write_file(path: Path, data: bytes) -> None:
    target = os.path.realpath(os.fspath(path))
    folder = os.path.dirname(target)
    beside = os.path.join(folder, ".tarry-" + secrets.token_hex(8))
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if os.path.exists(target):
                os.fchmod(handle, stat.S_IMODE(os.stat(target).st_mode))
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
