"""Python tracebacks and bare exception lines.

`classify` sees one line: the last line of a traceback (`RuntimeError: …`) looks like a bare exception line. Whoever
assembles records lets it close an open traceback.
"""

from __future__ import annotations

import re
import string

from plogscope.formats.base import Format, Head, Sample

ORDER = 120

_START = re.compile(r"(?:(?:Original |Remote )?|\s{0,40}\+ Exception Group )Traceback \(most recent call last\):")
_INTRO = re.compile(r"Exception (?:in thread |ignored in:? )|Process [\w\-]{1,80}:\s*$")

_NAME = re.compile(
    r"((?:[A-Za-z_]\w{0,80}\.){0,12})([A-Za-z_]\w{0,120})(\(\w{1,80}\))?(?::(?: (.*))?)?\s*$", re.ASCII | re.DOTALL
)
_SUFFIX = re.compile(
    r"[A-Z_]\w*(?:Error|Exception|Exit|Interrupt|Died|Failed|Timeout|Expired|Iteration|Group)(?:_\w+)?$"
)
_WARNING = re.compile(r"[A-Z]\w*Warning$")
_ALONE = frozenset({"Exception", "BaseException"})
_IN_PACKAGE = frozenset(
    {
        "Error",
        "Timeout",
        "TimeoutExpired",
        "Empty",
        "Full",
        "BrokenProcessPool",
        "RemoteDisconnected",
        "error",
        "timeout",
        "gaierror",
        "herror",
    }
)
"""Names that mean an exception only behind a module: `queue.Empty`, `struct.error`."""

_NO_EXCEPTION = frozenset({"ProcessGroup", "DeviceGroup"})
_HOMES = (".exc.", ".error.", ".errors.", ".exceptions.", ".lib.")


def traceback_head(text: str) -> Head | None:
    """The line that opens a traceback, or one that announces it (then without a level)."""
    if _START.match(text) is not None:
        return Head(format="traceback", message=text.strip(), level="ERROR")
    if _INTRO.match(text) is not None:
        return Head(format="traceback", message=text.strip())
    return None


def exception_head(text: str) -> Head | None:
    """`pkg.XError: msg` or `XError` at column 0."""
    found = _NAME.match(text)
    if found is None:
        return None
    package, name, _, _ = found.groups()
    is_warning = _WARNING.match(name) is not None
    if not (is_warning or name in _ALONE or _is_exception(package, name)):
        return None
    return Head(
        format="exception",
        message=text.strip(),
        level="WARNING" if is_warning else "ERROR",
    )


def _is_exception(package: str, name: str) -> bool:
    if name in _NO_EXCEPTION:
        return False
    if _SUFFIX.match(name) is not None or (package and name in _IN_PACKAGE):
        return True
    return name[:1].isupper() and any(home in f".{package}" for home in _HOMES)


FORMATS = (
    Format(
        name="traceback",
        head=traceback_head,
        starts="TOREP \t",
        samples=(
            Sample(line="Traceback (most recent call last):", level="ERROR"),
            Sample(line="Original Traceback (most recent call last):", level="ERROR"),
            Sample(line="  + Exception Group Traceback (most recent call last):", level="ERROR"),
            Sample(line="Exception in thread Thread-7 (_run):"),
            Sample(line="Exception ignored in: <function Pool.__del__ at 0xffff8c0d11b0>"),
            Sample(line="Process SpawnProcess-4:"),
        ),
    ),
    Format(
        name="exception",
        head=exception_head,
        starts=string.ascii_letters + "_",
        samples=(
            Sample(
                line="RuntimeError: synchronize:torch_npu/csrc/core/npu/NPUStream.cpp:88 NPU function error: "
                "c10_npu::acl::Sync(), error code is 507011",
                level="ERROR",
            ),
            Sample(line="torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", level="ERROR"),
            Sample(line="torch._dynamo.exc.Unsupported: call_method on a list", level="ERROR"),
            Sample(line="pyarrow.lib.ArrowInvalid: JSON parse error: Invalid value. in row 4", level="ERROR"),
            Sample(line="KeyboardInterrupt", level="ERROR", message="KeyboardInterrupt"),
            Sample(line="Exception: no device", level="ERROR"),
            Sample(line="ray.exceptions.RayTaskError(ValueError): ray::run() (pid=88)", level="ERROR"),
            Sample(line="UserWarning: slow path", level="WARNING"),
        ),
    ),
)
