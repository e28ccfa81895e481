"""Which lines of a program say that it goes on, and which lines of a launcher that a process ended: by signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import regex

from plogscope.model.signature import Signature

OPTIONAL_IMPORT = "noise/optional-import"
"""The signature of lines by which a program says that it goes on without a package."""

LAUNCHER = "launcher/"
"""Where the signatures stand by which launchers tell how processes ended."""

ENDS = ("symptom", "teardown")
"""Roles of those signatures."""

SEARCHED = 2000
"""Characters of a line in which such a remark is sought."""


def goes_without(signatures: Mapping[str, Signature]) -> Callable[[str], bool]:
    """Whether a line says that the program goes on without a package."""
    return _says([one for one in signatures.values() if one.id == OPTIONAL_IMPORT])


def tells_of_end(signatures: Mapping[str, Signature]) -> Callable[[str], bool]:
    """Whether a line is one by which a launcher tells that a process of the job ended, or that it ends one."""
    return _says([one for one in signatures.values() if one.id.startswith(LAUNCHER) and one.role in ENDS])


def _says(signatures: Sequence[Signature]) -> Callable[[str], bool]:
    @cache
    def patterns() -> list[regex.Pattern[str]]:
        return [regex.compile(one.match.pattern, regex.MULTILINE) for one in signatures]

    return lambda text: any(pattern.search(text[:SEARCHED]) is not None for pattern in patterns())
