"""AI Core error words: which bits are set, and the numbers of the errors that they mean."""

from __future__ import annotations

import msgspec

WORD_BITS = 64
LOW_BITS_OF_THIRD = 17
"""Of the third word the low half has this many bits; the bits of its high half are numbered on from there."""

HALF_BITS = 32


class Bit(msgspec.Struct, frozen=True):
    """One bit that is set: `word` is 1-based, `number` is that of the error table, None if no error has this bit."""

    word: int
    bit: int
    number: int | None


def bits_of(value: int) -> list[int]:
    """Positions of the bits that are set, the lowest first."""
    return [bit for bit in range(value.bit_length()) if value >> bit & 1]


def decode_words(words: tuple[int, ...]) -> list[Bit]:
    """The bits of one, two or three error words, in the order of the words.

    Source: runtime device_error_core_proc.cc, RtCoreErrorType.
    """
    return [Bit(place + 1, bit, _number(place, bit)) for place, value in enumerate(words[:3]) for bit in bits_of(value)]


def _number(place: int, bit: int) -> int | None:
    if bit >= WORD_BITS:
        return None
    if place < 2:  # noqa: PLR2004 - the first two words are numbered straight through
        return place * WORD_BITS + bit
    if bit < LOW_BITS_OF_THIRD:
        return 2 * WORD_BITS + bit
    return None if bit < HALF_BITS else 2 * WORD_BITS + LOW_BITS_OF_THIRD + bit - HALF_BITS
