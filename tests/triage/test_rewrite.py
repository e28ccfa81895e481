"""The five programs differ from the original only in the torch.compile call, and only where that is certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.triage.rewrite import rewritten

HEAD = "import torch\nx = 'é'\n"


def steps(code: str) -> list[str | None]:
    made = [rewritten(HEAD + code, step) for step in range(1, 6)]
    return [text.removeprefix(HEAD) if text is not None else None for text in made]


def test_options_and_backend_change_and_nothing_else() -> None:
    assert steps('n = torch.compile(m, backend="npugraph_ex", fullgraph=True, options={"a": 1})  # é hot\n') == [
        "n = m  # é hot\n",
        'n = torch.compile(m, backend="eager", fullgraph=True)  # é hot\n',
        'n = torch.compile(m, backend="aot_eager", fullgraph=True)  # é hot\n',
        'n = torch.compile(m, backend="npugraph_ex", fullgraph=True, options={"a": 1, "force_eager": True})  # é hot\n',
        'n = torch.compile(m, backend="npugraph_ex", fullgraph=True, options={"a": 1})  # é hot\n',
    ]


@pytest.mark.parametrize(
    ("call", "fourth"),
    [
        ('torch.compile(m, backend="npugraph_ex", options=o)', 'options={**(o or {}), "force_eager": True})'),
        ('torch.compile(m, backend="npugraph_ex", options=None)', 'options={"force_eager": True})'),
        ('torch.compile(m, backend="npugraph_ex", options={"force_eager": False, **o})',
         'options={**o, "force_eager": True})'),
        ('torch.compile(m, backend="npugraph_ex", mode="reduce-overhead")',
         'torch.compile(m, backend="npugraph_ex", options={"force_eager": True})'),
    ],
)  # fmt: skip
def test_step4_merges_force_eager_last(call: str, fourth: str) -> None:
    assert (steps(call)[3] or "").endswith(fourth)


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("torch.compile(a if b else c, backend='npugraph_ex')(y)\n", "(a if b else c)(y)\n"),
        ("torch.compile(backend='npugraph_ex')(m)\n", "(lambda f: f)(m)\n"),
        ("torch.compile(model=m, backend='npugraph_ex')\n", "m\n"),
        ("m.compile(backend='npugraph_ex')\n", "None\n"),
        ("@torch.compile(\n    backend='npugraph_ex',\n)\n@other\ndef f(): ...\n", "@other\ndef f(): ...\n"),
    ],
)
def test_step1_takes_the_call_away(code: str, first: str) -> None:
    assert steps(code)[0] == first


@pytest.mark.parametrize(
    "code",
    [
        "a = torch.compile(m, backend='npugraph_ex')\nb = torch.compile(n, backend='npugraph_ex')\n",
        "f = functools.partial(torch.compile, backend='npugraph_ex')\n",
        "torch.compile(m, **kw)\n", "torch.compile(m, backend=name)\n", "torch.compile(m)\n",
        "@torch.compile\ndef f(): ...\n",
        "torch.compile(*args, backend='npugraph_ex')\n", "y = m.compile(backend='npugraph_ex')\n", "re.compile('a')\n",
        "torch.compile(m, backend='inductor')\n", "def broken(:\n",
    ],
)  # fmt: skip
def test_what_is_not_certain_is_left_to_a_person(code: str) -> None:
    assert steps(code)[:4] == [None] * 4


def test_other_calls_stay() -> None:
    code = "p = re.compile('a')\nq = torch.compile(n, backend='inductor')\nr = torch.compile(m, backend='npugraph_ex')"
    assert steps(code)[0] == "p = re.compile('a')\nq = torch.compile(n, backend='inductor')\nr = m"


@given(st.text())
def test_any_text_is_refused_or_rewritten(code: str) -> None:
    assert rewritten(code, 5) == code
    made = rewritten(code, 2)
    assert made is None or "eager" in made
