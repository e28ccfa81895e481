"""Python's logging, and libraries and tools that write like it: a time, a level and a name in some order.

Styles without a regular expression of their own are read field by field: after the time, a level counts if only
separators stand between it and what comes before. A line with a full time and no level is a head without a level.
`carrier` is set where the message is itself the head of another format.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns

ORDER = 200

_LEVELS = {"WARN": "WARNING", "FATAL": "CRITICAL", "E": "ERROR", "W": "WARNING", "I": "INFO", "D": "DEBUG"}
LEVEL = r"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)"
_SECOND = r"\d{4}(?:-\d\d-|/\d\d/)\d\d[ T_\-]\d\d:\d\d:\d\d"
_ZONE = r"(?: ?(?:Z|[+-]\d\d:?\d\d)(?![\d:]))?"
_FIELDS_WITHIN = 160

_TIME_FIRST = re.compile(rf"({_SECOND})(?:[.,:](\d{{1,9}}))?{_ZONE}(?=[\s\[|,:\-]|$)", re.ASCII)
_BRACKET_TIME = re.compile(rf"\s?\[({_SECOND})(?:[.,:](\d{{1,9}}))?{_ZONE}([^\]\r\n]{{0,60}})\]", re.ASCII)
_US_TIME = re.compile(r"(\d\d)/(\d\d)/(\d{4}) (\d\d:\d\d:\d\d)", re.ASCII)
_LEVEL_FIRST = re.compile(rf"\[?({LEVEL})\]?[:\s]{{1,8}}\[?({_SECOND})(?:[.,](\d{{1,9}}))?\]?[:\s\-]{{0,8}}", re.ASCII)
_HF = re.compile(
    rf"\[({LEVEL})\|(?:([\w.\-]{{1,200}}):(\d{{1,7}})\] ({_SECOND})(?:,(\d{{1,9}}))?"
    rf"|({_SECOND})\] ([\w.]{{1,200}}):(\d{{1,7}})) >> ?",
    re.ASCII,
)
_BASIC = re.compile(rf"({LEVEL}):(?:\s{{1,8}}|([\w.\-]{{1,200}}):)", re.ASCII)
_BRACKET_LEVEL = re.compile(
    rf"\[({LEVEL})\](?:\s{{1,8}}|(?=\[))(?![A-Z]\w{{0,31}}\(-?\d)",  # that is a plog head without its end
    re.ASCII,
)
_LOGRUS = re.compile(r'time="([^"]{10,40})" level=(\w{4,8}) msg="', re.ASCII)
_VM = re.compile(
    r"\[(debug|info|warn|warning|error)\]\[PID:(\d{1,10})\]\[TID:(\d{1,20})\]((?:\[[^\]]{0,200}\]){0,3}) ?", re.ASCII
)
_WARNINGS = re.compile(r"([^\s:]{1,400}|<[\w ]{1,40}>):(\d{1,7}): ((?:\w{1,60}\.){0,6}\w{0,60}Warning): ", re.ASCII)
_MODELARTS = "[ModelArts Service Log]"

_FIELD_LEVEL = re.compile(rf"({LEVEL})(?![\w.])", re.ASCII)
_CHINESE_LEVELS = {
    "致命": "CRITICAL", "致命错误": "CRITICAL", "严重": "CRITICAL", "严重错误": "CRITICAL", "错误": "ERROR",
    "警告": "WARNING", "信息": "INFO", "调试": "DEBUG",
}  # fmt: skip
_CHINESE_LEVEL = re.compile(
    r"[\s|\-]{0,8}(?:\[(?P<in>\w{2,4})\]|(?P<before>\w{2,4}) ?[:：])(?!\s{0,8}(?:\d{1,9}|无)\s{0,8}$)\s{0,8}"  # a count
)
_RAY_LEVEL = re.compile(r" ([DIWEF]) \d", re.ASCII)
_SEPARATORS = " \t[]|:-()"
_OPENERS = "[|:-(\t"
_PLACE = re.compile(
    r"\[?([\w./\-<>]{1,200}\.(?:py|cpp|cc|c|go)):(\d{1,7})(?::\w{1,100})?\]?\s{0,4}(?:-{1,2}|:|\|)?\s{0,4}", re.ASCII
)
_LOGURU_PLACE = re.compile(r"([\w.<>]{1,200}):[\w.<>]{1,100}:(\d{1,7}) [|\-] ?", re.ASCII)
_MSPROF_IDS = re.compile(r"\[(\d{1,10})\] \[(\d{1,20})\] ?", re.ASCII)
_INNER_HEAD = re.compile(
    r"(?:Traceback \(most recent"
    r"|\[(?:DEBUG|INFO|WARNING|ERROR|EVENT)\] ?(?:[A-Z]\w{0,31}\(|\d{4}-\d)|\[(?:rank|default)\d"
    r"|[EW][0-9A-Z]\d{4}(?:: |\[PID)|\[PID: \d|\([A-Za-z_]\w{0,60} pid=\d)",
    re.ASCII,
)


def level_of(word: str | None) -> str | None:
    """The level that a word or letter stands for."""
    return _LEVELS.get(word, word) if word else None


def head_of(message: str, level: str | None, time_ns: int | None, module: str | None = None) -> Head:
    """A head; a place at the start of the message is read and taken off."""
    message = message.strip()
    place = _PLACE.match(message) or _LOGURU_PLACE.match(message)
    pid = tid = None
    if place is not None:
        message = message[place.end() :]
    ids = _MSPROF_IDS.match(message)
    if ids is not None:
        pid, tid, message = int(ids[1]), int(ids[2]), message[ids.end() :]
        place = _PLACE.match(message)
        message = message if place is None else message[place.end() :]
    return Head(
        format="py-logging",
        message=message,
        level=level,
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=module or None,
        pid=pid,
        tid=tid,
        src_file=None if place is None else place[1],
        src_line=None if place is None else int(place[2]),
        carrier=_INNER_HEAD.match(message) is not None,
    )


def by_fields(text: str, start: int, time_ns: int | None) -> Head:
    """Level and name between the time and the message."""
    found = _FIELD_LEVEL.search(text, start, start + _FIELDS_WITHIN)
    if found is None:
        chinese = None if text.isascii() else _CHINESE_LEVEL.match(text, start)
        level = _CHINESE_LEVELS.get(chinese["in"] or chinese["before"]) if chinese is not None else None
        if chinese is not None and level is not None:
            return head_of(text[chinese.end() :], level, time_ns)
        return head_of(text[start:].lstrip(" \t-|:"), None, time_ns)
    before = text[start : found.start()]
    fields = before.strip(_SEPARATORS)
    opened = before.rstrip(" ")[-1:]
    if fields and opened not in _OPENERS and not fields.isdecimal():
        return head_of(text[start:].lstrip(" \t-|:"), None, time_ns)
    module = fields if fields and " " not in fields else None
    return head_of(text[found.end() :].lstrip(" \t-|:]"), level_of(found[1]), time_ns, module)


def _read_time_first(text: str) -> Head | None:
    found = _TIME_FIRST.match(text)
    if found is not None:
        return by_fields(text, found.end(), local_ns(found[1], found[2]))
    found = _US_TIME.match(text)
    if found is None:
        return None
    month, day, year, clock = found.groups()
    return by_fields(text, found.end(), local_ns(f"{year}-{month}-{day} {clock}"))


def _read_bracket_time(text: str) -> Head | None:
    found = _BRACKET_TIME.match(text)
    if found is None:
        return None
    second, fraction, inner = found.groups()
    time_ns = local_ns(second, fraction)
    letter = _RAY_LEVEL.match(inner)
    if letter is not None:
        return head_of(text[found.end() :], level_of(letter[1]), time_ns)
    return by_fields(text, found.end(), time_ns)


def _read_hf(text: str) -> Head | None:
    found = _HF.match(text)
    if found is None:
        return None
    level, src_file, src_line, second, fraction, second_first, logger, logger_line = found.groups()
    time_ns = local_ns(second or second_first, fraction)
    return Head(
        format="py-logging",
        message=text[found.end() :].strip(),
        level=level_of(level),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=logger,
        src_file=src_file,
        src_line=int(src_line or logger_line),
    )


def _read_level_first(text: str) -> Head | None:
    found = _LEVEL_FIRST.match(text)
    if found is not None:
        return head_of(text[found.end() :], level_of(found[1]), local_ns(found[2], found[3]))
    found = _BASIC.match(text)
    if found is not None:
        return head_of(text[found.end() :], level_of(found[1]), None, found[2])
    found = _BRACKET_LEVEL.match(text)
    return None if found is None else head_of(text[found.end() :], level_of(found[1]), None)


def _read_vm(text: str) -> Head | None:
    found = _VM.match(text)
    if found is None:
        return None
    level, pid, tid, _ = found.groups()
    return Head(
        format="py-logging",
        message=text[found.end() :].strip(),
        level=level_of(level.upper()),
        pid=int(pid),
        tid=int(tid),
    )


def bracket_head(text: str) -> Head | None:
    """Styles that begin with a bracket: a time, a level, a library."""
    if text.startswith(_MODELARTS):
        message = text[len(_MODELARTS) :]
        return head_of(message, "ERROR" if message.startswith(("[ERROR]", "[error]")) else None, None)
    return _read_bracket_time(text) or _read_hf(text) or _read_vm(text) or _read_level_first(text)


def word_head(text: str) -> Head | None:
    """Styles that begin with a level or with `time=`."""
    if text.startswith("time="):
        found = _LOGRUS.match(text)
        if found is None:
            return None
        second = found[1][:19]
        message = text[found.end() :]
        return head_of(message.partition('"')[0], level_of(found[2].upper()), local_ns(second))
    return _read_level_first(text)


def warnings_head(text: str) -> Head | None:
    """The line of Python's `warnings`: `file.py:12: UserWarning: msg`; the source line below it is indented."""
    if "Warning: " not in text[:600]:
        return None
    found = _WARNINGS.match(text)
    if found is None:
        return None
    return Head(
        format="py-logging",
        message=f"{found[3]}: {text[found.end() :].strip()}",
        level="WARNING",
        src_file=found[1],
        src_line=int(found[2]),
    )


