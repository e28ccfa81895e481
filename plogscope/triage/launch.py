"""How the user starts the program, as far as the logs and scripts of a run show it.

A command line that stands in a log goes into a script that a person runs. So it is taken apart into words, only known
launchers count, and a word that is more than a plain option or name makes the whole line worthless.
"""

from __future__ import annotations

import re
import shlex

import msgspec

from plogscope.model.source import Source
from plogscope.triage.files import blocks_of, lines_of
from plogscope.triage.rundir import RunDir
from plogscope.triage.scripts import ORIGINAL, script_facts

HEAD_BYTES = 64 * 1024
"""A command line that a shell or launcher echoes stands at the start of a log."""

MAX_WORDS = 40

_LAUNCHERS = re.compile(
    r"(?:\S*/)?(?:torchrun|python[\d.]*|deepspeed|accelerate|mpirun|mpiexec|msrun|numactl|taskset)$"
)
_ECHO = re.compile(
    r"^(?:\++ |\$ |(?:cmd|command|launch(?:ing)?|running)\s?[:=]\s?)(?P<line>\S.{3,2000})$", re.IGNORECASE
)
_PLAIN_WORD = re.compile(r"[\w./:=,@%+-]{1,300}$")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*=[\w./:,@%+-]{0,300}$")
_COLLECTOR_VARIABLE = re.compile(r"(?:TORCH_LOGS|TORCH_COMPILE_DEBUG|ASCEND_(?:PROCESS|GLOBAL|SLOG))\w*=")
_FROM_TEXT = re.compile(r"-[cI]$|-m$")
_MODULES = frozenset({"torch.distributed.run", "torch.distributed.launch"})
_RANKS = re.compile(rb"^\[(?:rank|default)(\d{1,4})\]:|^\s*rank\s*:\s*(\d{1,4}) \(local_rank:", re.MULTILINE)
_TORCHRUN = re.compile(rb"torch/distributed/(?:elastic|run|launcher)\b|\btorchrun\b|ChildFailedError")


class Launch(msgspec.Struct, frozen=True):
    """`before` and `after` the path of the script, ready for a shell; `source` says where it was read."""

    before: str = "python"
    after: str = ""
    source: str = "no launcher is visible in the run"


def find_launch(run: RunDir) -> Launch:
    """The launch form: an echoed command line, else the ranks that torchrun's log shows, else what the script needs."""
    logs = [step.stdout for step in run.steps if step.stdout is not None and step.stdout.size]
    files = [*(source for path, source in sorted(run.by_path.items()) if path.endswith(".sh")), run.env, *logs]
    names = {f"{step.name}.py" for step in run.steps} | {"original.py"}
    for source in filter(None, files):
        found = _echoed(source, names, everything=source.path.endswith(".sh"))
        if found:
            return found
    for log in logs:
        found = _by_ranks(log)
        if found:
            return found
    script = run.by_path.get(f"{run.base}{ORIGINAL}")
    facts = script_facts(script) if script else None
    if script is not None and facts is not None and facts.distributed:
        processes = '"${NPROC:?set NPROC to the number of processes per node}"'
        return Launch(f"torchrun --nproc_per_node={processes}", "", f"{script.path}:{facts.distributed}")
    return Launch()


def _echoed(source: Source, names: set[str], *, everything: bool) -> Launch | None:
    for number, line in enumerate(lines_of(source, HEAD_BYTES), 1):
        match = _ECHO.match(line.strip())
        text = match["line"] if match else line.strip() if everything else None
        found = read_command(text, names) if text else None
        if found:
            return msgspec.structs.replace(found, source=f"{source.path}:{number}")
    return None


def read_command(text: str, names: set[str]) -> Launch | None:
    """A command line as a launch form, or None if it is not certainly one.

    Args:
        text: The line without the prompt.
        names: File names that are surely the program; another `.py` counts as well when a launcher stands before it.
    """
    try:
        words = shlex.split(text, comments=False)
    except ValueError:
        return None
    if not 1 < len(words) <= MAX_WORDS:
        return None
    variables = [word for word in words if _VARIABLE.match(word)][: _leading_variables(words)]
    words = words[len(variables) :]
    at = next(
        (n for n, word in enumerate(words) if word.endswith(".py") and (n or word.rpartition("/")[2] in names)), 0
    )
    if not at or not _LAUNCHERS.match(words[0]) or not all(_PLAIN_WORD.match(word) for word in words):
        return None
    before = words[:at]
    for option, value in zip(before, [*before[1:], ""], strict=True):
        if _FROM_TEXT.match(option) and value not in _MODULES:
            return None
    own = [word for word in variables if not _COLLECTOR_VARIABLE.match(word)]
    return Launch(shlex.join(["env", *own, *before] if own else before), shlex.join(words[at + 1 :]))


def _leading_variables(words: list[str]) -> int:
    return next((n for n, word in enumerate(words) if not _VARIABLE.match(word)), len(words))


def _by_ranks(log: Source) -> Launch | None:
    """Torchrun without its command line: as many processes as ranks are named."""
    ranks: set[int] = set()
    launched = False
    for _, block in blocks_of(log):
        launched = launched or bool(_TORCHRUN.search(block))
        ranks |= {int(a or b) for a, b in _RANKS.findall(block)}
    if not ranks or not (launched or len(ranks) > 1):
        return None
    return Launch(f"torchrun --nproc_per_node={max(ranks) + 1}", "", f"{log.path}: ranks 0-{max(ranks)}")
