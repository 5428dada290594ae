"""Rounds of adaptive repeats: who gets more runs, when they end, and what may happen in between."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from factories.people import ADMIN
from factories.plans import plan
from factories.raised import raised
from factories.site import Offered, Site
from sqlalchemy import text

from iotide_server.campaigns import reading, service
from iotide_server.campaigns.errors import ADAPTIVE_REPEATS
from iotide_server.campaigns.rounds import rounds_handler
from iotide_server.campaigns.schemas import CampaignOutput
from iotide_server.kit.pagination import PageRequest
from iotide_server.kit.work import do_work
from iotide_server.results.ingest.service import POINTS
from iotide_server.results.reading import campaign_cells
from iotide_server.runs import service as runs
from iotide_server.runs.service import ROUNDS
from iotide_server.trends.points.service import recompute_points
from iotide_wire.measured import Flag, FlagCode, FlagEffect, SampleMessage
from iotide_wire.messages import Outcome
from iotide_wire.plan import CampaignPlan

GIB = 1024**3
REJECTION = Flag(code=FlagCode.ERRORS, effect=FlagEffect.REJECTED, measured="1 error", limit="none")
Value = Callable[[int, int], float | None]


def steady(_: int, repeat: int) -> float:
    return 100.0 + repeat % 3


def noisy(_: int, repeat: int) -> float:
    return 100.0 + 40 * (repeat % 3)


def second_noisy(ordinal: int, repeat: int) -> float:
    return (steady, noisy)[ordinal - 1](ordinal, repeat)


class Adaptive:
    """A campaign with one cell for each file size, run by the agent of node 1."""

    def __init__(self, site: Site, *, sizes: int = 1, rule: dict[str, Any] | None = None, **changes: Any) -> None:  # noqa: ANN401 - any field of a plan
        self.site = site
        self.agent = site.agent(1)
        swept = {"workload": "dd", "sweep": {"file_size_bytes": [GIB * size for size in range(1, sizes + 1)]}}
        given = plan(workloads=[swept], repeats={"until": "3 %", **(rule or {})}, **changes)
        with site.database.transaction() as session:
            wanted = CampaignPlan.model_validate(given)
            self.id = service.submit(session, ADMIN, wanted, None, site.clock()).campaign_id

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.site.database.transaction() as session:
            return [tuple(row) for row in session.execute(text(statement), {"id": self.id})]

    def counts(self) -> list[int]:
        """Return the number of runs of each cell."""
        of_cells = "SELECT count(*) FROM run JOIN cell ON cell.id = cell_id WHERE run.campaign_id = :id"
        return [count for (count,) in self.rows(f"{of_cells} GROUP BY ordinal ORDER BY ordinal")]

    def ends(self) -> list[str | None]:
        statement = "SELECT ended_because FROM adaptive_cell WHERE campaign_id = :id ORDER BY cell_id"
        return [because for (because,) in self.rows(statement)]

    def shown(self) -> CampaignOutput:
        with self.site.database.transaction() as session:
            return reading.campaign(session, ADMIN, self.id, self.site.clock())

    def serve(self, value: Value, most: int = 1000) -> int:
        """Run what may start, without the server's work; None fails a run, NaN rejects it."""
        served = 0
        while served < most and self.site.start():
            offer = self.agent.claim_offer()
            self.hand_in(offer, value)
            served += 1
            self.site.clock.move(1)
            self.site.keep_online()
        return served

    def hand_in(self, offer: Offered, value: Value) -> None:
        ((ordinal, repeat),) = self.rows(
            f"SELECT ordinal, repeat FROM run JOIN cell ON cell.id = cell_id WHERE run.id = {offer.run_id}"  # noqa: S608 - a number
        )
        found = value(ordinal, repeat)
        if found is None:
            self.agent.finish(offer, Outcome.FAILED, reason="broke")
            return
        is_rejected = found != found  # noqa: PLR0124 - NaN
        number = 100.0 if is_rejected else found
        target_id = self.site.target_ids["scratch"]
        sample = SampleMessage(metric="throughput", value=number, labels={"operation": "write"}, target_id=target_id)
        flags = (REJECTION,) if is_rejected else ()
        self.agent.hand_in(offer, self.agent.result(offer, samples=(sample,), flags=flags))

    def work(self, *kinds: str) -> None:
        handlers = {POINTS: recompute_points, ROUNDS: rounds_handler(self.site.clock)}
        for kind in kinds or (POINTS, ROUNDS):
            open_work = f"SELECT key FROM work WHERE kind = '{kind}' AND done_version < version"  # noqa: S608 - a constant
            for (key,) in self.rows(open_work):
                do_work(self.site.database, handlers, kind, key)

    def complete(self, value: Value) -> list[int]:
        """Serve rounds to the end; return the number of runs of each."""
        rounds = []
        while served := self.serve(value):
            rounds.append(served)
            self.work()
        return rounds


