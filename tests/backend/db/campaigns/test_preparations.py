"""Counts of a campaign on scratch disks, as the tables give them."""

from datetime import UTC, datetime

import pytest
from factories.measured import Measured, finish, sample
from sqlalchemy.orm import Session

from iotide_server.campaigns import repository
from iotide_server.campaigns.models import CampaignStage
from iotide_server.results.figures import conduct_queries

NOW = datetime(2026, 11, 27, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("states", "together"),
    [
        (("finished", "failed"), "failed"),
        (("waiting", "failed"), "failed"),
        (("finished", "waiting"), "waiting"),
        (("active", "waiting"), "active"),
        (("finished", "finished"), "finished"),
    ],
)
def test_a_stage_with_several_mounts_has_the_state_that_the_next_stage_depends_on(
    session: Session, states: tuple[str, str], together: str
) -> None:
    measured = Measured(session, NOW)
    campaign = measured.campaign()
    runs = []
    for ordinal, does in ((1, "mount"), (2, "measure")):
        session.add(CampaignStage(campaign_id=campaign.id, ordinal=ordinal, variant="ext4", does=does, state="open"))
        for _ in states:
            cell = measured.cell(campaign)
            cell.stage = ordinal
            runs.append(measured.deliver(cell, finish(NOW, sample(1.0))))
    for run, state in zip(runs[:2], states, strict=True):
        run.state = state
        run.ended_at = None if state in {"waiting", "active"} else run.ended_at
    session.flush()
    row = repository.described(session, campaign.id, NOW)
    mounted, _ = row.stages
    assert mounted["run_state"] == together
    assert mounted["run_id"] == (runs[states.index("failed")].id if "failed" in states else runs[1].id)
    (counted,) = row.preparations
    assert {name: count for name, count in counted.items() if count} == {
        "does": "mount",
        **{state: states.count(state) for state in states},
    }
    assert repository.run_count(session, campaign.id) == 2
    assert [run.id for run in conduct_queries.measured_runs(session, campaign.id)] == [run.id for run in runs[2:]]
