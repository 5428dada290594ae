"""Third review, operator 9: an unknown reader who read an export slowly kept all others from comparing."""

from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Final

import pytest
from bring_up import wait_for
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.served import all_of, connected, port_of, serving
from sqlalchemy import text

from iotide_server.kit.connections import BoundedProtocol
from iotide_server.kit.db import Database, refresh_statistics
from iotide_server.kit.turns import Turns
from iotide_server.main import create_app
from iotide_server.settings import Settings
from iotide_server.trends.points.service import recompute_points

NUMBERS: Final = 30_000
SLOW, OTHER = "127.0.0.1", "127.0.0.2"

_MORE_NUMBERS: Final = text(
    """
    WITH more AS (
        INSERT INTO series (key_sha256, cluster_id, node_ids, target_ids, workload, series_revision, options,
                            options_sha256, metric, title, unit, better, labels)
        SELECT key_sha256 || writer, cluster_id, node_ids, target_ids, workload, series_revision, options,
               options_sha256, metric, title, unit, better, labels || jsonb_build_object('writer', writer)
        FROM series, generate_series(1, :count) AS writer
        RETURNING id, CAST(labels ->> 'writer' AS float) AS value
    )
    INSERT INTO sample (run_id, order_id, series_id, value)
    SELECT run_id, order_id, more.id, more.value FROM sample, more
    """
)
"""Of the only run, which has one number in one series."""


@pytest.fixture
def campaign_ids(database: Database) -> tuple[int, int, int]:
    """Return a campaign with an export that does not fit into the buffers of a connection, and two that are alike."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        campaign = measured.campaign()
        measured.deliver(
            measured.cell(campaign, file_size_bytes=2048), finish(NOW, sample(1.0, writer=0, operation="write"))
        )
        session.execute(_MORE_NUMBERS, {"count": NUMBERS})
        alike = [measured.cell(measured.campaign()) for _ in range(2)]
        for one in alike:
            measured.deliver(one, finish(NOW, sample(1.0, operation="write")), minutes=1)
            recompute_points(session, one.id)
        # An earlier test may have emptied these tables during autovacuum; plans for no rows take minutes here.
        refresh_statistics(session, "sample", "series", "run", "cell")
        return campaign.id, alike[0].campaign_id, alike[1].campaign_id


@pytest.fixture
def port(settings: Settings) -> Iterator[int]:
    app = create_app(settings)
    app.state.public_read = True
    with serving(app, BoundedProtocol, lifespan="on") as server:
        yield port_of(server)


def status_of(port: int, path: str, address: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=60, source_address=(address, 0))
    connection.request("GET", f"/api/v1/{path}")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


@pytest.mark.timeout(600)  # four exports of 30,000 numbers, also on a busy machine
def test_an_unknown_reader_of_a_slow_export_keeps_no_other_network_from_comparing_and_exporting(
    port: int, campaign_ids: tuple[int, int, int], migrated_url: str
) -> None:
    large, a, b = campaign_ids
    export, comparison = f"campaigns/{large}/samples.csv", f"comparison?a={a}&b={b}"
    with connected(port, SLOW) as slow:
        slow.sendall(f"GET /api/v1/{export} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert slow.recv(15) == b"HTTP/1.1 200 OK"
        assert status_of(port, comparison, OTHER) == 200
        assert status_of(port, export, OTHER) == 200
        assert status_of(port, export, SLOW) == 429, "of one network one at a time"
        whole = all_of(slow)
    assert whole.count(b"\n") > NUMBERS
    wait_for("its turn", lambda: status_of(port, export, SLOW) == 200 or None)
    turns = Turns(migrated_url)
    assert turns.take("unknown readers")
    turns.close()
