"""Versions and variables of the environment that ran, from the files and lines that print them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plogscope.model.record import Finding
from plogscope.model.report import Environment
from plogscope.model.signature import Signature
from plogscope.model.source import Bundle, Source

MAX_SNAPSHOT_BYTES = 256 * 1024
SNAPSHOTS = ("env.txt", "version.cfg", "version.info", "ascend_toolkit_install.info")

_VERSION = re.compile(
    r"^\s*(torch|torch_npu|torchair|python|cann|driver|soc|os)\s*[ =:]\s*v?(\d[\w.+-]*)\s*$", re.IGNORECASE
)
_TOOLKIT = re.compile(r"^\s*(?:[Vv]ersion|(?:toolkit|runtime)_running_version)\s*=\s*\[?([\w.:-]*\d[\w.]*)")
_VARIABLE = re.compile(r"^\s*(?:export\s+)?((?:ASCEND|HCCL|TORCH|PYTORCH|NPU|TASK_QUEUE)_[A-Z0-9_]+)=(.{0,300})$")

_NAMES = ("torch", "torch_npu", "torchair", "cann", "driver", "soc", "python", "os")


def read_environment(bundle: Bundle, findings: Sequence[Finding], signatures: Mapping[str, Signature]) -> Environment:
    """The first statement about each name wins; snapshot files before log lines."""
    versions: dict[str, str] = {}
    variables: dict[str, str] = {}
    places: dict[str, str] = {}
    for source in bundle.sources:
        if source.path.rsplit("/", 1)[-1] in SNAPSHOTS:
            _read_snapshot(source, versions, variables, places)
    for finding in findings:
        signature = signatures.get(finding.signature or "")
        if signature is not None and signature.role == "context":
            _read_finding(finding, signature, bundle.sources[finding.source], versions, variables, places)
    known = {name: versions.get(name) for name in _NAMES}
    return Environment(**known, env=variables, source=places)


def _read_snapshot(source: Source, versions: dict[str, str], variables: dict[str, str], places: dict[str, str]) -> None:
    try:
        with open(source.location, "rb") as stream:
            text = stream.read(MAX_SNAPSHOT_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    for number, line in enumerate(text.split("\n"), 1):
        if match := _VERSION.match(line):
            name, value = match[1].lower(), match[2]
            table = versions
        elif match := _TOOLKIT.match(line):
            name, value, table = "cann", match[1].rsplit(":", 1)[-1], versions
        elif match := _VARIABLE.match(line):
            name, value, table = match[1], match[2].strip(), variables
        else:
            continue
        if name not in table:
            table[name] = value
            places[name] = f"{source.path}:{number}"


def _read_finding(
    finding: Finding,
    signature: Signature,
    source: Source,
    versions: dict[str, str],
    variables: dict[str, str],
    places: dict[str, str],
) -> None:
    found = {signature.extract[name].meaning: value for name, value in finding.fields.items()}
    place = f"{source.path}:{finding.line}"
    if "variable" in found and "value" in found and found["variable"] not in variables:
        variables[found["variable"]] = found["value"]
        places[found["variable"]] = place
    for name in _NAMES:
        if name in finding.fields and name not in versions:
            versions[name] = finding.fields[name]
            places[name] = place
