"""Found by a second review: results sent with one stolen node token end the worker and all clusters' analyses."""

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from factories.clock import MovedClock
from factories.measured import Measured, finish, sample
from factories.site import Site
from psycopg import Cursor, ServerCursor
from sqlalchemy import event, text
from sqlalchemy.orm import Session

from iotide_server.agent_api import service as gateway
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.kit.work import do_work, want_work
from iotide_server.results.ingest.limits import ReportLimits
from iotide_server.runs.models import Run
from iotide_server.scheduling.offers import send_due_work
from iotide_server.targets.models import Target
from iotide_server.trends.peers.marks import judge_peers
from iotide_server.trends.points.service import recompute_points
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import MIB

NOW: Final = datetime(2026, 11, 21, 10, tzinfo=UTC)
MOST_ROWS: Final = 1_000
"""Each attack has at least 20,000 numbers."""
PARTS: Final = {
    "iotide_server.trends.points.levels.MOST_HELD": 2_000,
    "iotide_server.trends.points.levels._NUMBERS_AT_ONCE": 1_000,
    "iotide_server.trends.points.levels._SERIES_AT_ONCE": 20,
    "iotide_server.trends.points.service.POINTS_AT_ONCE": 100,
    "iotide_server.results.values._MOST_LABELS": 1_000,
}
"""A hundredth of the worker's own limit, so that a hundredth of an attack has the same effect."""

_MANY_SERIES: Final = text(
    """
    INSERT INTO series (key_sha256, cluster_id, node_ids, target_ids, workload, series_revision, options,
                        options_sha256, metric, title, unit, better, labels)
    SELECT 'key ' || number, cluster_id, node_ids, target_ids, workload, series_revision, options, options_sha256,
           metric, title, unit, better, labels || jsonb_build_object('operation', 'made ' || number)
    FROM (SELECT * FROM series ORDER BY id LIMIT 1) AS first, generate_series(1, :count) AS number
    """
)
_MANY_SAMPLES: Final = text(
    """
    INSERT INTO sample (run_id, order_id, series_id, value)
    SELECT run.id, node_order.id, series.id, 100 + (run.id * series.id) % 7
    FROM run JOIN node_order ON node_order.run_id = run.id, series WHERE series.key_sha256 LIKE 'key %'
    """
)
_MANY_POINTS: Final = text(
    """
    INSERT INTO point (series_id, cell_id, campaign_id, at, median, low, high, run_count)
    SELECT series.id, cell.id, cell.campaign_id, :now, 1, 1, 1, 1
    FROM series, (SELECT * FROM cell ORDER BY id LIMIT 1) AS cell WHERE series.key_sha256 LIKE 'key %'
    """
)


@dataclass
class Held:
    """Peak memory and rows of a call.

    Attributes:
        python_mebibytes: without PostgreSQL's client library, whose memory Python does not trace.
        rows: of one answer of PostgreSQL; a server-side cursor's answers are counted there.
    """

    python_mebibytes: float = 0.0
    rows: int = 0


def held_by(session: Session, act: Callable[[], object]) -> Held:
    held = Held()

    def note(_connection: object, cursor: Cursor[object], *_: object) -> None:
        if cursor.description is not None and not isinstance(cursor, ServerCursor):
            held.rows = max(held.rows, cursor.rowcount)

    connection = session.connection()
    event.listen(connection, "after_cursor_execute", note)
    tracemalloc.start()
    try:
        act()
        held.python_mebibytes = tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()
        event.remove(connection, "after_cursor_execute", note)
    return held


def in_small_parts(patched: pytest.MonkeyPatch) -> None:
    for name, most in PARTS.items():
        patched.setattr(name, most)


def a_cell_of(session: Session, *, runs: int, series: int) -> int:
    measured = Measured(session, NOW)
    cell = measured.cell()
    for minutes in range(runs):
        measured.deliver(cell, finish(NOW, sample(1.0, operation="write")), minutes=minutes)
    session.execute(_MANY_SERIES, {"count": series})
    session.execute(_MANY_SAMPLES)
    return cell.id


