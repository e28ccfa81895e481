"""From bytes to the text that a program wrote: decoding, prefixes of launchers and relays, glued lines.

Nothing here depends on more than a bounded part of a line, except linear searches.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise

import msgspec

from plogscope.formats.base import NO_FACTS, Facts
from plogscope.formats.encoding import decode_line
from plogscope.formats.host_os import frame_end
from plogscope.formats.json_log import read_entry
from plogscope.formats.launchers import MAX_PREFIXES, WINDOW, Peeling, peel_at, peelers
from plogscope.formats.registry import classify
from plogscope.formats.stamps import local_ns
from plogscope.formats.vllm import HEAD as CARRIER_HEAD

_ANSI = re.compile(r"(?:\x1b|\^\[)(?:\[[0-9;:?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\_])")


def clean(raw: bytes) -> str:
    r"""One physical line as text: NUL and colours dropped, one line end (`\n`, `\r`, a pasted `^M`) stripped.

    Carriage returns inside the line stay: `split_glued` decides what they separate.
    """
    text = decode_line(raw)
    if "\0" in text:
        text = text.replace("\0", "")
    if "\x1b" in text or "^[" in text:
        text = _ANSI.sub("", text)
    text = text.removesuffix("\n")
    return text.removesuffix("\r") if text.endswith("\r") else text.removesuffix("^M")


_REPEATED_WITHIN = 640
_REPEATED = re.compile(r"\s{0,8}\[repeated \d{1,9}x across cluster\](?: \(Ray deduplicates logs.{0,400})?\s{0,8}$")
_CHAIN = re.compile(r"(?:\([A-Za-z_][^()\r\n]{0,160}\) ?|\[(?:rank|default)\d{1,7}\]: ?){1,6}")
_CHAIN_LIMIT = 4096
_chains: dict[str, Facts] = {}
"""Facts of prefixes that name only a writer: few writers, many lines."""


def peel(text: str) -> tuple[Facts, str]:
    """What the prefixes of a line say, and the line behind them."""
    if not peelers(text):
        return _unwrap_json(text) if text.startswith(JSON_START) else (NO_FACTS, text)
    chain = _CHAIN.match(text)
    facts = _chains.get(chain[0]) if chain is not None else None
    if chain is not None and facts is not None and not peelers(text[chain.end() : chain.end() + WINDOW]):
        return facts, _strip_repeated(text[chain.end() :], facts)
    state = Peeling()
    start = peel_at(text, state)
    if not start:
        return NO_FACTS, text
    facts = state.facts()
    if chain is not None and chain.end() == start:
        if len(_chains) >= _CHAIN_LIMIT:
            _chains.clear()
        _chains[chain[0]] = facts
    return facts, _strip_repeated(text[start:], facts)


JSON_START = '{"log":"'
"""How a line of docker's json-file driver begins."""

_JSON_LIMIT = 1 << 20


def _unwrap_json(text: str) -> tuple[Facts, str]:
    r"""The text in a line of docker's json-file driver: `{"log":"…\n","stream":"stderr","time":"…"}`."""
    try:
        entry: object = json.loads(text) if len(text) <= _JSON_LIMIT else None
    except (ValueError, RecursionError):
        return NO_FACTS, text
    log = entry.get("log") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(log, str):
        return NO_FACTS, text
    facts, rest = peel(clean(log.encode("utf-8", "replace"))) if not log.startswith(JSON_START) else (NO_FACTS, log)
    stamp = entry.get("time")
    receipt = local_ns(stamp[:19], stamp[20:29].rstrip("Z")) if isinstance(stamp, str) else None
    return msgspec.structs.replace(facts, receipt_ns=receipt), rest


def _strip_repeated(text: str, facts: Facts) -> str:
    """Without ray's note that it dropped the same line of other workers."""
    if facts.pid is None or text.rfind("[repeated ", -_REPEATED_WITHIN) < 0:
        return text
    found = _REPEATED.search(text, max(0, len(text) - _REPEATED_WITHIN))
    return text if found is None else text[: found.start()]


