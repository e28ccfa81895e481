"""Opening a log again: what was a regular file when it was found may be a pipe by now, which would never end."""

from __future__ import annotations

import os
from stat import S_ISREG
from typing import BinaryIO


def open_log(location: str) -> BinaryIO:
    """The bytes of a log, seekable; read in large pieces.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    return open(location, "rb", opener=_open_regular)


def _open_regular(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "no longer a regular file", path)
    return descriptor
