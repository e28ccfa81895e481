"""What kind of file it is: by its path where that is unmistakable, else by its first bytes."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from plogscope.discover import names
from plogscope.discover.text import wide_encoding
from plogscope.discover.walk import File
from plogscope.model.source import SourceKind

SNIFF_BYTES = 8192
NUL_SHARE = 0.3
"""More NUL bytes than this in a sample, and it is no text. Long runs do not count: a log that was cut while its writer
went on begins with one, and one that was not flushed before the power failed ends with one."""

_NUL_RUN = re.compile(rb"\0{64,}")

BINARY = "binary"
ARCHIVE = "archive: unpack it first"
OWN_REPORT = "a report of plogscope"

_ARCHIVE_NAME = re.compile(r"\.(?:gz|tgz|tar|zip|bz2|tbz2?|xz|txz|zst|7z|rar|lz4|Z)$", re.IGNORECASE)
_BINARY_NAME = re.compile(
    r"\.(?:so(?:\.[\d.]+)?|o|a|pt|pth|ckpt|bin|safetensors|npy|npz|pkl|pickle|png|jpe?g|gif|webp|bmp|pdf|om|onnx|pyc"
    r"|whl|egg|parquet|arrow|h5|hdf5|db|sqlite3?|core|dump|exe|dll|pb|pcap|mp4|ttf|woff2?)$",
    re.IGNORECASE,
)
_ARTEFACT_NAME = re.compile(
    r"(?:^|/)(?:env\.txt|first_failure\.txt|warnings\.txt|SUCCESS|DONE|version\.(?:cfg|info)|ascend_install\.info"
    r"|requirements[\w.-]*\.txt|CMakeLists\.txt|README[\w.]*|LICENSE|Dockerfile|Makefile|[\w-]*schedule_tracer_[\w.-]*)$"
    r"|\.(?:py|pyi|json|jsonl|ya?ml|toml|cfg|conf|ini|xml|html?|css|js|ts|md|rst|csv|tsv|xlsx?|sh|c|cc|cpp|h|hpp|cce"
    r"|mlir|ll|dot|svg|patch|diff|lock|prototxt|pbtxt|info)$",
    re.IGNORECASE,
)
_DEBUG_TREE = re.compile(r"(?:^|/)(?:torch_compile_debug|npugraph_ex/model__\d+|torchdynamo|tlparse)(?=/)")
_SCRIPTS = re.compile(r"(?:^|/)scripts/[^/]+$")
_HOST_SYSTEM = re.compile(
    r"(?:^|/|_)(?:messages|syslog|kern\.log|dmesg|vmcore-dmesg|host_kernel|journal(?:ctl)?|sysmonitor)"
    r"(?:[-._][\w.-]*)?$|(?:^|/)(?:[\w.-]+[_-])?dmesg[\w.-]*\.(?:log|txt)$",
    re.IGNORECASE,
)
_PRINTED_NAME = re.compile(
    r"(?:\.(?:log|out|err|stdout|stderr)(?:\.\d+)?|(?:^|/)(?:stdout|stderr|nohup\.out))$", re.IGNORECASE
)
_MAGIC = (
    b"\x7fELF", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"PAR1", b"ARROW1", b"\x93NUMPY",
    b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"SQLite format", b"\xca\xfe\xba\xbe", b"\x00asm",
)  # fmt: skip
_ARCHIVE_MAGIC = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf", b"Rar!")
_OWN_NAME = re.compile(r"(?:^|/)plogscope-report\.html$")
_OWN_TEXT = re.compile(rb"plogscope \d+\.\d+\S*  [0-9a-f]{12}  ")
"""How the text view begins: it quotes errors, and would be taken for a log of the job."""

_LOG_TEXT = re.compile(
    rb"^\s*Traceback \(most recent call last\)|^Fatal Python error|Segmentation fault|^[VIWEF]\d{4} \d\d:\d\d"
    rb"|\b(?:ERROR|WARNING|WARN|CRITICAL|FATAL|INFO|DEBUG)\b|\[(?:EVENT|TRACE|NOTICE)\]|\bE[A-Z]\d{4}\b"
    rb"|\bERR\d{5}\b|\w(?:Error|Exception): |\b[Ee]rror (?:code|:)|\d{4}[-/]\d\d[-/]\d\d[ T-]\d\d:\d\d:\d\d"
    rb"|^(?:\[\s*\d+\.\d{6}\]|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d )|npu-smi|\bfailed\b|\bretcode\b|\[rank\d+\]"
    rb"|^(?:[\w-]+ +)?(?:\d+[smhd]\w* +(?:\(x\d+ over \w+\) +)?(?:Normal|Warning)|LAST SEEN +TYPE) +[A-Z]\w+ ",
    re.MULTILINE,
)
_CANN_PLOG = re.compile(rb"\[(?:ERROR|WARNING|INFO|DEBUG|EVENT)\] [A-Z]\w+\(\d+,[^)\n]{0,80}\):\d{4}-\d\d-\d\d")


class Kind(msgspec.Struct, frozen=True):
    """`kind` of a file that is taken, or the reason why it is `skipped`; `encoding` if it must be copied to be read."""

    kind: SourceKind | None
    skipped: str | None = None
    encoding: str | None = None


def is_binary_name(path: str) -> bool:
    """True for the name of a program, tensor or picture."""
    return bool(_BINARY_NAME.search(path))


def kind_of(file: File, *, alone: bool = False) -> Kind:
    """Decides what a file is; reads at most two samples of 8 KB, and none when the name is unmistakable.

    Args:
        file: A regular, readable file.
        alone: The user named this very file: any text is then a log.
    """
    path = file.named
    if names.is_plog(path):
        return Kind("plog", encoding=_encoding(file))
    if names.is_application_device_log(path):
        return Kind("device-log", encoding=_encoding(file))
    refused = ARCHIVE if _ARCHIVE_NAME.search(path) else BINARY if is_binary_name(path) and not alone else None
    if refused:
        return Kind(None, refused)
    if _OWN_NAME.search(path):
        return Kind(None, OWN_REPORT)
    if path.endswith("npugraph_ex/debug.log"):
        return Kind("npugraph-debug")
    return Kind("artefact") if is_artefact_name(path) and not alone else _by_content(file, alone=alone)


def is_artefact_name(path: str) -> bool:
    """True for the name of something that belongs to a job and is no log: a script, a table, a setting."""
    return bool(_ARTEFACT_NAME.search(path) or _DEBUG_TREE.search(path) or _SCRIPTS.search(path))


def _by_content(file: File, *, alone: bool) -> Kind:
    try:
        sample = _sample(file.location, 0)
        verdict = _refuse(sample)
        if verdict == BINARY and _PRINTED_NAME.search(file.named) and not sample.startswith(_MAGIC):
            verdict = _refuse(_sample(file.location, max(0, file.size - SNIFF_BYTES)))
    except OSError as error:
        return Kind(None, (error.strerror or "cannot be opened").lower())
    if verdict or _OWN_TEXT.match(sample):
        return Kind(None, verdict or OWN_REPORT)
    encoding = wide_encoding(sample)
    text = sample if encoding is None else sample.decode(encoding, "replace").encode()
    return Kind(_text_kind(file.named, text, alone=alone), encoding=encoding)


def _encoding(file: File) -> str | None:
    try:
        return wide_encoding(_sample(file.location, 0))
    except OSError:
        return None  # the scan says why it cannot be read


def _text_kind(path: str, sample: bytes, *, alone: bool) -> SourceKind:
    if names.is_system_device_log(path):
        return "device-system"
    if _HOST_SYSTEM.search(path):
        return "device-system" if "dev-os-" in path or "hisi_logs/" in path else "host-system"
    if _PRINTED_NAME.search(path):
        return "plog" if _is_renamed_plog(path, sample) else "stdout"
    if alone or _LOG_TEXT.search(sample.replace(b"\0", b"")):
        return "stdout"
    return "artefact"


def _is_renamed_plog(path: str, sample: bytes) -> bool:
    """A log inside debug|run|security/plog that lost its name, or whose every line is a plog record."""
    if re.search(r"(?:^|/)(?:debug|run|security)/plog/[^/]+$", path):
        return True
    lines = [line for line in sample.split(b"\n")[:40] if line.strip()]
    return "plog" in path.rpartition("/")[2].lower() and bool(lines) and bool(_CANN_PLOG.match(lines[0]))


def _refuse(sample: bytes) -> Literal["binary", "archive: unpack it first"] | None:
    if sample.startswith(_ARCHIVE_MAGIC):
        return "archive: unpack it first"
    if wide_encoding(sample) is not None:
        return None
    if sample.startswith(_MAGIC) or sample[257:262] == b"ustar":
        return "archive: unpack it first" if sample[257:262] == b"ustar" else "binary"
    text = _NUL_RUN.sub(b"", sample)
    if sample and text.count(0) >= NUL_SHARE * len(text):
        return "binary"
    return "binary" if _control_share(text) > NUL_SHARE else None


def _control_share(sample: bytes) -> float:
    """Share of control bytes that no log writes; high in tensors and compressed data without a magic number."""
    controls = bytes(set(range(32)) - {0, 7, 8, 9, 10, 12, 13, 27})
    return (len(sample) - len(sample.translate(None, controls))) / len(sample) if sample else 0.0


def _sample(location: str, offset: int) -> bytes:
    with open(location, "rb", buffering=0) as stream:
        stream.seek(offset)
        return stream.read(SNIFF_BYTES)
