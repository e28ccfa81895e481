"""The five-step run: which step failed, what is complete, and where the problem is routed."""

from __future__ import annotations

from plogscope.triage.collect import collection_script
from plogscope.triage.phase import phase_of_traceback
from plogscope.triage.route import route
from plogscope.triage.steps import read_steps

__all__ = ["collection_script", "phase_of_traceback", "read_steps", "route"]
