"""Confirmation runs of a suspect: only if its target allows them, with the original plan, and rarely."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from factories.people import person
from factories.ready_cluster import ReadyCluster
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role, RoleGrant, User
from iotide_server.alerts.confirming import confirm
from iotide_server.alerts.journal import AlertStep, note
from iotide_server.alerts.models import Alert, AlertAction
from iotide_server.campaigns import service as campaigns
from iotide_server.campaigns.models import Campaign, Cell, CellNode
from iotide_server.results.models import Point, Series
from iotide_server.runs.models import Run
from iotide_wire.plan import CampaignPlan

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@dataclass
class Suspected:
    """A cell of a campaign on two nodes, with newest points that suggest a change."""

    session: Session
    ready: ReadyCluster
    cell: Cell
    owner_id: int

    def suspect(self, metric: str, *, days: int = 0) -> Alert:
        """Add a suspect of one of its metrics, that long after the campaign."""
        now = NOW + timedelta(days=days)
        node_id = self.session.scalars(select(CellNode.node_id).where(CellNode.cell_id == self.cell.id)).one()
        series = Series(
            key_sha256=f"{metric} {days}",
            cluster_id=self.ready.cluster.id,
            node_ids=[node_id],
            target_ids=[self.ready.target.id],
            workload="dd",
            series_revision=1,
            options={},
            options_sha256=self.cell.options_sha256,
            metric=metric,
            title=metric,
            unit="bytes_per_second",
            better="higher",
            labels={},
        )
        self.session.add(series)
        self.session.flush()
        campaign_id = self.cell.campaign_id
        values = {"median": 1.0, "low": 1.0, "high": 1.0, "run_count": 1, "at": now}
        point = Point(series_id=series.id, cell_id=self.cell.id, campaign_id=campaign_id, **values)
        suspicion = Alert(
            cluster_id=series.cluster_id,
            series_id=series.id,
            kind="change",
            state="suspect",
            at=now,
            window_from=now,
            window_until=now,
            raised_at=now,
        )
        self.session.add_all([point, suspicion])
        note(self.session, suspicion, AlertStep("suspected", now))
        confirm(self.session, series, suspicion, point, now)
        return suspicion

    def actions(self) -> list[tuple[str, str]]:
        rows = self.session.scalars(select(AlertAction).order_by(AlertAction.id))
        return [(row.action, row.comment) for row in rows if row.action != "suspected"]


@pytest.fixture
def suspected(session: Session) -> Suspected:
    ready = ReadyCluster(session, NOW, node_count=2)
    ready.target.confirms_suspects = True
    owner = person(session, "ada", Role.OPERATOR, now=NOW).principal
    plan = CampaignPlan.model_validate(ready.plan(priority=3))
    campaign_id = campaigns.submit(session, owner, plan, None, NOW).campaign_id
    cell = session.scalars(select(Cell).where(Cell.campaign_id == campaign_id, Cell.ordinal == 2)).one()
    return Suspected(session, ready, cell, owner.user_id or 0)


def test_that_very_cell_is_run_three_times_in_the_name_of_who_measured_it_once_for_all_its_series(
    session: Session, suspected: Suspected
) -> None:
    alert, sibling = suspected.suspect("write_rate"), suspected.suspect("wait")
    confirmation = session.get_one(Campaign, alert.confirmation_id)
    assert sibling.confirmation_id == confirmation.id
    assert (confirmation.name, confirmation.owner_id) == (f"confirm-{alert.id}-nightly", suspected.owner_id)
    assert confirmation.plan["note"].startswith(f"Confirms alert {alert.id}: write_rate of dd")
    assert (confirmation.plan["nodes"], confirmation.plan["priority"]) == (["n2"], 3)
    cells = session.scalars(select(Cell).where(Cell.campaign_id == confirmation.id)).all()
    assert [(cell.options, cell.options_sha256) for cell in cells] == [
        (suspected.cell.options, suspected.cell.options_sha256)
    ] * 3
    assert len(session.scalars(select(Run).where(Run.campaign_id == confirmation.id)).all()) == 3


def test_nothing_is_run_unless_the_target_allows_it(session: Session, suspected: Suspected) -> None:
    suspected.ready.target.confirms_suspects = False
    session.flush()
    assert suspected.suspect("write_rate").confirmation_id is None
    assert suspected.actions() == []


def test_a_confirmed_suspect_is_not_confirmed_again_within_a_day(session: Session, suspected: Suspected) -> None:
    first = suspected.suspect("write_rate")
    session.query(Run).filter_by(campaign_id=first.confirmation_id).update({"state": "finished"})
    session.get_one(Campaign, first.confirmation_id).created_at = NOW - timedelta(hours=20)
    session.flush()
    again = suspected.suspect("wait")
    assert again.confirmation_id is None
    assert suspected.actions()[-1] == (
        "confirmation_refused",
        f"campaign {first.confirmation_id} confirmed it within the last day",
    )
    assert suspected.suspect("late", days=2).confirmation_id not in {None, first.confirmation_id}


def test_an_obstacle_to_confirmation_runs_is_in_the_history(session: Session, suspected: Suspected) -> None:
    session.get_one(User, suspected.owner_id).disabled_at = NOW
    session.flush()
    assert suspected.suspect("write_rate").confirmation_id is None
    ((action, why),) = suspected.actions()
    assert action == "confirmation_refused"
    assert why.endswith("no longer has access")


def test_a_missing_role_is_reported_without_a_name(session: Session, suspected: Suspected) -> None:
    session.query(RoleGrant).filter_by(user_id=suspected.owner_id).update({"role": "viewer"})
    session.flush()
    assert suspected.suspect("write_rate").confirmation_id is None
    ((_, why),) = suspected.actions()
    assert re.match(r"the owner of campaign \d+ is not operator of this cluster", why)
