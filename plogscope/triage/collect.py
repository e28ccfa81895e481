"""The one script that completes a five-step run (R2): the seed's layout, switches and fail-stop, for what is missing.

Finished steps are copied from the given run, so nothing that was collected is changed or run twice.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import PurePosixPath

from plogscope.model.source import Bundle
from plogscope.model.steps import Step, StepFacts
from plogscope.redact import redact_secrets
from plogscope.triage.files import text_of
from plogscope.triage.launch import Launch, find_launch
from plogscope.triage.rewrite import rewritten
from plogscope.triage.rundir import RunDir, look_at
from plogscope.triage.scripts import MAX_SCRIPT, ORIGINAL

PASSED = ("passed", "assumed-passed")
ROOT = "torch-npugraph-ex-triage-logs"

_SWITCHES = {
    False: 'TORCH_LOGS="+all"',
    True: 'TORCH_COMPILE_DEBUG=1 TORCH_COMPILE_DEBUG_DIR="$dir/torch_compile_debug"',
}
_COMMON = (
    'ASCEND_PROCESS_LOG_PATH="$dir/ascend_plog" ASCEND_GLOBAL_LOG_LEVEL=1 ASCEND_SLOG_PRINT_TO_STDOUT=0'
    ' PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"'
)
_VERSIONS = """\
  python -c "import torch; print('torch', torch.__version__)" 2>&1
  python -c "import torch_npu; print('torch_npu', torch_npu.__version__)" 2>&1
  python -c "import torchair; print('torchair', torchair.__version__)" 2>&1
  cat /usr/local/Ascend/ascend-toolkit/latest/version.cfg 2>/dev/null"""

_HEAD = """\
#!/usr/bin/env bash
# Completes a five-step run. Start it with bash in the folder from which the program is usually started.
# Keeps: {kept}. Runs: {run}, up to the first failure.
# Launch form from {source}.
# The given run is not changed; the completed one is a new folder below ./{root}.
RUN={given}
ROOT="$PWD/{root}/$(date +%Y%m%d-%H%M%S)-pid$$"
[ -d "$RUN" ] || {{ echo "$RUN is not there: set RUN to the run folder" >&2; exit 2; }}
mkdir -p "$ROOT/scripts" || exit 2
cp -R "$RUN/scripts/." "$ROOT/scripts/" 2>/dev/null

# versions
{{
{versions}
}} > "$ROOT/env.txt"
"""

_FUNCTIONS = """
keep_step () {{
  cp -R "$RUN/$1" "$ROOT/" || exit 2
  grep "^$1 " "$RUN/warnings.txt" >> "$ROOT/warnings.txt" 2>/dev/null
  [ -s "$ROOT/warnings.txt" ] || rm -f "$ROOT/warnings.txt"
}}

run_step () {{
  local name=$1 script="$ROOT/scripts/$1.py" dir="$ROOT/$1" status=0
  [ -s "$script" ] || {{ echo "$script is missing: make it from the program, see above" >&2; exit 2; }}
  mkdir -p "$dir/ascend_plog"
  case "$name" in
    step1-*|step2-*|step3-*)
      {plain} > "$dir/stdout_stderr.log" 2>&1
      status=$?
      ;;
    *)
      mkdir -p "$dir/torch_compile_debug"
      {compiled} > "$dir/stdout_stderr.log" 2>&1
      status=$?
      ;;
  esac
  if [ "$status" -eq 0 ]; then
    touch "$dir/SUCCESS"
  else
    printf '%s exit_code=%s\\n' "$name" "$status" > "$ROOT/first_failure.txt"
  fi
  [ -s "$dir/stdout_stderr.log" ] || echo "$name stdout_stderr.log missing or empty" >> "$ROOT/warnings.txt"
  [ -n "$(ls -A "$dir/ascend_plog" 2>/dev/null)" ] || echo "$name ascend_plog missing or empty" >> "$ROOT/warnings.txt"
  return "$status"
}}

finish () {{ echo "$1"; echo "plogscope analyze $ROOT"; exit "$2"; }}

