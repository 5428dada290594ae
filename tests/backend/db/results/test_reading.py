import asyncio
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from anyio import CapacityLimiter
from factories.measured import Measured, finish, sample
from factories.raised import raised
from sqlalchemy import event, select, text
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.kit.db import Database
from iotide_server.results import reading, values
from iotide_server.results.errors import ARTEFACT_NOT_FOUND
from iotide_server.results.figures import sample_files
from iotide_server.results.figures.sample_files import campaign_samples_csv
from iotide_server.results.ingest.service import store_artefact
from iotide_server.results.models import Artefact
from iotide_server.statistics.summary import Tier, Variation
from iotide_server.trends.points.service import recompute_points
from iotide_wire.measured import Flag, FlagCode, FlagEffect

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
MARK = Flag(code=FlagCode.DURATION, effect=FlagEffect.MARKED, measured="12 s", limit="30 s")


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def cell_with(measured: Measured, *values: float, minutes: float = 0, **options: object) -> Cell:
    cell = measured.cell(**options)
    for value in values:
        measured.deliver(cell, finish(NOW, sample(value)), minutes=minutes)
    recompute_points(measured.session, cell.id)
    return cell


def test_each_cell_has_its_results_with_what_may_be_shown(session: Session, measured: Measured) -> None:
    one, four = cell_with(measured, 100.0), cell_with(measured, 100.0, 108.0, 100.0, 92.0, file_size_bytes=4096)
    results = reading.cell_results(session, [one.id, four.id])
    (single,), (enough,) = results[one.id], results[four.id]
    assert (single.n, single.median, single.tier, single.variation) == (1, 100.0, Tier.ONE_RUN, None)
    assert (enough.n, enough.low, enough.high, enough.tier) == (4, 92.0, 108.0, Tier.ENOUGH_RUNS)
    assert enough.variation is Variation.FLAGGED
    assert enough.robust_spread_ratio == pytest.approx(1.4826 * 4 / 100)


