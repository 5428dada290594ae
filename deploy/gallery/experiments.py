"""What the gallery measures on, and which figures of each experiment it shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from loop_disks import Disk


@dataclass(frozen=True)
class Experiment:
    """One of the nine.

    Attributes:
        figures: what the address says of each picture, by the picture's name.
    """

    number: int
    figures: Mapping[str, Mapping[str, Any]]


_BTRFS: Final = ("mkfs.btrfs", "--quiet", "--force")
_EXT4: Final = Disk(("mkfs.ext4", "-q", "-F"))
_XFS: Final = Disk(("mkfs.xfs", "-q", "-f"))

DISKS: Final[Mapping[str, Disk]] = {
    "ext4": _EXT4,
    "xfs": _XFS,
    "btrfs": Disk(_BTRFS),
    "raid1": _XFS,
    "raid2": _XFS,
    "raid3": _XFS,
    "single": Disk(_BTRFS),
    "software-raid1": Disk((*_BTRFS, "--data", "raid1"), devices=3),
    "software-raid5": Disk((*_BTRFS, "--data", "raid5"), devices=3),
    "stripe": Disk((*_BTRFS, "--data", "raid0"), devices=3),
}
"""By target."""

EXPERIMENTS: Final = (
    Experiment(1, {"experiment-1": {"show": "duration"}}),
    Experiment(3, {"experiment-3": {"show": "throughput", "beside": "mean:cpu_system_ratio"}}),
    Experiment(5, {"experiment-5": {}}),
    Experiment(6, {"experiment-6": {"show": "throughput", "beside": ""}}),
    Experiment(7, {"experiment-7": {}}),
    Experiment(8, {"experiment-8": {}}),
    Experiment(9, {"experiment-9": {}}),
)
