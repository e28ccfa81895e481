"""Counts what a report still contains that should not be public: the report foot and the terminal say it."""

from __future__ import annotations

import ipaddress
import re

from plogscope.model.report import Report
from plogscope.model.vocabulary import Text
from plogscope.render.words import load_words

_IPV4 = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)")
_USER = re.compile(r"/home/([A-Za-z_][\w.-]{0,31})")
_SYSTEM_USERS = frozenset({"HwHiAiUser", "HwDmUser", "HwBaseUser", "ma-user", "service"})
_MAX_SCANNED = 20_000


def contained(report: Report) -> list[tuple[str, int]]:
    """How many distinct addresses, hosts, users and variables the report shows, by kind; kinds with none are absent."""
    texts = _texts(report)
    addresses = {match for text in texts for match in _IPV4.findall(text) if _is_address(match)}
    users = {match for text in texts for match in _USER.findall(text)} - _SYSTEM_USERS
    hosts = {node for node in report.cluster.nodes if node} | {file.node for file in report.bundle.files if file.node}
    found = [("addresses", len(addresses)), ("hosts", len(hosts)), ("users", len(users))]
    found.append(("variables", len(report.environment.env)))
    return [(kind, count) for kind, count in found if count]


def privacy_line(report: Report) -> Text:
    """One sentence: what the report contains that should not be public."""
    words = load_words()
    kinds = [words(f"contains.{kind}", n=count) for kind, count in contained(report)] or [words("contains.nothing")]
    listed = Text(en=", ".join(kind.en for kind in kinds), zh="、".join(kind.zh for kind in kinds))
    return words("contains.line", what=listed)


def _texts(report: Report) -> list[str]:
    texts = [report.bundle.path, *(file.path for file in report.bundle.files)]
    texts.extend(entry.quote for entry in report.chain)
    for item in report.evidence:
        texts.extend((item.quote, *item.context_before, *item.context_after))
    texts.extend(report.environment.env.values())
    return [text[:_MAX_SCANNED] for text in texts]


def _is_address(text: str) -> bool:
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