def test_a_result_has_the_flags_of_any_of_its_runs(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    of_reads = Flag(
        code=FlagCode.CACHE_DROP, effect=FlagEffect.MARKED, measured="", limit="", labels={"operation": "read"}
    )
    samples = sample(100.0, operation="write"), sample(200.0, operation="read")
    for flags in ((MARK, of_reads), (), ()):
        measured.deliver(cell, finish(NOW, *samples, flags=flags))
    recompute_points(session, cell.id)
    by_operation = {
        result.labels["operation"]: result.flags for result in reading.cell_results(session, [cell.id])[cell.id]
    }
    assert by_operation == {"write": ["DURATION"], "read": ["CACHE_DROP", "DURATION"]}


def test_a_number_of_one_target_names_it(session: Session, measured: Measured) -> None:
    of_target = sample(1.0).model_copy(update={"target_id": measured.target.id})
    run = measured.deliver(measured.cell(), finish(NOW, of_target, sample(2.0)))
    assert [found.target_name for found in reading.run_samples(session, run.id)] == [measured.target.name, None]


def test_a_cell_without_points_has_no_results(session: Session, measured: Measured) -> None:
    assert reading.cell_results(session, [measured.cell().id]) == {}


def test_the_csv_of_a_campaign_has_a_line_for_each_number(database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        campaign = measured.campaign()
        cell = measured.cell(campaign, file_size_bytes=2048)
        run = measured.deliver(cell, finish(NOW, sample(1.5, operation="write"), sample(2.5, "wait"), flags=(MARK,)))
        measured.deliver(measured.cell(measured.campaign("other")), finish(NOW, sample(9.0)))
    lines = list(csv.DictReader("".join(campaign_samples_csv(database, campaign.id)).splitlines()))
    assert [line["value"] for line in lines] == ["1.5", "2.5"]
    assert lines[0] == {
        "campaign_id": str(campaign.id),
        "campaign": "nightly",
        "cell": "1",
        "stage": "1",
        "variant": "",
        "run_id": str(run.id),
        "repeat": "1",
        "attempt": "1",
        "state": "finished",
        "validity": "valid",
        "flags": "DURATION",
        "started_at": "2026-11-21T10:00:00+00:00",
        "ended_at": "",
        "nodes": "node1",
        "targets": "scratch",
        "workload": "dd",
        "workload_revision": "1",
        "option_direct": "false",
        "option_file_size_bytes": "2048",
        "series_id": lines[0]["series_id"],
        "metric": "write_rate",
        "label_operation": "write",
        "value": "1.5",
        "unit": "bytes_per_second",
    }


def test_the_csv_of_a_campaign_without_numbers_is_its_header(database: Database) -> None:
    with database.transaction() as session:
        campaign = Measured(session, NOW).campaign()
    (header,) = "".join(campaign_samples_csv(database, campaign.id)).splitlines()
    assert header.startswith("campaign_id,campaign,cell,stage,variant,run_id")


def test_a_reader_of_the_csv_who_stops_reading_keeps_no_transaction_open(database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell = measured.cell()
        measured.deliver(cell, finish(NOW, *[sample(float(value), writer=value) for value in range(1500)]))
    pieces = campaign_samples_csv(database, cell.campaign_id)
    for _ in range(2):
        next(pieces)
        assert database.engine.pool.status().endswith("Current Checked out connections: 0")


def test_the_pieces_of_the_csv_hold_each_number_once_by_cell_and_repeat(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_files, "_PIECE_LINES", 3)
    with database.transaction() as session:
        measured = Measured(session, NOW)
        campaign = measured.campaign()
        cells = [measured.cell(campaign), measured.cell(campaign, file_size_bytes=4096)]
        for repeat in (1, 2):
            for cell in cells:
                measured.deliver(cell, finish(NOW, *[sample(float(repeat), writer=writer) for writer in range(4)]))
    lines = list(csv.DictReader("".join(campaign_samples_csv(database, campaign.id)).splitlines()))
    assert [(line["cell"], line["repeat"], int(line["label_writer"])) for line in lines] == [
        (cell, repeat, writer) for cell in "12" for repeat in "12" for writer in range(4)
    ]


def test_the_csv_comes_in_pieces_however_large_the_campaign(database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell = measured.cell()
        samples = [sample(float(value), writer=value) for value in range(2500)]
        measured.deliver(cell, finish(NOW, *samples))
    pieces = list(campaign_samples_csv(database, cell.campaign_id))
    assert [piece.count("\n") for piece in pieces] == [1, 1000, 1000, 500]


def test_very_many_flags_of_a_run_are_read_once_however_many_numbers_it_has(
    session: Session, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "_STREAMED_AT_ONCE", 3)
    flags = tuple(MARK.model_copy(update={"measured": f"{number} s"}) for number in range(60))
    samples = [sample(float(number), writer=number) for number in range(9)]
    cell = measured.cell()
    for minutes in range(2):
        measured.deliver(cell, finish(NOW, *samples, flags=flags), minutes=minutes)
    statements: list[str] = []
    connection = session.connection()
    event.listen(connection, "before_cursor_execute", lambda *given: statements.append(given[2]))
    read = [len(of_run) for of_run in values.values_by_run(session, [cell.id])]
    assert read == [9, 9]
    assert sum(statement.startswith("SELECT run.id, run.flags") for statement in statements) == 2


class Crowded(Database):
    """A database that has no free connection on every second request."""

    asked = 0

    @contextmanager
    def transaction(self, *, statement_seconds: float | None = None) -> Iterator[Session]:
        """Open a transaction, or fail after the wait."""
        self.asked += 1
        if self.asked % 2:
            raise PoolTimeoutError
        with super().transaction(statement_seconds=statement_seconds) as session:
            yield session


@pytest.fixture
def output(database: Database) -> tuple[Artefact, bytes]:
    """Return an artefact of more than one piece, and its content."""
    content = bytes(range(256)) * 1024
    with database.transaction() as session:
        measured = Measured(session, NOW)
        order = measured.order(measured.run(measured.cell()))
        store_artefact(session, order, "dd.stdout", sha256(content).hexdigest(), content)
        return session.scalars(select(Artefact)).one(), content


async def downloaded(database: Database, output: tuple[Artefact, bytes]) -> bytes:
    artefact, content = output
    start = content[: reading.FIRST_PIECE_BYTES]
    pieces = reading.artefact_pieces(database, CapacityLimiter(1), artefact, start)
    return b"".join([piece async for piece in pieces])


def test_a_download_without_a_free_connection_tries_once_again(
    database: Database, output: tuple[Artefact, bytes]
) -> None:
    assert asyncio.run(downloaded(Crowded(database.engine), output)) == output[1]


def test_a_download_ends_with_an_error_that_names_it_if_its_content_is_removed(
    database: Database, output: tuple[Artefact, bytes]
) -> None:
    with database.transaction() as session:
        session.execute(text("DELETE FROM artefact"))
        session.execute(text("DELETE FROM blob"))
    with raised(ARTEFACT_NOT_FOUND):
        asyncio.run(downloaded(database, output))
