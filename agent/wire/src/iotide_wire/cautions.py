"""What stands next to a number whose runs carry a flag. Pages say the same: tests/data/cautions.json holds both."""

from collections.abc import Iterable, Mapping
from typing import Final

from iotide_wire.measured import FlagCode

CAUTIONS: Final[Mapping[str, str]] = {
    FlagCode.CACHE_SIZE: "may be cached",
    FlagCode.CACHE_DROP: "read warm",
    FlagCode.FSYNC: "not flushed",
    FlagCode.DURATION: "too short",
    FlagCode.STEADY: "not steady",
    FlagCode.STRAGGLER: "one writer was slow",
    FlagCode.CLIENT_BOUND: "limited by the node",
    FlagCode.CLOCK: "clock or start off",
    FlagCode.ERRORS: "errors",
    FlagCode.DEGRADED: "storage busy with itself",
    FlagCode.FOREIGN_LOAD: "other load",
    FlagCode.LOAD_NOT_MEASURED: "load not measured",
    FlagCode.WRONG_MOUNT: "wrong mount",
    FlagCode.FORK_BOUND: "limited by starting processes",
    FlagCode.NO_DIRECT: "no O_DIRECT",
    FlagCode.ZEROES: "zeroes written",
    FlagCode.TOO_FAST: "too fast to measure",
    FlagCode.CUT: "ended before its work was done",
    FlagCode.BOUND: "only a bound",
}
HARMLESS: Final[Mapping[str, str]] = {
    FlagCode.REPEATS: "few repeats",
    FlagCode.CV: "scatters",
    FlagCode.OUTLIER: "far from the others",
    FlagCode.ENV_CHANGED: "environment changed",
    FlagCode.PEER_ODD: "unlike its equals",
    FlagCode.PUBLISHED: "published",
}
"""Flags that say something else of a number than that it is doubtful."""


def cautions(codes: Iterable[str]) -> list[str]:
    """The cautions of a number by the flags of its runs; one that this version does not know is a caution itself."""
    return [CAUTIONS.get(code, code) for code in codes if code not in HARMLESS]


def flag_words(code: str) -> str:
    """Return a flag in words; the code itself where this version does not know it."""
    return CAUTIONS.get(code) or HARMLESS.get(code, code)
