"""From a path to sources: layouts, nodes, kinds."""

from __future__ import annotations

from plogscope.discover.bundle import discover
from plogscope.discover.scratch import Scratch

__all__ = ["Scratch", "discover"]
