"""Private names become typed pseudonyms, the same name the same pseudonym everywhere in one report.

A mask would hide what a diagnosis needs: whether two lines speak of the same host, whether two addresses share a
subnet. So addresses keep their /24, hosts, users and buckets get numbers in the order of their appearance, and ports,
ranks, devices, interfaces, times and codes stay. Secrets are not the subject of this module: they never reach it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from plogscope.data import report_root
from plogscope.model.report import Report

_OCTETS = r"\d{1,3}(?:\.\d{1,3}){3}"
_IPV4 = re.compile(rf"(?<![0-9A-Za-z.-]){_OCTETS}(?![0-9A-Za-z]|\.\d)")
_VERSION_BEFORE = re.compile(r"(?:\b(?:version|ver|release|firmware|driver|v)\W{0,3}|==|>=|<=|~=)\Z", re.IGNORECASE)
_IPV6 = re.compile(r"(?<![\w:.])(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}):[0-9a-f:]{2,37}(?![\w:])", re.IGNORECASE)
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])", re.IGNORECASE)
_EID = re.compile(r"(?<=EID\[)[0-9a-fA-F:]{8,64}(?=\])")
_SERIAL = re.compile(r"(?<=serial number: )\w{6,40}|(?<=serial number : )\w{6,40}", re.IGNORECASE)
_BUCKET = re.compile(r"\b(?P<scheme>obs|s3|s3a|oss|gs)://(?P<bucket>[A-Za-z0-9.-]{3,63})(?P<path>/[^\s\"'<>]{0,1024})?")
_BUCKET_HOST = re.compile(r"(?<![\w.-])(?P<bucket>[a-z0-9][a-z0-9-]{1,61}[a-z0-9])(?=\.obs\.[a-z0-9-]{2,40}\.)")
_JOB = re.compile(r"(?<![\w-])modelarts-job-[0-9a-f-]{6,40}(?![\w-])")
_PROMPT = re.compile(r"(?<=prompt: )(?P<quote>['\"])(?P<text>.{1,20000}?)(?P=quote)(?=, )", re.DOTALL)
_TOKENS = re.compile(r"(?<=prompt_token_ids: )\[[0-9, ]{1,200000}\]")
_HOME = re.compile(r"(?<=/home/)[A-Za-z_][\w.-]{0,31}")
_USER = re.compile(r"(?<![\w-])(?:user|username|login)[=:] {0,2}['\"]?(?P<user>[A-Za-z_][\w.-]{1,31})")
_AT_HOST = re.compile(r"(?<![\w/.@-])(?P<user>[a-z_][\w.-]{1,31})@(?P<host>[A-Za-z][\w.-]{1,62}):")
_HOST = re.compile(
    r"\b(?:host_?name|MASTER_ADDR|master_addr(?:ess)?|rdzv_endpoint|node_?name)['\"]?[=: ]{1,3}['\"]?"
    r"(?P<host>[A-Za-z][A-Za-z0-9.-]{2,62})"
)
_SYSLOG = re.compile(r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<host>[A-Za-z][\w.-]{2,62}) \S", re.MULTILINE)
_POD = re.compile(r"\bpod(?:_?name)?['\"]?[=:] {0,2}['\"]?(?P<pod>[a-z0-9][a-z0-9.-]{4,62})")
_OURS = re.compile(r"(?:host|pod|job|eid|sn|word)-\d{2,}|(?:user|bucket)\d+")
_KEPT_USERS = frozenset({"root", "HwHiAiUser", "HwDmUser", "HwBaseUser", "ma-user", "service", "defined"})
_GENERIC = frozenset(
    [
        "ascend",
        "data",
        "debug",
        "default",
        "device",
        "host",
        "job",
        "localhost",
        "log",
        "logs",
        "main",
        "master",
        "model",
        "node",
        "none",
        "npu",
        "null",
        "plog",
        "pod",
        "python",
        "rank",
        "run",
        "server",
        "step",
        "test",
        "train",
        "user",
        "work",
        "worker",
        "workspace",
    ]
)
"""Names that are words of every log: a host of this name is replaced only where it stands as a part of a path."""

_DOCUMENTATION_V4 = ipaddress.ip_network("198.18.0.0/15")
_DOCUMENTATION_V6 = ipaddress.ip_network("2001:db8::/32")
_KEPT_KEYS = frozenset(
    [
        "schema",
        "role",
        "status",
        "category",
        "level",
        "route",
        "kind",
        "basis",
        "relation",
        "signature",
        "id",
        "explained_by",
        "generated",
        "run_id",
        "grammar_digest",
        "version",
        "name",
    ]
)
_SHORTEST_LEAK = 4
_LEARNED = ("word", "host", "pod", "user")
"""Kinds of names that are found by a statement about them and then replaced wherever they stand."""


class Pseudonyms:
    """The names of one report and what stands for them."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        self.map: dict[str, dict[str, str]] = {}
        self._nets: dict[str, int] = {}
        self._net_hosts: dict[str, int] = {}
        self._names: re.Pattern[str] | None = None
        for word in words:
            self._numbered("word", word, "word-{:02d}")

    def learn(self, report: Report) -> None:
        """Finds the names that stand alone nowhere: hosts, pods and users, wherever something says what they are."""
        for name in sorted(_stated_hosts(report)):
            self._learn("host", name)
        for text in _strings(msgspec.to_builtins(report)):
            for match in (*_HOST.finditer(text), *_SYSLOG.finditer(text), *_AT_HOST.finditer(text)):
                self._learn("host", match["host"].rstrip("."))
            for match in (*_USER.finditer(text), *_AT_HOST.finditer(text)):
                self._learn("user", match["user"])
            for match in _HOME.finditer(text):
                self._learn("user", match.group())
            for match in _POD.finditer(text):
                self._learn("pod", match["pod"])
        self._names = None

    def _learn(self, kind: str, name: str) -> None:
        if _OURS.fullmatch(name) or name in _KEPT_USERS or name.replace(".", "").isdecimal():
            return
        if kind != "host" and name.lower() in _GENERIC:
            return
        self._numbered(kind, name, "user{}" if kind == "user" else kind + "-{:02d}")

    def _numbered(self, kind: str, name: str, form: str) -> str:
        known = self.map.setdefault(kind, {})
        return known.setdefault(name, form.format(len(known) + 1))

    def text(self, text: str) -> str:
        """`text` with every private name replaced; applying it twice changes nothing more."""
        if len(text) < _SHORTEST_LEAK - 1:
            return text
        if "prompt" in text:
            text = _PROMPT.sub(lambda match: f"<prompt {len(match['text'])} chars>", text)
            text = _TOKENS.sub(lambda match: f"<{match.group().count(',') + 1} token ids>", text)
        if "://" in text or ".obs." in text:
            text = _BUCKET.sub(self._bucket, text)
            text = _BUCKET_HOST.sub(lambda match: self._bucket_name(match["bucket"]), text)
        if ":" in text:
            text = _MAC.sub(lambda match: self._mac(match.group()), text)
            text = _IPV6.sub(self._v6, text)
            text = _SERIAL.sub(lambda match: self._numbered("serial", match.group(), "sn-{:02d}"), text)
        text = _EID.sub(lambda match: self._numbered("eid", match.group(), "eid-{:02d}"), text)
        if "." in text:
            text = _IPV4.sub(self._v4, text)
        text = _JOB.sub(lambda match: self._numbered("job", match.group(), "job-{:02d}"), text)
        return self._known(text)

    def _known(self, text: str) -> str:
        """Learned names: everywhere, or as a part of a path only when the name is a word of every log."""
        if self._names is None:
            names = sorted(
                {name for kind in _LEARNED for name in self.map.get(kind, {})}, key=lambda name: (-len(name), name)
            )
            generic = _GENERIC | _own_words()
            everywhere = [re.escape(name) for name in names if name.lower() not in generic]
            in_paths = [re.escape(name) for name in names if name.lower() in generic]
            parts = [rf"(?<![A-Za-z0-9])(?:{'|'.join(everywhere)})(?![A-Za-z0-9])"] if everywhere else []
            parts += (
                [rf"(?<![A-Za-z0-9._-])(?:{'|'.join(in_paths)})(?=/)|\A(?:{'|'.join(in_paths)})\Z"] if in_paths else []
            )
            self._names = re.compile("|".join(parts) or r"(?!)")
        return self._names.sub(lambda match: self._stand_in(match.group()), text)

    def _stand_in(self, name: str) -> str:
        return next(self.map[kind][name] for kind in _LEARNED if name in self.map.get(kind, {}))

    def _v4(self, match: re.Match[str]) -> str:
        shown = match.group()
        before = match.string[max(match.start() - 12, 0) : match.start()]
        try:
            address = ipaddress.IPv4Address(shown)
        except ValueError:
            return shown
        kept = address.is_loopback or address.is_link_local or shown.startswith(("0.", "255.")) or address.is_multicast
        if kept or address in _DOCUMENTATION_V4 or _VERSION_BEFORE.search(before):
            return shown
        known = self.map.setdefault("address", {})
        if shown not in known:
            net = self._nets.setdefault(shown.rpartition(".")[0], len(self._nets))
            number = self._net_hosts[str(net)] = self._net_hosts.get(str(net), 0) + 1
            known[shown] = f"198.{18 + net // 256}.{net % 256}.{number}"
        return known[shown]

    def _v6(self, match: re.Match[str]) -> str:
        shown = match.group()
        try:
            address = ipaddress.IPv6Address(shown)
        except ValueError:
            return shown
        if address in _DOCUMENTATION_V6:
            return shown
        known = self.map.setdefault("address", {})
        if shown not in known:
            key = str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
            net = self._nets.setdefault(key, len(self._nets))
            number = self._net_hosts[str(net)] = self._net_hosts.get(str(net), 0) + 1
            known[shown] = f"2001:db8:{net:x}::{number:x}"
        return known[shown]

    def _mac(self, shown: str) -> str:
        if shown.startswith("02:00:00:00:") or set(shown) <= set("0:") or set(shown.lower()) <= set("f:"):
            return shown
        known = self.map.setdefault("mac", {})
        number = len(known) + 1
        return known.setdefault(shown, f"02:00:00:00:{number >> 8 & 255:02x}:{number & 255:02x}")

    def _bucket_name(self, name: str) -> str:
        return name if _OURS.fullmatch(name) else self._numbered("bucket", name, "bucket{}")

    def _bucket(self, match: re.Match[str]) -> str:
        """The bucket by its pseudonym, of the path only the last component: it names the file."""
        head = f"{match['scheme']}://{self._bucket_name(match['bucket'])}"
        path = match["path"] or ""
        last = path.rstrip("/").rpartition("/")[2]
        return head + (f"/…/{last}" if last and path.count("/") > 1 else path)

    def counts(self) -> list[tuple[str, int]]:
        """How many names of each kind were replaced."""
        return [(kind, len(names)) for kind, names in sorted(self.map.items()) if names]

    def leaks(self, text: str) -> list[str]:
        """Originals that still stand in `text`, which is to be published; empty is what has to be."""
        self._known("")
        found = set(self._names.findall(text)) if self._names is not None else set()
        for kind, names in self.map.items():
            if kind not in _LEARNED:
                pattern = r"(?<![A-Za-z0-9.]){}(?![A-Za-z0-9]|\.\d)"
                found |= {name for name in names if name in text and re.search(pattern.format(re.escape(name)), text)}
        return sorted(name for name in found if len(name) >= _SHORTEST_LEAK)


