from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout with one signature and one code table, built as an installer would."""
    pytest.importorskip("hatchling")
    tree = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "hatch_build.py"):
        shutil.copy(ROOT / name, tree)
    for name in ("plogscope", "reports"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(__file__).parent / "good", tree / "grammars")
    (tree / "grammars" / "codes").mkdir()
    for name in ("sdma_cqe.toml", "relations.toml"):
        shutil.copy(ROOT / "grammars" / "codes" / name, tree / "grammars" / "codes")
    (tree / "README.md").write_text("# plogscope\n", "utf-8")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tree / "dist")]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    (built,) = (tree / "dist").glob("*.whl")
    return built


def test_the_wheel_carries_compiled_data_and_templates_and_no_toml_of_the_grammar(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "plogscope/_data/grammar.json" in names
    assert "plogscope/_data/codes/sdma_cqe.json" in names
    assert "plogscope/_data/relations.json" in names
    assert "plogscope/_data/codes/relations.json" not in names
    assert any(name.startswith("plogscope/_data/reports/") for name in names)
    assert not [name for name in names if name.endswith(".toml") and "reports" not in name]


def test_what_is_installed_loads_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import json, plogscope.data as data; from plogscope.grammar.load import load_grammar;"
        "from plogscope.grammar.codes import load_codes;"
        "from plogscope.grammar.relations import load_relations; assert load_relations().edges;"
        "print(json.dumps([[s.id for s in load_grammar().signatures], len(load_codes('sdma_cqe')),"
        "data.code_families(), data.grammar_root(), str(data.report_root())]))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    ids, rows, families, root, reports = json.loads(run.stdout)
    assert (ids, families, root) == (["device/widget"], ["sdma_cqe"], None)
    assert rows > 10
    assert Path(reports).is_relative_to(tmp_path)


def test_compiling_needs_neither_matcher_nor_tables() -> None:
    code = (
        "import sys, plogscope.grammar.compile;"
        "print([m for m in ('regex', 'hyperscan', 'pyarrow', 'numpy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"
