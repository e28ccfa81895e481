"""From bytes to the text that a program wrote: decoding, prefixes of launchers and relays, glued lines.

A line can carry the marks of everybody who passed it on (kubectl, ray, torchrun, pdsh, grep). They are peeled off and
kept as facts about the writer. Nothing here depends on more than a bounded part of a line, except one linear search.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import msgspec

from plogscope.formats.base import NO_FACTS, Facts
from plogscope.formats.registry import classify
from plogscope.formats.stamps import local_ns
from plogscope.formats.vllm import HEAD as CARRIER_HEAD

MAX_PREFIXES = 6
_WINDOW = 640
"""Characters in which one prefix must end."""

_ANSI = re.compile(r"(?:\x1b|\^\[)(?:\[[0-9;:?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\_])")


def clean(raw: bytes) -> str:
    r"""One physical line as text: NUL and colours dropped, one line end (`\n`, `\r`, a pasted `^M`) stripped.

    Carriage returns inside the line stay: `split_glued` decides what they separate.
    """
    text = raw.decode("utf-8", "replace")
    if "\0" in text:
        text = text.replace("\0", "")
    if "\x1b" in text or "^[" in text:
        text = _ANSI.sub("", text)
    text = text.removesuffix("\n")
    return text.removesuffix("\r") if text.endswith("\r") else text.removesuffix("^M")


class _Peeling(msgspec.Struct):
    """Facts gathered so far."""

    names: list[str] = []
    rank: int | None = None
    local_rank: int | None = None
    pid: int | None = None
    proc: str | None = None
    host: str | None = None
    receipt_ns: int | None = None

    def facts(self) -> Facts:
        return Facts(
            stream=" ".join(self.names),
            rank=self.rank,
            local_rank=self.local_rank,
            pid=self.pid,
            proc=self.proc,
            host=self.host,
            receipt_ns=self.receipt_ns,
        )


_RECEIPT = re.compile(
    r"\[(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\]\s{1,4}"
    r"(?=\[(?:DEBUG|INFO|WARNING|ERROR|EVENT|TRACE)\] ?(?:[A-Z]\w{0,31}\(|\d{4}-\d)"
    r"|\[(?:rank|default) ?\d|\[[WEIFV]\d{3,4} |\([A-Za-z_][^)]{0,120}pid=)"
)
_RANK = re.compile(r"\[(rank|default|trainer|worker)\s?(\d{1,7})\]:[ ]?")
_MPI = re.compile(r"\[\d{1,7},(\d{1,7})\]<std(?:out|err|diag)>: ?")
_POD = re.compile(r"\[pod/([^\]\s]{1,200})\] ")
_VIEWER = re.compile(r"\[\d{1,9}\] (?=\[(?:rank|default))")
_PROC = re.compile(
    r"\((?:([A-Za-z_][\w:.\-]{0,100}(?: [A-Za-z_][\w\-]{0,100})?) )?(?:rank=(\d{1,7}) )?"
    r"pid=(\d{1,10})(?:, ip=([^)\s]{1,100}))?\) ?"
)
_RAYLET = re.compile(r"\((raylet|autoscaler|gcs_server)(?: [+\d][^)]{0,40})?(?:, ip=([^)\s]{1,100}))?\) ")
_KUBERNETES = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{3,9})(?:Z|[+-]\d\d:\d\d) (?:(?:stdout|stderr) [FP] )?"
    r"(?!\||\S{1,100} (?:kernel|[\w./\-]{1,64}\[\d{1,10}\]): )"  # that is a line of syslog, with its own time
)
_GREP = re.compile(
    r"([^\s:\[\]]{1,400}?\.(?:log|txt)(?:\.\d{1,4})?)(?::(?:(?:\d{1,9})[:\-])?|-\d{1,9}-)[ \t]{0,8}(?=\S)"
)
_GREP_NUMBER = re.compile(r"\d{1,9}:(?=\[(?:DEBUG|INFO|WARNING|ERROR|EVENT|TRACE)\] ?[A-Z])")
_VIEWER_TAB = re.compile(r" {0,8}\d{1,9}\t")
_PLOG_FILE = re.compile(r"(?:^|/)plog-(\d{1,10})_\d{10,20}\.log")
_PDSH = re.compile(r"(worker-\d{1,7}|node(?:-\w{1,40}|\d{1,7})|(?:\d{1,3}\.){3}\d{1,3}): (?=\S)")
_COMPOSE = re.compile(r"((?=[\w.]{0,80}[\-_\d])[a-z0-9][\w.\-]{0,80})\s{1,40}\| ")
_REPEATED_WITHIN = 640
_REPEATED = re.compile(r"\s{0,8}\[repeated \d{1,9}x across cluster\](?: \(Ray deduplicates logs.{0,400})?\s{0,8}$")


def _peel_receipt(text: str, state: _Peeling) -> int:
    found = _RECEIPT.match(text)
    if found is None:
        return 0
    state.receipt_ns = state.receipt_ns or local_ns(found[1], found[2])
    return found.end()


def _peel_rank(text: str, state: _Peeling) -> int:
    found = _RANK.match(text)
    if found is None:
        return 0
    number = int(found[2])
    if found[1] == "rank":
        state.rank = number
    else:
        state.local_rank = number
    state.names.append(f"[{found[1]}{number}]")
    return found.end()


def _peel_mpi(text: str, state: _Peeling) -> int:
    found = _MPI.match(text)
    if found is None:
        return 0
    state.rank = int(found[1])
    state.names.append(f"[rank{found[1]}]")
    return found.end()


def _peel_pod(text: str, state: _Peeling) -> int:
    found = _POD.match(text)
    if found is None:
        return 0
    state.host = found[1]
    state.names.append(found[1])
    return found.end()


def _peel_viewer(text: str, _state: _Peeling) -> int:
    found = _VIEWER.match(text)
    return 0 if found is None else found.end()


def _peel_viewer_tab(text: str, _state: _Peeling) -> int:
    found = _VIEWER_TAB.match(text) if "\t" in text[:20] else None
    return 0 if found is None else found.end()


def _peel_proc(text: str, state: _Peeling) -> int:
    found = _PROC.match(text)
    if found is None:
        return _peel_raylet(text, state)
    name, rank, pid, ip = found.groups()
    state.pid = int(pid)  # nested relays: the innermost is nearest to the writer
    state.proc = name or state.proc
    state.host = ip or state.host
    if rank is not None and state.rank is None:
        state.rank = int(rank)
    state.names.append(f"({name or ''} pid={pid}{', ip=' + ip if ip else ''})")
    return found.end()


def _peel_raylet(text: str, state: _Peeling) -> int:
    found = _RAYLET.match(text)
    if found is None:
        return 0
    state.proc = found[1]
    state.host = found[2] or state.host
    state.names.append(f"({found[1]}{', ip=' + found[2] if found[2] else ''})")
    return found.end()


def _peel_kubernetes(text: str, state: _Peeling) -> int:
    found = _KUBERNETES.match(text)
    if found is None:
        return 0
    state.receipt_ns = state.receipt_ns or local_ns(found[1], found[2])
    return found.end()


def _peel_grep(text: str, state: _Peeling) -> int:
    found = _GREP.match(text) if ".log" in text[:420] or ".txt" in text[:420] else None
    if found is None:
        found = _GREP_NUMBER.match(text)
        return 0 if found is None else found.end()
    state.names.append(found[1])
    writer = _PLOG_FILE.search(found[1])
    if writer is not None:
        state.pid = int(writer[1])
    return found.end()


def _peel_host(text: str, state: _Peeling) -> int:
    found = _PDSH.match(text) or _COMPOSE.match(text)
    if found is None:
        return 0
    state.host = found[1]
    state.names.append(found[1])
    return found.end()


_Peeler = Callable[[str, _Peeling], int]
_BRACKET: tuple[_Peeler, ...] = (_peel_rank, _peel_receipt, _peel_viewer, _peel_mpi, _peel_pod)
_DIGIT: tuple[_Peeler, ...] = (_peel_kubernetes, _peel_grep, _peel_host, _peel_viewer_tab)
_OTHER: tuple[_Peeler, ...] = (_peel_grep, _peel_host)


def _peelers(text: str) -> tuple[_Peeler, ...]:
    """The peelers that the first characters leave possible; most lines leave none."""
    first = text[:1]
    if first == "[":
        return _BRACKET if text[1:2] in _AFTER_BRACKET else ()
    if first == "(":
        return (_peel_proc,)
    if first in _SPACES:
        return (_peel_viewer_tab,) if "\t" in text[:20] else ()
    if first in _DIGITS:
        return _DIGIT
    head = text[:420]
    return _OTHER if ".log" in head or ".txt" in head or " | " in head or _may_be_host(head) else ()


_AFTER_BRACKET = frozenset("rdtwp0123456789")
_DIGITS = frozenset("0123456789")
_SPACES = frozenset(" \t")


def _may_be_host(head: str) -> bool:
    return head.startswith(("worker-", "node"))


def _peel_at(text: str, state: _Peeling) -> int:
    """Where the text begins behind up to six prefixes; reads a bounded part of it only."""
    window = text[:_WINDOW]
    start = 0
    for _ in range(MAX_PREFIXES):
        rest = window[start:] if start else window
        step = next((length for peeler in _peelers(rest) if (length := peeler(rest, state))), 0)
        if not step:
            break
        start += step
    return start


_CHAIN = re.compile(r"(?:\([A-Za-z_][^()\r\n]{0,160}\) ?|\[(?:rank|default)\d{1,7}\]: ?){1,6}")
_CHAIN_LIMIT = 4096
_chains: dict[str, Facts] = {}
"""Facts of prefixes that name only a writer: few writers, many lines."""


def peel(text: str) -> tuple[Facts, str]:
    """What the prefixes of a line say, and the line behind them."""
    if not _peelers(text):
        return NO_FACTS, text
    chain = _CHAIN.match(text)
    facts = _chains.get(chain[0]) if chain is not None else None
    if chain is not None and facts is not None and not _peelers(text[chain.end() : chain.end() + _WINDOW]):
        return facts, _strip_repeated(text[chain.end() :], facts)
    state = _Peeling()
    start = _peel_at(text, state)
    if not start:
        return NO_FACTS, text
    facts = state.facts()
    if chain is not None and chain.end() == start:
        if len(_chains) >= _CHAIN_LIMIT:
            _chains.clear()
        _chains[chain[0]] = facts
    return facts, _strip_repeated(text[start:], facts)


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
    if not _may_be_glued(text):
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
    window = text[start : start + _WINDOW]
    end = window.find("\r")
    segment = window if end < 0 else window[:end]
    return _peel_at(segment, _Peeling()) > 0 or classify(segment) is not None


def _body(text: str, start: int) -> int:
    """Where the text of the writer begins: behind the prefixes, and behind a frame such as vLLM's with its prefixes."""
    at = start + _peel_at(text[start : start + _WINDOW], _Peeling())
    frame = CARRIER_HEAD.match(text, at)
    return at if frame is None else frame.end() + _peel_at(text[frame.end() : frame.end() + _WINDOW], _Peeling())
