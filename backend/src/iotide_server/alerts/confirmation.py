"""The plan of confirmation runs: one cell of another campaign, three times; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iotide_server.statistics.outliers import CONFIRMATION_RUNS
from iotide_wire.plan import CampaignPlan, Roles, WorkloadChoice

_LONGEST_NAME = 63


@dataclass(frozen=True, slots=True)
class ConfirmedCell:
    """What the runs are to repeat, by names."""

    workload: str
    options: Mapping[str, Any]  # complete, in base units
    nodes: Sequence[str]
    targets: Sequence[str]
    observers: Sequence[str] = ()
    sender: str | None = None  # of the nodes, where one sends to the other


def confirmation_plan(plan: CampaignPlan, cell: ConfirmedCell, *, name: str, note: str) -> CampaignPlan:
    """Return a plan of three runs of that cell under the conditions of its campaign, each a cell and so a point.

    Three repeats of one cell would be one point, and a change needs five. Raise pydantic.ValidationError where no such
    plan can be submitted any more.
    """
    receivers = [node for node in cell.nodes if node != cell.sender]
    choice = WorkloadChoice(
        workload=cell.workload,
        options=dict(cell.options),
        roles=None if cell.sender is None else [Roles(sender=cell.sender, receiver=receivers[0])],
    )
    own = {
        "name": name[:_LONGEST_NAME],
        "nodes": list(cell.nodes),
        "nodes_at_once": cell.sender is None and len(cell.nodes) > 1,
        "observers": list(cell.observers),
        "targets": list(cell.targets),
        "targets_at_once": len(cell.targets) > 1,
        "workloads": [choice.model_dump(mode="json")] * CONFIRMATION_RUNS,
        "repeats": 1,
        "stages": [],
        "note": note,
    }
    return CampaignPlan.model_validate(plan.model_dump(mode="json") | own)
