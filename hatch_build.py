"""Build hook: puts the compiled grammar, the code tables and the report templates into the wheel."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledData(BuildHookInterface[Any]):
    """Compiles `grammars/` to JSON under `plogscope/_data`; an editable install reads the checkout instead."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the files to the wheel. A grammar with defects stops the build."""
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        # A stand-in for the package: its __init__ may need what is not there while a wheel is built.
        package = ModuleType("plogscope")
        package.__path__ = [str(root / "plogscope")]
        sys.modules["plogscope"] = package
        from plogscope.data import RELATIONS  # noqa: PLC0415
        from plogscope.grammar.compile import compile_codes, compile_grammar  # noqa: PLC0415
        from plogscope.grammar.relations import compile_relations  # noqa: PLC0415

        self._folder = tempfile.TemporaryDirectory(prefix="plogscope-build-")
        folder = Path(self._folder.name)
        (folder / "codes").mkdir()
        (folder / "grammar.json").write_bytes(compile_grammar(root / "grammars"))
        for path in sorted((root / "grammars" / "codes").glob("*.toml")):
            if path.stem == RELATIONS:
                (folder / f"{RELATIONS}.json").write_bytes(compile_relations(path))
            else:
                (folder / "codes" / f"{path.stem}.json").write_bytes(compile_codes(path))
        build_data["force_include"][str(folder)] = "plogscope/_data"
        for path in sorted((root / "reports").iterdir()):
            if path.name != "golden":  # these are for the tests
                build_data["force_include"][str(path)] = f"plogscope/_data/reports/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Removes the temporary folder."""
        del version, build_data, artifact_path
        if hasattr(self, "_folder"):
            self._folder.cleanup()
