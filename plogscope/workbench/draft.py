"""A first signature file from a line as it stands in a log."""

from __future__ import annotations

import re

from plogscope.errors import UsageError
from plogscope.grammar.reading import front_of, read_parts
from plogscope.grammar.skeleton import skeleton

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:/[a-z0-9]+(?:-[a-z0-9]+)*)+")


def draft_signature(line: str, name: str) -> str:
    """The TOML of a signature that matches the line, peeled as the scan peels it.

    Args:
        line: One line of a log, with all that stands before it; of several lines the first that is not empty.
        name: Id of the signature: `<domain>/<name>`.

    Raises:
        UsageError: The line is empty, or the name is no id.
    """
    if not _ID.fullmatch(name):
        raise UsageError(f"{name} is no id", "write <domain>/<name>, lower case, words joined by hyphens")
    first = next((text for text in line.split("\n") if text.strip()), "")
    parts = read_parts(first)
    if not parts:
        raise UsageError("the line is empty", "give a line of the log: --from-line '...'")
    piece = parts[-1].piece
    message = piece.head.message if piece.head is not None else piece.text
    level = piece.head.level if piece.head is not None else None
    return skeleton(piece.text, message, name=name, level=level, front=front_of(first, parts[-1:]))
