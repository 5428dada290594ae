"""Counts of the walk through one program over four hosts, and the rules that a run did not keep."""

import sys
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Tally:
    """Counts; `wrong` has a sentence for each broken rule, `ends` the reasons of failed runs after a fault."""

    jobs: int = 0
    kills: int = 0
    cuts: int = 0
    orphans: int = 0
    wrong_totals: int = 0
    seconds_to_barrier_8: float = 0.0
    wrong: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)

    def require(self, holds: bool, sentence: str) -> bool:  # noqa: FBT001 - reads as a sentence
        """Note and print a broken rule; return whether it holds."""
        if not holds:
            self.wrong.append(sentence)
            say(f"WRONG: {sentence}")
        return holds


def say(line: str) -> None:
    sys.stdout.write(f"mpi: {line}\n")
    sys.stdout.flush()
