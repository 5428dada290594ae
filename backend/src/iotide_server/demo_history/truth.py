"""Events of the sample data, which detectors must find."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from iotide_server.demo_history.sites import Figure, SampleLoad
from iotide_wire.facts import FactValue
from iotide_wire.units import KIB


class TruthKind(StrEnum):
    """Kinds of events.

    LEVEL: another level for some time. SPELL: too few nights for a level, flagged DEGRADED. NO_EFFECT: only facts
    change. NOISIER: more noise. MODES: some runs have a very different level. ODD: one of several peers always
    differs. STOPS: runs fail.
    """

    LEVEL = "level"
    SPELL = "spell"
    DRIFT = "drift"
    NO_EFFECT = "no_effect"
    NOISIER = "noisier"
    MODES = "modes"
    ODD = "odd"
    STOPS = "stops"


@dataclass(frozen=True, slots=True)
class TruthScope:
    """None in a field: all."""

    cluster: str
    node: str | None = None
    target: str | None = None
    workload: str | None = None
    operation: str | None = None

    def has(self, cluster: str, node: str, target: str) -> bool:
        return cluster == self.cluster and self.node in {None, node} and self.target in {None, target}

    def has_figure(self, load: SampleLoad, figure: Figure) -> bool:
        return self.workload in {None, load.workload} and self.operation in {None, figure.labels["operation"]}


@dataclass(frozen=True, slots=True)
class Truth:
    kind: TruthKind
    scope: TruthScope
    words: str
    # since, until: as fractions of all days
    since: float = 0.0
    until: float = 1.0
    ratio: float = 1.0  # of the rate; for NOISIER, of the noise
    share: float = 0.0
    # reported by nodes during it
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    facts_at: TruthScope | None = None  # where nodes report the facts, if elsewhere
    event_text: str | None = None

    def is_true(self, at: float) -> bool:
        return self.since <= at < self.until

    def has_facts_at(self, cluster: str, node: str, target: str) -> bool:
        return (self.facts_at or self.scope).has(cluster, node, target)


_NIGHTS_OF_A_SPELL: Final = 4

TRUTHS: Final = (
    Truth(
        TruthKind.LEVEL,
        TruthScope("demo-hpc", target="nvme", workload="fio"),
        "a kernel update slowed down random reads of NVMe",
        since=0.55,
        ratio=0.80,
        facts={"kernel.release": "5.14.0-427.13.1.el9_4.x86_64", "os.name": "Rocky Linux 9.4"},
        facts_at=TruthScope("demo-hpc"),
    ),
    Truth(
        TruthKind.NO_EFFECT,
        TruthScope("demo-hpc", target="scratch"),
        "an update of the Lustre client changed nothing",
        since=0.30,
        facts={"lustre.version": "2.15.5"},
    ),
    Truth(
        TruthKind.LEVEL,
        TruthScope("demo-hpc", target="scratch", workload="dd"),
        "two OSTs were out of service for some time",
        since=0.40,
        until=0.62,
        ratio=0.82,
        event_text="OST0007 and OST0013 taken out of service",
    ),
    Truth(
        TruthKind.DRIFT,
        TruthScope("demo-hpc", target="scratch", workload="create"),
        "directories filled up, and creating files became slower",
        ratio=0.70,
    ),
    Truth(
        TruthKind.ODD,
        TruthScope("demo-hpc", node="c03", target="nvme", workload="dd"),
        "the NVMe of c03 writes more slowly than those of its peers",
        ratio=0.88,
    ),
    Truth(
        TruthKind.STOPS,
        TruthScope("demo-hpc", target="home", workload="iozone"),
        "/home is no longer mounted",
        since=0.85,
    ),
    Truth(
        TruthKind.LEVEL,
        TruthScope("demo-studio", target="projects", workload="dd", operation="read"),
        "a remount with a quarter of the rsize",
        since=0.45,
        ratio=0.75,
        facts={"nfs.rsize_bytes": 256 * KIB, "mount.options": "hard,rsize=262144,rw,vers=3,wsize=1048576"},
        facts_at=TruthScope("demo-studio", target="projects"),
    ),
    Truth(
        TruthKind.NOISIER,
        TruthScope("demo-studio", target="projects", workload="fio"),
        "other users began to use the filer at night",
        since=0.60,
        ratio=3.0,
    ),
    Truth(
        TruthKind.MODES,
        TruthScope("demo-studio", target="cache", workload="dd", operation="read"),
        "one read in five came from the cache of the controller",
        ratio=1.8,
        share=0.2,
    ),
    *(
        Truth(
            TruthKind.SPELL,
            TruthScope("demo-archive", target="raid-a"),
            "a rebuild of four nights",
            since=since,
            ratio=0.65,
            facts={"md.degraded_count": 1},
        )
        for since in (0.35, 0.70)
    ),
    Truth(
        TruthKind.ODD,
        TruthScope("demo-archive", target="raid-b"),
        "one of three equal RAID sets is slower",
        ratio=0.85,
    ),
    Truth(
        TruthKind.LEVEL,
        TruthScope("demo-archive", target="gpfs", workload="dd", operation="read"),
        "a new release of GPFS reads ahead better",
        since=0.50,
        ratio=1.30,
        facts={"gpfs.version": "5.1.9.4"},
        facts_at=TruthScope("demo-archive", target="gpfs"),
    ),
    Truth(
        TruthKind.LEVEL,
        TruthScope("demo-archive", target="gpfs", workload="dd", operation="write"),
        "writes became slower for an unknown reason",
        since=0.78,
        ratio=0.80,
    ),
)


def truths_of(days: int) -> tuple[Truth, ...]:
    return tuple(
        replace(truth, until=truth.since + _NIGHTS_OF_A_SPELL / days) if truth.kind is TruthKind.SPELL else truth
        for truth in TRUTHS
    )


def first_day(since: float, days: int) -> int:
    """Return the first day at or after this fraction of all days."""
    return next((day for day in range(days) if day / days >= since), days)
