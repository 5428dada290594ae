"""Second review, A6 and A7: data that a node has stored slows down only its own cluster, and only requests for it."""

import hashlib
from datetime import timedelta

import pytest
from factories.clock import MovedClock
from factories.people import ADMIN
from factories.site import Offered, Site
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.agent_api import service as gateway
from iotide_server.agent_api.service import RawOutput
from iotide_server.kit.db import Database
from iotide_server.monitoring import repository as operations
from iotide_server.overview import judging
from iotide_server.overview import service as board
from iotide_server.results.ingest import repository
from iotide_server.results.ingest.curves import Stretch
from iotide_server.results.ingest.limits import ReportLimits
from iotide_server.trends.points.service import recompute_points
from iotide_wire.messages import CurvePiece


def measured(site: Site, count: int) -> None:
    """Store a run with `count` series, and their points."""
    agent, offer = site.start_load()
    sample = {"metric": "throughput", "value": 1.0, "target_id": None}
    samples = tuple({**sample, "labels": {"operation": f"w{number}"}} for number in range(count))
    assert agent.hand_in(offer, agent.result(offer, samples=samples)).accepted
    with site.database.transaction() as session:
        cell_ids = session.scalars(
            text("SELECT cell.id FROM cell JOIN run ON run.cell_id = cell.id WHERE run.id = :id"), {"id": offer.run_id}
        ).all()
    for cell_id in cell_ids:
        with site.database.transaction() as session:
            recompute_points(session, cell_id)


def two_sites(database: Database, clock: MovedClock) -> tuple[Site, Site]:
    """Return a site with one measured series, and another one without."""
    honest = Site(database, clock)
    measured(honest, 1)
    with database.transaction() as session:
        session.execute(text("UPDATE cluster SET name = 'honest'"))
        session.execute(text("UPDATE node SET token_sha256 = 't' || id, redis_password_sha256 = 'r' || id"))
    return honest, Site(database, clock)


def test_the_series_of_one_cluster_take_no_other_off_the_board(
    database: Database, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, taken_over = two_sites(database, clock)
    monkeypatch.setattr(judging, "MOST_SERIES", 5)
    measured(taken_over, 6)
    with database.transaction() as session:
        shown = board.board(session, ADMIN, clock() - timedelta(days=7), clock())
    assert {cell.cluster_id for cell in shown.cells} == {honest.cluster_id, taken_over.cluster_id}
    assert shown.is_cut


def test_the_board_of_all_clusters_has_a_bounded_number_of_rows_in_which_they_take_turns(
    database: Database, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, taken_over = two_sites(database, clock)
    measured(taken_over, 6)
    with database.transaction() as session:
        session.execute(text("UPDATE series SET workload = 'w' || id"))  # so that each has its own row
    monkeypatch.setattr(judging, "MOST_ROWS", 4)
    with database.transaction() as session:
        shown = board.board(session, ADMIN, clock() - timedelta(days=7), clock())
    clusters = [cell.cluster_id for cell in shown.cells]
    assert (clusters.count(honest.cluster_id), clusters.count(taken_over.cluster_id)) == (1, 3)
    assert shown.is_cut


@pytest.fixture
def with_curves(database: Database, clock: MovedClock) -> Offered:
    """Make an order with 40 rows of 10 values of each of two counters, a minute apart."""
    site = Site(database, clock)
    agent, offer = site.start_load()
    pieces = tuple(
        CurvePiece(
            counter=counter,
            started_at=clock() + timedelta(minutes=minute),
            step_seconds=1.0,
            values=(1.0,) * 10,
        )
        for counter in ("load1", "load5")
        for minute in range(40)
    )
    clock.now += timedelta(hours=1)
    assert agent.hand_in(offer, agent.result(offer, curves=pieces)).accepted
    clock.now -= timedelta(hours=1)
    return offer


def test_a_piece_of_a_curve_reads_the_rows_that_it_touches_and_no_value(
    session: Session, clock: MovedClock, with_curves: Offered
) -> None:
    in_minute_20 = clock() + timedelta(minutes=20)

    def touched(step_seconds: float) -> dict[str, list[int]]:
        piece = Stretch(in_minute_20 + timedelta(seconds=10), step_seconds, (1.0,))
        found = repository.chunks_between(session, with_curves.order_id, {"load1": [piece]})
        sizes = [row.stretch.values for row in found.get("load1", {}).values()]
        assert len({id(values) for values in sizes}) <= 1, "rows of one size share one placeholder for their values"
        return {counter: sorted((at - clock()).seconds // 60 for at in rows) for counter, rows in found.items()}

    assert touched(1.0) == {"load1": [20]}
    # A long step reaches back by days, over rows that end long before it.
    assert touched(43_200.0)["load1"] == list(range(20, 40))


def test_raw_output_that_is_replaced_leaves_nothing_in_the_database(database: Database, clock: MovedClock) -> None:
    site = Site(database, clock)
    agent, offer = site.start_load()

    def put(name: str, content: bytes) -> None:
        raw = RawOutput(name, hashlib.sha256(content).hexdigest(), content)
        with database.transaction() as session:
            gateway.store_artefact(session, agent.node_id, offer.order_id, offer.fence, raw)

    put("kept", b"of two names")
    for content in (b"of two names", b"second", b"third", b"fourth"):
        put("replaced", content)
    with database.transaction() as session:
        assert session.scalars(text("SELECT content FROM blob ORDER BY 1")).all() == [b"fourth", b"of two names"]


def test_a_version_that_is_none_is_no_label_of_a_metric(database: Database, clock: MovedClock) -> None:
    site = Site(database, clock, node_count=4)
    said = ["0.3.0", "1.2.3.dev4+g0123abc", "x" * 4000, "0.3.0 " + "1" * 40]
    for node_id, version in zip(site.node_ids, said, strict=True):
        site.change("UPDATE node SET agent_version = :version WHERE id = :id", version=version, id=node_id)
    with database.transaction() as session:
        found = {row.version for row in operations.nodes(session, clock())}
    assert found == {"0.3.0", "1.2.3.dev4+g0123abc", "other"}


def test_an_order_has_curves_for_a_week_however_long_its_node_keeps_it_under_way(clock: MovedClock) -> None:
    limits = ReportLimits(curve_pieces=10)
    allowed = [limits.of_order(clock() - timedelta(days=days), clock()).curve_pieces for days in (0, 3, 6, 7, 1000)]
    assert allowed == [10, 40, 70, 70, 70]
