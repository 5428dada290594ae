"""Load of the sample data, night by night through the ordinary ingest."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from threading import Event
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.sessions import service as sessions
from iotide_server.campaigns.models import Cell
from iotide_server.change_feed import service as live
from iotide_server.demo_history.errors import DEMO_HISTORY_TOO_SHORT
from iotide_server.demo_history.founding import Founded, found, require_room, say_hello
from iotide_server.demo_history.nights import Nights
from iotide_server.demo_history.sites import SITES, Routine, SampleCluster
from iotide_server.demo_history.truth import TruthKind, first_day, truths_of
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database, any_of
from iotide_server.kit.work import do_work, waive_work
from iotide_server.results.models import Series
from iotide_server.trends.changes.analysis import analyse_series, analyse_young
from iotide_server.trends.events import service as events
from iotide_server.trends.events.judging import EVENTS, judge_event
from iotide_server.trends.events.schemas import EventInput
from iotide_server.trends.models import Event as TrendEvent
from iotide_server.trends.peers.marks import mark_odd_runs
from iotide_server.trends.points.service import recompute_points

DAYS: Final = 730
FEWEST_DAYS: Final = 30
MOST_DAYS: Final = 3650
_MISSED: Final = 0.02
_LOOKS_BEFORE_END_DAYS: Final = (14, 7, 0)
"""When series are analysed: two points for a confirmation may take two weeks."""
_NEWEST_DAYS: Final = 7
_WEEK_DAYS: Final = 7
_DAYS_AT_ONCE: Final = _WEEK_DAYS
_ONCE_BEFORE_END_DAYS: Final = 4
"""A one-off campaign takes more than two days, before the end and after a weekly campaign."""
_CURVE_DAYS: Final = 14
"""Days before the end with per-second values, which take most of a run's space."""
_REPORTED_EVERY_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class HistoryPlan:
    seed: int
    days: int = DAYS
    sites: tuple[SampleCluster, ...] = SITES


@dataclass(frozen=True, slots=True)
class Loaded:
    began_at: datetime  # midnight before the first night
    campaign_count: int
    series_count: int
    analysis_seconds: float


Progress = Callable[[float], None]  # called with the completed share, 0 to 1


def load_history(database: Database, plan: HistoryPlan, clock: Clock, report: Progress = lambda *_: None) -> Loaded:
    """Create clusters and history, one week per transaction; analyse each series three times.

    Raises:
        DEMO_HISTORY_TOO_SHORT, DEMO_HISTORY_LOADED, DEMO_HISTORY_NAME_TAKEN: nothing was changed.
    """
    if not FEWEST_DAYS <= plan.days <= MOST_DAYS:
        raise DEMO_HISTORY_TOO_SHORT(days=plan.days, fewest=FEWEST_DAYS, most=MOST_DAYS)
    now = clock()
    began_at = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=plan.days)
    with database.transaction() as session:
        live.mute(session)
        require_room(session, plan.sites)
        principal = sessions.console_principal(session, now)
        founded = [found(session, principal, site, plan.seed, began_at) for site in plan.sites]
    stop = Event()
    made = [_Site(database, one, plan, began_at) for one in founded]
    # Python and the database work for different clusters, which share no rows.
    with ThreadPoolExecutor(len(made)) as pool:
        loads = [pool.submit(site.load, stop) for site in made]
        try:
            while wait(loads, timeout=_REPORTED_EVERY_SECONDS, return_when=FIRST_EXCEPTION).not_done:
                if any(load.done() and load.exception() for load in loads):
                    break
                report(sum(site.progress for site in made) / len(made))
        finally:
            stop.set()
    for load in loads:
        load.result()
    with database.transaction() as session:
        for site in made:
            live.publish(session, "cluster", site.cluster_id, site.cluster_id)
    return Loaded(
        began_at,
        campaign_count=sum(site.campaign_count for site in made),
        series_count=sum(site.series_count for site in made),
        analysis_seconds=sum(site.analysis_seconds for site in made),
    )


