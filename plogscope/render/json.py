"""The report as JSON: the document of which every other output is a view."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from plogscope.model.report import Report
from plogscope.render.facts import run_id

_SURROGATE = re.compile("[\ud800-\udfff]")


def render_json(report: Report) -> bytes:
    r"""The report in UTF-8, indented by two, keys in the order of the model, with a final line feed.

    A file name that is not UTF-8 holds lone surrogates, which JSON in UTF-8 cannot; they are written as `\udcXX`
    in text, so that the name stays readable and no other name becomes equal to it.
    """
    report = msgspec.structs.replace(report, run_id=run_id(report))
    try:
        encoded = msgspec.json.encode(report)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_spell_surrogates(msgspec.to_builtins(report)))
    return msgspec.json.format(encoded, indent=2) + b"\n"


def _spell_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", value)
    if isinstance(value, dict):
        return {_spell_surrogates(key): _spell_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spell_surrogates(item) for item in value]
    return value
