"""Errors that a user can mend, and the exit codes of the command line.

A defect in the *data* is never an exception: it is a value in the coverage of the report.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_FAIL_ON = 1
EXIT_USAGE = 2
EXIT_INPUT = 3
EXIT_GRAMMAR = 4
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class PlogscopeError(Exception):
    """A defect that the user can mend: one line that says what, and a hint that says what to do.

    Attributes:
        hint: The smallest thing to do next, without a final full stop.
        exit_code: The status with which the command line ends.
    """

    exit_code: int = EXIT_USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}: {self.hint}" if self.hint else message


class UsageError(PlogscopeError):
    """An option or argument that makes no sense."""

    exit_code = EXIT_USAGE


class InputError(PlogscopeError):
    """A path that is missing, empty or holds nothing that can be read."""

    exit_code = EXIT_INPUT


class GrammarError(PlogscopeError):
    """A grammar that does not prove itself; the message lists each defect with file, line and remedy."""

    exit_code = EXIT_GRAMMAR


class LeakError(PlogscopeError):
    """A private name got past its pseudonym: nothing is written, and the defect is ours."""

    exit_code = EXIT_BUG