def test_a_narrow_configuration_stops_at_the_first_look_and_a_wide_one_gets_runs_up_to_the_most(site: Site) -> None:
    adaptive = Adaptive(site, sizes=2, rule={"most": 20})
    assert adaptive.counts() == [8, 8]
    assert adaptive.complete(second_noisy) == [16, 4, 4, 4]
    assert (adaptive.counts(), adaptive.ends()) == ([8, 20], ["narrow", "most"])
    shown = adaptive.shown()
    assert (shown.state, shown.adaptive and shown.adaptive.words) == (
        "finished",
        "1 of 2 configurations reached ±3 %, 1 is still wider after all runs",
    )


def test_a_configuration_names_the_series_of_the_value_that_is_repeated(site: Site) -> None:
    adaptive = Adaptive(site, rule={"most": 8})

    def named() -> list[int | None]:
        with site.database.transaction() as session:
            cells = campaign_cells(session, adaptive.id, PageRequest(10, None)).items
            return [cell.adaptive.series_id for cell in cells if cell.adaptive]

    assert named() == [None]
    adaptive.complete(steady)
    assert named() == [series_id for (series_id,) in adaptive.rows("SELECT id FROM series")]


def test_a_campaign_is_active_between_its_rounds(site: Site) -> None:
    adaptive = Adaptive(site)
    adaptive.serve(noisy)
    shown = adaptive.shown()
    assert (shown.counts.waiting + shown.counts.active, shown.state, shown.ended_at) == (0, "active", None)


def test_each_repeat_visits_all_open_configurations_in_an_order_of_its_own(site: Site) -> None:
    adaptive = Adaptive(site, sizes=3)
    adaptive.serve(noisy)
    adaptive.work()
    orders: dict[int, list[int]] = {}
    for repeat, ordinal in adaptive.rows(
        "SELECT repeat, ordinal FROM run JOIN cell ON cell.id = cell_id WHERE run.campaign_id = :id ORDER BY run.id"
    ):
        orders.setdefault(repeat, []).append(ordinal)
    assert list(orders) == list(range(1, 13))
    assert all(sorted(order) == [1, 2, 3] for order in orders.values())
    assert len({tuple(order) for order in orders.values()}) > 2


@pytest.mark.parametrize("bad", [None, float("nan")])
def test_runs_that_fail_or_are_rejected_are_replaced_before_the_look(site: Site, bad: float | None) -> None:
    adaptive = Adaptive(site)
    assert adaptive.complete(lambda ordinal, repeat: bad if repeat in {2, 5} else steady(ordinal, repeat)) == [8, 2]
    assert adaptive.ends() == ["narrow"]
    assert adaptive.rows("SELECT runs FROM adaptive_cell WHERE campaign_id = :id") == [(8,)]


def test_a_configuration_that_only_fails_is_not_repeated(site: Site) -> None:
    adaptive = Adaptive(site)
    assert adaptive.complete(lambda *_: None) == [8]
    assert (adaptive.ends(), adaptive.shown().state) == (["failed"], "failed")


def test_a_round_waits_for_the_values_of_its_last_result(site: Site) -> None:
    adaptive = Adaptive(site)
    adaptive.serve(noisy)
    adaptive.work(ROUNDS)
    assert adaptive.counts() == [8]
    adaptive.work()
    assert adaptive.counts() == [12]


def test_a_worker_that_dies_between_two_rounds_loses_nothing(site: Site) -> None:
    adaptive = Adaptive(site)
    adaptive.serve(noisy)
    adaptive.work(POINTS)

    def dies(*_: object) -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        do_work(site.database, {ROUNDS: dies}, ROUNDS, adaptive.id)
    adaptive.work(ROUNDS)
    assert adaptive.counts() == [12]


def test_two_workers_add_one_round(site: Site) -> None:
    adaptive = Adaptive(site)
    adaptive.serve(noisy)
    adaptive.work(POINTS)

    def add(_: int) -> None:
        with site.database.transaction() as session:
            rounds_handler(site.clock)(session, adaptive.id)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, range(4)))
    assert adaptive.counts() == [12]


def test_no_run_starts_after_the_budget_and_the_campaign_is_not_a_cancelled_one(site: Site) -> None:
    adaptive = Adaptive(site, rule={"seconds": "5 min"})
    adaptive.serve(noisy, most=7)
    adaptive.work()
    site.clock.move(300)
    site.keep_online()
    adaptive.agent.heartbeat()
    site.start()
    offer = adaptive.agent.claim_offer()
    adaptive.work()
    assert adaptive.ends() == [None]
    adaptive.hand_in(offer, noisy)
    adaptive.work()
    assert (adaptive.counts(), adaptive.ends(), adaptive.shown().state) == ([8], ["budget"], "finished")