class _Site:
    def __init__(self, database: Database, founded: Founded, plan: HistoryPlan, began_at: datetime) -> None:
        self.name, self.cluster_id = founded.site.name, founded.cluster_id
        self.campaign_count = self.series_count = 0
        self.progress = self.analysis_seconds = 0.0
        self._database = database
        self._founded = founded
        self._days = plan.days
        self._began_at = began_at
        self._truths = truths_of(plan.days)
        self._nights = Nights(founded, self._truths, plan.seed)
        self._random = Random(f"{plan.seed} {self.name} nights")  # noqa: S311 - which nights are missing, no secret

    def load(self, stop: Event) -> None:
        """Load all days, or until the end of a week once `stop` is set."""
        looks = [self._days - days for days in _LOOKS_BEFORE_END_DAYS]
        for first, last in pairwise((0, *looks)):
            for day in range(first, last, _DAYS_AT_ONCE):
                if stop.is_set():
                    return
                days = range(day, min(day + _DAYS_AT_ONCE, last))
                self._spend(days)
                self.progress = days.stop / self._days
            if last == self._days:
                self._say_hello()
            self._analyse()

    def _say_hello(self) -> None:
        """Announce nodes before they lost a mount, and after their last runs."""
        true = [truth for truth in self._truths if truth.is_true((self._days - 1) / self._days)]
        lost = [truth for truth in true if truth.kind is TruthKind.STOPS]
        kept = [truth for truth in true if truth.kind is not TruthKind.STOPS]
        with self._database.transaction() as session:
            live.mute(session)
            for name, node_id in self._founded.nodes.items():
                for truth in lost:
                    lost_at = self._began_at + timedelta(days=truth.since * self._days)
                    say_hello(session, self._founded.site, (name, node_id), kept, lost_at)
                ended_at = self._nights.ended_at.get(node_id, self._began_at)
                say_hello(session, self._founded.site, (name, node_id), true, ended_at)

    def _spend(self, days: range) -> None:
        with self._database.transaction() as session:
            live.mute(session)
            waive_work(session)
            cell_ids: list[int] = []
            for day in days:
                for routine in self._due(day):
                    begun_at = self._began_at + timedelta(days=day, hours=routine.hour)
                    has_curves = day >= self._days - _CURVE_DAYS
                    cell_ids += self._nights.spend(session, routine, begun_at, day / self._days, has_curves=has_curves)
                    self.campaign_count += 1
            for cell_id in cell_ids:
                recompute_points(session, cell_id)
            if days.stop > self._days - _NEWEST_DAYS:
                self._judge_peers(session, cell_ids)
            self._add_events(session, days)

    def _judge_peers(self, session: Session, cell_ids: Sequence[int]) -> None:
        """Compare only the newest campaigns with their peers."""
        campaigns = select(Cell.campaign_id).where(Cell.id == any_of(cell_ids)).distinct().order_by(Cell.campaign_id)
        for campaign_id in session.scalars(campaigns).all():
            for cell_id in mark_odd_runs(session, campaign_id).changed:
                recompute_points(session, cell_id)

    def _due(self, day: int) -> list[Routine]:
        opens, closes = self._founded.site.closed
        once_on = (self._days - _ONCE_BEFORE_END_DAYS) // _WEEK_DAYS * _WEEK_DAYS
        is_missed = self._random.random() < _MISSED or closes > day / self._days >= opens
        return [
            routine
            for routine in self._founded.site.routines
            if (day == once_on if routine.every_days is None else not is_missed and day % routine.every_days == 0)
        ]

    def _add_events(self, session: Session, days: range) -> None:
        for truth in self._truths:
            day = first_day(truth.since, self._days)
            if truth.event_text is None or truth.scope.cluster != self.name or day not in days:
                continue
            at = self._began_at + timedelta(days=day)
            event = EventInput(
                cluster=self.name,
                text=truth.event_text,
                at=at,
                targets=[truth.scope.target] if truth.scope.target else [],
            )
            events.add(session, sessions.console_principal(session, at), event, at)

    def _analyse(self) -> None:
        with self._database.transaction() as session:
            wanted = select(Series.id).where(Series.cluster_id == self.cluster_id).order_by(Series.id)
            series_ids = session.scalars(wanted).all()
        self.series_count = len(series_ids)
        began = time.perf_counter()
        with self._database.transaction() as session:
            live.mute(session)
            grown_ids = analyse_young(session, series_ids)
        for series_id in grown_ids:
            with self._database.transaction() as session:
                live.mute(session)
                analyse_series(session, series_id)
        with self._database.transaction() as session:
            wanted = select(TrendEvent.id).where(TrendEvent.cluster_id == self.cluster_id).order_by(TrendEvent.id)
            event_ids = session.scalars(wanted).all()
        for event_id in event_ids:
            do_work(self._database, {EVENTS: _judge_silently}, EVENTS, event_id)
        self.analysis_seconds += time.perf_counter() - began


def _judge_silently(session: Session, event_id: int) -> None:
    live.mute(session)
    judge_event(session, event_id)
