"""Where printed values first differ between the steps of a run that passed: the layer that changes the result (R46).

Only lines that the program printed count: log records, graphs and source lines of `+all` hold the same words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import msgspec

from plogscope.model.chain import Chain, Incident
from plogscope.model.record import Finding
from plogscope.model.source import Bundle, Source
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import Symptom, Text
from plogscope.opening import open_log
from plogscope.triage.files import SCAN_BYTES
from plogscope.triage.scripts import original_script, script_facts
from plogscope.wording import say

RELATIVE = 1e-3
"""Two steps may round differently: half precision keeps three digits."""

ABSOLUTE = 1e-6
MAX_VALUES = 20_000
MAX_QUOTE = 500
SUBCATEGORY = "differs-in-step"

_WORDS = (
    rb"loss|check_?sums?|sum|crc(?:32)?|md5|sha\d*|hash|mean|std|norm|grad_norm|abs_?max|max|min|acc(?:uracy)?|ppl"
    rb"|perplexity|logits?|outputs?|value|score"
)
_LINE = re.compile(
    rb"^(?![VIWECF]\d{4} |[ \t}%#])(?=[^\n]{0,400}?\b(?:\w{1,20}[_ ])?(?:" + _WORDS + rb")\b)[^\n]{3,400}$",
    re.MULTILINE | re.IGNORECASE,
)
_RECORD = re.compile(r"\[(?:rank|default)\d+\]: ?[VIWECF]\d{4} |\[[A-Z]{4,8}\]|\w+/\w+\.py")
_RANK = re.compile(r"\[(?:rank|default)(\d+)\]: ?")
_PAIR = re.compile(
    r"(?P<label>[A-Za-z_][A-Za-z_0-9/]{0,40})\s{0,3}[=:]?\s{0,3}(?:tensor\()?"
    r"(?P<value>[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+|\d+(?:[eE][-+]?\d+)?|nan|inf|(?:0x)?[0-9a-f]{8,64}))"
    r"(?![\w.])(?!\s?(?:ms|us|s|sec|seconds|GB|MB|it/s|tokens?)\b)",
    re.IGNORECASE,
)
_IDENTITY = frozenset({"rank", "step", "iter", "iteration", "epoch", "batch", "layer", "i", "it", "idx"})
_DECISIVE = re.compile(r"(?:^|_|/)(?:loss|check_?sums?|sum|crc32|crc|md5|sha\d*|hash)$", re.IGNORECASE)
_COMPARED = re.compile(r"(?:^|_|/)(?:" + _WORDS.decode() + r")$", re.IGNORECASE)

Key = tuple[tuple[str, ...], str, int]


class Printed(msgspec.Struct, frozen=True):
    """One printed value and where it stands."""

    value: str
    source: Source
    line: int
    offset: int
    quote: str


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The first value of the first step that is not what step 1 printed.

    Attributes:
        step: Directory name of that step.
        label: As printed before the value.
        expected, found: What step 1 printed and what this step printed.
        decisive: A loss or checksum differs, and the program is known to repeat itself.
        compared: How many values of that step could be compared.
    """

    step: str
    label: str
    expected: Printed
    found: Printed
    decisive: bool
    compared: int


def first_difference(bundle: Bundle, steps: StepFacts, base: str) -> Difference | None:
    """Compares what the steps printed with what step 1 printed; None if nothing comparable differs.

    Values are compared by label, rank, step number and order. Without a seed in the script, a difference of step 2
    proves nothing: eager itself may not repeat its numbers; that a compiled step agreed before proves that it does.
    """
    if steps.blocked_by or not all(steps.passed(step.name) for step in steps.steps):
        return None
    logs = [(step.name, bundle.find(step.stdout)) for step in steps.steps if step.stdout]
    if len(logs) < len(steps.steps) or logs[0][1] is None:
        return None
    eager = printed_values(logs[0][1])
    agreed = 0
    for name, log in logs[1:]:
        values = printed_values(log) if log else {}
        common = [key for key in values if key in eager]
        differing = [key for key in common if not _same(eager[key].value, values[key].value)]
        if differing:
            key = next((key for key in differing if _DECISIVE.search(key[1])), differing[0])
            return Difference(
                step=name,
                label=key[1],
                expected=eager[key],
                found=values[key],
                decisive=bool(_DECISIVE.search(key[1])) and (agreed > 0 or _seeded(bundle, base)),
                compared=len(common),
            )
        agreed += len(common)
    return None


