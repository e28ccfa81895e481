"""All sources of a bundle → fragments: files split into ranges, ranges over processes, neighbours combined."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from plogscope.grammar.load import load_grammar
from plogscope.grammar.match import Matcher
from plogscope.model.signature import Grammar
from plogscope.model.source import Bundle, Skipped, Source
from plogscope.opening import open_log
from plogscope.scan.assemble import scan
from plogscope.scan.fragment import Fragment, empty_fragment, finish
from plogscope.scan.quiet import Columns

RANGE_BYTES = 64 << 20
"""Files below this size are one range."""

POOL_FROM_BYTES = 24 << 20
"""Starting processes costs about a third of a second: smaller bundles are scanned in this one."""

RECORD_KINDS = frozenset({"plog", "device-log", "stdout", "device-system", "host-system", "npugraph-debug"})


STATEMENTS = frozenset({"first_failure.txt"})
"""Artefacts whose lines can be evidence: the exit code is all that a process killed by a signal leaves behind."""


class Scanned(msgspec.Struct, frozen=True):
    """Finished fragments by source id, and what could not be read after all."""

    fragments: dict[int, Fragment]
    skipped: tuple[Skipped, ...]
    timeouts: int


class Task(msgspec.Struct, frozen=True):
    """One range of one source."""

    source: Source
    start: int
    stop: int | None


def scan_bundle(
    bundle: Bundle, grammar: Grammar, *, grammar_folders: Sequence[Path] = (), jobs: int | None = None
) -> Scanned:
    """Scans every record source of the bundle.

    Args:
        bundle: What discover found.
        grammar: The loaded grammar, for this process.
        grammar_folders: The folders it was loaded with, for worker processes.
        jobs: Processes to use; None = one per core.
    """
    tasks = list(_tasks(bundle))
    total = sum(task.source.size for task in tasks if task.start == 0)
    workers = min(jobs or os.cpu_count() or 1, len(tasks))
    if workers <= 1 or total < POOL_FROM_BYTES:
        matcher = Matcher(grammar, proven=not grammar_folders)
        columns = Columns(matcher.gate)
        results = [_scan_task(task, matcher, columns) for task in tasks]
        timeouts = sum(matcher.timeouts.values())
        return _combine(tasks, results, timeouts)
    largest_first = sorted(range(len(tasks)), key=lambda i: -tasks[i].source.size)
    # "spawn" is safe whatever threads the caller runs; a worker loads the compiled grammar in a few ms.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with ExitStack() as stack:
        try:
            with _quiet_start() as hold:
                folders = (tuple(grammar_folders),)
                pool = ProcessPoolExecutor(workers, context, initializer=_start_worker, initargs=folders)
                stack.enter_context(pool)
                hold()  # what the pool starts for itself lets interrupts through again
                coming = [pool.submit(_run_in_worker, tasks[i]) for i in largest_first]
            done = [one.result() for one in coming]
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()  # else leaving the pool would wait for all that is left to scan
            raise
    unpacked = {
        index: msgspec.msgpack.decode(packed, type=Fragment) if isinstance(packed, bytes) else packed
        for index, (packed, _) in zip(largest_first, done, strict=True)
    }
    return _combine(tasks, [unpacked[index] for index in range(len(tasks))], sum(slow for _, slow in done))


def _tasks(bundle: Bundle) -> Iterator[Task]:
    for source in bundle.sources:
        if source.kind not in RECORD_KINDS and source.path.rsplit("/", 1)[-1] not in STATEMENTS:
            continue
        if source.size <= RANGE_BYTES:
            yield Task(source, 0, None)
            continue
        for start in range(0, source.size, RANGE_BYTES):
            last = start + RANGE_BYTES >= source.size
            yield Task(source, start, None if last else start + RANGE_BYTES)


def _scan_task(task: Task, matcher: Matcher, columns: Columns) -> Fragment | str:
    """The fragment of a range, or why it could not be read."""
    try:
        with open_log(task.source.location) as stream:
            return scan(stream, task.source, matcher, task.start, task.stop, columns=columns)
    except OSError as error:
        return error.strerror or type(error).__name__


_worker: list[tuple[Matcher, Columns]] = []


@contextmanager
def _quiet_start() -> Iterator[Callable[[], object]]:
    """An interrupt, or the end of the terminal, waits until the processes that start here have been started.

    To them it never comes: they would print where they were. The process that started them ends them.

    Yields:
        Holds the signals back (again).
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield lambda: None
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield lambda: signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


HELD = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]


def _start_worker(grammar_folders: tuple[Path, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    matcher = Matcher(load_grammar(grammar_folders), proven=not grammar_folders)
    _worker.append((matcher, Columns(matcher.gate)))


def _run_in_worker(task: Task) -> tuple[bytes | str, int]:
    matcher, columns = _worker[0]
    before = sum(matcher.timeouts.values())
    result = _scan_task(task, matcher, columns)
    slow = sum(matcher.timeouts.values()) - before
    return (result if isinstance(result, str) else msgspec.msgpack.encode(result)), slow


def _combine(tasks: Sequence[Task], results: Sequence[Fragment | str], timeouts: int) -> Scanned:
    fragments: dict[int, Fragment] = {}
    skipped: list[Skipped] = []
    for task, result in zip(tasks, results, strict=True):
        if isinstance(result, Fragment):
            known = fragments.get(task.source.id)
            fragments[task.source.id] = result if known is None else known + result
        else:
            skipped.append(Skipped(task.source.path, result))
            fragments.setdefault(task.source.id, empty_fragment(task.source.id))
    return Scanned({key: finish(fragment) for key, fragment in fragments.items()}, tuple(skipped), timeouts)
