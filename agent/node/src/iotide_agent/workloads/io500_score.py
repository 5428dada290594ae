"""The IO500's score, and the checksum with which it protects its numbers against mistakes."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod, sqrt
from typing import Final

BANDWIDTH_PHASES: Final = ("ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read")
METADATA_PHASES: Final = (
    *("mdtest-easy-write", "mdtest-hard-write", "find", "mdtest-easy-stat", "mdtest-hard-stat"),
    *("mdtest-easy-delete", "mdtest-hard-read", "mdtest-hard-delete"),
)
SCORED_PHASES: Final = (*BANDWIDTH_PHASES, *METADATA_PHASES)
HALF_DIGIT: Final = 0.5e-6
"""All its numbers are printed with six decimals."""
_ROUNDING_RATIO: Final = 1e-9
_WORD: Final = 0xFFFF_FFFF


def geometric_mean(values: Sequence[float]) -> float:
    """Return the mean of the values above 0, as the IO500 does; 0 if there are none."""
    found = [value for value in values if value > 0]
    return prod(value ** (1 / len(found)) for value in found) if found else 0.0


def score(bandwidth: float, metadata: float) -> float:
    return sqrt(bandwidth * metadata)


def mean_tolerance(values: Sequence[float]) -> float:
    """Return how far a printed mean may be from that of the printed values."""
    found = [value for value in values if value > 0]
    ratio = sum(HALF_DIGIT / value for value in found) / len(found) if found else 0.0
    return HALF_DIGIT + (ratio + _ROUNDING_RATIO) * geometric_mean(values)


def score_tolerance(bandwidth: float, metadata: float) -> float:
    if not bandwidth or not metadata:
        return HALF_DIGIT
    ratio = HALF_DIGIT / bandwidth / 2 + HALF_DIGIT / metadata / 2
    return HALF_DIGIT + (ratio + _ROUNDING_RATIO) * score(bandwidth, metadata)


def checksum(pairs: Iterable[tuple[str, str]]) -> int:
    """Return the 32 bits that protect names and printed values, in any order. They need no key."""
    found = 0
    for name, value in pairs:
        word = 0
        for byte in f"{name}{value}".encode(errors="replace"):
            # The compiler of most processors has signed characters.
            signed = byte - 256 if byte > 127 else byte  # noqa: PLR2004 - the largest signed byte
            word = ((word << 2 | word >> 30) + signed) & _WORD
        found ^= word
    return found


def possible_checksums(
    version: str, scores: Mapping[str, str], means: Mapping[str, str], total: str, *, is_valid: bool
) -> set[int]:
    """Return what releases print for these values: in 2021 some left the two means out."""
    own = [("version", version), *scores.items(), ("SCORE", total), *([] if is_valid else [("valid", "NO")])]
    return {checksum(own), checksum([*own, *means.items()])}
