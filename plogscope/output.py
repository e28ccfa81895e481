"""Writes a report where the command line wants it: standard output, a file, or a folder of files."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec

from plogscope.errors import InputError, LeakError
from plogscope.inputs import Digest, Provenance, digest_inputs
from plogscope.model.report import Report
from plogscope.pseudonyms import Pseudonyms, pseudonymise
from plogscope.redact import redact_secrets
from plogscope.wording import say

DEFAULT_REPORT = "plogscope-report.html"
FILE_NAMES = {"html": "report.html", "md": "report.md", "json": "report.json", "text": "report.txt"}
COLLECT_SCRIPT = "collect.sh"
_BY_SUFFIX = {".html": "html", ".htm": "html", ".md": "md", ".json": "json", ".txt": "text"}


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks for. `lang` None = by the locale, or by the issue form that `template` names."""

    formats: Sequence[str] = ()
    output: Path | None = None
    lang: str = "en"
    template: str = "generic"
    redact: bool = False
    redact_words: Sequence[str] = ()
    paths: Sequence[Path] = ()
    command: str = ""


def write_report(report: Report, wish: Wish) -> None:
    """Writes the wanted formats.

    Without formats and output: a summary on standard output and the HTML page in the current folder, its path last.

    Raises:
        InputError: The output cannot be written.
        LeakError: A private name got past its pseudonym; nothing was written.
    """
    _Writer(report, wish).run()


SUMMARY = "summary"
"""What stands on the terminal beside the page."""


class _Writer:
    def __init__(self, report: Report, wish: Wish) -> None:
        self.original = report
        self.wish = wish
        self.names: Pseudonyms | None = None
        self.report = report
        if wish.redact:
            from plogscope.render.facts import run_id  # noqa: PLC0415 - only what is wanted is loaded

            named = msgspec.structs.replace(report, run_id=run_id(report))
            self.report, self.names = pseudonymise(named, wish.redact_words)

    def run(self) -> None:
        """Renders all first, checks, and only then writes: a leak leaves nothing behind."""
        wish = self.wish
        if wish.output is None and wish.formats:
            data = self.render(wish.formats[0])
            self.keep_names()
            _print(data)
            return
        if wish.output is None:
            page = Path.cwd() / DEFAULT_REPORT
            data, summary = self.render("html"), self.render(SUMMARY)
            self.keep_names()
            _write(page, data)
            _print(summary)
            _print(f"{self.private()}\n{page}\n".encode("utf-8", "surrogateescape"))
            return
        if len(wish.formats) > 1 or wish.output.is_dir():
            files = {wish.output / FILE_NAMES[name]: self.render(name) for name in wish.formats or ["html"]}
        else:
            name = wish.formats[0] if wish.formats else _BY_SUFFIX.get(wish.output.suffix.lower(), "html")
            files = {wish.output: self.render(name)}
        self.keep_names()
        for path, data in files.items():
            _write(path, data)
        if self.names is None and wish.output not in files:
            _write_script(self.report, wish.output / COLLECT_SCRIPT)

    def render(self, name: str) -> bytes:
        """One format; with pseudonyms it is searched for every original."""
        data = self._render(name)
        leaks = self.names.leaks(data.decode("utf-8", "replace")) if self.names is not None else []
        if leaks:
            raise LeakError(f"--redact left {len(leaks)} private names in the {name} report, nothing was written")
        return data

    def _render(self, name: str) -> bytes:
        wish = self.wish
        if name == "json":
            from plogscope.render.json import render_json  # noqa: PLC0415 - only what is wanted is loaded

            return render_json(self.report)
        if name == SUMMARY:
            return self._summary()
        if name == "md":
            from plogscope.render.markdown import render_markdown  # noqa: PLC0415

            return render_markdown(self.report, wish.lang, wish.template).encode("utf-8", "replace")
        if name == "text":
            from plogscope.render.terminal import render_terminal  # noqa: PLC0415

            return render_terminal(self.report, wish.lang, colour=False, width=100).encode("utf-8", "replace")
        from plogscope.render.html import render_html  # noqa: PLC0415

        return render_html(self.report, wish.lang, provenance=self.provenance()).encode("utf-8", "replace")

    def provenance(self) -> Provenance:
        """The command line without secrets, and digests by the paths that the report shows."""
        digests = digest_inputs(self.original, self.wish.paths)
        command = redact_secrets(self.wish.command)
        if self.names is None:
            return Provenance(command=command, digests=digests)
        shown: dict[str, Digest] = {}
        for before, after in zip(self.original.bundle.files, self.report.bundle.files, strict=True):
            if before.path in digests:
                shown[after.path] = digests[before.path]
        return Provenance(command=self.names.text(command), digests=shown)

    def _summary(self) -> bytes:
        """The terminal view, with pseudonyms too: what is on a screen is copied from there."""
        from plogscope.render.terminal import render_terminal  # noqa: PLC0415

        terminal = sys.stdout is not None and sys.stdout.isatty()
        colour = terminal and not os.environ.get("NO_COLOR") and not os.environ.get("CI")
        width = os.get_terminal_size().columns if terminal else 100
        text = render_terminal(self.report, self.wish.lang, colour=colour, width=width)
        return (text if text.endswith("\n") else text + "\n").encode("utf-8", "replace")

    def private(self) -> str:
        """What the page still holds that should not be public."""
        from plogscope.render.privacy import privacy_line  # noqa: PLC0415
        from plogscope.render.words import pick  # noqa: PLC0415

        return pick(privacy_line(self.report), self.wish.lang)

    def keep_names(self) -> None:
        """Keeps the names beside no report: only the owner may read them, and nobody attaches them by mistake."""
        if self.names is None:
            return
        path = _map_folder(self.wish.output or Path.cwd()) / f"{self.report.run_id}.json"
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
                json.dump(self.names.map, stream, ensure_ascii=True, indent=1, sort_keys=True)
        except OSError as error:
            hint = "name a writable folder in XDG_STATE_HOME"
            raise InputError(
                f"the names behind the pseudonyms cannot be kept in {path} ({error.strerror})", hint
            ) from error
        counted = ", ".join(f"{kind} {count}" for kind, count in self.names.counts()) or "0"
        note = say("output.redacted", counts=counted, path=path)
        sys.stderr.write((note.zh if self.wish.lang == "zh" else note.en) + "\n")


