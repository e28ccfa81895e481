"""The checks on a run directory and what each one notes (rules R5–R18, checks C2–C11)."""

from __future__ import annotations

import re

from plogscope.model.source import Bundle
from plogscope.model.steps import Step
from plogscope.model.vocabulary import Text
from plogscope.triage.files import blocks_of, holds, text_of
from plogscope.triage.inputs import versions
from plogscope.triage.rundir import RunDir, StepDir

ECHOED = 20
"""Lines of warnings.txt that are echoed."""

_FORCE_EAGER_PROOF = re.compile(rb"FALLS BACK to EAGER")
_SUMMARY_RANK = re.compile(rb"^\s*rank\s*:\s*(\d{1,6}) \(local_rank:", re.MULTILINE)
_PREFIX_RANK = re.compile(rb"\[(?:rank|default)(\d{1,6})\]:")
_NO_TORCH_NPU = re.compile(r"No module named '?torch_npu|(?:ImportError|OSError|RuntimeError): ")
COMPILED_STEPS = (4, 5)


def integrity_notes(run: RunDir, steps: tuple[Step, ...], failed: int | None) -> list[Text]:
    """R5, R7, R10, R11, R15, R17, R18 and the agreement of first_failure.txt with the rest (C6)."""
    notes: list[Text] = []
    for step, facts in zip(run.steps, steps, strict=True):
        if step.exists and step.number != failed:
            notes += _step_notes(step, facts)
    if failed is not None:
        notes += _failure_notes(run, run.step(failed))
        later = [step.name for step in run.steps if step.exists and step.number > failed]
        if later:
            notes.append(_fail_stop_note(run.step(failed).name, later))
    gaps = [step.name for step in steps if step.status == "gap"]
    if gaps:
        notes.append(_gap_note(gaps))
    return notes + _script_notes(run)


def _step_notes(step: StepDir, facts: Step) -> list[Text]:
    notes: list[Text] = []
    if step.stdout is None or not step.plog_dir:
        lacking = " and ".join(
            name
            for name, absent in (("stdout_stderr.log", step.stdout is None), ("ascend_plog", not step.plog_dir))
            if absent
        )
        notes.append(
            Text(
                en=f"R5: {step.name} is incomplete ({lacking} missing); run it again if its log is needed.",
                zh=f"R5：{step.name} 产物不全（缺 {lacking.replace(' and ', '、')}）；需要其日志时请补跑该步。",
            )
        )
    if facts.status == "assumed-passed":
        notes.append(
            Text(
                en=f"R7: {step.name} has no SUCCESS file; it counts as passed: no first_failure.txt names it.",
                zh=f"R7：{step.name} 没有 SUCCESS 文件；first_failure.txt 未指向它，按通过处理，可信度降低。",
            )
        )
    if step.stdout_empty:
        notes.append(
            Text(
                en=f"R18: stdout_stderr.log of {step.name} is empty.",
                zh=f"R18：{step.name} 的 stdout_stderr.log 为空。",
            )
        )
    return notes


def _failure_notes(run: RunDir, step: StepDir) -> list[Text]:
    notes: list[Text] = []
    if step.success:
        notes.append(
            Text(
                en=f"C6: {step.name} has a SUCCESS file although first_failure.txt names it; first_failure.txt wins.",
                zh=f"C6：{step.name} 有 SUCCESS 文件，但 first_failure.txt 指向它；以 first_failure.txt 为准。",
            )
        )
    if run.failure and run.failure.further:
        names = ", ".join(run.failure.further)
        notes.append(
            Text(
                en=f"C6: first_failure.txt names further steps ({names}); its first line wins.",
                zh=f"C6：first_failure.txt 还写了其他 step（{names}）；以第一行为准。",
            )
        )
    if run.failure and run.failure.exit_code in (None, 0):
        notes.append(
            Text(
                en=f"R8: first_failure.txt gives no exit code of a failure for {step.name}.",
                zh=f"R8：first_failure.txt 没有给出 {step.name} 的失败退出码。",
            )
        )
    if step.plog_dir and not step.plog_files:
        notes.append(
            Text(
                en=f"R17: ascend_plog of the failed step {step.name} is empty: normal when the process"
                " died before ACL was initialised or ran on the CPU only.",
                zh=f"R17：失败 step {step.name} 的 ascend_plog 为空："
                "进程在 ACL 初始化前退出或只在 CPU 上运行时属正常。",
            )
        )
    return notes


def _fail_stop_note(failed: str, later: list[str]) -> Text:
    names = ", ".join(later)
    return Text(
        en=f"R10: {names} exist after the failed {failed}, where the collection should have stopped;"
        " first_failure.txt wins.",
        zh=f"R10：{failed} 失败之后仍存在 {names}，采集本应在失败处停止；以 first_failure.txt 为准。",
    )


def _gap_note(gaps: list[str]) -> Text:
    names = ", ".join(gaps)
    return Text(
        en=f"R11: {names} did not run although a later step did: layer not isolated, confidence is lower.",
        zh=f"R11：{names} 没有运行而更后的 step 已运行：问题所在层未被隔离，可信度降低。",
    )


