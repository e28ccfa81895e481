"""`discover`: layouts, five-step runs, what is refused, and that no tree ever raises anything but InputError."""

from __future__ import annotations

import os
import pickle
import socket
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plogscope.discover import discover
from plogscope.errors import EXIT_INPUT, InputError
from plogscope.model.source import Bundle

PLOG = "[ERROR] HCCL(6161,python3):2025-03-04-05:06:07.008.009 [a.cc:1]6161 [x][y]no\n"


def put(root: Path, path: str, text: str | bytes = PLOG) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def paths(bundle: Bundle) -> list[str]:
    return [source.path for source in bundle.sources]


def reasons(bundle: Bundle) -> dict[str, str]:
    return {entry.path: entry.reason for entry in bundle.skipped}


@pytest.mark.parametrize("name", ["nothing", "nothing\nhere", "x" * 300, "a\0b"])
def test_missing_path_is_an_input_error_with_a_hint(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as error:
        discover([tmp_path / name])
    assert (error.value.exit_code, bool(error.value.hint)) == (EXIT_INPUT, True)
    assert "\n" not in str(error.value)


def test_no_path_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no path given"):
        discover([])


@pytest.mark.parametrize("inner", ["", "a/b/c"])
def test_empty_folder_is_an_input_error(tmp_path: Path, inner: str) -> None:
    (tmp_path / inner).mkdir(parents=True, exist_ok=True)
    with pytest.raises(InputError, match="is empty"):
        discover([tmp_path])


def test_folder_without_a_log_is_an_input_error(tmp_path: Path) -> None:
    put(tmp_path, "net.py", "import torch\n")
    with pytest.raises(InputError, match="holds nothing that can be read as a log"):
        discover([tmp_path])


def test_folder_of_archives_says_unpack(tmp_path: Path) -> None:
    put(tmp_path, "logs.tar.gz", b"\x1f\x8b123")
    with pytest.raises(InputError, match="only archives: unpack them first"):
        discover([tmp_path])


def test_binary_file_is_an_input_error_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as a log: binary"):
        discover([put(tmp_path, "model.log", b"\x7fELF" + bytes(9000))])


def test_single_file_is_shown_by_its_name(tmp_path: Path) -> None:
    bundle = discover([put(tmp_path, "deep/notes.md", "RuntimeError: x\n")])
    assert [(s.id, s.path, s.kind) for s in bundle.sources] == [(0, "notes.md", "stdout")]
    assert bundle.layout == "loose"


def test_several_paths_are_numbered_in_the_order_given(tmp_path: Path) -> None:
    first = put(tmp_path, "z/a.log")
    second = put(tmp_path, "b.log")
    bundle = discover([first.parent, second])
    assert paths(bundle) == ["1:a.log", "2:b.log"]
    assert [s.id for s in bundle.sources] == [0, 1]
    assert bundle.find("2:b.log") == bundle.sources[1]


def test_sources_are_ordered_by_path_and_ids_are_positions(tmp_path: Path) -> None:
    for name in ("c.log", "a/z.log", "b.log", "a/a.log"):
        put(tmp_path, name)
    bundle = discover([tmp_path])
    assert paths(bundle) == ["a/a.log", "a/z.log", "b.log", "c.log"]
    assert [s.id for s in bundle.sources] == [0, 1, 2, 3]


def test_ascend_log_tree_is_recognised(tmp_path: Path) -> None:
    put(tmp_path, "h/debug/plog/plog-6161_20250304050607008.log")
    put(tmp_path, "h/run/device-3/device-6161_20250304050607008.log")
    bundle = discover([tmp_path])
    assert bundle.layout == "ascend-log"
    assert [(s.kind, s.folder, s.pid, s.device) for s in bundle.sources] == [
        ("plog", "debug", 6161, None),
        ("device-log", "run", 6161, 3),
    ]


def run_at(root: Path, name: str) -> Path:
    put(root, f"{name}/step1-eager/stdout_stderr.log", "ok\n")
    put(root, f"{name}/env.txt", "torch 2\n")
    return root / name


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_r12_run_is_found_up_to_three_levels_below(tmp_path: Path, levels: int) -> None:
    run = run_at(tmp_path / "u" / "v", "torch-npugraph-ex-triage-logs/20250304-050607-pid61")
    given_path = [run, *run.parents][levels]
    bundle = discover([given_path])
    assert bundle.layout == "five-step"
    assert bundle.run == run.relative_to(given_path).as_posix().replace(".", "", 1 if levels == 0 else 0)
    assert {s.step for s in bundle.sources if s.path.endswith("stdout_stderr.log")} == {"step1-eager"}


def test_r12_run_four_levels_below_is_not_looked_for(tmp_path: Path) -> None:
    run = run_at(tmp_path / "u" / "v", "w/20250304-050607-pid61")
    assert run.parents[3] == tmp_path
    assert discover([tmp_path]).layout == "loose"
    assert discover([tmp_path], follow=4).layout == "five-step"


def test_r12_newest_run_is_taken_and_the_others_are_only_named(tmp_path: Path) -> None:
    for name in ("20250304-050607-pid9", "20250304-050608-pid1", "20241231-235959-pid8"):
        run_at(tmp_path, name)
    put(tmp_path, "train.log")
    bundle = discover([tmp_path])
    assert bundle.run == "20250304-050608-pid1"
    assert bundle.other_runs == ("20250304-050607-pid9", "20241231-235959-pid8")
    assert all(path.startswith("20250304-050608-pid1/") for path in paths(bundle))
    assert reasons(bundle) == {"train.log": "outside the five-step run"}


def test_run_directory_with_another_name_is_known_by_step1(tmp_path: Path) -> None:
    run_at(tmp_path, "my results")
    assert discover([tmp_path]).run == "my results"


def test_lone_step5_folder_is_no_five_step_run(tmp_path: Path) -> None:
    put(tmp_path, "logs/20250304050607/step5-npugraph_ex/stdout_stderr.log")
    bundle = discover([tmp_path])
    assert (bundle.layout, bundle.run, bundle.sources[0].step) == ("loose", None, None)


def test_lone_step5_with_first_failure_is_a_run(tmp_path: Path) -> None:
    put(tmp_path, "r/step5-npugraph_ex/stdout_stderr.log")
    put(tmp_path, "r/first_failure.txt", "step5-npugraph_ex exit_code=1\n")
    assert discover([tmp_path]).run == "r"


def test_run_in_one_of_two_paths_keeps_the_other_path(tmp_path: Path) -> None:
    run = run_at(tmp_path / "one", "20250304-050607-pid61")
    other = put(tmp_path / "two", "train.log").parent
    bundle = discover([run, other])
    assert bundle.run == "1:"
    assert "2:train.log" in paths(bundle)
    assert [s.step for s in bundle.sources if s.path.startswith("1:step1")] == ["step1-eager"]


def test_incomplete_run_is_a_bundle_and_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "20250304-050607-pid61" / "step1-eager").mkdir(parents=True)
    bundle = discover([tmp_path])
    assert (bundle.layout, bundle.sources) == ("five-step", ())
    assert bundle.empty_dirs == ("20250304-050607-pid61/step1-eager",)


