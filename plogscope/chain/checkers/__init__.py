"""Rules that are not a pattern, one file each. A rule is a module with `check(view)` and its place in `ORDER`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence

from plogscope.chain.checkers.base import CheckerResult, JobView

Check = Callable[[JobView], Sequence[CheckerResult]]


def run_checkers(view: JobView) -> tuple[CheckerResult, ...]:
    """What all rules say, in the order in which they decide (`ORDER` of each module, lowest first)."""
    rules: list[tuple[int, str, Check]] = []
    for module in pkgutil.iter_modules(__path__):
        if module.name == "base":
            continue
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if hasattr(loaded, "check"):
            rules.append((loaded.ORDER, module.name, loaded.check))
    return tuple(result for _, _, check in sorted(rules, key=lambda rule: rule[:2]) for result in check(view))
