"""The run directory of a five-step collection as plain facts: which files and directories are there."""

from __future__ import annotations

import re

import msgspec

from plogscope.model.source import Bundle, Source
from plogscope.model.vocabulary import STEP_NAMES
from plogscope.triage.files import lines_of

_FIRST_FAILURE = re.compile(r"\s*(?P<name>step(?P<number>[1-5])-[\w-]+)(?: exit_code=(?P<code>-?\d{1,10}))?\s*$")
_WARNING = re.compile(r"\s*step(?P<number>[1-5])-[\w-]+ (?P<what>stdout_stderr\.log|ascend_plog) missing or empty")
_STEP = re.compile(r"step([1-5])-[\w-]+$")


class StepDir(msgspec.Struct, frozen=True, kw_only=True):
    """One step directory.

    Attributes:
        name: As the directory is called, or as it should be called.
        stdout: Its stdout_stderr.log, or None.
        plog_dir: `ascend_plog` is there, or warnings.txt of the collector says that it was there and empty (an empty
            directory does not survive many ways of packing).
        plog_files: It holds at least one file.
        stdout_warned, plog_warned: Line in warnings.txt that names it, else 0.
    """

    number: int
    name: str
    exists: bool
    success: bool = False
    stdout: Source | None = None
    plog_dir: bool = False
    plog_files: bool = False
    stdout_warned: int = 0
    plog_warned: int = 0

    @property
    def stdout_empty(self) -> bool:
        """The log is there and has no byte."""
        return self.stdout is not None and self.stdout.size == 0


class FirstFailure(msgspec.Struct, frozen=True, kw_only=True):
    """What first_failure.txt says; `number` None = it names no step."""

    source: Source
    line: int = 1
    number: int | None = None
    name: str | None = None
    exit_code: int | None = None
    further: tuple[str, ...] = ()


class RunDir(msgspec.Struct, frozen=True, kw_only=True):
    """The run directory. `base` is put before a name to get the path in the bundle ("" or ends in `/`)."""

    base: str
    steps: tuple[StepDir, ...]
    failure: FirstFailure | None
    warnings: tuple[str, ...]
    warnings_path: str | None
    env: Source | None
    scripts: frozenset[str]
    by_path: dict[str, Source]

    def step(self, number: int) -> StepDir:
        """Facts of step 1–5."""
        return self.steps[number - 1]


def look_at(bundle: Bundle) -> RunDir:
    """Collects the facts of the chosen run of a five-step bundle."""
    base = bundle.run_base
    by_path = {source.path: source for source in bundle.sources if source.path.startswith(base)}
    present = set(by_path) | set(bundle.empty_dirs) | {entry.path for entry in bundle.skipped}
    warnings_source = by_path.get(f"{base}warnings.txt")
    warnings = tuple(lines_of(warnings_source))
    failure = _first_failure(by_path.get(f"{base}first_failure.txt"))
    named = _directory_names(base, present)
    return RunDir(
        base=base,
        steps=tuple(
            _step_dir(number, named.get(number), by_path, present, warnings, base=base) for number in range(1, 6)
        ),
        failure=failure,
        warnings=warnings,
        warnings_path=warnings_source.path if warnings_source else None,
        env=by_path.get(f"{base}env.txt"),
        scripts=frozenset(path.rpartition("/")[2] for path in by_path if path.startswith(f"{base}scripts/")),
        by_path=by_path,
    )


def _directory_names(base: str, present: set[str]) -> dict[int, str]:
    """Step directories by number; the expected name wins over another one of the same number."""
    names: dict[int, str] = {}
    for path in sorted(present):
        if not path.startswith(base):
            continue
        first = path[len(base) :].partition("/")[0]
        found = _STEP.match(first)
        if found and (int(found[1]) not in names or first in STEP_NAMES):
            names[int(found[1])] = first
    return names


def _step_dir(
    number: int,
    name: str | None,
    by_path: dict[str, Source],
    present: set[str],
    warnings: tuple[str, ...],
    *,
    base: str,
) -> StepDir:
    if name is None:
        return StepDir(number=number, name=STEP_NAMES[number - 1], exists=False)
    directory = f"{base}{name}/"
    plog = f"{directory}ascend_plog"
    plog_files = any(path.startswith(plog + "/") for path in by_path)
    plog_warned = _warned(warnings, number, "ascend_plog")
    return StepDir(
        number=number,
        name=name,
        exists=True,
        success=f"{directory}SUCCESS" in by_path,
        stdout=by_path.get(f"{directory}stdout_stderr.log"),
        plog_dir=bool(plog_warned) or any(path == plog or path.startswith(plog + "/") for path in present),
        plog_files=plog_files,
        stdout_warned=_warned(warnings, number, "stdout_stderr.log"),
        plog_warned=plog_warned,
    )


def _warned(warnings: tuple[str, ...], number: int, what: str) -> int:
    for line, text in enumerate(warnings, 1):
        found = _WARNING.match(text)
        if found and int(found["number"]) == number and found["what"] == what:
            return line
    return 0


def _first_failure(source: Source | None) -> FirstFailure | None:
    if source is None:
        return None
    matches = [(line, found) for line, text in enumerate(lines_of(source), 1) if (found := _FIRST_FAILURE.match(text))]
    if not matches:
        return FirstFailure(source=source)
    line, found = matches[0]
    return FirstFailure(
        source=source,
        line=line,
        number=int(found["number"]),
        name=found["name"],
        exit_code=int(found["code"]) if found["code"] else None,
        further=tuple(other["name"] for _, other in matches[1:] if other["name"] != found["name"]),
    )
