"""The same failure, logged elsewhere: other pids, dates, devices, zones, launchers, collectors, layouts.

A variant keeps what happened and changes how it was written down, so the verdict must not change. Each line knows
the line of the original that it came from.

`python tests/variants.py FOLDER [--only TEXT] [--variant NAME]` analyses every variant of every bundle below FOLDER
(`<id>/bundle` or `<id>/run`) and prints the verdicts that change, then the share that stays.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from plogscope.model.report import Report  # noqa: E402 - after the path is set
from plogscope.pipeline import Options, analyze  # noqa: E402

Place = tuple[str, int]
"""(file, 1-based line) in the original."""

Line = tuple[str, Place]
"""Text without its line end, and where it came from."""

Logs = Mapping[str, list[Line]]
"""Lines by file name."""

LOG_SUFFIXES = (".log", ".txt", ".out", ".err")
CUT_BYTES = 1023
"""CANN's logger cuts a record here."""


@dataclass(frozen=True)
class Original:
    """A bundle as it was collected. `other` files are copied as they are."""

    logs: Logs
    other: Mapping[str, bytes]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """A variant on disk: where its lines came from, by file and line."""

    folder: Path
    origin: Mapping[Place, Place]


def read_original(folder: Path) -> Original:
    """Reads a bundle; a log that does not end in a line end keeps its last line."""
    logs: dict[str, list[Line]] = {}
    other: dict[str, bytes] = {}
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        name = path.relative_to(folder).as_posix()
        raw = path.read_bytes()
        if path.suffix in LOG_SUFFIXES and b"\0" not in raw:
            texts = raw.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
            logs[name] = [(text, (name, number)) for number, text in enumerate(texts, 1)]
        else:
            other[name] = raw
    empty = [one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_dir() and not any(one.iterdir())]
    listed = folder.parent / "dirs.txt"
    named = listed.read_text("utf-8").split("\n") if listed.is_file() else []
    return Original(logs, other, tuple(sorted({*empty, *filter(None, named)})))


def write_variant(original: Original, logs: Logs, folder: Path, line_end: str = "\n") -> Written:
    """Writes the lines of a variant and the other files of the bundle below `folder`."""
    origin: dict[Place, Place] = {}
    for name in original.folders:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, raw in original.other.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    for name, lines in logs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = "".join(text + line_end for text, _ in lines)
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        origin.update({(name, number): place for number, (_, place) in enumerate(lines, 1)})
    return Written(folder, origin)


# ----------------------------------------------------------------------------- what can be changed

PLOG_HEAD = re.compile(r"\[(?:DEBUG|INFO|WARNING|ERROR|EVENT)\] ?[A-Z_]+\((\d+),([^)]*)\): ?\d{4}-")
PID_SPOTS = re.compile(
    r"(?:(?<=plog-)|(?<=device-)(?=\d+_\d{17})|(?<=pid=)|(?<=pid: )|(?<=PID: )|(?<=PID:)|(?<=[A-Z]\((?=\d+,)))\d+"
)
OWN_PID = re.compile(r"(?<=/plog-)\d+(?=_)|(?<=PID: )\d+|(?<=PID:)\d+")
WRITER = re.compile(r"^\s*(?:\([\w.]+(?: [\w\-]+)? pid=\d+|\[(?:rank|default)\d+\]:)")


def _each(logs: Logs, change: Callable[[str], str], rename: Callable[[str], str] = str) -> Logs:
    return {rename(name): [(change(text), place) for text, place in lines] for name, lines in logs.items()}


def other_pids(logs: Logs) -> Logs:
    """Every pid becomes another one, in lines and in file names."""
    found = sorted({pid for text in _texts(logs) for pid in PID_SPOTS.findall(text)})
    taken = Random(7).sample(range(200_000, 900_000), len(found))
    new = {pid: str(number) for pid, number in zip(found, taken, strict=True)}

    def change(text: str) -> str:
        return PID_SPOTS.sub(lambda hit: new.get(hit[0], hit[0]), text)

    return _each(logs, change, change)


def _texts(logs: Logs) -> Iterator[str]:
    for name, lines in logs.items():
        yield name
        yield from (text for text, _ in lines)


