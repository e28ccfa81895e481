from __future__ import annotations

import msgspec

from plogscope.grammar.load import load_grammar
from plogscope.model.signature import Example
from tests.grammar.provenance import of_one_source


def test_a_second_example_of_the_same_source_is_no_second_source() -> None:
    known = load_grammar().by_id()["operator/kernel-register-failed"]
    here, there = (Example(line="x", fields={}, source=name) for name in ("runtime a.cc", "runtime b.cc"))
    alone, twice, both = (
        msgspec.structs.replace(known, examples=given) for given in ((here,), (here, here), (here, there))
    )

    assert of_one_source([alone, twice, both]) == [alone, twice]


def test_every_signature_names_a_source_for_every_example() -> None:
    signatures = load_grammar().signatures
    assert [one.id for one in signatures if not all(example.source.strip() for example in one.examples)] == []
