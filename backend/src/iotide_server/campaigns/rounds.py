"""Rounds of adaptive repeats.

When all runs of a stage have ended, its cells with a wide interval get further repeats together, in shuffled order.
Never one cell to its end: runs that follow each other resemble each other, and make an interval too narrow.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.orm import Session

from iotide_server.campaigns import repository, round_queries
from iotide_server.campaigns.models import Campaign
from iotide_server.campaigns.repeats import publish_added
from iotide_server.campaigns.service import new_runs
from iotide_server.campaigns.stopping import AdaptiveRule, CellRuns, EndOfRepeats, Step, step_after
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import after_commit
from iotide_server.kit.people import Sentence
from iotide_server.kit.work import Handler
from iotide_server.runs import line_repository as lines
from iotide_server.runs import repository as runs
from iotide_wire.plan import AdaptiveRepeats, CampaignPlan

_READ_AFTER: Final = timedelta(seconds=1)
"""Delay if the values of the newest results are not known yet."""
_log = structlog.get_logger(__name__)


def rounds_handler(clock: Clock) -> Handler:
    return lambda session, campaign_id: next_round(session, campaign_id, clock())


def next_round(session: Session, campaign_id: int, now: datetime) -> datetime | None:
    """Add repeats to cells whose interval is too wide, if all runs of their stage have ended. Safe to repeat.

    Return when to call it again: at the end of the time budget, when results are read, or at once for the next stage.
    """
    campaign = repository.lock_campaign(session, campaign_id)
    stage = round_queries.current_stage(session, campaign_id)
    if stage is None:
        return None
    plan = CampaignPlan.model_validate(campaign.plan)
    if plan.adaptive is None:
        return None
    ends_at = _budget_end(session, campaign_id, stage, plan.adaptive)
    is_out_of_time = ends_at is not None and ends_at <= now
    if is_out_of_time:
        _cancel_waiting(session, campaign, stage, now)
    if round_queries.has_open_runs(session, campaign_id, stage):
        return None if is_out_of_time else ends_at
    if round_queries.has_unread_results(session, campaign_id):
        return now + _READ_AFTER
    rule = AdaptiveRule(plan.adaptive.until_ratio, plan.repeats)
    cells = {cell.cell_id: cell for cell in round_queries.cell_runs(session, campaign_id, stage)}
    steps = {key: step_after(cell, rule, is_out_of_time=is_out_of_time) for key, cell in cells.items()}
    steps |= _gone(session, steps)
    _store(session, cells, steps, now)
    more = {cell_id: step.more for cell_id, step in steps.items() if step.more}
    run_ids = runs.add_repeats(session, new_runs(campaign, plan, now), more) if more else []
    if run_ids:
        runs.log_added(session, run_ids, Sentence("added, because the interval is wider than wanted", None), now)
        lines.join_queues(session, lines.in_open_stages(session, run_ids))
    publish_added(session, campaign, run_ids)
    subject = {"campaign_id": campaign_id, "stage": stage, "cells": len(more), "runs": len(run_ids)}
    after_commit(session, lambda: _log.info("round_added", **subject))
    return ends_at if run_ids else now  # the runs of the next stage may all have been cancelled before


def _budget_end(session: Session, campaign_id: int, stage: int, adaptive: AdaptiveRepeats) -> datetime | None:
    if adaptive.seconds is None:
        return None
    started_at = round_queries.first_start(session, campaign_id, stage)
    return started_at and started_at + timedelta(seconds=adaptive.seconds)


def _cancel_waiting(session: Session, campaign: Campaign, stage: int, now: datetime) -> None:
    run_ids = round_queries.lock_waiting(session, campaign.id, stage)
    if run_ids:
        why = Sentence("the time for repeats is used up", None)
        runs.cancel_waiting(session, run_ids, repository.BUDGET_USED_UP, why, now)
        publish_added(session, campaign, run_ids)


def _gone(session: Session, steps: Mapping[int, Step]) -> dict[int, Step]:
    """Return the ends of cells whose nodes or targets are gone."""
    cell_ids = [cell_id for cell_id, step in steps.items() if step.more]
    if not cell_ids or not runs.lock_resources(session, cell_ids):
        return {}
    return {
        cell_id: replace(steps[cell_id], more=0, ended_because=EndOfRepeats.GONE)
        for cell_id in cell_ids
        if runs.lock_resources(session, [cell_id])
    }


def _store(session: Session, cells: Mapping[int, CellRuns], steps: Mapping[int, Step], now: datetime) -> None:
    made = {
        cell_id: step
        for cell_id, step in steps.items()
        if step.ended_because is not None or step.looked_at != cells[cell_id].looked_at
    }
    round_queries.put_steps(session, made, now)
