"""What one grammar file says about one message, and the grammar that holds them all."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from plogscope.model.vocabulary import ActionKind, Category, Role, Text

Keep = Literal["all", "first", "last", "first-last", "count"]
Scope = Literal["thread", "stream", "device", "process", "node", "communicator", "job"]
FieldType = Literal["text", "int", "hex", "float"]
Meaning = Literal[
    "rank", "group_rank", "local_rank", "remote_rank", "missing_ranks", "connected_ranks", "rank_size",
    "device", "remote_device", "stream", "task", "core", "kernel", "op", "api", "code", "errcode", "error_text",
    "limit_s", "limit_ms", "elapsed_ms", "size_bytes", "address", "remote_address", "communicator", "tag", "index",
    "count", "pid", "signal", "exit_code", "file", "line", "module", "version", "variable", "value", "expected",
    "path", "exception", "time", "step", "other",
]  # fmt: skip
Maturity = Literal["experimental", "test", "stable"]
MEANINGS: tuple[str, ...] = get_args(Meaning)
FIELD_TYPES: tuple[str, ...] = get_args(FieldType)
SCOPES: tuple[str, ...] = get_args(Scope)
MATURITIES: tuple[str, ...] = get_args(Maturity)


class Field(msgspec.Struct, frozen=True):
    """One named group of the pattern: its type and what it means to the stages after the scan."""

    type: FieldType = "text"
    meaning: Meaning = "other"


class Explains(msgspec.Struct, frozen=True):
    """`id` (a signature id, or a prefix ending in `/`) can be a consequence within `scope` and `within_s` seconds."""

    id: str
    scope: Scope = "process"
    within_s: float = 60.0


def names(rule: Explains, signature_id: str) -> bool:
    """True when the rule names that signature, by its id or by a prefix."""
    return signature_id.startswith(rule.id) if rule.id.endswith("/") else signature_id == rule.id


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """Which records a signature wants.

    Attributes:
        pattern: Regular expression (the common subset of `re` and `regex`), searched in the record's text with
            MULTILINE; it names one line: the line of the match's start is the line that states it.
        formats: Names of formats it may stand in; empty = any.
        levels: Record levels it may stand at; empty = any.
        literals: One of them is in every text that matches. Derived from the pattern when not given.
        generic: True when a more specific signature may match the same text and wins.
    """

    pattern: str
    formats: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    keep: Keep = "all"
    literals: tuple[str, ...] = ()
    generic: bool = False


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """What must stand in a text that a pattern matches in one of its ways.

    Attributes:
        trigger: One of the literals of the signature must be there, of these.
        words: Of each of these groups one must be there as well.
        at_start: The match begins at the start of a line.
        starts: ASCII characters with which such a line must begin, if it begins with one; empty = any.
        near: Two groups; a word of the second must be close to where a word of the first begins. Empty = not asked for.
        within: How many characters before that place and from it on are close.
    """

    trigger: tuple[str, ...]
    words: tuple[tuple[str, ...], ...] = ()
    at_start: bool = False
    starts: str = ""
    near: tuple[tuple[str, ...], ...] = ()
    within: tuple[int, int] = (0, 0)


class ChainHints(msgspec.Struct, frozen=True, kw_only=True):
    """How the finding joins with others.

    Attributes:
        identity: Names of extracted fields that tell two failures apart (device, stream, task …).
        joins: A family name: findings of one family in one process close in time are one failure seen by layers.
        explains: Consequences.
        refines: Ids of more general signatures that this one replaces on the same line.
        codes: Code table (`grammars/codes/<family>.toml`) whose row for field `code` sets role and category.
        waits: True when the message says that *somebody else* did not come: never a root, its peers are suspects.
        weight: Among the findings of one incident the heaviest is the line that states it (default 0).
        trail: True when the message only reports that a step failed: the first error of the same thread just before it
            states the reason. If no signature knows that error, its line leads the incident.
    """

    identity: tuple[str, ...] = ()
    joins: str | None = None
    explains: tuple[Explains, ...] = ()
    refines: tuple[str, ...] = ()
    codes: str | None = None
    waits: bool = False
    weight: int = 0
    trail: bool = False


NPU = "npu"
"""A placeholder that every text of an advice may have: the number of the device that failed, if it is known."""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest next action when this signature is the root cause."""

    next_action: Text
    kind: ActionKind = "check"
    env: dict[str, str] = {}
    command: str | None = None
    references: tuple[str, ...] = ()


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A real line that matches, with exactly these fields. `source` says where such a line is printed."""

    line: str
    source: str
    fields: dict[str, str] = {}


class NearMiss(msgspec.Struct, frozen=True, kw_only=True):
    """A real line that must not match, and `why`."""

    line: str
    why: str
    source: str


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """One file below `grammars/`; the id is its path without suffix, for example `operator/aicore-exception`.

    Attributes:
        phase: `setup` is what is installed or configured before the process starts and what no step changes: a
            package, a library, a rank table, an environment variable. `bring-up` is what happens while the process
            connects and opens: the same line after a step says something else.
        conditions: Derived from the pattern: every match keeps one of them. Empty = not known.
    """

    id: str
    title: Text
    category: Category
    role: Role
    match: Match
    advice: Advice | None = None
    status: Maturity = "stable"
    subcategory: str | None = None
    phase: Literal["compile", "capture", "replay", "setup", "bring-up", "any"] = "any"
    caution: Text | None = None
    extract: dict[str, Field] = {}
    chain: ChainHints = ChainHints()
    examples: tuple[Example, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    conditions: tuple[Condition, ...] = ()


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a code table."""

    code: str
    symbol: str
    title: Text
    meaning: Text
    next_action: Text
    category: Category
    role: Role
    source_category: str = ""
    severity: str = "error"
    needs: str = ""
    source: str = ""


class Grammar(msgspec.Struct, frozen=True, kw_only=True):
    """All signatures, ordered by id, and a digest of what they say."""

    digest: str
    signatures: tuple[Signature, ...]

    def by_id(self) -> dict[str, Signature]:
        """Signatures by id."""
        return {signature.id: signature for signature in self.signatures}
