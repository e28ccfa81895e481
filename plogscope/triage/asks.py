"""What a run directory lacks, why it matters, and the command that brings it (rules R5, R11, R35; checks C3–C7)."""

from __future__ import annotations

import re

from plogscope.model.steps import Missing, Step
from plogscope.model.vocabulary import STEP_NAMES, Text
from plogscope.triage.checks import COMPILED_STEPS
from plogscope.triage.commands import rerun
from plogscope.triage.files import holds
from plogscope.triage.rundir import RunDir, StepDir

_ERROR_BLOCK = re.compile(
    rb"Traceback \(most recent call last\)|Fatal Python error|\[ERROR\]|\bE[A-Z][A-Z0-9]\d{3}\b|terminate called"
    rb"|\w(?:Error|Exception)(?::|\b)|ChildFailedError"
)


def missing_logs(run: RunDir, failed: int | None, root: str | None) -> list[Missing]:
    """C4/R5: step directories whose log or ascend_plog is not there; the failed step first."""
    entries: list[Missing] = []
    for step in sorted(run.steps, key=lambda s: s.number != failed):
        if step.number == failed:
            if step.stdout is None or step.stdout_empty or not step.plog_dir:
                entries.append(_missing_log(step, root, failed=True))
        elif step.exists and (_lacks_a_log(step) or (_loses_its_plog(step, failed) and _log_lost(run, failed))):
            entries.append(_missing_log(step, root, failed=False))
    return entries


def _lacks_a_log(step: StepDir) -> bool:
    return step.stdout is None or not step.plog_dir


def _loses_its_plog(step: StepDir, failed: int | None) -> bool:
    return bool(step.plog_warned) and step.number < (failed or 0) and not step.plog_files


def _log_lost(run: RunDir, failed: int | None) -> bool:
    """The failed step has to run again anyway: then steps without a CANN log are worth running again with it."""
    step = run.step(failed) if failed else None
    return step is not None and (step.stdout is None or step.stdout_empty)


def _missing_log(step: StepDir, root: str | None, *, failed: bool) -> Missing:
    lacking = "stdout_stderr.log" if step.stdout is None or step.stdout_empty else "ascend_plog"
    why = (
        Text(en="It is the main evidence: the step that failed first.", zh="它是首个失败的 step，是主要证据。")
        if failed
        else Text(
            en="A step without its log proves nothing about its layer.", zh="没有日志的 step 无法证明其所在层正常。"
        )
    )
    return Missing(Text(en=f"{lacking} of {step.name}", zh=f"{step.name} 的 {lacking}"), why, rerun(step.name, root))


def missing_steps(run: RunDir, steps: tuple[Step, ...], failed: int | None, root: str | None) -> list[Missing]:
    """R11 and R35: steps that did not run although the route or the layer needs them."""
    stopped_early = failed is None and run.failure is None
    return [
        Missing(
            Text(en=f"the run of {step.name}", zh=f"{step.name} 的运行产物"),
            Text(en="Without it the failing layer is not isolated.", zh="缺少它就无法隔离出问题所在的层。")
            if step.status == "gap"
            else Text(
                en="The collection stopped early although no step failed.", zh="没有 step 失败，但采集提前结束。"
            ),
            rerun(step.name, root),
        )
        for step in steps
        if step.status == "gap" or (stopped_early and step.status == "not-run")
    ]


def missing_marker(run: RunDir, blocked: tuple[str, ...], root: str | None) -> list[Missing]:
    """C6: nothing says which step failed, or whether the last one passed."""
    if "C6" not in blocked:
        return []
    last = max((step for step in run.steps if step.exists), key=lambda step: step.number, default=None)
    return [
        Missing(
            Text(
                en="first_failure.txt with one line `<step> exit_code=<n>`, or SUCCESS in each step that passed",
                zh="内容为一行 `<step> exit_code=<n>` 的 first_failure.txt，或每个通过的 step 下的 SUCCESS 文件",
            ),
            Text(
                en="Which step failed first must not be guessed from the directories that exist.",
                zh="首个失败的 step 不能靠目录是否存在来反推。",
            ),
            rerun(last.name if last else STEP_NAMES[0], root),
        )
    ]


def missing_beyond_the_route(run: RunDir, failed: int | None, root: str | None) -> list[Missing]:
    """C5, C7: what the root cause needs although the route can be given without it."""
    entries: list[Missing] = []
    step = run.step(failed) if failed else None
    if step is not None and run.failure is not None and step.stdout is not None and step.stdout.size:
        code = run.failure.exit_code
        if not holds(step.stdout, _ERROR_BLOCK):
            entries.append(_missing_error_block(step, code, root))
    if step is not None and step.number == COMPILED_STEPS[1] and step.plog_dir and not step.plog_files:
        entries.append(
            Missing(
                Text(en=f"the CANN log in ascend_plog of {step.name}", zh=f"{step.name} 的 ascend_plog 中的 CANN 日志"),
                Text(
                    en="A bare synchronize or 507xxx line only says where the failure surfaced.",
                    zh="单独的 synchronize 或 507xxx 行只说明错误在哪里显现。",
                ),
                rerun(step.name, root),
            )
        )
    return entries


def _missing_error_block(step: StepDir, code: int | None, root: str | None) -> Missing:
    signal = f", exit code {code}" if code is not None else ""
    return Missing(
        Text(en=f"the stack of the failure in {step.name}{signal}", zh=f"{step.name} 失败时的调用栈{signal}"),
        Text(
            en="Its log holds no error block: a native crash leaves no text unless it is asked to.",
            zh="其日志中没有错误块：native 崩溃默认不留下文本。",
        ),
        rerun(step.name, root, "PYTHONFAULTHANDLER=1"),
    )
