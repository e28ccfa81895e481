"""Archives, compressed logs and the standard input become plain files in a private folder, removed at the end.

What an archive says is hostile input: a name only chooses a place below a folder of our own, nothing but regular files
and folders is made, and every byte is counted when it comes, never believed when it is announced.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import importlib
import os
import re
import stat
import tarfile
import time
import zipfile
from collections.abc import Callable
from typing import BinaryIO, Literal, cast

import msgspec

from plogscope.discover.forward import DAMAGE, Forward, Xz
from plogscope.discover.scratch import Scratch, Stop
from plogscope.discover.text import as_utf8
from plogscope.discover.walk import PRUNED, shown
from plogscope.model.source import Skipped

Form = Literal["tar", "zip", "gzip", "bzip2", "xz", "zstd"]

_UNICODE_NAME = 0x800
_ENCRYPTED = 0x1

_SUFFIX = re.compile(r"(?:\.tar)?\.(?:gz|bz2|xz|zst)$|\.(?:tgz|tbz2?|txz|tzst|tar|zip)$", re.IGNORECASE)
_TAR_NAME = re.compile(r"\.(?:tar(?:\.\w+)?|t[bgx]z2?|tzst)$", re.IGNORECASE)
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_MAGIC: tuple[tuple[bytes, Form], ...] = (
    (b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip"),
)  # fmt: skip


class Unpacked(msgspec.Struct):
    """What came out of one archive.

    Attributes:
        folder: The members as a tree; None for a compressed single file.
        file: The content of a compressed single file.
        skipped: Members that were refused; paths relative to the archive.
        damage: Why only a part was read.
    """

    folder: str | None = None
    file: str | None = None
    skipped: list[Skipped] = []
    damage: str | None = None


def form_of(path: str, head: bytes, *, alone: bool) -> Form | None:
    """The form of an archive or compressed file by its first 512 bytes; None for everything else.

    Args:
        path: As shown. Programs and tensors are packed as well: only what is named like an archive is opened.
        head: Of the file.
        alone: The user named this very file.
    """
    if not alone and not is_named_archive(path):
        return None
    found = next((form for magic, form in _MAGIC if head.startswith(magic)), None)
    if found is None and (head[257:262] == b"ustar" or (head.strip(b"\0") and path.lower().endswith(".tar"))):
        return "tar"
    return found


def is_named_archive(path: str) -> bool:
    """True for the name of an archive or compressed file that can be read."""
    return bool(_SUFFIX.search(path))


def without_suffix(path: str) -> str:
    """The path without what says that it is packed: `node-3.tar.gz` → `node-3`, `plog-1.log.gz` → `plog-1.log`."""
    return _SUFFIX.sub("", path)


def unpack(location: str, path: str, form: Form, scratch: Scratch, refused: Callable[[str], str | None]) -> Unpacked:
    """Unpacks one archive, as far as it can be read.

    Args:
        location: Where to open it.
        path: Its name.
        form: From `form_of`.
        scratch: Where to.
        refused: Why a member of that name is not wanted; None if it is.

    Returns:
        What came out; nothing is raised for a defect of the archive.
    """
    found = Unpacked()
    try:
        size, changed = os.path.getsize(location), os.path.getmtime(location)  # noqa: PTH202, PTH204
        with open(location, "rb") as stream:
            if form == "zip":
                _Members(found, scratch, refused).take_zip(stream, size)
                return found
            forward = Forward(_opened(stream, form), size, scratch.limits)
            head = forward.peek(512)
            if form == "tar" or head[257:262] == b"ustar" or _TAR_NAME.search(path):
                _Members(found, scratch, refused).take_tar(forward)
                return found
            name = without_suffix(path.rpartition("/")[2]) or "file"
            target = os.path.join(scratch.folder(), name[:200].replace("\0", ""))  # noqa: PTH118
            found.file = target
            scratch.write(forward.read, target)
    except (Stop, OSError, *DAMAGE) as error:
        found.damage = _reason(error)
    if found.file is not None and os.path.exists(found.file):  # noqa: PTH110
        _set_time(found.file, changed)
    else:
        found.file = None
    return found


def spool(stream: BinaryIO, scratch: Scratch) -> Unpacked:
    """The standard input as a file."""
    found = Unpacked()
    try:
        found.file = os.path.join(scratch.folder(), "stdin")  # noqa: PTH118
        scratch.write(stream.read, found.file)
    except (Stop, OSError) as error:
        found.damage = _reason(error)
    return found


def rewritten(location: str, encoding: str, scratch: Scratch) -> Unpacked:
    """A text in UTF-8; `damage` where only a part of it could be written."""
    found = Unpacked()
    try:
        target = os.path.join(scratch.folder(), "text")  # noqa: PTH118
        with open(location, "rb") as stream:
            found.file = target
            scratch.write(as_utf8(stream, encoding), target)
        _set_time(target, os.path.getmtime(location))  # noqa: PTH204
    except (Stop, OSError) as error:
        found.damage = _reason(error)
    if found.file is not None and not os.path.exists(found.file):  # noqa: PTH110
        found.file = None
    return found


def _reason(error: BaseException) -> str:
    if isinstance(error, Stop):
        return str(error)
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        return error.strerror.lower()
    text = shown(" ".join(str(error).split()))[:120]
    return f"damaged archive ({text or type(error).__name__})"


def _opened(stream: BinaryIO, form: Form) -> BinaryIO:
    """The stream behind the compression."""
    if form == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=stream))
    if form == "bzip2":
        return cast("BinaryIO", bz2.BZ2File(stream))
    if form == "xz":
        return cast("BinaryIO", Xz(stream))
    if form == "zstd":
        try:
            zstd = importlib.import_module("compression.zstd")
        except ImportError:
            raise Stop("zstd needs Python 3.14: unpack it first") from None
        return cast("BinaryIO", zstd.ZstdFile(stream))
    return stream


class _Members:
    """Puts the members of one archive below one folder."""

    def __init__(self, found: Unpacked, scratch: Scratch, refused: Callable[[str], str | None]) -> None:
        self.found = found
        self.scratch = scratch
        self.refused = refused
        self.root = found.folder = scratch.folder()
        self.pruned: set[str] = set()

    def take_tar(self, stream: Forward) -> None:
        """Members in the order of the archive, until its end or damage."""
        with tarfile.open(fileobj=cast("BinaryIO", stream), mode="r:", errors="surrogateescape") as archive:
            while (member := archive.next()) is not None:
                vars(archive)["members"] = []  # the list would grow with the archive
                kind = _kind_of(member)
                target = self.place(member.name, kind)
                if target is None:
                    continue
                if kind == "folder":
                    self.make_folder(target, member.name)
                    continue
                stream.seek(member.offset_data)
                left = member.size

                def read(size: int) -> bytes:
                    nonlocal left
                    data = stream.read(min(size, left))
                    if left and not data:
                        raise EOFError("the end is missing")
                    left -= len(data)
                    return data

                self.make_file(target, member.name, read, member.mtime)

    def take_zip(self, stream: BinaryIO, size: int) -> None:
        """Members in the order of the directory."""
        with zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                name = _zip_name(member)
                kind = "folder" if name.endswith("/") else _zip_kind(member)
                target = self.place(name, kind)
                if target is None:
                    continue
                if kind == "folder":
                    self.make_folder(target, name)
                    continue
                try:
                    with archive.open(member) as content:
                        forward = Forward(cast("BinaryIO", content), size, self.scratch.limits)
                        moment = time.mktime((*member.date_time, 0, 0, -1))
                        self.make_file(target, name, forward.read, moment)
                except DAMAGE as error:
                    self.found.damage = _reason(error)

    def place(self, name: str, kind: str) -> str | None:
        """Where a member goes; None if it is refused, which is noted."""
        self.scratch.entries += 1
        if self.scratch.entries > self.scratch.limits.entries:
            raise Stop("it has more members than a log folder would")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        reason = self._refusal(name, kind, parts)
        if reason is not None:
            self.skip(name, reason)
            return None
        pruned = next((number for number, part in enumerate(parts) if part in PRUNED), None)
        if pruned is not None:
            folder = "/".join(parts[: pruned + 1])
            if folder not in self.pruned:
                self.pruned.add(folder)
                self.skip(folder, "not a log folder")
            return None
        return os.path.join(self.root, *parts)  # noqa: PTH118

    def _refusal(self, name: str, kind: str, parts: list[str]) -> str | None:
        if _ABSOLUTE.match(name):
            return "refused: an absolute path"
        if ".." in parts:
            return "refused: a path that leads out of the archive"
        if kind not in ("file", "folder"):
            return f"refused: {kind}"
        if "\0" in name or len(parts) > self.scratch.limits.depth or (not parts and kind == "file"):
            return "refused: not a usable path"
        return self.refused("/".join(parts)) if kind == "file" else None

    def make_folder(self, target: str, name: str) -> None:
        try:
            os.makedirs(target, exist_ok=True)  # noqa: PTH103
        except OSError as error:
            self.skip(name, (error.strerror or "cannot be made").lower())

    def make_file(self, target: str, name: str, read: Callable[[int], bytes], moment: float) -> None:
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
            self.scratch.write(read, target)
        except FileExistsError:
            self.skip(name, "refused: a second member of that name")
        except OSError as error:
            if not _name_is_the_defect(error):
                raise
            self.skip(name, (error.strerror or "cannot be made").lower())
        finally:
            _set_time(target, moment)

    def skip(self, name: str, reason: str) -> None:
        self.found.skipped.append(Skipped(shown(name), reason))


def _name_is_the_defect(error: OSError) -> bool:
    """True when another member can be written all the same."""
    return error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.EILSEQ)


def _kind_of(member: tarfile.TarInfo) -> str:
    if member.issparse():
        return "a sparse file"
    if member.isreg():
        return "file"
    if member.isdir():
        return "folder"
    return "a link" if member.islnk() or member.issym() else "a device or pipe"


def _zip_kind(member: zipfile.ZipInfo) -> str:
    if member.flag_bits & _ENCRYPTED:
        return "encrypted"
    mode = member.external_attr >> 16
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        return "a link"
    return "file" if kind in (0, stat.S_IFREG) else "a device or pipe"


def _zip_name(member: zipfile.ZipInfo) -> str:
    """The name with `/`; names from Windows without the mark of UTF-8 are read as UTF-8 or GB18030."""
    name = member.filename
    if not member.flag_bits & _UNICODE_NAME and not name.isascii():
        raw = name.encode("cp437", "replace")
        for encoding in ("utf-8", "gb18030"):
            with contextlib.suppress(UnicodeDecodeError):
                return raw.decode(encoding).replace("\\", "/")
    return name.replace("\\", "/")


def _set_time(path: str, moment: float) -> None:
    """The time of the member: it tells the year of stamps that have none."""
    with contextlib.suppress(OSError, ValueError, OverflowError):
        os.utime(path, (moment, moment))