"""

_SCRIPT_RULES = {
    1: "torch.compile(model, ...) replaced by model",
    2: 'backend="eager", options= removed',
    3: 'backend="aot_eager", options= removed',
    4: 'options={**options, "force_eager": True}, mode= removed',
    5: "unchanged",
}


def collection_script(bundle: Bundle, steps: StepFacts) -> str:
    """A bash script that runs what the run lacks and leaves a complete run.

    Args:
        bundle: The analysed files; its run directory is named by its absolute path.
        steps: State of the run.

    Returns:
        The text. It stops at the first failure, as the collection that it completes.
    """
    run = look_at(bundle)
    plan = [(step, _keeps(run, step, steps)) for step in steps.steps]
    kept = [step.name for step, keep in plan if keep]
    todo = [step.name for step, keep in plan if not keep]
    launch = find_launch(run)
    extra = "PYTHONFAULTHANDLER=1 " if steps.first_failed else ""
    parts = [
        _HEAD.format(
            kept=", ".join(kept) or "nothing",
            run=", ".join(todo) or "nothing",
            source=_comment(launch.source),
            root=ROOT,
            given=shlex.quote(run_location(bundle, run)),
            versions=_VERSIONS,
        ),
        *_absent_scripts(run, todo),
        _FUNCTIONS.format(
            plain=_command(launch, extra, compiled=False), compiled=_command(launch, extra, compiled=True)
        ),
        *(_line(step, keep=keep) for step, keep in plan),
        "finish 'all five steps passed' 0\n",
    ]
    return "".join(parts)


def _keeps(run: RunDir, step: Step, steps: StepFacts) -> bool:
    """A step that passed with its log; an unreadable or silent failed step runs again, and so does what comes later."""
    facts = run.step(int(step.name[4]))
    whole = facts.exists and facts.stdout is not None and not facts.stdout_empty and facts.plog_dir
    return whole and step.status in PASSED and (steps.first_failed is None or step.name < steps.first_failed)


def _line(step: Step, *, keep: bool) -> str:
    if keep:
        return f"keep_step {step.name}\n"
    return f"run_step {step.name} || finish '{step.name} failed' 1\n"


def _command(launch: Launch, extra: str, *, compiled: bool) -> str:
    after = f" {launch.after}" if launch.after else ""
    return f'{extra}{_SWITCHES[compiled]} {_COMMON} \\\n        {launch.before} "$script"{after}'


def _absent_scripts(run: RunDir, todo: list[str]) -> list[str]:
    """Scripts of the steps that have to run: made from original.py where that is certain, else a rule in words."""
    parts: list[str] = []
    original = run.by_path.get(f"{run.base}{ORIGINAL}")
    code = text_of(original, MAX_SCRIPT) if original else ""
    for name in todo:
        if f"{name}.py" in run.scripts:
            continue
        number = int(name[4])
        made = rewritten(code, number) if code else None
        if made is None or redact_secrets(made) != made:  # a secret must not travel in a report
            parts.append(
                f"# scripts/{name}.py is missing: the program with {_SCRIPT_RULES[number]}, nothing else changed.\n"
            )
        else:
            parts.append(f"\ncat > \"$ROOT/scripts/{name}.py\" <<'{_end(made)}'\n{_closed(made)}{_end(made)}\n")
    return parts


def _end(text: str) -> str:
    """A here-document word that is no line of the text."""
    word = "END_OF_SCRIPT"
    while re.search(rf"^{word}$", text, re.MULTILINE):
        word += "_"
    return word


def _closed(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _comment(text: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", text)


def run_location(bundle: Bundle, run: RunDir) -> str:
    """Absolute path of the run directory, from where one of its files was opened; the shown path if it has none."""
    for path, source in run.by_path.items():
        if source.copied:
            continue
        inside = PurePosixPath(path[len(run.base) :])
        folder = PurePosixPath(os.path.abspath(source.location))  # noqa: PTH100 - links stay as the user named them
        if folder.parts[-len(inside.parts) :] == inside.parts:
            return str(PurePosixPath(*folder.parts[: -len(inside.parts)]))
    return bundle.path
