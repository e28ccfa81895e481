"""The exact commands that bring what a five-step run lacks; every variable stands inline before the command."""

from __future__ import annotations

import re
import shlex

_INPUT_PREFIX = re.compile(r"^\d+:")

VERSIONS = (
    "python -c \"import torch; print('torch', torch.__version__)\"; "
    "python -c \"import torch_npu; print('torch_npu', torch_npu.__version__)\"; "
    "python -c \"import torchair; print('torchair', torchair.__version__)\"; "
    "cat /usr/local/Ascend/ascend-toolkit/latest/version.cfg"
)


def rerun(step: str, run: str | None, extra: str = "") -> str:
    """The command that runs one step as the collector does.

    Args:
        step: Directory name of the step.
        run: Run directory as in the bundle ("" or None = the given path itself).
        extra: Further variables, inline, for example `PYTHONFAULTHANDLER=1`.

    Returns:
        One shell line; where the original program was started by a launcher, `python` stands for that launcher.
    """
    root = _INPUT_PREFIX.sub("", run or "")
    base = f"{root}/" if root else ""
    directory = shlex.quote(base + step)
    script = shlex.quote(f"{base}scripts/{step}.py")
    compiled = step.startswith(("step4", "step5"))
    made = f"{directory}/ascend_plog" + (f" {directory}/torch_compile_debug" if compiled else "")
    switches = (
        f'TORCH_COMPILE_DEBUG=1 TORCH_COMPILE_DEBUG_DIR="$PWD"/{directory}/torch_compile_debug'
        if compiled
        else 'TORCH_LOGS="+all"'
    )
    return (
        f"mkdir -p {made} && {extra + ' ' if extra else ''}{switches} "
        f'ASCEND_PROCESS_LOG_PATH="$PWD"/{directory}/ascend_plog ASCEND_GLOBAL_LOG_LEVEL=1 '
        f"ASCEND_SLOG_PRINT_TO_STDOUT=0 python {script} > {directory}/stdout_stderr.log 2>&1; echo exit_code=$?"
    )
