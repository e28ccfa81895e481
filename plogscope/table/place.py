"""What the stages before know about sources: their clock, the year of their stamps, the processes that write."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from plogscope.correlate.homes import Homes
from plogscope.model.chain import Clock, Process
from plogscope.model.record import ProcessKey
from plogscope.model.source import Bundle, Skipped


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Where records stand: everything about them that their own lines do not say.

    Attributes:
        clock_of: Source id → clock id; a source without one is on clock 0.
        processes: (node, pid) → who that is.
        sole: Source id → pid, for printed logs that hold the output of one process.
        homes: Machines of processes that stand in files of no machine.
        year_reference_ns: Source id → a dated local stamp near its stamps without a year.
        utc_offset_ns: Local time of the reference clock minus UTC; None while no zone is proven.
    """

    bundle: Bundle
    clocks: tuple[Clock, ...] = (Clock(id=0, name="bundle"),)
    clock_of: Mapping[int, int] = {}
    processes: Mapping[ProcessKey, Process] = {}
    sole: Mapping[int, int] = {}
    homes: Homes = Homes()
    year_reference_ns: Mapping[int, int] = {}
    skipped: tuple[Skipped, ...] = ()
    utc_offset_ns: int | None = None

    def shift_ns(self, clock: int) -> int:
        """What has to be added to a local stamp of that clock to get `time`."""
        return round(self.clocks[clock].offset_s * 1_000_000_000) - (self.utc_offset_ns or 0)

    @property
    def reference(self) -> str:
        """Whose time `time` is."""
        if self.utc_offset_ns is not None:
            return "UTC"
        name = next((clock.name for clock in self.clocks if clock.basis == "reference"), "bundle")
        return f"local time of {name}"
