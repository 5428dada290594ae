"""Flags that may explain a change of level."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from iotide_wire.cautions import flag_words, ranked
from iotide_wire.measured import FlagCode, FlagRank

POINTS_ON_EACH_SIDE: Final = 5
_LEAST_SHARE: Final = 0.5  # least difference between the shares of runs with a flag
_SYMPTOMS: Final = frozenset({FlagCode.OUTLIER, FlagCode.PEER_ODD, FlagCode.ENV_CHANGED})
"""Flags that follow from the change itself, or that are shown as its event."""


@dataclass(slots=True)
class FlaggedRuns:
    """Runs of the points on one side of a change, and how many of them have each flag."""

    run_count: int = 0
    flag_runs: Counter[str] = field(default_factory=Counter)

    def add(self, run_count: int, flag_runs: Mapping[str, int]) -> None:
        self.run_count += run_count
        self.flag_runs.update(flag_runs)

    def share(self, code: str) -> float:
        return self.flag_runs[code] / self.run_count if self.run_count else 0.0


def change_reasons(before: FlaggedRuns, after: FlaggedRuns) -> list[str]:
    """Return for instance `other load` or `no longer: read warm`, of flags that at least half more of the runs have."""
    codes = _explaining([*after.flag_runs, *before.flag_runs])
    gains = {code: after.share(code) - before.share(code) for code in codes}
    return [
        *(flag_words(code) for code, gain in gains.items() if gain >= _LEAST_SHARE),
        *(f"no longer: {flag_words(code)}" for code, gain in gains.items() if gain <= -_LEAST_SHARE),
    ]


def _explaining(codes: Iterable[str]) -> list[str]:
    return [code for code in ranked(codes, FlagRank.UNLIKE, FlagRank.DISTURBED) if code not in _SYMPTOMS]
