"""Where the program starts: so little that an interrupt at any moment ends it with one line."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from plogscope.errors import EXIT_INTERRUPTED

_BY_SIGNAL = 128
"""The exit code of what a signal ended is so much more than the signal's number."""


def main() -> None:
    """Runs the command line. While it is being loaded an interrupt has nothing to clean up."""
    _on(signal.SIGINT, _stop)
    from plogscope.cli import main as run  # noqa: PLC0415 - this is what takes time

    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        _on(number, _end)
    _on(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is written: what is left takes milliseconds


def _on(number: int, handler: signal._HANDLER) -> None:
    """Sets a handler unless whoever started the program wants the signal to be ignored."""
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, handler)


def _stop(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"plogscope: interrupted\n")
    os._exit(EXIT_INTERRUPTED)


def _end(number: int, _frame: FrameType | None) -> None:
    """Lets temporary files be removed."""
    sys.exit(_BY_SIGNAL + number)


if __name__ == "__main__":
    main()
