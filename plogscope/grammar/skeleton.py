"""A signature file made from one line: it matches the line, and says what only a person can fill in.

Numbers, addresses, paths and quoted or assigned values become named groups, with the meaning that the word before them
suggests. All other text is kept as it is printed.
"""

from __future__ import annotations

import itertools
import json
import re

import msgspec

from plogscope.model.signature import FIELD_TYPES, MATURITIES
from plogscope.model.vocabulary import ACTION_KINDS, CATEGORIES

PLACEHOLDER = "<fill in"
"""Begins every text that a person has to write; the lint refuses a file that still has one."""

LONGEST_MESSAGE = 400
"""Characters of the message that go into the pattern: what comes later is rarely what tells it apart."""

_MEANINGS: tuple[tuple[str, str, str], ...] = (
    (r"remote_?rank|dst_?rank|peer_?rank", "remote_rank", "remote_rank"),
    (r"local_?rank", "local_rank", "local_rank"),
    (r"(?:rank_?size|rank_?num|world_?size|ranksize|ranknum)", "rank_size", "rank_size"),
    (r"(?:user_?)?rank(?:_?id)?", "rank", "rank"),
    (r"remote_?dev(?:ice)?(?:_?id)?", "remote_device", "remote_device"),
    (r"(?:logic_?|phy_?)?dev(?:ice)?(?:_?(?:id|logic_?id|phy_?id))?|npu(?:_?id)?", "device_id", "device"),
    (r"(?:report_)?stream(?:_?id)?", "stream_id", "stream"),
    (r"task(?:_?id)?", "task_id", "task"),
    (r"core(?:_?id)?", "core_id", "core"),
    (r"(?:fault_?)?kernel(?:_?name)?", "kernel_name", "kernel"),
    (r"op(?:_?(?:name|type))?|operator", "op", "op"),
    (r"api|func(?:tion|_?name)?|interface", "api", "api"),
    (r"(?:inner|sub)_?(?:err(?:or)?_?)?(?:code|type)", "errcode", "errcode"),
    (r"(?:err(?:or)?|ret|result)_?(?:code|no)|ret|result|status|code|hcclret", "code", "code"),
    (r"timed?_?out(?:_?m?s)?", "limit_s", "limit_s"),
    (r"elapsed(?:_?ms)?|cost|took|takes?", "elapsed_ms", "elapsed_ms"),
    (r"size|bytes|len(?:gth)?|mem(?:ory)?|alloc_?size", "size_bytes", "size_bytes"),
    (r"(?:remote|dst|peer)_?(?:ip|addr(?:ess)?)", "remote_address", "remote_address"),
    (r"ip|addr(?:ess)?|server|host|pc|va|ptr", "address", "address"),
    (r"comm(?:unicator)?|group|identifier", "communicator", "communicator"),
    (r"tag", "tag", "tag"),
    (r"index|idx", "index", "index"),
    (r"count|num|total", "count", "count"),
    (r"pid|process(?:_?id)?", "pid", "pid"),
    (r"sig(?:nal)?", "signal", "signal"),
    (r"exit_?code|exitcode", "exit_code", "exit_code"),
    (r"file|filename", "file", "file"),
    (r"path|dir(?:ectory)?|so", "path", "path"),
    (r"line|lineno", "line", "line"),
    (r"version", "version", "version"),
    (r"reason|desc|msg|message|info|errorstr", "error_text", "error_text"),
    (r"expected", "expected", "expected"),
    (r"value|actual|got", "value", "value"),
    (r"step|iteration|iter", "step", "step"),
)  # fmt: skip
_UNITS: tuple[tuple[str, str, str], ...] = (
    (r"bytes?", "bytes", "value"),
    (r"ms|milliseconds?", "elapsed_ms", "elapsed_ms"),
    (r"times|ranks|cards|devices|retries", "count", "count"),
)
"""What a number is by the word that follows it."""

_LIBRARY = re.compile(r"lib[\w+-]{1,100}\.so(?:\.\d{1,9}){0,4}")
_MILLISECONDS = re.compile(r"\s?(?:ms|msecs?|milli\w+)\b")
_IN_MS = re.compile(r"_ms\W{0,3}$")

