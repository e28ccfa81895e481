"""Plain records in which a literal of a signature stands: which of them need no more than to be counted.

Heartbeats and ended collectives are a third of some logs, and of their repeats a fold keeps five.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from plogscope.formats.encoding import decode_line, is_gb18030
from plogscope.formats.json_log import START
from plogscope.formats.parse import MAX_PEELED_CHARS
from plogscope.grammar.match import HEAD, TAIL, Matcher
from plogscope.scan.fold import KEPT_FIRST, KEPT_LAST, FoldKey, fold_key
from plogscope.scan.quiet import Columns, Lines


def settle(data: bytes, lines: Lines, columns: Columns, matcher: Matcher) -> Counter[FoldKey]:
    """Ends `plain` for the heard lines that have to be read.

    It stays for those that no signature matches after all, and for the repeats that a fold would only count.

    Returns:
        How many findings of each key are only counted.
    """
    keys = _keys(data, lines, columns, matcher)
    last = len(lines.plain) - 1
    open_at_end = int(np.flatnonzero(lines.opens)[-1]) if keys else -1  # goes into its fold after all others
    ahead = Counter(key for index, found in keys.items() if index != open_at_end for key in found)
    passed: dict[FoldKey, int] = dict.fromkeys(ahead, 0)
    counted: Counter[FoldKey] = Counter()
    for index, found in keys.items():
        inner = index < last and bool(lines.opens[index + 1])  # nothing continues it
        for key in found:
            if passed.get(key, 0) < KEPT_FIRST or ahead[key] <= KEPT_LAST:
                inner = False
        for key in found:
            passed[key] = passed.get(key, 0) + 1
            ahead[key] -= 1
        if inner:
            counted.update(found)
        else:
            lines.plain[index] = False
    return counted


def _keys(data: bytes, lines: Lines, columns: Columns, matcher: Matcher) -> dict[int, list[FoldKey]]:
    """By line, in order, the keys of what the signatures match in it; lines without a match are left out."""
    keys: dict[int, list[FoldKey]] = {}
    signatures = matcher.grammar.signatures
    heard = np.array(sorted(lines.heard), np.int64)
    columns_of_heard = (heard, lines.starts[np.maximum(heard - 1, 0)], lines.starts[heard], lines.ends[heard])
    for index, before, start, end in zip(*(column.tolist() for column in columns_of_heard), strict=True):
        raw = data[start:end]
        if index and is_source_echo(data[before:start], raw):
            lines.plain[index] = False
            continue
        head = columns.head(int(lines.heads[index]))
        text = decode_line(raw).removesuffix("\r")[:MAX_PEELED_CHARS]
        candidates = lines.heard[index] if len(text) <= HEAD + TAIL else matcher.candidates(text)
        found = matcher.match_among(candidates, text, head.format, head.level)
        if found:
            keys[index] = [fold_key(signatures[match.signature], match, head.pid, "") for match in found]
    return keys


def is_source_echo(before: bytes, line: bytes) -> bool:
    """True for the line of source code that a traceback prints below a frame: it states nothing.

    The message of `raise Error("…")` is printed again as the exception, and comments and strings of a program hold any
    word. A prefix (rank, worker) must be the same on both lines.
    """
    at = before.find(_FRAME)
    return at >= 0 and before.find(_FRAME_LINE, at) > 0 and line.startswith(before[:at] + _ECHO_INDENT)


def may_hide_literals(raw: bytes) -> bool:
    """True when the text of a line can hold what its bytes do not.

    Colours and NUL may stand inside a literal, JSON writes characters in another way, and literals are UTF-8.
    """
    return (
        b"\x1b" in raw
        or b"^[" in raw
        or b"\0" in raw
        or raw.startswith(_JSON_START)
        or (not raw.isascii() and is_gb18030(raw))
    )


_JSON_START = START.encode()
_FRAME, _FRAME_LINE, _ECHO_INDENT = b'  File "', b'", line ', b"    "
