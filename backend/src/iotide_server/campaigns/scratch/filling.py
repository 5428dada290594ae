"""Fills of a made file system before its measurements, as runs of the workload `fill`, and the facts of those."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from iotide_server.kit.db import Json
from iotide_wire.facts import Facts
from iotide_wire.scratch_plan import MOST_FILL_RATIO, ScratchPlan
from iotide_wire.scratch_vocabulary import LAYOUT_FACT
from iotide_wire.units import MIB

WORKLOAD: Final = "fill"
_FILES: Final = 1000
"""Number of files that fill a file system, at least 1 MiB each. So a fill misses its level by 0.1 % or 1 MiB."""
_MOST_FILES: Final = 100_000


@dataclass(frozen=True, slots=True)
class Fill:
    """Fill of what was made for a stage.

    Attributes:
        ratio: used share of the file system at its end.
        keeps: the files stay for the runs of the stage.
    """

    ratio: float
    keeps: bool

    def options(self, size_bytes: int) -> dict[str, Any]:
        """Return the options of the workload; random data is neither compressed nor deduplicated."""
        return {
            "file_size_bytes": max(1, -(-size_bytes // (_FILES * MIB))) * MIB,
            "data": "random",
            "fill_percent": round(100 * self.ratio, 3),
            "file_count": _MOST_FILES,
            "reserve_bytes": 0,
            **({"keep": True} if self.keeps else {}),
        }


def fills_of(scratch: ScratchPlan | None) -> Sequence[Fill]:
    """Return the fills of each stage, in order."""
    if scratch is None:
        return []
    emptied = [Fill(MOST_FILL_RATIO, keeps=False)] if scratch.precondition == "fill" else []
    return emptied if scratch.fill_ratio is None else [*emptied, Fill(scratch.fill_ratio, keeps=True)]


def made_facts(scratch: Json | None, variant: str) -> Facts:
    """Return the facts of a run on scratch disks that its campaign knows: layout, fill and precondition."""
    if scratch is None:
        return {}
    facts = {
        LAYOUT_FACT: variant.partition(" / ")[0],
        "scratch.fill_ratio": scratch.get("fill_ratio"),
        "scratch.precondition": scratch.get("precondition"),
    }
    return {name: value for name, value in facts.items() if value not in {None, "none"}}
