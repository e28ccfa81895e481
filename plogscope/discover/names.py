"""What the name of a file alone says about its writer: pid, device, rank, node, time, folder."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable

import msgspec

_PLOG = re.compile(r"(?:^|[_/])plog-(?P<pid>\d{1,10})_(?P<stamp>\d{14,20})(?:_act)?\.log(?:\.\d+)?$")
_PLOG_CLEANED = re.compile(r"(?:^|/)plog-parser-(?P<pid>\d{1,10})-\d+\.log$")
_DEVICE_FILE = re.compile(r"(?:^|[_/])device-(?P<number>\d{1,10})_(?P<stamp>\d{14,20})(?:_act)?\.log(?:\.\d+)?$")
_DEVICE_APP = re.compile(r"(?:^|/)(?:device|aos-core)-app-(?P<pid>\d{1,10})_(?P<stamp>\d{14,20})(?:_act)?\.log$")
_DEVICE_DIR = re.compile(r"(?:^|/)device-(\d{1,4})(?=/)")
_DEVICE_OS_DIR = re.compile(r"(?:^|/)dev-os-(\d{1,4})(?=/)")
_SLOGD = re.compile(r"(?:^|/)(?:(?:slog|hisi_logs|dev-os-\d+|device_log|device-os)(?=/)|(?:device-os|event)_\d{14})")
_FOLDER = re.compile(r"(?:^|[/_])(debug|run|security)(?=/(?:plog|device-|device_)|_(?:plog|device)-)")
_RANK = re.compile(r"(?:^|[/_.-])(?<!node.)rank[_-]?(\d{1,6})(?=[/_.-]|$)", re.IGNORECASE)
_FOLDER_RANK = re.compile(r"(?:^|[/_.-])(?<!node.)rank[_-]?(\d{1,6})(?:[_-]device[_-]?\d{1,4})?(?=/)", re.IGNORECASE)
"""In a folder's name the number stands last: in `ring-rank1-behind` it tells what the folder is about."""

_LOCAL_RANK = re.compile(r"(?:^|[/_.-])local[_-]?rank[_-]?(\d{1,4})(?=[/_.-]|$)", re.IGNORECASE)
_ELASTIC = re.compile(r"(?:^|/)attempt_\d+/(\d{1,4})/(?:stdout|stderr)\.log$")
_MSRUN = re.compile(r"(?:^|/)worker_(\d{1,6})\.log$")
_PROC_DEVICE = re.compile(r"-proc-rank-\d+-device-(\d{1,4})\.txt$")
_PID = re.compile(r"(?:^|[/_.-])(?<!\d{8}-\d{6}-)pid[_-]?(\d{1,10})(?=[/_.-]|$)")
_MINDIE = re.compile(r"(?:^|/)mindie-[\w-]+?_(?P<pid>\d{1,10})_(?P<stamp>\d{14,20})(?:\.\d+)?\.log")
_ANY_STAMP = re.compile(r"(?<!\d)(20\d{6})[-_T]?([0-2]\d[0-5]\d[0-5]\d)(\d{3})?(?!\d)")

_IPV4 = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}"
_HOST = (
    r"(?:[A-Za-z0-9][A-Za-z0-9.]*-)*(?:node|worker|host|server|master|pod|machine)-?\d{1,6}(?:-\d{1,6})?|node_\d{1,6}"
)
_NODE_DIR = re.compile(rf"(?:{_IPV4}|{_HOST})$", re.IGNORECASE)
_FLAT_PLOG = re.compile(r"(?P<node>[^/]+?)_(?:debug|run|security)_(?:plog|device)-\d+_\d+(?:_act)?\.log(?:\.\d+)?$")
_NODE_IN_STEM = re.compile(rf"(?:^|_)(?P<node>{_IPV4}|{_HOST})(?=_|\.(?:log|txt|out|err)|$)", re.IGNORECASE)
_STRUCTURE = re.compile(
    r"(?:debug|run|security|plog|logs?|ascend|ascend[_-]?p?logs?|cann|scripts|slog|message|hisi_logs|output|msrun_log"
    r"|process_log|device_log|dl_log|bus_log|mindie|atrace|extra-info|environment_check|crash|tmp|home|root|var"
    r"|(?:device|dev-os|rank|local_rank)[-_]?\d+|step\d.*|run_.*|torch-npugraph-ex-triage-logs|torch_compile_debug"
    r"|\d[\d_.:-]*(?:-pid\d+)?|kernel_meta.*|triage.*|model__\d+)$",
    re.IGNORECASE,
)


class NameFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts from one path; None where the name does not say. `stamp_ns`: local time read as if UTC."""

    pid: int | None = None
    device: int | None = None
    rank: int | None = None
    local_rank: int | None = None
    stamp_ns: int | None = None
    folder: str | None = None


def facts_of(path: str) -> NameFacts:
    """Reads the facts that stand in a path (relative, POSIX separators)."""
    rank, local_rank = _ranks(path)
    pid, device, stamp = _writer(path)
    folder = _FOLDER.findall(path)
    return NameFacts(
        pid=pid,
        device=device,
        rank=rank,
        local_rank=local_rank,
        stamp_ns=_stamp_ns(stamp) if stamp else _loose_stamp(path),
        folder=folder[-1] if folder else None,
    )


def is_plog(path: str) -> bool:
    """True for the name of a CANN host log."""
    return bool(_PLOG.search(path) or _PLOG_CLEANED.search(path))


def is_application_device_log(path: str) -> bool:
    """True for what the device wrote for one process: the number in the name is the host pid."""
    if _DEVICE_APP.search(path):
        return True
    found = _DEVICE_FILE.search(path)
    if found is None:
        return False
    return not _SLOGD.search(path) and not _names_its_device(path, int(found["number"]))


def is_system_device_log(path: str) -> bool:
    """True for what the device system (slogd, bbox) wrote: the number in the name is the device."""
    return bool(_SLOGD.search(path)) or (bool(_DEVICE_FILE.search(path)) and not is_application_device_log(path))


def _names_its_device(path: str, number: int) -> bool:
    """The device daemon writes device-3/device-3_<time>.log, a process device-3/device-<host pid>_<time>.log."""
    directories = _DEVICE_DIR.findall(path)
    return bool(directories) and int(directories[-1]) == number and number < 64  # noqa: PLR2004


def _writer(path: str) -> tuple[int | None, int | None, str | None]:
    directories = _DEVICE_DIR.findall(path) or _DEVICE_OS_DIR.findall(path)
    device = int(directories[-1]) if directories else None
    named = _PLOG.search(path) or _DEVICE_APP.search(path) or _MINDIE.search(path)
    if named:
        return int(named["pid"]), device, named["stamp"]
    cleaned = _PLOG_CLEANED.search(path)
    if cleaned:
        return int(cleaned["pid"]), device, None
    found = _DEVICE_FILE.search(path)
    if found:
        if is_application_device_log(path):
            return int(found["number"]), device, found["stamp"]
        return None, int(found["number"]) if device is None else device, found["stamp"]
    proc = _PROC_DEVICE.search(path)
    pids = _PID.findall(path)
    return (int(pids[-1]) if pids else None), int(proc[1]) if proc else device, None


def _ranks(path: str) -> tuple[int | None, int | None]:
    local = _LOCAL_RANK.search(path) or _ELASTIC.search(path)
    folders, _, file = path.rpartition("/")
    own = _RANK.search(file) or next(reversed([*_FOLDER_RANK.finditer(f"{folders}/")]), None)
    world = None if _LOCAL_RANK.search(path) else own or _MSRUN.search(path)
    return (int(world[1]) if world else None), (int(local[1]) if local else None)


def _stamp_ns(digits: str) -> int | None:
    """Nanoseconds since 1970, read as if UTC; None if the digits are no time or from before the clock was set."""
    try:
        parts = [int(digits[0:4]), *(int(digits[i : i + 2]) for i in range(4, 14, 2))]
        if not _plausible(parts):
            return None
        seconds = calendar.timegm((parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], 0, 0, 0))
    except (ValueError, OverflowError):
        return None
    fraction = digits[14:20]
    return seconds * 10**9 + (int(fraction) * 10 ** (9 - len(fraction)) if fraction else 0)


def _plausible(parts: list[int]) -> bool:
    limits = ((2015, 2099), (1, 12), (1, 31), (0, 23), (0, 59), (0, 60))
    return all(low <= part <= high for part, (low, high) in zip(parts, limits, strict=True))


def _loose_stamp(path: str) -> int | None:
    found = _ANY_STAMP.search(path.rpartition("/")[2])
    return _stamp_ns("".join(part or "" for part in found.groups())) if found else None


def run_stamp_ns(name: str) -> int | None:
    """Time in the name of a run directory (`20260401-120000-pid77`, `20260401120000`), as if UTC."""
    return _loose_stamp(name)


def nodes_of(paths: Iterable[str], log_paths: Iterable[str]) -> dict[str, str]:
    """Which machine each file comes from, as far as names tell.

    A directory or file name that looks like a machine (`node-3`, `worker-0`, an address) is one. Sibling directories
    with other names are machines when at least two of them hold CANN logs: then the names are host names. Other files
    belong to such a machine when a directory or a word of their name is its name.

    Args:
        paths: All shown paths.
        log_paths: The ones that are CANN logs (plog or device log).

    Returns:
        Node name by path; paths without a node are absent.
    """
    logs = list(log_paths)
    siblings = _host_siblings(logs)
    listed = list(paths)
    proven = {node for path in logs if (node := _node_from_directories(path, siblings) or _node_of_flat_plog(path))}
    mentioned = _mention_of(proven)
    nodes: dict[str, str] = {}
    flat: set[str] = set()
    for path in listed:
        node = _node_from_directories(path, siblings)
        if node is None or (proven and node not in proven):
            node = _mentioned_node(path, proven, mentioned) or node
        if node is None:
            node = _node_from_file(path)
            if node:
                flat.add(node)
        if node:
            nodes[path] = node
    for path in listed if flat else ():
        name = path.rpartition("/")[2]
        known = next((node for node in flat if name.startswith((node + "_", node + "."))), None)
        if path not in nodes and known:
            nodes[path] = known
    return nodes


def _mention_of(names: set[str]) -> re.Pattern[str] | None:
    """Finds one of the names as a whole word of a file name, the longest first."""
    if not names:
        return None
    words = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9]|-\d)")


def _mentioned_node(path: str, names: set[str], mentioned: re.Pattern[str] | None) -> str | None:
    """The machine of CANN logs elsewhere in the bundle that a directory or the file is named after."""
    *parts, name = path.split("/")
    known = next((part for part in parts if part in names), None)
    if known is not None or mentioned is None:
        return known
    found = mentioned.search(name)
    return found.group() if found else None


def _host_siblings(log_paths: list[str]) -> set[str]:
    """Directories (with their parents) that are machines by position: several side by side, each with CANN logs."""
    children: dict[str, set[str]] = {}
    for path in log_paths:
        parts = path.split("/")[:-1]
        for depth, part in enumerate(parts):
            if _STRUCTURE.match(part):
                break
            children.setdefault("/".join(parts[:depth]), set()).add(part)
    return {
        f"{parent}/{child}" if parent else child
        for parent, names in children.items()
        if len(names) > 1
        for child in names
    }


def _node_from_directories(path: str, siblings: set[str]) -> str | None:
    parts = path.split("/")[:-1]
    for depth, part in enumerate(parts):
        if _NODE_DIR.match(part) or "/".join(parts[: depth + 1]) in siblings:
            return part
    return None


def _node_from_file(path: str) -> str | None:
    flat = _node_of_flat_plog(path)
    if flat:
        return flat
    found = _NODE_IN_STEM.search(path.rpartition("/")[2])
    return found["node"] if found else None


def _node_of_flat_plog(path: str) -> str | None:
    flat = _FLAT_PLOG.match(path.rpartition("/")[2])
    return flat["node"] if flat and not _STRUCTURE.match(flat["node"]) else None
