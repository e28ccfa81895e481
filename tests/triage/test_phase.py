"""R21–R29: the deepest telling frame of the first block decides the phase, a path alone decides nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.triage import phase_of_traceback
from plogscope.triage.phase import Phase, first_block, frames_of

TORCH = "/opt/py/lib/python3.10/site-packages/torch"
NPU = "/opt/py/lib/python3.10/site-packages/torch_npu"
EX = "/opt/py/lib/python3.10/site-packages/npugraph_ex"
ACL = f"{EX}/_acl_concrete_graph/acl_graph.py"
USER = ("/data/job/infer.py", "main")
COMPILE = [
    USER,
    (f"{TORCH}/_dynamo/eval_frame.py", "compile_wrapper"),
    (f"{TORCH}/_dynamo/convert_frame.py", "__call__"),
    (f"{TORCH}/_dynamo/symbolic_convert.py", "run"),
    (f"{TORCH}/_dynamo/output_graph.py", "_call_user_compiler"),
]
CALL = [
    USER,
    (f"{TORCH}/_dynamo/eval_frame.py", "_fn"),
    (f"{TORCH}/_functorch/aot_autograd.py", "forward"),
    (f"{TORCH}/_functorch/_aot_autograd/runtime_wrappers.py", "runtime_wrapper"),
    (f"{EX}/npu_fx_compiler.py", "__call__"),
    ("<string>", "kernel"),
    (ACL, "__call__"),
]


def traceback(frames: list[tuple[str, str]], error: str = "RuntimeError: no luck") -> str:
    lines = [
        f'  File "{path}", line {number}, in {function}\n    x = y' for number, (path, function) in enumerate(frames, 7)
    ]
    return "\n".join(["Traceback (most recent call last):", *lines, error])


@pytest.mark.parametrize(
    ("frames", "phase"),
    [
        ([USER, (f"{TORCH}/__init__.py", "compile"), (f"{TORCH}/_dynamo/backends/registry.py", "lookup_backend")],
         "backend-lookup"),
        ([*COMPILE[:4], (f"{TORCH}/_dynamo/variables/builtin.py", "call_print")], "dynamo"),
        ([*COMPILE[:4], (f"{TORCH}/_subclasses/fake_tensor.py", "dispatch"), ("/data/job/ops.py", "impl")], "fake"),
        ([*COMPILE[:4], (f"{TORCH}/_library/custom_ops.py", "call")], "fake"),
        ([USER, (f"{TORCH}/_library/custom_ops.py", "backend_impl")], "user"),
        ([*COMPILE, (f"{TORCH}/_functorch/_aot_autograd/graph_capture.py", "aot_dispatch_base_graph")], "aot"),
        ([*COMPILE, (f"{EX}/npu_fx_compiler.py", "__call__")], "fx"),
        ([*COMPILE, (f"{EX}/npu_fx_compiler.py", "_optimize_fx"), ("/data/job/my_pass.py", "apply")], "fx"),
        ([*COMPILE, (f"{EX}/_acl_concrete_graph/graph_pass.py", "apply")], "fx"),
        ([*CALL[:5], (f"{EX}/npu_fx_compiler.py", "get_code")], "codegen"),
        ([*CALL, (ACL, "capture"), ("<eval_with_key>.0", "forward"),
          (f"{TORCH}/_ops.py", "__call__")], "capture"),
        ([*CALL, (ACL, "compile_for_graph_key"), (f"{NPU}/npu/graphs.py", "__exit__"),
          (f"{NPU}/npu/graphs.py", "capture_end")], "capture"),
        ([*CALL, (ACL, "run"), (f"{NPU}/npu/graphs.py", "replay")], "replay"),
        ([*CALL, (ACL, "process_input")], "replay"),
        ([*CALL, (ACL, "fx_run_eagerly"), (f"{TORCH}/_ops.py", "__call__")], "eager"),
        ([USER, (f"{NPU}/npu/utils.py", "synchronize")], "user"),
    ],
)  # fmt: skip
def test_table_3_0_names_the_phase_of_the_deepest_frame(frames: list[tuple[str, str]], phase: Phase) -> None:
    assert phase_of_traceback(traceback(frames)) == phase


def test_r29_wrappers_of_the_compiled_call_are_no_compile_phase() -> None:
    assert phase_of_traceback(traceback(CALL[:6])) == "user"


def test_r21_first_block_of_a_chain_decides_capture_end_is_a_consequence() -> None:
    first = traceback([*COMPILE[:4], (f"{TORCH}/_dynamo/variables/tensor.py", "call_method")])
    later = traceback([*CALL, (ACL, "capture")], "RuntimeError: 507903")
    for joiner in (
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
    ):
        assert phase_of_traceback(f"{first}\n\n{joiner}\n\n{later}") == "dynamo"
        assert phase_of_traceback(f"{later}\n\n{joiner}\n\n{first}") == "capture"


def test_r23_traceback_quoted_in_the_message_gives_the_location() -> None:
    inner = traceback([(ACL, "capture")], "RuntimeError: inner")
    assert phase_of_traceback(traceback(COMPILE, "RuntimeError: outer") + "\n" + inner) == "capture"


def test_r26_faulthandler_lists_the_deepest_frame_first() -> None:
    frames = [(f"{EX}/acl_graph.py", "run"), (f"{EX}/acl_graph.py", "capture"), USER]
    lines = [f'  File "{path}", line 4 in {function}' for path, function in frames]
    report = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x01 (most recent call first):\n" + "\n".join(
        lines
    )
    assert phase_of_traceback(report) == "replay"


def test_text_without_frames_is_user() -> None:
    assert phase_of_traceback("ValueError: torch/_dynamo/variables/tensor.py is only a word here") == "user"


def test_long_text_is_cut_and_does_not_hang() -> None:
    text = traceback(COMPILE) + '\n  File "' + "a" * 3_000_000
    assert phase_of_traceback(text) == "fx"


@given(st.text())
def test_any_text_has_a_phase(text: str) -> None:
    assert phase_of_traceback(text) in (
        "backend-lookup", "dynamo", "fake", "aot", "fx", "codegen", "capture", "replay", "eager", "user",
    )  # fmt: skip
    assert len(frames_of(first_block(text))) <= text.count("File")
