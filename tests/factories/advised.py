"""Scenes for advice rules without a database: targets on nodes with facts, and measured cells."""

from collections.abc import Mapping, Sequence
from itertools import count

from iotide_server.advice.findings import Advice, Finding
from iotide_server.advice.scene import MountedTarget, Scene, SceneCell, ScenePoint
from iotide_wire.facts import FactValue
from iotide_wire.units import Unit

_RUNS = count(1)


def site(
    fstype: str, facts: Mapping[str, FactValue], *, device: str = "/dev/md5", mount_point: str = "/data"
) -> MountedTarget:
    return MountedTarget("scratch", "node07", mount_point, device, {"mount.fstype": fstype, **facts})


def places(*sites: MountedTarget) -> Scene:
    return Scene(sites, ())


def cell(
    target: str = "scratch",
    *,
    workload: str = "dd",
    nodes: Sequence[str] = ("node07",),
    facts: Mapping[str, FactValue] | None = None,
    **options: object,
) -> SceneCell:
    """Return a cell of campaign 9; all nodes have the same facts, by default no memory."""
    return SceneCell(
        ordinal=1,
        campaign_id=9,
        workload=workload,
        options=dict(options),
        variant="",
        nodes=tuple(nodes),
        targets=(target,),
        facts={node: dict(facts or {}) for node in nodes},
        run_ids=(next(_RUNS),),
    )


def rate(of: SceneCell, *runs: float, metric: str = "throughput", **labels: str | float | bool) -> ScenePoint:
    """Return the rates of a cell's runs, in bytes per second."""
    middle = sorted(runs)[len(runs) // 2] if len(runs) % 2 else sum(sorted(runs)[len(runs) // 2 - 1 :][:2]) / 2
    labels = {"operation": "write", **labels}
    return ScenePoint(of, metric, Unit.BYTES_PER_SECOND, labels, len(runs), middle, min(runs), max(runs))


def measured(*points: ScenePoint, claimed_ratio: float | None = None) -> Scene:
    return Scene((), points, claimed_ratio)


def advice_of(findings: Sequence[Finding]) -> Advice:
    """Return the only finding, which is advice."""
    (found,) = findings
    assert isinstance(found, Advice), found
    return found


def numbers(advice: Advice) -> dict[str, FactValue]:
    return {one.name: one.value for one in advice.evidence}