STAMPS = re.compile(
    r"(?P<full>(?<!\d)(?:19|20)\d\d[-/]\d\d[-/]\d\d[-T ]\d\d:\d\d:\d\d)"
    r"|(?P<name>(?<=_)(?:20)\d{12}(?=\d{3}(?!\d)))"
    r"|(?P<ctime>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})"
    r"|(?P<syslog>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d)"
    r"|(?P<glog>(?<![A-Za-z][VDIWECF])(?<=[VDIWECF])\d{3,4} \d\d:\d\d:\d\d)"
    r"|(?P<short>(?<![\d\-])\d\d-\d\d \d\d:\d\d:\d\d)"
    r"|(?P<bare>(?<![\d:.])\d\d:\d\d:\d\d(?![:\d]))"
)
NO_YEAR = 2025
"""Any year without a leap day."""


def _moved(hit: re.Match[str], by: timedelta) -> str:
    kind, text = hit.lastgroup or "", hit[0]
    try:
        return MOVES[kind](text, by)
    except ValueError:
        return text


def _read(text: str, form: str) -> datetime:
    dated = (text, form) if "%Y" in form else (f"{NO_YEAR} {text}", f"%Y {form}")
    return datetime.strptime(*dated).replace(tzinfo=timezone.utc)


def _move_as(form: str) -> Callable[[str, timedelta], str]:
    def move(text: str, by: timedelta) -> str:
        return f"{_read(text, form) + by:{form}}"

    return move


def _move_full(text: str, by: timedelta) -> str:
    form = f"%Y{text[4]}%m{text[7]}%d{text[10]}%H:%M:%S"
    return _move_as(form)(text, by)


def _move_glog(text: str, by: timedelta) -> str:
    digits, _, clock = text.partition(" ")
    moment = _read(f"{digits:0>4} {clock}", "%m%d %H:%M:%S") + by
    month = f"{moment.month:02}" if len(digits) > 3 else str(moment.month)
    return f"{month}{moment:%d %H:%M:%S}"


MOVES: dict[str, Callable[[str, timedelta], str]] = {
    "full": _move_full,
    "name": _move_as("%Y%m%d%H%M%S"),
    "ctime": _move_as("%a %b %d %H:%M:%S %Y"),
    "syslog": _move_as("%b %d %H:%M:%S"),
    "glog": _move_glog,
    "short": _move_as("%m-%d %H:%M:%S"),
    "bare": _move_as("%H:%M:%S"),
}


def _later(logs: Logs, by: timedelta) -> Logs:
    def change(text: str) -> str:
        return STAMPS.sub(lambda hit: _moved(hit, by), text)

    return _each(logs, change, change)


def other_dates(logs: Logs) -> Logs:
    """The job ran 17 days later."""
    return _later(logs, timedelta(days=17))


def other_zone(logs: Logs) -> Logs:
    """The nodes keep another local time."""
    return _later(logs, timedelta(hours=-7))


DEVICE_NAMES = ["device_id=", "device_id:", "deviceId=", "deviceId:", "deviceId[", "deviceLogicId[", "deviceLogicID["]
DEVICE_NAMES += ["Device:", "devId=", "devId:", "devid=", "dev_id=", " device="]
DEVICE_SPOTS = re.compile("(?:" + "|".join(f"(?<={re.escape(name)})" for name in DEVICE_NAMES) + r")\d{1,2}\b")


def other_devices(logs: Logs) -> Logs:
    """The job got other cards of the node."""

    def change(text: str) -> str:
        return DEVICE_SPOTS.sub(lambda hit: str((int(hit[0]) + 3) % 8 if int(hit[0]) < 8 else int(hit[0])), text)

    return _each(logs, change)


def is_output(name: str, lines: list[Line]) -> bool:
    """True for the standard output of a program: no file of CANN's logger, and no artefact of a five-step run."""
    base = name.rsplit("/", 1)[-1]
    return base.startswith(("stdout", "stderr", "train", "worker")) and len(lines) > 0


