"""Rule: rates that fall with the length of the run, as where burst credits or a fast tier are used up."""

from collections.abc import Iterator
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity
from iotide_server.advice.rules.cliffs import SweepCliff, cliff_of
from iotide_server.advice.scene import Scene, listed
from iotide_server.advice.sweeps import RUN_LENGTH, sweeps
from iotide_server.statistics.cliffs import FEWEST_SIZES
from iotide_wire.units import format_percent, format_rate, format_seconds

CODE: Final = "burst"


def bursts(scene: Scene) -> Iterator[Finding]:
    """Yield rates that a run as short as the shortest one would report too high. One run length alone shows nothing."""
    for sweep in sweeps(scene.rates, RUN_LENGTH, FEWEST_SIZES):
        cliff = cliff_of(sweep)
        if cliff is None:
            yield Fine(sweep[0].point.place, "the rate does not fall with the length of the run")
        else:
            yield _advice(cliff)


def _advice(cliff: SweepCliff) -> Advice:
    point = cliff.top.point
    last, first = format_seconds(cliff.last.at), format_seconds(cliff.first.at)
    return Advice(
        code=CODE,
        severity=Severity.MEDIUM if cliff.is_shown else Severity.LOW,
        subject=f"{point.cell.workload} on {listed(point.cell.targets)} from {listed(point.cell.nodes)}",
        title=f"Runs of {first} and more reach {format_percent(cliff.fall.median)} of the rate of shorter ones",
        explanation=(
            f"{point.operation or point.cell.workload}: {format_rate(point.median)} in runs of"
            f" {format_seconds(cliff.top.at)}, at most {format_rate(cliff.bottom.point.median)} from {first} on."
            " Burst credits of cloud volumes, write caches and fast tiers last for a time. A run that ends within it"
            " measures them, and cannot know what follows."
        ),
        evidence=tuple(
            step.point.evidence(f"{step.point.operation} in {format_seconds(step.at)}".strip())
            for step in (cliff.top, cliff.last, cliff.first, cliff.bottom)
        ),
        remedy=f"State the rate of runs of {first} and more for lasting loads, and that up to {last} for short ones.",
        commands=(),
        source="Documentation of burstable cloud volumes; SNIA Solid State Storage Performance Test Specification",
    )
