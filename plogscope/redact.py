"""Removes secrets from what leaves the machine: tokens, passwords, keys, credentials in addresses, signed queries.

Secrets are always removed, asked for or not. A value becomes `<secret:kind#n>`, equal values the same number, so that a
reader still sees that two lines used the same key. The values themselves are kept nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from plogscope.model.report import Report

# A value that is already replaced, empty of meaning, or only the name of a variable is no secret.
_HARMLESS = r"(?!<secret:|(?:none|null|nil|true|false|unset|\*{2,}|\$\{?\w{1,64}\}?|x{3,}|<)(?:[\s\"',;&)\]}]|$))"
_ASSIGN = r"[\"']?\s{0,4}(?::=|==|=>|[:=])\s{0,4}"
_QUOTED = rf"(?P<quote>[\"'])(?P<value>{_HARMLESS}[^\"'\n]{{1,1024}})"
_BARE = rf"(?P<bare>{_HARMLESS}[^\s\"',;&<>()\[\]{{}}]{{1,1024}})"
# `token` alone is no such name: log lines count tokens.
_NAMES = (
    r"(?:pass(?:word|wd|phrase)|(?<![A-Za-z0-9<])(?:pwd|secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?secret"
    r"|private[_-]?key|api[_-]?key|access[_-]?key(?:[_-]?id)?"
    r"|(?:access|api|auth|bearer|github|gitlab|hf|hub|id|modelscope|refresh|sas|sdk|security|session|wandb)[_-]?token))"
)
_SECRET_VARIABLE = re.compile(
    r"pass(?:word|wd|phrase)|secret|credential|(?:^|_)(?:token|[as]k)(?:_|$)|(?:api|access|private)_?key", re.IGNORECASE
)
_PLAIN_VALUE = re.compile(r"(?:none|null|true|false|-?\d{1,6}|)\Z", re.IGNORECASE)
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}\s*\Z")


class _Rule(msgspec.Struct, frozen=True):
    """One kind of secret. `hints` are lower-case literals of which one must occur: most lines need no regex at all."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(kind: str, hints: str, pattern: str) -> _Rule:
    return _Rule(kind, tuple(hints.split()), re.compile(pattern, re.IGNORECASE))


# The group `value` (or `bare`) is what goes. Every repeat is bounded or cannot match what follows it: linear time.
_RULES: tuple[_Rule, ...] = (
    _rule("private-key", "private", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<value>[^-<]{1,20000})"),
    _rule("url", "://", r"\b[a-z][a-z0-9+.-]{1,20}://(?P<value>[^\s/@:'\"<>]{0,128}:[^\s/@'\"<>]{1,256})@"),
    _rule(
        "authorization",
        "authorization",
        rf"authorization{_ASSIGN}[\"']?(?:(?:basic|bearer|digest|token|[a-z0-9]{{2,8}}-hmac-sha256)\s{{1,4}})?"
        r"(?P<value>(?!<secret:|(?:basic|bearer|digest|token)\s)[^\s\"'<>]{4,4096})",
    ),
    _rule("bearer", "bearer", r"\bbearer\s{1,4}(?P<value>[a-z0-9._~+/=-]{12,4096})"),
    _rule("jwt", "eyj", r"(?<![\w-])(?P<value>eyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]{0,4096})"),
    _rule("hugging-face", "hf_", r"(?<![a-z0-9])(?P<value>hf_[a-z0-9]{16,128})(?!\w)"),
    _rule(
        "github", "gh github_pat_", r"(?<![a-z0-9])(?P<value>gh[pousr]_[a-z0-9]{20,255}|github_pat_\w{20,255})(?!\w)"
    ),
    _rule("gitlab", "glpat-", r"(?<!\w)(?P<value>glpat-[\w-]{16,128})"),
    _rule("api-key", "sk-", r"(?<![\w-])(?P<value>sk-(?=[\w-]{0,40}\d)[\w-]{20,256})"),
    _rule("slack", "xox", r"(?<!\w)(?P<value>xox[abeoprs]-[a-z0-9-]{10,250})"),
    _rule(
        "ak",
        "akia asia agpa aroa ltai",
        r"(?<!\w)(?P<value>(?:AKIA|ASIA|AGPA|AROA)[A-Z0-9]{16}|LTAI[a-z0-9]{12,26})(?!\w)",
    ),
    _rule("ak", "ak", rf"(?<![a-z0-9])ak{_ASSIGN}[\"']?(?P<value>[a-z0-9]{{16,64}})(?!\w)"),
    _rule("sk", "sk", rf"(?<![a-z0-9])sk{_ASSIGN}[\"']?(?P<value>[a-z0-9/+=]{{24,128}})"),
    _rule(
        "signature",
        "sig x- accesskeyid",
        r"[?&;](?:Signature|sig|X-[a-z]{2,8}-(?:Signature|Credential|Security-Token)|[a-z]{0,4}AccessKeyId)="
        r"(?P<value>(?!<secret:)[^\s&\"'<>]{1,2048})",
    ),
    _rule("secret", "pass pwd secret key token", rf"{_NAMES}{_ASSIGN}(?:{_QUOTED}|{_BARE})"),
    _rule("secret", "pass pwd secret key token", rf"--{_NAMES}\s{{1,4}}(?:{_QUOTED}|(?!-){_BARE})"),
    _rule(
        "token",
        "token",
        rf"(?<![a-z0-9])token{_ASSIGN}[\"']?(?P<value>(?=[^\s\"']{{0,80}}[0-9])(?=[^\s\"']{{0,80}}[g-z])[a-z0-9._~+/=-]{{20,2048}})",
    ),
)


