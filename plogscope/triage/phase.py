"""In which phase of a compiled model a Python traceback was raised, by its deepest telling frame.

Every exception below a compiled model carries frames of torch/_dynamo/eval_frame.py, torch/_functorch/aot_autograd.py
and npu_fx_compiler.py `__call__`, also when only the replay of a captured graph failed. So a path alone says nothing:
the walk goes from the deepest frame upwards and the first frame that belongs to exactly one phase decides.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

Phase = Literal["backend-lookup", "dynamo", "fake", "aot", "fx", "codegen", "capture", "replay", "eager", "user"]
COMPILE_PHASES: frozenset[Phase] = frozenset({"backend-lookup", "dynamo", "fake", "aot", "fx", "codegen"})

MAX_TEXT = 1_000_000

_JOINER = re.compile(
    r"^\s*(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):",
    re.MULTILINE,
)
_FRAME = re.compile(r'^[ \t]*File "(?P<path>[^"\n]{1,1000})", line \d+,? in (?P<function>\S+)', re.MULTILINE)
_REVERSED = re.compile(r"\(most recent call first\):")


class Frame(msgspec.Struct, frozen=True):
    """One frame: `path` with POSIX separators, `function` as printed (with or without its class)."""

    path: str
    function: str

    @property
    def name(self) -> str:
        """The function without class or `<locals>`."""
        return self.function.rpartition(".")[2]


class _Row(msgspec.Struct, frozen=True):
    """One row of the table: a frame of that file (and function) belongs to `phase`.

    `compiling`: only inside a compilation, because the same function also runs in other phases.
    """

    phase: Phase
    path: re.Pattern[str]
    functions: re.Pattern[str] | None = None
    compiling: bool = False


def _row(phase: Phase, path: str, functions: str | None = None, *, compiling: bool = False) -> _Row:
    return _Row(phase, re.compile(path), re.compile(f"(?:{functions})$") if functions else None, compiling)


_TABLE = (
    _row("backend-lookup", r"torch/__init__\.py$", "compile"),
    _row("backend-lookup", r"_dynamo/backends/registry\.py$", "lookup_backend|_lazy_import|.*entry_point.*"),
    _row("replay", r"acl_graph\.py$", "run|forward|process_input|process_inputs|reconstruct_outputs"),
    _row("replay", r"torch_npu/", "replay"),
    _row("replay", r"torch_npu/.*graphs\.py$", "update"),
    _row("eager", r"acl_graph\.py$", "fx_run_eagerly|run_eagerly_compile"),
    _row("capture", r"acl_graph\.py$", "load|compile|compile_for_graph_key|capture"),
    _row("capture", r"graphs\.py$", "__enter__|__exit__"),
    _row("capture", r"torch_npu/", "capture_begin|capture_end"),
    _row("codegen", r"npu_fx_compiler\.py$", "get_code"),
    _row("codegen", r"fx2acl_converter\.py$", "codegen"),
    _row("fake", r"_subclasses/(?:fake_tensor|fake_impls|fake_utils|meta_utils|functional_tensor)\.py$"),
    _row("fake", r"torch/_library/", ".*fake.*|.*meta.*"),
    _row("fake", r"torch/_library/", compiling=True),
    _row("fake", r"(?:^|/)(?:_?meta_registrations?|_meta_registrations|fake_impl)\.py$"),
    _row("fx", r"npugraph_ex/.*(?:graph_pass|replace_stream_event|fx2acl_converter)\.py$"),
    _row("fx", r"npugraph_ex/.*patterns/"),
    _row("fx", r"npu_fx_compiler\.py$", "_gen_compiled_gm|_optimize_fx|_valid_graph|_compile_graph_with_aot"),
    _row("fx", r"npu_fx_compiler\.py$", compiling=True),
    _row("fx", r"npugraph_ex/configs/", compiling=True),
    _row(
        "aot",
        r"_functorch/_aot_autograd/(?:graph_compile|graph_capture|traced_function_transforms|functional_utils"
        r"|collect_metadata_analysis|collect_metadata|dispatch_and_compile_graph|jit_compile_runtime_wrappers"
        r"|input_output_analysis|frontend_utils|autograd_cache)\.py$",
        compiling=True,
    ),
    _row("aot", r"_functorch/aot_autograd\.py$", "aot_module_simplified|create_aot_.*|.*compile.*", compiling=True),
    _row("aot", r"_dynamo/backends/common\.py$", compiling=True),
    _row("fx", r"_dynamo/output_graph\.py$", "_?call_user_compiler"),
    _row("dynamo", r"_dynamo/(?:symbolic_convert|convert_frame|output_graph|guards|bytecode_\w+)\.py$"),
    _row("dynamo", r"_dynamo/variables/"),
)  # fmt: skip
_COMPILING = re.compile(r"_dynamo/(?:convert_frame|symbolic_convert|output_graph)\.py$")


def phase_of_traceback(text: str) -> Phase:
    """The phase in which the first error of a chain of tracebacks was raised.

    Args:
        text: A record with a Python traceback (prefixes peeled), or a faulthandler report. Blocks after "The above
            exception was the direct cause …" and "During handling of …" are consequences and not looked at.

    Returns:
        The phase; `user` when no frame belongs to a phase: the error then surfaced outside the compiled model
        (`synchronize`, `.item()`, `print`), or the model was not compiled.
    """
    frames = frames_of(first_block(text))
    compiling = any(_COMPILING.search(frame.path) for frame in frames)
    for frame in frames:
        for row in _TABLE:
            if _belongs(frame, row, compiling=compiling):
                return row.phase
    return "user"


def first_block(text: str) -> str:
    """The text up to the line that joins it to a later exception: the cause of a chain is its first block."""
    return _JOINER.split(text[:MAX_TEXT], maxsplit=1)[0]


def frames_of(block: str) -> list[Frame]:
    """Frames of one block, deepest first; a traceback quoted inside the message is deeper than the one around it."""
    frames = [Frame(found["path"].replace("\\", "/"), found["function"]) for found in _FRAME.finditer(block)]
    return frames if _REVERSED.search(block) else frames[::-1]


def _belongs(frame: Frame, row: _Row, *, compiling: bool) -> bool:
    if row.compiling and not compiling:
        return False
    return bool(row.path.search(frame.path)) and (row.functions is None or bool(row.functions.match(frame.name)))
