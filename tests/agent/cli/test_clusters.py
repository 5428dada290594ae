"""`iotide cluster` against a fake server."""

import pytest
from factories.commands import run
from factories.fake_server import FakeServer

CLUSTERS = [{"id": 1, "name": "blade", "launcher": "direct"}, {"id": 2, "name": "lake", "launcher": "lsf"}]


@pytest.fixture
def server(server: FakeServer) -> FakeServer:
    """Return the server with two clusters."""
    server.on("GET /clusters?limit=200", (200, {"items": CLUSTERS, "next_cursor": None}))
    return server


def test_the_launcher_of_a_cluster_is_shown(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cluster", "launcher", "lake") == 0
    assert "run launcher of cluster lake: LSF jobs" in capsys.readouterr().out
    assert [request.method for request in server.requests] == ["GET"]


def test_another_launcher_is_written_to_the_cluster_of_that_name(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on("PATCH /clusters/1", (200, CLUSTERS[0] | {"launcher": "slurm"}))
    assert run("cluster", "launcher", "blade", "slurm") == 0
    assert "run launcher of cluster blade: Slurm jobs" in capsys.readouterr().out
    [request] = server.asked("PATCH /clusters/1")
    assert request.body == {"launcher": "slurm"}


def test_a_cluster_that_does_not_exist_is_refused(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cluster", "launcher", "blede") == 2
    assert "blede" in capsys.readouterr().err
    assert server.asked("PATCH /clusters/1") == []


def test_clusters_are_listed_with_their_launchers(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    del server
    assert run("cluster", "list") == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["1", "blade", "direct"],
        ["2", "lake", "lsf"],
    ]
