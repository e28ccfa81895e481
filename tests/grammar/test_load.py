from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from plogscope.errors import EXIT_GRAMMAR, GrammarError, InputError
from plogscope.grammar import load
from plogscope.grammar.compile import assemble, compile_grammar, decode_grammar, read_grammar
from plogscope.grammar.load import load_grammar


@pytest.fixture
def shipped(tmp_path: Path, good_text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one signature in place of the shipped one."""
    root = tmp_path / "shipped"
    write(root, "device/widget", good_text)
    monkeypatch.setattr(load, "grammar_root", lambda: root)
    monkeypatch.setattr(load, "compiled_grammar", lambda: None)
    return root


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


def write(root: Path, name: str, text: str) -> Path:
    path = root / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def other(text: str) -> str:
    """The good file about something else, so that the two do not overlap."""
    return text.replace("widget", "gadget")


def test_a_folder_is_read_once_and_then_from_the_cache(shipped: Path, own_cache: Path) -> None:
    grammar = load_grammar()
    cached = list((own_cache / "plogscope").iterdir())
    assert [path.name.partition("-")[0] for path in cached] == ["grammar"]
    cached[0].write_bytes(compile_grammar(shipped).replace(b"The widget failed", b"from the cache"))
    assert load_grammar().signatures[0].title.en == "from the cache"
    assert grammar.signatures[0].title.en == "The widget failed"


def test_an_edited_file_is_read_again(shipped: Path, good_text: str) -> None:
    before = load_grammar()
    write(shipped, "device/widget", good_text.replace("The widget failed", "The widget is broken"))
    after = load_grammar()
    assert after.signatures[0].title.en == "The widget is broken"
    assert before.digest != after.digest


@pytest.mark.usefixtures("shipped")
def test_a_damaged_cache_is_made_again(own_cache: Path) -> None:
    grammar = load_grammar()
    for path in (own_cache / "plogscope").iterdir():
        path.write_bytes(path.read_bytes()[:50])
    assert load_grammar() == grammar


@pytest.mark.usefixtures("shipped")
def test_a_cache_that_cannot_be_written_is_no_matter(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_cache / "plogscope").write_text("a file where the folder should be", "utf-8")
    assert len(load_grammar().signatures) == 1
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert len(load_grammar().signatures) == 1


def no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_the_cache_does_not_grow_without_limit(shipped: Path, good_text: str, own_cache: Path) -> None:
    for number in range(12):
        write(shipped, "device/widget", good_text.replace("The widget failed", f"Widget failure {number}"))
        assert load_grammar().signatures[0].title.en == f"Widget failure {number}"
    assert len(list((own_cache / "plogscope").iterdir())) == 8


@pytest.mark.usefixtures("shipped")
def test_a_users_folder_adds_signatures(own: Path, good_text: str) -> None:
    write(own, "device/gadget", other(good_text))
    grammar = load_grammar([own])
    assert [signature.id for signature in grammar.signatures] == ["device/gadget", "device/widget"]
    assert load_grammar([own]) == grammar
    assert grammar.digest != load_grammar().digest


@pytest.mark.usefixtures("shipped")
def test_a_file_replaces_a_shipped_one_only_when_it_says_so(own: Path, good_text: str) -> None:
    text = good_text.replace("The widget failed", "My widget failed")
    path = write(own, "device/widget", text)
    with pytest.raises(GrammarError) as error:
        load_grammar([own])
    assert str(error.value) == (
        "1 defect in the grammar files\n"
        f"{path}:1: the id device/widget is taken by a signature that is loaded before; "
        "write overrides = true to replace it, or give the file another name [override]"
    )
    write(own, "device/widget", "overrides = true\n" + text)
    assert [signature.title.en for signature in load_grammar([own]).signatures] == ["My widget failed"]


@pytest.mark.usefixtures("shipped")
def test_all_defects_of_all_files_come_in_one_error(own: Path, good_text: str) -> None:
    first = write(own, "device/first", other(good_text).replace('role = "cause"', 'role = "culprit"\ncolour = "red"'))
    second = write(own, "device/second", other(good_text).replace('"E gadget 7', '"E gizmo 7'))
    with pytest.raises(GrammarError) as error:
        load_grammar([own])
    assert error.value.exit_code == EXIT_GRAMMAR
    lines = str(error.value).split("\n")
    assert lines[0] == "3 defects in the grammar files"
    places = [line.split(": ")[0] for line in lines[1:]]
    assert places == [f"{first}:3", f"{first}:4", f"{second}:19"]


@pytest.mark.usefixtures("own")
def test_a_shipped_file_with_the_wrong_shape_is_an_error(shipped: Path) -> None:
    path = write(shipped, "device/empty", "")
    with pytest.raises(GrammarError, match=f"{path}:1: title is missing; add it"):
        load_grammar()


def test_a_folder_that_does_not_exist_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere is not a folder"):
        load_grammar([tmp_path / "nowhere"])


def test_an_installation_without_grammar_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "grammar_root", lambda: None)
    monkeypatch.setattr(load, "compiled_grammar", lambda: None)
    with pytest.raises(GrammarError, match="install plogscope again"):
        load_grammar()


def test_the_compiled_grammar_says_what_the_files_say(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = tmp_path / "grammar.json"
    compiled.write_bytes(compile_grammar(shipped))
    from_files = load_grammar()
    monkeypatch.setattr(load, "grammar_root", lambda: None)
    monkeypatch.setattr(load, "compiled_grammar", lambda: compiled)
    assert load_grammar() == from_files == read_grammar(shipped)


def test_a_compiled_grammar_that_is_damaged_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = tmp_path / "grammar.json"
    compiled.write_bytes(b'{"digest":')
    monkeypatch.setattr(load, "compiled_grammar", lambda: compiled)
    with pytest.raises(GrammarError, match="cannot be read"):
        load_grammar()


def test_a_users_folder_works_beside_a_compiled_grammar(
    shipped: Path, own: Path, good_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = tmp_path / "grammar.json"
    compiled.write_bytes(compile_grammar(shipped))
    monkeypatch.setattr(load, "grammar_root", lambda: None)
    monkeypatch.setattr(load, "compiled_grammar", lambda: compiled)
    write(own, "device/gadget", other(good_text))
    assert len(load_grammar([own]).signatures) == 2


def test_three_hundred_signatures_load_in_sixty_milliseconds(shipped: Path) -> None:
    example = read_grammar(shipped).signatures[0]
    data = msgspec.json.encode(
        assemble(msgspec.structs.replace(example, id=f"device/{number}") for number in range(300))
    )
    times = []
    for _ in range(5):
        start = time.perf_counter()
        assert len(decode_grammar(data).signatures) == 300
        times.append(time.perf_counter() - start)
    assert min(times) < 0.06