def _output(logs: Logs, change: Callable[[int, str], str]) -> Logs:
    """Changes the lines (by their number) of every standard output."""
    return {
        name: [(change(number, text), place) for number, (text, place) in enumerate(lines)]
        if is_output(name, lines)
        else lines
        for name, lines in logs.items()
    }


def writes_alone(logs: Logs) -> bool:
    """True when no line of the output says who of several wrote it, so that all can come from one writer."""
    return not any(
        WRITER.match(text) for name, lines in logs.items() if is_output(name, lines) for text, _ in lines
    ) and all("torch.distributed.elastic" not in text for text in _texts(logs))


def _prefixed(prefix: str) -> Callable[[Logs], Logs | None]:
    """The launcher names the writer in front of every line; its pid is the one that the line's own file knows."""

    def variant(logs: Logs) -> Logs | None:
        if not writes_alone(logs):
            return None
        changed = dict(logs)
        for name, lines in logs.items():
            pids = _pids_beside(name, logs)
            if is_output(name, lines) and len(pids) <= 1:
                written = prefix.format(pid=min(pids, default="27182"))
                changed[name] = [(written + text, place) for text, place in lines]
        return changed

    return variant


def _pids_beside(name: str, logs: Logs) -> set[str]:
    """Pids that a file names, or that the plogs below its folder name."""
    folder = name.rpartition("/")[0]
    near = [one for one in logs if "/plog-" in f"/{one}" and one.startswith(folder)]
    return {
        pid
        for one in [name, *near]
        for text in [one, *(text for text, _ in logs[one])]
        for pid in OWN_PID.findall(text)
    }


def coloured(logs: Logs) -> Logs:
    """Every line of the output in a colour, as a terminal logger writes it."""
    return _output(logs, lambda _, text: f"\x1b[1;31m{text}\x1b[0m")


def cut(logs: Logs) -> Logs:
    """The logger cuts long lines."""

    def change(text: str) -> str:
        raw = text.encode("utf-8", "surrogateescape")
        return text if len(raw) <= CUT_BYTES else raw[:CUT_BYTES].decode("utf-8", "ignore")

    return _each(logs, change)


RECEIVED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone.utc)


def _receipt(number: int) -> str:
    return f"{RECEIVED + timedelta(milliseconds=3 * number):%Y-%m-%dT%H:%M:%S.%f}000Z"


def json_file(logs: Logs) -> Logs:
    """As docker's json-file driver keeps the output."""

    def change(number: int, text: str) -> str:
        return f'{{"log":"{_escaped(text)}\\n","stream":"stderr","time":"{_receipt(number)}"}}'

    return _output(logs, change)


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\r", "\\r")
    return re.sub(r"[\x00-\x1f]", lambda hit: f"\\u{ord(hit[0]):04x}", text)


def cri(logs: Logs) -> Logs:
    """As containerd keeps the output of a pod: time of receipt, stream, F for a full line."""
    return _output(logs, lambda number, text: f"{_receipt(number)} stderr F {text}")


def split(logs: Logs) -> Logs | None:
    """Records of CANN's logger that a program wrote to its output stand in files of their own."""
    outputs = [name for name, lines in logs.items() if is_output(name, lines)]
    if len(outputs) != 1 or len(logs) != 1:
        return None
    rest: list[Line] = []
    plogs: dict[str, list[Line]] = {}
    for text, place in logs[outputs[0]]:
        head = PLOG_HEAD.match(text)
        if head is None:
            rest.append((text, place))
        else:
            plogs.setdefault(f"ascend_plog/debug/plog/plog-{head[1]}_20250102030405678.log", []).append((text, place))
    return {outputs[0]: rest or [("", ("", 0))], **plogs} if plogs else None


def merged(logs: Logs) -> Logs | None:
    """ASCEND_SLOG_PRINT_TO_STDOUT=1 of one process: its records and its output in one file, the output last."""
    outputs = [name for name, lines in logs.items() if is_output(name, lines)]
    plogs = [name for name in logs if "/plog-" in name]
    pids = {name.rsplit("/plog-", 1)[1].split("_")[0] for name in plogs}
    if len(pids) != 1 or len(outputs) + len(plogs) != len(logs):
        return None
    whole = [line for name in plogs for line in logs[name]]
    return {"stdout_stderr.log": [*whole, *(line for name in outputs for line in logs[name])]}


