"""Recorder of triaged alerts of release 0.2.0: fills an empty database at its schema.

The series grow day by day, so its own detector finds, confirms and loses changes as it would in use. Run at commit
bb7374d, with the URL of an empty PostgreSQL 15 database:
    IOTIDE_DATABASE_URL=$URL PYTHONPATH=tests uv run python record_triage.py
    for table in alembic_version schema_floor change audit_entry work; do set -- "$@" --exclude-table-data=$table; done
    pg_dump --data-only --inserts --rows-per-insert=500 "$@" "$URL" |
        grep -Ev '^.(un)?restrict ' | gzip -9n > triage.sql.gz
"""

import importlib
import math
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from factories.histories import history
from factories.measured import Measured
from factories.people import person
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

import iotide_server.tables  # noqa: F401 - the models of all tables
from iotide_server.accounts.models import Role
from iotide_server.alerts import service
from iotide_server.alerts.models import Alert, AlertRule
from iotide_server.alerts.raising import raise_alerts
from iotide_server.alerts.schemas import AlertActionInput
from iotide_server.campaigns.models import Cell
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.results.models import Point

ANALYSIS: Final = "iotide_server.trends.analysis"  # the module's name in release 0.2.0
DAYS: Final = 70
FIRST_DAYS: Final = 14
VERDICTS: Final = ("acknowledge", "investigate", "expect", "noise", "wont_fix", "fixed", "baseline")
_EVENT: Final = """
INSERT INTO event (cluster_id, kind, since, at, text, node_ids, target_ids, told_by)
VALUES (:cluster_id, 'manual', :at, :at, 'firmware 3.1', '{}', '{}', 'ada') RETURNING id
"""
NOISY: Final = 14
"""Series without a change: those with memory have changes that are withdrawn later."""


def medians(number: int) -> list[float]:
    """Return a series with a drop of 20 %, or with scatter and memory alone."""
    random = Random(f"triage {number}")  # noqa: S311 - no secret
    is_step, wave, values = number < len(VERDICTS), 0.0, []
    for day in range(DAYS):
        wave = 0.6 * wave + 0.8 * random.gauss(0, 1)
        level = 80.0 if is_step and day >= DAYS // 2 + number else 100.0
        ratio = 1 + 0.01 * random.gauss(0, 1) if is_step else math.exp(0.1 * wave)
        values.append(round(level * ratio, 1))
    return values


def actions(verdict: str, owner: str, event_id: int) -> Iterator[AlertActionInput]:
    match verdict:
        case "acknowledge" | "investigate":
            due = datetime(2026, 12, 20, 12, tzinfo=UTC)
            yield AlertActionInput(action="acknowledge", owner=owner, due_at=due, comment="replaced disk 7")
            if verdict == "investigate":
                yield AlertActionInput(action="investigate", comment="asked the vendor")
        case "expect" | "baseline":
            yield AlertActionInput(action="expect", event_id=event_id, comment="firmware")
            if verdict == "baseline":
                yield AlertActionInput(action="accept_baseline")
        case _:
            yield AlertActionInput(action=verdict, comment=f"it is {verdict}")
    yield AlertActionInput(action="comment", comment="seen in the meeting")


def fill(database: Database, now: datetime) -> None:
    analyse_series = importlib.import_module(ANALYSIS).analyse_series
    began_at = now - timedelta(days=DAYS)
    kept = [medians(number) for number in range(len(VERDICTS) + NOISY)]
    with database.transaction() as session:
        measured = Measured(session, began_at)
        cluster_id = measured.cluster.id
        ada = person(session, "ada", Role.OPERATOR, cluster_id, now=now).principal
        session.add(
            AlertRule(
                cluster_id=cluster_id,
                name="changes",
                least_shift_ratio=0.03,
                directions="both",
                missing_runs=False,
                created_at=began_at,
            )
        )
        session.flush()
        event_id: int = session.scalars(text(_EVENT), {"cluster_id": cluster_id, "at": began_at}).one()
        verdict_of = {
            history(measured, values[:1], operation=f"op{number}").id: (*VERDICTS, *["acknowledge"] * NOISY)[number]
            for number, values in enumerate(kept)
        }
    for day in range(1, DAYS):
        with database.transaction() as session:
            measured.session, measured.now = session, began_at + timedelta(days=day)
            cell = measured.cell()
            for series_id, values in zip(verdict_of, kept, strict=True):
                session.add(_point(series_id, cell, measured.now, values[day]))
        for series_id, verdict in verdict_of.items() if day >= FIRST_DAYS else ():
            with database.transaction() as session:
                analyse_series(session, series_id)
            # That release fails on an alert whose change it missed twice and then found again.
            with suppress(IntegrityError), database.transaction() as session:
                raise_alerts(session, series_id)
            with database.transaction() as session:
                raised = select(Alert).where(Alert.series_id == series_id, Alert.state == "untriaged")
                for alert in session.scalars(raised).all():
                    for action in actions(verdict, "ada", event_id):
                        service.act(session, ada, alert.id, action, now)
                    if verdict == "noise":
                        service.mute_series(session, ada, alert.id, now + timedelta(days=90), now)


def _point(series_id: int, cell: Cell, at: datetime, median: float) -> Point:
    return Point(
        series_id=series_id,
        cell_id=cell.id,
        campaign_id=cell.campaign_id,
        at=at,
        median=median,
        low=median,
        high=median,
        run_count=4,
        variation_ratio=0.01,
        robust_spread_ratio=0.01,
        flags=["CLOCK"],
    )


def main() -> None:
    engine = open_engine(os.environ["IOTIDE_DATABASE_URL"])
    migrate(engine)
    fill(Database(engine), datetime.now(UTC))


if __name__ == "__main__":
    main()
