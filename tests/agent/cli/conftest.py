"""Fixtures for the `iotide` command against a fake server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from factories.commands import Ended, Hurried, Iotide, run
from factories.fake_server import FakeServer, fake_server

from iotide_agent.cli import following, user


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    with fake_server() as fake:
        monkeypatch.setenv("IOTIDE_URL", fake.url)
        monkeypatch.setenv("IOTIDE_TOKEN", "iot_test")
        monkeypatch.delenv("IOTIDE_CA", raising=False)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        yield fake


@pytest.fixture
def iotide(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iotide:
    monkeypatch.setattr(user, "time", Hurried)
    monkeypatch.setattr(following, "time", Hurried)

    def ended(*arguments: str) -> Ended:
        status = run(*arguments)
        return Ended(status, *capfd.readouterr())

    return ended
