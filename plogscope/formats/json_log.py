"""Structured logs: one JSON object a line, as python-json-logger, structlog, loguru, zap, logrus and ECS write it.

What the object calls its fields differs, what they mean does not: a time, a level, a message, who wrote it, and the
traceback as one string with escaped line ends. The message may itself have several lines, or the head of a format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import msgspec

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.py_logging import head_of
from plogscope.formats.stamps import DAY_NS, LAST_KNOWN_YEAR, SECOND_NS, local_ns

ORDER = 205

START = '{"'
"""How such a line begins. All others are left alone before anything is parsed."""

MAX_CHARS = 1 << 16
MAX_FIRST, MAX_LAST = 100, 300
"""Lines of one entry that are looked at: the message, and the end of the traceback."""

_TIMES = ("ts", "time", "timestamp", "@timestamp", "asctime", "datetime", "t")
_LEVELS = ("level", "levelname", "severity", "lvl", "log.level", "log_level", "loglevel")
_MESSAGES = ("msg", "message", "event")
_ERRORS = ("error", "err", "error.message")
_TRACES = (
    "exc", "exc_info", "exc_text", "exception", "stack", "stack_trace", "stacktrace", "traceback", "error.stack_trace",
)  # fmt: skip
_LOGGERS = ("logger", "name", "logger_name", "log.logger")
_PIDS = ("pid", "process", "process_id", "process.pid")
_RANKS, _LOCAL_RANKS = ("rank", "global_rank"), ("local_rank",)

_WORDS = {
    "TRACE": "DEBUG", "DEBUG": "DEBUG", "INFO": "INFO", "NOTICE": "INFO", "WARN": "WARNING", "WARNING": "WARNING",
    "ERR": "ERROR", "ERROR": "ERROR", "SEVERE": "ERROR", "CRITICAL": "CRITICAL", "CRIT": "CRITICAL",
    "FATAL": "CRITICAL", "PANIC": "CRITICAL", "DPANIC": "CRITICAL", "ALERT": "CRITICAL", "EMERGENCY": "CRITICAL",
}  # fmt: skip
_STAMP = re.compile(r"\s?(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?", re.ASCII)
_SCALES_NS = ((1e11, SECOND_NS), (1e14, SECOND_NS // 1000), (1e17, 1000), (1e20, 1))
"""Numbers below the limit count units of so many ns: a stamp is in s, ms, us or ns since 1970."""

_LEAST_S = 1e9
"""September 2001: what is smaller counts from the start of something."""

_LAST_NS = (LAST_KNOWN_YEAR + 1 - 1970) * 366 * DAY_NS
"""No log was written so late; larger numbers do not fit where times are kept."""

_LARGEST = 1 << 31


class Entry(msgspec.Struct, frozen=True):
    """One line: its head, and the lines of text below the first one."""

    head: Head
    below: tuple[str, ...]


def read_entry(text: str) -> Entry | None:
    """The entry that a whole line is; None for text, and for objects that are no log entry."""
    if not text.startswith(START):
        return None
    if len(text) >= MAX_CHARS or not text.rstrip().endswith("}"):
        return _of_part(text)
    try:
        fields: object = json.loads(text)
    except (ValueError, RecursionError):
        return _of_part(text)
    if not isinstance(fields, dict):
        return None
    record = fields.get("record")
    return _of_loguru(record) if isinstance(record, dict) else _of_fields(fields)


_PART_LEVEL, _PART_MESSAGE, _PART_TIME = (
    re.compile(f'"(?:{"|".join(map(re.escape, keys))})" ?: ?"' + value)
    for keys, value in (
        (_LEVELS, r'(\w{3,9})"'),
        (_MESSAGES, r'((?:[^"\\\n]|\\.){1,2000})'),
        (_TIMES, r'([^"\\\n]{10,40})"'),
    )
)
_SEARCHED = 16 * 1024


def _of_part(text: str) -> Entry | None:
    """What can be read of an entry that is torn, or too long to be read as a whole: an error in it must not be lost."""
    start = text[:_SEARCHED]
    word, message, stamp = (pattern.search(start) for pattern in (_PART_LEVEL, _PART_MESSAGE, _PART_TIME))
    level = _WORDS.get(word[1].upper()) if word is not None else None
    if level is None or message is None:
        return None
    below = text[message.end() :].replace("\\n", "\n").replace('\\"', '"')
    fields: dict[str, object] = {"time": stamp[1]} if stamp is not None else {}
    return _entry(fields, level, _time(fields), f"{message[1]}\n{below}")


def _of_fields(fields: Mapping[str, object]) -> Entry | None:
    time_ns, level = _time(fields), _level(fields)
    message = next((word for key in _MESSAGES if isinstance(word := fields.get(key), str)), None)
    if message is None or (level is None and time_ns is None):
        return None
    nested = fields.get("error")
    error = fields if not isinstance(nested, dict) else {f"error.{key}": value for key, value in nested.items()}
    reason = _string(error, _ERRORS)
    if reason and reason not in message:
        message = f"{message}: {reason}"
    trace = _string(fields, _TRACES) or _string(error, _TRACES)
    return _entry(fields, level, time_ns, message if not trace or trace in message else f"{message}\n{trace}")


def _of_loguru(record: Mapping[str, object]) -> Entry | None:
    """`{"text": …, "record": {…}}` of `logger.add(…, serialize=True)`; `text` is the record as printed."""
    message, level, moment, process = (record.get(key) for key in ("message", "level", "time", "process"))
    if not (isinstance(message, str) and isinstance(level, dict) and isinstance(moment, dict)):
        return None
    raised = record.get("exception")
    if isinstance(raised, dict) and isinstance(raised.get("type"), str):
        message = f"{message}\n{raised['type']}: {raised.get('value')}"
    flat = {**record, "pid": process.get("id") if isinstance(process, dict) else None}
    return _entry(flat, _level({"level": level.get("name")}), _time({"time": moment.get("repr")}), message)


def _entry(fields: Mapping[str, object], level: str | None, time_ns: int | None, text: str) -> Entry:
    """The text is cut into lines."""
    lines = (_writable(text) or "").splitlines() or [""]
    if len(lines) > MAX_FIRST + MAX_LAST:
        lines = lines[:MAX_FIRST] + lines[-MAX_LAST:]
    known = head_of(lines[0], level, time_ns, _writable(_string(fields, _LOGGERS)))
    head = msgspec.structs.replace(
        known,
        pid=known.pid if known.pid is not None else _number(fields, _PIDS),
        rank=_number(fields, _RANKS),
        local_rank=_number(fields, _LOCAL_RANKS),
        carrier=True,
    )
    return Entry(head, tuple(line for line in lines[1:] if line.strip()))


def _writable(text: str | None) -> str | None:
    """The text without what no encoding can write."""
    return None if text is None else text.encode("utf-8", "replace").decode().replace("\0", "")


def _string(fields: Mapping[str, object], keys: tuple[str, ...]) -> str | None:
    return next((word for key in keys if isinstance(word := fields.get(key), str) and word), None)


def _number(fields: Mapping[str, object], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < len(str(_LARGEST)):
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST:
            return value
    return None


def _level(fields: Mapping[str, object]) -> str | None:
    word = _string(fields, _LEVELS)
    return None if word is None else _WORDS.get(word.upper())


def _time(fields: Mapping[str, object]) -> int | None:
    for key in _TIMES:
        value = fields.get(key)
        if isinstance(value, str):
            found = _STAMP.match(value)
            if found is not None:
                return local_ns(found[1], found[2])
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            return _since_1970_ns(value)
    return None


def _since_1970_ns(value: float) -> int | None:
    scale = next((unit for limit, unit in _SCALES_NS if _LEAST_S <= value < limit), None)
    time_ns = None if scale is None else int(value) * scale + round(value % 1 * scale)
    return time_ns if time_ns is not None and time_ns < _LAST_NS else None


def lines_of(text: str) -> Iterator[str]:
    """The lines that an entry stands for, or the text as it is."""
    entry = read_entry(text)
    if entry is None:
        yield text
    else:
        yield entry.head.message
        yield from entry.below


def head(text: str) -> Head | None:
    """The head of an entry, whose message is the first line of its text."""
    entry = read_entry(text)
    return None if entry is None else entry.head


FORMAT = Format(
    name="py-logging",
    head=head,
    starts="{",
    samples=(
        Sample(
            line='{"ts": "2025-03-01T08:00:05.250+08:00", "level": "ERROR", "logger": "srv", "pid": 71, "msg": "lost"}',
            level="ERROR",
            time="2025-03-01T08:00:05.250000",
            pid=71,
            message="lost",
        ),
        Sample(
            line='{"asctime": "2025-03-01 08:00:05,250", "levelname": "WARNING", "name": "a.b", "message": "slow"}',
            level="WARNING",
            time="2025-03-01T08:00:05.250000",
            message="slow",
        ),
        Sample(
            line='{"event": "load failed", "level": "error", "timestamp": "2025-03-01T08:00:05Z", '
            '"exception": "Traceback (most recent call last):\\n  File \\"a.py\\", line 3, in f\\nKeyError: \'x\'"}',
            level="ERROR",
            message="load failed",
        ),
        Sample(
            line='{"level":"fatal","ts":1740787205.5,"caller":"app/main.go:31","msg":"cannot listen","error":"in use"}',
            level="CRITICAL",
            time="2025-03-01T00:00:05.500000",
            message="cannot listen: in use",
        ),
        Sample(
            line='{"text": "…", "record": {"level": {"name": "INFO", "no": 20}, "message": "ready", '
            '"process": {"id": 9, "name": "MainProcess"}, "time": {"repr": "2025-03-01 08:00:05.250000+08:00"}}}',
            level="INFO",
            pid=9,
            message="ready",
        ),
    ),
)