def test_the_budget_cancels_what_waits(site: Site) -> None:
    adaptive = Adaptive(site, rule={"seconds": "5 min"})
    adaptive.serve(noisy, most=3)
    adaptive.work()
    (due,) = adaptive.rows("SELECT due_at FROM work WHERE kind = 'rounds'")[0]
    assert timedelta(seconds=290) < due - site.clock() <= timedelta(seconds=300)
    site.clock.move(301)
    adaptive.work()
    shown = adaptive.shown()
    assert (shown.counts.finished, shown.counts.cancelled, shown.state) == (3, 5, "finished")
    assert adaptive.ends() == ["budget"]


def test_a_cancelled_campaign_gets_no_further_round(site: Site) -> None:
    adaptive = Adaptive(site)
    adaptive.serve(noisy)
    with site.database.transaction() as session:
        service.cancel(session, ADMIN, adaptive.id, site.clock())
    adaptive.work()
    assert (adaptive.counts(), adaptive.ends()) == ([8], ["cancelled"])


def test_the_next_stage_begins_when_the_last_round_of_the_one_before_has_ended(site: Site) -> None:
    adaptive = Adaptive(site, stages=[{"variant": "one"}, {"variant": "two"}], rule={"most": 12})
    assert adaptive.serve(noisy) == 8
    assert adaptive.serve(noisy) == 0
    adaptive.work()
    assert adaptive.serve(noisy) == 4
    adaptive.work()
    assert adaptive.ends() == ["most", None]
    assert adaptive.complete(steady) == [8]
    assert adaptive.ends() == ["most", "narrow"]


def test_a_stage_whose_runs_were_all_cancelled_ends_with_the_one_before(site: Site) -> None:
    adaptive = Adaptive(site, stages=[{"variant": "one"}, {"variant": "two"}], rule={"most": 8})
    of_second = "SELECT run.id FROM run JOIN cell ON cell.id = cell_id WHERE run.campaign_id = :id AND stage = 2"
    for (run_id,) in adaptive.rows(of_second):
        with site.database.transaction() as session:
            runs.cancel(session, ADMIN, run_id, site.clock())
    adaptive.complete(noisy)
    adaptive.work()
    assert (adaptive.ends(), adaptive.shown().state) == (["most", "failed"], "cancelled")


def test_the_budget_begins_with_any_run_of_the_stage(site: Site) -> None:
    adaptive = Adaptive(site, rule={"seconds": "5 min"})
    ((first,),) = adaptive.rows("SELECT id FROM run WHERE campaign_id = :id AND repeat = 1")
    with site.database.transaction() as session:
        runs.cancel(session, ADMIN, first, site.clock())
    adaptive.serve(noisy, most=1)
    adaptive.work()
    ((due,),) = adaptive.rows("SELECT due_at FROM work WHERE kind = 'rounds'")
    assert timedelta(minutes=4) < due - site.clock() <= timedelta(minutes=5)


def test_priority_changes_between_rounds_and_moves_the_next_one(site: Site) -> None:
    adaptive = Adaptive(site)
    adaptive.serve(noisy)
    with site.database.transaction() as session:
        service.change_priority(session, ADMIN, adaptive.id, 2)
    adaptive.work()
    added = adaptive.rows("SELECT sort_key, created_at FROM run WHERE campaign_id = :id AND state = 'waiting'")
    assert [sort_key - created_at.timestamp() for sort_key, created_at in added] == pytest.approx([-7200.0] * 4)


def test_configurations_on_a_target_that_is_gone_get_no_more_runs(site: Site) -> None:
    adaptive = Adaptive(site)
    adaptive.serve(noisy)
    site.change("DELETE FROM target_mount WHERE node_id = :node", node=site.node_ids[0])
    adaptive.work()
    assert (adaptive.counts(), adaptive.ends()) == ([8], ["gone"])


@pytest.mark.parametrize("most", [7, 41])
def test_an_adaptive_plan_needs_the_runs_of_its_looks(site: Site, most: int) -> None:
    with raised(ADAPTIVE_REPEATS, match=f"not {most}"):
        Adaptive(site, rule={"most": most})


def test_a_gang_is_repeated_as_one_configuration(site: Site) -> None:
    adaptive = Adaptive(site, nodes=["n1", "n2"], nodes_at_once=True)
    assert adaptive.counts() == [8]
    nodes = "SELECT DISTINCT count(*) FROM line_place GROUP BY run_id"
    assert adaptive.rows(nodes) == [(2,)]
    with site.database.transaction() as session:
        service.cancel(session, ADMIN, adaptive.id, site.clock())
    assert adaptive.ends() == ["cancelled"]
