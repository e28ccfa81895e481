"""Writes a report where the command line wants it: standard output, a file, or a folder of files."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from plogscope.errors import InputError
from plogscope.model.report import Report
from plogscope.wording import say

DEFAULT_REPORT = "plogscope-report.html"
FILE_NAMES = {"html": "report.html", "md": "report.md", "json": "report.json", "text": "report.txt"}
_BY_SUFFIX = {".html": "html", ".htm": "html", ".md": "md", ".json": "json", ".txt": "text"}


def write_report(report: Report, formats: Sequence[str], output: Path | None, lang: str) -> None:
    """Writes the wanted formats.

    Without `formats` and `output`: a summary on standard output and the HTML page in the current folder, its path last.

    Raises:
        InputError: The output cannot be written.
    """
    if output is None:
        if formats:
            _print(_render(report, formats[0], lang))
            return
        page = Path.cwd() / DEFAULT_REPORT
        _write(page, _render(report, "html", lang))
        _print(_summary(report, lang))
        note = say("output.private")
        _print(f"{note.zh if lang == 'zh' else note.en}\n{page}\n".encode("utf-8", "surrogateescape"))
        return
    if len(formats) > 1 or output.is_dir():
        for name in formats or ["html"]:
            _write(output / FILE_NAMES[name], _render(report, name, lang))
        return
    name = formats[0] if formats else _BY_SUFFIX.get(output.suffix.lower(), "html")
    _write(output, _render(report, name, lang))


def _render(report: Report, name: str, lang: str) -> bytes:
    if name == "json":
        from plogscope.render.json import render_json  # noqa: PLC0415 - only what is wanted is loaded

        return render_json(report)
    if name == "md":
        from plogscope.render.markdown import render_markdown  # noqa: PLC0415

        return render_markdown(report, lang).encode("utf-8", "replace")
    if name == "text":
        from plogscope.render.terminal import render_terminal  # noqa: PLC0415

        return render_terminal(report, lang, colour=False, width=100).encode("utf-8", "replace")
    from plogscope.render.html import render_html  # noqa: PLC0415

    return render_html(report, lang).encode("utf-8", "replace")


def _summary(report: Report, lang: str) -> bytes:
    from plogscope.render.terminal import render_terminal  # noqa: PLC0415

    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and not os.environ.get("CI")
    width = os.get_terminal_size().columns if sys.stdout.isatty() else 100
    text = render_terminal(report, lang, colour=colour, width=width)
    return (text if text.endswith("\n") else text + "\n").encode("utf-8", "replace")


def _print(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
    sys.stdout.buffer.flush()


def _write(path: Path, data: bytes) -> None:
    """Writes whole or not at all, so that a full disk never leaves half a report."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written ({error.strerror})", "choose another place with -o") from error