def _seeded(bundle: Bundle, base: str) -> bool:
    script = original_script(bundle, base)
    facts = script_facts(script) if script else None
    return facts is not None and bool(facts.seeded)


def printed_values(log: Source) -> dict[Key, Printed]:
    """Values that a program printed, by (identity, label, occurrence), in the order of the log."""
    values: dict[Key, Printed] = {}
    seen: dict[tuple[tuple[str, ...], str], int] = {}
    for line, offset, text in _candidates(log):
        for identity, label, value in _pairs(text):
            count = seen.get((identity, label), 0)
            seen[identity, label] = count + 1
            values[identity, label, count] = Printed(value, log, line, offset, text[:MAX_QUOTE])
        if len(values) >= MAX_VALUES:
            break
    return values


def _candidates(log: Source) -> Iterator[tuple[int, int, str]]:
    """(line, byte offset, text) of lines of the program itself."""
    try:
        with open_log(log.location) as stream:
            number, offset = 1, 0
            while offset < SCAN_BYTES and (block := stream.read(1024 * 1024) + stream.readline()):
                last, counted = 0, number
                for found in _LINE.finditer(block):
                    counted += block.count(b"\n", last, found.start())
                    last = found.start()
                    text = found.group().decode("utf-8", "replace").rstrip("\r")
                    if not _RECORD.match(text):
                        yield counted, offset + found.start(), text
                number += block.count(b"\n")
                offset += len(block)
    except OSError:
        return


def _pairs(text: str) -> list[tuple[tuple[str, ...], str, str]]:
    rank = _RANK.match(text)
    pairs = [(found["label"].lower(), found["value"]) for found in _PAIR.finditer(text[rank.end() if rank else 0 :])]
    identity = tuple(f"{label} {value}" for label, value in pairs if label in _IDENTITY)
    identity = (f"rank {rank[1]}", *identity) if rank else identity
    return [(identity, label, value) for label, value in pairs if _COMPARED.search(label)]


def _same(expected: str, found: str) -> bool:
    try:
        a, b = float(expected), float(found)
    except ValueError:
        return expected == found
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= RELATIVE * max(abs(a), abs(b)) + ABSOLUTE


def blames(difference: Difference | None, chain: Chain, symptom: Symptom | None) -> bool:
    """R46: the difference is the failure: it is decisive or the user speaks of one, and nothing else failed."""
    if difference is None or chain.root is not None or chain.suspects:
        return False
    if any(place in ("witness", "cascade") for place in chain.places.values()):
        return False
    return symptom == "mismatch" or (symptom is None and difference.decisive)


def with_difference(chain: Chain, difference: Difference) -> Chain:
    """The chain whose root is the first printed value that differs."""
    found, number = difference.found, difference.step[4]
    reason = say(
        f"values.step{number}",
        label=difference.label,
        here=found.value,
        there=difference.expected.value,
        step=difference.step,
        place=f"{difference.expected.source.path}:{difference.expected.line}",
    )
    lead = Finding(
        signature=None, source=found.source.id, line=found.line, quote=found.quote, record_line=found.line,
        record_end_line=found.line, offset=found.offset, format="text",
        fields={"label": difference.label, "eager": difference.expected.value, "found": found.value},
    )  # fmt: skip
    root = Incident(
        id="v1", lead=lead, findings=(lead,), signature=None, title=say("values.title"), role="cause",
        category="accuracy", subcategory=f"{SUBCATEGORY}{number}",
    )  # fmt: skip
    return msgspec.structs.replace(
        chain,
        incidents=(*chain.incidents, root),
        places={**chain.places, root.id: "root"},
        root=root.id,
        root_reason=reason,
    )


def difference_text(difference: Difference) -> Text:
    """The difference in words, for a run whose symptom is not known."""
    expected, found = difference.expected, difference.found
    return say(
        "values.noted",
        label=difference.label,
        here=found.value,
        there=expected.value,
        step=difference.step,
        at=f"{found.source.path}:{found.line}",
        place=f"{expected.source.path}:{expected.line}",
        count=difference.compared,
    )
