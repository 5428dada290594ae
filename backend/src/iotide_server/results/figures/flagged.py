"""Flags in comparisons: numbers that measure different things, and flags that may explain a difference."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from iotide_server.statistics.comparison import Comparison, Verdict
from iotide_wire.cautions import flag_words, ranked
from iotide_wire.measured import FlagCode, FlagRank

Names = tuple[str, str]
"""Names of the two sides, the baseline first."""

PAIR: Final[Names] = ("A", "B")
SIDES: Final[Names] = ("the baseline", "this side")

_UNLIKE: Final[Mapping[str, str]] = {
    FlagCode.CACHE_SIZE: "may be cached",
    FlagCode.CACHE_DROP: "was read warm",
    FlagCode.ZEROES: "wrote zeroes",
    FlagCode.NO_DIRECT: "went through the cache",
    FlagCode.CLIENT_BOUND: "was limited by the node",
    FlagCode.FORK_BOUND: "was limited by starting processes",
    FlagCode.BOUND: "is only a bound",
}
_DIFFERENT: Final = frozenset({Verdict.HIGHER, Verdict.LOWER, Verdict.BELOW_PRACTICAL})


def unlike(a: Collection[str], b: Collection[str], run_count: int) -> Comparison | None:
    """Return the verdict UNLIKE if only one of two numbers has a flag of rank 2, by the codes of both; else None."""
    is_unlike = set(ranked(a, FlagRank.UNLIKE)) != set(ranked(b, FlagRank.UNLIKE))
    return Comparison(Verdict.UNLIKE, run_count) if is_unlike else None


def unlike_words(a: Collection[str], b: Collection[str], names: Names) -> str:
    """Return for instance `unlike: A went through the cache`."""
    found = _of_one(a, b, names, FlagRank.UNLIKE)
    return f"unlike: {', '.join(f'{name} {_UNLIKE.get(code, code)}' for name, code in found)}"


def reasons(verdict: Verdict, a: Collection[str], b: Collection[str], names: Names) -> list[str]:
    """Return for instance `B: other load` for a difference: flags of rank 3 that only one of two numbers has."""
    if verdict not in _DIFFERENT:
        return []
    return [f"{name}: {flag_words(code)}" for name, code in _of_one(a, b, names, FlagRank.DISTURBED)]


def _of_one(a: Collection[str], b: Collection[str], names: Names, rank: FlagRank) -> Iterator[tuple[str, str]]:
    for name, own, other in ((names[0], a, b), (names[1], b, a)):
        yield from ((name, code) for code in ranked(own, rank) if code not in other)
