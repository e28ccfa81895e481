"""R22, R28, R40–R44 and R50: which words of an exception count, and which look-alikes do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.triage import keywords

FRAMES = (
    'Traceback (most recent call last):\n  File "/x/torch/_dynamo/eval_frame.py", line 5, in stream\n    event.wait()\n'
)


def words(text: str) -> tuple[str, str]:
    return keywords.error_words(text)


def test_r29_frames_and_source_lines_are_not_words() -> None:
    kind, message = words(FRAMES + "ValueError: label 9 outside")
    assert (kind, message) == ("ValueError", "label 9 outside")


def test_r22_backend_compiler_failed_keeps_the_inner_exception() -> None:
    text = FRAMES + "torch._dynamo.exc.BackendCompilerFailed: backend='npugraph_ex' raised:\nKeyError: 'q'\n"
    assert words(text) == (
        "torch._dynamo.exc.BackendCompilerFailed",
        "backend='npugraph_ex' raised:\nKeyError: 'q'\n",
    )


def test_r21_words_come_from_the_first_block() -> None:
    text = (
        "ValueError: first\n\nDuring handling of the above exception, another exception occurred:\n\n"
        "RuntimeError: aclrtSynchronizeStream failed"
    )
    assert words(text)[0] == "ValueError"


def test_r23_quoted_traceback_is_no_part_of_the_message() -> None:
    text = 'RuntimeError: outer\nTraceback (most recent call last):\n  File "stream.py", line 1, in event\nX: y'
    assert words(text) == ("RuntimeError", "outer")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("torch._dynamo.exc.InvalidBackend", "Invalid backend: 'x'"),
        ("torch._dynamo.exc.Unsupported", "Data-dependent branching"),
        ("BackendCompilerFailed", "backend='x' raised:"),
        ("Unsupported", "call_function"),
        ("RuntimeError", "found a graph break in loss_fn"),
    ],
)
def test_r40_dynamo_words(kind: str, message: str) -> None:
    assert keywords.names_dynamo(kind, message)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("RuntimeError", "Unsupported dtype for this kernel"),
        ("ValueError", "paragraph breaks"),
        ("UnsupportedError", ""),
    ],
)
def test_r40_look_alikes(kind: str, message: str) -> None:
    assert not keywords.names_dynamo(kind, message)


@pytest.mark.parametrize(
    "message", ["with Meta tensors", "FakeTensor mode", "a fake tensor call", "AOTAutograd failed"]
)
def test_r41_fake_words(message: str) -> None:
    assert keywords.names_fake("NotImplementedError", message)


@pytest.mark.parametrize(
    "message",
    [
        "TensorMetadata(size=4)",
        "metadata missing",
        "see https://meta-pytorch.github.io/x",
        "device='meta'",
        "Metal",
        "fakery",
    ],
)
def test_r41_r50_meta_look_alikes(message: str) -> None:
    assert not keywords.names_fake("RuntimeError", message)


@pytest.mark.parametrize(
    "message",
    [
        "c10_npu::acl::AclmdlRICaptureEnd(stream), error code is 1",
        "Cannot run aclop operators during NPU graph capture. Current working aclop is Sort",
        "error code is 107027",
        "capture_end() called before capture_begin()",
    ],
)
def test_r42_capture_words(message: str) -> None:
    assert keywords.names_capture("RuntimeError", message)


@pytest.mark.parametrize("message", ["error code is 107020", "captured 3 frames", "id 1070270", "recapture_beginning"])
def test_r42_look_alikes(message: str) -> None:
    assert not keywords.names_capture("RuntimeError", message)


@pytest.mark.parametrize(
    "message",
    [
        "call aclnnAddmm failed",
        "ACL init",
        "aclrtMalloc returned 1",
        "HCCL function error: HcclAllReduce",
        "wrong stream",
        "the Event was not recorded",
        "device-side assert triggered",
        "Segmentation fault",
        "NPU out of memory. Tried to allocate 2 GiB",
        "killed by OOM",
        "EZ9999: Inner Error",
        "error code is 507015",
    ],
)
def test_r44_runtime_words(message: str) -> None:
    assert keywords.names_runtime("RuntimeError", message)


@pytest.mark.parametrize(
    "message",
    [
        "upstream closed",
        "prevent this",
        "eventually",
        "streaming response",
        "oracle",
        "zoom level",
        "miracle",
        "dacl",
        "eventual",
    ],
)
def test_r50_word_boundaries_of_runtime_words(message: str) -> None:
    assert not keywords.names_runtime("ValueError", message)


@given(st.text())
def test_any_text_has_words(text: str) -> None:
    kind, message = words(text)
    assert isinstance(kind, str)
    assert message.count("\n") < keywords.MESSAGE_LINES
