"""R30–R49, the contract's table for other layouts, and the handoff R60–R65."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from plogscope.discover import discover
from plogscope.model.chain import Chain
from plogscope.model.record import Finding
from plogscope.model.report import Triage
from plogscope.model.source import Bundle
from plogscope.model.vocabulary import STEP_NAMES, Category, Route, Status, Symptom, Text
from plogscope.triage import read_steps, route

Build = Callable[..., Path]
ChainAt = Callable[..., Chain]
ProgressIn = Callable[..., Finding]
En = Callable[[Sequence[Text]], str]

LOG5 = "step5-npugraph_ex/stdout_stderr.log"
PLOG5 = "step5-npugraph_ex/ascend_plog/debug/plog/plog-5150_20250203040506007.log"
EX = "/opt/npugraph_ex"
RETURNED = (
    "[DEBUG] NPUGRAPH_EX(5150,python3):2025-02-03 04:05:06.070.080 [npu_fx_compiler.py:510]5150 runtime outputs\n"
)


def routed(
    bundle: Bundle,
    chain: Chain | None = None,
    *,
    symptom: Symptom | None = None,
    status: Status = "explained",
    text: str | None = None,
    progress: Sequence[Finding] = (),
) -> Triage:
    return route(
        read_steps(bundle),
        chain or Chain(),
        symptom=symptom,
        bundle=bundle,
        verdict_status=status,
        text_of=(lambda _: text) if text is not None else (lambda finding: finding.quote),
        progress=progress,
    )


def traceback(path: str, function: str, error: str) -> str:
    return (
        'Traceback (most recent call last):\n  File "/data/a.py", line 1, in main\n    y = net(x)\n'
        f'  File "/opt/torch/_dynamo/eval_frame.py", line 9, in _fn\n    return fn(x)\n'
        f'  File "{path}", line 2, in {function}\n    go()\n{error}'
    )


@pytest.mark.parametrize("failed", [1, 2, 3, 4])
@pytest.mark.parametrize("quote", ["RuntimeError: call aclnnAdd failed", "torch.OutOfMemoryError: NPU out of memory"])
def test_r30_steps_1_to_4_route_to_compile_error_whatever_the_text_says(
    build_run: Build, chain_at: ChainAt, failed: int, quote: str
) -> None:
    bundle = discover([build_run(failed=failed)])
    name = STEP_NAMES[failed - 1]
    got = routed(bundle, chain_at(bundle, f"{name}/stdout_stderr.log", quote, category="operator"))
    assert (got.route, got.rule, got.rests_on) == ("compile-error", "R30", "first_failure.txt:1")
    assert got.first_failed_step == name


def test_r31_failed_step1_hands_over_that_eager_already_fails(build_run: Build, en: En) -> None:
    got = routed(discover([build_run(failed=1)]))
    assert got.handoff is not None
    assert "R31: eager mode already fails" in en(got.handoff.notes)


def test_r31_is_silent_for_step2(build_run: Build, en: En) -> None:
    got = routed(discover([build_run(failed=2)]))
    assert got.handoff is not None
    assert "R31" not in en(got.handoff.notes)


def test_r33_step5_after_a_passed_step4_names_force_eager(build_run: Build, chain_at: ChainAt, en: En) -> None:
    bundle = discover([build_run(failed=5)])
    got = routed(bundle, chain_at(bundle, LOG5, "RuntimeError: call aclnnAdd failed"))
    assert got.handoff is not None
    assert "R33: step 4 passed and step 5 failed: this appears only with force_eager=False" in en(got.handoff.notes)


def test_r33_is_silent_when_step4_did_not_run(build_run: Build, chain_at: ChainAt, en: En) -> None:
    run = build_run(failed=5)
    shutil.rmtree(run / STEP_NAMES[3])
    bundle = discover([run])
    got = routed(bundle, chain_at(bundle, LOG5, "RuntimeError: call aclnnAdd failed"))
    assert got.handoff is not None
    assert "R33" not in en(got.handoff.notes)


def test_r34_all_passed_without_a_symptom_asks_and_guesses_nothing(build_run: Build) -> None:
    got = routed(discover([build_run()]), status="no-failure")
    assert (got.route, got.rule, got.handoff) == ("none", "R34", None)
    assert got.missing[0].what.en.startswith("symptom (missing)")
    assert "--symptom" in got.missing[0].how


def test_a7_error_record_in_a_passed_run_routes_nothing(build_run: Build, chain_at: ChainAt) -> None:
    bundle = discover([build_run()])
    chain = chain_at(bundle, PLOG5, "[ERROR] RUNTIME(1,p):2025 x", category="operator", format_="plog")
    assert routed(bundle, chain).route == "none"


def test_r35_stopped_collection_is_insufficient(build_run: Build) -> None:
    got = routed(discover([build_run(last=3)]), status="no-failure", symptom="slow")
    assert (got.route, got.rule, got.handoff) == ("insufficient", "R35", None)
    assert "step4-npugraph_ex-force_eager" in got.rests_on


@pytest.mark.parametrize("failed", [1, 2, 3, 4, 5])
def test_r36_layer_of_the_failed_step_is_named(build_run: Build, chain_at: ChainAt, en: En, failed: int) -> None:
    bundle = discover([build_run(failed=failed)])
    got = routed(bundle, chain_at(bundle, "stdout_stderr.log", "RuntimeError: aclrtMalloc failed"))
    assert got.handoff is not None
    notes = en(got.handoff.notes)
    assert f"R36: layer {failed}" in notes
    assert notes.count("R36") == 1


def step5(build_run: Build, chain_at: ChainAt, text: str, *, log: str = "x\n", **facts: object) -> tuple[Triage, str]:
    """Routes a failed step 5 whose first cause has this record text."""
    bundle = discover([build_run(failed=5, log=log)])
    quote = text.rsplit("\n", 1)[-1]
    chain = chain_at(bundle, LOG5, quote, **facts)
    got = routed(bundle, chain, text=text)
    return got, f"{got.route} {got.rule}"


def test_r40_dynamo_exception(build_run: Build, chain_at: ChainAt) -> None:
    _, rule = step5(build_run, chain_at, "torch._dynamo.exc.Unsupported: Data-dependent branching")
    assert rule == "compile-error R40"


def test_r40_exception_line_behind_a_rank_prefix(build_run: Build, chain_at: ChainAt) -> None:
    bundle = discover([build_run(failed=5)])
    chain = chain_at(bundle, LOG5, "[rank3]: Unsupported: call_method on a generator")
    text = traceback("/data/b.py", "f", "Unsupported: call_method on a generator")
    assert routed(bundle, chain, text=text).rule == "R40"


def test_r40_not_for_dynamo_frames_of_a_replay(build_run: Build, chain_at: ChainAt) -> None:
    text = traceback(f"{EX}/acl_graph.py", "run", "RuntimeError: call aclnnMatmul failed, detail:EZ1001: bad")
    got, rule = step5(build_run, chain_at, text)
    assert rule == "runtime-error R44"
    assert got.rests_on == f"{LOG5}:3"


def test_r41_fake_tensor_words_and_aot_frames(build_run: Build, chain_at: ChainAt) -> None:
    _, rule = step5(build_run, chain_at, "NotImplementedError: x: attempted to run this operator with Meta tensors")
    assert rule == "compile-error R41"


def test_r41_not_for_meta_in_the_message_of_a_replay(build_run: Build, chain_at: ChainAt) -> None:
    text = traceback(f"{EX}/acl_graph.py", "run", "RuntimeError: Meta says aclrtMalloc failed")
    assert step5(build_run, chain_at, text)[1] == "runtime-error R44"


@pytest.mark.parametrize(
    "text",
    [
        traceback(f"{EX}/acl_graph.py", "capture", "RuntimeError: stream synchronize is not allowed, ACL error"),
        traceback(f"{EX}/npu_fx_compiler.py", "get_code", "KeyError: 'arg0'"),
        "RuntimeError: AclmdlRICaptureBegin failed, ACL stream error",
        "RuntimeError: error code is 107032 on stream 4",
    ],
)
def test_r42_capture_wins_over_acl_and_stream_words(build_run: Build, chain_at: ChainAt, text: str) -> None:
    assert step5(build_run, chain_at, text)[1] == "compile-error R42"


def test_r42_by_the_phase_of_the_signature(build_run: Build, chain_at: ChainAt) -> None:
    assert step5(build_run, chain_at, "EE1001: stream is wrong", phase="capture")[1] == "compile-error R42"


def test_r42_not_for_other_codes(build_run: Build, chain_at: ChainAt) -> None:
    assert step5(build_run, chain_at, "RuntimeError: error code is 507015")[1] == "runtime-error R44"


def test_r43_first_call_without_runtime_words(build_run: Build, chain_at: ChainAt) -> None:
    assert step5(build_run, chain_at, "ValueError: bad shape")[1] == "compile-error R43"


def test_r45_after_completed_calls(build_run: Build, chain_at: ChainAt) -> None:
    assert step5(build_run, chain_at, "ValueError: bad shape", log=RETURNED + "x\n")[1] == "runtime-error R45"


def test_r45_by_printed_progress_of_the_same_step(build_run: Build, chain_at: ChainAt, progress_in: ProgressIn) -> None:
    bundle = discover([build_run(failed=5, log="x\n")])
    chain = chain_at(bundle, LOG5, "ValueError: bad", line=9)
    assert routed(bundle, chain, progress=[progress_in(bundle, LOG5, 4)]).rule == "R45"
    assert routed(bundle, chain, progress=[progress_in(bundle, LOG5, 10)]).rule == "R43"
    other = progress_in(bundle, "step3-compile-aot_eager/stdout_stderr.log", 1)
    assert routed(bundle, chain, progress=[other]).rule == "R43"


def test_r45_not_for_a_call_that_returned_after_the_failure(build_run: Build, chain_at: ChainAt) -> None:
    log = "ValueError: bad shape\n" + RETURNED
    assert step5(build_run, chain_at, "ValueError: bad shape", log=log, offset=0)[1] == "compile-error R43"


@pytest.mark.parametrize("path", [PLOG5, LOG5])
def test_r44_cann_record_is_runtime(build_run: Build, chain_at: ChainAt, path: str) -> None:
    bundle = discover([build_run(failed=5)])
    chain = chain_at(bundle, path, "[ERROR] CCE(1,p):2025-02-03 kernel died", format_="plog", category="operator")
    assert routed(bundle, chain).rule == "R44"


@pytest.mark.parametrize("format_", ["faulthandler", "native-crash"])
def test_r44_crash_report_is_runtime(build_run: Build, chain_at: ChainAt, format_: str) -> None:
    got, rule = step5(build_run, chain_at, "Fatal Python error: Aborted", format_=format_)
    assert (rule, got.route) == ("runtime-error R44", "runtime-error")


def test_r48_replay_failure_without_words_is_runtime_with_a_note(build_run: Build, chain_at: ChainAt, en: En) -> None:
    got, rule = step5(build_run, chain_at, traceback(f"{EX}/acl_graph.py", "run", "RuntimeError: no luck"))
    assert rule == "runtime-error R48"
    assert got.handoff is not None
    assert "R48: the failure surfaced in execution" in en(got.handoff.notes)


def test_r48_note_is_absent_for_a_compile_error(build_run: Build, chain_at: ChainAt, en: En) -> None:
    got, _ = step5(build_run, chain_at, "torch._dynamo.exc.Unsupported: x")
    assert got.handoff is not None
    assert "R48" not in en(got.handoff.notes)


def test_r49_failure_that_matches_nothing_is_insufficient(build_run: Build, chain_at: ChainAt) -> None:
    got, rule = step5(build_run, chain_at, "something odd", format_="text")
    assert rule == "insufficient R49"
    assert got.missing[0].what.en == "the full stack and the CANN log of step5-npugraph_ex"
    assert got.handoff is None


def test_r49_exit_code_of_a_program_that_left_no_line(build_run: Build) -> None:
    assert routed(discover([build_run(failed=5, log="x\n", exit_code=3)]), status="insufficient").rule == "R49"


@pytest.mark.parametrize(("log", "rule"), [("x\n", "R43"), (RETURNED, "R45")])
def test_a8_death_by_signal_without_text(build_run: Build, log: str, rule: str) -> None:
    got = routed(discover([build_run(failed=5, log=log, exit_code=134)]), status="insufficient")
    assert (got.rule, got.rests_on) == (rule, "first_failure.txt:1")


def test_r49a_words_of_passed_steps_and_debug_lines_do_not_route(build_run: Build, chain_at: ChainAt) -> None:
    log = "V0203 04:05:06.000000 5150 torch/_dynamo/x.py:1] FakeTensor Meta graph break Unsupported\n" + RETURNED
    text = traceback(f"{EX}/acl_graph.py", "run", "torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2 GiB")
    assert step5(build_run, chain_at, text, log=log, category="memory")[1] == "runtime-error R44"


@pytest.mark.parametrize(("symptom", "want", "rule"), [("mismatch", "accuracy", "R46"), ("slow", "performance", "R47")])
def test_r46_r47_all_passed_and_a_stated_symptom(build_run: Build, symptom: Symptom, want: Route, rule: str) -> None:
    got = routed(discover([build_run()]), status="no-failure", symptom=symptom)
    assert (got.route, got.rule) == (want, rule)


@pytest.mark.parametrize("category", ["accuracy", "performance"])
def test_r46_r47_all_passed_and_a_symptom_in_the_log(build_run: Build, chain_at: ChainAt, category: Category) -> None:
    bundle = discover([build_run()])
    got = routed(bundle, chain_at(bundle, LOG5, "missed", category=category))
    assert (got.route, got.rests_on) == (category, f"{LOG5}:3")


@pytest.mark.parametrize("symptom", ["mismatch", "slow"])
def test_r46_r47_do_not_apply_to_a_failed_run(build_run: Build, symptom: Symptom) -> None:
    assert routed(discover([build_run(failed=4)]), symptom=symptom).rule == "R30"


def test_blocked_run_is_insufficient_and_rests_on_the_warning(build_run: Build, chain_at: ChainAt) -> None:
    run = build_run(failed=2, log="")
    (run / "warnings.txt").write_text("step2-compile-eager stdout_stderr.log missing or empty\n")
    bundle = discover([run])
    got = routed(bundle, chain_at(bundle, PLOG5.replace("5-npugraph_ex", "1-eager").replace("5150", "5110"), "EZ9999"))
    assert (got.route, got.rule, got.rests_on, got.handoff) == ("insufficient", "C4", "warnings.txt:1", None)


@pytest.fixture
def loose(tmp_path: Path) -> Bundle:
    (tmp_path / "train.log").write_text("step 1\nRuntimeError: x\n")
    (tmp_path / "peer.log").write_text("step 1\n")
    return discover([tmp_path])


@pytest.mark.parametrize(
    ("facts", "want"),
    [
        ({"category": "compile"}, "compile-error"),
        ({"category": "operator", "phase": "compile"}, "compile-error"),
        ({"category": "stream_event", "phase": "capture"}, "runtime-error"),
        ({"category": "host", "phase": "bring-up"}, "environment"),
        ({"category": "host", "phase": "setup"}, "environment"),
        ({"category": "communication", "phase": "bring-up", "waits": True}, "runtime-error"),
        ({"category": "operator"}, "runtime-error"),
        ({"category": "accuracy"}, "accuracy"),
        ({"category": "performance"}, "performance"),
    ],
)
def test_other_layouts_follow_the_table_of_the_contract(
    loose: Bundle, chain_at: ChainAt, facts: dict[str, object], want: Route
) -> None:
    got = routed(loose, chain_at(loose, "train.log", "RuntimeError: x", **facts))
    assert (got.route, got.steps, got.handoff) == (want, [], None)
    assert got.rests_on == "train.log:3"


def test_other_layouts_traceback_from_dynamo_is_compile_error(loose: Bundle, chain_at: ChainAt) -> None:
    text = traceback("/opt/torch/_dynamo/variables/builtin.py", "call", "RuntimeError: x")
    assert routed(loose, chain_at(loose, "train.log", "RuntimeError: x"), text=text).route == "compile-error"
    replay = traceback(f"{EX}/acl_graph.py", "run", "RuntimeError: x")
    assert routed(loose, chain_at(loose, "train.log", "RuntimeError: x"), text=replay).route == "runtime-error"


def test_environment_needs_that_nothing_succeeded_before(
    loose: Bundle, chain_at: ChainAt, progress_in: ProgressIn
) -> None:
    chain = chain_at(loose, "train.log", "RuntimeError: x", phase="bring-up")
    assert routed(loose, chain, progress=[progress_in(loose, "train.log", 1)]).route == "runtime-error"
    assert routed(loose, chain, progress=[progress_in(loose, "train.log", 8)]).route == "environment"
    assert routed(loose, chain, progress=[progress_in(loose, "peer.log", 1, 10)]).route == "runtime-error"
    assert routed(loose, chain, progress=[progress_in(loose, "peer.log", 1, 5_000)]).route == "environment"
    assert routed(loose, chain, progress=[progress_in(loose, "peer.log", 1)]).route == "environment"


def test_what_is_not_installed_was_wrong_before_any_step_that_stands_above(
    loose: Bundle, chain_at: ChainAt, progress_in: ProgressIn
) -> None:
    chain = chain_at(loose, "train.log", "RuntimeError: x", phase="setup")
    got = routed(loose, chain, progress=[progress_in(loose, "train.log", 1)])
    assert (got.route, got.rule) == ("environment", "setup-was-wrong")


def test_witness_alone_keeps_runtime_error(loose: Bundle, chain_at: ChainAt) -> None:
    chain = chain_at(loose, "train.log", "EI0006: timeout", category="communication", waits=True, root=False)
    got = routed(loose, chain, status="insufficient")
    assert (got.route, got.rests_on) == ("runtime-error", "train.log:3")
    assert routed(loose, Chain(), status="insufficient").route == "runtime-error"


def test_a_witness_of_a_failure_speaks_before_a_remark_on_speed(loose: Bundle, chain_at: ChainAt) -> None:
    slow = chain_at(loose, "train.log", "falls back to the CPU", category="performance", root=False)
    late = chain_at(loose, "train.log", "EI0006: timeout", category="communication", waits=True, root=False)
    other = msgspec.structs.replace(late.incidents[0], id="i9")
    both = Chain(incidents=(*slow.incidents, other), places={**slow.places, "i9": "witness"})

    assert routed(loose, both, status="insufficient").route == "runtime-error"
    assert routed(loose, slow, status="insufficient").route == "performance"


@pytest.mark.parametrize(
    ("symptom", "want"), [(None, "none"), ("crash", "none"), ("mismatch", "accuracy"), ("slow", "performance")]
)
def test_loose_logs_without_a_failure(loose: Bundle, symptom: Symptom | None, want: Route) -> None:
    got = routed(loose, status="no-failure", symptom=symptom)
    assert got.route == want
    assert bool(got.missing) == (want == "none")
