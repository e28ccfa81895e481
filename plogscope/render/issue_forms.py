"""The issue forms of the projects that Ascend users write to, and which part of the report fills which field.

A form is a list of headings with the parts below them; a host renders a submitted form as exactly such headings, so
the text can be pasted whole or field by field. The labels stand in `reports/forms.toml`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from plogscope.data import report_root
from plogscope.model.report import Report
from plogscope.render.markup import fenced
from plogscope.render.visible import clip, one_line
from plogscope.render.words import load_words, pick

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MAX_VARIABLES, _MAX_VALUE = 100, 300


class Field(msgspec.Struct, frozen=True):
    """One field: the label as the form shows it, and the parts of the report below it."""

    label: str
    parts: list[str]


class Form(msgspec.Struct, frozen=True):
    """One form: its language, how its titles begin, and its fields in order."""

    language: str
    title: str
    fields: list[Field]


class _Line(msgspec.Struct, frozen=True):
    label: str
    fills: list[str] = []


@lru_cache(maxsize=1)
def _document() -> dict[str, Any]:
    with (report_root() / "forms.toml").open("rb") as file:
        return tomllib.load(file)


@lru_cache(maxsize=1)
def load_forms() -> dict[str, Form]:
    """The forms by name, in the order of the file."""
    return msgspec.convert(_document()["forms"], dict[str, Form])


def _filled(report: Report, lang: str, lines: Sequence[dict[str, Any]]) -> list[str]:
    unknown = pick(load_words()("head.unknown"), lang)
    filled = []
    for line in msgspec.convert(lines, list[_Line]):
        values = [clip(one_line(getattr(report.environment, name) or unknown), _MAX_VALUE) for name in line.fills]
        filled.append(f"{line.label}: {' / '.join(values) or unknown}")
    return filled


def collect_env(report: Report, lang: str) -> list[str]:
    """What `collect_env.py` would print, as far as the logs say it; what they do not say stays to be filled in."""
    form = _document()["collect_env"]
    variables = list(report.environment.env.items())[:_MAX_VARIABLES]
    shown = [f"{one_line(name)}={clip(one_line(value), _MAX_VALUE)}" for name, value in variables]
    lines = [*_filled(report, lang, form["lines"]), "", form["variables"] + ":"]
    lines += [*(shown or [pick(load_words()("head.unknown"), lang)]), "", *_filled(report, lang, form["tail"])]
    return [f"<details>\n<summary>{form['summary']}</summary>", fenced(lines), "</details>"]


def four_lines(report: Report, lang: str) -> list[str]:
    """The four lines that torchair's form asks for."""
    return [fenced(_filled(report, lang, _document()["four_lines"]["lines"]))]