_PLACE = r"[\w./@+~-]{1,200}\.(?:py|pyx|c|cc|cpp|cxx|h|hpp|cu|rs|go|ts):\d{1,7}"
_TOKENS = re.compile(
    r"""(?P<time>\d{4}-\d\d-\d\d[-T\ ]\d\d:\d\d:\d\d(?:[.,]\d{1,9}){0,2})
      | (?P<key>(?:(?<=[{,])|(?<=[{,]\s))(?:'[^'\n]{1,200}'(?=\s?:)|"[^"\n]{1,200}"(?=\s?:)))
      | (?P<quoted>'[^'\n]{1,200}'|"[^"\n]{1,200}")
      | (?P<bracketed>(?<=\w)\[[^\[\]\n]{0,200}\])
      | (?P<place>(?<![\w./-])"""
    + _PLACE
    + r"""(?!\w))
      | (?P<library>(?<![\w/.-])lib[\w+-]{1,100}\.so(?:\.\d{1,9}){0,4}(?!\w))
      | (?P<path>(?<![\w/.])/[\w.@%+~-]+(?:/[\w.@%+~-]+)+)
      | (?P<address>(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.]))
      | (?P<hex>(?<!\w)0[xX][0-9a-fA-F]+(?!\w))
      | (?P<value>(?<=[\w\]]=)[^\s,;=\[\](){}'"]+)
      | (?P<number>(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]\w))
    """,
    re.VERBOSE,
)
_NO_FIELD = {"time": r"\d{4}-\d\d-\d\d[\d:., T-]{9,24}", "place": r"[^\s\]]{1,200}", "key": ""}
"""Patterns of tokens that become no group: when it was, where in the source it stands, and keys, which stay."""

