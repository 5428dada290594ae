"""Files that nodes fetch before they enrol: no sign-in, only what the directory had at the start, bounded."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories.clock import MovedClock
from fastapi import FastAPI
from fastapi.testclient import TestClient

from iotide_server.agent_files.routes import FETCH_RATE, FETCHES_A_MINUTE
from iotide_server.agent_files.shelf import AGENT_SHELF, AgentShelf, stock
from iotide_server.kit.rates import Rate

CA_PEM = "-----BEGIN CERTIFICATE-----\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = tmp_path / "agent"
    directory.mkdir()
    (directory / "iotide-agent.tar").write_bytes(b"bundle")
    (directory / "iotide-agent.deb").write_bytes(b"package")
    (directory / "ca.crt").write_text("not the server's authority")
    (directory / ".hidden").write_text("draft")
    (tmp_path / "secret").write_text("secret")
    (directory / "link").symlink_to(tmp_path / "secret")
    return directory


@pytest.fixture(autouse=True)
def rate(prepared_app: FastAPI) -> Iterator[None]:
    shelf = AGENT_SHELF.of(prepared_app.state)
    FETCH_RATE.put(prepared_app.state, Rate(FETCHES_A_MINUTE))
    yield
    AGENT_SHELF.put(prepared_app.state, shelf)


@pytest.fixture
def shelf(prepared_app: FastAPI, directory: Path) -> AgentShelf:
    shelf = stock(directory, CA_PEM)
    AGENT_SHELF.put(prepared_app.state, shelf)
    return shelf


def test_everyone_may_fetch_the_script_of_exactly_this_bundle(client: TestClient, shelf: AgentShelf) -> None:
    script = client.get("/agent/join.sh")
    assert script.status_code == 200
    assert f"bundle_sha256={hashlib.sha256(b'bundle').hexdigest()}\n" in script.text
    assert hashlib.sha256(script.content).hexdigest() == shelf.script_sha256
    assert client.get("/agent/iotide-agent.tar").content == b"bundle"
    assert client.get("/agent/iotide-agent.deb").content == b"package"
    assert client.get("/agent/ca.crt").text == CA_PEM


@pytest.mark.parametrize("name", ["link", ".hidden", "..%2Fsecret", "nothing", "%2Fetc%2Fpasswd"])
def test_nothing_else_can_be_fetched(client: TestClient, shelf: AgentShelf, name: str) -> None:
    assert name not in shelf.names
    answer = client.get(f"/agent/{name}")
    assert answer.status_code == 404
    assert "secret" not in answer.text.replace("%2Fsecret", "").replace("/secret", "")


def test_a_wrong_name_is_answered_with_the_right_ones(client: TestClient, shelf: AgentShelf) -> None:
    error = client.get("/agent/iotide-agent.rpm").json()["error"]
    assert error["code"] == "agent_file_not_found"
    assert error["remedy"] == f"choose one of {', '.join(shelf.names)}"


def test_a_server_without_agent_files_says_how_to_add_them(
    client: TestClient, prepared_app: FastAPI, tmp_path: Path
) -> None:
    AGENT_SHELF.put(prepared_app.state, stock(tmp_path / "nothing", CA_PEM))
    answer = client.get("/agent/join.sh")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "agent_files_missing")
    assert "deploy/offline/make-bundle.sh" in answer.json()["error"]["remedy"]
    assert client.get("/agent/ca.crt").text == CA_PEM


def test_a_network_fetches_at_most_as_many_as_nodes_need(
    client: TestClient, shelf: AgentShelf, clock: MovedClock
) -> None:
    assert shelf.script_sha256
    statuses = [client.get("/agent/ca.crt").status_code for _ in range(2 * FETCHES_A_MINUTE + 1)]
    assert statuses == [*[200] * (2 * FETCHES_A_MINUTE), 429]
    refused = client.get("/agent/ca.crt")
    assert refused.json()["error"]["code"] == "too_many_fetches"
    clock.move(int(refused.headers["Retry-After"]))
    assert client.get("/agent/ca.crt").status_code == 200
