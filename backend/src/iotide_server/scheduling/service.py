"""The scheduler's loop body: `step` does all due work; call it again after its wait or a wake-up."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Final

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.kit.meters import PASS_SECONDS
from iotide_server.kit.queue import Broker
from iotide_server.schedules.calendar import LATE_AFTER
from iotide_server.schedules.firing import fire_due
from iotide_server.scheduling import due, offers, watch
from iotide_server.scheduling.due import FairShareTerms
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.starting import start_runs

WORK_ONLY: Final = frozenset({"work"})

WATCH_EVERY: Final = timedelta(seconds=5)
CLEAN_EVERY: Final = timedelta(minutes=1)
SAMPLE_EVERY: Final = timedelta(minutes=1)
"""Interval of fair-share samples. Shorter runs are sampled in proportion to their length."""
ONE_DAY: Final = FairShareTerms()
SHORTEST_WAIT: Final = timedelta(milliseconds=20)
"""Lower limit of the wait, for due rows that another transaction has locked."""


class Scheduler:
    """The database confirms every decision, so several instances grant nothing twice."""

    def __init__(
        self,
        database: Database,
        broker: Broker,
        apply_redis_users: Callable[[], None],
        clock: Clock,
        fair_share: FairShareTerms = ONE_DAY,
    ) -> None:
        self._database = database
        self._broker = broker
        self._apply_redis_users = apply_redis_users  # cheap without changes
        self._clock = clock
        self._fair_share = fair_share
        self._lines = NodeQueues()
        self._started_at = self._running_since = self._stepped_at = clock()
        self._watched_at = self._cleaned_at = self._sampled_at = self._silence_flagged_at = self._started_at
        self._pass_wanted = True
        self._pass_after = self._started_at
        self._retry_at: datetime | None = None

    def step(self, reasons: Collection[str]) -> timedelta:
        """Return the time until more is due."""
        now = self._clock()
        if now - self._stepped_at > LATE_AFTER:
            self._running_since = now
        self._pass_wanted |= bool(set(reasons) - WORK_ONLY) or (self._retry_at is not None and self._retry_at <= now)
        # One firing per step, because runs of all clusters wait for it.
        if fire_due(self._database, now, running_since=self._running_since):
            self._pass_wanted, now = True, self._clock()
        if self._pass_wanted and now >= self._pass_after:
            self._pass(now)
        reached = offers.send_due_work(self._database, self._broker, now)
        reached &= offers.send_due_offers(self._database, self._broker, now)
        offers.withdraw_unclaimed(self._database, now)
        if not reached:
            self._apply_redis_users()
        if now - self._watched_at >= WATCH_EVERY:
            self._watch(now)
        self._stepped_at = self._clock()
        return self._wait(now)

    def _pass(self, now: datetime) -> None:
        self._pass_wanted = False
        with PASS_SECONDS.time():
            for started in start_runs(self._database, self._lines, now):
                offers.send_offers(self._database, self._broker, started, now)
        ended_at = self._clock()
        # Under a storm of wake-ups, passes take at most half of the time.
        self._pass_after = ended_at + (ended_at - now)

    def _watch(self, now: datetime) -> None:
        self._watched_at = now
        self._pass_wanted = True
        self._apply_redis_users()
        watch.dissolve_late(self._database, now)
        # Right after a start of this process, silence is not the nodes' fault.
        if now - self._started_at >= watch.OBSERVER_GRACE:
            watch.close_observers(self._database, now)
        with self._database.transaction() as session:
            if now - self._started_at >= SILENT_AFTER:
                watch.flag_silence(session, self._silence_flagged_at, now)
                self._silence_flagged_at = now
            watch.flag_overdue(session, now)
            if now - self._cleaned_at >= CLEAN_EVERY:
                watch.forget(session, now)
                self._cleaned_at = now
            if now - self._sampled_at >= SAMPLE_EVERY:
                due.sample_shares(session, self._fair_share, self._sampled_at, now)
                self._sampled_at = now

    def _wait(self, now: datetime) -> timedelta:
        with self._database.transaction() as session:
            known = due.next_moments(session, now)
        self._retry_at = known.retry_at
        moments = [known.offer_at, known.work_at, known.retry_at, known.firing_at, self._watched_at + WATCH_EVERY]
        if self._pass_wanted:
            moments.append(self._pass_after)
        soonest: datetime = min(moment for moment in moments if moment is not None)
        return max(SHORTEST_WAIT, soonest - now)