def test_directories_without_any_file_are_facts(tmp_path: Path) -> None:
    put(tmp_path, "a/x.log")
    (tmp_path / "a" / "ascend_plog" / "debug" / "plog").mkdir(parents=True)
    assert discover([tmp_path]).empty_dirs == ("a/ascend_plog", "a/ascend_plog/debug", "a/ascend_plog/debug/plog")


def test_links_are_never_followed_out_of_the_folder(tmp_path: Path) -> None:
    secret = put(tmp_path, "outside/secret.log")
    put(tmp_path, "in/x.log")
    (tmp_path / "in" / "out.log").symlink_to(secret)
    (tmp_path / "in" / "outdir").symlink_to(secret.parent)
    (tmp_path / "in" / "gone.log").symlink_to(tmp_path / "nowhere")
    (tmp_path / "in" / "loop.log").symlink_to("loop.log")
    (tmp_path / "in" / "self").symlink_to(".")
    (tmp_path / "in" / "again.log").symlink_to("x.log")
    bundle = discover([tmp_path / "in"])
    assert paths(bundle) == ["x.log"]
    assert reasons(bundle) == {
        "out.log": "link out of the folder",
        "outdir": "link out of the folder",
        "gone.log": "link: target does not exist",
        "loop.log": "link: too many levels of symbolic links",
        "self": "link to a directory",
        "again.log": "link: read as x.log",
    }


def test_link_to_a_file_of_the_folder_that_is_not_read_otherwise_is_read(tmp_path: Path) -> None:
    put(tmp_path, "__pycache__/real.log")
    (tmp_path / "x.log").symlink_to("__pycache__/real.log")
    bundle = discover([tmp_path])
    assert paths(bundle) == ["x.log"]
    assert Path(bundle.sources[0].location).read_text() == PLOG


def test_given_path_may_itself_be_a_link(tmp_path: Path) -> None:
    put(tmp_path, "real/x.log")
    (tmp_path / "link").symlink_to("real")
    assert paths(discover([tmp_path / "link"])) == ["x.log"]


def test_pipes_and_sockets_are_skipped_and_not_opened(tmp_path: Path) -> None:
    put(tmp_path, "x.log")
    os.mkfifo(tmp_path / "pipe.log")
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        server.bind("s.log")
    finally:
        os.chdir(here)
        server.close()
    assert reasons(discover([tmp_path])) == {"pipe.log": "named pipe", "s.log": "socket"}
    with pytest.raises(InputError, match="named pipe"):
        discover([tmp_path / "pipe.log"])


