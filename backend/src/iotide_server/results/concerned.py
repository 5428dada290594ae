"""Flags that concern each value of a run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from iotide_wire.measured import Flag, FlagRank

_Mark = int | tuple[str, object]  # the id of a value's target, or one of its labels
Number = tuple[Mapping[str, object], int | None]


@dataclass(frozen=True, slots=True)
class Concern:
    codes: frozenset[str] = frozenset()
    rejected_by: str | None = None


_NO_CONCERN: Final = Concern()


def concerns(flags: Sequence[Flag], numbers: Sequence[Number]) -> Iterator[Concern]:
    concerned: dict[str, int] = defaultdict(int)
    rejected: dict[str, int] = defaultdict(int)
    undecided = _all(numbers)
    for flag, by_this in _concerned(flags, numbers):
        concerned[flag.code] |= by_this
        if flag.rank is FlagRank.NOT_MEASURED:
            rejected[flag.code] |= by_this & undecided
            undecided &= ~by_this
    known: dict[tuple[str, ...], Concern] = {}
    columns = [f"{bits:b}".zfill(len(numbers))[::-1] for bits in (*concerned.values(), *rejected.values())]
    for says in zip(*columns, strict=True) if columns else [()] * len(numbers):
        if says not in known:
            codes = (code for code, bit in zip(concerned, says, strict=False) if bit == "1")
            by = (code for code, bit in zip(rejected, says[len(concerned) :], strict=True) if bit == "1")
            known[says] = Concern(frozenset(codes), next(by, None)) if "1" in says else _NO_CONCERN
        yield known[says]


def all_are_concerned(flags: Sequence[Flag], numbers: Sequence[Number]) -> bool:
    concerned = 0
    for _, by_this in _concerned(flags, numbers):
        concerned |= by_this
    return concerned == _all(numbers)


def _all(numbers: Sequence[Number]) -> int:
    return (1 << len(numbers)) - 1


def _concerned(flags: Sequence[Flag], numbers: Sequence[Number]) -> Iterator[tuple[Flag, int]]:
    """Yield each flag that concerns any value, with these values as bits."""
    bearing = _bearing({mark for flag in flags for mark in _marks(flag)}, numbers)
    for flag in flags:
        by_this = _all(numbers)
        for mark in _marks(flag):
            by_this &= bearing[mark]
            if not by_this:
                break
        if by_this:
            yield flag, by_this


def _marks(flag: Flag) -> Iterator[_Mark]:
    if flag.target_id is not None:
        yield flag.target_id
    yield from flag.labels.items()


def _bearing(wanted: Iterable[_Mark], numbers: Sequence[Number]) -> dict[_Mark, int]:
    indexes: dict[_Mark, list[int]] = {mark: [] for mark in wanted}
    for index, (labels, target_id) in enumerate(numbers if indexes else ()):
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
