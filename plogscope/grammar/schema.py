"""The shape of a signature file: every unknown key, missing key and wrong type at once, then the `Signature`."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from plogscope.grammar.document import Defect, Document
from plogscope.model.signature import Signature

OVERRIDES = "overrides"
"""Key with which a file in a user's folder says that it replaces the shipped file of the same id."""

_Keys = tuple[str | int, ...]
_Problem = tuple[_Keys, str, str]
_RULE = "schema"


def read_signature(document: Document) -> Signature | list[Defect]:
    """The signature that a file describes, or all the places where it does not have the right shape."""
    data = {key: value for key, value in document.data.items() if key != OVERRIDES}
    defects = shape_defects(document, data, Signature, hidden=("id", "conditions"))
    if not isinstance(document.data.get(OVERRIDES, False), bool):
        message, remedy = "overrides must be true or false", "write true or leave the key out"
        defects.append(document.defect(_RULE, (OVERRIDES,), message, remedy))
    return defects or msgspec.convert({**data, "id": document.id}, Signature)


def shape_defects(
    document: Document, data: Any, kind: type[msgspec.Struct], hidden: tuple[str, ...] = ()
) -> list[Defect]:
    """All places where `data` does not have the shape of `kind`; `hidden` fields are not for the file to fill."""
    return [document.defect(_RULE, *problem) for problem in _check(data, kind, (), hidden)]


def _check(value: Any, kind: Any, keys: _Keys, hidden: tuple[str, ...] = ()) -> Iterator[_Problem]:
    origin, name = get_origin(kind), _dotted(keys)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield from _check_table(value, kind, keys, hidden)
    elif origin in (Union, types.UnionType):
        yield from _check(value, get_args(kind)[0], keys)
    elif origin in (tuple, dict):
        yield from _check_many(value, kind, keys)
    elif origin is Literal:
        if value not in get_args(kind):
            yield keys, f"{name} = {value!r} is not in the vocabulary", "use one of " + ", ".join(get_args(kind))
    else:
        yield from _check_plain(value, kind, keys)


def _check_many(value: Any, kind: Any, keys: _Keys) -> Iterator[_Problem]:
    wanted, item_kind = (list, get_args(kind)[0]) if get_origin(kind) is tuple else (dict, get_args(kind)[1])
    if not isinstance(value, wanted):
        what, how = ("a list", "[...]") if wanted is list else ("a table", "{ key = value }")
        yield keys, f"{_dotted(keys)} must be {what}", f"write {how}"
        return
    for key, item in enumerate(value) if isinstance(value, list) else value.items():
        yield from _check(item, item_kind, (*keys, key))


def _check_table(value: Any, kind: type[msgspec.Struct], keys: _Keys, hidden: tuple[str, ...]) -> Iterator[_Problem]:
    if not isinstance(value, dict):
        yield keys, f"{_dotted(keys)} must be a table", "write { key = value } or a [table]"
        return
    fields = {name: field for name, field in _fields(kind).items() if name not in hidden}
    for key in value:
        if key not in fields:
            close = difflib.get_close_matches(key, fields, 1)
            remedy = f"write {close[0]}" if close else "use one of " + ", ".join(fields)
            yield (*keys, key), f"{_dotted((*keys, key))} is not a known key", remedy
    for field in fields.values():
        if field.name in value:
            yield from _check(value[field.name], field.type, (*keys, field.name))
        elif field.required:
            yield keys, f"{_dotted((*keys, field.name))} is missing", "add it"


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.name: field for field in msgspec.structs.fields(kind)}


def _check_plain(value: Any, kind: Any, keys: _Keys) -> Iterator[_Problem]:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        wanted = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}[kind]
        yield keys, f"{_dotted(keys)} must be {wanted}", f"write {wanted}"


def _dotted(keys: _Keys) -> str:
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text or "the file"
