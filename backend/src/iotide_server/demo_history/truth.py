"""What happened in the sample data: the table that generates it and that detectors are judged by."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from iotide_server.demo_history.sites import Figure, SampleLoad
from iotide_wire.facts import FactValue
from iotide_wire.units import KIB


class TruthKind(StrEnum):
    """What a truth is.

    LEVEL: another level, from a day on or for some time. SPELL: too few nights for a level, in which the runs say
    DEGRADED. NO_EFFECT: facts change and numbers do not. NOISIER: the same level, with more noise. MODES: some runs lie
    at another level altogether. ODD: one of several equals lies apart all the time. STOPS: its runs fail from then on.
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
    """Of what it is true; None: of all."""

    cluster: str
    node: str | None = None
    target: str | None = None
    workload: str | None = None
    operation: str | None = None  # the label of that name

    def has(self, cluster: str, node: str, target: str) -> bool:
        """Whether this place lies in it."""
        return cluster == self.cluster and self.node in {None, node} and self.target in {None, target}

    def has_figure(self, load: SampleLoad, figure: Figure) -> bool:
        """Whether this number does, where the place does."""
        return self.workload in {None, load.workload} and self.operation in {None, figure.labels["operation"]}


@dataclass(frozen=True, slots=True)
class Truth:
    """One thing that happened."""

    kind: TruthKind
    scope: TruthScope
    words: str
    # since, until: from when to when, as fractions of all days
    since: float = 0.0
    until: float = 1.0
    ratio: float = 1.0  # of the rate to what it was; of NOISIER that of the noise
    share: float = 0.0  # of MODES, how many runs
    # what nodes say of it meanwhile, where they do: each with its value
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    facts_at: TruthScope | None = None  # the place whose nodes say so, where it is another
    told: str | None = None  # what a person said of it

    def is_true(self, at: float) -> bool:
        """Whether it was at that fraction of all days."""
        return self.since <= at < self.until

    def tells(self, cluster: str, node: str, target: str) -> bool:
        """Whether its facts are said there."""
        return (self.facts_at or self.scope).has(cluster, node, target)


_NIGHTS_OF_A_SPELL: Final = 4  # fewer than a change of level has at least

TRUTHS: Final = (
    Truth(
        TruthKind.LEVEL,
        TruthScope("demo-hpc", target="nvme", workload="fio"),
        "a kernel update slowed random reads of NVMe down",
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
        "two OSTs were away, and came back",
        since=0.40,
        until=0.62,
        ratio=0.82,
        told="OST0007 and OST0013 taken out of service",
    ),
    Truth(
        TruthKind.DRIFT,
        TruthScope("demo-hpc", target="scratch", workload="create"),
        "directories filled up, and files were made ever more slowly",
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
        "/home is no longer mounted there, and nobody noticed",
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
        "somebody else began to use the filer at night",
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
        "writes became slower, and nobody knows why",
        since=0.78,
        ratio=0.80,
    ),
)


def truths_of(days: int) -> tuple[Truth, ...]:
    """The table for a history of so many days, in which spells have their end."""
    return tuple(
        replace(truth, until=truth.since + _NIGHTS_OF_A_SPELL / days) if truth.kind is TruthKind.SPELL else truth
        for truth in TRUTHS
    )


def first_day(since: float, days: int) -> int:
    """The first of so many days, from 0, of which something is true that begins at this fraction of them."""
    return next((day for day in range(days) if day / days >= since), days)