def test_points_of_very_many_numbers_take_little_memory(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    cell_id = a_cell_of(session, runs=40, series=500)
    in_small_parts(monkeypatch)
    held = held_by(session, lambda: recompute_points(session, cell_id))
    assert held.python_mebibytes < 5
    assert held.rows <= MOST_ROWS
    points = session.execute(text("SELECT count(*), min(run_count), max(run_count) FROM point")).one()
    assert tuple(points) == (501, 40, 40)


def test_points_that_are_computed_in_parts_are_the_same(session: Session) -> None:
    cell_id = a_cell_of(session, runs=12, series=300)
    last = session.scalars(text("SELECT max(id) FROM run")).one()
    session.execute(
        text("UPDATE sample SET value = 10 * value WHERE run_id = :last AND series_id % 50 = 0"), {"last": last}
    )
    flag = Flag(code=FlagCode.ERRORS, effect=FlagEffect.REJECTED, measured="", limit="", labels={"operation": "made 7"})
    session.execute(
        text("UPDATE run SET flags = CAST(:flags AS jsonb) WHERE id = :last"),
        {"last": last, "flags": json.dumps([flag.model_dump(mode="json")] * 60)},
    )

    def computed() -> list[Any]:
        recompute_points(session, cell_id)
        said = (
            "SELECT series_id, at, median, low, high, run_count, variation_ratio, flags FROM point ORDER BY series_id"
        )
        marked = "SELECT id, flags FROM run ORDER BY id"
        return [tuple(row) for statement in (said, marked) for row in session.execute(text(statement))]

    at_once = computed()
    with pytest.MonkeyPatch.context() as patched:
        in_small_parts(patched)
        assert computed() == at_once
        session.execute(text("DELETE FROM point WHERE series_id % 3 = 0"))
        session.execute(
            text("DELETE FROM sample WHERE series_id = (SELECT max(id) FROM series WHERE key_sha256 LIKE 'key %')")
        )
        assert len(computed()) == len(at_once) - 1
    flags = {flag for *_, flags in at_once[:301] for flag in flags}
    assert flags == {"CV", "OUTLIER"}
    assert [row[5] for row in at_once[:301]].count(11) == 1


def test_peers_of_very_many_series_take_little_memory(session: Session) -> None:
    measured = Measured(session, NOW)
    campaign = measured.campaign()
    for number, level in enumerate((1.0, 1.0, 1.0, 0.5)):
        measured.target = Target(
            cluster_id=measured.cluster.id, name=f"raid{number}", path=f"/raid{number}", scope="node"
        )
        session.add(measured.target)
        session.flush()
        cell = measured.cell(campaign)
        for share in (0.99, 1.0, 1.01, 1.02):
            measured.deliver(cell, finish(NOW, sample(100e6 * level * share, operation="write")))
        recompute_points(session, cell.id)
    session.execute(_MANY_SERIES, {"count": 10_000})
    session.execute(_MANY_POINTS, {"now": NOW})
    session.execute(text("ANALYZE series, point"))
    session.expire_all()
    held = held_by(session, lambda: judge_peers(session, campaign.id))
    assert held.python_mebibytes < 6
    assert held.rows <= MOST_ROWS
    session.expire_all()
    marked = [[flag["code"] for flag in run.flags] for run in session.query(Run).order_by(Run.id)]
    assert marked == [[]] * 12 + [["PEER_ODD"]] * 4


def test_no_flag_is_asked_about_each_number(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    cell_id = a_cell_of(session, runs=2, series=200)
    flags = [
        Flag(
            code=FlagCode.DURATION, effect=FlagEffect.MARKED, measured="", limit="", labels={"operation": f"o{number}"}
        )
        for number in range(100)
    ]
    stored = json.dumps([flag.model_dump(mode="json") for flag in flags])
    session.execute(text("UPDATE run SET flags = CAST(:flags AS jsonb)"), {"flags": stored})
    asked: list[Flag] = []
    concerns = Flag.concerns

    def counted(flag: Flag, labels: Mapping[str, object], target_id: int | None) -> bool:
        asked.append(flag)
        return concerns(flag, labels, target_id)

    monkeypatch.setattr(Flag, "concerns", counted)
    recompute_points(session, cell_id)
    assert len(asked) < 400


def test_the_series_that_a_node_starts_in_a_day_are_limited(plant: Site) -> None:
    limits = ReportLimits(new_series_a_day=3)

    def hand_in(*operations: str) -> Run:
        agent, offer = plant.start_load()
        samples = [
            {"metric": "throughput", "value": 1.0, "labels": {"operation": operation}, "target_id": None}
            for operation in operations
        ]
        result = agent.result(offer, samples=tuple(samples))
        with plant.database.transaction() as session:
            gateway.finish(session, agent.node_id, offer.order_id, result, plant.clock(), limits=limits)
        return plant.run(offer.run_id)

    assert hand_in("a", "b").state == "finished"
    assert hand_in("a", "b", "c").state == "finished"
    refused = hand_in("a", "b", "c", "d")
    assert (refused.state, refused.reason_code) == ("failed", "report_too_large")
    assert refused.reason is not None
    assert "samples: 4 series that the node began today; at most 3; use fewer" in refused.reason
    assert hand_in("a", "b", "c").state == "finished"
    with plant.database.transaction() as session:
        assert session.scalars(text("SELECT count(*) FROM series")).one() == 3
    plant.change("UPDATE node_beat SET series_on = series_on - 1")
    assert hand_in("a", "b", "c", "d").state == "finished"


class Noting(Broker):
    """Stand-in for Redis that records the work named by the scheduler."""

    def __init__(self) -> None:
        self.named_together = frozenset({"count"})
        self.named: list[tuple[str, list[int]]] = []

    def send_work(self, kind: str, keys: Sequence[int]) -> None:
        self.named.append((kind, list(keys)))


DIE: Final = """
import os, sys
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.queue import Broker
from iotide_server.kit.work import do_work, suspect
database = Database(open_engine(sys.argv[1]))
suspect(database, "count", [7])
do_work(database, {"count": lambda *_: os._exit(9)}, "count", 7)
"""


def test_work_that_ends_the_worker_is_scheduled_alone_ever_later_and_after_all_other(
    database: Database, database_url: str, clock: MovedClock
) -> None:
    noted = Noting()
    named = noted.named
    with database.transaction() as session:
        for key in (7, 8):
            want_work(session, "count", key, clock())
    for _ in range(3):
        send_due_work(database, noted, clock())
        clock.move(400)
    assert named == [("count", [7, 8])] * 3
    assert subprocess.run([sys.executable, "-c", DIE, database_url], env=os.environ, check=False).returncode == 9
    do_work(database, {"count": lambda *_: None}, "count", 8)
    with database.transaction() as session:
        want_work(session, "count", 7, clock())
        want_work(session, "count", 8, clock())
    named.clear()
    send_due_work(database, noted, clock())
    with database.transaction() as session:
        [(key, failure)] = session.execute(text("SELECT key, failure FROM work WHERE failure IS NOT NULL")).all()
    assert (key, failure.split(":")[0]) == (7, "started but not finished")
    assert named == [("count", [8]), ("count", [7])]
    do_work(database, {"count": lambda *_: None}, "count", 8)
    pauses = []
    for _ in range(9):
        with database.transaction() as session:
            want_work(session, "count", 7, clock())  # results of its cell do not hurry it
            due_at = session.scalars(text("SELECT due_at FROM work WHERE key = 7")).one()
        pauses.append((due_at - clock()) // timedelta(seconds=1))
        clock.move((due_at - clock()).total_seconds())
        send_due_work(database, noted, clock())
    assert pauses == [80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480]
    do_work(database, {"count": lambda *_: None}, "count", 7)
    with database.transaction() as session:
        want_work(session, "count", 7, clock())
        assert tuple(session.execute(text("SELECT failure, sends FROM work WHERE key = 7")).one()) == (None, 0)
