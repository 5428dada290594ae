"""Targets of the gallery and the figures of each experiment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from loop_disks import Disk

RE_FORMATTED: Final = "reformatted"
"""Target that is reformatted before each stage."""
VOLUME: Final = "gluster"
"""Target on a GlusterFS volume."""


@dataclass(frozen=True)
class Experiment:
    """One of the nine experiments.

    Attributes:
        figures: the figure's URL parameters by picture name.
        variants: file system of RE_FORMATTED by the stage's variant.
    """

    number: int
    figures: Mapping[str, Mapping[str, Any]]
    variants: Mapping[str, Disk] = field(default_factory=dict)


def _random(operation: str, *, against: str) -> Mapping[str, Any]:
    """Return IOzone's map of each variant, relative to one variant."""
    return {
        "workload": "iozone",
        "kind": "ratio",
        "split": "variant",
        "against": against,
        "only": {"operation": operation},
    }


_BTRFS: Final = ("mkfs.btrfs", "--quiet", "--force")
_EXT2: Final = Disk(("mkfs.ext2", "-q", "-F"))
_EXT3: Final = ("mkfs.ext3", "-q", "-F")
_EXT4: Final = Disk(("mkfs.ext4", "-q", "-F"))
_XFS: Final = Disk(("mkfs.xfs", "-q", "-f"))

DISKS: Final[Mapping[str, Disk]] = {
    "ext4": _EXT4,
    "xfs": _XFS,
    "btrfs": Disk(_BTRFS),
    "raid1": _XFS,
    "raid2": _XFS,
    "raid3": _XFS,
    "set1": Disk(_BTRFS),
    "set2": Disk(_BTRFS),
    "set3": Disk(_BTRFS),
    "single": Disk(_BTRFS),
    "software-raid1": Disk((*_BTRFS, "--data", "raid1"), devices=3),
    "software-raid5": Disk((*_BTRFS, "--data", "raid5"), devices=3),
    "stripe": Disk((*_BTRFS, "--data", "raid0"), devices=3),
    RE_FORMATTED: _EXT2,
    VOLUME: _XFS,
}
"""File systems by target; for the volume, of each brick."""

EXPERIMENTS: Final = (
    Experiment(1, {"experiment-1": {"show": "duration"}}),
    Experiment(
        2,
        {
            "experiment-2": {"workload": "dd", "show": "duration"},
            "experiment-2-touch": {
                "workload": "create",
                "show": "duration",
                "x": "variant",
                "split": "",
                "only": {"mode": "fork-touch"},
            },
        },
        {
            "ext2": _EXT2,
            "ext3-ordered": Disk(_EXT3, options="data=ordered"),
            "ext3-writeback": Disk(_EXT3, options="data=writeback"),
            "ext3-journal": Disk(_EXT3, options="data=journal"),
            "ext4": _EXT4,
            "xfs": _XFS,
            "btrfs": Disk(_BTRFS),
        },
    ),
    Experiment(
        3,
        {
            "experiment-3": {"workload": "dd", "show": "throughput", "beside": "mean:cpu_system_ratio"},
            "experiment-3-bonnie": {"workload": "bonnie", "show": "throughput", "beside": "cpu_ratio"},
        },
    ),
    Experiment(
        4,
        {
            "experiment-4": _random("random_write", against="ext3-unaligned"),
            "experiment-4-xfs": _random("random_write", against="xfs-unaligned"),
            "experiment-4-read": _random("random_read", against="ext3-unaligned"),
            "experiment-4-read-xfs": _random("random_read", against="xfs-unaligned"),
            "experiment-4-bonnie": {"workload": "bonnie", "show": "throughput"},
            "experiment-4-files": {"workload": "bonnie", "show": "operation_rate"},
        },
        {
            "ext3-unaligned": Disk((*_EXT3, "-E", "stride=1,stripe-width=1")),
            "ext3-aligned": Disk((*_EXT3, "-E", "stride=16,stripe-width=64")),
            "xfs-unaligned": Disk((*_XFS.mkfs, "-d", "noalign")),
            "xfs-aligned": Disk((*_XFS.mkfs, "-d", "su=64k,sw=4")),
        },
    ),
    Experiment(5, {"experiment-5": {}, "experiment-5-time": {"show": "duration"}}),
    Experiment(
        6,
        {
            "experiment-6": {"workload": "dd", "show": "throughput", "x": "run"},
            "experiment-6-iozone": {"workload": "iozone"},
        },
    ),
    Experiment(
        7,
        {
            "experiment-7": {"workload": "dd", "show": "total_throughput", "x": "target"},
            "experiment-7-iozone": {"workload": "iozone"},
        },
    ),
    Experiment(
        8,
        {
            "experiment-8": {"workload": "dd"},
            "experiment-8-iozone": {"workload": "iozone", "show": "total_throughput"},
        },
    ),
    Experiment(9, {"experiment-9": {}}),
)
