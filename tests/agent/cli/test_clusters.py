"""Commands about clusters against a server on paper."""

from collections.abc import Iterator

import pytest
from factories.fake_server import FakeServer, fake_server

from iotide_agent.cli import user

CLUSTERS = [{"id": 1, "name": "blade", "launcher": "direct"}, {"id": 2, "name": "lake", "launcher": "lsf"}]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    with fake_server() as fake:
        monkeypatch.setenv("IOTIDE_URL", fake.url)
        monkeypatch.setenv("IOTIDE_TOKEN", "iot_test")
        monkeypatch.delenv("IOTIDE_CA", raising=False)
        fake.on("GET /clusters?limit=200", (200, {"items": CLUSTERS, "next_cursor": None}))
        yield fake


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        user.main(list(arguments))
    return int(str(ended.value.code or 0))


def test_who_starts_the_runs_of_a_cluster_is_said(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cluster", "launcher", "lake") == 0
    assert "started by jobs of LSF" in capsys.readouterr().out
    assert [request.method for request in server.requests] == ["GET"]


def test_another_launcher_is_written_to_the_cluster_of_that_name(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on("PATCH /clusters/1", (200, CLUSTERS[0] | {"launcher": "slurm"}))
    assert run("cluster", "launcher", "blade", "slurm") == 0
    assert "started by jobs of Slurm" in capsys.readouterr().out
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