def two_zones(logs: Logs) -> Logs | None:
    """The container prints UTC, CANN's logger the local time of the node."""
    if not any("/plog-" in f"/{name}" for name in logs) or not any(is_output(*one) for one in logs.items()):
        return None
    earlier = timedelta(hours=-8)
    return {
        name: lines
        if "ascend" in name
        else [(STAMPS.sub(lambda hit: _moved(hit, earlier), text), place) for text, place in lines]
        for name, lines in logs.items()
    }


def renamed(logs: Logs) -> Logs | None:
    """The output is kept under names of the user's own; the steps of a five-step run have names that are agreed on."""
    if any(name.endswith("first_failure.txt") or "step1-eager/" in name for name in logs):
        return None
    return {name.replace("stdout_stderr", "job-20250102"): lines for name, lines in logs.items()}


def all_at_once(logs: Logs) -> Logs:
    """Another run of the job, in a pod, on other cards."""
    for change in (other_pids, other_dates, other_devices, coloured, json_file):
        logs = change(logs)
    return logs


Variant = Callable[[Logs], "Logs | None"]

VARIANTS: dict[str, Variant] = {
    "pids": other_pids,
    "dates": other_dates,
    "zone": other_zone,
    "devices": other_devices,
    "engine-core": _prefixed("(EngineCore_0 pid={pid}) "),
    "ray-worker": _prefixed("(RayWorkerWrapper pid={pid}, ip=10.7.8.9) "),
    "rank": _prefixed("[rank3]: "),
    "default": _prefixed("[default0]:"),
    "split": split,
    "merged": merged,
    "colours": coloured,
    "cut": cut,
    "crlf": lambda logs: logs,
    "json-file": json_file,
    "cri": cri,
    "two-zones": two_zones,
    "renamed": renamed,
    "all-at-once": all_at_once,
}


# ----------------------------------------------------------------------------- what must stay


@dataclass(frozen=True)
class Said:
    """What of a verdict must stay: the root's line of the original, category, status."""

    root: Place | None
    category: str
    status: str


def said(report: Report, origin: Mapping[Place, Place]) -> Said:
    """The verdict in terms of the original."""
    root = report.verdict.root_cause
    place = None if root is None else origin.get((root.file, root.line))
    return Said(place, report.verdict.category, report.verdict.status)


def verdict_of(original: Original, name: str | None) -> Said | None:
    """What is said of a variant (None: of the bundle itself); None when the variant means nothing for these logs."""
    logs = original.logs if name is None else VARIANTS[name](original.logs)
    if logs is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        written = write_variant(original, logs, Path(folder) / "bundle", "\r\n" if name == "crlf" else "\n")
        return said(analyze([written.folder], Options(jobs=1)), written.origin)


def bundles(folder: Path) -> dict[str, Path]:
    """Bundle by name."""
    found = {path.parent.name: path for kind in ("bundle", "run") for path in folder.glob(f"*/{kind}")}
    return dict(sorted(found.items()))


def main() -> int:
    """Measures all variants over a folder and prints what flips."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="bundles whose name contains this")
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="repeatable; default: all")
    chosen = parser.parse_args()
    tried: Counter[str] = Counter()
    flipped: Counter[str] = Counter()
    for name, path in bundles(chosen.folder).items():
        if chosen.only not in name:
            continue
        original = read_original(path)
        before = verdict_of(original, None)
        for variant in chosen.variant or VARIANTS:
            after = verdict_of(original, variant)
            if after is None:
                continue
            tried[variant] += 1
            if after != before:
                flipped[variant] += 1
                sys.stdout.write(f"{name} {variant}\n    {before}\n    {after}\n")
                sys.stdout.flush()
    for variant, count in tried.items():
        sys.stdout.write(f"{variant:<12} {count - flipped[variant]:4}/{count}\n")
    total, lost = sum(tried.values()), sum(flipped.values())
    sys.stdout.write(f"{'all':<12} {total - lost:4}/{total} {100 * (total - lost) / max(1, total):.1f} %\n")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
