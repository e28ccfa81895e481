"""Who sits where: address → rank, device of a node → rank, rank of a communicator → world rank."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from plogscope.chain.checkers.base import JobView
from plogscope.chain.checkers.reading import MAX_RANKS, number
from plogscope.chain.checkers.signatures import (
    COMM_INIT_INFO,
    COMMUNICATOR_KEY_INFO,
    ENTRY_COMM_INIT,
    LISTEN,
    LOCAL_RANK_KEY_INFO,
    SETUP_AGENT,
    TRANSPORT_INIT,
)
from plogscope.model.record import Finding

_NO_ADDRESS = ("", "0.0.0.0", "127.0.0.1")  # noqa: S104 - printed by HCCL where no address is set


class Seats(msgspec.Struct):
    """What the lines of bring-up say about places. Ranks are world ranks.

    Attributes:
        by_address: Address of a device adapter → rank.
        by_device: (node, or address of a server; device) → rank.
        members: Communicator → {rank inside it: world rank}.
        sizes: Communicator → number of ranks.
        expected: Ranks of the job.
    """

    by_address: dict[str, int] = {}
    by_device: dict[tuple[str, int], int] = {}
    members: dict[str, dict[int, int]] = {}
    sizes: dict[str, int] = {}
    expected: int | None = None

    def world(self, communicator: str | None, rank: int | None) -> int | None:
        """World rank of a rank inside a communicator; None if nothing says it."""
        if rank is None:
            return None
        known = self.members.get(communicator or "", {}).get(rank)
        if known is not None:
            return known
        size = self.sizes.get(communicator or "")
        whole = self.expected if self.expected is not None else max(self.sizes.values(), default=None)
        if communicator is None or size is None or whole is None or size == whole:
            return rank if whole is None or rank < whole else None
        return None

    def at(self, address: str | None, device: int | None = None) -> int | None:
        """Rank of an adapter's address, or of a device of a server; an empty place is that of the only absent rank."""
        bare = server(address)
        if device is None:
            return self.by_address.get(bare)
        rank = self.by_device.get((bare, device))
        return rank if rank is not None or not self.knows_server(bare) else self._absent()

    def _absent(self) -> int | None:
        """The only rank of the job whose place is not known."""
        absent = set(range(min(self.expected or 0, MAX_RANKS))) - set(self.by_device.values())
        return absent.pop() if len(absent) == 1 else None

    def knows_server(self, address: str) -> bool:
        """True when the place of any rank on that server is known."""
        bare = server(address)
        return any(name == bare for name, _ in self.by_device)


def server(address: str | None) -> str:
    """An address without the interface that HCCL adds after a percent sign."""
    return (address or "").partition("%")[0]


def find_seats(view: JobView) -> Seats:
    """Reads the places of all ranks."""
    seats = Seats(expected=view.cluster.expected_ranks)
    for communicator in view.cluster.communicators:
        if communicator.size is not None:
            seats.sizes[communicator.identifier] = communicator.size
    for process in view.cluster.processes:
        if process.node is not None and process.device is not None and process.rank is not None:
            seats.by_device[process.node, process.device] = process.rank
    for finding in view.findings:
        if finding.signature in _TELLING:
            _note(seats, finding)
    _note_servers(seats, view)
    return seats


def _note_servers(seats: Seats, view: JobView) -> None:
    """Rank 0 names a communicator after the address of its own server: so all of its node are there."""
    named = {
        (finding.actor.node, server(name))
        for finding in view.findings
        if finding.signature == ENTRY_COMM_INIT
        and "%" in (name := finding.fields.get("communicator", ""))
        and number(finding, "rank") == 0
    }
    addresses: dict[str, list[str]] = defaultdict(list)
    for node, address in named:
        if node is not None:
            addresses[node].append(address)
    for (place, device), rank in list(seats.by_device.items()):
        for address in addresses.get(place, ()):
            seats.by_device.setdefault((address, device), rank)


_TELLING = frozenset(
    {ENTRY_COMM_INIT, SETUP_AGENT, COMM_INIT_INFO, COMMUNICATOR_KEY_INFO, TRANSPORT_INIT, LOCAL_RANK_KEY_INFO, LISTEN}
)
"""Signatures of lines that say where a rank sits."""


def _note(seats: Seats, finding: Finding) -> None:
    name, size = finding.fields.get("communicator"), number(finding, "rank_size")
    if finding.signature in (ENTRY_COMM_INIT, SETUP_AGENT, COMM_INIT_INFO, COMMUNICATOR_KEY_INFO) and name and size:
        seats.sizes[name] = max(size, seats.sizes.get(name, 0))
    if finding.signature == TRANSPORT_INIT:
        _note_link(seats, finding)
        return
    inside = number(finding, "rank")
    world = finding.actor.rank
    if finding.signature in (ENTRY_COMM_INIT, SETUP_AGENT, COMM_INIT_INFO) and name and inside is not None:
        world = world if world is not None else seats.world(name, inside)
        if world is not None:
            seats.members.setdefault(name, {})[inside] = world
    if world is None:
        return
    if finding.signature == SETUP_AGENT:
        _seat(seats, world, finding, ("address", "physical", "device_ip"))
    elif finding.signature == LOCAL_RANK_KEY_INFO:
        _seat(seats, world, finding, ("server", "device", "address"))
    elif finding.signature == LISTEN:
        _seat(seats, world, finding, ("", "device", "address"))


def _note_link(seats: Seats, finding: Finding) -> None:
    """A failed link names rank, server and device of both ends, but not the communicator: only the world's counts."""
    for rank_field, address, device in (
        ("rank", "address", "device"),
        ("remote_rank", "remote_address", "remote_device"),
    ):
        rank, index = seats.world(None, number(finding, rank_field)), number(finding, device)
        node = server(finding.fields.get(address))
        if rank is not None and index is not None and node not in _NO_ADDRESS:
            seats.by_device.setdefault((node, index), rank)


def _seat(seats: Seats, rank: int, finding: Finding, names: tuple[str, str, str]) -> None:
    """Notes a rank's place; `names` are the fields with server, device and address of the adapter."""
    place, device, address = names
    index = number(finding, device)
    node = server(finding.fields.get(place))
    for name in (node, finding.actor.node):
        if name and index is not None:
            seats.by_device.setdefault((name, index), rank)
    adapter = finding.fields.get(address, "")
    if adapter not in _NO_ADDRESS:
        seats.by_address[adapter] = rank