_PLACE_IN_FRONT = re.compile(rf"[\[(]?{_PLACE}[\])]?:?\s{{1,4}}(?=\S)")
_PLACE_BEHIND = re.compile(rf"\s{{0,4}}[\[(]{_PLACE}[\])]\.?$")
_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_ ]{0,40}?)\s{0,3}(?:=|:|->|\bis\b|\bof\b|\[|\()?\s{0,3}$")
_TAIL = re.compile(r"\.?\s{0,4}\[FUNC:.*$", re.DOTALL)
_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")


class Piece(msgspec.Struct, frozen=True):
    """A named group that was made: its pattern, type and meaning."""

    name: str
    pattern: str
    type: str
    meaning: str


def skeleton(text: str, message: str, *, name: str, level: str | None = None, front: str = "") -> str:
    """The TOML of a new signature.

    Args:
        text: The line as signatures see it: prefixes peeled, head of its format kept.
        message: What follows the head; the pattern is made of its first line.
        name: The id, for a comment that says where to save it.
        level: Level of the record: a warning is rather a context than a cause.
        front: What stood before the line and was taken off, for a comment that says so.
    """
    line = text.split("\n", 1)[0]
    pattern, pieces = make_pattern(message.split("\n", 1)[0] or line)
    found = re.search(pattern, line, re.MULTILINE)
    if found is None:  # a format that writes its message anew: the whole line, then
        pattern, pieces = make_pattern(line)
        found = re.search(pattern, line, re.MULTILINE)
    fields = {} if found is None else {key: value for key, value in found.groupdict().items() if value is not None}
    return _document(name, line, pattern, pieces, fields, level, front)


def make_pattern(message: str) -> tuple[str, list[Piece]]:
    """A pattern that matches the message, and its groups in order."""
    place = _PLACE_IN_FRONT.match(message := message.strip())
    message = _PLACE_BEHIND.sub("", _TAIL.sub("", message[place.end() if place else 0 :]))[:LONGEST_MESSAGE]
    parts: list[str] = []
    pieces: list[Piece] = []
    end = words = 0
    for token in _TOKENS.finditer(message):
        parts.append(_literal(message[end : token.start()]))
        parts.append(_group(message, token, words, pieces))
        end = token.end()
        words = token.start() if token.lastgroup == "key" else end  # a key is the word before its value
    parts.append(_literal(message[end:]))
    return "".join(parts), pieces


def _group(message: str, token: re.Match[str], start: int, pieces: list[Piece]) -> str:
    """The pattern of one token; what is between quotes or brackets becomes the group.

    `start` is where the text that belongs to no token before it begins.
    """
    kind, value = str(token.lastgroup), token[0]
    if kind in _NO_FIELD:
        return _NO_FIELD[kind] or _literal(value)
    opening = closing = ""
    if kind in ("quoted", "bracketed"):
        opening, value, closing = value[0], value[1:-1], value[-1]
        if not value or (kind == "bracketed" and re.fullmatch(r"[A-Za-z_ ]+", value)):
            return _literal(token[0])
    pattern, type_ = _of_value(value, closing)
    name, meaning = _named(_words_before(message[start : token.start()]), kind, type_, value)
    if meaning == "value" and type_ in ("int", "float") and not name.startswith(("got_", "actual_")):
        unit = _by_unit(message[token.end() :])
        name, meaning = (name, meaning) if unit[0] == "value" else unit
    if name == "limit_s" and (_MILLISECONDS.match(message, token.end()) or _IN_MS.search(message[: token.start()])):
        name = meaning = "limit_ms"
    piece = Piece(_free(name, {piece.name for piece in pieces}), pattern, type_, meaning)
    pieces.append(piece)
    return f"{_literal(opening)}(?P<{piece.name}>{pattern}){_literal(closing)}"


def _of_value(value: str, closing: str) -> tuple[str, str]:
    if re.fullmatch(r"-?\d{1,20}", value):
        return (r"-?\d{1,20}" if value.startswith("-") else r"\d{1,20}"), "int"
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,32}", value):
        return "0[xX][0-9a-fA-F]{1,32}", "hex"
    if re.fullmatch(r"-?\d{1,20}\.\d{1,20}", value):
        return r"-?\d{1,20}\.\d{1,20}", "float"
    if closing:
        return rf"[^{re.escape(closing)}\n]{{1,200}}", "text"
    return r"[^\s,;=\[\](){}'\"]{1,200}", "text"


def _named(words: list[str], kind: str, type_: str, value: str) -> tuple[str, str]:
    """Name and meaning of a value by what it is, or by the words before it."""
    if _LIBRARY.fullmatch(value):
        return "library", "path"
    default = {"path": ("path", "path"), "address": ("address", "address"), "hex": ("address", "address")}
    name, meaning = default.get(kind, ("value", "value" if type_ != "text" else "other"))
    if not words:
        return name, meaning
    folded = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words[-1]).lower().strip("_")
    pair = f"{words[0].lower()}_{folded}" if len(words) > 1 else folded
    known = next((row for row in _MEANINGS if re.fullmatch(row[0], pair)), None) or next(
        (row for row in _MEANINGS if re.fullmatch(rf"(?:\w{{1,40}}_)?(?:{row[0]})", folded)), None
    )
    if known is not None:
        name, meaning = known[1:]
    elif kind not in default and folded[:1].isalpha():
        name = folded[-24:].strip("_") or name
    before = words[-2].lower() if len(words) > 1 else ""
    if before in ("expected", "wanted"):
        return f"expected_{name}", "expected"
    return (f"{before}_{name}", "value") if before in ("got", "actual") else (name, meaning)


def _by_unit(rest: str) -> tuple[str, str]:
    """Name and meaning of a number by the word after it."""
    following = re.match(r" ?([A-Za-z]{1,12})\b", rest)
    for words, name, meaning in _UNITS:
        if following is not None and re.fullmatch(words, following[1]):
            return name, meaning
    return "value", "value"


def _free(name: str, taken: set[str]) -> str:
    """The name, or the name with the next free number."""
    wanted = name if name[0].isalpha() else f"f_{name}"
    numbered = (f"{wanted}_{number}" for number in itertools.count(2))
    return wanted if wanted not in taken else next(one for one in numbered if one not in taken)


