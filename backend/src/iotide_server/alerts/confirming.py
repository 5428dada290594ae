"""Confirmation runs, which measure a suspected change again at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.accounts.roles import authentication
from iotide_server.alerts.journal import AlertStep, note
from iotide_server.alerts.models import Alert
from iotide_server.campaigns import service as campaigns
from iotide_server.campaigns.models import Campaign, Cell
from iotide_server.campaigns.planning import CHOOSE_PROGRAMS, PROGRAM_PER_NODE
from iotide_server.kit.errors import IotideError
from iotide_server.results.models import Point, Series
from iotide_server.statistics.outliers import CONFIRMATION_RUNS
from iotide_wire.plan import CampaignPlan, Roles, WorkloadChoice

_LONGEST_NAME = 63


@dataclass(frozen=True, slots=True)
class ConfirmedCell:
    workload: str
    options: Mapping[str, Any]  # complete, in base units
    nodes: Sequence[str]
    targets: Sequence[str]
    observers: Sequence[str] = ()
    sender: str | None = None
    head: str | None = None  # of one program over all nodes

    @property
    def chosen_options(self) -> dict[str, Any]:
        """Add the choice of programs, which may be younger than the cell."""
        is_older = self.workload in CHOOSE_PROGRAMS and PROGRAM_PER_NODE not in self.options
        own = {PROGRAM_PER_NODE: True} if is_older and self.head is None and len(self.nodes) > 1 else {}
        return {**self.options, **own}


def confirmation_plan(plan: CampaignPlan, cell: ConfirmedCell, *, name: str, note: str) -> CampaignPlan:
    """Return a plan of three runs of that cell as its campaign ran it. Raise pydantic.ValidationError."""
    # Three cells, because three repeats of one cell would be one point, and a change needs five.
    receivers = [node for node in cell.nodes if node != cell.sender]
    choice = WorkloadChoice(
        workload=cell.workload,
        options=cell.chosen_options,
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
        "adaptive": None,
        "spread_seconds": None,
        "stages": [],
        "note": note,
    }
    return CampaignPlan.model_validate(plan.model_dump(mode="json") | own)


ASKED: Final = "confirmation_asked"
NOT_ASKED: Final = "confirmation_refused"
ONCE_IN: Final = timedelta(days=1)
"""Minimum time between confirmations of a cell, because a series with two modes is suspected repeatedly."""

_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('confirm ' || :nodes || :options, :cluster_id))")
_MAY: Final = text(
    "SELECT bool_and(confirms_suspects AND retired_at IS NULL) FROM target JOIN cell_target ON target_id = target.id"
    " WHERE cell_id = :cell_id"
)
_EARLIER: Final = text(
    """
    SELECT campaign.id,
           campaign.created_at >= :newest_at OR campaign.id = :campaign_id OR EXISTS (
               SELECT FROM run WHERE run.campaign_id = campaign.id AND run.state IN ('waiting', 'active')
           ) AS is_same
    FROM series AS own
    JOIN series AS sibling USING (cluster_id, node_ids, target_ids, workload, series_revision, options_sha256, variant)
    JOIN alert ON alert.series_id = sibling.id
    JOIN campaign ON campaign.id = alert.confirmation_id
    WHERE own.id = :series_id
    ORDER BY campaign.id DESC LIMIT 1
    """
)
_CELL: Final = text(
    """
    SELECT workload.name AS workload, cell.options,
           -- The first one is the head, if they run one program.
           ARRAY(SELECT name FROM node JOIN cell_node ON node_id = node.id WHERE cell_id = cell.id
                 ORDER BY step_role IS DISTINCT FROM 'head', node_id) AS nodes,
           ARRAY(SELECT name FROM target JOIN cell_target ON target_id = target.id WHERE cell_id = cell.id
                 ORDER BY target_id) AS targets,
           ARRAY(SELECT name FROM node JOIN cell_observer ON node_id = node.id WHERE cell_id = cell.id
                 ORDER BY node_id) AS observers,
           (SELECT name FROM node JOIN cell_node ON node_id = node.id
            WHERE cell_id = cell.id AND step_role = 'sender') AS sender,
           (SELECT name FROM node JOIN cell_node ON node_id = node.id
            WHERE cell_id = cell.id AND step_role = 'head') AS head
    FROM cell JOIN workload ON workload.id = cell.workload_id
    WHERE cell.id = :cell_id
    """
)


def confirm(session: Session, series: Series, suspicion: Alert, newest: Point, now: datetime) -> None:
    """Submit confirmation runs once, on behalf of the campaign's owner."""
    if not session.scalars(_MAY, {"cell_id": newest.cell_id}).one():
        return
    key = {"nodes": str(series.node_ids), "options": series.options_sha256, "cluster_id": series.cluster_id}
    session.execute(_LOCK, key)
    values = {"series_id": series.id, "newest_at": newest.at, "campaign_id": newest.campaign_id}
    earlier = session.execute(_EARLIER, values).one_or_none()
    if earlier is not None and earlier.is_same:
        note(session, suspicion, AlertStep(ASKED, now), confirmation_id=earlier.id)
    elif earlier is not None and session.get_one(Campaign, earlier.id).created_at > now - ONCE_IN:
        _refuse(session, suspicion, f"campaign {earlier.id} confirmed it within the last day", now)
    else:
        _submit(session, series, suspicion, newest, now)


def _submit(session: Session, series: Series, suspicion: Alert, newest: Point, now: datetime) -> None:
    campaign = session.get_one(Campaign, newest.campaign_id)
    owner = authentication.on_behalf_of(session, campaign.owner_id, f"confirms alert {suspicion.id}")
    if owner is None:
        _refuse(session, suspicion, f"the owner of campaign {campaign.id} no longer has access", now)
        return
    if session.get_one(Cell, newest.cell_id).variant:
        _refuse(session, suspicion, "an operator has to set up its stage; run it again manually", now)
        return
    try:
        plan = _plan(session, series, suspicion, campaign, newest)
        with session.begin_nested():
            submitted = campaigns.submit(session, owner, plan, f"confirms alert {suspicion.id}", now)
    except IotideError as error:
        words = f"{error.message}; {error.remedy}" if error.remedy else error.message
        _refuse(session, suspicion, words.replace(owner.name, f"the owner of campaign {campaign.id}"), now)
    except ValidationError as error:
        _refuse(
            session, suspicion, f"the plan of campaign {campaign.id} is from another release: {error.errors()[0]}", now
        )
    else:
        note(session, suspicion, AlertStep(ASKED, now), confirmation_id=submitted.campaign_id)


def _refuse(session: Session, suspicion: Alert, why: str, now: datetime) -> None:
    note(session, suspicion, AlertStep(NOT_ASKED, now, comment=why[:4000]))


def _plan(session: Session, series: Series, suspicion: Alert, campaign: Campaign, newest: Point) -> CampaignPlan:
    row = session.execute(_CELL, {"cell_id": newest.cell_id}).one()
    origin = (
        f"Confirms alert {suspicion.id}: {series.title} of {series.workload} (series {series.id}) may have"
        f" changed with campaign {campaign.name} ({campaign.id})."
    )
    return confirmation_plan(
        CampaignPlan.model_validate(campaign.plan),
        ConfirmedCell(row.workload, row.options, row.nodes, row.targets, row.observers, row.sender, row.head),
        name=f"confirm-{suspicion.id}-{campaign.name}",
        note=origin,
    )