def _write_script(report: Report, path: Path) -> None:
    """The script that completes the run, where the first action is one; no older one stays beside the report."""
    command = report.next_actions[0].command if report.next_actions else None
    if command is None or not command.startswith("#!"):
        path.unlink(missing_ok=True)
        return
    _write(path, command.encode("utf-8", "surrogateescape"))
    path.chmod(0o755)


def _map_folder(output: Path) -> Path:
    """Where the names are kept, never inside the folder that is handed on.

    Raises:
        InputError: The state folder lies in the output folder.
    """
    state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    folder = Path(os.path.realpath(state)) / "plogscope" / "maps"
    target = Path(os.path.realpath(output))
    if output.is_dir() and output != Path.cwd() and folder.is_relative_to(target):
        hint = "choose another -o or another XDG_STATE_HOME"
        raise InputError(f"the names behind the pseudonyms would lie in {output}", hint)
    return folder


def _print(data: bytes) -> None:
    if sys.stdout is None:
        raise InputError("the standard output is closed", "name a file with -o")
    try:
        sys.stdout.flush()
        _write_all(sys.stdout.buffer, data if data.endswith(b"\n") else data + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stdout = None  # nothing more can be written, also not at exit
        raise InputError(f"the standard output cannot be written ({error.strerror})", "name a file with -o") from error


def _write_all(stream: IO[bytes], data: bytes) -> None:
    """Writes to the end: a stream without a buffer takes what fits and says how much that was."""
    left = memoryview(data)
    while left:
        left = left[stream.write(left) :]


def _write(path: Path, data: bytes) -> None:
    """Writes whole or not at all, so that a full disk never leaves half a report.

    A link is followed; a device or pipe is written to, never replaced.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        _write_through(path, data)
        return
    partial = path.with_name(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # where nothing can be written, nothing lies
            partial.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written ({error.strerror})", "choose another place with -o") from error


def _write_through(path: Path, data: bytes) -> None:
    try:
        with path.open("wb", buffering=0) as stream:
            _write_all(stream, data)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror})", "choose another place with -o") from error