_LEVEL = r"(?:DEBUG|INFO|WARNING|ERROR|EVENT|TRACE|NULL|OPLOG|\d{1,3})"
_GLUED_BRACKET = re.compile(
    rf"\[(?:{_LEVEL}\] ?(?:(?:[A-Z]\w{{0,31}}|\d{{1,5}})\(-?\d|\d{{4}}-\d\d-\d)"
    r"|[IWEFV](?:\d{3,4} \d\d:| \w)|(?:rank|default)\d)"
)
_GLUED_TORCH_LOG = re.compile(r"[VDIWECF]\d{4} \d\d:\d\d:\d\d\.\d{6} ", re.ASCII)
_TRACEBACK_END = 30
_WRITER_WITHIN = 160
_BAR_END = re.compile(r"(?:it/s|s/it|[kMG]B/s)[^\]\r\n]{0,200}\](?=\S)", re.ASCII)
_GLUED_HEAD = re.compile(
    rf"\[{_LEVEL}\] ?(?:[A-Z]\w{{0,31}}|\d{{1,5}})\(-?\d{{1,10}}(?:[,:][^\r\n\[]{{0,128}}?)?\): ?"
    r"\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d"
    r"|\[(?:ERROR|WARNING)\] \d{4}-\d\d-\d\d-\d\d:\d\d:\d\d \(PID:\d{1,10}, Device:"
    r"|\[[IWEFV]\d{3,4} \d\d:\d\d:\d\d\.\d{6,9} [^\s\]]{1,300}:\d{1,7}\]"
    r"|\[[IWEF] [^\s\]]{1,300}\.(?:cpp|cc|h|hpp|ts):\d{1,7}\]"
    r"|\[(?:rank|default)\d{1,7}\]:"
    r"|\([A-Za-z_][\w:.\-]{0,100}(?: [\w\-]{1,100})? pid=\d{1,10}(?:, ip=[^)\s]{1,100})?\) "
    r"(?=(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d|[\[(])"
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[?[^\s\]:]{1,300}:\d{1,7}\]"
    r"|[VDIWECF]\d{4} \d\d:\d\d:\d\d\.\d{6} {1,4}\d{1,20} [^\s\]]{1,300}:\d{1,7}\]"
    r"|(?<=[.!\]])[EW][A-Z0-9]\d{4}(?:: (?:Inner Error|Internal error|\[PID: |\d{4}-\d\d-\d\d-\d)|\[PID: )"
    r"|Fatal Python error: |terminate called (?:after throwing|without an active|recursively)"
    r"|(?<!Original )(?<!Group )(?<!Remote )Traceback \(most recent call last\):(?=\s{0,20}$)",
    re.ASCII,
)


def split_glued(text: str) -> list[tuple[int, str]]:
    r"""Cuts a line where another record starts in it, for example behind a progress bar.

    Returns:
        The offset (characters) and the text of each piece; together they are the line. A piece keeps the `\r` at its
        end. A head that is quoted inside a message is cut as well, if it is a whole one.
    """
    if text.startswith(JSON_START) or not _may_be_glued(text) or read_entry(text) is not None:
        return [(0, text)]
    starts = [0, *_glued_starts(text), len(text)]
    return [(start, text[start:end]) for start, end in pairwise(starts) if end > start or not text]


def _may_be_glued(text: str) -> bool:
    """The cheap test that almost every line fails: only the first character may begin a record."""
    at = _behind_writer(text) + 1
    return (
        "\r" in text
        or _GLUED_BRACKET.search(text, at) is not None
        or text.find(" pid=", at) > 0
        or text.find("ERROR ", at) > 0
        or text.find("INFO ", at) > 0
        or text.find("WARNING ", at) > 0
        or text.find("Fatal Python error: ", at) > 0
        or text.find("terminate called ", at) > 0
        or "last):" in text[-_TRACEBACK_END:]
        or "it/s" in text
        or "s/it" in text
        or "B/s" in text
        or "9999: In" in text
        or (text[:1] != "[" and ".py:" in text and _GLUED_TORCH_LOG.search(text, at) is not None)
    )


def _behind_writer(text: str) -> int:
    """Roughly where the names of workers and ranks end: what stands there is no second record."""
    at = 0
    for _ in range(MAX_PREFIXES):
        if text.startswith("(", at):
            end = text.find(") ", at, at + _WRITER_WITHIN) + 2
        elif text.startswith(("[rank", "[default"), at):
            end = text.find("]:", at, at + _WRITER_WITHIN) + 2
            end += text.startswith(" ", end)
        else:
            break
        if end < at + 2:
            break
        at = end
    return at


def _glued_starts(text: str) -> list[int]:
    """Where the pieces after the first one start, ascending."""
    candidates = {found.start() for found in _GLUED_HEAD.finditer(text)}
    ends = {found.end() for found in _BAR_END.finditer(text)} | set(_segments(text))
    candidates |= {start for start in ends - candidates if _starts_record(text, start)}
    starts: list[int] = []
    guard = _body(text, 0)
    for start in sorted(candidates):
        if start > guard:
            starts.append(start)
            guard = _body(text, start)
    return starts


def _segments(text: str) -> list[int]:
    r"""Where the segments behind each `\r` begin, without empty ones."""
    found = []
    at = text.find("\r")
    while at >= 0:
        if at + 1 < len(text) and text[at + 1] != "\r":
            found.append(at + 1)
        at = text.find("\r", at + 1)
    return found


def _starts_record(text: str, start: int) -> bool:
    window = text[start : start + WINDOW]
    end = window.find("\r")
    segment = window if end < 0 else window[:end]
    return peel_at(segment, Peeling()) > 0 or classify(segment) is not None


def _body(text: str, start: int) -> int:
    """Where the text of the writer begins: behind the prefixes, and behind a frame such as vLLM's with its prefixes."""
    at = start + peel_at(text[start : start + WINDOW], Peeling())
    frame = CARRIER_HEAD.match(text, at)
    end = frame_end(text, at) if frame is None else frame.end()
    return at if end == at else end + peel_at(text[end : end + WINDOW], Peeling())
