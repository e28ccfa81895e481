"""What the scripts of a run say about themselves: parsed as a syntax tree, never run (rule R4)."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator

import msgspec

from plogscope.model.source import Bundle, Source
from plogscope.triage.files import text_of

MAX_SCRIPT = 1024 * 1024
ORIGINAL = "scripts/original.py"

_KNOWN = frozenset({"torch", "torch_npu", "torchair", "npugraph_ex", "numpy", "torchvision", "__future__"})
_STREAM_NAMES = frozenset({"Stream", "stream", "Event", "wait_stream", "record_stream", "wait_event"})
_STREAM_HOMES = frozenset({"npu", "cuda", "torch_npu", "accelerator"})
_STREAM_METHODS = frozenset({"wait_stream", "record_stream", "wait_event"})
_CUSTOM_NAMES = frozenset({"custom_op", "register_fake", "load_inline", "load_library", "impl_abstract"})
_PUBLIC_OPS = frozenset({"aten", "prims", "prim", "load_library"})
_SEEDS = frozenset({"manual_seed", "manual_seed_all", "seed_everything", "set_seed"})


class ScriptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One script. Numbers are lines, 0 = not seen.

    Attributes:
        source: The file.
        dynamic: Value of `dynamic=` of torch.compile as source text, and its line; None if it is not given.
        foreign: Modules that are imported from outside the standard library and torch: what they do is not seen.
        imports: Top-level names of all imports.
    """

    source: Source
    dynamic: tuple[str, int] | None = None
    stream: int = 0
    custom_op: int = 0
    in_place: int = 0
    seeded: int = 0
    distributed: int = 0
    foreign: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()


def original_script(bundle: Bundle, base: str) -> Source | None:
    """The script that the user wrote, or the unchanged copy of step 5, or None."""
    by_path = {source.path: source for source in bundle.sources}
    for name in (ORIGINAL, "scripts/step5-npugraph_ex.py"):
        if f"{base}{name}" in by_path:
            return by_path[f"{base}{name}"]
    return None


def parse(code: str) -> ast.Module | None:
    """The syntax tree, or None for text that is no Python program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def script_facts(source: Source) -> ScriptFacts | None:
    """Facts of a script; None if it cannot be parsed."""
    tree = parse(text_of(source, MAX_SCRIPT))
    if tree is None:
        return None
    nodes = list(ast.walk(tree))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    imports = frozenset(_imports(nodes))
    known = _KNOWN | sys.stdlib_module_names
    return ScriptFacts(
        source=source,
        dynamic=_dynamic(calls),
        stream=_first(node for node in nodes if isinstance(node, ast.Attribute) and _is_stream(node)),
        custom_op=_first(node for node in nodes if _is_custom(node)),
        in_place=_first(node for node in nodes if _writes_in_place(node)),
        seeded=_first(call for call in calls if _called(call) in _SEEDS),
        distributed=_first(node for node in nodes if _is_distributed(node)),
        foreign=tuple(sorted(imports - known)),
        imports=imports,
    )


def _first(nodes: Iterator[ast.AST]) -> int:
    return min((getattr(node, "lineno", 0) for node in nodes), default=0)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _imports(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." if node.level else (node.module or "").partition(".")[0]


def _dynamic(calls: list[ast.Call]) -> tuple[str, int] | None:
    for call in calls:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        compiles = _called(call) == "compile" and ("backend" in given or "fullgraph" in given or "dynamic" in given)
        if compiles and "dynamic" in given:
            return ast.unparse(given["dynamic"])[:40], call.lineno
    return None


def _is_stream(node: ast.Attribute) -> bool:
    if node.attr in _STREAM_METHODS:
        return True
    home = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    return node.attr in _STREAM_NAMES and home in _STREAM_HOMES


def _is_custom(node: ast.AST) -> bool:
    """A library of operators, a decorator that makes one, or a call of `torch.ops.<namespace of somebody>`."""
    if not isinstance(node, ast.Attribute):
        return isinstance(node, ast.Name) and node.id in _CUSTOM_NAMES
    if node.attr in _CUSTOM_NAMES:
        return True
    home = node.value
    if isinstance(home, ast.Attribute) and home.attr == "library" and node.attr in ("Library", "define", "impl"):
        return True
    of_torch = isinstance(home, ast.Attribute) and home.attr == "ops" and getattr(home.value, "id", "") == "torch"
    return of_torch and node.attr not in _PUBLIC_OPS


def _writes_in_place(node: ast.AST) -> bool:
    """`x.add_(…)`, `x[i] = …`, `x[i] += …` or `out=` of a torch call; a dictionary written by key looks the same."""
    if isinstance(node, ast.Call):
        name = _called(node)
        torch_out = getattr(getattr(node.func, "value", None), "id", "") == "torch"
        return (len(name) > 1 and name.endswith("_") and not name.endswith("__")) or (
            torch_out and any(keyword.arg == "out" for keyword in node.keywords)
        )
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Subscript)
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Subscript) and not _is_key(target.slice) for target in node.targets)
    return False


def _is_key(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _is_distributed(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _called(node) == "init_process_group"
    return isinstance(node, ast.Constant) and node.value in ("LOCAL_RANK", "WORLD_SIZE")
