"""Where a Python exception came up: the deepest frame of the program's own code in the traceback above its line."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from plogscope.evidence.around import text_after, text_before
from plogscope.formats.prefixes import clean, peel
from plogscope.formats.vllm import HEAD as CARRIER_HEAD
from plogscope.model.record import Finding
from plogscope.model.source import Source
from plogscope.model.vocabulary import Text
from plogscope.wording import say

EXCEPTION_CHARS = 120
_TYPE = re.compile(r"[A-Za-z_][\w.]{0,200}(?=:|$)")
_HEAD = "Traceback (most recent call last)"
_USER_CODE = "from user code:"
_USER_CODE_WITHIN = 40
_FRAME = re.compile(r'[ \t|+]*File "(?P<path>[^"\n]{1,1000})", line (?P<line>\d{1,9})(?:, in (?P<function>\S{1,200}))?')
_INSTALLED = re.compile(
    r"^<|(?:^|[/\\])(?:(?:site|dist)-packages|lib(?:64)?[/\\]python\d[\d.]*|Python\d+[/\\][Ll]ib)[/\\]"
)
_PACKAGE = re.compile(r"(?:site|dist)-packages[/\\]")


class Frame(msgspec.Struct, frozen=True):
    """One frame as printed."""

    path: str
    line: int
    function: str

    @property
    def installed(self) -> bool:
        """Whether it is code of a package or of Python itself."""
        return _INSTALLED.search(self.path) is not None

    @property
    def is_package(self) -> bool:
        """Whether it is code of a package that is neither Python's own nor CANN's, whose compilers print for C++."""
        return _PACKAGE.search(self.path) is not None and "/Ascend/" not in self.path


class Raised(msgspec.Struct, frozen=True):
    """The type of an exception (what its line says where that names none), and the frame to look at first."""

    frame: Frame
    exception: str


def read_frame(text: str) -> Frame | None:
    """The frame that a line of a traceback names, if it names one."""
    found = _FRAME.match(text)
    return _frame(found) if found is not None else None


def raised_at(source: Source, finding: Finding) -> Raised | None:
    """The frame to look at for the exception that `finding` states; None when no traceback ends in its record.

    It is the deepest frame outside installed packages, else the deepest one. What Dynamo prints below the message as
    user code comes first: the traceback above such a message holds only the compiler.
    """
    lines = text_before(source, finding.offset).split("\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        return None
    writer, stated = _read(lines[-1])
    before = [body for who, body in map(_read, lines[:-1]) if who == writer]
    inside = finding.line - finding.record_line
    frames = _frames_above(before, inside)
    user = _user_code(source, finding, writer)
    if not frames and not user:
        return None
    # A message of several lines is stated by one of them, but its first line names the exception.
    head = before[-inside] if 0 < inside <= len(before) and frames and _opens(before[-inside]) else stated
    own = [frame for frame in (*user, *frames) if not frame.installed]
    return Raised(frame=(own or user or frames)[0], exception=_type(head))


def start_at(raised: Raised | None) -> Text | None:
    """The sentence that names the frame, to stand before the next action."""
    if raised is None:
        return None
    frame = raised.frame
    key = "action.start_installed" if frame.installed else "action.start"
    return say(key, file=frame.path, line=frame.line, function=frame.function, exception=raised.exception)


def _read(line: str) -> tuple[str, str]:
    """The stream of a line as its prefixes tell, and the text behind them and behind the head of a logging library."""
    facts, body = peel(clean(line.encode("utf-8", "replace")))
    head = CARRIER_HEAD.match(body)
    return facts.stream, body[head.end() :] if head is not None else body


def _frames_above(bodies: Sequence[str], inside: int) -> list[Frame]:
    """Frames of the traceback that ends where `bodies` end, deepest first.

    Nothing but frames and their source lines may stand between its head and the record, whose last `inside` lines are
    the message.
    """
    frames: list[Frame] = []
    for distance, body in enumerate(reversed(bodies), start=1):
        if _HEAD in body:
            return frames
        frame = read_frame(body)
        if frame is not None:
            frames.append(frame)
        elif distance > inside and body.strip() and not body.startswith((" ", "\t")):
            return []
    return []


def _user_code(source: Source, finding: Finding, writer: str) -> list[Frame]:
    """Frames below `from user code:` behind the message, deepest first."""
    bodies = [body for who, body in map(_read, text_after(source, finding.offset).split("\n")[1:]) if who == writer]
    frames: list[Frame] = []
    reached = False
    for body in bodies[:_USER_CODE_WITHIN]:
        frame = read_frame(body) if reached else None
        if frame is not None:
            frames.append(frame)
        elif _HEAD in body or (reached and body.strip() and not body.startswith((" ", "\t"))):
            break
        reached = reached or body.strip() == _USER_CODE
    return frames[::-1]


def _frame(found: re.Match[str]) -> Frame:
    return Frame(found["path"], int(found["line"]), found["function"] or "?")


def _opens(body: str) -> bool:
    """Whether a line can be the first one of an exception."""
    return bool(body.strip()) and not body.startswith((" ", "\t")) and _HEAD not in body


def _type(text: str) -> str:
    line = text.strip().rstrip(".")
    found = _TYPE.match(line)
    if found is not None:
        return found[0]
    return line if len(line) <= EXCEPTION_CHARS else line[: EXCEPTION_CHARS - 1] + "…"
