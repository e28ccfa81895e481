"""Where the signatures are known from, and which of them stand on one leg.

`python tests/grammar/provenance.py` prints the signatures that blame something and whose examples all come from one
source: for these a second example shows other values, never that another version or program says it as well.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from plogscope.grammar.lints.proof import BLAMING  # noqa: E402 - after the path is set
from plogscope.grammar.load import load_grammar  # noqa: E402
from plogscope.model.signature import Signature  # noqa: E402


def of_one_source(signatures: Sequence[Signature]) -> list[Signature]:
    """Those that blame something and of which one source alone is known."""
    return [one for one in signatures if one.role in BLAMING and len({example.source for example in one.examples}) == 1]


def main() -> int:
    """One signature a line: id, number of examples, the source."""
    signatures = load_grammar().signatures
    single = of_one_source(signatures)
    width = max((len(one.id) for one in single), default=0)
    for one in single:
        sys.stdout.write(f"{one.id:{width}}  {len(one.examples)}  {one.examples[0].source}\n")
    more = sum(len(one.examples) > 1 for one in single)
    blaming = sum(one.role in BLAMING for one in signatures)
    sys.stdout.write(f"{len(single)} of {blaming} that blame have one source; {more} of them have a second example\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
