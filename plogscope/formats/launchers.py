"""The marks of everybody who passed a line on: kubectl, ray, torchrun, pdsh, compose, CI, grep.

They are peeled off one by one and kept as facts about the writer. One prefix ends within a bounded window.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from plogscope.formats.base import Facts
from plogscope.formats.stamps import local_ns

MAX_PREFIXES = 6
WINDOW = 640
"""Characters in which one prefix must end."""


class Peeling(msgspec.Struct):
    """Facts gathered so far; `names` are the prefixes that name a writer."""

    names: list[str] = []
    rank: int | None = None
    local_rank: int | None = None
    pid: int | None = None
    proc: str | None = None
    host: str | None = None
    receipt_ns: int | None = None

    def facts(self) -> Facts:
        """The same as a value."""
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
_SRUN = re.compile(
    r" {0,6}(\d{1,6}): (?=Traceback \(most recent call last\):|  File \"|    \S|\[rank\d|\[PID: \d"
    r"|\[(?:DEBUG|INFO|WARNING|ERROR|EVENT)\] ?(?:[A-Z]\w{0,31}\(|\d{4}-\d)| ?\[\d{4}-\d\d-\d\d |[WEIF]\d{4} \d\d:"
    r"|(?:INFO|WARNING|ERROR|CRITICAL)[ :]|E[A-Z]\d{4}\b"
    r"|(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit)(?:: |$))"
)
"""The label of `srun -l`: the number of the task, which is the rank of what Slurm starts. Only before what a program's
log looks like: numbers with a colon are common."""
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


def _peel_receipt(text: str, state: Peeling) -> int:
    found = _RECEIPT.match(text)
    if found is None:
        return 0
    state.receipt_ns = state.receipt_ns or local_ns(found[1], found[2])
    return found.end()


def _peel_rank(text: str, state: Peeling) -> int:
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


def _peel_mpi(text: str, state: Peeling) -> int:
    found = _MPI.match(text)
    if found is None:
        return 0
    state.rank = int(found[1])
    state.names.append(f"[rank{found[1]}]")
    return found.end()


def _peel_srun(text: str, state: Peeling) -> int:
    found = _SRUN.match(text) if not state.names else None
    if found is None:
        return 0
    state.rank = int(found[1])
    state.names.append(f"[rank{state.rank}]")
    return found.end()


def _peel_pod(text: str, state: Peeling) -> int:
    found = _POD.match(text)
    if found is None:
        return 0
    state.host = found[1]
    state.names.append(found[1])
    return found.end()


def _peel_viewer(text: str, _state: Peeling) -> int:
    found = _VIEWER.match(text)
    return 0 if found is None else found.end()


def _peel_viewer_tab(text: str, _state: Peeling) -> int:
    found = _VIEWER_TAB.match(text) if "\t" in text[:20] else None
    return 0 if found is None else found.end()


def _peel_proc(text: str, state: Peeling) -> int:
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


def _peel_raylet(text: str, state: Peeling) -> int:
    found = _RAYLET.match(text)
    if found is None:
        return 0
    state.proc = found[1]
    state.host = found[2] or state.host
    state.names.append(f"({found[1]}{', ip=' + found[2] if found[2] else ''})")
    return found.end()


def _peel_kubernetes(text: str, state: Peeling) -> int:
    found = _KUBERNETES.match(text)
    if found is None:
        return 0
    state.receipt_ns = state.receipt_ns or local_ns(found[1], found[2])
    return found.end()


def _peel_grep(text: str, state: Peeling) -> int:
    found = _GREP.match(text) if ".log" in text[:420] or ".txt" in text[:420] else None
    if found is None:
        found = _GREP_NUMBER.match(text)
        return 0 if found is None else found.end()
    state.names.append(found[1])
    writer = _PLOG_FILE.search(found[1])
    if writer is not None:
        state.pid = int(writer[1])
    return found.end()


def _peel_host(text: str, state: Peeling) -> int:
    found = _PDSH.match(text) or _COMPOSE.match(text)
    if found is None:
        return 0
    state.host = found[1]
    state.names.append(found[1])
    return found.end()


_Peeler = Callable[[str, Peeling], int]
_BRACKET: tuple[_Peeler, ...] = (_peel_rank, _peel_receipt, _peel_viewer, _peel_mpi, _peel_pod)
_DIGIT: tuple[_Peeler, ...] = (_peel_kubernetes, _peel_srun, _peel_grep, _peel_host, _peel_viewer_tab)
_BLANK: tuple[_Peeler, ...] = (_peel_viewer_tab, _peel_srun)
_OTHER: tuple[_Peeler, ...] = (_peel_grep, _peel_host)


def peelers(text: str) -> tuple[_Peeler, ...]:
    """The peelers that the first characters leave possible; most lines leave none."""
    first = text[:1]
    if first == "[":
        return _BRACKET if text[1:2] in _AFTER_BRACKET else ()
    if first == "(":
        return (_peel_proc,)
    if first in _SPACES:
        return _BLANK if "\t" in text[:20] or ": " in text[:12] else ()
    if first in _DIGITS:
        return _DIGIT
    head = text[:420]
    return _OTHER if ".log" in head or ".txt" in head or " | " in head or _may_be_host(head) else ()


_AFTER_BRACKET = frozenset("rdtwp0123456789")
_DIGITS = frozenset("0123456789")
_SPACES = frozenset(" \t")


def _may_be_host(head: str) -> bool:
    return head.startswith(("worker-", "node"))


def peel_at(text: str, state: Peeling) -> int:
    """Where the text begins behind up to six prefixes; reads a bounded part of it only."""
    window = text[:WINDOW]
    start = 0
    for _ in range(MAX_PREFIXES):
        rest = window[start:] if start else window
        step = next((length for peeler in peelers(rest) if (length := peeler(rest, state))), 0)
        if not step:
            break
        start += step
    return start
