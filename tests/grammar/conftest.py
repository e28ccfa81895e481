from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope.grammar import codes
from plogscope.grammar.compile import assemble, with_literals
from plogscope.model.signature import ChainHints, Field, Grammar, Match, Signature
from plogscope.model.vocabulary import Text

HERE = Path(__file__).parent
Sign = Callable[..., Signature]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a cache folder of its own: none sees what another one, or the user, compiled."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    codes.load_codes.cache_clear()
    return folder


@pytest.fixture
def good_text() -> str:
    """A signature file that keeps every law."""
    return (HERE / "good" / "device" / "widget.toml").read_text(encoding="utf-8")


def signature(name: str, pattern: str, *, refines: tuple[str, ...] = (), **match: object) -> Signature:
    """A signature with as little as possible besides its pattern."""
    return with_literals(
        Signature(
            id=name,
            title=Text(name, "名"),
            category="device",
            role="cause",
            match=Match(pattern=pattern, **match),  # type: ignore[arg-type]
            extract={"value": Field()},
            chain=ChainHints(refines=refines),
        )
    )


@pytest.fixture
def sign() -> Sign:
    return signature


@pytest.fixture
def grammar_of() -> Callable[..., Grammar]:
    def build(*signatures: Signature) -> Grammar:
        return assemble(signatures)

    return build