def test_unreadable_file_and_directory_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "x.log")
    put(tmp_path, "locked.log")
    put(tmp_path, "closed/y.log")
    access, scandir = os.access, os.scandir

    def refuse(path: str) -> os.PathLike[str]:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)  # type: ignore[return-value]

    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("locked.log") and access(path, mode))
    monkeypatch.setattr(os, "scandir", refuse)
    bundle = discover([tmp_path])
    assert paths(bundle) == ["x.log"]
    assert reasons(bundle) == {"closed": "permission denied", "locked.log": "permission denied"}
    assert bundle.empty_dirs == ()


def test_names_that_are_no_text_are_shown_escaped_and_can_be_opened(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path)
    for name in (b"bad\xff.log", b"new\nline.log", "训练.log".encode(), b"\x1b[31mred.log", "a\u202eb.log".encode()):
        Path(os.fsdecode(raw + b"/" + name)).write_text(PLOG)
    bundle = discover([tmp_path])
    assert sorted(paths(bundle)) == sorted(
        ["bad\\xff.log", "new\\nline.log", "训练.log", "\\x1b[31mred.log", "a\\u202eb.log"]
    )
    for source in bundle.sources:
        with open(source.location, "rb") as stream:
            assert stream.read() == PLOG.encode()
    assert msgspec.json.decode(msgspec.json.encode([s.path for s in bundle.sources])) == paths(bundle)


def test_many_artefacts_with_unmistakable_names_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(300):
        put(tmp_path, f"kernel_meta/k{number}.json", "{}")
    put(tmp_path, "debug/plog/plog-1_20250304050607008.log")
    opened: list[str] = []

    def noted(path: str, *_: object, **__: object) -> object:
        opened.append(path)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", noted)
    bundle = discover([tmp_path])
    assert (len(bundle.sources), {s.kind for s in bundle.sources}) == (301, {"plog", "artefact"})
    assert [Path(path).name for path in opened] == ["plog-1_20250304050607008.log"]


NAME = st.one_of(
    st.sampled_from(
        [
            "step1-eager", "step5-npugraph_ex", "scripts", "first_failure.txt", "stdout_stderr.log", "debug", "plog",
            "plog-1_20250304050607008.log", "device-0", "device-7_20250304050607008.log", "env.txt", "SUCCESS",
            "20250304-050607-pid1", "node-1", "rank_3.log", "a.gz", "torch_compile_debug", "npugraph_ex", "debug.log",
        ]
    ),
    st.binary(min_size=1, max_size=12).map(
        lambda raw: os.fsdecode(raw.replace(b"/", b"_").replace(b"\0", b"_").replace(b".", b"_"))
    ),
)  # fmt: skip
TREE = st.recursive(
    st.one_of(st.binary(max_size=40), st.sampled_from(["link:.", "link:..", "link:/", "link:gone", "fifo"])),
    lambda inner: st.dictionaries(NAME, inner, max_size=4),
    max_leaves=15,
)


def discovered(folder: Path) -> Bundle | None:
    """The bundle, or None for an input error with a hint; everything else is raised."""
    try:
        return discover([folder])
    except InputError as error:
        if not error.hint:
            raise
        return None


def grow(root: Path, name: str, node: object) -> None:
    path = root / name
    if isinstance(node, dict):
        path.mkdir()
        for child, below in node.items():
            grow(path, child, below)
    elif isinstance(node, str) and node.startswith("link:"):
        path.symlink_to(node.removeprefix("link:"))
    elif isinstance(node, str):
        os.mkfifo(path)
    elif isinstance(node, bytes):
        path.write_bytes(node)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREE)
def test_any_tree_gives_a_bundle_or_an_input_error(tree: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        grow(Path(folder), "top", tree)
        bundle = discovered(Path(folder))
        if bundle is None:
            return
        assert [s.id for s in bundle.sources] == list(range(len(bundle.sources)))
        assert paths(bundle) == sorted(paths(bundle))
        for source in bundle.sources:
            assert os.path.realpath(source.location).startswith(os.path.realpath(folder) + "/")
        texts = [
            *paths(bundle),
            *reasons(bundle),
            *bundle.empty_dirs,
            *bundle.other_runs,
            bundle.run or "",
            bundle.path,
        ]
        assert msgspec.json.decode(msgspec.json.encode(texts)) == texts
        assert not any(set(text) & set("\n\r\x1b\0") for text in texts)
        assert pickle.loads(pickle.dumps(bundle)) == bundle  # noqa: S301 - workers receive it this way