FORMATS = (
    Format(
        name="py-logging",
        head=_read_time_first,
        starts="0123456789",
        samples=(
            Sample(
                line="2024-10-22 11:42:00,218 - lmdeploy - ERROR - model_agent.py:489 - Rank[2] failed.",
                level="ERROR",
                time="2024-10-22T11:42:00.218000",
                message="Rank[2] failed.",
            ),
            Sample(line="2024-10-22 11:47:11,976 - INFO - [AMCT]: Layer is skipped", level="INFO"),
            Sample(line="2025-06-01 07:08:09,010 WARNING slow data", level="WARNING", message="slow data"),
            Sample(
                line="2025-11-20 10:14:59.028 | ERROR    | __main__:parse:95 | Dispatch error",
                level="ERROR",
                time="2025-11-20T10:14:59.028000",
                message="Dispatch error",
            ),
            Sample(line="2025-06-01 07:08:09,924\tINFO worker.py:1841 -- Connecting to cluster", level="INFO"),
            Sample(
                line="2025-06-01 07:08:09 [INFO] [4012] [4013] [msprof.cpp:33] started",
                level="INFO",
                pid=4012,
                tid=4013,
                message="started",
            ),
            Sample(line="2025/06/01 07:08:09 shard.go:14: shuffled", time="2025-06-01T07:08:09", message="shuffled"),
            Sample(line="05/11/2024 03:41:08 - INFO - llmtuner.model.loader - trainable params: 33", level="INFO"),
            Sample(
                line="2026-03-28 07:29:16  [TileLang:tilelang.jit:INFO]: compiling", level="INFO", message="compiling"
            ),
            Sample(line="2025-06-01T07:08:09.5+08:00 started", time="2025-06-01T07:08:09.500000", message="started"),
        ),
    ),
    Format(
        name="py-logging",
        head=bracket_head,
        starts="[ \t",
        samples=(
            Sample(
                line="[2026-03-04 04:53:36 TP0] Scheduler hit an exception: ",
                time="2026-03-04T04:53:36",
                message="Scheduler hit an exception:",
            ),
            Sample(
                line="[2025-01-02 03:04:05,678] [WARNING] [comm.py:637:init_distributed] slow",
                level="WARNING",
                message="slow",
            ),
            Sample(line="[2025-01-02 03:04:05,678][root][ERROR] - bad config", level="ERROR", message="bad config"),
            Sample(line="[2025-01-02 03:04:05,678 E 1234 1299] (raylet) node.cc:12: died", level="ERROR"),
            Sample(line="[2025/01/02 03:04:05] [ERROR] no image", level="ERROR", message="no image"),
            Sample(line="[2025-01-02 03:04:05] 错误: 无法打开设备", level="ERROR", message="无法打开设备"),
            Sample(line="[2025-01-02 03:04:05] [警告] 未设置变量", level="WARNING", message="未设置变量"),
            Sample(line=" [2025-01-02 03:04:05] iteration 12/ 100 | lm loss: 2.1", time="2025-01-02T03:04:05"),
            Sample(
                line="[INFO|trainer.py:1812] 2024-05-11 03:41:09,500 >> ***** Running training *****",
                level="INFO",
                time="2024-05-11T03:41:09.500000",
                message="***** Running training *****",
            ),
            Sample(line="[INFO|2025-07-21 17:05:16] llamafactory.train.callbacks:143 >> done", message="done"),
            Sample(line="[error][PID:31][TID:32][a.cc][Run] [HCCL-VM-1] no peer", level="ERROR", pid=31, tid=32),
            Sample(line="[ERROR] TBE Subprocess[task_distribute] raise error[], main process", level="ERROR"),
            Sample(line="[ModelArts Service Log][init] download code", message="[init] download code"),
        ),
    ),
    Format(
        name="py-logging",
        head=word_head,
        starts="DIWECFt",
        samples=(
            Sample(line="ERROR:root:no data", level="ERROR", message="no data"),
            Sample(line="INFO:2025-09-09 10:10:10,100:step 5", level="INFO", time="2025-09-09T10:10:10.100000"),
            Sample(line='INFO:     10.0.0.8:51 - "POST /v1 HTTP/1.1" 200 OK', level="INFO"),
            Sample(
                line='time="2021-07-27T19:24:11+08:00" level=warning msg="upload is slow" file="upload.go:46"',
                level="WARNING",
                time="2021-07-27T19:24:11",
                message="upload is slow",
            ),
        ),
    ),
    Format(
        name="py-logging",
        head=warnings_head,
        samples=(
            Sample(
                line="/usr/lib/python3/torch_npu/a.py:292: ImportWarning: The torch.cuda APIs are replaced",
                level="WARNING",
                message="ImportWarning: The torch.cuda APIs are replaced",
            ),
        ),
    ),
)
