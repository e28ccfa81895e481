"""The six things a diagnosis wants to know (R4), each present, missing or unknown, from scripts, logs and env.txt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plogscope.model.report import InputEntry, MissingEntry
from plogscope.model.source import Bundle, Source
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import Symptom, Text
from plogscope.triage.commands import VERSIONS, rerun
from plogscope.triage.files import line_of, text_of
from plogscope.triage.scripts import ScriptFacts, original_script, script_facts
from plogscope.wording import say

MAX_ENV = 256 * 1024

_RECOMPILED = re.compile(rb"Recompiling function |hit config\.(?:accumulated_)?(?:recompile|cache_size)_limit")
_COMPILED = re.compile(rb"\] \[0/0\]")
_PYTHON_FRAME = re.compile(rb'^(?:\[rank\d+\]: ?)?\s*File "[^"\n]{1,1000}", line \d+,? in ', re.MULTILINE)
_VERSION_LINES = {
    "torch": re.compile(r"^torch (\S+)", re.MULTILINE),
    "torch_npu": re.compile(r"^torch_npu (\S+)", re.MULTILINE),
    "torchair": re.compile(r"^torchair (\S+)", re.MULTILINE),
    "CANN": re.compile(
        r"^\S*[Vv]ersion\S*\s*=\s*\[?([^\s\]]+)|^\[?\w*(?:runtime|toolkit|cann)\w*_running_version\s*=\s*\[?([^\s\]]+)",
        re.MULTILINE,
    ),
}


def versions(env: Source | None) -> dict[str, str | None]:
    """Versions that env.txt states, None where it does not: torch, torch_npu, torchair, CANN."""
    text = text_of(env, MAX_ENV)
    return {name: _stated(line.search(text)) for name, line in _VERSION_LINES.items()}


def _stated(found: re.Match[str] | None) -> str | None:
    return next((value for value in found.groups() if value), None) if found else None


def closed_loop(steps: StepFacts, bundle: Bundle, base: str, symptom: Symptom | None) -> list[InputEntry]:
    """The six items in the order of R4.

    Args:
        steps: State of the run.
        bundle: Its files.
        base: What stands before a name in the run directory.
        symptom: What the user says, or what the logs show, if anything.
    """
    script = original_script(bundle, base)
    facts = script_facts(script) if script else None
    return [
        _script(script),
        _versions(bundle, base),
        _shapes(facts, steps, bundle),
        _features(facts, script),
        _symptom(steps, symptom),
        _stack(steps, bundle),
    ]


def _entry(item: str, state: str, key: str, place: tuple[str, int] | None = None, **values: object) -> InputEntry:
    file, line = place or (None, None)
    return InputEntry(item=item, state=state, detail=say(f"input.{key}", **values), file=file, line=line)


def _script(script: Source | None) -> InputEntry:
    if script is None or not script.size:
        return _entry("script", "missing", "no_script")
    return _entry("script", "present", "script", (script.path, 1), name=script.path)


def _versions(bundle: Bundle, base: str) -> InputEntry:
    env = bundle.find(f"{base}env.txt")
    if env is None:
        return _entry("versions", "missing", "no_versions")
    known = versions(env)
    absent = ", ".join(name for name, value in known.items() if value is None)
    stated = ", ".join(f"{name} {value}" for name, value in known.items() if value is not None) or "–"
    if absent:
        return _entry("versions", "unknown", "some_versions", (env.path, 1), known=stated, absent=absent)
    return _entry("versions", "present", "versions", (env.path, 1), known=stated)


def _shapes(facts: ScriptFacts | None, steps: StepFacts, bundle: Bundle) -> InputEntry:
    """A recompilation proves that shapes change; else what `dynamic=` says, else a passed step that compiled once."""
    compiled = [bundle.find(step.stdout) for step in steps.steps[1:3] if step.stdout]
    for log in filter(None, compiled):
        line = line_of(log, _RECOMPILED)
        if line:
            return _entry("shapes", "present", "recompiled", (log.path, line))
    if facts is not None and facts.dynamic is not None:
        value, line = facts.dynamic
        return _entry("shapes", "present", "dynamic", (facts.source.path, line), value=value)
    for step in steps.steps[1:3]:
        log_or_none = bundle.find(step.stdout) if step.stdout and steps.passed(step.name) else None
        line = line_of(log_or_none, _COMPILED) if log_or_none else 0
        if log_or_none and line:
            return _entry("shapes", "present", "compiled_once", (log_or_none.path, line))
    return _entry("shapes", "unknown", "shapes_unknown")


def _features(facts: ScriptFacts | None, script: Source | None) -> InputEntry:
    if facts is None:
        return _entry("features", "unknown", "features_unknown")
    seen = {"multi-stream": facts.stream, "custom op": facts.custom_op, "in-place": facts.in_place}
    used = ", ".join(f"{name} ({facts.source.path}:{line})" for name, line in seen.items() if line)
    first = min((line for line in seen.values() if line), default=0)
    place = (facts.source.path, first or 1)
    if len(facts.foreign) and not all(seen.values()):
        modules = ", ".join(facts.foreign[:6])
        return _entry("features", "unknown", "features_elsewhere", place, used=used or "–", modules=modules)
    if used:
        return _entry("features", "present", "features", place, used=used)
    return _entry("features", "present", "features_none", place, name=script.path if script else "?")


def _symptom(steps: StepFacts, symptom: Symptom | None) -> InputEntry:
    if steps.first_failed:
        file = steps.first_failure_file
        return _entry("symptom", "present", "crash", (file, steps.first_failure_line) if file else None)
    if symptom in ("mismatch", "slow"):
        return _entry("symptom", "present", str(symptom))
    return _entry("symptom", "missing", "no_symptom")


def _stack(steps: StepFacts, bundle: Bundle) -> InputEntry:
    if steps.first_failed is None:
        whole = not steps.blocked_by
        return _entry("stack", "present" if whole else "unknown", "nothing_failed" if whole else "stack_unknown")
    path = next((step.stdout for step in steps.steps if step.name == steps.first_failed), None)
    log = bundle.find(path) if path else None
    line = line_of(log, _PYTHON_FRAME) if log else 0
    if log is None or not line:
        return _entry("stack", "missing", "no_stack", name=steps.first_failed)
    return _entry("stack", "present", "stack", (log.path, line))


def input_note(items: Sequence[InputEntry]) -> Text:
    """One note that says of each of the six items whether it is present, missing or unknown."""
    return Text(
        en="R4: " + "; ".join(f"{item.item}: {item.state}, {item.detail.en}" for item in items) + ".",
        zh="R4：" + "；".join(f"{_name(item).zh}：{_state(item).zh}，{item.detail.zh}" for item in items) + "。",
    )


def _name(item: InputEntry) -> Text:
    return say(f"input_name.{item.item}")


def _state(item: InputEntry) -> Text:
    return say(f"input_state.{item.state}")


def asked(items: Sequence[InputEntry], steps: StepFacts, bundle: Bundle) -> list[MissingEntry]:
    """What is missing or unknown, why it matters and how to get it (C13)."""
    failed = steps.first_failed or steps.steps[-1].name
    how = {
        "script": "cp <script> scripts/original.py",
        "versions": VERSIONS,
        "shapes": "print([tuple(t.shape) for t in inputs])",
        "features": "grep -nE 'Stream|Event|torch\\.library|torch\\.ops|[a-z]_\\(' <sources>",
        "symptom": f"plogscope analyze {bundle.path} --symptom mismatch|slow",
        "stack": rerun(failed, bundle.run, "PYTHONFAULTHANDLER=1 TORCHDYNAMO_VERBOSE=1"),
    }
    return [
        MissingEntry(_what(item), say(f"input_why.{item.item}"), how[item.item])
        for item in items
        if item.state != "present"
    ]


def _what(item: InputEntry) -> Text:
    name, state = _name(item), _state(item)
    return Text(f"{name.en} ({state.en}): {item.detail.en}", f"{name.zh}（{state.zh}）：{item.detail.zh}")
