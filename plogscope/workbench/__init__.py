"""For people who write signatures: what there is, a first draft from a line, and a trial on lines."""

from __future__ import annotations

from plogscope.workbench.catalogue import list_signatures, show_signature
from plogscope.workbench.draft import draft_signature
from plogscope.workbench.proof import prove
from plogscope.workbench.trial import try_lines
from plogscope.workbench.vocabulary import vocabulary

__all__ = ["draft_signature", "list_signatures", "prove", "show_signature", "try_lines", "vocabulary"]
