from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from plogscope.explain import as_text, explain
from plogscope.explain.view import WIDTH, columns

Run = Callable[..., "subprocess.CompletedProcess[str]"]
QUERIES = ["507015", "EI0002", "ERR00100", "EZ9999", "0x800000", "errcode:(0x800000, 0, 0)", "hccl:9", "9", "EQ1234"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_lines_fit_a_terminal_unless_one_word_does_not(lang: str) -> None:
    for line in as_text(explain(QUERIES), lang).splitlines():
        assert columns(line) <= WIDTH or len(line.split()) <= 2 or "(" in line, line


def test_a_bare_number_is_told_in_full_twice_and_the_others_by_name() -> None:
    text = as_text(explain(["9"]), "en")
    assert text.count("  Meaning") == 2
    assert "  sdma:9 " in text
    assert text.startswith("hccl:9 HCCL_E_TIMEOUT")


def test_chinese_answers_have_no_english_label() -> None:
    text = as_text(explain(QUERIES), "zh")
    for label in ("Meaning", "Role", "Next", "Wrapped by", "Look at", "Spelled like"):
        assert label not in text
    assert "角色" in text


def test_a_query_with_control_characters_is_shown_harmless() -> None:
    text = as_text(explain(["\x1b[31mno such\x07 code\nEND"]), "en")
    assert "\x1b" not in text
    assert "\x07" not in text


def test_the_command_answers_known_and_unknown_codes_with_exit_code_0(plogscope_command: Run) -> None:
    done = plogscope_command("explain", *QUERIES)
    assert (done.returncode, done.stderr) == (0, "")
    assert "EQ1234: not in the code tables." in done.stdout


def test_the_command_speaks_chinese_and_json(plogscope_command: Run) -> None:
    assert "角色" in plogscope_command("explain", "EI0002", "--lang", "zh").stdout
    assert "角色" in plogscope_command("explain", "EI0002", LANG="zh_CN.UTF-8").stdout
    document = json.loads(plogscope_command("explain", "EI0002", "--format", "json").stdout)
    assert document["answers"][0]["entries"][0]["code"] == "EI0002"
    assert document["answers"][0]["entries"][0]["signatures"]


def test_no_code_at_all_is_a_wrong_command_line(plogscope_command: Run) -> None:
    done = plogscope_command("explain")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
