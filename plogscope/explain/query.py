"""How a query is read: as a code, as error bits, as a code with words around it, as a name, or as a line."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from plogscope.explain.bits import bits_of, decode_words
from plogscope.explain.find import LONGEST, Hit, by_name, by_number, exactly, hit_of
from plogscope.explain.names import NAMESPACES, namespace_of, table_of
from plogscope.explain.words import say
from plogscope.model.vocabulary import Text

_WORD = r"0[xX][0-9a-fA-F]{1,16}|\d{1,20}"
_LIST = re.compile(
    rf"(?:(?:extend info: )?errcode\s*[:=]\s*)?\(\s*((?:{_WORD})(?:\s*,\s*(?:{_WORD}))*)\s*\)", re.IGNORECASE
)
_NAMED = re.compile(r"([A-Za-z_]\w{0,31})\s*:\s*(\S.*)", re.DOTALL)
_KEYED = re.compile(
    r"\b(?P<key>ret ?code|inner ?code|err ?type|hccl ?ret|event[ _]id|sdma_cqe|cqe[ _]?status"
    r"|err_type|drv ?ret(?: ?code)?|runtime result|err(?:or)?[ _]?code(?: is)?)"
    rf"\s*(?:=|:|->|\[|\s)\s*\[?(?P<value>{_WORD})\]?,?",
    re.IGNORECASE,
)
_TABLES_OF_KEY: dict[str, tuple[str, ...]] = {
    "retcode": ("ts", "rt"),
    "innercode": ("rt",),
    "errtype": ("stars_errtype", "stars_errtype_950"),
    "hcclret": ("hccl_result",),
    "eventid": ("npu_event",),
    "sdmacqe": ("sdma_cqe",),
    "cqestatus": ("sdma_cqe",),
    "drvret": ("drv",),
    "drvretcode": ("drv",),
    "runtimeresult": ("acl",),
    "errorcodeis": ("acl", "aclnn", "hccl_result"),
    "errcode": ("acl", "aclnn", "aicpu_errcode", "aicore_errcode_950"),
    "errorcode": ("acl", "aclnn", "aicpu_errcode", "aicore_errcode_950"),
}
_MASKED_TABLES = ("stars_errtype", "stars_errtype_950", "sdma_channel", "aicore_errcode", "aicore_errcode_950")
_IN_TEXT = re.compile(r"(?<!\w)(?:[EW][0-9A-Z]\d{4}|ERR\d{5}|0x[0-9a-fA-F]{2,16}|\d{6})(?!\w)")
_SMALLEST_MASK = 0x10000
_INNER = re.compile(r"0x7([0-9a-f]{2})([0-9a-f]{4})")
_LOW_PART = 0xFFF


class Reading(msgspec.Struct):
    """How a query was read (see the kinds in the package), what was found and what its form tells besides."""

    kind: str
    hits: list[Hit] = []
    hints: list[Text] = []


def read(query: str) -> Reading:
    """Reads one query: the first way that finds something."""
    asked = query.strip()[:LONGEST].strip(" \t\r\n\"'")
    ways: tuple[Callable[[str], Reading | None], ...] = (
        _read_packed, _read_whole, _read_list, _read_named, _read_keyed, _read_mask, _read_name, _read_line,
    )  # fmt: skip
    for way in ways if asked else ():
        reading = way(asked)
        if reading is not None:
            return reading
    return Reading("unknown", [], _hints(asked) if asked else [say("hint.empty")])


def _read_whole(asked: str) -> Reading | None:
    """The query is a code as it is printed, or the same number."""
    hits = exactly(asked)
    known = {hit.key for hit in hits}
    hits += [hit for hit in by_number(asked) if hit.key not in known]
    return Reading("code", hits) if hits else None


def _read_packed(asked: str) -> Reading | None:
    """`errNo[0x0000000005010009]`: module, level and, at the end, an HcclResult."""
    found = re.fullmatch(r"errno\s*\[?\s*(0x[0-9a-f]{8,16})\s*\]?", asked, re.IGNORECASE)
    if found is None:
        return None
    hits = by_number(str(int(found[1], 16) & _LOW_PART), ("hccl_result",))
    return Reading("parts", [_noted(hit, say("note.packed")) for hit in hits] + exactly(asked)) if hits else None


def _read_list(asked: str) -> Reading | None:
    """`errcode:(a, b, c)`: bits; decimals are numbers of the 950 series."""
    found = _LIST.fullmatch(asked)
    if found is None:
        return None
    texts = [text.strip() for text in found[1].split(",")]
    values = [int(text, 0 if text[:2].lower() == "0x" else 10) for text in texts]
    if not any(values):
        return Reading("bits", _with_note(hit_of("aicore_errcode", "none"), say("note.zero")))
    if not any(text[:2].lower() == "0x" for text in texts):
        numbers = [text for text in texts if text != "0"]
        hits = [hit for text in numbers for hit in _number_of_950(text)]
        known = {hit.row.code for hit in hits}
        unnamed = [text for text in numbers if text not in known]
        return Reading("bits", hits, [say("hint.bits_unknown", bits=", ".join(unnamed))] if unnamed else [])
    return _bits(tuple(values))


def _read_named(asked: str) -> Reading | None:
    """`namespace:code`."""
    found = _NAMED.fullmatch(asked)
    table = None if found is None else table_of(found[1])
    if found is None or table is None:
        return None
    code = found[2].strip()
    hits = exactly(code, (table,)) or by_number(code, (table,)) if not _is_mask(table, code) else []
    if hits:
        return Reading("code", hits)
    if _is_mask(table, code):
        return _mask(table, code)
    if table == "rt":
        return _inner_parts(code)
    hits = by_name(code, (table,))
    return Reading("name", hits) if hits else Reading("unknown", [], _hints(code))


def _read_keyed(asked: str) -> Reading | None:
    """A code with the words that stand before it in logs."""
    found = _KEYED.fullmatch(asked)
    if found is None:
        return None
    key, value = found["key"], found["value"]
    folded = key.lower().replace(" ", "").replace("_", "")
    tables = ("ringbuf_errtype",) if key.lower() == "err_type" else _TABLES_OF_KEY[folded]
    hits = by_number(value, tables) or exactly(value, tables)
    if hits:
        return Reading("parts", [_noted(hit, say("note.key", key=key)) for hit in hits])
    if folded == "errtype":
        return _mask(tables[0], value)
    return _inner_parts(value) if "rt" in tables else None


def _read_mask(asked: str) -> Reading | None:
    """A number in hex that no table has: a runtime code in parts, else the first word of errcode."""
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", asked):
        return None
    inner = _inner_parts(asked)
    if inner is not None:
        return inner
    if int(asked, 16) < _SMALLEST_MASK:
        return None
    reading = _bits((int(asked, 16),))
    reading.hints.append(say("hint.word"))
    return reading


def _read_name(asked: str) -> Reading | None:
    hits = by_name(asked)
    if not hits:
        return None
    shown = 12
    hints = [say("hint.many", count=len(hits), shown=shown)] if len(hits) > shown else []
    return Reading("name", hits[:shown], hints)


def _read_line(asked: str) -> Reading | None:
    """Every code that stands in a longer text."""
    hits: dict[str, Hit] = {}
    errcode = re.search(r"errcode:\([^()]{1,80}\)", asked)
    if errcode is not None and errcode[0] != asked:
        for hit in read(errcode[0]).hits:
            hits.setdefault(hit.key, hit)
    for found in re.finditer(r"errno\[0x[0-9a-f]{8,16}\]", asked, re.IGNORECASE):
        packed = _read_packed(found[0])
        for hit in packed.hits if packed is not None else ():
            hits.setdefault(hit.key, hit)
    for found in _KEYED.finditer(asked):
        reading = _read_keyed(found[0])
        for hit in reading.hits if reading is not None else ():
            hits.setdefault(hit.key, hit)
    for found in _IN_TEXT.finditer(asked):
        for hit in exactly(found[0]):
            hits.setdefault(hit.key, _noted(hit, say("note.text")))
    return Reading("line", list(hits.values())) if hits else None


def _bits(words: tuple[int, ...]) -> Reading:
    bits = decode_words(words)
    hits: list[Hit] = []
    unnamed: list[str] = []
    for bit in bits:
        found = hit_of("aicore_errcode", str(bit.number))
        if found is None:
            unnamed.append(f"{bit.word}:{bit.bit}")
        else:
            hits.append(_noted(found, say("note.bit", bit=bit.bit, word=bit.word)))
    hints = [say("hint.bits_unknown", bits=", ".join(unnamed))] if unnamed else []
    for bit in bits:
        same = hit_of("aicore_errcode_950", str(bit.number))
        if same is not None:
            hints.append(say("hint.series950", number=bit.number, title=same.row.title))
    return Reading("bits", hits, hints)


def _mask(table: str, value: str) -> Reading:
    """The bits of a status word of one table, whose rows are bit numbers or, for errType, the bits themselves."""
    if table == "aicore_errcode":
        return _bits((int(value, 16),))
    hits: list[Hit] = []
    unnamed: list[str] = []
    for bit in bits_of(int(value, 0)):
        found = hit_of(table, hex(1 << bit) if table.startswith("stars") else str(bit))
        if found is None:
            unnamed.append(str(bit))
        else:
            hits.append(_noted(found, say("note.bit_of", bit=bit, value=value)))
    return Reading("bits", hits, [say("hint.bits_unknown", bits=", ".join(unnamed))] if unnamed else [])


def _is_mask(table: str, code: str) -> bool:
    """A word in hex of a table of bits; an errType of one bit is a row of its own."""
    if table not in _MASKED_TABLES or not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", code):
        return False
    return hit_of(table, code.lower()) is None


def _number_of_950(text: str) -> list[Hit]:
    return _with_note(hit_of("aicore_errcode_950", text), say("note.number"))


def _inner_parts(value: str) -> Reading | None:
    """An inner code of the runtime that no table has, told by its module."""
    found = _INNER.fullmatch(value.lower())
    base = None if found is None else hit_of("rt", f"0x7{found[1]}0000")
    if found is None or base is None:
        return None
    part = f"0x7{found[1]}"
    hint = say("hint.rt_unknown", module=part, number=f"0x{found[2]}")
    return Reading("parts", [_noted(base, say("note.part", part=part, value=value))], [hint])


def _with_note(hit: Hit | None, note: Text) -> list[Hit]:
    return [] if hit is None else [_noted(hit, note)]


def _noted(hit: Hit, note: Text) -> Hit:
    return msgspec.structs.replace(hit, note=note)


def _hints(asked: str) -> list[Text]:
    """What the form of an unknown code tells."""
    hints: list[Text] = []
    folded = asked.upper()
    if re.fullmatch(r"[EW][0-9A-Z]\d{4}", folded):
        hints.append(say("hint.em", stem=folded[:2]))
        if folded.endswith(("9999", "8888")):
            hints.append(say("hint.wrapper"))
    elif re.fullmatch(r"ERR\d{5}", folded):
        hints.append(say("hint.pta"))
    named = re.match(r"([A-Za-z_]\w{0,31}):\S", asked)
    if named and table_of(named[1]) is None:
        names = ", ".join(namespace_of(table) for table in NAMESPACES.values())
        hints.append(say("hint.namespace", name=named[1], names=names))
    return hints
