"""The smallest change of a program that makes it one of the five steps: only its torch.compile call is touched.

Done only where it is certain: one call with the npugraph_ex backend, its arguments written out. A program with several
such calls, with `**arguments`, `functools.partial` or another indirection is left to a person.
"""

from __future__ import annotations

import ast

import msgspec

from plogscope.triage.scripts import parse

BACKEND = "npugraph_ex"
EAGER_BACKENDS = {2: "eager", 3: "aot_eager"}
FORCE_EAGER = '"force_eager": True'
UNCHANGED_STEP = 5

_BARE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


class _Site(msgspec.Struct, frozen=True):
    """The call, and what it is: `value` of an expression, a `decorator`, or `method` of a module."""

    call: ast.Call
    kind: str
    statement: ast.stmt | None = None


def rewritten(code: str, step: int) -> str | None:
    """The program of step 1–5, or None if the change is not certain.

    Args:
        code: The program as the user wrote it.
        step: 1 removes torch.compile, 2 and 3 change the backend and drop `options`, 4 adds force_eager, 5 is the
            program itself.
    """
    if step == UNCHANGED_STEP:
        return code
    tree = parse(code)
    site = _only_site(tree) if tree else None
    if site is None:
        return None
    text = _Text(code)
    if step == 1:
        return _without_compile(site, text)
    parts = _compile_arguments(site, text, step)
    return None if parts is None else text.replaced(site.call, f"{text.of(site.call.func)}({', '.join(parts)})")


class _Text:
    """Source text by syntax node; columns of the tree count UTF-8 bytes."""

    def __init__(self, code: str) -> None:
        self.data = code.encode("utf-8", "surrogatepass")
        self.starts = [0]
        for line in self.data.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[end_line - 1] + end_column

    def of(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8", "surrogatepass")

    def replaced(self, node: ast.expr | ast.stmt, new: str) -> str:
        start, end = self.span(node)
        return self._join(start, new, end)

    def without_lines(self, node: ast.expr) -> str:
        """The text without the whole lines of a decorator."""
        return self._join(self.starts[node.lineno - 1], "", self.starts[node.end_lineno or node.lineno])

    def _join(self, start: int, new: str, end: int) -> str:
        data = self.data[:start] + new.encode("utf-8", "surrogatepass") + self.data[end:]
        return data.decode("utf-8", "surrogatepass")


def _only_site(tree: ast.Module) -> _Site | None:
    torch_names, compile_names = _aliases(tree)
    decorators = {
        id(decorator)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for decorator in node.decorator_list
    }
    statements = {id(node.value): node for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    sites = [node for node in ast.walk(tree) if _mentions_compile(node, torch_names, compile_names)]
    calls = {id(call.func): call for call in ast.walk(tree) if isinstance(call, ast.Call)}
    found = []
    for node in sites:
        call = calls.get(id(node))
        if call is None:
            return None  # torch.compile is passed on: partial, bare decorator, another name
        if not _is_other_backend(call):
            found.append(_Site(call, "decorator" if id(call) in decorators else "value", None))
    found += [
        _Site(call, "method", statements.get(id(call)))
        for call in calls.values()
        if call.func not in sites and _is_method(call)
    ]
    return found[0] if len(found) == 1 and _is_written_out(found[0]) else None


def _aliases(tree: ast.Module) -> tuple[set[str], set[str]]:
    torch_names: set[str] = set()
    compile_names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            torch_names |= {
                alias.asname or "torch"
                for alias in node.names
                if alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname)
            }
        elif isinstance(node, ast.ImportFrom) and node.module == "torch":
            compile_names |= {alias.asname or alias.name for alias in node.names if alias.name == "compile"}
    return torch_names, compile_names


def _mentions_compile(node: ast.AST, torch_names: set[str], compile_names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in compile_names and isinstance(node.ctx, ast.Load)
    of_torch = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in torch_names
    return of_torch and isinstance(node, ast.Attribute) and node.attr == "compile"


def _backend(call: ast.Call) -> object:
    value = next((keyword.value for keyword in call.keywords if keyword.arg == "backend"), None)
    return value.value if isinstance(value, ast.Constant) else value


def _is_method(call: ast.Call) -> bool:
    """`module.compile(backend="npugraph_ex")`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "compile" and _backend(call) == BACKEND


def _is_other_backend(call: ast.Call) -> bool:
    backend = _backend(call)
    return isinstance(backend, str) and backend != BACKEND


def _is_written_out(site: _Site) -> bool:
    stars = any(isinstance(argument, ast.Starred) for argument in site.call.args)
    filled = any(keyword.arg is None for keyword in site.call.keywords)
    if site.kind == "method" and (site.statement is None or not isinstance(site.call.func, ast.Attribute)):
        return False
    return not stars and not filled and _backend(site.call) == BACKEND


def _without_compile(site: _Site, text: _Text) -> str | None:
    if site.kind == "decorator":
        return text.without_lines(site.call)
    if site.kind == "method":
        return text.replaced(site.call, "None")
    model = next((keyword.value for keyword in site.call.keywords if keyword.arg == "model"), None)
    model = site.call.args[0] if site.call.args else model
    if model is None:
        return text.replaced(site.call, "(lambda f: f)")
    inner = text.of(model)
    return text.replaced(site.call, inner if isinstance(model, _BARE) else f"({inner})")


def _compile_arguments(site: _Site, text: _Text, step: int) -> list[str] | None:
    parts = [text.of(argument) for argument in site.call.args]
    options = None
    for keyword in site.call.keywords:
        if keyword.arg == "options":
            options = keyword.value
        elif keyword.arg == "backend" and step in EAGER_BACKENDS:
            parts.append(f'backend="{EAGER_BACKENDS[step]}"')
        elif keyword.arg != "mode" or step in EAGER_BACKENDS:  # torch refuses mode= together with options=
            parts.append(f"{keyword.arg}={text.of(keyword.value)}")
    if step not in EAGER_BACKENDS:
        parts.append(f"options={_forced(options, text)}")
    return parts


def _forced(options: ast.expr | None, text: _Text) -> str:
    if options is None or (isinstance(options, ast.Constant) and options.value is None):
        return f"{{{FORCE_EAGER}}}"
    if not isinstance(options, ast.Dict):
        return f"{{**({text.of(options)} or {{}}), {FORCE_EAGER}}}"
    kept = []
    for key, value in zip(options.keys, options.values, strict=True):
        if key is None:
            kept.append(f"**{text.of(value)}")
        elif not (isinstance(key, ast.Constant) and key.value == "force_eager"):
            kept.append(f"{text.of(key)}: {text.of(value)}")
    return "{" + ", ".join([*kept, FORCE_EAGER]) + "}"
