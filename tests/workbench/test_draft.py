from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope.errors import EXIT_GRAMMAR, EXIT_OK, EXIT_USAGE, UsageError
from plogscope.grammar.lint import lint_folder
from plogscope.grammar.load import load_grammar
from plogscope.grammar.skeleton import PLACEHOLDER
from plogscope.workbench import draft_signature

Run = Callable[..., "subprocess.CompletedProcess[str]"]

HCCL = (
    "[ERROR] HCCL(61118,python3):2026-04-02-11:12:13.141.516 [rack_mapper.cc:88] [61203][InitGroupStage][RackCheck]"
    "rack mapping of rank[5] failed, server[10.61.3.17], expected rack[2], got rack[7]"
)
EXCEPTION = "[rank3]: acme.loader.ShardError: shard 17 of /data/train/shard-00017.bin is 4096 bytes short (rank 3)"
DEVICE = (
    "[ERROR] TSCH(-1,null):2026-04-02-19:12:18.101.554 3441 (cpuid:0) fan_guard.c:211 fan_guard_check: "
    "fan stopped, device_id=2, fan=1, speed=0"
)
BENIGN = "INFO: the fan, the shard and the rack mapping are in order"


def fill_in(text: str) -> str:
    """What a person does with a draft: every mark replaced."""
    text = re.sub(rf'zh = "{PLACEHOLDER}[^"]*"', 'zh = "某事失败"', text)
    text = re.sub(rf'line = "{PLACEHOLDER}[^"]*"', f'line = "{BENIGN}"', text)
    return re.sub(rf'"{PLACEHOLDER}[^"]*"', '"something failed"', text)


@pytest.mark.parametrize("line", [HCCL, EXCEPTION, DEVICE], ids=["HCCL", "exception", "device log"])
def test_a_draft_that_is_filled_in_keeps_every_law_and_takes_its_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "acme" / "draft.toml"
    path.parent.mkdir()
    draft = draft_signature(line, "acme/draft")
    path.write_text(draft, "utf-8")
    defects = lint_folder(tmp_path, load_grammar().signatures)
    assert {defect.rule for defect in defects} == {"unfinished"}
    path.write_text(fill_in(draft), "utf-8")
    assert lint_folder(tmp_path, load_grammar().signatures) == []
    assert "acme/draft" in load_grammar([tmp_path]).by_id()


def test_prefixes_of_launchers_are_not_in_the_draft() -> None:
    draft = draft_signature(EXCEPTION, "acme/draft")
    said = [text for text in draft.splitlines() if "[rank3]" in text]
    assert len(said) == 1
    assert said[0].startswith('# "[rank3]:" in front was taken off')
    assert "rank_3" not in draft
    assert "was taken off" not in draft_signature(HCCL, "acme/draft")


def test_the_head_is_in_the_example_and_not_in_the_pattern() -> None:
    draft = draft_signature(HCCL, "acme/draft")
    assert HCCL in draft
    pattern = re.findall(r"^pattern = (.*)$", draft, re.MULTILINE)[0]
    assert "61118" not in pattern
    assert "2026" not in pattern


@pytest.mark.parametrize(
    ("line", "name"),
    [("", "acme/draft"), (" \n ", "acme/draft"), (HCCL, "draft"), (HCCL, "Acme/Draft"), (HCCL, "../x")],
)
def test_no_line_and_no_id_are_refused(line: str, name: str) -> None:
    with pytest.raises(UsageError):
        draft_signature(line, name)


def test_the_command_prints_the_draft_and_lint_refuses_it(plogscope_command: Run, tmp_path: Path) -> None:
    done = plogscope_command("grammar", "new", "--from-line", HCCL, "--id", "acme/draft")
    assert (done.returncode, done.stderr) == (EXIT_OK, "")
    (tmp_path / "own" / "acme").mkdir(parents=True)
    (tmp_path / "own" / "acme" / "draft.toml").write_text(done.stdout, "utf-8")
    refused = plogscope_command("grammar", "lint", "own")
    assert refused.returncode == EXIT_GRAMMAR
    assert "title.zh is not filled in; write the same in Chinese" in refused.stdout
    assert plogscope_command("grammar", "new", "--from-line", " ").returncode == EXIT_USAGE
