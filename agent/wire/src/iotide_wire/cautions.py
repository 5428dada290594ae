"""Words for flags next to numbers. Pages use the same: tests/data/cautions.json holds both."""

from collections.abc import Iterable, Mapping
from typing import Final

from iotide_wire.measured import FlagCode, FlagRank

WORDS: Final[Mapping[str, str]] = {
    FlagCode.CACHE_SIZE: "may be cached",
    FlagCode.CACHE_DROP: "read warm",
    FlagCode.FSYNC: "not flushed",
    FlagCode.DURATION: "too short",
    FlagCode.STEADY: "not steady",
    FlagCode.CV: "high variance",
    FlagCode.OUTLIER: "outlier",
    FlagCode.STRAGGLER: "one writer was slow",
    FlagCode.CLIENT_BOUND: "limited by the node",
    FlagCode.CLOCK: "clock or start off",
    FlagCode.TOOL_CLOCK: "tool's clock off",
    FlagCode.TIME_SET: "time of day set",
    FlagCode.NODE_TIME: "node's time off",
    FlagCode.LATE_START: "late start",
    FlagCode.GANG: "nodes or launcher silent",
    FlagCode.ERRORS: "errors",
    FlagCode.ENV_CHANGED: "environment changed",
    FlagCode.DEGRADED: "storage busy with itself",
    FlagCode.FOREIGN_LOAD: "other load",
    FlagCode.LOAD_NOT_MEASURED: "load not measured",
    FlagCode.WRONG_MOUNT: "wrong mount",
    FlagCode.FORK_BOUND: "limited by starting processes",
    FlagCode.NO_DIRECT: "no O_DIRECT",
    FlagCode.ZEROES: "reducible data",
    FlagCode.TOO_FAST: "too fast to measure",
    FlagCode.PEER_ODD: "differs from its peers",
    FlagCode.PUBLISHED: "published",
    FlagCode.CUT: "ended before its work was done",
    FlagCode.BOUND: "only a bound",
}


def rank_of(code: str) -> FlagRank:
    """Return the rank of a code; a code of a later version counts as UNLIKE."""
    try:
        return FlagCode(code).rank
    except ValueError:
        return FlagRank.UNLIKE


def ranked(codes: Iterable[str], *ranks: FlagRank) -> list[str]:
    """Return the codes of these ranks, each once."""
    return [code for code in dict.fromkeys(codes) if rank_of(code) in ranks]


def cautions(codes: Iterable[str]) -> list[str]:
    """Return the words of the flags that make a number doubtful: ranks 1 and 2."""
    return list(map(flag_words, ranked(codes, FlagRank.NOT_MEASURED, FlagRank.UNLIKE)))


def notes(codes: Iterable[str]) -> list[str]:
    """Return the words of the flags that may explain a number: rank 3."""
    return list(map(flag_words, ranked(codes, FlagRank.DISTURBED)))


def flag_words(code: str) -> str:
    return WORDS.get(code, code)