@lru_cache(maxsize=1)
def _own_words() -> frozenset[str]:
    """Words of our own pages: a host called `report` must not turn them into pseudonyms."""
    files = [*sorted(report_root().glob("*.toml")), *sorted((report_root() / "templates").rglob("*.j2"))]
    return frozenset(word for file in files for word in re.findall(r"[a-z]+", file.read_text(encoding="utf-8").lower()))


def _stated_hosts(report: Report) -> set[str]:
    stated = {node for node in report.cluster.nodes if node} | {file.node for file in report.bundle.files if file.node}
    stated |= {entry.node for entry in report.chain if entry.node}
    return stated | {rank.node for rank in report.cluster.ranks if rank.node}


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple) and not (value and isinstance(value[0], int)):
        for item in value:
            yield from _strings(item)


def pseudonymise(report: Report, words: Sequence[str] = ()) -> tuple[Report, Pseudonyms]:
    """`report` with pseudonyms for its private names, and the names; `words` are further names to replace."""
    names = Pseudonyms(words)
    names.learn(report)
    return msgspec.convert(_replaced(msgspec.to_builtins(report), names), Report), names


def _replaced(value: Any, names: Pseudonyms, key: str = "") -> Any:
    if isinstance(value, str):
        return value if key in _KEPT_KEYS else names.text(value)
    if isinstance(value, dict):
        return {name: _replaced(item, names, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return value if value and isinstance(value[0], int) else [_replaced(item, names, key) for item in value]
    return value