def _words_before(text: str) -> list[str]:
    """The last words before a value, without what joins them to it: `stream_id=`, `rank[`, `limit is`, `device `."""
    found = _KEY.search(re.sub(r"['\"]", "", text[-60:]))
    words = [] if found is None else found[1].split()
    while words and words[-1].lower() in _JOINING:
        words.pop()
    return words[-2:]


_JOINING = frozenset(
    (
        "a",
        "after",
        "an",
        "and",
        "are",
        "as",
        "at",
        "but",
        "by",
        "for",
        "from",
        "has",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "than",
        "that",
        "the",
        "to",
        "was",
        "were",
        "with",
    )
)
"""Words that say nothing about the value behind them."""


def _literal(text: str) -> str:
    """The text as it is, its special characters escaped; a run of blanks may vary in length."""
    return re.sub(r" {2,}", " +", _SPECIAL.sub(r"\\\1", text).replace("\t", r"\t"))


_DOCUMENT = """\
# Save as {path} in a folder of your own, fill in what is marked, then: plogscope grammar lint FOLDER
title = {{ en = "{mark}: what happened, in a few words>", zh = "{mark}: the same in Chinese>" }}
# {statuses}
status = "experimental"
# {categories}
category = "unknown"
# cause: needs nothing before it; either: can also be a consequence; symptom: something is always behind it;
# teardown, context, noise: never fails anything; progress: it went on
{why_role}role = "{role}"

[match]
{why_front}\
# Keep what stays the same between versions: codes, tags, key=value, function names. Drop what is only of this run.
pattern = {pattern}

[extract]
# type: {types}. meaning: plogscope grammar vocabulary has all, with their units.
# A limit in seconds is limit_s, in milliseconds limit_ms; what only the reader needs is other.
{extract}
[advice]
# Needed for cause and either. Fields may be used as {{field}}. kind: {kinds}
kind = "check"
next_action = {{ en = "{mark}: the smallest thing to do next>", zh = "{mark}: the same in Chinese>" }}

[[examples]]
line = {line}
fields = {{ {fields} }}
source = "{mark}: source file, document or version that prints this line>"

[[near_misses]]
# A made-up variant is allowed when why says so.
line = "{mark}: a real line that looks alike and must not match>"
why = "{mark}: why it must not match>"
source = "{mark}: where that line is printed>"
"""

_WHY_ROLE = """\
# context, because the line is of level {level}: it will blame nothing. If it states a failure, write cause or either.
"""
_WHY_FRONT = """\
# {front} in front was taken off: the analysis reads rank, worker and receipt time from it before any
# pattern is tried, so no pattern can match it and none needs it.
"""


def _document(
    name: str,
    line: str,
    pattern: str,
    pieces: list[Piece],
    fields: dict[str, str],
    level: str | None,
    front: str,
) -> str:
    quiet = level in ("WARNING", "INFO", "DEBUG", "EVENT")
    extract = "".join(f'{piece.name} = {{ type = "{piece.type}", meaning = "{piece.meaning}" }}\n' for piece in pieces)
    return _DOCUMENT.format(
        path=f"{name}.toml",
        mark=PLACEHOLDER,
        categories=" ".join(CATEGORIES),
        statuses=" ".join(MATURITIES),
        types=" ".join(FIELD_TYPES),
        kinds=" ".join(ACTION_KINDS),
        role="context" if quiet else "either",
        why_role=_WHY_ROLE.format(level=level) if quiet else "",
        why_front=_WHY_FRONT.format(front=json.dumps(front.strip(), ensure_ascii=True)) if front.strip() else "",
        pattern=_quoted(pattern),
        extract=extract,
        line=_quoted(line),
        fields=", ".join(f"{key} = {_quoted(value)}" for key, value in fields.items()),
    )


def _quoted(text: str) -> str:
    """A TOML string: verbatim where that is possible."""
    if text.isprintable() and not set(text) & {'"', "\\"}:
        return f'"{text}"'
    if "'''" not in text and not text.endswith("'") and text.isprintable():
        return f"'''{text}'''"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
