"""The keyword rules of step 5: which words of an error count, with the boundaries that keep look-alikes out.

Words are looked for in the type and message of the exception that comes first, never in frame paths, source lines,
DEBUG lines or the logs of passed steps.
"""

from __future__ import annotations

import re

from plogscope.triage.phase import first_block

MESSAGE_LINES = 12
"""Lines of a message that are looked at: what follows is a quoted traceback or a list of hints."""

_EXCEPTION = re.compile(r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::[ \t]*(?P<message>.*))?$")
_NOT_MESSAGE = re.compile(r"^\s*(?:File \"|Traceback \(|\^|~)|^\s+(?:https?://|Hint:|Developer debug context:)")

_DYNAMO_TYPE = re.compile(r"(?:^|\.)_dynamo\.exc\.\w+$|(?:^|\.)(?:Unsupported|BackendCompilerFailed)$")
_DYNAMO_TEXT = re.compile(r"\bBackendCompilerFailed\b|\b[Gg]raph break\b|\btorch\._dynamo\.exc\.\w+")
_META = re.compile(r"\bMeta\b|\bFakeTensors?\b|\bAOTAutograd\b|\bfake tensors?\b|\bfake impl\b")
_CAPTURE = re.compile(
    r"\bAclmdlRICapture(?:Begin|End)|\baclmdlRICapture(?:Begin|End)|\bcapture_(?:begin|end)\b|\brtStream(?:Begin|End)Capture"
    r"|\bduring NPU graph capture\b|\bACL ?[Gg]raph capture\b|\bcapture mode\b"
    r"|\b(?:10702[4-9]|10703[0-4]|107036|107038|107041|107045|507903)\b"
)
_RUNTIME = re.compile(
    r"\baclnn[A-Z]\w*|\baclop\w*|\bACL\b|\bacl[A-Z]\w+|\baclrt\w*|\baclmdl\w*|\bACL_\w+|\bacl error\b|\bacl api\b"
    r"|\bHCCL\b|\bHccl\w*|\bhccl\w*|\bOOM\b|\bOutOfMemoryError\b|\bNPU function error\b|\bOPS function error\b"
    r"|\b(?:E[EZIJLK][0-9A-Z]{4}|ERR0[0-2]\d{3})\b|\bSIGSEGV\b|\b(?:507|207)\d{3}\b"
)
_RUNTIME_ANY_CASE = re.compile(
    r"\bstreams?\b|\bevents?\b|\bsynchroni[sz]e\b|device[- ]side assert|\bsegfault\b|\bsegmentation fault\b"
    r"|\bout of memory\b|\billegal memory access\b",
    re.IGNORECASE,
)


def error_words(text: str) -> tuple[str, str]:
    """Type and message of the exception that comes first in a record.

    Args:
        text: The record, or only the exception line.

    Returns:
        (type, message); the type is "" when the record is no Python exception, the message is then its first lines.
        A `BackendCompilerFailed` keeps its type, and its message starts with the inner exception.
    """
    lines = first_block(text).split("\n")
    for number, line in enumerate(lines):
        found = _EXCEPTION.match(line.strip()) if not line.startswith((" ", "\t")) else None
        if found and not line.startswith("Traceback"):
            return found["type"], _message(found["message"] or "", lines[number + 1 :])
    return "", "\n".join([line for line in lines if not _NOT_MESSAGE.match(line)][:MESSAGE_LINES])


def _message(first: str, rest: list[str]) -> str:
    taken = [first]
    for line in rest:
        if _NOT_MESSAGE.match(line) or len(taken) >= MESSAGE_LINES:
            break
        taken.append(line)
    return "\n".join(taken)


def names_dynamo(kind: str, message: str) -> bool:
    """R40: an exception of Dynamo, a failed backend compiler, or a graph break."""
    return bool(_DYNAMO_TYPE.search(kind) or _DYNAMO_TEXT.search(message))


def names_fake(kind: str, message: str) -> bool:
    """R41: Meta or FakeTensor as words (not `metadata`, not a lower-case package or device name)."""
    return bool(_META.search(f"{kind}\n{message}"))


def names_capture(kind: str, message: str) -> bool:
    """R42: beginning or ending an ACL graph capture, a call that is forbidden in it, or one of its codes."""
    return bool(_CAPTURE.search(f"{kind}\n{message}"))


def names_runtime(kind: str, message: str) -> bool:
    """R44: an aclnn operator, ACL, HCCL, stream, event, device-side assert, segmentation fault or out of memory."""
    words = f"{kind}\n{message}"
    return bool(_RUNTIME.search(words) or _RUNTIME_ANY_CASE.search(words))