def _script_notes(run: RunDir) -> list[Text]:
    wanted = ["original.py", *(f"{step.name}.py" for step in run.steps if step.exists)]
    absent = [name for name in wanted if name not in run.scripts]
    if not absent:
        return []
    names = ", ".join(absent)
    return [Text(en=f"R15: scripts/ lacks {names}.", zh=f"R15：scripts/ 缺少 {names}。")]


def other_runs_note(bundle: Bundle) -> list[Text]:
    """R12: which runs were found and not read."""
    if not bundle.other_runs:
        return []
    names = ", ".join(bundle.other_runs[:10])
    return [
        Text(
            en=f"R12: the newest run was analysed; {len(bundle.other_runs)} older not read: {names}.",
            zh=f"R12：已分析最新一次采集；另有 {len(bundle.other_runs)} 次较早的采集未读取：{names}。",
        )
    ]


def content_notes(run: RunDir, steps: tuple[Step, ...], failed: int | None) -> list[Text]:
    """C3/R16 (versions), C8/R13 (debug directories), C9 (force_eager took effect), C10 (ranks of torchrun)."""
    return [
        *_version_notes(run, failed),
        *_debug_dir_notes(run, steps),
        *_force_eager_notes(run, steps),
        *_rank_notes(run, failed),
    ]


def _version_notes(run: RunDir, failed: int | None) -> list[Text]:
    known = versions(run.env)
    unknown = ", ".join(name for name, value in known.items() if value is None)
    notes: list[Text] = []
    if unknown:
        place = "env.txt does not state" if run.env else "env.txt is missing, so nothing states"
        zh = "env.txt 未给出" if run.env else "缺少 env.txt，无法得知"
        notes.append(Text(en=f"C3: {place} the version of {unknown}.", zh=f"C3：{zh} {unknown} 的版本。"))
    if run.env and known["torch_npu"] is None and _NO_TORCH_NPU.search(text_of(run.env)):
        hint = failed == COMPILED_STEPS[0]
        notes.append(
            Text(
                en="R16: torch_npu does not import in the environment that took the version snapshot."
                + (" Step 4 is the first that needs the npugraph_ex backend it registers." if hint else ""),
                zh="R16：在采集版本快照的环境中 torch_npu 无法导入。"
                + ("step4 是第一个需要其注册的 npugraph_ex 后端的步骤。" if hint else ""),
            )
        )
    return notes


def _debug_dir_notes(run: RunDir, steps: tuple[Step, ...]) -> list[Text]:
    notes: list[Text] = []
    for number in COMPILED_STEPS:
        step = run.step(number)
        if step.exists and steps[number - 1].status in ("passed", "assumed-passed") and debug_runs(run, step) == []:
            notes.append(
                Text(
                    en=f"C8: {step.name} has no torch_compile_debug run directory with npugraph_ex in it.",
                    zh=f"C8：{step.name} 下没有带 npugraph_ex 的 torch_compile_debug 运行目录。",
                )
            )
    return notes


def debug_runs(run: RunDir, step: StepDir) -> list[str]:
    """Paths of `run_*` directories of a step that hold npugraph_ex output, at whatever depth (R14)."""
    pattern = re.compile(
        re.escape(f"{run.base}{step.name}/") + r"torch_compile_debug/(?:[^/]+/)*?run_[^/]+(?=/npugraph_ex/)"
    )
    return sorted({found.group() for path in run.by_path if (found := pattern.match(path))})


def _force_eager_notes(run: RunDir, steps: tuple[Step, ...]) -> list[Text]:
    step = run.step(4)
    if steps[3].status not in ("passed", "assumed-passed"):
        return []
    logs = [step.stdout, *(s for s in run.by_path.values() if s.step == step.name and s.kind == "npugraph-debug")]
    if any(holds(log, _FORCE_EAGER_PROOF) for log in logs):
        return []
    return [
        Text(
            en=f"C9: the log of {step.name} does not show that force_eager took effect; the option may not have reached"
            " the backend.",
            zh=f"C9：{step.name} 的日志中看不到 force_eager 已生效；该选项可能没有传到后端。",
        )
    ]


def _rank_notes(run: RunDir, failed: int | None) -> list[Text]:
    """C10: ranks that torchrun's summary names but that printed nothing under their own prefix."""
    log = run.step(failed).stdout if failed else None
    if log is None:
        return []
    named: set[int] = set()
    spoke: set[int] = set()
    for _, block in blocks_of(log):
        named |= {int(rank) for rank in _SUMMARY_RANK.findall(block)}
        spoke |= {int(rank) for rank in _PREFIX_RANK.findall(block)}
    silent = sorted(named - spoke) if spoke else []
    if not silent:
        return []
    ranks = ", ".join(map(str, silent))
    return [
        Text(
            en=f"C10: torchrun reports rank {ranks} as failed, but the log holds no line of it.",
            zh=f"C10：torchrun 报告 rank {ranks} 失败，但日志中没有该 rank 的输出。",
        )
    ]


def echoed_warnings(run: RunDir) -> list[Text]:
    """C11: the lines of warnings.txt."""
    lines = [(number, line.strip()) for number, line in enumerate(run.warnings, 1) if line.strip()]
    return [
        Text(en=f"C11: warnings.txt:{number}: {line[:200]}", zh=f"C11：warnings.txt:{number}：{line[:200]}")
        for number, line in lines[:ECHOED]
    ]
