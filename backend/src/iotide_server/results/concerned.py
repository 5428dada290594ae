"""Decides whether flags concern all numbers of a result, where there are very many of both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from iotide_wire.measured import Flag

_Mark = int | tuple[str, object]
"""What a number bears: the id of its target, or a label."""


def all_are_concerned(flags: Sequence[Flag], numbers: Sequence[tuple[Mapping[str, object], int | None]]) -> bool:
    """Return true where one of the flags or another concerns each number, as `Flag.concerns` says.

    The numbers that bear a mark are a set of bits. A flag costs an AND for each of its marks.

    Args:
        flags: none of them, or any number.
        numbers: labels and target of each.
    """
    everything = (1 << len(numbers)) - 1
    bearing = _bearing({mark for flag in flags for mark in _marks(flag)}, numbers)
    concerned = 0
    for flag in flags:
        by_this = everything
        for mark in _marks(flag):
            by_this &= bearing[mark]
            if not by_this:
                break
        concerned |= by_this
    return concerned == everything


def _marks(flag: Flag) -> Iterator[_Mark]:
    if flag.target_id is not None:
        yield flag.target_id
    yield from flag.labels.items()


def _bearing(wanted: Iterable[_Mark], numbers: Sequence[tuple[Mapping[str, object], int | None]]) -> dict[_Mark, int]:
    """Return the numbers that bear each wanted mark, as bits."""
    indexes: dict[_Mark, list[int]] = {mark: [] for mark in wanted}
    for index, (labels, target_id) in enumerate(numbers):
        if target_id in indexes:
            indexes[target_id].append(index)
        for label in labels.items():
            if label in indexes:
                indexes[label].append(index)
    return {mark: _bits(found) for mark, found in indexes.items()}


def _bits(indexes: Sequence[int]) -> int:
    if not indexes:
        return 0
    bits = bytearray(indexes[-1] // 8 + 1)
    for index in indexes:
        bits[index // 8] |= 1 << index % 8
    return int.from_bytes(bits, "little")
