"""For people who write signatures: what there is, a first draft from a line, and a trial on lines."""

from __future__ import annotations

from plogscope.workbench.catalogue import list_signatures, show_signature
from plogscope.workbench.draft import draft_signature
from plogscope.workbench.trial import try_lines

__all__ = ["draft_signature", "list_signatures", "show_signature", "try_lines"]