class _Names:
    """Numbers for values, so that equal values get equal names within one report."""

    def __init__(self) -> None:
        self.numbers: dict[str, dict[str, int]] = {}
        self.known: dict[str, str] = {}
        """Lines that were read already: a report repeats titles, paths and reasons."""

    def name(self, kind: str, value: str) -> str:
        known = self.numbers.setdefault(kind, {})
        return f"<secret:{kind}#{known.setdefault(value, len(known) + 1)}>"

    def line(self, text: str) -> str:
        """One line without its secrets."""
        if text not in self.known:
            self.known[text] = self._read(text)
        return self.known[text]

    def _read(self, text: str) -> str:
        lowered = text.lower()
        for rule in _RULES:
            if any(hint in lowered for hint in rule.hints):
                text = rule.pattern.sub(lambda match, kind=rule.kind: self._replace(match, kind), text)  # type: ignore[misc]
        return text

    def _replace(self, match: re.Match[str], kind: str) -> str:
        group = "value" if match["value"] is not None else "bare"
        start, end = match.span(group)
        whole = match.group()
        return whole[: start - match.start()] + self.name(kind, match[group]) + whole[end - match.start() :]

    def lines(self, lines: Sequence[str]) -> list[str]:
        """Lines that stand together, so that a key that spans several of them goes as a whole."""
        inside = _key_lines(lines)
        return [self.name("private-key", line) if at in inside else self.line(line) for at, line in enumerate(lines)]

    def text(self, text: str) -> str:
        return "\n".join(self.lines(text.split("\n")))

    def variable(self, name: str, value: str) -> str:
        """The value of a named variable or field; a name that announces a secret is enough."""
        if _SECRET_VARIABLE.search(name) and not _PLAIN_VALUE.match(value) and not value.startswith("<secret:"):
            return self.name("secret", value)
        return self.text(value)


def _key_lines(lines: Sequence[str]) -> set[int]:
    """Positions of the lines inside a private key; a key whose begin or end is cut off counts as far as it is seen."""
    inside: set[int] = set()
    opened: int | None = None
    for at, line in enumerate(lines):
        if _KEY_BEGIN.search(line) and not _KEY_END.search(line):
            opened = at
        elif _KEY_END.search(line) and not _KEY_BEGIN.search(line):
            first = opened + 1 if opened is not None else _body_start(lines, at)
            inside.update(range(first, at))
            opened = None
    if opened is not None:
        inside.update(at for at in range(opened + 1, len(lines)) if _KEY_BODY.search(lines[at]))
    return inside


def _body_start(lines: Sequence[str], end: int) -> int:
    start = end
    while start and _KEY_BODY.search(lines[start - 1]):
        start -= 1
    return start


def redact_secrets(text: str) -> str:
    """`text` with every secret replaced by `<secret:kind#n>`; applying it twice changes nothing more."""
    return _Names().text(text)


def redact_report(report: Report) -> Report:
    """`report` with every secret replaced in quotes, context, fields, commands, variables, names and words."""
    return msgspec.convert(_redact(msgspec.to_builtins(report), _Names()), Report)


_NUMBERS = frozenset({int, float})
_TABLES = frozenset({"env", "fields"})
_CONTEXT = ("context_before", "quote", "context_after")


def _redact(value: Any, names: _Names, key: str = "") -> Any:
    if isinstance(value, str):
        return names.text(value)
    if isinstance(value, list):
        plain = _NUMBERS.issuperset(map(type, value))
        return value if plain else [_redact(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    if key in _TABLES:
        return {name: names.variable(name, item) for name, item in value.items()}
    changed = {name: item if name in _CONTEXT else _redact(item, names, name) for name, item in value.items()}
    if "context_before" in value:
        return {**changed, **_redact_context(value, names)}
    if "quote" in value:
        changed["quote"] = names.text(value["quote"])
    return changed


def _redact_context(evidence: dict[str, Any], names: _Names) -> dict[str, Any]:
    """A quote and the lines around it stand together: a key may span them."""
    before, after = evidence["context_before"], evidence["context_after"]
    lines = names.lines([*before, evidence["quote"], *after])
    split = len(before)
    return {"context_before": lines[:split], "quote": lines[split], "context_after": lines[split + 1 :]}
