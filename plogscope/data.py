"""Where the data folders are: inside an installed wheel (`plogscope/_data`), or the checkout around the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_data"
_CHECKOUT = _PACKAGE.parent

RELATIONS = "relations"
"""Name of the file beside the code tables that says how codes hang together; it is no table."""


def grammar_root() -> Path | None:
    """Folder of the signature files; None in an installed wheel, which carries them compiled only."""
    if _INSTALLED.is_dir():
        return None
    root = _CHECKOUT / "grammars"
    return root if root.is_dir() else None


def report_root() -> Path:
    """Folder of the report templates, static files and words."""
    return _INSTALLED / "reports" if _INSTALLED.is_dir() else _CHECKOUT / "reports"


def compiled_grammar() -> Path | None:
    """The grammar that was compiled when the wheel was built; None in a checkout."""
    path = _INSTALLED / "grammar.json"
    return path if path.is_file() else None


def compiled_codes(family: str) -> Path | None:
    """The code table of `family` that was compiled when the wheel was built; None in a checkout or if unknown."""
    path = _INSTALLED / "codes" / f"{family}.json"
    return path if path.is_file() else None


def compiled_relations() -> Path | None:
    """The relations between codes that were compiled when the wheel was built; None in a checkout."""
    path = _INSTALLED / f"{RELATIONS}.json"
    return path if path.is_file() else None


def code_families() -> tuple[str, ...]:
    """Names of all code tables that are shipped, sorted."""
    compiled = _INSTALLED / "codes"
    if compiled.is_dir():
        return tuple(sorted(path.stem for path in compiled.glob("*.json")))
    paths = (_CHECKOUT / "grammars" / "codes").glob("*.toml")
    return tuple(sorted(path.stem for path in paths if path.stem != RELATIONS))
