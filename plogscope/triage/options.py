"""Which keys of `options=` the rewritten step scripts still pass to torch.compile (rule R64)."""

from __future__ import annotations

import ast
import warnings

from plogscope.model.source import Bundle
from plogscope.triage.files import text_of

MAX_SCRIPT = 1024 * 1024
SCRIPT_STEPS = ("scripts/step2", "scripts/step3")


def kept_options(bundle: Bundle, base: str) -> list[str]:
    """Keys of `options={...}` in the scripts of step 2 and 3, sorted; the scripts are parsed, never run.

    Args:
        bundle: Holds the scripts as artefacts.
        base: Run directory with its separator.

    Returns:
        Literal keys; a key or mapping that is no literal is given as its source text.
    """
    scripts = [s for s in bundle.sources if s.path.endswith(".py") and s.path.startswith(_starts(base))]
    return sorted({key for script in scripts for key in _keys(text_of(script, MAX_SCRIPT))})


def _starts(base: str) -> tuple[str, ...]:
    return tuple(base + start for start in SCRIPT_STEPS)


def _keys(code: str) -> set[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
            return {key for node in ast.walk(tree) if isinstance(node, ast.Call) for key in _call_keys(node)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()


def _call_keys(call: ast.Call) -> set[str]:
    if not (isinstance(call.func, ast.Attribute | ast.Name) and _name(call.func).endswith("compile")):
        return set()
    keys: set[str] = set()
    for keyword in call.keywords:
        if keyword.arg != "options":
            continue
        if isinstance(keyword.value, ast.Dict):
            keys |= {_key(key, value) for key, value in zip(keyword.value.keys, keyword.value.values, strict=True)}
        elif not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None):
            keys.add(ast.unparse(keyword.value)[:80])
    return keys


def _name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _key(key: ast.expr | None, value: ast.expr) -> str:
    if key is None:
        return f"**{ast.unparse(value)[:80]}"
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ast.unparse(key)[:80]
