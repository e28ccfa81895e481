from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope import errors

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PROSE = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")

pytestmark = pytest.mark.xdist_group("readme")


def words_of(block: str) -> list[str]:
    return shlex.split(block, comments=True)


def test_the_first_two_blocks_are_the_first_analysis_and_the_checks() -> None:
    assert "plogscope analyze fixtures/" in BLOCKS[0]
    assert "tests/check.py" in BLOCKS[1]


@pytest.mark.parametrize("block", BLOCKS[:2], ids=["first analysis", "checks"])
def test_a_block_stops_at_its_first_failure_and_leaves_the_shell_alone(block: str) -> None:
    lines = block.strip().splitlines()
    assert all(line.endswith(" &&") for line in lines[:-1])
    assert "exit" not in words_of(block)


@pytest.mark.parametrize("block", BLOCKS[:2], ids=["first analysis", "checks"])
def test_the_files_that_a_block_names_exist(block: str) -> None:
    named = [word for word in words_of(block) if re.match(r"(fixtures|tests)/", word)]
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


def test_links_lead_to_files_of_the_project() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_every_option_of_plogscope_that_is_named_exists(
    plogscope_command: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    named = {
        (line.split("plogscope ", 1)[1].split()[0], option)
        for line in re.findall(r"plogscope (?:analyze|table|explain|grammar)[^`\n]*", README)
        for option in OPTION.findall(line)
    }
    assert named
    for command, option in sorted(named):
        shown = plogscope_command(command, "--help").stdout
        assert option in shown, f"{command} {option}"


def test_the_summary_that_is_shown_is_the_one_that_is_printed(
    plogscope_command: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    printed = plogscope_command("analyze", ROOT / "fixtures" / "five-step-replay-aicore" / "run").stdout
    shown = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[0]
    for line in shown.splitlines():
        assert line in printed.splitlines(), line


def test_the_exit_codes_are_those_of_the_program() -> None:
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)} == codes


def test_prose_has_one_sentence_a_line() -> None:
    for line in PROSE.splitlines():
        text = re.sub(r"`[^`]*`", "code", line)
        if not line.startswith(("|", "#")):
            assert not re.search(r"[a-z)][.!?] [A-Z]", text), line


@pytest.mark.parametrize("name", ["README.zh-CN.md", "docs/for-agents.md"])
def test_other_pages_lead_to_files_and_name_the_same_exit_codes(name: str) -> None:
    page = ROOT / name
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (page.parent / target).resolve().exists(), target
    codes = {int(value) for key, value in vars(errors).items() if key.startswith("EXIT_")}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)} == codes


def test_the_example_for_agents_is_what_the_program_says(
    plogscope_command: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    text = (ROOT / "docs" / "for-agents.md").read_text(encoding="utf-8")
    shown = json.loads(re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0])
    said = json.loads(plogscope_command("analyze", ROOT / "fixtures" / "two-rank-hccl" / "run", "-f", "json").stdout)
    cause, wanted = said["verdict"]["root_cause"], shown["verdict"]["root_cause"]
    assert {name: cause[name] for name in wanted} == wanted
    assert (said["verdict"]["status"], said["verdict"]["category"]) == ("explained", shown["verdict"]["category"])
    assert said["next_actions"][0]["kind"] == shown["next_actions"][0]["kind"]
    for field in re.findall(r"^\| `(\w+)[`.\[]", text.split("## Fields")[1].split("##")[0], re.MULTILINE):
        assert field in said, field
