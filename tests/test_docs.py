"""The pages below docs/ are followed literally: their blocks run, in order, in one empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plogscope.workbench.vocabulary import read_vocabulary

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "adding-a-signature.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|toml)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMAND = f"""\
#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT)!r})
from plogscope.cli import main
sys.exit(main())
"""
INCOMPLETE = 2
"""Of the blocks that run, the one that is said to end with exit code 4."""

pytestmark = pytest.mark.xdist_group("docs")


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> list[subprocess.CompletedProcess[str]]:
    """What each shell block did; the whole file of the page is written where the page says so."""
    folder = tmp_path_factory.mktemp("follow")
    bin_folder = tmp_path_factory.mktemp("bin")
    (bin_folder / "plogscope").write_text(COMMAND, "utf-8")
    (bin_folder / "plogscope").chmod(0o755)
    environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "LANG": "C.UTF-8"}
    done = []
    for kind, block in BLOCKS:
        if kind == "sh":
            done.append(
                subprocess.run(
                    ["/bin/sh", "-e", "-c", block],
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
            )
        elif block.startswith("title"):
            (folder / "my-signatures" / "acme" / "shard-short.toml").write_text(block, "utf-8")
    return done


def test_every_block_does_what_the_page_says(followed: list[subprocess.CompletedProcess[str]]) -> None:
    assert [done.returncode for done in followed] == [
        4 if number == INCOMPLETE else 0 for number in range(len(followed))
    ]
    assert not any("Traceback" in done.stderr for done in followed)


def test_the_first_look_shows_shapes_and_the_draft_asks_to_be_filled_in(
    followed: list[subprocess.CompletedProcess[str]],
) -> None:
    assert "fan stopped, device_id=#, fan=#, speed=#" in followed[0].stdout
    assert "shard-short.toml:2: title.zh is not filled in" in followed[INCOMPLETE].stdout


def test_the_finished_file_takes_its_line_and_leads_the_report(
    followed: list[subprocess.CompletedProcess[str]],
) -> None:
    assert "acme/shard-short takes 1 of 1 lines" in followed[3].stdout
    assert "line 1: acme/shard-short  shard=17 path=/data/train/shard-00017.bin bytes=4096 rank=3" in followed[3].stdout
    assert "A training shard is shorter than its index says" in followed[4].stdout


def test_the_words_of_the_page_are_those_of_the_vocabulary() -> None:
    """To accept another vocabulary: put what is wanted here behind the heading `Words`."""
    wanted = "\n\n".join(
        "\n".join([f"| `{key}` | |", "|---|---|", *(f"| `{word}` | {text['en']} |" for word, text in words.items())])
        for key, words in read_vocabulary().items()
    )
    assert PAGE.partition("## Words\n")[2].endswith(f"\n\n{wanted}\n")


def test_prose_has_one_sentence_a_line() -> None:
    prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    for line in prose.splitlines():
        text = re.sub(r"`[^`]*`", "code", line)
        if not line.startswith(("|", "#")):
            assert not re.search(r"[a-z)][.!?] [A-Z]", text), line


def test_signatures_and_folders_that_the_page_names_exist() -> None:
    named = set(re.findall(r'(?:show |id = ")([a-z-]+/[a-z-]+)', PAGE))
    assert named
    for name in named:
        assert (ROOT / "grammars" / f"{name}.toml").is_file(), name
