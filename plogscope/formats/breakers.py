"""What makes a line that begins with the head of a record, or with a blank, more than one record as it stands.

Written for automata that search bytes, one pattern each: a line in which none of them matches, `clean` leaves as it is
but for its end, and `split_glued` leaves whole. They may match more than they need; `tests/formats` holds them to it.
"""

from __future__ import annotations

BREAKERS: tuple[bytes, ...] = (
    rb"\x1b",
    rb"\x00",
    rb"\^[\[M]",
    rb"\r[^\n]",
    rb"[^\n]\[(?:DEBUG|INFO|WARN|ERROR|EVENT|TRACE|NULL|OPLOG)",
    rb"\[\d{1,3}\] ?(?:[A-Z]|\d{1,5}\(|\d{4}-)",
    rb"\[[IWEFV](?:\d{3,4} \d\d:| [\w\x80-\xff])",
    rb"\[(?:rank|default)\d",
    rb" pid=\d{1,10}[,)]",
    rb"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d ",
    rb"[^\n][VDIWECF]\d{4} \d\d:\d\d:\d\d\.\d",
    rb"[EW][A-Z0-9]\d{4}(?:: (?:Inner Error|Internal error|\[PID: |\d{4}-\d\d-\d\d-\d)|\[PID: )",
    rb"Fatal Python error: ",
    rb"terminate called (?:after|without|recurs)",
    rb"Traceback \(most recent call last\):",
    rb"(?:it/s|s/it|[kMG]B/s)[^\n]*\]",
)
