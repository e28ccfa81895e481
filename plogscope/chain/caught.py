"""Which exceptions a program caught: it said at once how it goes on, and it did go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from plogscope.formats.stamps import FIRST_DATED_NS, SECOND_NS
from plogscope.model.chain import Clock, Incident
from plogscope.model.record import ANNOUNCED, BELOW_ERROR, Finding, Sequel

AT_ONCE_NS = 2 * SECOND_NS
"""Who catches an exception says so at once; a process that is started again speaks later."""

LIVED_ON_NS = 30 * SECOND_NS
"""A process that an exception ends has gone after this time, or hangs in its exit without a word of its own."""


EXCEPTION_FORMATS = ("exception", "traceback")


LastWords = Mapping[tuple[object, ...], Sequence[tuple[int, int]]]
"""Name of a process → (clock, time on the reference clock) of the last record in each of its files."""


def caught(
    incidents: Sequence[Incident],
    sequel_of: Callable[[Finding], Sequel],
    last_words: LastWords,
    clocks: Sequence[Clock],
    goes_without: Callable[[str], bool] = lambda _: False,
    tells_of_end: Callable[[str], bool] = lambda _: False,
) -> frozenset[str]:
    """Ids of the incidents that the process took note of and went on.

    Args:
        incidents: Not yet cleared.
        sequel_of: Reads how a finding stands among the records of its writer.
        last_words: When each process wrote for the last time.
        clocks: By position.
        goes_without: True for a line that says that the program goes on without something.
        tells_of_end: True for a line by which a launcher tells that a process of the job ended.
    """

    def goes_on(finding: Finding) -> bool:
        sequel = sequel_of(finding)
        if _is_about(finding.fields.get(MODULE, ""), sequel.next_text) and goes_without(sequel.next_text):
            return True
        if tells_of_end(sequel.next_text):
            return False
        if sequel.told == ANNOUNCED or sequel.next_level not in BELOW_ERROR or not _at_once(finding, sequel):
            return False
        if sequel.same_logger and _is_handled(sequel, known=_is_known(finding)):
            return True
        return _lived_on(finding, last_words, clocks)

    return frozenset(
        one.id
        for one in _asked(incidents)
        if all(map(goes_on, one.findings)) or (one.subcategory == OPTIONAL and _handled(one, sequel_of))
    )


def hush_handled(incidents: Sequence[Incident], sequel_of: Callable[[Finding], Sequel]) -> list[Incident]:
    """The incidents, of which those are hushed that a handler inside a package printed before it went on."""
    handled = {one.id for one in _asked(incidents) if _handled(one, sequel_of)}
    return [msgspec.structs.replace(one, hushed=True) if one.id in handled else one for one in incidents]


def _handled(incident: Incident, sequel_of: Callable[[Finding], Sequel]) -> bool:
    return incident.lead.format in EXCEPTION_FORMATS and all(sequel_of(one).handled for one in incident.findings)


def _asked(incidents: Sequence[Incident]) -> list[Incident]:
    return [one for one in incidents if _can_be_caught(one)][:MAX_ASKED]


OPTIONAL = "python-import"
"""Subcategory of modules that are missing: packages try imports that they can do without."""

MAX_ASKED = 1000
"""Each costs a look into its file. They come in the order of time, and the first are the ones that can be the cause."""


def _can_be_caught(incident: Incident) -> bool:
    """True for an exception, and for an error of which only a logger of the program speaks."""
    return incident.lead.format in EXCEPTION_FORMATS or (
        incident.signature is None and incident.lead.format == "py-logging"
    )


MODULE = "module"
"""Field of the signatures of a module that cannot be imported."""


def _is_about(module: str, text: str) -> bool:
    """True for a text that names a module, whichever way its name is written (`flash_attn`, `flash-attn`)."""
    name = _bare(module.partition(".")[0])
    return len(name) > 1 and name in _bare(text)


def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _at_once(finding: Finding, sequel: Sequel) -> bool:
    if sequel.next_ns is None or sequel.next_ns < FIRST_DATED_NS or finding.time_ns is None:
        return True
    return 0 <= sequel.next_ns - finding.time_ns <= AT_ONCE_NS


def _is_handled(sequel: Sequel, *, known: bool) -> bool:
    """True when the two records of one logger tell by themselves that the program goes on.

    A note below ERROR does; an error does if a warning follows in the same breath. In a stream that many write, the
    next record need not be of the same process: then both must be warnings of one breath.
    """
    within = sequel.told_ns is not None and sequel.next_ns is not None
    one_breath = within and 0 <= (sequel.next_ns or 0) - (sequel.told_ns or 0) <= BREATH_NS
    warned = one_breath and sequel.next_level == "WARNING"
    if known:
        return sequel.told in BELOW_ERROR or warned
    return warned and sequel.told == "WARNING"


def _is_known(finding: Finding) -> bool:
    """True when one process wrote the stream of the finding."""
    return finding.actor.pid is not None or finding.actor.rank is not None


BREATH_NS = SECOND_NS // 20


def _lived_on(finding: Finding, last_words: LastWords, clocks: Sequence[Clock]) -> bool:
    """True when its process still wrote long after it."""
    actor = finding.actor
    names: list[tuple[object, ...]] = [("source", finding.source)]
    names.append(("pid", actor.node, actor.pid) if actor.pid is not None else ("rank", actor.rank))
    proven = clocks[finding.clock].basis != ASSUMED if clocks else False
    ends = [
        end
        for name in names
        for clock, end in last_words.get(name, ())
        if clock == finding.clock or (proven and clocks[clock].basis != ASSUMED)
    ]
    return finding.order_ns is not None and max(ends, default=0) - finding.order_ns > LIVED_ON_NS


ASSUMED = "assumed"
