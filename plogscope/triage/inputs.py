"""The six things a diagnosis wants to know (R4), as far as the bundle shows them: present, missing or unknown."""

from __future__ import annotations

import re

from plogscope.model.report import MissingEntry
from plogscope.model.source import Bundle
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import Symptom, Text
from plogscope.triage.files import text_of

MAX_SCRIPT = 1024 * 1024

_SHAPES = re.compile(r"\bdynamic\s*=\s*(True|False)\b")
_FEATURES = {
    "multi-stream": re.compile(r"\bnpu\.(?:Stream|stream|Event)\b|\bcuda\.(?:Stream|stream|Event)\b"),
    "custom op": re.compile(r"\btorch\.library\b|\bcustom_op\b|\btorch\.ops\.(?!aten)\w+"),
    "in-place": re.compile(r"\w\.(?:copy|add|sub|mul|div|zero|fill|index_put|scatter|index_copy)_\("),
}
_VERSION = re.compile(r"^(torch|torch_npu|torchair) \S+", re.MULTILINE)
_CANN = re.compile(r"[Vv]ersion\S*\s*=", re.MULTILINE)


def closed_loop(steps: StepFacts, bundle: Bundle, symptom: Symptom | None) -> Text:
    """One note that says of each of the six items whether it is present, missing or unknown (C13)."""
    script = _script(bundle)
    shapes = _SHAPES.search(script)
    seen = [name for name, pattern in _FEATURES.items() if pattern.search(script)]
    stack_missing = any(entry.what.en.startswith("the stack of the failure") for entry in steps.missing)
    items = (
        ("script", "复现脚本", "present" if script else "missing"),
        ("versions", "版本", _versions(bundle)),
        ("shapes", "输入 shape", f"dynamic={shapes[1]}" if shapes else "unknown"),
        ("stream/custom op/in-place", "多流/自定义算子/In-place", ", ".join(seen) or "unknown"),
        ("symptom", "现象", "crash" if steps.first_failed else symptom or "missing"),
        (
            "stack",
            "报错栈",
            "missing" if stack_missing else "present" if steps.first_failed else "none: nothing failed",
        ),
    )
    return Text(
        en="R4: " + "; ".join(f"{en}: {state}" for en, _, state in items) + ".",
        zh="R4：" + "；".join(f"{zh}：{state}" for _, zh, state in items) + "。",
    )


def unknown_inputs(bundle: Bundle) -> list[MissingEntry]:
    """What only the user knows, asked once: shapes, streams, custom and in-place operators."""
    if _SHAPES.search(_script(bundle)):
        return []
    return [
        MissingEntry(
            Text(
                en="whether input shapes are fixed, and whether streams, custom operators or in-place updates are used",
                zh="输入 shape 是否固定，是否涉及多流、自定义算子或 In-place",
            ),
            Text(en="They decide which minimal repro is the smallest.", zh="它们决定最小复现如何裁剪。"),
            "print(tuple(t.shape for t in inputs))",
        )
    ]


def _script(bundle: Bundle) -> str:
    source = next((s for s in bundle.sources if s.path.endswith("scripts/original.py")), None)
    return text_of(source, MAX_SCRIPT)


def _versions(bundle: Bundle) -> str:
    env = next((s for s in bundle.sources if s.path.rpartition("/")[2] == "env.txt"), None)
    text = text_of(env)
    known = [found[1] for found in _VERSION.finditer(text)] + (["CANN"] if _CANN.search(text) else [])
    return ", ".join(known) or "missing"
