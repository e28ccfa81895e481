"""The handoff (R60–R65): what the next diagnosis needs to know, and nothing about the root cause."""

from __future__ import annotations

import re

from plogscope.model.report import Handoff, InputEntry, LogEntry, MissingEntry
from plogscope.model.source import Bundle
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import Route, Text
from plogscope.triage.inputs import input_note
from plogscope.triage.options import kept_options
from plogscope.triage.rules import Decision, Scene, step_number
from plogscope.wording import say

SKILLS: dict[Route, str] = {
    "compile-error": "torch-npugraph-ex-compile-error-diagnosis",
    "runtime-error": "torch-npugraph-ex-runtime-error-diagnosis",
    "accuracy": "torch-npugraph-ex-accuracy-diagnosis",
    "performance": "torch-npugraph-ex-performance-diagnosis",
}
KEY_LINES = 20
LOG_FILES = 500

_RUN_DIR = re.compile(r"^(?P<run>.*?torch_compile_debug/(?:[^/]+/)*?run_[^/]+)/")
_COLLECTED = ("first_failure.txt", "warnings.txt", "env.txt")

LAYERS = {
    1: Text(
        en="R36: layer 1, the model, its data or the environment, or torch_npu in eager mode.",
        zh="R36：第 1 层，模型、数据、环境，或 torch_npu 的 eager 执行。",
    ),
    2: Text(en="R36: layer 2, Dynamo capturing the FX graph.", zh="R36：第 2 层，Dynamo 捕获 FX 图。"),
    3: Text(
        en="R36: layer 3, AOTAutograd, functionalization or fake tensors.",
        zh="R36：第 3 层，AOTAutograd、functionalization 或 fake tensor。",
    ),
    4: Text(
        en="R36: layer 4, npugraph_ex: FX passes, Meta functions or code generation.",
        zh="R36：第 4 层，npugraph_ex：FX pass、Meta 函数或代码生成。",
    ),
    5: Text(
        en="R36: layer 5, ACL graph capture or replay, or the device.",
        zh="R36：第 5 层，ACL graph 的捕获或重放，或设备。",
    ),
}
EAGER_FAILS = Text(
    en="R31: eager mode already fails, so npugraph_ex is probably not to blame: look at the model, the data and the"
    " environment first, and only then at the compile chain.",
    zh="R31：eager 即失败，问题大概率不在 npugraph_ex：优先排查模型、数据和环境，再回到编译链路。",
)
FULL_COMPILE = Text(
    en="R33: step 4 passed and step 5 failed: this appears only with force_eager=False. Suspect the full compile and"
    " optimization path first; what step 5 adds is ACL graph capture, replay and memory reuse.",
    zh="R33：step4 成功而 step5 失败：这是 force_eager=False 才出现的问题，优先怀疑完整编译/优化路径；"
    "step5 比 step4 多的是 ACL graph 捕获、重放和内存复用。",
)
THIN = Text(
    en="R48: the failure surfaced in execution; if the evidence is thin, read the compile-error diagnosis as well.",
    zh="R48：错误在执行阶段显现；若证据不足，可同时参考 compile-error 诊断。",
)
ALL_PASSED = Text(en="R62: all five steps passed.", zh="R62：五个 step 全部通过。")


def handoff_of(
    steps: StepFacts, decision: Decision, scene: Scene, missing: list[MissingEntry], inputs: list[InputEntry]
) -> Handoff | None:
    """Builds the handoff of a five-step run; None where no diagnosis takes over (insufficient, none, environment)."""
    skill = SKILLS.get(decision.route)
    if skill is None:
        return None
    base = scene.bundle.run_base
    debug_notes, debug_missing = _debug_directories(steps, decision, scene.bundle)
    return Handoff(
        skill=skill,
        rule=decision.rule,
        rests_on=decision.rests_on,
        first_failed_step=steps.first_failed,
        notes=[
            *_notes(steps, decision),
            *_where_to_look(decision, scene),
            *debug_notes,
            *steps.notes,
            input_note(inputs),
        ],
        logs=_logs(steps, scene),
        kept_options=kept_options(scene.bundle, base),
        missing=[*missing, *debug_missing],
        inputs=inputs,
    )


def _notes(steps: StepFacts, decision: Decision) -> list[Text]:
    number = step_number(steps.first_failed)
    if number == 0:
        return [ALL_PASSED]
    notes = [LAYERS[number]]
    if number == 1:
        notes.append(EAGER_FAILS)
    if number == max(LAYERS) and steps.passed(steps.steps[3].name):
        notes.append(FULL_COMPILE)
    if decision.route == "runtime-error" and decision.thin:
        notes.append(THIN)
    return notes


NATIVE_ENDS = ("segfault", "abort", "native-exit")


def _where_to_look(decision: Decision, scene: Scene) -> list[Text]:
    """R71, R76, R78: the subsystem of the first cause, and in which order its sources are read."""
    lead = scene.lead()
    if decision.route != "runtime-error" or lead is None:
        return []
    subsystem = "native" if lead.subcategory in NATIVE_ENDS else lead.category
    known = subsystem if subsystem in SUBSYSTEMS else "unknown"
    return [say(f"lookup.{known}"), say("lookup.order")]


SUBSYSTEMS = ("operator", "communication", "stream_event", "memory", "device", "native")


def _debug_directories(steps: StepFacts, decision: Decision, bundle: Bundle) -> tuple[list[Text], list[MissingEntry]]:
    """R65: the exact run directories that the next diagnosis reads, or that they are missing."""
    wanted = {"performance": (5,), "accuracy": (4, 5)}.get(decision.route, ())
    notes: list[Text] = []
    missing: list[MissingEntry] = []
    for number in wanted:
        name = steps.steps[number - 1].name
        found = sorted({m["run"] for s in bundle.sources if s.step == name and (m := _RUN_DIR.match(s.path))})
        if found:
            joined = ", ".join(found)
            notes.append(Text(en=f"R65: {name} wrote {joined}", zh=f"R65：{name} 的产物目录 {joined}"))
        else:
            missing.append(
                MissingEntry(
                    Text(en=f"the run_* directory of {name}", zh=f"{name} 的 run_* 目录"),
                    Text(en="The graphs before and after each pass are in it.", zh="每个 pass 前后的图都在其中。"),
                    "TORCH_COMPILE_DEBUG=1",
                )
            )
    return notes, missing


def _logs(steps: StepFacts, scene: Scene) -> list[LogEntry]:
    """R60: every log that was collected, with the lines that the chain of causes stands on."""
    lines: dict[str, set[int]] = {}
    sources = scene.bundle.sources
    for incident in scene.chain.incidents:
        for finding in (incident.lead, *incident.findings):
            if 0 <= finding.source < len(sources):
                lines.setdefault(sources[finding.source].path, set()).add(finding.line)
    if steps.first_failure_file:
        lines.setdefault(steps.first_failure_file, set()).add(steps.first_failure_line)
    base = scene.bundle.run_base
    collected = [s.path for s in sources if s.kind != "artefact" or s.path in {base + name for name in _COLLECTED}]
    return [LogEntry(path, sorted(lines.get(path, ()))[:KEY_LINES]) for path in collected[:LOG_FILES]]
